/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --adapt: from the command line to a plan (mpi/adapt), and from the run to the history. In a job
 * of several processes the head does this (head_adapt.c) and sends the plan to the others.
 *
 * The problem is named after the program and a number made of what the times depend on: the file,
 * its arguments, the ranks, the cores, the options that change how they run. Beside the history
 * there is a directory with one profile and one matrix per problem.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "launch/launch.h"
#include "launch/virtual_time.h"
#include "mpi/adapt/adapt.h"
#include "mpi/nbc/nbc.h"
#include "net/net.h"

enum {
    RANKS_PLACED = 4096, /* more would take long to place, and their matrix much room */
    TRIED_MESSAGES = 1 << 18
};

static struct {
    bool is_on, learns, counts;
    char problem[XY_CHOOSE_WORD_MAX + 1], host[XY_CHOOSE_WORD_MAX + 1];
    char *history, *profile, *matrix; /* files */
    xy_parameter_t ranks;
    mpi_adapt_choice_t choice;
    xy_coll_picks_t picks;
    char comm_cores[16];
    bool is_verbose;
    double start;
} all;

/* ---- The problem ---- */

static void mix_bytes(uint64_t *hash, const void *data, size_t n)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < n; i++)
        *hash = xy_hash_u64(*hash ^ bytes[i]);
}

static void mix(uint64_t *hash, const char *text)
{
    mix_bytes(hash, text != NULL ? text : "", text != NULL ? strlen(text) + 1 : 1);
}

static void mix_list(uint64_t *hash, const xy_vec_t *list)
{
    for (size_t i = 0; i < list->count; i++)
        mix(hash, XY_VEC_AT(list, const char *, i));
}

/* A file that was changed is another one. */
static void mix_file(uint64_t *hash, const char *path)
{
    char *full = path != NULL ? realpath(path, NULL) : NULL;
    struct stat s;

    mix(hash, full != NULL ? full : path);
    if (full != NULL && stat(full, &s) == 0) {
        mix_bytes(hash, &s.st_size, sizeof(s.st_size));
        mix_bytes(hash, &s.st_mtim.tv_sec, sizeof(s.st_mtim.tv_sec));
        mix_bytes(hash, &s.st_mtim.tv_nsec, sizeof(s.st_mtim.tv_nsec));
    }
    free(full);
}

/* Mix the options that influence running times into a hash. */
static void mix_options(uint64_t *hash, const mpi_launch_values_t *v)
{
    long numbers[] = {v->threads_per_rank, v->workers,       v->progress_priority, (long)v->eager,
                      v->oversubscribe,    v->trace != NULL, v->monitor != NULL};

    mix_bytes(hash, numbers, sizeof(numbers));
    mix(hash, v->cores);
    mix(hash, v->comm_cores);
    mix(hash, v->progress);
    mix(hash, v->progress_place);
    mix(hash, v->progress_order);
    mix(hash, v->split);
    mix(hash, v->let_arrive);
    mix(hash, v->balance);
    mix(hash, v->compute);
    mix(hash, v->library);
    mix_list(hash, &v->algorithm);
    mix_list(hash, &v->compute_call);
    mix_file(hash, v->place);
    mix_file(hash, v->matrix);
    mix_file(hash, v->costs);
    mix_file(hash, v->virtual_machine);
}

/* Hash of programs, arguments, ranks, cores and options: the number of the problem. */
static uint64_t number_of(const xy_vec_t *parts, const mpi_launch_values_t *values,
                          const mpi_adapt_place_t *place)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < parts->count; i++) {
        const mpi_part_t *part = &XY_VEC_AT(parts, mpi_part_t, i);

        mix_file(&hash, part->path);
        mix_bytes(&hash, &part->count, sizeof(part->count));
        for (int k = 1; k < part->argc; k++)
            mix(&hash, part->argv[k]);
    }
    mix_bytes(&hash, &place->cores, sizeof(place->cores));
    mix_options(&hash, values);
    if (place->processes != NULL)
        mix(&hash, place->processes);
    return hash;
}

