/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cache-oblivious: Frigo and Strumpen's order, the reference for stencils.
 *                                                      A decision costs O(1), the order O(tasks)
 *
 * The only policy that needs positions: tasks carry a position and an iteration. The
 * domain is cut along its first dimension into one part per worker, and each part is walked in
 * trapezoids: one that is wide is cut by a slanted line, left before right; one that is not is cut
 * in time, early before late. At some depth of this recursion a trapezoid fits in the memory,
 * whatever its size.
 *
 *   time                              odd parts are walked as in a mirror, so that both sides of a
 *    ^   \ 2 \ 4 \  / 4 / 2 /         border come to it at the same time; each worker keeps to its
 *    |   1\  3\   \/   /3  /1         order and waits where the graph requires
 *    +---------------------> position
 *
 * Time is the iteration where all dependencies inside an iteration point up the axes (natural
 * order), otherwise the depth in the graph (red-black). In both, what a task needs lies at most one
 * position away per step. An uneven load stays where it was cut; in proportion to the load the
 * domain is cut anew where the load has moved, and the walk is then cut in time.
 *
 * Tasks without a position run as soon as they are ready, on any worker. What follows them may wait
 * for far more than its neighbours: the walk is then cut in time, so that all they wait for comes
 * before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tasks/policy/policy_internal.h"

typedef struct {
    int64_t x0, dx0, x1, dx1; /* at t0 it spans x0 .. x1 - 1; the sides move by dx per step */
} side_t;

typedef struct {
    const xy_task_view_t *view;
    bool is_trial;         /* refusals are silent */
    xy_op_id_t *order;     /* tasks, part after part */
    int32_t *start, *next; /* [workers + 1], [workers] */
    bool *is_ready;        /* [ops] */
    xy_op_id_t *loose;     /* ready tasks without a position */
    int32_t loose_first, loose_count;

    /* While the order is made. */
    int32_t marked; /* tasks with a position */
    bool *is_cut;   /* [time]: the walk begins anew there */
    int32_t *time;  /* [ops] */
    int32_t *part;  /* [ops] */
    int64_t low[3], extent[3];
    int64_t *cuts; /* [slices][workers + 1] in the first dimension */
    int32_t iteration_low, iteration_count;
    int32_t first_alike[XY_TASK_SLICES]; /* the first of the slices around it with the same cuts */
    int32_t *slice_at;                   /* [time]: first_alike of its tasks */
    xy_op_id_t *index;                   /* [time][position] of one part; -1: no task */
    int32_t time_low, time_count, made;
    int64_t box[3]; /* extents of the part being walked */
} oblivious_t;

/* Frees the arrays that only building the order needs. */
static void forget_making(oblivious_t *c)
{
    xy_free(c->time);
    xy_free(c->part);
    xy_free(c->cuts);
    xy_free(c->index);
    xy_free(c->is_cut);
    xy_free(c->slice_at);
    c->slice_at = NULL;
    c->time = c->part = NULL;
    c->cuts = NULL;
    c->index = NULL;
    c->is_cut = NULL;
}

/* Frees the policy; NULL is allowed. */
static void destroy(void *state)
{
    oblivious_t *c = state;

    if (c == NULL)
        return;
    forget_making(c);
    xy_free(c->order);
    xy_free(c->start);
    xy_free(c->next);
    xy_free(c->is_ready);
    xy_free(c->loose);
    xy_free(c);
}

static xy_status_t refuse(const oblivious_t *c, const char *needs)
{
    if (c->is_trial)
        return XY_EINVAL;
    return xy_fail(XY_EINVAL, "cache-oblivious needs %s; use another policy", needs);
}

static bool is_marked(const oblivious_t *c, xy_op_id_t op)
{
    return xy_graph_op(c->view->graph, op)->position[0] >= 0;
}

/* The first of the slices that are cut as the task's is. */
static int32_t slice_of(const oblivious_t *c, xy_op_id_t op)
{
    int32_t iteration = xy_graph_op(c->view->graph, op)->iteration - c->iteration_low;

    return c->first_alike[xy_task_slice(iteration, c->iteration_count)];
}

static const int64_t *cuts_of(const oblivious_t *c, int32_t slice)
{
    return c->cuts + (int64_t)slice * (c->view->workers + 1);
}

