/* SPDX-License-Identifier: BSD-3-Clause */
/* Point to point: modes, wildcards, order, probes, cancel, persistent, sizes around the limits. */
#include "testing/mpi_p2p.h"

#include <stdatomic.h>
#include <string.h>

#include "testing/base.h"

static void fill(unsigned char *buffer, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        buffer[i] = (unsigned char)(seed * 31 + i * 7 + (i >> 8));
}

static void check(const unsigned char *buffer, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        CHECK(buffer[i] == (unsigned char)(seed * 31 + i * 7 + (i >> 8)));
}

enum { LARGEST = XYLEM_SANITIZED ? 1 << 18 : 1 << 20 };
static const int sizes[] = {0, 1, 8, 87, 88, 89, 127, 1000, 1024, 1025, 5000, 150000, LARGEST};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

typedef int (*send_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm);

/* Every pair of neighbours, every size, in every mode, blocking. */
static void modes(int rank, int size)
{
    static const send_fn sends[] = {MPI_Send, MPI_Ssend, MPI_Bsend};
    unsigned char *out = malloc(LARGEST), *in = malloc(LARGEST);
    void *attached = malloc(4 << 20);
    int right = (rank + 1) % size, left = (rank + size - 1) % size, bytes;

    MPI_Buffer_attach(attached, 4 << 20);
    for (int m = 0; m < 3; m++)
        for (int s = 0; s < SIZES; s++) {
            MPI_Status status;
            int count;

            fill(out, (size_t)sizes[s], (unsigned)(rank + s));
            memset(in, 0, (size_t)sizes[s]);
            if (rank % 2 == 0) {
                sends[m](out, sizes[s], MPI_BYTE, right, m * 100 + s, MPI_COMM_WORLD);
                MPI_Recv(in, sizes[s], MPI_BYTE, left, m * 100 + s, MPI_COMM_WORLD, &status);
            } else {
                MPI_Recv(in, sizes[s], MPI_BYTE, left, m * 100 + s, MPI_COMM_WORLD, &status);
                sends[m](out, sizes[s], MPI_BYTE, right, m * 100 + s, MPI_COMM_WORLD);
            }
            MPI_Get_count(&status, MPI_BYTE, &count);
            CHECK(count == sizes[s] && status.MPI_SOURCE == left && status.MPI_TAG == m * 100 + s);
            check(in, (size_t)sizes[s], (unsigned)(left + s));
        }
    MPI_Buffer_detach(&attached, &bytes);
    CHECK(bytes == 4 << 20);
    free(attached);
    free(out);
    free(in);
}

/* Every rank sends to every rank without blocking, completed in every way. */
static void nonblocking(int rank, int size)
{
    enum { N = XYLEM_SANITIZED ? 300 : 3000 };
    MPI_Request *requests = malloc(2 * (size_t)size * sizeof(*requests));
    MPI_Status *statuses = malloc(2 * (size_t)size * sizeof(*statuses));
    int *indices = malloc(2 * (size_t)size * sizeof(int));
    int *out = malloc((size_t)size * N * sizeof(int)), *in = malloc((size_t)size * N * sizeof(int));

    for (int way = 0; way < 6; way++) {
        int n = way % 2 ? N : 3, left = 2 * size;

        for (int p = 0; p < size; p++) {
            MPI_Irecv(in + p * n, n, MPI_INT, p, way, MPI_COMM_WORLD, &requests[p]);
            for (int i = 0; i < n; i++)
                out[p * n + i] = rank * 1000003 + p * 101 + i + way;
        }
        for (int p = 0; p < size; p++)
            (p % 2 ? MPI_Isend : MPI_Issend)(out + p * n, n, MPI_INT, p, way, MPI_COMM_WORLD,
                                             &requests[size + p]);
        while (left > 0) {
            int done = 0, index;

            if (way == 0)
                MPI_Waitall(left, requests, statuses), done = left;
            else if (way == 1)
                MPI_Waitany(left, requests, &index, &statuses[0]), done = 1;
            else if (way == 2)
                MPI_Waitsome(2 * size, requests, &done, indices, statuses);
            else if (way == 3)
                MPI_Testsome(2 * size, requests, &done, indices, statuses);
            else if (way == 4)
                MPI_Testall(2 * size, requests, &done, statuses), done *= left;
            else
                MPI_Testany(2 * size, requests, &index, &done, &statuses[0]);
            CHECK(done >= 0 && done <= left);
            left -= way == 1 ? 0 : done;
            if (way == 1 && index == MPI_UNDEFINED)
                left = 0;
        }
        for (int p = 0; p < size; p++) {
            CHECK(requests[p] == MPI_REQUEST_NULL && requests[size + p] == MPI_REQUEST_NULL);
            for (int i = 0; i < n; i++)
                CHECK(in[p * n + i] == p * 1000003 + rank * 101 + i + way);
        }
    }
    free(requests);
    free(statuses);
    free(indices);
    free(out);
    free(in);
}

