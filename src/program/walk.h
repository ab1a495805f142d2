/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk of a description: every process runs its code (process.h), and its MPI calls are calls
 * of a simulated job (sim/job.h), exactly those that a real run in virtual time makes.
 */
#ifndef XY_PROGRAM_WALK_H
#define XY_PROGRAM_WALK_H

#include <mpi.h>
#include <string.h>

#include "arith/arith.h"
#include "place/place.h"
#include "program/predict.h"
#include "program/process.h"
#include "sim/sim.h"

typedef struct walk walk_t;
typedef struct walker walker_t;

/* The last order of ranks that a grid was given (MPI_Cart_create with reorder): all members of its
 * communicator ask for the same. */
typedef struct {
    const struct walk_comm *comm; /* NULL: none yet */
    int ndims, *dims, *periods;   /* dims, periods: of the arena */
    int32_t *number;              /* [size of comm] the new rank of each; -1: none */
} walk_order_t;

/* A grid, of a communicator with a Cartesian topology. */
typedef struct {
    int ndims;
    int *dims, *periods; /* [ndims] */
} walk_cart_t;

/* The neighbours of a member of a communicator with a graph. */
typedef struct {
    int in, out;
    int *sources, *destinations; /* of the arena */
} walk_graph_t;

/* One collective in which data that is kept is moved, or whose members agree on something; until
 * all are complete. */
typedef struct walk_meeting {
    struct walk_meeting *next;
    uint64_t number;
    int32_t arrived, over;
    uint8_t **given;        /* [size]: what each has brought */
    uint64_t *bytes;        /* [size] */
    uint8_t *result;        /* of a reduction, once it has been made */
    struct walk_made *made; /* [size], of an agreement: what each gets */
} walk_meeting_t;

/* The shared data of the members of a persistent collective, until all have made their request. */
typedef struct walk_part {
    uint64_t id; /* number of the persistent collective on its communicator */
    int32_t joined;
    struct walk_comm *comm; /* in which its starts are numbered */
    struct walk_part *next;
} walk_part_t;

/* The call of the first member of a collective, for the others. */
typedef struct {
    uint64_t number; /* of the collective, and 1; 0: none */
    uint64_t bytes;  /* of those that all give */
    int32_t kind, root, rank;
    uint32_t place;
} walk_claim_t;

enum { WALK_CLAIMS = 8 }; /* collectives of a communicator that are compared at once */

/* A communicator, one for all its members. An intercommunicator is one of both groups, the low one
 * first; ranks of its members are numbered so, but in what the program sees. */
typedef struct walk_comm {
    uint32_t context;
    int32_t size;
    int32_t lows;         /* intercommunicator: members of the low group; 0: there is one group */
    int32_t *procs;       /* [size]; NULL: all processes in their order */
    int32_t *sorted;      /* [2 * size]: process and rank, by process; made when needed */
    xy_vcomm_t *vcomm;    /* made when needed */
    xy_vcomm_t **rooted;  /* intercommunicator: [size], of a root and the other group; or NULL */
    walk_part_t *parts;   /* of persistent collectives that some have not made yet */
    walk_cart_t cart;     /* dims NULL: none */
    walk_graph_t *graphs; /* [size] of the arena: the neighbours of each; NULL: none */
    walk_meeting_t *meetings;
    struct walk_window *window;       /* this is its own communicator; or NULL */
    walk_claim_t claims[WALK_CLAIMS]; /* by the number of the collective */
    struct walk_comm *next;           /* all there are */
} walk_comm_t;

typedef struct walk_made {
    walk_comm_t *comm; /* NULL: MPI_COMM_NULL */
    int32_t rank;
} walk_made_t;

/* The communicator behind a handle of a process. */
typedef struct {
    walk_comm_t *comm; /* NULL: freed */
    int32_t rank;
    uint64_t number;     /* of its next collective */
    uint64_t persistent; /* collectives that it has made */
} walk_member_t;

