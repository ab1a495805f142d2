/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcasts between processes: pieces go down a tree or a chain of processes while the members
 * here get those that have come; or each process gets its part of the vector first, and then they
 * gather the parts.
 */
#include "mpi/coll/spread.h"

#include "mpi/runtime/runtime.h"

/* ---- The same for all members ---- */

/* Where both are plain bytes, piece by piece; otherwise all of it when the last one has come. */
static void share_chunk(void *arg, int64_t m)
{
    const spread_share_t *share = arg;
    const coll_call_t *call = share->part->calls[m];
    const mpi_type_t *type = share->type;
    size_t begin = (size_t)share->begin * type->size, bytes = (size_t)share->count * type->size;

    if (coll_is_same(call->receive, call->receive_type, share->from, type))
        return;
    if (mpi_type_is_contiguous(type) && mpi_type_is_contiguous(call->receive_type))
        spread_copy((char *)call->receive + begin, (const char *)share->from + begin, bytes,
                    (uint64_t)share->total * type->size * (uint64_t)share->part->members);
    else if (share->begin + share->count == share->total)
        coll_copy(call->receive, call->receive_count, call->receive_type, share->from, share->total,
                  type);
}

static void do_share(void *arg)
{
    const spread_share_t *share = arg;

    mpi_parallel_run(share_chunk, arg, share->part->members);
    /* Other processes wait for what this one has for them, and this may have taken long. */
    mpi_network_look(share->part->call->comm->owner->worker);
}