/* Words of the history and of a file's name. */
static void copy_word(char *to, size_t size, const char *from)
{
    size_t n = 0;

    for (; from[n] != '\0' && n + 1 < size; n++)
        to[n] = from[n] > ' ' && from[n] <= '~' && strchr("/,=+", from[n]) == NULL ? from[n] : '_';
    to[n] = '\0';
}

/* Set the names of the problem and of the host in the history. */
static void name_problem(const xy_vec_t *parts, const mpi_launch_values_t *values,
                         const mpi_adapt_place_t *place)
{
    const char *path = XY_VEC_AT(parts, mpi_part_t, 0).path, *slash = strrchr(path, '/');
    char name[64];
    struct utsname host;

    copy_word(name, sizeof(name), slash != NULL ? slash + 1 : path);
    snprintf(all.problem, sizeof(all.problem), "mpiexec:%s:%016llx", name,
             (unsigned long long)number_of(parts, values, place));
    if (values->virtual_machine != NULL || uname(&host) != 0 || host.nodename[0] == '\0')
        copy_word(all.host, sizeof(all.host), values->virtual_machine != NULL ? "virtual" : "here");
    else
        copy_word(all.host, sizeof(all.host), host.nodename);
}

static xy_status_t name_files(void)
{
    const char *name = all.problem + strlen("mpiexec:");
    xy_status_t st = xy_history_path(&all.history);

    if (st != XY_OK)
        return st;
    all.profile = xy_sprintf("%s.profiles/%s@%s", all.history, name, all.host);
    all.matrix = xy_sprintf("%s.profiles/%s@%s.csv", all.history, name, all.host);
    return all.profile != NULL && all.matrix != NULL ? XY_OK : xy_fail_memory("choosing");
}

/* Count the cores of the job, real or virtual. */
static xy_status_t count_cores(const mpi_launch_values_t *values, int *count_p)
{
    xy_cores_t cores;
    xy_status_t st;

    if (values->virtual_machine != NULL)
        return mpi_virtual_cores(values, count_p);
    st = mpi_placement_cores(values, &cores);
    if (st == XY_OK) {
        *count_p = cores.count;
        xy_cores_cleanup(&cores);
    }
    return st;
}

/* ---- The plan ---- */

/* The model of a run is exact where no real time is in it. */
static double noise_of(const mpi_launch_values_t *v)
{
    return v->virtual_machine != NULL && strncmp(v->compute, "timed", 5) != 0 ? 1e-3 : 0;
}

/* Describe the job for the choice of a plan: its size, and which changes the options leave open. */
static mpi_adapt_t describe(const mpi_launch_values_t *v, const mpi_settings_t *settings,
                            const mpi_adapt_place_t *place)
{
    bool is_virtual = v->virtual_machine != NULL;
    mpi_adapt_t a = {
        .instance = {all.problem, all.host, &all.ranks, 1},
        .learns = all.learns,
        .noise = noise_of(v),
        .ranks = place->ranks,
        .cores = place->cores,
        .may_place = v->place == NULL && v->matrix == NULL && access(all.matrix, R_OK) == 0,
        .may_split = !is_virtual && settings->split == XMPI_SPLIT_OFF && v->comm_cores == NULL,
        .may_keep_cores = v->comm_cores == NULL && settings->progress == XMPI_PROGRESS_TASKS,
        .may_share_cores = !is_virtual || v->oversubscribe,
        .nodes = place->nodes,
        .node_cores = place->node_cores,
    };

    for (int c = 0; c < XY_COLL_COUNT; c++)
        a.fixed |= settings->algorithm[c] != NULL ? 1u << c : 0;
    return a;
}

static void say_changed(const xy_coll_pick_t *pick, double before, double now)
{
    char old[32], new[32];

    if (all.is_verbose)
        process_say("adapt: from now on %s/%d/%llu:%s, which takes %s, not %s",
                    xy_coll_name(pick->collective), pick->procs, 1ull << pick->step,
                    pick->algorithm->name, xy_format_seconds(now, new),
                    xy_format_seconds(before, old));
}

static const xy_coll_reconsider_t reconsider = {XMPI_ADAPT_LOSS, say_changed};

