/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks to cores, and a worker for every core that has ranks. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/mapping.h"

enum { MAX_CPUS = 1 << 16 };

/* Only the first cores, for --workers, or those that --cpu-set counts; `set` is empty. */
static xy_status_t choose_cores(const mpi_launch_values_t *values, xy_bitset_t *set,
                                xy_cores_t *cores)
{
    xy_bitset_t counted;
    xy_status_t st = xy_bitset_init(&counted, MAX_CPUS);

    if (st != XY_OK)
        return xy_fail_memory("listing the cores");
    if (values->cpu_set != NULL)
        st = xy_bitset_parse(&counted, values->cpu_set, "--cpu-set");
    for (long i = 0; values->cpu_set == NULL && i < values->workers && i < MAX_CPUS; i++)
        xy_bitset_set(&counted, (size_t)i);
    for (size_t i = xy_bitset_next(&counted, 0); st == XY_OK && i < counted.bits;
         i = xy_bitset_next(&counted, i + 1))
        if (i < (size_t)cores->count)
            xy_bitset_set(set, (size_t)cores->cpu[i]);
        else
            st = xy_fail(XY_EUSAGE, "--cpu-set %s: the job may use %d core%s, counted from 0",
                         values->cpu_set, cores->count, cores->count == 1 ? "" : "s");
    xy_bitset_cleanup(&counted);
    return st == XY_OK ? xy_cores_restrict(cores, set) : st;
}

xy_status_t mpi_placement_cores(const mpi_launch_values_t *values, xy_cores_t *cores)
{
    xy_bitset_t set;
    xy_status_t st = xy_bitset_init(&set, MAX_CPUS);

    if (st != XY_OK)
        return xy_fail_memory("listing the cores");
    memset(cores, 0, sizeof(*cores));
    if (values->cores != NULL)
        st = xy_bitset_parse(&set, values->cores, "--cores");
    if (st == XY_OK)
        st = xy_cores_live_of(values->cores != NULL ? &set : NULL, values->each_thread, cores);
    for (size_t i = 0; i < set.bits; i++)
        xy_bitset_clear(&set, i);
    if (st == XY_OK && values->workers > cores->count)
        st = xy_fail(XY_EUSAGE, "--workers %ld: the job may use %d core%s; give at most that",
                     values->workers, cores->count, cores->count == 1 ? "" : "s");
    else if (st == XY_OK && (values->cpu_set != NULL || values->workers > 0))
        st = choose_cores(values, &set, cores);
    if (st != XY_OK)
        xy_cores_cleanup(cores);
    xy_bitset_cleanup(&set);
    return st;
}

/* The cores of a machine that is not this one; cores->cpu counts them through. */
static xy_status_t target_of(const xy_machine_t *machine, const xy_cores_t *cores,
                             xy_target_t **target_p)
{
    xy_machine_t *all = NULL, *some = NULL;
    xy_bitset_t leaves;
    xy_status_t st = xy_target_check(machine);

    if (st == XY_OK)
        st = xy_cores_machine(machine, &all);
    if (st != XY_OK)
        return st;
    st = xy_bitset_init(&leaves, all->leaves);
    for (int c = 0; st == XY_OK && c < cores->count; c++)
        xy_bitset_set(&leaves, (size_t)cores->cpu[c]);
    st = st == XY_OK ? xy_machine_restrict(all, &leaves, &some)
                     : xy_fail_memory("placing the ranks");
    if (st == XY_OK)
        st = xy_target_create(some, NULL, target_p);
    xy_bitset_cleanup(&leaves);
    xy_machine_destroy(some);
    xy_machine_destroy(all);
    return st;
}

/* By who talks to whom, on the tree that the cores are the leaves of. */
static xy_status_t place_matrix(const char *strategy, const xy_matrix_t *m, const xy_cores_t *cores,
                                const xy_machine_t *machine, int *core_of)
{
    xy_place_options_t options = {.strategy = strategy, .seed = 1};
    xy_target_t *t;
    xy_place_t *p;
    xy_status_t st = machine != NULL ? target_of(machine, cores, &t)
                                     : xy_target_live(cores->cpu, (uint32_t)cores->count, &t);

    if (st != XY_OK)
        return st;
    st = xy_place_compute(m, t, &options, &p);
    if (st == XY_OK) {
        for (uint32_t r = 0; r < m->n; r++)
            core_of[r] = (int)t->logical[p->leaf_of[r]];
        xy_place_destroy(p);
    }
    xy_target_destroy(t);
    return st;
}