typedef struct {
    xy_extent_t map;
    int64_t basic; /* handle of the basic type that all of it is; 0: of several */
} walk_type_t;

/* One side of a message whose data is kept, until both have met. */
typedef struct walk_data {
    walker_t *from;
    uint64_t address, bytes, span;
    bool is_lost;                   /* its data cannot be followed */
    uint8_t *data;                  /* of a send, once captured */
    struct walk_data *next, **link; /* all there are */
} walk_data_t;

/* WALK_SEVERAL: a collective of neighbours, which is several messages. WALK_FILE: `number` bytes.
 */
typedef enum { WALK_SEND, WALK_RECEIVE, WALK_COLLECTIVE, WALK_SEVERAL, WALK_FILE } walk_kind_t;

/* Where a message goes or comes from, as the program says. */
typedef struct {
    walk_kind_t kind;
    int64_t buffer, count, type, peer, tag, comm;
    xy_vjob_mode_t mode;
    bool has_buffer;
    bool is_blocking; /* a send, in a call that ends it, too */
    bool is_hidden;   /* from the receives of the program */
} walk_transfer_t;

/* A message: where it goes or comes from, and the address of data that is kept; 0: none. */
typedef struct {
    xy_vjob_p2p_t p2p;
    uint64_t buffer, span; /* span: bytes of memory that it may write */
    bool is_lost;          /* more data than is followed, or with gaps */
} walk_message_t;

/* The later needs of a request: a collective with data, or a persistent one. */
typedef struct {
    walk_message_t message;  /* persistent: what Start begins, or ... */
    walk_member_t part;      /* collective: which is alone in its communicator */
    const code_site_t *site; /* collective: its call */
    int64_t args[];          /* of the call; WALK_SEVERAL: the numbers of its messages */
} walk_kept_t;

typedef struct {
    int32_t source, tag;
    uint64_t bytes;
} walk_status_t;

/* A request: a line of memory, because a large job has many of them. */
typedef struct {
    xy_vreq_t *vreq; /* NULL: done, or not active */
    walk_kind_t kind;
    bool is_used, is_persistent, is_active, is_done;
    walk_comm_t *comm; /* for the source in the status, whose group begins */
    int32_t first;     /* ... here */
    int32_t rank;      /* collective */
    walk_status_t status;
    uint64_t number;   /* WALK_SEVERAL: of messages */
    walk_kept_t *kept; /* or NULL */
} walk_request_t;

/* The memory of a member of a window. */
typedef struct {
    uint64_t address; /* 0: it is not kept */
    int64_t size, unit;
} walk_place_t;

/* A process that waits for a lock of a window. */
typedef struct walk_waiter {
    struct walk_waiter *next;
    int32_t rank, target; /* of the window */
    bool is_exclusive;
} walk_waiter_t;

/* A member's window. */
typedef struct {
    struct walk_window *shared; /* of all members; NULL: freed */
    walk_member_t member;       /* of the window's own communicator */
    double over;                /* when all operations so far are complete */
    bool is_allocated;          /* its memory goes with it */
    xy_members_t started, posted;
    int32_t *completions; /* requests: the end of the epoch of each origin in `posted` */
} walk_win_t;

/* A member's file: its place in the file's own communicator. */
typedef struct {
    walk_member_t member; /* without a communicator: closed */
    int64_t amode;
} walk_file_t;

/* Threads of OpenMP in a process, and the loop that they share (walk_team.c). */
typedef struct {
    int32_t threads, depth, loop_depth;
    bool is_shared, is_dynamic;
    double passes, chunk, chunk_seconds;
    double pass;    /* -1: all take equal time, and the loop is not walked */
    double even;    /* then: what all of them take */
    int32_t thread; /* else: that of the pass, and */
    double *loads;  /* ... [threads] what each has done */
} walk_team_t;