/* Apply the chosen plan to options and settings. */
static void apply(mpi_launch_values_t *values, mpi_settings_t *settings)
{
    const mpi_plan_t *plan = &all.choice.plan;

    if (plan->is_placed)
        values->matrix = all.matrix;
    if (plan->comm_cores > 0) {
        snprintf(all.comm_cores, sizeof(all.comm_cores), "%d", plan->comm_cores);
        values->comm_cores = all.comm_cores;
    }
    if (plan->is_split)
        settings->split = XMPI_SPLIT_AUTO;
    all.picks = (xy_coll_picks_t){plan->picks, plan->pick_count};
    if (plan->pick_count > 0)
        settings->picks = &all.picks;
    if (all.learns && !all.counts)
        settings->reconsider = &reconsider;
    all.is_verbose = values->verbose;
}

void mpi_launch_adapt_say(void)
{
    const mpi_adapt_choice_t *c = &all.choice;
    char expected[32], low[32], high[32], otherwise[32];

    if (!all.is_on)
        return;
    if (all.counts)
        process_say("adapt: default; no earlier run of this program is known, so its calls and "
                    "messages are counted");
    else if (c->default_runs == 0)
        process_say("adapt: default; no earlier run of this program was stored");
    else
        process_say("adapt: %s%s; expected: %s (%s to %s, %zu run%s), by default %s (%zu run%s)",
                    c->word,
                    c->is_settled ? strcmp(c->word, XMPI_ADAPT_DEFAULT) == 0
                                        ? ", nothing else is known to be better"
                                        : ", the best of what was measured"
                                  : ", a trial",
                    xy_format_seconds(c->expected, expected), xy_format_seconds(c->low, low),
                    xy_format_seconds(c->high, high), c->runs, c->runs == 1 ? "" : "s",
                    xy_format_seconds(c->otherwise, otherwise), c->default_runs,
                    c->default_runs == 1 ? "" : "s");
    if (c->measured > 0)
        process_say("adapt: trials have lost %.2f %% of %s so far, 2 %% is the most",
                    100 * c->lost / c->measured, xy_format_seconds(c->measured, expected));
}

/* Choose a plan from the history, or the default one while the first run counts. */
static xy_status_t choose(const mpi_launch_values_t *values, const mpi_settings_t *settings,
                          const mpi_adapt_place_t *place)
{
    mpi_adapt_t a = describe(values, settings, place);
    mpi_profile_t profile;
    xy_history_t *history;
    xy_status_t st = xy_history_load(all.history, all.problem, all.host, &history);

    if (st != XY_OK)
        return st;
    if (mpi_profile_read(all.profile, &profile) == XY_OK)
        a.profile = &profile;
    a.history = history;
    all.counts = all.learns && a.profile == NULL;
    if (all.counts)
        all.choice = (mpi_adapt_choice_t){.word = XMPI_ADAPT_DEFAULT, .is_settled = true};
    else
        st = mpi_adapt_choose(&a, &all.choice);
    xy_history_destroy(history);
    return st;
}

xy_status_t mpi_launch_adapt_at(const xy_vec_t *parts, const mpi_adapt_place_t *place,
                                mpi_launch_values_t *adapted, mpi_settings_t *settings)
{
    xy_status_t st;

    all.learns = strcmp(adapted->adapt, "learn") == 0;
    all.ranks = (xy_parameter_t){"ranks", place->ranks};
    name_problem(parts, adapted, place);
    st = name_files();
    if (st == XY_OK)
        st = choose(adapted, settings, place);
    if (st != XY_OK) { /* reported; the job runs */
        all.counts = all.learns = false;
        return XY_OK;
    }
    all.is_on = true;
    apply(adapted, settings);
    all.start = xy_clock_seconds(CLOCK_MONOTONIC);
    return XY_OK;
}

xy_status_t mpi_launch_adapt(const xy_vec_t *parts, int size, mpi_launch_values_t *adapted,
                             mpi_settings_t *settings)
{
    mpi_adapt_place_t place = {.ranks = size, .nodes = 1};
    xy_status_t st = count_cores(adapted, &place.cores);

    if (st != XY_OK)
        return st;
    place.node_cores = place.cores;
    if (adapted->virtual_machine != NULL)
        mpi_virtual_nodes(&place.nodes, &place.node_cores);
    return mpi_launch_adapt_at(parts, &place, adapted, settings);
}

