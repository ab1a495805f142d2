/* SPDX-License-Identifier: BSD-3-Clause */
#include "draw/svg.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/base.h"

enum { TEXT_MAX = 512, LEGEND_LINE = 20, ENTRY = 30 };

/* A number behind some text, with no more digits than are seen. */
static void put(const xy_svg_t *svg, const char *before, double value)
{
    char text[64];
    size_t n;

    value = isfinite(value) && fabs(value) >= 0.005 ? value : 0;
    snprintf(text, sizeof(text), "%.*f", fabs(value) < 10 ? 2 : 1, value);
    for (n = strlen(text); text[n - 1] == '0'; n--)
        continue;
    text[text[n - 1] == '.' ? n - 1 : n] = '\0';
    fprintf(svg->file, "%s%s", before, text);
}

static void put_escaped(const xy_svg_t *svg, const char *before, const char *text,
                        const char *after)
{
    fputs(before, svg->file);
    xy_xml_escape(svg->file, text);
    fputs(after, svg->file);
}

/* Close an element that may have a tooltip. */
static void finish(const xy_svg_t *svg, const char *name, const char *tip)
{
    if (tip == NULL) {
        fputs("/>\n", svg->file);
        return;
    }
    put_escaped(svg, "><title>", tip, "</title>");
    fprintf(svg->file, "</%s>\n", name);
}

xy_svg_t xy_svg_begin(FILE *file, const xy_svg_head_t *head)
{
    xy_svg_t svg = {file};

    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\"", file);
    put(&svg, " viewBox=\"0 0 ", head->width);
    put(&svg, " ", head->height);
    put(&svg, "\" width=\"", head->width);
    put(&svg, "\" height=\"", head->height);
    put_escaped(&svg, "\" style=\"max-width:100%;height:auto\" role=\"img\" aria-label=\"",
                head->title != NULL ? head->title : "", "\">\n");
    if (!head->is_embedded || head->inks != NULL || head->style != NULL) {
        fputs("<style>", file);
        if (!head->is_embedded)
            xy_style_write(file);
        fputs(head->style != NULL ? head->style : "", file);
        if (head->inks != NULL)
            xy_inks_write(head->inks, file);
        fputs("</style>\n", file);
    }
    if (!head->is_embedded)
        fputs("<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n", file);
    return svg;
}

void xy_svg_end(const xy_svg_t *svg)
{
    fputs("</svg>\n", svg->file);
}

static void put_box(const xy_svg_t *svg, double x, double y, double width, double height)
{
    put(svg, "\" x=\"", x);
    put(svg, "\" y=\"", y);
    put(svg, "\" width=\"", fmax(width, 0));
    put(svg, "\" height=\"", fmax(height, 0));
}

void xy_svg_rect(const xy_svg_t *svg, const char *class, double x, double y, double width,
                 double height, const char *tip)
{
    fprintf(svg->file, "<rect class=\"%s", class);
    put_box(svg, x, y, width, height);
    fputc('"', svg->file);
    finish(svg, "rect", tip);
}

void xy_svg_cell(const xy_svg_t *svg, const char *class, double x, double y, double width,
                 double height, double opacity, const char *tip)
{
    fprintf(svg->file, "<rect class=\"%s", class);
    put_box(svg, x, y, width, height);
    put(svg, "\" fill-opacity=\"", opacity);
    fputc('"', svg->file);
    finish(svg, "rect", tip);
}

void xy_svg_line(const xy_svg_t *svg, const char *class, double x0, double y0, double x1, double y1)
{
    fprintf(svg->file, "<path class=\"%s", class);
    put(svg, "\" d=\"M", x0);
    put(svg, " ", y0);
    put(svg, "L", x1);
    put(svg, " ", y1);
    fputs("\"/>\n", svg->file);
}

void xy_svg_arrow(const xy_svg_t *svg, const char *class, double x0, double y0, double x1,
                  double y1)
{
    double dx = x1 - x0, dy = y1 - y0, length = hypot(dx, dy);
    double head = length < 14 ? length / 2 : 7, wide = 0.4 * head;

    if (length > 0) {
        dx *= head / length;
        dy *= head / length;
        wide /= head;
    }
    fprintf(svg->file, "<path class=\"%s", class);
    put(svg, "\" d=\"M", x0);
    put(svg, " ", y0);
    put(svg, "L", x1);
    put(svg, " ", y1);
    put(svg, "M", x1 - dx - wide * dy);
    put(svg, " ", y1 - dy + wide * dx);
    put(svg, "L", x1);
    put(svg, " ", y1);
    put(svg, "L", x1 - dx + wide * dy);
    put(svg, " ", y1 - dy - wide * dx);
    fputs("\"/>\n", svg->file);
}

void xy_svg_circle(const xy_svg_t *svg, const char *class, double x, double y, double radius,
                   const char *tip)
{
    fprintf(svg->file, "<circle class=\"%s", class);
    put(svg, "\" cx=\"", x);
    put(svg, "\" cy=\"", y);
    put(svg, "\" r=\"", radius);
    fputc('"', svg->file);
    finish(svg, "circle", tip);
}

