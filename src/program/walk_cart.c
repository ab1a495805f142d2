/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators that are grids. */
#include <mpi.h>
#include <string.h>

#include "program/walk.h"

/* Room for a grid; false: memory ran out (reported). */
static bool cart_new(walker_t *w, int64_t ndims, walk_cart_t *cart)
{
    if (ndims < 0 || ndims > 1000)
        return process_fail(&w->process, "a grid of %lld dimensions", (long long)ndims);
    cart->ndims = (int)ndims;
    cart->dims = xy_arena_alloc(w->walk->arena, 2 * (size_t)(ndims + 1) * sizeof(int));
    if (cart->dims == NULL)
        return process_fail_memory(&w->process);
    cart->periods = cart->dims + ndims + 1;
    return true;
}

/* The points of a grid on `size` ranks. */
static bool count_points(walker_t *w, const walk_cart_t *cart, int32_t size, int32_t *points_p)
{
    int bad;

    *points_p = xy_grid_points(cart->ndims, cart->dims, size, &bad);
    if (*points_p >= 0)
        return true;
    return bad >= 0 ? process_fail(&w->process, "dims[%d] is %d", bad, cart->dims[bad])
                    : process_fail(&w->process, "the grid has more points than the %d ranks", size);
}

/* ---- Other numbers, as in runs ---- */

static bool is_known(const walk_order_t *o, const walk_comm_t *comm, const walk_cart_t *cart)
{
    size_t bytes = (size_t)cart->ndims * sizeof(int);

    return o->comm == comm && o->ndims == cart->ndims && memcmp(o->dims, cart->dims, bytes) == 0 &&
           memcmp(o->periods, cart->periods, bytes) == 0;
}

/* Finds the leaf of every rank in the machine tree, once per prediction. */
static xy_status_t find_machine(walk_t *walk)
{
    const xy_vjob_config_t *job = &walk->config->job;
    xy_status_t st;

    if (walk->leaf_of != NULL)
        return XY_OK;
    walk->leaf_of = xy_calloc((size_t)walk->procs, sizeof(*walk->leaf_of));
    if (walk->leaf_of == NULL)
        return xy_fail_memory("reordering ranks");
    st =
        xy_place_core_leaves(job->machine, job->core_of, walk->procs, walk->leaf_of, &walk->target);
    return st;
}

static xy_status_t order_by(walk_t *walk, const walk_comm_t *comm, const walk_cart_t *cart,
                            int32_t points, uint32_t *leaf_of, int *member)
{
    xy_vec_t entries = XY_VEC_INIT(xy_matrix_entry_t);
    xy_status_t st =
        xy_place_grid_pattern(cart->ndims, cart->dims, cart->periods, points, &entries);

    for (int32_t r = 0; r < comm->size; r++)
        leaf_of[r] = walk->leaf_of[walk_comm_proc(comm, r)];
    if (st == XY_OK)
        xy_place_reorder(walk->target, leaf_of, comm->size, points, &entries, member);
    xy_vec_cleanup(&entries);
    return st;
}

/* Computes the reordered grid number of every rank and caches it in `walk->order`. */
static xy_status_t find_order(walk_t *walk, const walk_comm_t *comm, const walk_cart_t *cart,
                              int32_t points)
{
    uint32_t *leaf_of = xy_calloc((size_t)comm->size, sizeof(*leaf_of));
    int *member = xy_calloc((size_t)points + 1, sizeof(*member));
    int32_t *number = xy_arena_alloc(walk->arena, (size_t)comm->size * sizeof(*number));
    xy_status_t st = find_machine(walk);

    if (st == XY_OK && (leaf_of == NULL || member == NULL || number == NULL))
        st = xy_fail_memory("reordering ranks");
    if (st == XY_OK && order_by(walk, comm, cart, points, leaf_of, member) != XY_OK)
        st = xy_fail_memory("reordering ranks");
    if (st == XY_OK) {
        for (int32_t r = 0; r < comm->size; r++)
            number[r] = -1;
        for (int32_t i = 0; i < points; i++)
            number[member[i]] = i;
        walk->order = (walk_order_t){comm, cart->ndims, cart->dims, cart->periods, number};
    }
    xy_free(leaf_of);
    xy_free(member);
    return st;
}

