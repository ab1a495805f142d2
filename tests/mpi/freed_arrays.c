/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays of counts, displacements and datatypes that are overwritten and freed as soon as a
 * nonblocking or persistent call has returned, as language bindings do with their temporary arrays.
 * Each rank does so before the next one makes its call. Arrays that mean nothing at a rank are
 * addresses without memory.
 */
#include "check.h"
#include "forms.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4 }; /* ints of a block, and where the next one begins */

typedef struct {
    MPI_Comm comm, order; /* where the ranks make their calls one after the other */
    int rank, size;       /* in `order` */
    int peers, first;     /* ranks at the other side, and the first of them */
    bool is_inter;
    form_t form;
    bool is_wide;
    int *out, *in;
} test_t;

/* All arrays of a side, in both widths. */
typedef struct {
    int *counts, *displs;
    MPI_Count *wide_counts;
    MPI_Aint *wide_displs;
    MPI_Datatype *types;
} arrays_t;

static int count_of(int from, int to)
{
    return (3 * from + to) % (MOST + 1);
}

static int value(int from, int to, int i)
{
    return 100000 * from + 100 * to + i + 1;
}

static void *memory(size_t n)
{
    void *p = calloc(n > 0 ? n : 1, sizeof(MPI_Count));

    CHECK(p != NULL);
    return p;
}

/* Blocks from or to `n` ranks, `first` and those that follow; to < 0: the same for all. */
static arrays_t arrays_make(const test_t *t, int n, bool is_out, bool is_one)
{
    arrays_t a = {memory((size_t)n), memory((size_t)n), memory((size_t)n), memory((size_t)n),
                  memory((size_t)n)};

    for (int i = 0; i < n; i++) {
        int peer = t->first + i;

        a.counts[i] = is_out ? count_of(t->rank, peer) : count_of(peer, is_one ? 0 : t->rank);
        a.displs[i] = MOST * i;
        a.wide_counts[i] = a.counts[i];
        a.wide_displs[i] = a.displs[i];
        MPI_Type_contiguous(1, MPI_INT, &a.types[i]);
        MPI_Type_commit(&a.types[i]);
    }
    return a;
}

static void in_bytes(arrays_t *a, int n)
{
    for (int i = 0; i < n; i++) {
        a->displs[i] *= (int)sizeof(int);
        a->wide_displs[i] *= (MPI_Aint)sizeof(int);
    }
}

static void spoil(void *array, int n, size_t size)
{
    memset(array, 0x7f, (size_t)n * size);
    free(array);
}

static void arrays_spoil(arrays_t *a, int n)
{
    for (int i = 0; i < n; i++)
        MPI_Type_free(&a->types[i]);
    spoil(a->counts, n, sizeof(int));
    spoil(a->displs, n, sizeof(int));
    spoil(a->wide_counts, n, sizeof(MPI_Count));
    spoil(a->wide_displs, n, sizeof(MPI_Aint));
    spoil(a->types, n, sizeof(MPI_Datatype));
}

/* Nowhere. */
static const arrays_t *no_arrays(void)
{
    static arrays_t a;

    a.counts = a.displs = (int *)(uintptr_t)64;
    a.wide_counts = (MPI_Count *)(uintptr_t)64;
    a.wide_displs = (MPI_Aint *)(uintptr_t)64;
    a.types = (MPI_Datatype *)(uintptr_t)64;
    return &a;
}

static void fill(const test_t *t, bool is_one)
{
    for (int i = 0; i < t->peers * MOST; i++) {
        t->out[i] = value(t->rank, is_one ? 0 : t->first + i / MOST, i % MOST);
        t->in[i] = 0;
    }
}

static void check_block(const test_t *t, int at, int from, int to)
{
    int n = count_of(from, to);

    for (int i = 0; i < MOST; i++)
        CHECK_EQUAL(t->in[MOST * at + i], i < n ? value(from, to, i) : 0);
}

