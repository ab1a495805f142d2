/* SPDX-License-Identifier: BSD-3-Clause */
#include "place_predict.h"

#include <string.h>

struct place_predict {
    place_predict_options_t options;
    xy_machine_t *machine;
    xy_cores_t cores;
    xy_costs_t *costs; /* or NULL */
    xy_replay_t *replay;
};

xy_status_t place_predict_open(const place_predict_options_t *options, place_predict_t **predict_p)
{
    place_predict_t *p;
    xy_status_t st;

    if (options->machine != NULL && xy_target_is_grid_text(options->machine))
        return xy_fail(XY_EUSAGE,
                       "%s has no latencies and bandwidths to predict with; give a machine of "
                       "'xylem machine'",
                       options->machine);
    p = xy_calloc(1, sizeof(*p));
    if (p == NULL)
        return xy_fail_memory("predicting");
    p->options = *options;
    st = xy_machine_load(options->machine, &p->machine);
    if (st == XY_OK)
        st = xy_cores_init(&p->cores, p->machine);
    if (st == XY_OK && options->costs != NULL)
        st = xy_costs_load(options->costs, &p->costs);
    if (st == XY_OK)
        *predict_p = p;
    else
        place_predict_close(p);
    return st;
}

void place_predict_close(place_predict_t *predict)
{
    if (predict == NULL)
        return;
    xy_replay_destroy(predict->replay);
    xy_costs_destroy(predict->costs);
    xy_cores_cleanup(&predict->cores);
    xy_machine_destroy(predict->machine);
    xy_free(predict);
}

static xy_status_t replay(const place_predict_t *p, const int32_t *core_of, bool has_matrix,
                          xy_replay_result_t *result)
{
    xy_vjob_config_t job = {.machine = p->machine,
                            .core_of = core_of,
                            .progress = XY_SIM_TASKS,
                            .store = p->costs,
                            .library = p->options.library,
                            .has_matrix = has_matrix};

    xy_vjob_costs_default(&job.costs);
    return xy_replay_run(p->replay, &job, p->options.speed, result);
}

/* The matrix is that of the run by the launcher's own placement: which messages a collective has
 * depends on it. */
static xy_status_t count(const place_predict_t *p, xy_matrix_t **matrix_p)
{
    int32_t procs = xy_replay_procs(p->replay);
    int *core_of = xy_calloc((size_t)procs, sizeof(*core_of));
    xy_replay_result_t result;
    xy_status_t st = core_of != NULL ? xy_place_ranks("scatter_numa", &p->cores, procs, core_of)
                                     : xy_fail_memory("predicting");

    if (st == XY_OK)
        st = replay(p, core_of, true, &result);
    xy_free(core_of);
    if (st != XY_OK)
        return st;
    st = xy_pairs_matrix(&result.pairs, procs, matrix_p);
    xy_replay_result_cleanup(&result);
    return st;
}

xy_status_t place_predict_trace(place_predict_t *predict, const char *path, xy_matrix_t **matrix_p)
{
    xy_trace_log_t *log;
    xy_status_t st = xy_trace_read(path, &log);

    if (st != XY_OK)
        return st;
    st = xy_replay_from_trace(log, &predict->replay);
    xy_trace_log_free(log);
    return st == XY_OK ? count(predict, matrix_p) : st;
}

xy_status_t place_predict_matrix(place_predict_t *predict, const xy_matrix_t *matrix)
{
    return xy_replay_from_matrix(matrix, &predict->replay);
}

xy_status_t place_predict_seconds(const place_predict_t *predict, const uint32_t *leaf_of,
                                  double *seconds_p)
{
    size_t procs = (size_t)xy_replay_procs(predict->replay);
    int32_t *core_of = xy_calloc(procs, sizeof(*core_of));
    xy_replay_result_t result;
    xy_status_t st;

    if (core_of == NULL)
        return xy_fail_memory("predicting");
    for (size_t r = 0; r < procs; r++)
        core_of[r] = (int32_t)leaf_of[r];
    st = replay(predict, core_of, false, &result);
    xy_free(core_of);
    if (st != XY_OK)
        return st;
    *seconds_p = result.seconds;
    xy_replay_result_cleanup(&result);
    return XY_OK;
}

void place_predict_print(const place_predict_t *predict, double seconds, double before,
                         const char *baseline, FILE *file)
{
    char a[32], b[32];

    fprintf(file, "%s: %s instead of %s by %s, %.3g times as fast\n",
            xy_replay_has_computation(predict->replay) ? "the run" : "communication alone",
            xy_format_seconds(seconds, a), xy_format_seconds(before, b), baseline,
            seconds > 0 ? before / seconds : 1.0);
}
