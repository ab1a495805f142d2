/* SPDX-License-Identifier: BSD-3-Clause */
/* Making a simulated job, and running it. */
#include "sim/job_internal.h"

#include <string.h>

#include "place/place.h"

enum { OBJECTS = 16 }; /* that a pool gets at once */

static bool add_objects(xy_vjob_t *job, job_pool_t *pool)
{
    char *memory = xy_arena_alloc(job->arena, OBJECTS * pool->size + JOB_LINE);

    if (memory == NULL) {
        job_fail(job, xy_fail_memory("simulating a job"));
        return false;
    }
    memory += (JOB_LINE - (uintptr_t)memory % JOB_LINE) % JOB_LINE;
    pool->fresh = memory;
    pool->end = memory + OBJECTS * pool->size;
    return true;
}

void *job_get_fresh(xy_vjob_t *job, job_pool_t *pool)
{
    void *object;

    if (pool->fresh == pool->end && !add_objects(job, pool))
        return NULL;
    object = pool->fresh;
    pool->fresh += pool->size;
    return object;
}

void job_fail(xy_vjob_t *job, xy_status_t status)
{
    if (job->status == XY_OK)
        job->status = status;
    xy_vclock_stop(&job->clock);
}

void xy_vjob_stop(xy_vjob_t *job, xy_status_t status)
{
    job->is_stopped = true;
    job_fail(job, status);
}

/* ---- Making ---- */

/* With `link`, messages take nothing but that. */
static xy_status_t make_memory(xy_vjob_t *job, const xy_cores_t *cores)
{
    const xy_vjob_costs_t *c = &job->costs;
    const sim_limits_t limits = {c->copy, c->numa, c->link, 1};

    return sim_memory_make(&job->memory, &job->clock, cores, job->host_of,
                           job->has_link ? &(sim_limits_t){.threads = 1} : &limits);
}

/* Reads cores, NUMA nodes and hosts from the machine. */
static xy_status_t find_cores(xy_vjob_t *job)
{
    xy_cores_t cores;
    xy_status_t st = xy_cores_init(&cores, job->config.machine);
    size_t n;

    if (st != XY_OK)
        return st;
    n = (size_t)cores.count;
    job->core_count = cores.count;
    job->host_of = xy_calloc(n, sizeof(*job->host_of));
    job->hosts = xy_calloc(n, sizeof(*job->hosts));
    job->cores = xy_calloc(n, sizeof(*job->cores));
    if (job->host_of == NULL || job->hosts == NULL || job->cores == NULL) {
        st = xy_fail_memory("simulating a job");
    } else {
        job->host_count = sim_net_hosts(job->config.machine, job->host_of, job->hosts);
        for (int i = 0; i < cores.count; i++) {
            job->cores[i] = (job_core_t){.first = -1, .last = -1, .holder = -1};
            xy_event_init(&job->cores[i].event, job_core_due, job, i);
            xy_event_init(&job->cores[i].copier.event, job_load_due, job, i);
        }
        st = make_memory(job, &cores);
    }
    xy_cores_cleanup(&cores);
    return st;
}

/* Sets up the communication cores of each host; fails for cores that do not exist. */
static xy_status_t place_comm_cores(xy_vjob_t *job)
{
    const xy_vjob_config_t *c = &job->config;

    job->host = xy_calloc((size_t)job->host_count, sizeof(*job->host));
    job->comm = xy_calloc((size_t)c->comm_core_count + 1, sizeof(*job->comm));
    if (job->host == NULL || job->comm == NULL)
        return xy_fail_memory("simulating a job");
    for (int32_t h = 0; h < job->host_count; h++)
        job->host[h].helper = -1;
    for (int32_t i = c->comm_core_count - 1; i >= 0; i--) {
        xy_status_t st = job_check_core(job, "communication core", i, c->comm_cores[i]);
        job_comm_core_t *core = &job->comm[i];
        job_host_t *host;

        if (st != XY_OK)
            return st;
        core->core = c->comm_cores[i];
        core->host = job->host_of[core->core];
        xy_event_init(&core->event, job_comm_due, job, i);
        host = &job->host[core->host];
        host->has_comm = true;
        core->next = host->idle;
        host->idle = core;
    }
    return XY_OK;
}

static xy_status_t make_network(xy_vjob_t *job)
{
    xy_status_t st = sim_net_make(&job->net, job->config.machine, job->hosts, job->host_count,
                                  &job->clock, job, job_message_flowed);

    if (st != XY_OK)
        return st;
    job->link_free = xy_calloc((size_t)job->net.flows.link_count + 1, sizeof(*job->link_free));
    job->link_queue = xy_calloc((size_t)job->net.flows.link_count + 1, sizeof(*job->link_queue));
    return job->link_free != NULL && job->link_queue != NULL ? XY_OK
                                                             : xy_fail_memory("simulating a job");
}

static size_t lines_of(size_t bytes)
{
    return (bytes + JOB_LINE - 1) / JOB_LINE * JOB_LINE;
}

