/* SPDX-License-Identifier: BSD-3-Clause */
/* Counting: a table of what was sent to whom, on which communicator, in which phase and slice. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "monitor.h"

/* The messages to one partner on one communicator in one phase and slice of time. Open addressing;
 * the table doubles when it is half full, so that it is as large as the number of partners, not of
 * ranks. */
typedef struct {
    int partner; /* -1: free */
    int phase, slice;
    monitor_name_t comm;
    monitor_sent_t sent;
} entry_t;

static struct {
    pthread_mutex_t lock;
    int is_threaded; /* the lock is needed: MPI_THREAD_MULTIPLE */
    entry_t *entries;
    unsigned capacity, count;
    int phase;
    double slice_seconds; /* 0: time is not cut */
    struct timespec start;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

int monitor_is_threaded(void)
{
    return table.is_threaded;
}

int monitor_is_sliced(void)
{
    return table.slice_seconds > 0;
}

static int is_same(const entry_t *a, const entry_t *b)
{
    return a->partner == b->partner && a->phase == b->phase && a->slice == b->slice &&
           a->comm.first == b->comm.first && a->comm.number == b->comm.number;
}

static entry_t *slot(entry_t *entries, unsigned capacity, const entry_t *key)
{
    unsigned hash = (unsigned)key->partner * 2654435761u;
    unsigned i;

    hash ^= ((unsigned)key->comm.first * 40503u + (unsigned)key->comm.number) * 2246822519u;
    hash ^= ((unsigned)key->phase * 65599u + (unsigned)key->slice) * 3266489917u;
    hash ^= hash >> 15;
    for (i = hash & (capacity - 1); entries[i].partner != -1 && !is_same(&entries[i], key);)
        i = (i + 1) & (capacity - 1);
    return &entries[i];
}

/* Doubles the table of partners; returns 0 without memory. */
static int grow(void)
{
    unsigned capacity = table.capacity > 0 ? 2 * table.capacity : 64;
    entry_t *larger = calloc(capacity, sizeof(*larger));

    if (larger == NULL)
        return 0;
    for (unsigned i = 0; i < capacity; i++)
        larger[i].partner = -1;
    for (unsigned i = 0; i < table.capacity; i++)
        if (table.entries[i].partner != -1)
            *slot(larger, capacity, &table.entries[i]) = table.entries[i];
    free(table.entries);
    table.entries = larger;
    table.capacity = capacity;
    monitor_forget();
    return 1;
}

/* The coarse clock costs a few nanoseconds and moves every few milliseconds. */
static int slice_now(void)
{
    struct timespec now;

    if (table.slice_seconds <= 0)
        return 0;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int)(((double)(now.tv_sec - table.start.tv_sec) +
                  1e-9 * (double)(now.tv_nsec - table.start.tv_nsec)) /
                 table.slice_seconds);
}

static entry_t *find(const entry_t *key)
{
    entry_t *e;

    if (2 * table.count >= table.capacity && !grow())
        return NULL;
    e = slot(table.entries, table.capacity, key);
    if (e->partner == -1) {
        *e = *key;
        table.count++;
    }
    return e;
}

monitor_sent_t *monitor_count(int partner, monitor_name_t comm, double bytes, int messages,
                              int kind)
{
    int slice = slice_now();
    entry_t *e;

    if (table.is_threaded)
        pthread_mutex_lock(&table.lock);
    e = find(&(entry_t){.partner = partner, .phase = table.phase, .slice = slice, .comm = comm});
    if (e != NULL) {
        e->sent.bytes[kind] += (long long)(bytes + 0.5);
        e->sent.messages[kind] += messages;
    }
    if (table.is_threaded)
        pthread_mutex_unlock(&table.lock);
    return e != NULL ? &e->sent : NULL;
}

static void write_rows(FILE *file)
{
    for (unsigned i = 0; i < table.capacity; i++)
        for (int kind = 0; kind < MONITOR_KINDS; kind++) {
            const entry_t *e = &table.entries[i];

            if (e->partner != -1 && e->sent.messages[kind] > 0)
                fprintf(file, "%d,%lld,%lld,%d,%d,%d,%d,%d\n", e->partner, e->sent.bytes[kind],
                        e->sent.messages[kind], kind, e->phase, e->slice, e->comm.first,
                        e->comm.number);
        }
}

/* Slices begin when all ranks have come here. */
static void begin(void)
{
    const char *slice = getenv("XYLEM_MONITOR_SLICE");
    int level = MPI_THREAD_SINGLE;

    PMPI_Query_thread(&level);
    table.is_threaded = level == MPI_THREAD_MULTIPLE;
    monitor_profile_begin();
    if (slice == NULL || atof(slice) <= 0)
        return;
    table.slice_seconds = atof(slice);
    PMPI_Barrier(MPI_COMM_WORLD);
    clock_gettime(CLOCK_MONOTONIC_COARSE, &table.start);
}

int MPI_Init(int *argc, char ***argv)
{
    int rc = PMPI_Init(argc, argv);

    if (rc == MPI_SUCCESS)
        begin();
    return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = PMPI_Init_thread(argc, argv, required, provided);

    if (rc == MPI_SUCCESS)
        begin();
    return rc;
}

/* The next phase begins, whatever the level. */
int MPI_Pcontrol(const int level, ...)
{
    (void)level;
    table.phase++;
    monitor_forget();
    return MPI_SUCCESS;
}

/* Write the total amounts sent to each partner. */
static void write_pairs(int rank, int size, FILE *file)
{
    monitor_sent_t *sums = calloc((size_t)size, sizeof(*sums));

    for (unsigned i = 0; sums != NULL && i < table.capacity; i++)
        for (int kind = 0; kind < MONITOR_KINDS && table.entries[i].partner != -1; kind++) {
            const entry_t *e = &table.entries[i];

            sums[e->partner].bytes[0] += e->sent.bytes[kind];
            sums[e->partner].messages[0] += e->sent.messages[kind];
        }
    for (int to = 0; sums != NULL && to < size; to++)
        if (sums[to].messages[0] > 0)
            fprintf(file, "pair %d %d %lld %lld\n", rank, to, sums[to].bytes[0],
                    sums[to].messages[0]);
    free(sums);
}

int MPI_Finalize(void)
{
    const char *directory = getenv("XYLEM_MONITOR_DIRECTORY");
    char path[4096];
    int rank, size;
    FILE *file;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (directory != NULL) {
        snprintf(path, sizeof(path), "%s/%d.csv", directory, rank);
        file = fopen(path, "wxe"); /* a directory made for this run: nothing is there */
        if (file != NULL) {
            fprintf(file, "# ranks %d slice %.17g\n", size, table.slice_seconds);
            write_rows(file);
            fclose(file);
        }
        monitor_profile_end(directory, rank, size, write_pairs);
    }
    return PMPI_Finalize();
}
