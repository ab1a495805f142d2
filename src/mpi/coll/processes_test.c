/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks in several processes: messages, communicators, collectives. */
#include "testing/mpi_coll.h"

#include <unistd.h>
#include <xylem_mpi.h>

#include "testing/base.h"

/* Sanitizers see one case of two that are alike. */
enum { SHARE = XYLEM_SANITIZED ? 2 : 1 };

/* ---- Messages ---- */

static void ring(int rank, int size)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size, got = -1;

    for (int i = 0; i < 10; i++) {
        MPI_Status status;
        int sent = 100 * rank + i;

        MPI_Sendrecv(&sent, 1, MPI_INT, next, i, &got, 1, MPI_INT, before, i, MPI_COMM_WORLD,
                     &status);
        CHECK(got == 100 * before + i);
        CHECK(status.MPI_SOURCE == before && status.MPI_TAG == i);
    }
}

static void test_ring(void **state)
{
    (void)state;
    run_processes(&(processes_t){.processes = 2, .ranks = 2, .workers = 1}, ring);
    run_processes(&(processes_t){.processes = 3, .ranks = 7, .workers = 2}, ring);
}

/* Every way to send, small and large, in order, with wildcards and probes. */
static void exchange(int rank, int size)
{
    static const int counts[] = {0, 1, 100, 5000, 300000};
    int other = size - 1 - rank;

    if (other == rank)
        return;
    for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
        int n = counts[c], *sent = malloc((size_t)(n + 1) * sizeof(int)),
            *got = calloc((size_t)n + 1, sizeof(int)), count;
        MPI_Request requests[2];
        MPI_Status status;
        MPI_Message message;

        for (int i = 0; i < n; i++)
            sent[i] = rank * 1000003 + i;
        for (int mode = 0; mode < 3; mode++) {
            MPI_Irecv(got, n, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &requests[0]);
            if (mode == 0)
                MPI_Isend(sent, n, MPI_INT, other, 7, MPI_COMM_WORLD, &requests[1]);
            else if (mode == 1)
                MPI_Issend(sent, n, MPI_INT, other, 7, MPI_COMM_WORLD, &requests[1]);
            else {
                MPI_Barrier(MPI_COMM_WORLD);
                MPI_Irsend(sent, n, MPI_INT, other, 7, MPI_COMM_WORLD, &requests[1]);
            }
            MPI_Wait(&requests[0], &status);
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
            MPI_Get_count(&status, MPI_INT, &count);
            CHECK(count == n && status.MPI_SOURCE == other);
            for (int i = 0; i < n; i++)
                CHECK(got[i] == other * 1000003 + i);
            memset(got, 0, (size_t)n * sizeof(int));
        }
        MPI_Isend(sent, n, MPI_INT, other, 9, MPI_COMM_WORLD, &requests[0]);
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == n && status.MPI_SOURCE == other && status.MPI_TAG == 9);
        MPI_Mprobe(other, 9, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(got, n, MPI_INT, &message, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            CHECK(got[i] == other * 1000003 + i);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        free(sent);
        free(got);
    }
}

/* Many that wait for their receives, in the order in which they were sent. */
static void ordered(int rank, int size)
{
    enum { MANY = 500 };

    if (rank == 0)
        for (int i = 0; i < MANY; i++)
            MPI_Send(&i, 1, MPI_INT, size - 1, 3, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0, got = -1; i < MANY && rank == size - 1; i++) {
        MPI_Recv(&got, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == i);
    }
}