/* The ranks make their calls in turn. */
static void enter(const test_t *t)
{
    if (t->form != BLOCKING && t->rank > 0)
        MPI_Recv(NULL, 0, MPI_INT, t->rank - 1, 7, t->order, MPI_STATUS_IGNORE);
}

static void leave(const test_t *t)
{
    if (t->form != BLOCKING && t->rank + 1 < t->size)
        MPI_Send(NULL, 0, MPI_INT, t->rank + 1, 7, t->order);
}

/* FORM in the width of the test: the arguments with int and those with MPI_Count. */
#define BOTH(t, NAME, INAME, q, narrow, wide)                                                      \
    do {                                                                                           \
        if ((t)->is_wide)                                                                          \
            FORM((t)->form, NAME, INAME, _c, q, ARGUMENTS wide);                                   \
        else                                                                                       \
            FORM((t)->form, NAME, INAME, , q, ARGUMENTS narrow);                                   \
    } while (0)
#define ARGUMENTS(...) __VA_ARGS__

/* The root argument of a rank: itself, in its group another, or in the other group. */
static int root_name(const test_t *t, int root)
{
    bool is_of_root = root < t->first || root >= t->first + t->peers;

    if (!t->is_inter)
        return root;
    return !is_of_root ? root - t->first : t->rank == root ? MPI_ROOT : MPI_PROC_NULL;
}

static bool has_root(const test_t *t, int root)
{
    return !t->is_inter || (root >= t->first && root < t->first + t->peers);
}

static void check_gatherv(const test_t *t, int root)
{
    int n = count_of(t->rank, 0), name = root_name(t, root);
    bool is_root = t->rank == root;
    arrays_t made = arrays_make(t, t->peers, false, true);
    const arrays_t *a = is_root ? &made : no_arrays();
    MPI_Request q;

    fill(t, true);
    enter(t);
    BOTH(t, Gatherv, gatherv, &q,
         (t->out, n, MPI_INT, t->in, a->counts, a->displs, MPI_INT, name, t->comm),
         (t->out, n, MPI_INT, t->in, a->wide_counts, a->wide_displs, MPI_INT, name, t->comm));
    arrays_spoil(&made, t->peers);
    leave(t);
    finish_form(t->form, &q);
    for (int i = 0; is_root && i < t->peers; i++)
        check_block(t, i, t->first + i, 0);
}

static void check_scatterv(const test_t *t, int root)
{
    int n = count_of(root, t->rank), name = root_name(t, root);
    bool is_root = t->rank == root;
    arrays_t made = arrays_make(t, t->peers, true, false);
    const arrays_t *a = is_root ? &made : no_arrays();
    MPI_Request q;

    fill(t, false);
    enter(t);
    BOTH(t, Scatterv, scatterv, &q,
         (t->out, a->counts, a->displs, MPI_INT, t->in, n, MPI_INT, name, t->comm),
         (t->out, a->wide_counts, a->wide_displs, MPI_INT, t->in, n, MPI_INT, name, t->comm));
    arrays_spoil(&made, t->peers);
    leave(t);
    finish_form(t->form, &q);
    if (has_root(t, root))
        check_block(t, 0, root, t->rank);
}

static void check_allgatherv(const test_t *t, bool is_neighbor)
{
    int n = count_of(t->rank, 0);
    arrays_t a = arrays_make(t, t->peers, false, true);
    MPI_Request q;

    fill(t, true);
    enter(t);
    if (is_neighbor)
        BOTH(t, Neighbor_allgatherv, neighbor_allgatherv, &q,
             (t->out, n, MPI_INT, t->in, a.counts, a.displs, MPI_INT, t->comm),
             (t->out, n, MPI_INT, t->in, a.wide_counts, a.wide_displs, MPI_INT, t->comm));
    else
        BOTH(t, Allgatherv, allgatherv, &q,
             (t->out, n, MPI_INT, t->in, a.counts, a.displs, MPI_INT, t->comm),
             (t->out, n, MPI_INT, t->in, a.wide_counts, a.wide_displs, MPI_INT, t->comm));
    arrays_spoil(&a, t->peers);
    leave(t);
    finish_form(t->form, &q);
    for (int i = 0; i < t->peers; i++)
        check_block(t, i, t->first + i, 0);
}

