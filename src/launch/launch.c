/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/launch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launch/end_job.h"
#include "launch/launch_balance.h"
#include "launch/launch_live.h"
#include "launch/launch_node.h"
#include "launch/launch_report.h"
#include "launch/mapping.h"
#include "launch/other_mpi.h"
#include "launch/rank_process.h"
#include "launch/spawn_ranks.h"
#include "launch/virtual_time.h"
#include "mpi/bindings/bindings.h"
#include "mpi/check/check.h"
#include "mpi/nbc/nbc.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"
#include "mpi/topo/topo.h"
#include "process/process.h"

typedef struct {
    const mpi_launch_values_t *values; /* of the first part: what holds for the whole job */
    xy_vec_t parts;                    /* of mpi_part_t */
    int size;
    mpi_placement_t placement;
    mpi_settings_t settings;     /* of nonblocking collectives */
    mpi_launch_values_t adapted; /* `values`, where --adapt has changed them */
    int placed; /* ranks of this process that have a core, with those that --usize expects */
    process_program_config_t loading; /* how programs are loaded */
    process_t *processes;
    mpi_library_lists_t libraries;           /* of --privatize and --share */
    xy_bitset_t shown;                       /* ranks that debuggers know */
    const virtual_config_t *in_virtual_time; /* or NULL */
    mpi_job_t *job;
    const mpi_node_job_t *node; /* in a job of several processes; NULL: this is the only one */
    xy_net_t *net;              /* to the others, or NULL */
    mpi_hosts_t hosts;          /* to start it on; none: this machine */
    int code;                   /* for failures with an exit code of their own */
} launch_t;

static mpi_part_t *part_at(const launch_t *launch, size_t i)
{
    return &XY_VEC_AT(&launch->parts, mpi_part_t, i);
}

/* Find the ranks of the part that run in this process. */
static void find_own_ranks(const launch_t *launch, mpi_part_t *part)
{
    const mpi_node_job_t *node = launch->node;

    part->own_first = node != NULL ? 0 : part->first;
    part->count_here = node != NULL ? 0 : part->count;
    for (int i = 0; node != NULL && i < node->count; i++)
        if (node->own[i] < part->first)
            part->own_first = i + 1;
        else if (node->own[i] < part->first + part->count)
            part->count_here++;
}

/* The i-th of them. */
static int own_rank(const launch_t *launch, const mpi_part_t *part, int i)
{
    return launch->node != NULL ? launch->node->own[part->own_first + i] : part->first + i;
}

/* Add the part of one command line to the job, with its arguments and number of ranks. */
static xy_status_t add_part(launch_t *launch, const mpi_launch_context_t *context, bool is_only)
{
    mpi_part_t *part = xy_vec_push(&launch->parts);
    xy_status_t st = XY_OK;

    if (part == NULL)
        return xy_fail_memory("starting the job");
    part->values = &context->values;
    part->argc = context->argc;
    part->first = launch->size;
    part->count = context->has_n ? (int)context->values.n : 1;
    part->argv = xy_calloc((size_t)part->argc + 1, sizeof(char *));
    if (part->argv == NULL)
        return xy_fail_memory("starting the job");
    memcpy(part->argv, context->argv, (size_t)part->argc * sizeof(char *));
    if (!context->has_n && is_only && launch->hosts.count > 0)
        part->count = 0; /* as many as the hosts have room for */
    else if (!context->has_n && is_only)
        st = launch->node != NULL ? (part->count = launch->node->size, XY_OK)
                                  : mpi_mapping_default_count(part->values, &part->count);
    if (st == XY_OK && part->count > (1 << 24) - launch->size)
        st = xy_fail(XY_ELIMIT, "at most %d ranks are possible", 1 << 24);
    launch->size += part->count;
    find_own_ranks(launch, part);
    return st;
}

/* The working directory belongs to the process: all parts must agree. */
static xy_status_t change_directory(const launch_t *launch)
{
    const char *directory = launch->values->wdir;

    for (size_t i = 1; i < launch->parts.count; i++) {
        const char *other = part_at(launch, i)->values->wdir;

        if (other != NULL && (directory == NULL || strcmp(other, directory) != 0))
            return xy_fail(XY_EUNSUPPORTED,
                           "-wdir '%s': all programs of a job run in one process and so in one "
                           "directory; give the same -wdir to each",
                           other);
    }
    mpi_restart_keep_directory();
    if (directory != NULL && chdir(directory) != 0)
        return xy_fail_errno(errno, directory, "change to");
    return XY_OK;
}