void script_share(script_t *s, const spread_share_t *all, int64_t begin, int64_t count)
{
    spread_share_t *share = script_memory(s, sizeof(*share));

    *share = *all;
    share->begin = begin;
    share->count = count;
    script_do(s, do_share, share);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- Down a tree ---- */

static void send_down(script_t *s, const spread_tree_t *tree, const spread_share_t *all, int64_t at,
                      int64_t n)
{
    for (int i = 0; i < tree->children; i++)
        script_send(s, tree->child[i], coll_element(all->from, at, all->type), n, all->type);
}

/* The root has all of it: other processes take the pieces while the members here get theirs. */
static void bcast_root(script_t *s, const spread_tree_t *tree, const spread_share_t *all,
                       int64_t most)
{
    for (int64_t at = 0; at < all->total; at += most)
        send_down(s, tree, all, at, least(most, all->total - at));
    for (int64_t at = 0; at < all->total; at += most)
        script_share(s, all, at, least(most, all->total - at));
}

/* Pieces go down the tree of processes, and into the buffers of the members. The next one may come
 * meanwhile. */
static void bcast_pieces(script_t *s, const spread_tree_t *tree, const spread_share_t *all,
                         int64_t most)
{
    const mpi_type_t *type = all->type;

    for (int64_t at = 0, k = 0; at < all->total; at += most, k++) {
        int64_t n = least(most, all->total - at), next = at == 0 ? 0 : at + n;

        for (; next <= at + n && next < all->total; next += n) {
            script_lane(s, next / most);
            script_receive(s, tree->parent, coll_element(all->from, next, type),
                           least(most, all->total - next), type);
        }
        script_lane(s, k);
        script_wait_lane(s, k);
        send_down(s, tree, all, at, n);
        script_share(s, all, at, n);
    }
}

/* ---- Scattered and gathered ---- */

typedef struct {
    const spread_part_t *part;
    const spread_share_t *all;
    int own; /* the distance from the root's process */
} scattered_t;

/* Where the part of the process at distance `v` begins; of `parts`: the end. */
static int64_t begin_of(const scattered_t *b, int v)
{
    return b->all->total / b->part->layout->parts * v +
           least(v, b->all->total % b->part->layout->parts);
}

static int speaker_at(const scattered_t *b, int v)
{
    const spread_layout_t *s = b->part->layout;
    int root = b->part->call->root;

    return spread_speaker(s, (v + s->part_of[root]) % s->parts, root);
}

/* The parts of the processes at distances [v, v + n), which may go round. */
static void move_parts(script_t *s, const scattered_t *b, int peer, int v, int n, bool is_send)
{
    int parts = b->part->layout->parts, end = v + n < parts ? v + n : parts;

    for (int turn = 0; turn < 2; turn++, v = 0, end = n) {
        int64_t begin = begin_of(b, v), bytes = begin_of(b, end) - begin;
        char *at = (char *)(uintptr_t)b->all->from + begin;

        n -= end - v;
        if (bytes > 0 && is_send)
            script_send(s, speaker_at(b, peer), at, bytes, b->all->type);
        else if (bytes > 0)
            script_receive(s, speaker_at(b, peer), at, bytes, b->all->type);
        if (n == 0)
            return;
    }
}

/* A binomial tree: what is below a process is the parts that follow its own. */
static void scatter(script_t *s, const scattered_t *b)
{
    int parts = b->part->layout->parts, bit = 1;

    while (bit < parts && (b->own & bit) == 0)
        bit <<= 1;
    if (b->own > 0) {
        move_parts(s, b, b->own - bit, b->own, bit < parts - b->own ? bit : parts - b->own, false);
        script_wait(s);
    }
    for (bit >>= 1; bit > 0; bit >>= 1)
        if (b->own + bit < parts)
            move_parts(s, b, b->own + bit, b->own + bit,
                       bit < parts - b->own - bit ? bit : parts - b->own - bit, true);
}

/* Each round doubles what a process has: its own part and those that follow. The root has all. */
static void bcast_scatter(script_t *s, const spread_part_t *p, const spread_share_t *all)
{
    int parts = p->layout->parts;
    scattered_t b = {.part = p, .all = all};

    b.own = (p->own - p->layout->part_of[p->call->root] + parts) % parts;
    scatter(s, &b);
    for (int d = 1; d < parts; d *= 2) {
        int n = d < parts - d ? d : parts - d;
        int to = (b.own - d + parts) % parts, from = (b.own + d) % parts;

        script_wait(s);
        if (to != 0)
            move_parts(s, &b, to, b.own, n, true);
        if (b.own != 0)
            move_parts(s, &b, from, from, n, false);
    }
    script_wait(s);
    script_share(s, all, 0, all->total);
}

/* Types may cut the same bytes into other elements elsewhere: a long one goes as bytes. */
void spread_build_bcast(script_t *s, const spread_part_t *p)
{
    const coll_call_t *call = p->call;
    const mpi_type_t *type = call->receive_type;
    int64_t bytes = (int64_t)((uint64_t)call->receive_count * type->size);
    spread_share_t all = {
        .part = p, .from = call->receive, .type = type, .total = call->receive_count};
    spread_choice_t choice = spread_choose(p, XY_COLL_BCAST, (uint64_t)bytes);
    bool is_cut = bytes > choice.piece || choice.way == SPREAD_SCATTER;
    spread_tree_t tree;

    spread_tree_parts(p->layout, p->own, p->layout->part_of[call->root], call->root,
                      choice.way == SPREAD_CHAIN, &tree);
    if (is_cut) {
        all.type = spread_bytes_type();
        all.total = bytes;
        if (!mpi_type_is_contiguous(type))
            all.from = script_memory(s, (size_t)bytes);
    }
    if (all.from != call->receive && tree.parent < 0)
        script_copy(s, (void *)(uintptr_t)all.from, bytes, all.type, call->receive,
                    call->receive_count, type);
    if (choice.way == SPREAD_SCATTER) {
        bcast_scatter(s, p, &all);
    } else if (is_cut && tree.parent < 0) {
        bcast_root(s, &tree, &all, choice.piece);
    } else if (is_cut) {
        bcast_pieces(s, &tree, &all, choice.piece);
    } else {
        if (tree.parent >= 0) {
            script_receive(s, tree.parent, call->receive, call->receive_count, type);
            script_wait(s);
        }
        send_down(s, &tree, &all, 0, all.total);
        script_share(s, &all, 0, all.total);
    }
}
