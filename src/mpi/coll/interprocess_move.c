/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedules that move data between all members of a process and other processes.
 *
 * Broadcasts: pieces go down a tree or a chain of processes while the members here get those that
 * have come; or each process gets its part of the vector first, and then they gather the parts.
 *
 * Gather, scatter, allgather, alltoall: what the members of one process have for those of another
 * goes in one message, packed; large blocks follow in messages of their own, straight from buffer
 * to buffer. Inside the process blocks are copied.
 */
#include "mpi/coll/interprocess.h"

#include "mpi/runtime/runtime.h"

/* Bytes from which on a block is not packed with others. */
enum { ALONE_FROM = 32 << 10 };

/* ---- The same for all members ---- */

/* Bytes of a copy that takes longer than a look at the network. */
enum { LOOK_FROM = 16 << 10 };

/* Where both are plain bytes, piece by piece; otherwise all of it when the last one has come. */
static void share_chunk(void *arg, int64_t m)
{
    const interprocess_share_t *share = arg;
    const coll_call_t *call = share->part->calls[m];
    const mpi_type_t *type = share->type;
    mpi_worker_t *owner = share->part->call->comm->owner->worker;
    size_t begin = (size_t)share->begin * type->size, bytes = (size_t)share->count * type->size;

    if (coll_is_same(call->receive, call->receive_type, share->from, type))
        return;
    if (mpi_type_is_contiguous(type) && mpi_type_is_contiguous(call->receive_type))
        interprocess_copy((char *)call->receive + begin, (const char *)share->from + begin, bytes,
                          (uint64_t)share->total * type->size * (uint64_t)share->part->members);
    else if (share->begin + share->count == share->total)
        coll_copy(call->receive, call->receive_count, call->receive_type, share->from, share->total,
                  type);
    /* Other processes wait for what this one has for them. */
    if (bytes >= LOOK_FROM && xy_worker_self() == owner->base)
        mpi_network_look(owner);
}

static void do_share(void *arg)
{
    const interprocess_share_t *share = arg;

    mpi_parallel_run(share_chunk, arg, share->part->members);
    mpi_network_look(share->part->call->comm->owner->worker);
}