/* Find and inspect the programs of all parts; all must be of one kind. */
static xy_status_t find_programs(launch_t *launch)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < launch->parts.count && st == XY_OK; i++) {
        mpi_part_t *part = part_at(launch, i);
        int code = 0;

        st = mpi_launch_find(part->argv[0], &part->path, &code);
        if (st != XY_OK)
            launch->code = code;
        if (st == XY_OK)
            st = mpi_launch_inspect(part);
        if (st == XY_OK && part->other_mpi != NULL && launch->size != 1)
            st = xy_fail(XY_EUNSUPPORTED, XMPI_OTHER_REFUSED, part->path, part->other_mpi);
        if (st == XY_OK && part->is_mpi != part_at(launch, 0)->is_mpi)
            st =
                xy_fail(XY_EUNSUPPORTED,
                        "'%s' is linked with Xylem's MPI and '%s' is not; programs of one job must "
                        "be of one kind (compile them with mpicc)",
                        part_at(launch, part->is_mpi ? i : 0)->path,
                        part_at(launch, part->is_mpi ? 0 : i)->path);
    }
    return st;
}

/* Set also here what libraries read when they are loaded, and as many queues as a GPU can have. */
static xy_status_t make_environments(const launch_t *launch)
{
    const virtual_config_t *v = launch->in_virtual_time;
    xy_status_t st = mpi_launch_tell_machine(launch->values, &launch->placement,
                                             v != NULL ? v->job.core_of : NULL, launch->size,
                                             launch->node != NULL ? launch->node->processes : 1);
    char text[16];

    snprintf(text, sizeof(text), "%d", launch->placement.threads);
    if (setenv("OMP_NUM_THREADS", text, 0) != 0 ||
        (launch->size > 1 && setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0) != 0))
        return xy_fail_memory("making the environment");
    for (size_t i = 0; i < launch->parts.count && st == XY_OK; i++)
        st = mpi_launch_environment(part_at(launch, i), launch->values, XMPI_LAUNCHED_RANK);
    for (char **entry = part_at(launch, 0)->environment; st == XY_OK && *entry != NULL; entry++)
        if (strchr(*entry, '=') != NULL && putenv(*entry) != 0)
            st = xy_fail_memory("making the environment");
    return st;
}

/* Images of this process are numbered through, its ranks are not. */
static xy_status_t choose_shown_here(const launch_t *launch, mpi_part_t *part,
                                     process_program_config_t *config)
{
    if (xy_bitset_init(&part->shown, (size_t)part->count_here) != XY_OK)
        return xy_fail_memory("starting the job");
    for (int i = 0; i < part->count_here; i++)
        if (xy_bitset_has(&launch->shown, (size_t)own_rank(launch, part, i)))
            xy_bitset_set(&part->shown, (size_t)i);
    config->shown = &part->shown;
    return XY_OK;
}

/* Parts that run the same file share its program: images are numbered through. */
static xy_status_t load_programs(launch_t *launch)
{
    process_program_config_t config = {
        .shown = &launch->shown,
        .is_shared = launch->values->share_globals,
        .privat = &launch->libraries.privat,
        .shared = &launch->libraries.shared,
        .is_verbose = launch->values->verbose,
        .is_quiet = launch->values->quiet,
        .preloaded = mpi_restart_preloaded(),
        .must_preload = mpi_restart_if_needed,
        .must_reserve = mpi_restart_larger,
        .capture_main = process_capture_main,
        .prepare_copies = process_prepare_cxx,
        .is_simulated = launch->in_virtual_time != NULL ? mpi_virtual_is_simulated : NULL};
    xy_status_t st =
        mpi_launch_choose_shown(launch->values->debug_ranks, launch->size, &launch->shown);

    if (launch->size > 1)
        mpi_rank_refuse_other_mpi();
    config.tls_reserve = process_locals_reserve(&config.tls_align);
    launch->loading = config;
    for (size_t i = 0; i < launch->parts.count && st == XY_OK; i++) {
        mpi_part_t *part = part_at(launch, i);

        if (part->count_here == 0)
            continue;
        config.images = part->count_here;
        config.first = launch->node != NULL ? 0 : part->first;
        if (launch->node != NULL)
            st = choose_shown_here(launch, part, &config);
        if (st == XY_OK)
            st = process_program_load(part->path, &config, &part->program);
    }
    return st == XY_OK ? process_locals_setup() : st;
}

static bool is_auto(const launch_t *launch)
{
    return launch->values->comm_cores != NULL && strcmp(launch->values->comm_cores, "auto") == 0;
}

static bool is_here(const launch_t *launch, int rank)
{
    return launch->node == NULL || launch->node->process_of[rank] == launch->node->process;
}

