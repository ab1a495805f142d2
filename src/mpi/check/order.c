/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/check/order.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "mpi.h"
#include "mpi/check/conflicts.h"
#include "mpi/check/cores.h"
#include "mpi/check/pending.h"

/* Members of a communicator are seldom further apart than this many collectives. */
enum { MEETINGS = 16 };

/* The last collectives of a communicator: when the last member so far has entered each. */
typedef struct {
    uint64_t numbers[MEETINGS], times[MEETINGS];
} meetings_t;

/* The kind of order that a call gives its rank. */
typedef enum {
    HEARS_NOTHING,
    HEARS_MESSAGES, /* that were sent to it */
    HEARS_MEMBERS,  /* of the collective */
    HEARS_ALL
} hears_t;

enum { KNOWN = 16 };
typedef struct {
    const char *call;
    hears_t hears;
} known_t;

/* Other ranks write only what is atomic, with times of the clock, which never go back by much: a
 * rank that has heard too much is not reported. */
typedef struct {
    uint64_t heard;
    _Atomic uint64_t sent;           /* the last message to this rank */
    _Atomic uint64_t written;        /* the last operation that has changed memory of its windows */
    const char *call;                /* in which it is; NULL: none */
    const char *anchor;              /* frame of on_call when it was entered */
    meetings_t *meetings;            /* of the collective in that call; NULL: none */
    uint64_t number;                 /* its number */
    check_meeting_t entered_barrier; /* the collective in that call, if it is one */
    check_meeting_t barrier;         /* check_order_barrier */
    xy_hash_t entered;               /* by context: how many collectives, as a pointer */
    known_t known[KNOWN];            /* of calls that it has made */
} state_t;

static _Atomic uint64_t now;
static state_t *states; /* [count] */
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of meetings */
static xy_hash_t communicators;                          /* of meetings_t, by context */
static _Atomic bool is_hidden;   /* ranks may see what others do in another way: */
static _Atomic bool has_windows; /* ... of other processes */

uint64_t check_order_now(void)
{
    return atomic_fetch_add(&now, 1) + 1;
}

/* A program may read its memory at any time. */
uint64_t check_order_heard(const mpi_rank_t *self)
{
    const state_t *s = self->world < count ? &states[self->world] : NULL;

    uint64_t written;

    if (s == NULL || !mpi_is_observed(self) || check_has_threads(self) || is_hidden)
        return UINT64_MAX;
    written = s->written;
    return s->heard > written ? s->heard : written;
}

const char *check_order_anchor(const mpi_rank_t *self)
{
    return self->world < count && !check_has_threads(self) ? states[self->world].anchor : NULL;
}

void check_order_hear_all(const mpi_rank_t *self)
{
    if (self->world < count)
        states[self->world].heard = now;
}

void check_order_send(int to)
{
    if (to >= 0 && to < count)
        states[to].sent = now; /* all events so far are before it */
}

void check_order_write(int to)
{
    if (to >= 0 && to < count)
        states[to].written = now;
}

static meetings_t *meetings_of(uint32_t context)
{
    meetings_t *m = xy_hash_get(&communicators, context);

    if (m != NULL)
        return m;
    m = xy_calloc(1, sizeof(*m));
    if (m != NULL && xy_hash_set(&communicators, context, m) != XY_OK) {
        xy_free(m);
        m = NULL;
    }
    return m;
}

check_meeting_t check_order_barrier(const mpi_rank_t *self)
{
    bool is_known = self->world < count && mpi_is_observed(self) && !check_has_threads(self) &&
                    !is_hidden && !has_windows;

    return is_known ? states[self->world].barrier : (check_meeting_t){0, 0};
}

/* Contexts of some communicators are those of other groups, too. */
static uint64_t name_of(const mpi_comm_t *comm)
{
    uint64_t members =
        (uint64_t)(unsigned)comm->size << 32 | (unsigned)mpi_comm_world_rank(comm, 0);

    return xy_hash_u64(members ^ xy_hash_u64(comm->context));
}

/* All members count their collectives alike. */
void check_order_meet(const mpi_rank_t *self, const mpi_comm_t *comm, bool is_barrier)
{
    const uint32_t context = comm->context;
    state_t *s = self->world < count ? &states[self->world] : NULL;
    meetings_t *m;
    int slot;

    if (s == NULL)
        return;
    s->number = (uintptr_t)xy_hash_get(&s->entered, context) + 1;
    slot = (int)(s->number % MEETINGS);
    pthread_mutex_lock(&lock);
    m = meetings_of(context);
    if (m != NULL && m->numbers[slot] <= s->number) {
        m->numbers[slot] = s->number;
        m->times[slot] = now;
    }
    pthread_mutex_unlock(&lock);
    s->meetings = m;
    s->entered_barrier = /* ... unless a member may have failed */
        is_barrier && !mpi_survives ? (check_meeting_t){name_of(comm), s->number}
                                    : (check_meeting_t){0, 0};
    if (m == NULL || xy_hash_set(&s->entered, context, (void *)(uintptr_t)s->number) != XY_OK)
        is_hidden = true; /* no memory */
}

/* ---- Calls ---- */

static bool is_one_of(const char *call, const char *const *names)
{
    while (*names != NULL && strcmp(*names, call) != 0)
        names++;
    return *names != NULL;
}

static bool is_collective_access(const char *call)
{
    return strncmp(call, "MPI_File_", 9) == 0 && strstr(call, "_all") != NULL;
}

/* Calls that tell nothing of other ranks; those that return data of a window report that to
 * check_order_hear_all themselves. */