/* Initializes the empty pools and tables of a job. */
static void make_pools(xy_vjob_t *job)
{
    job->messages.size = lines_of(sizeof(xy_vmsg_t));
    job->requests.size = lines_of(sizeof(xy_vreq_t));
    job->nodes.size = sizeof(job_node_t);
    job->locals.size = lines_of(sizeof(job_local_t));
    job->behinds.size = sizeof(job_behind_t);
    xy_hash_init(&job->ways, XY_HASH_U64);
    xy_hash_init(&job->comms, XY_HASH_U64);
    xy_hash_init(&job->shapes, XY_HASH_U64);
    xy_hash_init(&job->streams, XY_HASH_U64);
    xy_hash_init(&job->sockets, XY_HASH_U64);
    job->all_comms = XY_VEC_INIT(xy_vcomm_t *);
    job->all_shapes = XY_VEC_INIT(job_shape_t *);
}

/* Finds the MPI library whose rules choose algorithms; XY_EUSAGE with a list of names. */
static xy_status_t find_library(xy_vjob_t *job)
{
    const char *name = job->config.library != NULL ? job->config.library : "xylem";
    const xy_coll_library_t *const *all = xy_coll_libraries();
    xy_text_t text = XY_TEXT_INIT;
    xy_status_t st;

    job->library = xy_coll_library_find(name);
    if (job->library != NULL)
        return XY_OK;
    for (int i = 0; all[i] != NULL; i++)
        xy_text_addf(&text, "%s%s", i > 0 ? ", " : "", all[i]->name);
    st = xy_fail(XY_EUSAGE, "no MPI library '%s' is known; there are: %s", name,
                 text.s != NULL ? text.s : "");
    xy_text_cleanup(&text);
    return st;
}

/* Builds a job; the caller destroys it after a failure. */
static xy_status_t make(xy_vjob_t *job)
{
    xy_status_t st;

    if (job->config.procs < 1)
        return xy_fail(XY_EINVAL, "a job has at least one process");
    make_pools(job);
    if (xy_arena_create(&job->arena) != XY_OK)
        return xy_fail_memory("simulating a job");
    st = find_library(job);
    if (st == XY_OK)
        st = find_cores(job);
    if (st == XY_OK)
        st = place_comm_cores(job);
    if (st == XY_OK)
        st = job_start_all(job);
    job->clock.foresee = job_message_foresee;
    if (st == XY_OK)
        job_way_find_copy(job);
    if (st == XY_OK)
        st = make_network(job);
    if (st == XY_OK)
        st = job_record_begin(job);
    return st;
}

xy_status_t xy_vjob_create(const xy_vjob_config_t *config, xy_vjob_t **job_p)
{
    xy_vjob_t *job = xy_calloc(1, sizeof(*job));
    xy_status_t st;

    if (job == NULL)
        return xy_fail_memory("simulating a job");
    job->config = *config;
    job->costs = config->costs;
    job->has_link = config->link != NULL;
    if (job->has_link)
        job->link = *config->link;
    st = make(job);
    if (st != XY_OK)
        xy_vjob_destroy(job);
    else
        *job_p = job;
    return st;
}

static void destroy_procs(xy_vjob_t *job)
{
    for (int32_t i = 0; job->procs != NULL && i < job->known; i++) {
        job_proc_drop_messages(job, &job->procs[i]);
        xy_match_cleanup(&job->procs[i].match);
        xy_hash_cleanup(&job->procs[i].pairs);
    }
    job_procs_free(job);
}

void xy_vjob_destroy(xy_vjob_t *job)
{
    if (job == NULL)
        return;
    destroy_procs(job);
    job_sim_cleanup(job);
    job_colls_cleanup(job);
    job_shapes_cleanup(job);
    sim_memory_cleanup(&job->memory);
    sim_net_cleanup(&job->net);
    xy_vclock_cleanup(&job->clock);
    xy_hash_cleanup(&job->ways);
    xy_hash_cleanup(&job->comms);
    xy_hash_cleanup(&job->shapes);
    xy_hash_cleanup(&job->streams);
    xy_hash_cleanup(&job->sockets);
    xy_vec_cleanup(&job->all_comms);
    xy_vec_cleanup(&job->all_shapes);
    xy_arena_destroy(job->arena);
    xy_free(job->link_free);
    xy_free(job->link_queue);
    xy_free(job->host_of);
    xy_free(job->hosts);
    xy_free(job->cores);
    xy_free(job->host);
    xy_free(job->comm);
    xy_free(job->core_of);
    xy_free(job);
}

/* ---- Running ---- */

xy_status_t xy_vjob_run(xy_vjob_t *job)
{
    xy_status_t st;

    for (int32_t i = 0; i < job->config.procs; i++)
        job_proc_resume(job, &job->procs[i], 0);
    st = xy_vclock_run(&job->clock);
    if (st != XY_OK)
        return job->status != XY_OK ? job->status : xy_fail_memory("simulating a job");
    if (job->status != XY_OK || job->is_stopped)
        return job->status;
    if (job->finished == job->begun)
        return XY_OK;
    if (job->config.stuck != NULL)
        job->config.stuck(job->config.owner);
    return XY_EINVAL;
}
