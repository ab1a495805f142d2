/* SPDX-License-Identifier: BSD-3-Clause */
/* For the unit tests of simulated jobs: processes that follow scripts. */
#ifndef XY_TESTING_SIM_JOB_H
#define XY_TESTING_SIM_JOB_H

#include <math.h>
#include <string.h>

#include "sim/job.h"
#include "testing/sim.h"

typedef enum {
    DO_END,
    DO_COMPUTE, /* seconds */
    DO_SLEEP,
    DO_ISEND,
    DO_SEND,
    DO_IRECV,
    DO_RECV,
    DO_WAIT, /* for all that was started */
    DO_WAIT_ONE,
    DO_POLL, /* test until all are complete */
    DO_PROBE,
    DO_IPROBE, /* until there is one */
    DO_MRECV,  /* mprobe, imrecv, wait */
    DO_ICOLL,
    DO_COLL,
    DO_CANCEL, /* the last one that was started */
    DO_TEST,   /* once */
    DO_PUT,    /* start: bytes to the peer */
    DO_GET,    /* ... and from it */
    DO_SYNC,
    DO_START,  /* the peer, on core `tag`, from the beginning of its acts */
    DO_THREAD, /* the peer, which is the number that it gets */
    DO_BLOCK,  /* for so many seconds; 0: until it is woken */
    DO_WAKE,   /* the peer */
} testing_kind_t;

typedef struct {
    testing_kind_t kind;
    int peer, tag;
    uint64_t bytes;
    double seconds;
    xy_vjob_mode_t mode;
    uint32_t context;
    xy_vjob_coll_t coll;
    uint32_t line;
    uint64_t buffer;
} testing_act_t;

enum { TESTING_REQUESTS = 4096, TESTING_LOG = 4096 };

typedef struct {
    const testing_act_t *acts;
    int at;
    bool is_begun; /* the current act was, and continues */
    xy_vreq_t *requests[TESTING_REQUESTS];
    size_t count;
    double times[TESTING_LOG]; /* when each act was over */
    int sources[TESTING_LOG];  /* of what was received or found, in the order of the waits */
    int tags[TESTING_LOG];
    int received, tests;
    bool is_cancelled, flag;
} testing_proc_t;

typedef struct {
    xy_vjob_t *job;
    xy_machine_t *machine;
    xy_vjob_config_t config;
    testing_proc_t *procs;
    xy_vcomm_t *world;
    int stuck;
    xy_status_t status;
} testing_job_t;

static inline void testing_log(testing_proc_t *p, const xy_vjob_status_t *status)
{
    assert_true(p->received < TESTING_LOG);
    p->sources[p->received] = status->source;
    p->tags[p->received++] = status->tag;
}

/* Logs and releases all requests of a process, which must be complete. */
static inline void testing_collect(testing_job_t *t, int32_t proc)
{
    testing_proc_t *p = &t->procs[proc];

    for (size_t i = 0; i < p->count; i++) {
        xy_vjob_status_t status;

        if (p->requests[i] == NULL)
            continue;
        assert_true(xy_vjob_is_done(t->job, p->requests[i]));
        xy_vjob_status(t->job, p->requests[i], &status);
        if (status.source >= 0)
            testing_log(p, &status);
        p->is_cancelled = p->is_cancelled || status.is_cancelled;
        xy_vjob_release(t->job, p->requests[i]);
    }
    p->count = 0;
}

/* Starts a message, collective or remote access; returns false if the job failed. */
static inline bool testing_start(testing_job_t *t, int32_t proc, const testing_act_t *act)
{
    testing_proc_t *p = &t->procs[proc];
    xy_vjob_p2p_t p2p = {act->context,         act->peer,  act->tag, act->mode, act->bytes,
                         act->kind == DO_SEND, act->buffer};
    xy_vjob_remote_t put = {.peer = act->peer, .bytes = act->bytes};
    xy_vjob_remote_t get = {.peer = act->peer, .is_answered = true, .answer_bytes = act->bytes};
    double end;
    xy_vreq_t *r;

    if (act->kind == DO_PUT || act->kind == DO_GET)
        r = xy_vjob_remote(t->job, proc, act->kind == DO_PUT ? &put : &get, &end)
                ? xy_vjob_until(t->job, proc, end)
                : NULL;
    else if (act->kind == DO_ICOLL || act->kind == DO_COLL)
        r = xy_vjob_collective(t->job, proc, t->world, &act->coll, p);
    else if (act->kind == DO_ISEND || act->kind == DO_SEND)
        r = xy_vjob_isend(t->job, proc, &p2p, p);
    else
        r = xy_vjob_irecv(t->job, proc, &p2p, p);
    assert_true(p->count < TESTING_REQUESTS);
    if (r != NULL)
        p->requests[p->count++] = r;
    return r != NULL;
}

