/* SPDX-License-Identifier: BSD-3-Clause */
/* Cutting into many parts by cutting in two again and again. */
#include <string.h>

#include "place/bisect.h"

typedef struct {
    place_bisector_t *b;
    const uint64_t *room;
    uint8_t *side;
    uint32_t *index, *part_of;
} job_t;

/* Vertices of g go to parts first .. first + count. Takes g over. */
static xy_status_t cut(job_t *j, place_graph_t *g, uint32_t *ids, uint32_t first, uint32_t count)
{
    uint32_t half = count / 2, out[2] = {0, 0}, *copy;
    uint64_t left = 0, right = 0;
    place_graph_t part[2];
    xy_status_t st;

    if (count == 1 || g->n == 0) {
        for (uint32_t v = 0; v < g->n; v++)
            j->part_of[ids[v]] = first;
        place_graph_cleanup(g);
        return XY_OK;
    }
    for (uint32_t i = 0; i < count; i++)
        *(i < half ? &left : &right) += j->room[first + i];
    st = place_bisect(j->b, g, right >= g->n ? 0 : g->n - (uint32_t)right,
                      left < g->n ? (uint32_t)left : g->n, j->side);
    copy = xy_malloc((size_t)g->n * sizeof(*copy));
    if (st == XY_OK && copy != NULL)
        st = place_graph_split(g, j->side, j->index, part);
    if (st != XY_OK || copy == NULL) {
        xy_free(copy);
        place_graph_cleanup(g);
        return XY_ENOMEM;
    }
    memcpy(copy, ids, (size_t)g->n * sizeof(*copy));
    for (uint32_t v = 0; v < g->n; v++)
        ids[(j->side[v] ? part[0].n : 0) + out[j->side[v]]++] = copy[v];
    xy_free(copy);
    place_graph_cleanup(g);
    out[0] = part[0].n;
    st = cut(j, &part[0], ids, first, half);
    if (st == XY_OK)
        st = cut(j, &part[1], ids + out[0], first + half, count - half);
    else
        place_graph_cleanup(&part[1]);
    return st;
}

xy_status_t place_bisect_parts(place_bisector_t *b, const place_graph_t *g, uint32_t parts,
                               const uint64_t *room, uint32_t *part_of)
{
    job_t j = {.b = b, .room = room, .part_of = part_of};
    uint32_t *ids = xy_malloc(((size_t)g->n + 1) * sizeof(*ids));
    place_graph_t whole;
    xy_status_t st = XY_ENOMEM;

    j.side = xy_malloc((size_t)g->n + 1);
    j.index = xy_malloc(((size_t)g->n + 1) * sizeof(*j.index));
    if (ids != NULL && j.side != NULL && j.index != NULL)
        st = place_graph_copy(g, &whole);
    if (st == XY_OK) {
        for (uint32_t v = 0; v < g->n; v++)
            ids[v] = v;
        st = cut(&j, &whole, ids, 0, parts);
    }
    xy_free(ids);
    xy_free(j.side);
    xy_free(j.index);
    return st;
}
