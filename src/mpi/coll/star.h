/* SPDX-License-Identifier: BSD-3-Clause */
/* The shape of small rooted direct collectives, in which ranks leave as soon as they can: star.c.
 */
#ifndef XY_MPI_COLL_STAR_H
#define XY_MPI_COLL_STAR_H

#include "mpi/coll/coll.h"

/* Collectives that a local group may have left and not finished. With few of them a rank that only
 * gives waits for packets from those that take. */
enum { STAR_SLOTS = 16 };
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
    int others;          /* at the root's group: the groups that have notified it */
    bool is_rooted;      /* from the root: its data is there. To the root: it has taken this group's
                          */
    bool is_sending;     /* packets about it are on their way: it must not end */
    coll_call_t *root;   /* to the root: its call */
    coll_call_t **calls; /* [members of the local group], NULL: not waiting */
    uint64_t *words; /* [locals]: the first bytes of the others' data, which came with packets */
    char *data;      /* [STAR_DATA], of the local group */
    char *wide;      /* [STAR_WIDE], likewise; NULL: not needed yet */
} star_slot_t;

/* The functions of a kind of collective as a star. Runs on the local group's worker; does not
 * park. */
struct coll_star_ops {
    bool goes_up; /* data go to the root; else from it */
    /* Small enough? All members come to the same answer. */
    bool (*fits)(const mpi_coll_t *coll, const coll_call_t *call);
    /* From the root: its data into the slot. To the root: those of each member. False: there is no
     * room, and the member waits until the root has taken them from its buffer. */
    bool (*leave)(const coll_local_t *local, star_slot_t *slot, const coll_call_t *call);
    /* From the root: the bytes that its packet to local group `group` carries. NULL: the first of
     * the data. */
    uint64_t (*word)(const coll_local_t *local, const star_slot_t *slot, int group);
    /* To the root: all members here have left their data, `call` is the last. NULL: nothing. */
    void (*combine)(const coll_local_t *local, star_slot_t *slot, const coll_call_t *call);
    /* From the root: the data of a member. To the root: those of the root. */
    void (*take)(const coll_local_t *local, const star_slot_t *slot, const coll_call_t *call);
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
/* An open one with a smaller number than `before` that not all members here have called. */
bool coll_star_lacks(const coll_local_t *local, uint64_t before, uint64_t *number_p,
                     coll_claim_t *claim_p);
/* The i-th claim of an open one; false: there is none. */
bool coll_star_claim(const coll_local_t *local, int i, uint64_t *number_p, coll_claim_t *claim_p);

#endif