/* Messages of one sender do not overtake, whatever their size and the receive's wildcards. */
static void ordering(int rank, int size)
{
    enum { N = 300 };
    int next[64] = {0};

    if (rank != 0) {
        for (int i = 0; i < N; i++) {
            int data[2000] = {rank, i};
            int n = i % 3 == 0 ? 2 : i % 3 == 1 ? 200 : 2000;

            MPI_Send(data, n, MPI_INT, 0, i % 2, MPI_COMM_WORLD);
        }
        return;
    }
    for (int i = 0; i < N * (size - 1); i++) {
        int data[2000];
        MPI_Status status;

        MPI_Recv(data, 2000, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK(data[0] == status.MPI_SOURCE);
        CHECK(data[1] == next[data[0]]++);
        CHECK(status.MPI_TAG == data[1] % 2);
    }
}

/* Receives are posted with all kinds of wildcards; each message takes the first that fits. */
static void posted_order(int rank, int size)
{
    MPI_Request r[4];
    int v[4] = {0};

    if (size < 2 || rank > 1)
        return;
    if (rank == 0) {
        MPI_Irecv(&v[0], 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(&v[1], 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &r[1]);
        MPI_Irecv(&v[2], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[2]);
        MPI_Irecv(&v[3], 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &r[3]);
        MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
        CHECK(v[0] == 100 && v[1] == 101 && v[2] == 102 && v[3] == 103);
    } else {
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 4; i++) {
            int value = 100 + i;

            MPI_Send(&value, 1, MPI_INT, 0, i == 2 ? 9 : 5, MPI_COMM_WORLD);
        }
    }
}

static void probes(int rank, int size)
{
    static const int bytes[] = {3, 5000, 200000};
    unsigned char *buffer = malloc(200000);

    for (int round = 0; round < 3; round++) {
        int n = bytes[round], right = (rank + 1) % size, left = (rank + size - 1) % size, flag = 0;
        int count;
        MPI_Request request;
        MPI_Message message;
        MPI_Status status;
        unsigned char *out = malloc((size_t)n);

        fill(out, (size_t)n, (unsigned)rank);
        MPI_Isend(out, n, MPI_BYTE, right, round, MPI_COMM_WORLD, &request);
        if (round == 0) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_BYTE, &count);
            MPI_Recv(buffer, count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        } else if (round == 1) {
            while (!flag)
                MPI_Improbe(left, round, MPI_COMM_WORLD, &flag, &message, &status);
            MPI_Get_count(&status, MPI_BYTE, &count);
            MPI_Mrecv(buffer, count, MPI_BYTE, &message, MPI_STATUS_IGNORE);
            CHECK(message == MPI_MESSAGE_NULL);
        } else {
            MPI_Request receive;

            MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
            MPI_Get_count(&status, MPI_BYTE, &count);
            MPI_Imrecv(buffer, count, MPI_BYTE, &message, &receive);
            MPI_Wait(&receive, MPI_STATUS_IGNORE);
        }
        CHECK(count == n && status.MPI_SOURCE == left);
        check(buffer, (size_t)n, (unsigned)left);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        free(out);
    }
    free(buffer);
}

static void persistent(int rank, int size)
{
    enum { N = 30000 };
    MPI_Request r[2];
    int *out = malloc(N * sizeof(int)), *in = malloc(N * sizeof(int));
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    for (int n = 1; n <= N; n *= 30) {
        MPI_Recv_init(in, n, MPI_INT, left, 3, MPI_COMM_WORLD, &r[0]);
        MPI_Send_init(out, n, MPI_INT, right, 3, MPI_COMM_WORLD, &r[1]);
        for (int i = 0; i < 5; i++) {
            for (int k = 0; k < n; k++)
                out[k] = rank + i * k;
            MPI_Startall(2, r);
            MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
            for (int k = 0; k < n; k++)
                CHECK(in[k] == left + i * k);
        }
        MPI_Request_free(&r[0]);
        MPI_Request_free(&r[1]);
        CHECK(r[0] == MPI_REQUEST_NULL);
    }
    free(out);
    free(in);
}

