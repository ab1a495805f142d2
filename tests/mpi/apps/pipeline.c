/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pipeline whose stages are groups of ranks, of different sizes, joined to a ring by
 * intercommunicators. Vectors run through it: each stage has a vector in blocks, gets it from the
 * stage before in other blocks, and changes it. A link announces a vector with a broadcast from the
 * leader, moves it with an alltoallv (every other one nonblocking), compares the sums of all blocks
 * on both sides with an allgatherv, and gives back a credit per member in messages. The last stage
 * returns its sums to the first by a reduction. Every rank of the last stage computes each vector
 * alone as well.
 *
 *   pipeline [VECTORS [LENGTH]]
 */
#include "../check.h"

#include <stdlib.h>
#include <string.h>

enum { STAGES = 4, TAG_CREDIT = 7 };

static int stages, stage, rank, size; /* in the stage */
static MPI_Comm group;                /* of the stage */

/* A link to the next stage, or from the one before. */
typedef struct {
    MPI_Comm comm;
    int peers;
    int *counts, *offsets, *none; /* [peers] of an alltoallv; zeros */
    unsigned *sums;               /* [peers] */
    int *ones, *places;           /* [peers] of an allgatherv */
    MPI_Request moving;           /* MPI_REQUEST_NULL: nothing is */
    long credits;                 /* that this member has got */
} link_t;

typedef struct {
    int number, length;
    unsigned factor;
} header_t;

/* ---- The stages ---- */

/* The middle ones are larger. */
static int stage_of(int world, int ranks)
{
    int extra = ranks - stages;

    if (world == 0)
        return 0;
    if (stages > 2 && world <= 1 + extra / 2)
        return 1;
    return stages - (ranks - world) > 1 ? stages - (ranks - world)
           : stages > 2                 ? stages - 2
                                        : stages - 1;
}

static int first_of(int of, int parts, int i)
{
    return (int)((long)of * i / parts);
}

static unsigned begin_value(int number, int i)
{
    return (unsigned)(number * 7919 + i * 31 + i % 13);
}

/* The result of stage `s` for element i; `before` is the sum of the elements before it. */
static unsigned change(int s, unsigned factor, unsigned value, unsigned before)
{
    return s % 2 == 1 ? value * factor + (unsigned)s : value + before;
}

/* ---- Links ---- */

static void link_create(link_t *l, int peer_leader, int tag)
{
    *l = (link_t){.moving = MPI_REQUEST_NULL};
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, peer_leader, tag, &l->comm);
    MPI_Comm_remote_size(l->comm, &l->peers);
    l->counts = calloc((size_t)l->peers * 5, sizeof(int));
    l->sums = calloc((size_t)l->peers, sizeof(unsigned));
    CHECK(l->counts != NULL && l->sums != NULL);
    l->offsets = l->counts + l->peers;
    l->none = l->offsets + l->peers;
    l->ones = l->none + l->peers;
    l->places = l->ones + l->peers;
    for (int p = 0; p < l->peers; p++) {
        l->ones[p] = 1;
        l->places[p] = l->peers - 1 - p; /* they arrive in another order */
    }
}

static void link_free(link_t *l)
{
    MPI_Comm_free(&l->comm);
    free(l->counts);
    free(l->sums);
}

/* Find the elements of this rank's block in the block of each peer. */
static void lay_out(link_t *l, int length)
{
    int begin = first_of(length, size, rank), end = first_of(length, size, rank + 1);

    for (int p = 0; p < l->peers; p++) {
        int first = first_of(length, l->peers, p), last = first_of(length, l->peers, p + 1);

        first = first > begin ? first : begin;
        last = last < end ? last : end;
        l->counts[p] = last > first ? last - first : 0;
        l->offsets[p] = l->counts[p] > 0 ? first - begin : 0;
    }
}

/* One side of the move: the other gives nothing, or gets nothing. */
static void move_block(link_t *l, unsigned *block, int is_sender, int is_later)
{
    const int *give = is_sender ? l->counts : l->none, *get = is_sender ? l->none : l->counts;

    if (is_later)
        MPI_Ialltoallv(is_sender ? block : NULL, give, l->offsets, MPI_UNSIGNED,
                       is_sender ? NULL : block, get, l->offsets, MPI_UNSIGNED, l->comm,
                       &l->moving);
    else
        MPI_Alltoallv(is_sender ? block : NULL, give, l->offsets, MPI_UNSIGNED,
                      is_sender ? NULL : block, get, l->offsets, MPI_UNSIGNED, l->comm);
}

