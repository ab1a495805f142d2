/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/virtual_time.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/launch.h"
#include "launch/load_machine.h"
#include "launch/spawn_ranks.h"
#include "process/process.h"

static struct {
    const mpi_loader_t *loader;
    xy_machine_t *machine;
    xy_costs_t *costs, *here; /* of the machine; of the one that we run on */
    double *factor_of;
    xy_cores_t cores;  /* of the machine; cpu[i] is i */
    xy_obj_t *leaf_of; /* [cores] the first usable hardware thread of each */
    const char **cluster_of;
    virtual_call_t *calls;
    size_t call_count;
    bool shares;
    bool is_on;              /* kernels and calls of the job are known */
    int32_t *core_of, *comm; /* by rank, with room for those that are spawned */
    int comm_count, room;
    const mpi_launch_values_t *values;
    mpi_settings_t settings; /* of progress */
    virtual_config_t config;
} all;

/* ---- The machine ---- */

/* Beside the library that this code is in. */
static xy_status_t open_loader(void)
{
    const char *slash;
    char *path;
    void *library;
    Dl_info here;

    if (all.loader != NULL)
        return XY_OK;
    if (dladdr((void *)(uintptr_t)&all, &here) == 0 || here.dli_fname == NULL)
        return xy_fail(XY_EIO, "the MPI library cannot find its own path");
    slash = strrchr(here.dli_fname, '/');
    path = xy_sprintf("%.*s%s", slash != NULL ? (int)(slash + 1 - here.dli_fname) : 0,
                      here.dli_fname, XMPI_LOADER_FILE);
    if (path == NULL)
        return xy_fail_memory("reading a machine");
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    xy_free(path);
    if (library == NULL)
        return xy_fail(XY_ENOENT, "machines are read by %s beside the MPI library: %s",
                       XMPI_LOADER_FILE, dlerror());
    all.loader = dlsym(library, XMPI_LOADER_SYMBOL);
    if (all.loader == NULL)
        return xy_fail(XY_EUNSUPPORTED, "%s is of another version", XMPI_LOADER_FILE);
    all.loader->set_program("mpiexec");
    return XY_OK;
}

xy_status_t mpi_launch_machine(const char *text, xy_machine_t **machine_p)
{
    xy_status_t st = open_loader();

    return st == XY_OK ? all.loader->machine(text, machine_p) : st;
}

/* As xy_cores_init counts them. */
static xy_status_t find_leaves(void)
{
    xy_obj_t last = XY_OBJ_NONE;
    int core = 0;

    all.leaf_of = xy_calloc((size_t)all.cores.count, sizeof(*all.leaf_of));
    if (all.leaf_of == NULL)
        return xy_fail_memory("reading a machine");
    for (uint32_t i = 0; i < all.machine->leaves && core < all.cores.count; i++) {
        xy_obj_t leaf = all.machine->leaf[i], of = xy_machine_above(all.machine, leaf, XY_OBJ_CORE);

        of = of != XY_OBJ_NONE ? of : leaf;
        if (!xy_machine_is_usable(all.machine, leaf) || of == last)
            continue;
        last = of;
        all.leaf_of[core++] = leaf;
    }
    return XY_OK;
}

/* Read the virtual machine and its costs, once; cores are numbered through all nodes. */
static xy_status_t read_machine(const mpi_launch_values_t *values)
{
    xy_status_t st;

    if (all.machine != NULL)
        return XY_OK;
    st = open_loader();
    if (st == XY_OK)
        st = all.loader->machine(values->virtual_machine, &all.machine);
    if (st == XY_OK)
        st = values->costs != NULL ? all.loader->costs(values->costs, &all.costs)
                                   : all.loader->costs_beside(values->virtual_machine, &all.costs);
    if (st == XY_OK)
        st = xy_cores_init(&all.cores, all.machine);
    if (st == XY_OK)
        st = find_leaves();
    /* Numbers of the operating system begin again in each node: cores are counted through. */
    for (int c = 0; st == XY_OK && c < all.cores.count; c++)
        all.cores.cpu[c] = c;
    return st;
}

