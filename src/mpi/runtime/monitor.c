/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/monitor.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

/* The messages of one rank to another on one communicator, in one span of the run. */
typedef struct mpi_monitor_record {
    uint64_t pair;
    uint32_t span;    /* in the rank's list of spans */
    uint32_t is_used; /* 0: a free slot */
    mpi_sent_t sent;
} record_t;

_Static_assert(sizeof(record_t) == 48, "a job of 16384 ranks with 26 partners has 524288 slots");

typedef struct mpi_monitor monitor_t;

/* The slice of time that it is; a thread of its own counts, so that no clock is read for a
 * message. */
static _Atomic uint32_t slice_now;
static double slice_seconds;

/* Allocate the monitor of a rank; NULL without memory. */
static monitor_t *monitor_new(void)
{
    monitor_t *m = xy_calloc(1, sizeof(*m));

    if (m == NULL)
        return NULL;
    m->pair = XMPI_MONITOR_NONE;
    m->spans = XY_VEC_INIT(mpi_span_t);
    if (xy_vec_append(&m->spans, &m->now) != XY_OK) {
        xy_free(m);
        return NULL;
    }
    return m;
}

xy_status_t mpi_monitor_begin(mpi_rank_t *rank)
{
    if (rank->monitor == NULL)
        rank->monitor = monitor_new();
    mpi_rank_watch(rank, XMPI_LOOK_COUNT);
    if (rank->monitor == NULL)
        return xy_fail_memory("preparing to count messages");
    atomic_store_explicit(&mpi_job->is_monitored, true, memory_order_relaxed);
    return XY_OK;
}

static void add_record(const record_t *record, mpi_sent_t *total)
{
    for (int k = 0; k < 2; k++) {
        total->bytes[k] += record->sent.bytes[k];
        total->messages[k] += record->sent.messages[k];
    }
}

void mpi_monitor_total(const mpi_rank_t *rank, mpi_sent_t *total)
{
    const monitor_t *m = rank->monitor;

    *total = (mpi_sent_t){{0, 0}, {0, 0}};
    for (uint32_t i = 0; m != NULL && i < m->capacity; i++)
        if (m->records[i].is_used)
            add_record(&m->records[i], total);
}

void mpi_monitor_total_on(const mpi_rank_t *rank, uint32_t context, mpi_sent_t *total)
{
    const monitor_t *m = rank->monitor;

    *total = (mpi_sent_t){{0, 0}, {0, 0}};
    for (uint32_t i = 0; m != NULL && i < m->capacity; i++)
        if (m->records[i].is_used && (uint32_t)m->records[i].pair == context)
            add_record(&m->records[i], total);
}

/* Thread: increment the number of the time slice at each interval. */
static void *count_slices(void *arg)
{
    struct timespec next;

    (void)arg;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (;;) {
        double whole = (double)next.tv_nsec + slice_seconds * 1e9;

        next.tv_sec += (time_t)(whole / 1e9);
        next.tv_nsec = (long)(whole - 1e9 * (double)(time_t)(whole / 1e9));
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) != 0)
            ;
        atomic_fetch_add_explicit(&slice_now, 1, memory_order_relaxed);
    }
    return NULL;
}

/* Start the thread that counts time slices, with all signals blocked. */
static xy_status_t start_slices(double seconds)
{
    sigset_t all, before;
    pthread_t thread;
    int code;

    slice_seconds = seconds;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&thread, NULL, count_slices, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0)
        return xy_fail_errno(code, "a thread for the slices of time", "start");
    pthread_detach(thread);
    return XY_OK;
}

xy_status_t mpi_monitor_start(mpi_job_t *job, double seconds)
{
    for (int r = 0; r < job->size; r++)
        if (mpi_rank_is_here(job, r) && mpi_monitor_begin(&job->ranks[r]) != XY_OK) {
            mpi_monitor_stop(job);
            return XY_ENOMEM;
        }
    return seconds > 0 ? start_slices(seconds) : XY_OK;
}

void mpi_monitor_stop(mpi_job_t *job)
{
    atomic_store_explicit(&job->is_monitored, false, memory_order_relaxed);
    for (int r = 0; r < job->size; r++) {
        monitor_t *m = job->ranks[r].monitor;

        if (m == NULL)
            continue;
        xy_vec_cleanup(&m->spans);
        xy_free(m->records);
        xy_free(m);
        job->ranks[r].monitor = NULL;
        __atomic_fetch_and(&job->ranks[r].watched, (uint8_t)~XMPI_LOOK_COUNT, __ATOMIC_RELAXED);
    }
}

