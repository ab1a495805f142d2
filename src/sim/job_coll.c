/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One collective of all its processes: the steps of its graph, each when what it waits for has
 * happened. A message of it costs what any message costs, and is work of its processes like any
 * other; the processes need not be in a call at the same time. With `link` a message is one step of
 * both sides.
 */
#include "sim/job_internal.h"

#include <string.h>

/* ---- Callbacks ---- */

static void do_step(xy_vjob_t *job, xy_vcoll_t *coll, int32_t s, xy_vjob_phase_t phase,
                    void **slot_p)
{
    const job_op_t *step = &coll->shape->ops[s];

    for (int32_t id = step->first; job->config.step != NULL && id <= step->last; id++)
        job->config.step(job->config.owner, coll, xy_graph_op(coll->shape->graph, id), phase,
                         slot_p);
}

/* ---- Ends ---- */

void job_coll_over(xy_vjob_t *job, xy_vcoll_t *coll)
{
    xy_vcomm_t *comm = coll->comm;
    xy_vcoll_t **place = &comm->oldest;

    if (job->config.coll_over != NULL)
        job->config.coll_over(job->config.owner, coll);
    coll->shape->calls++;
    coll->shape->seconds += coll->last_out - coll->last_in;
    job_adapt_end(coll);
    while (*place != coll)
        place = &(*place)->next;
    *place = coll->next;
    if (comm->newest == &coll->next)
        comm->newest = place;
    if (coll->steps != NULL) {
        memcpy(coll->steps, &coll->shape->free_work, sizeof(void *));
        coll->shape->free_work = coll->steps;
    }
    coll->next = comm->free;
    comm->free = coll;
}

/* A rank has one half of a step less to wait for. */
static void rank_less(xy_vjob_t *job, xy_vcoll_t *coll, int32_t rank, double at,
                      job_node_t *because)
{
    xy_vreq_t *request = coll->requests[rank];

    coll->rank_at[rank] = fmax(coll->rank_at[rank], at);
    if (--coll->rank_left[rank] > 0)
        return;
    coll->requests[rank] = NULL;
    coll->last_out = fmax(coll->last_out, coll->rank_at[rank]);
    coll->left--;
    job_request_done(job, request, coll->rank_at[rank], because);
    if (coll->left == 0)
        job_coll_over(job, coll);
}

/* ---- Steps ---- */

static void half_less(xy_vjob_t *job, xy_vcoll_t *coll, int32_t s, bool is_sending, double at,
                      job_node_t *because);

/* Is this all that the receive of a question waits for, which has arrived? A call posts its
 * receives before it sends, so it answers then. */
static bool is_asked(const xy_vcoll_t *coll, int32_t s)
{
    const job_step_t *step = &coll->steps[s];

    return step->receive_left == 1 && step->message != NULL && job_message_asks(step->message);
}

/* Releases the operations that wait for the sent or received half of step `s`. */
static void after(xy_vjob_t *job, xy_vcoll_t *coll, int32_t s, uint8_t is_sent, double at,
                  job_node_t *because)
{
    const job_shape_t *shape = coll->shape;
    const job_op_t *step = &shape->ops[s];
    const job_edge_t *edges = &shape->edges[step->after];

    for (int32_t i = 0; i < step->after_count && shape->is_answering; i++)
        if (edges[i].flags == is_sent && is_asked(coll, edges[i].op))
            half_less(job, coll, edges[i].op, false, at, because);
    for (int32_t i = 0; i < step->after_count; i++) {
        bool is_sending = edges[i].flags & JOB_SENDING;

        if ((edges[i].flags & JOB_AFTER_SENT) == is_sent &&
            (is_sending || coll->steps[edges[i].op].receive_left > 0))
            half_less(job, coll, edges[i].op, is_sending, at, because);
    }
}

