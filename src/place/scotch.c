/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scotch: its static mapping on a tree-shaped architecture ("tleaf") that carries the weights of
 * the links, on a mesh or on a torus; what came out twice is repaired. The answer moves with the
 * weights: objective hops gives every link 1.
 *
 * A tree that is not regular, or of which leaves are missing, is put into the smallest regular one
 * and the rest is left out of it.                     Cost = O(edges * log leaves)
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "place/loaded.h"
#include "place/repair.h"
#include "place/strategy_internal.h"

#if XYLEM_HAVE_SCOTCH
#include <scotch.h>

/* The functions of the library, once it is loaded. */
static struct {
    __typeof__(&SCOTCH_archInit) arch_init;
    __typeof__(&SCOTCH_archExit) arch_exit;
    __typeof__(&SCOTCH_archTleaf) arch_tleaf;
    __typeof__(&SCOTCH_archSub) arch_sub;
    __typeof__(&SCOTCH_archTorusX) arch_torus_x;
    __typeof__(&SCOTCH_archMeshX) arch_mesh_x;
    __typeof__(&SCOTCH_graphInit) graph_init;
    __typeof__(&SCOTCH_graphBuild) graph_build;
    __typeof__(&SCOTCH_graphExit) graph_exit;
    __typeof__(&SCOTCH_graphMap) graph_map;
    __typeof__(&SCOTCH_stratInit) strat_init;
    __typeof__(&SCOTCH_stratGraphMapBuild) strat_graph_map_build;
    __typeof__(&SCOTCH_stratExit) strat_exit;
    __typeof__(&SCOTCH_randomSeed) random_seed;
    __typeof__(&SCOTCH_randomReset) random_reset;
    __typeof__(&SCOTCH_contextInit) context_init;
    __typeof__(&SCOTCH_contextExit) context_exit;
    __typeof__(&SCOTCH_contextThreadSpawn) context_thread_spawn;
    __typeof__(&SCOTCH_contextBindGraph) context_bind_graph;
} scotch;

static const place_symbol_t symbols[] = {
    {"SCOTCH_archInit", &scotch.arch_init},
    {"SCOTCH_archExit", &scotch.arch_exit},
    {"SCOTCH_archTleaf", &scotch.arch_tleaf},
    {"SCOTCH_archSub", &scotch.arch_sub},
    {"SCOTCH_archTorusX", &scotch.arch_torus_x},
    {"SCOTCH_archMeshX", &scotch.arch_mesh_x},
    {"SCOTCH_graphInit", &scotch.graph_init},
    {"SCOTCH_graphBuild", &scotch.graph_build},
    {"SCOTCH_graphExit", &scotch.graph_exit},
    {"SCOTCH_graphMap", &scotch.graph_map},
    {"SCOTCH_stratInit", &scotch.strat_init},
    {"SCOTCH_stratGraphMapBuild", &scotch.strat_graph_map_build},
    {"SCOTCH_stratExit", &scotch.strat_exit},
    {"SCOTCH_randomSeed", &scotch.random_seed},
    {"SCOTCH_randomReset", &scotch.random_reset},
    {"SCOTCH_contextInit", &scotch.context_init},
    {"SCOTCH_contextExit", &scotch.context_exit},
    {"SCOTCH_contextThreadSpawn", &scotch.context_thread_spawn},
    {"SCOTCH_contextBindGraph", &scotch.context_bind_graph},
    {0},
};

/* Scotch has one series of random numbers for all threads. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_missing(void)
{
    return !place_library_load(XYLEM_SCOTCH_FILE, symbols);
}

/* The regular tree around the target: arity and link weight of each level, and where the target's
 * leaves are in it. */
typedef struct {
    SCOTCH_Num levels;
    SCOTCH_Num arity[64], link[64];
    SCOTCH_Num leaves;
    SCOTCH_Num *leaf; /* number in the regular tree of each leaf of the target */
} hull_t;

static bool hull_arities(const xy_problem_t *q, hull_t *h)
{
    const xy_target_t *t = q->target;
    double leaves = 1;

    h->levels = (SCOTCH_Num)t->depth - 1;
    for (SCOTCH_Num l = 0; l < h->levels; l++) {
        h->arity[l] = 1;
        h->link[l] = 1;
    }
    for (uint32_t i = 0; i < t->nodes; i++) {
        uint32_t l = t->level[i];

        if ((SCOTCH_Num)t->child_count[i] > h->arity[l])
            h->arity[l] = (SCOTCH_Num)t->child_count[i];
        if (i > 0) {
            double link = q->height[i] - q->height[t->parent[i]];

            if (link > (double)h->link[l - 1])
                h->link[l - 1] = link > 1e6 ? 1000000 : (SCOTCH_Num)link;
        }
    }
    for (SCOTCH_Num l = 0; l < h->levels; l++)
        leaves *= (double)h->arity[l];
    h->leaves = (SCOTCH_Num)leaves;
    return leaves <= 1 << 24;
}

