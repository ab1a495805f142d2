/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Phases of direct collectives, one rank to a part: what ranks leave for the others, the barrier,
 * the pieces of each rank, the barrier at the end.
 *
 * Everything a rank adds lies between two marks, which is how a barrier finds what comes before it.
 */
#include "coll/build.h"

/* The ranks of the largest group; without memory to count them, all of them. */
static int most_members(const xy_coll_request_t *q)
{
    int *members, most = 1;

    if (q->groups == NULL)
        return 1;
    members = xy_calloc((size_t)q->procs, sizeof(*members));
    if (members == NULL)
        return q->procs;
    for (int r = 0; r < q->procs; r++)
        most = ++members[q->groups[r]] > most ? members[q->groups[r]] : most;
    xy_free(members);
    return most;
}

bool coll_direct_is_spread(const xy_coll_request_t *q)
{
    return q->is_offloaded && xy_direct_is_spread(most_members(q), true);
}

bool coll_direct_is_small(const xy_coll_request_t *q)
{
    return !coll_direct_is_spread(q) && xy_direct_is_small(q->count * q->element);
}

bool coll_direct_is_packed_by_groups(const xy_coll_request_t *q, int blocks)
{
    return coll_direct_is_packed(q, blocks) &&
           xy_direct_is_packed(q->count * q->element, (uint64_t)blocks * (uint64_t)most_members(q));
}

bool coll_direct_is_packed(const xy_coll_request_t *q, int blocks)
{
    return !coll_direct_is_spread(q) &&
           xy_direct_is_packed(q->count * q->element, (uint64_t)blocks);
}

void coll_direct_mark(coll_build_t *b, int rank)
{
    b->mark[rank] = xy_graph_ops(b->graph);
    b->has_marks = true;
}

/* ---- Groups ---- */

static int count_groups(const coll_build_t *b)
{
    int count = 0;

    for (int r = 0; b->q->groups != NULL && r < b->p; r++)
        count += b->q->groups[r] == count;
    return count;
}

int coll_direct_first(const coll_build_t *b, int group)
{
    int r = 0;

    while (b->q->groups[r] != group)
        r++;
    return r;
}

/* An operation without data: the rank comes (which takes a piece's time), or continues (no time).
 */
static xy_op_id_t add_point(coll_build_t *b, int rank, bool is_coming)
{
    xy_spot_t place = coll_place(rank, COLL_TEMPORARY, 0);

    return xy_graph_add(b->graph, &(xy_op_t){.kind = is_coming ? XY_OP_MOVE : XY_OP_COMPUTE,
                                             .actor = rank,
                                             .from = place,
                                             .to = place,
                                             .is_direct = true});
}

static xy_op_id_t add_word(coll_build_t *b, int from, int to)
{
    return xy_graph_add(b->graph, &(xy_op_t){.kind = XY_OP_MOVE,
                                             .actor = to,
                                             .from = coll_place(from, COLL_TEMPORARY, 0),
                                             .to = coll_place(to, XY_BUFFER_RECEIVE, 0)});
}

/* Every rank comes, after what it has done and the last barrier; the first of these operations, the
 * others' follow. Ranks come once: at the end of the work, its core continues for them. */
static xy_op_id_t add_arrivals(coll_build_t *b)
{
    xy_op_id_t first = xy_graph_ops(b->graph);

    b->mark[b->p] = first;
    for (int r = 0; r < b->p; r++) {
        xy_op_id_t op = add_point(b, r, b->met < 0);

        for (xy_op_id_t i = b->mark[r]; b->has_marks && i < b->mark[r + 1]; i++)
            xy_graph_add_edge(b->graph, i, op);
        if (b->met >= 0)
            xy_graph_add_edge(b->graph, b->met + r, op);
    }
    b->has_marks = false;
    return first;
}

/* All ranks of a group have come: it is `rank` that notices. */
static xy_op_id_t add_group(coll_build_t *b, int group, int rank, xy_op_id_t arrivals)
{
    xy_op_id_t op = add_point(b, rank, false);

    for (int r = 0; r < b->p; r++)
        if (b->q->groups[r] == group)
            xy_graph_add_edge(b->graph, arrivals + r, op);
    return op;
}

