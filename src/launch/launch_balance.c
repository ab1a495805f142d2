/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec --balance: which jobs let ranks move, and between which cores. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/launch.h"
#include "launch/launch_balance.h"
#include "mpi/runtime/runtime.h"
#include "process/process.h"

enum { RANKS_MOST = 1024, POLLS = 64 };

/* "random", or "random:N". */
static bool read_random(const char *text, long *every_p)
{
    static const char word[] = "random";
    size_t length = sizeof(word) - 1;

    *every_p = POLLS;
    if (strncmp(text, word, length) != 0)
        return false;
    return text[length] == '\0' ||
           (text[length] == ':' && xy_parse_long(text + length + 1, every_p) && *every_p > 0);
}

static bool is_known(const char *text)
{
    long every;

    return strcmp(text, "off") == 0 || strcmp(text, "load") == 0 || read_random(text, &every);
}

/* The property of the job with which ranks do not move; NULL: none. */
static const char *find_conflict(const mpi_launch_values_t *v, const mpi_job_config_t *config)
{
    if (config->in_virtual_time != NULL)
        return "with --virtual";
    if (config->processes > 1)
        return "between several processes";
    if (config->comm_workers > 0)
        return "with communication cores";
    if (strcmp(v->progress, "threads") == 0)
        return "with --progress threads";
    if (v->trace != NULL)
        return "with --trace";
    if (v->check != NULL)
        return "with --check";
    if (config->size > RANKS_MOST)
        return "in jobs of more than 1024 ranks";
    return NULL;
}

xy_status_t mpi_launch_balance_place(const mpi_launch_values_t *values, mpi_job_config_t *config)
{
    int *own = (int *)(uintptr_t)config->worker_of, *core_of;
    const char *conflict;

    if (!is_known(values->balance))
        return xy_fail(XY_EUSAGE, "--balance %s: unknown; use off, load or random[:N]",
                       values->balance);
    conflict = find_conflict(values, config);
    if (strcmp(values->balance, "off") == 0 || (conflict == NULL && config->workers == 1))
        return XY_OK;
    if (conflict != NULL) {
        if (config->process == 0)
            xy_warn("--balance %s is ignored: ranks do not move %s", values->balance, conflict);
        return XY_OK;
    }
    core_of = xy_malloc((size_t)config->size * sizeof(int));
    if (core_of == NULL)
        return xy_fail_memory("placing the ranks");
    memcpy(core_of, own, (size_t)config->size * sizeof(int));
    for (int r = 0; r < config->size; r++)
        own[r] = r;
    config->core_of = core_of;
    config->cores = config->workers;
    config->workers = config->size;
    config->capacity = config->size;
    config->spawner = NULL;
    config->node = (mpi_node_t){0}; /* of workers that do not move */
    return XY_OK;
}

static uint64_t read_seed(const char *text)
{
    uint64_t seed = text != NULL ? 0 : (uint64_t)getpid();

    for (; text != NULL && *text != '\0'; text++)
        seed = xy_hash_u64(seed ^ (unsigned char)*text);
    return seed;
}

xy_status_t mpi_launch_balance_begin(const mpi_launch_values_t *values, mpi_job_t *job)
{
    const char *text = values->balance;
    long every;

    if (job->moves == NULL)
        return XY_OK;
    if (!xy_pool_can_hand_over(job->pool))
        xy_warn("--balance %s is ignored: the kernel has no membarrier", text);
    else if (!read_random(text, &every))
        return mpi_balance_begin(job);
    else
        mpi_moves_at_random(job, (unsigned)every, read_seed(getenv("XYLEM_SEED")));
    return XY_OK;
}

/* Ranks moved at random are counted where they leave. */
static uint64_t count_moves(const mpi_job_t *job)
{
    uint64_t sum = 0;

    for (int c = 0; c < job->moves->cores; c++)
        sum += job->moves->core[c].moved;
    return sum;
}

/* The steps of the balance are there where it looked at loads. */
void mpi_launch_balance_end(const mpi_launch_values_t *values, mpi_job_t *job)
{
    mpi_balance_result_t result;

    if (job->moves == NULL)
        return;
    mpi_balance_result(job, &result);
    if (values->verbose || values->report != NULL) {
        if (job->moves->balance == NULL)
            process_say("%llu moves of ranks at random", (unsigned long long)count_moves(job));
        else
            process_say(
                "%llu moves of ranks in %llu steps; without them the busiest core would have "
                "had %.2f times as much to do",
                (unsigned long long)count_moves(job), (unsigned long long)result.decisions,
                result.gain);
    }
    if (values->verbose && job->moves->balance != NULL && result.stays >= 0)
        process_say("rank %d stayed on core %d: %s", result.stays,
                    job->cpus[mpi_core_of(job, result.stays)],
                    mpi_move_why_not(&job->ranks[result.stays]) != NULL
                        ? mpi_move_why_not(&job->ranks[result.stays])
                        : "it had threads");
    mpi_balance_end();
}