static void cancels(int rank, int size)
{
    static int big[100000];
    MPI_Request request;
    MPI_Status status;
    int flag, value = 7;

    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag && value == 7);
    /* A large send that is not received can be cancelled. */
    MPI_Isend(big, 100000, MPI_INT, (rank + 1) % size, 78, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(MPI_ANY_SOURCE, 78, MPI_COMM_WORLD, &flag, &status);
    CHECK(!flag);
    /* A small one may be over already; then it arrives. */
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 79, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    if (!flag)
        MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 80, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(MPI_ANY_SOURCE, 80, MPI_COMM_WORLD, &flag, &status);
    for (int tag = 79; tag <= 80 && flag; tag++) {
        MPI_Recv(&value, 1, MPI_INT, (rank + size - 1) % size, tag, MPI_COMM_WORLD, &status);
        CHECK(value == (rank + size - 1) % size);
    }
}

/* Nothing to wait for: every field of the status is set. */
static void empty_statuses(int rank, int size)
{
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Status status;
    int flag = 0;

    (void)rank;
    (void)size;
    for (int form = 0; form < 3; form++) {
        memset(&status, 77, sizeof status);
        if (form == 0)
            MPI_Request_get_status(none, &flag, &status);
        else if (form == 1)
            MPI_Test(&none, &flag, &status);
        else
            MPI_Wait(&none, &status);
        CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
        CHECK(status.MPI_ERROR == MPI_SUCCESS);
    }
}

