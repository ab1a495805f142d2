/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A collective algorithm of one's own: allreduce over a tree in which each rank has three children,
 * up to rank 0 and down again.
 *
 *   cc -O2 -shared -fPIC -o ternary.so ternary.c $(pkg-config --cflags xylem)
 *   mpiexec -n 64 --algorithm allreduce=./ternary.so ./app
 */
#include <xylem_plugin.h>

enum { CHILDREN = 3 };

static void build(xylem_coll_builder *b)
{
    const xylem_coll_request *q = b->request;
    uint64_t bytes = q->count * q->element;

    for (int32_t r = 0; r < q->ranks; r++)
        b->copy(b, b->input(b, r), (xylem_spot){r, XYLEM_PLUGIN_RECEIVE, 0}, bytes);
    /* A rank has heard of its children, whose numbers are higher, before it tells its parent. */
    for (int32_t r = q->ranks - 1; r > 0; r--)
        b->reduce(b, (xylem_spot){r, XYLEM_PLUGIN_RECEIVE, 0},
                  (xylem_spot){(r - 1) / CHILDREN, XYLEM_PLUGIN_RECEIVE, 0}, bytes, 1);
    for (int32_t r = 1; r < q->ranks; r++)
        b->copy(b, (xylem_spot){(r - 1) / CHILDREN, XYLEM_PLUGIN_RECEIVE, 0},
                (xylem_spot){r, XYLEM_PLUGIN_RECEIVE, 0}, bytes);
}

const xylem_algorithm xylem_plugin_algorithm = {
    .version = XYLEM_PLUGIN_VERSION,
    .collective = "allreduce",
    .is_commuting = 1,
    .build = build,
};
