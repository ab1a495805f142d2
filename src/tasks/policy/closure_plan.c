/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan of the policy closure. */
#include <math.h>

#include "tasks/policy/closure.h"

enum { CANDIDATES = 4, TASKS_AHEAD = 16, VICTIMS = 512, REMEMBERED = 8, LOADS_AHEAD = 8 };

/* ---- Data of the plan ---- */

static void in_remove(closure_memory_t *m, int32_t data)
{
    closure_copy_t *x = &m->copies[data];

    if (x->prev >= 0)
        m->copies[x->prev].next = x->next;
    else
        m->oldest = x->next;
    if (x->next >= 0)
        m->copies[x->next].prev = x->prev;
    else
        m->newest = x->prev;
}

static void in_prepend(closure_memory_t *m, int32_t data)
{
    closure_copy_t *x = &m->copies[data];

    x->prev = -1;
    x->next = m->oldest;
    if (m->oldest >= 0)
        m->copies[m->oldest].prev = data;
    else
        m->newest = data;
    m->oldest = data;
}

static void in_append(closure_memory_t *m, int32_t data)
{
    closure_copy_t *x = &m->copies[data];

    x->next = -1;
    x->prev = m->newest;
    if (m->newest >= 0)
        m->copies[m->newest].next = data;
    else
        m->oldest = data;
    m->newest = data;
}

void closure_out_remove(closure_memory_t *m, int32_t data)
{
    closure_copy_t *x = &m->copies[data];

    if (!x->is_out)
        return;
    x->is_out = false;
    if (x->out_prev >= 0)
        m->copies[x->out_prev].out_next = x->out_next;
    else
        m->out_head = x->out_next;
    if (x->out_next >= 0)
        m->copies[x->out_next].out_prev = x->out_prev;
    else
        m->out_tail = x->out_prev;
}

void closure_out(closure_t *c, int32_t memory, int32_t data)
{
    closure_memory_t *m = &c->memories[memory];
    closure_copy_t *x = &m->copies[data];

    if (x->is_out || x->is_in || x->uses > 0)
        return;
    x->is_out = true;
    x->out_next = -1;
    x->out_prev = m->out_tail;
    if (m->out_tail >= 0)
        m->copies[m->out_tail].out_next = data;
    else
        m->out_head = data;
    m->out_tail = data;
}

/* Data of `op` that the plan of `memory` lacks; those it only writes need room, not a load. */
static int32_t missing(const closure_t *c, xy_op_id_t op, int32_t memory)
{
    const closure_copy_t *copies = c->memories[memory].copies;
    const closure_task_t *x = &c->tasks[op];
    int32_t count = 0;

    for (int32_t i = 0; i < x->access_count; i++)
        count += copies[x->accesses[i].data].is_in ? 0 : 1;
    return count;
}

/* A worker waits for the task and it is about to run: its data are there, or all but one. */
static void announce(closure_t *c, xy_op_id_t op, int by)
{
    if (c->tasks[op].awaited_by >= 0)
        c->memories[c->tasks[op].awaited_by].awaiting += by;
}

void closure_frontier_add(closure_t *c, xy_op_id_t op, int32_t memory)
{
    closure_memory_t *m = &c->memories[memory];
    closure_task_t *x = &c->tasks[op];
    int32_t n = missing(c, op, memory);

    x->state = TASK_FRONTIER;
    x->memory = (int16_t)memory;
    x->list = (uint8_t)(n < CLOSURE_LISTS ? n : CLOSURE_LISTS - 1);
    if (n > 0)
        c->looks[op].choice = 0;
    closure_push(c, &m->frontier[x->list], op);
    m->frontier_count++;
    m->changes++;
    if (x->list <= 1)
        announce(c, op, 1);
}

void closure_frontier_remove(closure_t *c, xy_op_id_t op)
{
    const closure_task_t *x = &c->tasks[op];
    closure_memory_t *m = &c->memories[x->memory];

    closure_take(c, &m->frontier[x->list], op);
    m->frontier_count--;
    m->changes++;
    if (x->list <= 1)
        announce(c, op, -1);
}

void closure_release(closure_t *c, xy_op_id_t op)
{
    closure_task_t *x = &c->tasks[op];
    int32_t memory = x->part;

    c->memories[memory].changes++;
    if (--x->waits > 0)
        return;
    for (int32_t i = 0; i < x->access_count; i++) {
        int32_t moved = c->data[x->accesses[i].data].moved;

        if ((x->accesses[i].mode & XY_ACCESS_WRITE) && moved >= 0)
            memory = moved;
    }
    closure_frontier_add(c, op, memory);
}

