/* SPDX-License-Identifier: BSD-3-Clause */
#include "place/matrix_graph.h"

#include <string.h>

enum { NEAR = 1024 };

void place_graph_cleanup(place_graph_t *g)
{
    xy_free(g->first);
    xy_free(g->to);
    xy_free(g->w);
    xy_free(g->size);
    *g = (place_graph_t){0};
}

xy_status_t place_graph_init(place_graph_t *g, uint32_t n, uint32_t edges, bool has_sizes)
{
    *g = (place_graph_t){.n = n};
    g->first = xy_malloc(((size_t)n + 1) * sizeof(*g->first));
    g->to = xy_malloc(((size_t)edges + 1) * sizeof(*g->to));
    g->w = xy_malloc(((size_t)edges + 1) * sizeof(*g->w));
    g->size = has_sizes ? xy_malloc(((size_t)n + 1) * sizeof(*g->size)) : NULL;
    if (g->first != NULL && g->to != NULL && g->w != NULL && (!has_sizes || g->size != NULL)) {
        g->first[0] = 0;
        return XY_OK;
    }
    place_graph_cleanup(g);
    return XY_ENOMEM;
}

void place_shuffle(uint32_t *order, uint32_t n, uint64_t *state)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = place_random_below(state, i + 1);

        order[i] = order[j];
        order[j] = i;
    }
}

void place_shuffle_near(uint32_t *order, uint32_t n, uint64_t *state)
{
    for (uint32_t begin = 0; begin < n; begin += NEAR) {
        uint32_t count = n - begin < NEAR ? n - begin : NEAR;

        place_shuffle(order + begin, count, state);
        for (uint32_t i = 0; i < count; i++)
            order[begin + i] += begin;
    }
}

/* Where the entries of each row begin when every entry stands in both of its rows. */
static void count_both(const xy_matrix_t *m, size_t *start)
{
    for (uint32_t i = 0; i < m->n; i++)
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++)
            if (m->to[k] != i) {
                start[i + 1]++;
                start[m->to[k] + 1]++;
            }
    for (uint32_t i = 0; i < m->n; i++)
        start[i + 1] += start[i];
}

/* Merge double entries of each row; rows move towards the beginning, never past what is read. */
static void merge_rows(place_graph_t *g, const size_t *start, uint32_t *slot)
{
    uint32_t out = 0;

    memset(slot, 0xff, (size_t)g->n * sizeof(*slot));
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t begin = out;

        for (size_t k = start[i]; k < start[i + 1]; k++) {
            uint32_t j = g->to[k];
            double w = g->w[k];

            if (!(w > 0))
                continue;
            if (slot[j] != UINT32_MAX && slot[j] >= begin && slot[j] < out && g->to[slot[j]] == j) {
                g->w[slot[j]] += w;
            } else {
                slot[j] = out;
                g->to[out] = j;
                g->w[out++] = w;
            }
        }
        g->first[i] = begin;
    }
    g->first[g->n] = out;
}

xy_status_t place_graph_build(const xy_matrix_t *m, xy_metric_t metric, place_graph_t *g)
{
    size_t *start = xy_calloc((size_t)m->n + 2, sizeof(*start)), *at;
    uint32_t *slot = xy_malloc((size_t)m->n * sizeof(*slot) + 1);
    xy_status_t st = XY_ENOMEM;

    if (start == NULL || slot == NULL)
        goto out;
    count_both(m, start);
    if (start[m->n] >= UINT32_MAX) {
        st = xy_fail(XY_ELIMIT, "a matrix of %zu pairs; at most %u are placed", start[m->n] / 2,
                     UINT32_MAX / 2);
        goto silent;
    }
    at = xy_malloc(((size_t)m->n + 1) * sizeof(*at));
    if (at == NULL || place_graph_init(g, m->n, (uint32_t)start[m->n], false) != XY_OK) {
        xy_free(at);
        goto out;
    }
    memcpy(at, start, ((size_t)m->n + 1) * sizeof(*at));
    for (uint32_t i = 0; i < m->n; i++)
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++) {
            uint32_t j = m->to[k];
            double w = xy_matrix_value(m, metric, k);

            if (j == i)
                continue;
            g->to[at[i]] = j;
            g->w[at[i]++] = w;
            g->to[at[j]] = i;
            g->w[at[j]++] = w;
        }
    merge_rows(g, start, slot);
    xy_free(at);
    st = XY_OK;
out:
    if (st != XY_OK)
        xy_fail_memory("preparing a matrix for placing");
silent:
    xy_free(start);
    xy_free(slot);
    return st;
}

/* Vertices of all components in the order in which they are reached. */
static void walk(const place_graph_t *g, uint32_t *old, uint32_t *number)
{
    uint32_t head = 0, tail = 0;

    memset(number, 0xff, (size_t)g->n * sizeof(*number));
    for (uint32_t from = 0; from < g->n; from++) {
        if (number[from] != UINT32_MAX)
            continue;
        number[from] = tail;
        old[tail++] = from;
        for (; head < tail; head++)
            for (uint32_t k = g->first[old[head]]; k < g->first[old[head] + 1]; k++)
                if (number[g->to[k]] == UINT32_MAX) {
                    number[g->to[k]] = tail;
                    old[tail++] = g->to[k];
                }
    }
}