/* Position of a task within its part, mirrored on odd ones. */
static void local(const oblivious_t *c, xy_op_id_t op, int64_t x[3])
{
    const int64_t *p = xy_graph_op(c->view->graph, op)->position;
    const int64_t *cuts = cuts_of(c, slice_of(c, op));
    int32_t part = c->part[op];
    int64_t first = cuts[part], last = cuts[part + 1] - 1;

    x[0] = part % 2 == 0 ? p[0] - c->low[0] - first : last - (p[0] - c->low[0]);
    x[1] = p[1] - c->low[1];
    x[2] = p[2] - c->low[2];
}

/* Sets the bounding box of the marked tasks; refuses fewer positions than workers. */
static xy_status_t find_box(oblivious_t *c)
{
    int32_t ops = xy_graph_ops(c->view->graph);
    int64_t high[3] = {0};

    for (int32_t i = 0; i < ops; i++) {
        bool is_first = c->marked == 0;

        if (!is_marked(c, i))
            continue;
        c->marked++;
        for (int d = 0; d < 3; d++) {
            int64_t p = xy_graph_op(c->view->graph, i)->position[d];

            c->low[d] = is_first || p < c->low[d] ? p : c->low[d];
            high[d] = is_first || p > high[d] ? p : high[d];
        }
    }
    for (int d = 0; d < 3; d++)
        c->extent[d] = c->marked == 0 ? 0 : high[d] - c->low[d] + 1;
    if (ops > 0 && (c->extent[0] < c->view->workers || c->extent[0] > (int64_t)ops + 2)) {
        char needs[200];

        snprintf(needs, sizeof(needs),
                 "tasks that are marked with at least as many positions as there are workers (%d) "
                 "and about as many as tasks at most; they are marked with %lld",
                 c->view->workers, (long long)c->extent[0]);
        return refuse(c, needs);
    }
    return XY_OK;
}

/* Sets the first iteration of marked tasks and their number. */
static void find_iterations(oblivious_t *c)
{
    int32_t high = 0;
    bool is_first = true;

    for (int32_t i = 0; i < xy_graph_ops(c->view->graph); i++) {
        int32_t t = xy_graph_op(c->view->graph, i)->iteration;

        if (!is_marked(c, i))
            continue;
        c->iteration_low = is_first || t < c->iteration_low ? t : c->iteration_low;
        high = is_first || t > high ? t : high;
        is_first = false;
    }
    c->iteration_count = high - c->iteration_low + 1;
}

static void assign_parts(oblivious_t *c)
{
    for (int32_t i = 0; i < xy_graph_ops(c->view->graph); i++) {
        int64_t x = xy_graph_op(c->view->graph, i)->position[0] - c->low[0];

        c->part[i] = 0;
        if (!is_marked(c, i))
            continue;
        while (x >= cuts_of(c, slice_of(c, i))[c->part[i] + 1])
            c->part[i]++;
    }
}

/* Cut the domain: equally, in proportion to the load, or to the load of each slice. */
static xy_status_t cut_parts(oblivious_t *c, bool is_proportional, bool is_sliced)
{
    const xy_graph_t *g = c->view->graph;
    int64_t n = c->extent[0];
    size_t size = ((size_t)c->view->workers + 1) * sizeof(*c->cuts);
    double *work = xy_calloc(XY_TASK_SLICES * (size_t)n + 1, sizeof(*work));

    if (work == NULL)
        return xy_fail_memory("cutting the domain");
    for (int32_t i = 0; i < xy_graph_ops(g); i++)
        if (is_marked(c, i)) {
            const xy_op_t *op = xy_graph_op(g, i);
            int32_t slice = xy_task_slice(op->iteration - c->iteration_low, c->iteration_count);

            work[(is_sliced ? slice * n : 0) + op->position[0] - c->low[0]] += op->seconds;
        }
    xy_task_cut_slices(is_proportional ? work : NULL, n, c->view->speed, c->view->workers, c->cuts);
    xy_free(work);
    for (int32_t s = 1; s < XY_TASK_SLICES; s++)
        c->first_alike[s] =
            memcmp(cuts_of(c, s), cuts_of(c, s - 1), size) == 0 ? c->first_alike[s - 1] : s;
    assign_parts(c);
    return XY_OK;
}

/* Returns whether the walk runs `a` before `b`: the distance is at most the time between them. */
static bool is_edge_fine(const oblivious_t *c, xy_op_id_t a, xy_op_id_t b)
{
    int64_t x[3], y[3], dt = (int64_t)c->time[b] - c->time[a];

    if (!is_marked(c, a) || !is_marked(c, b) || c->part[a] != c->part[b] ||
        slice_of(c, a) != slice_of(c, b))
        return true; /* borders are waited for, and others come after a cut in time */
    local(c, a, x);
    local(c, b, y);
    for (int d = 0; d < 3; d++)
        if (dt == 0 ? y[d] < x[d] : llabs(y[d] - x[d]) > dt)
            return false;
    return dt >= 0;
}

