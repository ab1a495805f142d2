/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_COMM_WORLD and MPI_COMM_SELF, which live as long as the job. */
#include <string.h>

#include "mpi/comm/comm.h"

/* COMM_SELF of every rank has the same context: its messages never leave the rank. */
enum { CONTEXT_WORLD = 0, CONTEXT_SELF = 1, CONTEXT_FREE = 2 };

/* Allocate a predefined communicator; NULL without memory. */
static mpi_comm_t *predefined_new(mpi_rank_t *rank, uint32_t context, mpi_group_t *group, int place,
                                  const char *name)
{
    mpi_comm_t *comm = xy_calloc(1, sizeof *comm);

    if (!comm)
        return NULL;
    comm->mark = XMPI_COMM_LIVE;
    comm->context = context;
    comm->rank = place;
    comm->size = group->size;
    comm->group = group;
    comm->owner = rank;
    mpi_comm_enlist(comm);
    comm->references = 1;
    comm->errhandler = MPI_ERRORS_ARE_FATAL;
    comm->info = MPI_INFO_NULL;
    strcpy(comm->name, name);
    return comm;
}

/* MPI_COMM_WORLD of the first rank that lives in this process; NULL: it has none yet. */
static const mpi_comm_t *first_world(void)
{
    int r = 0;

    while (mpi_job->ranks[r].worker == NULL)
        r++;
    return mpi_job->ranks[r].comm_world;
}

/* Holds what it is given. */
static mpi_comm_t *world_of(mpi_rank_t *rank, mpi_group_t *group, mpi_coll_t *coll,
                            uint32_t context, int place)
{
    mpi_comm_t *comm = predefined_new(rank, context, group, place, "MPI_COMM_WORLD");

    if (!comm)
        return NULL;
    mpi_group_hold(group, 1);
    mpi_coll_hold(coll);
    comm->coll = coll;
    mpi_coll_join(comm);
    return comm;
}

/* World: the first rank makes the group and the collective part, the others share them. */
static xy_status_t world_new(mpi_rank_t *rank, mpi_comm_t **comm_p)
{
    const mpi_comm_t *first = first_world();
    mpi_group_t *group = first ? first->group : mpi_group_create(NULL, mpi_job->started);
    mpi_coll_t *coll = first ? first->coll : NULL;

    if (group && !coll && mpi_coll_create(group, CONTEXT_WORLD, &coll) != XY_OK)
        coll = NULL;
    *comm_p = coll ? world_of(rank, group, coll, CONTEXT_WORLD, rank->world) : NULL;
    if (!first)
        mpi_group_release(group);
    return *comm_p ? XY_OK : xy_fail_memory("making MPI_COMM_WORLD");
}

/* Create MPI_COMM_SELF of a rank. */
static xy_status_t self_new(mpi_rank_t *rank, mpi_comm_t **comm_p)
{
    int *ranks = xy_malloc(sizeof *ranks);
    mpi_group_t *group;
    mpi_comm_t *comm;
    xy_status_t status;

    if (!ranks)
        return xy_fail_memory("making MPI_COMM_SELF");
    ranks[0] = rank->world;
    group = mpi_group_create(ranks, 1);
    comm = group ? predefined_new(rank, CONTEXT_SELF, group, 0, "MPI_COMM_SELF") : NULL;
    if (!comm) {
        mpi_group_release(group);
        return xy_fail_memory("making MPI_COMM_SELF");
    }
    status = mpi_coll_create(group, CONTEXT_SELF, &comm->coll);
    if (status == XY_OK) {
        mpi_coll_hold(comm->coll);
        *comm_p = comm;
    } else {
        mpi_comm_release(comm);
    }
    return status;
}

/* Takes `world`. */
static xy_status_t give(mpi_rank_t *rank, mpi_comm_t *world)
{
    mpi_comm_t *self = NULL;
    xy_status_t status = self_new(rank, &self);
    if (status != XY_OK) {
        mpi_comm_release(world);
        return status;
    }
    rank->comm_world = rank->named_world = world;
    rank->comm_self = self;
    return XY_OK;
}

static xy_status_t create(mpi_rank_t *rank)
{
    mpi_comm_t *world = NULL;
    xy_status_t status = world_new(rank, &world);

    return status == XY_OK ? give(rank, world) : status;
}

xy_status_t mpi_comm_give_world(mpi_rank_t *rank, mpi_group_t *group, mpi_coll_t *coll,
                                uint32_t context, int place)
{
    mpi_comm_t *world = world_of(rank, group, coll, context, place);

    return world ? give(rank, world) : xy_fail_memory("making MPI_COMM_WORLD");
}

static void take_back(mpi_rank_t *rank)
{
    if (rank->comm_world)
        mpi_comm_release(rank->comm_world);
    if (rank->comm_self)
        mpi_comm_release(rank->comm_self);
    rank->comm_world = rank->named_world = rank->comm_self = NULL;
}

/* World of the first rank comes first: it makes what the others share. */
static xy_status_t begin(mpi_job_t *job, const mpi_job_config_t *config)
{
    xy_status_t st = XY_OK;

    (void)config;
    for (int r = 0; r < job->size && st == XY_OK; r++)
        st = job->ranks[r].worker != NULL ? create(&job->ranks[r]) : XY_OK;
    return st;
}

static void end(mpi_job_t *job)
{
    for (int r = 0; r < job->size; r++)
        take_back(&job->ranks[r]);
}

const mpi_layer_t mpi_comm_layer = {.job_begin = begin, .job_end = end, .rank_end = take_back};
