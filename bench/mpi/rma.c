/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations. Plain MPI-3, so that it compiles with any MPI library.
 *
 *   rma WHAT [--seconds S | --least]
 *
 *   pingpong:N            two ranks put N bytes into each other's memory in turn, and see them by
 *                         looking at their own: half of a round
 *   put:N get:N           N bytes to or from rank 1, and a flush
 *   fetch compare         MPI_Fetch_and_op, MPI_Compare_and_swap of 8 bytes, and a flush
 *   rate:N                the same as put:N with one flush for a thousand of them
 *   add:N                 MPI_Accumulate of N bytes of double, and a flush
 *   contend contend_real  all ranks add 1 to a long or a double of rank 0, each with a flush: what
 *                         one addition takes when all are over (the inverse of their rate)
 *   contend_fetch         the same with MPI_Fetch_and_op
 *   contend_pair          the same with MPI_MAXLOC on MPI_DOUBLE_INT
 *   halo_send:N           N bytes to each of four neighbours on a torus: messages,
 *   halo_fence:N          ... puts between two fences,
 *   halo_pscw:N           ... puts between post, start, complete and wait
 *
 * Each line is `WHAT SECONDS` of one operation or exchange, the slowest rank; the median of some
 * rounds. With --least, the least of many short ones: for machines that do other work, too.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 9, SHORT_ROUNDS = 500, BURST = 1000, LEAST = 4096 };

