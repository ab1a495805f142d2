/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives, the short path: all members live in this process and see each other's memory, so a
 * collective needs no tree of messages.
 *
 * The members on one worker are a local group. A collective takes these steps in each of them:
 *
 *   arrive    each member leaves its call in the group's slot; no member waits here
 *   prepare   the last member to arrive puts together what the others will read
 *   entry     the groups tell each other that they are there (dissemination, log2 P packets each)
 *   work      each group does its share, cut into pieces: they read and write the buffers of any
 *             member and depend on nothing but the entry barrier, so idle workers help
 *             (parallel.h)
 *   exit      the groups tell each other that they are done, if others use a member's buffers
 *   finish    what had to wait for that; then the members' requests complete
 *
 * Nothing blocks: each step is taken on the group's worker as soon as it is possible, inside a call
 * or the worker's poll function. A blocking collective is a started one and a wait.
 *
 * Collectives of one communicator are numbered. A group posts its arrival at number s only after it
 * finished s - 2, and has four slots. So when a group has finished s, every group has posted s,
 * hence finished s - 2, and no group looks any more at what s - 2 left in its slot: slot s is free
 * for s + 4 when s is finished and s + 2 as well, which the arrival at s + 4 implies.
 *
 * Small rooted collectives have another shape: their local groups do not meet, and ranks leave them
 * early (star.c).
 */
#ifndef XY_MPI_COLL_COLL_H
#define XY_MPI_COLL_COLL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "coll/coll.h"
#include "mpi/p2p/p2p.h"

enum {
    COLL_SLOTS = 4,
    COLL_AHEAD = 2, /* unfinished collectives a local group may have announced */
    /* Bytes that travel through the slot instead of the members' buffers. */
    COLL_SMALL = XY_DIRECT_SMALL
};

typedef struct coll_call coll_call_t;
typedef struct coll_local coll_local_t;
typedef struct coll_star coll_star_t;
typedef struct coll_star_ops coll_star_ops_t;
typedef struct coll_slot coll_slot_t;

/* A vector of counts or displacements in either width; NULL data: none. */
typedef struct {
    const void *data;
    bool is_wide; /* MPI_Count or MPI_Aint, else int */
} coll_vector_t;

static inline int64_t coll_count_at(coll_vector_t v, int i)
{
    return v.is_wide ? ((const int64_t *)v.data)[i] : ((const int *)v.data)[i];
}

/* The counts of reduce_scatter in one word, which stands in the place of a root. */
static inline int coll_split_of(coll_vector_t counts, int size)
{
    uint64_t value = 0;

    for (int r = 0; r < size; r++)
        value = xy_hash_u64(value ^ (uint64_t)coll_count_at(counts, r));
    return (int)(value & INT_MAX);
}

/* The functions of a kind of collective. `prepare` and `finish` run on the local group's worker, a
 * piece on any; they do not park. Any of them may be NULL. */
typedef struct {
    const char *name;           /* "MPI_Bcast" */
    xy_collective_t collective; /* XY_COLL_COUNT: the agreement of calls that make communicators */
    bool is_rooted;
    bool is_sized; /* all members give the same number of bytes: with none there is nothing to do */
    bool is_inter; /* on an intercommunicator: inter.c */
    bool stays;    /* the workers of the ranks do it: not all members know the operation */
    const coll_star_ops_t *star; /* how a small one is done without a barrier (star.h); or NULL */
    xy_status_t (*prepare)(coll_local_t *local, coll_slot_t *slot);
    int64_t (*pieces)(const coll_local_t *local, coll_slot_t *slot); /* NULL: one */
    void (*piece)(coll_local_t *local, coll_slot_t *slot, int64_t piece);
    void (*finish)(coll_local_t *local, coll_slot_t *slot);
    /* Must the local groups need an exit barrier after the work? NULL: no. */
    bool (*needs_exit_barrier)(const coll_slot_t *slot);
    /* With needs_exit_barrier: may this member return right after its local group's work? NULL: no.
     */
    bool (*may_return_early)(const coll_call_t *call);
    /* With needs_exit_barrier: the first local group does all the work, and lets the others go. */
    bool is_led;
} coll_ops_t;

/* The use of a collective by a program: it waits for it, starts it, or starts it again and again.
 * All members must do the same. */
typedef enum { COLL_BLOCKING, COLL_NONBLOCKING, COLL_PERSISTENT } coll_how_t;

