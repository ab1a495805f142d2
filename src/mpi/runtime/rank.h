/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job and its ranks.
 *
 * A job is the set of all ranks; a rank is one fiber that runs one private image of the program.
 * Ranks of a job are numbered by their world rank. A rank never leaves its worker (one that moves
 * takes it along: move.h), and everything
 * that belongs to a rank (its matching queues, its requests, its communicator objects) is touched
 * by that worker only: no locks. Requests of other workers travel as packets through the rings
 * (packet.h). Threads of a rank may act for the worker if the program has requested it, one at a
 * time (thread.h).
 */
#ifndef XY_MPI_RUNTIME_RANK_H
#define XY_MPI_RUNTIME_RANK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "fiber/fiber.h"
#include "match/match.h"
#include "mpi/runtime/gate.h"

/* In the context of messages that the program does not see: of calls that make communicators, of
 * neighbourhood collectives, and of partitioned communication (with SHADOW: what its init calls
 * send). */
#define XMPI_CONTEXT_SHADOW      0x80000000u
#define XMPI_CONTEXT_NEIGHBORS   0x40000000u
#define XMPI_CONTEXT_PARTITIONED 0x20000000u
/* Contexts of collectives between processes. */
#define XMPI_CONTEXT_COLLECTIVE (XMPI_CONTEXT_SHADOW | XMPI_CONTEXT_NEIGHBORS)
/* Contexts of communicators are below; each process makes them in a part of that of its own. */
#define XMPI_CONTEXT_END XMPI_CONTEXT_PARTITIONED
/* Communicators with ranks of another job have the upper half of the contexts: see p2p/peer_link.h.
 */
#define XMPI_CONTEXT_FOREIGN (XMPI_CONTEXT_END / 2)
#define XMPI_CONTEXT_BITS    (XMPI_CONTEXT_SHADOW | XMPI_CONTEXT_NEIGHBORS | XMPI_CONTEXT_PARTITIONED)

/* Other jobs that a job may be connected to; ranks of them, and processes, that one of its own
 * processes may know at a time; and the most processes of a job that is connected. */
enum { XMPI_LINKS = 64, XMPI_FOREIGN = 4096, XMPI_PEERS = 256, XMPI_LINK_PROCESSES = 128 };

enum { XMPI_LINES = 128 }; /* bytes that processors may fetch together: two cache lines */

typedef struct mpi_job mpi_job_t;
typedef struct mpi_rank mpi_rank_t;
typedef struct mpi_worker mpi_worker_t;
typedef struct mpi_comm mpi_comm_t;
typedef struct mpi_request mpi_request_t;
typedef struct mpi_layer mpi_layer_t;
typedef struct xy_net xy_net_t; /* net/net.h */

/* The activity of a rank: kept for every MPI call, so that a deadlock or an abort can name it. */
typedef struct {
    const char *name;   /* "MPI_Recv"; NULL: the rank is in its own code */
    const void *caller; /* return address in the program */
    mpi_comm_t *comm;   /* or NULL */
    int peer;           /* rank in comm, MPI_ANY_SOURCE, or MPI_UNDEFINED when there is none */
    int tag;
    uint64_t since; /* when it was entered, where time is counted (account.h) */
} mpi_call_t;

/* One that waits: a rank's fiber, or a thread of it. */
typedef struct mpi_waiter {
    xy_fiber_t *fiber;
    mpi_request_t *const *waits; /* the requests it is parked for, and how many there are */
    int waits_count;             /* set by each park; XMPI_WAITER_SEEN may be added meanwhile */
    int count;                   /* completions still needed before the fiber is readied */
    struct mpi_waiter *next;     /* of those that wait for the same */
} mpi_waiter_t;

/* In `waits_count`: the one that looks for deadlocks has seen it parked. The next park forgets that
 * without a store of its own. */
enum { XMPI_WAITER_SEEN = 1 << 30 };

