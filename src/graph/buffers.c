/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations on buffers: their order, from who touched which bytes last, and how large buffers are.
 *
 * Each buffer has a sorted list of disjoint intervals, one for each stretch of bytes with the same
 * history. A read cuts the intervals at its two ends and joins the readers of those between; a
 * write puts one interval in the place of all that it covers:
 *
 *   written by 1          |1       |          read of the middle by 2   |1 |1,2 |1 |
 *   write of the rest by 3                                              |1 |1,2|3    |
 */
#include <string.h>

#include "graph/graph_internal.h"

int graph_op_places(const xy_op_t *op, xy_spot_t places[3])
{
    int n = 0;

    if (op->kind < XY_OP_MOVE)
        return 0;
    places[n++] = op->from;
    if (op->kind == XY_OP_COMBINE)
        places[n++] = op->other;
    places[n++] = op->to;
    return n;
}

void graph_tracks_cleanup(xy_graph_t *graph)
{
    for (size_t i = 0; i < graph->tracks.count; i++)
        xy_vec_cleanup(&XY_VEC_AT(&graph->tracks, xy_vec_t, i));
    xy_vec_cleanup(&graph->tracks);
}

/* ---- Who touched which bytes last ---- */

/* Replace intervals [i, j) of the track by `n` unset ones; false: memory ran out. */
static bool splice(xy_vec_t *track, size_t i, size_t j, size_t n)
{
    size_t tail = track->count - j;
    graph_interval_t *at;

    if (n > j - i && xy_vec_push_many(track, n - (j - i)) == NULL)
        return false;
    at = (graph_interval_t *)track->data + i;
    memmove(at + n, at + (j - i), tail * sizeof(*at));
    track->count = i + n + tail;
    return true;
}