/* One process. */
struct walker {
    process_t process; /* first */
    walk_t *walk;
    int32_t rank;
    double ahead; /* seconds that it has computed and that the job has not been told of */
    double ahead_most;
    uint32_t ahead_place; /* the line with the most of it */
    walk_team_t team;
    xy_vec_t comms, groups, types, requests, windows,
        files;              /* lists of groups live as long as the walk */
    int32_t free_request;   /* where to look for one */
    int32_t current[2];     /* requests of the call that waits, and */
    walk_comm_t *made;      /* ... what it has made */
    walk_place_t offer;     /* of the window that it makes */
    walk_waiter_t waiter;   /* for a lock, and */
    walk_waiter_t *granted; /* ... those that hear of theirs from this one */
    xy_vreq_t **list;       /* the requests that it waits for */
    size_t list_capacity, list_count;
    int32_t *of_list; /* their requests */
    bool is_waiting;  /* the job has been asked, and the process continues */
    bool is_finalized, is_initialized;
    bool is_followed;     /* the call that it is in was compared with the recorded one */
    size_t recorded_next; /* the recorded call that is next, where a run is followed */
    size_t *learned_at;   /* [unknowns] values that it has taken; or NULL: none */
};

/* A variable of the environment that a process asked for and that is not there. */
typedef struct walk_unset {
    const char *name;
    struct walk_unset *next;
} walk_unset_t;

struct walk {
    const xy_predict_config_t *config;
    code_t *code;
    process_config_t process;
    xy_vjob_t *job;
    walker_t *walkers; /* [procs] */
    int32_t procs;
    walk_comm_t *comms; /* all */
    walk_comm_t *world;
    struct walk_offer *offers; /* of MPI_Intercomm_create, in walk_inter.c */
    struct walk_told *told;    /* of MPI_Comm_create_group, in walk_group.c */
    uint32_t next_context;
    xy_arena_t *arena; /* groups, grids */
    xy_vec_t models;   /* of walk_model_t, by the sites' `model` */
    uint32_t *labels;  /* for the trace: the name of each site's call, and */
    uint32_t *places;  /* ... its line; 0: the call touches memory only, and is no step */
    walk_unset_t *unset;
    walk_data_t *data;
    uint64_t kernel_calls;
    walk_order_t order;
    int32_t *several; /* requests of the call that runs */
    size_t several_capacity;
    xy_target_t *target;        /* of the machine's cores, and */
    uint32_t *leaf_of;          /* ... [procs] where processes are on it; NULL: not needed yet */
    struct walk_oracle *oracle; /* the recorded run that is followed; or NULL */
    xy_status_t status;
};

/* A kernel or loop of the description, with what it took. */
typedef struct {
    const char *name;
    bool is_kernel, is_missing, is_extrapolated;
    bool is_given; /* per_pass was */
    uint64_t calls;
    double seconds, weighted_error; /* error: seconds times relative error */
    double per_pass;                /* of a loop whose cost was given; else by the store */
    /* The last answer of the store. */
    int last_count;
    double last_sizes[XY_SIZES_MAX];
    const char *last_cluster;
    xy_estimate_t last;
} walk_model_t;

enum {
    WALK_COMM_FIRST = 0x1000, /* handles of what the program makes: the first of each kind */
    WALK_TYPE_FIRST = 0x10000,
    WALK_GROUP_FIRST = 0x1000000,
    WALK_REQUEST_FIRST = 0x2000000,
    WALK_FILE_FIRST = 0x3e000000,
    WALK_WINDOW_FIRST = 0x3f000000,
    WALK_MESSAGE_FIRST = 0x40000000, /* of MPI_Mprobe: requests that have not begun */
};

/* A handler of an MPI call. As process_ops_t.mpi. */
typedef bool (*walk_fn)(walker_t *w, const code_site_t *site, int64_t *args);

typedef struct {
    const char *name;
    walk_fn run;
    int32_t extra; /* distinguishes calls with the same handler */
} walk_call_t;