void job_coll_sent(xy_vjob_t *job, xy_vcoll_t *coll, int32_t s, double at, job_node_t *because)
{
    after(job, coll, s, JOB_AFTER_SENT, at, because);
    rank_less(job, coll, coll->shape->ops[s].source, at, because);
}

void job_coll_received(xy_vjob_t *job, xy_vcoll_t *coll, int32_t s, void *slot, double at,
                       job_node_t *because)
{
    int32_t rank = coll->shape->ops[s].rank;
    job_proc_t *p = &job->procs[coll->comm->procs[rank]];

    p->has_received = true;
    if (coll->shape->is_in_order) /* it has waited: what it sends next is no burst */
        p->started = 0;
    do_step(job, coll, s, XY_VJOB_DELIVER, &slot);
    after(job, coll, s, 0, at, because);
    rank_less(job, coll, rank, at, because);
}

double job_coll_seconds(const xy_vcoll_t *coll, int32_t s)
{
    return coll->shape->ops[s].seconds;
}

static void local_done(xy_vjob_t *job, job_item_t *item, double end, job_node_t *because)
{
    job_local_t *local = (job_local_t *)item;
    xy_vcoll_t *coll = local->coll;
    int32_t s = local->op;
    void *slot = NULL;

    job_put(&job->locals, local);
    do_step(job, coll, s, XY_VJOB_DO, &slot);
    after(job, coll, s, 0, end, because);
    rank_less(job, coll, coll->shape->ops[s].rank, end, because);
}

/* Do all processes of a core read the same? The first of them leaves it in the cache. */
static bool is_read_by_all(xy_collective_t c)
{
    return c == XY_COLL_BCAST || c == XY_COLL_ALLGATHER || c == XY_COLL_ALLGATHERV;
}

/* Returns the time of a local step at `start`, by the state of the cache. */
static double local_seconds(xy_vjob_t *job, job_item_t *item, double start)
{
    const job_local_t *local = (const job_local_t *)item;
    job_op_t *step = &local->coll->shape->ops[local->op];

    const job_copy_t copy = {.core = job->procs[item->proc].core,
                             .is_shared = is_read_by_all(local->coll->call.collective),
                             .is_step = true,
                             .bytes = step->bytes};

    (void)start;
    return job_cache_copy(job, &copy, step->seconds, &step->seen);
}

/* The copies of a piece. */
static bool local_load(const xy_vjob_t *job, job_item_t *item, double seconds, int32_t i,
                       job_load_t *load)
{
    const job_local_t *local = (const job_local_t *)item;
    const job_shape_t *shape = local->coll->shape;
    const job_op_t *step = &shape->ops[local->op];

    (void)job;
    if (i >= step->load_count)
        return false;
    *load = shape->loads[step->load + i];
    load->seconds *= seconds / step->seconds;
    return true;
}

/* With `link`: both sides of a message, or what is no message. */
static void linked_due(xy_event_t *event)
{
    job_local_t *local = (job_local_t *)((char *)event - offsetof(job_local_t, event));
    xy_vjob_t *job = event->owner;
    xy_vcoll_t *coll = local->coll;
    int32_t s = local->op;
    const job_op_t *step = &coll->shape->ops[s];
    job_node_t *node = local->item.node;
    double now = job->clock.now;
    void *slot = NULL;

    job->totals.events++;
    job_put(&job->locals, local);
    if (step->is_message) {
        do_step(job, coll, s, XY_VJOB_CAPTURE, &slot);
        do_step(job, coll, s, XY_VJOB_DELIVER, &slot);
    } else {
        do_step(job, coll, s, XY_VJOB_DO, &slot);
    }
    node = job_path_extend(job, node, now, job->procs[coll->comm->procs[step->rank]].line);
    after(job, coll, s, 0, now, node);
    if (step->next_send >= 0)
        half_less(job, coll, step->next_send, true, now, node);
    if (step->next_receive >= 0)
        half_less(job, coll, step->next_receive, false, now, node);
    if (step->is_message)
        rank_less(job, coll, step->source, now, node);
    rank_less(job, coll, step->rank, now, node);
    job_node_drop(job, node);
}