/* Both sides have the same elements. */
static void compare_sums(link_t *l, const unsigned *block, int n)
{
    unsigned own = 0, here, there = 0;

    for (int i = 0; i < n; i++)
        own += block[i];
    MPI_Allgatherv(&own, 1, MPI_UNSIGNED, l->sums, l->ones, l->places, MPI_UNSIGNED, l->comm);
    for (int p = 0; p < l->peers; p++)
        there += l->sums[p];
    MPI_Allreduce(&own, &here, 1, MPI_UNSIGNED, MPI_SUM, group);
    CHECK_EQUAL(here, there);
}

/* Peer p gives its credit to member p modulo their number, with how much it has got. */
static void take_credits(link_t *l, const header_t *h)
{
    for (int p = rank; p < l->peers; p += size) {
        MPI_Status status;
        int got[2];

        MPI_Recv(got, 2, MPI_INT, MPI_ANY_SOURCE, TAG_CREDIT, l->comm, &status);
        CHECK_EQUAL(status.MPI_SOURCE % size, rank);
        CHECK_EQUAL(got[0], h->number);
        CHECK_EQUAL(got[1], first_of(h->length, l->peers, status.MPI_SOURCE + 1) -
                                first_of(h->length, l->peers, status.MPI_SOURCE));
        l->credits++;
    }
}

static void give_credit(link_t *l, const header_t *h, int n)
{
    MPI_Send((int[]){h->number, n}, 2, MPI_INT, rank % l->peers, TAG_CREDIT, l->comm);
}

