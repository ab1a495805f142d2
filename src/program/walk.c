/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver of a walk: processes, what their code costs, and the simulated job. */
#include "program/walk.h"

#include <math.h>
#include <mpi.h>
#include <string.h>

#include "program/walk_driver.h"
#include "program/walk_oracle.h"

/* A look at a clock takes so long, seconds: as in real runs by the virtual clock. */
#define CLOCK_SECONDS 25e-9

int32_t walk_extra(const code_site_t *site)
{
    return site->extra;
}

/* ---- Computation ---- */

static walker_t *walker_of(process_t *p)
{
    return (walker_t *)(void *)p;
}

/* Its computation is passed to the job with its next call, as one piece. */
static void compute(walker_t *w, double seconds)
{
    if (walk_team_takes(&w->team, seconds))
        return;
    w->ahead += seconds;
    if (seconds > w->ahead_most) {
        w->ahead_most = seconds;
        w->ahead_place = process_place(&w->process);
    }
}

/* For the trace: what it computes. */
static void name_kernel(const walker_t *w)
{
    const code_place_t *place = &XY_VEC_AT(&w->walk->code->places, code_place_t, w->ahead_place);

    xy_vjob_set_kernel(w->walk->job, w->rank,
                       place->what != NULL ? xy_trace_label(w->walk->config->job.trace, place->what)
                                           : 0);
}

static bool flush(walker_t *w)
{
    double seconds = w->ahead;

    if (!(seconds > 0))
        return true;
    xy_vjob_set_line(w->walk->job, w->rank, w->ahead_place);
    if (w->walk->labels != NULL)
        name_kernel(w);
    w->ahead = w->ahead_most = 0;
    return xy_vjob_compute(w->walk->job, w->rank, seconds);
}

static double now(process_t *p)
{
    walker_t *w = walker_of(p);

    compute(w, CLOCK_SECONDS);
    return xy_vjob_now(w->walk->job, w->rank) + w->ahead;
}

static bool fail_sizes(process_t *p, const char *name, const double *sizes, int count)
{
    xy_text_t list = XY_TEXT_INIT;

    for (int i = 0; i < count; i++)
        xy_text_addf(&list, "%s%g", i > 0 ? ", " : "", sizes[i]);
    process_fail(p, "%s(%s) is not what its model was made for", name, list.s ? list.s : "");
    xy_text_cleanup(&list);
    return false;
}

/* Estimate a call by the model; the last answer is kept, for calls with the same sizes. */
static bool estimate(walker_t *w, const code_site_t *site, const double *sizes, xy_estimate_t *e_p)
{
    walk_model_t *model = &XY_VEC_AT(&w->walk->models, walk_model_t, site->model);
    const char *cluster =
        w->walk->config->cluster_of != NULL ? w->walk->config->cluster_of[w->rank] : NULL;
    int count = site->count > 0 ? site->count : 1;

    if (model->last_count == count && model->last_cluster == cluster &&
        memcmp(model->last_sizes, sizes, (size_t)count * sizeof(*sizes)) == 0) {
        *e_p = model->last;
        return true;
    }
    if (xy_cost_kernel_value(w->walk->config->costs, model->name, cluster, sizes, (size_t)count,
                             e_p) != XY_OK)
        return false;
    model->last_count = count <= XY_SIZES_MAX ? count : 0;
    memcpy(model->last_sizes, sizes, (size_t)model->last_count * sizeof(*sizes));
    model->last_cluster = cluster;
    model->last = *e_p;
    return true;
}

static void note(walker_t *w, walk_model_t *model, double seconds, double error, bool is_beyond)
{
    double speed = w->walk->config->speed;

    if (speed > 0)
        seconds /= speed;
    model->calls++;
    model->seconds += seconds;
    model->weighted_error += seconds * error;
    model->is_extrapolated |= is_beyond;
    compute(w, seconds);
}

