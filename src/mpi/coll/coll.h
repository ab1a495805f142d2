/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives, the short path: all members live in this process and see each other's memory, so a
 * collective is a meeting, not a tree of messages.
 *
 * The members on one worker form a part. A collective goes through these steps, in each part:
 *
 *   arrive    each member leaves its call in the part's slot; nobody waits here
 *   prepare   the last member of the part puts together what the others will read
 *   meet      the parts tell each other that they are there (dissemination, log2 P packets each)
 *   work      each part does its share, cut into pieces: they read and write the buffers of any
 *             member and depend on nothing but the meeting, so idle workers help (parallel.h)
 *   part      the parts tell each other that they are done, if others use a member's buffers
 *   finish    what had to wait for that; then the members' requests complete
 *
 * Nothing blocks: each step is taken by whoever of the worker is there when it becomes possible (a
 * call, or the worker's poll function). A blocking collective is a started one that is waited for.
 *
 * Collectives of one communicator are numbered. A part announces number s only after it finished
 * s - 2, and has four slots. So when a part has finished s, every part has announced s, hence
 * finished s - 2, and nobody looks any more at what s - 2 left in its slot: slot s is free for s +
 * 4 when s is finished and s + 2 as well, which the announcement of s + 4 implies.
 */
#ifndef XY_MPI_COLL_COLL_H
#define XY_MPI_COLL_COLL_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/datatype/op.h"
#include "mpi/object/comm.h"
#include "mpi/p2p/request.h"
#include "mpi/runtime/packet.h"

enum {
    COLL_SLOTS = 4,
    COLL_AHEAD = 2,   /* unfinished collectives a part may have announced */
    COLL_SMALL = 2048 /* bytes that travel through the slot instead of the members' buffers */
};

typedef struct coll_call coll_call_t;
typedef struct coll_part coll_part_t;
typedef struct coll_slot coll_slot_t;

/* A vector of counts or displacements in either width; NULL data: none. */
typedef struct {
    const void *data;
    bool is_wide; /* MPI_Count or MPI_Aint, else int */
} coll_vector_t;

static inline int64_t coll_at(coll_vector_t v, int i)
{
    return v.is_wide ? ((const int64_t *)v.data)[i] : ((const int *)v.data)[i];
}

/* What a kind of collective does. `prepare` and `finish` run on the part's worker, a piece on any;
 * they do not park. Any of them may be NULL. */
typedef struct {
    const char *name; /* "MPI_Bcast" */
    bool is_rooted;
    xy_status_t (*prepare)(coll_part_t *part, coll_slot_t *slot);
    int64_t (*pieces)(const coll_part_t *part, coll_slot_t *slot); /* NULL: one */
    void (*piece)(coll_part_t *part, coll_slot_t *slot, int64_t piece);
    void (*finish)(coll_part_t *part, coll_slot_t *slot);
    /* Must the parts meet again after the work? NULL: no. */
    bool (*parts_again)(const coll_slot_t *slot);
    /* With parts_again: may this member go on right after its part's work? NULL: no. */
    bool (*leaves_early)(const coll_call_t *call);
} coll_kind_t;

/* One member's call. */
struct coll_call {
    const coll_kind_t *kind;
    mpi_comm_t *comm;
    uint64_t seq;
    int rank; /* in comm */
    int root;
    const void *send; /* MPI_IN_PLACE was resolved: see is_in_place */
    void *receive;
    int64_t send_count, receive_count;
    mpi_type_t *send_type, *receive_type;
    coll_vector_t send_counts, send_displacements;
    coll_vector_t receive_counts, receive_displacements;
    const MPI_Datatype *send_types, *receive_types; /* Alltoallw */
    mpi_op_t *op;
    void (*leader)(void *const *inputs, int size, void *const *outputs); /* agree */
    bool is_in_place;
    bool is_nonblocking;
    uint64_t bytes; /* all members must agree on it; 0 where sizes may differ */
    void *copy;     /* made by prepare or work, freed at the end */
    mpi_request_t *request;
    coll_call_t *next;          /* in the backlog, among the deferred, or in a worker's mailbox */
    struct mpi_flow *flow;      /* it runs as a graph (flow.h) */
    struct flow_member *member; /* and is this to it */
    double left;                /* when the start returned, until Wait; 0: nobody asks */
    bool is_timed;              /* a meeting that counts in its rank's `flows` until then */
};

typedef enum { COLL_ARRIVING, COLL_MEETING, COLL_PARTING, COLL_AWAY } coll_state_t;

struct coll_slot {
    uint64_t seq;
    coll_state_t state;
    int arrived;
    const coll_kind_t *kind; /* of the first one heard of, here or elsewhere; NULL: nobody yet */
    bool is_nonblocking;
    int root, first; /* its root, its rank */
    uint64_t bytes;  /* its size, where all must have the same */
    bool is_held;    /* the part holds the communicator until it is finished */
    bool is_away;    /* it goes to the steward */
    bool is_back;    /* and has come back */
    bool is_packed;  /* set by prepare: the data goes through the slots, nobody waits */
    bool is_huge;    /* more data than caches hold: write past them */
    bool is_small;   /* set by prepare or pieces: the short way is taken */
    int round;
    uint32_t seen[2];    /* bit r: the packet of round r of meeting [0], parting [1] has come */
    uint64_t heard;      /* what came with the packet of round 0 of the meeting: see coll_data_of */
    coll_call_t **calls; /* [members of the part] */
    char *data;          /* [COLL_SMALL], of the part */
};

struct coll_part {
    mpi_coll_t *coll;
    int index;
    mpi_worker_t *worker;
    int members;
    int *member;          /* [members]: ranks in the communicator, increasing */
    uint64_t finished;    /* collectives finished by this part */
    bool is_moving;       /* inside advance(): handlers may come back here, */
    bool has_news;        /* and leave their news */
    int unheld;           /* references of finished collectives, to be given back */
    coll_call_t *backlog; /* calls whose slot is still in use, first come first */
    coll_slot_t slots[COLL_SLOTS];
    /* Apart from the slots, and untouched until small data comes: every rank has an
     * MPI_COMM_SELF. */
    _Alignas(64) char data[COLL_SLOTS][COLL_SMALL];
};

struct mpi_coll {
    mpi_group_t *group;
    uint32_t context;
    int size;
    int parts;
    int rounds;              /* ceil(log2(parts)) */
    coll_part_t **part;      /* [parts] */
    int most_members;        /* of a part */
    bool is_ordered;         /* the members of part i all come before those of part i + 1 */
    int steward;             /* worker that moves nonblocking collectives on; -1: none */
    int *worker_of;          /* [parts]: its worker's index */
    int *part_of;            /* [size]: the part of a member, */
    int *place_of;           /* and its place there */
    struct mpi_flows *flows; /* collectives that run as graphs (flow.h) */
    /* The rest changes, so it lives in other cache lines. */
    _Alignas(XMPI_LINES) _Atomic long references;
    int came[COLL_SLOTS]; /* the steward's: parts that announced themselves */
};

/* `bytes` of memory of the calling worker, valid until it is asked again; the job ends when there
 * is none. */
void *coll_scratch(size_t bytes);

/* The shared part of a communicator over `group`. Called once per communicator, by one member,
 * before any other uses it. */
xy_status_t mpi_coll_create(mpi_group_t *group, uint32_t context, mpi_coll_t **coll_p);
void mpi_coll_hold(mpi_coll_t *coll);    /* one per member; any thread */
void mpi_coll_release(mpi_coll_t *coll); /* the last release frees */

/* Progress. With communication cores, a nonblocking collective goes away: its parts announce
 * themselves to the steward of the communicator (one of those cores), which does the whole work
 * when all are there, shared with the other communication cores and with workers whose ranks wait,
 * and then sends every part its call back. With progress `none` a member's nonblocking collectives
 * wait in a list and begin when it next waits or tests. */
void coll_flush_deferred(mpi_rank_t *self);

/* Start `call` (filled in but for seq, rank and request) on `comm`. Blocking: `call` is on the
 * caller's stack, parks until it is over. Nonblocking: `call` came from coll_call_new and belongs
 * to the request. */
void coll_run(mpi_rank_t *self, coll_call_t *call);
int coll_start(mpi_rank_t *self, coll_call_t *call, MPI_Request *handle);

/* Member `rank`'s call of the same collective; valid in work and, for the own part, in prepare. */
static inline coll_call_t *coll_call_of(const coll_part_t *part, const coll_slot_t *slot, int rank)
{
    const mpi_coll_t *coll = part->coll;
    coll_part_t *other = coll->part[coll->part_of[rank]];

    return other->slots[slot->seq % COLL_SLOTS].calls[coll->place_of[rank]];
}

/* Part `index`'s slot of the same collective. */
static inline coll_slot_t *coll_slot_of(const coll_part_t *part, const coll_slot_t *slot, int index)
{
    return &part->coll->part[index]->slots[slot->seq % COLL_SLOTS];
}

/* What part `index` left for the others in prepare. */
static inline const char *coll_left_by(const coll_part_t *part, const coll_slot_t *slot, int index)
{
    return part->coll->part[index]->data[slot->seq % COLL_SLOTS];
}

/* The first `bytes` of what part `index` left in its slot's data in prepare. Between two parts,
 * eight bytes came along with the meeting: no other cache line has to cross. */
static inline const char *coll_data_of(const coll_part_t *part, const coll_slot_t *slot, int index,
                                       uint64_t bytes)
{
    if (bytes <= sizeof(slot->heard) && part->coll->parts == 2 && index != part->index &&
        slot->seen[0] != 0)
        return (const char *)&slot->heard;
    return coll_left_by(part, slot, index);
}

/* For the making of communicators: gather a pointer from every member, let one of them compute on
 * all, and give everybody what it made.
 *
 * All members call it with the same `leader`. When all have arrived, leader(inputs, size, outputs)
 * runs once: inputs[i] is member i's `input`, outputs[i] its `output`, memory the leader may write.
 * Then all return. Parks. */
typedef void (*mpi_leader_fn)(void *const *inputs, int size, void *const *outputs);
int mpi_coll_agree(mpi_comm_t *comm, const void *input, void *output, mpi_leader_fn leader);

/* Handler of XMPI_PACKET_COLL. */
void mpi_coll_packet(mpi_worker_t *worker, int from, mpi_packet_t *packet);

extern const coll_kind_t coll_barrier, coll_agree;                         /* coll.c */
extern const coll_kind_t coll_bcast, coll_gather, coll_scatter;            /* coll_rooted.c */
extern const coll_kind_t coll_allgather, coll_alltoall;                    /* coll_all.c */
extern const coll_kind_t coll_reduce, coll_allreduce, coll_reduce_scatter; /* coll_reduce.c */
extern const coll_kind_t coll_scan, coll_exscan;                           /* coll_scan.c */

/* `count` elements of `type` from one place to another, where the counts and types may differ. */
void coll_copy(void *to, int64_t to_count, const mpi_type_t *to_type, const void *from,
               int64_t from_count, const mpi_type_t *from_type);

/* A copy between members as pieces: how many, and piece `i` of it. Plain bytes are cut; other types
 * are one piece. */
int64_t coll_copy_pieces(int64_t count, const mpi_type_t *a, const mpi_type_t *b);
void coll_copy_piece(const coll_slot_t *slot, void *to, int64_t to_count, const mpi_type_t *to_type,
                     const void *from, int64_t from_count, const mpi_type_t *from_type, int64_t i);

/* The memory of one element of `type`, and how many elements make a block that stays in cache;
 * short vectors have smaller blocks, so that several cores find some. */
size_t coll_span(const mpi_type_t *type);
int64_t coll_block_elements(const coll_slot_t *slot, const mpi_type_t *type);

/* This part's share [*begin, *end) of a vector of `count` elements. */
void coll_slice(const coll_part_t *part, int64_t count, int64_t *begin, int64_t *end);

/* The parts meet again after the work: always, or unless the data went through the slots. */
bool coll_parts_always(const coll_slot_t *slot);
bool coll_parts_unpacked(const coll_slot_t *slot);

/* The address of element `index` of a buffer of `type`. */
static inline void *coll_element(const void *buffer, int64_t index, const mpi_type_t *type)
{
    return (char *)(uintptr_t)buffer + index * type->extent;
}

#endif