static void check_alltoallv(const test_t *t, bool is_neighbor)
{
    arrays_t out = arrays_make(t, t->peers, true, false);
    arrays_t in = arrays_make(t, t->peers, false, false);
    MPI_Request q;

    fill(t, false);
    enter(t);
    if (is_neighbor)
        BOTH(t, Neighbor_alltoallv, neighbor_alltoallv, &q,
             (t->out, out.counts, out.displs, MPI_INT, t->in, in.counts, in.displs, MPI_INT,
              t->comm),
             (t->out, out.wide_counts, out.wide_displs, MPI_INT, t->in, in.wide_counts,
              in.wide_displs, MPI_INT, t->comm));
    else
        BOTH(t, Alltoallv, alltoallv, &q,
             (t->out, out.counts, out.displs, MPI_INT, t->in, in.counts, in.displs, MPI_INT,
              t->comm),
             (t->out, out.wide_counts, out.wide_displs, MPI_INT, t->in, in.wide_counts,
              in.wide_displs, MPI_INT, t->comm));
    arrays_spoil(&out, t->peers);
    arrays_spoil(&in, t->peers);
    leave(t);
    finish_form(t->form, &q);
    for (int i = 0; i < t->peers; i++)
        check_block(t, i, t->first + i, t->rank);
}

static void check_alltoallw(const test_t *t, bool is_neighbor)
{
    arrays_t out = arrays_make(t, t->peers, true, false);
    arrays_t in = arrays_make(t, t->peers, false, false);
    MPI_Request q;

    in_bytes(&out, t->peers);
    in_bytes(&in, t->peers);
    fill(t, false);
    enter(t);
    if (is_neighbor)
        BOTH(t, Neighbor_alltoallw, neighbor_alltoallw, &q,
             (t->out, out.counts, out.wide_displs, out.types, t->in, in.counts, in.wide_displs,
              in.types, t->comm),
             (t->out, out.wide_counts, out.wide_displs, out.types, t->in, in.wide_counts,
              in.wide_displs, in.types, t->comm));
    else
        BOTH(t, Alltoallw, alltoallw, &q,
             (t->out, out.counts, out.displs, out.types, t->in, in.counts, in.displs, in.types,
              t->comm),
             (t->out, out.wide_counts, out.wide_displs, out.types, t->in, in.wide_counts,
              in.wide_displs, in.types, t->comm));
    arrays_spoil(&out, t->peers);
    arrays_spoil(&in, t->peers);
    leave(t);
    finish_form(t->form, &q);
    for (int i = 0; i < t->peers; i++)
        check_block(t, i, t->first + i, t->rank);
}

/* The arrays of the send side mean nothing in place; all blocks have one length. */
static void check_in_place(const test_t *t)
{
    arrays_t in = arrays_make(t, t->peers, false, false);
    const arrays_t *none = no_arrays();
    MPI_Request q;

    fill(t, false);
    for (int i = 0; i < t->peers; i++)
        in.counts[i] = (int)(in.wide_counts[i] = MOST);
    in_bytes(&in, t->peers);
    memcpy(t->in, t->out, (size_t)(t->peers * MOST) * sizeof(int));
    enter(t);
    BOTH(t, Alltoallw, alltoallw, &q,
         (MPI_IN_PLACE, none->counts, none->displs, none->types, t->in, in.counts, in.displs,
          in.types, t->comm),
         (MPI_IN_PLACE, none->wide_counts, none->wide_displs, none->types, t->in, in.wide_counts,
          in.wide_displs, in.types, t->comm));
    arrays_spoil(&in, t->peers);
    leave(t);
    finish_form(t->form, &q);
    for (int i = 0; t->form != PERSISTENT && i < t->peers * MOST; i++) /* twice: as at first */
        CHECK_EQUAL(t->in[i], value(t->first + i / MOST, t->rank, i % MOST));
}