/* The numbers that spawning needs. */
static mpi_spawn_numbers_t spawn_numbers(const launch_t *launch)
{
    bool is_node = launch->node != NULL;

    return (mpi_spawn_numbers_t){
        .size = launch->size,
        .placed = launch->placed,
        .room = is_node ? XMPI_SPAWN_ROOM_NODE : XMPI_SPAWN_ROOM,
        .cores =
            launch->in_virtual_time != NULL ? mpi_virtual_usable() : launch->placement.cores.count,
        .node = launch->node,
        .placement = &launch->placement,
    };
}

/* With --check ranks run on one core where what happens must be in one order. */
static bool is_checked_in_order(const launch_t *launch)
{
    return launch->values->check != NULL && (mpi_checks.shuffles || launch->node != NULL);
}

/* Create the job from options, placement and node, and the table of processes. */
static xy_status_t make_job(launch_t *launch)
{
    const mpi_spawn_numbers_t numbers = spawn_numbers(launch);
    xy_status_t st;
    mpi_job_config_t config = {
        .layers = mpi_layers,
        .size = launch->size,
        .workers = launch->placement.workers,
        .comm_workers = launch->placement.comm_workers,
        .settings = &launch->settings,
        .thread_worker_of = (const int *const *)launch->placement.thread_worker_of,
        .measures = is_auto(launch) || mpi_launch_adapt_counts(),
        .yield_on_start = strcmp(launch->values->let_arrive, "on") == 0,
        .is_traced = launch->values->trace != NULL && launch->in_virtual_time == NULL,
        .in_virtual_time = launch->in_virtual_time,
        .universe = mpi_spawn_universe(&numbers, launch->values->usize),
        .id = mpi_spawn_job_id(launch->node, launch->in_virtual_time != NULL),
        .spawner = &mpi_spawner,
        .reviver = mpi_checks.is_on ? &mpi_check_reviver : NULL,
        .net = launch->net,
        .network_cpu = launch->placement.network_cpu >= 0 ? &launch->placement.network_cpu : NULL,
        .cpus = launch->placement.cpus,
        .node = {launch->placement.numas, launch->placement.numa_cores,
                 launch->placement.node_core_of},
        .stack_size = mpi_launch_stack_size(
            launch->values, launch->node != NULL ? launch->node->count : launch->size),
        .eager_limit = launch->values->eager,
        .limits_between = launch->values->has_eager,
        .spin_seconds = is_checked_in_order(launch) ? 0 : mpi_launch_checks_spin(launch->values),
        .switched =
            process_sanitizer_has_stacks() ? mpi_rank_switched_announced : mpi_rank_switched,
        .overflow = mpi_finish_overflow,
        .abort = mpi_finish_abort,
        .stuck = mpi_finish_stuck,
        .threads = {.detach = process_detach, .attach = process_attach, .carry = process_carry},
        .process_calls = {.leave = process_give, .follow = process_take},
        .rest = process_heap_rest,
        .imagined = launch->values->machine,
    };

    if (launch->node != NULL) {
        config.process = launch->node->process;
        config.processes = launch->node->processes;
        config.shares_cores = launch->node->shares_cores;
        config.hosts = launch->node->hosts;
    }
    st = mpi_spawn_number(&numbers, &config);
    if (st == XY_OK)
        st = mpi_launch_balance_place(launch->values, &config);
    if (st != XY_OK)
        return st;
    /* Most of it is for ranks that may be spawned: calloc might touch it to clear it. */
    launch->processes =
        mmap(NULL, (size_t)config.capacity * sizeof(*launch->processes), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (launch->processes == MAP_FAILED)
        return xy_fail_memory("starting the job");
    for (int r = 0; r < launch->size; r++)
        launch->processes[r].has_ended = !is_here(launch, r);
    mpi_finish_setup(launch->processes, launch->size, config.stack_size);
    st = mpi_job_create(&config, &launch->job);
    if (st == XY_OK)
        mpi_rank_follow_clock(launch->job);
    if (st == XY_OK)
        st = mpi_launch_balance_begin(launch->values, launch->job);
    xy_free((int *)(uintptr_t)config.worker_of);
    xy_free((int *)(uintptr_t)config.core_of);
    return st;
}

/* Tell the spawning part how to make more ranks like the first ones. */
static void prepare_spawn(launch_t *launch)
{
    const mpi_spawn_numbers_t numbers = spawn_numbers(launch);

    mpi_spawn_setup(&(mpi_spawn_setup_t){.program = launch->loading,
                                         .processes = launch->processes,
                                         .rank_set = launch->placement.rank_set,
                                         .part = part_at(launch, 0),
                                         .first = mpi_spawn_first(&numbers),
                                         .room = numbers.room,
                                         .is_verbose = launch->values->verbose});
}

/* Create a rank: its environment, process and fiber. */
static xy_status_t make_rank(launch_t *launch, const mpi_part_t *part, int index)
{
    int rank = own_rank(launch, part, index);
    process_t *process = &launch->processes[rank];
    char **environment =
        mpi_launch_rank_environment(part, rank, launch->size, rank - (part->own_first + index),
                                    launch->node != NULL ? launch->node->count : launch->size);
    process_config_t config = {
        .program = part->program,
        .index = index,
        .number = rank,
        .argc = part->argc,
        .argv = part->argv,
        .environment = environment,
        .cores = &launch->placement.rank_set[launch->placement.worker_of[rank]],
    };
    xy_status_t st;

    if (environment == NULL)
        return xy_fail_memory("starting a rank");
    st = process_init(process, &config);
    if (st != XY_OK)
        return st;
    mpi_rank_give_process(&launch->job->ranks[rank], process);
    mpi_rank_take_process(&launch->job->ranks[rank], process);
    launch->job->ranks[rank].appnum = (int)(part - part_at(launch, 0));
    return mpi_rank_start(launch->job, rank, process_run, process);
}

/* Create the ranks of all parts that run in this process. */
static xy_status_t make_ranks(launch_t *launch)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < launch->parts.count && st == XY_OK; i++) {
        const mpi_part_t *part = part_at(launch, i);

        if (part->count_here == 0)
            continue;
        if (part->program->is_shared) {
            process_locals_fill(part->program, part->program->region);
            process_image_construct(part->program, part->program->region, part->argc, part->argv,
                                    part->environment);
        }
        for (int r = 0; r < part->count_here && st == XY_OK; r++)
            st = make_rank(launch, part, r);
    }
    return st == XY_OK ? process_input_share() : st;
}

