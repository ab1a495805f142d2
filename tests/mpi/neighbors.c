/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbourhood collectives on grids and graphs, and exchanges as one request. Each rank has its
 * own `hood`. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MOST = 4096 }; /* neighbours of a rank, at most */

/* The neighbours of this rank, and for each source the place of its message among those it sends
 * (all as ranks of the communicator). */
typedef struct {
    MPI_Comm comm;
    int rank, size, in, out;
    int sources[MOST], destinations[MOST], place[MOST];
} hood_t;

static hood_t hood;

/* Element k of the message from the j-th edge of `rank`. */
static int value(int rank, int j, int k)
{
    return rank * 1000003 + j * 1009 + k;
}

/* Message j of `rank` has this many elements when lengths differ. */
static int length(int rank, int j, int count)
{
    return (rank + j) % 3 * count / 2;
}

static void finish(MPI_Request *request)
{
    MPI_Status status;

    MPI_Wait(request, &status);
    CHECK(*request == MPI_REQUEST_NULL);
}

static void fill(int *out, int count)
{
    for (int j = 0; j < hood.out; j++)
        for (int k = 0; k < count; k++)
            out[j * count + k] = value(hood.rank, j, k);
}

/* Check the data of source i: `got` elements of a block of `count` have come. */
static void check_block(const int *block, int i, int count, int got, int is_one)
{
    for (int k = 0; k < count; k++)
        CHECK_EQUAL(block[k], hood.sources[i] == MPI_PROC_NULL || k >= got
                                  ? -1
                                  : value(hood.sources[i], is_one ? 0 : hood.place[i], k));
}

static void check_regular(int count, int nonblocking)
{
    int *out = malloc(((size_t)(hood.out + 1) * count + 1) * sizeof(int));
    int *in = malloc(((size_t)hood.in * count + 1) * sizeof(int));
    size_t bytes = (size_t)hood.in * count * sizeof(int);
    MPI_Request request;

    fill(out, count);
    memset(in, -1, bytes);
    if (nonblocking) {
        MPI_Ineighbor_alltoall(out, count, MPI_INT, in, count, MPI_INT, hood.comm, &request);
        finish(&request);
    } else {
        MPI_Neighbor_alltoall(out, count, MPI_INT, in, count, MPI_INT, hood.comm);
    }
    for (int i = 0; i < hood.in; i++)
        check_block(in + i * count, i, count, count, 0);
    for (int k = 0; k < count; k++)
        out[k] = value(hood.rank, 0, k);
    memset(in, -1, bytes);
    if (nonblocking) {
        MPI_Ineighbor_allgather(out, count, MPI_INT, in, count, MPI_INT, hood.comm, &request);
        finish(&request);
    } else {
        MPI_Neighbor_allgather(out, count, MPI_INT, in, count, MPI_INT, hood.comm);
    }
    for (int i = 0; i < hood.in; i++)
        check_block(in + i * count, i, count, count, 1);
    free(out);
    free(in);
}

/* Blocks of different lengths with room for `count` elements each; v and w. */
static void check_vectors(int count, int nonblocking)
{
    int *out = malloc(((size_t)hood.out * count + 1) * sizeof(int));
    int *in = malloc(((size_t)hood.in * count + 1) * sizeof(int));
    static int out_counts[MOST], in_counts[MOST], out_at[MOST], in_at[MOST];
    static MPI_Aint out_bytes[MOST], in_bytes[MOST];
    static MPI_Datatype types[MOST];
    MPI_Request requests[2];

    for (int j = 0; j < hood.out; j++) {
        out_counts[j] = length(hood.rank, j, count);
        out_at[j] = j * count;
        out_bytes[j] = (MPI_Aint)out_at[j] * (MPI_Aint)sizeof(int);
    }
    for (int i = 0; i < hood.in; i++) {
        in_counts[i] = length(hood.sources[i], hood.place[i], count);
        in_at[i] = i * count;
        in_bytes[i] = (MPI_Aint)in_at[i] * (MPI_Aint)sizeof(int);
        if (hood.sources[i] == MPI_PROC_NULL)
            in_counts[i] = count;
    }
    for (int i = 0; i < MOST; i++)
        types[i] = MPI_INT;
    fill(out, count);
    for (int w = 0; w < 2; w++) {
        memset(in, -1, (size_t)hood.in * count * sizeof(int));
        if (!nonblocking && w)
            MPI_Neighbor_alltoallw(out, out_counts, out_bytes, types, in, in_counts, in_bytes,
                                   types, hood.comm);
        else if (!nonblocking)
            MPI_Neighbor_alltoallv(out, out_counts, out_at, MPI_INT, in, in_counts, in_at, MPI_INT,
                                   hood.comm);
        else if (w)
            MPI_Ineighbor_alltoallw(out, out_counts, out_bytes, types, in, in_counts, in_bytes,
                                    types, hood.comm, &requests[0]);
        else
            MPI_Ineighbor_alltoallv(out, out_counts, out_at, MPI_INT, in, in_counts, in_at, MPI_INT,
                                    hood.comm, &requests[0]);
        if (nonblocking)
            finish(&requests[0]);
        for (int i = 0; i < hood.in; i++)
            check_block(in + i * count, i, count, in_counts[i], 0);
    }
    free(out);
    free(in);
}

