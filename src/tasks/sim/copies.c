/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of data. A copy is here, coming, or not there. It takes room from the moment its transfer
 * is asked for until it is given up; while tasks or transfers need it, it is pinned.
 */
#include "tasks/sim/sim_internal.h"

static void observe(sim_tasks_t *s, int32_t memory)
{
    if (s->observer != NULL && s->observer->memory != NULL)
        s->observer->memory(s->observer->arg, memory, s->clock.now, s->memories[memory].space.used);
}

static void allocate(sim_tasks_t *s, int32_t memory, int32_t data)
{
    if (memory != 0 && xy_task_memory_take(&s->memories[memory].space, data, sim_bytes(s, data)))
        observe(s, memory);
}

static void release(sim_tasks_t *s, int32_t memory, int32_t data)
{
    if (xy_task_memory_give(&s->memories[memory].space, data, sim_bytes(s, data)))
        observe(s, memory);
}

/* Is there no other valid copy? */
static bool is_sole(const sim_tasks_t *s, int32_t memory, int32_t data)
{
    for (int32_t m = 0; m < s->platform->memories; m++)
        if (m != memory && s->memories[m].space.states[data] == XY_TASK_HERE)
            return false;
    return true;
}

void sim_memory_announce(sim_tasks_t *s, int32_t memory, int32_t data)
{
    double start;

    if (s->policy->arrived == NULL)
        return;
    start = sim_clock();
    s->policy->arrived(s->state, memory, data);
    s->result.scheduling_seconds += sim_clock() - start;
}

void sim_memory_own(sim_tasks_t *s, int32_t memory, int32_t data)
{
    bool was_there;

    for (int32_t m = 0; m < s->platform->memories; m++) {
        sim_transfer_t *incoming = sim_incoming(s, m, data);

        if (incoming != NULL)
            incoming->is_stale = true;
        if (m != memory && incoming == NULL)
            release(s, m, data);
    }
    allocate(s, memory, data);
    was_there = s->memories[memory].space.states[data] != 0;
    s->memories[memory].space.states[data] = XY_TASK_HERE;
    s->memories[memory].space.copies[data].is_writing = true;
    if (!was_there)
        sim_memory_announce(s, memory, data);
}

/* Write a datum back again: the data that came home is worthless, and a memory that meanwhile waits
 * for the same datum to be written back relied on it. */
static void write_back_again(sim_tasks_t *s, int32_t data)
{
    for (int32_t m = 1; m < s->platform->memories; m++)
        if (s->memories[m].space.copies[data].is_evicting && sim_incoming(s, 0, data) == NULL)
            sim_transfer_request(s, data, m, 0, false);
}

void sim_memory_arrived(sim_tasks_t *s, const sim_transfer_t *t)
{
    sim_memory_t *to = &s->memories[t->to], *from = &s->memories[t->from];

    to->space.copies[t->data].own = NULL;
    /* A task of the memory itself may have written the datum meanwhile: then it stays. */
    if (!t->is_stale)
        to->space.states[t->data] = XY_TASK_HERE;
    else if (to->space.states[t->data] == XY_TASK_COMING)
        release(s, t->to, t->data);
    if (t->is_stale && t->to == 0) {
        write_back_again(s, t->data);
    } else if (!t->is_stale && from->space.copies[t->data].is_evicting &&
               from->space.copies[t->data].pins == 0) {
        s->result.evictions++;
        release(s, t->from, t->data);
    }
}

/* ---- Room ---- */

static bool is_free_for_policy(const void *arg, int32_t data)
{
    return xy_task_memory_is_free(arg, data);
}

typedef struct {
    sim_tasks_t *s;
    int32_t memory;
} asked_t;

static bool is_dirty(const void *arg, int32_t data)
{
    const asked_t *asked = arg;

    return is_sole(asked->s, asked->memory, data);
}

static int64_t next_use(const void *arg, int32_t data)
{
    const asked_t *asked = arg;
    sim_tasks_t *s = asked->s;

    return xy_task_next_use(s->policy, s->state, &s->uses, s->is_over, asked->memory, data);
}

static int32_t victim_by_strategy(sim_tasks_t *s, int32_t memory)
{
    asked_t asked = {s, memory};

    return xy_task_memory_victim(&s->memories[memory].space, s->eviction, is_dirty, next_use,
                                 &asked);
}

/* Returns the datum to evict, by the policy or else by the eviction strategy; -1 if there is
 * none. */
static int32_t choose_victim(sim_tasks_t *s, int32_t memory, bool is_prefetch)
{
    int32_t data = -1;

    if (s->policy->victim != NULL) {
        double start = sim_clock();

        data = s->policy->victim(s->state, memory, is_prefetch, is_free_for_policy,
                                 &s->memories[memory].space);
        s->result.scheduling_seconds += sim_clock() - start;
    }
    if (data < 0 && !is_prefetch)
        data = victim_by_strategy(s, memory);
    return data;
}

