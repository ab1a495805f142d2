/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of a collective: an operation of its graph, or the operations of one piece of a direct
 * collective. A step that is a message has two halves, sending and receiving, each of which waits
 * for others:
 *
 *   what the sender has got before         until it was received there
 *   what the receiver has got before       until it was received there
 *   what the receiver sends from the place that the message overwrites       until it was sent
 *
 * A half that waits for nothing of its rank waits for the rank to come.
 */
#include "sim/job_internal.h"

#include <math.h>
#include <string.h>

enum { ORDER = 4 }; /* edges of a step that are there for the order of calls, at most */

static int32_t source_of(const xy_op_t *op)
{
    if (op->kind == XY_OP_COMBINE && op->from.rank == op->to.rank)
        return op->other.rank;
    return op->from.rank;
}

static double rate_seconds(double bytes, double rate)
{
    return rate > 0 ? bytes / rate : 0;
}

/* Does the core that does it find the data in its own caches? */
static bool is_at_home(const xy_vcomm_t *comm, const xy_op_t *op)
{
    return comm->groups[op->from.rank] == comm->groups[op->actor] &&
           comm->groups[op->to.rank] == comm->groups[op->actor];
}

/* Blocks go from a root or to it. */
static bool is_rooted_copy(xy_collective_t c)
{
    return c == XY_COLL_BCAST || c == XY_COLL_SCATTER || c == XY_COLL_SCATTERV ||
           c == XY_COLL_GATHER || c == XY_COLL_GATHERV;
}

/* Does it read what another core has just left for it? */
static bool is_fresh(const xy_vcomm_t *comm, const xy_op_t *op)
{
    return op->is_direct && op->bytes > 0 && op->from.buffer >= XY_BUFFER_TEMPORARY &&
           comm->groups[op->from.rank] != comm->groups[op->actor];
}

static bool is_first_of_group(const xy_vcomm_t *comm, int32_t rank)
{
    for (int32_t r = 0; r < rank; r++)
        if (comm->groups[r] == comm->groups[rank])
            return false;
    return true;
}

/* Until the lines are there that another core has left. The first of what a root leaves, and of
 * what each group leaves for a root, comes with the word: words were measured with one line. What
 * is left for all comes to a core once, and so does a line that has blocks for several. */
static double fresh_seconds(const xy_vjob_t *job, const xy_vcomm_t *comm, const job_shape_t *shape,
                            const xy_op_t *op, bool is_next)
{
    xy_collective_t c = shape->call.collective;
    double lines = ceil((double)op->bytes / XY_DIRECT_LINE);
    bool is_up = c == XY_COLL_GATHER || c == XY_COLL_GATHERV, is_first;

    is_first = is_first_of_group(comm, is_up ? op->from.rank : op->actor);
    if (!is_rooted_copy(c) && !is_first && (c == XY_COLL_ALLREDUCE || op->bytes < XY_DIRECT_LINE))
        return 0;
    if (!is_rooted_copy(c))
        return lines * job->line[0] + (is_next ? 0 : job->line[1] - job->line[0]);
    if (c == XY_COLL_BCAST && !is_first)
        return 0;
    return (lines - is_first) * job->line[0];
}

/* Is it one of several blocks that a process or a group leaves for others? */
static bool is_block_left(const job_shape_t *shape, const xy_op_t *op)
{
    xy_collective_t c = shape->call.collective;

    return shape->algorithm->is_direct &&
           (c == XY_COLL_ALLTOALL || (is_rooted_copy(c) && c != XY_COLL_BCAST)) &&
           op->kind == XY_OP_MOVE && !op->is_direct && op->from.rank == op->to.rank;
}

/* The time of a sum besides the message that brings it: as measured; half a copy where only copies
 * were measured; without models it has a rate. */
static double reduce_seconds(const xy_vjob_t *job, double bytes, double copy)
{
    if (job->copy_model == NULL)
        return rate_seconds(bytes, job->costs.reduce);
    if (job->copy_model->reduce > 0)
        return job->copy_model->reduce * bytes / XY_MESSAGE_BCAST;
    return copy / 2;
}

static bool is_reduction(xy_collective_t c)
{
    return c == XY_COLL_REDUCE || c == XY_COLL_ALLREDUCE;
}

/* To begin an operation of a direct collective. */
static double begin_seconds(const xy_vjob_t *job, const xy_op_t *op)
{
    if (op->is_chained)
        return job->block;
    return op->bytes > 0 ? job->piece : job->costs.task;
}

