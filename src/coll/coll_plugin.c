/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Algorithms of the user: shared objects with the table of include/xylem_plugin.h. Each operation
 * is checked before it becomes part of the graph: it must stay inside the buffers of the call.
 */
#include <xylem_plugin.h>

#include "coll/build.h"

_Static_assert((int)XYLEM_PLUGIN_SEND == (int)XY_BUFFER_SEND &&
                   (int)XYLEM_PLUGIN_RECEIVE == (int)XY_BUFFER_RECEIVE &&
                   (int)XYLEM_PLUGIN_TEMPORARY == (int)COLL_TEMPORARY &&
                   (int)XYLEM_PLUGIN_BUFFERS == (int)COLL_SNAPSHOT,
               "numbers of buffers are passed on as they are");

/* Blocks of count * element bytes in the buffers of a rank; of the root alone where it is rooted.
 */
typedef struct {
    xy_collective_t collective;
    bool sends_all, receives_all; /* one block per rank */
    bool is_sent_by_root, is_received_by_root;
} shape_t;

static const shape_t shapes[] = {
    {XY_COLL_BCAST, false, false, false, false},
    {XY_COLL_REDUCE, false, false, false, true},
    {XY_COLL_ALLREDUCE, false, false, false, false},
    {XY_COLL_SCAN, false, false, false, false},
    {XY_COLL_EXSCAN, false, false, false, false},
    {XY_COLL_GATHER, false, true, false, true},
    {XY_COLL_SCATTER, true, false, true, false},
    {XY_COLL_ALLGATHER, false, true, false, false},
    {XY_COLL_ALLTOALL, true, true, false, false},
    {XY_COLL_REDUCE_SCATTER_BLOCK, true, false, false, false},
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static const shape_t *shape_of(xy_collective_t collective)
{
    for (int i = 0; i < SHAPES; i++)
        if (shapes[i].collective == collective)
            return &shapes[i];
    return NULL;
}

/* Bytes of a buffer of the call. */
static uint64_t room_of(const coll_build_t *b, int rank, int buffer)
{
    const shape_t *s = shape_of(b->q->collective);
    uint64_t all = b->bytes * (uint64_t)b->p;
    bool is_root = rank == b->q->root;

    if (buffer == XY_BUFFER_SEND) {
        bool is_there = b->q->collective != XY_COLL_BCAST && (is_root || !s->is_sent_by_root) &&
                        (!coll_is_in_place(b, rank) || b->q->collective == XY_COLL_SCATTER);

        return !is_there ? 0 : s->sends_all ? all : b->bytes;
    }
    if (b->q->collective == XY_COLL_SCATTER && coll_is_in_place(b, rank))
        return 0;
    if (b->q->collective == XY_COLL_REDUCE_SCATTER_BLOCK && coll_is_in_place(b, rank))
        return all;
    return !is_root && s->is_received_by_root ? 0 : s->receives_all ? all : b->bytes;
}

/* ---- Building ---- */

static void fault(coll_build_t *b, const char *what)
{
    if (b->status == XY_OK)
        b->status = xy_fail(XY_EINVAL, "algorithm %s of %s %s", b->algorithm->name,
                            xy_coll_name(b->q->collective), what);
}

/* Whether an operation of a plug-in stays inside the buffer that it names. */
static bool is_inside(const coll_build_t *b, xylem_spot s, uint64_t bytes)
{
    uint64_t room;

    if (s.rank < 0 || s.rank >= b->p || s.buffer < 0)
        return false;
    if (s.buffer == COLL_SNAPSHOT) /* an input in place */
        room = room_of(b, s.rank, XY_BUFFER_RECEIVE);
    else if (s.buffer >= XYLEM_PLUGIN_BUFFERS)
        return false;
    else if (s.buffer >= XYLEM_PLUGIN_TEMPORARY)
        room = UINT64_C(1) << 40;
    else
        room = room_of(b, s.rank, s.buffer);
    return s.offset <= room && bytes <= room - s.offset;
}

static bool is_allowed(coll_build_t *b, xylem_spot from, xylem_spot to, uint64_t bytes)
{
    if (b->status != XY_OK)
        return false;
    if (!is_inside(b, from, bytes))
        fault(b, "reads outside of the buffers of a rank");
    else if (!is_inside(b, to, bytes) || to.buffer == COLL_SNAPSHOT)
        fault(b, "writes outside of the buffers of a rank");
    else if (to.buffer == XY_BUFFER_SEND && bytes > 0)
        fault(b, "writes to a send buffer");
    return b->status == XY_OK;
}

static xy_spot_t spot(xylem_spot s)
{
    return coll_place(s.rank, s.buffer, s.offset);
}

static xylem_spot input(const xylem_coll_builder *builder, int32_t rank)
{
    const coll_build_t *b = builder->own;
    xy_spot_t s = coll_place(-1, 0, 0);

    if (rank >= 0 && rank < b->p)
        s = coll_input(b, rank);
    return (xylem_spot){s.rank, s.buffer, s.offset};
}

static void copy(xylem_coll_builder *builder, xylem_spot from, xylem_spot to, uint64_t bytes)
{
    coll_build_t *b = builder->own;

    if (is_allowed(b, from, to, bytes))
        coll_move(b, spot(from), spot(to), bytes, 0);
}

static void reduce(xylem_coll_builder *builder, xylem_spot from, xylem_spot to, uint64_t bytes,
                   int is_after)
{
    coll_build_t *b = builder->own;

    if (!is_allowed(b, from, to, bytes))
        return;
    if (bytes % b->q->element != 0 || from.offset % b->q->element != 0 ||
        to.offset % b->q->element != 0)
        fault(b, "reduces a part of an element");
    else
        coll_combine(b, spot(from), spot(to), spot(to), bytes, is_after == 0, 0);
}

static xylem_coll_request request_of(const xy_coll_request_t *q)
{
    return (xylem_coll_request){.collective = xy_coll_name(q->collective),
                                .ranks = q->procs,
                                .root = q->root,
                                .count = q->count,
                                .element = q->element,
                                .is_commutative = q->is_commutative};
}

static void build(coll_build_t *b)
{
    const xylem_algorithm *table = b->algorithm->plugin;
    xylem_coll_request request = request_of(b->q);
    xylem_coll_builder builder = {
        .request = &request, .input = input, .copy = copy, .reduce = reduce, .own = b};

    table->build(&builder);
}

bool coll_plugin_applies(const xy_coll_algorithm_t *a, const xy_coll_request_t *q)
{
    const xylem_algorithm *table = a->plugin;
    xylem_coll_request request = request_of(q);

    return (table->is_commuting == 0 || q->is_commutative) &&
           (table->applies == NULL || table->applies(&request) != 0);
}

/* ---- Loading ---- */

/* Load an algorithm from a shared object and check its table; the caller owns *object_p. */
static xy_status_t make(const char *path, void **object_p)
{
    const xylem_algorithm *t;
    const void *table;
    xy_collective_t does;
    xy_coll_algorithm_t *a;
    xy_status_t st = xy_plugin_load(path, "algorithm", "xylem_plugin_algorithm", &table);

    if (st != XY_OK)
        return st;
    t = table;
    if (t->build == NULL)
        return xy_fail(XY_EINVAL, "algorithm %s has no function 'build' in its table", path);
    if (t->collective == NULL || !xy_coll_parse(t->collective, &does) || shape_of(does) == NULL)
        return xy_fail(XY_EINVAL, "algorithm %s is for '%s', for which there are no plug-ins", path,
                       t->collective != NULL ? t->collective : "");
    a = xy_malloc(sizeof(*a));
    if (a == NULL)
        return xy_fail_memory("loading an algorithm");
    *a = (xy_coll_algorithm_t){.name = path,
                               .collectives = 1u << does,
                               .formula = "",
                               .describe = "a plug-in",
                               .needs = "a call that its plug-in can do",
                               .build = build,
                               .plugin = t};
    *object_p = a;
    return XY_OK;
}

xy_status_t xy_coll_find_plugin(xy_collective_t collective, const char *path,
                                const xy_coll_algorithm_t **algorithm_p)
{
    static xy_plugin_objects_t algorithms = XY_PLUGIN_OBJECTS_INIT;
    const xy_coll_algorithm_t *a;
    void *found;
    xy_status_t st = xy_plugin_find(&algorithms, path, make, &found);

    if (st != XY_OK)
        return st;
    a = found;
    if ((a->collectives & 1u << collective) == 0)
        return xy_fail(XY_EINVAL, "algorithm %s is for %s, not for %s", path,
                       ((const xylem_algorithm *)a->plugin)->collective, xy_coll_name(collective));
    *algorithm_p = a;
    return XY_OK;
}