/* How many requests it is parked for. */
static inline int mpi_waiter_requests(const mpi_waiter_t *waiter)
{
    return waiter->waits_count & ~XMPI_WAITER_SEEN;
}

/* One byte: it is in the first cache line of a rank. */
typedef enum __attribute__((packed)) {
    XMPI_RANK_BEFORE_INIT,
    XMPI_RANK_RUNNING,
    XMPI_RANK_IN_OPERATION, /* the same, in an operation of the program (MPI_Op_create) */
    XMPI_RANK_FINALIZED
} mpi_rank_phase_t;

/* May the rank call MPI? */
static inline bool mpi_phase_is_running(mpi_rank_phase_t phase)
{
    return phase == XMPI_RANK_RUNNING || phase == XMPI_RANK_IN_OPERATION;
}

/* Observers of a rank: bits of `observed` and `watched`. */
typedef enum {
    XMPI_LOOK_RECORD = 1, /* a trace, a listener or --check */
    XMPI_LOOK_LIVE =
        2, /* someone outside, for a while (runtime_live.h); set and cleared by any thread */
    /* For --report, which may stay on: ranks with no other observer take a short way. */
    XMPI_LOOK_ACCOUNT = 4, /* an account */
    XMPI_LOOK_COUNT = 8    /* a monitor, in `watched` only */
} mpi_look_t;

/* Ranks of different workers share no cache line. What every call touches comes first and fits in
 * two: with a thousand ranks on a core, each line is one that has left the caches since. */
struct mpi_rank {
    _Alignas(XMPI_LINES) mpi_worker_t *worker; /* NULL: the rank lives in another process */
    mpi_comm_t *named_world; /* MPI_COMM_WORLD; NULL: the rank has sessions and no MPI_Init */
    struct mpi_trace *trace; /* of its worker, or NULL */
    mpi_gate_t *gate;        /* of its worker, or NULL */
    mpi_waiter_t *waiter;    /* of the thread that is in a call: `own`, unless threads visit */
    mpi_rank_phase_t phase;
    uint8_t observed; /* of mpi_look_t: its calls are looked at; see mpi_is_observed */
    int depth;        /* calls that closed the gate */
    int world;
    int schedules;              /* its collectives that run as schedules, or are timed */
    mpi_call_t call;            /* 40 bytes; of the thread that is in a call */
    struct coll_call *deferred; /* collectives that begin in Wait (progress none) */
    mpi_waiter_t own;
    /* From here on: not in every call. */
    xy_fiber_t *fiber; /* that runs it: its own, or that of the thread that is in a call */
    struct coll_call **deferred_end;
    mpi_waiter_t *probers; /* parked in Probe: any unexpected message readies them */
    int sessions; /* that are open: with one, the rank is RUNNING, else it is what follows */
    bool has_had_session;
    mpi_rank_phase_t world_phase; /* by MPI_Init and MPI_Finalize */
    int thread_level;
    int thread_count;               /* made by the rank, and not ended (thread.c) */
    struct mpi_thread *threads;     /* that have called MPI, once at least */
    struct mpi_thread *main_thread; /* the rank itself, on a thread of its own; or NULL */
    xy_match_t match;
    mpi_comm_t *comm_world, *comm_self;
    mpi_comm_t *comms;             /* its communicators */
    struct process *process;       /* src/process: its image, environment, streams */
    struct mpi_bsend *bsend;       /* attached buffer, or NULL */
    struct mpi_monitor *monitor;   /* counts what it sends, or NULL */
    struct mpi_listener *listener; /* of a tool (observe.h), or NULL */
    struct mpi_account *account;   /* counts its time (account.h), or NULL */
    struct mpi_live *live;         /* its current call, for observers (runtime_live.h), or NULL */
    uint8_t watched;               /* of mpi_look_t: what it sends is looked at */
    double computed, carried;      /* timed: seconds between start and Wait, seconds of transfers */
    const char *fortran; /* the program's variables with special addresses (bindings); or NULL */
    void *env;           /* per-rank lists of the environment part (keyvals, infos, ...) */
    const struct mpi_topic *topic; /* of its next agreement (coll.h); or NULL */
    /* Messages that Mprobe took and that have not been received, in that order. */
    struct mpi_message *first_taken, *last_taken;
    int appnum;                /* number of its program in the job, or in its spawn */
    struct mpi_origin *origin; /* of a rank that was spawned (dynamic/); NULL: it was not, */
    mpi_comm_t *parent;        /* and what it has to those who did it, until it is freed */
    _Atomic int
        wanted; /* where ranks may move: the core that it is to go to, from 1; 0: it stays */
};