/* One member's call. */
struct coll_call {
    const coll_ops_t *kind;
    mpi_comm_t *comm;
    uint64_t number; /* among the collectives of the communicator, */
    uint64_t seq;    /* and among those of them that meet, or are stars */
    uint32_t mode;   /* of such a one: coll_mode */
    uint8_t what;    /* besides: an operation, MPI_IN_PLACE; see coll_what_t */
    uint8_t device;  /* of a reduction: the GPU with the data, counted from 1; 0: none */
    bool is_here;    /* likewise: no GPU has any of it */
    int rank;        /* in comm */
    int root;
    const void *send; /* MPI_IN_PLACE was resolved: see is_in_place */
    void *receive;
    int64_t send_count, receive_count;
    mpi_type_t *send_type, *receive_type;
    coll_vector_t send_counts, send_displacements;
    coll_vector_t receive_counts, receive_displacements;
    const MPI_Datatype *send_types, *receive_types; /* Alltoallw */
    mpi_op_t *op;
    void (*leader)(void *const *inputs, int size, void *const *outputs); /* agree, */
    const struct mpi_topic *topic; /* and what members must say alike; or NULL */
    bool is_in_place;
    coll_how_t how;
    /* All members must agree on it; 0 where sizes may differ. */
    uint64_t bytes;
    /* The same, with the type signature: coll_agree_on. Of an agreement: the address of the name of
     * the MPI function (coll_agree_name). */
    uint64_t agreed;
    void *copy; /* made by prepare, given back at the end */
    size_t copy_size;
    mpi_request_t *request;
    coll_call_t *next;          /* in the backlog, among the deferred, or in a worker's mailbox */
    void *schedule, *rank_args; /* of the scheduled engine; NULL: a direct one */
    double left;                /* when the start returned, until Wait; 0: not measured */
    void *arrays; /* of one that is started: copies of all vectors, whose datatypes it holds */
};

enum { COLL_CLEARED = 64 }; /* bytes that compilers clear with a few stores */
_Static_assert(sizeof(coll_call_t) > 4 * COLL_CLEARED && sizeof(coll_call_t) <= 5 * COLL_CLEARED,
               "coll_call_init clears all of it");

/* A call of this kind, and nothing else. It is cleared in pieces: as one object it is cleared by
 * an instruction (rep stos) that takes longer to begin than these stores take. */
static inline void coll_call_init(coll_call_t *call, const coll_ops_t *kind)
{
    char *bytes = (char *)call;

    memset(bytes, 0, COLL_CLEARED);
    memset(bytes + 1 * (size_t)COLL_CLEARED, 0, COLL_CLEARED);
    memset(bytes + 2 * (size_t)COLL_CLEARED, 0, COLL_CLEARED);
    memset(bytes + 3 * (size_t)COLL_CLEARED, 0, COLL_CLEARED);
    memset(bytes + 4 * (size_t)COLL_CLEARED, 0, sizeof(*call) - 4 * (size_t)COLL_CLEARED);
    call->kind = kind;
}

typedef enum { COLL_ARRIVING, COLL_ENTRY_BARRIER, COLL_EXIT_BARRIER, COLL_OFFLOADED } coll_state_t;

struct coll_slot {
    _Alignas(64) uint64_t seq; /* two lines: slots are found by a shift */
    coll_state_t state;
    int arrived;
    const coll_ops_t *kind; /* of the first arrival, here or elsewhere; NULL: none yet */
    uint32_t mode;          /* of its call: see coll_mode */
    int root, first;        /* its root, its rank */
    uint64_t agreed;        /* its size and type signature (coll_agree_on), */
    uint64_t bytes;         /* and the size alone */
    bool is_held;           /* the local group holds the communicator until it is finished */
    bool is_offloaded;      /* it goes to the progress worker */
    bool is_returned;       /* and has come back */
    bool is_packed;         /* set by prepare: the data goes through the slots, no rank waits */
    bool is_streamed;       /* more data than caches hold: write past them */
    bool is_small;          /* set by prepare or pieces: the short way is taken */
    int round;
    uint32_t rounds_received[2]; /* bit r: the packet of round r of the entry [0], exit [1] barrier
                                    has come */
    uint64_t piggyback;  /* data in the packet of round 0 of the entry barrier: see coll_data_of */
    coll_call_t **calls; /* [members of the local group] */
    char *data;          /* [COLL_SMALL], of the local group */
};

struct coll_local {
    /* The data read by other local groups, apart from changing data. */
    mpi_coll_t *coll;
    int index;
    mpi_worker_t *worker;
    int members;
    int *member;       /* [members]: ranks in the communicator, increasing */
    coll_star_t *star; /* made when it is first needed */
    char *wide; /* [COLL_SLOTS][XY_DIRECT_GROUPED], the same: reductions that `data` cannot hold */
    _Alignas(XMPI_LINES) uint64_t finished; /* collectives finished by this local group */
    bool is_moving;                         /* inside advance(): handlers may come back here, */
    bool has_news;                          /* and leave their news */
    int unheld;     /* references to the communicator to be given back: coll_local_drop */
    int open_stars; /* slots of `star` in use */
    int star_steps; /* steps of stars in progress: handlers may come back here */
    /* The last collective without data that a member here has called; see coll_leave_empty. */
    _Atomic(const coll_ops_t *) empty_kind;
    _Atomic uint64_t empty_number;
    _Atomic int empty_root, empty_rank;
    coll_call_t *backlog; /* calls whose slot is still in use, first come first */
    coll_slot_t slots[COLL_SLOTS];
    /* Apart from the slots, and untouched until small data comes: every rank has an
     * MPI_COMM_SELF. */
    _Alignas(64) char data[COLL_SLOTS][COLL_SMALL];
};

