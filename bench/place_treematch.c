/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strategy treematch against TreeMatch itself, which Open MPI carries in its component for
 * topologies: what CG, LU and ZeusMP send, and other patterns, in their own order of ranks and
 * relabelled, on full trees. Costs are those of Xylem for both placements; a ratio below 1 means
 * that Xylem's costs less.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "place/place.h"

/* The library's own functions; of its structures only the first member of a solution is read. */
typedef struct {
    int *sigma; /* the core of each process */
} solution_t;

static struct {
    void *(*build_synthetic_topology)(int *arity, double *cost, int levels, int *numbering, int n);
    void (*optimize_topology)(void **topology);
    void *(*build_affinity_mat)(double **mat, int order);
    void *(*build_tree_from_topology)(void *topology, void *affinity, double *weight,
                                      double *speed);
    solution_t *(*compute_mapping)(void *topology, void *tree);
    void (*free_solution)(solution_t *solution);
} tm;

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static bool load(const char *file)
{
    static const struct {
        const char *name;
        void *function;
    } symbols[] = {{"tm_build_synthetic_topology", &tm.build_synthetic_topology},
                   {"tm_optimize_topology", &tm.optimize_topology},
                   {"tm_build_affinity_mat", &tm.build_affinity_mat},
                   {"tm_build_tree_from_topology", &tm.build_tree_from_topology},
                   {"tm_compute_mapping", &tm.compute_mapping},
                   {"tm_free_solution", &tm.free_solution}};
    /* The component leaves the library that it belongs to to its user. */
    void *mpi = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
    void *library = mpi != NULL && *file != '\0' ? dlopen(file, RTLD_LAZY) : NULL;

    if (library == NULL)
        return false;
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        void *address = dlsym(library, symbols[i].name);

        if (address == NULL)
            return false;
        memcpy(symbols[i].function, &address, sizeof(address));
    }
    return true;
}

enum { LEVELS_MAX = 8 };

/* TreeMatch as Open MPI calls it: arities taken apart, no weights of objects, no constraints. */
static void place_by_peer(const xy_matrix_t *m, const int *arity, int levels, uint32_t *leaf_of)
{
    int n = (int)m->n, below[LEVELS_MAX + 1] = {0}, *numbering = malloc((size_t)n * sizeof(int));
    double cost[LEVELS_MAX + 1] = {0}, **rows = malloc((size_t)n * sizeof(*rows));
    double *values = calloc((size_t)n * (size_t)n, sizeof(*values));
    void *topology, *tree;
    solution_t *solution;

    if (numbering == NULL || rows == NULL || values == NULL)
        die("out of memory");
    for (int i = 0; i < n; i++) {
        numbering[i] = i;
        rows[i] = &values[(size_t)i * (size_t)n];
    }
    for (uint32_t i = 0; i < m->n; i++)
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++)
            if (m->to[k] != i) {
                rows[i][m->to[k]] += m->bytes[k];
                rows[m->to[k]][i] += m->bytes[k];
            }
    memcpy(below, arity, (size_t)levels * sizeof(int));
    for (int l = 0; l < levels; l++)
        cost[l] = pow(10, levels - 1 - l);
    topology = tm.build_synthetic_topology(below, cost, levels + 1, numbering, n);
    tm.optimize_topology(&topology);
    tree = tm.build_tree_from_topology(topology, tm.build_affinity_mat(rows, n), NULL, NULL);
    solution = tree != NULL ? tm.compute_mapping(topology, tree) : NULL;
    if (solution == NULL)
        die("TreeMatch did not place");
    for (int i = 0; i < n; i++)
        leaf_of[i] = (uint32_t)solution->sigma[i];
    tm.free_solution(solution);
    free(numbering);
    free(rows);
    free(values);
}

/* ---- Patterns of n processes ---- */

typedef struct {
    xy_vec_t entries;
    uint32_t n, *label;
    uint64_t random;
} pattern_t;