static bool are_edges_fine(const oblivious_t *c)
{
    const xy_op_id_t *after;

    for (int32_t i = 0; i < xy_graph_ops(c->view->graph); i++)
        for (int32_t k = xy_graph_successors(c->view->graph, i, &after) - 1; k >= 0; k--)
            if (!is_edge_fine(c, i, after[k]))
                return false;
    return true;
}

static void time_by_depth(oblivious_t *c)
{
    const xy_op_id_t *order = xy_graph_topological(c->view->graph), *after;
    int32_t ops = xy_graph_ops(c->view->graph);

    for (int32_t i = 0; i < ops; i++)
        c->time[i] = 0;
    for (int32_t i = 0; i < ops; i++)
        for (int32_t k = xy_graph_successors(c->view->graph, order[i], &after) - 1; k >= 0; k--)
            if (c->time[after[k]] < c->time[order[i]] + 1)
                c->time[after[k]] = c->time[order[i]] + 1;
}

/* Where a cut must be at the latest: after_p[t] is the latest time of what tasks of time t wait for
 * through others without a position, plus one; 0: nothing. false: some wait for what is not
 * earlier.
 */
static bool find_waits(const oblivious_t *c, int32_t *latest, int32_t *after_p)
{
    const xy_op_id_t *order = xy_graph_topological(c->view->graph), *after;
    int32_t ops = xy_graph_ops(c->view->graph);

    for (int32_t i = 0; i < ops; i++) {
        xy_op_id_t op = order[i];
        bool is_loose = !is_marked(c, op);
        int32_t seen = is_loose ? latest[op] : c->time[op] - c->time_low + 1;

        for (int32_t k = xy_graph_successors(c->view->graph, op, &after) - 1; k >= 0; k--) {
            int32_t t = c->time[after[k]] - c->time_low;

            if (!is_marked(c, after[k]))
                latest[after[k]] = seen > latest[after[k]] ? seen : latest[after[k]];
            else if (is_loose && seen > t)
                return false;
            else if (is_loose && seen > after_p[t])
                after_p[t] = seen;
        }
    }
    return true;
}

/* As few cuts as do: each as late as the first wait that no cut before it serves allows. */
static xy_status_t cut_times(oblivious_t *c)
{
    size_t ops = (size_t)xy_graph_ops(c->view->graph) + 1, times = (size_t)c->time_count + 1;
    int32_t *latest = xy_calloc(ops, sizeof(*latest)), *waits = xy_calloc(times, sizeof(*waits));
    xy_status_t st = XY_OK;

    c->is_cut = xy_calloc(times, sizeof(*c->is_cut));
    if (latest == NULL || waits == NULL || c->is_cut == NULL)
        st = xy_fail_memory("walking the domain");
    else if (!find_waits(c, latest, waits))
        st = refuse(
            c, "tasks that depend, through tasks without a position, on earlier iterations only");
    for (int32_t t = 0, last = 0; t < c->time_count && st == XY_OK; t++)
        if (waits[t] > last || (t > 0 && c->slice_at[t] != c->slice_at[t - 1])) {
            c->is_cut[t] = true;
            last = t;
        }
    xy_free(latest);
    xy_free(waits);
    return st;
}

/* Sets the time of each task: its iteration, or its depth if that violates a dependency. */
static xy_status_t find_times(oblivious_t *c)
{
    int32_t ops = xy_graph_ops(c->view->graph), high = 0;

    for (int32_t i = 0; i < ops; i++)
        c->time[i] = xy_graph_op(c->view->graph, i)->iteration;
    if (!are_edges_fine(c)) {
        time_by_depth(c);
        if (!are_edges_fine(c))
            return refuse(
                c, "tasks whose marked positions are at most 1 apart from what they depend on");
    }
    for (int32_t i = 0, seen = 0; i < ops; i++) {
        if (!is_marked(c, i))
            continue;
        c->time_low = seen == 0 || c->time[i] < c->time_low ? c->time[i] : c->time_low;
        high = seen == 0 || c->time[i] > high ? c->time[i] : high;
        seen++;
    }
    c->time_count = c->marked == 0 ? 0 : high - c->time_low + 1;
    return XY_OK;
}

