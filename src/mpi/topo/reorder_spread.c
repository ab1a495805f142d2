/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reordering of communicators whose members are in several processes. What members know alone,
 * their part of the pattern and of the topology, all tell all; then each finds its new number by
 * itself, and a split puts them in this order. A member that runs out of memory keeps its old
 * number.
 */
#include <string.h>

#include "mpi/comm/comm.h"
#include "mpi/object/object.h"
#include "mpi/topo/reorder_comm.h"

/* In front of what a member tells: its entries, then its topology. */
typedef struct {
    uint64_t entries;
    uint64_t topology; /* bytes; 0: none */
    uint64_t was_at;   /* the topology, in its process */
} told_t;

/* The patterns of all members. */
typedef struct {
    char *bytes;
    size_t stride;
    int size;
} all_t;

/* Exchange the patterns and topologies of all members; the caller frees all.bytes. */
static all_t tell_all(mpi_comm_t *comm, const mpi_pattern_t *pattern,
                      const mpi_topology_t *topology)
{
    xy_vec_t entries = XY_VEC_INIT(xy_matrix_entry_t);
    xy_text_t text = XY_TEXT_INIT;
    told_t told = {.topology = topology ? mpi_topology_bytes(topology) : 0,
                   .was_at = (uintptr_t)topology};
    all_t all = {.size = comm->size};

    if (pattern->own(pattern->arg, comm->rank, &entries) != XY_OK)
        entries.count = 0; /* without a wish */
    told.entries = entries.count;
    xy_text_add_bytes(&text, (const char *)&told, sizeof told);
    if (entries.count > 0)
        xy_text_add_bytes(&text, entries.data, entries.count * sizeof(xy_matrix_entry_t));
    if (topology)
        xy_text_add_bytes(&text, (const char *)topology, told.topology);
    if (text.failed) { /* the others wait for this one */
        xy_fail_memory("reordering ranks");
        mpi_job->abort(1);
    }
    all.bytes = mpi_spread_exchange(comm, text.s, text.length, &all.stride);
    xy_text_cleanup(&text);
    xy_vec_cleanup(&entries);
    return all;
}

static const char *read_told(const all_t *all, int rank, told_t *told)
{
    const char *at = all->bytes + (size_t)rank * all->stride;

    memcpy(told, at, sizeof *told);
    return at + sizeof *told;
}

/* As a pattern that looks at args[0] alone. */
static xy_status_t told_pattern(void *const *args, int size, xy_vec_t *entries)
{
    const all_t *all = args[0];

    (void)size;
    for (int r = 0; r < all->size; r++) {
        told_t told;
        const char *at = read_told(all, r, &told);
        void *room = xy_vec_push_many(entries, told.entries);

        if (told.entries > 0 && room == NULL)
            return XY_ENOMEM;
        if (told.entries > 0)
            memcpy(room, at, told.entries * sizeof(xy_matrix_entry_t));
    }
    return XY_OK;
}

/* The topology of the node `rank`; NULL: it has none, or memory ran out. */
static mpi_topology_t *told_topology(const all_t *all, int rank)
{
    told_t told;
    const char *at = read_told(all, rank, &told);

    at += told.entries * sizeof(xy_matrix_entry_t);
    return told.topology > 0 ? mpi_topology_copy(at, (uintptr_t)told.was_at) : NULL;
}

static int split(mpi_comm_t *comm, int points, mpi_pattern_fn pattern, const void *arg,
                 mpi_comm_t **comm_p)
{
    int number = comm->rank < points ? comm->rank : MPI_UNDEFINED;

    mpi_reorder_map(comm, points, pattern, arg, &number);
    return mpi_comm_split(comm, number != MPI_UNDEFINED ? 0 : MPI_UNDEFINED, number, comm_p);
}

int mpi_comm_reorder_spread(mpi_comm_t *comm, int points, const mpi_pattern_t *pattern,
                            mpi_topology_t **topology, mpi_comm_t **comm_p)
{
    all_t all;
    int code;

    if (pattern->own == NULL)
        return split(comm, points, pattern->all, pattern->arg, comm_p);
    all = tell_all(comm, pattern, *topology);
    code = split(comm, points, told_pattern, &all, comm_p);
    if (code == MPI_SUCCESS) {
        mpi_topology_release(*topology);
        *topology = told_topology(&all, (*comm_p)->rank);
    }
    xy_free(all.bytes);
    return code;
}
