/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places that data exchange.
 *
 * A task that only writes a datum does not care where it lies. If that place is not in the cache,
 * each line is read first, only to be overwritten; and what the cache gives up for it is written to
 * memory, even if no task will read it. So such a datum takes the place of one that the cache gave
 * up just now and that is dead: the next task to touch it will only write it, too.
 *
 *     two arrays in turn, where a window of blocks moves to the right      x  dead   _  not written
 *     a  2 3 3 [3 3 2 0] 0 0     block 7 of b is about to be written. It takes the place of
 *     b  x x x [2 2 1 _] _ _     block 1 of b, whose lines are still there, and gives its own
 *
 * A ready task that only writes a datum makes it dead: all who read it are complete, for the
 * policy. Really, some may still run on other workers, which the edges of the graph know nothing
 * of, as they are about data and not about places. Therefore both places must be ones that, since
 * they were last written, only the worker used that exchanges them: it does things in order. A
 * later writer of the dead datum waits until that worker has done what it had taken when it gave
 * the place (`given`). No worker waits for ever: all wait for what was decided before.
 */
#include "tasks/exec/exec_internal.h"

enum { NO_USER = -1, SEVERAL = -2 };

void exec_places_cleanup(exec_tasks_t *e)
{
    for (int32_t w = 0; e->workers != NULL && w < e->base.worker_count; w++)
        xy_free(e->workers[w].gates);
    xy_free(e->places);
}

xy_status_t exec_places_init(exec_tasks_t *e)
{
    /* When a run is stopped, places are not those of the tasks that were really done. */
    if (!e->how->is_exchanging || e->how->addresses == NULL || e->how->store != NULL ||
        e->how->stop != NULL)
        return XY_OK;
    for (int32_t w = 0; w < e->base.worker_count; w++) {
        size_t room = (size_t)EXEC_BATCH_MAX * (size_t)e->base.most;

        e->workers[w].gates = xy_malloc(room * sizeof(*e->workers[w].gates));
        if (e->workers[w].gates == NULL)
            return XY_ENOMEM;
    }
    e->places = xy_calloc((size_t)e->base.data_count + 1, sizeof(*e->places));
    if (e->places == NULL)
        return XY_ENOMEM;
    for (int32_t d = 0; d < e->base.data_count; d++)
        e->places[d].user = NO_USER;
    return XY_OK;
}

void exec_places_ready(xy_task_engine_t *base, xy_op_id_t op)
{
    exec_tasks_t *e = exec_of(base);
    const xy_access_t *a;
    int32_t n = e->places != NULL ? xy_graph_accesses(e->base.graph, op, &a) : 0;

    for (int32_t i = 0; i < n; i++)
        if (a[i].mode == XY_ACCESS_WRITE)
            e->places[a[i].data].is_dead = true;
}

void exec_place_given_up(xy_task_engine_t *base, int32_t memory, int32_t data)
{
    exec_tasks_t *e = exec_of(base);

    if (e->places != NULL && e->places[data].is_dead) {
        exec_worker_t *w = &e->workers[memory - 1];

        w->spares[w->spare_count++ % EXEC_SPARES] = data;
    }
}

static bool is_exchangeable(const exec_tasks_t *e, const exec_worker_t *w, int32_t data)
{
    return e->places[data].is_dead &&
           (e->places[data].user == w->number || e->places[data].user == NO_USER);
}

void exec_place_exchange(xy_task_engine_t *base, int32_t memory, int32_t data)
{
    exec_tasks_t *e = exec_of(base);
    exec_worker_t *w = &e->workers[memory - 1];

    if (e->places == NULL || !is_exchangeable(e, w, data))
        return;
    /* The latest first. What was dead then may be in use by now. */
    while (w->spare_count > 0) {
        int32_t spare = w->spares[--w->spare_count % EXEC_SPARES];
        void *address = e->how->addresses[spare];

        if (spare == data || !is_exchangeable(e, w, spare) ||
            base->bytes[spare] != base->bytes[data])
            continue;
        e->how->addresses[spare] = e->how->addresses[data];
        e->how->addresses[data] = address;
        e->places[spare].user = w->number;
        e->places[spare].given = w->taken;
        e->base.result.exchanges++;
        return;
    }
}

static void use(exec_tasks_t *e, exec_worker_t *w, const xy_access_t *a)
{
    exec_place_t *p = &e->places[a->data];

    if (!(a->mode & XY_ACCESS_WRITE)) {
        p->user = p->user == NO_USER || p->user == w->number ? w->number : SEVERAL;
        return;
    }
    if (p->given > 0 && p->user != w->number)
        w->gates[w->gate_count++] = (exec_gate_t){w->batch_count, p->user, p->given};
    *p = (exec_place_t){.user = w->number};
}

void exec_places_use(exec_tasks_t *e, exec_worker_t *w, xy_op_id_t op)
{
    const xy_access_t *a;
    int32_t n = e->places != NULL ? xy_graph_accesses(e->base.graph, op, &a) : 0;

    for (int32_t i = 0; i < n; i++)
        use(e, w, &a[i]);
}

/* The load acquires what the other worker did with the place. */
bool exec_places_are_free(const exec_tasks_t *e, exec_worker_t *w, int32_t task)
{
    while (w->gate < w->gate_count && w->gates[w->gate].task == task) {
        const exec_gate_t *gate = &w->gates[w->gate];

        if (atomic_load_explicit(&e->workers[gate->worker].ran, memory_order_acquire) < gate->ran)
            return false;
        w->gate++;
    }
    return true;
}