bool mpi_launch_adapt_counts(void)
{
    return all.counts;
}

const char *mpi_launch_adapt_plan(void)
{
    return all.is_on ? all.choice.word : XMPI_ADAPT_DEFAULT;
}

xy_status_t mpi_launch_adapt_told(const char *plan, bool counts, mpi_launch_values_t *adapted,
                                  mpi_settings_t *settings)
{
    if (!mpi_plan_parse(plan, &all.choice.plan))
        return xy_fail(XY_EPARSE,
                       "--adapt: '%s' is not a plan; do all parts of Xylem have the same version?",
                       plan);
    all.choice.plan.is_placed = false; /* the head has placed the ranks */
    all.learns = strcmp(adapted->adapt, "learn") == 0;
    all.counts = counts;
    apply(adapted, settings);
    return XY_OK;
}

/* ---- The end ---- */

/* Build the communication matrix of the finished run; the caller owns *matrix_p. */
static xy_status_t find_matrix(bool is_virtual, const mpi_job_t *job, xy_matrix_t **matrix_p)
{
    const xy_traffic_choice_t everything = {true, true, XY_TRAFFIC_ANY, XY_TRAFFIC_ANY,
                                            XY_TRAFFIC_ANY};
    xy_traffic_t t;
    xy_status_t st;

    if (is_virtual)
        return mpi_virtual_matrix(matrix_p);
    st = mpi_monitor_collect(job, &t);
    if (st != XY_OK)
        return st;
    st = xy_traffic_matrix(&t, &everything, matrix_p);
    xy_traffic_cleanup(&t);
    return st;
}

/* Seconds that the busiest sender needs for its messages. */
double mpi_launch_sending(const xy_matrix_t *m, const xy_coll_link_t *here,
                          const xy_coll_link_t *between, const int *process_of)
{
    double most = 0;

    for (uint32_t r = 0; r < m->n; r++) {
        double seconds = 0;

        for (size_t k = m->first[r]; k < m->first[r + 1]; k++) {
            bool crosses = process_of != NULL && process_of[r] != process_of[m->to[k]];
            const xy_coll_link_t *link = crosses ? between : here;

            seconds +=
                link->beta * m->bytes[k] + link->alpha * xy_matrix_value(m, XY_METRIC_MSG, k);
        }
        most = fmax(most, seconds);
    }
    return most;
}

/* Set *gain_p to the relative communication cost of a better placement; unchanged if the matrix is
 * empty or too large. */
static xy_status_t find_gain(const mpi_launch_values_t *values, const xy_matrix_t *m,
                             double *gain_p)
{
    const xy_machine_t *machine = NULL;
    const xy_cores_t *cores = NULL;
    xy_cores_t here;
    xy_status_t st;

    if (m->n > RANKS_PLACED || m->first[m->n] == 0)
        return XY_OK;
    if (values->virtual_machine != NULL) {
        st = mpi_virtual_target(values, &machine, &cores);
        return st == XY_OK ? mpi_placement_gain(m, cores, machine, XMPI_PLACE_USUAL, gain_p) : st;
    }
    st = mpi_placement_cores(values, &here);
    if (st != XY_OK)
        return st;
    st = mpi_placement_gain(m, &here, NULL, XMPI_PLACE_USUAL, gain_p);
    xy_cores_cleanup(&here);
    return st;
}

/* Simulate what the calls take by each algorithm, those that took most time first, as long as it
 * takes little: at most so many messages. */
static xy_status_t try_algorithms(mpi_profile_t *profile)
{
    int64_t left = TRIED_MESSAGES;
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < profile->call_count; i++) {
        const xy_vjob_calls_t *c = &profile->calls[i];
        mpi_ways_t *ways = &profile->ways[i];

        left -= ways->count * (int64_t)c->procs * c->procs;
        if (left < 0)
            break;
        for (int k = 0; k < ways->count && st == XY_OK; k++)
            st = mpi_virtual_try(c, ways->algorithm[k], &ways->seconds[k]);
        ways->is_simulated = true;
    }
    return st;
}

