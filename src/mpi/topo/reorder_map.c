/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Cart_map and MPI_Graph_map: the number that the caller would get. They are local calls, so
 * each rank finds the whole order by itself; the last one is kept, because the others of its
 * communicator will ask for it, too.
 */
#include <pthread.h>
#include <string.h>

#include "mpi/object/object.h"
#include "mpi/topo/reorder_comm.h"

/* An order, and what it is the order for. */
typedef struct {
    mpi_group_t *group;
    int points;
    xy_vec_t entries; /* as the pattern gave them */
    int *number;      /* of each member: its new rank, or MPI_UNDEFINED */
} order_t;

static struct {
    pthread_mutex_t lock;
    order_t last;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void order_cleanup(order_t *o)
{
    mpi_group_release(o->group);
    xy_vec_cleanup(&o->entries);
    xy_free(o->number);
    *o = (order_t){0};
}

void mpi_reorder_forget(void)
{
    order_cleanup(&kept.last);
}

static bool is_kept(const mpi_group_t *group, int points, const xy_vec_t *entries)
{
    const order_t *o = &kept.last;

    return o->group == group && o->points == points && o->entries.count == entries->count &&
           (entries->count == 0 || memcmp(o->entries.data, entries->data,
                                          entries->count * sizeof(xy_matrix_entry_t)) == 0);
}

/* Replaces what is kept; takes the entries. */
static xy_status_t find(mpi_group_t *group, int points, xy_vec_t *entries)
{
    order_t o = {.points = points,
                 .entries = XY_VEC_INIT(xy_matrix_entry_t),
                 .number = xy_malloc(((size_t)group->size + 1) * sizeof(int))};
    int *member = xy_malloc(((size_t)points + 1) * sizeof(*member));
    xy_matrix_entry_t *copy = xy_vec_push_many(&o.entries, entries->count);

    if (o.number == NULL || member == NULL || copy == NULL) {
        xy_free(member);
        order_cleanup(&o);
        return XY_ENOMEM;
    }
    if (entries->count > 0)
        memcpy(copy, entries->data, entries->count * sizeof(*copy));
    mpi_reorder(group, points, entries, member);
    for (int r = 0; r < group->size; r++)
        o.number[r] = MPI_UNDEFINED;
    for (int i = 0; i < points; i++)
        o.number[member[i]] = i;
    xy_free(member);
    mpi_group_hold(group, 1);
    o.group = group;
    order_cleanup(&kept.last);
    kept.last = o;
    return XY_OK;
}

int mpi_reorder_map(mpi_comm_t *comm, int points, mpi_pattern_fn pattern, const void *arg,
                    int *rank_p)
{
    void *const args[] = {(void *)(uintptr_t)arg};
    xy_vec_t entries = XY_VEC_INIT(xy_matrix_entry_t);
    xy_status_t st = pattern(args, 1, &entries);

    pthread_mutex_lock(&kept.lock);
    if (st == XY_OK && !is_kept(comm->group, points, &entries))
        st = find(comm->group, points, &entries);
    if (st == XY_OK)
        *rank_p = kept.last.number[comm->rank];
    pthread_mutex_unlock(&kept.lock);
    xy_vec_cleanup(&entries);
    return st == XY_OK ? MPI_SUCCESS : mpi_error_memory(comm, "an order of ranks");
}