/* A part of OpenMP: what it takes by the measured costs of teams, or by --cost. */
static bool run_team(walker_t *w, const code_site_t *site, const double *sizes)
{
    walk_model_t *model =
        site->model >= 0 ? &XY_VEC_AT(&w->walk->models, walk_model_t, site->model) : NULL;
    const xy_predict_config_t *c = w->walk->config;
    double seconds = 0, takes;

    if (model != NULL && model->is_given)
        seconds = model->per_pass;
    else if (model != NULL && !model->is_missing)
        seconds =
            xy_costs_team(c->costs, model->name, walk_team_threads(&w->team, site->extra, sizes));
    if (!walk_team_run(&w->process, &w->team, site->extra, sizes, seconds, c->team_most, &takes))
        return false;
    if (model != NULL)
        note(w, model, takes, 0, false);
    else
        compute(w, takes);
    return true;
}

/* Adds the time of a kernel, from its model or a given time; or runs a part of OpenMP. */
static bool run_kernel(process_t *p, const code_site_t *site, const double *sizes)
{
    walker_t *w = walker_of(p);
    walk_model_t *model;
    xy_estimate_t e = {0};

    if (site->node->kind == XY_NODE_TEAM)
        return run_team(w, site, sizes);
    model = &XY_VEC_AT(&w->walk->models, walk_model_t, site->model);
    w->walk->kernel_calls++;
    if (model->is_given)
        e.seconds = model->per_pass;
    else if (!model->is_missing && !estimate(w, site, sizes, &e))
        return fail_sizes(p, model->name, sizes, site->count);
    note(w, model, e.seconds, e.error, e.is_extrapolated);
    return true;
}

/* Adds the time of `count` passes of a loop, from its time per pass or its model. */
static bool run_loop(process_t *p, const code_site_t *site, double count)
{
    walker_t *w = walker_of(p);
    walk_model_t *model = &XY_VEC_AT(&w->walk->models, walk_model_t, site->model);
    xy_estimate_t e = {0};

    if (!(count > 0))
        return true;
    if (model->per_pass > 0 || model->is_given)
        e.seconds = count * model->per_pass;
    else if (!model->is_missing && !estimate(w, site, &count, &e))
        return fail_sizes(p, model->name, &count, 1);
    note(w, model, e.seconds, e.error, e.is_extrapolated);
    return true;
}

/* ---- Calls ---- */

/* For the trace: the call that begins, and its line. */
static void note_call(const walker_t *w, const code_site_t *site)
{
    const walk_t *walk = w->walk;

    xy_vjob_set_call(walk->job, w->rank, walk->labels[site->index]);
    if (walk->places[site->index] != 0)
        xy_vjob_step(walk->job, w->rank, walk->places[site->index]);
}

/* Runs an MPI call of a rank; returns false while the rank waits, and on failure. */
static bool run_mpi(process_t *p, const code_site_t *site, int64_t *args)
{
    walker_t *w = walker_of(p);
    xy_vjob_t *job = w->walk->job;
    bool is_over;

    if (w->team.is_shared)
        return process_fail(p, "%s in a loop that the threads of a team share", site->call->name);
    if (p->phase == 0) {
        if (!flush(w))
            return false;
        xy_vjob_set_line(job, w->rank, process_place(p));
        if (w->walk->labels != NULL)
            note_call(w, site);
    }
    if (!w->is_initialized && strcmp(site->call->name, "MPI_Init") != 0 &&
        strcmp(site->call->name, "MPI_Init_thread") != 0 &&
        strcmp(site->call->name, "MPI_Initialized") != 0 &&
        strcmp(site->call->name, "MPI_Finalized") != 0)
        return process_fail(p, "%s before MPI_Init", site->call->name);
    if (w->walk->oracle != NULL && !w->is_followed && !walk_oracle_follow(w, site))
        return false;
    w->is_followed = true;
    is_over = ((walk_fn)site->run)(w, site, args);
    w->is_followed = !is_over;
    if (is_over && w->walk->labels != NULL)
        xy_vjob_set_call(job, w->rank, 0);
    return is_over;
}

