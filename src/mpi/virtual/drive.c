/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver: the event loop of the simulated job as the scheduler of the ranks; and their clock.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xylem_mpi.h>

#include "mpi/p2p/p2p.h"
#include "mpi/virtual/private.h"

virtual_t virtual;
_Thread_local virtual_turn_t *virtual_thread;

/* ---- Turns ---- */

static virtual_turn_t *turn_of(int32_t number)
{
    int32_t ranks = mpi_job->capacity;

    return number < ranks ? &virtual.ranks[number].own : virtual.threads[number - ranks];
}

/* Callback of the job, on the driver: until the rank, or the thread, yields again. */
static void run(void *owner, int32_t proc)
{
    virtual_turn_t *turn = turn_of(proc);

    (void)owner;
    turn->has_turn = true;
    if (turn->thread != NULL) {
        xy_visitor_lend_turn(turn->thread->fiber);
        return;
    }
    xy_fiber_ready(mpi_job->ranks[proc].fiber);
    xy_fiber_park();
}

static void (*visitor)(void); /* of the rank that continues; or NULL */

static void await_turn(mpi_rank_t *self)
{
    const virtual_turn_t *turn = &virtual.ranks[self->world].own;

    while (!turn->has_turn) {
        xy_fiber_park();
        if (__builtin_expect(visitor != NULL, 0))
            visitor();
    }
}

static void visit(mpi_rank_t *rank, void (*function)(void))
{
    if (virtual.ranks[rank->world].own.has_turn)
        return;
    visitor = function;
    xy_fiber_jump(rank->fiber);
}

void virtual_give_way(mpi_rank_t *self)
{
    virtual_turn_t *turn = virtual_turn(self);

    turn->has_turn = false;
    if (turn->thread != NULL) {
        xy_visitor_return_turn(turn->thread->fiber);
        xy_visitor_await_turn(turn->thread->fiber);
        return;
    }
    xy_fiber_ready(virtual.driver);
    await_turn(self);
}

void virtual_fail(void)
{
    mpi_job->abort(1);
    abort(); /* not reached: the launcher ended the process */
}

static void drive(void *unused)
{
    (void)unused;
    if (xy_vjob_run(virtual.job) != XY_OK)
        virtual_fail();
}

/* Callback of the job, on the driver. */
static void stuck(void *owner)
{
    (void)owner;
    virtual_note_over();
    mpi_layers_stuck();
    virtual.stuck();
}

/* ---- What code costs ---- */