/* The tables of the files below, each ended by {0}. */
extern const walk_call_t walk_calls_comm[], walk_calls_group[], walk_calls_inter[],
    walk_calls_cart[], walk_calls_type[], walk_calls_p2p[], walk_calls_wait[], walk_calls_coll[],
    walk_calls_persistent[], walk_calls_neighbor[], walk_calls_pack[], walk_calls_window[],
    walk_calls_epoch[], walk_calls_file[];
/* The handler of "MPI_Send", or NULL. */
const walk_call_t *walk_call_find(const char *name);
/* ---- Teams of OpenMP (walk_team.c) ---- */

/* Set the kind of a site; *model_p is the name of what it takes, NULL: nothing. EINVAL: none that
 * there is (reported). */
xy_status_t walk_team_prepare(code_site_t *site, const char **model_p);
/* How many threads its cost depends on. */
double walk_team_threads(const walk_team_t *t, int kind, const double *sizes);
/* A team, loop, pass or barrier begins or ends; `seconds` is what it costs, and `most` the largest
 * team (0: any). What the process takes in *takes_p. False: it failed (reported). */
bool walk_team_run(process_t *p, walk_team_t *t, int kind, const double *sizes, double seconds,
                   int32_t most, double *takes_p);
/* Computation in a shared loop is that of a thread. False: there is no such loop. */
bool walk_team_takes(walk_team_t *t, double seconds);
void walk_team_cleanup(walk_team_t *t);

int32_t walk_extra(const code_site_t *site);

/* ---- Objects ---- */

/* In the context of messages that do not meet those of the program. */
static const uint32_t WALK_SHADOW = UINT32_C(1) << 31;

/* NULL, in silence: no handle of one; its `comm` is NULL when it has been freed. */
walk_member_t *walk_comm_find(const walker_t *w, int64_t handle);
/* NULL (reported): not a communicator. */
walk_member_t *walk_comm(walker_t *w, int64_t handle);
/* A new one; its members are copied. NULL: memory ran out (reported). */
walk_comm_t *walk_comm_new(walk_t *walk, const int32_t *procs, int32_t size);
int32_t walk_comm_proc(const walk_comm_t *comm, int32_t rank);
int32_t walk_comm_rank(walk_comm_t *comm, int32_t proc); /* -1: no member */
xy_vcomm_t *walk_vcomm(walker_t *w, walk_comm_t *comm);
/* The same; NULL (reported) for an intercommunicator too. */
walk_member_t *walk_intracomm(walker_t *w, int64_t handle);
/* Split the communicator, an agreement of its members; true: *made_p has what this one gets. An
 * intercommunicator is split into intercommunicators. */
bool walk_split(walker_t *w, int64_t handle, int32_t color, int32_t key, walk_made_t *made_p);
/* The same into one communicator of both groups, in the order of their keys. */
bool walk_merge(walker_t *w, int64_t handle, int32_t key, walk_made_t *made_p);
/* Give its handle to the program. */
bool walk_give(walker_t *w, int64_t address, const walk_made_t *made);
/* The group of a member, and those whom it sends to: the other group of an intercommunicator. */
static inline int32_t walk_own_first(const walk_comm_t *comm, int32_t rank)
{
    return rank < comm->lows ? 0 : comm->lows;
}

static inline int32_t walk_own(const walk_comm_t *comm, int32_t rank)
{
    return rank < comm->lows ? comm->lows : comm->size - comm->lows;
}

static inline int32_t walk_peers_first(const walk_comm_t *comm, int32_t rank)
{
    return rank < comm->lows ? comm->lows : 0;
}

static inline int32_t walk_peers(const walk_comm_t *comm, int32_t rank)
{
    return comm->lows == 0 ? comm->size : comm->size - walk_own(comm, rank);
}

/* The group of a member, and the other group of an intercommunicator. */
static inline xy_members_t walk_group(const walk_comm_t *comm, int32_t rank, bool is_remote)
{
    int32_t first = is_remote ? walk_peers_first(comm, rank) : walk_own_first(comm, rank);

    return (xy_members_t){comm->procs != NULL ? comm->procs + first : NULL,
                          is_remote ? walk_peers(comm, rank) : walk_own(comm, rank)};
}

