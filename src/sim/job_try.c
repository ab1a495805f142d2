/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of a collective of a job by another algorithm: the same processes on the same cores, in
 * a job that does nothing else. */
#include "sim/job_internal.h"

typedef struct {
    xy_vjob_t *job;
    xy_vcomm_t *comm;
    xy_vjob_coll_t call;
    xy_vreq_t **requests; /* [procs] */
} try_t;

static void run(void *owner, int32_t proc)
{
    try_t *t = owner;

    if (t->requests[proc] == NULL) {
        t->requests[proc] = xy_vjob_collective(t->job, proc, t->comm, &t->call, NULL);
        if (t->requests[proc] == NULL ||
            !xy_vjob_wait(t->job, proc, &t->requests[proc], 1, XY_VJOB_ALL))
            return;
    }
    xy_vjob_release(t->job, t->requests[proc]);
    xy_vjob_finish(t->job, proc);
}

/* `list` has room for the processes; it is the cores first, then the processes of the new job. */
static xy_status_t try_on(const xy_vjob_t *job, const xy_vjob_calls_t *calls, const char *algorithm,
                          int32_t *list, try_t *t)
{
    xy_vjob_config_t c = job->config;
    xy_status_t st;

    for (int32_t i = 0; i < calls->procs; i++)
        list[i] = job->procs[calls->members[i]].core;
    c.procs = calls->procs;
    c.room = 0;
    c.core_of = list;
    c.algorithm = algorithm;
    c.picks = NULL;
    c.reconsider = NULL;
    c.has_matrix = c.has_path = false;
    c.trace = NULL;
    c.owner = t;
    c.run = run;
    c.capture = NULL;
    c.copy = NULL;
    c.drop = NULL;
    c.step = NULL;
    c.coll_over = NULL;
    c.stuck = NULL;
    st = xy_vjob_create(&c, &t->job);
    if (st != XY_OK)
        return st;
    for (int32_t i = 0; i < calls->procs; i++)
        list[i] = i;
    t->comm = xy_vjob_comm(t->job, 1, list, calls->procs);
    return t->comm != NULL ? xy_vjob_run(t->job) : XY_ENOMEM;
}

xy_status_t xy_vjob_try(const xy_vjob_t *job, const xy_vjob_calls_t *calls,
                        const xy_coll_algorithm_t *algorithm, double *seconds_p)
{
    size_t n = (size_t)calls->procs;
    try_t t = {.call = {.collective = calls->collective,
                        .root = calls->root,
                        .count = calls->bytes / calls->element,
                        .element = calls->element,
                        .is_commutative = true,
                        .is_nonblocking = calls->is_nonblocking}};
    int32_t *list = xy_malloc(n * sizeof(*list));
    xy_status_t st = XY_OK;

    t.requests = xy_calloc(n, sizeof(*t.requests));
    if (list == NULL || t.requests == NULL)
        st = xy_fail_memory("simulating a collective");
    if (st == XY_OK)
        st = try_on(job, calls, algorithm->name, list, &t);
    if (st == XY_OK)
        *seconds_p = xy_vjob_end(t.job);
    xy_vjob_destroy(t.job);
    xy_free(t.requests);
    xy_free(list);
    return st;
}
