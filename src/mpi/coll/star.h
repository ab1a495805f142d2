/* SPDX-License-Identifier: BSD-3-Clause */
/* The shape of small rooted direct collectives, in which ranks leave as soon as they can: star.c.
 */
#ifndef XY_MPI_COLL_STAR_H
#define XY_MPI_COLL_STAR_H

#include "mpi/coll/coll.h"

/* Collectives that a local group may have left and not finished. With few of them a rank that only
 * gives waits for packets from those that take. One packet answers up to half of them. */
enum { STAR_SLOTS = 16, STAR_ANSWERS = STAR_SLOTS / 2 };
/* Groups of a collective whose data go to all later groups: each pair of them has a packet. */
enum { STAR_LATER_GROUPS = 8 };
/* Bytes of a slot. Twice what a collective that all ranks know to be small needs: members of a
 * gatherv decide for themselves whether their block fits. */
enum { STAR_DATA = 2 * COLL_SMALL };
/* Bytes for a gatherv's longer blocks, in memory that is made when the first comes. */
enum { STAR_WIDE = 64 << 10 };

/* A local group's state of one of them. Its worker's, but for `data` (star.c). */
typedef struct {
    uint64_t seq;
    coll_claim_t claim;  /* of the first to come, here or elsewhere; kind NULL: none yet */
    uint32_t mode;       /* of its call: coll_mode */
    int arrived;         /* members here that have called, */
    int waiting;         /* and of them those that wait for the root, in `calls` */
    int heard;           /* groups whose data is there, */
    int answered;        /* and groups that have taken this one's */
    bool is_left;        /* from the root, in its group: it has left its data */
    bool has_taken;      /* the members have theirs, and the answers are made */
    bool is_sending;     /* packets about it are on their way: it must not end */
    coll_call_t *root;   /* to the root: its call */
    coll_call_t **calls; /* [members of the local group], NULL: not waiting */
    uint64_t *words; /* [locals]: the first bytes of the others' data, which came with packets */
    char *data;      /* [STAR_DATA], of the local group */
    char *wide;      /* [STAR_WIDE], likewise; NULL: not needed yet */
} star_slot_t;

/* Direction of data. */
typedef enum {
    STAR_FROM_ROOT,
    STAR_TO_ROOT,
    STAR_TO_LATER /* from each rank to those with greater numbers; local groups hold neighbours */
} star_shape_t;

/* The functions of a kind of collective as a star. Runs on the local group's worker; does not park.
 */
struct coll_star_ops {
    star_shape_t shape;
    bool answers_at_once; /* members may wait until the root has taken their data */
    /* Small enough? All members come to the same answer. */
    bool (*fits)(const mpi_coll_t *coll, const coll_call_t *call);
    /* From the root: its data into the slot. Else: those of each member. False: there is no room,
     * and the member waits until the root has taken them from its buffer. */
    bool (*leave)(const coll_local_t *local, star_slot_t *slot, const coll_call_t *call);
    /* From the root: the bytes that its packet to local group `group` carries. NULL: the first of
     * the data. */
    uint64_t (*word)(const coll_local_t *local, const star_slot_t *slot, int group);
    /* But from the root: all members here have left their data, `call` is the last. NULL: nothing.
     */
    void (*combine)(const coll_local_t *local, star_slot_t *slot, const coll_call_t *call);
    /* From the root: the data of a member. To the root: those of the root. To later ranks: those of
     * a member, in order of rank. */
    void (*take)(const coll_local_t *local, star_slot_t *slot, const coll_call_t *call);
};

extern const coll_star_ops_t coll_gatherv_star;

/* The first `bytes` of what local group `index` left. */
const char *star_data_of(const coll_local_t *local, const star_slot_t *slot, int index,
                         uint64_t bytes);
/* Its `wide`. */
const char *star_wide_of(const coll_local_t *local, const star_slot_t *slot, int index);
/* To the root: the call of a member that has not left its data; NULL: it has. */
const coll_call_t *star_call_of(const coll_local_t *local, const star_slot_t *slot, int rank);

void coll_star_destroy(coll_local_t *local);

/* Is a call that has its arguments a star? */
static inline bool coll_star_wants(const coll_call_t *call)
{
    const mpi_coll_t *coll = call->comm->coll;

    return call->kind->star != NULL && coll->size > 1 &&
           !(call->how != COLL_BLOCKING && coll->progress_worker >= 0) &&
           call->kind->star->fits(coll, call);
}

/* Start a call that has its number. Does not park. */
void coll_star_start(coll_local_t *local, coll_call_t *call);
/* Handler of packets of the phase COLL_PHASE_STAR. */
void coll_star_packet(coll_local_t *local, const mpi_packet_t *packet);
/* The same of COLL_PHASE_ANSWER. */
void coll_star_answered(coll_local_t *local, const mpi_packet_t *packet);
/* Send the answers that the local groups of `worker`, the calling one, owe. The groups may be gone
 * afterwards. */
void coll_star_answer(mpi_worker_t *worker);
/* A worker that has nothing to do: the same, after some time. */
bool coll_star_help(mpi_worker_t *worker);
/* Does this local group owe answers? */
bool coll_star_owes(const coll_local_t *local);
/* An open one with a smaller number than `before` that not all members here have called. */
bool coll_star_lacks(const coll_local_t *local, uint64_t before, uint64_t *number_p,
                     coll_claim_t *claim_p);
/* The i-th claim of an open one; false: there is none. */
bool coll_star_claim(const coll_local_t *local, int i, uint64_t *number_p, coll_claim_t *claim_p);

#endif