/* Print the transport to other processes, and the core of its thread. */
static void say_network(const launch_t *launch)
{
    const char *name = xy_net_name(launch->net), *host = launch->node->hosts[launch->node->process];
    int cpu = launch->placement.network_cpu, process = launch->node->process;
    uint64_t limit = mpi_remote_room(launch->net);
    int near = strcmp(name, "shm") != 0 ? xy_net_near(launch->net) : 0;
    int lanes = xy_net_lanes(launch->net);
    char within[64] = "", lines[64] = "", where[64] = "any core";

    if (launch->values->has_eager && launch->values->eager < limit)
        limit = launch->values->eager;
    if (near > 0)
        snprintf(within, sizeof(within), " (shared memory to %d of this machine)", near);
    if (lanes > 1)
        snprintf(lines, sizeof(lines), ", large ones on %d interfaces", lanes);
    if (cpu >= 0)
        snprintf(where, sizeof(where), "core %d (%s)", cpu, launch->values->net_place);
    process_say("process %d on %s: messages go over %s%s, up to %llu bytes at once%s; its thread "
                "runs on %s",
                process, host, name, within, (unsigned long long)limit, lines, where);
}

/* Print where each rank runs (--verbose). */
static void say_ranks(const launch_t *launch)
{
    const virtual_config_t *v = launch->in_virtual_time;

    for (int r = 0; v != NULL && r < launch->size; r++)
        process_say("rank %d runs '%s' on core %d of %s", r, launch->processes[r].program->path,
                    v->job.core_of[r], v->job.machine->name);
    if (v != NULL)
        return;
    for (int r = 0; r < launch->size; r++)
        if (is_here(launch, r) && launch->node != NULL)
            process_say("rank %d runs '%s' on core %d of %s, in process %d", r,
                        launch->processes[r].program->path,
                        launch->placement.cpus[launch->placement.worker_of[r]],
                        launch->node->hosts[launch->node->process], launch->node->process);
        else if (launch->node == NULL)
            process_say("rank %d runs '%s' on core %d", r, launch->processes[r].program->path,
                        launch->placement.cpus[launch->placement.worker_of[r]]);
}

static void say_workers(const launch_t *launch)
{
    if (launch->node != NULL)
        say_network(launch);
    for (size_t i = 0; i < launch->parts.count; i++)
        if (part_at(launch, i)->count_here > 0 &&
            launch->size > launch->placement.workers - launch->placement.comm_workers)
            process_block_tell(part_at(launch, i)->program);
}

static void say_placement(const launch_t *launch)
{
    if (launch->values->verbose || launch->values->shows_map)
        say_ranks(launch);
    if (launch->values->verbose && launch->in_virtual_time == NULL)
        say_workers(launch);
}

static void say_progress(const mpi_job_t *job)
{
    xy_text_t text = XY_TEXT_INIT;
    char *rest;

    nbc_threads_tell(job, &text);
    nbc_splits_tell(&text);
    rest = text.failed ? NULL : text.s;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0';)
        process_say("%s", line);
    xy_text_cleanup(&text);
}

