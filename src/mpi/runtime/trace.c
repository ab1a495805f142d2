/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mpi/runtime/account.h"
#include "mpi/runtime/job_clock.h"
#include "mpi/runtime/layer.h"
#include "mpi/runtime/observe.h"
#include "mpi/runtime/runtime_live.h"
#include "trace/trace.h"

enum {
    LABELS = 256,      /* a power of two; more names than that go without label */
    STOP_TRIES = 2000, /* of a millisecond each: for a worker that records to let go */
    SITES = 64, /* likewise, at first: places that calls stand at, for each image of the program */
    NOT_OPEN = -2,
};
/* Seconds. Another program that gets a core has it for a millisecond or more, so that shorter
 * states need not be looked at. */
#define LONG 1e-3

struct mpi_trace {
    xy_trace_row_t *row;
    /* The mark of the thread that records, or that ends the job; NULL: none. */
    _Atomic(const char *) holder;
    uint64_t since; /* when the current state began */
    mpi_trace_state_t now;
    uint32_t number;  /* of the row */
    int sched;        /* the file in which the kernel counts what its thread waits for a core, */
    uint64_t delayed; /* ... its last value, in ns, */
    uint64_t stolen;  /* ... and the part of it during computation */
    struct {
        const char *name; /* by its address: names of calls live for ever */
        uint32_t label;
    } labels[LABELS];
    struct site {
        const void *address;
        uint32_t site;
    } * sites; /* [site_room], by a hash of the address */
    size_t site_room, site_count;
};

/* The trace of the job; set before it runs. */
static struct {
    xy_trace_t *file;
    mpi_trace_t **workers;
    int count;
    uint32_t compute, call, progress, wait, idle;
    uint32_t stolen;     /* a counter */
    uint64_t long_ticks; /* LONG */
    char *path;          /* absolute: the program may change its directory */
    pid_t pid;
    /* The recorded messages. */
    bool no_messages;
    uint64_t least_bytes;
    xy_bitset_t ranks; /* no bits: all */
} all;

/* The label of a name in the trace, cached by its address; XY_TRACE_NO_LABEL if the cache is full.
 */
static uint32_t label_of(mpi_trace_t *trace, const char *name)
{
    size_t h = (size_t)((uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15) >> 32);

    for (size_t i = 0; i < LABELS / 2; i++) {
        size_t at = (h + i) % LABELS;

        if (trace->labels[at].name == name)
            return trace->labels[at].label;
        if (trace->labels[at].name == NULL) {
            trace->labels[at].name = name;
            return trace->labels[at].label = xy_trace_label(all.file, name);
        }
    }
    return XY_TRACE_NO_LABEL;
}

/* ---- Places of calls ---- */

