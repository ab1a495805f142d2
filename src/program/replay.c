/* SPDX-License-Identifier: BSD-3-Clause */
/* A replay is a script of a job with what it stands for. */
#include "program/replay.h"

#include "program/replay_internal.h"

xy_replay_t *replay_new(int32_t procs)
{
    xy_replay_t *r = xy_calloc(1, sizeof(*r));

    if (r == NULL)
        return NULL;
    r->scale = 1;
    r->script = xy_script_new(procs);
    if (r->script != NULL)
        return r;
    xy_free(r);
    return NULL;
}

void xy_replay_destroy(xy_replay_t *replay)
{
    if (replay == NULL)
        return;
    xy_script_destroy(replay->script);
    xy_free(replay);
}

int32_t xy_replay_procs(const xy_replay_t *replay)
{
    return replay->script->procs;
}

xy_script_t *xy_replay_script(xy_replay_t *replay)
{
    return replay->script;
}

bool xy_replay_has_computation(const xy_replay_t *replay)
{
    return replay->has_computation;
}

static void stuck(int32_t proc)
{
    xy_fail(XY_EINVAL,
            "the recorded run cannot be replayed: its processes wait for each other (process %d "
            "is one of them); the trace lacks messages: record it with --trace-messages all",
            proc);
}

xy_status_t xy_replay_run(const xy_replay_t *replay, const xy_vjob_config_t *job, double speed,
                          xy_replay_result_t *result)
{
    xy_script_run_t config = {.job = *job, .speed = speed, .stuck = stuck};
    xy_status_t st;

    *result = (xy_replay_result_t){.pairs = XY_VEC_INIT(xy_vjob_pair_t)};
    st = xy_script_run(replay->script, &config, &result->seconds, &result->pairs);
    result->seconds *= replay->scale;
    if (st != XY_OK)
        xy_replay_result_cleanup(result);
    return st;
}

void xy_replay_result_cleanup(xy_replay_result_t *result)
{
    xy_vec_cleanup(&result->pairs);
}

xy_status_t xy_pairs_matrix(const xy_vec_t *pairs, int32_t procs, xy_matrix_t **matrix_p)
{
    xy_matrix_entry_t *entries = xy_calloc(pairs->count + 1, sizeof(*entries));
    xy_status_t st;

    if (entries == NULL)
        return xy_fail_memory("collecting the matrix");
    for (size_t i = 0; i < pairs->count; i++) {
        const xy_vjob_pair_t *pair = &XY_VEC_AT(pairs, xy_vjob_pair_t, i);

        entries[i] = (xy_matrix_entry_t){(uint32_t)pair->from, (uint32_t)pair->to,
                                         (double)(pair->bytes + pair->coll_bytes),
                                         (double)(pair->messages + pair->coll_messages)};
    }
    st = xy_matrix_build((uint32_t)procs, entries, pairs->count, true, matrix_p);
    xy_free(entries);
    return st;
}