/* Collectives of a communicator that ranks may be in at a time, as accounts see it. */
enum { COLL_MEETINGS = 64 };

struct mpi_coll {
    mpi_group_t *group;
    uint32_t context;
    uint32_t recorded; /* its name in traces: that, but persistent collectives have their own */
    int size;
    int locals;
    int rounds;           /* ceil(log2(locals)) */
    coll_local_t **local; /* [locals] */
    int most_members;     /* of a local group */
    int here;             /* members in this process: the local groups have no others */
    struct coll_interprocess
        *interprocess; /* over several processes (interprocess.h); NULL: all are here */
    int lows; /* of an intercommunicator's two groups: members of the low one, which come first;
                 0: an intracommunicator */
    int link; /* to another job, held for its contexts (link.h); 0: none */
    bool is_ordered; /* the members of local group i all come before those of local group i + 1 */
    int progress_worker; /* worker that moves nonblocking collectives on; -1: none */
    int *worker_of;      /* [locals]: its worker's index */
    int *local_of;       /* [size]: the local group of a member, */
    int *place_of;       /* and its place there */
    void *scheduled;     /* of the scheduled engine */
    /* [size]: the members' communicator objects, for reports; NULL: freed */
    _Atomic(mpi_comm_t *) *comms;
    /* Persistent collectives that not all members have made a request for (coll_persistent.c). */
    struct coll_persistent *persistent;
    /* Scheduled collectives that not all members have started. */
    _Atomic int open_schedules;
    _Atomic(mpi_meeting_t *) meetings; /* [COLL_MEETINGS], where time is counted; or NULL */
    /* The rest changes, so it lives in other cache lines. */
    _Alignas(XMPI_LINES) _Atomic long references;
    _Atomic int offload_arrivals[COLL_SLOTS]; /* local groups that have announced themselves */
};

/* `bytes` of memory of the calling worker, valid until it is asked again; the job ends when there
 * is none. */
void *coll_scratch(size_t bytes);

/* Memory for a call's `copy`, and back. The worker keeps one that is not too large: memory that the
 * C library takes from the kernel and gives back for each call costs more than most collectives,
 * since every core of the process has to forget the pages. On the local group's worker. XY_ENOMEM
 * is silent. */
xy_status_t coll_copy_get(coll_local_t *local, coll_call_t *call, size_t bytes);
void coll_copy_put(coll_local_t *local, coll_call_t *call);

/* The shared part of a communicator over `group`. Called once per communicator and process, by one
 * member, before any other uses it. */
xy_status_t mpi_coll_create(mpi_group_t *group, uint32_t context, mpi_coll_t **coll_p);
/* The shared part of the communicator `context`, which all its members in this process ask for,
 * each once: the first one makes it. `group`, of which it takes a reference, is in the part from
 * then on; the others get that one (coll->group), with a reference, instead of theirs. `lows`: see
 * there. NULL: memory ran out. Any thread; does not park. */
mpi_coll_t *mpi_coll_meet(mpi_group_t *group, uint32_t context, int lows);
/* Contexts that no other communicator of the job has: the first of `count`. */
uint32_t mpi_context_new(int count);
void mpi_coll_hold(mpi_coll_t *coll);    /* one per member; any thread */
void mpi_coll_release(mpi_coll_t *coll); /* the last release frees */

/* Release a member's reference to the communicator: now, or when no collective of its local group
 * is in progress. Frees the local group with the last reference. On its worker. */
void coll_local_release(coll_local_t *local);
/* Release the references that wait for that, if none is. Likewise. */
void coll_local_drop(coll_local_t *local);

/* Progress. With communication cores, a nonblocking collective is offloaded: its local groups
 * announce themselves to the progress worker of the communicator (one of those cores), which does
 * the whole work when all are there, shared with the other communication cores and with workers
 * whose ranks wait, and then sends every local group its call back. With progress `none` a member's
 * nonblocking collectives wait in a list and begin when it next waits or tests. */
void coll_flush_deferred(mpi_rank_t *self);

/* Start `call` (filled in but for numbers, rank and request) on `comm`. Blocking: `call` is on the
 * caller's stack, parks until it is complete. Nonblocking: `call` is copied, and the copy belongs
 * to the request. */
int coll_run(mpi_rank_t *self, coll_call_t *call);
int coll_start(mpi_rank_t *self, coll_call_t *call, MPI_Request *handle);
/* A persistent request for `call`: MPI_Start starts it. */
int coll_init(mpi_rank_t *self, coll_call_t *call, MPI_Request *handle);
/* The shared part of the `id`-th persistent collective of a communicator, with a reference for the
 * caller, a member; NULL: memory ran out. Any thread; does not park. */
mpi_coll_t *coll_persistent_join(mpi_coll_t *parent, uint64_t id);
/* A communicator goes: so do the parts that some members have not joined. */
void coll_persistent_cleanup(mpi_coll_t *parent);
/* Its description without buffers; `counts` are in the scratch memory. What makes a communicator is
 * an allreduce of eight bytes. */
