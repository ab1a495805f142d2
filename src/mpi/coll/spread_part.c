/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scripts that work for all members of a process: what is inside it is read and written where it
 * lies, and one member speaks with those of other processes. Blocks: spread_blocks.c; broadcasts:
 * spread_bcast.c.
 */
#include "mpi/coll/spread.h"

#include "mpi/runtime/runtime.h"

/* Bytes of sums that two processes exchange while the next ones are made. */
enum { SEGMENT = 256 << 10 };
/* Elements that several workers reduce at the same time, in bytes. */
enum { REDUCE_CHUNK = 32 << 10 };

static int speaker(const spread_part_t *p, int part)
{
    const coll_call_t *call = p->call;

    return call->kind->is_rooted ? spread_speaker(p->layout, part, call->root)
                                 : p->layout->first[part];
}

/* ---- Barrier ---- */

/* Dissemination. */
static void build_barrier(script_t *s, const spread_part_t *p)
{
    int n = p->layout->parts;

    for (int d = 1; d < n; d <<= 1) {
        script_send(s, speaker(p, (p->own + d) % n), NULL, 0, spread_bytes_type());
        script_receive(s, speaker(p, (p->own - d + n) % n), NULL, 0, spread_bytes_type());
        script_wait(s);
    }
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
    const spread_part_t *part;
    void *to;
    int64_t begin, count, chunk;
} sum_t;

static const void *contribution(const coll_call_t *call)
{
    bool is_in_place = call->is_in_place && (!call->kind->is_rooted || call->rank == call->root);

    return is_in_place ? call->receive : call->send;
}

static void sum_elements(const sum_t *sum, int64_t begin, int64_t count)
{
    enum { AT_ONCE = 64 };
    const spread_part_t *p = sum->part;
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
    const spread_part_t *p = sum->part;
    const mpi_type_t *type = p->call->receive_type;

    coll_copy(sum->to, sum->count, type,
              coll_element(contribution(p->calls[p->members - 1]), sum->begin, type), sum->count,
              type);
    for (int m = p->members - 2; m >= 0; m--)
        mpi_op_apply(p->call->op, coll_element(contribution(p->calls[m]), sum->begin, type),
                     sum->to, sum->count, type);
}

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

static void script_sum(script_t *s, const spread_part_t *p, void *to, int64_t begin, int64_t count)
{
    sum_t *sum = script_memory(s, sizeof(*sum));

    *sum = (sum_t){.part = p, .to = to, .begin = begin, .count = count};
    script_do(s, do_sum, sum);
}

/* Where the speaker's sum is made: its receive buffer, if it may be written while the others'
 * vectors are read. */
static void *sum_buffer(script_t *s, const spread_part_t *p, bool has_receive, int64_t count)
{
    const coll_call_t *call = p->call;

    if (has_receive && call->op->is_predefined && (!call->is_in_place || call == p->calls[0]))
        return call->receive;
    return script_vector(s, count, call->receive_type);
}

/* Up a tree or a chain of processes, piece by piece. */
static void build_reduce(script_t *s, const spread_part_t *p)
{
    const coll_call_t *call = p->call;
    const mpi_type_t *type = call->receive_type;
    int64_t all = call->receive_count;
    spread_choice_t choice = spread_choose(p, XY_COLL_REDUCE, (uint64_t)all * type->size);
    int64_t most = elements_of(type, choice.piece);
    bool is_root = call->rank == call->root;
    int top = call->op->is_commutative ? p->layout->part_of[call->root] : 0;
    char *sum = sum_buffer(s, p, is_root, all);
    void *vector[SCRIPT_LANES][SPREAD_CHILDREN];
    spread_tree_t tree;

    spread_tree_parts(p->layout, p->own, top, call->root, choice.way == SPREAD_CHAIN, &tree);
    for (int i = 0; i < tree.children; i++)
        for (int l = 0; l < SCRIPT_LANES; l++)
            vector[l][i] = script_vector(s, least(most, all), type);
    for (int64_t at = 0, k = 0; at < all; at += most, k++) {
        int64_t n = least(most, all - at), next = at == 0 ? 0 : at + n;
        void *own = coll_element(sum, at, type);

        /* The next ones may come meanwhile. */
        for (; next <= at + n && next < all; next += n) {
            script_lane(s, next / most);
            for (int i = 0; i < tree.children; i++)
                script_receive(s, tree.child[i], vector[next / most % SCRIPT_LANES][i],
                               least(most, all - next), type);
        }
        script_sum(s, p, own, at, n);
        script_lane(s, k);
        script_wait_lane(s, k);
        /* The nearest first: what it stands for comes right after the own. */
        for (int i = tree.children; i-- > 0;)
            script_reduce_after(s, own, vector[k % SCRIPT_LANES][i], n);
        if (tree.parent >= 0)
            script_send(s, tree.parent, own, n, type);
    }
    script_wait(s);
    if (tree.parent < 0 && !is_root)
        script_send(s, call->root, sum, all, type);
    else if (is_root && tree.parent >= 0)
        script_receive(s, spread_speaker(p->layout, top, call->root), call->receive, all, type);
    else if (is_root && (void *)sum != call->receive)
        script_copy(s, call->receive, all, type, sum, all, type);
}