enum { XMPI_BUFFER_CLASSES = 10 }; /* 128 bytes to 64 KiB */

/* Mail for a worker's poll function, most recent first: lists that belong to a layer above. */
typedef enum {
    XMPI_MAIL_FINISHED, /* collectives of its ranks that others have finished */
    XMPI_MAIL_THREADS,  /* progress threads with news */
    XMPI_MAIL_COPIES,   /* on a communication core: receives whose bytes it has to copy */
    XMPI_MAIL_FILES,    /* accesses to files that threads have made for its ranks */
    XMPI_MAIL_KINDS
} mpi_mail_kind_t;

/* Memory in a pool. */
typedef struct mpi_pooled {
    struct mpi_pooled *next;
} mpi_pooled_t;

/* One worker's share of the runtime: its rings, its pools. */
struct mpi_worker {
    /* Its thread and the fibers on it; changes only where ranks may move (move.h). */
    _Alignas(XMPI_LINES) _Atomic(xy_worker_t *) base;
    int index;
    struct mpi_ring **in;  /* in[s]: packets from worker s; NULL for s == index */
    struct mpi_ring **out; /* out[d]: packets to worker d */
    bool is_handling;      /* a packet, and cannot wait */
    bool is_helping;       /* it works for others, in no call of the rank that it ran last */
    int spills;            /* rings behind full ones (packet.h) */
    int ends;              /* of processes that failed: all from there is handled (survive.c) */
    unsigned polls;        /* that found fibers ready */
    struct mpi_request *free_requests;
    struct mpi_request *all_requests; /* that were ever made: in use or free */
    bool has_looked_back;             /* for those that were never completed */
    struct mpi_message *free_messages;
    size_t left_bytes;      /* for ranks here, by others here, since one of these let them run */
    struct nbc_core *cores; /* of progress threads that live here and had something to do */
    void *scratch;          /* of collectives, grows on demand */
    size_t scratch_size;
    struct coll_local *owing; /* of those that owe answers to small collectives (coll/star.h) */
    unsigned owing_polls;     /* without anything to do, since then */
    struct mpi_pooled *free_calls; /* memory of nonblocking collectives that are complete */
    void *spare; /* memory that a collective needed last and the next one may take */
    size_t spare_size;
    struct mpi_trace *trace;                 /* its trace; or NULL */
    void *free_buffers[XMPI_BUFFER_CLASSES]; /* of eager messages, by power of two */
    int free_buffer_count[XMPI_BUFFER_CLASSES];
    _Alignas(XMPI_LINES) _Atomic(void *) mail[XMPI_MAIL_KINDS]; /* left by any thread */
    _Atomic(void *) network; /* the same, from other processes: p2p/remote.h */
    mpi_gate_t gate;
    struct mpi_core *core;        /* where ranks may move: the core that it is on, else NULL; */
    mpi_worker_t *next_here;      /* and another one there */
    _Atomic uint64_t progress_ns; /* of polls that found something, while */
    _Atomic int progress_timers;  /* so many want to know (packet.h) */
    _Alignas(XMPI_LINES) _Atomic int is_updating; /* one-sided: see rma/element.h */
};

