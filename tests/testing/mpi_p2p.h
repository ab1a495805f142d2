/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For unit tests of the layers from here on: run a function as n ranks on w workers, in this
 * process, with MPI initialised.
 */
#ifndef XY_TESTING_MPI_P2P_H
#define XY_TESTING_MPI_P2P_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include "mpi.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

/* These tests run the whole library, whose top is defined in bindings/layers.c and
 * check/deadlock.c; headers of higher layers are not included here. */
extern const mpi_layer_t *const mpi_layers[];
void mpi_job_report(const mpi_job_t *job, int at_most);

/* assert_* of cmocka jumps, which a fiber must not do: say it and stop. */
#define CHECK(condition)                                                                           \
    ((condition) ? (void)0                                                                         \
                 : (fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__, __LINE__,                    \
                            mpi_self ? mpi_self->world : -1, #condition),                          \
                    abort()))

static void ranks_abort(int code)
{
    fprintf(stderr, "the job was aborted with code %d\n", code);
    abort();
}

static void ranks_stuck(void)
{
    fprintf(stderr, "deadlock\n");
    mpi_job_report(mpi_job, 10);
    abort();
}

static void ranks_overflow(mpi_rank_t *rank)
{
    fprintf(stderr, "rank %d ran over its stack\n", rank->world);
    abort();
}

static void (*ranks_body)(int rank, int size);

static void ranks_main(void *arg)
{
    int rank, size;

    (void)arg;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ranks_body(rank, size);
    MPI_Finalize();
    mpi_go_inside(mpi_self); /* the worker continues without it */
}

/* Communication cores of the next jobs, and how nonblocking collectives move. */
static int ranks_comm_workers;
static mpi_settings_t ranks_settings = {.split = XMPI_SPLIT_OFF};
static const int *const *ranks_thread_worker_of;
static mpi_node_t ranks_node;
/* Called before the ranks of a job run, and after; or NULL. */
static void (*ranks_prepare)(mpi_job_t *job);
static void (*ranks_finish)(mpi_job_t *job);

/* Ranks are dealt in blocks to the workers (`spread` 0) or round robin (1). */
static inline void run_ranks(int n, int workers, int spread, size_t eager, void (*body)(int, int))
{
    int *worker_of = malloc((size_t)n * sizeof(int));
    mpi_job_config_t c = {.layers = mpi_layers,
                          .size = n,
                          .workers = workers + ranks_comm_workers,
                          .comm_workers = ranks_comm_workers,
                          .settings = &ranks_settings,
                          .thread_worker_of = ranks_thread_worker_of,
                          .node = ranks_node,
                          .yield_on_start = true,
                          .worker_of = worker_of,
                          .stack_size = 256 << 10,
                          .eager_limit = eager,
                          .spin_seconds = 20e-6,
                          .overflow = ranks_overflow,
                          .abort = ranks_abort,
                          .stuck = ranks_stuck};
    mpi_job_t *job;

    for (int r = 0; r < n; r++)
        worker_of[r] = spread ? r % workers : (int)((long)r * workers / n);
    ranks_body = body;
    assert_int_equal(mpi_job_create(&c, &job), XY_OK);
    for (int r = 0; r < n; r++)
        assert_int_equal(mpi_rank_start(job, r, ranks_main, NULL), XY_OK);
    if (ranks_prepare != NULL)
        ranks_prepare(job);
    assert_int_equal(xy_pool_run(job->pool), XY_OK);
    if (ranks_finish != NULL)
        ranks_finish(job);
    mpi_job_destroy(job);
    free(worker_of);
}

#endif