/* The ranks of this process were placed alone: tables are by world rank. */
static xy_status_t spread(const launch_t *launch, int **table_p)
{
    int *table = xy_malloc((size_t)launch->size * sizeof(*table));

    if (table == NULL)
        return xy_fail_memory("placing the ranks");
    for (int r = 0; r < launch->size; r++)
        table[r] = -1;
    for (int i = 0; i < launch->node->count; i++)
        table[launch->node->own[i]] = (*table_p)[i];
    xy_free(*table_p);
    *table_p = table;
    return XY_OK;
}

static xy_status_t number_by_world(launch_t *launch)
{
    int **of_threads = launch->placement.thread_worker_of;
    xy_status_t st = spread(launch, &launch->placement.worker_of);

    for (int i = 0; of_threads != NULL && xy_threads_all[i] != NULL && st == XY_OK; i++)
        if (of_threads[i] != NULL)
            st = spread(launch, &of_threads[i]);
    return st;
}

/* In virtual time all of them run on one core here, whatever their simulated places. */
static xy_status_t place_ranks(launch_t *launch)
{
    mpi_launch_values_t values = *launch->values;
    int ranks = launch->node != NULL ? launch->node->count : launch->size;
    xy_status_t st = XY_OK;

    if (values.virtual_machine != NULL) {
        st = mpi_virtual_prepare(launch->values, launch->size, part_at(launch, 0)->argv[0],
                                 &launch->in_virtual_time);
        mpi_virtual_adapt(&launch->settings, mpi_launch_adapt_counts());
    }
    if (values.virtual_machine != NULL || is_checked_in_order(launch)) {
        values = mpi_virtual_real_values(launch->values);
        launch->settings.progress = XMPI_PROGRESS_TASKS;
    }
    if (values.check != NULL && launch->node != NULL) {
        values.cores = launch->values->cores;           /* the cores of this process */
        launch->settings.progress = XMPI_PROGRESS_NONE; /* nothing moves but in calls of ranks */
    }
    if (st != XY_OK)
        return st;
    launch->placed = ranks;
    if (launch->node == NULL && launch->in_virtual_time == NULL && launch->values->usize > ranks)
        launch->placed = (int)launch->values->usize;
    st = mpi_placement_make(&values, &launch->settings, launch->placed,
                            launch->node != NULL && values.check == NULL ? launch->node->slots
                                                                         : NULL,
                            part_at(launch, 0)->path, &launch->placement);
    if (st == XY_OK && launch->node != NULL)
        st = mpi_placement_network(&values, ranks, &launch->placement);
    if (st == XY_OK && launch->node == NULL)
        return mpi_gpu_bind(launch->values, &launch->placement, ranks);
    if (st == XY_OK && (launch->values->gpu_bind != NULL || launch->values->gpus_per_rank > 0))
        return xy_fail(XY_EUNSUPPORTED,
                       "--gpu-bind and --gpus-per-rank are for ranks of one process");
    return st == XY_OK ? number_by_world(launch) : st;
}

/* Start the trace of the job: to a file, through the head, or in virtual time. */
static xy_status_t start_trace(const launch_t *launch)
{
    const virtual_config_t *v = launch->in_virtual_time;
    const char *path = launch->values->trace;
    char pipe[64];
    int keep = -1;
    xy_status_t st;

    if (v != NULL && (v->trace != NULL || v->compute == VIRTUAL_COMPUTE_TRACE))
        mpi_trace_virtual(launch->job);
    if (launch->values->trace == NULL || v != NULL)
        return XY_OK;
    st = mpi_trace_filter(launch->values->trace_messages, launch->size);
    if (st == XY_OK && launch->node != NULL) {
        st = mpi_node_trace_open(pipe, &keep);
        path = pipe;
    }
    if (st == XY_OK)
        st = mpi_trace_start(launch->job, path, part_at(launch, 0)->argv[0]);
    if (keep >= 0)
        close(keep);
    return st;
}

/* The head of several processes. */
static xy_status_t run_head(launch_t *launch)
{
    xy_status_t st = mpi_launch_checks_read_several(launch->values);

    if (st == XY_OK)
        st = mpi_launch_checks_begin(launch->values, part_at(launch, 0)->argv[0], NULL, NULL);
    if (st == XY_OK)
        st = mpi_launch_settings(launch->values, &launch->settings);
    if (st == XY_OK)
        launch->code = mpi_head_run(&(mpi_head_job_t){.values = launch->values,
                                                      .parts = &launch->parts,
                                                      .settings = &launch->settings,
                                                      .size = launch->size,
                                                      .hosts = &launch->hosts,
                                                      .has_children = !part_at(launch, 0)->is_mpi});
    return st;
}

