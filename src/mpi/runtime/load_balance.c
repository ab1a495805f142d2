/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/load_balance.h"

#include <string.h>

#include "place/place.h"
#include "trace/trace.h"

/* A window ends when each rank has run so often, or after so many times its least length. */
enum { TURNS = 4, LONGEST = 40 };
#define GOAL         1.01  /* load of the heaviest core, by the mean, that is good enough */
#define MOVE_SECONDS 50e-6 /* with its caches */

/* Under mpi_moves_t.is_balancing; `load` are parts of the time of a core. */
static struct {
    uint64_t *ticks; /* [ranks]: at the beginning of the window */
    uint32_t *turns;
    double *load[2]; /* [ranks]: of this window and the one before */
    double *mean;
    bool *stays;
    uint32_t *core_of;
    double *carried; /* [cores] */
    uint64_t begin, length;
    int windows; /* since a rank was moved */
    double seconds_per_tick;
    double first_work, work; /* of the heaviest cores, had no rank moved, and as it was; ticks */
    mpi_balance_result_t result;
} balance;

static uint64_t ticks_of(const mpi_job_t *job, int r)
{
    return atomic_load_explicit(&job->moves->load[r].ticks, memory_order_relaxed);
}

static uint32_t turns_of(const mpi_job_t *job, int r)
{
    return atomic_load_explicit(&job->moves->load[r].turns, memory_order_relaxed);
}

/* Where a rank is, or will be. */
static uint32_t core_of(const mpi_job_t *job, int r)
{
    int wanted = atomic_load_explicit(&job->ranks[r].wanted, memory_order_relaxed);

    return (uint32_t)(wanted > 0 ? wanted - 1 : mpi_core_of(job, r));
}

static double heaviest(const mpi_job_t *job, const double *load,
                       uint32_t (*core)(const mpi_job_t *, int))
{
    double most = 0;

    memset(balance.carried, 0, (size_t)job->moves->cores * sizeof(double));
    for (int r = 0; r < job->size; r++)
        balance.carried[core(job, r)] += load[r];
    for (int c = 0; c < job->moves->cores; c++)
        most = balance.carried[c] > most ? balance.carried[c] : most;
    return most;
}

static uint32_t first_core(const mpi_job_t *job, int r)
{
    return (uint32_t)job->moves->first_core[r];
}

static uint32_t new_core(const mpi_job_t *job, int r)
{
    (void)job;
    return balance.core_of[r];
}

/* Has each rank run often enough for its part of the time to mean something? */
static bool is_whole(const mpi_job_t *job, uint64_t now)
{
    if (now - balance.begin >= LONGEST * job->moves->period)
        return true;
    for (int r = 0; r < job->size; r++)
        if (job->ranks[r].phase != XMPI_RANK_FINALIZED &&
            turns_of(job, r) - balance.turns[r] < TURNS)
            return false;
    return true;
}

static void begin_window(const mpi_job_t *job, uint64_t now)
{
    for (int r = 0; r < job->size; r++) {
        balance.ticks[r] = ticks_of(job, r);
        balance.turns[r] = turns_of(job, r);
    }
    balance.begin = now;
}

/* The loads of the window that ends now. */
static void end_window(const mpi_job_t *job, uint64_t now)
{
    double *load = balance.load[1];

    balance.load[1] = balance.load[0];
    balance.load[0] = load;
    balance.length = now - balance.begin;
    for (int r = 0; r < job->size; r++)
        load[r] = (double)(ticks_of(job, r) - balance.ticks[r]) / (double)balance.length;
    balance.first_work += heaviest(job, load, first_core) * (double)balance.length;
    balance.work += heaviest(job, load, core_of) * (double)balance.length;
    balance.windows++;
    balance.result.windows++;
}