/* Move the cursor behind what is planned by now; returns it. */
static closure_use_t *first_unplanned(closure_t *c, int32_t data)
{
    closure_datum_t *x = &c->data[data];

    while (x->cursor < x->end && c->tasks[x->cursor->task].state >= TASK_PLANNED)
        x->cursor++;
    return x->cursor;
}

/* The frontier tasks that use a datum lie between its first use that is not planned and its next
 * writer that is not. Call `fn` for those of `memory`. */
typedef void (*frontier_fn)(closure_t *c, xy_op_id_t op);

static void for_frontier(closure_t *c, int32_t memory, int32_t data, frontier_fn fn)
{
    const closure_use_t *end = c->data[data].end;

    for (const closure_use_t *use = first_unplanned(c, data); use < end; use++) {
        const closure_task_t *x = &c->tasks[use->task];

        if (x->state == TASK_FRONTIER && x->memory == memory)
            fn(c, (xy_op_id_t)use->task);
        if (x->state < TASK_PLANNED && use->is_write)
            break;
    }
}

static void refile(closure_t *c, xy_op_id_t op)
{
    int32_t memory = c->tasks[op].memory;

    closure_frontier_remove(c, op);
    closure_frontier_add(c, op, memory);
}

/* Adds a datum to the plan of a memory. */
static void plan_in(closure_t *c, int32_t memory, int32_t data)
{
    closure_memory_t *m = &c->memories[memory];

    if (m->copies[data].is_in)
        return;
    closure_out_remove(m, data);
    if (m->copies[data].uses > 0)
        m->leaving -= c->data[data].bytes;
    m->copies[data].is_in = true;
    m->copies[data].is_dirty = m->copies[data].is_asked = false;
    m->copies[data].comes = 0;
    m->planned += c->data[data].bytes;
    m->resident++;
    m->changes++;
    in_append(m, data);
    for_frontier(c, memory, data, refile);
}

/* Removes a datum from the plan of a memory; it becomes a victim once no task uses it. */
static void plan_out(closure_t *c, int32_t memory, int32_t data)
{
    closure_memory_t *m = &c->memories[memory];

    if (!m->copies[data].is_in)
        return;
    m->copies[data].is_in = false;
    if (m->copies[data].uses > 0)
        m->leaving += c->data[data].bytes;
    m->planned -= c->data[data].bytes;
    m->resident--;
    m->changes++;
    in_remove(m, data);
    closure_out(c, memory, data);
    for_frontier(c, memory, data, refile);
}

static void plan_load(closure_t *c, int32_t memory, int32_t data)
{
    closure_memory_t *m = &c->memories[memory];

    if (m->load_count < m->load_room)
        m->loads[(m->load_first + m->load_count++) % m->load_room] = data;
    m->copies[data].is_asked = true;
}

/* ---- Tasks of the plan ---- */

xy_task_list_t *closure_runnable(closure_t *c, xy_op_id_t op)
{
    const closure_task_t *x = &c->tasks[op];

    return &c->memories[x->memory].runnable[x->awaited_by >= 0 ? 0 : 1];
}

void closure_set_runnable(closure_t *c, xy_op_id_t op)
{
    c->tasks[op].state = TASK_RUNNABLE;
    c->memories[c->tasks[op].memory].changes++;
    closure_push(c, closure_runnable(c, op), op);
}

/* No task that is not planned uses it. */
static bool is_dead(closure_t *c, int32_t data)
{
    return first_unplanned(c, data) == c->data[data].end;
}

/* The plan uses the datum in a task: it is the last to go, or the first if no task needs it. */
static void plan_use(closure_t *c, int32_t memory, const xy_access_t *a)
{
    closure_memory_t *m = &c->memories[memory];

    m->copies[a->data].uses++;
    in_remove(m, a->data);
    if (is_dead(c, a->data))
        in_prepend(m, a->data);
    else
        in_append(m, a->data);
    if (!(a->mode & XY_ACCESS_WRITE))
        return;
    m->copies[a->data].is_dirty = true;
    for (int32_t k = 0; k < c->view->memories; k++)
        if (k != memory)
            plan_out(c, k, a->data);
}