/* The cores of the job as a node: NUMA nodes of equally many cores, some of which may be unused,
 * for models. Core c is the (c mod cores)-th of NUMA node c / cores. */
typedef struct {
    int numas, cores;
    const int
        *core_of; /* [workers]; -1: a sibling of another. NULL: worker w is on core w of one */
} mpi_node_t;

/* The function that lets ranks continue that wait only because of --check, when no rank can
 * move. */
typedef enum {
    XMPI_REVIVE_RECEIVES = 1,
    XMPI_REVIVE_SENDS = 2,
    XMPI_REVIVE_ALL = XMPI_REVIVE_RECEIVES | XMPI_REVIVE_SENDS
} mpi_revive_t;

typedef struct {
    /* On the worker: let some continue. `cause`: why no rank can move, where those of other
     * processes are asked as well; NULL: it is found out here. False: there are none. */
    bool (*revive)(mpi_revive_t what, const char *cause);
    /* There were none, in no process: it is a deadlock. */
    void (*give_up)(void);
    /* Why no rank can move: mpi_job_t.reports are there. */
    void (*explain)(char *cause, size_t room);
} mpi_reviver_t;

/* A rank that shares its worker wants a thread of its own. Each NULL: none can be had. */
typedef struct {
    /* Begin a thread that calls mpi_thread_carry; and the rank is about to leave that thread. */
    xy_status_t (*detach)(struct process *process);
    void (*attach)(void);
    /* The same for a rank that has not begun, by another one. */
    xy_status_t (*carry)(struct process *process);
} mpi_thread_calls_t;

/* The process of a rank leaves this thread, where it waits; and the addresses of thread-local
 * variables on its stack become those of this thread, to which it has come. */
typedef struct {
    void (*leave)(struct process *process);
    xy_fiber_moved_fn follow;
} mpi_process_calls_t;

struct mpi_job {
    /* Ranks so far: those that were started, then those that were spawned, which get the numbers of
     * others that have ended. Only grows; what is indexed by rank has room for `capacity`. */
    _Atomic int size;
    int started;  /* ranks of the job as it was started */
    int capacity; /* the most that it may have; `started` where none can be spawned */
    /* Ranks of other jobs have the numbers from `capacity` on, where the job may be connected to
     * others: arrays that are indexed by members of groups have room for `numbers`. Those below
     * `foreign` were given once. */
    int numbers;
    _Atomic int foreign;
    int universe; /* for MPI_UNIVERSE_SIZE */
    uint64_t id;  /* no other job has it: for the names of ports */
    int workers;
    mpi_rank_t *ranks; /* by world rank */
    int *home; /* [numbers]: each rank's worker, or workers + its process if that is another one;
                  does not change. Others look here: a rank's own cache lines change with every call
                  it makes */
    int process, processes;   /* this one's number, and how many the job has; ranks are split among
                                 them */
    const int *process_of;    /* [numbers]; NULL: one process. Lives as long as the job. Processes
                                 of other jobs have the numbers from `processes` on, */
    int *foreign_of;          /* and are written here: it is the same array, or NULL. They are
                                 numbers of this process alone, as those of ranks are */
    _Atomic int reach;        /* processes that may have a number: `processes`, or more */
    const char *const *hosts; /* [processes]: where they run, for reports; NULL: not known */
    _Atomic(xy_net_t *) net;  /* to the others; NULL: there are none */
    _Atomic(xy_net_t *) hub;  /* to processes of other jobs (p2p/peer_link.h); NULL: there are none.
                                 In a  job of one process it is `net`, too */
    const int *network_cpu;   /* the PU of the thread that drives it; NULL: any */
    mpi_worker_t *worker;
    struct mpi_moves *moves; /* ranks may move (move.h), and have a worker each; NULL: they stay */
    struct mpi_ring *rings;  /* [workers * workers], from * workers + to */
    xy_pool_t *pool;
    int comm_workers;    /* the last ones: communication cores, without ranks */
    bool yield_on_start; /* a nonblocking start lets the other ranks of its worker reach theirs */
    bool offloads;       /* communication cores make the large copies of nonblocking messages */
    _Atomic bool is_monitored;          /* ranks have monitors */
    struct mpi_settings *settings;      /* of communicators without hints */
    const int *const *thread_worker_of; /* see mpi_job_config_t */
    bool has_progress_threads; /* they move collectives, unless a communicator says otherwise */
    bool measures;             /* computation of ranks between start and Wait */
    size_t eager_limit;        /* bytes; above: rendezvous, one copy */
    size_t eager_between;      /* ... to another process, where its transport sends more at once */
    /* Buffers of eager messages that one worker gave back and another may take: buffer.c. */
    _Atomic(void *) shelf[XMPI_BUFFER_CLASSES];
    _Atomic int shelved[XMPI_BUFFER_CLASSES]; /* batches */
    _Atomic uint32_t next_context;
    double start_time;
    const int *cpus; /* of the workers, or NULL: they are not bound; lives as long as the job */
    mpi_node_t node;
    const char *imagined;          /* the machine for reordering, instead of this one; or NULL */
    const struct mpi_clock *clock; /* virtual time (job_clock.h); NULL: real time */
    _Atomic bool is_apart;         /* a clock, other processes or a named algorithm: collectives are
                                      not all direct */
    char *
        *reports; /* [processes]: where the ranks of the others are, when none can move; or NULL */
    bool reads_real_time; /* that clock reads one of the C library's itself */
    mpi_rank_t *adopted;  /* the process is this rank and no other; NULL: ranks are fibers */
    const mpi_reviver_t *reviver;      /* NULL: there is none */
    const struct mpi_spawner *spawner; /* makes more ranks; NULL: there can be no more */
    /* Ends the whole job with an exit code after its message was printed; set by the launcher.
     * Does not return when called from a rank. */
    void (*abort)(int code);
    mpi_thread_calls_t threads;
    mpi_process_calls_t process_calls;
};