/* Its members, of the walk; false (reported): no group. And the handle of a group to the program; a
 * size of -1: memory ran out. */
bool walk_group_find(walker_t *w, int64_t handle, xy_members_t *group_p);
bool walk_group_give(walker_t *w, int64_t address, const int *list, int size);

/* false (reported): not a datatype. */
bool walk_type(walker_t *w, int64_t handle, walk_type_t *type_p);
/* The same in silence. */
bool walk_type_find(const walker_t *w, int64_t handle, walk_type_t *type_p);

static inline int64_t walk_type_extent(const walk_type_t *type)
{
    return type->map.ub - type->map.lb;
}

/* Is an array of it as many bytes as it has data, from the first on? */
static inline bool walk_type_is_dense(const walk_type_t *type)
{
    return type->map.lb == 0 && type->map.true_lb == 0 &&
           (uint64_t)walk_type_extent(type) == type->map.size;
}

/* Bytes of memory from the address on that an array of it may write. */
static inline uint64_t walk_type_span(const walk_type_t *type, int64_t count)
{
    int64_t span = count > 0 ? (count - 1) * walk_type_extent(type) + type->map.true_ub : 0;

    return span > 0 ? (uint64_t)span : 0;
}

/* Bytes of a basic element; a value and an index count as two. 1: there are several kinds. */
static inline uint64_t walk_type_element(const walk_type_t *type)
{
    return type->basic != 0 && type->map.elements > 0 ? type->map.size / type->map.elements : 1;
}

/* ---- Memory of the process; false or 0 (reported) when the address is wrong ---- */

static inline bool walk_set_int(walker_t *w, int64_t address, int32_t value)
{
    void *at = address != 0 ? process_at(&w->process, (uint64_t)address, 4) : NULL;

    if (at != NULL)
        memcpy(at, &value, 4);
    return w->process.status == XY_OK;
}

static inline bool walk_set_handle(walker_t *w, int64_t address, int64_t value)
{
    void *at = address != 0 ? process_at(&w->process, (uint64_t)address, 8) : NULL;

    if (at != NULL)
        memcpy(at, &value, 8);
    return w->process.status == XY_OK;
}

static inline bool walk_get_int(walker_t *w, int64_t address, int64_t index, int32_t *value_p)
{
    const void *at = process_at(&w->process, (uint64_t)address + 4 * (uint64_t)index, 4);

    if (at == NULL)
        return false;
    memcpy(value_p, at, 4);
    return *value_p != PROCESS_BLANK_32 || process_fail_blank(&w->process);
}

static inline bool walk_get_ints(walker_t *w, int64_t address, int64_t count, int *to)
{
    const void *at =
        count > 0 ? process_at(&w->process, (uint64_t)address, 4 * (uint64_t)count) : NULL;

    if (at != NULL)
        memcpy(to, at, 4 * (size_t)count);
    for (int64_t i = 0; at != NULL && i < count; i++)
        if (to[i] == PROCESS_BLANK_32)
            return process_fail_blank(&w->process);
    return at != NULL || count <= 0;
}

static inline bool walk_get_handle(walker_t *w, int64_t address, int64_t index, int64_t *value_p)
{
    const void *at = process_at(&w->process, (uint64_t)address + 8 * (uint64_t)index, 8);

    if (at == NULL)
        return false;
    memcpy(value_p, at, 8);
    return *value_p != PROCESS_BLANK_64 || process_fail_blank(&w->process);
}

static inline bool walk_set_status(walker_t *w, int64_t address, int32_t source, int32_t tag,
                                   uint64_t bytes)
{
    int32_t words[8] = {source, tag, MPI_SUCCESS};
    void *at;

    if (address == 0)
        return w->process.status == XY_OK;
    at = process_at(&w->process, (uint64_t)address, sizeof(words));
    memcpy(&words[4], &bytes, sizeof(bytes));
    if (at != NULL)
        memcpy(at, words, sizeof(words));
    return w->process.status == XY_OK;
}

