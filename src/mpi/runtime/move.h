/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that move between the cores of a process.
 *
 *   mpi_move_want(job, 3, 1);       (any thread: rank 3 is to go to core 1)
 *
 * Where ranks may move (mpi_job_config_t.cores), each rank has a worker of its own: rings to and
 * from all other ranks, matching, requests, parts of collectives. They stay as they are for
 * life. What changes is the core, the kernel thread that runs the fiber of the rank and handles its
 * packets. A core is on several workers in turn, as a thread is on several fibers. So a message
 * knows nothing of cores: no queue is handed over, no sender learns anything, and the order between
 * two ranks is that of the ring between them.
 *
 *   core A (poll function, own stack)           core B (poll function)
 *   A1 its rank waits in an MPI call?
 *   A2 take it out of the list of the core
 *   A3 the fiber leaves the ready list
 *   A4 save its thread-local variables
 *   A5 post it to B (release), ring B    -->    B1 take it (acquire)
 *                                               B2 base and the readers of its rings := B
 *                                               B3 addresses on its stack become those of B
 *                                               B4 into the list of the core; ready if it was
 *
 * Between A2 and B4 nobody polls for the rank, as when its core computes. Its packets wait in the
 * rings, and one who waits for room there finds it as soon as B polls: B takes the ranks that come
 * in its poll function, which those who wait on B call as well.
 *
 * No post is lost. A sender writes a packet and then reads who the reader is; B sets the reader in
 * B2, and each time before it sleeps makes all threads pass a fence and looks again
 * (fiber/sleep.c). If the sender has read A, it wrote the packet before that fence and B sees it;
 * else it rings B. When a rank comes in that last look, B stays awake: the fence was before B2.
 * This needs membarrier: without it ranks stay. tests/models/move.pml is the model.
 *
 * What must be so in A1: the rank is in an MPI call, and its fiber is parked for requests or ready
 * (xy_fiber_may_leave), not in the C library, and not on its way to a file; it has no threads,
 * which would stay behind. A core waits on its thread's own stack, so no stack of a rank is in use
 * then (xy_pool_config_t.hands_over).
 *
 * The program must not have kept the address of a thread-local variable outside of its stack, in
 * the heap or in a static variable, over an MPI call; and no lock that belongs to a thread.
 *
 * Communication cores, progress threads, several processes, threads that call MPI and virtual time
 * have a core that is theirs in other ways: the launcher does not let ranks move there.
 */
#ifndef XY_MPI_RUNTIME_MOVE_H
#define XY_MPI_RUNTIME_MOVE_H

#include "mpi/runtime/rank.h"

/* A kernel thread with the workers of the ranks on it. */
typedef struct mpi_core {
    mpi_worker_t own; /* first: the worker of code that runs for the core; it has no rings */
    int number;
    mpi_worker_t *first; /* the workers of its ranks, by next_here */
    unsigned polls;
    int depth;         /* of calls of mpi_core_poll, which help may nest */
    uint32_t seen;     /* of mpi_moves_t.wanted, */
    bool has_pending;  /* and some could not move then */
    uint64_t random;   /* state of the test hook */
    uint64_t moved;    /* ranks that left */
    mpi_rank_t *runs;  /* the rank that runs, or NULL, */
    uint64_t since;    /* from then on, in ticks */
    uint64_t read_at;  /* when the time that its thread had was read, 0: not, */
    int64_t thread_ns; /* and that time */
    _Alignas(XMPI_LINES) _Atomic(mpi_worker_t *) arrivals; /* by next_here */
} mpi_core_t;

/* The time that a rank has run: its own code and the library's, without waits and without long
 * times in which the kernel ran other programs. Written by its core. */
typedef struct {
    _Alignas(64) _Atomic uint64_t ticks;
    _Atomic uint32_t turns; /* how often it ran */
} mpi_load_t;

typedef struct mpi_moves {
    int cores;
    mpi_core_t *core; /* [cores] */
    int *first_core;  /* [ranks]: the core where each began, which all ranks know alike */
    mpi_load_t *load; /* [ranks] */
    unsigned random;  /* the test hook moves one in so many polls; 0: off */
    _Alignas(XMPI_LINES) _Atomic uint32_t wanted; /* counts the wishes */
    /* Looks at the loads now and then: called by any core, at least `period` ticks after the last
     * call ended, one at a time. NULL: nobody does. */
    void (*balance)(mpi_job_t *job, uint64_t now);
    uint64_t period;
    double ticks_per_ns;
    _Alignas(XMPI_LINES) _Atomic uint64_t next; /* time of the next call */
    _Atomic bool is_balancing;
} mpi_moves_t;

/* Before the ranks are there: the workers of `job`, as many as ranks, on their cores. XY_ENOMEM is
 * silent. */
xy_status_t mpi_moves_create(mpi_job_t *job, const mpi_job_config_t *config);
void mpi_moves_destroy(mpi_job_t *job);

/* Rank `world` is to go to core `core` as soon as it can; a later wish replaces this one. Any
 * thread. */
void mpi_move_want(mpi_job_t *job, int world, int core);
/* The core of a rank; it may change at once. Any thread. Where ranks do not move, its worker. */
int mpi_core_of(const mpi_job_t *job, int world);
/* How many there are. */
static inline int mpi_job_cores(const mpi_job_t *job)
{
    return job->moves != NULL ? job->moves->cores : job->workers;
}
/* Can it never move? Why; NULL: it can. Any thread. */
const char *mpi_move_why_not(const mpi_rank_t *rank);
/* The test hook: from now on ranks move at random, one in `every` polls of a core. */
void mpi_moves_at_random(mpi_job_t *job, unsigned every, uint64_t seed);

/* Functions of the pool. */
bool mpi_core_poll(xy_worker_t *base);
void mpi_core_switched(xy_worker_t *w, mpi_rank_t *next);
void mpi_core_idle(xy_worker_t *w, xy_idle_t what, xy_fiber_t *fiber);

#endif