bool job_coll_is_direct(const xy_vcoll_t *coll)
{
    return coll->shape->algorithm->is_direct;
}

/* Returns the work item of a local step; NULL without memory, with the job failed. */
static job_local_t *local_new(xy_vjob_t *job, xy_vcoll_t *coll, int32_t s, job_node_t *because)
{
    job_local_t *local = job_get(job, &job->locals);

    if (local == NULL)
        return NULL;
    local->coll = coll;
    local->op = s;
    local->item.proc = coll->comm->procs[coll->shape->ops[s].rank];
    local->item.node = job_node_use(because);
    local->item.seconds = local_seconds;
    local->item.load = coll->shape->ops[s].load_count > 0 ? local_load : NULL;
    local->item.done = local_done;
    local->item.is_core = false;
    local->item.is_shared = coll->shape->algorithm->is_direct;
    return local;
}

static double send_seconds(xy_vjob_t *job, job_item_t *item, double start)
{
    (void)job;
    (void)start;
    return job_message_of(item)->send_busy;
}

static void send_done(xy_vjob_t *job, job_item_t *item, double end, job_node_t *because)
{
    xy_vmsg_t *m = job_message_of(item);
    xy_vcoll_t *coll = m->coll;
    int32_t s = m->op;

    do_step(job, coll, s, XY_VJOB_CAPTURE, &m->slot);
    m->node = job_node_use(because);
    m->sent = end;
    job_message_launch(job, m, end);
    if (m->is_eager)
        job_coll_sent(job, coll, s, end, because);
}

/* Starts the message of step `s` at time `at`. */
static void begin_send(xy_vjob_t *job, xy_vcoll_t *coll, int32_t s, double at, job_node_t *because)
{
    const job_op_t *step = &coll->shape->ops[s];
    int32_t from = coll->comm->procs[step->source], to = coll->comm->procs[step->rank];
    xy_vmsg_t *m = job_message_new(job, from, to, step->bytes);

    if (m == NULL)
        return;
    m->coll = coll;
    m->op = s;
    job_way_cost(job, m);
    if (coll->shape->algorithm->is_direct)
        job_way_word(job, m, coll->shape->word);
    if (!coll->shape->algorithm->is_direct)
        job_count_message(job, from, to, step->bytes, true);
    m->item.seconds = send_seconds;
    m->item.load = NULL;
    m->item.done = send_done;
    m->item.proc = from;
    m->item.ready = at;
    m->item.is_core = m->item.is_shared = false;
    m->item.node = job_node_use(because);
    job_work(job, &m->item);
}

static void begin_local(xy_vjob_t *job, xy_vcoll_t *coll, int32_t s, double at, job_node_t *because)
{
    job_local_t *local = local_new(job, coll, s, because);

    if (local == NULL)
        return;
    local->item.ready = at;
    job_work(job, &local->item);
}

static void begin_linked(xy_vjob_t *job, xy_vcoll_t *coll, int32_t s, double at,
                         job_node_t *because)
{
    const job_op_t *step = &coll->shape->ops[s];
    job_local_t *local = local_new(job, coll, s, because);

    if (local == NULL)
        return;
    if (step->is_message && !coll->shape->algorithm->is_direct)
        job_count_message(job, coll->comm->procs[step->source], coll->comm->procs[step->rank],
                          step->bytes, true);
    xy_event_init(&local->event, linked_due, job, 0);
    xy_vclock_set(&job->clock, &local->event, at + step->seconds);
}