xy_status_t mpi_virtual_cores(const mpi_launch_values_t *values, int *count_p)
{
    xy_status_t st = read_machine(values);

    if (st == XY_OK)
        *count_p = all.cores.count;
    return st;
}

xy_status_t mpi_virtual_target(const mpi_launch_values_t *values, const xy_machine_t **machine_p,
                               const xy_cores_t **cores_p)
{
    xy_status_t st = read_machine(values);

    if (st == XY_OK) {
        *machine_p = all.machine;
        *cores_p = &all.cores;
    }
    return st;
}

/* ---- Cores for communication ---- */

static xy_obj_t node_of(int core)
{
    return xy_machine_above(all.machine, all.leaf_of[core], XY_OBJ_NODE);
}

void mpi_virtual_nodes(int *nodes_p, int *least_p)
{
    int nodes = 0, least = all.cores.count, begin = 0;

    for (int end = 1; end <= all.cores.count; end++)
        if (end == all.cores.count || node_of(end) != node_of(begin)) {
            least = end - begin < least ? end - begin : least;
            begin = end;
            nodes++;
        }
    *nodes_p = nodes;
    *least_p = least;
}

/* The last K cores of each node. */
static xy_status_t reserve_per_node(long k, xy_bitset_t *reserved)
{
    int end = all.cores.count, begin;

    for (; end > 0; end = begin) {
        xy_obj_t node = node_of(end - 1);

        for (begin = end - 1; begin > 0 && node_of(begin - 1) == node; begin--)
            ;
        if (end - begin <= k)
            return xy_fail(XY_EUSAGE,
                           "--comm-cores %ld: a node of %s has %d cores, and the ranks "
                           "need one",
                           k, all.machine->name, end - begin);
        for (int c = end - (int)k; c < end; c++)
            xy_bitset_set(reserved, (size_t)c);
    }
    return XY_OK;
}

/* Cores that no rank gets leave `cores`. */
static xy_status_t reserve(const char *text, xy_cores_t *cores)
{
    xy_bitset_t reserved, kept;
    long k = 0;
    xy_status_t st = xy_bitset_init(&reserved, (size_t)cores->count);

    if (st == XY_OK && xy_bitset_init(&kept, (size_t)cores->count) != XY_OK) {
        xy_bitset_cleanup(&reserved);
        st = XY_ENOMEM;
    }
    if (st != XY_OK)
        return xy_fail_memory("listing the cores");
    st = xy_parse_long(text, &k) ? reserve_per_node(k, &reserved)
                                 : xy_bitset_parse(&reserved, text, "--comm-cores");
    all.comm = xy_calloc((size_t)cores->count, sizeof(*all.comm));
    if (st == XY_OK && all.comm == NULL)
        st = xy_fail_memory("listing the cores");
    for (int c = 0; c < cores->count && st == XY_OK; c++)
        if (xy_bitset_has(&reserved, (size_t)c))
            all.comm[all.comm_count++] = c;
        else
            xy_bitset_set(&kept, (size_t)c);
    if (st == XY_OK && all.comm_count > 0)
        st = xy_cores_restrict(cores, &kept);
    xy_bitset_cleanup(&reserved);
    xy_bitset_cleanup(&kept);
    return st;
}

/* ---- Ranks ---- */

static xy_status_t check_room(const mpi_launch_values_t *values, int ranks)
{
    if (ranks <= all.cores.count || values->oversubscribe)
        return XY_OK;
    return xy_fail(XY_EUSAGE,
                   "%d ranks on %s, which has %d core%s; give --oversubscribe to let ranks share "
                   "cores, or a larger machine",
                   ranks, all.machine->name, all.cores.count, all.cores.count == 1 ? "" : "s");
}

