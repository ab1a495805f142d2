/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * METIS graphs: "n m [fmt [ncon]]", then one line per vertex with its neighbours from 1, each
 * followed by a weight when fmt ends in 1. Sizes and weights of vertices are read over.
 */
#include "place/matrix_reader.h"

typedef struct {
    uint64_t n, edges, before; /* numbers in front of the neighbours of a line */
    bool has_weights;
} header_t;

/* Reads vertices, edges and format of a METIS graph. */
static xy_status_t read_header(matrix_reader_t *r, header_t *h)
{
    uint64_t format = 0, constraints = 1;
    const char *rest;
    size_t length;
    xy_status_t st = matrix_next_whole(r, "number of vertices", 0, XY_MATRIX_RANKS_MAX, &h->n);

    if (st == XY_OK)
        st = matrix_next_whole(r, "number of edges", 0, UINT64_MAX / 4, &h->edges);
    rest = r->word;
    if (st == XY_OK && matrix_next_word(r, &rest, &length)) {
        r->word = rest;
        st = matrix_next_whole(r, "format", 0, 111, &format);
        rest = r->word;
        if (st == XY_OK && matrix_next_word(r, &rest, &length)) {
            r->word = rest;
            st = matrix_next_whole(r, "number of constraints", 0, 100, &constraints);
        }
    }
    if (st == XY_OK)
        st = matrix_end_of_line(r);
    if (st == XY_OK && (format % 10 > 1 || format / 10 % 10 > 1))
        st = xy_fail_at(XY_EPARSE, r->path, r->line, "format %llu: three digits, each 0 or 1",
                        (unsigned long long)format);
    h->has_weights = format % 10 == 1;
    h->before = (format / 10 % 10 == 1 ? constraints : 0) + (format / 100 == 1 ? 1 : 0);
    return st;
}

/* Reads the neighbours of vertex `v` and their weights. */
static xy_status_t read_vertex(matrix_reader_t *r, const header_t *h, uint64_t v)
{
    const char *next = r->word;
    size_t length;
    double value;
    xy_status_t st = XY_OK;

    for (uint64_t i = 0; st == XY_OK && i < h->before; i++)
        st = matrix_next_value(r, "weight of a vertex", &value);
    for (next = r->word; st == XY_OK && matrix_next_word(r, &next, &length); next = r->word) {
        uint64_t u = 0;

        r->word = next; /* looked ahead */
        value = 1;
        st = matrix_next_whole(r, "neighbour", 1, h->n, &u);
        if (st == XY_OK && h->has_weights)
            st = matrix_next_value(r, "weight", &value);
        if (st == XY_OK && u - 1 == v)
            st = xy_fail_at(XY_EPARSE, r->path, r->line, "vertex %llu is its own neighbour",
                            (unsigned long long)u);
        if (st == XY_OK && value > 0)
            st = matrix_add(r, v, u - 1, value, 1);
    }
    return st;
}

xy_status_t matrix_read_metis(matrix_reader_t *r)
{
    header_t h = {0};
    xy_status_t st;

    if (!matrix_next_full_line(r, '%'))
        return xy_fail_at(XY_EPARSE, r->path, 0, "empty; a METIS graph is expected");
    st = read_header(r, &h);
    for (uint64_t v = 0; st == XY_OK && v < h.n; v++) {
        do /* an empty line is a vertex without neighbours */
            if (!matrix_next_line(r))
                return xy_fail_at(XY_EPARSE, r->path, r->line, "lines for %llu vertices of %llu",
                                  (unsigned long long)v, (unsigned long long)h.n);
        while (*r->text == '%');
        st = read_vertex(r, &h, v);
    }
    if (st == XY_OK && matrix_next_full_line(r, '%'))
        st = xy_fail_at(XY_EPARSE, r->path, r->line, "more lines than vertices");
    if (st == XY_OK && r->entries.count > 2 * h.edges)
        st = xy_fail_at(XY_EPARSE, r->path, 1,
                        "%llu edges declared, %zu entries found; each edge "
                        "stands in the lines of both ends",
                        (unsigned long long)h.edges, r->entries.count);
    r->ranks = (uint32_t)h.n;
    return st;
}
