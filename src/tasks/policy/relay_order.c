/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of the policy relay. Data are in a line (rank) and tasks have a level: their depth in
 * the graph, or, where that is far more, which write of their datum they are. No task follows one
 * of a higher level. Levels are cut into bands of equal work, as many as all lanes have turns.
 * Inside a band tasks run along a slanted front,
 *
 *   s = rank + slope * depth      with the least slope for which no task comes before what it
 *                                 depends on
 *
 * so that a window of data moves along the line while the band advances all of it:
 *
 *   level ^  2 2 3 3 4 4 5      band 1, lane 1: starts as soon as lane 0 has passed the first data
 *         |  1 2 2 3 3 4 4
 *         |  ------------------
 *         |  1 1 2 2 3 3 4      band 0, lane 0
 *         |  0 1 1 2 2 3 3
 *         +-------------------> rank
 */
#include <string.h>

#include "tasks/policy/relay.h"

enum { ROUNDS_MAX = 64, SPARE_DATA = 4, DEPTHS_MAX = 4, PIECES = 8, TASKS_TRIED = 2000000 };

typedef struct {
    const xy_graph_t *graph;
    int32_t ops, data_count, levels, bands;
    int32_t *rank;    /* [data] */
    int32_t *key;     /* [ops] datum; -1: none */
    int32_t *level;   /* [ops] */
    int32_t *depth;   /* [ops] */
    xy_op_id_t *line; /* [ops] along the front */
    double *work;     /* [levels] */
    int64_t *cuts;    /* [bands + 1] */
    double *speeds;   /* [bands] */
    int32_t *band;    /* [levels] */
    int64_t *place;   /* [keys + 1] or [bands + 1]: for sorting */
    int32_t *seen;    /* [data]: the band that saw it last, plus one */
    int32_t *last;    /* [data]: and where */
    int64_t *room;    /* [ops + 1] bytes that enter the window there, less those that leave */
} making_t;

/* Frees the arrays that only building the order needs. */
static void making_cleanup(making_t *m)
{
    xy_free(m->rank);
    xy_free(m->key);
    xy_free(m->level);
    xy_free(m->depth);
    xy_free(m->line);
    xy_free(m->work);
    xy_free(m->cuts);
    xy_free(m->speeds);
    xy_free(m->band);
    xy_free(m->place);
    xy_free(m->seen);
    xy_free(m->last);
    xy_free(m->room);
}

static void find_depths(making_t *m)
{
    const xy_op_id_t *order = xy_graph_topological(m->graph), *after;

    for (int32_t i = 0; i < m->ops; i++)
        for (int32_t k = xy_graph_successors(m->graph, order[i], &after) - 1; k >= 0; k--)
            if (m->depth[after[k]] < m->depth[order[i]] + 1)
                m->depth[after[k]] = m->depth[order[i]] + 1;
}

/* Does no task follow one of a higher level? */
static bool is_monotone(const making_t *m)
{
    const xy_op_id_t *after;

    for (int32_t i = 0; i < m->ops; i++)
        for (int32_t k = xy_graph_successors(m->graph, i, &after) - 1; k >= 0; k--)
            if (m->level[i] > m->level[after[k]])
                return false;
    return true;
}

