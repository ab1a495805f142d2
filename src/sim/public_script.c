/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulating for programs: the functions of xylem.h over script.h. */
#include <xylem.h>

#include "place/place.h"
#include "sim/here.h"
#include "sim/net.h"
#include "sim/script.h"

/* ---- The machine and what things cost there ---- */

struct xylem_platform {
    xy_machine_t *machine;
    xy_costs_t *costs; /* or NULL */
    xy_cores_t cores;
    int nodes;
    bool is_here; /* no other machine was asked for */
};

static xy_status_t load_costs(const char *machine, const char *costs, xy_costs_t **costs_p)
{
    if (costs != NULL)
        return *costs != '\0' ? xy_costs_load(costs, costs_p) : XY_OK;
    return machine != NULL ? xy_costs_load_beside(machine, costs_p) : sim_here_costs(costs_p);
}

static xy_status_t count_nodes(xylem_platform *p)
{
    int *host_of = xy_calloc((size_t)p->cores.count, sizeof(*host_of));
    xy_obj_t *hosts = xy_calloc((size_t)p->cores.count, sizeof(*hosts));
    bool is_made = host_of != NULL && hosts != NULL;

    if (is_made)
        p->nodes = sim_net_hosts(p->machine, host_of, hosts);
    xy_free(host_of);
    xy_free(hosts);
    return is_made ? XY_OK : xy_fail_memory("reading a machine");
}

int xylem_platform_create(const char *machine, const char *costs, xylem_platform **platform_p)
{
    xylem_platform *p = xy_calloc(1, sizeof(*p));
    xy_status_t st;

    if (p == NULL)
        return (int)xy_fail_memory("reading a machine");
    p->is_here = machine == NULL;
    st = p->is_here ? sim_here_machine(&p->machine) : xy_machine_load(machine, &p->machine);
    if (st == XY_OK)
        st = load_costs(machine, costs, &p->costs);
    if (st == XY_OK)
        st = xy_cores_init(&p->cores, p->machine);
    if (st == XY_OK)
        st = count_nodes(p);
    if (st == XY_OK)
        *platform_p = p;
    else
        xylem_platform_free(p);
    return (int)st;
}

void xylem_platform_free(xylem_platform *p)
{
    if (p == NULL)
        return;
    xy_cores_cleanup(&p->cores);
    xy_costs_destroy(p->costs);
    xy_machine_destroy(p->machine);
    xy_free(p);
}

int xylem_platform_cores(const xylem_platform *p)
{
    return p->cores.count;
}

int xylem_platform_nodes(const xylem_platform *p)
{
    return p->nodes;
}

double xylem_platform_kernel(const xylem_platform *p, const char *name, const double *sizes,
                             int count)
{
    xy_estimate_t e;

    if (p->costs == NULL || count < 1 ||
        xy_cost_kernel_value(p->costs, name, NULL, sizes, (size_t)count, &e) != XY_OK)
        return 0;
    return e.seconds;
}

/* ---- Making a script ---- */

typedef struct {
    int32_t *requests;
    size_t count, room;
} pending_t;

struct xylem_script {
    xy_script_t *script;
    pending_t *pending; /* [ranks] messages that were started */
    xy_status_t status; /* of the first call that failed */
};

int xylem_script_create(int ranks, xylem_script **script_p)
{
    xylem_script *s = xy_calloc(1, sizeof(*s));
    xy_script_comm_t all = {.count = ranks};

    if (ranks < 1) {
        xy_free(s);
        return (int)xy_fail(XY_EINVAL, "xylem_script_create: %d ranks; one or more are possible",
                            ranks);
    }
    if (s != NULL) {
        s->script = xy_script_new(ranks);
        s->pending = xy_calloc((size_t)ranks, sizeof(*s->pending));
        all.procs = xy_calloc((size_t)ranks, sizeof(*all.procs));
    }
    if (s == NULL || s->script == NULL || s->pending == NULL || all.procs == NULL ||
        xy_vec_append(&s->script->comms, &all) != XY_OK) {
        xy_free(all.procs);
        xylem_script_free(s);
        return (int)xy_fail_memory("writing a script");
    }
    for (int32_t r = 0; r < ranks; r++)
        all.procs[r] = r;
    *script_p = s;
    return 0;
}

void xylem_script_free(xylem_script *s)
{
    if (s == NULL)
        return;
    for (int32_t r = 0; s->script != NULL && s->pending != NULL && r < s->script->procs; r++)
        xy_free(s->pending[r].requests);
    xy_free(s->pending);
    xy_script_destroy(s->script);
    xy_free(s);
}

static bool is_rank(xylem_script *s, int rank, const char *call)
{
    if (s->status == XY_OK && (rank < 0 || rank >= s->script->procs))
        s->status = xy_fail(XY_EINVAL, "%s: there is no rank %d; the script has 0 to %d", call,
                            rank, (int)s->script->procs - 1);
    return s->status == XY_OK;
}

/* Whether the operation is there; what it starts is the last request of the rank. */
static bool add(xylem_script *s, int rank, const xy_script_op_t *op)
{
    s->status = xy_script_add(&s->script->proc[rank], op);
    return s->status == XY_OK;
}

void xylem_script_compute(xylem_script *s, int rank, double seconds)
{
    if (is_rank(s, rank, "xylem_script_compute") && seconds > 0)
        add(s, rank, &(xy_script_op_t){.kind = XY_SCRIPT_COMPUTE, .seconds = seconds});
}