static bool recorded(process_t *p, int32_t unknown, double *value_p)
{
    walker_t *w = walker_of(p);

    if (w->walk->oracle != NULL)
        return walk_oracle_ask(w, unknown, value_p);
    return w->walk->config->learned != NULL && walk_learned_next(w, unknown, value_p);
}

static bool is_finalized(const process_t *p)
{
    return ((const walker_t *)p)->is_finalized;
}

/* Say it once for each name. */
static void unset(process_t *p, const char *name)
{
    walker_t *w = (walker_t *)p;
    walk_unset_t *u = w->walk->unset;
    const code_place_t *place = &XY_VEC_AT(&w->walk->code->places, code_place_t, process_place(p));

    while (u != NULL && strcmp(u->name, name) != 0)
        u = u->next;
    if (u != NULL || p->is_silent)
        return;
    u = xy_arena_alloc(w->walk->arena, sizeof(*u));
    if (u != NULL)
        u->name = xy_arena_strndup(w->walk->arena, name, strlen(name));
    if (u == NULL || u->name == NULL) {
        process_fail_memory(p);
        return;
    }
    u->next = w->walk->unset;
    w->walk->unset = u;
    xy_warn("%s:%ld: %s is taken to be unset in the environment; --env %s=VALUE sets it",
            place->file, place->line, name, name);
}

static const process_ops_t ops = {.mpi = run_mpi,
                                  .kernel = run_kernel,
                                  .compute = run_loop,
                                  .now = now,
                                  .recorded = recorded,
                                  .is_finalized = is_finalized,
                                  .unset = unset};

/* ---- The job's callbacks ---- */

/* Continues a rank until it waits or ends; the callback of the virtual job. */
static void run(void *owner, int32_t proc)
{
    walk_t *walk = owner;
    walker_t *w = &walk->walkers[proc];

    if (!w->process.is_over && !process_run(&w->process))
        return;
    if (w->process.status == XY_OK && walk->oracle != NULL)
        walk_oracle_end(w);
    if (w->process.status != XY_OK) {
        walk->status = w->process.status;
        xy_vjob_stop(walk->job, w->process.status);
    } else if (flush(w)) {
        xy_vjob_finish(walk->job, proc);
    }
}

bool walk_data_lose(walker_t *w, uint64_t address, uint64_t bytes)
{
    void *at = process_at(&w->process, address, bytes);

    if (at != NULL)
        memset(at, PROCESS_BLANK, bytes);
    return at != NULL;
}

walk_data_t *walk_data_new(walker_t *w, const walk_message_t *m)
{
    walk_data_t *d = xy_calloc(1, sizeof(*d));

    if (d == NULL) {
        process_fail_memory(&w->process);
        return NULL;
    }
    *d = (walk_data_t){.from = w,
                       .address = m->buffer,
                       .bytes = m->p2p.bytes,
                       .span = m->span,
                       .is_lost = m->is_lost,
                       .next = w->walk->data};
    d->link = &w->walk->data;
    if (d->next != NULL)
        d->next->link = &d->next;
    w->walk->data = d;
    return d;
}

/* Copies the contents of a send buffer before the rank can change them. */
static void capture(void *owner, void *send_data)
{
    walk_data_t *d = send_data;
    const void *from;

    (void)owner;
    if (d == NULL || d->data != NULL || d->is_lost)
        return;
    from = process_at(&d->from->process, d->address, d->bytes);
    d->data = xy_malloc(d->bytes + 1);
    if (d->data == NULL)
        process_fail_memory(&d->from->process);
    else if (from != NULL)
        memcpy(d->data, from, d->bytes);
}

static void drop(void *owner, void *send_data)
{
    walk_data_t *d = send_data;

    (void)owner;
    if (d == NULL)
        return;
    *d->link = d->next;
    if (d->next != NULL)
        d->next->link = d->link;
    xy_free(d->data);
    xy_free(d);
}

/* Where the receive has nothing that is kept, nothing is copied; where only the receive has, what
 * it gets is not known. */