static int32_t max_of(const int32_t *values, int32_t n)
{
    int32_t most = 1;

    for (int32_t i = 0; i < n; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

static int64_t rank_of(const making_t *m, xy_op_id_t op)
{
    return m->key[op] >= 0 ? m->rank[m->key[op]] : 0;
}

/* Parts of a level along the line, so that bands of few levels have the same work. */
static void split_levels(making_t *m)
{
    if (m->levels > INT32_MAX / PIECES || m->data_count == 0)
        return;
    for (int32_t i = 0; i < m->ops; i++)
        m->level[i] = m->level[i] * PIECES + (int32_t)(rank_of(m, i) * PIECES / m->data_count);
    m->levels *= PIECES;
    if (is_monotone(m))
        return;
    for (int32_t i = 0; i < m->ops; i++)
        m->level[i] /= PIECES;
    m->levels /= PIECES;
}

/* Sets the level of each task and the work of each level. */
static xy_status_t find_levels(making_t *m)
{
    for (int32_t i = 0; i < m->ops; i++) {
        m->key[i] = policy_key_datum(m->graph, i);
        m->level[i] = m->key[i] >= 0 ? m->seen[m->key[i]]++ : 0; /* number of the write */
    }
    find_depths(m);
    if (!is_monotone(m) ||
        max_of(m->depth, m->ops) <= DEPTHS_MAX * (int64_t)max_of(m->level, m->ops))
        memcpy(m->level, m->depth, (size_t)m->ops * sizeof(*m->level));
    m->levels = max_of(m->level, m->ops) + 1;
    split_levels(m);
    m->work = xy_calloc((size_t)m->levels + 1, sizeof(*m->work));
    m->band = xy_calloc((size_t)m->levels + 1, sizeof(*m->band));
    if (m->work == NULL || m->band == NULL)
        return XY_ENOMEM;
    for (int32_t i = 0; i < m->ops; i++)
        m->work[m->level[i]] += xy_graph_op(m->graph, i)->seconds;
    return XY_OK;
}

/* Returns the least slope of the front at which no task precedes one it depends on. */
static int64_t find_slope(const making_t *m)
{
    const xy_op_id_t *after;
    int64_t slope = 0;

    for (int32_t i = 0; i < m->ops; i++)
        for (int32_t k = xy_graph_successors(m->graph, i, &after) - 1; k >= 0; k--) {
            int64_t back = rank_of(m, i) - rank_of(m, after[k]);
            int64_t steps = m->depth[after[k]] - m->depth[i];

            if (back > slope * steps)
                slope = (back + steps - 1) / steps;
        }
    return slope;
}

/* Stable sort of `from` by a key below `keys`; m->place has room for them. */
static void sort_by(making_t *m, const xy_op_id_t *from, xy_op_id_t *to, int64_t keys,
                    int64_t slope, bool is_front)
{
    memset(m->place, 0, (size_t)(keys + 1) * sizeof(*m->place));
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < m->ops; i++) {
            xy_op_id_t op = from != NULL ? from[i] : i;
            int64_t key = is_front ? rank_of(m, op) + slope * m->depth[op] : m->depth[op];

            if (pass == 0)
                m->place[key + 1]++;
            else
                to[m->place[key]++] = op;
        }
        for (int64_t k = 0; k < keys && pass == 0; k++)
            m->place[k + 1] += m->place[k];
    }
}

/* Along the front, by depth where it is the same. A graph whose front would be longer than its
 * tasks are many has no use for one. */
static xy_status_t line_up_tasks(making_t *m, int32_t lanes)
{
    int64_t slope = find_slope(m), depths = max_of(m->depth, m->ops) + 1, keys, places;
    xy_op_id_t *by_depth = xy_malloc(((size_t)m->ops + 1) * sizeof(*by_depth));

    keys = m->data_count + slope * depths + 1;
    if (keys > 64 * ((int64_t)m->ops + m->data_count + 1)) {
        keys = depths;
        slope = -1;
    }
    places = keys > depths ? keys : depths;
    places = places > m->levels ? places : m->levels;
    m->place = xy_malloc((size_t)(places + lanes + 2) * sizeof(*m->place));
    if (by_depth == NULL || m->place == NULL) {
        xy_free(by_depth);
        return XY_ENOMEM;
    }
    sort_by(m, NULL, by_depth, depths, 0, false);
    if (slope >= 0)
        sort_by(m, by_depth, m->line, keys, slope, true);
    else
        memcpy(m->line, by_depth, (size_t)m->ops * sizeof(*by_depth));
    xy_free(by_depth);
    return XY_OK;
}

/* ---- Bands ---- */

/* Cuts the levels into bands of work in proportion to the speeds of the lanes. */
static void cut_bands(making_t *m, const relay_order_t *o, int32_t rounds)
{
    int32_t b = 0;

    m->bands = rounds * o->lanes;
    for (int32_t i = 0; i < m->bands; i++)
        m->speeds[i] = o->speed[i % o->lanes];
    xy_task_cut(m->work, m->levels, m->speeds, m->bands, m->cuts);
    for (int32_t v = 0; v < m->levels; v++) {
        while (b + 1 < m->bands && v >= m->cuts[b + 1])
            b++;
        m->band[v] = b;
    }
}