void xy_svg_curve(const xy_svg_t *svg, const char *class, const double *x, const double *y,
                  size_t n)
{
    bool is_down = false;

    fprintf(svg->file, "<path class=\"%s\" d=\"", class);
    for (size_t i = 0; i < n; i++) {
        bool is_point = isfinite(x[i]) && isfinite(y[i]);

        if (is_point) {
            put(svg, is_down ? "L" : "M", x[i]);
            put(svg, " ", y[i]);
        }
        is_down = is_point;
    }
    fputs("\"/>\n", svg->file);
}

void xy_svg_bend(const xy_svg_t *svg, const char *class, double wide, double x0, double y0,
                 double x1, double y1, const char *tip)
{
    const double at[] = {x0, y0, x0, y0 + 20, x1, y1 - 20, x1, y1};

    fprintf(svg->file, "<path class=\"%s", class);
    put(svg, "\" stroke-width=\"", wide);
    for (int i = 0; i < 8; i++)
        put(svg, i == 0 ? "\" d=\"M" : i == 2 ? "C" : " ", at[i]);
    fputc('"', svg->file);
    finish(svg, "path", tip);
}

void xy_svg_strokes_begin(const xy_svg_t *svg, const char *class, double wide)
{
    fprintf(svg->file, "<path class=\"%s", class);
    put(svg, "\" stroke-width=\"", wide);
    fputs("\" d=\"", svg->file);
}

void xy_svg_stroke(const xy_svg_t *svg, double x, double y, double length)
{
    put(svg, "M", x);
    put(svg, " ", y);
    put(svg, "h", length);
}

void xy_svg_stroke_up(const xy_svg_t *svg, double x, double y, double length)
{
    put(svg, "M", x);
    put(svg, " ", y);
    put(svg, "v", -length);
}

void xy_svg_strokes_end(const xy_svg_t *svg)
{
    fputs("\"/>\n", svg->file);
}

void xy_svg_group_begin(const xy_svg_t *svg, const char *tip)
{
    fputs("<g>", svg->file);
    if (tip != NULL)
        put_escaped(svg, "<title>", tip, "</title>");
}

void xy_svg_group_end(const xy_svg_t *svg)
{
    fputs("</g>\n", svg->file);
}

/* ---- Text ---- */

void xy_svg_text(const xy_svg_t *svg, const char *class, double x, double y, const char *format,
                 ...)
{
    char text[TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(svg->file, "<text class=\"%s", class);
    put(svg, "\" x=\"", x);
    put(svg, "\" y=\"", y);
    put_escaped(svg, "\">", text, "</text>\n");
}

void xy_svg_text_up(const xy_svg_t *svg, const char *class, double x, double y, const char *text)
{
    fprintf(svg->file, "<text class=\"%s", class);
    put(svg, "\" transform=\"translate(", x);
    put(svg, " ", y);
    put_escaped(svg, ") rotate(-90)\">", text, "</text>\n");
}

double xy_text_width(const char *text)
{
    double width = 0;

    for (; *text != '\0'; text++)
        if (((unsigned char)*text & 0xc0) != 0x80) /* not inside a character of UTF-8 */
            width += strchr("ijl.,:;'|! ", *text) != NULL ? 3.6 : strchr("mwMW", *text) ? 10 : 6.9;
    return width;
}

/* Where the next entry goes: behind the last one, or at the beginning of a line. */
static void place_entry(double width, const xy_legend_t *entry, double *x_p, double *y_p)
{
    if (*x_p > 0 && *x_p + ENTRY + xy_text_width(entry->name) > width) {
        *x_p = 0;
        *y_p += LEGEND_LINE;
    }
}

double xy_legend_height(double width, const xy_legend_t *entries, size_t count)
{
    double x = 0, y = 0;

    for (size_t i = 0; i < count; i++) {
        place_entry(width, &entries[i], &x, &y);
        x += ENTRY + xy_text_width(entries[i].name) + 20;
    }
    return y + LEGEND_LINE;
}

void xy_svg_legend(const xy_svg_t *svg, double left, double top, double width,
                   const xy_legend_t *entries, size_t count)
{
    double x = 0, y = 0;

    for (size_t i = 0; i < count; i++) {
        const xy_legend_t *e = &entries[i];
        char class[32];

        place_entry(width, e, &x, &y);
        snprintf(class, sizeof(class), "%s thick", e->class);
        if (e->mark != XY_LEGEND_BOX)
            (e->mark == XY_LEGEND_ARROW ? xy_svg_arrow : xy_svg_line)(
                svg, class, left + x, top + y + 10, left + x + 24, top + y + 10);
        else
            xy_svg_rect(svg, e->class, left + x + 8, top + y + 4, 13, 13, NULL);
        xy_svg_text(svg, "", left + x + ENTRY, top + y + 14, "%s", e->name);
        x += ENTRY + xy_text_width(e->name) + 20;
    }
}
