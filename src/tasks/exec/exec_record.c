/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of tasks and copies, kept until the end. Each worker writes into pages of its own,
 * without a lock; events of copies are written under the lock that protects the copies. So a record
 * is one reading of the clock and half a cache line, and a run without an observer has neither.
 */
#include "tasks/exec/exec_internal.h"

enum { PAGE_RECORDS = 2046 };

struct exec_page {
    exec_page_t *next;
    exec_record_t records[PAGE_RECORDS];
};

_Static_assert(sizeof(exec_record_t) == 32, "two records are a line of a cache");

/* Room for one more; NULL: there is none. */
static exec_record_t *append(exec_log_t *log, double end)
{
    if (log->last == NULL || log->count == PAGE_RECORDS) {
        exec_page_t *page = log->is_cut ? NULL : xy_malloc(sizeof(*page));

        if (page == NULL) {
            log->is_cut = true;
            return NULL;
        }
        page->next = NULL;
        if (log->last != NULL)
            log->last->next = page;
        else
            log->first = page;
        log->last = page;
        log->count = 0;
    }
    log->end = end;
    return &log->last->records[log->count++];
}

static exec_record_t *last_of(const exec_log_t *log)
{
    return log->count > 0 ? &log->last->records[log->count - 1] : NULL;
}

void exec_record_begin(exec_worker_t *w)
{
    if (w->begun == 0)
        w->begun = xy_now();
}

/* Does `next` wait for nothing but `op`? */
static bool is_next_free(const exec_tasks_t *e, xy_op_id_t op, xy_op_id_t next)
{
    int32_t before = atomic_load_explicit(&e->before[next], memory_order_acquire);
    const xy_op_id_t *after;
    int32_t n = xy_graph_successors(e->base.graph, op, &after);

    for (int32_t i = 0; i < n && before > 0; i++)
        before -= after[i] == next;
    return before == 0;
}

/*
 * Reading the clock is most of what recording costs, so the end of a task is the beginning of the
 * next: but only if all that the next one waits for was over before the reading, or it would seem
 * to begin too early.
 */
void exec_record_end(const exec_tasks_t *e, exec_worker_t *w, xy_op_id_t op, xy_op_id_t next)
{
    bool is_free = next >= 0 && is_next_free(e, op, next);
    double now = xy_now(), end = now - e->start;
    exec_record_t *r = append(&w->log, end);

    if (r != NULL)
        *r = (exec_record_t){end, {w->begun - e->start}, EXEC_TASK, op, w->number, 0};
    w->begun = is_free ? now : 0;
}

/* A waiting worker is woken by every event, so waits in a row are one. */
void exec_record_pause(exec_worker_t *w, exec_event_t event, double start, double end)
{
    exec_record_t *r = last_of(&w->log);

    if (r != NULL && event == EXEC_WAIT && r->event == event && r->end == start) {
        r->end = w->log.end = end;
        return;
    }
    r = append(&w->log, end);
    if (r != NULL)
        *r = (exec_record_t){end, {start}, event, 0, w->number, 0};
}

/* `now` is what the thread that holds the lock has read last, and may lie a little before what
 * another one wrote. */
static double later(const exec_tasks_t *e)
{
    return e->now > e->log.end ? e->now : e->log.end;
}

void exec_record_transfer(exec_tasks_t *e, int32_t data, int32_t from, int32_t to, double start)
{
    double end = later(e);
    exec_record_t *r = append(&e->log, end);

    if (e->how->store == NULL)
        start = end; /* of a model: it takes no time */
    if (r != NULL)
        *r = (exec_record_t){end, {start}, EXEC_TRANSFER, data, from, to};
}

void exec_record_memory(exec_tasks_t *e, int32_t memory)
{
    double end = later(e);
    exec_record_t *r = append(&e->log, end);

    if (r != NULL)
        *r = (exec_record_t){
            end, {.used = e->base.memories[memory].space.used}, EXEC_MEMORY, memory, 0, 0};
}

/* ---- Afterwards ---- */

/* The next record that was not told; NULL: that was all. */
static const exec_record_t *peek(exec_log_t *log)
{
    if (log->reading == NULL)
        log->reading = log->first;
    if (log->reading != NULL && log->told == PAGE_RECORDS && log->reading->next != NULL) {
        log->reading = log->reading->next;
        log->told = 0;
    }
    if (log->reading == NULL ||
        log->told == (log->reading == log->last ? log->count : PAGE_RECORDS))
        return NULL;
    return &log->reading->records[log->told];
}

/* Passes one record to the observer. */
static void tell(const xy_task_observer_t *o, const exec_record_t *r)
{
    switch (r->event) {
    case EXEC_TASK:
        if (o->task != NULL)
            o->task(o->arg, r->from, r->what, r->u.start, r->end);
        break;
    case EXEC_TRANSFER:
        if (o->transfer != NULL)
            o->transfer(o->arg, r->what, r->from, r->to, r->u.start, r->end);
        break;
    case EXEC_MEMORY:
        if (o->memory != NULL)
            o->memory(o->arg, r->what, r->end, r->u.used);
        break;
    default:
        if (o->pause != NULL)
            o->pause(o->arg, r->from, r->event == EXEC_DECISION, r->u.start, r->end);
    }
}

xy_status_t exec_tell(exec_tasks_t *e, const xy_task_observer_t *observer)
{
    xy_heap_t heap = XY_HEAP_INIT;
    xy_status_t st = XY_OK;
    exec_log_t *log;

    for (int32_t w = -1; w < e->base.worker_count && st == XY_OK; w++) {
        log = w < 0 ? &e->log : &e->workers[w].log;
        st = log->is_cut ? XY_ENOMEM : XY_OK;
        if (st == XY_OK && peek(log) != NULL)
            st = xy_heap_push(&heap, peek(log)->end, log);
    }
    while (st == XY_OK && (log = xy_heap_pop(&heap, NULL)) != NULL) {
        tell(observer, peek(log));
        log->told++;
        if (peek(log) != NULL)
            st = xy_heap_push(&heap, peek(log)->end, log);
    }
    xy_heap_cleanup(&heap);
    return st == XY_OK ? XY_OK : xy_fail_memory("keeping what the tasks did");
}

static void log_cleanup(exec_log_t *log)
{
    for (exec_page_t *page = log->first, *next; page != NULL; page = next) {
        next = page->next;
        xy_free(page);
    }
}

void exec_record_cleanup(exec_tasks_t *e)
{
    log_cleanup(&e->log);
    for (int32_t w = 0; e->workers != NULL && w < e->base.worker_count; w++)
        log_cleanup(&e->workers[w].log);
}