/* Adds a task to the plan of a memory and releases successors of the same memory. */
static void plan_task(closure_t *c, int32_t memory, xy_op_id_t op)
{
    closure_memory_t *m = &c->memories[memory];
    closure_task_t *x = &c->tasks[op];

    closure_frontier_remove(c, op);
    announce(c, op, 1); /* until it is complete */
    x->state = TASK_PLANNED;
    m->work += x->seconds / m->speed;
    m->tasks++;
    for (int32_t i = 0; i < x->access_count; i++)
        plan_use(c, memory, &x->accesses[i]);
    if (x->is_ready)
        closure_set_runnable(c, op);
    for (int32_t i = 0; i < x->successor_count; i++)
        if (c->tasks[x->successors[i]].part == memory)
            closure_release(c, x->successors[i]);
}

/* ---- What a load would free ---- */

typedef struct {
    xy_op_id_t task;
    double gain;    /* seconds of work freed */
    uint64_t bytes; /* to load */
    int32_t freed;  /* tasks */
} candidate_t;

static bool would_have_all(const closure_t *c, int32_t memory, const closure_task_t *x)
{
    const closure_copy_t *copies = c->memories[memory].copies;

    for (int32_t i = 0; i < x->access_count; i++) {
        int32_t data = x->accesses[i].data;

        if (!copies[data].is_in && c->data[data].there_epoch != c->epoch)
            return false;
    }
    return true;
}

static void free_task(closure_t *c, xy_op_id_t op, candidate_t *candidate)
{
    closure_task_t *x = &c->tasks[op];

    if (candidate->freed == CLOSURE_LOOKAHEAD || (x->epoch == c->epoch && x->epoch_waits < 0))
        return;
    x->epoch = c->epoch;
    x->epoch_waits = -1; /* freed */
    c->freed[candidate->freed++] = op;
    candidate->gain += x->seconds;
}

/* Adds the successors of `op` that could then run to the gain of a candidate. */
static void free_successors(closure_t *c, int32_t memory, xy_op_id_t op, candidate_t *candidate)
{
    const closure_task_t *before = &c->tasks[op];

    for (int32_t i = 0; i < before->successor_count; i++) {
        closure_task_t *x = &c->tasks[before->successors[i]];

        if (x->part != memory)
            continue;
        if (x->epoch != c->epoch) {
            x->epoch = c->epoch;
            x->epoch_waits = x->waits;
        }
        if (--x->epoch_waits == 0 && would_have_all(c, memory, x))
            free_task(c, before->successors[i], candidate);
    }
}

/* Other frontier tasks that the same load completes. */
static void free_siblings(closure_t *c, int32_t memory, int32_t data, candidate_t *candidate)
{
    const closure_use_t *end = c->data[data].end;

    for (const closure_use_t *use = c->data[data].cursor; use < end; use++) {
        const closure_task_t *x = &c->tasks[use->task];

        if (x->state == TASK_FRONTIER && x->memory == memory && would_have_all(c, memory, x))
            free_task(c, (xy_op_id_t)use->task, candidate);
        if (x->state < TASK_PLANNED && use->is_write)
            break;
    }
}

/* Sets bytes and gain of a candidate: the load it needs and the work that this enables. */
static void look_ahead(closure_t *c, int32_t memory, candidate_t *candidate)
{
    const closure_copy_t *copies = c->memories[memory].copies;
    const closure_task_t *x = &c->tasks[candidate->task];

    c->epoch++;
    candidate->gain = 0;
    candidate->bytes = 0;
    candidate->freed = 0;
    for (int32_t i = 0; i < x->access_count; i++) {
        closure_datum_t *datum = &c->data[x->accesses[i].data];

        if (copies[x->accesses[i].data].is_in)
            continue;
        datum->there_epoch = c->epoch;
        if (x->accesses[i].mode & XY_ACCESS_READ)
            candidate->bytes += datum->bytes;
    }
    free_task(c, candidate->task, candidate);
    for (int32_t i = 0; i < x->access_count; i++)
        if (c->data[x->accesses[i].data].there_epoch == c->epoch)
            free_siblings(c, memory, x->accesses[i].data, candidate);
    for (int32_t k = 0; k < candidate->freed; k++)
        free_successors(c, memory, c->freed[k], candidate);
}

/* The gain of loading a task's data, which changes slowly: a value stays good for some choices. */
static double ratio_of(closure_t *c, int32_t memory, xy_op_id_t op)
{
    closure_look_t *look = &c->looks[op];
    candidate_t x = {.task = op};

    if (look->choice != 0 && c->choices - look->choice < REMEMBERED)
        return look->ratio;
    look_ahead(c, memory, &x);
    look->choice = c->choices;
    look->ratio = x.gain / ((double)x.bytes + 1);
    return look->ratio;
}

