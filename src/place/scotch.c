/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scotch: its static mapping on a tree-shaped architecture ("tleaf") that carries the weights of
 * the links, on a mesh or on a torus; what came out twice is repaired. The answer moves with the
 * weights: objective hops gives every link 1.
 *
 * A tree that is not regular, or lacks leaves, is put into the smallest regular one
 * and the rest is left out of it.                     Cost = O(edges * log leaves)
 */
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "place/loaded.h"
#include "place/repair.h"
#include "place/strategy_internal.h"

/* The part of Scotch 7's interface that is called, declared here: the development package of Debian
 * depends on an MPI. Objects are opaque; the library allocates them. */
typedef int scotch_num_t; /* SCOTCH_numSizeof() is compared with its size */
enum { SCOTCH_NUM_MAX = INT_MAX, SCOTCH_STRATEGY_QUALITY = 1 };
typedef struct {
    void *(*alloc)(void);
    int (*init)(void *object);
    void (*exit)(void *object);
} kind_t;

/* The functions of the library, once it is loaded. */
static struct {
    int (*num_sizeof)(void);
    void (*mem_free)(void *object);
    void (*random_seed)(scotch_num_t seed);
    void (*random_reset)(void);
    kind_t arch, graph, strat, context;
    int (*arch_tleaf)(void *arch, scotch_num_t levels, const scotch_num_t *arity,
                      const scotch_num_t *link);
    int (*arch_sub)(void *arch, void *whole, scotch_num_t count, const scotch_num_t *leaves);
    int (*arch_torus_x)(void *arch, scotch_num_t dimensions, const scotch_num_t *size);
    int (*arch_mesh_x)(void *arch, scotch_num_t dimensions, const scotch_num_t *size);
    int (*graph_build)(void *graph, scotch_num_t base, scotch_num_t n, const scotch_num_t *first,
                       const scotch_num_t *end, const scotch_num_t *load, const scotch_num_t *label,
                       scotch_num_t edges, const scotch_num_t *to, const scotch_num_t *weight);
    int (*graph_map)(void *graph, const void *arch, void *strat, scotch_num_t *answer);
    int (*strat_graph_map_build)(void *strat, scotch_num_t flags, scotch_num_t parts,
                                 double imbalance);
    int (*context_thread_spawn)(void *context, int threads, const int *cores);
    int (*context_bind_graph)(void *context, const void *graph, void *bound);
} scotch;

static const place_symbol_t symbols[] = {
    {"SCOTCH_numSizeof", &scotch.num_sizeof},
    {"SCOTCH_memFree", &scotch.mem_free},
    {"SCOTCH_randomSeed", &scotch.random_seed},
    {"SCOTCH_randomReset", &scotch.random_reset},
    {"SCOTCH_archAlloc", &scotch.arch.alloc},
    {"SCOTCH_archInit", &scotch.arch.init},
    {"SCOTCH_archExit", &scotch.arch.exit},
    {"SCOTCH_graphAlloc", &scotch.graph.alloc},
    {"SCOTCH_graphInit", &scotch.graph.init},
    {"SCOTCH_graphExit", &scotch.graph.exit},
    {"SCOTCH_stratAlloc", &scotch.strat.alloc},
    {"SCOTCH_stratInit", &scotch.strat.init},
    {"SCOTCH_stratExit", &scotch.strat.exit},
    {"SCOTCH_contextAlloc", &scotch.context.alloc},
    {"SCOTCH_contextInit", &scotch.context.init},
    {"SCOTCH_contextExit", &scotch.context.exit},
    {"SCOTCH_archTleaf", &scotch.arch_tleaf},
    {"SCOTCH_archSub", &scotch.arch_sub},
    {"SCOTCH_archTorusX", &scotch.arch_torus_x},
    {"SCOTCH_archMeshX", &scotch.arch_mesh_x},
    {"SCOTCH_graphBuild", &scotch.graph_build},
    {"SCOTCH_graphMap", &scotch.graph_map},
    {"SCOTCH_stratGraphMapBuild", &scotch.strat_graph_map_build},
    {"SCOTCH_contextThreadSpawn", &scotch.context_thread_spawn},
    {"SCOTCH_contextBindGraph", &scotch.context_bind_graph},
    {0},
};

/* The names of the library in Debian and Ubuntu, and as Scotch's own build installs it. */
static const char *const files[] = {"libscotch-7.0.so", "libscotch.so.7.0", "libscotch.so", NULL};

/* Scotch has one series of random numbers for all threads. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_missing(void)
{
    return !place_library_load(files, symbols) || scotch.num_sizeof() != (int)sizeof(scotch_num_t);
}

/* The regular tree around the target: arity and link weight of each level, and where the target's
 * leaves are in it. */
typedef struct {
    scotch_num_t levels;
    scotch_num_t arity[64], link[64];
    scotch_num_t leaves;
    scotch_num_t *leaf; /* number in the regular tree of each leaf of the target */
} hull_t;

/* Sets arity and link cost of each level of the regular tree around the machine; returns false if
 * it is too large. */
