/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_COMM_WORLD and MPI_COMM_SELF, which live as long as the job. */
#include <string.h>

#include "mpi/comm/comm.h"

/* COMM_SELF of every rank has the same context: its messages never leave the rank. */
enum { CONTEXT_WORLD = 0, CONTEXT_SELF = 1, CONTEXT_FREE = 2 };

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

/* Of the first rank that lives in this process; NULL: it has none yet. */
static const mpi_comm_t *first_world(void)
{
    int r = 0;

    while (mpi_job->ranks[r].worker == NULL)
        r++;
    return mpi_job->ranks[r].comm_world;
}

/* World: the first rank makes the group and the collective part, the others share them. */
static xy_status_t world_new(mpi_rank_t *rank, mpi_comm_t **comm_p)
{
    const mpi_comm_t *first = first_world();
    mpi_group_t *group = first ? first->group : mpi_group_create(NULL, mpi_job->size);
    mpi_comm_t *comm = NULL;
    xy_status_t status = XY_OK;

    if (first)
        mpi_group_hold(group, 1);
    if (group)
        comm = predefined_new(rank, CONTEXT_WORLD, group, rank->world, "MPI_COMM_WORLD");
    if (!comm) {
        mpi_group_release(group);
        return xy_fail_memory("making MPI_COMM_WORLD");
    }
    if (first)
        comm->coll = first->coll;
    else
        status = mpi_coll_create(group, CONTEXT_WORLD, &comm->coll);
    if (status == XY_OK) {
        mpi_coll_hold(comm->coll);
        mpi_coll_join(comm);
        *comm_p = comm;
    } else {
        mpi_comm_release(comm);
    }
    return status;
}

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

static xy_status_t create(mpi_rank_t *rank)
{
    mpi_comm_t *world = NULL, *self = NULL;
    xy_status_t status;

    status = world_new(rank, &world);
    if (status != XY_OK)
        return status;
    status = self_new(rank, &self);
    if (status != XY_OK) {
        mpi_comm_release(world);
        return status;
    }
    rank->comm_world = world;
    rank->comm_self = self;
    return XY_OK;
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
    for (int r = 0; r < job->size; r++) {
        mpi_rank_t *rank = &job->ranks[r];

        if (rank->comm_world)
            mpi_comm_release(rank->comm_world);
        if (rank->comm_self)
            mpi_comm_release(rank->comm_self);
        rank->comm_world = rank->comm_self = NULL;
    }
}

const mpi_layer_t mpi_comm_layer = {.job_begin = begin, .job_end = end};