/* Choose among the first and the last few of each list. */
static bool choose(closure_t *c, int32_t memory, candidate_t *best)
{
    closure_memory_t *m = &c->memories[memory];
    double best_ratio = 0;

    best->task = -1;
    c->choices++;
    for (int list = 1; list < CLOSURE_LISTS; list++) {
        xy_op_id_t from[2] = {m->frontier[list].head, m->frontier[list].tail};
        int32_t count = m->frontier[list].count;

        for (int32_t i = 0; i < count && i < 2 * CANDIDATES; i++) {
            bool is_back = i % 2 == 1;
            xy_op_id_t op = from[is_back];
            double ratio = ratio_of(c, memory, op);

            from[is_back] = is_back ? c->tasks[op].prev : c->tasks[op].next;
            if (best->task < 0 || ratio > best_ratio ||
                (ratio == best_ratio && (m->is_mirrored ? op > best->task : op < best->task))) {
                best->task = op;
                best_ratio = ratio;
            }
        }
        if (best->task >= 0 && list > 1)
            break;
    }
    return best->task >= 0;
}

/* ---- What goes ---- */

enum { KEPT = -1 };

/* How often the freed tasks use each datum; those of the task `kept` stay whatever happens. */
static void count_uses(closure_t *c, int32_t freed, xy_op_id_t kept)
{
    const closure_task_t *last = &c->tasks[kept];

    for (int32_t k = 0; k < freed; k++) {
        const closure_task_t *x = &c->tasks[c->freed[k]];

        for (int32_t i = 0; i < x->access_count; i++) {
            closure_datum_t *datum = &c->data[x->accesses[i].data];

            if (datum->use_epoch != c->epoch) {
                datum->use_epoch = c->epoch;
                datum->use_count = 0;
            }
            datum->use_count++;
        }
    }
    for (int32_t i = 0; i < last->access_count; i++) {
        c->data[last->accesses[i].data].use_epoch = c->epoch;
        c->data[last->accesses[i].data].use_count = KEPT;
    }
}

/* Choose the datum to evict: the one that the freed tasks use least; among equals the least
 * recently used, where one that must be written back counts as used later than it was. The data of
 * the kept task do not go. Whatever comes later in the list is younger, so the first that is unused
 * and old enough ends it. */
static int32_t choose_out(closure_t *c, int32_t memory)
{
    closure_memory_t *m = &c->memories[memory];
    int32_t best = -1, fewest = 0, looked_at = 0;
    double oldest = 0, bonus = 0.5 * (double)m->resident;

    for (int32_t d = m->oldest; d >= 0 && looked_at < VICTIMS; d = m->copies[d].next) {
        int32_t uses = c->data[d].use_epoch == c->epoch ? c->data[d].use_count : 0;
        double age;

        if (uses < 0)
            continue;
        if (best >= 0 && fewest == 0 && looked_at >= oldest)
            break;
        if (uses == 0 && looked_at == 0 && is_dead(c, d))
            return d; /* such data come first in the list */
        age = looked_at++ + (m->copies[d].is_dirty ? bonus : 0);
        if (best < 0 || uses < fewest || (uses == fewest && age < oldest)) {
            best = d;
            fewest = uses;
            oldest = age;
        }
    }
    return best;
}

/* Is it better to wait? Tasks that are about to end elsewhere may free more here than a poor load
 * would. Only while something runs elsewhere, so that there is always something to wait for. */
static bool is_worth_waiting(const closure_t *c, int32_t memory, double ratio)
{
    const closure_memory_t *m = &c->memories[memory];

    /* A load that takes longer than the work it frees is worth less than a long wait. */
    double usual = ratio * c->load_rate < 1 ? m->peak : m->usual;

    if (m->awaiting == 0 || ratio > usual / 4)
        return false;
    for (int32_t k = 0; k < c->view->memories; k++)
        if (k != memory && c->memories[k].tasks > 0)
            return true;
    return m->tasks > 0;
}

static uint64_t bytes_to_take_in(const closure_t *c, int32_t memory, xy_op_id_t op)
{
    const closure_task_t *x = &c->tasks[op];
    uint64_t bytes = 0;

    for (int32_t i = 0; i < x->access_count; i++)
        if (!c->memories[memory].copies[x->accesses[i].data].is_in)
            bytes += c->data[x->accesses[i].data].bytes;
    return bytes;
}

