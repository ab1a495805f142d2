/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communication patterns, timed by the program itself: seconds of one round, the longest of all
 * ranks, by whatever clock MPI_Wtime has.
 *
 *   predicted PATTERN BYTES ROUNDS ...      (three words for each pattern)
 *
 *   pingpong   ranks 2k and 2k+1 send BYTES to and fro; the time of one message
 *   across     the same between ranks k and k + size/2, all at once
 *   bcast scatter gather allreduce alltoall    BYTES for each rank (bcast, allreduce: in all)
 *   reduce     BYTES in all
 *   allgather reduce-scatter     BYTES of each rank
 *   ring       each rank sends to the next one and receives from the one before, by MPI_Sendrecv
 *   chain      each rank waits for the one before and sends to the next one
 *   butterfly  Sendrecv with the rank whose number differs in one bit, one bit after the other
 *   stream     ranks 2k send four messages to ranks 2k+1 and wait for a word
 *   workers    all send to rank 0, which takes whichever comes first and answers with a word
 *   gather-bcast     of BYTES for each rank to rank 0, then BYTES in all from it
 *   halo       a periodic grid of ranks, four neighbours, Isend, Irecv, Waitall
 *   cg         conjugate gradients on a line of BYTES/8 unknowns per rank: two neighbours of 8 B,
 *              two sums, and the sweeps over vectors between them
 *   fox        product of two matrices of order BYTES by rotation: each rank has a block of rows of
 *              A, which moves on after each step, and a block of columns of B (BYTES: a multiple of
 *              the ranks)
 *
 * Other ways to the same end:
 *
 *   bcast-linear, reduce-bcast (of allreduce), alltoall-pairs    sends of the root, two calls, one
 *              Sendrecv after the other
 *   PATTERN~   ranks dealt out like cards: neighbours are half of the ranks apart
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *in, *out;
static MPI_Comm comm;
static int rank, size, bytes;
static int width; /* of the grid of ranks */