static void begin_receive(xy_vjob_t *job, xy_vcoll_t *coll, int32_t s)
{
    xy_vmsg_t *m = coll->steps[s].message;

    if (m == NULL)
        return; /* when it arrives */
    m->is_met = true;
    if (coll->steps[s].receive_at > m->data_at && job->library->rules != NULL)
        m->receive_busy += m->late; /* it came before its receive */
    m->data_at = fmax(m->data_at, coll->steps[s].receive_at);
    job_message_met(job, m, true);
}

void job_coll_arrived(xy_vjob_t *job, xy_vmsg_t *m)
{
    job_step_t *step = &m->coll->steps[m->op];

    step->message = m;
    if (step->receive_left > 0)
        return;
    if (m->coll->shape->is_answering && job_message_asks(m) && step->receive_at > job->clock.now) {
        m->is_met = true;
        job_message_answer(job, m, step->receive_at); /* the process was ahead of the clock */
    } else {
        begin_receive(job, m->coll, m->op);
    }
}

/* Counts down the predecessors of one half of a step, and starts it when none is left. */
static void half_less(xy_vjob_t *job, xy_vcoll_t *coll, int32_t s, bool is_sending, double at,
                      job_node_t *because)
{
    job_step_t *step = &coll->steps[s];
    int32_t *left = is_sending ? &step->send_left : &step->receive_left;
    double *half_at = is_sending ? &step->send_at : &step->receive_at;

    *half_at = fmax(*half_at, at);
    if (--*left > 0)
        return;
    if (job->has_link) {
        if (step->send_left == 0 && step->receive_left == 0)
            begin_linked(job, coll, s, fmax(step->send_at, step->receive_at), because);
    } else if (is_sending) {
        begin_send(job, coll, s, *half_at, because);
    } else if (coll->shape->ops[s].is_message) {
        begin_receive(job, coll, s);
    } else {
        begin_local(job, coll, s, *half_at, because);
    }
}

/* ---- Beginning ---- */

/* Starts the operations of a rank that enters a collective at time `at`. */
static void enter(xy_vjob_t *job, xy_vcoll_t *coll, int32_t rank, double at)
{
    const job_shape_t *shape = coll->shape;
    job_node_t *node;

    if (shape->is_on_node) {
        job_sim_arrive(job, coll, rank);
        return;
    }
    /* Steps that begin at once may move the process on along its path. */
    node = job_node_use(job->procs[coll->requests[rank]->proc].node);
    if (shape->rank_left[rank] == 0) { /* it has nothing to do with it */
        coll->rank_left[rank] = 1;
        rank_less(job, coll, rank, at, node);
    } else {
        const int32_t *roots = &shape->roots[shape->root_first[rank]];
        int32_t count = shape->root_first[rank + 1] - shape->root_first[rank];

        for (int32_t i = 0; i < count && shape->is_answering; i++)
            if (roots[i] % 2 == 1 && is_asked(coll, roots[i] / 2))
                half_less(job, coll, roots[i] / 2, false, at, node);
        for (int32_t i = 0; i < count; i++)
            if (roots[i] % 2 == 0 || coll->steps[roots[i] / 2].receive_left > 0)
                half_less(job, coll, roots[i] / 2, roots[i] % 2 == 0, at, node);
    }
    job_node_drop(job, node);
}

static void enter_due(xy_event_t *event)
{
    const xy_vreq_t *r = (const xy_vreq_t *)((char *)event - offsetof(xy_vreq_t, event));

    enter(event->owner, r->coll, r->rank, ((xy_vjob_t *)event->owner)->clock.now);
}