/* The time of a core beyond handing a message over. */
static double seconds_of(const xy_vjob_t *job, const xy_vcomm_t *comm, const job_shape_t *shape,
                         const xy_op_t *op, bool is_message)
{
    double bytes = (double)op->bytes, seconds = 0, copy;

    if (job->has_link)
        return xy_coll_seconds(op, &job->link);
    if (op->kind == XY_OP_COMPUTE)
        return op->seconds;
    if (op->kind < XY_OP_MOVE)
        return 0;
    copy = op->is_direct && is_rooted_copy(shape->call.collective)
               ? job_way_rooted(job, op->bytes, is_at_home(comm, op))
               : job_way_copy(job, op->bytes, is_at_home(comm, op));
    if (!is_message)
        seconds = copy;
    if (op->is_direct && op->kind != XY_OP_MOVE && job->copy_model != NULL)
        seconds = job_way_read(job, op->bytes, is_at_home(comm, op));
    if (op->is_direct)
        seconds += begin_seconds(job, op);
    if (op->kind == XY_OP_MOVE || (op->is_direct && job->copy_model != NULL))
        return seconds;
    return seconds + reduce_seconds(job, bytes, copy);
}

/* Adds an operation of the graph to the steps; chained ones join the step before. */
static void make_op(const xy_vjob_t *job, const xy_vcomm_t *comm, job_shape_t *shape, int32_t id,
                    int32_t *step_of)
{
    const xy_op_t *op = xy_graph_op(shape->graph, id);
    job_op_t *step;

    if (!op->is_chained || shape->count == 0) {
        step = &shape->ops[shape->count++];
        step->first = id;
        step->rank = op->actor;
        step->is_message = op->kind >= XY_OP_MOVE && !op->is_direct && source_of(op) != op->to.rank;
        step->source = op->actor;
        step->next_send = step->next_receive = -1;
        if (step->is_message) {
            step->source = source_of(op);
            step->rank = op->to.rank;
        }
    }
    step = &shape->ops[shape->count - 1];
    step->last = id;
    /* The partial sum stays in the first cache: it reads, and does not write. */
    step->bytes += op->is_direct && op->kind != XY_OP_MOVE ? op->bytes / 2 : op->bytes;
    step->seconds += seconds_of(job, comm, shape, op, step->is_message);
    if (!job->has_link && is_block_left(shape, op))
        step->seconds += job->block;
    if (!job->has_link && is_fresh(comm, op)) {
        step->seconds += fresh_seconds(job, comm, shape, op, step->is_fresh);
        step->is_fresh = true;
    }
    step_of[id] = shape->count - 1;
}

/* The copies of direct collectives, those of a step one after the other. */
static void make_loads(const xy_vjob_t *job, const xy_vcomm_t *comm, job_shape_t *shape,
                       const int32_t *step_of)
{
    xy_hash_t read;
    int32_t n = 0;

    xy_hash_init(&read, XY_HASH_U64);
    for (int32_t id = 0; id < xy_graph_ops(shape->graph); id++) {
        const xy_op_t *op = xy_graph_op(shape->graph, id);
        job_op_t *step = &shape->ops[step_of[id]];
        double seconds, copy = job_way_copy(job, op->bytes, is_at_home(comm, op));

        if (!op->is_direct || op->bytes == 0 || op->kind < XY_OP_MOVE)
            continue;
        seconds = seconds_of(job, comm, shape, op, false) - begin_seconds(job, op);
        if (step->load_count++ == 0)
            step->load = n;
        shape->loads[n++] = (job_load_t){
            .seconds = seconds,
            .domain = sim_memory_piece(&job->memory, &read, op,
                                       job->procs[comm->procs[op->from.rank]].core,
                                       job->procs[comm->procs[op->to.rank]].core),
            .weight = op->kind > XY_OP_MOVE && copy < seconds ? (float)(copy / seconds) : 1};
    }
    xy_hash_cleanup(&read);
}

/* The half of `b` that waits, and the half of `a` that it waits for. */
static uint8_t edge_flags(const xy_vjob_t *job, const job_op_t *a, const job_op_t *b)
{
    if (b->is_message && a->rank == b->source)
        return JOB_SENDING;
    if (a->rank == b->rank || job->has_link)
        return 0;
    if (a->is_message && a->source == b->rank)
        return JOB_AFTER_SENT;
    if (a->is_message && b->is_message && a->source == b->source)
        return JOB_AFTER_SENT | JOB_SENDING;
    return b->is_message ? JOB_SENDING : 0;
}

static void wait_for(job_shape_t *shape, const job_op_t *a, int32_t b, uint8_t flags, bool *knows)
{
    bool is_sending = flags & JOB_SENDING;
    int32_t rank = is_sending ? shape->ops[b].source : shape->ops[b].rank;

    *(is_sending ? &shape->steps[b].send_left : &shape->steps[b].receive_left) += 1;
    if (a->rank == rank || (a->is_message && a->source == rank))
        knows[2 * b + (is_sending ? 0 : 1)] = true;
}