// clang-format off
static const char *const hears_nothing[] = {
    "MPI_Put", "MPI_Accumulate", "MPI_Rput", "MPI_Raccumulate", "MPI_Send", "MPI_Isend",
    "MPI_Irecv", "MPI_Win_lock", "MPI_Win_flush", "MPI_Win_unlock", "MPI_Win_flush_all",
    "MPI_Win_flush_local", "MPI_Win_lock_all", "MPI_Win_unlock_all", "MPI_Comm_rank",
    "MPI_Comm_size", "MPI_Comm_group", "MPI_Comm_get_name", "MPI_Comm_set_name",
    "MPI_Comm_get_attr", "MPI_Comm_set_errhandler", "MPI_Group_size", "MPI_Group_rank",
    "MPI_Group_incl", "MPI_Group_excl", "MPI_Group_free", "MPI_Group_translate_ranks",
    "MPI_Cart_coords", "MPI_Cart_rank", "MPI_Cart_shift", "MPI_Cart_get", "MPI_Info_create",
    "MPI_Info_set", "MPI_Info_get", "MPI_Info_free", "MPI_File_read", "MPI_File_write",
    "MPI_File_read_at", "MPI_File_write_at", "MPI_File_iread", "MPI_File_iwrite",
    "MPI_File_iread_at", "MPI_File_iwrite_at", "MPI_File_seek", "MPI_File_get_position",
    "MPI_File_get_byte_offset", "MPI_File_get_view", "MPI_File_get_amode",
    "MPI_File_get_atomicity", "MPI_File_get_info", "MPI_File_set_errhandler", NULL};
static const char *const hears_members[] = {
    "MPI_Barrier", "MPI_Bcast", "MPI_Allreduce", "MPI_Reduce", "MPI_Scatter", "MPI_Scatterv",
    "MPI_Gather", "MPI_Gatherv", "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall",
    "MPI_Alltoallv", "MPI_Alltoallw", "MPI_Scan", "MPI_Exscan", "MPI_Reduce_scatter",
    "MPI_Reduce_scatter_block", "MPI_File_open", "MPI_File_set_view", "MPI_File_sync",
    "MPI_File_set_size", "MPI_File_preallocate", "MPI_File_set_atomicity", NULL};
static const char *const hears_messages[] = {
    "MPI_Recv", "MPI_Sendrecv", NULL};
// clang-format on

static hears_t find_hears(const char *call)
{
    return is_one_of(call, hears_nothing)                                 ? HEARS_NOTHING
           : is_one_of(call, hears_members) || is_collective_access(call) ? HEARS_MEMBERS
           : is_one_of(call, hears_messages)                              ? HEARS_MESSAGES
                                                                          : HEARS_ALL;
}

/* Names are compared once: those of calls are constants of the library. */
static hears_t hears_of(state_t *s)
{
    known_t *known = &s->known[(uintptr_t)s->call / 8 % KNOWN];

    if (known->call != s->call)
        *known = (known_t){s->call, find_hears(s->call)};
    return known->hears;
}

/* Members that are far ahead may have taken the place. */
static uint64_t heard_of_members(const state_t *s)
{
    int slot = (int)(s->number % MEETINGS);
    uint64_t heard = now;

    if (s->meetings == NULL || mpi_job->processes > 1)
        return heard;
    pthread_mutex_lock(&lock);
    if (s->meetings->numbers[slot] == s->number)
        heard = s->meetings->times[slot];
    pthread_mutex_unlock(&lock);
    return heard;
}

/* The events that come before the rank's return from its call. */
static uint64_t heard_in(state_t *s)
{
    switch (hears_of(s)) {
    case HEARS_NOTHING:
        return 0;
    case HEARS_MESSAGES:
        return mpi_job->processes > 1 ? now : s->sent; /* by another process */
    case HEARS_MEMBERS:
        return heard_of_members(s);
    default:
        return now;
    }
}

static void note_window(const char *call)
{
    if (strcmp(call, "MPI_Win_allocate_shared") == 0)
        is_hidden = true;
    if (mpi_job->processes > 1 && strncmp(call, "MPI_Win_", 8) == 0)
        has_windows = true;
}

/* Called at the beginning and end of each MPI call: note what the rank has heard of others in it.
 */
static void on_call(mpi_rank_t *self)
{
    state_t *s = self->world < count ? &states[self->world] : NULL;
    uint64_t heard;

    if (s == NULL)
        return;
    if (self->call.name == NULL && s->call != NULL) {
        heard = heard_in(s);
        s->heard = heard > s->heard ? heard : s->heard;
        if (hears_of(s) != HEARS_NOTHING)
            s->barrier =
                hears_of(s) == HEARS_MEMBERS ? s->entered_barrier : (check_meeting_t){0, 0};
        s->meetings = NULL;
        s->entered_barrier = (check_meeting_t){0, 0};
        note_window(s->call);
    }
    if (self->call.name != NULL && self->thread_level == MPI_THREAD_SERIALIZED)
        mpi_thread_be_alone(self);
    check_conflicts_call(self);
    check_pending_call(self);
    s->call = self->call.name;
    s->anchor = __builtin_frame_address(0);
}

xy_status_t check_order_begin(int ranks)
{
    states = xy_calloc((size_t)ranks, sizeof(*states));
    if (states == NULL)
        return xy_fail_memory("checking the program");
    for (int r = 0; r < ranks; r++)
        xy_hash_init(&states[r].entered, XY_HASH_U64);
    xy_hash_init(&communicators, XY_HASH_U64);
    count = ranks;
    for (int r = 0; r < mpi_job->size; r++)
        mpi_job->ranks[r].observed |= XMPI_LOOK_RECORD;
    mpi_call_watch = on_call;
    return XY_OK;
}