/* Ranks are processes of their own: options for ranks inside mpiexec have no effect. */
static xy_status_t run_head_of_children(launch_t *launch)
{
    launch->adapted = *launch->values;
    launch->adapted.trace = launch->adapted.monitor = launch->adapted.matrix = NULL;
    launch->adapted.adapt = "off";
    if (launch->hosts.count == 0 && node_is_over_mpi(launch->adapted.net))
        launch->adapted.processes = launch->size; /* of the installed MPI */
    launch->values = &launch->adapted;
    return run_head(launch);
}

/* The head writes what all processes have counted. */
static xy_status_t write_traffic(const launch_t *launch)
{
    xy_traffic_t t;
    xy_status_t st;

    if (launch->node == NULL)
        return mpi_monitor_write(launch->job, launch->values->monitor);
    st = mpi_monitor_collect(launch->job, &t);
    if (st == XY_OK) {
        st = mpi_node_send_traffic(&t);
        xy_traffic_cleanup(&t);
    }
    return st;
}

/* The plan of --adapt takes the place of the options. */
static xy_status_t adapt(launch_t *launch)
{
    if (strcmp(launch->values->adapt, "off") == 0)
        return XY_OK;
    if (launch->values->check != NULL)
        return xy_fail(XY_EUSAGE, "--check changes run times; leave --adapt out");
    launch->adapted = *launch->values;
    launch->values = &launch->adapted;
    if (launch->node != NULL)
        return mpi_launch_adapt_told(launch->node->plan, launch->node->counts, &launch->adapted,
                                     &launch->settings);
    return mpi_launch_adapt(&launch->parts, launch->size, &launch->adapted, &launch->settings);
}

/* Count messages for --monitor, --report, a first run of --adapt, and while xylem top looks. */
static xy_status_t start_counting(const launch_t *launch)
{
    const mpi_launch_values_t *v = launch->values;
    bool is_counted = mpi_launch_adapt_counts() && launch->in_virtual_time == NULL;
    xy_status_t st = XY_OK;

    if (v->monitor != NULL || v->report != NULL || is_counted)
        st = mpi_monitor_start(launch->job, v->monitor_slice);
    if (st == XY_OK && v->report != NULL)
        st = mpi_account_start(launch->job);
    if (st == XY_OK)
        mpi_live_open(launch->job, part_at(launch, 0)->argv[0], launch->node != NULL);
    return st;
}

static xy_status_t finish_report(const launch_t *l)
{
    if (l->values->report == NULL || mpi_finish_code() != 0)
        return XY_OK;
    return mpi_report_finish(l->values, l->job, part_at(l, 0)->argv[0], l->node != NULL);
}

/* Run the ranks of this process: prepare, start, wait for their end, and write the results. */
static xy_status_t run_ranks(launch_t *launch)
{
    xy_status_t st;

    process_pid = getpid();
    process_heap_setup();
    st = mpi_launch_output(launch->values, launch->size, launch->node);
    if (st == XY_OK)
        st = mpi_launch_settings(launch->values, &launch->settings);
    if (st == XY_OK)
        st = mpi_launch_checks_read(launch->values);
    if (st == XY_OK)
        st = adapt(launch);
    if (st == XY_OK && launch->values->machine != NULL)
        st = mpi_launch_imagine(launch->values->machine);
    if (st == XY_OK)
        st = place_ranks(launch);
    if (st == XY_OK)
        st = make_environments(launch);
    if (st == XY_OK)
        st = mpi_launch_libraries(&launch->parts, &launch->libraries);
    if (st == XY_OK)
        st = load_programs(launch);
    if (st == XY_OK && launch->values->verbose)
        mpi_launch_adapt_say();
    if (st == XY_OK && launch->node != NULL)
        st = mpi_node_open(launch->values->survive, &launch->net);
    if (st == XY_OK)
        st = make_job(launch);
    if (st == XY_OK)
        st = mpi_launch_checks_begin(launch->values, part_at(launch, 0)->argv[0], launch->job,
                                     launch->node);
    if (st == XY_OK)
        st = make_ranks(launch);
    if (st == XY_OK)
        st = mpi_launch_show(&launch->parts);
    if (st != XY_OK)
        return st;
    if (!launch->values->quiet)
        mpi_launch_warn_profiler(&launch->parts);
    say_placement(launch);
    process_signals_setup(launch->processes, launch->job->capacity);
    prepare_spawn(launch);
    if (launch->values->timeout > 0)
        st = mpi_timeout_start(launch->values->timeout);
    if (st == XY_OK && launch->size > 1)
        st =
            mpi_deadlock_watch_start(launch->values->deadlock_after, launch->values->polling_after);
    program_invocation_name = part_at(launch, 0)->argv[0];
    if (st == XY_OK)
        st = start_counting(launch);
    if (st == XY_OK)
        st = start_trace(launch);
    mpi_rank_process_watch(launch->job, launch->processes);
    if (st == XY_OK)
        st = xy_pool_run(launch->job->pool);
    process_sanitizer_leave();
    mpi_launch_balance_end(launch->values, launch->job);
    if (st == XY_OK && launch->node != NULL && mpi_launch_adapt_counts())
        st = mpi_node_send_profile(launch->job);
    mpi_watch_stop();
    mpi_network_end();
    xy_net_close(launch->net);
    if (st == XY_OK && launch->in_virtual_time != NULL)
        st = mpi_virtual_finish(launch->values, launch->job);
    else if (st == XY_OK)
        st = mpi_trace_finish();
    if (st == XY_OK && mpi_finish_code() == 0)
        mpi_launch_adapt_note(launch->values, launch->job);
    if (st == XY_OK && is_auto(launch))
        mpi_comm_auto_note(part_at(launch, 0)->path, launch->size, nbc_measured(launch->job));
    if (st == XY_OK &&
        (launch->values->monitor != NULL || (launch->node != NULL && mpi_launch_adapt_counts())))
        st = write_traffic(launch);
    if (st == XY_OK)
        st = finish_report(launch);
    if (st == XY_OK && launch->values->verbose)
        say_progress(launch->job);
    return st;
}

