/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cartesian topologies: ranks as points of a grid, the last coordinate running fastest.
 */
#include <stdio.h>
#include <string.h>

#include "arith/arith.h"
#include "base/base.h"
#include "mpi/comm/comm.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"
#include "mpi/topo/calls.h"
#include "mpi/topo/reorder_comm.h"
#include "mpi/topo/topology.h"

/* Allocate a grid with the coordinates of `rank`; NULL without memory. */
static mpi_topology_t *cart_new(int ndims, const int *dims, const int *periods, int rank)
{
    mpi_topology_t *cart = mpi_topology_new(MPI_CART, 3 * (size_t)ndims);

    if (!cart)
        return NULL;
    cart->cart.ndims = ndims;
    cart->cart.dims = cart->storage;
    cart->cart.periods = cart->storage + ndims;
    cart->cart.coords = cart->storage + 2 * ndims;
    for (int d = 0; d < ndims; d++) {
        cart->cart.dims[d] = dims[d];
        cart->cart.periods[d] = periods[d] != 0;
    }
    xy_grid_coords(rank, ndims, dims, cart->cart.coords);
    return cart;
}

/* On success the number of points in the grid, which must fit into `comm`. */
static int check_grid(mpi_comm_t *comm, int ndims, const int *dims, const int *periods,
                      int *points_p)
{
    int bad = -1;

    if (comm->remote)
        return mpi_error(comm, MPI_ERR_COMM, "%s is an intercommunicator", mpi_comm_name(comm));
    if (ndims < 0)
        return mpi_error(comm, MPI_ERR_DIMS, "the number of dimensions is %d", ndims);
    if (ndims > 0 && (!dims || !periods))
        return mpi_error_null(comm, dims ? "periods" : "dims");
    *points_p = xy_grid_points(ndims, dims, comm->size, &bad);
    if (*points_p >= 0)
        return MPI_SUCCESS;
    if (bad >= 0)
        return mpi_error(comm, MPI_ERR_DIMS, "dims[%d] is %d", bad, dims[bad]);
    return mpi_error(comm, MPI_ERR_DIMS, "the grid has more points than the %d ranks of %s",
                     comm->size, mpi_comm_name(comm));
}

