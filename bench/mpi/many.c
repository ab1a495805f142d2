/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cases in which one process with many cores may be slower than one process per rank. Plain MPI, so
 * that it compiles with any MPI library.
 *
 *   many WHAT [--seconds S]
 *
 *   heap:MIB              every rank allocates and touches MIB MiB in pieces of 4 KiB, then frees
 *                         them: `heap:MIB.first`, and of it on the processor `heap:MIB.cpu`,
 *                         `heap:MIB.later` (the median of five more rounds), and MiB that stay
 *                         resident, `heap:MIB.kept`
 *   step                  a time step of molecular dynamics without communication, and page faults
 *                         and switches of a rank during a thousand of them
 *   uneven:US             rank 0 computes US microseconds longer than the others, then all meet:
 *                         what a step takes beyond that, and how often a rank slept, per thousand
 *   barrier ibarrier      one operation, the mean over all ranks
 *   bcast:N reduce:N gather:N gatherv:N scatter:N reduce_scatter:N     N bytes, likewise
 *
 * Each line is `WHAT VALUE`, in seconds unless stated otherwise.
 */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ROUNDS = 9, PIECE = 4 << 10 };

static int rank, size;
static double budget = 0.3;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof(*v), compare);
    return v[n / 2];
}

static void say(const char *what, const char *part, double value)
{
    if (rank == 0)
        printf("%s%s %.9g\n", what, part, value);
}