/* Blocks of allgatherv land in reverse order. */
static void check_gatherv(int count)
{
    int *own = malloc(((size_t)count + 1) * sizeof(int));
    int *in = malloc(((size_t)hood.in * count + 1) * sizeof(int));
    static int counts[MOST], at[MOST];

    for (int k = 0; k < count; k++)
        own[k] = value(hood.rank, 0, k);
    for (int i = 0; i < hood.in; i++) {
        counts[i] = count;
        at[i] = (hood.in - 1 - i) * count;
    }
    memset(in, -1, (size_t)hood.in * count * sizeof(int));
    MPI_Neighbor_allgatherv(own, count, MPI_INT, in, counts, at, MPI_INT, hood.comm);
    for (int i = 0; i < hood.in; i++)
        check_block(in + at[i], i, count, count, 1);
    free(own);
    free(in);
}

/* Several at once on one communicator do not mix, nor with messages of the program. */
static void check_many(void)
{
    enum { MANY = 5 };
    static int out[MANY][MOST], in[MANY][MOST];
    MPI_Request requests[MANY + 1];
    int stray = -1;

    MPI_Irecv(&stray, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, hood.comm, &requests[MANY]);
    for (int n = 0; n < MANY; n++) {
        for (int j = 0; j < hood.out; j++)
            out[n][j] = value(hood.rank, j, n);
        memset(in[n], -1, sizeof in[n]);
        MPI_Ineighbor_alltoall(out[n], 1, MPI_INT, in[n], 1, MPI_INT, hood.comm, &requests[n]);
    }
    MPI_Send(&hood.rank, 1, MPI_INT, (hood.rank + 1) % hood.size, 0, hood.comm);
    MPI_Waitall(MANY + 1, requests, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(stray, (hood.rank + hood.size - 1) % hood.size);
    for (int n = 0; n < MANY; n++)
        for (int i = 0; i < hood.in; i++)
            if (hood.sources[i] != MPI_PROC_NULL)
                CHECK_EQUAL(in[n][i], value(hood.sources[i], hood.place[i], n));
}

static void check_hood(void)
{
    static const int counts[] = {0, 1, 7, 20000}; /* the last not through a buffer */

    MPI_Comm_rank(hood.comm, &hood.rank);
    MPI_Comm_size(hood.comm, &hood.size);
    for (int nonblocking = 0; nonblocking < 2; nonblocking++)
        for (int c = 0; c < (hood.size > 8 ? 3 : 4); c++) {
            check_regular(counts[c], nonblocking);
            check_vectors(counts[c], nonblocking);
            check_gatherv(counts[c]);
        }
    check_many();
    MPI_Comm_free(&hood.comm);
}

static void check_grid(int ndims, const int *dims, const int *periods, int reorder)
{
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, reorder, &hood.comm);
    if (hood.comm == MPI_COMM_NULL)
        return;
    hood.in = hood.out = 2 * ndims;
    for (int d = 0; d < ndims; d++) {
        MPI_Cart_shift(hood.comm, d, 1, &hood.sources[2 * d], &hood.sources[2 * d + 1]);
        hood.place[2 * d] = 2 * d + 1;
        hood.place[2 * d + 1] = 2 * d;
    }
    check_hood();
}