/* Hang the topology on the new communicator (NULL: this rank is not in it) and give the handle. */
static int give(mpi_comm_t *parent, mpi_comm_t *made, int ndims, const int *dims,
                const int *periods, MPI_Comm *newcomm)
{
    if (!made) {
        *newcomm = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    made->topology = cart_new(ndims, dims, periods, made->rank);
    if (!made->topology) {
        mpi_comm_release(made);
        return mpi_error_memory(parent, "a Cartesian topology");
    }
    *newcomm = mpi_comm_handle(made);
    return MPI_SUCCESS;
}

typedef struct {
    int ndims, points;
    const int *dims, *periods;
    bool may_reorder;
} grid_t;

/* " with a grid of 2 x 3", " with periods[1] = 0", " with reorder = 1". */
static void describe_grid(const mpi_topic_t *topic, const mpi_topic_t *other, char *text,
                          size_t room)
{
    const grid_t *a = topic->data, *b = other->data;
    size_t bytes = (size_t)a->ndims * sizeof(*a->dims), length = 0;
    int d = 0;

    if (a->ndims != b->ndims || (bytes > 0 && memcmp(a->dims, b->dims, bytes) != 0)) {
        snprintf(text, room, " with a grid of no dimensions");
        for (; d < a->ndims && length < room; d++)
            length += (size_t)snprintf(text + length, room - length, "%s%d",
                                       d == 0 ? " with a grid of " : " x ", a->dims[d]);
        return;
    }
    while (d < a->ndims && (a->periods[d] != 0) == (b->periods[d] != 0))
        d++;
    if (d < a->ndims)
        snprintf(text, room, " with periods[%d] = %d", d, a->periods[d] != 0);
    else
        snprintf(text, room, " with reorder = %d", a->may_reorder);
}

static void tell_grid(const mpi_topic_t *topic, char *text, size_t room)
{
    const grid_t *grid = topic->data;

    snprintf(text, room, " with reorder = %d", grid->may_reorder);
    mpi_topic_tell_list(text, room, "dims", grid->dims, grid->ndims);
    mpi_topic_tell_list(text, room, "periods", grid->periods, grid->ndims);
}

static mpi_topic_t topic_of(const grid_t *grid)
{
    uint64_t value = mpi_topic_add(grid->may_reorder, grid->ndims);

    value = mpi_topic_add_list(value, grid->dims, grid->ndims);
    for (int d = 0; d < grid->ndims; d++)
        value = mpi_topic_add(value, grid->periods[d] != 0);
    return (mpi_topic_t){
        .value = value, .data = grid, .describe = describe_grid, .tell = tell_grid};
}

static xy_status_t grid_pattern(void *const *args, int size, xy_vec_t *entries)
{
    const grid_t *grid = args[0];

    (void)size;
    return xy_place_grid_pattern(grid->ndims, grid->dims, grid->periods, grid->points, entries);
}

/* Check the arguments of MPI_Cart_create and make the communicator; returns an MPI error code. */
static int cart_create(MPI_Comm handle, int ndims, const int *dims, const int *periods,
                       bool may_reorder, MPI_Comm *newcomm)
{
    mpi_comm_t *comm = mpi_comm_of(handle), *made = NULL;
    grid_t grid = {ndims, 0, dims, periods, may_reorder};
    mpi_topic_t topic;
    int code;

    if (!comm)
        return mpi_comm_refuse(handle);
    code = check_grid(comm, ndims, dims, periods, &grid.points);
    if (code != MPI_SUCCESS)
        return code;
    topic = topic_of(&grid);
    comm->owner->topic = &topic;
    if (may_reorder)
        code = mpi_comm_reorder(comm, grid.points,
                                &(mpi_pattern_t){.all = grid_pattern, .arg = &grid}, NULL, &made);
    else
        code =
            mpi_comm_split(comm, comm->rank < grid.points ? 0 : MPI_UNDEFINED, comm->rank, &made);
    comm->owner->topic = NULL;
    return code == MPI_SUCCESS ? give(comm, made, ndims, dims, periods, newcomm) : code;
}

typedef struct {
    int ndims;
    const int *flags;
} remain_t;

static void describe_remain(const mpi_topic_t *topic, const mpi_topic_t *other, char *text,
                            size_t room)
{
    const remain_t *a = topic->data, *b = other->data;
    int d = 0;

    while (d + 1 < a->ndims && (a->flags[d] != 0) == (b->flags[d] != 0))
        d++;
    snprintf(text, room, " with remain_dims[%d] = %d", d, a->flags[d] != 0);
}

static void tell_remain(const mpi_topic_t *topic, char *text, size_t room)
{
    const remain_t *remain = topic->data;

    mpi_topic_tell_list(text, room, "remain_dims", remain->flags, remain->ndims);
}

/* The ranks of one subgrid agree in the coordinates that are dropped. */
int impl_cart_sub(MPI_Comm handle, const int *remain, MPI_Comm *newcomm)
{
    int code = MPI_SUCCESS, color, key, kept, *lists;
    mpi_comm_t *comm = mpi_topology_comm(handle, MPI_CART, &code), *made = NULL;
    mpi_topic_t topic = {.describe = describe_remain, .tell = tell_remain};
    const mpi_topology_t *cart;

    if (!comm)
        return code;
    cart = comm->topology;
    if (cart->cart.ndims > 0 && !remain)
        return mpi_error_null(comm, "remain_dims");
    lists = xy_malloc(2 * (size_t)cart->cart.ndims * sizeof *lists + 1);
    if (!lists)
        return mpi_error_memory(comm, "a Cartesian topology");
    for (int d = 0; d < cart->cart.ndims; d++)
        topic.value = mpi_topic_add(topic.value, remain[d] != 0);
    kept = xy_grid_sub(cart->cart.ndims, cart->cart.dims, cart->cart.periods, cart->cart.coords,
                       remain, lists, lists + cart->cart.ndims, &color, &key);
    topic.data = &(remain_t){cart->cart.ndims, remain};
    comm->owner->topic = &topic;
    code = mpi_comm_split(comm, color, key, &made);
    comm->owner->topic = NULL;
    if (code == MPI_SUCCESS)
        code = give(comm, made, kept, lists, lists + cart->cart.ndims, newcomm);
    xy_free(lists);
    return code;
}

int impl_cart_rank(MPI_Comm handle, const int *coords, int *rank)
{
    int code = MPI_SUCCESS, found, bad = 0;
    mpi_comm_t *comm = mpi_topology_comm(handle, MPI_CART, &code);
    const mpi_topology_t *cart;

    if (!comm)
        return code;
    cart = comm->topology;
    if (cart->cart.ndims > 0 && !coords)
        return mpi_error_null(comm, "coords");
    found = xy_grid_number(cart->cart.ndims, cart->cart.dims, cart->cart.periods, coords, &bad);
    if (found < 0)
        return mpi_error(comm, MPI_ERR_ARG,
                         "coordinate %d is %d; the dimension has %d points and is not periodic",
                         bad, coords[bad], cart->cart.dims[bad]);
    *rank = found;
    return MPI_SUCCESS;
}

int impl_cart_coords(MPI_Comm handle, int rank, int maxdims, int *coords)
{
    int code = MPI_SUCCESS;
    mpi_comm_t *comm = mpi_topology_comm(handle, MPI_CART, &code);
    const mpi_topology_t *cart;

    if (!comm)
        return code;
    cart = comm->topology;
    if (rank < 0 || rank >= comm->size)
        return mpi_error(comm, MPI_ERR_RANK, "rank %d does not exist in %s, which has %d ranks",
                         mpi_number_passed(rank), mpi_comm_name(comm), comm->size);
    if (maxdims < cart->cart.ndims || (cart->cart.ndims > 0 && !coords))
        return mpi_error(comm, MPI_ERR_DIMS, "there is room for %d coordinates; the grid has %d",
                         maxdims, cart->cart.ndims);
    xy_grid_coords(rank, cart->cart.ndims, cart->cart.dims, coords);
    return MPI_SUCCESS;
}

int impl_cart_get(MPI_Comm handle, int maxdims, int *dims, int *periods, int *coords)
{
    int code = MPI_SUCCESS;
    mpi_comm_t *comm = mpi_topology_comm(handle, MPI_CART, &code);
    const mpi_topology_t *cart;

    if (!comm)
        return code;
    cart = comm->topology;
    if (maxdims < cart->cart.ndims || (cart->cart.ndims > 0 && (!dims || !periods || !coords)))
        return mpi_error(comm, MPI_ERR_DIMS, "there is room for %d dimensions; the grid has %d",
                         maxdims, cart->cart.ndims);
    for (int d = 0; d < cart->cart.ndims; d++) {
        dims[d] = cart->cart.dims[d];
        periods[d] = cart->cart.periods[d];
        coords[d] = cart->cart.coords[d];
    }
    return MPI_SUCCESS;
}

int impl_cart_shift(MPI_Comm handle, int direction, int disp, int *source, int *dest)
{
    int code = MPI_SUCCESS;
    mpi_comm_t *comm = mpi_topology_comm(handle, MPI_CART, &code);

    if (!comm)
        return code;
    if (direction < 0 || direction >= comm->topology->cart.ndims)
        return mpi_error(comm, MPI_ERR_DIMS, "the direction is %d; the grid has %d dimensions",
                         direction, comm->topology->cart.ndims);
    *source = mpi_topology_shift(comm, direction, -(long)disp);
    *dest = mpi_topology_shift(comm, direction, disp);
    return MPI_SUCCESS;
}

int impl_cartdim_get(MPI_Comm handle, int *ndims)
{
    int code = MPI_SUCCESS;
    mpi_comm_t *comm = mpi_topology_comm(handle, MPI_CART, &code);

    if (!comm)
        return code;
    *ndims = comm->topology->cart.ndims;
    return MPI_SUCCESS;
}

int impl_cart_map(MPI_Comm handle, int ndims, const int *dims, const int *periods, int *newrank)
{
    mpi_comm_t *comm = mpi_comm_of(handle);
    int points, code;

    if (!comm)
        return mpi_comm_refuse(handle);
    code = check_grid(comm, ndims, dims, periods, &points);
    if (code == MPI_SUCCESS)
        code = mpi_reorder_map(comm, points, grid_pattern,
                               &(grid_t){ndims, points, dims, periods, true}, newrank);
    return code;
}

int impl_cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[],
                     int reorder, MPI_Comm *comm_cart)
{
    return cart_create(comm_old, ndims, dims, periods, reorder != 0, comm_cart);
}

int impl_dims_create(int nnodes, int ndims, int *dims)
{
    if (ndims < 0 || (ndims > 0 && !dims))
        return mpi_error(NULL, MPI_ERR_DIMS, "the number of dimensions is %d", ndims);
    if (nnodes < 1)
        return mpi_error(NULL, MPI_ERR_ARG, "the number of nodes is %d", nnodes);
    for (int d = 0; d < ndims; d++)
        if (dims[d] < 0)
            return mpi_error(NULL, MPI_ERR_DIMS, "dims[%d] is %d", d, dims[d]);
    if (!xy_grid_factor(nnodes, ndims, dims))
        return mpi_error(NULL, MPI_ERR_DIMS, "no grid of %d nodes has the dimensions that are set",
                         nnodes);
    return MPI_SUCCESS;
}