/* ---- Requests ---- */

int32_t walk_request_new(walker_t *w); /* -1: memory ran out (reported) */

static inline walk_request_t *walk_request_at(walker_t *w, int32_t index)
{
    return &XY_VEC_AT(&w->requests, walk_request_t, index);
}

/* NULL (reported) */
static inline walk_request_t *walk_request(walker_t *w, int64_t handle)
{
    int64_t index = handle - WALK_REQUEST_FIRST;

    if (index < 0 || (uint64_t)index >= w->requests.count ||
        !walk_request_at(w, (int32_t)index)->is_used) {
        process_fail(&w->process, "no request");
        return NULL;
    }
    return walk_request_at(w, (int32_t)index);
}

static inline void walk_request_free(walker_t *w, walk_request_t *r)
{
    int32_t index = (int32_t)(r - (walk_request_t *)w->requests.data);

    if (r->kept != NULL)
        xy_free(r->kept);
    r->kept = NULL;
    r->is_used = false;
    if (index < w->free_request)
        w->free_request = index;
}

/* Wait for some that are pending; true: over. The same again after false. */
bool walk_wait(walker_t *w, const int32_t *requests, int32_t count, bool any);
/* A call that waits for one request, which it begins where the phase is 0: `index`, -1 after a
 * failure; later visits give any. The request when it is complete, freed; NULL before, and after a
 * failure. */
const walk_request_t *walk_wait_begun(walker_t *w, int32_t index);
/* One of several messages is complete where all are, which then are no requests any more. */
void walk_settle(walker_t *w, walk_request_t *r);
/* A look at some, which may be pending; true: it was made. The same again after false. */
bool walk_test(walker_t *w, const int32_t *requests, int32_t count, bool any);
/* For a collective with its arguments, or with NULL for a message; false: memory ran out
 * (reported). */
bool walk_keep(walker_t *w, walk_request_t *r, const code_site_t *site, const int64_t *args);
/* A request for a message, started; its number, -1: it failed. */
int32_t walk_transfer(walker_t *w, const walk_transfer_t *t);
/* A message that the program does not see; its request, -1: it failed. */
int32_t walk_message(walker_t *w, walk_kind_t kind, const xy_vjob_p2p_t *p2p);

/* The data of a message of this process; NULL: memory ran out (reported). */
walk_data_t *walk_data_new(walker_t *w, const walk_message_t *m);
/* The received data there is unknown; false: there is no such memory (reported). */
bool walk_data_lose(walker_t *w, uint64_t address, uint64_t bytes);

/* ---- Collectives ---- */

/* The member comes to its next collective and starts it; false: it failed. */
bool walk_coll_start(walker_t *w, walk_member_t *m, const xy_vjob_coll_t *call, int32_t *request_p);
/* All members come, as when a communicator is made, in the phases `first` and the next; true: they
 * have come, and the phase is behind these. */
bool walk_agree(walker_t *w, walk_member_t *m, int32_t first);
/* MPI_Start of a persistent one. */
bool walk_coll_again(walker_t *w, walk_request_t *r);
/* A collective in which the members agree: `give` copies what this one brings. */
walk_meeting_t *walk_meet(walker_t *w, walk_member_t *m, uint64_t number, const void *data,
                          uint64_t bytes);
walk_meeting_t *walk_meeting_find(walk_comm_t *comm, uint64_t number);
/* One member needs it no more. */
void walk_meeting_leave(walk_comm_t *comm, walk_meeting_t *meeting);
void walk_meeting_free(walk_meeting_t *meeting, int32_t size);
/* The kept data of a collective: given when it starts, taken when it is complete. */
bool walk_data_give(walker_t *w, walk_member_t *m, uint64_t number, const code_site_t *site,
                    const int64_t *args);
bool walk_data_take(walker_t *w, walk_request_t *r);
/* This member has come and takes nothing. */
void walk_data_pass(walk_member_t *m, uint64_t number);

#endif