/* The first interval that ends behind `offset`. */
static size_t find(const xy_vec_t *track, uint64_t offset)
{
    size_t low = 0, high = track->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (XY_VEC_AT(track, graph_interval_t, middle).end > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Make `offset` a border between intervals. */
static bool cut_at(xy_vec_t *track, uint64_t offset)
{
    size_t i = find(track, offset);
    graph_interval_t *at;

    if (i == track->count || XY_VEC_AT(track, graph_interval_t, i).begin >= offset)
        return true;
    if (!splice(track, i, i, 1))
        return false;
    at = &XY_VEC_AT(track, graph_interval_t, i);
    at[0] = at[1]; /* both halves share one list of readers */
    at[0].end = offset;
    at[1].begin = offset;
    return true;
}

/* Put an interval that no operation has touched yet in front of interval i. */
static bool fill_gap(xy_vec_t *track, size_t i, uint64_t begin, uint64_t end)
{
    if (!splice(track, i, i, 1))
        return false;
    XY_VEC_AT(track, graph_interval_t, i) = (graph_interval_t){begin, end, {-1, -1}};
    return true;
}

/* Record a read of bytes [begin, end) by `op` and order it after their last writes; false without
 * memory. */
static bool track_read(xy_graph_t *graph, xy_vec_t *track, uint64_t begin, uint64_t end,
                       xy_op_id_t op)
{
    if (!cut_at(track, begin) || !cut_at(track, end))
        return false;
    for (size_t i = find(track, begin); begin < end; i++) {
        uint64_t next = i < track->count ? XY_VEC_AT(track, graph_interval_t, i).begin : end;

        if (next > begin && !fill_gap(track, i, begin, next < end ? next : end))
            return false;
        graph_last_read(graph, &XY_VEC_AT(track, graph_interval_t, i).last, op);
        begin = XY_VEC_AT(track, graph_interval_t, i).end;
    }
    return true;
}

/* Record a write of bytes [begin, end) by `op` and order it after their earlier readers and
 * writers; false without memory. */
static bool track_write(xy_graph_t *graph, xy_vec_t *track, uint64_t begin, uint64_t end,
                        xy_op_id_t op)
{
    size_t first, last;

    if (!cut_at(track, begin) || !cut_at(track, end))
        return false;
    first = last = find(track, begin);
    while (last < track->count && XY_VEC_AT(track, graph_interval_t, last).begin < end) {
        graph_last_write(graph, &XY_VEC_AT(track, graph_interval_t, last).last, op);
        last++;
    }
    if (!splice(track, first, last, 1))
        return false;
    XY_VEC_AT(track, graph_interval_t, first) = (graph_interval_t){begin, end, {op, -1}};
    return true;
}

/* The track of a place; NULL: memory ran out, or there is no such place. */
static xy_vec_t *track_of(xy_graph_t *graph, const xy_spot_t *place)
{
    size_t index = (size_t)place->rank * XY_BUFFERS_MAX + (size_t)place->buffer;
    size_t have = graph->tracks.count;

    if (place->rank < 0 || place->buffer < 0 || place->buffer >= XY_BUFFERS_MAX) {
        graph->wrong = "an operation names a buffer that does not exist";
        return NULL;
    }
    if (index >= have) {
        size_t want = (size_t)(place->rank + 1) * XY_BUFFERS_MAX;

        if (xy_vec_push_many(&graph->tracks, want - have) == NULL) {
            graph->is_out_of_memory = true;
            return NULL;
        }
        for (size_t i = have; i < want; i++)
            XY_VEC_AT(&graph->tracks, xy_vec_t, i) = XY_VEC_INIT(graph_interval_t);
    }
    return &XY_VEC_AT(&graph->tracks, xy_vec_t, index);
}

xy_op_id_t xy_graph_add_op(xy_graph_t *graph, const xy_op_t *op)
{
    xy_op_id_t id = xy_graph_add(graph, op);
    xy_spot_t places[3];
    int n = graph_op_places(op, places);

    if (op->bytes == 0)
        return id;
    for (int i = 0; i < n && graph_is_building(graph); i++) {
        xy_vec_t *track = track_of(graph, &places[i]);
        uint64_t begin = places[i].offset, end = begin + op->bytes;

        if (track == NULL)
            return id;
        if (end < begin)
            graph->wrong = "an operation goes beyond the end of memory";
        else if (!(i < n - 1 ? track_read(graph, track, begin, end, id)
                             : track_write(graph, track, begin, end, id)))
            graph->is_out_of_memory = true;
    }
    return id;
}

/* ---- Sizes ---- */

static xy_status_t check_place(const xy_spot_t *place, uint64_t bytes)
{
    if (place->rank < 0 || place->buffer < 0 || place->buffer >= XY_BUFFERS_MAX)
        return xy_fail(XY_EINVAL,
                       "an operation of a graph names buffer %d of rank %d, which does not exist",
                       place->buffer, place->rank);
    if (place->offset + bytes < bytes)
        return xy_fail(XY_EINVAL, "an operation of a graph goes beyond the end of memory");
    return XY_OK;
}

/* Set the number of ranks and buffers of the graph from the places of its operations, and check
 * these places. */
static xy_status_t count_buffers(xy_graph_t *graph)
{
    for (size_t i = 0; i < graph->ops.count; i++) {
        const xy_op_t *op = graph_op(graph, (xy_op_id_t)i);
        xy_spot_t places[3];
        int n = graph_op_places(op, places);

        if (op->actor >= graph->ranks)
            graph->ranks = op->actor + 1;
        for (int k = 0; k < n; k++) {
            xy_status_t st = check_place(&places[k], op->bytes);

            if (st != XY_OK)
                return st;
            if (places[k].rank >= graph->ranks)
                graph->ranks = places[k].rank + 1;
            if (places[k].buffer >= graph->buffers)
                graph->buffers = places[k].buffer + 1;
        }
    }
    return XY_OK;
}

xy_status_t graph_buffers_measure(xy_graph_t *graph)
{
    xy_status_t st = count_buffers(graph);

    if (st != XY_OK)
        return st;
    graph->buffer_bytes =
        xy_calloc((size_t)graph->ranks * (size_t)graph->buffers + 1, sizeof(*graph->buffer_bytes));
    if (graph->buffer_bytes == NULL)
        return xy_fail_memory("finalizing a graph");
    for (size_t i = 0; i < graph->ops.count; i++) {
        const xy_op_t *op = graph_op(graph, (xy_op_id_t)i);
        xy_spot_t places[3];
        int n = graph_op_places(op, places);

        for (int k = 0; k < n && op->bytes > 0; k++) {
            uint64_t *bytes = &graph->buffer_bytes[(size_t)places[k].rank * (size_t)graph->buffers +
                                                   (size_t)places[k].buffer];

            if (places[k].offset + op->bytes > *bytes)
                *bytes = places[k].offset + op->bytes;
        }
    }
    return XY_OK;
}

int32_t xy_graph_ranks(const xy_graph_t *graph)
{
    return graph->ranks;
}

int32_t xy_graph_buffers(const xy_graph_t *graph)
{
    return graph->buffers;
}

uint64_t xy_graph_buffer_bytes(const xy_graph_t *graph, int32_t rank, int32_t buffer)
{
    if (rank < 0 || rank >= graph->ranks || buffer < 0 || buffer >= graph->buffers)
        return 0;
    return graph->buffer_bytes[(size_t)rank * (size_t)graph->buffers + (size_t)buffer];
}