/* Two processes exchange their sums, segment by segment. */
static void allreduce_pair(script_t *s, const spread_part_t *p, char *sum)
{
    const coll_call_t *call = p->call;
    const mpi_type_t *type = call->receive_type;
    int64_t all = call->receive_count, most = elements_of(type, SEGMENT);
    int64_t segments = (all + most - 1) / most;
    spread_share_t shared = {.part = p, .from = sum, .type = type, .total = all};
    int other = speaker(p, 1 - p->own);
    void *theirs[SCRIPT_LANES];

    for (int l = 0; l < SCRIPT_LANES; l++)
        theirs[l] = script_vector(s, least(most, all), type);
    for (int64_t k = 0; k <= segments; k++) {
        int64_t at = k * most, n = least(most, all - at);

        if (k < segments) {
            script_lane(s, k);
            script_receive(s, other, theirs[k % SCRIPT_LANES], n, type);
            script_sum(s, p, coll_element(sum, at, type), at, n);
            script_send(s, other, coll_element(sum, at, type), n, type);
        }
        if (k == 0)
            continue;
        at -= most;
        n = least(most, all - at);
        script_wait_lane(s, k - 1);
        if (p->own == 0)
            script_reduce_after(s, coll_element(sum, at, type), theirs[(k - 1) % SCRIPT_LANES], n);
        else
            script_reduce(s, theirs[(k - 1) % SCRIPT_LANES], coll_element(sum, at, type), n);
        script_share(s, &shared, at, n);
    }
}

/* Processes of a power of two: those that it leaves over join their neighbour first and get the
 * result from it. What a process has stands for an interval of them, so the order stays. */
typedef struct {
    const spread_part_t *part;
    int power, over;
    int place; /* among them; -1: its neighbour's */
    char *sum, *theirs;
} pairs_t;

/* Who is at a place. */
static int pairs_speaker(const pairs_t *a, int place)
{
    return speaker(a->part, place < a->over ? 2 * place : place + a->over);
}

static void pairs_join(script_t *s, pairs_t *a)
{
    const spread_part_t *p = a->part;
    const mpi_type_t *type = p->call->receive_type;
    int64_t n = p->call->receive_count;

    a->power = 1;
    while (2 * a->power <= p->layout->parts)
        a->power *= 2;
    a->over = p->layout->parts - a->power;
    a->place = p->own >= 2 * a->over ? p->own - a->over : p->own % 2 == 0 ? p->own / 2 : -1;
    script_sum(s, p, a->sum, 0, n);
    if (a->place < 0) {
        script_send(s, speaker(p, p->own - 1), a->sum, n, type);
        script_wait(s);
        script_receive(s, speaker(p, p->own - 1), a->sum, n, type);
        script_wait(s);
    } else if (a->place < a->over) {
        script_receive(s, speaker(p, p->own + 1), a->theirs, n, type);
        script_wait(s);
        script_reduce_after(s, a->sum, a->theirs, n);
    }
}

static void pairs_part(script_t *s, const pairs_t *a)
{
    if (a->place >= 0 && a->place < a->over)
        script_send(s, speaker(a->part, a->part->own + 1), a->sum, a->part->call->receive_count,
                    a->part->call->receive_type);
}

/* Elements that have come from another place, with those that are here. */
static void pairs_reduce(script_t *s, const pairs_t *a, int other, int64_t begin, int64_t n)
{
    void *own = coll_element(a->sum, begin, a->part->call->receive_type);

    if (other < a->place)
        script_reduce(s, a->theirs, own, n);
    else
        script_reduce_after(s, own, a->theirs, n);
}

