/* SPDX-License-Identifier: BSD-3-Clause */
/* Points of a sweep where nothing but the ranks makes progress: a job of its own, as `mpiexec
 * --virtual` simulates the program. */
#include "sim/script.h"
#include "sim/sweep_internal.h"

/* Adds the program of a rank: start, compute, wait. */
static xy_status_t add_rank(xy_script_proc_t *p, double compute)
{
    const int32_t request = 0;
    xy_status_t st = xy_script_add(p, &(xy_script_op_t){.kind = XY_SCRIPT_COLLECTIVE});

    if (st == XY_OK)
        st = xy_script_add(p, &(xy_script_op_t){.kind = XY_SCRIPT_COMPUTE, .seconds = compute});
    return st == XY_OK ? xy_script_add_wait(p, &request, 1, 0) : st;
}

/* Adds the call and the programs of all ranks; XY_ENOMEM in silence. */
static xy_status_t fill(xy_script_t *s, const xy_coll_request_t *q, double compute)
{
    const xy_script_coll_t coll = {.call = {.collective = q->collective,
                                            .count = q->count,
                                            .element = q->element,
                                            .is_commutative = true,
                                            .is_nonblocking = true},
                                   .share = q->count};
    xy_script_comm_t all = {.count = s->procs,
                            .procs = xy_calloc((size_t)s->procs, sizeof(*all.procs))};
    xy_status_t st = all.procs != NULL ? xy_vec_append(&s->comms, &all) : XY_ENOMEM;

    if (st != XY_OK) {
        xy_free(all.procs);
        return st;
    }
    st = xy_vec_append(&s->colls, &coll);
    for (int32_t r = 0; r < s->procs && st == XY_OK; r++) {
        all.procs[r] = r;
        st = add_rank(&s->proc[r], compute);
    }
    return st;
}

xy_status_t sweep_job_run(const xy_sim_t *sim, const xy_coll_request_t *q, const char *algorithm,
                          double compute, xy_trace_t *trace, double *seconds_p)
{
    xy_script_run_t run = {.job = {.machine = sim->node.machine,
                                   .core_of = sim->core_of,
                                   .algorithm = algorithm,
                                   .trace = trace}};
    xy_script_t *s = xy_script_new(sim->node.ranks);
    xy_status_t st;

    xy_vjob_costs_from_node(&run.job.costs, &sim->node.costs);
    if (s == NULL || fill(s, q, compute) != XY_OK)
        st = xy_fail_memory("simulating a collective");
    else
        st = xy_script_run(s, &run, seconds_p, NULL);
    xy_script_destroy(s);
    return st;
}