/* The record of a pair, or the free slot where it belongs. There is one. */
static uint32_t slot_of(const record_t *records, uint32_t capacity, uint64_t pair, uint32_t span)
{
    uint32_t i = (uint32_t)xy_hash_u64(pair ^ (uint64_t)span << 20) & (capacity - 1);

    while (records[i].is_used && (records[i].pair != pair || records[i].span != span))
        i = (i + 1) & (capacity - 1);
    return i;
}

void mpi_monitor_total_to(const mpi_rank_t *rank, uint32_t context, int to, mpi_sent_t *total)
{
    const monitor_t *m = rank->monitor;

    *total = (mpi_sent_t){{0, 0}, {0, 0}};
    for (uint32_t span = 0; m != NULL && m->capacity > 0 && span < m->spans.count; span++) {
        uint32_t i = slot_of(m->records, m->capacity, mpi_monitor_pair(to, context), span);

        if (m->records[i].is_used)
            add_record(&m->records[i], total);
    }
}

/* Double the room for records; false without memory. */
static bool grow(monitor_t *m)
{
    uint32_t capacity = m->capacity > 0 ? 2 * m->capacity : 8;
    record_t *larger = xy_calloc(capacity, sizeof(*larger));

    if (larger == NULL)
        return false;
    for (uint32_t i = 0; i < m->capacity; i++) {
        const record_t *r = &m->records[i];

        if (r->is_used)
            larger[slot_of(larger, capacity, r->pair, r->span)] = *r;
    }
    xy_free(m->records);
    m->records = larger;
    m->capacity = capacity;
    return true;
}

static record_t *record_of(monitor_t *m, uint64_t pair)
{
    uint32_t i;

    if (m->count + 1 > m->capacity / 8 * 7 && !grow(m))
        return NULL;
    i = slot_of(m->records, m->capacity, pair, m->span);
    if (!m->records[i].is_used) {
        m->records[i] = (record_t){.pair = pair, .span = m->span, .is_used = 1};
        m->count++;
    }
    return &m->records[i];
}

/* From now on records are others. When memory runs out, the span continues. */
static void begin_span(monitor_t *m, mpi_span_t next)
{
    if (xy_vec_append(&m->spans, &next) != XY_OK) {
        m->is_lossy = true;
        return;
    }
    m->now = next;
    m->pair = XMPI_MONITOR_NONE;
    m->span = (uint32_t)m->spans.count - 1;
}

static void look_at_clock(monitor_t *m)
{
    uint32_t slice = atomic_load_explicit(&slice_now, memory_order_relaxed);

    if (slice != m->now.slice)
        begin_span(m, (mpi_span_t){m->now.phase, slice, m->now.round});
}

void mpi_monitor_add_many(mpi_rank_t *self, int to, uint32_t context, uint64_t messages,
                          uint64_t bytes)
{
    record_t *record = record_of(self->monitor, mpi_monitor_pair(to, context));

    self->monitor->pair = XMPI_MONITOR_NONE; /* the table may have moved */
    if (record == NULL) {
        self->monitor->is_lossy = true;
        return;
    }
    record->sent.bytes[1] += bytes;
    record->sent.messages[1] += messages;
}

void mpi_monitor_add(mpi_rank_t *self, int to, uint32_t context, uint64_t bytes, bool collective)
{
    const uint32_t hidden = XMPI_CONTEXT_SHADOW | XMPI_CONTEXT_NEIGHBORS;
    bool is_hidden = context & hidden;
    uint64_t pair = mpi_monitor_pair(to, context & ~XMPI_CONTEXT_BITS);
    monitor_t *m = self->monitor;
    record_t *record;

    if (m->pair == pair) {
        m->sent->bytes[collective || is_hidden] += bytes;
        m->sent->messages[collective || is_hidden]++;
        return;
    }
    if (slice_seconds > 0)
        look_at_clock(m);
    m->pair = XMPI_MONITOR_NONE; /* the table may move */
    record = record_of(m, pair);
    if (record == NULL) {
        m->is_lossy = true;
        return;
    }
    record->sent.bytes[collective || is_hidden] += bytes;
    record->sent.messages[collective || is_hidden]++;
    if (slice_seconds > 0)
        return; /* the clock must be looked at for each message */
    m->pair = pair;
    m->sent = &record->sent;
}

