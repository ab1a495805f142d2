/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual time: the ranks of a job are the processes of a simulated one (sim/job.h).
 *
 * The program runs unchanged, on one worker; the simulated job gives the costs of its messages and
 * collectives, and their order. Its event loop runs in a fiber of its own, the driver, and is the
 * scheduler: it lets one rank continue at a time, until a call has to wait for the clock.
 *
 *   driver: xy_vjob_run -> run(p): ready the fiber of p, park     (drive.c)
 *   rank p: ... xy_vjob_wait is false: ready the driver, park
 *
 * The rest of the library uses it through three tables: the clock of the job (runtime/job_clock.h),
 * the engine of messages (p2p/p2p_engine.h) and that of collectives (coll.h).
 *
 *   drive.c     the driver, turns, the clock, what code costs
 *   virtual_messages.c  point to point: requests, data, probes
 *   colls.c     collectives and agreements; data.h their data
 *   virtual_remote.c    one-sided: when accesses to the memory of others are complete
 *   virtual_kernels.c   functions whose time is known
 *   times.c     the times of a run that was traced
 *   virtual_report.c    what the run took
 */
#ifndef XY_MPI_VIRTUAL_VIRTUAL_H
#define XY_MPI_VIRTUAL_VIRTUAL_H

#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"
#include "place/place.h"
#include "sim/sim.h"

/* The cost of the code of ranks between calls. */
typedef enum {
    VIRTUAL_COMPUTE_NONE,  /* nothing */
    VIRTUAL_COMPUTE_TIMED, /* its processor time here, times a factor */
    VIRTUAL_COMPUTE_MODEL, /* kernels by their models; the rest nothing */
    VIRTUAL_COMPUTE_TRACE, /* its time in a run that was traced */
} virtual_compute_t;

/* A function of another library that takes so long, whatever it takes here. */
typedef struct {
    const char *name;
    double seconds;
} virtual_call_t;

/* A look at a clock takes so long, seconds. */
#define VIRTUAL_CLOCK_SECONDS 25e-9

typedef struct virtual_config {
    xy_vjob_config_t job; /* all but the callbacks and the trace */
    virtual_compute_t compute;
    double factor;
    /* [capacity], as job.core_of is: what belongs to spawned ranks is set before they begin. */
    const double *factor_of;       /* instead, by the cluster of each; or NULL */
    const char *const *cluster_of; /* for the models; NULL: its machine has none */
    const virtual_call_t *calls;
    size_t call_count;
    const char *times;         /* the trace to take times from, or NULL */
    const char *trace, *title; /* a file to write, or NULL */
} virtual_config_t;

/* For the symbols of programs: `found`, or a stub that charges what the function takes. */
void mpi_virtual_set_kernels(const virtual_config_t *config);
void *mpi_virtual_substitute(const char *name, void *found);
/* Is it a function that has such a stub? */
bool mpi_virtual_is_simulated(const char *name);

/* The machine, and [size] the core of each rank there. */
const xy_machine_t *mpi_virtual_machine(const int32_t **core_of_p);
/* The run has ended: its times as text or as JSON. */
void mpi_virtual_say(FILE *file);
void mpi_virtual_print_json(FILE *file);
/* For `mpiexec --adapt`: seconds; the part of them that the rank that computes (or sleeps) most
 * does not; and the collectives that have a choice, as xy_vjob_calls_t. */
double mpi_virtual_seconds(void);
double mpi_virtual_share(void);
xy_status_t mpi_virtual_calls(xy_vec_t *calls);
/* The time of one of them alone by this algorithm. */
xy_status_t mpi_virtual_try(const xy_vjob_calls_t *calls, const xy_coll_algorithm_t *algorithm,
                            double *seconds_p);
/* The bytes sent between each pair of ranks, collectives included. On success the caller owns
 * *matrix_p. */
xy_status_t mpi_virtual_matrix(xy_matrix_t **matrix_p);
/* Messages of collectives become part of the counts of the monitor. */
xy_status_t mpi_virtual_monitor(mpi_job_t *job);
/* The trace is complete. Nothing to do without one. */
xy_status_t mpi_virtual_finish_trace(void);

/* The node and the core of the virtual machine that the rank is on; in virtual time only. */
int mpi_virtual_node(int rank);
int mpi_virtual_core(int rank);

/* Questions of the deadlock detection, while no rank runs. */

/* Is nothing under way to the rank? */
bool mpi_virtual_is_quiet(const mpi_rank_t *rank);
/* Is it a receive that no message has met? */
bool mpi_virtual_is_unmet(const mpi_request_t *request);
/* Does the rank probe, and has no message come that it may take? */
bool mpi_virtual_is_probing(const mpi_rank_t *rank);
/* Counts messages that were sent to the rank, and receives that it has started. */
uint64_t mpi_virtual_order(const mpi_rank_t *rank);
/* The messages that have come to the rank without a receive; that of a send request is its
 * `engine`.
 */
void mpi_virtual_each_unmet(const mpi_rank_t *rank, void (*found)(void *user, const void *message),
                            void *user);

/* The messages to the rank that it has neither received nor taken, also those that are under way,
 * in the order of their sends; `found` is false: no more of them. */
void mpi_virtual_each_left(const mpi_rank_t *rank,
                           bool (*found)(void *user, const mpi_left_t *message), void *user);

/* Ranks that were made (mpi_spawner_t) begin: `self` starts one after the other, which takes time.
 */
void mpi_virtual_start(mpi_rank_t *self, const int *ranks, int count);
/* Has the clock passed the end of that rank, or was it never there? */
bool mpi_virtual_is_over(int rank);

/* One-sided operations, in virtual time only: their data moves at once, and what they take is
 * charged. The ranks are world ranks. */

/* Before an operation: whatever other ranks do earlier by the clock is done. May park. */
void mpi_virtual_sync(mpi_rank_t *self);

typedef struct {
    int target;
    uint64_t there;   /* bytes to the target */
    bool is_answered; /* the origin needs what comes back: */
    uint64_t back;    /* ... so many bytes */
    bool is_hidden;   /* no message of the program */
} mpi_virtual_access_t;

/* Charge an operation; when it will be over. */
double mpi_virtual_access(mpi_rank_t *self, const mpi_virtual_access_t *access);
/* The rank waits until then. */
void mpi_virtual_until(mpi_rank_t *self, double time);
/* `request` (XMPI_KIND_REMOTE) is complete then. */
void mpi_virtual_request(mpi_rank_t *self, mpi_request_t *request, double time);

extern const mpi_layer_t mpi_virtual_layer;

#endif