static int32_t count_edges(const job_shape_t *shape, int32_t ops)
{
    int32_t n = 0;

    for (int32_t id = 0; id < ops; id++) {
        const xy_op_id_t *after;

        n += xy_graph_successors(shape->graph, id, &after);
    }
    return n;
}

/* Sort the edges: those that let others send come first, as a core has told the others before it
 * continues with work of its own, which may be ready at once and long. */
static void put_sends_first(job_edge_t *edges, int32_t count)
{
    int32_t sends = 0;

    for (int32_t i = 0; i < count; i++) {
        job_edge_t edge = edges[i];

        if ((edge.flags & JOB_SENDING) == 0)
            continue;
        memmove(&edges[sends + 1], &edges[sends], (size_t)(i - sends) * sizeof(*edges));
        edges[sends++] = edge;
    }
}

/* Add the edges from step s that the order of calls alone gives. The number of all edges. */
static int32_t add_order(job_shape_t *shape, int32_t s, const job_follow_t *follow, int32_t n,
                         bool *knows)
{
    const job_op_t *step = &shape->ops[s];
    const job_edge_t next[] = {{step->next_send, JOB_AFTER_SENT | JOB_SENDING},
                               {step->next_receive, 0},
                               {follow->send, JOB_SENDING},
                               {follow->receive, JOB_AFTER_SENT}};

    for (size_t i = 0; i < sizeof(next) / sizeof(next[0]); i++)
        if (next[i].op >= 0) {
            shape->edges[n++] = next[i];
            wait_for(shape, step, next[i].op, next[i].flags, knows);
        }
    return n;
}

/* `knows` of a half: what it waits for has only happened when the rank is there. */
static void make_edges(const xy_vjob_t *job, job_shape_t *shape, const int32_t *step_of,
                       const job_follow_t *follow, bool *knows)
{
    int32_t n = 0;

    for (int32_t s = 0; s < shape->count; s++) {
        job_op_t *step = &shape->ops[s];

        step->after = n;
        for (int32_t id = step->first; id <= step->last; id++) {
            const xy_op_id_t *after;
            int32_t count = xy_graph_successors(shape->graph, id, &after);

            for (int32_t i = 0; i < count; i++) {
                int32_t to = step_of[after[i]];
                uint8_t flags = edge_flags(job, step, &shape->ops[to]);

                if (to == s)
                    continue;
                shape->edges[n++] = (job_edge_t){to, flags};
                wait_for(shape, step, to, flags, knows);
            }
        }
        n = add_order(shape, s, &follow[s], n, knows);
        step->after_count = n - step->after;
        put_sends_first(&shape->edges[step->after], step->after_count);
    }
}

/* Each rank sends one message at a time and receives one at a time, in the order of the algorithm.
 */
static void make_chains(job_shape_t *shape, int32_t *last, bool *knows)
{
    int32_t *last_send = last, *last_receive = last + shape->ranks;

    memset(last, -1, 2 * (size_t)shape->ranks * sizeof(*last));
    for (int32_t s = 0; s < shape->count; s++) {
        job_op_t *step = &shape->ops[s];
        int32_t *a = &last_send[step->source], *b = &last_receive[step->rank];

        if (step->is_message && *a >= 0) {
            shape->ops[*a].next_send = s;
            wait_for(shape, &shape->ops[*a], s, JOB_SENDING, knows);
        }
        if (*b >= 0) {
            shape->ops[*b].next_receive = s;
            wait_for(shape, &shape->ops[*b], s, 0, knows);
        }
        if (step->is_message)
            *a = s;
        *b = s;
    }
}

/* A half that waits for its rank becomes the last of those that are not there yet. */
static void put_root(job_shape_t *shape, int32_t h, const bool *knows)
{
    const job_op_t *step = &shape->ops[h / 2];
    job_step_t *begin = &shape->steps[h / 2];
    bool is_receive = h % 2 == 1;

    if (knows[h] || (!is_receive && !step->is_message))
        return;
    *(is_receive ? &begin->receive_left : &begin->send_left) += 1;
    shape->roots[--shape->root_first[(is_receive ? step->rank : step->source) + 1]] = h;
}

/* Halves that wait for their rank, in the order of the algorithm; in another library what it
 * receives comes last: it starts to send before it looks at what has arrived. */
static void make_roots(const xy_vjob_t *job, job_shape_t *shape, const bool *knows)
{
    int32_t n = 0, halves = 2 * shape->count;
    bool is_other = job->library->rules != NULL;

    for (int32_t h = 0; h < halves; h++) {
        const job_op_t *step = &shape->ops[h / 2];

        if (knows[h] || (h % 2 == 0 && !step->is_message))
            continue;
        shape->root_first[(h % 2 == 1 ? step->rank : step->source) + 1]++;
        n++;
    }
    for (int32_t r = 0; r < shape->ranks; r++)
        shape->root_first[r + 1] += shape->root_first[r];
    for (int32_t h = halves - 1; h >= 0 && is_other; h -= 2)
        if (shape->ops[h / 2].is_message)
            put_root(shape, h, knows);
    for (int32_t h = halves - 1; h >= 0; h--)
        if (!is_other || h % 2 == 0 || !shape->ops[h / 2].is_message)
            put_root(shape, h, knows);
    /* Filled from behind, each entry is now the first of its rank, one place too far. */
    for (int32_t r = 0; r < shape->ranks; r++)
        shape->root_first[r] = shape->root_first[r + 1];
    shape->root_first[shape->ranks] = n;
}

