/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * METIS: the processes of a node are cut into as many parts as it has children by METIS's k-way
 * partitioner, from the root down; parts that came out too large are repaired.
 *                                                             Cost = O(edges * depth)
 */
#include <string.h>

#include "place/cut_tree.h"
#include "place/loaded.h"
#include "place/repair.h"
#include "place/strategy_internal.h"

#if XYLEM_HAVE_METIS
#include <metis.h>
#include <pthread.h>
#include <stdlib.h>

/* The functions of the library, once it is loaded. */
static struct {
    __typeof__(&METIS_SetDefaultOptions) set_default_options;
    __typeof__(&METIS_PartGraphKway) part_graph_kway;
    __typeof__(&METIS_PartGraphRecursive) part_graph_recursive;
} metis;

static const place_symbol_t symbols[] = {
    {"METIS_SetDefaultOptions", &metis.set_default_options},
    {"METIS_PartGraphKway", &metis.part_graph_kway},
    {"METIS_PartGraphRecursive", &metis.part_graph_recursive},
    {0},
};

/* METIS seeds rand() and draws from it: one at a time, and the program's own series continues. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_missing(void)
{
    static const char *const files[] = {XYLEM_METIS_FILE, NULL};

    return !place_library_load(files, symbols);
}

/* Edge weights as whole numbers from 1 to a million: METIS takes no others, and adds them up in 32
 * bits. */
static void whole_weights(const place_graph_t *g, idx_t *weight)
{
    double most = 0, sum = 0, scale;

    for (uint32_t k = 0; k < g->first[g->n]; k++) {
        sum += g->w[k];
        if (g->w[k] > most)
            most = g->w[k];
    }
    scale = (double)(INT32_MAX / 4) / (sum / most) - 1;
    scale = scale < 1 ? 1 : scale > 999999 ? 999999 : scale;
    for (uint32_t k = 0; k < g->first[g->n]; k++)
        weight[k] = 1 + (idx_t)(g->w[k] / most * scale);
}

/* Calls METIS with the capacities as part weights; the state of random() is unchanged
 * afterwards. */
static xy_status_t call(const xy_problem_t *q, const place_graph_t *g, uint32_t parts,
                        const uint64_t *room, idx_t *work, real_t *share, uint32_t *part_of)
{
    idx_t n = (idx_t)g->n, one = 1, k = (idx_t)parts, cut, options[METIS_NOPTIONS];
    idx_t *first = work, *to = first + g->n + 1, *w = to + g->first[g->n], *part;
    real_t imbalance = 1.001f;
    char state[256], *numbers;
    double total = 0;
    int rc;

    part = w + g->first[g->n];
    for (uint32_t i = 0; i <= g->n; i++)
        first[i] = (idx_t)g->first[i];
    for (uint32_t i = 0; i < g->first[g->n]; i++)
        to[i] = (idx_t)g->to[i];
    whole_weights(g, w);
    for (uint32_t i = 0; i < parts; i++)
        total += (double)room[i];
    if (total > 1.001 * g->n)
        imbalance = (real_t)(total / g->n);
    for (uint32_t i = 0; i < parts; i++)
        share[i] = (real_t)((double)room[i] / total);
    metis.set_default_options(options);
    options[METIS_OPTION_SEED] = (idx_t)(q->seed & 0x7fffffff);
    pthread_mutex_lock(&lock);
    numbers = initstate(1, state, sizeof(state));
    rc = (parts > 8 ? metis.part_graph_kway : metis.part_graph_recursive)(
        &n, &one, first, to, NULL, NULL, w, &k, share, &imbalance, options, &cut, part);
    setstate(numbers);
    pthread_mutex_unlock(&lock);
    if (rc != METIS_OK)
        return rc == METIS_ERROR_MEMORY ? XY_ENOMEM
               : q->is_trial            ? XY_EINVAL
                                        : xy_fail(XY_EINVAL, "METIS refused the graph");
    for (uint32_t i = 0; i < g->n; i++)
        part_of[i] = (uint32_t)part[i];
    return XY_OK;
}

/* Cuts a graph into parts with METIS; overfull parts are repaired. */
static xy_status_t cut(void *arg, const place_graph_t *g, const uint32_t *ids, uint32_t parts,
                       const uint64_t *room, uint32_t *part_of)
{
    const xy_problem_t *q = arg;
    idx_t *work = xy_malloc(((size_t)2 * g->n + 2 + 2 * (size_t)g->first[g->n]) * sizeof(*work));
    real_t *share = xy_malloc(parts * sizeof(*share));
    xy_status_t st = XY_ENOMEM;

    (void)ids;
    if (g->n <= 1 || g->first[g->n] == 0) { /* METIS wants edges */
        for (uint32_t v = 0; v < g->n; v++)
            part_of[v] = 0;
        st = XY_OK;
    } else if (work != NULL && share != NULL) {
        st = call(q, g, parts, room, work, share, part_of);
    }
    xy_free(work);
    xy_free(share);
    return st == XY_OK ? place_repair_parts(g, parts, room, part_of) : st;
}

static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    if (is_missing())
        return place_library_fail("metis", XYLEM_METIS_FILE);
    return place_cut_tree(q, 0, cut, (void *)(uintptr_t)q, leaf_of);
}

#else

static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    (void)q, (void)leaf_of;
    return place_library_fail("metis", NULL);
}

static bool is_missing(void)
{
    return true;
}

#endif

const xy_strategy_t place_strategy_metis = {
    .name = "metis",
    .describe = "METIS cuts each level of the tree; repaired to exact sizes",
    .is_missing = is_missing,
    .needs_matrix = true,
    .place = place,
};