/* Place the ranks on the cores of the virtual machine, without those kept for communication. */
static xy_status_t place(const mpi_launch_values_t *values, int ranks)
{
    int *core_of = xy_calloc((size_t)ranks, sizeof(*core_of));
    xy_cores_t cores = {0};
    xy_status_t st = xy_cores_init(&cores, all.machine);

    all.core_of = xy_calloc((size_t)all.room, sizeof(*all.core_of));
    if (st == XY_OK && (core_of == NULL || all.core_of == NULL))
        st = xy_fail_memory("placing the ranks");
    for (int c = 0; st == XY_OK && c < cores.count; c++)
        cores.cpu[c] = c;
    if (st == XY_OK && values->comm_cores != NULL)
        st = reserve(values->comm_cores, &cores);
    if (st == XY_OK)
        st = mpi_placement_place(values, &cores, all.machine, ranks, core_of);
    for (int r = 0; r < ranks && st == XY_OK; r++)
        all.core_of[r] = cores.cpu[core_of[r]];
    xy_free(core_of);
    xy_cores_cleanup(&cores);
    return st;
}

/* ---- Options ---- */

static xy_sim_progress_t progress_of(const char *name)
{
    return strcmp(name, "none") == 0      ? XY_SIM_NONE
           : strcmp(name, "threads") == 0 ? XY_SIM_THREADS
                                          : XY_SIM_TASKS;
}

/* Parse --compute; on failure the usage is reported. */
static xy_status_t parse_compute(const char *text, virtual_config_t *c)
{
    static const char *const names[] = {"none", "timed", "model", NULL};

    c->factor = 1;
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(text, names[i]) == 0) {
            c->compute = (virtual_compute_t)i;
            return XY_OK;
        }
    c->compute = VIRTUAL_COMPUTE_TIMED;
    if (strncmp(text, "timed:", 6) == 0 && xy_parse_double(text + 6, &c->factor) && c->factor >= 0)
        return XY_OK;
    c->compute = VIRTUAL_COMPUTE_TRACE;
    c->times = text + strlen("trace:");
    if (strncmp(text, "trace:", 6) == 0 && *c->times != '\0')
        return XY_OK;
    return xy_fail(XY_EUSAGE, "--compute '%s': none, timed, timed:FACTOR, model or trace:FILE",
                   text);
}

/* "NAME=SECONDS,..." */
static xy_status_t add_calls(const char *text)
{
    char *rest = xy_strdup(text);

    if (rest == NULL)
        return xy_fail_memory("reading --compute-call");
    for (char *item; (item = strsep(&rest, ",")) != NULL;) {
        char *value = strchr(item, '=');
        virtual_call_t *more = xy_realloc(all.calls, (all.call_count + 1) * sizeof(*all.calls));
        virtual_call_t *call = more + all.call_count;

        if (more == NULL)
            return xy_fail_memory("reading --compute-call");
        all.calls = more;
        if (value == NULL || value == item || !xy_parse_seconds(value + 1, &call->seconds) ||
            call->seconds < 0)
            return xy_fail(XY_EUSAGE, "--compute-call '%s': NAME=TIME, as in dgemm_=1.5ms", item);
        *value = '\0';
        call->name = item;
        all.call_count++;
    }
    return XY_OK;
}

static xy_status_t parse_calls(const mpi_launch_values_t *values)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < values->compute_call.count && st == XY_OK; i++)
        st = add_calls(XY_VEC_AT(&values->compute_call, const char *, i));
    return st;
}

static const char *cluster_of(int core)
{
    xy_obj_t cluster = xy_machine_above(all.machine, all.leaf_of[core], XY_OBJ_CLUSTER);

    if (cluster == XY_OBJ_NONE || *xy_machine_object_name(all.machine, cluster) == '\0')
        return NULL;
    return xy_machine_object_name(all.machine, cluster);
}

/* The name of the cluster that each rank is in, for the models. */
static xy_status_t name_clusters(int ranks)
{
    all.cluster_of = xy_calloc((size_t)all.room, sizeof(*all.cluster_of));
    if (all.cluster_of == NULL)
        return xy_fail_memory("placing the ranks");
    for (int r = 0; r < ranks; r++)
        all.cluster_of[r] = cluster_of(all.core_of[r]);
    return XY_OK;
}

/* ---- What code takes there that is measured here ---- */