static void exchanges(int rank, int size)
{
    enum { N = 40000 };
    int *a = malloc(N * sizeof(int)), *b = malloc(N * sizeof(int));
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Status status;

    for (int n = 1; n <= N; n *= 200) {
        for (int i = 0; i < n; i++)
            a[i] = rank * 7 + i;
        MPI_Sendrecv(a, n, MPI_INT, right, 1, b, n, MPI_INT, left, 1, MPI_COMM_WORLD, &status);
        for (int i = 0; i < n; i++)
            CHECK(b[i] == left * 7 + i);
        MPI_Sendrecv_replace(a, n, MPI_INT, right, 2, left, 2, MPI_COMM_WORLD, &status);
        for (int i = 0; i < n; i++)
            CHECK(a[i] == left * 7 + i);
    }
    MPI_Sendrecv(a, 1, MPI_INT, MPI_PROC_NULL, 0, b, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                 &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    free(a);
    free(b);
}

/* A vector out, contiguous in, and the reverse, at sizes on both sides of the eager limit. */
static void typed(int rank, int size)
{
    static const int counts[] = {3, 200, 20000};
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    for (int c = 0; c < 3; c++) {
        int n = counts[c];
        double *grid = malloc(3 * (size_t)n * sizeof(double)), *line = malloc((size_t)n * 8);
        MPI_Datatype column;

        MPI_Type_vector(n, 1, 3, MPI_DOUBLE, &column);
        MPI_Type_commit(&column);
        for (int i = 0; i < 3 * n; i++)
            grid[i] = rank * 1e6 + i;
        MPI_Sendrecv(grid, 1, column, right, 4, line, n, MPI_DOUBLE, left, 4, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            CHECK(line[i] == left * 1e6 + 3 * i);
        MPI_Sendrecv(line, n, MPI_DOUBLE, left, 5, grid + 1, 1, column, right, 5, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++) {
            CHECK(grid[3 * i + 1] == rank * 1e6 + 3 * i);
            CHECK(grid[3 * i] == rank * 1e6 + 3 * i && grid[3 * i + 2] == rank * 1e6 + 3 * i + 2);
        }
        MPI_Type_free(&column);
        free(grid);
        free(line);
    }
}

static void truncation(int rank, int size)
{
    char buffer[100] = {0};
    MPI_Status status;
    int class;

    if (size < 2 || rank > 1)
        return;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 0) {
        MPI_Send(buffer, 100, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Error_class(MPI_Recv(buffer, 10, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &status), &class);
        CHECK(class == MPI_ERR_TRUNCATE);
    }
    MPI_Error_class(MPI_Send(buffer, 1, MPI_CHAR, size, 0, MPI_COMM_WORLD), &class);
    CHECK(class == MPI_ERR_RANK);
    MPI_Error_class(MPI_Send(buffer, -1, MPI_CHAR, 0, 0, MPI_COMM_WORLD), &class);
    CHECK(class == MPI_ERR_COUNT);
    MPI_Error_class(MPI_Send(buffer, 1, MPI_CHAR, 0, -5, MPI_COMM_WORLD), &class);
    CHECK(class == MPI_ERR_TAG);
    MPI_Error_class(MPI_Send(buffer, 1, MPI_CHAR, 0, 0, MPI_COMM_NULL), &class);
    CHECK(class == MPI_ERR_COMM);
}

/* 100 000 messages with different tags, received in the reverse order: quadratic matching would
 * take minutes. */
static void many(int rank, int size)
{
    enum { N = XYLEM_SANITIZED ? 10000 : 100000 };
    MPI_Request *requests;

    if (size < 2 || rank > 1)
        return;
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++)
            MPI_Send(&i, 1, MPI_INT, 1, N - 1 - i, MPI_COMM_WORLD);
        return;
    }
    for (int i = N - 1; i >= 0; i--) {
        int value = -1;

        MPI_Recv(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == i);
        if (i == 0)
            break;
    }
    requests = malloc(N * sizeof(*requests));
    int *values = malloc(N * sizeof(int));
    for (int i = 0; i < N; i++)
        MPI_Irecv(&values[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        CHECK(values[i] == N - 1 - i);
    free(requests);
    free(values);
}

/* Sanitizers see one case of two. */
enum { SHARE = XYLEM_SANITIZED ? 2 : 1 };

static void everywhere(void (*body)(int, int))
{
    static const int ranks[] = {1, 2, 3, 8, 17};

    for (int i = 0; i < 5; i += XYLEM_SANITIZED ? 3 : 1) /* 1 and 8 are enough there */
        for (int workers = 1; workers <= 3 && workers <= ranks[i]; workers++)
            for (int spread = 0; spread < 2; spread++)
                if (testing_is_chosen((unsigned)(workers + spread), SHARE))
                    run_ranks(ranks[i], workers, spread, 1024, body);
}

#define TEST(name)                                                                                 \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        everywhere(name);                                                                          \
    }

TEST(nonblocking)
TEST(posted_order)
TEST(probes)
TEST(persistent)
TEST(cancels)
TEST(empty_statuses)
TEST(exchanges)
TEST(typed)
TEST(truncation)

/* Blocking in a ring with alternating order needs an even number of ranks. */
static void test_modes(void **state)
{
    (void)state;
    for (int workers = 1; workers <= 3; workers++)
        for (int n = 2; n <= 8; n += 2)
            if (testing_is_chosen((unsigned)(workers + n / 2), SHARE))
                run_ranks(n, workers > n ? n : workers, workers % 2, 1024, modes);
}

static void test_ordering(void **state)
{
    (void)state;
    for (int workers = 1; workers <= 3; workers++)
        run_ranks(7, workers, 1, 1024, ordering);
}

static void test_many(void **state)
{
    (void)state;
    run_ranks(2, 1, 0, 1024, many);
    run_ranks(2, 2, 0, 1024, many);
}

/* With communication cores: large messages in both directions, posted in either order, completed
 * in any; near and far, contiguous and not. */
static void exchange(int rank, int size)
{
    enum { N = XYLEM_SANITIZED ? 10000 : 40000, ROUNDS = XYLEM_SANITIZED ? 1 : 6 };
    int *out = malloc((size_t)size * N * sizeof(int)), *in = malloc((size_t)size * N * sizeof(int));
    MPI_Request *requests = malloc(2 * (size_t)size * sizeof(*requests));
    MPI_Datatype odd;

    MPI_Type_vector(N / 2, 1, 2, MPI_INT, &odd);
    MPI_Type_commit(&odd);
    for (int round = 0; round < ROUNDS; round++) {
        bool plain = round % 2 == 0, first = (rank + round) % 3 != 0;

        for (int i = 0; i < size * N; i++) {
            out[i] = rank * 1000 + i + round;
            in[i] = -1;
        }
        for (int p = 0; p < size; p++) {
            MPI_Request *receive = &requests[p], *send = &requests[size + p];

            if (first)
                MPI_Irecv(in + p * N, plain ? N : 1, plain ? MPI_INT : odd, p, round,
                          MPI_COMM_WORLD, receive);
            MPI_Isend(out + p * N, plain ? N : 1, plain ? MPI_INT : odd, p, round, MPI_COMM_WORLD,
                      send);
            if (!first)
                MPI_Irecv(in + p * N, plain ? N : 1, plain ? MPI_INT : odd, p, round,
                          MPI_COMM_WORLD, receive);
        }
        for (int left = 2 * size; left > 0; left--) {
            int index;

            MPI_Waitany(2 * size, requests, &index, MPI_STATUS_IGNORE);
        }
        for (int p = 0; p < size; p++)
            for (int i = 0; i < N; i += plain ? 1 : 2)
                CHECK(in[p * N + i] == p * 1000 + rank * N + i + round);
    }
    MPI_Type_free(&odd);
    free(out);
    free(in);
    free(requests);
}

enum { OFFER_LIMIT = 16 << 10, OFFER_ROUNDS = 60 };
static const int offered[] = {2047, 2048, 4096, 9000, OFFER_LIMIT};
enum { OFFERED = sizeof(offered) / sizeof(offered[0]) };
static _Atomic int offers_sent;

/* A blocking send up to the eager limit returns although its receiver makes no call until then. */
static void send_to_busy(int rank, unsigned char *data, int bytes, unsigned round)
{
    if (rank == 0) {
        fill(data, (size_t)bytes, round);
        MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        memset(data, 0xee, (size_t)bytes); /* the message is not there any more */
        atomic_fetch_add(&offers_sent, 1);
        return;
    }
    for (unsigned looks = 0; atomic_load(&offers_sent) <= (int)round;)
        xy_back_off(&looks);
    MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(data, (size_t)bytes, round);
}

/* The receiver waits for this message, or for the next one. */
static void send_to_waiting(int rank, unsigned char *data, int bytes, unsigned round)
{
    unsigned char word = 0;

    if (rank == 0) {
        fill(data, (size_t)bytes, round);
        MPI_Send(data, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        memset(data, 0xee, (size_t)bytes);
        MPI_Send(&word, 1, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    if (round % 3 == 0)
        MPI_Recv(&word, 1, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(data, (size_t)bytes, round);
    if (round % 3 != 0)
        MPI_Recv(&word, 1, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&word, 1, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
}

static void offers(int rank, int size)
{
    unsigned char *data = malloc(OFFER_LIMIT);
    unsigned round = 0;

    (void)size;
    for (int i = 0; i < OFFER_ROUNDS; i++) {
        for (int k = 0; k < 10; k++)
            send_to_waiting(rank, data, offered[(i + k) % OFFERED], (unsigned)(i + k));
        send_to_busy(rank, data, offered[i % OFFERED], round++);
    }
    free(data);
}

static void test_offers(void **state)
{
    (void)state;
    atomic_store(&offers_sent, 0);
    run_ranks(2, 2, 0, OFFER_LIMIT, offers);
    run_ranks(4, 3, 1, OFFER_LIMIT, modes);
    run_ranks(4, 2, 0, OFFER_LIMIT, modes);
}

static void test_communication_cores(void **state)
{
    (void)state;
    for (ranks_comm_workers = 1; ranks_comm_workers <= 2; ranks_comm_workers++) {
        run_ranks(4, 1, 0, 1024, exchange);
        run_ranks(5, 2, 1, 1024, exchange);
        run_ranks(5, 3, 0, 1 << 20, exchange);
        run_ranks(4, 2, 0, 1024, modes);
        run_ranks(6, 3, 1, 1024, nonblocking);
    }
    ranks_comm_workers = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_communication_cores),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_nonblocking),
        cmocka_unit_test(test_ordering),
        cmocka_unit_test(test_posted_order),
        cmocka_unit_test(test_probes),
        cmocka_unit_test(test_persistent),
        cmocka_unit_test(test_cancels),
        cmocka_unit_test(test_empty_statuses),
        cmocka_unit_test(test_exchanges),
        cmocka_unit_test(test_typed),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_offers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