/* Dissemination between the first ranks of the groups. */
static void meet_groups(coll_build_t *b)
{
    int count = count_groups(b), rounds = coll_log2_ceil(count);
    xy_op_id_t arrivals = add_arrivals(b), groups = xy_graph_ops(b->graph), last = groups;

    for (int g = 0; g < count; g++)
        add_group(b, g, coll_direct_first(b, g), arrivals);
    for (int round = 0; round < rounds; round++) {
        xy_op_id_t words = xy_graph_ops(b->graph);

        for (int g = 0; g < count; g++) {
            int from = (g - (1 << round) + count) % count;
            xy_op_id_t op = add_word(b, coll_direct_first(b, from), coll_direct_first(b, g));

            xy_graph_add_edge(b->graph, last + g, op);
            xy_graph_add_edge(b->graph, last + from, op);
        }
        last = words;
    }
    b->met = xy_graph_ops(b->graph);
    for (int r = 0; r < b->p; r++)
        xy_graph_add_edge(b->graph, last + b->q->groups[r], add_point(b, r, false));
}

/* The last rank of a group, which comes last as a rule, notifies the root. */
static int last_of(const coll_build_t *b, int group)
{
    int r = b->p - 1;

    while (b->q->groups[r] != group)
        r--;
    return r;
}

/* The word of a group from the root, or to it. */
static xy_op_id_t add_root_word(coll_build_t *b, int group, bool is_up)
{
    int root = b->q->root;

    return is_up ? add_word(b, last_of(b, group), root)
                 : add_word(b, root, coll_direct_first(b, group));
}

/* Each of these words has an answer, later, for which no rank waits: its work on both sides is that
 * of another word behind it. */
static void add_answers(coll_build_t *b, xy_op_id_t words, int count, bool is_up)
{
    for (int g = 0; g < count; g++)
        if (g != b->q->groups[b->q->root])
            xy_graph_add_edge(b->graph, words + g, add_root_word(b, g, is_up));
}

/* Words between the root and each group: the first of them, and of the arrivals before. */
typedef struct {
    int count; /* groups */
    xy_op_id_t arrivals, words;
} star_t;

/* False: there are no groups, and all have met. */
static bool star_begin(coll_build_t *b, star_t *s)
{
    s->count = count_groups(b);
    if (s->count == 0) {
        coll_direct_meet(b);
        return false;
    }
    s->arrivals = add_arrivals(b);
    s->words = xy_graph_ops(b->graph);
    return true;
}

/* Answers to the words, and where each rank continues that has come. */
static void star_end(coll_build_t *b, const star_t *s, bool is_up)
{
    add_answers(b, s->words, s->count, is_up);
    b->met = xy_graph_ops(b->graph);
    for (int r = 0; r < b->p; r++)
        xy_graph_add_edge(b->graph, s->arrivals + r, add_point(b, r, false));
}

void coll_direct_from_root(coll_build_t *b)
{
    int root = b->q->root;
    star_t s;

    if (!star_begin(b, &s))
        return;
    for (int g = 0; g < s.count; g++) {
        bool is_own = g == b->q->groups[root];
        xy_op_id_t op = is_own ? add_point(b, root, false) : add_root_word(b, g, false);

        xy_graph_add_edge(b->graph, s.arrivals + root, op);
    }
    star_end(b, &s, false);
    for (int r = 0; r < b->p; r++)
        if (r != root)
            xy_graph_add_edge(b->graph, s.words + b->q->groups[r], b->met + r);
}

void coll_direct_to_root(coll_build_t *b)
{
    int root = b->q->root;
    star_t s;

    if (!star_begin(b, &s))
        return;
    for (int g = 0; g < s.count; g++) {
        if (g == b->q->groups[root]) {
            add_group(b, g, root, s.arrivals);
            continue;
        }
        add_root_word(b, g, true);
        for (int r = 0; r < b->p; r++)
            if (b->q->groups[r] == g)
                xy_graph_add_edge(b->graph, s.arrivals + r, s.words + g);
    }
    star_end(b, &s, true);
    for (int g = 0; g < s.count; g++)
        xy_graph_add_edge(b->graph, s.words + g, b->met + root);
}

/* ---- Barriers ---- */

