/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock of a job in virtual time (src/mpi/virtual), which ranks use instead of the kernel's. A
 * job in real time has none, and mpi_job->clock is NULL.
 *
 * Ranks run one at a time, on one worker. A rank that asks for nothing but the time continues at
 * once: the time of its code and its clock readings is charged to it, and visible to other ranks
 * when it next communicates or sleeps.
 */
#ifndef XY_MPI_RUNTIME_JOB_CLOCK_H
#define XY_MPI_RUNTIME_JOB_CLOCK_H

#include "mpi/runtime/rank.h"

struct xy_trace_collective; /* trace/record.h */

typedef struct mpi_clock {
    /* The fiber of `self` begins: it yields until its turn comes. And it ends. */
    void (*begin)(mpi_rank_t *self);
    void (*end)(mpi_rank_t *self);
    /* `self` enters a call or leaves it (self->call); for traces. */
    void (*call)(mpi_rank_t *self);
    /* A place that calls are made from (xy_trace_site); the call that `self` has entered stands
     * there; its part in a collective. Nothing without a trace. */
    uint32_t (*site)(const char *name);
    void (*step)(mpi_rank_t *self, uint32_t site);
    void (*collective)(mpi_rank_t *self, const struct xy_trace_collective *part);
    /* Seconds since the job began, for `self`. A look takes some time, so that a rank that waits
     * for a moment in a loop reaches it. */
    double (*now)(mpi_rank_t *self);
    /* The same without taking time, for those who look at the rank. */
    double (*peek)(mpi_rank_t *self);
    double tick; /* seconds: the smallest difference that `now` shows */
    /* `self` does nothing for so long. `parks`: others run meanwhile; otherwise the time is charged
     * to it, for callers that must not yield. */
    void (*sleep)(mpi_rank_t *self, double seconds, bool parks);
    /* `self` looked for something that has not happened yet (MPI_Test, MPI_Iprobe, sched_yield):
     * that took some time, in which others run. */
    void (*look)(mpi_rank_t *self);
    /* Threads of a rank take turns with it and with all others. A thread of `self` is made by the
     * one that has the turn; thread_begin, on the thread, returns when it has its first one, and
     * thread_end gives the last one back. `here` is the calling thread, or the rank itself; it
     * leaves its turn until another one wakes it, or for so many seconds (INFINITY: no limit).
     * thread_end, block and wake take the time of the caller as its last sleep has left it. */
    void *(*thread_make)(mpi_rank_t *self);
    void (*thread_begin)(void *thread);
    void (*thread_end)(void *thread);
    void *(*here)(mpi_rank_t *self);
    void (*block)(mpi_rank_t *self, double seconds);
    void (*wake)(mpi_rank_t *self, void *other);
    /* In a copy of a process that has crashed: call a function that does not return on the stack of
     * a rank that waits. Returns if it does not. */
    void (*visit)(mpi_rank_t *rank, void (*function)(void));
} mpi_clock_t;

/* A look that found nothing: other ranks run. */
static inline void mpi_clock_look(mpi_rank_t *self)
{
    if (__builtin_expect(mpi_job->clock != NULL, 0))
        mpi_job->clock->look(self);
    else
        xy_fiber_yield();
}

#endif