/* A program at a fixed address can be one rank only: itself. */
static bool runs_alone(const launch_t *launch)
{
    const mpi_part_t *part = part_at(launch, 0);

    return launch->size == 1 && part->is_mpi && part->is_fixed && !launch->values->share_globals;
}

/* Refuse options that see one process only. */
static xy_status_t check_several(const launch_t *launch)
{
    const mpi_launch_values_t *v = launch->values;
    int input;

    if (v->virtual_machine != NULL)
        return xy_fail(XY_EUNSUPPORTED,
                       "--virtual is for jobs in one process: the virtual clock needs all ranks "
                       "in one order; leave --processes and hosts out, and name the hosts in the "
                       "machine (--virtual \"node:4 core:32\")");
    return mpi_mapping_check_several(v) == XY_OK
               ? mpi_launch_output_check(v, launch->size, true, &input)
               : XY_EUNSUPPORTED;
}

/* Does it start other processes of mpiexec, which start the ranks? */
static bool has_head(const launch_t *launch)
{
    const mpi_launch_values_t *v = launch->values;

    if (launch->node != NULL)
        return false;
    return v->processes > 1 || launch->hosts.count > 0 ||
           (!part_at(launch, 0)->is_mpi && launch->size > 1 && node_is_over_mpi(v->net));
}

/* Find the programs and run them: as head, as one program, as ranks, or as child processes. */
static xy_status_t start(launch_t *launch)
{
    xy_status_t st = change_directory(launch);

    if (st == XY_OK && launch->node == NULL)
        st = mpi_report_prepare(launch->values);
    if (st == XY_OK)
        st = find_programs(launch);
    if (st != XY_OK)
        return st;
    if (launch->values->virtual_machine != NULL &&
        (runs_alone(launch) || !part_at(launch, 0)->is_mpi))
        return xy_fail(XY_EUNSUPPORTED,
                       "--virtual: '%s' %s; compile it with mpicc as a position-independent "
                       "executable",
                       part_at(launch, 0)->path,
                       part_at(launch, 0)->is_mpi ? "has a fixed address" : "does not use MPI");
    if ((launch->values->check != NULL || launch->values->report != NULL) &&
        (runs_alone(launch) || !part_at(launch, 0)->is_mpi))
        return xy_fail(XY_EUNSUPPORTED,
                       "%s: '%s' %s; compile it with mpicc as a position-independent executable",
                       launch->values->check != NULL ? "--check" : "--report",
                       part_at(launch, 0)->path,
                       part_at(launch, 0)->is_mpi ? "has a fixed address" : "does not use MPI");
    if (!part_at(launch, 0)->is_mpi && launch->node == NULL)
        mpi_mapping_warn_processes(launch->values, part_at(launch, 0)->path);
    if (has_head(launch)) {
        st = check_several(launch);
        if (st != XY_OK)
            return st;
        return part_at(launch, 0)->is_mpi ? run_head(launch) : run_head_of_children(launch);
    }
    if (runs_alone(launch) && launch->node == NULL && !mpi_launch_output_is_watched(launch->values))
        return mpi_launch_become(part_at(launch, 0), launch->values);
    if (part_at(launch, 0)->is_mpi && (launch->node != NULL || !runs_alone(launch))) {
        st = mpi_restart_if_asked(&launch->parts);
        return st == XY_OK ? run_ranks(launch) : st;
    }
    launch->code = mpi_launch_children(&launch->parts, launch->size, launch->node);
    return XY_OK;
}