void mpi_monitor_phase(mpi_rank_t *self)
{
    monitor_t *m = self->monitor;

    if (m != NULL)
        begin_span(m, (mpi_span_t){m->now.phase + 1, m->now.slice, m->now.round});
}

/* ---- What was counted ---- */

/* Add the records of a rank; messages to other jobs are left out. */
static xy_status_t collect_rank(const mpi_job_t *job, int rank, xy_traffic_t *t)
{
    const monitor_t *m = job->ranks[rank].monitor;

    for (uint32_t i = 0; i < m->capacity; i++) {
        const record_t *record = &m->records[i];
        const mpi_span_t *span = &XY_VEC_AT(&m->spans, mpi_span_t, record->span);
        xy_traffic_record_t e = {.from = (uint32_t)rank,
                                 .to = (uint32_t)(record->pair >> 32),
                                 .phase = span->phase,
                                 .slice = span->slice,
                                 .communicator = (uint32_t)record->pair};

        if (!record->is_used || mpi_rank_is_foreign(job, (int)e.to))
            continue;
        for (int k = 0; k < 2; k++) {
            e.bytes[k] = (double)record->sent.bytes[k];
            e.messages[k] = (double)record->sent.messages[k];
        }
        if (xy_vec_append(&t->records, &e) != XY_OK)
            return xy_fail_memory("writing the communication matrix");
    }
    return XY_OK;
}

xy_status_t mpi_monitor_collect(const mpi_job_t *job, xy_traffic_t *t)
{
    bool is_lossy = false;
    xy_status_t st = XY_OK;

    *t = (xy_traffic_t){.ranks = (uint32_t)job->size,
                        .slice_seconds = slice_seconds,
                        .records = XY_VEC_INIT(xy_traffic_record_t)};
    for (int r = 0; r < job->size && st == XY_OK; r++) {
        const monitor_t *m = job->ranks[r].monitor;

        if (m == NULL) /* in another process */
            continue;
        is_lossy = is_lossy || m->is_lossy;
        st = collect_rank(job, r, t);
    }
    if (is_lossy)
        xy_warn("memory ran out while messages were counted: some are missing");
    if (st != XY_OK)
        xy_traffic_cleanup(t);
    return st;
}

xy_status_t mpi_monitor_write(const mpi_job_t *job, const char *path)
{
    xy_traffic_t t;
    xy_status_t st = mpi_monitor_collect(job, &t);

    if (st != XY_OK)
        return st;
    st = xy_traffic_write(&t, path);
    xy_traffic_cleanup(&t);
    return st;
}

size_t mpi_monitor_rank_bytes(const mpi_rank_t *rank)
{
    const monitor_t *m = rank->monitor;

    return m != NULL ? sizeof(*m) + m->capacity * sizeof(*m->records) +
                           m->spans.capacity * sizeof(mpi_span_t)
                     : 0;
}

size_t mpi_monitor_bytes(const mpi_job_t *job)
{
    size_t sum = 0;

    for (int r = 0; r < job->size; r++)
        sum += mpi_monitor_rank_bytes(&job->ranks[r]);
    return sum;
}

xy_status_t mpi_monitor_take(mpi_rank_t *rank, uint32_t from, const int *index, xy_vec_t *entries)
{
    monitor_t *m = rank->monitor;

    for (uint32_t i = 0; i < m->capacity; i++) {
        const record_t *r = &m->records[i];
        xy_matrix_entry_t e = {.from = from};

        if (!r->is_used || index[r->pair >> 32] < 0 ||
            XY_VEC_AT(&m->spans, mpi_span_t, r->span).round != m->now.round)
            continue;
        e.to = (uint32_t)index[r->pair >> 32];
        e.bytes = (double)(r->sent.bytes[0] + r->sent.bytes[1]);
        e.messages = (double)(r->sent.messages[0] + r->sent.messages[1]);
        if (xy_vec_append(entries, &e) != XY_OK)
            return XY_ENOMEM;
    }
    begin_span(m, (mpi_span_t){m->now.phase, m->now.slice, m->now.round + 1});
    return XY_OK;
}
