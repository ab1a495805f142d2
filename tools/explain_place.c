/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem explain place: what a placement costs on each level of the machine, which pairs are far
 * apart, and what other strategies would give. */
#include <stdlib.h>
#include <string.h>

#include "draw/draw.h"
#include "explain.h"
#include "place/place.h"

enum { PAIRS = 5, ROWS_MAX = 32 };

typedef struct {
    xy_matrix_t *matrix;
    xy_machine_t *machine; /* NULL: a torus or mesh */
    xy_target_t *target;
    xy_place_t *place;
} question_t;

static void cleanup(question_t *q)
{
    xy_place_destroy(q->place);
    xy_target_destroy(q->target);
    xy_machine_destroy(q->machine);
    xy_matrix_destroy(q->matrix);
}

static xy_status_t load_target(const char *source, question_t *q)
{
    xy_status_t st;

    if (source != NULL && xy_target_is_grid_text(source))
        return xy_target_grid(source, NULL, &q->target);
    st = xy_machine_load(source, &q->machine);
    if (st == XY_OK)
        st = xy_target_check(q->machine);
    return st == XY_OK ? xy_target_create(q->machine, NULL, &q->target) : st;
}

static xy_status_t compute(const question_t *q, const char *strategy, xy_place_t **place_p)
{
    xy_place_options_t o = {.strategy = strategy, .seed = 1};

    return xy_place_compute(q->matrix, q->target, &o, place_p);
}

/* ---- Levels ---- */

/* The traffic of one level: messages whose way turns there, and their costs. */
typedef struct {
    double bytes, hop_bytes, weighted;
} level_t;

/* Trees: the level of the lowest node above both, from the leaves up; on a core 0. Grids: the
 * number of links between them. */
static uint32_t level_between(const xy_target_t *t, uint32_t a, uint32_t b)
{
    uint32_t x, y;

    if (t->grid.dimensions > 0)
        return (uint32_t)xy_target_hops(t, a, b);
    x = t->node_of[a];
    y = t->node_of[b];
    while (x != y) {
        uint32_t *deeper = t->level[x] >= t->level[y] ? &x : &y;

        *deeper = t->parent[*deeper];
    }
    return a == b ? 0 : t->depth - 1 - t->level[x];
}

static uint32_t count_levels(const xy_target_t *t)
{
    uint32_t sum = 1;

    if (t->grid.dimensions == 0)
        return t->depth;
    for (uint32_t d = 0; d < t->grid.dimensions; d++)
        sum += t->grid.size[d];
    return sum + 2 * XY_MACHINE_DEPTH_MAX;
}

/* "core", "node", ...: what the messages of a level stay within. The level of the target is that of
 * some object of the machine; those that do not branch are left out of the target. */
static const char *level_name(const question_t *q, uint32_t level, char buffer[32])
{
    const xy_target_t *t = q->target;
    uint32_t node = t->node_of[0], object;

    if (t->grid.dimensions > 0) {
        snprintf(buffer, 32, level == 1 ? "%u link" : "%u links", level);
        return buffer;
    }
    if (level == 0)
        return "the same core";
    object = q->machine->leaf[t->logical[0]];
    while (t->level[node] > t->depth - 1 - level)
        node = t->parent[node];
    while (xy_machine_usable(q->machine, object) < t->leaf_count[node] && object != 0)
        object = q->machine->parent[object];
    snprintf(buffer, 32, "one %s", xy_obj_type_name((xy_obj_type_t)q->machine->type[object]));
    return buffer;
}

/* Sums the traffic by the level at which it meets; *levels_p is the caller's to free. */
static xy_status_t sum_levels(const question_t *q, level_t **levels_p)
{
    const xy_matrix_t *m = q->matrix;
    level_t *levels = xy_calloc(count_levels(q->target), sizeof(*levels));

    if (levels == NULL)
        return xy_fail_memory("explaining a placement");
    for (uint32_t i = 0; i < m->n; i++)
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++) {
            uint32_t a = q->place->leaf_of[i], b = q->place->leaf_of[m->to[k]];
            level_t *l = &levels[level_between(q->target, a, b)];

            l->bytes += m->bytes[k];
            l->hop_bytes += m->bytes[k] * xy_target_hops(q->target, a, b);
            l->weighted += m->bytes[k] * xy_target_weighted(q->target, a, b);
        }
    *levels_p = levels;
    return XY_OK;
}