static bool hull_arities(const xy_problem_t *q, hull_t *h)
{
    const xy_target_t *t = q->target;
    double leaves = 1;

    h->levels = (scotch_num_t)t->depth - 1;
    for (scotch_num_t l = 0; l < h->levels; l++) {
        h->arity[l] = 1;
        h->link[l] = 1;
    }
    for (uint32_t i = 0; i < t->nodes; i++) {
        uint32_t l = t->level[i];

        if ((scotch_num_t)t->child_count[i] > h->arity[l])
            h->arity[l] = (scotch_num_t)t->child_count[i];
        if (i > 0) {
            double link = q->height[i] - q->height[t->parent[i]];

            if (link > (double)h->link[l - 1])
                h->link[l - 1] = link > 1e6 ? 1000000 : (scotch_num_t)link;
        }
    }
    for (scotch_num_t l = 0; l < h->levels; l++)
        leaves *= (double)h->arity[l];
    if (leaves > 1 << 24)
        return false;
    h->leaves = (scotch_num_t)leaves;
    return true;
}

/* Number nodes of the target in the hull: parent's number times arity plus place among siblings. */
static xy_status_t hull_leaves(const xy_target_t *t, hull_t *h)
{
    scotch_num_t *number = xy_calloc(t->nodes, sizeof(*number));

    h->leaf = xy_malloc((size_t)t->leaves * sizeof(*h->leaf));
    if (number == NULL || h->leaf == NULL) {
        xy_free(number);
        return XY_ENOMEM;
    }
    for (uint32_t i = 1; i < t->nodes; i++) {
        uint32_t parent = t->parent[i];

        number[i] = number[parent] * h->arity[t->level[parent]] +
                    (scotch_num_t)(i - t->first_child[parent]);
    }
    for (uint32_t leaf = 0; leaf < t->leaves; leaf++) {
        scotch_num_t at = number[t->node_of[leaf]];

        for (scotch_num_t l = (scotch_num_t)t->level[t->node_of[leaf]]; l < h->levels; l++)
            at *= h->arity[l];
        h->leaf[leaf] = at;
    }
    xy_free(number);
    return XY_OK;
}

/* Is the torus or mesh whole, of nodes with one leaf? Scotch has no others. */
static bool has_leaf_in_each_cell(const xy_target_t *t)
{
    for (uint32_t leaf = 0; leaf < t->leaves; leaf++)
        if (t->node_of[leaf] != t->box[leaf])
            return false;
    return t->leaves == xy_grid_cells(&t->grid);
}

/* From Scotch's number of a place to the target's leaf. */
static uint32_t *places(const xy_target_t *t, const hull_t *h, scotch_num_t count)
{
    uint32_t *place = xy_calloc((size_t)count + 1, sizeof(*place));

    for (uint32_t leaf = 0; place != NULL && leaf < t->leaves; leaf++)
        place[t->grid.dimensions > 0
                  ? (scotch_num_t)t->cell[leaf]
                  : ((scotch_num_t)t->leaves == h->leaves ? h->leaf[leaf] : (scotch_num_t)leaf)] =
            leaf;
    return place;
}

/* Builds the Scotch architecture of the machine: a grid, a regular tree or a part of one; returns 0
 * on success. */
static int build_architecture(const xy_problem_t *q, const hull_t *h, void *whole, void *arch)
{
    const xy_target_t *t = q->target;
    scotch_num_t size[XY_GRID_DIMENSIONS_MAX];

    if (t->grid.dimensions > 0) {
        for (uint32_t d = 0; d < t->grid.dimensions; d++)
            size[d] = (scotch_num_t)t->grid.size[d];
        return (t->grid.is_torus ? scotch.arch_torus_x : scotch.arch_mesh_x)(
            arch, (scotch_num_t)t->grid.dimensions, size);
    }
    if ((scotch_num_t)t->leaves == h->leaves)
        return scotch.arch_tleaf(arch, h->levels, h->arity, h->link);
    return scotch.arch_tleaf(whole, h->levels, h->arity, h->link) ||
           scotch.arch_sub(arch, whole, (scotch_num_t)t->leaves, h->leaf);
}

/* Scotch wants whole numbers as weights of edges, and adds up their products with distances of at
 * most `diameter` in its whole numbers. */
static void whole_weights(const place_graph_t *g, double diameter, scotch_num_t *to,
                          scotch_num_t *weight)
{
    double most = 0, sum = 0, scale;

    for (uint32_t k = 0; k < g->first[g->n]; k++) {
        sum += g->w[k];
        if (g->w[k] > most)
            most = g->w[k];
    }
    scale = (double)SCOTCH_NUM_MAX / 2 / diameter / (sum / most) - 1;
    scale = scale < 1 ? 1 : scale > 9999 ? 9999 : scale;
    for (uint32_t k = 0; k < g->first[g->n]; k++) {
        to[k] = (scotch_num_t)g->to[k];
        weight[k] = 1 + (scotch_num_t)(g->w[k] / most * scale);
    }
}

