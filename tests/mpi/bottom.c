/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both buffers of a call have one base, and only the datatypes say which memory is meant: absolute
 * addresses on MPI_BOTTOM, or parts of one area. All collectives that move data, in all forms, and
 * messages to oneself.
 */
#include "check.h"
#include "forms.h"

#include <stdlib.h>
#include <string.h>

enum { INTS = 3 }; /* of a block; a gap of one follows each int */

typedef struct {
    int sent[64][2 * INTS], received[64][2 * INTS];
} area_t;

typedef struct {
    int rank, size;
    form_t form;
    MPI_Comm comm;
    area_t *area;
    void *base;
    MPI_Datatype sent, received; /* one block, whose successors follow */
} test_t;

/* A block at `place`, relative to the base. */
static MPI_Datatype block_at(const test_t *t, const void *place)
{
    MPI_Datatype gaps, shifted, type;
    MPI_Aint address, base = 0;

    MPI_Get_address(place, &address);
    if (t->base != MPI_BOTTOM)
        MPI_Get_address(t->base, &base);
    address -= base;
    MPI_Type_vector(INTS, 1, 2, MPI_INT, &gaps);
    MPI_Type_create_hindexed_block(1, 1, &address, gaps, &shifted);
    MPI_Type_create_resized(shifted, 0, sizeof(t->area->sent[0]), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&gaps);
    MPI_Type_free(&shifted);
    return type;
}

static int value(int from, int to, int i)
{
    return 10000 * from + 100 * to + i + 1;
}

/* Blocks 0 to n - 1 for as many peers; -1: the same for all. */
static void fill(const test_t *t, int n)
{
    memset(t->area, 0, sizeof(*t->area));
    for (int b = 0; b < n; b++)
        for (int i = 0; i < INTS; i++)
            t->area->sent[b][2 * i] = value(t->rank, n == 1 ? -1 : b, i);
}

/* Block `b` came from `from`, which sent it to `to`; the gaps are untouched. */
static void check_block(const test_t *t, int b, int from, int to)
{
    for (int i = 0; i < INTS; i++) {
        CHECK_EQUAL(t->area->received[b][2 * i], value(from, to, i));
        CHECK_EQUAL(t->area->received[b][2 * i + 1], 0);
    }
}

static void check_all(const test_t *t, int n, int to)
{
    for (int b = 0; b < n; b++)
        check_block(t, b, b, to);
}

static void vectors(const test_t *t, int *counts, int *displs)
{
    for (int r = 0; r < t->size; r++) {
        counts[r] = 1;
        displs[r] = r;
    }
}

static void check_rooted(const test_t *t, int root)
{
    int counts[64], displs[64], n = t->rank == root ? t->size : 0;
    MPI_Request q;

    vectors(t, counts, displs);
    fill(t, 1);
    FORM(t->form, Gather, gather, , &q, t->base, 1, t->sent, t->base, 1, t->received, root,
         t->comm);
    finish_form(t->form, &q);
    check_all(t, n, -1);
    fill(t, 1);
    FORM(t->form, Gatherv, gatherv, , &q, t->base, 1, t->sent, t->base, counts, displs, t->received,
         root, t->comm);
    finish_form(t->form, &q);
    check_all(t, n, -1);
    fill(t, t->size + 1);
    FORM(t->form, Scatter, scatter, , &q, t->base, 1, t->sent, t->base, 1, t->received, root,
         t->comm);
    finish_form(t->form, &q);
    check_block(t, 0, root, t->rank);
    fill(t, t->size + 1);
    FORM(t->form, Scatterv, scatterv, , &q, t->base, counts, displs, t->sent, t->base, 1,
         t->received, root, t->comm);
    finish_form(t->form, &q);
    check_block(t, 0, root, t->rank);
}

static void check_allgather(const test_t *t)
{
    int counts[64], displs[64];
    MPI_Request q;

    vectors(t, counts, displs);
    fill(t, 1);
    FORM(t->form, Allgather, allgather, , &q, t->base, 1, t->sent, t->base, 1, t->received,
         t->comm);
    finish_form(t->form, &q);
    check_all(t, t->size, -1);
    fill(t, 1);
    FORM(t->form, Allgatherv, allgatherv, , &q, t->base, 1, t->sent, t->base, counts, displs,
         t->received, t->comm);
    finish_form(t->form, &q);
    check_all(t, t->size, -1);
}