typedef struct {
    xy_collective_t collective;
    int root;
    uint64_t count, element; /* elements of a block, and their bytes; or */
    const uint64_t *counts;  /* ... [members], where blocks differ */
    int members, member;     /* of those who have a part in it, which one this is; -1: none */
} coll_shape_t;

coll_shape_t coll_shape_of(const coll_call_t *call);
/* Into the trace and the account of `self`, and to the tool that listens; it has one of them. For
 * the request of the call: its meeting (account.h), or NULL. */
void *coll_observe(mpi_rank_t *self, const coll_call_t *call);
/* The call behind a request of coll_start; NULL: it is another one, or MPI_REQUEST_NULL. */
coll_call_t *coll_call_of_request(const mpi_request_t *request);
/* `self` is going to wait for these requests, or tests (NULL). */
void coll_before_wait(mpi_rank_t *self, mpi_request_t *const *requests, int count);

/* ---- Engines: who runs a collective ---- */

/* Agreements of members besides the kind, the root and the size. */
typedef enum {
    COLL_WHAT_NONE,
    COLL_WHAT_OP, /* + mpi_op_kind_t: the operation of a reduction */
    COLL_WHAT_IN_PLACE = COLL_WHAT_OP + XMPI_OP_KINDS, /* alltoall, where all must be */
    COLL_WHAT_KINDS
} coll_what_t;

/* The claim of a member about a collective; all claims must be the same. */
typedef struct {
    const coll_ops_t *kind;
    uint64_t agreed;
    int root, rank; /* in the communicator */
    coll_how_t how;
    uint8_t what;
} coll_claim_t;

/* Members agree about the bytes and the type signature of a block in one word, which crosses with
 * the packets of a collective. */
enum { COLL_BYTES_BITS = 48 };

static inline uint64_t coll_agreed_bytes(uint64_t agreed)
{
    return agreed & ((UINT64_C(1) << COLL_BYTES_BITS) - 1);
}

static inline uint16_t coll_agreed_signature(uint64_t agreed)
{
    return (uint16_t)(agreed >> COLL_BYTES_BITS);
}

/* All members have blocks of `bytes`, that are made of the elements of `type`. */
static inline void coll_agree_on(coll_call_t *call, uint64_t bytes, const mpi_type_t *type)
{
    call->bytes = bytes;
    call->agreed = bytes | (uint64_t)(bytes > 0 ? type->signature : XMPI_SIGNATURE_ANY)
                               << COLL_BYTES_BITS;
}

/* They have blocks of different sizes, but of the elements of `type`; NULL: this one has no data.
 */
static inline void coll_agree_on_type(coll_call_t *call, const mpi_type_t *type)
{
    call->agreed = (uint64_t)(type != NULL ? type->signature : XMPI_SIGNATURE_ANY)
                   << COLL_BYTES_BITS;
}

static inline coll_claim_t coll_claim_of(const coll_call_t *call)
{
    return (coll_claim_t){call->kind, call->agreed, call->root, call->rank, call->how, call->what};
}

/* Do two members say the same? Blocking and nonblocking is a difference that some cannot see. */
static inline bool coll_is_same_claim(const coll_claim_t *a, const coll_claim_t *b)
{
    return a->kind == b->kind && a->root == b->root && a->agreed == b->agreed && a->what == b->what;
}

typedef struct {
    const char *name;
    /* Does it run this nonblocking call? All members come to the same answer. NULL: any call. */
    bool (*wants)(const coll_call_t *call);
    /* Start a call that has its number. True: other ranks of this worker have not started it yet.
     * Does not park. */
    bool (*start)(mpi_rank_t *self, coll_call_t *call);
    /* A collective of this number that not all members have started, if there is one. Any thread.
     */
    bool (*find)(mpi_coll_t *coll, uint64_t number, coll_claim_t *claim_p);
    /* The rank computed so long between the start of a call and Wait. NULL: not of interest. */
    void (*measured)(const coll_call_t *call, double seconds);
    /* A persistent call that is not active goes: what was kept for it. NULL: nothing is. */
    void (*forget)(coll_call_t *call);
    /* Its data with a communicator. XY_ENOMEM is silent. */
    xy_status_t (*comm_create)(mpi_coll_t *coll);
    void (*comm_destroy)(mpi_coll_t *coll);
} coll_engine_ops_t;

/* Through memory that all members see: blocking calls, and nonblocking ones that the scheduled
 * engine does not want. */
extern const coll_engine_ops_t coll_direct;

/* In place of the root, for the others of its group on an intercommunicator: the root is another
 * member of the low, or of the high group. They know neither which, nor how much data there is. */
enum { COLL_ROOT_LOW = -2, COLL_ROOT_HIGH = -3 };

/* How many members a call exchanges data with, which is the length of its vectors: all, or the
 * other group of an intercommunicator. And the first of them. */
