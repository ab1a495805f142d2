/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scheduling policy of one's own: the ready task that has the least to load, and of those the one
 * of the earliest iteration. A full memory gives up the datum that the tasks, in the order of the
 * program, use last.
 *
 *   cc -O2 -shared -fPIC -o nearest.so nearest.c $(pkg-config --cflags xylem)
 *   xylem stencil --policy ./nearest.so
 *   xylem stencil --policy ./nearest.so --real
 */
#include <stdlib.h>
#include <xylem_plugin.h>

typedef struct {
    const xylem_policy_view *view;
    int32_t *ready; /* [tasks] the first `count` of them */
    int32_t count;
    int8_t *is_over;    /* [tasks] */
    int32_t *first_use; /* [data + 1] where its tasks begin in */
    int32_t *uses;      /* task numbers, datum after datum, ascending */
    int32_t *cursor;    /* [data] the uses before it are over */
} nearest;

static void destroy(void *state)
{
    nearest *n = state;

    free(n->ready);
    free(n->is_over);
    free(n->first_use);
    free(n->uses);
    free(n->cursor);
    free(n);
}

/* List the tasks that use each datum. */
static void list_uses(nearest *n)
{
    const xylem_policy_view *v = n->view;

    for (int32_t t = 0; t < v->task_count; t++)
        for (int32_t i = 0; i < v->tasks[t].access_count; i++)
            n->first_use[v->tasks[t].accesses[i].data + 1]++;
    for (int32_t d = 0; d < v->data_count; d++) {
        n->first_use[d + 1] += n->first_use[d];
        n->cursor[d] = n->first_use[d];
    }
    for (int32_t t = 0; t < v->task_count; t++)
        for (int32_t i = 0; i < v->tasks[t].access_count; i++)
            n->uses[n->cursor[v->tasks[t].accesses[i].data]++] = t;
    for (int32_t d = 0; d < v->data_count; d++)
        n->cursor[d] = n->first_use[d];
}

static int create(const xylem_policy_view *view, void **state_p)
{
    size_t tasks = (size_t)view->task_count + 1, data = (size_t)view->data_count + 2, accesses = 1;
    nearest *n = calloc(1, sizeof(*n));

    if (n == NULL)
        return 1;
    for (int32_t t = 0; t < view->task_count; t++)
        accesses += (size_t)view->tasks[t].access_count;
    n->view = view;
    n->ready = malloc(tasks * sizeof(*n->ready));
    n->is_over = calloc(tasks, sizeof(*n->is_over));
    n->first_use = calloc(data, sizeof(*n->first_use));
    n->uses = malloc(accesses * sizeof(*n->uses));
    n->cursor = calloc(data, sizeof(*n->cursor));
    if (n->ready == NULL || n->is_over == NULL || n->first_use == NULL || n->uses == NULL ||
        n->cursor == NULL) {
        destroy(n);
        return 1;
    }
    list_uses(n);
    *state_p = n;
    return 0;
}

static void ready(void *state, int32_t task)
{
    nearest *n = state;

    n->ready[n->count++] = task;
}

static void done(void *state, int32_t worker, int32_t task)
{
    nearest *n = state;

    (void)worker;
    n->is_over[task] = 1;
}

/* Bytes that the task reads and the memory lacks. */
static uint64_t missing(const xylem_policy_view *v, const xylem_plugin_task *t, int32_t memory)
{
    uint64_t bytes = 0;

    for (int32_t i = 0; i < t->access_count; i++)
        if ((t->accesses[i].mode & XYLEM_PLUGIN_READ) != 0 &&
            v->copies[memory][t->accesses[i].data] == 0)
            bytes += v->data[t->accesses[i].data].bytes;
    return bytes;
}

static int32_t pick(void *state, int32_t worker)
{
    nearest *n = state;
    const xylem_policy_view *v = n->view;
    int32_t best = -1, task;
    uint64_t least = 0;

    for (int32_t i = 0; i < n->count; i++) {
        const xylem_plugin_task *t = &v->tasks[n->ready[i]];
        uint64_t bytes = missing(v, t, v->memory_of[worker]);

        if (best < 0 || bytes < least ||
            (bytes == least && t->iteration < v->tasks[n->ready[best]].iteration)) {
            best = i;
            least = bytes;
        }
    }
    if (best < 0)
        return -1;
    task = n->ready[best];
    n->ready[best] = n->ready[--n->count];
    return task;
}

static int32_t victim(void *state, int32_t memory, int is_prefetch, const xylem_plugin_free *may_go)
{
    nearest *n = state;
    int32_t best = -1, latest = -1;

    (void)is_prefetch;
    for (int32_t d = 0; d < n->view->data_count; d++) {
        int32_t use;

        if (n->view->copies[memory][d] != XYLEM_PLUGIN_HERE || !may_go->is_free(may_go->arg, d))
            continue;
        while (n->cursor[d] < n->first_use[d + 1] && n->is_over[n->uses[n->cursor[d]]])
            n->cursor[d]++;
        use = n->cursor[d] < n->first_use[d + 1] ? n->uses[n->cursor[d]] : n->view->task_count;
        if (use > latest) {
            latest = use;
            best = d;
        }
    }
    return best;
}

const xylem_policy xylem_plugin_policy = {
    .version = XYLEM_PLUGIN_VERSION,
    .create = create,
    .destroy = destroy,
    .ready = ready,
    .pick = pick,
    .done = done,
    .victim = victim,
};