static void check_alltoall(const test_t *t)
{
    int counts[64], displs[64];
    MPI_Request q;

    vectors(t, counts, displs);
    fill(t, t->size + 1);
    FORM(t->form, Alltoall, alltoall, , &q, t->base, 1, t->sent, t->base, 1, t->received, t->comm);
    finish_form(t->form, &q);
    check_all(t, t->size, t->rank);
    fill(t, t->size + 1);
    FORM(t->form, Alltoallv, alltoallv, , &q, t->base, counts, displs, t->sent, t->base, counts,
         displs, t->received, t->comm);
    finish_form(t->form, &q);
    check_all(t, t->size, t->rank);
}

/* Each block has a type of its own, and no displacement. */
static void check_alltoallw(const test_t *t)
{
    int counts[64], displs[64] = {0};
    MPI_Aint far[64] = {0};
    MPI_Datatype sent[64], received[64];
    MPI_Request q;

    for (int r = 0; r < t->size; r++) {
        counts[r] = 1;
        sent[r] = block_at(t, t->area->sent[r]);
        received[r] = block_at(t, t->area->received[r]);
    }
    fill(t, t->size + 1);
    FORM(t->form, Alltoallw, alltoallw, , &q, t->base, counts, displs, sent, t->base, counts,
         displs, received, t->comm);
    finish_form(t->form, &q);
    check_all(t, t->size, t->rank);
    fill(t, t->size + 1);
    FORM(t->form, Neighbor_alltoallw, neighbor_alltoallw, , &q, t->base, counts, far, sent, t->base,
         counts, far, received, t->comm);
    finish_form(t->form, &q);
    check_all(t, t->size, t->rank);
    for (int r = 0; r < t->size; r++) {
        MPI_Type_free(&sent[r]);
        MPI_Type_free(&received[r]);
    }
}

/* Types of the language, and displacements that are addresses. */
static void check_addresses(const test_t *t)
{
    MPI_Count counts[64];
    int ints[64];
    MPI_Aint sent[64], received[64], base = 0;
    MPI_Datatype types[64];
    MPI_Request q;

    if (t->base != MPI_BOTTOM)
        MPI_Get_address(t->base, &base);
    for (int r = 0; r < t->size; r++) {
        counts[r] = ints[r] = 1;
        MPI_Get_address(t->area->sent[r], &sent[r]);
        MPI_Get_address(t->area->received[r], &received[r]);
        sent[r] -= base;
        received[r] -= base;
        types[r] = MPI_INT;
    }
    for (int far = 0; far < 3; far++) {
        fill(t, t->size + 1);
        if (far == 0)
            FORM(t->form, Alltoallw, alltoallw, _c, &q, t->base, counts, sent, types, t->base,
                 counts, received, types, t->comm);
        else if (far == 1)
            FORM(t->form, Neighbor_alltoallw, neighbor_alltoallw, _c, &q, t->base, counts, sent,
                 types, t->base, counts, received, types, t->comm);
        else
            FORM(t->form, Neighbor_alltoallw, neighbor_alltoallw, , &q, t->base, ints, sent, types,
                 t->base, ints, received, types, t->comm);
        finish_form(t->form, &q);
        for (int r = 0; r < t->size; r++)
            CHECK_EQUAL(t->area->received[r][0], value(r, t->rank, 0));
    }
}

/* All ranks are neighbours. */
static void check_neighbors(const test_t *t)
{
    int counts[64], displs[64];
    MPI_Request q;

    vectors(t, counts, displs);
    fill(t, 1);
    FORM(t->form, Neighbor_allgather, neighbor_allgather, , &q, t->base, 1, t->sent, t->base, 1,
         t->received, t->comm);
    finish_form(t->form, &q);
    check_all(t, t->size, -1);
    fill(t, 1);
    FORM(t->form, Neighbor_allgatherv, neighbor_allgatherv, , &q, t->base, 1, t->sent, t->base,
         counts, displs, t->received, t->comm);
    finish_form(t->form, &q);
    check_all(t, t->size, -1);
    fill(t, t->size + 1);
    FORM(t->form, Neighbor_alltoall, neighbor_alltoall, , &q, t->base, 1, t->sent, t->base, 1,
         t->received, t->comm);
    finish_form(t->form, &q);
    check_all(t, t->size, t->rank);
    fill(t, t->size + 1);
    FORM(t->form, Neighbor_alltoallv, neighbor_alltoallv, , &q, t->base, counts, displs, t->sent,
         t->base, counts, displs, t->received, t->comm);
    finish_form(t->form, &q);
    check_all(t, t->size, t->rank);
}