static void copy(void *owner, void *send_data, void *receive_data)
{
    walk_data_t *s = send_data, *r = receive_data;

    if (r != NULL && (s == NULL || s->is_lost || r->is_lost)) {
        walk_data_lose(r->from, r->address, r->span);
    } else if (r != NULL) {
        uint64_t bytes = s->bytes < r->bytes ? s->bytes : r->bytes;
        const void *from =
            s->data != NULL ? s->data : process_at(&s->from->process, s->address, bytes);
        void *to = from != NULL ? process_at(&r->from->process, r->address, bytes) : NULL;

        if (to != NULL)
            memcpy(to, from, bytes);
    }
    drop(owner, s);
    drop(owner, r);
}

/* "0-3, 7" */
static void add_ranks(xy_text_t *text, int32_t first, int32_t last, bool is_more)
{
    xy_text_addf(text, "%s%d", is_more ? ", " : "", first);
    if (last > first)
        xy_text_addf(text, "%s%d", last == first + 1 ? ", " : "-", last);
}

/* List the processes at the place; the place of each that waits is in `at`, -1: it has ended. */
static void add_place(const walk_t *walk, const int64_t *at, int64_t place, xy_text_t *text)
{
    const code_place_t *p = &XY_VEC_AT(&walk->code->places, code_place_t, place);
    int32_t last = -2, first = -2, count = 0;
    xy_text_t ranks = XY_TEXT_INIT;

    for (int32_t r = 0; r < walk->procs; r++) {
        if (at[r] != place)
            continue;
        if (r != last + 1) {
            if (first >= 0)
                add_ranks(&ranks, first, last, ranks.length > 0);
            first = r;
        }
        last = r;
        count++;
    }
    add_ranks(&ranks, first, last, ranks.length > 0);
    xy_text_addf(text, "%s%s %s at %s:%ld%s%s%s", text->length > 0 ? "; " : "",
                 ranks.length < 200 ? ranks.s : "many", count > 1 ? "wait" : "waits", p->file,
                 p->line, p->what != NULL ? " (" : "", p->what != NULL ? p->what : "",
                 p->what != NULL ? ")" : "");
    xy_text_cleanup(&ranks);
}

/* Nothing can happen any more: say who waits where. */
static void stuck(void *owner)
{
    walk_t *walk = owner;
    int64_t *at = xy_malloc((size_t)walk->procs * sizeof(*at));
    xy_text_t text = XY_TEXT_INIT;

    for (int32_t r = 0; at != NULL && r < walk->procs; r++)
        at[r] = walk->walkers[r].process.is_over
                    ? -1
                    : (int64_t)process_place(&walk->walkers[r].process);
    for (int32_t r = 0; at != NULL && r < walk->procs && text.length < 2000; r++) {
        bool is_first = at[r] >= 0;

        for (int32_t before = 0; is_first && before < r; before++)
            is_first = at[before] != at[r];
        if (is_first)
            add_place(walk, at, at[r], &text);
    }
    walk->status = xy_fail(XY_EINVAL, "the processes wait for each other: %s",
                           text.s != NULL ? text.s : "no memory to say where");
    xy_text_cleanup(&text);
    xy_free(at);
}

/* ---- Beginning and end ---- */

/* Initializes a rank with MPI_COMM_WORLD and MPI_COMM_SELF. */
static xy_status_t walker_init(walk_t *walk, walker_t *w, int32_t rank)
{
    walk_member_t world = {.comm = walk->world, .rank = rank}, self = {0};

    if (process_init(&w->process, &walk->process, rank) != XY_OK)
        return XY_ENOMEM;
    w->walk = walk;
    w->rank = rank;
    w->comms = XY_VEC_INIT(walk_member_t);
    w->groups = XY_VEC_INIT(xy_members_t);
    w->types = XY_VEC_INIT(walk_type_t);
    w->requests = XY_VEC_INIT(walk_request_t);
    w->windows = XY_VEC_INIT(walk_win_t);
    w->files = XY_VEC_INIT(walk_file_t);
    if (walk->oracle != NULL)
        w->recorded_next = walk_oracle_first(walk->oracle, rank);
    self.comm = walk_comm_new(walk, &rank, 1);
    if (self.comm == NULL)
        return XY_ENOMEM;
    return xy_vec_append(&w->comms, &world) == XY_OK && xy_vec_append(&w->comms, &self) == XY_OK
               ? XY_OK
               : XY_ENOMEM;
}