/* Logs and releases the first complete request of a process. */
static inline void testing_collect_one(testing_job_t *t, int32_t proc)
{
    testing_proc_t *p = &t->procs[proc];
    xy_vjob_status_t status;

    for (size_t i = 0; i < p->count; i++) {
        if (p->requests[i] == NULL || !xy_vjob_is_done(t->job, p->requests[i]))
            continue;
        xy_vjob_status(t->job, p->requests[i], &status);
        testing_log(p, &status);
        xy_vjob_release(t->job, p->requests[i]);
        p->requests[i] = NULL;
        return;
    }
}

/* Tests all requests of a process until they are complete; returns false if it must wait. */
static inline bool testing_poll(testing_job_t *t, int32_t proc, bool again)
{
    testing_proc_t *p = &t->procs[proc];

    while (again || xy_vjob_test(t->job, proc, p->requests, p->count, XY_VJOB_ALL)) {
        again = false;
        p->tests++;
        if (!xy_vjob_flag(t->job, proc))
            continue;
        testing_collect(t, proc);
        return true;
    }
    return false;
}

/* Probes until a message is found and logs it; returns false if the process must wait. */
static inline bool testing_probe(testing_job_t *t, int32_t proc, const xy_vjob_p2p_t *p2p,
                                 bool is_waiting, bool again)
{
    testing_proc_t *p = &t->procs[proc];
    xy_vjob_status_t status;

    while (again || xy_vjob_probe(t->job, proc, p2p, is_waiting, false)) {
        again = false;
        p->tests++;
        if (!xy_vjob_flag(t->job, proc))
            continue;
        xy_vjob_found(t->job, proc, &status);
        testing_log(p, &status);
        return true;
    }
    return false;
}

/* True: it is complete. */
static inline bool testing_do(testing_job_t *t, int32_t proc, const testing_act_t *act, bool again)
{
    testing_proc_t *p = &t->procs[proc];
    xy_vjob_p2p_t p2p = {act->context,         act->peer,  act->tag, act->mode, act->bytes,
                         act->kind == DO_SEND, act->buffer};
    int32_t thread = -1;

    switch (act->kind) {
    case DO_COMPUTE:
        return again || xy_vjob_compute(t->job, proc, act->seconds);
    case DO_SLEEP:
        return again || xy_vjob_sleep(t->job, proc, act->seconds);
    case DO_ISEND:
    case DO_IRECV:
    case DO_ICOLL:
    case DO_PUT:
    case DO_GET:
        return again || (testing_start(t, proc, act) &&
                         (act->kind != DO_ICOLL ||
                          xy_vjob_entered(t->job, proc, p->requests[p->count - 1])));
    case DO_SEND:
    case DO_RECV:
    case DO_COLL:
        if (!again && !testing_start(t, proc, act))
            return false;
        /* fallthrough */
    case DO_WAIT:
        if (!again && !xy_vjob_wait(t->job, proc, p->requests, p->count, XY_VJOB_ALL))
            return false;
        testing_collect(t, proc);
        return true;
    case DO_WAIT_ONE:
        if (!again && !xy_vjob_wait(t->job, proc, p->requests, p->count, XY_VJOB_ONE))
            return false;
        testing_collect_one(t, proc);
        return true;
    case DO_POLL:
        return testing_poll(t, proc, again);
    case DO_TEST:
        if (!again && !xy_vjob_test(t->job, proc, p->requests, p->count, XY_VJOB_ALL))
            return false;
        p->flag = xy_vjob_flag(t->job, proc);
        return true;
    case DO_PROBE:
    case DO_IPROBE:
        return testing_probe(t, proc, &p2p, act->kind == DO_PROBE, again);
    case DO_MRECV:
        if (!again && !xy_vjob_probe(t->job, proc, &p2p, true, true))
            return false;
        if (p->count == 0) {
            assert_non_null(xy_vjob_taken(t->job, proc));
            p->requests[p->count++] =
                xy_vjob_imrecv(t->job, proc, xy_vjob_taken(t->job, proc), NULL);
            if (!xy_vjob_wait(t->job, proc, p->requests, p->count, XY_VJOB_ALL))
                return false;
        }
        testing_collect(t, proc);
        return true;
    case DO_START:
        t->procs[act->peer].at = 0;
        assert_int_equal(xy_vjob_start(t->job, proc, act->peer, act->tag), XY_OK);
        return true;
    case DO_THREAD:
        assert_int_equal(xy_vjob_thread(t->job, proc, &thread), XY_OK);
        assert_int_equal(thread, act->peer);
        t->procs[thread].at = 0;
        return true;
    case DO_BLOCK:
        return again || xy_vjob_block(t->job, proc, act->seconds > 0 ? act->seconds : INFINITY);
    case DO_WAKE:
        xy_vjob_wake(t->job, proc, act->peer);
        return true;
    case DO_SYNC:
        return again || xy_vjob_sync(t->job, proc);
    case DO_CANCEL:
        return again || xy_vjob_cancel(t->job, proc, p->requests[p->count - 1]);
    case DO_END:
        break;
    }
    return true;
}