/* Number nodes of the target in the hull: parent's number times arity plus place among siblings. */
static xy_status_t hull_leaves(const xy_target_t *t, hull_t *h)
{
    SCOTCH_Num *number = xy_calloc(t->nodes, sizeof(*number));

    h->leaf = xy_malloc((size_t)t->leaves * sizeof(*h->leaf));
    if (number == NULL || h->leaf == NULL) {
        xy_free(number);
        return XY_ENOMEM;
    }
    for (uint32_t i = 1; i < t->nodes; i++) {
        uint32_t parent = t->parent[i];

        number[i] =
            number[parent] * h->arity[t->level[parent]] + (SCOTCH_Num)(i - t->first_child[parent]);
    }
    for (uint32_t leaf = 0; leaf < t->leaves; leaf++) {
        SCOTCH_Num at = number[t->node_of[leaf]];

        for (SCOTCH_Num l = (SCOTCH_Num)t->level[t->node_of[leaf]]; l < h->levels; l++)
            at *= h->arity[l];
        h->leaf[leaf] = at;
    }
    xy_free(number);
    return XY_OK;
}

/* From Scotch's number of a place to the target's leaf. */
static uint32_t *places(const xy_target_t *t, const hull_t *h, SCOTCH_Num count)
{
    uint32_t *place = xy_calloc((size_t)count + 1, sizeof(*place));

    for (uint32_t leaf = 0; place != NULL && leaf < t->leaves; leaf++)
        place[t->dimensions > 0
                  ? (SCOTCH_Num)t->cell[leaf]
                  : ((SCOTCH_Num)t->leaves == h->leaves ? h->leaf[leaf] : (SCOTCH_Num)leaf)] = leaf;
    return place;
}

static int build_architecture(const xy_problem_t *q, const hull_t *h, SCOTCH_Arch *whole,
                              SCOTCH_Arch *arch)
{
    const xy_target_t *t = q->target;
    SCOTCH_Num size[XY_TARGET_DIMENSIONS_MAX];

    if (t->dimensions > 0) {
        for (int d = 0; d < t->dimensions; d++)
            size[d] = (SCOTCH_Num)t->size[d];
        return (t->is_torus ? scotch.arch_torus_x : scotch.arch_mesh_x)(arch, t->dimensions, size);
    }
    if ((SCOTCH_Num)t->leaves == h->leaves)
        return scotch.arch_tleaf(arch, h->levels, h->arity, h->link);
    return scotch.arch_tleaf(whole, h->levels, h->arity, h->link) ||
           scotch.arch_sub(arch, whole, (SCOTCH_Num)t->leaves, h->leaf);
}

/* Scotch wants whole numbers as weights of edges, and adds up their products with distances of at
 * most `diameter` in its whole numbers. */
static void whole_weights(const place_graph_t *g, double diameter, SCOTCH_Num *to,
                          SCOTCH_Num *weight)
{
    double most = 0, sum = 0, scale;

    for (uint32_t k = 0; k < g->first[g->n]; k++) {
        sum += g->w[k];
        if (g->w[k] > most)
            most = g->w[k];
    }
    scale = (double)(SCOTCH_NUMMAX / 2) / diameter / (sum / most) - 1;
    scale = scale < 1 ? 1 : scale > 9999 ? 9999 : scale;
    for (uint32_t k = 0; k < g->first[g->n]; k++) {
        to[k] = (SCOTCH_Num)g->to[k];
        weight[k] = 1 + (SCOTCH_Num)(g->w[k] / most * scale);
    }
}

/* The longest way in the architecture. */
static double diameter_of(const xy_target_t *t, const hull_t *h)
{
    double sum = 1;

    for (int d = 0; d < t->dimensions; d++)
        sum += t->size[d];
    for (SCOTCH_Num l = 0; t->dimensions == 0 && l < h->levels; l++)
        sum += 2 * (double)h->link[l];
    return sum;
}