/* Broadcasts and reductions have one type; reductions are in place. */
static void check_one_type(const test_t *t)
{
    MPI_Datatype number = block_at(t, t->area->received[0]);
    MPI_Request q;

    fill(t, 1);
    for (int i = 0; i < INTS; i++)
        t->area->received[0][2 * i] = value(t->rank, -1, i);
    FORM(t->form, Bcast, bcast, , &q, t->base, 1, number, t->size - 1, t->comm);
    finish_form(t->form, &q);
    check_block(t, 0, t->size - 1, -1);
    MPI_Type_free(&number);
}

static void check_messages(const test_t *t)
{
    int to = (t->rank + 1) % t->size, from = (t->rank + t->size - 1) % t->size;
    MPI_Request q[2];

    for (int own = 0; own < 2; own++) {
        int source = own ? t->rank : from, target = own ? t->rank : to;

        fill(t, 1);
        MPI_Sendrecv(t->base, 1, t->sent, target, 1, t->base, 1, t->received, source, 1, t->comm,
                     MPI_STATUS_IGNORE);
        check_block(t, 0, source, -1);
        fill(t, 1);
        MPI_Isendrecv(t->base, 1, t->sent, target, 1, t->base, 1, t->received, source, 1, t->comm,
                      &q[0]);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        check_block(t, 0, source, -1);
        fill(t, 1);
        MPI_Sendrecv_replace(t->base, 1, t->sent, target, 2, source, 2, t->comm, MPI_STATUS_IGNORE);
        for (int i = 0; i < INTS; i++)
            CHECK_EQUAL(t->area->sent[0][2 * i], value(source, -1, i));
        fill(t, 1);
        MPI_Irecv(t->base, 1, t->received, source, 3, t->comm, &q[0]);
        MPI_Isend(t->base, 1, t->sent, target, 3, t->comm, &q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        check_block(t, 0, source, -1);
    }
}

/* Windows, packed data and files take such buffers, too. */
static void check_others(const test_t *t)
{
    char packed[sizeof(t->area->sent[0])];
    int at = 0, next = (t->rank + 1) % t->size, before = (t->rank + t->size - 1) % t->size;
    MPI_Win window;

    fill(t, 1);
    MPI_Pack(t->base, 1, t->sent, packed, sizeof(packed), &at, t->comm);
    at = 0;
    MPI_Unpack(packed, sizeof(packed), &at, t->base, 1, t->received, t->comm);
    check_block(t, 0, t->rank, -1);
    fill(t, 1);
    MPI_Win_create_dynamic(MPI_INFO_NULL, t->comm, &window);
    MPI_Win_attach(window, t->area, sizeof(*t->area));
    if (t->base == MPI_BOTTOM) { /* the target's type has the target's addresses */
        MPI_Aint own, other = 0;

        MPI_Get_address(t->area->received[0], &own);
        MPI_Sendrecv(&own, 1, MPI_AINT, before, 4, &other, 1, MPI_AINT, next, 4, t->comm,
                     MPI_STATUS_IGNORE);
        MPI_Win_fence(0, window);
        MPI_Put(MPI_BOTTOM, 1, t->sent, next, other, INTS, MPI_INT, window);
        MPI_Win_fence(0, window);
        for (int i = 0; i < INTS; i++)
            CHECK_EQUAL(t->area->received[0][i], value(before, -1, i));
    }
    MPI_Win_detach(window, t->area);
    MPI_Win_free(&window);
}

static void check_base(test_t *t, void *base)
{
    t->base = base;
    t->sent = block_at(t, t->area->sent);
    t->received = block_at(t, t->area->received);
    for (t->form = BLOCKING; t->form < FORMS; t->form++) {
        check_rooted(t, 0);
        check_rooted(t, t->size - 1);
        check_allgather(t);
        check_alltoall(t);
        check_alltoallw(t);
        check_addresses(t);
        check_neighbors(t);
        check_one_type(t);
    }
    check_messages(t);
    check_others(t);
    MPI_Type_free(&t->sent);
    MPI_Type_free(&t->received);
}

int main(int argc, char **argv)
{
    int peers[64];
    test_t t;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &t.size);
    CHECK(t.size < 64);
    for (int r = 0; r < t.size; r++)
        peers[r] = r;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, t.size, peers, MPI_UNWEIGHTED, t.size, peers,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &t.comm);
    MPI_Comm_rank(t.comm, &t.rank);
    t.area = malloc(sizeof(*t.area));
    CHECK(t.area != NULL);
    check_base(&t, MPI_BOTTOM);
    check_base(&t, t.area);
    free(t.area);
    MPI_Comm_free(&t.comm);
    MPI_Finalize();
    return 0;
}