/* Each time belongs to slices with the same cuts, and slices come one after the other. XY_EINVAL:
 * not so (not reported). */
static xy_status_t find_slices(oblivious_t *c)
{
    xy_free(c->slice_at);
    c->slice_at = xy_malloc(((size_t)c->time_count + 1) * sizeof(*c->slice_at));
    if (c->slice_at == NULL)
        return xy_fail_memory("walking the domain");
    for (int32_t t = 0; t < c->time_count; t++)
        c->slice_at[t] = -1;
    for (int32_t i = 0; i < xy_graph_ops(c->view->graph); i++) {
        int32_t *slice;

        if (!is_marked(c, i))
            continue;
        slice = &c->slice_at[c->time[i] - c->time_low];
        if (*slice >= 0 && *slice != slice_of(c, i))
            return XY_EINVAL;
        *slice = slice_of(c, i);
    }
    for (int32_t t = 1; t < c->time_count; t++) {
        if (c->slice_at[t] < 0)
            c->slice_at[t] = c->slice_at[t - 1];
        if (c->slice_at[t] < c->slice_at[t - 1])
            return XY_EINVAL;
    }
    return XY_OK;
}

static size_t cell(const oblivious_t *c, int64_t t, const int64_t x[3])
{
    return (size_t)(((t * c->box[0] + x[0]) * c->box[1] + x[1]) * c->box[2] + x[2]);
}

static void visit(oblivious_t *c, int64_t t, const side_t s[3])
{
    int64_t x[3];

    for (x[0] = s[0].x0; x[0] < s[0].x1; x[0]++)
        for (x[1] = s[1].x0; x[1] < s[1].x1; x[1]++)
            for (x[2] = s[2].x0; x[2] < s[2].x1; x[2]++) {
                xy_op_id_t op = c->index[cell(c, t, x)];

                if (op >= 0)
                    c->order[c->made++] = op;
            }
}

/* Visits a trapezoid of space and time recursively, cut in space where it is wide, else in time. */
static void walk(oblivious_t *c, int64_t t0, int64_t t1, const side_t s[3])
{
    int64_t dt = t1 - t0, half = dt / 2;
    side_t a[3] = {s[0], s[1], s[2]}, b[3] = {s[0], s[1], s[2]};

    if (dt == 1) {
        visit(c, t0, s);
        return;
    }
    for (int d = 0; d < 3; d++) {
        if (2 * (s[d].x1 - s[d].x0) + (s[d].dx1 - s[d].dx0) * dt < 4 * dt)
            continue;
        a[d].x1 = b[d].x0 = (2 * (s[d].x0 + s[d].x1) + (2 + s[d].dx0 + s[d].dx1) * dt) / 4;
        a[d].dx1 = b[d].dx0 = -1;
        walk(c, t0, t1, a);
        walk(c, t0, t1, b);
        return;
    }
    for (int d = 0; d < 3; d++) {
        b[d].x0 += b[d].dx0 * half;
        b[d].x1 += b[d].dx1 * half;
    }
    walk(c, t0, t0 + half, a);
    walk(c, t0 + half, t1, b);
}

static int64_t width_of(const oblivious_t *c, int32_t slice, int32_t part)
{
    return cuts_of(c, slice)[part + 1] - cuts_of(c, slice)[part];
}

/* One walk from each cut in time to the next. */
static void walk_times(oblivious_t *c, int32_t part)
{
    side_t sides[3] = {{0}};

    for (int d = 0; d < 3; d++)
        sides[d].x1 = c->box[d];
    for (int32_t t = 1, from = 0; t <= c->time_count; t++)
        if (t == c->time_count || c->is_cut[t]) {
            sides[0].x1 = width_of(c, c->slice_at[from], part);
            if (sides[0].x1 > 0)
                walk(c, from, t, sides);
            from = t;
        }
}

/* False: there are too many. */
static bool count_cells(const oblivious_t *c, size_t *cells_p)
{
    size_t cells = (size_t)c->time_count;
    bool is_too_many = false;

    for (int d = 0; d < 3; d++)
        is_too_many |= __builtin_mul_overflow(cells, (size_t)c->box[d], &cells);
    *cells_p = cells;
    return !is_too_many && cells < SIZE_MAX / sizeof(*c->index);
}