static size_t site_place(const struct site *sites, size_t room, const void *address)
{
    size_t at = (size_t)((uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (room - 1);

    while (sites[at].address != NULL && sites[at].address != address)
        at = (at + 1) & (room - 1);
    return at;
}

/* Double the cache of call sites; false without memory. */
static bool sites_grow(mpi_trace_t *trace)
{
    size_t room = trace->site_room > 0 ? 2 * trace->site_room : SITES;
    struct site *more = xy_calloc(room, sizeof(*more));

    if (more == NULL)
        return false;
    for (size_t i = 0; i < trace->site_room; i++)
        if (trace->sites[i].address != NULL)
            more[site_place(more, room, trace->sites[i].address)] = trace->sites[i];
    xy_free(trace->sites);
    trace->sites = more;
    trace->site_room = room;
    return true;
}

/* Images of one program have its places at different addresses: they are named by the file and the
 * offset in it. */
static uint32_t site_name(const void *address)
{
    const char *inside = (const char *)address - 1; /* in the call, not behind it */
    char name[PATH_MAX + 32];
    Dl_info info;

    if (dladdr(inside, &info) == 0 || info.dli_fname == NULL)
        return 0;
    snprintf(name, sizeof(name), "%s+0x%zx", info.dli_fname,
             (size_t)(inside - (const char *)info.dli_fbase));
    return mpi_job->clock != NULL ? mpi_job->clock->site(name) : xy_trace_site(all.file, name);
}

/* The number of a call site in the trace; 0 if it is unknown or memory is short. */
static uint32_t site_of(mpi_trace_t *trace, const void *address)
{
    size_t at;

    if (address == NULL)
        return 0;
    if (2 * trace->site_count >= trace->site_room && !sites_grow(trace))
        return 0;
    at = site_place(trace->sites, trace->site_room, address);
    if (trace->sites[at].address == NULL) {
        trace->sites[at] = (struct site){address, site_name(address)};
        trace->site_count++;
    }
    return trace->sites[at].site;
}

/* ---- States ---- */

/* Its address stands for the thread. */
static _Thread_local char mark __attribute__((tls_model("initial-exec")));

static bool try_lock(mpi_trace_t *trace)
{
    const char *none = NULL;

    return atomic_compare_exchange_strong_explicit(&trace->holder, &none, &mark,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* The lock is free but at the end of a job that is cut short: then it is never given back. */
static void lock(mpi_trace_t *trace)
{
    while (!try_lock(trace))
        xy_relax();
}

static void unlock(mpi_trace_t *trace)
{
    atomic_store_explicit(&trace->holder, NULL, memory_order_release);
}

/* The time for which the worker's thread has waited for a core since the last call, in ns. System
 * calls of the kernel: it may be a rank's turn, whose files these are not. */
static uint64_t delay_of(mpi_trace_t *trace)
{
    const xy_worker_t *worker = xy_worker_self();
    uint64_t before = trace->delayed;
    char text[96], *end = text;
    long size;

    if (trace->sched == NOT_OPEN && worker != NULL &&
        ((const mpi_worker_t *)xy_worker_user(worker))->trace == trace)
        trace->sched = (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/schedstat",
                                    O_RDONLY | O_CLOEXEC, 0);
    if (trace->sched < 0)
        return 0;
    size = syscall(SYS_pread64, trace->sched, text, sizeof(text) - 1, (off_t)0);
    text[size > 0 ? size : 0] = '\0';
    strtoull(text, &end, 10); /* how long it has run */
    trace->delayed = strtoull(end, NULL, 10);
    return before > 0 && trace->delayed > before ? trace->delayed - before : 0;
}

/* Count how long other programs had the core while a rank computed. */
static void put_stolen(mpi_trace_t *trace, uint64_t now)
{
    uint64_t delay = delay_of(trace);

    if (delay == 0 || trace->now.kind != all.compute)
        return;
    trace->stolen += delay;
    xy_trace_counter_at(trace->row, now, all.stolen, 1e-9 * (double)trace->stolen);
}

/* The current state ends. States without length are left out. */
static void put_state(mpi_trace_t *trace, uint64_t now)
{
    if (now - trace->since > all.long_ticks && now > trace->since)
        put_stolen(trace, now);
    if (now > trace->since)
        xy_trace_state_at(trace->row, trace->since, now, trace->now.kind, trace->now.id,
                          trace->now.label);
    trace->since = now;
}

static void set_state(mpi_trace_t *trace, mpi_trace_state_t next)
{
    if (next.kind == trace->now.kind && next.label == trace->now.label && next.id == trace->now.id)
        return;
    lock(trace);
    put_state(trace, xy_trace_clock());
    trace->now = next;
    unlock(trace);
}

void mpi_trace_call(mpi_trace_t *trace, mpi_rank_t *self)
{
    const char *name = self->call.name;

    if (mpi_job->clock != NULL) {
        mpi_job->clock->call(self);
        return;
    }
    set_state(trace, (mpi_trace_state_t){.kind = name != NULL ? all.call : all.compute,
                                         .label = name != NULL ? label_of(trace, name) : 0,
                                         .id = self->world});
}

/* The call is a new one, of the program. */
static void trace_enter(mpi_trace_t *trace, mpi_rank_t *self)
{
    mpi_trace_call(trace, self);
    if (trace->row == NULL) { /* in virtual time */
        mpi_job->clock->step(self, site_of(trace, self->call.caller));
        return;
    }
    lock(trace);
    xy_trace_call_at(trace->row, trace->since, (uint32_t)self->world, trace->now.label,
                     site_of(trace, self->call.caller));
    unlock(trace);
}

/* The slow half of the hooks below. */
static __attribute__((noinline, cold)) void tell_enter(mpi_rank_t *self)
{
    if (mpi_dispatch.check.call != NULL)
        mpi_dispatch.check.call(self);
    if (self->trace != NULL)
        trace_enter(self->trace, self);
    if (self->listener != NULL)
        self->listener->in_call(self);
    if (self->account != NULL)
        mpi_account_enter(self);
    mpi_live_enter(self);
}

static __attribute__((noinline, cold)) void tell_leave(mpi_rank_t *self)
{
    mpi_live_leave(self);
    if (mpi_dispatch.check.call != NULL)
        mpi_dispatch.check.call(self);
    if (self->account != NULL)
        mpi_account_leave(self);
    if (self->trace != NULL)
        mpi_trace_call(self->trace, self);
    if (self->listener != NULL)
        self->listener->in_call(self);
}

void mpi_observe_enter(mpi_rank_t *self)
{
    if (__builtin_expect(self->observed == XMPI_LOOK_ACCOUNT, 1))
        mpi_account_enter(self);
    else
        tell_enter(self);
}

void mpi_observe_leave(mpi_rank_t *self)
{
    if (__builtin_expect(self->observed == XMPI_LOOK_ACCOUNT, 1))
        mpi_account_leave(self);
    else
        tell_leave(self);
}

void mpi_trace_put_collective(mpi_rank_t *self, const xy_trace_collective_t *c)
{
    mpi_trace_t *trace = self->trace;

    if (trace->row == NULL) {
        mpi_job->clock->collective(self, c);
        return;
    }
    lock(trace);
    xy_trace_collective(trace->row, c);
    unlock(trace);
}

void mpi_trace_idle(xy_worker_t *w, xy_idle_t what, xy_fiber_t *fiber)
{
    mpi_trace_t *trace = ((mpi_worker_t *)xy_worker_user(w))->trace;
    mpi_rank_t *rank = fiber != NULL ? xy_fiber_user(fiber) : NULL;

    if (trace == NULL)
        return;
    if (rank != NULL)
        mpi_trace_call(trace, rank);
    else
        set_state(trace, (mpi_trace_state_t){.kind = what == XY_IDLE_POLLS ? all.wait : all.idle,
                                             .id = XY_TRACE_NO_ID});
    /* It may sleep for long, and this is the last there is to say for now. */
    if (what == XY_IDLE_SLEEPS) {
        lock(trace);
        xy_trace_flush(trace->row);
        unlock(trace);
    }
}

mpi_trace_state_t mpi_trace_state(const mpi_trace_t *trace)
{
    return trace->now;
}

mpi_trace_state_t mpi_trace_put_begin(mpi_trace_t *trace, const char *name)
{
    mpi_trace_state_t before = trace->now;

    set_state(trace, (mpi_trace_state_t){
                         .kind = all.progress, .label = label_of(trace, name), .id = before.id});
    return before;
}

void mpi_trace_put_end(mpi_trace_t *trace, mpi_trace_state_t before)
{
    set_state(trace, before);
}

void mpi_trace_put_message(mpi_trace_t *trace, const mpi_worker_t *worker, uint64_t bytes)
{
    uint32_t row = worker->trace->number;

    lock(trace);
    xy_trace_link_at(trace->row, row, trace->since, row, xy_trace_clock(), bytes, trace->now.label);
    unlock(trace);
}

/* ---- Messages from rank to rank ---- */

xy_status_t mpi_trace_filter(const char *which, int size)
{
    static const char ranks[] = "ranks:";

    if (which == NULL || strcmp(which, "all") == 0)
        return XY_OK;
    if (strcmp(which, "none") == 0) {
        all.no_messages = true;
        return XY_OK;
    }
    if (strncmp(which, ranks, sizeof(ranks) - 1) == 0) {
        if (xy_bitset_init(&all.ranks, (size_t)size) != XY_OK)
            return xy_fail_memory("starting a trace");
        return xy_bitset_parse(&all.ranks, which + sizeof(ranks) - 1, "--trace-messages");
    }
    if (!xy_parse_size(which, &all.least_bytes))
        return xy_fail(XY_EUSAGE,
                       "--trace-messages: '%s' is neither all, none, a size such as 64K, nor "
                       "ranks:LIST such as ranks:0-3,8",
                       which);
    return XY_OK;
}

static bool is_wanted(const mpi_trace_message_t *m)
{
    if (all.file == NULL || all.no_messages || m->bytes < all.least_bytes)
        return false;
    return all.ranks.bits == 0 || xy_bitset_has(&all.ranks, (size_t)m->from) ||
           xy_bitset_has(&all.ranks, (size_t)m->to);
}

/* Messages of one key meet their receives in the order in which they were sent. */
static uint64_t key_of(const mpi_trace_message_t *m)
{
    uint64_t pair = (uint64_t)(uint32_t)m->from << 32 | (uint32_t)m->to;
    uint64_t kind = (uint64_t)m->context << 32 | (uint32_t)m->tag;

    pair *= UINT64_C(0x9e3779b97f4a7c15);
    return (pair ^ pair >> 29 ^ kind) * UINT64_C(0xbf58476d1ce4e5b9) ^ kind >> 31;
}

void mpi_trace_put_sent(mpi_trace_t *trace, const mpi_trace_message_t *m)
{
    uint32_t label;

    if (!is_wanted(m))
        return;
    lock(trace);
    label = m->name != NULL ? label_of(trace, m->name) : trace->now.label;
    xy_trace_sent(trace->row, &(xy_trace_message_t){.key = key_of(m),
                                                    .bytes = m->bytes,
                                                    .label = label,
                                                    .rank = (uint32_t)m->from,
                                                    .peer = (uint32_t)m->to});
    unlock(trace);
}

void mpi_trace_put_received(mpi_trace_t *trace, const mpi_trace_message_t *m)
{
    if (!is_wanted(m))
        return;
    lock(trace);
    xy_trace_received(trace->row, &(xy_trace_message_t){.key = key_of(m),
                                                        .rank = (uint32_t)m->to,
                                                        .peer = (uint32_t)m->from});
    unlock(trace);
}

static uint32_t row_of(int rank)
{
    return mpi_job->worker[mpi_job->home[rank]].trace->number;
}

/* Rows of other processes have no number here: what is moved there is not drawn. */
void mpi_trace_put_moved(mpi_trace_t *trace, const mpi_trace_message_t *m)
{
    if (!is_wanted(m) || !mpi_rank_is_here(mpi_job, m->from) || !mpi_rank_is_here(mpi_job, m->to))
        return;
    lock(trace);
    xy_trace_link_at(trace->row, row_of(m->from), trace->since, row_of(m->to), xy_trace_clock(),
                     m->bytes, trace->now.label);
    unlock(trace);
}

/* ---- Beginning and end ---- */

static xy_status_t remember_path(const char *path)
{
    char directory[PATH_MAX] = "";

    if (path[0] != '/' && getcwd(directory, sizeof(directory)) == NULL)
        return xy_fail_errno(errno, path, "find its directory");
    all.path = xy_sprintf("%s%s%s", directory, path[0] != '/' ? "/" : "", path);
    return all.path != NULL ? XY_OK : xy_fail_memory("starting a trace");
}

/* Add a row for worker w to the trace. */
static xy_status_t add_row(mpi_job_t *job, int w)
{
    mpi_trace_t *trace = xy_calloc(1, sizeof(*trace));
    bool is_comm = w >= job->workers - job->comm_workers;
    char name[64], group[320] = "";
    xy_status_t st;

    if (trace == NULL)
        return xy_fail_memory("starting a trace");
    if (job->processes > 1)
        snprintf(group, sizeof(group), "process %d%s%.256s", job->process,
                 job->hosts != NULL ? " on " : "",
                 job->hosts != NULL ? job->hosts[job->process] : "");
    snprintf(name, sizeof(name), "core %d%s", xy_worker_cpu(job->worker[w].base),
             is_comm ? ", communication" : "");
    st = xy_trace_row_create(all.file, name, group, &trace->row);
    if (st != XY_OK) {
        xy_free(trace);
        return st;
    }
    trace->number = xy_trace_row_number(trace->row);
    trace->sched = NOT_OPEN;
    trace->since = xy_trace_clock();
    trace->now = (mpi_trace_state_t){.kind = all.idle, .id = XY_TRACE_NO_ID};
    job->worker[w].trace = all.workers[w] = trace;
    all.count = w + 1;
    return XY_OK;
}

void mpi_trace_virtual(mpi_job_t *job)
{
    static mpi_trace_t calls; /* no row: the clock takes them */

    for (int r = 0; r < job->size; r++) {
        job->ranks[r].trace = &calls;
        job->ranks[r].observed |= XMPI_LOOK_RECORD; /* messages are recorded by the clock */
    }
}

xy_status_t mpi_trace_start(mpi_job_t *job, const char *path, const char *title)
{
    const char *slash = strrchr(title, '/');
    char *text = xy_sprintf("%s, %d rank%s", slash != NULL ? slash + 1 : title, job->size,
                            xy_s((uint64_t)job->size));
    xy_status_t st = remember_path(path);

    all.pid = getpid();
    all.workers = xy_calloc((size_t)job->workers, sizeof(mpi_trace_t *));
    if (st == XY_OK && (all.workers == NULL || text == NULL))
        st = xy_fail_memory("starting a trace");
    if (st == XY_OK)
        st = xy_trace_create(all.path, &(xy_trace_options_t){.title = text}, &all.file);
    if (st == XY_OK) {
        all.compute = xy_trace_kind(all.file, "compute", XY_TRACE_COMPUTE, 0);
        all.call = xy_trace_kind(all.file, "MPI", XY_TRACE_PROGRESS, 0);
        all.progress = xy_trace_kind(all.file, "progress", XY_TRACE_PROGRESS, 0);
        all.wait = xy_trace_kind(all.file, "wait", XY_TRACE_WAIT, 0);
        all.idle = xy_trace_kind(all.file, "idle", XY_TRACE_IDLE, 0);
        all.stolen = xy_trace_counter_name(all.file, XY_TRACE_STOLEN, "s");
        all.long_ticks = (uint64_t)(LONG * (double)xy_trace_clock_rate());
    }
    for (int w = 0; w < job->workers && st == XY_OK; w++)
        st = add_row(job, w);
    for (int r = 0; r < job->size && st == XY_OK; r++) {
        if (!mpi_rank_is_here(job, r))
            continue;
        job->ranks[r].trace = job->ranks[r].worker->trace;
        mpi_rank_observe(&job->ranks[r], XMPI_LOOK_RECORD);
    }
    xy_free(text);
    return st;
}

/* End each core's row with its current state. */
static void put_last(void)
{
    for (int w = 0; w < all.count; w++)
        put_state(all.workers[w], xy_trace_clock());
}

xy_status_t mpi_trace_finish(void)
{
    xy_status_t st;

    if (all.file == NULL)
        return XY_OK;
    put_last();
    st = xy_trace_close(all.file);
    all.file = NULL;
    for (int w = 0; w < all.count; w++) {
        if (all.workers[w]->sched >= 0)
            close(all.workers[w]->sched);
        xy_free(all.workers[w]->sites);
        xy_free(all.workers[w]);
    }
    xy_free(all.workers);
    xy_free(all.path);
    xy_bitset_cleanup(&all.ranks);
    return st;
}

/* A worker that records may have to wait for its processor, or for the other end of a pipe. Only
 * one that this thread has interrupted never lets go (a signal handler runs on it): what it has
 * written so far is whole. */
static void stop_worker(mpi_trace_t *trace)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    for (int i = 0; i < STOP_TRIES && !try_lock(trace); i++) {
        if (atomic_load_explicit(&trace->holder, memory_order_relaxed) == &mark)
            return;
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
}

void mpi_trace_cut(void)
{
    if (all.file == NULL || getpid() != all.pid)
        return;
    for (int w = 0; w < all.count; w++)
        stop_worker(all.workers[w]);
    put_last();
    xy_trace_end(all.file);
    all.file = NULL;
}
