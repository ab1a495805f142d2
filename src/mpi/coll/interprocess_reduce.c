/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedules of reductions and scans for all members of a process: their vectors are reduced where
 * they lie, and one member exchanges the sums with other processes.
 */
#include "mpi/coll/interprocess.h"

#include "mpi/runtime/runtime.h"

/* Bytes of sums that two processes exchange while the next ones are made. */
enum { SEGMENT = 256 << 10 };
/* Of other processes, that wait to be added or are being received. */
enum { VECTORS = 2 };
/* Elements that several workers reduce at the same time, in bytes. */
enum { REDUCE_CHUNK = 32 << 10 };

static int speaker(const interprocess_part_t *p, int part)
{
    const coll_call_t *call = p->call;

    return call->kind->is_rooted ? interprocess_speaker(p->layout, part, call->root)
                                 : p->layout->first[part];
}

/* ---- Reductions ---- */

/* Elements of `type` in so many bytes. */
static int64_t elements_of(const mpi_type_t *type, int64_t bytes)
{
    int64_t n = type->size > 0 ? bytes / (int64_t)type->size : 1;

    return n > 0 ? n : 1;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Elements of the vectors of all members, in the order of their ranks, become those of `to`. */
typedef struct {
    const interprocess_part_t *part;
    void *to;
    int64_t begin, count, chunk;
} sum_t;

static const void *contribution(const coll_call_t *call)
{
    bool is_in_place = call->is_in_place && (!call->kind->is_rooted || call->rank == call->root);

    return is_in_place ? call->receive : call->send;
}

/* Reduce a range of elements over all members here, at most AT_ONCE vectors at a time. */
static void sum_elements(const sum_t *sum, int64_t begin, int64_t count)
{
    enum { AT_ONCE = 64 };
    const interprocess_part_t *p = sum->part;
    const mpi_type_t *type = p->call->receive_type;
    void *sources[AT_ONCE + 1], *to = coll_element(sum->to, begin - sum->begin, type);
    int n = 0;

    for (int m = 0; m < p->members;) {
        if (m > 0)
            sources[n++] = to;
        for (; m < p->members && n < AT_ONCE; m++)
            sources[n++] = coll_element(contribution(p->calls[m]), begin, type);
        mpi_op_reduce_many(p->call->op, sources, n, to, count, type);
        n = 0;
    }
}

static void sum_chunk(void *arg, int64_t i)
{
    const sum_t *sum = arg;
    int64_t at = i * sum->chunk;

    sum_elements(sum, sum->begin + at, least(sum->chunk, sum->count - at));
}

/* A program's own operation has one member's buffer as its result at a time, and stays here. */
static void sum_in_turn(const sum_t *sum)
{
    const interprocess_part_t *p = sum->part;
    const mpi_type_t *type = p->call->receive_type;

    coll_copy(sum->to, sum->count, type,
              coll_element(contribution(p->calls[p->members - 1]), sum->begin, type), sum->count,
              type);
    for (int m = p->members - 2; m >= 0; m--)
        mpi_op_apply(p->call->op, coll_element(contribution(p->calls[m]), sum->begin, type),
                     sum->to, sum->count, type);
}

/* Step: reduce the vectors of all members here, in parallel for predefined operations. */
static void do_sum(void *arg)
{
    sum_t *sum = arg;
    const mpi_type_t *type = sum->part->call->receive_type;

    if (!sum->part->call->op->is_predefined) {
        sum_in_turn(sum);
        return;
    }
    sum->chunk = type->size > 0 ? (int64_t)(REDUCE_CHUNK / type->size) : sum->count;
    if (sum->chunk == 0)
        sum->chunk = 1;
    mpi_parallel_run(sum_chunk, sum, (sum->count + sum->chunk - 1) / sum->chunk);
}

static void schedule_sum(schedule_t *s, const interprocess_part_t *p, void *to, int64_t begin,
                         int64_t count)
{
    sum_t *sum = schedule_memory(s, sizeof(*sum));

    *sum = (sum_t){.part = p, .to = to, .begin = begin, .count = count};
    schedule_do(s, do_sum, sum);
}

/* Where the speaker's sum is made: its receive buffer, if it may be written while the others'
 * vectors are read. */
static void *sum_buffer(schedule_t *s, const interprocess_part_t *p, bool has_receive,
                        int64_t count)
{
    const coll_call_t *call = p->call;

    if (has_receive && call->op->is_predefined && (!call->is_in_place || call == p->calls[0]))
        return call->receive;
    return schedule_vector(s, count, call->receive_type);
}

/* Up a tree or a chain of processes, piece by piece. */
static void build_reduce(schedule_t *s, const interprocess_part_t *p)
{
    const coll_call_t *call = p->call;
    const mpi_type_t *type = call->receive_type;
    int64_t all = call->receive_count;
    interprocess_choice_t choice =
        interprocess_choose(p, XY_COLL_REDUCE, (uint64_t)all * type->size);
    int64_t most = elements_of(type, choice.piece);
    bool is_root = call->rank == call->root;
    int top = call->op->is_commutative ? p->layout->part_of[call->root] : 0;
    char *sum = sum_buffer(s, p, is_root, all);
    void *vector[VECTORS][INTERPROCESS_CHILDREN];
    interprocess_tree_t tree;

    interprocess_tree_parts(p->layout, p->own, top, call->root, choice.way == INTERPROCESS_CHAIN,
                            &tree);
    for (int i = 0; i < tree.children; i++)
        for (int l = 0; l < VECTORS; l++)
            vector[l][i] = schedule_vector(s, least(most, all), type);
    for (int64_t at = 0, k = 0; at < all; at += most, k++) {
        int64_t n = least(most, all - at), next = at == 0 ? 0 : at + n;
        void *own = coll_element(sum, at, type);

        /* The next ones may come meanwhile. */
        for (; next <= at + n && next < all; next += n) {
            schedule_lane(s, next / most);
            for (int i = 0; i < tree.children; i++)
                schedule_receive(s, tree.child[i], vector[next / most % VECTORS][i],
                                 least(most, all - next), type);
        }
        schedule_sum(s, p, own, at, n);
        schedule_lane(s, k);
        schedule_wait_lane(s, k);
        /* The nearest first: what it stands for comes right after the own. */
        for (int i = tree.children; i-- > 0;)
            schedule_reduce_after(s, own, vector[k % VECTORS][i], n);
        if (tree.parent >= 0)
            schedule_send(s, tree.parent, own, n, type);
    }
    schedule_wait(s);
    if (tree.parent < 0 && !is_root)
        schedule_send(s, call->root, sum, all, type);
    else if (is_root && tree.parent >= 0)
        schedule_receive(s, interprocess_speaker(p->layout, top, call->root), call->receive, all,
                         type);
    else if (is_root && (void *)sum != call->receive)
        schedule_copy(s, call->receive, all, type, sum, all, type);
}

/* Two processes exchange their sums, segment by segment. */
static void allreduce_pair(schedule_t *s, const interprocess_part_t *p, char *sum)
{
    const coll_call_t *call = p->call;
    const mpi_type_t *type = call->receive_type;
    int64_t all = call->receive_count, most = elements_of(type, SEGMENT);
    int64_t segments = (all + most - 1) / most;
    interprocess_share_t shared = {.part = p, .from = sum, .type = type, .total = all};
    int other = speaker(p, 1 - p->own);
    void *theirs[VECTORS];

    for (int l = 0; l < VECTORS; l++)
        theirs[l] = schedule_vector(s, least(most, all), type);
    for (int64_t k = 0; k <= segments; k++) {
        int64_t at = k * most, n = least(most, all - at);

        if (k < segments) {
            schedule_lane(s, k);
            schedule_receive(s, other, theirs[k % VECTORS], n, type);
            schedule_sum(s, p, coll_element(sum, at, type), at, n);
            schedule_send(s, other, coll_element(sum, at, type), n, type);
        }
        if (k == 0)
            continue;
        at -= most;
        n = least(most, all - at);
        schedule_wait_lane(s, k - 1);
        if (p->own == 0)
            schedule_reduce_after(s, coll_element(sum, at, type), theirs[(k - 1) % VECTORS], n);
        else
            schedule_reduce(s, theirs[(k - 1) % VECTORS], coll_element(sum, at, type), n);
        schedule_share(s, &shared, at, n);
    }
}

/* Processes of a power of two: those that it leaves over join their neighbour first and get the
 * result from it. What a process has stands for an interval of them, so the order stays. */
typedef struct {
    const interprocess_part_t *part;
    int power, over;
    int place; /* among them; -1: its neighbour's */
    char *sum, *theirs;
} pairs_t;

/* The speaker at a place. */
static int pairs_speaker(const pairs_t *a, int place)
{
    return speaker(a->part, place < a->over ? 2 * place : place + a->over);
}

/* Add the fold to a power of two of processes to the schedule; folded processes then wait for the
 * result. */
static void pairs_join(schedule_t *s, pairs_t *a)
{
    const interprocess_part_t *p = a->part;
    const mpi_type_t *type = p->call->receive_type;
    int64_t n = p->call->receive_count;

    a->power = 1;
    while (2 * a->power <= p->layout->parts)
        a->power *= 2;
    a->over = p->layout->parts - a->power;
    a->place = p->own >= 2 * a->over ? p->own - a->over : p->own % 2 == 0 ? p->own / 2 : -1;
    schedule_sum(s, p, a->sum, 0, n);
    if (a->place < 0) {
        schedule_send(s, speaker(p, p->own - 1), a->sum, n, type);
        schedule_wait(s);
        schedule_receive(s, speaker(p, p->own - 1), a->sum, n, type);
        schedule_wait(s);
    } else if (a->place < a->over) {
        schedule_receive(s, speaker(p, p->own + 1), a->theirs, n, type);
        schedule_wait(s);
        schedule_reduce_after(s, a->sum, a->theirs, n);
    }
}

static void pairs_part(schedule_t *s, const pairs_t *a)
{
    if (a->place >= 0 && a->place < a->over)
        schedule_send(s, speaker(a->part, a->part->own + 1), a->sum, a->part->call->receive_count,
                      a->part->call->receive_type);
}

/* Elements that have come from another place, with those that are here. */
static void pairs_reduce(schedule_t *s, const pairs_t *a, int other, int64_t begin, int64_t n)
{
    void *own = coll_element(a->sum, begin, a->part->call->receive_type);

    if (other < a->place)
        schedule_reduce(s, a->theirs, own, n);
    else
        schedule_reduce_after(s, own, a->theirs, n);
}

/* Add an allreduce by recursive doubling to the schedule. */
static void allreduce_doubling(schedule_t *s, const interprocess_part_t *p, void *sum)
{
    const mpi_type_t *type = p->call->receive_type;
    int64_t n = p->call->receive_count;
    pairs_t a = {.part = p, .sum = sum, .theirs = schedule_vector(s, n, type)};

    pairs_join(s, &a);
    for (int d = 1; d < a.power && a.place >= 0; d *= 2) {
        int other = a.place ^ d;

        schedule_receive(s, pairs_speaker(&a, other), a.theirs, n, type);
        schedule_send(s, pairs_speaker(&a, other), sum, n, type);
        schedule_wait(s);
        pairs_reduce(s, &a, other, 0, n);
    }
    pairs_part(s, &a);
}

/* The half of [begin, begin + n) that the process at `place` keeps at distance d. */
static void half_of(int place, int d, int64_t *begin, int64_t *n)
{
    int64_t low = *n / 2;

    *begin += place & d ? low : 0;
    *n = place & d ? *n - low : low;
}

/* Recursive halving: in each round two processes each reduce half of what both have. The halves are
 * exchanged back in the reverse order. */
static void allreduce_halving(schedule_t *s, const interprocess_part_t *p, void *sum)
{
    const mpi_type_t *type = p->call->receive_type;
    int64_t begin = 0, n = p->call->receive_count;
    pairs_t a = {.part = p, .sum = sum, .theirs = schedule_vector(s, n, type)};
    int64_t begins[32], counts[32]; /* the share before each step */
    int steps = 0;

    pairs_join(s, &a);
    for (int d = 1; d < a.power && a.place >= 0; d *= 2, steps++) {
        int other = a.place ^ d;
        int64_t out = begins[steps] = begin, out_count = counts[steps] = n;

        half_of(other, d, &out, &out_count);
        half_of(a.place, d, &begin, &n);
        schedule_receive(s, pairs_speaker(&a, other), a.theirs, n, type);
        schedule_send(s, pairs_speaker(&a, other), coll_element(sum, out, type), out_count, type);
        schedule_wait(s);
        pairs_reduce(s, &a, other, begin, n);
    }
    while (steps-- > 0) {
        int other = a.place ^ 1 << steps;
        int64_t in = begins[steps], in_count = counts[steps];

        half_of(other, 1 << steps, &in, &in_count);
        schedule_receive(s, pairs_speaker(&a, other), coll_element(sum, in, type), in_count, type);
        schedule_send(s, pairs_speaker(&a, other), coll_element(sum, begin, type), n, type);
        schedule_wait(s);
        begin = begins[steps];
        n = counts[steps];
    }
    pairs_part(s, &a);
}

/* Each process reduces one share, which comes round the ring, and then the shares go round. */
static void allreduce_ring(schedule_t *s, const interprocess_part_t *p, void *sum)
{
    const coll_call_t *call = p->call;
    const mpi_type_t *type = call->receive_type;
    int64_t all = call->receive_count;
    int n = p->layout->parts, next = speaker(p, (p->own + 1) % n),
        before = speaker(p, (p->own + n - 1) % n);
    void *theirs = schedule_vector(s, all / n + 1, type);

    schedule_sum(s, p, sum, 0, all);
    for (int step = 0; step < 2 * (n - 1); step++) {
        int out = (p->own - step + 2 * n) % n, in = (out + n - 1) % n;
        int64_t out_begin = all * out / n, out_count = all * (out + 1) / n - out_begin;
        int64_t in_begin = all * in / n, in_count = all * (in + 1) / n - in_begin;
        void *place = coll_element(sum, in_begin, type);

        schedule_receive(s, before, step < n - 1 ? theirs : place, in_count, type);
        schedule_send(s, next, coll_element(sum, out_begin, type), out_count, type);
        schedule_wait(s);
        if (step < n - 1)
            schedule_reduce(s, theirs, place, in_count);
    }
}

/* Add an allreduce by the cheapest algorithm, and the distribution to the members, to the schedule.
 */
static void build_allreduce(schedule_t *s, const interprocess_part_t *p)
{
    const coll_call_t *call = p->call;
    int64_t n = call->receive_count;
    void *sum = sum_buffer(s, p, true, n);
    interprocess_choice_t choice =
        interprocess_choose(p, XY_COLL_ALLREDUCE, (uint64_t)n * call->receive_type->size);

    if (p->layout->parts == 2) {
        allreduce_pair(s, p, sum);
        return;
    }
    if (choice.way == INTERPROCESS_DOUBLING)
        allreduce_doubling(s, p, sum);
    else if (choice.way == INTERPROCESS_RING && call->op->is_commutative)
        allreduce_ring(s, p, sum);
    else
        allreduce_halving(s, p, sum);
    schedule_share(s, &(interprocess_share_t){p, sum, call->receive_type, 0, n, n}, 0, n);
}

/* ---- Reduce_scatter ---- */

static int64_t share_of(const coll_call_t *call, int rank)
{
    return call->receive_counts.data != NULL ? coll_count_at(call->receive_counts, rank)
                                             : call->receive_count;
}

/* The shares of the members of `part`, one after the other, out of a whole vector; or, the other
 * way round, into the receive buffers of those here. */
typedef struct {
    const interprocess_part_t *part;
    int of;
    const char *whole;
    char *shares;
} shares_t;

/* Step: collect the shares of one process's members from the whole result. */
static void do_collect(void *arg)
{
    const shares_t *a = arg;
    const coll_call_t *call = a->part->call;
    const interprocess_layout_t *layout = a->part->layout;
    const mpi_type_t *type = call->receive_type;
    int64_t at = 0, begin = 0;

    for (int r = 0; r < call->comm->size; r++) {
        int64_t n = share_of(call, r);

        if (layout->part_of[r] == a->of) {
            coll_copy(coll_element(a->shares, at, type), n, type,
                      coll_element(a->whole, begin, type), n, type);
            at += n;
        }
        begin += n;
    }
}

/* Step: copy the shares to the members here. */
static void do_deal(void *arg)
{
    const shares_t *a = arg;
    int64_t at = 0;

    for (int m = 0; m < a->part->members; m++) {
        const coll_call_t *call = a->part->calls[m];
        const mpi_type_t *type = call->receive_type;
        int64_t n = share_of(call, call->rank);

        coll_copy(call->receive, n, type, coll_element(a->shares, at, a->part->call->receive_type),
                  n, a->part->call->receive_type);
        at += n;
    }
}

static void schedule_shares(schedule_t *s, schedule_fn fn, const interprocess_part_t *p, int of,
                            const void *whole, void *shares)
{
    shares_t *a = schedule_memory(s, sizeof(*a));

    *a = (shares_t){p, of, whole, shares};
    schedule_do(s, fn, a);
}

static int64_t shares_count(const interprocess_part_t *p, int part)
{
    const interprocess_layout_t *layout = p->layout;
    int64_t n = 0;

    for (int i = layout->begin[part]; i < layout->begin[part + 1]; i++)
        n += share_of(p->call, layout->member[i]);
    return n;
}

/* Each process sends every other one the sums of its members' shares. */
static void build_reduce_scatter(schedule_t *s, const interprocess_part_t *p)
{
    const coll_call_t *call = p->call;
    const mpi_type_t *type = call->receive_type;
    int parts = p->layout->parts;
    int64_t all = 0, own = shares_count(p, p->own);
    void *whole, *mine = schedule_vector(s, own, type), **theirs;

    for (int r = 0; r < call->comm->size; r++)
        all += share_of(call, r);
    whole = schedule_vector(s, all, type);
    theirs = schedule_memory(s, (size_t)parts * sizeof(*theirs));
    for (int i = 1; i < parts; i++) {
        int from = (p->own - i + parts) % parts;

        theirs[from] = schedule_vector(s, own, type);
        schedule_receive(s, speaker(p, from), theirs[from], own, type);
    }
    schedule_sum(s, p, whole, 0, all);
    for (int i = 1; i < parts; i++) {
        int to = (p->own + i) % parts;
        int64_t n = shares_count(p, to);
        void *out = schedule_vector(s, n, type);

        schedule_shares(s, do_collect, p, to, whole, out);
        schedule_send(s, speaker(p, to), out, n, type);
    }
    schedule_shares(s, do_collect, p, p->own, whole, mine);
    schedule_wait(s);
    for (int i = p->own - 1; i >= 0; i--)
        schedule_reduce(s, theirs[i], mine, own);
    for (int i = p->own + 1; i < parts; i++)
        schedule_reduce_after(s, mine, theirs[i], own);
    schedule_shares(s, do_deal, p, p->own, NULL, mine);
}

/* ---- Scans ---- */

/* The vectors of members before each one, here and in the processes before. */
typedef struct {
    const interprocess_part_t *part;
    void *total;     /* of all here */
    void *before;    /* of the processes before */
    void *one, *sum; /* of an exscan */
    bool has_before; /* there are such processes */
} scan_t;

/* scan: each one's sum with those before it here. */
static void do_scan(void *arg)
{
    const scan_t *scan = arg;
    const interprocess_part_t *p = scan->part;
    const mpi_type_t *type = p->call->receive_type;
    int64_t n = p->call->receive_count;

    for (int m = 0; m < p->members; m++) {
        const coll_call_t *call = p->calls[m];

        coll_copy(call->receive, n, type, contribution(call), n, type);
        if (m > 0)
            mpi_op_apply(call->op, p->calls[m - 1]->receive, call->receive, n, type);
    }
    coll_copy(scan->total, n, type, p->calls[p->members - 1]->receive, n, type);
}

static void do_add_before(void *arg)
{
    const scan_t *scan = arg;
    const interprocess_part_t *p = scan->part;
    const mpi_type_t *type = p->call->receive_type;

    for (int m = 0; m < p->members && scan->has_before; m++)
        mpi_op_apply(p->call->op, scan->before, p->calls[m]->receive, p->call->receive_count, type);
}

/* exscan: the total is needed first; a member's own vector may be where its result comes. */
static void do_total(void *arg)
{
    const scan_t *scan = arg;

    do_sum(
        &(sum_t){.part = scan->part, .to = scan->total, .count = scan->part->call->receive_count});
}

/* `sum` is that of all before member m. */
static void do_exscan(void *arg)
{
    scan_t *scan = arg;
    const interprocess_part_t *p = scan->part;
    const mpi_type_t *type = p->call->receive_type;
    int64_t n = p->call->receive_count;
    bool has_sum = scan->has_before;

    if (has_sum)
        coll_copy(scan->sum, n, type, scan->before, n, type);
    for (int m = 0; m < p->members; m++) {
        const coll_call_t *call = p->calls[m];
        void *next = scan->sum;

        coll_copy(scan->one, n, type, contribution(call), n, type);
        if (has_sum) {
            coll_copy(call->receive, n, type, scan->sum, n, type);
            mpi_op_apply(call->op, scan->sum, scan->one, n, type);
        }
        scan->sum = scan->one;
        scan->one = next;
        has_sum = true;
    }
}

/* `before` becomes the sum of the totals of all processes before; `total` is used up. */
static void schedule_scan_parts(schedule_t *s, const interprocess_part_t *p, scan_t *scan)
{
    const mpi_type_t *type = p->call->receive_type;
    int64_t n = p->call->receive_count;
    void *theirs = schedule_vector(s, n, type);

    for (int d = 1; d < p->layout->parts; d <<= 1) {
        if (p->own + d < p->layout->parts)
            schedule_send(s, speaker(p, p->own + d), scan->total, n, type);
        if (p->own >= d)
            schedule_receive(s, speaker(p, p->own - d), theirs, n, type);
        schedule_wait(s);
        if (p->own < d)
            continue;
        if (d == 1)
            schedule_copy(s, scan->before, n, type, theirs, n, type);
        else
            schedule_reduce(s, theirs, scan->before, n);
        schedule_reduce(s, theirs, scan->total, n);
    }
}

/* Add a scan or exclusive scan to the schedule. */
static void build_scan(schedule_t *s, const interprocess_part_t *p)
{
    const mpi_type_t *type = p->call->receive_type;
    int64_t n = p->call->receive_count;
    bool is_exclusive = p->call->kind->collective == XY_COLL_EXSCAN;
    scan_t *scan = schedule_memory(s, sizeof(*scan));

    *scan = (scan_t){.part = p,
                     .total = schedule_vector(s, n, type),
                     .before = schedule_vector(s, n, type),
                     .has_before = p->own > 0};
    if (is_exclusive) {
        scan->one = schedule_vector(s, n, type);
        scan->sum = schedule_vector(s, n, type);
    }
    schedule_do(s, is_exclusive ? do_total : do_scan, scan);
    schedule_scan_parts(s, p, scan);
    schedule_do(s, is_exclusive ? do_exscan : do_add_before, scan);
}

void interprocess_build_reduction(schedule_t *s, const interprocess_part_t *p)
{
    switch (p->call->kind->collective) {
    case XY_COLL_REDUCE:
        build_reduce(s, p);
        break;
    case XY_COLL_ALLREDUCE:
        build_allreduce(s, p);
        break;
    case XY_COLL_SCAN:
    case XY_COLL_EXSCAN:
        build_scan(s, p);
        break;
    default:
        build_reduce_scatter(s, p);
    }
}