/* ---- Pairs ---- */

typedef struct {
    uint32_t a, b;
    double bytes, weighted; /* of both directions */
} pair_t;

static int dearer(const void *x, const void *y)
{
    const pair_t *a = x, *b = y;

    if (a->weighted != b->weighted)
        return a->weighted > b->weighted ? -1 : 1;
    return a->a != b->a ? (a->a < b->a ? -1 : 1) : a->b < b->b ? -1 : a->b > b->b;
}

static int by_ranks(const void *x, const void *y)
{
    const pair_t *a = x, *b = y;

    return a->a != b->a ? (a->a < b->a ? -1 : 1) : a->b < b->b ? -1 : a->b > b->b;
}

/* Both directions of a pair together; the dearest first. */
static xy_status_t find_pairs(const question_t *q, pair_t **pairs_p, size_t *count_p)
{
    const xy_matrix_t *m = q->matrix;
    pair_t *pairs = xy_malloc((m->first[m->n] + 1) * sizeof(*pairs));
    size_t count = 0, kept = 0;

    if (pairs == NULL)
        return xy_fail_memory("explaining a placement");
    for (uint32_t i = 0; i < m->n; i++)
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++) {
            uint32_t j = m->to[k];

            if (i != j)
                pairs[count++] =
                    (pair_t){i < j ? i : j, i < j ? j : i, m->bytes[k],
                             m->bytes[k] * xy_target_weighted(q->target, q->place->leaf_of[i],
                                                              q->place->leaf_of[j])};
        }
    qsort(pairs, count, sizeof(*pairs), by_ranks);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && by_ranks(&pairs[kept - 1], &pairs[i]) == 0) {
            pairs[kept - 1].bytes += pairs[i].bytes;
            pairs[kept - 1].weighted += pairs[i].weighted;
        } else {
            pairs[kept++] = pairs[i];
        }
    }
    qsort(pairs, kept, sizeof(*pairs), dearer);
    *pairs_p = pairs;
    *count_p = kept;
    return XY_OK;
}

/* ---- Text ---- */