/* Work for the steps: memory that the last one of this shape left, or new. */
static bool get_work(xy_vjob_t *job, xy_vcoll_t *coll)
{
    job_shape_t *shape = coll->shape;
    size_t steps = ((size_t)shape->count + 1) * sizeof(*coll->steps);
    size_t ranks = (size_t)shape->ranks;
    void *work = shape->free_work;

    if (work != NULL)
        memcpy(&shape->free_work, work, sizeof(void *));
    else
        work = xy_malloc(steps + ranks * (sizeof(double) + sizeof(int32_t)));
    if (work == NULL) {
        job_fail(job, xy_fail_memory("simulating a collective"));
        return false;
    }
    coll->steps = work;
    coll->rank_at = (double *)((char *)work + steps);
    coll->rank_left = (int32_t *)(coll->rank_at + ranks);
    memcpy(coll->steps, shape->steps, (size_t)shape->count * sizeof(*coll->steps));
    memcpy(coll->rank_left, shape->rank_left, ranks * sizeof(*coll->rank_left));
    memset(coll->rank_at, 0, ranks * sizeof(*coll->rank_at));
    return true;
}

/* Finds or builds the graph of a collective; returns false with the job failed. */
static bool find_shape(xy_vjob_t *job, xy_vcoll_t *coll)
{
    xy_status_t st;

    job_adapt_begin(coll);
    st = job_shape_find(job, coll->comm, coll, &coll->shape);
    if (st != XY_OK) {
        coll->shape = NULL;
        job_fail(job, st);
        return false;
    }
    if (job->config.has_matrix && coll->shape->algorithm->is_direct && !coll->call.is_agreement)
        job_count_direct(job, coll);
    else if (job->config.has_matrix && !coll->shape->algorithm->is_direct)
        job_count_pieces(job, coll);
    job_adapt_know(job, coll);
    return coll->shape->is_on_node || get_work(job, coll);
}

/* The last (or the root) has come: those that came before begin now. */
static void known_due(xy_event_t *event)
{
    xy_vcoll_t *coll = (xy_vcoll_t *)((char *)event - offsetof(xy_vcoll_t, event));
    xy_vjob_t *job = event->owner;
    int32_t ranks = coll->comm->count;

    if (!find_shape(job, coll))
        return;
    coll->left++; /* not over before all have begun */
    for (int32_t r = 0; r < ranks; r++)
        if (coll->requests[r] != NULL && coll->requests[r]->is_early)
            enter(job, coll, r, job->clock.now);
    if (--coll->left == 0)
        job_coll_over(job, coll);
}

/* Appends a collective to its communicator; NULL without memory, with the job failed. */
static xy_vcoll_t *coll_new(xy_vjob_t *job, xy_vcomm_t *comm, uint64_t number)
{
    size_t ranks = (size_t)comm->count;
    xy_vcoll_t *coll = comm->free;

    if (coll != NULL) {
        comm->free = coll->next;
    } else {
        coll = xy_arena_alloc(job->arena,
                              sizeof(*coll) + ranks * (sizeof(xy_vreq_t *) + sizeof(void *)));
        if (coll == NULL) {
            job_fail(job, xy_fail_memory("simulating a collective"));
            return NULL;
        }
        coll->requests = (xy_vreq_t **)(coll + 1);
        coll->data = (void **)(coll->requests + ranks);
        coll->comm = comm;
        xy_event_init(&coll->event, known_due, job, 0);
    }
    memset(coll->requests, 0, ranks * (sizeof(xy_vreq_t *) + sizeof(void *)));
    coll->shape = NULL;
    coll->steps = NULL;
    coll->scheduled = NULL;
    coll->number = number;
    coll->entered = 0;
    coll->last_in = coll->last_out = 0;
    coll->left = comm->count;
    coll->next = NULL;
    *comm->newest = coll;
    comm->newest = &coll->next;
    job->totals.collectives++;
    return coll;
}

static xy_vcoll_t *find_coll(xy_vjob_t *job, xy_vcomm_t *comm, int32_t rank)
{
    uint64_t number = comm->sequence[rank]++;
    xy_vcoll_t *coll = comm->oldest;

    while (coll != NULL && coll->number != number)
        coll = coll->next;
    return coll != NULL ? coll : coll_new(job, comm, number);
}

/* Take the sizes that the process gives, 0 where none does: of alltoallv its row, of the others
 * all of them. */