static void take_in(closure_t *c, int32_t memory, xy_op_id_t op)
{
    const closure_task_t *x = &c->tasks[op];

    for (int32_t i = 0; i < x->access_count; i++)
        if (!c->memories[memory].copies[x->accesses[i].data].is_in) {
            plan_in(c, memory, x->accesses[i].data);
            if (x->accesses[i].mode & XY_ACCESS_READ)
                plan_load(c, memory, x->accesses[i].data);
        }
}

/* Is the plan far enough ahead? Data outside of the plan stays as long as planned tasks use it.
 * Where there would be no room for it beside what comes, the plan is far enough ahead: the engine
 * would give up what is needed. */
static bool is_too_far(const closure_t *c, const closure_memory_t *m, uint64_t need)
{
    return c->is_far && m->tasks > 0 && m->leaving > 0 && m->leaving + need > m->spare;
}

/* Load what the best task misses. false: nothing can be loaded, or it is better to wait. */
static bool plan_loads(closure_t *c, int32_t memory)
{
    closure_memory_t *m = &c->memories[memory];
    candidate_t best;
    uint64_t need;
    double ratio;

    if (m->changes == m->waited_changes && is_worth_waiting(c, memory, m->waited_ratio))
        return false; /* nothing new since it last decided to wait */
    if (m->refused > 0 && is_too_far(c, m, m->refused))
        return false; /* likewise */
    if (!choose(c, memory, &best))
        return false;
    need = bytes_to_take_in(c, memory, best.task);
    m->refused = m->capacity != 0 && is_too_far(c, m, need) ? need : 0;
    if (m->refused > 0)
        return false;
    if (m->capacity != 0 && m->planned + need > m->capacity) {
        look_ahead(c, memory, &best);
        ratio = best.gain / ((double)best.bytes + 1);
        if (is_worth_waiting(c, memory, ratio)) {
            m->waited_ratio = ratio;
            m->waited_changes = m->changes;
            return false;
        }
        m->peak = ratio > 0.9995 * m->peak ? ratio : 0.9995 * m->peak;
        m->usual = ratio > 0.95 * m->usual ? ratio : 0.95 * m->usual;
        count_uses(c, best.freed, best.task);
    }
    while (m->capacity != 0 && m->planned + need > m->capacity) {
        int32_t out = choose_out(c, memory);

        if (out < 0)
            break; /* the task alone takes it all: the engine knows that it fits */
        m->clock = INFINITY;
        plan_out(c, memory, out);
    }
    take_in(c, memory, best.task);
    return true;
}

/* Where everything fits, nothing is gained by going deep: data are loaded in the order of
 * submission, as fast as they come, and memories stay side by side. */
static void load_oldest(closure_t *c, int32_t memory)
{
    closure_memory_t *m = &c->memories[memory];

    /* A task too many in the ring is loaded when it is picked: no worker is left without work. */
    while (m->load_count < LOADS_AHEAD || (m->tasks == 0 && m->frontier[0].count == 0)) {
        xy_op_id_t oldest = -1;

        for (int list = 1; list < CLOSURE_LISTS; list++) {
            xy_op_id_t op = m->frontier[list].head;

            if (op >= 0 && (oldest < 0 || op < oldest))
                oldest = op;
        }
        if (oldest < 0)
            return;
        take_in(c, memory, oldest);
    }
}

bool closure_is_ending(const closure_t *c, int32_t memory)
{
    const closure_memory_t *m = &c->memories[memory];

    return c->is_far && !m->is_roomy && m->load_count == 0 &&
           m->frontier_count == m->frontier[0].count;
}

/* A task that has all its data. */
static xy_op_id_t next_to_plan(const closure_t *c, int32_t memory)
{
    const xy_task_list_t *list = &c->memories[memory].frontier[0];
    xy_op_id_t op = list->tail, best = list->head;

    if (!closure_is_ending(c, memory))
        return best;
    for (int i = 0; op >= 0 && i < CLOSURE_DEEP; i++, op = c->tasks[op].prev)
        best = op > best ? op : best;
    return best;
}

void closure_extend(closure_t *c, int32_t memory)
{
    closure_memory_t *m = &c->memories[memory];

    if (m->is_roomy)
        load_oldest(c, memory);
    while ((m->work < c->horizon || m->tasks < TASKS_AHEAD) && m->frontier_count > 0 &&
           (m->load_count < m->load_room / 2 || m->tasks == 0)) {
        if (m->frontier[0].count > 0)
            plan_task(c, memory, next_to_plan(c, memory));
        else if (m->is_roomy || !plan_loads(c, memory))
            return;
    }
}