/* Sets the order of the tasks of one worker. */
static xy_status_t walk_part(oblivious_t *c, int32_t part)
{
    int32_t ops = xy_graph_ops(c->view->graph);
    size_t cells;

    c->box[0] = 0;
    c->box[1] = c->extent[1];
    c->box[2] = c->extent[2];
    for (int32_t s = 0; s < XY_TASK_SLICES; s++)
        c->box[0] = width_of(c, s, part) > c->box[0] ? width_of(c, s, part) : c->box[0];
    xy_free(c->index);
    c->index = count_cells(c, &cells) ? xy_malloc((cells + 1) * sizeof(*c->index)) : NULL;
    if (c->index == NULL)
        return xy_fail_memory("walking the domain");
    for (size_t i = 0; i < cells; i++)
        c->index[i] = -1;
    for (int32_t i = 0; i < ops; i++)
        if (c->part[i] == part && is_marked(c, i)) {
            int64_t x[3];

            local(c, i, x);
            c->index[cell(c, c->time[i] - c->time_low, x)] = i;
        }
    c->start[part] = c->next[part] = c->made;
    walk_times(c, part);
    c->start[part + 1] = c->made;
    return XY_OK;
}

static xy_status_t cut_all(oblivious_t *c, bool is_proportional, bool is_sliced)
{
    xy_status_t st = cut_parts(c, is_proportional, is_sliced);

    if (st == XY_OK)
        st = find_times(c);
    if (st == XY_OK)
        st = find_slices(c);
    return st;
}

/* Cuts the domain among the workers and sets the order of tasks of each. */
static xy_status_t make_order(oblivious_t *c, const xy_task_params_t *params)
{
    xy_status_t st = find_box(c);

    if (st == XY_OK) {
        find_iterations(c);
        st = cut_all(c, params->is_proportional, params->is_proportional);
        if (st == XY_EINVAL && c->slice_at != NULL) /* its slices mix: one cut for all of them */
            st = cut_all(c, params->is_proportional, false);
    }
    if (st == XY_OK)
        st = cut_times(c);
    for (int32_t w = 0; w < c->view->workers && st == XY_OK; w++)
        st = walk_part(c, w);
    if (st == XY_OK && c->made != c->marked)
        st = refuse(c, "one task per position and iteration");
    forget_making(c);
    return st;
}

/* Creates the policy; refuses graphs without marked positions. */
static xy_status_t create(const xy_task_view_t *view, const xy_task_params_t *params,
                          void **state_p)
{
    size_t ops = (size_t)xy_graph_ops(view->graph) + 1, workers = (size_t)view->workers + 1;
    oblivious_t *c = xy_calloc(1, sizeof(*c));
    xy_status_t st;

    if (c == NULL)
        return xy_fail_memory("preparing the order of tasks");
    c->view = view;
    c->is_trial = params->is_trial;
    c->order = xy_calloc(ops, sizeof(*c->order));
    c->start = xy_calloc(workers, sizeof(*c->start));
    c->next = xy_calloc(workers, sizeof(*c->next));
    c->is_ready = xy_calloc(ops, sizeof(*c->is_ready));
    c->loose = xy_calloc(ops, sizeof(*c->loose));
    c->time = xy_calloc(ops, sizeof(*c->time));
    c->part = xy_calloc(ops, sizeof(*c->part));
    c->cuts = xy_calloc(XY_TASK_SLICES * workers, sizeof(*c->cuts));
    if (c->loose == NULL || c->order == NULL || c->start == NULL || c->next == NULL ||
        c->is_ready == NULL || c->time == NULL || c->part == NULL || c->cuts == NULL)
        st = xy_fail_memory("preparing the order of tasks");
    else
        st = make_order(c, params);
    if (st == XY_OK)
        *state_p = c;
    else
        destroy(c);
    return st;
}

static void ready(void *state, xy_op_id_t op)
{
    oblivious_t *c = state;

    c->is_ready[op] = true;
    if (!is_marked(c, op))
        c->loose[c->loose_count++] = op;
}

static xy_op_id_t pick(void *state, int32_t worker)
{
    oblivious_t *c = state;
    int32_t at = c->next[worker];

    if (c->loose_first < c->loose_count)
        return c->loose[c->loose_first++];
    if (at == c->start[worker + 1] || !c->is_ready[c->order[at]])
        return -1;
    c->next[worker]++;
    return c->order[at];
}

const xy_task_policy_t policy_cache_oblivious = {
    .name = "cache-oblivious",
    .describe = "Frigo and Strumpen's trapezoids, one part of the domain per worker",
    .eviction = "lru",
    .is_strict = true,
    .create = create,
    .destroy = destroy,
    .ready = ready,
    .pick = pick,
};