static xy_status_t print_matrix(const void *arg, FILE *file)
{
    return xy_matrix_write(arg, XY_MATRIX_CSV, file);
}

static xy_status_t write_profile(const mpi_profile_t *profile, const xy_matrix_t *m)
{
    xy_status_t st = xy_make_directories(all.matrix);

    if (st == XY_OK && profile->gain < 1)
        st = xy_out_write(all.matrix, print_matrix, m);
    return st == XY_OK ? mpi_profile_write(profile, all.profile) : st;
}

/* Write the profile of the finished run and its matrix beside the history. */
static xy_status_t note_profile(const mpi_launch_values_t *values, mpi_job_t *job, double seconds)
{
    bool is_virtual = values->virtual_machine != NULL;
    mpi_profile_t profile = {.gain = 1};
    xy_vec_t calls = XY_VEC_INIT(xy_vjob_calls_t);
    xy_matrix_t *m = NULL;
    xy_status_t st = find_matrix(is_virtual, job, &m);

    if (st == XY_OK)
        st = is_virtual ? mpi_virtual_calls(&calls) : coll_tally_calls(&calls);
    if (st == XY_OK)
        st = find_gain(values, m, &profile.gain);
    if (st == XY_OK) {
        mpi_profile_calls(&profile, &calls);
        st = is_virtual ? try_algorithms(&profile) : XY_OK;
    }
    if (st == XY_OK) {
        profile.share = is_virtual
                            ? mpi_virtual_share()
                            : fmin(1, mpi_launch_sending(m, &nbc_link, NULL, NULL) / seconds);
        st = write_profile(&profile, m);
    }
    xy_matrix_destroy(m);
    xy_vec_cleanup(&calls);
    return st;
}

static void note_run(double seconds)
{
    xy_run_t run = {.instance = {all.problem, all.host, &all.ranks, 1},
                    .time = (int64_t)time(NULL),
                    .alternative = all.choice.word,
                    .predicted = all.choice.predicted > 0 ? all.choice.predicted : seconds,
                    .measured = seconds,
                    .instead = all.choice.instead};

    xy_history_append(all.history, &run, 1);
}

void mpi_launch_adapt_note(const mpi_launch_values_t *values, mpi_job_t *job)
{
    bool is_virtual = values->virtual_machine != NULL;
    double seconds =
        is_virtual ? mpi_virtual_seconds() : xy_clock_seconds(CLOCK_MONOTONIC) - all.start;

    if (!all.is_on || !all.learns || !(seconds > 0))
        return;
    /* Failures are reported; the job itself has ended well. Counting takes real time, and would
     * make the default seem slower than it is. */
    if (all.counts && note_profile(values, job, seconds) != XY_OK)
        return;
    if (!all.counts || is_virtual)
        note_run(seconds);
}

/* ---- Several processes ---- */

xy_status_t mpi_launch_adapt_counted(mpi_job_t *job, mpi_profile_t *profile_p)
{
    mpi_profile_t profile = {.gain = 1};
    xy_vec_t calls = XY_VEC_INIT(xy_vjob_calls_t);
    double bandwidth = 0;
    xy_status_t st = coll_tally_calls(&calls);

    if (st == XY_OK) {
        mpi_profile_calls(&profile, &calls);
        for (size_t i = 0; i < profile.call_count; i++) {
            const xy_vjob_calls_t *c = &profile.calls[i];
            mpi_ways_t *ways = &profile.ways[i];

            if (c->nodes > 1)
                ways->count = coll_interprocess_ways(c->collective, c->procs, c->nodes, c->bytes,
                                                     ways->algorithm, ways->seconds);
        }
        xy_net_cost(job->net, &profile.alpha, &bandwidth);
        profile.beta = 1 / bandwidth;
        *profile_p = profile;
    }
    xy_vec_cleanup(&calls);
    return st;
}

void mpi_launch_adapt_ended(const mpi_profile_t *profile, const xy_matrix_t *m, double seconds)
{
    if (!all.is_on || !all.learns || !(seconds > 0))
        return;
    if (!all.counts)
        note_run(seconds);
    else if (profile != NULL)
        write_profile(profile, m);
}