/* The leaves of the target for ranks on these cores. */
static xy_status_t find_leaves(const xy_target_t *t, const int *core_of, uint32_t n,
                               uint32_t *leaf_of)
{
    for (uint32_t r = 0; r < n; r++) {
        uint32_t leaf = 0;

        while (leaf < t->leaves && t->logical[leaf] != (uint32_t)core_of[r])
            leaf++;
        if (leaf == t->leaves)
            return XY_EINVAL;
        leaf_of[r] = leaf;
    }
    return XY_OK;
}

static double gain_of(double placed, double usual)
{
    return usual > 0 && placed < usual ? placed / usual : 1;
}

xy_status_t mpi_placement_gain(const xy_matrix_t *m, const xy_cores_t *cores,
                               const xy_machine_t *machine, const char *usual, double *gain_p)
{
    xy_place_options_t options = {.strategy = xy_strategies[0]->name, .seed = 1};
    int *core_of = xy_calloc(m->n, sizeof(*core_of));
    uint32_t *leaf_of = xy_calloc(m->n, sizeof(*leaf_of));
    xy_target_t *t = NULL;
    xy_place_t *p = NULL;
    xy_place_cost_t cost = {0};
    xy_status_t st = core_of != NULL && leaf_of != NULL ? XY_OK : xy_fail_memory("placing ranks");

    if (st == XY_OK)
        st = xy_place_ranks(usual, cores, (int)m->n, core_of);
    if (st == XY_OK)
        st = machine != NULL ? target_of(machine, cores, &t)
                             : xy_target_live(cores->cpu, (uint32_t)cores->count, &t);
    if (st == XY_OK)
        st = find_leaves(t, core_of, m->n, leaf_of);
    if (st == XY_OK)
        st = xy_place_evaluate(m, XY_METRIC_SIZE, t, leaf_of, &cost);
    if (st == XY_OK)
        st = xy_place_compute(m, t, &options, &p);
    if (st == XY_OK)
        *gain_p = gain_of(p->cost.weighted, cost.weighted);
    xy_place_destroy(p);
    xy_target_destroy(t);
    xy_free(core_of);
    xy_free(leaf_of);
    return st;
}

/* Read the communication matrix and place the ranks by it; an error if it has another number of
 * ranks. */
static xy_status_t read_and_place(const char *strategy, const char *path, const xy_cores_t *cores,
                                  const xy_machine_t *machine, int ranks, int *core_of)
{
    xy_matrix_t *m;
    xy_status_t st = xy_matrix_read(path, &m);

    if (st != XY_OK)
        return st;
    if (m->n != (uint32_t)ranks)
        st = xy_fail(XY_EINVAL, "%s: the matrix has %u rank%s and the job %d", path, m->n,
                     m->n == 1 ? "" : "s", ranks);
    else
        st = place_matrix(strategy, m, cores, machine, core_of);
    xy_matrix_destroy(m);
    return st;
}

xy_status_t mpi_placement_place(const mpi_launch_values_t *values, const xy_cores_t *cores,
                                const xy_machine_t *machine, int ranks, int *core_of)
{
    const char *how = values->place != NULL    ? values->place
                      : values->matrix != NULL ? xy_strategies[0]->name
                                               : XMPI_PLACE_USUAL;
    const xy_strategy_t *strategy = xy_table_find(XY_TABLE(xy_strategies), how);
    xy_status_t st = xy_strategy_is_plugin(how) ? xy_strategy_find(how, &strategy) : XY_OK;

    if (st != XY_OK)
        return st;
    if (mpi_mapping_is_given(values))
        return mpi_mapping_place(values, cores, machine, ranks, core_of);
    if (strategy != NULL && strategy->needs_matrix && values->matrix != NULL)
        return read_and_place(how, values->matrix, cores, machine, ranks, core_of);
    if (values->matrix != NULL)
        xy_warn("--matrix %s is ignored: --place %s does not need it", values->matrix, how);
    if (strategy != NULL)
        return xy_place_ranks(how, cores, ranks, core_of);
    return access(how, F_OK) == 0 || strchr(how, '/') != NULL
               ? xy_place_read(how, cores, ranks, core_of)
               : xy_table_fail(XY_TABLE(xy_strategies), "strategy or file", how);
}

