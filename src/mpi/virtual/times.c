/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times of the code of ranks between their calls in a run that was traced (mpiexec --trace), to
 * be charged in this one. A rank's n-th call here is its n-th call there; where the names differ,
 * the next one of the right name is looked for, not far away.
 */
#include <string.h>

#include "mpi/virtual/private.h"

enum { AHEAD = 16 }; /* calls that are looked at for one of the right name */

typedef struct {
    double before; /* seconds of code before the call */
    const char *name;
} past_call_t;

typedef struct {
    xy_vec_t calls; /* of past_call_t */
    size_t next;
    double computed; /* seconds since the last call */
    uint32_t label;  /* of the call that is being read; 0: its code runs */
} past_t;

static struct {
    xy_trace_log_t *log;
    past_t *ranks; /* [most] */
} all;

/* Add a state of the trace to a rank's past: computation, or the call that ends it. */
static xy_status_t add_state(past_t *past, const xy_trace_state_t *s)
{
    xy_trace_role_t role = all.log->kinds[s->kind].role;

    if (role == XY_TRACE_COMPUTE) {
        past->computed += 1e-9 * (double)(s->end - s->start);
        past->label = 0;
    } else if (role == XY_TRACE_PROGRESS && s->label != 0 && s->label != past->label &&
               strcmp(all.log->kinds[s->kind].name, "MPI") == 0) {
        past_call_t call = {past->computed, all.log->labels[s->label]};

        past->label = s->label;
        past->computed = 0;
        return xy_vec_append(&past->calls, &call);
    }
    return XY_OK;
}

/* Ranks that were spawned have the numbers after those of the job. */
static bool has_spawned(void)
{
    for (size_t i = 0; i < all.log->label_count; i++)
        if (all.log->labels[i] != NULL &&
            strncmp(all.log->labels[i], "MPI_Comm_spawn", strlen("MPI_Comm_spawn")) == 0)
            return true;
    return false;
}

/* Read the states of all ranks from the trace; an error if it has ranks that this job has not. */
static xy_status_t read_states(int size, int most)
{
    if (!has_spawned())
        most = size;
    for (size_t i = 0; i < all.log->state_count; i++) {
        const xy_trace_state_t *s = &all.log->states[i];

        if (s->id >= most)
            return xy_fail(XY_EINVAL,
                           "%s has a rank %lld, and this job %d ranks; trace a run of as many",
                           all.log->path, (long long)s->id, size);
        if (s->id >= 0 && add_state(&all.ranks[s->id], s) != XY_OK)
            return xy_fail_memory("reading the times of a trace");
    }
    return XY_OK;
}

static xy_status_t check_ranks(int size)
{
    for (int r = 0; r < size; r++)
        if (all.ranks[r].calls.count == 0)
            return xy_fail(XY_EINVAL,
                           "%s has no call of rank %d; trace a real run of this program with as "
                           "many ranks (mpiexec --trace)",
                           all.log->path, r);
    return XY_OK;
}

xy_status_t virtual_times_read(const char *path, int size, int most)
{
    xy_status_t st = xy_trace_read(path, &all.log);

    if (st != XY_OK)
        return st;
    all.ranks = xy_calloc((size_t)most, sizeof(*all.ranks));
    if (all.ranks == NULL)
        return xy_fail_memory("reading the times of a trace");
    for (int r = 0; r < most; r++)
        all.ranks[r].calls = XY_VEC_INIT(past_call_t);
    st = read_states(size, most);
    return st == XY_OK ? check_ranks(size) : st;
}

double virtual_times_before(int rank, const char *name)
{
    past_t *past = &all.ranks[rank];

    for (size_t i = past->next; i < past->calls.count && i < past->next + AHEAD; i++) {
        const past_call_t *call = &XY_VEC_AT(&past->calls, past_call_t, i);

        if (strcmp(call->name, name) == 0) {
            past->next = i + 1;
            return call->before;
        }
    }
    return 0;
}