/* Adds an operation whose request a later wait completes. */
static void start(xylem_script *s, int rank, const xy_script_op_t *op)
{
    pending_t *p = &s->pending[rank];
    int32_t *more = p->requests;

    if (p->count == p->room) {
        more = xy_realloc(p->requests, (2 * p->room + 4) * sizeof(*more));
        if (more == NULL) {
            s->status = XY_ENOMEM;
            return;
        }
        p->requests = more;
        p->room = 2 * p->room + 4;
    }
    more[p->count++] = s->script->proc[rank].requests;
    add(s, rank, op);
}

void xylem_script_isend(xylem_script *s, int rank, int to, int tag, unsigned long bytes)
{
    if (is_rank(s, rank, "xylem_script_isend") && is_rank(s, to, "xylem_script_isend"))
        start(s, rank,
              &(xy_script_op_t){.kind = XY_SCRIPT_SEND, .peer = to, .tag = tag, .bytes = bytes});
}

void xylem_script_irecv(xylem_script *s, int rank, int from, int tag, unsigned long bytes)
{
    if (is_rank(s, rank, "xylem_script_irecv") && is_rank(s, from, "xylem_script_irecv"))
        start(
            s, rank,
            &(xy_script_op_t){.kind = XY_SCRIPT_RECEIVE, .peer = from, .tag = tag, .bytes = bytes});
}

void xylem_script_wait(xylem_script *s, int rank)
{
    if (!is_rank(s, rank, "xylem_script_wait"))
        return;
    s->status = xy_script_add_wait(&s->script->proc[rank], s->pending[rank].requests,
                                   s->pending[rank].count, 0);
    s->pending[rank].count = 0;
}

int xylem_script_group(xylem_script *s, const int *ranks, int count)
{
    xy_script_comm_t comm = {.count = count};

    for (int i = 0; i < count; i++)
        if (!is_rank(s, ranks[i], "xylem_script_group"))
            return 0;
    comm.procs = count > 0 ? xy_calloc((size_t)count, sizeof(*comm.procs)) : NULL;
    if (comm.procs == NULL || xy_vec_append(&s->script->comms, &comm) != XY_OK) {
        xy_free(comm.procs);
        s->status = XY_ENOMEM;
        return 0;
    }
    for (int i = 0; i < count; i++)
        comm.procs[i] = ranks[i];
    return (int)s->script->comms.count - 1;
}

/* Adds a blocking collective; failures go to `s->status`. */
static void collective(xylem_script *s, int rank, int group, const char *name,
                       const xy_vjob_coll_t *call)
{
    xy_script_op_t op = {.kind = XY_SCRIPT_COLLECTIVE, .peer = (int32_t)s->script->colls.count};
    xy_script_coll_t coll = {.comm = group, .call = *call};
    int32_t request;

    if (!is_rank(s, rank, name))
        return;
    if (group < 0 || (size_t)group >= s->script->comms.count) {
        s->status = xy_fail(XY_EINVAL, "%s: there is no group %d", name, group);
        return;
    }
    request = s->script->proc[rank].requests;
    s->status = xy_vec_append(&s->script->colls, &coll);
    if (s->status == XY_OK && add(s, rank, &op))
        s->status = xy_script_add_wait(&s->script->proc[rank], &request, 1, 0);
}

/* Elements as large as the bytes allow: algorithms cut vectors between elements. */
static uint64_t element_of(unsigned long bytes)
{
    uint64_t element = 8;

    while (bytes % element != 0)
        element /= 2;
    return element;
}

void xylem_script_bcast(xylem_script *s, int rank, int group, int root, unsigned long bytes)
{
    collective(s, rank, group, "xylem_script_bcast",
               &(xy_vjob_coll_t){.collective = XY_COLL_BCAST,
                                 .root = root,
                                 .count = bytes / element_of(bytes),
                                 .element = element_of(bytes),
                                 .is_commutative = true});
}

void xylem_script_allreduce(xylem_script *s, int rank, int group, unsigned long bytes)
{
    collective(s, rank, group, "xylem_script_allreduce",
               &(xy_vjob_coll_t){.collective = XY_COLL_ALLREDUCE,
                                 .count = bytes / element_of(bytes),
                                 .element = element_of(bytes),
                                 .is_commutative = true});
}

void xylem_script_agree(xylem_script *s, int rank, int group)
{
    collective(s, rank, group, "xylem_script_agree",
               &(xy_vjob_coll_t){.collective = XY_COLL_ALLREDUCE,
                                 .count = 1,
                                 .element = 8,
                                 .is_commutative = true,
                                 .is_agreement = true});
}

/* ---- Running ---- */

static void stuck(int32_t rank)
{
    xy_fail(XY_EINVAL,
            "xylem_script_run: ranks wait for each other (rank %d is one of them): a message is "
            "received that is not sent, or a collective lacks a member",
            (int)rank);
}

int xylem_script_run(const xylem_script *s, const xylem_platform *p, double *seconds_p)
{
    xy_script_run_t config = {
        .job = {.machine = p->machine, .store = p->costs, .progress = XY_SIM_TASKS},
        .stuck = stuck};
    int ranks = s->script->procs, *core_of = xy_calloc((size_t)ranks, sizeof(*core_of));
    xy_status_t st = s->status;

    if (core_of == NULL || st == XY_ENOMEM)
        st = xy_fail_memory("simulating a script");
    if (st == XY_OK && !(p->is_here && sim_here_place(ranks, p->cores.count, core_of)))
        st = xy_place_ranks("scatter_numa", &p->cores, ranks, core_of);
    xy_vjob_costs_default(&config.job.costs);
    config.job.core_of = core_of;
    if (st == XY_OK)
        st = xy_vjob_costs_set(&config.job.costs, p->costs);
    if (st == XY_OK)
        st = xy_script_run(s->script, &config, seconds_p, NULL);
    xy_free(core_of);
    return (int)st;
}