/* Direct: does it end with a barrier after work? Small ones of a root have no barrier, and words of
 * the root alone. */
static job_word_t word_of(const job_shape_t *shape)
{
    bool has_data = false;

    for (int32_t s = 0; s < shape->count; s++)
        has_data = has_data || shape->ops[s].bytes > 0;
    if (!has_data || !shape->algorithm->is_direct)
        return JOB_WORD_MEET;
    if (shape->ops[shape->count - 1].bytes == 0)
        return is_reduction(shape->call.collective) ? JOB_WORD_SUM : JOB_WORD_MEET;
    return is_rooted_copy(shape->call.collective) ? JOB_WORD_ROOT : JOB_WORD_MEET;
}

/* Charge the steps that enter a direct collective with a root. */
static void add_comes(const xy_vjob_t *job, job_shape_t *shape)
{
    bool is_rooted = shape->word == JOB_WORD_ROOT;
    bool is_from_root = is_rooted && shape->call.collective != XY_COLL_GATHER &&
                        shape->call.collective != XY_COLL_GATHERV;

    for (int32_t s = 0; s < shape->count && shape->algorithm->is_direct && !job->has_link; s++) {
        job_op_t *step = &shape->ops[s];
        const xy_op_t *op = xy_graph_op(shape->graph, step->first);

        if (step->is_message || op->bytes > 0 || op->kind != XY_OP_MOVE)
            continue;
        step->seconds += is_rooted ? job->pass : 0;
        /* A root's work to leave its data, and the others' to look for it, is done by a root of a
         * gather. */
        if (is_rooted && !is_from_root && step->rank == shape->call.root)
            step->seconds += job->pass;
    }
}

static void count_ranks(job_shape_t *shape)
{
    for (int32_t s = 0; s < shape->count; s++) {
        shape->rank_left[shape->ops[s].rank]++;
        if (shape->ops[s].is_message)
            shape->rank_left[shape->ops[s].source]++;
    }
}

xy_status_t job_steps_make(const xy_vjob_t *job, const xy_vcomm_t *comm, job_shape_t *shape)
{
    int32_t ops = xy_graph_ops(shape->graph);
    size_t n = (size_t)ops + 1, order = job->library->rules != NULL ? ORDER * n : 0;
    size_t edges = (size_t)count_edges(shape, ops) + order + 1;
    size_t ranks = (size_t)shape->ranks;
    int32_t *step_of = xy_calloc(n + 2 * ranks, sizeof(*step_of));
    bool *knows = xy_calloc(2 * n, sizeof(*knows));
    job_follow_t *follow = xy_calloc(n, sizeof(*follow));
    bool is_made;

    shape->ops = xy_calloc(n, sizeof(*shape->ops));
    shape->loads = xy_calloc(job->memory.is_limited ? n : 1, sizeof(*shape->loads));
    shape->steps = xy_calloc(n, sizeof(*shape->steps));
    shape->edges = xy_calloc(edges, sizeof(*shape->edges));
    shape->rank_left = xy_calloc(ranks, sizeof(*shape->rank_left));
    shape->root_first = xy_calloc(ranks + 1, sizeof(*shape->root_first));
    shape->roots = xy_calloc(2 * n, sizeof(*shape->roots));
    is_made = step_of != NULL && knows != NULL && follow != NULL && shape->ops != NULL &&
              shape->loads != NULL && shape->steps != NULL && shape->edges != NULL &&
              shape->rank_left != NULL && shape->root_first != NULL && shape->roots != NULL;
    if (is_made) {
        for (int32_t id = 0; id < ops; id++)
            make_op(job, comm, shape, id, step_of);
        if (job->memory.is_limited)
            make_loads(job, comm, shape, step_of);
        job_order_find(job, shape, follow, step_of + n);
        make_edges(job, shape, step_of, follow, knows);
        if (job->has_link)
            make_chains(shape, step_of + n, knows);
        make_roots(job, shape, knows);
        count_ranks(shape);
        shape->word = shape->count > 0 ? word_of(shape) : JOB_WORD_MEET;
        add_comes(job, shape);
    }
    xy_free(step_of);
    xy_free(knows);
    xy_free(follow);
    return is_made ? XY_OK : xy_fail_memory("simulating a collective");
}