/* The rank that the member gets in the grid; -1: none. */
static bool number_of(walker_t *w, const walk_member_t *m, const walk_cart_t *cart, int32_t points,
                      bool may_reorder, int32_t *number_p)
{
    const walk_order_t *o = &w->walk->order;

    *number_p = m->rank < points ? m->rank : -1;
    if (!may_reorder)
        return true;
    if (!is_known(o, m->comm, cart) && find_order(w->walk, m->comm, cart, points) != XY_OK)
        return process_stop(&w->process);
    *number_p = o->number[m->rank];
    return true;
}

/* MPI_Cart_create: all ranks split the communicator; ranks outside the grid get MPI_COMM_NULL. */
static bool cart_create(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = walk_intracomm(w, args[0]);
    walk_cart_t cart = {0};
    walk_made_t made;
    int32_t points = 0, number = -1;

    (void)site;
    if (m == NULL || !cart_new(w, args[1], &cart) ||
        !walk_get_ints(w, args[2], cart.ndims, cart.dims) ||
        !walk_get_ints(w, args[3], cart.ndims, cart.periods) ||
        !count_points(w, &cart, m->comm->size, &points) ||
        !number_of(w, m, &cart, points, args[4] != 0, &number) ||
        !walk_split(w, args[0], number >= 0 ? 0 : MPI_UNDEFINED, number, &made))
        return false;
    if (made.comm != NULL && made.comm->cart.dims == NULL)
        made.comm->cart = cart;
    return walk_give(w, args[5], &made);
}

/* The communicator of a call about grids. */
static walk_member_t *cart_of(walker_t *w, int64_t handle)
{
    walk_member_t *m = walk_comm(w, handle);

    if (m != NULL && m->comm->cart.dims == NULL) {
        process_fail(&w->process, "the communicator has no Cartesian topology");
        return NULL;
    }
    return m;
}

/* MPI_Cart_coords: writes at most `maxdims` coordinates. */
static bool cart_coords(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = cart_of(w, args[0]);
    int coords[1001];

    (void)site;
    if (m == NULL)
        return false;
    if (args[1] < 0 || args[1] >= m->comm->size)
        return process_fail(&w->process, "rank %lld does not exist", (long long)args[1]);
    xy_grid_coords((int)args[1], m->comm->cart.ndims, m->comm->cart.dims, coords);
    for (int d = 0; d < m->comm->cart.ndims && d < args[2]; d++)
        if (!walk_set_int(w, args[3] + 4 * d, coords[d]))
            return false;
    return true;
}

/* MPI_Cart_rank: fails for coordinates outside a dimension that is not periodic. */
static bool cart_rank(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = cart_of(w, args[0]);
    int coords[1001], bad = 0, found;

    (void)site;
    if (m == NULL || !walk_get_ints(w, args[1], m->comm->cart.ndims, coords))
        return false;
    found = xy_grid_number(m->comm->cart.ndims, m->comm->cart.dims, m->comm->cart.periods, coords,
                           &bad);
    if (found < 0)
        return process_fail(&w->process, "coordinate %d is %d; the dimension has %d points", bad,
                            coords[bad], m->comm->cart.dims[bad]);
    return walk_set_int(w, args[2], found);
}