/* Number the cores that have ranks, in machine order; core_of becomes worker_of. */
static xy_status_t number_workers(mpi_placement_t *p, int ranks)
{
    int *worker = xy_malloc((size_t)p->cores.count * sizeof(int));

    if (worker == NULL)
        return xy_fail_memory("placing the ranks");
    for (int c = 0; c < p->cores.count; c++)
        worker[c] = -1;
    for (int r = 0; r < ranks; r++)
        worker[p->worker_of[r]] = 0;
    for (int c = 0; c < p->cores.count; c++)
        if (worker[c] == 0) {
            p->cpus[p->workers] = p->cores.cpu[c];
            worker[c] = p->workers++;
        }
    for (int r = 0; r < ranks; r++)
        p->worker_of[r] = worker[p->worker_of[r]];
    xy_free(worker);
    return XY_OK;
}

/* The threads of a worker's ranks: with --threads-per-rank the T cores from its own on, in its NUMA
 * node; without, all cores of the job. */
static void choose_sets(mpi_placement_t *p, const xy_cores_t *all, int block)
{
    for (int w = 0; w < p->workers; w++) {
        int own = 0, end;

        while (own < all->count - 1 && all->cpu[own] != p->cpus[w])
            own++;
        end = block > 0 ? own + block : all->count;
        CPU_ZERO(&p->rank_set[w]);
        for (int c = block > 0 ? own : 0; c < end && c < all->count; c++)
            if ((block == 0 || c == own || all->numa[c] == all->numa[own]) &&
                all->cpu[c] < CPU_SETSIZE)
                CPU_SET(all->cpu[c], &p->rank_set[w]);
    }
}

/* The K-th part of each NUMA node, from its end: the i-th communication core is the last core of
 * the share i of the machine, so that every node gives its part. */
static void choose_comm_cores(const xy_cores_t *cores, int k, xy_bitset_t *set)
{
    for (int i = 0; i < k; i++)
        xy_bitset_set(set, (size_t)cores->cpu[(long)(i + 1) * cores->count / k - 1]);
}

/* Read --comm-cores as a number or a set of cores; `automatic` >= 0 replaces the number. */
static xy_status_t parse_comm_cores(const char *text, int automatic, const xy_cores_t *cores,
                                    xy_bitset_t *set)
{
    long k = automatic;

    if (automatic < 0 && !xy_parse_long(text, &k))
        return xy_bitset_parse(set, text, "--comm-cores");
    if (k < 0 || k >= cores->count)
        return xy_fail(XY_EUSAGE,
                       "--comm-cores %ld: the job has %d core%s and the ranks need one; reserve "
                       "at most %d, or give the job more cores",
                       k, cores->count, cores->count > 1 ? "s" : "", cores->count - 1);
    if (k > 0)
        choose_comm_cores(cores, (int)k, set);
    return XY_OK;
}

/* Split the cores: those of `set` leave `all` and become the last workers of the placement. */
static xy_status_t reserve_comm_cores(const char *text, int automatic, xy_cores_t *all, int *comm,
                                      int *count_p)
{
    xy_bitset_t reserved, kept;
    xy_status_t st;

    *count_p = 0;
    if (text == NULL)
        return XY_OK;
    if (xy_bitset_init(&reserved, MAX_CPUS) != XY_OK)
        return xy_fail_memory("listing the cores");
    if (xy_bitset_init(&kept, MAX_CPUS) != XY_OK) {
        xy_bitset_cleanup(&reserved);
        return xy_fail_memory("listing the cores");
    }
    st = parse_comm_cores(text, automatic, all, &reserved);
    for (int c = 0; c < all->count && st == XY_OK; c++)
        if (xy_bitset_has(&reserved, (size_t)all->cpu[c]))
            comm[(*count_p)++] = all->cpu[c];
        else
            xy_bitset_set(&kept, (size_t)all->cpu[c]);
    if (st == XY_OK && (size_t)*count_p < xy_bitset_count(&reserved))
        st = xy_fail(XY_EUSAGE, "--comm-cores %s: some of these are not cores of the job", text);
    else if (st == XY_OK && *count_p == all->count)
        st = xy_fail(XY_EUSAGE, "--comm-cores %s: no core is left for the ranks", text);
    if (st == XY_OK && *count_p > 0)
        st = xy_cores_restrict(all, &kept);
    xy_bitset_cleanup(&reserved);
    xy_bitset_cleanup(&kept);
    return st;
}

static xy_status_t allocate(mpi_placement_t *p, int ranks, int cores)
{
    p->worker_of = xy_calloc((size_t)ranks, sizeof(int));
    p->cpus = xy_calloc((size_t)cores, sizeof(int));
    p->rank_set = xy_calloc((size_t)cores, sizeof(cpu_set_t));
    if (p->worker_of != NULL && p->cpus != NULL && p->rank_set != NULL)
        return XY_OK;
    return xy_fail_memory("placing the ranks");
}