static inline int coll_peers(const coll_call_t *call)
{
    const mpi_comm_t *comm = call->comm;
    int lows = comm->coll->lows;

    return lows == 0 ? comm->size : comm->rank < lows ? comm->size - lows : lows;
}

static inline int coll_peers_first(const coll_call_t *call)
{
    int lows = call->comm->coll->lows;

    return call->comm->rank < lows ? lows : 0;
}

/* Is data computed with, not only moved? */
static inline bool coll_is_reduction(const coll_ops_t *kind)
{
    return (UINT64_C(1) << kind->collective &
            (UINT64_C(1) << XY_COLL_REDUCE | UINT64_C(1) << XY_COLL_ALLREDUCE |
             UINT64_C(1) << XY_COLL_REDUCE_SCATTER | UINT64_C(1) << XY_COLL_REDUCE_SCATTER_BLOCK |
             UINT64_C(1) << XY_COLL_SCAN | UINT64_C(1) << XY_COLL_EXSCAN)) != 0;
}

static inline bool coll_is_empty(const coll_call_t *call)
{
    return call->bytes == 0 && call->kind->is_sized;
}

/* The MPI call of the program that started `call`. */
static inline const mpi_call_t *coll_noted(const coll_call_t *call)
{
    return call->how == COLL_BLOCKING ? &call->comm->owner->call : &call->request->call;
}

/* The one counter of collectives. Numbers are given when a call begins: deferred ones begin before
 * the next that is not. `site`: where the program called. */
static inline void coll_number(coll_call_t *call, const void *site)
{
    mpi_comm_t *comm = call->comm;

    call->rank = comm->rank;
    comm->sites[comm->coll_seq % XMPI_COMM_SITES] = site;
    call->number = comm->coll_seq++;
}

/* Let reports about others read the counts of MPI_Reduce_scatter, while the call has them. */
static inline void coll_show_shares(const coll_call_t *call)
{
    call->comm->shares = call->receive_counts.data;
    call->comm->shares_are_wide = call->receive_counts.is_wide;
}

/* The engine of the layer above registers before there are communicators; NULL: none did. */
void coll_engine_register(const coll_engine_ops_t *engine);
const coll_engine_ops_t *coll_engine_scheduled(void);

/* A collective without data: nothing to do, and no rank to wait for. It has its number, which
 * others see in the next collective that has data: a rank that gave other counts is found then. */
void coll_leave_empty(coll_call_t *call);
/* Has a member called collective `number` without data? Then they disagree. */
void coll_compare_empty(const mpi_coll_t *coll, uint64_t number, const coll_claim_t *claim);

/* `comm`, whose `coll` is set, is the object of a member: reports name it. */
void mpi_coll_join(mpi_comm_t *comm);

/* `from` has more for `to` than that has room for: report it once and end the job. */
void coll_refuse_excess(const coll_call_t *from, const coll_call_t *to, uint64_t sent,
                        uint64_t room) __attribute__((cold));

/* `from` sends `sent` bytes of one signature to `to`, which receives another: warn if they do not
 * match. */
void coll_compare_types(const coll_call_t *from, uint16_t given, const coll_call_t *to,
                        uint16_t taken, uint64_t sent) __attribute__((cold));

/* The data of `from` fits into that of `to` and is of the same elements. */
static inline void coll_check_room(const coll_call_t *from, int64_t count, const mpi_type_t *type,
                                   const coll_call_t *to, int64_t room, const mpi_type_t *to_type)
{
    uint64_t sent = (uint64_t)count * type->size, most = (uint64_t)room * to_type->size;

    if (__builtin_expect(sent > most, 0))
        coll_refuse_excess(from, to, sent, most);
    if (__builtin_expect(type->signature != to_type->signature, 0))
        coll_compare_types(from, type->signature, to, to_type->signature, sent);
}

/* Do two members say the same about collective `number`? Other elements of the same size are, where
 * data is moved and not computed with, a warning. */
bool coll_claims_agree(const mpi_coll_t *coll, uint64_t number, const coll_claim_t *a,
                       const coll_claim_t *b);
/* Two members say different things about collective `number`: report it once and end the job. */
void coll_disagree(const mpi_coll_t *coll, uint64_t number, const coll_claim_t *a,
                   const coll_claim_t *b);
/* The same, where it is not known what member `other` has called: another worker has it. */
void coll_disagree_unseen(const mpi_coll_t *coll, uint64_t number, const coll_claim_t *a,
                          int other);
/* The claim in slot `i` of a local group about a collective that is not complete there: the slots
 * of collectives that meet, then of stars. False: of none in slot `i`, which is below COLL_SLOTS +
 * STAR_SLOTS. On its worker, or when all workers are asleep. */