static void add(pattern_t *f, uint32_t a, uint32_t b, double bytes)
{
    xy_matrix_entry_t e[2] = {{f->label[a], f->label[b], bytes, 1},
                              {f->label[b], f->label[a], bytes, 1}};

    for (int i = 0; i < 2 && a != b; i++)
        if (xy_vec_append(&f->entries, &e[i]) != XY_OK)
            die("out of memory");
}

/* The sides of a grid, as equal as they can be: the largest divisor first. */
static uint32_t divide(uint32_t n, int dimensions)
{
    uint32_t side = (uint32_t)(pow(n, 1.0 / dimensions) + 1e-9);

    while (n % side != 0)
        side--;
    return side;
}

/* Sums over rows by recursive doubling, and the exchange across the diagonal. */
static void cg(pattern_t *f)
{
    uint32_t wide = divide(f->n, 2), high = f->n / wide;

    for (uint32_t i = 0; i < f->n; i++) {
        for (uint32_t bit = 1; bit < high; bit *= 2)
            if ((i % high ^ bit) < high)
                add(f, i, i / high * high + (i % high ^ bit), 1000);
        add(f, i, (uint32_t)((uint64_t)i * wide % (f->n - (f->n > 1))), 1000);
    }
}

/* Wavefronts: the neighbours in two dimensions. */
static void lu(pattern_t *f)
{
    uint32_t wide = f->n / divide(f->n, 2);

    for (uint32_t i = 0; i < f->n; i++) {
        if (i % wide + 1 < wide)
            add(f, i, i + 1, 1000);
        if (i + wide < f->n)
            add(f, i, i + wide, 1000);
    }
}

/* Faces of boxes in three dimensions, of different sizes. */
static void zeusmp(pattern_t *f)
{
    uint32_t x = divide(f->n, 3), y = divide(f->n / x, 2);

    for (uint32_t i = 0; i < f->n; i++) {
        if (i % x + 1 < x)
            add(f, i, i + 1, 3000);
        if (i / x % y + 1 < y)
            add(f, i, i + x, 2000);
        if (i + x * y < f->n)
            add(f, i, i + x * y, 1000);
    }
}

static void sparse(pattern_t *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        for (int k = 0; k < 4; k++)
            add(f, i, place_random_below(&f->random, f->n),
                1 + place_random_below(&f->random, 1000));
}

static void blocks(pattern_t *f)
{
    for (uint32_t i = 0; i < f->n; i++) {
        add(f, i, (i + 1) % f->n, 100);
        for (uint32_t j = i + 1; j < f->n && j / 6 == i / 6; j++)
            add(f, i, j, 1000);
    }
}

static const struct {
    const char *name;
    bool is_strict; /* of the kinds that TreeMatch was shown with */
    void (*make)(pattern_t *f);
} patterns[] = {{"CG", true, cg},
                {"LU", true, lu},
                {"ZeusMP", true, zeusmp},
                {"sparse", false, sparse},
                {"blocks 6", false, blocks}};

static xy_matrix_t *make(int i, uint32_t n, uint64_t seed)
{
    pattern_t f = {XY_VEC_INIT(xy_matrix_entry_t), n, malloc(n * sizeof(uint32_t)), seed + 1};
    xy_matrix_t *m;

    if (f.label == NULL)
        die("out of memory");
    for (uint32_t v = 0; v < n; v++)
        f.label[v] = v;
    if (seed > 0)
        place_shuffle(f.label, n, &f.random);
    patterns[i].make(&f);
    if (xy_matrix_build(n, f.entries.data, f.entries.count, false, &m) != XY_OK)
        die("no matrix");
    xy_vec_cleanup(&f.entries);
    free(f.label);
    return m;
}

/* ---- The table ---- */