/* Runs the acts of a process until one must wait; the callback of the job. */
static inline void testing_go(void *owner, int32_t proc)
{
    testing_job_t *t = owner;
    testing_proc_t *p = &t->procs[proc];

    while (p->acts[p->at].kind != DO_END) {
        bool again = p->is_begun;

        if (!again && p->acts[p->at].line != 0)
            xy_vjob_set_line(t->job, proc, p->acts[p->at].line);
        p->is_begun = true;
        if (!testing_do(t, proc, &p->acts[p->at], again))
            return;
        p->is_begun = false;
        if (p->at < TESTING_LOG)
            p->times[p->at] = xy_vjob_now(t->job, proc);
        p->at++;
    }
    xy_vjob_finish(t->job, proc);
}

static inline void testing_is_stuck(void *owner)
{
    ((testing_job_t *)owner)->stuck++;
}

/* A job whose process p is on core p, unless the configuration says otherwise. */
static inline void testing_job_init(testing_job_t *t, const char *machine, int32_t procs)
{
    *t = (testing_job_t){0};
    assert_int_equal(xy_machine_load(machine, &t->machine), XY_OK);
    xy_vjob_costs_default(&t->config.costs);
    t->config.machine = t->machine;
    t->config.procs = procs;
    t->config.owner = t;
    t->config.run = testing_go;
    t->config.stuck = testing_is_stuck;
    t->procs = calloc((size_t)procs, sizeof(*t->procs));
    assert_non_null(t->procs);
}

/* Processes from t->config.procs on begin when others start them. */
static inline void testing_job_room(testing_job_t *t, int32_t room)
{
    t->config.room = room;
    free(t->procs);
    t->procs = calloc((size_t)room, sizeof(*t->procs));
    assert_non_null(t->procs);
}

/* Their threads have the numbers after those of processes. */
static inline void testing_job_threads(testing_job_t *t, int32_t threads)
{
    testing_job_room(t, t->config.procs + threads);
    t->config.room = t->config.procs;
    t->config.threads = threads;
}

/* Creates the job and its world communicator; processes without cores get those of their
 * numbers. */
static inline xy_status_t testing_job_make(testing_job_t *t)
{
    int32_t *numbers = calloc((size_t)t->config.procs, sizeof(*numbers));
    const int32_t *given = t->config.core_of;
    xy_status_t st;

    assert_non_null(numbers);
    for (int32_t i = 0; i < t->config.procs; i++)
        numbers[i] = i;
    if (given == NULL)
        t->config.core_of = numbers;
    st = xy_vjob_create(&t->config, &t->job);
    t->config.core_of = given;
    t->world = NULL;
    if (st == XY_OK) {
        t->world = xy_vjob_comm(t->job, 0, numbers, t->config.procs);
        st = t->world != NULL ? XY_OK : XY_ENOMEM;
    }
    free(numbers);
    return st;
}

static inline double testing_job_run(testing_job_t *t)
{
    assert_int_equal(testing_job_make(t), XY_OK);
    t->status = xy_vjob_run(t->job);
    return xy_vjob_end(t->job);
}

static inline void testing_job_again(testing_job_t *t)
{
    xy_vjob_destroy(t->job);
    t->job = NULL;
    for (int32_t i = 0; i < t->config.procs || i < t->config.room; i++) {
        const testing_act_t *acts = t->procs[i].acts;

        memset(&t->procs[i], 0, sizeof(t->procs[i]));
        t->procs[i].acts = acts;
    }
}

static inline void testing_job_cleanup(testing_job_t *t)
{
    xy_vjob_destroy(t->job);
    xy_machine_destroy(t->machine);
    free(t->procs);
}

#endif