/* The models of this machine; NULL without a message: there are none. */
static xy_status_t load_here(const char *path)
{
    char *own;
    xy_status_t st = XY_OK;

    if (path != NULL)
        return all.loader->costs(path, &all.here);
    own = xy_costs_where();
    if (own != NULL && access(own, R_OK) == 0)
        st = all.loader->costs(own, &all.here);
    xy_free(own);
    return st;
}

static size_t find_factors(int ranks)
{
    size_t kernels = 0;

    for (int r = 0; r < ranks; r++)
        if (r > 0 && all.cluster_of[r] == all.cluster_of[r - 1])
            all.factor_of[r] = all.factor_of[r - 1];
        else
            kernels = xy_costs_relative(all.here, all.costs, all.cluster_of[r], &all.factor_of[r]);
    return kernels;
}

/* Print the least and the largest factor between computation there and here. */
static void say_factors(int ranks, size_t kernels)
{
    double least = all.factor_of[0], most = least;

    for (int r = 1; r < ranks; r++) {
        least = all.factor_of[r] < least ? all.factor_of[r] : least;
        most = all.factor_of[r] > most ? all.factor_of[r] : most;
    }
    if (least == most)
        fprintf(stderr, "mpiexec: computation takes %.3g times as long as here (by %zu kernels)\n",
                least, kernels);
    else
        fprintf(stderr,
                "mpiexec: computation takes %.3g to %.3g times as long as here (by %zu kernels)\n",
                least, most, kernels);
}

/* Times that are measured here become those of the machine, where both have models of the same
 * kernels. */
static xy_status_t scale_times(const mpi_launch_values_t *values, int ranks, virtual_config_t *c)
{
    static const char how[] =
        "; give --compute timed:FACTOR, or '--costs-here FILE' with models of "
        "this machine, which 'xylem calibrate' writes";
    size_t kernels;
    xy_status_t st;

    if (values->costs_here != NULL && (strcmp(values->compute, "timed") != 0 || all.costs == NULL))
        return xy_fail(XY_EUSAGE,
                       "--costs-here scales --compute timed to the models of --costs FILE");
    if (strcmp(values->compute, "timed") != 0 || all.costs == NULL)
        return XY_OK;
    st = load_here(values->costs_here);
    if (st != XY_OK)
        return st;
    if (all.here == NULL) {
        xy_warn("--compute timed: computation is not scaled, because the speed of this machine is "
                "not known%s",
                how);
        return XY_OK;
    }
    all.factor_of = xy_calloc((size_t)all.room, sizeof(*all.factor_of));
    if (all.factor_of == NULL)
        return xy_fail_memory("placing the ranks");
    kernels = find_factors(ranks);
    if (kernels == 0) {
        xy_warn("--compute timed: computation is not scaled, because no kernel has models of both "
                "machines at common sizes%s",
                how);
        return XY_OK;
    }
    c->factor_of = all.factor_of;
    if (values->verbose)
        say_factors(ranks, kernels);
    return XY_OK;
}

static xy_status_t check_store(const virtual_config_t *c)
{
    if (c->compute != VIRTUAL_COMPUTE_MODEL || c->job.store != NULL)
        return XY_OK;
    return xy_fail(XY_EUSAGE, "--compute model needs models: give --costs FILE, which 'xylem "
                              "calibrate' writes");
}

/* Sets how nonblocking collectives make progress. */
static xy_status_t set_progress(const mpi_launch_values_t *values, xy_vjob_config_t *job)
{
    mpi_settings_t *s = &all.settings;
    xy_status_t st = mpi_launch_settings(values, s);

    if (st != XY_OK)
        return st;
    for (int c = 0; c < XY_COLL_COUNT; c++)
        if (s->place[c] != NULL && s->place[c]->on_sibling)
            return xy_fail(XY_EUSAGE,
                           "--progress-place %s: runs in virtual time have no model of sibling "
                           "hardware threads; 'xylem bench nbc --simulate' has",
                           s->place[c]->name);
    job->progress = progress_of(values->progress);
    job->comm_cores = all.comm;
    job->comm_core_count = all.comm_count;
    job->places = s->place;
    job->orders = s->order;
    job->priority = s->priority;
    job->split = s->split >= 0                     ? s->split + 1
                 : s->split == XMPI_SPLIT_AUTO     ? XY_VJOB_SPLIT_AUTO
                 : s->split == XMPI_SPLIT_ADAPTIVE ? XY_VJOB_SPLIT_ADAPTIVE
                                                   : XY_VJOB_SPLIT_OFF;
    return XY_OK;
}