static void play(int peer)
{
    if (peer >= size || peer == rank)
        return;
    if (rank < peer) {
        MPI_Send(in, bytes, MPI_BYTE, peer, 0, comm);
        MPI_Recv(out, bytes, MPI_BYTE, peer, 0, comm, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(out, bytes, MPI_BYTE, peer, 0, comm, MPI_STATUS_IGNORE);
        MPI_Send(in, bytes, MPI_BYTE, peer, 0, comm);
    }
}

static void pingpong(void)
{
    play(rank ^ 1);
}

static void across(void)
{
    play(rank < size / 2 ? rank + size / 2 : rank - size / 2);
}

static void bcast(void)
{
    MPI_Bcast(in, bytes, MPI_BYTE, 0, comm);
}

static void bcast_linear(void)
{
    if (rank > 0)
        MPI_Recv(in, bytes, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
    for (int r = 1; rank == 0 && r < size; r++)
        MPI_Send(in, bytes, MPI_BYTE, r, 0, comm);
}

static void scatter(void)
{
    MPI_Scatter(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, comm);
}

static void gather(void)
{
    MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, comm);
}

static void allreduce(void)
{
    MPI_Allreduce(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
}

static void reduce(void)
{
    MPI_Reduce(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, comm);
}

static void allgather(void)
{
    MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
}

static void reduce_scatter(void)
{
    MPI_Reduce_scatter_block(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
}

static void gather_bcast(void)
{
    MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, comm);
    MPI_Bcast(in, bytes, MPI_BYTE, 0, comm);
}

static void ring(void)
{
    MPI_Sendrecv(in, bytes, MPI_BYTE, (rank + 1) % size, 0, out, bytes, MPI_BYTE,
                 (rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE);
}

static void chain(void)
{
    if (rank > 0)
        MPI_Recv(out, bytes, MPI_BYTE, rank - 1, 0, comm, MPI_STATUS_IGNORE);
    if (rank + 1 < size)
        MPI_Send(in, bytes, MPI_BYTE, rank + 1, 0, comm);
}

static void butterfly(void)
{
    for (int bit = 1; bit < size; bit *= 2)
        if ((rank ^ bit) < size)
            MPI_Sendrecv(in, bytes, MPI_BYTE, rank ^ bit, 0, out, bytes, MPI_BYTE, rank ^ bit, 0,
                         comm, MPI_STATUS_IGNORE);
}

static void stream(void)
{
    MPI_Request requests[4];
    long word = 0;

    if ((rank ^ 1) >= size)
        return;
    for (int i = 0; i < 4; i++)
        if (rank % 2 == 0)
            MPI_Isend(in + (size_t)i * bytes, bytes, MPI_BYTE, rank + 1, i, comm, &requests[i]);
        else
            MPI_Irecv(out + (size_t)i * bytes, bytes, MPI_BYTE, rank - 1, i, comm, &requests[i]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    if (rank % 2 == 0)
        MPI_Recv(&word, 1, MPI_LONG, rank + 1, 4, comm, MPI_STATUS_IGNORE);
    else
        MPI_Send(&word, 1, MPI_LONG, rank - 1, 4, comm);
}

static void workers(void)
{
    MPI_Status status;
    long word = 0;

    if (rank > 0) {
        MPI_Send(in, bytes, MPI_BYTE, 0, 0, comm);
        MPI_Recv(&word, 1, MPI_LONG, 0, 1, comm, MPI_STATUS_IGNORE);
    }
    for (int i = 1; rank == 0 && i < size; i++) {
        MPI_Recv(out, bytes, MPI_BYTE, MPI_ANY_SOURCE, 0, comm, &status);
        MPI_Send(&word, 1, MPI_LONG, status.MPI_SOURCE, 1, comm);
    }
}

static void reduce_bcast(void)
{
    MPI_Reduce(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, comm);
    MPI_Bcast(out, bytes, MPI_BYTE, 0, comm);
}

static void alltoall(void)
{
    MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
}

static void alltoall_pairs(void)
{
    for (int i = 1; i < size; i++) {
        int to = (rank + i) % size, from = (rank + size - i) % size;

        MPI_Sendrecv(in + (size_t)to * bytes, bytes, MPI_BYTE, to, 0, out + (size_t)from * bytes,
                     bytes, MPI_BYTE, from, 0, comm, MPI_STATUS_IGNORE);
    }
}

static void halo(void)
{
    int row = rank / width * width;
    int near[4] = {(rank + width) % size, (rank + size - width) % size, row + (rank + 1) % width,
                   row + (rank + width - 1) % width};
    MPI_Request requests[8];

    for (int i = 0; i < 4; i++)
        MPI_Irecv(out + (size_t)i * bytes, bytes, MPI_BYTE, near[i ^ 1], i, comm, &requests[i]);
    for (int i = 0; i < 4; i++)
        MPI_Isend(in + (size_t)i * bytes, bytes, MPI_BYTE, near[i], i, comm, &requests[4 + i]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0, all;

    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
    return all;
}

/* One step for the matrix (-1 2.01 -1). */
static void cg(void)
{
    static double *x, *r, *p, *q, rho;
    static int unknowns;
    int n = bytes / 8, left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    double alpha, beta, next;

    if (unknowns != n) {
        unknowns = n;
        x = calloc((size_t)n, 8);
        r = malloc((size_t)n * 8);
        q = malloc((size_t)n * 8);
        p = calloc((size_t)n + 2, 8);
        for (int i = 0; i < n; i++)
            r[i] = p[i + 1] = 1;
        rho = dot(r, r, n);
    }
    MPI_Sendrecv(&p[1], 1, MPI_DOUBLE, left, 1, &p[n + 1], 1, MPI_DOUBLE, right, 1, comm,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&p[n], 1, MPI_DOUBLE, right, 2, &p[0], 1, MPI_DOUBLE, left, 2, comm,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        q[i] = 2.01 * p[i + 1] - p[i] - p[i + 2];
    alpha = rho / dot(p + 1, q, n);
    for (int i = 0; i < n; i++) {
        x[i] += alpha * p[i + 1];
        r[i] -= alpha * q[i];
    }
    next = dot(r, r, n);
    beta = next / rho;
    rho = next > 1e-200 ? next : 1;
    for (int i = 0; i < n; i++)
        p[i + 1] = r[i] + beta * p[i + 1];
}

/* C (b x b) += A (b x n) * B^T (b x n). */
static void multiply(int b, int n, const double *left, const double *right, double *c)
{
    for (int i = 0; i < b; i++)
        for (int j = 0; j < b; j++) {
            double sum = 0;

            for (int k = 0; k < n; k++)
                sum += left[(size_t)i * n + k] * right[(size_t)j * n + k];
            c[(size_t)i * b + j] += sum;
        }
}

static void fox(void)
{
    static double *a, *b, *c;
    static int order;
    int n = bytes, block = n / size, up = (rank + size - 1) % size, down = (rank + 1) % size;

    if (order != n) {
        order = n;
        a = malloc((size_t)block * n * 8);
        b = malloc((size_t)block * n * 8);
        c = calloc((size_t)block * n, 8);
        for (int i = 0; i < block * n; i++)
            a[i] = b[i] = 1;
    }
    for (int step = 0; step < size; step++) {
        multiply(block, n, a, b, c + (size_t)((rank + step) % size) * block * block);
        MPI_Sendrecv_replace(a, block * n, MPI_DOUBLE, up, 3, down, 3, comm, MPI_STATUS_IGNORE);
    }
}

/* The size of the memory that messages come from and go to. */
enum { FEW, WIDE, MATRIX }; /* four messages, one for each rank, none: BYTES is an order */

static const struct {
    const char *name;
    void (*round)(void);
    int memory;
} patterns[] = {{"pingpong", pingpong, FEW},
                {"across", across, FEW},
                {"ring", ring, FEW},
                {"chain", chain, FEW},
                {"butterfly", butterfly, FEW},
                {"stream", stream, FEW},
                {"workers", workers, FEW},
                {"bcast", bcast, FEW},
                {"bcast-linear", bcast_linear, FEW},
                {"scatter", scatter, WIDE},
                {"gather", gather, WIDE},
                {"gather-bcast", gather_bcast, WIDE},
                {"allgather", allgather, WIDE},
                {"allreduce", allreduce, FEW},
                {"reduce", reduce, FEW},
                {"reduce-bcast", reduce_bcast, FEW},
                {"reduce-scatter", reduce_scatter, WIDE},
                {"alltoall", alltoall, WIDE},
                {"alltoall-pairs", alltoall_pairs, WIDE},
                {"halo", halo, FEW},
                {"cg", cg, FEW},
                {"fox", fox, MATRIX}};

/* The ranks as they are, or dealt out, and the width of their grid. */
static void set_comm(int is_dealt)
{
    static MPI_Comm dealt = MPI_COMM_NULL;
    int dims[2] = {0, 0};

    comm = MPI_COMM_WORLD;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Dims_create(size, 2, dims);
    width = dims[1];
    if (!is_dealt)
        return;
    if (dealt == MPI_COMM_NULL)
        MPI_Comm_split(comm, 0, rank < (size + 1) / 2 ? 2 * rank : 2 * (rank - (size + 1) / 2) + 1,
                       &dealt);
    comm = dealt;
    MPI_Comm_rank(comm, &rank);
}

static double time_rounds(void (*round)(void), int rounds)
{
    double begin, mine = 0, all = 0;

    /* A rehearsal: memory that messages are kept in is there, and caches are as they will be. */
    for (int i = 0; i < rounds; i++)
        round();
    MPI_Barrier(comm);
    /* A rank that enters such a barrier earlier than others, by less than a latency, leaves it as
     * much later, and a single delay (connections are made one after the other) would stay for
     * ever. Messages from one rank have one order. */
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
    MPI_Bcast(&all, 1, MPI_DOUBLE, 0, comm);
    MPI_Barrier(comm);
    begin = MPI_Wtime();
    for (int i = 0; i < rounds; i++)
        round();
    MPI_Barrier(comm);
    mine = (MPI_Wtime() - begin) / rounds;
    if (round == pingpong || round == across)
        mine /= 2;
    MPI_Barrier(comm); /* before what follows takes a core that others need to read the clock */
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return all;
}

/* Memory with pages of its own, as that of programs that write what they send: all that was never
 * written is one page of zeros. */
static char *get_memory(size_t size_of_block, size_t blocks)
{
    char *memory = malloc(size_of_block * blocks);

    if (memory == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memset(memory, 1, size_of_block * blocks);
}

static void run(const char *what, int length, int rounds)
{
    size_t name = strcspn(what, "~"), blocks, k = 0, count = sizeof(patterns) / sizeof(*patterns);
    double seconds;

    while (k < count && (strncmp(what, patterns[k].name, name) != 0 || patterns[k].name[name]))
        k++;
    if (k == count) {
        fprintf(stderr, "predicted: there is no '%s'\n", what);
        MPI_Abort(MPI_COMM_WORLD, 2);
        return;
    }
    set_comm(what[name] == '~');
    bytes = length;
    blocks = patterns[k].memory == MATRIX             ? 1
             : patterns[k].memory == WIDE && size > 4 ? (size_t)size
                                                      : 4;
    in = get_memory((size_t)bytes + 8, blocks);
    out = get_memory((size_t)bytes + 8, blocks);
    seconds = time_rounds(patterns[k].round, rounds);
    if (rank == 0 || comm != MPI_COMM_WORLD) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0)
            printf("%s %d seconds %.9g\n", what, length, seconds);
    }
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc < 4 || argc % 3 != 1) {
        fprintf(stderr, "usage: predicted PATTERN BYTES ROUNDS ...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 1; i + 2 < argc; i += 3)
        run(argv[i], atoi(argv[i + 1]), atoi(argv[i + 2]));
    MPI_Finalize();
    return 0;
}