/* Edge e of rank r; some are double, some go to the rank itself. */
static int edge(int rank, int e, int size)
{
    return (int)(((unsigned)rank * 7u + (unsigned)(e / 2) * 13u + 3u) % (unsigned)size);
}

static int degree(int rank)
{
    return rank % 4;
}

static void check_graph(int size, int rank, int reorder)
{
    int in = 0;

    hood.in = hood.out = 0;
    for (int e = 0; e < degree(rank); e++)
        hood.destinations[hood.out++] = edge(rank, e, size);
    for (int s = size - 1; s >= 0; s--)
        for (int e = 0; e < degree(s); e++)
            if (edge(s, e, size) == rank)
                hood.sources[in++] = s;
    hood.in = in;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, hood.in, hood.sources, MPI_UNWEIGHTED, hood.out,
                                   hood.destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, reorder,
                                   &hood.comm);
    /* After a new order this rank has the edges of its new number. */
    MPI_Dist_graph_neighbors_count(hood.comm, &hood.in, &hood.out, &in);
    MPI_Dist_graph_neighbors(hood.comm, hood.in, hood.sources, MPI_UNWEIGHTED, hood.out,
                             hood.destinations, MPI_UNWEIGHTED);
    MPI_Comm_rank(hood.comm, &rank);
    for (int i = 0; i < hood.in; i++) {
        int before = 0, at = 0;

        for (int k = 0; k < i; k++)
            before += hood.sources[k] == hood.sources[i];
        while (edge(hood.sources[i], at, size) != rank || before-- > 0)
            at++;
        hood.place[i] = at;
    }
    check_hood();
}

/* Around a ring as one request, in place too, with the status of what came. */
static void check_exchange(int rank, int size)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size, count;
    int *out = malloc(50000 * sizeof(int)), *in = malloc(50000 * sizeof(int));
    MPI_Request request;
    MPI_Status status;

    for (int n = 1; n <= 50000; n *= 50) {
        for (int k = 0; k < n; k++)
            out[k] = value(rank, 0, k);
        MPI_Isendrecv(out, n, MPI_INT, right, 4, in, 50000, MPI_INT, left, 4, MPI_COMM_WORLD,
                      &request);
        MPI_Wait(&request, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 4 && count == n);
        for (int k = 0; k < n; k++)
            CHECK_EQUAL(in[k], value(left, 0, k));
        MPI_Isendrecv_replace(out, n, MPI_INT, right, 5, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD,
                              &request);
        MPI_Wait(&request, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 5 && count == n);
        for (int k = 0; k < n; k++)
            CHECK_EQUAL(out[k], value(left, 0, k));
    }
    MPI_Isendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 6, in, 1, MPI_INT, MPI_PROC_NULL, 6,
                  MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    free(out);
    free(in);
}

/* Errors: no topology; a message longer than its place. */
static void check_errors(int rank, int size)
{
    int dims[1] = {size}, periods[1] = {1}, out[4] = {0}, in[4] = {0};
    MPI_Comm ring;
    MPI_Request request;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD),
                MPI_ERR_TOPOLOGY);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Neighbor_alltoall(out, -1, MPI_INT, in, 1, MPI_INT, ring), MPI_ERR_COUNT);
    CHECK_EQUAL(MPI_Neighbor_alltoall(out, 2, MPI_INT, in, 1, MPI_INT, ring), MPI_ERR_TRUNCATE);
    MPI_Ineighbor_alltoall(out, 2, MPI_INT, in, 1, MPI_INT, ring, &request);
    CHECK_EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Comm_free(&ring);
    (void)rank;
}

int main(int argc, char **argv)
{
    int rank, size, dims[3] = {0}, none = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int ndims = 1; ndims <= 3; ndims++)
        for (int form = 0; form < 4; form += XYLEM_SANITIZED ? 3 : 1) {
            int periods[3] = {form % 2, form / 2, form % 2};

            memset(dims, 0, sizeof dims);
            MPI_Dims_create(size, ndims, dims);
            check_grid(ndims, dims, periods, form > 1);
        }
    check_grid(0, &none, &none, 0);
    check_graph(size, rank, 0);
    check_graph(size, rank, 1);
    check_exchange(rank, size);
    check_errors(rank, size);
    MPI_Finalize();
    return 0;
}
