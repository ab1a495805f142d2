/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective operations as the messages of the calling rank. */
#include "monitor.h"

/* The sends of this rank, and its place among the others. */
typedef struct {
    const monitor_send_t *sends;
    int count;
    MPI_Comm comm;
    int root, size;
} expansion_t;

/* Between two groups the roles are others; what is counted is then left to the groups' own calls.
 */
static expansion_t expand(MPI_Comm comm, xy_collective_t collective, int root)
{
    expansion_t e = {.comm = comm, .root = root};
    const monitor_schedule_t *schedule;
    int is_inter = 0, rank;

    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter)
        return e;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &e.size);
    if (root < 0 || root >= e.size)
        return e; /* the library will say so */
    schedule = monitor_schedule(collective, e.size, (rank - root + e.size) % e.size);
    if (schedule != NULL) {
        e.sends = schedule->sends;
        e.count = schedule->count;
    }
    return e;
}

static int receiver(const expansion_t *e, int i)
{
    return (e->sends[i].to + e->root) % e->size;
}

/* For the profile: what this rank gives. */
static void note_call(MPI_Comm comm, double bytes)
{
    monitor_call.comm = comm;
    monitor_call.bytes += bytes;
}

static void count_send(const expansion_t *e, int i, double bytes)
{
    monitor_bytes(e->comm, receiver(e, i), bytes, e->sends[i].messages, MONITOR_COLLECTIVE);
}

void monitor_collective(MPI_Comm comm, xy_collective_t collective, int root, int count,
                        MPI_Datatype type)
{
    expansion_t e = expand(comm, collective, root);
    double bytes = e.count > 0 && count > 0 ? monitor_bytes_of(count, type) : 0;

    if (monitor_call.is_on)
        note_call(comm, count > 0 ? monitor_bytes_of(count, type) : 0);
    for (int i = 0; i < e.count; i++)
        count_send(&e, i, bytes * (double)e.sends[i].blocks);
}

void monitor_collective_v(MPI_Comm comm, xy_collective_t collective, int root, const int *counts,
                          MPI_Datatype type)
{
    expansion_t e = expand(comm, collective, root);

    for (int i = 0; i < e.count; i++)
        count_send(&e, i, monitor_bytes_of(counts[receiver(&e, i)], type));
    if (monitor_call.is_on)
        note_call(comm, 0);
}

/* In a ring a rank gets from one other all blocks but its own. */
void monitor_ring_v(MPI_Comm comm, const int *counts, MPI_Datatype type)
{
    expansion_t e = expand(comm, XY_COLL_ALLGATHERV, 0);
    double all = 0;

    for (int r = 0; r < e.size; r++)
        all += monitor_bytes_of(counts[r], type);
    if (monitor_call.is_on)
        note_call(comm, all);
    for (int i = 0; i < e.count; i++)
        count_send(&e, i, all - monitor_bytes_of(counts[receiver(&e, i)], type));
}