/* By one thread: what several find depends on which of them is first. */
static int map_alone(const SCOTCH_Graph *graph, const SCOTCH_Arch *arch, SCOTCH_Strat *strat,
                     SCOTCH_Num *answer)
{
    SCOTCH_Context context;
    SCOTCH_Graph bound;
    int rc;

    if (scotch.context_init(&context) != 0)
        return 1;
    scotch.graph_init(&bound);
    rc = scotch.context_thread_spawn(&context, 1, NULL) ||
         scotch.context_bind_graph(&context, graph, &bound) ||
         scotch.graph_map(&bound, arch, strat, answer);
    scotch.graph_exit(&bound);
    scotch.context_exit(&context);
    return rc;
}

static int map(const xy_problem_t *q, const hull_t *h, SCOTCH_Num *work, SCOTCH_Num *answer)
{
    const place_graph_t *g = q->graph;
    SCOTCH_Num edges = (SCOTCH_Num)g->first[g->n];
    SCOTCH_Num *first = work, *to = first + g->n + 1, *weight = to + edges;
    SCOTCH_Arch whole, arch;
    SCOTCH_Graph graph;
    SCOTCH_Strat strat;
    double spare = (double)q->target->leaves / g->n - 1;
    int rc;

    for (uint32_t i = 0; i <= g->n; i++)
        first[i] = (SCOTCH_Num)g->first[i];
    whole_weights(g, diameter_of(q->target, h), to, weight);
    scotch.random_seed((SCOTCH_Num)(q->seed & 0x7fffffff));
    scotch.random_reset();
    scotch.arch_init(&whole);
    scotch.arch_init(&arch);
    scotch.graph_init(&graph);
    scotch.strat_init(&strat);
    rc = build_architecture(q, h, &whole, &arch) ||
         scotch.graph_build(&graph, 0, (SCOTCH_Num)g->n, first, NULL, NULL, NULL, edges, to,
                            weight) ||
         scotch.strat_graph_map_build(&strat, SCOTCH_STRATQUALITY, (SCOTCH_Num)q->target->leaves,
                                      spare > 0.001 ? spare : 0.001) ||
         map_alone(&graph, &arch, &strat, answer);
    scotch.strat_exit(&strat);
    scotch.graph_exit(&graph);
    scotch.arch_exit(&arch);
    scotch.arch_exit(&whole);
    return rc;
}

static xy_status_t place_in_hull(const xy_problem_t *q, const hull_t *h, uint32_t *leaf_of)
{
    const place_graph_t *g = q->graph;
    size_t edges = g->first[g->n];
    SCOTCH_Num *work = xy_malloc((g->n + 1 + 2 * edges) * sizeof(*work));
    SCOTCH_Num *answer = xy_malloc(((size_t)g->n + 1) * sizeof(*answer));
    uint32_t *place =
        places(q->target, h, q->target->dimensions > 0 ? (SCOTCH_Num)q->target->leaves : h->leaves);
    xy_status_t st = XY_ENOMEM;

    if (work != NULL && answer != NULL && place != NULL) {
        int rc;

        pthread_mutex_lock(&lock);
        rc = map(q, h, work, answer);
        pthread_mutex_unlock(&lock);
        st = rc == 0       ? XY_OK
             : q->is_trial ? XY_EINVAL
                           : xy_fail(XY_EINVAL, "Scotch could not map the graph on this machine");
        for (uint32_t v = 0; st == XY_OK && v < g->n; v++)
            leaf_of[v] = answer[v] < 0 ? 0 : place[answer[v]];
    }
    xy_free(work);
    xy_free(answer);
    xy_free(place);
    return st == XY_OK ? place_repair(q, leaf_of) : st;
}

static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    hull_t h = {0};
    xy_status_t st = XY_OK;

    if (is_missing())
        return place_library_fail("scotch", XYLEM_SCOTCH_FILE);
    if (q->target->leaves == 1 || q->graph->n == 1) {
        memset(leaf_of, 0, (size_t)q->graph->n * sizeof(*leaf_of));
        return XY_OK;
    }
    if (q->target->dimensions == 0) {
        if (!hull_arities(q, &h))
            return q->is_trial
                       ? XY_ELIMIT
                       : xy_fail(XY_ELIMIT, "strategy scotch: the machine is too irregular");
        st = hull_leaves(q->target, &h);
    }
    if (st == XY_OK)
        st = place_in_hull(q, &h, leaf_of);
    xy_free(h.leaf);
    return st;
}

#else

static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    (void)q, (void)leaf_of;
    return place_library_fail("scotch", NULL);
}

static bool is_missing(void)
{
    return true;
}

#endif

const xy_strategy_t place_strategy_scotch = {
    .name = "scotch",
    .describe = "Scotch's static mapping with the weights of the links; repaired to exact sizes",
    .is_missing = is_missing,
    .needs_matrix = true,
    .place = place,
};