void *mpi_virtual_time_substitute(const char *name, void *found)
{
    if (!all.is_on)
        return found;
    if (all.shares)
        found = process_share_data_substitute(name, found);
    return mpi_virtual_substitute(name, found);
}

mpi_launch_values_t mpi_virtual_real_values(const mpi_launch_values_t *values)
{
    mpi_launch_values_t real = *values;

    real.workers = 1;
    real.comm_cores = real.place = real.matrix = real.cores = NULL;
    real.map_by = real.rank_by = real.bind_to = real.rankfile = real.cpu_set = NULL;
    real.progress = "tasks";
    real.split = "off";
    real.progress_place = real.progress_order = "auto";
    real.threads_per_rank = 0;
    return real;
}

/* Threads of OpenMP that wait give their turn to others at once: what they look for meanwhile can
 * not come. */
static void set_wait_policy(void)
{
    setenv("OMP_WAIT_POLICY", "passive", 0);
    setenv("KMP_BLOCKTIME", "0", 0);
}

xy_status_t mpi_virtual_prepare(const mpi_launch_values_t *values, int ranks, const char *program,
                                const virtual_config_t **config_p)
{
    virtual_config_t *c = &all.config;
    const char *slash;
    xy_status_t st;

    set_wait_policy();
    all.values = values;
    all.room = ranks + XMPI_SPAWN_ROOM;
    st = read_machine(values);
    if (st == XY_OK)
        st = check_room(values, ranks);
    if (st == XY_OK)
        st = place(values, ranks);
    if (st == XY_OK)
        st = name_clusters(ranks);
    if (st == XY_OK)
        st = parse_compute(values->compute, c);
    if (st == XY_OK)
        st = parse_calls(values);
    c->job.store = all.costs;
    if (st == XY_OK)
        st = check_store(c);
    if (st == XY_OK)
        st = scale_times(values, ranks, c);
    if (st == XY_OK)
        st = set_progress(values, &c->job);
    if (st != XY_OK)
        return st;
    c->cluster_of = all.cluster_of;
    c->calls = all.calls;
    c->call_count = all.call_count;
    mpi_virtual_set_kernels(c);
    all.is_on = true;
    process_share_data_from(values->share_data);
    all.shares = values->share_data > 0;
    c->job.machine = all.machine;
    c->job.procs = ranks;
    c->job.core_of = all.core_of;
    xy_vjob_costs_default(&c->job.costs);
    st = xy_vjob_costs_set(&c->job.costs, all.costs);
    if (st != XY_OK)
        return st;
    c->job.costs.keeps_eager = values->has_eager;
    if (values->has_eager)
        c->job.costs.eager = c->job.costs.eager_net = (double)values->eager;
    c->job.costs.start = values->spawn_time;
    c->job.library = values->library;
    c->job.has_matrix = values->monitor != NULL || values->report != NULL;
    c->trace = values->trace;
    slash = strrchr(program, '/');
    c->title = xy_sprintf("%s, %d ranks, predicted on %s", slash != NULL ? slash + 1 : program,
                          ranks, all.machine->name);
    *config_p = c;
    return XY_OK;
}

/* ---- Ranks that are spawned ---- */

int mpi_virtual_usable(void)
{
    return all.cores.count - all.comm_count;
}

/* On each core, how many ranks have not ended. */
static int *count_ranks(void)
{
    int *ranks = xy_calloc((size_t)all.cores.count, sizeof(*ranks));

    for (int r = 0; ranks != NULL && r < mpi_job->size; r++)
        ranks[all.core_of[r]] += !mpi_virtual_is_over(r);
    return ranks;
}