/* Take over the settings that the head has decided. */
static void take_over(const launch_t *launch, mpi_launch_values_t *values)
{
    if (launch->node->cores != NULL) {
        values->cores = launch->node->cores;
        values->cpu_set = NULL;
        values->workers = 0;
    }
    values->timeout = 0;
    if (launch->node->slots != NULL)
        values->matrix = NULL;
}

/* Hosts are those of the first program that has any; none if all of them are this machine. */
static xy_status_t find_hosts(launch_t *launch, const xy_vec_t *contexts)
{
    mpi_launch_values_t values = *launch->values;
    int elsewhere = 0;
    xy_status_t st;

    for (size_t i = 1; i < contexts->count && values.host == NULL && values.hostfile == NULL; i++) {
        values.host = XY_VEC_AT(contexts, mpi_launch_context_t, i).values.host;
        values.hostfile = XY_VEC_AT(contexts, mpi_launch_context_t, i).values.hostfile;
    }
    st = mpi_hosts_read(&values, &launch->hosts);
    if (st != XY_OK)
        return st;
    for (size_t i = 0; i < launch->hosts.count; i++)
        elsewhere += !mpi_host_is_here(launch->hosts.all[i].name);
    if (elsewhere == 0)
        mpi_hosts_cleanup(&launch->hosts);
    if (launch->hosts.count > 0 && values.processes > 1)
        return xy_fail(XY_EUSAGE,
                       "--processes is for this machine; leave out either it or the hosts");
    return XY_OK;
}

/* Read mapping, hosts and parts from the command lines and start the job. */
static xy_status_t launch_all(launch_t *launch, const xy_vec_t *contexts)
{
    mpi_launch_values_t *first = &XY_VEC_AT(contexts, mpi_launch_context_t, 0).values;
    xy_status_t st = mpi_mapping_read(first, launch->node != NULL || first->quiet);

    launch->parts = XY_VEC_INIT(mpi_part_t);
    launch->values = first;
    if (st == XY_OK)
        st = mpi_launch_set_rules(first);
    if (launch->node != NULL)
        take_over(launch, first);
    else if (st == XY_OK)
        st = mpi_pmi_is_head() ? mpi_pmi_hosts(&launch->hosts) : find_hosts(launch, contexts);
    for (size_t i = 0; i < contexts->count && st == XY_OK; i++)
        st = add_part(launch, &XY_VEC_AT(contexts, mpi_launch_context_t, i), contexts->count == 1);
    if (st == XY_OK && launch->values->usize > 0 && launch->values->usize < launch->size)
        st = xy_fail(XY_EUSAGE, "--usize %ld: the job has %d ranks; give more",
                     launch->values->usize, launch->size);
    if (st == XY_OK)
        st = mpi_launch_survive(first, launch->size, launch->node == NULL ? &launch->hosts : NULL);
    return st == XY_OK ? start(launch) : st;
}

/* Memory of the job is left to the end of the process: freeing it for many ranks takes long. */
int mpi_launch_main(int argc, char **argv)
{
    static launch_t launch;
    static xy_vec_t contexts;
    xy_status_t st;
    bool is_done;

    if (argc > 1 && strcmp(argv[1], PROCESS_CRASH_OPTION) == 0)
        return process_crash_main(argc - 2, argv + 2);
    process_streams_reserve();
    process_crash_setup();
    xy_error_program_set("mpiexec");
    process_dl_setup();
    mpi_caller_set_threads(process_thread_create_plain);
    process_sanitizer_setup();
    st = mpi_node_begin(&launch.node);
    if (st == XY_OK)
        st = mpi_launch_expand(&argc, &argv);
    if (st == XY_OK)
        st = mpi_restart_note(argc, argv);
    if (st == XY_OK)
        st = mpi_launch_parse(argc - 1, argv + 1, &contexts, &is_done);
    if (st == XY_OK && !is_done) {
        st = launch_all(&launch, &contexts);
        if (st == XY_OK && launch.processes != NULL)
            launch.code = mpi_check_finish(mpi_finish_code());
    }
    if (st != XY_OK && launch.code == 0)
        launch.code = xy_status_exit_code(st);
    launch.code = launch.code == 0 && process_streams_failed() ? 1 : launch.code;
    mpi_node_leave(launch.code, st != XY_OK);
    if (launch.processes == NULL)
        mpi_launch_parse_cleanup(&contexts);
    return launch.code;
}