/* Frees all that a rank has made; its communicators go with the walk. */
static void walker_cleanup(walker_t *w)
{
    for (size_t i = 0; i < w->requests.count; i++)
        xy_free(XY_VEC_AT(&w->requests, walk_request_t, i).kept);
    process_cleanup(&w->process);
    walk_team_cleanup(&w->team);
    xy_vec_cleanup(&w->comms);
    xy_vec_cleanup(&w->groups);
    xy_vec_cleanup(&w->types);
    xy_vec_cleanup(&w->requests);
    xy_vec_cleanup(&w->windows);
    xy_vec_cleanup(&w->files);
    xy_free(w->list);
    xy_free(w->of_list);
    xy_free(w->learned_at);
}

static xy_status_t make_walkers(walk_t *walk)
{
    bool ok;

    walk->walkers = xy_calloc((size_t)walk->procs, sizeof(*walk->walkers));
    walk->world = walk_comm_new(walk, NULL, walk->procs);
    ok = walk->walkers != NULL && walk->world != NULL;
    for (int32_t r = 0; ok && r < walk->procs; r++)
        ok = walker_init(walk, &walk->walkers[r], r) == XY_OK;
    if (ok || walk->status != XY_OK) /* already reported */
        return walk->status;
    return xy_fail_memory("making the processes");
}

static xy_status_t make_job(walk_t *walk)
{
    xy_vjob_config_t c = walk->config->job;

    c.owner = walk;
    c.has_steps = c.trace != NULL;
    c.run = run;
    c.capture = capture;
    c.copy = copy;
    c.drop = drop;
    c.stuck = stuck;
    return xy_vjob_create(&c, &walk->job);
}

xy_status_t walk_run(walk_t *walk)
{
    const xy_predict_config_t *c = walk->config;
    xy_status_t st;

    walk->procs = c->job.procs;
    walk->process = (process_config_t){.code = walk->code,
                                       .ops = &ops,
                                       .argc = c->argc,
                                       .argv = c->argv,
                                       .env = c->env,
                                       .env_count = c->env_count,
                                       .pass_limit = c->limit > 0 ? c->limit : 100000000,
                                       .stack_limit = UINT64_C(64) << 20,
                                       .heap_limit = UINT64_C(1) << 30};
    st = make_walkers(walk);
    if (st == XY_OK)
        st = make_job(walk);
    if (st == XY_OK)
        st = xy_vjob_run(walk->job);
    return st != XY_OK ? st : walk->status;
}

void walk_cleanup(walk_t *walk)
{
    xy_vjob_destroy(walk->job);
    while (walk->data != NULL) /* of messages that were never received */
        drop(walk, walk->data);
    for (int32_t r = 0; walk->walkers != NULL && r < walk->procs; r++)
        walker_cleanup(&walk->walkers[r]);
    for (walk_comm_t *comm = walk->comms; comm != NULL; comm = comm->next) {
        xy_free(comm->sorted);
        while (comm->meetings != NULL) {
            walk_meeting_t *m = comm->meetings;

            comm->meetings = m->next;
            walk_meeting_free(m, comm->size);
        }
    }
    xy_free(walk->walkers);
    xy_free(walk->labels);
    xy_free(walk->places);
    xy_free(walk->several);
    xy_vec_cleanup(&walk->models);
    walk_oracle_free(walk->oracle);
    xy_target_destroy(walk->target);
    xy_free(walk->leaf_of);
    xy_arena_destroy(walk->arena);
    code_destroy(walk->code);
}