static double slowest(double seconds)
{
    double most;

    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/* ---- Heap ---- */

/* Seconds that the calling thread has computed, in the program and in the kernel. */
static double computed(void)
{
    struct rusage r;

    getrusage(RUSAGE_THREAD, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static double grow(char **pieces, int count, double *cpu_p)
{
    double begin, before;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    before = computed();
    for (int i = 0; i < count; i++) {
        pieces[i] = malloc(PIECE);
        memset(pieces[i], 1, PIECE);
    }
    *cpu_p = computed() - before;
    return slowest(MPI_Wtime() - begin);
}

/* MiB of all processes of the job; ranks may share one. */
static double resident(void)
{
    int *ids = malloc((size_t)size * sizeof(*ids)), id = getpid(), is_first = 1;
    double mib = 0, sum;
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    MPI_Allgather(&id, 1, MPI_INT, ids, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < rank; r++)
        is_first &= ids[r] != id;
    if (file != NULL && is_first && fscanf(file, "%*s %ld", &pages) == 1)
        mib = (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
    if (file != NULL)
        fclose(file);
    free(ids);
    MPI_Allreduce(&mib, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static void heap(const char *what, int mib)
{
    int count = mib * ((1 << 20) / PIECE);
    char **pieces = calloc((size_t)count, sizeof(*pieces));
    double later[5], cpu, empty = resident();

    for (int round = 0; round <= 5; round++) {
        double seconds = grow(pieces, count, &cpu);

        if (round == 0) {
            say(what, ".first", seconds);
            say(what, ".cpu", slowest(cpu));
        } else {
            later[round - 1] = seconds;
        }
        for (int i = 0; i < count; i++)
            free(pieces[i]);
    }
    say(what, ".later", median(later, 5));
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(300000); /* time to return what was freed */
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(300000);
    say(what, ".kept", resident() - empty);
    free(pieces);
}

/* ---- A time step ---- */

enum { CELLS = 12, PER_CELL = 16, BOXES = CELLS * CELLS * CELLS, ATOMS = BOXES * PER_CELL };

typedef struct {
    double (*position)[3], (*velocity)[3], (*force)[3], *energy;
} atoms_t;

/* Arrays of structures, as most codes of this kind have them. */
static atoms_t make_atoms(void)
{
    atoms_t a = {malloc(ATOMS * sizeof(*a.position)), malloc(ATOMS * sizeof(*a.velocity)),
                 malloc(ATOMS * sizeof(*a.force)), malloc(ATOMS * sizeof(*a.energy))};
    unsigned seed = 1;

    for (int i = 0; i < ATOMS; i++)
        for (int d = 0; d < 3; d++) {
            int box = i / PER_CELL;
            int at = d == 0 ? box % CELLS : d == 1 ? box / CELLS % CELLS : box / CELLS / CELLS;

            seed = seed * 1664525u + 1013904223u;
            a.position[i][d] = at + (double)(seed >> 8) / (1 << 24);
            a.velocity[i][d] = 0;
        }
    return a;
}

static void push(const atoms_t *a, int i, int other)
{
    for (int j = other * PER_CELL; j < (other + 1) * PER_CELL; j++) {
        double d[3], r2 = 0.01, s;

        for (int k = 0; k < 3; k++) {
            d[k] = a->position[i][k] - a->position[j][k];
            r2 += d[k] * d[k];
        }
        if (r2 > 1)
            continue;
        s = 1 / (r2 * r2 * r2);
        a->energy[i] += s * (s - 1);
        for (int k = 0; k < 3; k++)
            a->force[i][k] += d[k] * s * (2 * s - 1) / r2;
    }
}

static void forces(const atoms_t *a)
{
    memset(a->force, 0, ATOMS * sizeof(*a->force));
    memset(a->energy, 0, ATOMS * sizeof(*a->energy));
    for (int box = 0; box < BOXES; box++)
        for (int n = 0; n < 27; n++) {
            int x = (box % CELLS + n % 3 + CELLS - 1) % CELLS;
            int y = (box / CELLS + n / 3 % 3 + CELLS - 1) % CELLS;
            int z = (box / CELLS / CELLS + n / 9 + CELLS - 1) % CELLS;

            for (int i = box * PER_CELL; i < (box + 1) * PER_CELL; i++)
                push(a, i, (z * CELLS + y) * CELLS + x);
        }
    for (int i = 0; i < ATOMS; i++)
        for (int d = 0; d < 3; d++)
            a->velocity[i][d] += 1e-12 * a->force[i][d];
}

static void step(const char *what)
{
    atoms_t a = make_atoms();
    struct rusage before, after;
    double times[200], all = 0;
    int n = 0;

    forces(&a);
    MPI_Barrier(MPI_COMM_WORLD);
    getrusage(RUSAGE_THREAD, &before);
    while (n < 200 && all < 10 * budget) {
        double begin = MPI_Wtime();

        forces(&a);
        times[n] = MPI_Wtime() - begin;
        all += times[n++];
    }
    getrusage(RUSAGE_THREAD, &after);
    say(what, "", slowest(median(times, n)));
    say(what, ".faults", slowest((double)(after.ru_minflt - before.ru_minflt) * 1000 / n));
    say(what, ".switches", slowest((double)(after.ru_nivcsw - before.ru_nivcsw) * 1000 / n));
    free(a.position);
    free(a.velocity);
    free(a.force);
    free(a.energy);
}

/* ---- Waiting for one that computes longer ---- */

static void compute(double seconds)
{
    for (double begin = MPI_Wtime(); MPI_Wtime() - begin < seconds;)
        ;
}

static void uneven(const char *what, int microseconds)
{
    struct rusage before, after;
    double times[1000], begin, all = 0;
    int n = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    getrusage(RUSAGE_THREAD, &before);
    do {
        MPI_Bcast(&all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        begin = MPI_Wtime();
        compute(1e-6 * (rank == 0 ? 2 * microseconds : microseconds));
        MPI_Barrier(MPI_COMM_WORLD);
        times[n] = MPI_Wtime() - begin - 2e-6 * microseconds;
        all += MPI_Wtime() - begin;
    } while (++n < 1000 && all < 3 * budget);
    getrusage(RUSAGE_THREAD, &after);
    say(what, "", slowest(median(times, n)));
    say(what, ".sleeps", slowest((double)(after.ru_nvcsw - before.ru_nvcsw) * 1000 / n));
}

/* ---- Collectives ---- */

static int *counts, *places;

static void call(const char *what, char *in, char *out, int n)
{
    MPI_Comm all = MPI_COMM_WORLD;
    MPI_Request request;

    if (strcmp(what, "barrier") == 0) {
        MPI_Barrier(all);
    } else if (strcmp(what, "ibarrier") == 0) {
        MPI_Ibarrier(all, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (strncmp(what, "bcast", 5) == 0) {
        MPI_Bcast(in, n, MPI_BYTE, 0, all);
    } else if (strncmp(what, "reduce_scatter", 14) == 0) {
        MPI_Reduce_scatter_block(in, out, n / 8 / size, MPI_DOUBLE, MPI_SUM, all);
    } else if (strncmp(what, "reduce", 6) == 0) {
        MPI_Reduce(in, out, n / 8, MPI_DOUBLE, MPI_SUM, 0, all);
    } else if (strncmp(what, "gatherv", 7) == 0) {
        MPI_Gatherv(in, n, MPI_BYTE, out, counts, places, MPI_BYTE, 0, all);
    } else if (strncmp(what, "gather", 6) == 0) {
        MPI_Gather(in, n, MPI_BYTE, out, n, MPI_BYTE, 0, all);
    } else if (strncmp(what, "scatter", 7) == 0) {
        MPI_Scatter(out, n, MPI_BYTE, in, n, MPI_BYTE, 0, all);
    } else {
        fprintf(stderr, "many: there is no '%s'\n", what);
        MPI_Abort(all, 2);
    }
}

/* Many calls, which may overtake each other; the time of one, the mean over ranks. */
static double batch(const char *what, char *in, char *out, int n, int calls)
{
    double begin, mine, sum;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        call(what, in, out, n);
    mine = (MPI_Wtime() - begin) / calls;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum / size;
}

static void collective(const char *what, int n)
{
    size_t bytes = (size_t)(n > 8 ? n : 8);
    char *in = calloc(1, bytes), *out = calloc((size_t)size, bytes);
    double times[ROUNDS], one;
    int calls = 10;

    counts = malloc((size_t)size * sizeof(*counts));
    places = malloc((size_t)size * sizeof(*places));
    for (int r = 0; r < size; r++) {
        counts[r] = n;
        places[r] = r * n;
    }
    one = slowest(batch(what, in, out, n, calls));
    calls = one * 10 * ROUNDS > budget ? 10 : (int)(budget / ROUNDS / one);
    for (int i = 0; i < ROUNDS; i++)
        times[i] = batch(what, in, out, n, calls);
    say(what, "", median(times, ROUNDS));
    free(in);
    free(out);
    free(counts);
    free(places);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "barrier";
    const char *colon = strchr(what, ':');
    int n = colon != NULL ? atoi(colon + 1) : 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 3)
        budget = atof(argv[3]);
    if (strncmp(what, "heap", 4) == 0)
        heap(what, n);
    else if (strcmp(what, "step") == 0)
        step(what);
    else if (strncmp(what, "uneven", 6) == 0)
        uneven(what, n);
    else
        collective(what, n);
    MPI_Finalize();
    return 0;
}