void schedule_share(schedule_t *s, const interprocess_share_t *all, int64_t begin, int64_t count)
{
    interprocess_share_t *share = schedule_memory(s, sizeof(*share));

    *share = *all;
    share->begin = begin;
    share->count = count;
    schedule_do(s, do_share, share);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- Down a tree ---- */

static void send_down(schedule_t *s, const interprocess_tree_t *tree,
                      const interprocess_share_t *all, int64_t at, int64_t n)
{
    for (int i = 0; i < tree->children; i++)
        schedule_send(s, tree->child[i], coll_element(all->from, at, all->type), n, all->type);
}

/* The root has all of it: other processes take the pieces while the members here get theirs. */
static void bcast_root(schedule_t *s, const interprocess_tree_t *tree,
                       const interprocess_share_t *all, int64_t most)
{
    for (int64_t at = 0; at < all->total; at += most)
        send_down(s, tree, all, at, least(most, all->total - at));
    for (int64_t at = 0; at < all->total; at += most)
        schedule_share(s, all, at, least(most, all->total - at));
}

/* Pieces go down the tree of processes, and into the buffers of the members. The next ones may come
 * meanwhile, one in each lane. */
static void bcast_pieces(schedule_t *s, const interprocess_tree_t *tree,
                         const interprocess_share_t *all, int64_t most)
{
    const mpi_type_t *type = all->type;

    for (int64_t at = 0, k = 0; at < all->total; at += most, k++) {
        int64_t n = least(most, all->total - at), ahead = at + (SCHEDULE_LANES - 1) * most;

        for (int64_t next = at == 0 ? 0 : ahead; next <= ahead && next < all->total; next += most) {
            schedule_lane(s, next / most);
            schedule_receive(s, tree->parent, coll_element(all->from, next, type),
                             least(most, all->total - next), type);
        }
        schedule_lane(s, k);
        schedule_wait_lane(s, k);
        send_down(s, tree, all, at, n);
        schedule_share(s, all, at, n);
    }
}

/* ---- Scattered and gathered ---- */

typedef struct {
    const interprocess_part_t *part;
    const interprocess_share_t *all;
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
    const interprocess_layout_t *s = b->part->layout;
    int root = b->part->call->root;

    return interprocess_speaker(s, (v + s->part_of[root]) % s->parts, root);
}

/* The parts of the processes at distances [v, v + n), which may go round. */
static void move_parts(schedule_t *s, const scattered_t *b, int peer, int v, int n, bool is_send)
{
    int parts = b->part->layout->parts, end = v + n < parts ? v + n : parts;

    for (int turn = 0; turn < 2; turn++, v = 0, end = n) {
        int64_t begin = begin_of(b, v), bytes = begin_of(b, end) - begin;
        char *at = (char *)(uintptr_t)b->all->from + begin;

        n -= end - v;
        if (bytes > 0 && is_send)
            schedule_send(s, speaker_at(b, peer), at, bytes, b->all->type);
        else if (bytes > 0)
            schedule_receive(s, speaker_at(b, peer), at, bytes, b->all->type);
        if (n == 0)
            return;
    }
}

/* A binomial tree: what is below a process is the parts that follow its own. */
static void scatter(schedule_t *s, const scattered_t *b)
{
    int parts = b->part->layout->parts, bit = 1;

    while (bit < parts && (b->own & bit) == 0)
        bit <<= 1;
    if (b->own > 0) {
        move_parts(s, b, b->own - bit, b->own, bit < parts - b->own ? bit : parts - b->own, false);
        schedule_wait(s);
    }
    for (bit >>= 1; bit > 0; bit >>= 1)
        if (b->own + bit < parts)
            move_parts(s, b, b->own + bit, b->own + bit,
                       bit < parts - b->own - bit ? bit : parts - b->own - bit, true);
}

/* Each round doubles what a process has: its own part and those that follow. The root has all. */
static void bcast_scatter(schedule_t *s, const interprocess_part_t *p,
                          const interprocess_share_t *all)
{
    int parts = p->layout->parts;
    scattered_t b = {.part = p, .all = all};

    b.own = (p->own - p->layout->part_of[p->call->root] + parts) % parts;
    scatter(s, &b);
    for (int d = 1; d < parts; d *= 2) {
        int n = d < parts - d ? d : parts - d;
        int to = (b.own - d + parts) % parts, from = (b.own + d) % parts;

        schedule_wait(s);
        if (to != 0)
            move_parts(s, &b, to, b.own, n, true);
        if (b.own != 0)
            move_parts(s, &b, from, from, n, false);
    }
    schedule_wait(s);
    schedule_share(s, all, 0, all->total);
}

/* Types may cut the same bytes into other elements elsewhere: a long one goes as bytes. */
static void build_bcast(schedule_t *s, const interprocess_part_t *p)
{
    const coll_call_t *call = p->call;
    const mpi_type_t *type = call->receive_type;
    int64_t bytes = (int64_t)((uint64_t)call->receive_count * type->size);
    interprocess_share_t all = {
        .part = p, .from = call->receive, .type = type, .total = call->receive_count};
    interprocess_choice_t choice = interprocess_choose(p, XY_COLL_BCAST, (uint64_t)bytes);
    bool is_cut = bytes > choice.piece || choice.way == INTERPROCESS_SCATTER;
    interprocess_tree_t tree;

    interprocess_tree_parts(p->layout, p->own, p->layout->part_of[call->root], call->root,
                            choice.way == INTERPROCESS_CHAIN, &tree);
    if (is_cut) {
        all.type = interprocess_bytes_type();
        all.total = bytes;
        if (!mpi_type_is_contiguous(type))
            all.from = schedule_memory(s, (size_t)bytes);
    }
    if (all.from != call->receive && tree.parent < 0)
        schedule_copy(s, (void *)(uintptr_t)all.from, bytes, all.type, call->receive,
                      call->receive_count, type);
    if (choice.way == INTERPROCESS_SCATTER) {
        bcast_scatter(s, p, &all);
    } else if (is_cut && tree.parent < 0) {
        bcast_root(s, &tree, &all, choice.piece);
    } else if (is_cut) {
        bcast_pieces(s, &tree, &all, choice.piece);
    } else {
        if (tree.parent >= 0) {
            schedule_receive(s, tree.parent, call->receive, call->receive_count, type);
            schedule_wait(s);
        }
        send_down(s, &tree, &all, 0, all.total);
        schedule_share(s, &all, 0, all.total);
    }
}

/* ---- Blocks in one message ---- */

/* A block from one member to another. */
typedef struct {
    coll_block_t block; /* here */
    int from, to;
} item_t;

/* The data of one process for another. Blocks whose sizes only the two members know are preceded by
 * their size and type. */
typedef struct {
    const interprocess_part_t *part;
    bool is_said;
    bool is_packed; /* all of it, large ones too */
    int count;
    item_t *items;
    uint64_t bytes; /* of those that are packed */
    char *data;
} bundle_t;

static bundle_t *bundle_new(schedule_t *s, const interprocess_part_t *p, int most)
{
    xy_collective_t c = p->call->kind->collective;
    bundle_t *b = schedule_memory(s, sizeof(*b));

    *b = (bundle_t){.part = p,
                    .is_said = c == XY_COLL_GATHERV || c == XY_COLL_SCATTERV ||
                               c == XY_COLL_ALLTOALLV || c == XY_COLL_ALLTOALLW,
                    .items = schedule_memory(s, (size_t)most * sizeof(item_t))};
    return b;
}

static void bundle_add(bundle_t *b, coll_block_t block, int from, int to)
{
    b->items[b->count++] = (item_t){block, from, to};
}

static bool is_alone(const bundle_t *b, const item_t *item)
{
    return !b->is_packed && coll_block_bytes(&item->block) >= ALONE_FROM;
}

static uint64_t words_bytes(const bundle_t *b)
{
    return b->is_said ? (uint64_t)b->count * sizeof(uint64_t) : 0;
}

static void bundle_close(schedule_t *s, bundle_t *b)
{
    for (int i = 0; i < b->count; i++)
        if (!is_alone(b, &b->items[i]))
            b->bytes += coll_block_bytes(&b->items[i].block);
    b->data = schedule_memory(s, words_bytes(b) + b->bytes);
}

static uint64_t word_of(const coll_block_t *block)
{
    uint16_t signature = block->type->signature;

    if (block->count == 0 || signature >= XMPI_TYPE_TABLE)
        signature = XMPI_SIGNATURE_ANY;
    return coll_block_bytes(block) | (uint64_t)signature << COLL_BYTES_BITS;
}

/* Step: pack all blocks of a bundle that do not travel alone, behind their words if it has these.
 */
static void do_pack(void *arg)
{
    const bundle_t *b = arg;
    uint64_t *words = (uint64_t *)(void *)b->data;
    char *at = b->data + words_bytes(b);

    for (int i = 0; i < b->count; i++) {
        const coll_block_t *block = &b->items[i].block;
        int64_t bytes = (int64_t)coll_block_bytes(block);

        if (b->is_said)
            words[i] = word_of(block);
        if (is_alone(b, &b->items[i]))
            continue;
        coll_copy(at, bytes, interprocess_bytes_type(), block->at, block->count, block->type);
        at += bytes;
    }
}

/* Compare the claim of another member about the block for `item->to` with the receiver's. */
static void compare(const bundle_t *b, const item_t *item, uint64_t word)
{
    const interprocess_layout_t *layout = b->part->layout;
    const coll_call_t *to = b->part->calls[layout->place[item->to]];
    coll_call_t from = *to;
    uint64_t sent = coll_agreed_bytes(word), room = coll_block_bytes(&item->block);
    uint16_t given = coll_agreed_signature(word);

    from.rank = item->from;
    if (sent > room)
        coll_refuse_excess(&from, to, sent, room);
    if (sent > 0 && given != XMPI_SIGNATURE_ANY && given != item->block.type->signature)
        coll_compare_types(&from, given, to, item->block.type->signature, sent);
}

/* Step: unpack a bundle into the blocks of its receivers and compare the sizes. */
static void do_unpack(void *arg)
{
    const bundle_t *b = arg;
    const uint64_t *words = (const uint64_t *)(const void *)b->data;
    const char *at = b->data + words_bytes(b);

    for (int i = 0; i < b->count; i++) {
        const coll_block_t *block = &b->items[i].block;
        uint64_t bytes = b->is_said ? coll_agreed_bytes(words[i]) : coll_block_bytes(block);

        if (b->is_said)
            compare(b, &b->items[i], words[i]);
        if (is_alone(b, &b->items[i]))
            continue;
        coll_copy(block->at, block->count, block->type, at, (int64_t)bytes,
                  interprocess_bytes_type());
        at += bytes;
    }
}

static void schedule_send_bundle(schedule_t *s, bundle_t *b, int to)
{
    bundle_close(s, b);
    if (words_bytes(b) + b->bytes > 0) {
        schedule_do(s, do_pack, b);
        schedule_send(s, to, b->data, (int64_t)(words_bytes(b) + b->bytes),
                      interprocess_bytes_type());
    }
    for (int i = 0; i < b->count; i++)
        if (is_alone(b, &b->items[i]))
            schedule_send(s, to, b->items[i].block.at, b->items[i].block.count,
                          b->items[i].block.type);
}

static void schedule_receive_bundle(schedule_t *s, bundle_t *b, int from)
{
    bundle_close(s, b);
    if (words_bytes(b) + b->bytes > 0)
        schedule_receive(s, from, b->data, (int64_t)(words_bytes(b) + b->bytes),
                         interprocess_bytes_type());
    for (int i = 0; i < b->count; i++)
        if (is_alone(b, &b->items[i]))
            schedule_receive(s, from, b->items[i].block.at, b->items[i].block.count,
                             b->items[i].block.type);
}

static int members_of(const interprocess_layout_t *layout, int part)
{
    return layout->begin[part + 1] - layout->begin[part];
}

static int member(const interprocess_layout_t *layout, int part, int place)
{
    return layout->member[layout->begin[part] + place];
}

/* Inside the process. */
static void move(const coll_call_t *from, coll_block_t given, const coll_call_t *to,
                 coll_block_t taken)
{
    coll_check_room(from, given.count, given.type, to, taken.count, taken.type);
    coll_copy(taken.at, taken.count, taken.type, given.at, given.count, given.type);
}

/* ---- Gather, scatter ---- */

static bool is_gather(const coll_call_t *call)
{
    return call->kind->collective == XY_COLL_GATHER || call->kind->collective == XY_COLL_GATHERV;
}

/* Step: copy blocks between the root and the members in its process. */
static void do_rooted_here(void *arg)
{
    const interprocess_part_t *p = arg;
    const coll_call_t *root = p->call;
    coll_side_t all = coll_side_of(root, !is_gather(root));

    for (int m = 0; m < p->members; m++) {
        const coll_call_t *call = p->calls[m];
        coll_side_t one = coll_side_of(call, is_gather(root));

        if (call == root && call->is_in_place)
            continue;
        if (is_gather(root))
            move(call, coll_block_at(&one, 0), root, coll_block_at(&all, call->rank));
        else
            move(root, coll_block_at(&all, call->rank), call, coll_block_at(&one, 0));
    }
}

/* The data that the root has for, or gets from, the members of another process. */
static bundle_t *rooted_bundle(schedule_t *s, const interprocess_part_t *p, int part)
{
    const coll_call_t *root = p->call;
    int n = members_of(p->layout, part);
    coll_side_t all = coll_side_of(root, !is_gather(root));
    bundle_t *b = bundle_new(s, p, n);

    for (int i = 0; i < n; i++) {
        int r = member(p->layout, part, i);

        bundle_add(b, coll_block_at(&all, r), is_gather(root) ? r : root->rank,
                   is_gather(root) ? root->rank : r);
    }
    return b;
}

/* Add the root's part of a gather or scatter to the schedule, with one bundle per process. */
static void build_root(schedule_t *s, const interprocess_part_t *p)
{
    const interprocess_layout_t *layout = p->layout;
    bundle_t **bundles = schedule_memory(s, (size_t)layout->parts * sizeof(*bundles));

    for (int i = 0; i < layout->parts; i++) {
        if (i == p->own)
            continue;
        bundles[i] = rooted_bundle(s, p, i);
        if (is_gather(p->call))
            schedule_receive_bundle(s, bundles[i], layout->first[i]);
        else
            schedule_send_bundle(s, bundles[i], layout->first[i]);
    }
    schedule_do(s, do_rooted_here, (void *)(uintptr_t)p);
    if (!is_gather(p->call))
        return;
    schedule_wait(s);
    for (int i = 0; i < layout->parts; i++)
        if (i != p->own)
            schedule_do(s, do_unpack, bundles[i]);
}

/* Add a process's part of a gather or scatter to the schedule. */
static void build_rooted(schedule_t *s, const interprocess_part_t *p)
{
    const coll_call_t *call = p->call;
    bundle_t *b;

    if (call->rank == call->root) {
        build_root(s, p);
        return;
    }
    b = bundle_new(s, p, p->members);
    for (int m = 0; m < p->members; m++) {
        coll_side_t one = coll_side_of(p->calls[m], is_gather(call));
        int r = p->calls[m]->rank;

        bundle_add(b, coll_block_at(&one, 0), is_gather(call) ? r : call->root,
                   is_gather(call) ? call->root : r);
    }
    if (is_gather(call)) {
        schedule_send_bundle(s, b, call->root);
        return;
    }
    schedule_receive_bundle(s, b, call->root);
    schedule_wait(s);
    schedule_do(s, do_unpack, b);
}

/* ---- Alltoall ---- */

static coll_block_t given_by(const coll_call_t *call, int to)
{
    coll_side_t side = coll_side_of(call, !call->is_in_place);

    return coll_block_at(&side, to);
}

static coll_block_t taken_by(const coll_call_t *call, int from)
{
    coll_side_t side = coll_side_of(call, false);

    return coll_block_at(&side, from);
}

/* In place, two members exchange their blocks. */
static void swap(const coll_call_t *a, const coll_call_t *b)
{
    coll_block_t of_a = taken_by(a, b->rank), of_b = taken_by(b, a->rank);
    size_t bytes = coll_block_bytes(&of_a);
    void *kept = xy_malloc(bytes);

    if (kept == NULL)
        coll_interprocess_out_of_memory();
    coll_copy(kept, (int64_t)bytes, interprocess_bytes_type(), of_a.at, of_a.count, of_a.type);
    move(b, of_b, a, of_a);
    coll_copy(of_b.at, of_b.count, of_b.type, kept, (int64_t)bytes, interprocess_bytes_type());
    xy_free(kept);
}

/* Step: exchange blocks between the members of this process. */
static void do_alltoall_here(void *arg)
{
    const interprocess_part_t *p = arg;

    for (int i = 0; i < p->members; i++) {
        const coll_call_t *from = p->calls[i];

        for (int j = 0; j < p->members && !from->is_in_place; j++)
            move(from, given_by(from, p->calls[j]->rank), p->calls[j],
                 taken_by(p->calls[j], from->rank));
        for (int j = i + 1; j < p->members && from->is_in_place; j++)
            swap(from, p->calls[j]);
    }
}

/* The bundle of all blocks between this process and another; it lives as long as the schedule. */
static bundle_t *alltoall_bundle(schedule_t *s, const interprocess_part_t *p, int part,
                                 bool is_send)
{
    const interprocess_layout_t *layout = p->layout;
    int from_part = is_send ? p->own : part, to_part = is_send ? part : p->own;
    int froms = members_of(layout, from_part), tos = members_of(layout, to_part);
    bundle_t *b = bundle_new(s, p, froms * tos);

    b->is_packed = p->call->is_in_place; /* received where the others' blocks come */
    for (int i = 0; i < froms; i++)
        for (int j = 0; j < tos; j++) {
            int from = member(layout, from_part, i), to = member(layout, to_part, j);

            bundle_add(b, is_send ? given_by(p->calls[i], to) : taken_by(p->calls[j], from), from,
                       to);
        }
    return b;
}

/* Add one bundle to and one from every other process, and the exchange inside, to the schedule. */
static void build_alltoall(schedule_t *s, const interprocess_part_t *p)
{
    const interprocess_layout_t *layout = p->layout;
    int n = layout->parts;
    bundle_t **bundles = schedule_memory(s, (size_t)n * sizeof(*bundles));

    for (int i = 1; i < n; i++) {
        int from = (p->own - i + n) % n;

        bundles[from] = alltoall_bundle(s, p, from, false);
        schedule_receive_bundle(s, bundles[from], layout->first[from]);
    }
    for (int i = 1; i < n; i++) {
        int to = (p->own + i) % n;

        schedule_send_bundle(s, alltoall_bundle(s, p, to, true), layout->first[to]);
    }
    schedule_do(s, do_alltoall_here, (void *)(uintptr_t)p);
    schedule_wait(s);
    for (int i = 1; i < n; i++)
        schedule_do(s, do_unpack, bundles[(p->own - i + n) % n]);
}

/* ---- Allgather ---- */

/* All blocks as bytes, part by part: where each member's are, and where those of a part begin. */
typedef struct {
    const interprocess_part_t *part;
    char *data;
    uint64_t *at;    /* [size], by rank */
    uint64_t *begin; /* [parts + 1] */
} gathered_t;

/* The receive buffer of the speaker has them in this order, if members do not alternate and all
 * blocks are bytes one after the other. */
static bool is_plain(const interprocess_part_t *p)
{
    return p->layout->is_ordered && p->call->receive_counts.data == NULL &&
           mpi_type_is_contiguous(p->call->receive_type);
}

/* Lay out the blocks of an allgather by processes; the memory belongs to the schedule. */
static gathered_t *gathered_new(schedule_t *s, const interprocess_part_t *p)
{
    const interprocess_layout_t *layout = p->layout;
    coll_side_t receive = coll_side_of(p->call, false);
    gathered_t *g = schedule_memory(s, sizeof(*g));
    uint64_t total = 0;

    g->part = p;
    g->at = schedule_memory(s, (size_t)p->call->comm->size * sizeof(*g->at));
    g->begin = schedule_memory(s, ((size_t)layout->parts + 1) * sizeof(*g->begin));
    for (int i = 0; i < layout->parts; i++) {
        g->begin[i] = total;
        for (int j = layout->begin[i]; j < layout->begin[i + 1]; j++) {
            coll_block_t b = coll_block_at(&receive, layout->member[j]);

            g->at[layout->member[j]] = total;
            total += coll_block_bytes(&b);
        }
    }
    g->begin[layout->parts] = total;
    g->data = is_plain(p) ? p->call->receive : schedule_memory(s, total);
    return g;
}

/* Step: copy the blocks of the members here to their places among the gathered ones. */
static void do_gather_here(void *arg)
{
    const gathered_t *g = arg;
    const interprocess_part_t *p = g->part;
    coll_side_t receive = coll_side_of(p->call, false);

    for (int m = 0; m < p->members; m++) {
        const coll_call_t *call = p->calls[m];
        coll_side_t side = coll_side_of(call, !call->is_in_place);
        coll_block_t own = coll_block_at(&side, call->is_in_place ? call->rank : 0);
        coll_block_t room = coll_block_at(&receive, call->rank);

        coll_check_room(call, own.count, own.type, p->call, room.count, room.type);
        coll_copy(g->data + g->at[call->rank], (int64_t)coll_block_bytes(&room),
                  interprocess_bytes_type(), own.at, own.count, own.type);
    }
}

/* Copy the gathered blocks to one member's buffer; done for members in parallel. */
static void deliver_chunk(void *arg, int64_t m)
{
    const gathered_t *g = arg;
    const coll_call_t *call = g->part->calls[m];
    coll_side_t receive = coll_side_of(call, false);

    if (call->receive == g->data)
        return;
    if (is_plain(g->part) && mpi_type_is_contiguous(call->receive_type)) {
        uint64_t bytes = g->begin[g->part->layout->parts];

        interprocess_copy(call->receive, g->data, bytes, bytes * (uint64_t)g->part->members);
        return;
    }
    for (int r = 0; r < call->comm->size; r++) {
        coll_block_t b = coll_block_at(&receive, r);

        coll_copy(b.at, b.count, b.type, g->data + g->at[r], (int64_t)coll_block_bytes(&b),
                  interprocess_bytes_type());
    }
}

static void do_deliver(void *arg)
{
    const gathered_t *g = arg;

    mpi_parallel_run(deliver_chunk, arg, g->part->members);
}

/* Blocks of the parts from `first` on, `n` of them, which may go round. */
static void move_blocks(schedule_t *s, const gathered_t *g, int peer, int first, int n,
                        bool is_send)
{
    const interprocess_layout_t *layout = g->part->layout;
    int end = first + n < layout->parts ? first + n : layout->parts;

    for (; n > 0; n -= end - first, first = 0, end = n) {
        char *at = g->data + g->begin[first];
        int64_t bytes = (int64_t)(g->begin[end] - g->begin[first]);

        if (is_send)
            schedule_send(s, layout->first[peer], at, bytes, interprocess_bytes_type());
        else
            schedule_receive(s, layout->first[peer], at, bytes, interprocess_bytes_type());
    }
}

/* Each round doubles the parts that a process has: its own and those that follow. */
static void allgather_bruck(schedule_t *s, const gathered_t *g)
{
    int parts = g->part->layout->parts, own = g->part->own;

    schedule_do(s, do_gather_here, (void *)(uintptr_t)g);
    for (int d = 1; d < parts; d *= 2) {
        int n = d < parts - d ? d : parts - d, from = (own + d) % parts;

        move_blocks(s, g, from, from, n, false);
        move_blocks(s, g, (own - d + parts) % parts, own, n, true);
        schedule_wait(s);
    }
}

/* Add an allgather with direct messages between all processes to the schedule. */
static void allgather_linear(schedule_t *s, const gathered_t *g)
{
    const interprocess_layout_t *layout = g->part->layout;
    int n = layout->parts, own = g->part->own;

    for (int i = 1; i < n; i++) {
        int from = (own - i + n) % n;

        schedule_receive(s, layout->first[from], g->data + g->begin[from],
                         (int64_t)(g->begin[from + 1] - g->begin[from]), interprocess_bytes_type());
    }
    schedule_do(s, do_gather_here, (void *)(uintptr_t)g);
    for (int i = 1; i < n; i++)
        schedule_send(s, layout->first[(own + i) % n], g->data + g->begin[own],
                      (int64_t)(g->begin[own + 1] - g->begin[own]), interprocess_bytes_type());
    schedule_wait(s);
}

static void build_allgather(schedule_t *s, const interprocess_part_t *p)
{
    gathered_t *g = gathered_new(s, p);
    uint64_t all = g->begin[p->layout->parts], block = all / (uint64_t)p->layout->parts;

    if (interprocess_choose(p, XY_COLL_ALLGATHER, block).way == INTERPROCESS_BRUCK)
        allgather_bruck(s, g);
    else
        allgather_linear(s, g);
    schedule_do(s, do_deliver, g);
}

/* ---- Barrier ---- */

/* Dissemination. */
static void build_barrier(schedule_t *s, const interprocess_part_t *p)
{
    int n = p->layout->parts;

    for (int d = 1; d < n; d <<= 1) {
        schedule_send(s, p->layout->first[(p->own + d) % n], NULL, 0, interprocess_bytes_type());
        schedule_receive(s, p->layout->first[(p->own - d + n) % n], NULL, 0,
                         interprocess_bytes_type());
        schedule_wait(s);
    }
}

void interprocess_build_move(schedule_t *s, const interprocess_part_t *p)
{
    switch (p->call->kind->collective) {
    case XY_COLL_ALLGATHER:
    case XY_COLL_ALLGATHERV:
        build_allgather(s, p);
        break;
    case XY_COLL_ALLTOALL:
    case XY_COLL_ALLTOALLV:
    case XY_COLL_ALLTOALLW:
        build_alltoall(s, p);
        break;
    case XY_COLL_GATHER:
    case XY_COLL_GATHERV:
    case XY_COLL_SCATTER:
    case XY_COLL_SCATTERV:
        build_rooted(s, p);
        break;
    case XY_COLL_BCAST:
        build_bcast(s, p);
        break;
    default: /* a barrier, or an agreement about nothing */
        build_barrier(s, p);
    }
}