/* All of both stages say in the same way how it is called: every third one at once. */
static void announce(link_t *l, header_t *h, int root, int turn)
{
    MPI_Request request;

    if (turn % 3 == 0) {
        MPI_Bcast(h, 3, MPI_INT, root, l->comm);
        return;
    }
    MPI_Ibcast(h, 3, MPI_INT, root, l->comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void push(link_t *l, const header_t *h, unsigned *block, int n)
{
    header_t copy = *h;

    announce(l, &copy, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, h->number);
    lay_out(l, h->length);
    move_block(l, block, 1, h->number % 2);
    if (l->moving != MPI_REQUEST_NULL)
        MPI_Wait(&l->moving, MPI_STATUS_IGNORE);
    compare_sums(l, block, n);
    take_credits(l, h);
}

/* Returns this rank's block; *h has the number of the vector, and gets the rest. */
static unsigned *pull(link_t *l, header_t *h, int *n_p)
{
    unsigned *block;

    announce(l, h, 0, h->number);
    *n_p = first_of(h->length, size, rank + 1) - first_of(h->length, size, rank);
    block = calloc((size_t)*n_p + 1, sizeof(*block));
    CHECK(block != NULL);
    lay_out(l, h->length);
    move_block(l, block, 0, h->number % 2);
    if (l->moving != MPI_REQUEST_NULL)
        MPI_Wait(&l->moving, MPI_STATUS_IGNORE);
    compare_sums(l, block, *n_p);
    give_credit(l, h, *n_p);
    return block;
}

/* ---- Vectors ---- */

static header_t make_header(int number, int length)
{
    return (header_t){number, length + number * 17 % 41, (unsigned)(3 + 2 * number)};
}

static unsigned *make_block(const header_t *h, int *n_p)
{
    int first = first_of(h->length, size, rank);
    unsigned *block;

    *n_p = first_of(h->length, size, rank + 1) - first;
    block = calloc((size_t)*n_p + 1, sizeof(*block));
    CHECK(block != NULL);
    for (int i = 0; i < *n_p; i++)
        block[i] = begin_value(h->number, first + i);
    return block;
}

/* The elements of lower ranks come before those of this one. */
static void change_block(const header_t *h, unsigned *block, int n)
{
    unsigned own = 0, before = 0;

    for (int i = 0; i < n; i++)
        own += block[i];
    MPI_Exscan(&own, &before, 1, MPI_UNSIGNED, MPI_SUM, group);
    before = rank == 0 ? 0 : before;
    for (int i = 0; i < n; i++) {
        unsigned value = block[i];

        block[i] = change(stage, h->factor, value, before);
        before += value;
    }
}

/* The whole vector, by this rank alone, against its block. */
static void check_block(const header_t *h, const unsigned *block, int n)
{
    int first = first_of(h->length, size, rank);
    unsigned *all = calloc((size_t)h->length + 1, sizeof(*all));

    CHECK(all != NULL);
    for (int i = 0; i < h->length; i++)
        all[i] = begin_value(h->number, i);
    for (int s = 0; s < stages; s++) {
        unsigned before = 0;

        for (int i = 0; i < h->length; i++) {
            unsigned value = all[i];

            all[i] = change(s, h->factor, value, before);
            before += value;
        }
    }
    for (int i = 0; i < n; i++)
        CHECK_EQUAL(block[i], all[first + i]);
    free(all);
}

/* ---- Merged ---- */

/* The stages of a link as one group, the later stage first: what both know of the whole. */
static void check_merged(link_t *l, int is_first)
{
    MPI_Comm both, copy;
    int place, n, ranks[2] = {0, 0}, all[2];

    MPI_Comm_dup(l->comm, &copy);
    MPI_Intercomm_merge(copy, is_first, &both);
    MPI_Comm_free(&copy);
    MPI_Comm_rank(both, &place);
    MPI_Comm_size(both, &n);
    CHECK_EQUAL(n, size + l->peers);
    CHECK_EQUAL(place, is_first ? l->peers + rank : rank);
    ranks[is_first] = 1;
    MPI_Allreduce(ranks, all, 2, MPI_INT, MPI_SUM, both);
    CHECK_EQUAL(all[is_first], size);
    CHECK_EQUAL(all[!is_first], l->peers);
    MPI_Comm_free(&both);
}

int main(int argc, char **argv)
{
    int world, ranks, vectors, length, leaders[STAGES + 1] = {0};
    unsigned sum = 0, result = 0;
    link_t in, out;

    MPI_Init(&argc, &argv);
    vectors = argc > 1 ? atoi(argv[1]) : 12;
    length = argc > 2 ? atoi(argv[2]) : 200;
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    stages = ranks < STAGES ? ranks : STAGES;
    stage = stage_of(world, ranks);
    MPI_Comm_split(MPI_COMM_WORLD, stage, world, &group);
    MPI_Comm_rank(group, &rank);
    MPI_Comm_size(group, &size);
    for (int r = ranks - 1; r >= 0; r--)
        leaders[stage_of(r, ranks)] = r;
    for (int k = 0; stages > 1 && k < stages; k++) { /* link k leads from stage k */
        if (stage == k)
            link_create(&out, leaders[(k + 1) % stages], k);
        else if (stage == (k + 1) % stages)
            link_create(&in, leaders[k], k);
    }

    for (int v = 0; v < vectors; v++) {
        header_t h = make_header(v, length);
        int n;
        unsigned *block = stage == 0 ? make_block(&h, &n) : pull(&in, &h, &n);

        change_block(&h, block, n);
        if (stage < stages - 1)
            push(&out, &h, block, n);
        else
            check_block(&h, block, n);
        for (int i = 0; stage == stages - 1 && i < n; i++)
            sum += block[i];
        free(block);
    }

    /* The sums of the last stage go to the leader of the first, added up and one by one. */
    if (stages > 1 && stage == stages - 1) {
        MPI_Reduce(&sum, &result, 1, MPI_UNSIGNED, MPI_SUM, 0, out.comm);
        MPI_Gather(&sum, 1, MPI_UNSIGNED, NULL, 0, MPI_UNSIGNED, 0, out.comm);
    } else if (stages > 1 && stage == 0) {
        unsigned all = 0;

        MPI_Reduce(&sum, &result, 1, MPI_UNSIGNED, MPI_SUM, rank == 0 ? MPI_ROOT : MPI_PROC_NULL,
                   in.comm);
        MPI_Gather(NULL, 0, MPI_UNSIGNED, in.sums, 1, MPI_UNSIGNED,
                   rank == 0 ? MPI_ROOT : MPI_PROC_NULL, in.comm);
        for (int p = 0; p < in.peers; p++)
            all += in.sums[p];
        if (rank == 0)
            CHECK_EQUAL(all, result);
    }
    for (int k = 0; stages > 1 && k < stages; k++) {
        if (stage == k)
            check_merged(&out, 1);
        else if (stage == (k + 1) % stages)
            check_merged(&in, 0);
    }
    if (stages > 1) {
        CHECK_EQUAL(out.credits, stage < stages - 1
                                     ? (long)vectors * ((out.peers - rank + size - 1) / size)
                                     : 0);
        link_free(&in);
        link_free(&out);
    }
    if (world == 0)
        printf("pipeline: %d vectors through %d stages, checksum %u\n", vectors, stages,
               stages > 1 ? result : sum);
    MPI_Comm_free(&group);
    MPI_Finalize();
    return 0;
}
