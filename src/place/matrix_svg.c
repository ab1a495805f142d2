/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix as a heat map. */
#include <math.h>

#include "draw/draw.h"
#include "place/matrix.h"
#include "place/place_svg.h"

enum { BINS_MAX = 128, SIDE = 640, MARGIN = 14, LEFT = 56, TOP = 58, KEY = 34 };

/* Draws the rank numbers of both axes. */
static void draw_axes(const xy_svg_t *svg, uint32_t n, uint32_t bins)
{
    double cell = (double)SIDE / bins;
    uint32_t step = bins <= 16 ? 1 : bins / 8;

    for (uint32_t b = 0; b < bins; b += step) {
        uint32_t rank = (uint32_t)((uint64_t)b * n / bins);

        xy_svg_text(svg, "note mid", LEFT + (b + 0.5) * cell, TOP - 6, "%u", rank);
        xy_svg_text(svg, "note end", LEFT - 6, TOP + (b + 0.5) * cell + 4, "%u", rank);
    }
    xy_svg_text(svg, "", LEFT, TOP - 22, "to rank");
    xy_svg_text_up(svg, "end", MARGIN + 4, TOP, "from rank");
}

/* Light to dark by the logarithm: one heavy pair must not hide the rest. */
static void draw_cells(const xy_svg_t *svg, const double *sum, uint32_t bins, double most,
                       double least)
{
    double cell = (double)SIDE / bins, span = log(most / least);
    char tip[96];

    for (uint32_t i = 0; i < bins; i++)
        for (uint32_t j = 0; j < bins; j++) {
            double value = sum[(size_t)i * bins + j];

            if (!(value > 0))
                continue;
            snprintf(tip, sizeof(tip), "%u to %u: %.6g", i, j, value);
            xy_svg_cell(svg, "f0", LEFT + j * cell, TOP + i * cell, cell, cell,
                        span > 0 ? 0.15 + 0.85 * log(value / least) / span : 1, tip);
        }
}

static const char *write_amount(bool is_count, double amount, char text[32])
{
    return is_count ? place_svg_number(amount, text) : xy_format_size((uint64_t)amount, text);
}

/* The legend of the colours, below the map. */
static void draw_key(const xy_svg_t *svg, xy_metric_t metric, double most, double least)
{
    static const char *const what[] = {"", " messages", " per message"};
    bool is_count = metric == XY_METRIC_MSG;
    char low[32], high[32];
    int y = TOP + SIDE + 12, steps = most > least ? 6 : 1, x = LEFT;

    for (int i = 0; i < steps; i++, x += 22)
        xy_svg_cell(svg, "f0", x, y, 22, 12, steps > 1 ? 0.15 + 0.85 * i / (steps - 1) : 1, NULL);
    xy_svg_text(svg, "", x + 8, y + 10, "%s%s%s%s, on a logarithmic scale",
                steps > 1 ? write_amount(is_count, least, low) : "", steps > 1 ? " to " : "",
                write_amount(is_count, most, high), what[metric]);
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
    xy_svg_t svg;

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
    svg = xy_svg_begin(file, &(xy_svg_head_t){.width = LEFT + SIDE + MARGIN,
                                              .height = TOP + SIDE + KEY + MARGIN,
                                              .title = title});
    xy_svg_text(&svg, "title", LEFT, 20, "%s", title);
    xy_svg_rect(&svg, "plot", LEFT, TOP, SIDE, SIDE, NULL);
    if (bins > 0)
        draw_axes(&svg, m->n, bins);
    if (most > 0) {
        draw_cells(&svg, sum, bins, most, least);
        draw_key(&svg, metric, most, least);
    }
    xy_svg_rect(&svg, "frame", LEFT, TOP, SIDE, SIDE, NULL);
    xy_svg_end(&svg);
    xy_free(sum);
    return XY_OK;
}