/* The longest way in the architecture. */
static double diameter_of(const xy_target_t *t, const hull_t *h)
{
    double sum = 1;

    for (uint32_t d = 0; d < t->grid.dimensions; d++)
        sum += t->grid.size[d];
    for (scotch_num_t l = 0; t->grid.dimensions == 0 && l < h->levels; l++)
        sum += 2 * (double)h->link[l];
    return sum;
}

/* The initialized objects of one mapping; NULL where memory was short. */
typedef struct {
    void *whole, *arch, *graph, *strat, *context;
    void *bound; /* the graph with the context, which has one thread */
} objects_t;

/* Allocate and initialize an object; NULL when either fails. */
static void *object_new(const kind_t *kind)
{
    void *object = kind->alloc();

    if (object != NULL && kind->init(object) != 0) {
        scotch.mem_free(object);
        return NULL;
    }
    return object;
}

static void object_free(const kind_t *kind, void *object)
{
    if (object != NULL) {
        kind->exit(object);
        scotch.mem_free(object);
    }
}

static bool objects_new(objects_t *o)
{
    o->whole = object_new(&scotch.arch);
    o->arch = object_new(&scotch.arch);
    o->graph = object_new(&scotch.graph);
    o->bound = object_new(&scotch.graph);
    o->strat = object_new(&scotch.strat);
    o->context = object_new(&scotch.context);
    return o->whole != NULL && o->arch != NULL && o->graph != NULL && o->bound != NULL &&
           o->strat != NULL && o->context != NULL;
}

static void objects_free(objects_t *o)
{
    object_free(&scotch.strat, o->strat);
    object_free(&scotch.graph, o->bound);
    object_free(&scotch.context, o->context);
    object_free(&scotch.graph, o->graph);
    object_free(&scotch.arch, o->arch);
    object_free(&scotch.arch, o->whole);
}

/* Map by one thread: the result of several depends on which of them is first. */
static int map(const xy_problem_t *q, const hull_t *h, scotch_num_t *work, scotch_num_t *answer)
{
    const place_graph_t *g = q->graph;
    scotch_num_t edges = (scotch_num_t)g->first[g->n];
    scotch_num_t *first = work, *to = first + g->n + 1, *weight = to + edges;
    double spare = (double)q->target->leaves / g->n - 1;
    objects_t o = {0};
    int rc;

    for (uint32_t i = 0; i <= g->n; i++)
        first[i] = (scotch_num_t)g->first[i];
    whole_weights(g, diameter_of(q->target, h), to, weight);
    scotch.random_seed((scotch_num_t)(q->seed & 0x7fffffff));
    scotch.random_reset();
    rc = !objects_new(&o) || build_architecture(q, h, o.whole, o.arch) ||
         scotch.graph_build(o.graph, 0, (scotch_num_t)g->n, first, NULL, NULL, NULL, edges, to,
                            weight) ||
         scotch.strat_graph_map_build(o.strat, SCOTCH_STRATEGY_QUALITY,
                                      (scotch_num_t)q->target->leaves,
                                      spare > 0.001 ? spare : 0.001) ||
         scotch.context_thread_spawn(o.context, 1, NULL) ||
         scotch.context_bind_graph(o.context, o.graph, o.bound) ||
         scotch.graph_map(o.bound, o.arch, o.strat, answer);
    objects_free(&o);
    return rc;
}

/* Maps the graph with Scotch, under a lock, and repairs overfull leaves. */
static xy_status_t place_in_hull(const xy_problem_t *q, const hull_t *h, uint32_t *leaf_of)
{
    const place_graph_t *g = q->graph;
    size_t edges = g->first[g->n];
    scotch_num_t *work = xy_malloc((g->n + 1 + 2 * edges) * sizeof(*work));
    scotch_num_t *answer = xy_malloc(((size_t)g->n + 1) * sizeof(*answer));
    uint32_t *place = places(
        q->target, h, q->target->grid.dimensions > 0 ? (scotch_num_t)q->target->leaves : h->leaves);
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

/* Places with Scotch; XY_ELIMIT for very irregular trees. */
static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    hull_t h = {0};
    xy_status_t st = XY_OK;

    if (is_missing())
        return place_library_fail("scotch", "Scotch 7 with 32-bit numbers (libscotch-7.0)");
    if (q->target->leaves == 1 || q->graph->n == 1) {
        memset(leaf_of, 0, (size_t)q->graph->n * sizeof(*leaf_of));
        return XY_OK;
    }
    if (q->target->grid.dimensions > 0 ? !has_leaf_in_each_cell(q->target) : !hull_arities(q, &h))
        return q->is_trial ? XY_ELIMIT
                           : xy_fail(XY_ELIMIT, "strategy scotch: the machine is too irregular");
    if (q->target->grid.dimensions == 0)
        st = hull_leaves(q->target, &h);
    if (st == XY_OK)
        st = place_in_hull(q, &h, leaf_of);
    xy_free(h.leaf);
    return st;
}

const xy_strategy_t place_strategy_scotch = {
    .name = "scotch",
    .describe = "Scotch's static mapping with the weights of the links; repaired to exact sizes",
    .is_missing = is_missing,
    .needs_matrix = true,
    .place = place,
};