static double share(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* Prints the traffic of each level. */
static void print_levels(const question_t *q, const level_t *levels)
{
    double bytes = 0;
    char name[32];

    for (uint32_t l = 0; l < count_levels(q->target); l++)
        bytes += levels[l].bytes;
    printf("\n%-14s %12s %7s %12s %12s %7s\n", "within", "bytes", "", "hop-bytes", "weighted", "");
    for (uint32_t l = 0; l < count_levels(q->target); l++)
        if (levels[l].bytes > 0 || (q->target->grid.dimensions == 0 && l > 0))
            printf("%-14s %12.6g %5.1f %% %12.6g %12.6g %5.1f %%\n", level_name(q, l, name),
                   levels[l].bytes, share(levels[l].bytes, bytes), levels[l].hop_bytes,
                   levels[l].weighted, share(levels[l].weighted, q->place->cost.weighted));
}

/* Prints the pairs of ranks that cost most. */
static void print_pairs(const question_t *q, const pair_t *pairs, size_t count)
{
    const xy_target_t *t = q->target;
    char name[32], size[32];

    printf("\nthe pairs that cost most\n");
    for (size_t i = 0; i < count && i < PAIRS && pairs[i].weighted > 0; i++) {
        uint32_t a = q->place->leaf_of[pairs[i].a], b = q->place->leaf_of[pairs[i].b];

        printf("ranks %u and %u on cores %u and %u: %s, %s, %.1f %% of the cost\n", pairs[i].a,
               pairs[i].b, t->logical[a], t->logical[b],
               xy_format_size((uint64_t)pairs[i].bytes, size),
               level_name(q, level_between(t, a, b), name),
               share(pairs[i].weighted, q->place->cost.weighted));
    }
}

/* Prints the costs of other strategies relative to this placement's. */
static xy_status_t print_others(const question_t *q)
{
    double cost = q->place->cost.weighted;
    xy_status_t st = XY_OK;

    printf("\nother strategies: weighted cost and busiest link, to this placement's\n");
    for (int i = 0; st == XY_OK && xy_strategies[i] != NULL && i < ROWS_MAX; i++) {
        const xy_strategy_t *s = xy_strategies[i];
        xy_place_t *p;

        if (strcmp(s->name, q->place->strategy) == 0 || !xy_strategy_is_available(s) ||
            (s->limit > 0 && q->matrix->n > s->limit))
            continue;
        st = compute(q, s->name, &p);
        if (st == XY_ELIMIT) { /* it has said so */
            st = XY_OK;
            continue;
        }
        if (st != XY_OK)
            break;
        printf("%-13s %8.4f %8.4f\n", s->name, cost > 0 ? p->cost.weighted / cost : 1,
               q->place->cost.max_load > 0 ? p->cost.max_load / q->place->cost.max_load : 1);
        xy_place_destroy(p);
    }
    return st;
}

static xy_status_t print_text(const question_t *q, const level_t *levels, const pair_t *pairs,
                              size_t count)
{
    xy_place_print_text(q->place, q->target, stdout);
    if (strcmp(q->place->strategy, q->place->winner) != 0)
        printf("%s gave the cheapest answer of all strategies\n", q->place->winner);
    print_levels(q, levels);
    print_pairs(q, pairs, count);
    return print_others(q);
}

/* Writes the levels and the most expensive pairs as JSON. */
static void print_json(const question_t *q, const level_t *levels, const pair_t *pairs,
                       size_t count)
{
    const uint32_t *leaf_of = q->place->leaf_of;
    xy_json_t j;
    char name[32];

    xy_json_init(&j, stdout, true);
    xy_json_begin_object(&j, NULL);
    xy_fields(&j, "strategy %s winner %s hop_bytes %g weighted %g max_load %g", q->place->strategy,
              q->place->winner, q->place->cost.hop_bytes, q->place->cost.weighted,
              q->place->cost.max_load);
    xy_json_begin_array(&j, "levels");
    for (uint32_t l = 0; l < count_levels(q->target); l++)
        xy_fields_object(&j, NULL, "within %s bytes %g hop_bytes %g weighted %g",
                         level_name(q, l, name), levels[l].bytes, levels[l].hop_bytes,
                         levels[l].weighted);
    xy_json_end(&j);
    xy_json_begin_array(&j, "pairs");
    for (size_t i = 0; i < count && i < PAIRS && pairs[i].weighted > 0; i++)
        xy_fields_object(&j, NULL, "a %u b %u core_a %u core_b %u bytes %g weighted %g", pairs[i].a,
                         pairs[i].b, q->target->logical[leaf_of[pairs[i].a]],
                         q->target->logical[leaf_of[pairs[i].b]], pairs[i].bytes,
                         pairs[i].weighted);
    xy_json_end(&j);
    xy_json_end(&j);
}

/* Prints the levels and pairs of a placement. */
static xy_status_t explain(const explain_values_t *v, const question_t *q)
{
    level_t *levels = NULL;
    pair_t *pairs = NULL;
    size_t count = 0;
    xy_status_t st = sum_levels(q, &levels);

    if (st != XY_OK)
        return st;
    st = find_pairs(q, &pairs, &count);
    if (st == XY_OK) {
        if (v->json)
            print_json(q, levels, pairs, count);
        else
            st = print_text(q, levels, pairs, count);
        xy_free(pairs);
    }
    xy_free(levels);
    return st;
}

/* Explains the cost of a placement. */
static xy_status_t run(const explain_values_t *v, int argc, char **argv)
{
    question_t q = {0};
    xy_status_t st = xy_matrix_read(argv[0], &q.matrix);

    if (st == XY_OK)
        st = load_target(v->machine, &q);
    if (st == XY_OK)
        st = compute(&q, argc > 1 ? argv[1] : NULL, &q.place);
    if (st == XY_OK)
        st = explain(v, &q);
    cleanup(&q);
    return st == XY_OK ? xy_stdout_check() : st;
}

const explain_topic_t explain_place = {
    .name = "place",
    .synopsis = "MATRIX [STRATEGY]",
    .summary = "the cost of a placement by level, its dearest pairs, other strategies",
    .arguments_min = 1,
    .arguments_max = 2,
    .run = run,
};