/* Where each worker is on a node of NUMA nodes that are all as large as the largest. */
static xy_status_t describe_node(mpi_placement_t *p, const xy_cores_t *cores)
{
    p->node_core_of = xy_malloc((size_t)p->workers * sizeof(int));
    if (p->node_core_of == NULL)
        return xy_fail_memory("placing the ranks");
    p->numas = cores->numa_count;
    for (int n = 0; n < cores->numa_count; n++)
        if (cores->numa_first[n + 1] - cores->numa_first[n] > p->numa_cores)
            p->numa_cores = cores->numa_first[n + 1] - cores->numa_first[n];
    for (int w = 0; w < p->workers; w++) {
        p->node_core_of[w] = -1;
        for (int c = 0; c < cores->count; c++)
            if (cores->cpu[c] == p->cpus[w])
                p->node_core_of[w] =
                    cores->numa[c] * p->numa_cores + c - cores->numa_first[cores->numa[c]];
    }
    return XY_OK;
}

static xy_status_t make_node(const mpi_launch_values_t *values, mpi_placement_t *p)
{
    xy_cores_t cores;
    xy_status_t st = mpi_placement_cores(values, &cores);

    if (st != XY_OK)
        return st;
    st = describe_node(p, &cores);
    xy_cores_cleanup(&cores);
    return st;
}

xy_status_t mpi_placement_make(const mpi_launch_values_t *values, const mpi_settings_t *settings,
                               int ranks, const int *slots, const char *program, mpi_placement_t *p)
{
    int block = (int)values->threads_per_rank;
    int *comm, reserved = 0, automatic = -1;
    xy_cores_t all;
    xy_status_t st;

    memset(p, 0, sizeof(*p));
    p->network_cpu = -1;
    st = mpi_placement_cores(values, &all);
    if (st != XY_OK)
        return st;
    if (values->comm_cores != NULL && strcmp(values->comm_cores, "auto") == 0)
        automatic = mpi_comm_auto(values, all.count, ranks, program);
    comm = xy_malloc((size_t)all.count * sizeof(*comm));
    st = comm == NULL ? xy_fail_memory("placing the ranks")
                      : reserve_comm_cores(values->comm_cores, automatic, &all, comm, &reserved);
    if (st == XY_OK)
        st = xy_cores_thin(&all, block > 0 ? block : 1, &p->cores);
    if (st == XY_OK)
        st = allocate(p, ranks, 2 * (all.count + reserved)); /* siblings, too */
    if (st == XY_OK && values->no_oversubscribe && ranks > p->cores.count)
        st = xy_fail(XY_EUSAGE,
                     "--nooversubscribe: %d ranks on %d core%s; start fewer, or leave it out",
                     ranks, p->cores.count, p->cores.count == 1 ? "" : "s");
    if (st == XY_OK && slots == NULL)
        st = mpi_placement_place(values, &p->cores, NULL, ranks, p->worker_of);
    for (int r = 0; r < ranks && st == XY_OK && slots != NULL; r++)
        p->worker_of[r] = (int)((long)slots[r] % ranks * p->cores.count / ranks);
    if (st == XY_OK)
        st = number_workers(p, ranks);
    if (st == XY_OK)
        choose_sets(p, &all, block);
    for (; st == XY_OK && p->comm_workers < reserved; p->comm_workers++)
        p->cpus[p->workers++] = comm[p->comm_workers];
    if (st == XY_OK && strcmp(values->progress, "threads") == 0)
        st = mpi_placement_threads(values, settings, ranks, p);
    if (st == XY_OK)
        st = make_node(values, p);
    xy_free(comm);
    p->threads = block > 0 ? block : all.count / ranks > 1 ? all.count / ranks : 1;
    xy_cores_cleanup(&all);
    if (st != XY_OK)
        mpi_placement_cleanup(p);
    return st;
}

void mpi_placement_cleanup(mpi_placement_t *p)
{
    xy_cores_cleanup(&p->cores);
    xy_free(p->worker_of);
    for (int i = 0; p->thread_worker_of != NULL && xy_threads_all[i] != NULL; i++)
        xy_free(p->thread_worker_of[i]);
    xy_free(p->thread_worker_of);
    xy_free(p->cpus);
    xy_free(p->node_core_of);
    xy_free(p->rank_set);
    memset(p, 0, sizeof(*p));
}