bool coll_claim_at(const coll_local_t *local, int i, uint64_t *number_p, coll_claim_t *claim_p);
/* Is a scheduled collective open that has the number of a direct one? */
void coll_compare_scheduled(mpi_coll_t *coll, uint64_t number, const coll_claim_t *direct);
/* Is another one known to the local group that has the number of a star? */
void coll_compare_others(coll_local_t *local, uint64_t number, const coll_claim_t *star);
/* Claims `a` and `b` about number `seq` of one kind of slots differ: in what they say, or (in their
 * modes) in how many collectives of other kinds came before. */
void coll_differ(coll_local_t *local, uint64_t seq, const coll_claim_t *a, uint32_t mode_a,
                 const coll_claim_t *b, uint32_t mode_b);
/* The same the other way round, for a scheduled call that is about to start: what is known on its
 * worker. */
void coll_direct_compare(const coll_call_t *call);
void coll_compare_stuck(void);

/* The common part of all calls of a collective that meets, or of a star, besides kind, root and
 * size, in one word: how they are called, coll_what_t, and how many collectives that are not
 * counted in `seq` came before (where more than 2^25 did, members that differ by a multiple of it
 * are not told apart). */
enum { COLL_MODE_BITS = 7 };
_Static_assert(COLL_WHAT_KINDS <= 1 << (COLL_MODE_BITS - 2), "it has its place in the mode");

static inline uint32_t coll_mode(const coll_call_t *call, uint64_t apart)
{
    return (uint32_t)(apart << COLL_MODE_BITS) | (uint32_t)call->what << 2 | (uint32_t)call->how;
}

static inline uint32_t coll_mode_apart(uint32_t mode)
{
    return mode >> COLL_MODE_BITS;
}

/* The claim of a slot or a packet. */
static inline coll_claim_t coll_claim_make(const coll_ops_t *kind, uint64_t agreed, int root,
                                           int rank, uint32_t mode)
{
    return (coll_claim_t){kind,
                          agreed,
                          root,
                          rank,
                          (coll_how_t)(mode & 3),
                          (mode >> 2) & ((1 << (COLL_MODE_BITS - 2)) - 1)};
}

/* The number among all collectives of the communicator, modulo 2^25. */
static inline uint64_t coll_number_of(uint64_t seq, uint32_t mode)
{
    return seq + coll_mode_apart(mode);
}

static inline bool coll_is_same_number(uint64_t a, uint64_t b)
{
    return (uint32_t)((a - b) << COLL_MODE_BITS) == 0;
}

static inline bool coll_is_before(uint64_t a, uint64_t b)
{
    return (int32_t)(uint32_t)((a - b) << COLL_MODE_BITS) < 0;
}

/* Member `rank`'s call of the same collective; valid in work and, for the own local group, in
 * prepare. */
static inline coll_call_t *coll_call_of(const coll_local_t *local, const coll_slot_t *slot,
                                        int rank)
{
    const mpi_coll_t *coll = local->coll;
    coll_local_t *other = coll->local[coll->local_of[rank]];

    return other->slots[slot->seq % COLL_SLOTS].calls[coll->place_of[rank]];
}

/* Local group `index`'s slot of the same collective. */
static inline coll_slot_t *coll_slot_of(const coll_local_t *local, const coll_slot_t *slot,
                                        int index)
{
    return &local->coll->local[index]->slots[slot->seq % COLL_SLOTS];
}

/* The data left for the others by local group `index` in prepare. */
static inline const char *coll_left_by(const coll_local_t *local, const coll_slot_t *slot,
                                       int index)
{
    return local->coll->local[index]->data[slot->seq % COLL_SLOTS];
}

/* The first `bytes` of what local group `index` left in its slot's data in prepare. Between two
 * local groups, eight bytes came with the entry barrier: no other cache line has to cross. */
static inline const char *coll_data_of(const coll_local_t *local, const coll_slot_t *slot,
                                       int index, uint64_t bytes)
{
    if (bytes <= sizeof(slot->piggyback) && local->coll->locals == 2 && index != local->index &&
        slot->rounds_received[0] != 0)
        return (const char *)&slot->piggyback;
    return coll_left_by(local, slot, index);
}

/* See coll/direct.h. */
static inline bool coll_is_spread(const coll_local_t *local, const coll_slot_t *slot)
{
    return xy_direct_is_spread(local->coll->most_members, slot->is_offloaded);
}

/* Does the data go through the slots, when a local group has `blocks` blocks of it there? With one
 * local group there is no other that a rank would have to wait for, and no use in the copy. */
static inline bool coll_is_packed(const coll_local_t *local, const coll_slot_t *slot,
                                  int64_t blocks)
{
    return local->coll->locals > 1 && !coll_is_spread(local, slot) &&
           xy_direct_is_packed(slot->bytes, (uint64_t)blocks);
}

/* For `mpiexec --adapt` (tally.c): count a call with a choice of algorithms, without a time;
 * `nodes` is its number of processes. */
struct xy_vjob_calls;
void coll_tally_add(const struct xy_vjob_calls *call);
void coll_tally_reset(void); /* before a job */
/* Append what was counted, as xy_vjob_calls_t. All ranks have ended. XY_ENOMEM is reported. */
xy_status_t coll_tally_calls(xy_vec_t *calls);
/* The times of a collective between processes by each algorithm, by formulas: the usual one first.
 * Returns their number (at most XY_COLL_CANDIDATES_MAX). */