/* Every second element, and backwards at the other end: packed in pieces. */
static void strided(int rank, int size)
{
    enum { N = 500000 };
    int *data = calloc(2 * N, sizeof(int)), *got = calloc(4 * N, sizeof(int));
    MPI_Datatype every_second, element;

    MPI_Type_vector(N, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    MPI_Type_create_resized(MPI_INT, 0, -2 * (MPI_Aint)sizeof(int), &element);
    MPI_Type_commit(&element);
    for (int i = 0; i < 2 * N; i++)
        data[i] = rank * 1000 + i;
    for (int way = 0; way < 3 && rank < 2; way++) {
        MPI_Request request;
        int other = size - 1 - rank;

        if (rank == 0) {
            MPI_Isend(data, way == 1 ? 2 * N : 1, way == 1 ? MPI_INT : every_second, other, way,
                      MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (way == 1) {
            MPI_Recv(got, 2, every_second, other, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (way == 0) {
            MPI_Recv(got, N, MPI_INT, other, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                CHECK(got[i] == 2 * i);
        } else {
            MPI_Recv(got + 2 * N - 1, N, element, other, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                CHECK(got[2 * N - 1 - 2 * i] == 2 * i);
        }
    }
    MPI_Type_free(&every_second);
    MPI_Type_free(&element);
    free(data);
    free(got);
}

/* A message that no receive has met is taken back; another is not. */
static void cancels(int rank, int size)
{
    static int large[100000];
    MPI_Request request;
    MPI_Status status;
    int flag;

    for (int n = 1; n <= 100000; n += 99999) {
        if (rank == 0) {
            MPI_Issend(large, n, MPI_INT, size - 1, 1, MPI_COMM_WORLD, &request);
            MPI_Cancel(&request);
            MPI_Wait(&request, &status);
            MPI_Test_cancelled(&status, &flag);
            CHECK(flag);
            MPI_Issend(large, n, MPI_INT, size - 1, 2, MPI_COMM_WORLD, &request);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Cancel(&request);
            MPI_Wait(&request, &status);
            MPI_Test_cancelled(&status, &flag);
            CHECK(!flag);
        } else {
            if (rank == size - 1)
                MPI_Irecv(large, n, MPI_INT, 0, 2, MPI_COMM_WORLD, &request);
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == size - 1)
                MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void buffered(int rank, int size)
{
    char *buffer = malloc(1 << 20);
    int *large = malloc(50000 * sizeof(int));
    int other = size - 1 - rank;
    void *detached;
    int bytes;

    MPI_Buffer_attach(buffer, 1 << 20);
    for (int i = 0; i < 50000; i++)
        large[i] = rank + i;
    if (other != rank) {
        MPI_Bsend(large, 3, MPI_INT, other, 0, MPI_COMM_WORLD);
        MPI_Bsend(large, 50000, MPI_INT, other, 1, MPI_COMM_WORLD);
        memset(large, 0, 50000 * sizeof(int));
        MPI_Recv(large, 50000, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(large[49999] == other + 49999);
        MPI_Recv(large, 3, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(large[2] == other + 2);
    }
    MPI_Buffer_detach(&detached, &bytes);
    free(buffer);
    free(large);
}

static void test_messages(void **state)
{
    (void)state;
    for (int processes = 2; processes <= 3; processes++) {
        processes_t c = {.processes = processes, .ranks = 6, .workers = 2};

        if (testing_is_chosen((unsigned)processes, SHARE))
            run_processes(&c, exchange);
        run_processes(&c, cancels);
    }
    run_processes(&(processes_t){.processes = 2, .ranks = 2, .workers = 1}, ordered);
    run_processes(&(processes_t){.processes = 2, .ranks = 4, .workers = 1}, buffered);
    run_processes(&(processes_t){.processes = 2, .ranks = 2, .workers = 1}, strided);
    run_processes(&(processes_t){.processes = 2, .ranks = 2, .workers = 1, .eager = 64}, exchange);
}

/* ---- Collectives ---- */

/* Matrices of 2 x 2, whose product does not commute. */
typedef struct {
    long m[4];
} matrix_t;

static void multiply(void *in, void *inout, int *count, MPI_Datatype *type)
{
    matrix_t *a = in, *b = inout;

    (void)type;
    for (int i = 0; i < *count; i++) {
        matrix_t c = {{a[i].m[0] * b[i].m[0] + a[i].m[1] * b[i].m[2],
                       a[i].m[0] * b[i].m[1] + a[i].m[1] * b[i].m[3],
                       a[i].m[2] * b[i].m[0] + a[i].m[3] * b[i].m[2],
                       a[i].m[2] * b[i].m[1] + a[i].m[3] * b[i].m[3]}};

        for (int k = 0; k < 4; k++)
            b[i].m[k] = c.m[k] % 1000003;
    }
}

static matrix_t matrix_of(int rank, int i)
{
    return (matrix_t){{1 + rank % 3, i % 5, rank % 2, 1 + i % 3}};
}

/* The product of those of ranks [first, end). */
static matrix_t product(int first, int end, int i)
{
    matrix_t p = matrix_of(end - 1, i);
    int one = 1;

    for (int r = end - 2; r >= first; r--) {
        matrix_t a = matrix_of(r, i);

        multiply(&a, &p, &one, NULL);
    }
    return p;
}

static bool is_equal(matrix_t a, matrix_t b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static void wait_or_not(int is_started, MPI_Request *request)
{
    if (is_started)
        MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* The data of the reductions of one communicator. */
typedef struct {
    MPI_Comm comm;
    int n, is_started, rank, size;
    MPI_Datatype type;
    MPI_Op op;
    matrix_t *own, *got;
    MPI_Request q;
} work_t;

static void work_begin(work_t *w)
{
    MPI_Comm_rank(w->comm, &w->rank);
    MPI_Comm_size(w->comm, &w->size);
    MPI_Type_contiguous(4, MPI_LONG, &w->type);
    MPI_Type_commit(&w->type);
    MPI_Op_create(multiply, 0, &w->op);
    w->own = malloc((size_t)(w->n * w->size) * sizeof(*w->own));
    w->got = malloc((size_t)(w->n * w->size) * sizeof(*w->got));
    for (int i = 0; i < w->n * w->size; i++)
        w->own[i] = matrix_of(w->rank, i);
}

static void work_end(work_t *w)
{
    MPI_Op_free(&w->op);
    MPI_Type_free(&w->type);
    free(w->own);
    free(w->got);
}

static void reduce_to_roots(work_t *w)
{
    for (int root = 0; root < w->size; root += 1 + w->size / 3) {
        const void *from = w->rank == root && root % 2 ? MPI_IN_PLACE : (const void *)w->own;

        memcpy(w->got, w->own, (size_t)w->n * sizeof(*w->own));
        if (w->is_started)
            MPI_Ireduce(from, w->got, w->n, w->type, w->op, root, w->comm, &w->q);
        else
            MPI_Reduce(from, w->got, w->n, w->type, w->op, root, w->comm);
        wait_or_not(w->is_started, &w->q);
        for (int i = 0; i < w->n && w->rank == root; i++)
            CHECK(is_equal(w->got[i], product(0, w->size, i)));
    }
}

/* `kind` 0: allreduce, 1: scan, 2: exscan. */
static void reduce_to_all(work_t *w, const void *from, int kind)
{
    static int (*const started[])(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm,
                                  MPI_Request *) = {MPI_Iallreduce, MPI_Iscan, MPI_Iexscan};
    static int (*const run[])(const void *, void *, int, MPI_Datatype, MPI_Op,
                              MPI_Comm) = {MPI_Allreduce, MPI_Scan, MPI_Exscan};
    int end = kind == 0 ? w->size : kind == 1 ? w->rank + 1 : w->rank;

    memcpy(w->got, w->own, (size_t)w->n * sizeof(*w->own));
    if (w->is_started)
        started[kind](from, w->got, w->n, w->type, w->op, w->comm, &w->q);
    else
        run[kind](from, w->got, w->n, w->type, w->op, w->comm);
    wait_or_not(w->is_started, &w->q);
    for (int i = 0; i < w->n && end > 0; i++)
        CHECK(is_equal(w->got[i], product(0, end, i)));
}

static void reduce_to_shares(work_t *w, const void *from)
{
    int *counts = malloc((size_t)w->size * sizeof(int)), before = 0;

    memcpy(w->got, w->own, (size_t)(w->n * w->size) * sizeof(*w->own));
    if (w->is_started)
        MPI_Ireduce_scatter_block(from, w->got, w->n, w->type, w->op, w->comm, &w->q);
    else
        MPI_Reduce_scatter_block(from, w->got, w->n, w->type, w->op, w->comm);
    wait_or_not(w->is_started, &w->q);
    for (int i = 0; i < w->n; i++)
        CHECK(is_equal(w->got[i], product(0, w->size, w->rank * w->n + i)));
    for (int r = 0; r < w->size; r++) {
        counts[r] = r < w->size - 1 ? r % w->n : 0;
        before += r < w->rank ? counts[r] : 0;
    }
    memcpy(w->got, w->own, (size_t)(w->n * w->size) * sizeof(*w->own));
    if (w->is_started)
        MPI_Ireduce_scatter(from, w->got, counts, w->type, w->op, w->comm, &w->q);
    else
        MPI_Reduce_scatter(from, w->got, counts, w->type, w->op, w->comm);
    wait_or_not(w->is_started, &w->q);
    for (int i = 0; i < counts[w->rank]; i++)
        CHECK(is_equal(w->got[i], product(0, w->size, before + i)));
    free(counts);
}

/* Of one communicator, blocking or nonblocking, `n` elements each. */
static void reductions(MPI_Comm comm, int n, int is_started)
{
    work_t w = {.comm = comm, .n = n, .is_started = is_started, .q = MPI_REQUEST_NULL};
    long sum, all = 0;

    work_begin(&w);
    reduce_to_roots(&w);
    for (int in_place = 0; in_place < 2; in_place++) {
        const void *from = in_place ? MPI_IN_PLACE : (const void *)w.own;

        for (int kind = 0; kind < 3; kind++)
            reduce_to_all(&w, from, kind);
        reduce_to_shares(&w, from);
    }
    sum = w.rank + 1;
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, comm);
    CHECK(all == (long)w.size * (w.size + 1) / 2);
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_MAX, w.size - 1, comm);
    CHECK(w.rank != w.size - 1 || all == w.size);
    work_end(&w);
}

static int element(int from, int to, int i)
{
    return from * 10007 + to * 101 + i;
}

/* Blocks of `n` elements, which lie apart at the receiver. */
typedef struct {
    MPI_Comm comm;
    int n, is_started, rank, size;
    MPI_Datatype wide, apart;
    int *data, *got, *counts, *places;
    MPI_Request q;
} blocks_t;

static void blocks_begin(blocks_t *b)
{
    int n = b->n;

    MPI_Comm_rank(b->comm, &b->rank);
    MPI_Comm_size(b->comm, &b->size);
    MPI_Type_vector(n, 1, 2, MPI_INT, &b->wide);
    MPI_Type_create_resized(b->wide, 0, 2 * (MPI_Aint)n * (MPI_Aint)sizeof(int), &b->apart);
    MPI_Type_commit(&b->apart);
    b->data = malloc((size_t)(2 * n * b->size + 1) * sizeof(int));
    b->got = malloc((size_t)(2 * n * b->size + 1) * sizeof(int));
    b->counts = malloc((size_t)b->size * 2 * sizeof(int));
    b->places = b->counts + b->size;
    for (int r = 0, at = 0; r < b->size; r++) {
        b->counts[r] = r % n;
        b->places[r] = at;
        at += b->counts[r];
    }
}

static void blocks_end(blocks_t *b)
{
    free(b->data);
    free(b->got);
    free(b->counts);
    MPI_Type_free(&b->wide);
    MPI_Type_free(&b->apart);
}

static void move_bcast(blocks_t *b, int root)
{
    bool is_root = b->rank == root;
    void *buffer = is_root ? b->data : b->got;

    for (int i = 0; i < b->n; i++)
        b->data[i] = b->got[2 * i] = is_root ? element(root, 0, i) : -1;
    if (b->is_started)
        MPI_Ibcast(buffer, is_root ? b->n : 1, is_root ? MPI_INT : b->apart, root, b->comm, &b->q);
    else
        MPI_Bcast(buffer, is_root ? b->n : 1, is_root ? MPI_INT : b->apart, root, b->comm);
    wait_or_not(b->is_started, &b->q);
    for (int i = 0; i < b->n; i++)
        CHECK(b->got[2 * i] == element(root, 0, i));
}

static void move_regular(blocks_t *b, int root)
{
    int n = b->n;

    for (int i = 0; i < n; i++)
        b->data[i] = element(b->rank, root, i);
    if (b->is_started)
        MPI_Igather(b->data, n, MPI_INT, b->got, 1, b->apart, root, b->comm, &b->q);
    else
        MPI_Gather(b->data, n, MPI_INT, b->got, 1, b->apart, root, b->comm);
    wait_or_not(b->is_started, &b->q);
    for (int i = 0; i < n * b->size && b->rank == root; i++)
        CHECK(b->got[2 * i] == element(i / n, root, i % n));
    for (int i = 0; i < n * b->size; i++)
        b->data[i] = element(root, i / n, i % n);
    if (b->is_started)
        MPI_Iscatter(b->data, n, MPI_INT, b->got, 1, b->apart, root, b->comm, &b->q);
    else
        MPI_Scatter(b->data, n, MPI_INT, b->got, 1, b->apart, root, b->comm);
    wait_or_not(b->is_started, &b->q);
    for (int i = 0; i < n; i++)
        CHECK(b->got[2 * i] == element(root, b->rank, i));
}

static void move_vectors(blocks_t *b, int root)
{
    int own = b->counts[b->rank];

    for (int i = 0; i < own; i++)
        b->data[i] = element(b->rank, 3, i);
    if (b->is_started)
        MPI_Igatherv(b->data, own, MPI_INT, b->got, b->counts, b->places, MPI_INT, root, b->comm,
                     &b->q);
    else
        MPI_Gatherv(b->data, own, MPI_INT, b->got, b->counts, b->places, MPI_INT, root, b->comm);
    wait_or_not(b->is_started, &b->q);
    for (int r = 0; r < b->size && b->rank == root; r++)
        for (int i = 0; i < b->counts[r]; i++)
            CHECK(b->got[b->places[r] + i] == element(r, 3, i));
    if (b->is_started)
        MPI_Iscatterv(b->got, b->counts, b->places, MPI_INT, b->data, own, MPI_INT, root, b->comm,
                      &b->q);
    else
        MPI_Scatterv(b->got, b->counts, b->places, MPI_INT, b->data, own, MPI_INT, root, b->comm);
    wait_or_not(b->is_started, &b->q);
    for (int i = 0; i < own; i++)
        CHECK(b->data[i] == element(b->rank, 3, i));
}

static void move_to_all(blocks_t *b)
{
    int n = b->n;

    for (int i = 0; i < n; i++)
        b->data[i] = element(b->rank, 5, i);
    if (b->is_started)
        MPI_Iallgather(b->data, n, MPI_INT, b->got, 1, b->apart, b->comm, &b->q);
    else
        MPI_Allgather(b->data, n, MPI_INT, b->got, 1, b->apart, b->comm);
    wait_or_not(b->is_started, &b->q);
    for (int i = 0; i < n * b->size; i++)
        CHECK(b->got[2 * i] == element(i / n, 5, i % n));
    for (int i = 0; i < b->counts[b->rank]; i++)
        b->got[b->places[b->rank] + i] = element(b->rank, 6, i);
    if (b->is_started)
        MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_INT, b->got, b->counts, b->places, MPI_INT, b->comm,
                        &b->q);
    else
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, b->got, b->counts, b->places, MPI_INT, b->comm);
    wait_or_not(b->is_started, &b->q);
    for (int r = 0; r < b->size; r++)
        for (int i = 0; i < b->counts[r]; i++)
            CHECK(b->got[b->places[r] + i] == element(r, 6, i));
}

static void move_from_all(blocks_t *b)
{
    int n = b->n;

    for (int i = 0; i < n * b->size; i++)
        b->data[i] = element(b->rank, i / n, i % n);
    if (b->is_started)
        MPI_Ialltoall(b->data, n, MPI_INT, b->got, 1, b->apart, b->comm, &b->q);
    else
        MPI_Alltoall(b->data, n, MPI_INT, b->got, 1, b->apart, b->comm);
    wait_or_not(b->is_started, &b->q);
    for (int i = 0; i < n * b->size; i++)
        CHECK(b->got[2 * i] == element(i / n, b->rank, i % n));
    if (b->is_started)
        MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INT, b->data, n, MPI_INT, b->comm, &b->q);
    else
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, b->data, n, MPI_INT, b->comm);
    wait_or_not(b->is_started, &b->q);
    for (int i = 0; i < n * b->size; i++)
        CHECK(b->data[i] == element(i / n, b->rank, i % n));
}

static void moves(MPI_Comm comm, int n, int is_started)
{
    blocks_t b = {.comm = comm, .n = n, .is_started = is_started, .q = MPI_REQUEST_NULL};

    blocks_begin(&b);
    MPI_Barrier(comm);
    for (int root = 0; root < b.size; root += 1 + b.size / 3) {
        move_bcast(&b, root);
        move_regular(&b, root);
        move_vectors(&b, root);
    }
    move_to_all(&b);
    move_from_all(&b);
    blocks_end(&b);
}

/* The result replaces the member's contribution. */
static void in_place(int rank, int size)
{
    int root = size - 1, *all = malloc((size_t)size * sizeof(int)),
        *ones = calloc((size_t)size, sizeof(int)), *places = calloc((size_t)size, sizeof(int)),
        own = 10 + rank, got = -1;
    void *const same = rank == root ? MPI_IN_PLACE : (void *)&own;

    for (int i = 0; i < size; i++) {
        all[i] = i == rank ? own : -1;
        ones[i] = 1;
        places[i] = i;
    }
    MPI_Gatherv(same, 1, MPI_INT, all, ones, places, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < size && rank == root; i++)
        CHECK(all[i] == 10 + i);
    MPI_Scatterv(all, ones, places, MPI_INT, rank == root ? MPI_IN_PLACE : &got, 1, MPI_INT, root,
                 MPI_COMM_WORLD);
    CHECK(rank == root || got == own);
    all[rank] = own;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        CHECK(all[i] == 10 + i);
    for (int i = 0; i < size; i++)
        all[i] = 100 * rank + i;
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        CHECK(all[i] == 100 * i + rank);
    free(all);
    free(ones);
    free(places);
}

static void collectives(int rank, int size)
{
    in_place(rank, size);
    for (int is_started = 0; is_started < 2; is_started++) {
        reductions(MPI_COMM_WORLD, 3, is_started);
        moves(MPI_COMM_WORLD, 3, is_started);
    }
}

/* More than one piece, and more than an eager message. */
static void large_collectives(int rank, int size)
{
    (void)rank;
    (void)size;
    reductions(MPI_COMM_WORLD, 80000, 0);
    moves(MPI_COMM_WORLD, 140000, 1);
}

/* So much that the members of a process get it past the caches, from an odd address. */
static void streamed_bcast(int rank, int size)
{
    enum { BYTES = 9 << 20 };
    char *data = calloc(BYTES + 1, 1), *wanted = calloc(BYTES + 1, 1);

    (void)size;
    for (int i = 0; i < BYTES; i += 997)
        wanted[i + 1] = (char)(i % 127 + 1);
    if (rank == 1)
        memcpy(data, wanted, BYTES + 1);
    MPI_Bcast(data + 1, BYTES, MPI_CHAR, 1, MPI_COMM_WORLD);
    CHECK(memcmp(data, wanted, BYTES + 1) == 0);
    free(data);
    free(wanted);
}

/* Members of each process lie apart: 0 1 2 0 1 2, or one process has most. */
static void test_collectives(void **state)
{
    static const int sizes[] = {2, 3, 5, 8, 17};
    int process_of[PROCESSES_RANKS];
    processes_t c = {.workers = 2, .process_of = process_of};

    (void)state;
    for (size_t i = XYLEM_SANITIZED; i < sizeof(sizes) / sizeof(*sizes);
         i += XYLEM_SANITIZED ? 2 : 1) {
        c.ranks = sizes[i];
        c.processes = c.ranks < 4 ? 2 : 2 + c.ranks % 3;
        for (int r = 0; r < c.ranks; r++)
            process_of[r] = r % c.processes;
        if (testing_is_chosen((unsigned)i, 2 * SHARE))
            run_processes(&c, collectives);
        for (int r = 0; r < c.ranks; r++)
            process_of[r] = r < c.processes ? r : c.processes - 1;
        if (testing_is_chosen((unsigned)i + 1, 2 * SHARE))
            run_processes(&c, collectives);
    }
    c.ranks = 5;
    for (c.processes = 2; c.processes <= 4; c.processes += 2) {
        for (int r = 0; r < c.ranks; r++)
            process_of[r] = r * c.processes / c.ranks;
        if (testing_is_chosen((unsigned)c.processes / 2, 2))
            run_processes(&c, large_collectives);
    }
    run_processes(&(processes_t){.processes = 2, .ranks = 4, .workers = 1}, streamed_bcast);
}

/* Any distribution that leaves no process without ranks. */
static void deal(const processes_t *c, int *process_of, uint64_t *state)
{
    for (int r = 0; r < c->ranks; r++) {
        *state = xy_hash_u64(*state + (uint64_t)r);
        process_of[r] = (int)(*state % (uint64_t)c->processes);
    }
    for (int p = 0; p < c->processes; p++) {
        *state = xy_hash_u64(*state);
        process_of[(p + (int)(*state % 2) * (c->ranks - c->processes)) % c->ranks] = p;
    }
    for (int p = 0; p < c->processes; p++) {
        int found = 0;

        for (int r = 0; r < c->ranks; r++)
            found += process_of[r] == p;
        if (found == 0) /* taken by another: in the order of processes then */
            for (int r = 0; r < c->processes; r++)
                process_of[r] = r;
    }
}

/* XYLEM_SOAK=1: every number of ranks and processes. */
static void test_distributions(void **state)
{
    bool is_soak = testing_is_soak();
    int process_of[PROCESSES_RANKS];
    processes_t c = {.process_of = process_of};
    uint64_t seed = 1;

    (void)state;
    for (c.ranks = 2; c.ranks <= (is_soak ? 17 : 0); c.ranks++)
        for (c.processes = 2; c.processes <= c.ranks && c.processes <= 4; c.processes++)
            for (int turn = 0; turn < 3; turn++) {
                c.workers = 1 + turn;
                deal(&c, process_of, &seed);
                run_processes(&c, collectives);
                if (c.ranks % 4 == 1 && turn == 0)
                    run_processes(&c, large_collectives);
            }
}

/* ---- Communicators ---- */

static void communicators(int rank, int size)
{
    MPI_Comm dup, half, again, inter, merged, shared, group_comm = MPI_COMM_NULL;
    MPI_Group world, group;
    MPI_Request q;
    int r, n, range[1][3] = {{0, size - 2, 2}};

    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    reductions(dup, 2, 0);
    MPI_Comm_idup(dup, &again, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    moves(again, 2, 0);
    MPI_Comm_free(&dup);
    MPI_Comm_split(again, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &r);
    MPI_Comm_size(half, &n);
    CHECK(r == n - 1 - rank / 2);
    reductions(half, 2, 1);
    moves(half, 2, 1);
    MPI_Intercomm_create(half, 0, again, rank % 2 ? (size - 1) / 2 * 2 : (size - 2) / 2 * 2 + 1, 5,
                         &inter);
    {
        int sum = 0, expected = 0, own = rank + 1;

        for (int i = 1 - rank % 2; i < size; i += 2)
            expected += i + 1;
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, inter);
        CHECK(sum == expected);
        MPI_Barrier(inter);
        sum = rank % 2 ? 4711 : 0;
        MPI_Bcast(&sum, 1, MPI_INT, rank % 2 == 0 ? 0 : r == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
        CHECK(sum == 4711);
    }
    MPI_Intercomm_merge(inter, rank % 2, &merged);
    moves(merged, 1, 0);
    MPI_Comm_rank(merged, &r);
    MPI_Comm_free(&merged);
    MPI_Comm_dup(inter, &merged);
    MPI_Barrier(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &group);
    if (rank % 2 == 0 && rank <= size - 2)
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &group_comm);
    if (group_comm != MPI_COMM_NULL) {
        reductions(group_comm, 1, 0);
        MPI_Comm_free(&group_comm);
    }
    MPI_Comm_create(again, group, &group_comm);
    CHECK((group_comm != MPI_COMM_NULL) == (rank % 2 == 0 && rank <= size - 2));
    if (group_comm != MPI_COMM_NULL) {
        moves(group_comm, 1, 0);
        MPI_Comm_free(&group_comm);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    MPI_Comm_size(shared, &n);
    CHECK(n < size);
    moves(shared, 1, 0);
    MPI_Comm_free(&shared);
    MPI_Comm_free(&again);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

/* A grid and a graph with neighbours in other processes. */
static void topologies(int rank, int size)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, got[8] = {0}, degree = 1, to = (rank + 1) % size, in,
        out, weighted, number;
    MPI_Comm grid, graph;

    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &number);
    MPI_Neighbor_allgather(&number, 1, MPI_INT, got, 1, MPI_INT, grid);
    for (int d = 0; d < 2; d++) {
        int below, above;

        MPI_Cart_shift(grid, d, 1, &below, &above);
        CHECK(below == MPI_PROC_NULL || got[2 * d] == below);
        CHECK(above == MPI_PROC_NULL || got[2 * d + 1] == above);
    }
    MPI_Comm_free(&grid);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 1,
                          &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    CHECK(in == 1 && out == 1);
    MPI_Comm_rank(graph, &number);
    MPI_Neighbor_alltoall(&number, 1, MPI_INT, got, 1, MPI_INT, graph);
    CHECK(got[0] == (number + size - 1) % size);
    MPI_Comm_free(&graph);
}

/* Do the ranks i and j of `comm` share a process? */
static bool is_together(MPI_Comm comm, int i, int j)
{
    int own = (int)getpid(), all[PROCESSES_RANKS];

    MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, comm);
    return all[i] == all[j];
}

/* Ranks 0, 2 and 1, 3 share processes; partners of the topologies are others. */
static void reordered(int rank, int size)
{
    static const int index[] = {1, 2, 3, 4}, edges[] = {1, 0, 3, 2};
    int dims[1] = {size}, periods[1] = {0}, partner = rank ^ 1, weight = 10 * rank + 1,
        other = 10 * partner + 1, number, sources[1], in[1], to[1], out[1], bytes[100] = {0};
    MPI_Comm made, again;

    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 1, &made);
    CHECK(is_together(made, 0, 1) && is_together(made, 2, 3));
    MPI_Comm_rank(made, &number);
    MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &partner);
    CHECK(partner == number);
    MPI_Comm_free(&made);
    partner = rank ^ 1;
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 1, &made);
    CHECK(is_together(made, 0, 1) && is_together(made, 2, 3));
    MPI_Comm_free(&made);
    /* Each number has the edges and weights of its node. */
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &partner, &other, 1, &partner, &weight,
                                   MPI_INFO_NULL, 1, &made);
    CHECK(is_together(made, 0, 1) && is_together(made, 2, 3));
    MPI_Comm_rank(made, &number);
    MPI_Dist_graph_neighbors(made, 1, sources, in, 1, to, out);
    CHECK(sources[0] == (number ^ 1) && to[0] == (number ^ 1));
    CHECK(in[0] == 10 * (number ^ 1) + 1 && out[0] == 10 * number + 1);
    /* By what was counted, with the topology. */
    xylem_replace(MPI_COMM_WORLD, &again);
    MPI_Comm_free(&again);
    MPI_Sendrecv_replace(bytes, 100, MPI_INT, 3 - rank, 0, 3 - rank, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    xylem_replace(MPI_COMM_WORLD, &again);
    CHECK(is_together(again, 0, 3) && is_together(again, 1, 2));
    MPI_Comm_free(&again);
    xylem_replace(made, &again);
    MPI_Comm_rank(again, &number);
    MPI_Dist_graph_neighbors(again, 1, sources, in, 1, to, out);
    CHECK(sources[0] == (number ^ 1) && out[0] == 10 * number + 1);
    MPI_Comm_free(&again);
    MPI_Comm_free(&made);
}

/* Started in another order in every rank. */
static void persistent(int rank, int size)
{
    MPI_Request requests[2];
    long sum = 0, own = rank + 1;
    int data = 0;

    MPI_Allreduce_init(&own, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[0]);
    MPI_Bcast_init(&data, 1, MPI_INT, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int i = 0; i < 5; i++) {
        data = rank == size - 1 ? i : -1;
        MPI_Start(&requests[rank % 2]);
        MPI_Start(&requests[1 - rank % 2]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(sum == (long)size * (size + 1) / 2 && data == i);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void test_communicators(void **state)
{
    static const int scattered[] = {1, 0, 1, 1, 0, 2, 0, 2, 1};

    (void)state;
    for (int k = 0; k < 2; k++) {
        processes_t c = {.processes = k ? 3 : 2,
                         .ranks = k ? 9 : 4,
                         .workers = 2,
                         .process_of = k ? scattered : NULL};

        if (testing_is_chosen((unsigned)k, SHARE))
            run_processes(&c, communicators);
        if (testing_is_chosen((unsigned)k + 1, SHARE))
            run_processes(&c, topologies);
        run_processes(&c, persistent);
    }
    run_processes(
        &(processes_t){.processes = 2, .ranks = 4, .workers = 2, .process_of = (int[]){0, 1, 0, 1}},
        reordered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring),          cmocka_unit_test(test_messages),
        cmocka_unit_test(test_collectives),   cmocka_unit_test(test_distributions),
        cmocka_unit_test(test_communicators),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
