/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs: what building and sealing costs, for each operation. */
#include "graph/graph.h"

#include "bench.h"

enum { HANDLES = 1000, RANKS = 64 };

static double finish(xy_graph_t *graph, double begin)
{
    xy_status_t st = xy_graph_finalize(graph);
    double took = bench_now() - begin;

    bench_use(graph);
    xy_graph_destroy(graph);
    return st == XY_OK ? took : -1.0;
}

/* A stencil's shape: each task writes one piece of data and reads its two neighbours. */
static double round_tasks(long n)
{
    double begin = bench_now();
    xy_graph_t *graph;

    if (xy_graph_create(&graph) != XY_OK)
        return -1.0;
    for (int i = 0; i < HANDLES; i++)
        xy_graph_add_data(graph, &(xy_data_t){.bytes = 4096});
    for (long i = 0; i < n; i++) {
        int32_t at = (int32_t)(i % HANDLES);
        xy_access_t accesses[] = {{at, XY_ACCESS_READ_WRITE},
                                  {(at + 1) % HANDLES, XY_ACCESS_READ},
                                  {(at + HANDLES - 1) % HANDLES, XY_ACCESS_READ}};

        xy_graph_add_task(graph, &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 1e-6}, accesses, 3);
    }
    return finish(graph, begin);
}

/* Messages around a ring of ranks, in blocks. */
static double round_places(long n)
{
    double begin = bench_now();
    xy_graph_t *graph;

    if (xy_graph_create(&graph) != XY_OK)
        return -1.0;
    for (long i = 0; i < n; i++) {
        int32_t to = (int32_t)(i % RANKS), from = (to + RANKS - 1) % RANKS;
        uint64_t block = (uint64_t)((from + RANKS - i / RANKS % RANKS) % RANKS);

        xy_graph_add_op(graph, &(xy_op_t){.kind = XY_OP_MOVE,
                                          .from = {from, XY_BUFFER_RECEIVE, block * 1024},
                                          .to = {to, XY_BUFFER_RECEIVE, block * 1024},
                                          .bytes = 1024,
                                          .actor = to});
    }
    return finish(graph, begin);
}

int main(int argc, char **argv)
{
    bench_init(argc, argv);
    bench_rate("graph: build and seal, by data", round_tasks, 1000000, "ns/operation", 1e9);
    bench_rate("graph: build and seal, by places", round_places, 1000000, "ns/operation", 1e9);
    return 0;
}