/* Choose the cores without a rank if they are enough, or else all that ranks may have. */
static xy_status_t choose_cores(int count, xy_bitset_t *chosen)
{
    int *ranks = count_ranks(), free_count = 0;

    if (ranks == NULL)
        return xy_fail_memory("placing the ranks");
    for (int i = 0; i < all.comm_count; i++)
        ranks[all.comm[i]] = -1;
    for (int c = 0; c < all.cores.count; c++)
        free_count += ranks[c] == 0;
    for (int c = 0; c < all.cores.count; c++)
        if (ranks[c] == 0 || (ranks[c] > 0 && count > free_count))
            xy_bitset_set(chosen, (size_t)c);
    xy_free(ranks);
    if (count <= free_count || all.values->oversubscribe)
        return XY_OK;
    return xy_fail(
        XY_ELIMIT,
        "%d more rank%s on %s, where %d of %d cores %s free; give --oversubscribe to let "
        "ranks share cores, or a larger machine",
        count, count == 1 ? "" : "s", all.machine->name, free_count, mpi_virtual_usable(),
        free_count == 1 ? "is" : "are");
}

/* As those of the job, except that a file or a matrix for these does not apply to the new ones. */
static xy_status_t place_on(xy_cores_t *cores, int count, int *core_of)
{
    const xy_strategy_t *strategy = NULL;
    mpi_launch_values_t values = *all.values;

    if (xy_strategy_is_plugin(values.place))
        (void)xy_strategy_find(values.place, &strategy);
    else if (values.place != NULL)
        strategy = xy_table_find(XY_TABLE(xy_strategies), values.place);
    values.matrix = NULL;
    if (strategy == NULL || strategy->needs_matrix)
        values.place = NULL;
    return mpi_placement_place(&values, cores, all.machine, count, core_of);
}

/* Place spawned ranks on free cores of the virtual machine. */
static xy_status_t place_more(int count, int *core_of)
{
    xy_cores_t cores = {0};
    xy_bitset_t chosen;
    xy_status_t st;

    if (xy_bitset_init(&chosen, (size_t)all.cores.count) != XY_OK)
        return xy_fail_memory("placing the ranks");
    st = choose_cores(count, &chosen);
    if (st == XY_OK)
        st = xy_cores_init(&cores, all.machine);
    for (int c = 0; st == XY_OK && c < cores.count; c++)
        cores.cpu[c] = c;
    if (st == XY_OK)
        st = xy_cores_restrict(&cores, &chosen);
    if (st == XY_OK)
        st = place_on(&cores, count, core_of);
    for (int i = 0; st == XY_OK && i < count; i++)
        core_of[i] = cores.cpu[core_of[i]];
    xy_cores_cleanup(&cores);
    xy_bitset_cleanup(&chosen);
    return st;
}

xy_status_t mpi_virtual_place(const int *ranks, int count)
{
    int *core_of = xy_calloc((size_t)count, sizeof(*core_of));
    xy_status_t st =
        core_of != NULL ? place_more(count, core_of) : xy_fail_memory("placing the ranks");

    for (int i = 0; i < count && st == XY_OK; i++) {
        int r = ranks[i];

        all.core_of[r] = core_of[i];
        all.cluster_of[r] = cluster_of(core_of[i]);
        if (all.factor_of != NULL)
            xy_costs_relative(all.here, all.costs, all.cluster_of[r], &all.factor_of[r]);
    }
    xy_free(core_of);
    return st;
}

void mpi_virtual_adapt(const mpi_settings_t *settings, bool counts)
{
    all.config.job.picks = settings->picks;
    all.config.job.reconsider = settings->reconsider;
    all.config.job.has_matrix |= counts;
}

/* ---- The end ---- */

static xy_status_t print_json(const void *unused, FILE *file)
{
    (void)unused;
    mpi_virtual_print_json(file);
    return XY_OK;
}

xy_status_t mpi_virtual_finish(const mpi_launch_values_t *values, mpi_job_t *job)
{
    xy_status_t st = mpi_virtual_finish_trace();

    if (st == XY_OK && (values->monitor != NULL || values->report != NULL))
        st = mpi_virtual_monitor(job);
    if (st == XY_OK && values->verbose)
        mpi_virtual_say(stderr);
    return st == XY_OK ? xy_out_write(values->json, print_json, NULL) : st;
}