int coll_interprocess_ways(xy_collective_t collective, int ranks, int parts, uint64_t bytes,
                           const xy_coll_algorithm_t **algorithms, double *seconds);

/* For the making of communicators: gather a pointer from every member, let one of them compute on
 * all, and give the result to all members.
 *
 * All members call it with the same `leader`. When all have arrived, leader(inputs, size, outputs)
 * runs once: inputs[i] is member i's `input`, outputs[i] its `output`, memory the leader may write.
 * Then all return. Parks. */
/* The report of a disagreement names the MPI function that the rank is in. */
typedef void (*mpi_leader_fn)(void *const *inputs, int size, void *const *outputs);
int mpi_coll_agree(mpi_comm_t *comm, const void *input, void *output, mpi_leader_fn leader);

/* The arguments that the members of an agreement must have in common besides the function that they
 * call: grids, groups, leaders. The next mpi_coll_agree of a rank compares that of all (rank.h:
 * `topic`); between processes, the next exchange does (comm/spread.c). */
struct mpi_said;

typedef struct mpi_topic {
    uint64_t value; /* a hash of it: see mpi_topic_add */
    const void *data;
    /* Two members that disagree; NULL: any whose values differ. */
    bool (*find)(const struct mpi_topic *const *topics, int size, int *a_p, int *b_p);
    /* " with 3 x 2 points", where `other` says something else. */
    void (*describe)(const struct mpi_topic *topic, const struct mpi_topic *other, char *text,
                     size_t room);
    /* Describe the whole value, without knowing the value of another process; NULL: describe(topic,
     * topic) does. */
    void (*tell)(const struct mpi_topic *topic, char *text, size_t room);
    /* Where members are in several processes: what all of them say, in order, and the number of the
     * caller. True, at all members alike: *a_p disagrees, and reports it; it knows with whom. NULL:
     * any whose value is another than that of member 0. */
    bool (*find_far)(const struct mpi_topic *topic, const struct mpi_said *said, int size, int own,
                     int *a_p, int *b_p);
    int more[2]; /* for that, with the value */
} mpi_topic_t;

/* The claim of a member about a topic, for those of other processes. */
typedef struct mpi_said {
    uint64_t value;
    int more[2];
} mpi_said_t;

/* Append ", NAME 1 2 3" to a text, or as much of it as there is room for. */
void mpi_topic_tell_list(char *text, size_t room, const char *name, const int *list, int count);

static inline uint64_t mpi_topic_add(uint64_t value, int number)
{
    return xy_hash_u64(value ^ (uint32_t)number);
}

static inline uint64_t mpi_topic_add_list(uint64_t value, const int *list, int count)
{
    for (int i = 0; i < count; i++)
        value = mpi_topic_add(value, list[i]);
    return value;
}

/* For engines: all members are here, calls[0] to calls[n - 1], with room for 2 n more pointers
 * behind. Compares what they say, and runs the leader. */
void coll_agree_lead(coll_call_t **calls, int n);
/* Members `a` and `b` of `comm`, in several processes, have told what they call: report it and end
 * the job. */
void coll_disagree_told(const mpi_comm_t *comm, int a, const char *said, int b, const char *other);
/* Members `a` and `b` of an agreement say different things: report it and end the job. */
void coll_disagree_about(const coll_call_t *a, const char *said, const coll_call_t *b,
                         const char *other) __attribute__((cold));

/* For the `agreed` of a call of coll_agree. */
static inline uint64_t coll_agree_name(const mpi_rank_t *self)
{
    return (uint64_t)(uintptr_t)self->call.name;
}

/* The subject of a packet: rounds of the two disseminations, the way of an offloaded collective to
 * the progress worker and back, a star, answers about several stars. */
enum {
    COLL_PHASE_ENTRY,
    COLL_PHASE_EXIT,
    COLL_PHASE_OFFLOAD,
    COLL_PHASE_RETURN,
    COLL_PHASE_STAR,
    COLL_PHASE_ANSWER
};

/* Handler of XMPI_PACKET_COLL. */
void mpi_coll_packet(mpi_worker_t *worker, int from, mpi_packet_t *packet);

/* Every collective, in every variant. */
extern const coll_ops_t coll_barrier, coll_agree;
extern const coll_ops_t coll_window_fence, coll_window_free;      /* barriers of windows */
extern const coll_ops_t coll_making_bcast, coll_making_allgather; /* between processes only */
extern const coll_ops_t coll_bcast, coll_gather, coll_gatherv, coll_scatter, coll_scatterv;
extern const coll_ops_t coll_allgather, coll_allgatherv;
extern const coll_ops_t coll_alltoall, coll_alltoallv, coll_alltoallw;
extern const coll_ops_t coll_reduce, coll_allreduce, coll_scan, coll_exscan;
extern const coll_ops_t coll_reduce_scatter, coll_reduce_scatter_block;
extern const coll_ops_t coll_inter_bcast, coll_inter_gather, coll_inter_gatherv;
extern const coll_ops_t coll_inter_scatter, coll_inter_scatterv;
extern const coll_ops_t coll_inter_allgather, coll_inter_allgatherv;
extern const coll_ops_t coll_inter_alltoall, coll_inter_alltoallv, coll_inter_alltoallw;
extern const coll_ops_t coll_inter_reduce, coll_inter_allreduce;
extern const coll_ops_t coll_inter_reduce_scatter, coll_inter_reduce_scatter_block;

