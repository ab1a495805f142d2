/* SPDX-License-Identifier: BSD-3-Clause */
/* Counting: a table of partners, and the ranks of communicators in MPI_COMM_WORLD. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "monitor.h"

/* What was sent to one partner. Open addressing; the table doubles when it is half full, so that it
 * is as large as the number of partners, not of ranks. */
typedef struct {
    int partner; /* -1: free */
    double bytes[MONITOR_KINDS], messages[MONITOR_KINDS];
} entry_t;

static struct {
    pthread_mutex_t lock; /* programs with MPI_THREAD_MULTIPLE */
    entry_t *entries;
    unsigned capacity, count;
    int key; /* attribute of communicators: ranks in MPI_COMM_WORLD */
    int is_ready;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER, .key = MPI_KEYVAL_INVALID};

static entry_t *slot(entry_t *entries, unsigned capacity, int partner)
{
    unsigned i = ((unsigned)partner * 2654435761u) & (capacity - 1);

    while (entries[i].partner != -1 && entries[i].partner != partner)
        i = (i + 1) & (capacity - 1);
    return &entries[i];
}

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
            *slot(larger, capacity, table.entries[i].partner) = table.entries[i];
    free(table.entries);
    table.entries = larger;
    table.capacity = capacity;
    return 1;
}

static void count(int partner, double bytes, int kind)
{
    entry_t *e;

    pthread_mutex_lock(&table.lock);
    if (2 * table.count < table.capacity || grow()) {
        e = slot(table.entries, table.capacity, partner);
        if (e->partner == -1) {
            e->partner = partner;
            table.count++;
        }
        e->bytes[kind] += bytes;
        e->messages[kind] += 1;
    }
    pthread_mutex_unlock(&table.lock);
}

static int free_ranks(MPI_Comm comm, int key, void *ranks, void *extra)
{
    (void)comm, (void)key, (void)extra;
    free(ranks);
    return MPI_SUCCESS;
}

/* The ranks in MPI_COMM_WORLD of those that a communicator sends to; kept with it. */
static const int *world_ranks(MPI_Comm comm)
{
    MPI_Group group, world;
    int found, size, is_inter, *ranks, *all;
    void *kept;

    if (table.key == MPI_KEYVAL_INVALID)
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_ranks, &table.key, NULL);
    PMPI_Comm_get_attr(comm, table.key, &kept, &found);
    if (found)
        return kept;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter)
        PMPI_Comm_remote_group(comm, &group);
    else
        PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_size(group, &size);
    ranks = malloc((size_t)(size + 1) * sizeof(*ranks));
    all = malloc((size_t)(size + 1) * sizeof(*all));
    if (ranks != NULL && all != NULL) {
        for (int i = 0; i < size; i++)
            all[i] = i;
        PMPI_Group_translate_ranks(group, size, all, world, ranks);
        PMPI_Comm_set_attr(comm, table.key, ranks);
    }
    free(all);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return ranks;
}

void monitor_bytes(MPI_Comm comm, int to, double bytes, int kind)
{
    int partner = to;

    if (to < 0)
        return; /* MPI_PROC_NULL */
    if (comm != MPI_COMM_WORLD) {
        const int *ranks = world_ranks(comm);

        partner = ranks != NULL ? ranks[to] : MPI_UNDEFINED;
    }
    if (partner != MPI_UNDEFINED) /* a spawned process is not in MPI_COMM_WORLD */
        count(partner, bytes, kind);
}

void monitor_message(MPI_Comm comm, int to, int elements, MPI_Datatype type, int kind)
{
    int size = 0;

    if (to < 0)
        return;
    PMPI_Type_size(type, &size);
    monitor_bytes(comm, to, (double)size * elements, kind);
}

static void write_rows(FILE *file)
{
    for (unsigned i = 0; i < table.capacity; i++)
        for (int kind = 0; kind < MONITOR_KINDS; kind++)
            if (table.entries[i].partner != -1 && table.entries[i].messages[kind] > 0)
                fprintf(file, "%d,%.17g,%.17g,%d\n", table.entries[i].partner,
                        table.entries[i].bytes[kind], table.entries[i].messages[kind], kind);
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
        file = fopen(path, "w");
        if (file != NULL) {
            fprintf(file, "# ranks %d\n", size);
            write_rows(file);
            fclose(file);
        }
    }
    return PMPI_Finalize();
}