static void evict(sim_tasks_t *s, int32_t memory, int32_t data)
{
    sim_memory_t *m = &s->memories[memory];

    if (!is_sole(s, memory, data)) {
        s->result.evictions++;
        release(s, memory, data);
        return;
    }
    xy_task_memory_leave(&m->space, data, sim_bytes(s, data));
    if (sim_incoming(s, 0, data) == NULL)
        sim_transfer_request(s, data, memory, 0, false);
}

/* true: there is room for so many bytes now. false: it is being made, or cannot be. */
static bool make_room(sim_tasks_t *s, int32_t memory, uint64_t bytes, bool is_prefetch,
                      bool *is_coming_p)
{
    sim_memory_t *m = &s->memories[memory];

    *is_coming_p = true;
    if (m->space.capacity == 0)
        return true;
    while (m->space.used + bytes > m->space.capacity + m->space.leaving) {
        int32_t data = choose_victim(s, memory, is_prefetch);

        if (data < 0) {
            *is_coming_p = false;
            return false;
        }
        evict(s, memory, data);
    }
    return m->space.used + bytes <= m->space.capacity;
}

/* ---- Gathering ---- */

/* The copy from which a transfer would end first, counting one in progress. -1: none. */
static int32_t best_source(const sim_tasks_t *s, int32_t data, int32_t to)
{
    double best_seconds = 0, bytes = (double)sim_bytes(s, data);
    int32_t best = -1, n = s->platform->memories;

    for (int32_t m = 0; m < n; m++) {
        int32_t way = m * n + to;
        double seconds;

        if (s->memories[m].space.states[data] != XY_TASK_HERE ||
            s->memories[m].space.copies[data].is_writing || s->platform->rate[way] <= 0)
            continue;
        seconds = s->platform->latency[way] + bytes / s->platform->rate[way];
        if (!sim_way_is_idle(s, m, to))
            seconds *= 2;
        if (best < 0 || seconds < best_seconds) {
            best = m;
            best_seconds = seconds;
        }
    }
    return best;
}

/* Without a way from where it is, a datum goes through the main memory. */
static void fetch(sim_tasks_t *s, int32_t memory, int32_t data, bool is_prefetch)
{
    int32_t from = best_source(s, data, memory);

    if (from >= 0) {
        allocate(s, memory, data);
        sim_transfer_request(s, data, from, memory, is_prefetch);
        return;
    }
    if (sim_incoming(s, 0, data) != NULL)
        return;
    from = best_source(s, data, 0);
    if (from >= 0)
        sim_transfer_request(s, data, from, 0, is_prefetch);
}

void sim_memory_hold(sim_tasks_t *s, xy_task_slot_t *slot)
{
    xy_task_memory_hold(&s->memories[s->workers[slot->worker].memory].space, s->graph, slot->op);
    slot->is_given_back = false;
}

void sim_memory_finished(sim_tasks_t *s, int32_t memory, xy_op_id_t op)
{
    sim_memory_t *m = &s->memories[memory];
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(s->graph, op, &a);

    xy_task_memory_let_go(&m->space, s->graph, op);
    for (int32_t i = 0; i < n; i++) {
        xy_task_memory_touch(&m->space, a[i].data);
        m->space.copies[a[i].data].is_writing = false;
        if ((a[i].mode & XY_ACCESS_WRITE) && --s->writers_left[a[i].data] == 0 && memory != 0)
            xy_task_memory_push_final(&m->space, a[i].data);
    }
}

/* Room taken for data that the task would have written, and that holds nothing yet. */
static void drop_empty(sim_tasks_t *s, int32_t memory, xy_op_id_t op)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(s->graph, op, &a);

    for (int32_t i = 0; i < n; i++)
        if (s->memories[memory].space.states[a[i].data] == 0)
            release(s, memory, a[i].data);
}

/* The youngest task that gathers gives back what it holds, so that older ones progress. */
static bool give_back(sim_tasks_t *s, int32_t memory, const xy_task_slot_t *oldest)
{
    sim_memory_t *m = &s->memories[memory];

    for (int32_t i = m->gathering.count - 1; i >= 0; i--) {
        xy_task_slot_t *slot = m->gathering.slots[i];

        if (slot == oldest)
            return false;
        if (slot->is_given_back)
            continue;
        xy_task_memory_let_go(&m->space, s->graph, slot->op);
        drop_empty(s, memory, slot->op);
        slot->is_given_back = true;
        slot->is_complete = false;
        s->result.given_back++;
        return true;
    }
    return false;
}