extern mpi_job_t *mpi_job;

/* Another thread may change these bytes while a rank reads them: either value is right. They are
 * plain ones, because an atomic or volatile read is an instruction more in every call (gcc,
 * aarch64). */
static inline bool mpi_is_observed(const mpi_rank_t *rank)
{
    return rank->observed != 0;
}

static inline bool mpi_is_watched(const mpi_rank_t *rank)
{
    return rank->watched != 0;
}

/* Look at the calls of a rank, and at what it sends; or at the latter only. */
static inline void mpi_rank_watch(mpi_rank_t *rank, mpi_look_t look)
{
    __atomic_fetch_or(&rank->watched, (uint8_t)look, __ATOMIC_RELEASE);
}

static inline void mpi_rank_observe(mpi_rank_t *rank, mpi_look_t look)
{
    mpi_rank_watch(rank, look);
    __atomic_fetch_or(&rank->observed, (uint8_t)look, __ATOMIC_RELEASE);
}

/* One program of MPI_Comm_spawn_multiple. */
typedef struct {
    const char *command;
    char **argv; /* without the command; ends with NULL. NULL: none */
    int count;
    const char *path, *wdir, *host, *hostfile; /* as the info object has them, or NULL */
} mpi_spawn_part_t;

enum { XMPI_SPAWN_WHY = 600 };

/* The launcher's functions that make ranks while the job runs. */
typedef struct mpi_spawner {
    /* Make `ranks[]`, numbers of the job, ready to be started: nothing runs yet. On failure there
     * is nothing new, and `why` is a line about it. Any rank, in turn. */
    xy_status_t (*make)(const mpi_spawn_part_t *parts, int count, int *ranks,
                        char why[XMPI_SPAWN_WHY]);
    /* Give them back instead of starting them. */
    void (*drop)(const int *ranks, int count);
    /* Start one, on its worker, whose rank was begun (mpi_rank_begin). */
    xy_status_t (*start)(mpi_rank_t *rank);
    /* Is it a name of this machine, where these ranks run? */
    bool (*is_here)(const char *host);
} mpi_spawner_t;