xy_status_t place_graph_sort(const place_graph_t *g, uint32_t *old, place_graph_t *sorted)
{
    uint32_t *number = xy_malloc(((size_t)g->n + 1) * sizeof(*number)), out = 0;

    if (number == NULL || place_graph_init(sorted, g->n, g->first[g->n], false) != XY_OK) {
        xy_free(number);
        return XY_ENOMEM;
    }
    walk(g, old, number);
    for (uint32_t i = 0; i < g->n; i++) {
        for (uint32_t k = g->first[old[i]]; k < g->first[old[i] + 1]; k++) {
            sorted->to[out] = number[g->to[k]];
            sorted->w[out++] = g->w[k];
        }
        sorted->first[i + 1] = out;
    }
    xy_free(number);
    return XY_OK;
}

/* The row of one class: edges of its members, those to the same class added up. `slot` gives
 * behind which entry a class already stands in the row being written: nothing of an earlier row
 * lies behind its beginning. */
static uint32_t contract_row(const place_graph_t *g, const uint32_t *class_of,
                             const uint32_t *member, const uint32_t *end, uint32_t *slot,
                             place_graph_t *coarse, uint32_t out)
{
    uint32_t begin = out, self = class_of[*member];

    for (; member < end; member++)
        for (uint32_t k = g->first[*member]; k < g->first[*member + 1]; k++) {
            uint32_t c = class_of[g->to[k]];

            if (c == self)
                continue;
            if (slot[c] <= begin) {
                coarse->to[out] = c;
                coarse->w[out++] = g->w[k];
                slot[c] = out;
            } else {
                coarse->w[slot[c] - 1] += g->w[k];
            }
        }
    return out;
}

xy_status_t place_graph_contract(const place_graph_t *g, const uint32_t *class_of, uint32_t classes,
                                 place_graph_t *coarse)
{
    uint32_t *start = xy_calloc((size_t)classes + 2, sizeof(*start));
    uint32_t *member = xy_malloc(((size_t)g->n + 1) * sizeof(*member));
    uint32_t *slot = xy_malloc(((size_t)classes + 1) * sizeof(*slot));
    xy_status_t st = XY_ENOMEM;

    if (start != NULL && member != NULL && slot != NULL)
        st = place_graph_init(coarse, classes, g->first[g->n], true);
    if (st == XY_OK) {
        uint32_t out = 0;

        for (uint32_t v = 0; v < g->n; v++)
            start[class_of[v] + 2]++;
        for (uint32_t c = 1; c <= classes; c++)
            start[c + 1] += start[c];
        for (uint32_t v = 0; v < g->n; v++)
            member[start[class_of[v] + 1]++] = v;
        memset(slot, 0, (size_t)classes * sizeof(*slot));
        for (uint32_t c = 0; c < classes; c++) {
            coarse->size[c] = 0;
            for (uint32_t k = start[c]; k < start[c + 1]; k++)
                coarse->size[c] += g->size != NULL ? g->size[member[k]] : 1;
            if (start[c] < start[c + 1])
                out = contract_row(g, class_of, &member[start[c]], &member[start[c + 1]], slot,
                                   coarse, out);
            coarse->first[c + 1] = out;
        }
    }
    xy_free(start);
    xy_free(member);
    xy_free(slot);
    return st;
}

xy_status_t place_graph_split(const place_graph_t *g, const uint8_t *side, uint32_t *index,
                              place_graph_t part[2])
{
    uint32_t n[2] = {0, 0}, edges[2] = {0, 0}, out[2] = {0, 0};

    for (uint32_t v = 0; v < g->n; v++) {
        index[v] = n[side[v]]++;
        edges[side[v]] += g->first[v + 1] - g->first[v];
    }
    if (place_graph_init(&part[0], n[0], edges[0], g->size != NULL) != XY_OK)
        return XY_ENOMEM;
    if (place_graph_init(&part[1], n[1], edges[1], g->size != NULL) != XY_OK) {
        place_graph_cleanup(&part[0]);
        return XY_ENOMEM;
    }
    for (uint32_t v = 0; v < g->n; v++) {
        uint8_t s = side[v];
        place_graph_t *p = &part[s];

        for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
            if (side[g->to[k]] == s) {
                p->to[out[s]] = index[g->to[k]];
                p->w[out[s]++] = g->w[k];
            }
        p->first[index[v] + 1] = out[s];
        if (g->size != NULL)
            p->size[index[v]] = g->size[v];
    }
    return XY_OK;
}

xy_status_t place_graph_copy(const place_graph_t *g, place_graph_t *copy)
{
    xy_status_t st = place_graph_init(copy, g->n, g->first[g->n], false);

    if (st == XY_OK) {
        memcpy(copy->first, g->first, ((size_t)g->n + 1) * sizeof(*g->first));
        memcpy(copy->to, g->to, (size_t)g->first[g->n] * sizeof(*g->to));
        memcpy(copy->w, g->w, (size_t)g->first[g->n] * sizeof(*g->w));
    }
    return st;
}