static const struct {
    int levels, arity[LEVELS_MAX];
} trees[] = {{2, {16, 4}},    {3, {2, 8, 4}},    {3, {4, 2, 8}},   {2, {4, 16}},
             {3, {4, 4, 4}},  {3, {6, 2, 6}},    {2, {12, 12}},    {3, {8, 2, 8}},
             {3, {3, 5, 4}},  {3, {16, 2, 8}},   {3, {16, 4, 4}},  {2, {16, 16}},
             {3, {2, 8, 16}}, {4, {4, 4, 2, 8}}, {3, {10, 2, 12}}, {3, {32, 2, 8}}};

typedef struct {
    double sum, worst, seconds, peer_seconds;
    int count, worse;
} summary_t;

static void count_ratio(summary_t *s, double ratio)
{
    s->sum += log(ratio);
    s->worst = ratio > s->worst ? ratio : s->worst;
    s->worse += ratio > 1.0000001;
    s->count++;
}

static void print_summary(const char *name, const summary_t *s)
{
    printf("%-28s %4d cases: mean %.4f, worst %.4f, worse in %d; %.4f s, peer %.4f s\n", name,
           s->count, exp(s->sum / s->count), s->worst, s->worse, s->seconds, s->peer_seconds);
}

static void compare(int k, const int *arity, int levels, uint64_t seed, summary_t *s)
{
    uint32_t n = 1, *leaf_of;
    char text[64] = "";
    double begin;
    xy_machine_t *machine = NULL;
    xy_target_t *t = NULL;
    xy_matrix_t *m;
    xy_place_t *p = NULL;
    xy_place_cost_t peer;
    xy_place_options_t options = {.strategy = "treematch", .seed = 1};

    for (int l = 0; l < levels; l++) {
        n *= (uint32_t)arity[l];
        sprintf(text + strlen(text), "%s%d", l > 0 ? "x" : "", arity[l]);
    }
    leaf_of = malloc(n * sizeof(*leaf_of));
    m = make(k, n, seed);
    if (leaf_of == NULL || xy_machine_load(text, &machine) != XY_OK ||
        xy_target_create(machine, NULL, &t) != XY_OK)
        die("no machine");
    begin = bench_now();
    place_by_peer(m, arity, levels, leaf_of);
    s->peer_seconds += bench_now() - begin;
    if (xy_place_evaluate(m, XY_METRIC_SIZE, t, leaf_of, &peer) != XY_OK ||
        xy_place_compute(m, t, &options, &p) != XY_OK)
        die("not placed");
    s->seconds += p->seconds;
    count_ratio(s, p->cost.weighted / peer.weighted);
    count_ratio(s, p->cost.hop_bytes / peer.hop_bytes);
    if (!bench_is_quick())
        printf("%-9s %-9s %-9s hop-bytes %.4f  1:10:100 %.4f\n", patterns[k].name, text,
               seed > 0 ? "relabelled" : "own order", p->cost.hop_bytes / peer.hop_bytes,
               p->cost.weighted / peer.weighted);
    xy_place_destroy(p);
    xy_matrix_destroy(m);
    xy_target_destroy(t);
    xy_machine_destroy(machine);
    free(leaf_of);
}

int main(int argc, char **argv)
{
    summary_t all[sizeof(patterns) / sizeof(patterns[0])] = {{0}};
    size_t count = sizeof(trees) / sizeof(trees[0]);

    bench_init(argc, argv);
    if (!load(BENCH_TREEMATCH)) {
        printf("Open MPI's TreeMatch is not here: nothing to compare with\n");
        return 0;
    }
    if (bench_is_quick())
        count = 3;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < (int)(sizeof(patterns) / sizeof(patterns[0])); k++)
            for (uint64_t seed = 0; seed < (bench_is_quick() ? 1 : 3); seed++)
                compare(k, trees[i].arity, trees[i].levels, seed, &all[k]);
    for (size_t k = 0; k < sizeof(patterns) / sizeof(patterns[0]); k++)
        print_summary(patterns[k].name, &all[k]);
    return 0;
}