/* Tasks to lanes, band after band, each along the front. */
static void deal(making_t *m, relay_order_t *o)
{
    memset(m->place, 0, ((size_t)m->bands + 1) * sizeof(*m->place));
    for (int32_t i = 0; i < m->ops; i++)
        m->place[m->band[m->level[i]]]++;
    for (int32_t lane = 0, at = 0; lane < o->lanes; lane++) {
        o->start[lane] = at;
        for (int32_t b = lane; b < m->bands; b += o->lanes) {
            int32_t count = (int32_t)m->place[b];

            m->place[b] = at;
            at += count;
        }
        o->start[lane + 1] = at;
    }
    for (int32_t i = 0; i < m->ops; i++)
        o->order[m->place[m->band[m->level[m->line[i]]]]++] = m->line[i];
}

/* The most that a lane holds between the first and the last use of data in a band. */
static uint64_t find_window(making_t *m, const relay_order_t *o, int32_t lane)
{
    int64_t now = 0, most = 0;
    const xy_access_t *a;

    memset(m->room, 0, ((size_t)m->ops + 2) * sizeof(*m->room));
    memset(m->seen, 0, (size_t)m->data_count * sizeof(*m->seen));
    for (int32_t i = o->start[lane]; i < o->start[lane + 1]; i++) {
        xy_op_id_t op = o->order[i];
        int32_t band = m->band[m->level[op]];

        for (int32_t k = xy_graph_accesses(m->graph, op, &a) - 1; k >= 0; k--) {
            int32_t d = a[k].data;
            int64_t bytes = (int64_t)xy_graph_data_at(m->graph, d)->bytes;

            if (m->seen[d] != band + 1) {
                if (m->seen[d] > 0)
                    m->room[m->last[d] + 1] -= bytes;
                m->room[i] += bytes;
                m->seen[d] = band + 1;
            }
            m->last[d] = i;
        }
    }
    for (int32_t d = 0; d < m->data_count; d++)
        if (m->seen[d] > 0)
            m->room[m->last[d] + 1] -= (int64_t)xy_graph_data_at(m->graph, d)->bytes;
    for (int32_t i = o->start[lane]; i < o->start[lane + 1]; i++) {
        now += m->room[i];
        most = now > most ? now : most;
    }
    return (uint64_t)most;
}

/* Returns whether the window of each lane, with spare room, fits into its memory. */
static bool is_fitting(making_t *m, const relay_order_t *o, const xy_task_view_t *view)
{
    uint64_t largest = 0;

    for (int32_t d = 0; d < m->data_count; d++)
        if (xy_graph_data_at(m->graph, d)->bytes > largest)
            largest = xy_graph_data_at(m->graph, d)->bytes;
    for (int32_t lane = 0; lane < o->lanes; lane++) {
        uint64_t capacity = view->capacity[o->memory_of[lane]];

        if (capacity != 0 && find_window(m, o, lane) + SPARE_DATA * largest > capacity)
            return false;
    }
    return true;
}

static bool is_fitting_in(making_t *m, relay_order_t *o, const xy_task_view_t *view, int32_t rounds)
{
    cut_bands(m, o, rounds);
    deal(m, o);
    return is_fitting(m, o, view);
}

/* The fewest rounds for which the windows fit; `limit` if they never do. A try looks at all tasks:
 * on large graphs only the first few are made one by one, then it is seen whether any fits, and
 * the rest is found by halves, as more rounds need less room. */
static int32_t find_rounds(making_t *m, relay_order_t *o, const xy_task_view_t *view, int32_t limit)
{
    int32_t low = 0, high = limit, tries = TASKS_TRIED / (m->ops + 1) + 2;

    while (low + 1 < high) { /* none fits up to low; high does, or is the limit */
        int32_t rounds = tries > 0 ? low + 1 : tries == 0 ? high - 1 : low + (high - low) / 2;

        tries--;
        if (is_fitting_in(m, o, view, rounds))
            high = rounds;
        else
            low = rounds;
    }
    return high;
}

