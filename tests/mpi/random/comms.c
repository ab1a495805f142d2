/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

comm_t comms[COMMS_MAX];
MPI_Comm wild;

static int *ints(int count)
{
    int *array = malloc((size_t)count * sizeof(*array));

    if (array == NULL)
        fail("no memory for %d numbers", count);
    return array;
}

/* The sizes and ranks that the handle has must be those that were computed. */
static void settle(comm_t *comm)
{
    int found;

    if (comm->handle == MPI_COMM_NULL) {
        if (comm->part[rank] >= 0)
            fail("a member has got MPI_COMM_NULL");
        return;
    }
    comm->rank = comm->place[rank];
    comm->size = comm_part_size(comm, rank);
    MPI_Comm_rank(comm->handle, &found);
    if (found != comm->rank)
        fail("its rank is %d and should be %d", found, comm->rank);
    MPI_Comm_size(comm->handle, &found);
    if (found != comm->size)
        fail("the communicator has %d ranks and should have %d", found, comm->size);
}

static void copy_members(comm_t *comm, const comm_t *from)
{
    comm->part = ints(size);
    comm->place = ints(size);
    memcpy(comm->part, from->part, (size_t)size * sizeof(int));
    memcpy(comm->place, from->place, (size_t)size * sizeof(int));
}

void comms_begin(void)
{
    comm_t *world = &comms[0];

    world->handle = MPI_COMM_WORLD;
    world->part = ints(size);
    world->place = ints(size);
    for (int r = 0; r < size; r++) {
        world->part[r] = 0;
        world->place[r] = r;
    }
    settle(world);
    MPI_Comm_dup(MPI_COMM_WORLD, &wild);
}

static void forget(comm_t *comm)
{
    free(comm->part);
    free(comm->place);
    *comm = (comm_t){.handle = MPI_COMM_NULL};
}

void comms_end(void)
{
    for (int c = COMMS_MAX - 1; c >= 0; c--) {
        if (c > 0 && comms[c].part != NULL && comms[c].handle != MPI_COMM_NULL)
            MPI_Comm_free(&comms[c].handle);
        forget(&comms[c]);
    }
    MPI_Comm_free(&wild);
}

/* Slot number `skip` of those in use, or with `is_free` of those not in use; -1: none is left. */
static int find_slot(bool is_free, int skip)
{
    for (int c = 0; c < COMMS_MAX; c++)
        if ((comms[c].part == NULL) == is_free && skip-- == 0)
            return c;
    return -1;
}

static int in_use(void)
{
    int n = 0;

    for (int c = 0; c < COMMS_MAX; c++)
        n += comms[c].part != NULL;
    return n;
}

comm_t *comm_draw(random_t *random)
{
    return &comms[find_slot(false, chance(random, 40) ? 0 : draw(random, in_use()))];
}

const comm_t *comm_draw_ring(random_t *random)
{
    int first = draw(random, COMMS_MAX);

    for (int c = 0; c < COMMS_MAX; c++) {
        const comm_t *comm = &comms[(first + c) % COMMS_MAX];

        if (comm->part != NULL && comm->is_ring)
            return comm;
    }
    return NULL;
}

int comm_part_size(const comm_t *comm, int member)
{
    int n = 0;

    for (int r = 0; r < size; r++)
        n += comm->part[r] == comm->part[member];
    return n;
}

int comm_world(const comm_t *comm, int member, int place)
{
    for (int r = 0; r < size; r++)
        if (comm->part[r] == comm->part[member] && comm->place[r] == place)
            return r;
    fail("no rank %d in its communicator", place);
    return -1;
}

static int key_of(int r)
{
    return (int)(hash((uint64_t)step, 5, (uint64_t)r, shared_random.state) % 4);
}

/* Ranks of the new communicator: by key, then by rank in the parent. */
static void number_members(comm_t *comm, const comm_t *parent)
{
    for (int r = 0; r < size; r++) {
        comm->place[r] = 0;
        for (int o = 0; o < size; o++)
            if (comm->part[o] == comm->part[r] &&
                (key_of(o) < key_of(r) ||
                 (key_of(o) == key_of(r) && parent->place[o] < parent->place[r])))
                comm->place[r]++;
    }
}

static void split(comm_t *comm, const comm_t *parent)
{
    int colours = 1 + draw(&shared_random, 3), own;

    comm->part = ints(size);
    comm->place = ints(size);
    for (int r = 0; r < size; r++) {
        int colour = (int)(hash((uint64_t)step, 6, (uint64_t)r, shared_random.state) %
                           (uint64_t)(colours + 1));

        comm->part[r] = parent->part[r] < 0 || (colour == colours && colours > 1)
                            ? -1
                            : parent->part[r] * colours + colour % colours;
    }
    number_members(comm, parent);
    own = comm->part[rank];
    if (parent->handle != MPI_COMM_NULL)
        MPI_Comm_split(parent->handle, own < 0 ? MPI_UNDEFINED : own % colours, key_of(rank),
                       &comm->handle);
}