static int rank, size;
static double budget = 0.3;
static int is_least;
static MPI_Win win;
static char *memory; /* of the window */
static char *buffer;
static size_t bytes;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double slowest(double seconds)
{
    double most;

    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/* ---- Two ranks ---- */

static long turn; /* of the ping-pong */

/* The last 8 bytes say whether all are there. Some libraries need a call to progress. */
static void await(long value)
{
    const volatile long *last =
        (const volatile long *)(const void *)(memory + bytes - sizeof(long));

    for (int looks = 1; *last != value; looks++) {
        int flag;

        MPI_Win_sync(win);
        if (looks % 64 == 0)
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

static void put_turn(void)
{
    memcpy(buffer + bytes - sizeof(long), &turn, sizeof(long));
    MPI_Put(buffer, (int)bytes, MPI_BYTE, 1 - rank, 0, (int)bytes, MPI_BYTE, win);
    MPI_Win_flush(1 - rank, win);
}

static void pingpong(long n)
{
    for (long i = 0; i < n && rank < 2; i++) {
        turn++;
        if (rank == 0)
            put_turn();
        await(turn);
        if (rank == 1)
            put_turn();
    }
}

static void put(long n)
{
    for (long i = 0; i < n && rank == 0; i++) {
        MPI_Put(buffer, (int)bytes, MPI_BYTE, 1, 0, (int)bytes, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
}

static void get(long n)
{
    for (long i = 0; i < n && rank == 0; i++) {
        MPI_Get(buffer, (int)bytes, MPI_BYTE, 1, 0, (int)bytes, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
}

static void fetch(long n)
{
    long one = 1, old;

    for (long i = 0; i < n && rank == 0; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 1, 0, MPI_SUM, win);
        MPI_Win_flush(1, win);
    }
}

static void swap(long n)
{
    long one = 1, zero = 0, old;

    for (long i = 0; i < n && rank == 0; i++) {
        MPI_Compare_and_swap(&one, &zero, &old, MPI_LONG, 1, 0, win);
        MPI_Win_flush(1, win);
    }
}

static void burst(long n)
{
    for (long i = 0; i < n && rank == 0; i++) {
        MPI_Put(buffer, (int)bytes, MPI_BYTE, 1, 0, (int)bytes, MPI_BYTE, win);
        if (i % BURST == BURST - 1 || i == n - 1)
            MPI_Win_flush(1, win);
    }
}

static void add(long n)
{
    int count = (int)(bytes / sizeof(double));

    for (long i = 0; i < n && rank == 0; i++) {
        MPI_Accumulate(buffer, count, MPI_DOUBLE, 1, 0, count, MPI_DOUBLE, MPI_SUM, win);
        MPI_Win_flush(1, win);
    }
}

/* ---- All ranks at one place ---- */

static void contend_with(long n, const void *value, MPI_Datatype type, MPI_Op op)
{
    for (long i = rank; i < n; i += size) {
        MPI_Accumulate(value, 1, type, 0, 0, 1, type, op, win);
        MPI_Win_flush(0, win);
    }
}

static void contend(long n)
{
    long one = 1;

    contend_with(n, &one, MPI_LONG, MPI_SUM);
}

static void contend_real(long n)
{
    double one = 1;

    contend_with(n, &one, MPI_DOUBLE, MPI_SUM);
}

static void contend_pair(long n)
{
    struct {
        double value;
        int where;
    } mine = {rank, rank};

    contend_with(n, &mine, MPI_DOUBLE_INT, MPI_MAXLOC);
}

static void contend_fetch(long n)
{
    long one = 1, old;

    for (long i = rank; i < n; i += size) {
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
    }
}

/* ---- Neighbours ---- */

static int neighbours[4];
static MPI_Group around;
static MPI_Comm torus;

static void find_neighbours(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 1}, list[4], n = 0;
    MPI_Group all;

    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &torus);
    MPI_Cart_shift(torus, 0, 1, &neighbours[0], &neighbours[1]);
    MPI_Cart_shift(torus, 1, 1, &neighbours[2], &neighbours[3]);
    for (int i = 0; i < 4; i++) {
        int is_new = 1;

        for (int j = 0; j < n; j++)
            is_new = is_new && list[j] != neighbours[i];
        if (is_new)
            list[n++] = neighbours[i];
    }
    MPI_Comm_group(torus, &all);
    MPI_Group_incl(all, n, list, &around);
    MPI_Group_free(&all);
}

static char *side(char *base, int i)
{
    return base + (size_t)i * bytes;
}

static void halo_send(long n)
{
    MPI_Request requests[8];

    for (long k = 0; k < n; k++) {
        for (int i = 0; i < 4; i++)
            MPI_Irecv(side(memory, i), (int)bytes, MPI_BYTE, neighbours[i], i, torus, &requests[i]);
        for (int i = 0; i < 4; i++)
            MPI_Isend(side(buffer, i), (int)bytes, MPI_BYTE, neighbours[i], i ^ 1, torus,
                      &requests[4 + i]);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    }
}

static void put_sides(void)
{
    for (int i = 0; i < 4; i++)
        MPI_Put(side(buffer, i), (int)bytes, MPI_BYTE, neighbours[i],
                (MPI_Aint)((size_t)(i ^ 1) * bytes), (int)bytes, MPI_BYTE, win);
}

static void halo_fence(long n)
{
    for (long k = 0; k < n; k++) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
        put_sides();
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    }
}

static void halo_pscw(long n)
{
    for (long k = 0; k < n; k++) {
        MPI_Win_post(around, 0, win);
        MPI_Win_start(around, 0, win);
        put_sides();
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
}

/* ---- Measuring ---- */

typedef struct {
    const char *name;
    void (*run)(long n);
    int halves; /* operations that `n` stands for */
    int is_active;
} what_t;

static const what_t whats[] = {
    {"pingpong", pingpong, 2, 0},
    {"put", put, 1, 0},
    {"get", get, 1, 0},
    {"fetch", fetch, 1, 0},
    {"compare", swap, 1, 0},
    {"rate", burst, 1, 0},
    {"add", add, 1, 0},
    {"contend", contend, 1, 0},
    {"contend_real", contend_real, 1, 0},
    {"contend_pair", contend_pair, 1, 0},
    {"contend_fetch", contend_fetch, 1, 0},
    {"halo_send", halo_send, 1, 1},
    {"halo_fence", halo_fence, 1, 1},
    {"halo_pscw", halo_pscw, 1, 1},
};

static double seconds_of(const what_t *w, long n)
{
    double begin;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    w->run(n);
    MPI_Barrier(MPI_COMM_WORLD); /* targets that wait progress here */
    return slowest(MPI_Wtime() - begin);
}

static double measure(const what_t *w)
{
    int rounds = is_least ? SHORT_ROUNDS : ROUNDS;
    double times[SHORT_ROUNDS], seconds = 0, enough = is_least ? 1e-4 : budget / ROUNDS / 4;
    long n = size;

    while ((seconds = seconds_of(w, n)) < enough && n < 100000000)
        n *= 2;
    for (int i = 0; i < rounds; i++)
        times[i] = seconds_of(w, n) / (double)n / w->halves;
    qsort(times, (size_t)rounds, sizeof(*times), compare);
    return times[is_least ? 0 : rounds / 2];
}

static const what_t *find(const char *text)
{
    size_t length = strcspn(text, ":");

    for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++)
        if (strlen(whats[i].name) == length && strncmp(whats[i].name, text, length) == 0)
            return &whats[i];
    return NULL;
}

int main(int argc, char **argv)
{
    const what_t *w = argc > 1 ? find(argv[1]) : NULL;
    const char *colon = argc > 1 ? strchr(argv[1], ':') : NULL;
    size_t room;
    double seconds;

    is_least = argc == 3 && strcmp(argv[2], "--least") == 0;
    if (w == NULL || (argc > 2 && !is_least && (argc != 4 || strcmp(argv[2], "--seconds") != 0))) {
        fprintf(stderr, "usage: rma WHAT [--seconds S | --least]\n");
        return 2;
    }
    budget = argc > 3 ? atof(argv[3]) : budget;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bytes = colon != NULL ? (size_t)atol(colon + 1) : sizeof(long);
    find_neighbours();
    room = 4 * bytes > LEAST ? 4 * bytes : LEAST;
    buffer = calloc(room, 1);
    MPI_Win_allocate((MPI_Aint)room, 1, MPI_INFO_NULL, torus, &memory, &win);
    memset(memory, 0, room);
    memset(buffer, 1,
           room); /* of its own: pages never written are all the same one, in the cache */
    if (!w->is_active)
        MPI_Win_lock_all(0, win);
    seconds = measure(w);
    if (rank == 0)
        printf("%s %.9g\n", argv[1], seconds);
    if (!w->is_active)
        MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Group_free(&around);
    MPI_Comm_free(&torus);
    free(buffer);
    MPI_Finalize();
    return 0;
}
