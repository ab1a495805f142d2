/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gatherv as a star. No rank but the root knows all sizes, so each member decides whether there is
 * room for its own block: it has an equal part of the slot, in which the size comes first, and one
 * of the slot's wide memory for a longer block. The root takes larger ones from the members'
 * buffers, in pieces, with the help of idle workers.
 */
#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/coll/star.h"
#include "mpi/runtime/runtime.h"

static bool fits(const mpi_coll_t *coll, const coll_call_t *call)
{
    (void)coll;
    (void)call;
    return true;
}

/* The size of a block that stays in its member's buffer. */
static const uint64_t NOT_LEFT = UINT64_MAX;

enum { LONGEST = 2048 }; /* bytes of a block: copying a longer one twice costs more than waiting */

/* Bytes of a member's part of `room`; 0: there are too many members. */
static uint64_t share(const mpi_coll_t *coll, uint64_t room)
{
    return room / (uint64_t)coll->most_members / sizeof(uint64_t) * sizeof(uint64_t);
}

static bool fits_part(const mpi_coll_t *coll, uint64_t bytes)
{
    return bytes + sizeof(bytes) <= share(coll, STAR_DATA);
}

static bool fits_wide(const mpi_coll_t *coll, uint64_t bytes)
{
    return bytes <= LONGEST && bytes <= share(coll, STAR_WIDE) && share(coll, STAR_DATA) > 0;
}

/* Where a block of `bytes` goes; NULL: it stays in its buffer. */
static char *room_for(const coll_local_t *local, star_slot_t *slot, int rank, uint64_t bytes)
{
    const mpi_coll_t *coll = local->coll;
    uint64_t place = (uint64_t)coll->place_of[rank];

    if (fits_part(coll, bytes))
        return slot->data + place * share(coll, STAR_DATA) + sizeof(bytes);
    if (!fits_wide(coll, bytes))
        return NULL;
    if (slot->wide == NULL)
        slot->wide = xy_malloc(STAR_WIDE);
    return slot->wide != NULL ? slot->wide + place * share(coll, STAR_WIDE) : NULL;
}

/* Leave a member's block and its size in the slot; false if the block is too large. */
static bool leave(const coll_local_t *local, star_slot_t *slot, const coll_call_t *call)
{
    uint64_t part = share(local->coll, STAR_DATA), bytes;
    char *room;

    if (call->rank == call->root)
        return true;
    bytes = (uint64_t)call->send_count * call->send_type->size;
    room = room_for(local, slot, call->rank, bytes);
    if (room != NULL)
        mpi_type_pack(room, call->send, call->send_count, call->send_type, 0, bytes);
    else
        bytes = NOT_LEFT;
    if (part > 0)
        memcpy(slot->data + (uint64_t)local->coll->place_of[call->rank] * part, &bytes,
               sizeof(bytes));
    return room != NULL;
}

typedef struct {
    const coll_local_t *local;
    const star_slot_t *slot;
    const coll_call_t *root;
    uint64_t bytes;  /* of the root and of ranks that have not left their data, */
    int64_t depth;   /* and the most pieces that the block of one of them has */
    coll_slot_t how; /* is_streamed */
} job_t;

static char *place_of(const coll_call_t *root, int rank)
{
    return coll_element(root->receive, coll_count_at(root->receive_displacements, rank),
                        root->receive_type);
}

/* The size and the address of the data that `rank` left; NOT_LEFT. */
static uint64_t left_by(const job_t *job, int rank, const char **data_p)
{
    const mpi_coll_t *coll = job->local->coll;
    int group = coll->local_of[rank];
    uint64_t part = share(coll, STAR_DATA), place = (uint64_t)coll->place_of[rank],
             bytes = NOT_LEFT;
    const char *data = star_data_of(job->local, job->slot, group, STAR_DATA) + place * part;

    if (part > 0)
        memcpy(&bytes, data, sizeof(bytes));
    *data_p = data + sizeof(bytes);
    if (bytes != NOT_LEFT && !fits_part(coll, bytes))
        *data_p = star_wide_of(job->local, job->slot, group) + place * share(coll, STAR_WIDE);
    return bytes;
}

/* Unpack a block that was left into the root's buffer; ends the job if it is too large. */
static void take_left(const job_t *job, int rank, const char *data, uint64_t bytes)
{
    const coll_call_t *root = job->root;
    int64_t count = coll_count_at(root->receive_counts, rank);
    uint64_t room = (uint64_t)count * root->receive_type->size;

    if (bytes > room) {
        coll_call_t from = *root; /* the member may have returned */

        from.rank = rank;
        coll_refuse_excess(&from, root, bytes, room);
    }
    mpi_type_unpack(place_of(root, rank), count, root->receive_type, data, 0, bytes);
}

/* The call of a member whose data is in its buffer; NULL: it was left. */
static const coll_call_t *unleft(const job_t *job, int rank)
{
    const char *data;

    if (rank == job->root->rank)
        return job->root;
    return left_by(job, rank, &data) == NOT_LEFT ? star_call_of(job->local, job->slot, rank) : NULL;
}

/* Small data was left in place: the root's core takes it, and finds the ranks that left none. */
static void take_all_left(job_t *job)
{
    const coll_call_t *root = job->root;

    for (int r = 0; r < job->local->coll->size; r++) {
        int64_t count = coll_count_at(root->receive_counts, r);
        int64_t n = coll_copy_pieces(count, root->receive_type, root->receive_type);
        const char *data;
        uint64_t bytes = r != root->rank ? left_by(job, r, &data) : NOT_LEFT;

        if (bytes != NOT_LEFT) {
            take_left(job, r, data, bytes);
            continue;
        }
        job->bytes += (uint64_t)count * root->receive_type->size;
        job->depth = n > job->depth ? n : job->depth;
    }
}

/* Copy one piece of a block that was not left from the member's buffer to the root's. */
static void take_piece(void *arg, int64_t piece)
{
    const job_t *job = arg;
    const coll_call_t *root = job->root;
    int size = job->local->coll->size, r = (int)(piece % size);
    const coll_call_t *call = unleft(job, r);
    int64_t count = coll_count_at(root->receive_counts, r), i = piece / size;

    if (call != NULL && !call->is_in_place)
        coll_check_room(call, call->send_count, call->send_type, root, count, root->receive_type);
    if (call != NULL && !call->is_in_place &&
        i < coll_copy_pieces(count, root->receive_type, call->send_type))
        coll_copy_piece(&job->how, place_of(root, r), count, root->receive_type, call->send,
                        call->send_count, call->send_type, i);
}

static void take(const coll_local_t *local, star_slot_t *slot, const coll_call_t *root)
{
    job_t job = {.local = local, .slot = slot, .root = root};
    int size = local->coll->size;

    take_all_left(&job);
    job.how.is_streamed = coll_is_streamed((int64_t)(job.bytes / XY_DIRECT_PIECE));
    if (job.bytes > XY_DIRECT_PIECE / 2)
        mpi_parallel_run(take_piece, &job, job.depth * size);
    else /* not worth the help of others; none has a second piece */
        for (int r = 0; r < size; r++)
            take_piece(&job, r);
}

const coll_star_ops_t coll_gatherv_star = {
    .shape = STAR_TO_ROOT, .answers_at_once = true, .fits = fits, .leave = leave, .take = take};
