/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker that is asleep has no rank that could do anything but by what others send. One whose
 * ranks poll is idle when they have looked often enough for each to have had a turn, while no
 * worker has counted an act. A worker that computes does neither.
 */
#include "mpi/check/cores.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    _Alignas(XMPI_LINES) _Atomic uint64_t acts;  /* sends and receives; written by its worker */
    _Atomic uint64_t seen;                       /* acts of all workers, at its last look */
    _Atomic uint32_t looks;                      /* since that number has changed */
    _Atomic int late;                            /* receives that wait */
    _Alignas(XMPI_LINES) _Atomic uint64_t order; /* check_order_t; 0: none */
} core_t;

static core_t *cores; /* [workers] */

int check_cores_count(void)
{
    return mpi_job->workers - mpi_job->comm_workers;
}

bool check_is_parallel(void)
{
    return mpi_job->processes > 1 || check_cores_count() > 1;
}

bool check_has_threads(const mpi_rank_t *rank)
{
    return rank->gate != NULL && rank->gate->is_shared;
}

xy_status_t check_cores_begin(void)
{
    size_t bytes = (size_t)(mpi_job->workers > 0 ? mpi_job->workers : 1) * sizeof(*cores);

    cores = aligned_alloc(XMPI_LINES, bytes);
    if (cores == NULL)
        return xy_fail_memory("checking the program");
    memset(cores, 0, bytes);
    return XY_OK;
}

void check_cores_act(const mpi_worker_t *worker)
{
    core_t *core = &cores[worker->index];
    uint64_t acts = atomic_load_explicit(&core->acts, memory_order_relaxed);

    atomic_store_explicit(&core->acts, acts + 1, memory_order_release);
}

static uint64_t sum_of_acts(void)
{
    uint64_t sum = 0;

    for (int w = 0; w < check_cores_count(); w++)
        sum += atomic_load_explicit(&cores[w].acts, memory_order_acquire);
    return sum;
}

static bool is_idle(const core_t *core, uint64_t sum)
{
    return atomic_load_explicit(&core->looks, memory_order_acquire) >
               2 * (unsigned)mpi_job->size + 16 &&
           atomic_load_explicit(&core->seen, memory_order_relaxed) == sum;
}

bool check_cores_look(const mpi_worker_t *worker)
{
    core_t *mine = &cores[worker->index];
    uint64_t sum = sum_of_acts();
    uint32_t looks = atomic_load_explicit(&mine->looks, memory_order_relaxed);

    if (atomic_load_explicit(&mine->seen, memory_order_relaxed) != sum)
        looks = 0;
    atomic_store_explicit(&mine->seen, sum, memory_order_relaxed);
    atomic_store_explicit(&mine->looks, looks + 1, memory_order_release);
    if (!is_idle(mine, sum))
        return false;
    for (int w = 0; w < check_cores_count(); w++)
        if (!is_idle(&cores[w], sum) && !xy_worker_is_last_look(mpi_job->worker[w].base))
            return false;
    if (sum_of_acts() != sum)
        return false;
    atomic_store_explicit(&mine->looks, 0, memory_order_relaxed);
    return true;
}

void check_cores_late(const mpi_worker_t *worker, int more)
{
    atomic_fetch_add_explicit(&cores[worker->index].late, more, memory_order_relaxed);
}

int check_cores_has_late(int worker)
{
    return atomic_load_explicit(&cores[worker].late, memory_order_relaxed);
}

/* The release pairs with the acquire of check_cores_take. */
bool check_cores_order(int worker, check_order_t order)
{
    uint64_t none = 0, word = (uint64_t)(uint32_t)order.rank << 8 | (uint64_t)order.kind;

    if (!atomic_compare_exchange_strong_explicit(&cores[worker].order, &none, word,
                                                 memory_order_release, memory_order_relaxed))
        return false;
    xy_worker_notify(mpi_job->worker[worker].base);
    return true;
}

bool check_cores_take(const mpi_worker_t *worker, check_order_t *order)
{
    _Atomic uint64_t *place = &cores[worker->index].order;
    uint64_t word;

    if (atomic_load_explicit(place, memory_order_relaxed) == 0)
        return false;
    word = atomic_exchange_explicit(place, 0, memory_order_acquire);
    *order = (check_order_t){(check_order_kind_t)(word & 0xff), (int)(word >> 8)};
    return word != 0;
}