/* Dissemination: round r of a rank comes after round r - 1 of itself and of the one it hears from,
 * and the first round after all that this one has done. */
void coll_direct_meet(coll_build_t *b)
{
    int rounds = coll_log2_ceil(b->p);

    if (b->q->groups != NULL) {
        meet_groups(b);
        return;
    }
    b->mark[b->p] = xy_graph_ops(b->graph);
    for (int round = 0; round < rounds; round++)
        for (int r = 0; r < b->p; r++) {
            int from = (r - (1 << round) + b->p) % b->p;
            xy_op_id_t op =
                xy_graph_add(b->graph, &(xy_op_t){.kind = XY_OP_MOVE,
                                                  .actor = r,
                                                  .from = coll_place(from, COLL_TEMPORARY, 0),
                                                  .to = coll_place(r, XY_BUFFER_RECEIVE, 0)});

            if (round > 0) {
                xy_graph_add_edge(b->graph, op - b->p, op);
                xy_graph_add_edge(b->graph, op - r - b->p + from, op);
            }
            for (xy_op_id_t i = b->mark[from]; round == 0 && b->has_marks && i < b->mark[from + 1];
                 i++)
                xy_graph_add_edge(b->graph, i, op);
        }
    b->has_marks = false;
    b->met = rounds > 0 ? xy_graph_ops(b->graph) - b->p : -1;
}

void coll_direct_piece(coll_build_t *b)
{
    b->is_piece_open = false;
}

static void add(coll_build_t *b, int actor, xy_op_t *op)
{
    xy_op_id_t id;

    op->actor = actor;
    op->is_direct = true;
    op->is_chained = b->is_piece_open;
    id = xy_graph_add_op(b->graph, op);
    if (b->met >= 0)
        xy_graph_add_edge(b->graph, b->met + actor, id);
    b->is_piece_open = true;
}

void coll_direct_copy(coll_build_t *b, int actor, xy_spot_t from, xy_spot_t to, uint64_t bytes)
{
    xy_op_t op = {.kind = XY_OP_MOVE, .from = from, .to = to, .bytes = bytes};

    if (bytes > 0 && !coll_is_same(from, to))
        add(b, actor, &op);
}

void coll_direct_combine(coll_build_t *b, int actor, xy_spot_t from, xy_spot_t other, xy_spot_t to,
                         uint64_t bytes, bool is_left)
{
    xy_op_t op = {.kind = coll_is_same(other, to) ? XY_OP_REDUCE : XY_OP_COMBINE,
                  .is_left = is_left,
                  .from = from,
                  .other = other,
                  .to = to,
                  .bytes = bytes};

    if (bytes > 0)
        add(b, actor, &op);
}

/* Pieces of a copy or of a slice: no graph has more than about COPIES_MAX copies or SLICES_MAX
 * slices, each by each rank. Only very long buffers come in longer pieces than the runtime's. */
enum { COPIES_MAX = 1 << 22, SLICES_MAX = 1 << 18 };

static uint64_t times_longer(const coll_build_t *b, uint64_t pieces, uint64_t most)
{
    uint64_t pairs = (uint64_t)b->p * (uint64_t)b->p, each = most > pairs ? most / pairs : 1;

    return (pieces + each - 1) / each;
}

void coll_direct_copy_pieces(coll_build_t *b, int actor, xy_spot_t from, xy_spot_t to,
                             uint64_t bytes)
{
    uint64_t longer = times_longer(b, bytes / XY_DIRECT_PIECE, COPIES_MAX);
    uint64_t piece = (longer > 1 ? longer : 1) * XY_DIRECT_PIECE;

    for (uint64_t at = 0; at < bytes; at += piece) {
        coll_direct_piece(b);
        coll_direct_copy(b, actor, coll_shift(from, at), coll_shift(to, at),
                         bytes - at < piece ? bytes - at : piece);
    }
}

xy_spot_t coll_direct_reduce(coll_build_t *b, int actor, uint64_t begin, uint64_t bytes)
{
    xy_spot_t block = coll_place(actor, COLL_TEMPORARY, begin);

    if (b->p == 1)
        return coll_shift(coll_input(b, 0), begin);
    coll_direct_combine(b, actor, coll_shift(coll_input(b, 0), begin),
                        coll_shift(coll_input(b, 1), begin), block, bytes, true);
    for (int r = 2; r < b->p; r++)
        coll_direct_combine(b, actor, coll_shift(coll_input(b, r), begin), block, block, bytes,
                            false);
    return block;
}