static void allreduce_doubling(script_t *s, const spread_part_t *p, void *sum)
{
    const mpi_type_t *type = p->call->receive_type;
    int64_t n = p->call->receive_count;
    pairs_t a = {.part = p, .sum = sum, .theirs = script_vector(s, n, type)};

    pairs_join(s, &a);
    for (int d = 1; d < a.power && a.place >= 0; d *= 2) {
        int other = a.place ^ d;

        script_receive(s, pairs_speaker(&a, other), a.theirs, n, type);
        script_send(s, pairs_speaker(&a, other), sum, n, type);
        script_wait(s);
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

/* Two processes reduce half of what both have each, and go on with other ones; then they give it
 * back in the other order. */
static void allreduce_halving(script_t *s, const spread_part_t *p, void *sum)
{
    const mpi_type_t *type = p->call->receive_type;
    int64_t begin = 0, n = p->call->receive_count;
    pairs_t a = {.part = p, .sum = sum, .theirs = script_vector(s, n, type)};
    int64_t begins[32], counts[32]; /* what it had before each step */
    int steps = 0;

    pairs_join(s, &a);
    for (int d = 1; d < a.power && a.place >= 0; d *= 2, steps++) {
        int other = a.place ^ d;
        int64_t out = begins[steps] = begin, out_count = counts[steps] = n;

        half_of(other, d, &out, &out_count);
        half_of(a.place, d, &begin, &n);
        script_receive(s, pairs_speaker(&a, other), a.theirs, n, type);
        script_send(s, pairs_speaker(&a, other), coll_element(sum, out, type), out_count, type);
        script_wait(s);
        pairs_reduce(s, &a, other, begin, n);
    }
    while (steps-- > 0) {
        int other = a.place ^ 1 << steps;
        int64_t in = begins[steps], in_count = counts[steps];

        half_of(other, 1 << steps, &in, &in_count);
        script_receive(s, pairs_speaker(&a, other), coll_element(sum, in, type), in_count, type);
        script_send(s, pairs_speaker(&a, other), coll_element(sum, begin, type), n, type);
        script_wait(s);
        begin = begins[steps];
        n = counts[steps];
    }
    pairs_part(s, &a);
}

/* Each process reduces one share, which comes round the ring, and then the shares go round. */
static void allreduce_ring(script_t *s, const spread_part_t *p, void *sum)
{
    const coll_call_t *call = p->call;
    const mpi_type_t *type = call->receive_type;
    int64_t all = call->receive_count;
    int n = p->layout->parts, next = speaker(p, (p->own + 1) % n),
        before = speaker(p, (p->own + n - 1) % n);
    void *theirs = script_vector(s, all / n + 1, type);

    script_sum(s, p, sum, 0, all);
    for (int step = 0; step < 2 * (n - 1); step++) {
        int out = (p->own - step + 2 * n) % n, in = (out + n - 1) % n;
        int64_t out_begin = all * out / n, out_count = all * (out + 1) / n - out_begin;
        int64_t in_begin = all * in / n, in_count = all * (in + 1) / n - in_begin;
        void *place = coll_element(sum, in_begin, type);

        script_receive(s, before, step < n - 1 ? theirs : place, in_count, type);
        script_send(s, next, coll_element(sum, out_begin, type), out_count, type);
        script_wait(s);
        if (step < n - 1)
            script_reduce(s, theirs, place, in_count);
    }
}

static void build_allreduce(script_t *s, const spread_part_t *p)
{
    const coll_call_t *call = p->call;
    int64_t n = call->receive_count;
    void *sum = sum_buffer(s, p, true, n);
    spread_choice_t choice =
        spread_choose(p, XY_COLL_ALLREDUCE, (uint64_t)n * call->receive_type->size);

    if (p->layout->parts == 2) {
        allreduce_pair(s, p, sum);
        return;
    }
    if (choice.way == SPREAD_DOUBLING)
        allreduce_doubling(s, p, sum);
    else if (choice.way == SPREAD_RING && call->op->is_commutative)
        allreduce_ring(s, p, sum);
    else
        allreduce_halving(s, p, sum);
    script_share(s, &(spread_share_t){p, sum, call->receive_type, 0, n, n}, 0, n);
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
    const spread_part_t *part;
    int of;
    const char *whole;
    char *shares;
} shares_t;

static void do_collect(void *arg)
{
    const shares_t *a = arg;
    const coll_call_t *call = a->part->call;
    const spread_layout_t *layout = a->part->layout;
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

static void script_shares(script_t *s, script_fn fn, const spread_part_t *p, int of,
                          const void *whole, void *shares)
{
    shares_t *a = script_memory(s, sizeof(*a));

    *a = (shares_t){p, of, whole, shares};
    script_do(s, fn, a);
}

static int64_t shares_count(const spread_part_t *p, int part)
{
    const spread_layout_t *layout = p->layout;
    int64_t n = 0;

    for (int i = layout->begin[part]; i < layout->begin[part + 1]; i++)
        n += share_of(p->call, layout->member[i]);
    return n;
}

/* Each process sends every other one the sums of its members' shares. */
static void build_reduce_scatter(script_t *s, const spread_part_t *p)
{
    const coll_call_t *call = p->call;
    const mpi_type_t *type = call->receive_type;
    int parts = p->layout->parts;
    int64_t all = 0, own = shares_count(p, p->own);
    void *whole, *mine = script_vector(s, own, type), **theirs;

    for (int r = 0; r < call->comm->size; r++)
        all += share_of(call, r);
    whole = script_vector(s, all, type);
    theirs = script_memory(s, (size_t)parts * sizeof(*theirs));
    for (int i = 1; i < parts; i++) {
        int from = (p->own - i + parts) % parts;

        theirs[from] = script_vector(s, own, type);
        script_receive(s, speaker(p, from), theirs[from], own, type);
    }
    script_sum(s, p, whole, 0, all);
    for (int i = 1; i < parts; i++) {
        int to = (p->own + i) % parts;
        int64_t n = shares_count(p, to);
        void *out = script_vector(s, n, type);

        script_shares(s, do_collect, p, to, whole, out);
        script_send(s, speaker(p, to), out, n, type);
    }
    script_shares(s, do_collect, p, p->own, whole, mine);
    script_wait(s);
    for (int i = p->own - 1; i >= 0; i--)
        script_reduce(s, theirs[i], mine, own);
    for (int i = p->own + 1; i < parts; i++)
        script_reduce_after(s, mine, theirs[i], own);
    script_shares(s, do_deal, p, p->own, NULL, mine);
}

/* ---- Scans ---- */

/* The vectors of members before each one, here and in the processes before. */
typedef struct {
    const spread_part_t *part;
    void *total;     /* of all here */
    void *before;    /* of the processes before */
    void *one, *sum; /* of an exscan */
    bool has_before; /* there are such processes */
} scan_t;

/* scan: each one's sum with those before it here. */
static void do_scan(void *arg)
{
    const scan_t *scan = arg;
    const spread_part_t *p = scan->part;
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
    const spread_part_t *p = scan->part;
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
    const spread_part_t *p = scan->part;
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
static void script_scan_parts(script_t *s, const spread_part_t *p, scan_t *scan)
{
    const mpi_type_t *type = p->call->receive_type;
    int64_t n = p->call->receive_count;
    void *theirs = script_vector(s, n, type);

    for (int d = 1; d < p->layout->parts; d <<= 1) {
        if (p->own + d < p->layout->parts)
            script_send(s, speaker(p, p->own + d), scan->total, n, type);
        if (p->own >= d)
            script_receive(s, speaker(p, p->own - d), theirs, n, type);
        script_wait(s);
        if (p->own < d)
            continue;
        if (d == 1)
            script_copy(s, scan->before, n, type, theirs, n, type);
        else
            script_reduce(s, theirs, scan->before, n);
        script_reduce(s, theirs, scan->total, n);
    }
}

static void build_scan(script_t *s, const spread_part_t *p)
{
    const mpi_type_t *type = p->call->receive_type;
    int64_t n = p->call->receive_count;
    bool is_exclusive = p->call->kind->collective == XY_COLL_EXSCAN;
    scan_t *scan = script_memory(s, sizeof(*scan));

    *scan = (scan_t){.part = p,
                     .total = script_vector(s, n, type),
                     .before = script_vector(s, n, type),
                     .has_before = p->own > 0};
    if (is_exclusive) {
        scan->one = script_vector(s, n, type);
        scan->sum = script_vector(s, n, type);
    }
    script_do(s, is_exclusive ? do_total : do_scan, scan);
    script_scan_parts(s, p, scan);
    script_do(s, is_exclusive ? do_exscan : do_add_before, scan);
}

/* ---- All ---- */

bool spread_is_together(const coll_call_t *call)
{
    const spread_layout_t *layout = &call->comm->coll->spread->layout;
    xy_collective_t c = call->kind->collective;

    if (call->kind->is_inter)
        return false;
    if (c == XY_COLL_SCAN || c == XY_COLL_EXSCAN)
        return layout->is_ordered;
    return call->op == NULL || call->op->is_commutative || layout->is_ordered;
}

void spread_build_part(script_t *s, const spread_part_t *p)
{
    switch (p->call->kind->collective) {
    case XY_COLL_BCAST:
        spread_build_bcast(s, p);
        break;
    case XY_COLL_REDUCE:
        build_reduce(s, p);
        break;
    case XY_COLL_ALLREDUCE:
        build_allreduce(s, p);
        break;
    case XY_COLL_REDUCE_SCATTER:
    case XY_COLL_REDUCE_SCATTER_BLOCK:
        build_reduce_scatter(s, p);
        break;
    case XY_COLL_SCAN:
    case XY_COLL_EXSCAN:
        build_scan(s, p);
        break;
    case XY_COLL_GATHER:
    case XY_COLL_GATHERV:
    case XY_COLL_SCATTER:
    case XY_COLL_SCATTERV:
    case XY_COLL_ALLGATHER:
    case XY_COLL_ALLGATHERV:
    case XY_COLL_ALLTOALL:
    case XY_COLL_ALLTOALLV:
    case XY_COLL_ALLTOALLW:
        spread_build_blocks(s, p);
        break;
    default: /* a barrier, or an agreement about nothing */
        build_barrier(s, p);
    }
}
