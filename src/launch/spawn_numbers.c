/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers and workers of spawned ranks. */
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "launch/spawn_ranks.h"

int mpi_spawn_first(const mpi_spawn_numbers_t *numbers)
{
    return numbers->size + (numbers->node != NULL ? numbers->node->process * numbers->room : 0);
}

/* The worker of a spawned rank: those that --usize has left, then all in turn. */
static int worker_of(const mpi_spawn_numbers_t *numbers, int index)
{
    const mpi_placement_t *p = numbers->placement;
    int next = (numbers->node != NULL ? numbers->node->count : numbers->size) + index;

    return numbers->node == NULL && next < numbers->placed ? p->worker_of[next]
                                                           : next % (p->workers - p->comm_workers);
}

static int process_of(const mpi_spawn_numbers_t *numbers, int rank)
{
    return rank < numbers->size ? numbers->node->process_of[rank]
                                : (rank - numbers->size) / numbers->room;
}

xy_status_t mpi_spawn_number(const mpi_spawn_numbers_t *numbers, mpi_job_config_t *config)
{
    int processes = numbers->node != NULL ? numbers->node->processes : 1;
    int all = numbers->size + numbers->room * processes, first = mpi_spawn_first(numbers);
    int *workers = xy_calloc((size_t)all, sizeof(int));
    int *homes = numbers->node != NULL ? xy_calloc((size_t)all, sizeof(int)) : NULL;

    if (workers == NULL || (numbers->node != NULL && homes == NULL)) {
        xy_free(workers);
        return xy_fail_memory("starting the job");
    }
    memcpy(workers, numbers->placement->worker_of, (size_t)numbers->size * sizeof(int));
    for (int i = 0; i < numbers->room; i++)
        workers[first + i] = worker_of(numbers, i);
    for (int r = 0; homes != NULL && r < all; r++)
        homes[r] = process_of(numbers, r);
    config->capacity = all;
    config->worker_of = workers;
    config->process_of = homes;
    return XY_OK;
}

int mpi_spawn_universe(const mpi_spawn_numbers_t *numbers, long usize)
{
    if (usize > 0)
        return (int)usize;
    return numbers->node == NULL && numbers->room > 0 && numbers->cores > numbers->size
               ? numbers->cores
               : numbers->size;
}

uint64_t mpi_spawn_job_id(const mpi_node_job_t *node, bool is_virtual)
{
    uint64_t id = 0;

    if (is_virtual) /* no other job can be connected, and each run is the same */
        return 1;
    if (node == NULL && getrandom(&id, sizeof(id), 0) == (ssize_t)sizeof(id))
        return id;
    if (node == NULL)
        return (uint64_t)getpid();
    return xy_secret_number(node->secret);
}