void coll_direct_combine_left(coll_build_t *b, int actor, xy_spot_t to)
{
    coll_direct_copy(b, actor, coll_place(b->p - 1, COLL_TEMPORARY, 0), to, b->bytes);
    for (int r = b->p - 2; r >= 0; r--)
        coll_direct_combine(b, actor, coll_place(r, COLL_TEMPORARY, 0), to, to, b->bytes, true);
}

void coll_direct_leave(coll_build_t *b)
{
    for (int r = 0; r < b->p; r++) {
        coll_direct_mark(b, r);
        coll_move(b, coll_input(b, r), coll_place(r, COLL_TEMPORARY, 0), b->bytes, 0);
    }
}

/* The ranks of a group must follow one another where the order of operands counts. */
static bool is_ordered(const coll_build_t *b)
{
    for (int r = 1; r < b->p; r++)
        if (b->q->groups[r] < b->q->groups[r - 1])
            return false;
    return true;
}

bool coll_direct_is_grouped(const coll_build_t *b)
{
    int groups = count_groups(b);

    if (groups == 0 || coll_direct_is_spread(b->q) || (!b->q->is_commutative && !is_ordered(b)))
        return false;
    return xy_direct_is_grouped(b->bytes, groups, most_members(b->q));
}

void coll_direct_leave_groups(coll_build_t *b)
{
    for (int r = 0; r < b->p; r++) {
        int first = coll_direct_first(b, b->q->groups[r]);
        xy_spot_t left = coll_place(first, COLL_TEMPORARY, 0);

        coll_direct_mark(b, r);
        coll_direct_piece(b);
        if (r == first)
            coll_direct_copy(b, r, coll_input(b, r), left, b->bytes);
        else
            coll_direct_combine(b, r, coll_input(b, r), left, left, b->bytes, false);
    }
}

void coll_direct_combine_groups(coll_build_t *b, int actor, xy_spot_t to)
{
    int groups = count_groups(b);

    for (int g = groups - 1; g >= 0; g--) {
        xy_spot_t left = coll_place(coll_direct_first(b, g), COLL_TEMPORARY, 0);

        if (g == groups - 1)
            coll_direct_copy(b, actor, left, to, b->bytes);
        else
            coll_direct_combine(b, actor, left, to, to, b->bytes, true);
    }
}

/* The actor that reduces part i. */
static int actor_of(const coll_build_t *b, int part)
{
    return b->q->groups != NULL ? coll_direct_first(b, part) : part;
}

void coll_direct_slices(coll_build_t *b,
                        void (*piece)(coll_build_t *b, int actor, uint64_t begin, uint64_t bytes))
{
    uint64_t element = b->q->element;
    int64_t n = xy_direct_block_elements(b->bytes, element, b->p, coll_direct_is_spread(b->q));
    int parts = b->q->groups != NULL ? count_groups(b) : b->p;

    coll_direct_meet(b);
    for (int r = 0, part = 0; r < b->p; r++) {
        int64_t begin, end, step;

        coll_direct_mark(b, r);
        if (part == parts || actor_of(b, part) != r)
            continue;
        xy_direct_slice((int64_t)b->q->count, element, part++, parts, &begin, &end);
        step = n * (int64_t)times_longer(b, (uint64_t)((end - begin) / n) | 1, SLICES_MAX);
        for (; begin < end; begin += step) {
            int64_t elements = end - begin < step ? end - begin : step;

            coll_direct_piece(b);
            piece(b, r, (uint64_t)begin * element, (uint64_t)elements * element);
        }
    }
    coll_direct_meet(b);
}

double coll_cost_meet(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_log2_ceil(q->procs) * l->alpha;
}

double coll_cost_slice(const xy_coll_request_t *q)
{
    int64_t begin, end, most = 0;

    for (int r = 0; r < q->procs; r++) {
        xy_direct_slice((int64_t)q->count, q->element, r, q->procs, &begin, &end);
        most = end - begin > most ? end - begin : most;
    }
    return (double)most * (double)q->element;
}