/* The fewest rounds for which the windows fit, and then some. */
static void make_bands(making_t *m, relay_order_t *o, const xy_task_view_t *view, int32_t extra)
{
    int32_t rounds, limit = ROUNDS_MAX;

    if (limit * o->lanes > m->levels)
        limit = m->levels / o->lanes + 1;
    rounds = find_rounds(m, o, view, limit) + extra;
    cut_bands(m, o, rounds < limit ? rounds : limit);
    deal(m, o);
}

/* ---- Lanes ---- */

/* Sets one lane for each memory with workers, with their total speed. */
static void find_lanes(relay_order_t *o, const xy_task_view_t *view)
{
    for (int32_t m = 0; m < view->memories; m++) {
        double speed = 0;

        for (int32_t w = 0; w < view->workers; w++)
            speed += view->memory_of[w] == m ? view->speed[w] : 0;
        o->lane_of[m] = speed > 0 ? o->lanes : -1;
        if (speed <= 0)
            continue;
        o->memory_of[o->lanes] = m;
        o->speed[o->lanes++] = speed;
    }
}

/* Allocates the arrays for building the order and puts the data in a line. */
static xy_status_t making_init(making_t *m)
{
    size_t ops = (size_t)m->ops + 2, data = (size_t)m->data_count + 1;

    m->rank = xy_calloc(data, sizeof(*m->rank));
    m->key = xy_calloc(ops, sizeof(*m->key));
    m->level = xy_calloc(ops, sizeof(*m->level));
    m->depth = xy_calloc(ops, sizeof(*m->depth));
    m->line = xy_calloc(ops, sizeof(*m->line));
    m->seen = xy_calloc(data, sizeof(*m->seen));
    m->last = xy_calloc(data, sizeof(*m->last));
    m->room = xy_calloc(ops, sizeof(*m->room));
    if (m->rank == NULL || m->key == NULL || m->level == NULL || m->depth == NULL ||
        m->line == NULL || m->seen == NULL || m->last == NULL || m->room == NULL)
        return XY_ENOMEM;
    return policy_line_up(m->graph, m->rank);
}

xy_status_t relay_order_init(relay_order_t *o, const xy_task_view_t *view, int32_t extra_rounds)
{
    size_t memories = (size_t)view->memories + 1;
    making_t m = {.graph = view->graph,
                  .ops = xy_graph_ops(view->graph),
                  .data_count = xy_graph_data_count(view->graph)};
    xy_status_t st = XY_ENOMEM;

    *o = (relay_order_t){0};
    o->lane_of = xy_calloc(memories, sizeof(*o->lane_of));
    o->memory_of = xy_calloc(memories, sizeof(*o->memory_of));
    o->speed = xy_calloc(memories, sizeof(*o->speed));
    o->start = xy_calloc(memories + 1, sizeof(*o->start));
    o->order = xy_calloc((size_t)m.ops + 1, sizeof(*o->order));
    if (o->lane_of != NULL && o->memory_of != NULL && o->speed != NULL && o->start != NULL &&
        o->order != NULL)
        st = making_init(&m);
    if (st == XY_OK) {
        find_lanes(o, view);
        m.cuts = xy_calloc((size_t)o->lanes * ROUNDS_MAX + 1, sizeof(*m.cuts));
        m.speeds = xy_calloc((size_t)o->lanes * ROUNDS_MAX + 1, sizeof(*m.speeds));
        st = m.cuts != NULL && m.speeds != NULL ? find_levels(&m) : XY_ENOMEM;
    }
    if (st == XY_OK)
        st = line_up_tasks(&m, o->lanes);
    if (st == XY_OK)
        make_bands(&m, o, view, extra_rounds);
    making_cleanup(&m);
    return st;
}

void relay_order_cleanup(relay_order_t *o)
{
    xy_free(o->lane_of);
    xy_free(o->memory_of);
    xy_free(o->speed);
    xy_free(o->order);
    xy_free(o->start);
}