/* Do two buffers name the same memory? On one base, as MPI_BOTTOM, their types tell. */
static inline bool coll_is_same(const void *a, const mpi_type_t *a_type, const void *b,
                                const mpi_type_t *b_type)
{
    return a == b &&
           (a_type == b_type || (mpi_type_is_contiguous(a_type) && mpi_type_is_contiguous(b_type)));
}

/* `count` elements of `type` from one place to another, where the counts and types may differ. */
void coll_copy(void *to, int64_t to_count, const mpi_type_t *to_type, const void *from,
               int64_t from_count, const mpi_type_t *from_type);

/* A copy between members as pieces: how many, and piece `i` of it. Plain bytes are cut; other types
 * are one piece. */
int64_t coll_copy_pieces(int64_t count, const mpi_type_t *a, const mpi_type_t *b);
void coll_copy_piece(const coll_slot_t *slot, void *to, int64_t to_count, const mpi_type_t *to_type,
                     const void *from, int64_t from_count, const mpi_type_t *from_type, int64_t i);

/* So much is written, by the number of pieces, that it goes past the caches. */
static inline bool coll_is_streamed(int64_t pieces)
{
    return pieces >= XMPI_STREAM_FROM / XMPI_CHUNK;
}

/* The memory of one element of `type`, and how many elements make a block that stays in cache;
 * short vectors have smaller blocks, so that several cores find some. */
size_t coll_span(const mpi_type_t *type);
int64_t coll_block_elements(const coll_local_t *local, const coll_slot_t *slot,
                            const mpi_type_t *type);

/* This local group's share [*begin, *end) of the vector of `call`, in elements. */
void coll_slice(const coll_local_t *local, const coll_call_t *call, int64_t *begin, int64_t *end);

/* The local groups need an exit barrier after the work: always, or unless the data went through the
 * slots. */
bool coll_exit_always(const coll_slot_t *slot);
bool coll_exit_unpacked(const coll_slot_t *slot);

/* The address of element `index` of a buffer of `type`. */
static inline void *coll_element(const void *buffer, int64_t index, const mpi_type_t *type)
{
    return (char *)(uintptr_t)buffer + index * type->extent;
}

/* ---- The sides of a call as blocks, reductions apart ---- */

typedef struct {
    const void *buffer;
    int64_t count;
    const mpi_type_t *type;
    coll_vector_t counts, displacements;
    const MPI_Datatype *types;
} coll_side_t;

typedef struct {
    char *at;
    int64_t count;
    const mpi_type_t *type;
} coll_block_t;

coll_side_t coll_side_of(const coll_call_t *call, bool is_send);
/* How many blocks a side has. What is in place is in the other; a broadcast has the receive side.
 */
int coll_side_blocks(const coll_call_t *call, bool is_send);
coll_block_t coll_block_at(const coll_side_t *side, int i);

static inline uint64_t coll_block_bytes(const coll_block_t *b)
{
    return (uint64_t)b->count * b->type->size;
}

/* ---- Intercommunicators (inter.c) ---- */

/* Does this member give, or get, anything? Does it give the same to all? */
bool coll_inter_gives(const coll_call_t *call);
bool coll_inter_gets(const coll_call_t *call);
bool coll_inter_gives_one(const coll_call_t *call);
/* Its data for or from member `peer` of the other group; count 0: nothing. Not of reductions. */
coll_block_t coll_inter_block(const coll_call_t *call, bool is_send, int peer);
/* Elements of the vector that it gives to a reduction. */
int64_t coll_inter_vector(const coll_call_t *call);

/* ---- Who is needed (need.c) ---- */

/* A collective that its caller waits for cannot end there before this member has called it, or, if
 * it is -1, every member; -2: none is known. `is_together`: nor before all members in this process
 * have. */
typedef struct {
    mpi_coll_t *coll;
    uint64_t number;
    int member;
    bool is_together;
} coll_need_t;

/* On the worker of the request's owner, which waits for it. False: it is not known; it may end
 * without any of those that have not called it. */
bool coll_need_of(const mpi_request_t *request, coll_need_t *need_p);

/* Count the messages of a collective whose members here have all arrived, for the monitor. */
void coll_count_messages(const coll_local_t *local, const coll_slot_t *slot);
/* ... of one member's call of a star. */
void coll_count_call(const coll_local_t *local, const coll_call_t *call);

extern const mpi_layer_t mpi_coll_layer;

#endif
