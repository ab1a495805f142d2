/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The waits of the ranks of all processes, in one place: each process writes those of its own ranks
 * as text, and process 0 reads all texts.
 *
 *   picture_write(&text, &rank);                  (in each process, for each rank that waits)
 *   picture_t *all = picture_new(ranks);          (in process 0; NULL: no memory)
 *   picture_read(all, process, text.s);           (for each process that has answered)
 *   members = picture_find(all, PICTURE_PARKED, stuck);
 *   picture_destroy(all);
 */
#ifndef XY_MPI_CHECK_PICTURE_H
#define XY_MPI_CHECK_PICTURE_H

#include <stdint.h>

#include "base/base.h"
#include "mpi/check/knot.h"

/* A collective, of the communicator with this context, that cannot end at a rank before others have
 * called it: `member`, a rank of the world, or PICTURE_ALL of its members, or PICTURE_NONE; and, if
 * it is together, all members in the process of that rank. */
enum { PICTURE_ALL = -1, PICTURE_NONE = -2 };

typedef struct {
    uint32_t context;
    uint64_t number;
    int member;
    bool is_together;
} picture_need_t;

/* How many collectives a rank has called on a communicator. */
typedef struct {
    uint32_t context;
    uint64_t number;
} picture_calls_t;

typedef struct {
    int rank;
    bool is_polling, is_long; /* it tests again and again; for long */
    bool is_forced;           /* one of its sends waits only because of --check */
    knot_rank_t knot; /* of KNOT_ALL_OF there is `needs` instead of a list; messages are names */
    const picture_need_t *needs; /* [knot.count] */
    const picture_calls_t *calls;
    int calls_count;
} picture_rank_t;

/* A message as all processes call it: the one that sends it, and its request there. */
const void *picture_message(int process, uint64_t request);

void picture_write(xy_text_t *text, const picture_rank_t *rank);

typedef struct picture picture_t;

picture_t *picture_new(int size);
void picture_destroy(picture_t *picture); /* NULL is fine */
/* False: it is something else, or memory ran out; then none of its ranks is in the picture. */
bool picture_read(picture_t *picture, int process, const char *text);

/* The ranks that may be in a knot: those that are parked, those that have polled for long, too, or
 * all that poll. */
typedef enum { PICTURE_PARKED, PICTURE_LONG, PICTURE_POLLING } picture_who_t;

/* As check_knot_find; what the next two are about. */
int picture_find(picture_t *picture, picture_who_t who, bool *stuck);
/* The first wait of `rank`, which is stuck, that no other may end, and (or -1) for whom it is. */
int picture_wait(const picture_t *picture, const bool *stuck, int rank, int *partner_p);
/* The process that has told of `rank`; -1: none. */
int picture_process(const picture_t *picture, int rank);
const picture_rank_t *picture_rank(const picture_t *picture, int rank);

#endif