/* A rank that was made by mpi_spawner_t.make, on its worker: what the one with the same number
 * before it has left is freed. */
xy_status_t mpi_rank_renew(mpi_rank_t *rank);
/* Ranks up to this number are known here from now on. Any thread. */
void mpi_job_know(mpi_job_t *job, int rank);

/* All members of groups have numbers below it. */
static inline int mpi_job_known(mpi_job_t *job)
{
    int foreign = atomic_load_explicit(&job->foreign, memory_order_acquire);

    return foreign > job->size ? foreign : job->size;
}

/* Is world rank `rank` of another job? */
static inline bool mpi_rank_is_foreign(const mpi_job_t *job, int rank)
{
    return rank >= job->capacity;
}

/* Does world rank `rank` live in this process? */
static inline bool mpi_rank_is_here(const mpi_job_t *job, int rank)
{
    return job->process_of == NULL || job->process_of[rank] == job->process;
}

/* The rank whose code runs on this thread; NULL outside of ranks. Set at each switch. */
extern _Thread_local mpi_rank_t *mpi_self __attribute__((tls_model("initial-exec")));

/* On threads that a rank has made, which are no ranks: the rank, and the call that they are in, if
 * they may not enter it. */
extern _Thread_local mpi_rank_t *mpi_thread_owner __attribute__((tls_model("initial-exec")));
extern _Thread_local const char *mpi_thread_call __attribute__((tls_model("initial-exec")));

enum { XMPI_EAGER_LIMIT = 16 << 10 }; /* bytes, the default of the launcher */
#define XMPI_SPIN_SECONDS 100e-6

/* Build the job: `size` ranks, worker_of[r] each. Creates the pool's `poll`, `switched` and `stuck`
 * wiring; the launcher adds fibers (mpi_rank_start) and runs the pool. */
typedef struct {
    const mpi_layer_t *const *layers; /* see layer.h; ends with NULL, and is kept */
    int size;
    int capacity; /* ranks that there may be with those that are spawned; 0: none can be */
    const mpi_reviver_t *reviver; /* NULL: there is none */
    int universe;                 /* for MPI_UNIVERSE_SIZE; 0: `size` */
    uint64_t id;                  /* of the job; 0: any */
    const mpi_spawner_t *spawner; /* or NULL; kept */
    int workers;                  /* communication cores included, which come last */
    int comm_workers;
    const struct mpi_settings *settings; /* of nonblocking collectives; NULL: tasks */
    bool measures;                       /* computation of ranks between start and Wait */
    bool yield_on_start;
    /* Where progress threads live: for each place, as in xy_threads_all, the worker of each rank's;
     * NULL: on communication cores, or with their ranks. Kept, not copied. */
    const int *const *thread_worker_of;
    bool is_traced;       /* mpi_trace_start follows */
    const int *worker_of; /* [capacity]; those of ranks in other processes are not read */
    /* The processes of a job that has several, which all are given the same `size`; 0 processes:
     * one. */
    int process, processes;
    const int *process_of;    /* [capacity]; kept as long as the job */
    const char *const *hosts; /* [processes], or NULL; kept, not copied */
    xy_net_t *net;            /* open; kept */
    const int *network_cpu;   /* the PU of the thread that drives it, kept; NULL: any */
    const int *cpus;          /* [workers], or NULL; kept, not copied */
    mpi_node_t node;          /* the array is kept, not copied */
    const char *imagined;     /* for reordering: the text of a machine, or NULL */
    const struct virtual_config *in_virtual_time; /* see virtual/virtual.h; NULL: in real time */
    size_t stack_size;
    size_t eager_limit;
    bool limits_between; /* `eager_limit` is also one between processes, beside the transport's */
    double spin_seconds;
    bool shares_cores; /* with other processes of the job */
    /* NULL: nothing to swap. `next` is NULL where a progress thread runs. */
    void (*switched)(mpi_rank_t *previous, mpi_rank_t *next);
    void (*overflow)(mpi_rank_t *rank);
    void (*abort)(int code);
    void (*stuck)(void); /* no rank can move: report and end */
    mpi_thread_calls_t threads;
    mpi_process_calls_t process_calls;
    /* Ranks may move between this many cores (move.h), each from `core_of`, which is [size] then;
     * 0: they stay on their workers. */
    int cores;
    const int *core_of;
    double (*rest)(xy_worker_t *worker); /* see xy_pool_config_t; NULL: nothing to do */
} mpi_job_config_t;

