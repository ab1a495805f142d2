/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix as a heat map. */
#include <math.h>

#include "place/matrix.h"
#include "place/svg.h"

enum { BINS_MAX = 128, SIDE = 640, MARGIN = 14, LEFT = 56, TOP = 58, KEY = 34 };

static const char style[] =
    "text{font:11px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2430}"
    ".title{font-size:13px;font-weight:600}.note{fill:#5b6475}"
    ".page{fill:#fff}.ground{fill:#f4f6f9;stroke:#8b93a3}.c{fill:#0b5cad}"
    "@media(prefers-color-scheme:dark){text{fill:#e6e9ef}.note{fill:#a2abba}.page{fill:#14161a}"
    ".ground{fill:#1b1e24;stroke:#6b7382}.c{fill:#6cb2ff}}";

static void draw_axes(FILE *file, uint32_t n, uint32_t bins)
{
    double cell = (double)SIDE / bins;
    uint32_t step = bins <= 16 ? 1 : bins / 8;

    for (uint32_t b = 0; b < bins; b += step) {
        uint32_t rank = (uint32_t)((uint64_t)b * n / bins);

        fprintf(file,
                "<text class=\"note\" text-anchor=\"middle\" x=\"%.5g\" y=\"%d\">%u</text>"
                "<text class=\"note\" text-anchor=\"end\" x=\"%d\" y=\"%.5g\">%u</text>\n",
                LEFT + (b + 0.5) * cell, TOP - 6, rank, LEFT - 6, TOP + (b + 0.5) * cell + 4, rank);
    }
    fprintf(file,
            "<text x=\"%d\" y=\"%d\">to rank</text><text x=\"%d\" y=\"%d\" transform=\"rotate(-90 "
            "%d %d)\" text-anchor=\"end\">from rank</text>\n",
            LEFT, TOP - 22, MARGIN + 4, TOP, MARGIN + 4, TOP);
}

/* Light to dark by the logarithm: one heavy pair must not hide the rest. */
static void draw_cells(FILE *file, const double *sum, uint32_t bins, double most, double least)
{
    double cell = (double)SIDE / bins, span = log(most / least);

    for (uint32_t i = 0; i < bins; i++)
        for (uint32_t j = 0; j < bins; j++) {
            double value = sum[(size_t)i * bins + j];

            if (value > 0)
                fprintf(file,
                        "<rect class=\"c\" x=\"%.5g\" y=\"%.5g\" width=\"%.5g\" height=\"%.5g\" "
                        "fill-opacity=\"%.3f\"><title>%u to %u: %.6g</title></rect>\n",
                        LEFT + j * cell, TOP + i * cell, cell, cell,
                        span > 0 ? 0.15 + 0.85 * log(value / least) / span : 1, i, j, value);
        }
}

/* What the colours mean, below the map. */
static void draw_key(FILE *file, xy_metric_t metric, double most, double least)
{
    static const char *const unit[] = {"bytes", "messages", "bytes per message"};
    char low[32], high[32];
    int y = TOP + SIDE + 12, steps = most > least ? 6 : 1, x = LEFT;

    for (int i = 0; i < steps; i++, x += 22)
        fprintf(file,
                "<rect class=\"c\" x=\"%d\" y=\"%d\" width=\"22\" height=\"12\" "
                "fill-opacity=\"%.3f\"/>",
                x, y, steps > 1 ? 0.15 + 0.85 * i / (steps - 1) : 1);
    fprintf(file, "<text x=\"%d\" y=\"%d\">", x + 8, y + 10);
    if (steps > 1)
        fprintf(file, "%s to ", place_svg_number(least, low));
    fprintf(file, "%s %s, by the logarithm</text>\n", place_svg_number(most, high), unit[metric]);
}

static void add_up(const xy_matrix_t *m, xy_metric_t metric, uint32_t bins, double *sum)
{
    for (uint32_t i = 0; i < m->n; i++)
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++)
            sum[((uint64_t)i * bins / m->n) * bins + (uint64_t)m->to[k] * bins / m->n] +=
                xy_matrix_value(m, metric, k);
}

/* Bytes by messages, of all ranks of a bin together. False: memory ran out. */
static bool divide(const xy_matrix_t *m, uint32_t bins, double *sum)
{
    double *messages = xy_calloc((size_t)bins * bins + 1, sizeof(*messages));

    if (messages == NULL)
        return false;
    add_up(m, XY_METRIC_MSG, bins, messages);
    for (size_t i = 0; i < (size_t)bins * bins; i++)
        sum[i] = messages[i] > 0 ? sum[i] / messages[i] : 0;
    xy_free(messages);
    return true;
}

xy_status_t xy_matrix_print_svg(const xy_matrix_t *m, xy_metric_t metric, const char *title,
                                FILE *file)
{
    uint32_t bins = m->n < BINS_MAX ? m->n : BINS_MAX;
    double *sum = xy_calloc((size_t)bins * bins + 1, sizeof(*sum)), most = 0, least = INFINITY;
    int width = LEFT + SIDE + MARGIN, height = TOP + SIDE + KEY + MARGIN;

    if (sum == NULL)
        return xy_fail_memory("drawing a matrix");
    add_up(m, metric == XY_METRIC_MSG ? XY_METRIC_MSG : XY_METRIC_SIZE, bins, sum);
    if (metric == XY_METRIC_AVG && !divide(m, bins, sum)) {
        xy_free(sum);
        return xy_fail_memory("drawing a matrix");
    }
    for (size_t i = 0; i < (size_t)bins * bins; i++) {
        most = sum[i] > most ? sum[i] : most;
        least = sum[i] > 0 && sum[i] < least ? sum[i] : least;
    }
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" style=\"max-width:100%%;height:auto\" role=\"img\">\n<style>%s</style>\n"
            "<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n"
            "<text class=\"title\" x=\"%d\" y=\"20\">",
            width, height, width, height, style, LEFT);
    xy_xml_escape(file, title);
    fprintf(file,
            "</text>\n<rect class=\"ground\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
            LEFT, TOP, SIDE, SIDE);
    if (bins > 0)
        draw_axes(file, m->n, bins);
    if (most > 0) {
        draw_cells(file, sum, bins, most, least);
        draw_key(file, metric, most, least);
    }
    fputs("</svg>\n", file);
    xy_free(sum);
    return XY_OK;
}