static int64_t clock_read(clockid_t clock)
{
    struct timespec t;

    mpi_job->reads_real_time = true;
    clock_gettime(clock, &t);
    mpi_job->reads_real_time = false;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The part of a clock's reading that the reading itself takes: the least of many. */
static int64_t clock_ns(clockid_t clock)
{
    int64_t least = INT64_MAX, last = clock_read(clock);

    for (int i = 0; i < 1000; i++) {
        int64_t now = clock_read(clock);

        if (now - last < least)
            least = now - last;
        last = now;
    }
    return least;
}

static bool is_timed(void)
{
    return virtual.config->compute == VIRTUAL_COMPUTE_TIMED;
}

/* Once: what a call begins in its course comes here, too, after others have run meanwhile. */
static void note_code(virtual_turn_t *turn)
{
    if (!is_timed() || turn->since.wall == 0)
        return;
    turn->ahead += virtual.ranks[turn->rank->world].factor * 1e-9 *
                   (double)virtual_code_ns(clock_read, turn->since, virtual.looks);
    turn->since.wall = 0;
}

void virtual_enter(mpi_rank_t *self)
{
    virtual_turn_t *turn = virtual_turn(self);
    double seconds;

    note_code(turn);
    seconds = turn->ahead;
    turn->ahead = 0;
    if (seconds > 0 && !xy_vjob_compute(virtual.job, turn->number, seconds))
        virtual_give_way(self);
}

void virtual_leave(mpi_rank_t *self)
{
    if (!is_timed())
        return;
    if (virtual.looks.processor == 0) {
        virtual.looks.processor = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        virtual.looks.wall = clock_ns(CLOCK_MONOTONIC);
    }
    virtual_turn(self)->since = virtual_code_begin(clock_read);
}

/* ---- The clock ---- */

/* The rank's time. Code that runs now is noted; a rank in a call that waits has none. */
static double peek(mpi_rank_t *self)
{
    virtual_turn_t *turn = virtual_turn(self);

    if (is_timed() && turn->since.wall != 0) {
        note_code(turn);
        turn->since = virtual_code_begin(clock_read);
    }
    return xy_vjob_now(virtual.job, turn->number) + turn->ahead;
}

static double now(mpi_rank_t *self)
{
    virtual_turn_t *turn = virtual_turn(self);

    note_code(turn);
    if (is_timed())
        turn->since = virtual_code_begin(clock_read);
    turn->ahead += VIRTUAL_CLOCK_SECONDS;
    return xy_vjob_now(virtual.job, turn->number) + turn->ahead;
}

static void rest(mpi_rank_t *self, double seconds, bool parks)
{
    if (!parks) {
        virtual_turn(self)->ahead += seconds > 0 ? seconds : 0;
        return;
    }
    virtual_enter(self);
    if (!xy_vjob_sleep(virtual.job, virtual_number(self), seconds > 0 ? seconds : 0))
        virtual_give_way(self);
    virtual_leave(self);
}

void virtual_look(mpi_rank_t *self)
{
    rest(self, virtual.config->job.costs.test, true);
}

void xylem_compute(double seconds)
{
    mpi_rank_t *self = mpi_self != NULL ? mpi_self : mpi_thread_owner;

    if (self != NULL && mpi_job->clock != NULL)
        rest(self, seconds, false);
}

static void begin_rank(mpi_rank_t *self)
{
    await_turn(self);
    virtual_leave(self);
}

static void end_rank(mpi_rank_t *self)
{
    virtual_enter(self);
    xy_vjob_finish(virtual.job, self->world);
    xy_fiber_ready(virtual.driver);
}

static void note_call(mpi_rank_t *self)
{
    const char *name = self->call.name;

    if (virtual.config->compute == VIRTUAL_COMPUTE_TRACE && name != NULL)
        virtual_turn(self)->ahead += virtual_times_before(self->world, name);
    virtual_enter(self);
    if (virtual.trace != NULL)
        xy_vjob_set_call(virtual.job, virtual_number(self),
                         name != NULL ? xy_trace_label(virtual.trace, name) : 0);
    virtual_leave(self);
}

static uint32_t find_site(const char *name)
{
    return xy_trace_site(virtual.trace, name);
}

static void note_step(mpi_rank_t *self, uint32_t site)
{
    if (virtual.trace != NULL)
        xy_vjob_step(virtual.job, virtual_number(self), site);
}

static void note_collective(mpi_rank_t *self, const xy_trace_collective_t *part)
{
    if (virtual.trace != NULL)
        xy_vjob_step_collective(virtual.job, virtual_number(self), part);
}

/* ---- Threads ---- */

/* The turns of number `number` of the job; ends the job without memory. */
static virtual_turn_t *take_turn(mpi_rank_t *self, int32_t number)
{
    virtual_turn_t **place = &virtual.threads[number - mpi_job->capacity];

    if (*place == NULL)
        *place = xy_malloc(sizeof(**place));
    if (*place == NULL) {
        xy_fail_memory("making a thread");
        virtual_fail();
    }
    **place =
        (virtual_turn_t){.rank = self,
                         .number = number,
                         .thread = mpi_thread_make(self, xy_vjob_thread_of(virtual.job, number))};
    return *place;
}

/* Make a thread of the caller's rank, which takes its turns from now on; ends the job if there are
 * too many. */
static void *make_thread(mpi_rank_t *self)
{
    virtual_turn_t *turn;
    int32_t number;

    if (virtual.threads == NULL)
        virtual.threads = xy_calloc(VIRTUAL_THREADS, sizeof(virtual_turn_t *));
    if (virtual.threads == NULL) {
        xy_fail_memory("making a thread");
        virtual_fail();
    }
    virtual_enter(self);
    if (xy_vjob_thread(virtual.job, virtual_number(self), &number) != XY_OK)
        virtual_fail();
    turn = take_turn(self, number);
    virtual_leave(self);
    return turn;
}

static void begin_thread(void *thread)
{
    virtual_turn_t *turn = thread;

    virtual_thread = turn;
    mpi_thread_begin_turns(turn->thread);
    virtual_leave(turn->rank);
}

/* Its computation was charged, and others may know by now that it ends. */
static void end_thread(void *thread)
{
    const virtual_turn_t *turn = thread;

    xy_vjob_finish(virtual.job, turn->number);
    virtual_thread = NULL;
    mpi_thread_end_turns(turn->thread);
}

static void *here(mpi_rank_t *self)
{
    return virtual_turn(self);
}

static void block(mpi_rank_t *self, double seconds)
{
    virtual_turn(self)->since.wall = 0;
    if (!xy_vjob_block(virtual.job, virtual_number(self), seconds))
        virtual_give_way(self);
    virtual_leave(self);
}

static void wake(mpi_rank_t *self, void *other)
{
    xy_vjob_wake(virtual.job, virtual_number(self), ((const virtual_turn_t *)other)->number);
}

static const mpi_clock_t virtual_clock = {.begin = begin_rank,
                                          .end = end_rank,
                                          .call = note_call,
                                          .site = find_site,
                                          .step = note_step,
                                          .collective = note_collective,
                                          .now = now,
                                          .peek = peek,
                                          .tick = 1e-9,
                                          .sleep = rest,
                                          .look = virtual_look,
                                          .thread_make = make_thread,
                                          .thread_begin = begin_thread,
                                          .thread_end = end_thread,
                                          .here = here,
                                          .block = block,
                                          .wake = wake,
                                          .visit = visit};

/* ---- Ranks that begin while the job runs ---- */

/* Set the factor of each rank's code, which depends on the other ranks of its node. */
static void set_factors(const mpi_job_t *job)
{
    const virtual_config_t *c = virtual.config;

    for (int r = 0; r < job->size; r++)
        virtual.ranks[r].factor = (c->factor_of != NULL ? c->factor_of[r] : c->factor) *
                                  xy_vjob_code_pace(virtual.job, r);
}

void mpi_virtual_start(mpi_rank_t *self, const int *ranks, int count)
{
    virtual_enter(self);
    for (int i = 0; i < count; i++) {
        virtual_rank_t *rank = &virtual.ranks[ranks[i]];

        rank->own.ahead = 0;
        rank->own.has_turn = false;
        if (xy_vjob_start(virtual.job, self->world, ranks[i],
                          virtual.config->job.core_of[ranks[i]]) != XY_OK)
            virtual_fail();
    }
    if (is_timed())
        set_factors(mpi_job);
    virtual_leave(self);
}

bool mpi_virtual_is_over(int rank)
{
    return xy_vjob_is_over(virtual.job, rank);
}

int mpi_virtual_node(int rank)
{
    return xy_vjob_node(virtual.job, rank);
}

int mpi_virtual_core(int rank)
{
    return xy_vjob_core(virtual.job, rank);
}

/* ---- Beginning and end of the job ---- */

static xy_status_t start_trace(const virtual_config_t *config)
{
    xy_trace_options_t options = {.title = config->title, .clock = XY_TRACE_VIRTUAL};

    return config->trace != NULL ? xy_trace_create(config->trace, &options, &virtual.trace) : XY_OK;
}

/* Create the simulated job with the callbacks of this runtime. */
static xy_status_t make_job(const virtual_config_t *config)
{
    xy_vjob_config_t c = config->job;

    c.run = run;
    c.capture = virtual_capture;
    c.copy = virtual_copy;
    c.drop = virtual_drop;
    c.unready = virtual_refuse_unready;
    c.stuck = stuck;
    c.trace = virtual.trace;
    c.has_steps = true;
    c.room = mpi_job->capacity;
    c.threads = VIRTUAL_THREADS;
    return xy_vjob_create(&c, &virtual.job);
}

/* Begin of a job: in virtual time, create the simulated job and its driver and replace the engines.
 */
static xy_status_t begin(mpi_job_t *job, const mpi_job_config_t *c)
{
    const virtual_config_t *config = c->in_virtual_time;
    xy_status_t st;

    if (config == NULL)
        return XY_OK;
    virtual = (virtual_t){.config = config, .worker = &job->worker[0], .stuck = c->stuck};
    virtual.ranks = xy_calloc((size_t)job->capacity, sizeof(*virtual.ranks));
    for (int r = 0; virtual.ranks != NULL && r < job->capacity; r++)
        virtual.ranks[r].own = (virtual_turn_t){.rank = &job->ranks[r], .number = r};
    st = virtual.ranks != NULL ? start_trace(config) : xy_fail_memory("making the ranks");
    if (st == XY_OK && config->compute == VIRTUAL_COMPUTE_TRACE)
        st = virtual_times_read(config->times, job->size, job->capacity);
    if (st == XY_OK)
        st = make_job(config);
    if (st == XY_OK)
        set_factors(job);
    if (st == XY_OK)
        st = xy_fiber_create(job->worker[0].base, drive, NULL, &virtual.driver);
    if (st != XY_OK)
        return st;
    job->clock = &virtual_clock;
    job->is_apart = true;
    mpi_p2p_engine = &virtual_messages;
    coll_engine_register(&virtual_colls);
    return XY_OK;
}

static void end(mpi_job_t *job)
{
    (void)job;
    xy_vjob_destroy(virtual.job);
    for (int i = 0; virtual.threads != NULL && i < VIRTUAL_THREADS; i++)
        xy_free(virtual.threads[i]);
    xy_free(virtual.threads);
    xy_free(virtual.ranks);
    mpi_p2p_engine = NULL;
    virtual = (virtual_t){0};
}

const mpi_layer_t mpi_virtual_layer = {.job_begin = begin, .job_end = end};