/* MPI_Cart_shift: source and destination, MPI_PROC_NULL at an edge. */
static bool cart_shift(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = cart_of(w, args[0]);
    const walk_cart_t *cart;

    (void)site;
    if (m == NULL)
        return false;
    cart = &m->comm->cart;
    if (args[1] < 0 || args[1] >= cart->ndims)
        return process_fail(&w->process, "direction %lld of a grid of %d dimensions",
                            (long long)args[1], cart->ndims);
    for (int i = 0; i < 2; i++)
        if (!walk_set_int(w, args[3 + i],
                          xy_grid_shift(m->rank, cart->ndims, cart->dims, cart->periods,
                                        (int)args[1], i == 0 ? -args[2] : args[2])))
            return false;
    return true;
}

/* MPI_Cart_get: writes dimensions, periods and own coordinates; null addresses are skipped. */
static bool cart_get(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = cart_of(w, args[0]);
    const walk_cart_t *cart;
    int coords[1001];

    (void)site;
    if (m == NULL)
        return false;
    cart = &m->comm->cart;
    xy_grid_coords(m->rank, cart->ndims, cart->dims, coords);
    for (int d = 0; d < cart->ndims && d < args[1]; d++)
        if (!walk_set_int(w, args[2] != 0 ? args[2] + 4 * d : 0, cart->dims[d]) ||
            !walk_set_int(w, args[3] != 0 ? args[3] + 4 * d : 0, cart->periods[d]) ||
            !walk_set_int(w, args[4] != 0 ? args[4] + 4 * d : 0, coords[d]))
            return false;
    return true;
}

/* MPI_Cart_sub: splits the grid by the dropped dimensions. */
static bool cart_sub(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = cart_of(w, args[0]);
    int coords[1001], remain[1001], color, key;
    walk_cart_t cart = {0}, *old;
    walk_made_t made;

    (void)site;
    if (m == NULL || !cart_new(w, m->comm->cart.ndims, &cart) ||
        !walk_get_ints(w, args[1], cart.ndims, remain))
        return false;
    old = &m->comm->cart;
    xy_grid_coords(m->rank, old->ndims, old->dims, coords);
    cart.ndims = xy_grid_sub(old->ndims, old->dims, old->periods, coords, remain, cart.dims,
                             cart.periods, &color, &key);
    if (!walk_split(w, args[0], color, key, &made))
        return false;
    if (made.comm->cart.dims == NULL)
        made.comm->cart = cart;
    return walk_give(w, args[2], &made);
}

static bool cartdim_get(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = cart_of(w, args[0]);

    (void)site;
    return m != NULL && walk_set_int(w, args[1], m->comm->cart.ndims);
}

/* MPI_Dims_create: fails if the given dimensions do not divide the number of nodes. */
static bool dims_create(walker_t *w, const code_site_t *site, int64_t *args)
{
    int dims[1001];

    (void)site;
    if (args[0] < 1 || args[0] > INT32_MAX || args[1] < 0 || args[1] > 1000)
        return process_fail(&w->process, "%lld nodes in %lld dimensions", (long long)args[0],
                            (long long)args[1]);
    if (!walk_get_ints(w, args[2], (int32_t)args[1], dims))
        return false;
    for (int64_t d = 0; d < args[1]; d++)
        if (dims[d] < 0)
            return process_fail(&w->process, "dims[%lld] is %d", (long long)d, dims[d]);
    if (!xy_grid_factor((int)args[0], (int)args[1], dims))
        return process_fail(&w->process, "no grid of %lld nodes has the dimensions that are set",
                            (long long)args[0]);
    for (int64_t d = 0; d < args[1]; d++)
        if (!walk_set_int(w, args[2] + 4 * d, dims[d]))
            return false;
    return true;
}

const walk_call_t walk_calls_cart[] = {
    {"Cart_create", cart_create, 0}, {"Cart_coords", cart_coords, 0}, {"Cart_rank", cart_rank, 0},
    {"Cart_shift", cart_shift, 0},   {"Cart_get", cart_get, 0},       {"Cart_sub", cart_sub, 0},
    {"Cartdim_get", cartdim_get, 0}, {"Dims_create", dims_create, 0}, {0}};