/* How its nonblocking collectives progress. */
static void draw_hints(MPI_Info info)
{
    static const char *const progress[] = {"tasks", "threads", "none"};
    static const char *const places[] = {"numa", "bind", "scan=bind,exscan=odd-even", "auto"};
    static const char *const orders[] = {"round-robin", "priority,bcast=suspend",
                                         "reduce=suspend-semaphore", "auto"};
    static const char *const splits[] = {"1", "2", "auto", "adaptive", "off"};
    static const char *const algorithms[] = {
        "allreduce=ring", "bcast=chain", "allgather=bruck,reduce=binomial",
        "alltoall=pairwise,gather=binomial,barrier=dissemination"};

    if (chance(&shared_random, 30))
        MPI_Info_set(info, "xylem_progress_place", places[draw(&shared_random, 4)]);
    if (chance(&shared_random, 30))
        MPI_Info_set(info, "xylem_progress_order", orders[draw(&shared_random, 4)]);
    if (chance(&shared_random, 60))
        MPI_Info_set(info, "xylem_progress", progress[draw(&shared_random, 3)]);
    if (chance(&shared_random, 40))
        MPI_Info_set(info, "xylem_split", splits[draw(&shared_random, 5)]);
    if (chance(&shared_random, 30))
        MPI_Info_set(info, "xylem_algorithm", algorithms[draw(&shared_random, 4)]);
}

/* The same ranks as a ring. */
static void make_ring(comm_t *comm, const comm_t *parent)
{
    const int is_periodic = 1;

    copy_members(comm, parent);
    comm->is_ring = true;
    if (parent->handle != MPI_COMM_NULL)
        MPI_Cart_create(parent->handle, 1, &parent->size, &is_periodic, 0, &comm->handle);
}

/* Members of a new communicator by a group of every second rank, or of all; only they call. */
static void create_group(comm_t *comm, const comm_t *parent)
{
    int stride = 1 + draw(&shared_random, 2);
    MPI_Group all, some;

    comm->part = ints(size);
    comm->place = ints(size);
    for (int r = 0; r < size; r++) {
        comm->part[r] =
            parent->part[r] >= 0 && parent->place[r] % stride == 0 ? parent->part[r] : -1;
        comm->place[r] = parent->place[r] / stride;
    }
    if (comm->part[rank] < 0)
        return;
    MPI_Comm_group(parent->handle, &all);
    MPI_Group_range_incl(all, 1, (int[1][3]){{0, parent->size - 1, stride}}, &some);
    MPI_Comm_create_group(parent->handle, some, step, &comm->handle);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
}

/* Made by all; members of the parent take part. */
static void duplicate(comm_t *comm, const comm_t *parent)
{
    int how = draw(&shared_random, 4);
    MPI_Info info;
    MPI_Request request;

    copy_members(comm, parent);
    MPI_Info_create(&info);
    draw_hints(info);
    if (parent->handle == MPI_COMM_NULL) {
        MPI_Info_free(&info);
        return;
    }
    if (how == 0) {
        MPI_Comm_dup(parent->handle, &comm->handle);
    } else if (how == 1) {
        MPI_Comm_idup(parent->handle, &comm->handle, &request);
        wait_somehow(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Comm_dup_with_info(parent->handle, info, &comm->handle);
    }
    MPI_Info_free(&info);
}

void step_make_comm(void)
{
    comm_t *parent = comm_draw(&shared_random), *comm;
    int slot = find_slot(true, 0);

    if (slot < 0) {
        step_free_comm();
        return;
    }
    comm = &comms[slot];
    comm->handle = MPI_COMM_NULL;
    if (is_verbose)
        fprintf(stderr, "%d: step %d: new communicator %d\n", rank, step, slot);
    switch (draw(&shared_random, 6)) {
    case 0:
        make_ring(comm, parent);
        break;
    case 1:
        create_group(comm, parent);
        break;
    case 2:
    case 3:
        split(comm, parent);
        break;
    default:
        duplicate(comm, parent);
    }
    settle(comm);
}

/* Calls on it may be pending: the communicator lives until they are over. */
void step_free_comm(void)
{
    int slot = find_slot(false, 1 + draw(&shared_random, COMMS_MAX));

    if (slot < 0)
        return;
    if (is_verbose)
        fprintf(stderr, "%d: step %d: free communicator %d\n", rank, step, slot);
    if (comms[slot].handle != MPI_COMM_NULL)
        MPI_Comm_free(&comms[slot].handle);
    forget(&comms[slot]);
}