/* Shares of the own group; the vectors of both groups have one length. */
static void check_reduce_scatter(const test_t *t)
{
    int own = t->is_inter ? t->size - t->peers : t->size, all = 6 * t->size, place = t->rank;
    arrays_t a = arrays_make(t, own, false, false);
    int *vector = memory((size_t)all), begin = 0, count = 0, sum = 0;
    MPI_Request q;

    if (t->is_inter)
        MPI_Comm_rank(t->comm, &place);
    for (int i = 0; i < own; i++) {
        a.counts[i] = i == own - 1 ? all - i * (all / own) : all / own;
        a.wide_counts[i] = a.counts[i];
        begin += i < place ? a.counts[i] : 0;
        count = i == place ? a.counts[i] : count;
    }
    for (int i = 0; i < all; i++)
        vector[i] = t->rank * 1000 + i;
    for (int i = 0; i < t->peers; i++)
        sum += t->first + i;
    memset(t->in, 0, (size_t)all * sizeof(int));
    enter(t);
    BOTH(t, Reduce_scatter, reduce_scatter, &q,
         (vector, t->in, a.counts, MPI_INT, MPI_SUM, t->comm),
         (vector, t->in, a.wide_counts, MPI_INT, MPI_SUM, t->comm));
    arrays_spoil(&a, own);
    leave(t);
    finish_form(t->form, &q);
    for (int i = 0; i < count; i++)
        CHECK_EQUAL(t->in[i], sum * 1000 + t->peers * (begin + i));
    free(vector);
}

static void check_all(test_t *t)
{
    for (t->form = BLOCKING; t->form < FORMS; t->form++)
        for (int wide = 0; wide < 2; wide++) {
            t->is_wide = wide;
            check_gatherv(t, 0);
            check_gatherv(t, t->size - 1);
            check_scatterv(t, 0);
            check_scatterv(t, t->size - 1);
            check_allgatherv(t, false);
            check_alltoallv(t, false);
            check_alltoallw(t, false);
            check_reduce_scatter(t);
            if (!t->is_inter)
                check_in_place(t);
            for (int i = 0; i < 3 && !t->is_inter; i++)
                (i == 0 ? check_allgatherv : i == 1 ? check_alltoallv : check_alltoallw)(t, true);
        }
}

/* On a communicator on which all ranks are neighbours. */
static void check_intra(test_t *t)
{
    int *peers = memory((size_t)t->size);

    for (int r = 0; r < t->size; r++)
        peers[r] = r;
    MPI_Dist_graph_create_adjacent(t->order, t->size, peers, MPI_UNWEIGHTED, t->size, peers,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &t->comm);
    free(peers);
    t->peers = t->size;
    t->first = 0;
    t->is_inter = false;
    check_all(t);
    MPI_Comm_free(&t->comm);
}

static void check_inter(test_t *t)
{
    int low = (t->size + 1) / 2;
    bool is_low = t->rank < low;
    MPI_Comm half;

    MPI_Comm_split(t->order, !is_low, t->rank, &half);
    MPI_Intercomm_create(half, 0, t->order, is_low ? low : 0, 5, &t->comm);
    t->peers = is_low ? t->size - low : low;
    t->first = is_low ? low : 0;
    t->is_inter = true;
    check_all(t);
    MPI_Comm_free(&t->comm);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    test_t t;

    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &t.order);
    MPI_Comm_rank(t.order, &t.rank);
    MPI_Comm_size(t.order, &t.size);
    t.out = memory((size_t)(6 * t.size));
    t.in = memory((size_t)(6 * t.size));
    check_intra(&t);
    if (t.size > 1)
        check_inter(&t);
    free(t.out);
    free(t.in);
    MPI_Comm_free(&t.order);
    MPI_Finalize();
    return 0;
}