/* Would the new assignment have been worth its moves in each of both windows? */
static bool is_worth(const mpi_job_t *job, uint32_t moved)
{
    double cost = moved * MOVE_SECONDS / (balance.seconds_per_tick * (double)balance.length);

    for (int w = 0; w < 2; w++) {
        double before = heaviest(job, balance.load[w], core_of);
        double gain = before - heaviest(job, balance.load[w], new_core);

        if (gain <= XMPI_BALANCE_GAIN * before || gain <= XMPI_BALANCE_GAIN / 2 || gain <= cost)
            return false;
    }
    return true;
}

/* Find a better assignment by the mean of both windows. */
static bool refine(const mpi_job_t *job)
{
    xy_refine_load_t r = {.n = (uint32_t)job->size,
                          .cores = (uint32_t)job->moves->cores,
                          .load = balance.mean,
                          .stays = balance.stays,
                          .core_of = balance.core_of,
                          .goal = GOAL};

    for (int i = 0; i < job->size; i++) {
        balance.mean[i] = (balance.load[0][i] + balance.load[1][i]) / 2;
        balance.core_of[i] = core_of(job, i);
        balance.stays[i] = mpi_move_why_not(&job->ranks[i]) != NULL;
        if (balance.stays[i] && balance.mean[i] > XMPI_BALANCE_GAIN)
            balance.result.stays = i;
    }
    return xy_refine_load(&r) == XY_OK && r.moved > 0 && is_worth(job, r.moved);
}

/* Called now and then: end the window if it is long enough, and let ranks move. */
static void look(mpi_job_t *job, uint64_t now)
{
    if (balance.begin == 0) {
        begin_window(job, now);
        return;
    }
    if (!is_whole(job, now))
        return;
    end_window(job, now);
    if (balance.windows >= 2 && refine(job)) {
        for (int r = 0; r < job->size; r++)
            if (balance.core_of[r] != core_of(job, r)) {
                mpi_move_want(job, r, (int)balance.core_of[r]);
                balance.result.moves++;
            }
        balance.result.decisions++;
        balance.windows = 0;
    }
    begin_window(job, now);
}

static double measure_tick(void)
{
    double begin = xy_now();
    uint64_t ticks = xy_trace_clock();

    while (xy_now() - begin < 1e-3)
        continue;
    return (xy_now() - begin) / (double)(xy_trace_clock() - ticks);
}

xy_status_t mpi_balance_begin(mpi_job_t *job)
{
    size_t n = (size_t)job->size;

    balance.ticks = xy_calloc(n, sizeof(*balance.ticks));
    balance.turns = xy_calloc(n, sizeof(*balance.turns));
    balance.load[0] = xy_calloc(n, sizeof(double));
    balance.load[1] = xy_calloc(n, sizeof(double));
    balance.mean = xy_calloc(n, sizeof(double));
    balance.stays = xy_calloc(n, sizeof(bool));
    balance.core_of = xy_calloc(n, sizeof(*balance.core_of));
    balance.carried = xy_calloc((size_t)job->moves->cores, sizeof(double));
    if (balance.ticks == NULL || balance.turns == NULL || balance.load[0] == NULL ||
        balance.load[1] == NULL || balance.mean == NULL || balance.stays == NULL ||
        balance.core_of == NULL || balance.carried == NULL)
        return xy_fail_memory("balancing ranks");
    balance.result.stays = -1;
    balance.seconds_per_tick = measure_tick();
    job->moves->ticks_per_ns = 1e-9 / balance.seconds_per_tick;
    job->moves->period = (uint64_t)(1e-3 * XMPI_BALANCE_MS / balance.seconds_per_tick);
    job->moves->balance = look;
    return XY_OK;
}

void mpi_balance_result(mpi_job_t *job, mpi_balance_result_t *result)
{
    (void)job;
    *result = balance.result;
    result->gain = balance.work > 0 ? balance.first_work / balance.work : 1;
}

void mpi_balance_end(void)
{
    xy_free(balance.ticks);
    xy_free(balance.turns);
    xy_free(balance.load[0]);
    xy_free(balance.load[1]);
    xy_free(balance.mean);
    xy_free(balance.stays);
    xy_free(balance.core_of);
    xy_free(balance.carried);
    memset(&balance, 0, sizeof(balance));
}