static bool take_counts(xy_vjob_t *job, xy_vcoll_t *coll, int32_t rank, const xy_vjob_coll_t *call)
{
    size_t n = (size_t)coll->comm->count, all = n;
    size_t first = job_shape_needs_all(call->collective) ? (size_t)rank * n : 0;

    if (!job_shape_has_counts(call->collective))
        return true;
    if (job_shape_needs_all(call->collective))
        all = n * n;
    if (coll->count_room < all) {
        uint64_t *counts = xy_realloc_array(coll->counts, all, sizeof(*counts));

        if (counts == NULL) {
            job_fail(job, xy_fail_memory("simulating a collective"));
            return false;
        }
        coll->counts = counts;
        coll->count_room = all;
    }
    if (coll->entered == 1)
        memset(coll->counts, 0, all * sizeof(*coll->counts));
    if (call->counts != NULL)
        memcpy(coll->counts + first, call->counts, n * sizeof(*call->counts));
    return true;
}

/* The process is there. Its first steps are its own work; where others do that for it, they begin
 * when the clock has come. */
static void begin(xy_vjob_t *job, xy_vcoll_t *coll, xy_vreq_t *r, job_proc_t *p)
{
    if (!job_work_has_helper(job, p) && !coll->shape->is_on_node) {
        enter(job, coll, r->rank, p->now);
        job_work_ready(job, p);
        return;
    }
    xy_event_init(&r->event, enter_due, job, 0);
    xy_vclock_set(&job->clock, &r->event, p->now);
}

xy_vreq_t *xy_vjob_collective(xy_vjob_t *job, int32_t proc, xy_vcomm_t *comm,
                              const xy_vjob_coll_t *call, void *data)
{
    job_proc_t *p = &job->procs[proc];
    int32_t rank = job_comm_rank(comm, p->process->number);
    xy_vreq_t *r = job_request_collective(job, proc, data);
    xy_vcoll_t *coll = r != NULL ? find_coll(job, comm, rank) : NULL;
    bool is_last, needs_root = job_shape_needs_root(call->collective);
    bool needs_all = job_shape_needs_all(call->collective);

    if (coll == NULL)
        return NULL;
    job_proc_busy(job, p, p->now + job->call[call->collective]);
    p->process->started = 0; /* its messages are no burst with those of calls before it */
    r->coll = coll;
    r->rank = rank;
    r->is_early = false;
    r->measured = 0;
    r->posted_at = p->now;
    coll->requests[rank] = r;
    coll->data[rank] = data;
    coll->last_in = fmax(coll->last_in, p->now);
    if (coll->entered++ == 0 || (needs_root && rank == call->root))
        coll->call = *call;
    if (!take_counts(job, coll, rank, call))
        return NULL;
    is_last = coll->entered == comm->count;
    if ((needs_root || needs_all) && coll->shape == NULL) {
        bool is_known = needs_root ? rank == call->root : is_last;

        r->is_early = true;
        if (is_known)
            xy_vclock_set(&job->clock, &coll->event, p->now);
        return r;
    }
    if (coll->shape == NULL && !find_shape(job, coll))
        return NULL;
    begin(job, coll, r, p);
    return r;
}

bool xy_vjob_entered(xy_vjob_t *job, int32_t proc, const xy_vreq_t *request)
{
    if (request->is_done || request->is_early || request->coll->shape == NULL ||
        !request->coll->shape->is_on_node)
        return true;
    job->procs[proc].state = JOB_ENTERING;
    return false;
}

void *xy_vjob_coll_data(const xy_vcoll_t *coll, int32_t rank)
{
    return coll->data[rank];
}

const xy_graph_t *xy_vjob_coll_graph(const xy_vcoll_t *coll)
{
    return coll->shape->graph;
}

int32_t xy_vjob_coll_ranks(const xy_vcoll_t *coll)
{
    return coll->comm->count;
}