/* true: it has, or has asked for, all its data. */
static bool gather(sim_tasks_t *s, int32_t memory, xy_task_slot_t *slot)
{
    sim_memory_t *m = &s->memories[memory];
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(s->graph, slot->op, &a);
    bool is_all_here = true, is_coming;

    for (int32_t i = 0; i < n; i++) {
        int32_t data = a[i].data;
        bool is_read = (a[i].mode & XY_ACCESS_READ) != 0;

        if (m->space.states[data] == XY_TASK_HERE ||
            (!is_read && m->space.copies[data].is_allocated))
            continue;
        if (m->space.states[data] == XY_TASK_COMING) {
            is_all_here = false;
            continue;
        }
        while (!m->space.copies[data].is_allocated &&
               !make_room(s, memory, sim_bytes(s, data), false, &is_coming)) {
            if (is_coming || !give_back(s, memory, slot))
                return false;
        }
        if (is_read) {
            is_all_here = false;
            fetch(s, memory, data, false);
        } else {
            allocate(s, memory, data);
        }
    }
    slot->is_complete = is_all_here;
    return true;
}

/* Starts loads that the policy wants early, at most PREFETCH_MAX at a time. */
static void prefetch(sim_tasks_t *s, int32_t memory)
{
    sim_memory_t *m = &s->memories[memory];

    while (m->prefetching < PREFETCH_MAX) {
        double start = sim_clock();
        int32_t data = s->policy->prefetch(s->state, memory);
        bool is_coming;

        s->result.scheduling_seconds += sim_clock() - start;
        if (data < 0 || m->space.states[data] != 0 || m->space.copies[data].is_allocated)
            return; /* nothing, or a task is about to write it here */
        if (m->space.capacity != 0 && !s->policy->is_evicting_for_prefetch &&
            m->space.used + sim_bytes(s, data) > m->space.capacity)
            return;
        if (!make_room(s, memory, sim_bytes(s, data), true, &is_coming))
            return;
        fetch(s, memory, data, true);
        if (m->space.states[data] == 0)
            return; /* it goes through the main memory first */
    }
}

static void write_early(sim_tasks_t *s, int32_t memory)
{
    sim_memory_t *m = &s->memories[memory];

    while (m->space.final.head >= 0 && sim_way_is_idle(s, memory, 0)) {
        int32_t data = xy_task_memory_pop_final(&m->space);

        if (m->space.states[data] == XY_TASK_HERE && s->memories[0].space.states[data] == 0 &&
            xy_graph_data_at(s->graph, data)->home == 0)
            sim_transfer_request(s, data, memory, 0, true);
    }
}

void sim_memory_pump(sim_tasks_t *s, int32_t memory)
{
    sim_memory_t *m = &s->memories[memory];
    bool is_fed = true;

    for (int32_t i = 0; i < m->gathering.count && is_fed; i++) {
        xy_task_slot_t *slot = m->gathering.slots[i];

        if (slot->is_given_back)
            sim_memory_hold(s, slot);
        if (!slot->is_complete)
            is_fed = gather(s, memory, slot);
    }
    if (is_fed && s->policy->prefetch != NULL)
        prefetch(s, memory);
    if (memory != 0 && s->policy->is_writing_early)
        write_early(s, memory);
}

static int32_t home_of(const sim_tasks_t *s, int32_t data)
{
    return xy_graph_data_at(s->graph, data)->home;
}

void sim_memory_settle_in(sim_tasks_t *s)
{
    for (int32_t d = 0; d < s->data_count; d++) {
        int32_t home = home_of(s, d);

        if (home == 0)
            continue;
        s->memories[0].space.states[d] = 0;
        s->memories[home].space.states[d] = XY_TASK_HERE;
        allocate(s, home, d);
    }
}

/* First to the main memory whatever is not where it lives, */
static void flush_to_main(sim_tasks_t *s)
{
    for (int32_t d = 0; d < s->data_count; d++) {
        int32_t from;

        if (s->memories[0].space.states[d] != 0 || s->memories[home_of(s, d)].space.states[d] != 0)
            continue;
        from = best_source(s, d, 0);
        if (from >= 0)
            sim_transfer_request(s, d, from, 0, false);
    }
}

/* then guests leave, and from there to the other memories, where all that lives there fits. */
static void flush_to_homes(sim_tasks_t *s)
{
    for (int32_t m = 1; m < s->platform->memories; m++)
        for (int32_t d = 0; d < s->data_count; d++)
            if (home_of(s, d) != m)
                release(s, m, d);
    for (int32_t d = 0; d < s->data_count; d++) {
        int32_t home = home_of(s, d);

        if (s->memories[home].space.states[d] != 0)
            continue;
        allocate(s, home, d);
        sim_transfer_request(s, d, 0, home, false);
    }
}

static bool is_all_home(const sim_tasks_t *s)
{
    for (int32_t d = 0; d < s->data_count; d++)
        if (s->memories[home_of(s, d)].space.states[d] == 0)
            return false;
    return true;
}

void sim_memory_flush(sim_tasks_t *s)
{
    if (s->flushed == 0) {
        s->flushed = 1;
        flush_to_main(s);
    }
    if (s->flushed == 1 && s->under_way == 0) {
        s->flushed = 2;
        if (!is_all_home(s))
            flush_to_homes(s);
    }
}