xy_status_t mpi_job_create(const mpi_job_config_t *config, mpi_job_t **job_p);
void mpi_job_destroy(mpi_job_t *job);
/* No rank of the job can move: report and end. Of several processes, one does it, on any thread. */
void mpi_job_stuck(void);
/* The fiber of rank `world`, which runs body(arg) as that rank. Before the pool runs, or on its
 * worker. Where the thread of the worker may wait for a thread of another rank, in a way that
 * nothing here sees, it begins on a thread of its own. */
xy_status_t mpi_rank_start(mpi_job_t *job, int world, void (*body)(void *), void *arg);
/* The calling thread becomes rank `world`, the only one of this process, which has one worker. */
xy_status_t mpi_rank_adopt(mpi_job_t *job, int world);

/* The slow half of a hook of the trace (trace.h): the rank enters a call, or its own code. */
void mpi_trace_call(struct mpi_trace *trace, mpi_rank_t *self);
/* The same for all who look at it (observe.h): a new call of the program begins, or ends. */
void mpi_observe_enter(mpi_rank_t *self);
void mpi_observe_leave(mpi_rank_t *self);

/* Around what changes fibers or touches what belongs to the worker. Nests. */
static inline void mpi_go_inside(mpi_rank_t *self)
{
    if (__builtin_expect(self->gate != NULL, 0))
        mpi_gate_go_inside(self);
}

static inline void mpi_go_outside(mpi_rank_t *self)
{
    if (__builtin_expect(self->gate != NULL, 0))
        mpi_gate_go_outside(self);
}

/* The same for what is no MPI call, and counted also while there is no gate: one may come before
 * it returns. */
static inline void mpi_go_inside_counted(mpi_rank_t *self)
{
    if (self->gate != NULL)
        mpi_gate_go_inside(self);
    else
        self->depth++;
}

static inline void mpi_go_outside_counted(mpi_rank_t *self)
{
    if (self->gate != NULL)
        mpi_gate_go_outside(self);
    else
        self->depth--;
}

/* Is it in the program's own code? At the end of a call it handles messages of others (gate.h). */
static inline bool mpi_is_in_program(const mpi_rank_t *self)
{
    return self->call.name == NULL && self->depth == 0;
}

/* Note which call the thread is in. */
static inline void mpi_call_note(mpi_rank_t *self, const char *name, const void *site)
{
    self->call.name = name;
    self->call.caller = site;
    self->call.comm = NULL; /* the communicator of the previous call may be gone */
    if (__builtin_expect(mpi_is_observed(self), 0))
        mpi_observe_enter(self);
}

/* Enter and leave a call. `site` is __builtin_return_address(0) of the MPI function. */
static inline void mpi_call_begin(mpi_rank_t *self, const char *name, const void *site)
{
    mpi_go_inside(self);
    mpi_call_note(self, name, site);
}

static inline void mpi_call_end(mpi_rank_t *self)
{
    self->call.name = NULL;
    if (__builtin_expect(mpi_is_observed(self), 0))
        mpi_observe_leave(self);
    mpi_go_outside(self);
}

#endif
