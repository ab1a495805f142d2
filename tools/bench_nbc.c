/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem bench nbc: measure how well nonblocking collectives overlap with computation; the command
 * line. */
#include <stddef.h>
#include <string.h>

#include "bench_nbc.h"
#include "sched/sched.h"

const char *const nbc_modes[] = {"cpu-exploit", "equivalent-compute", NULL};
static const char *const kernels[] = {"product", "addition", NULL};
static const char *const on_off[] = {"on", "off", NULL};
const char *const nbc_ways[] = {"none", "threads", "split-tree", "tasks", NULL};
static const char *const splits[] = {"auto", "adaptive", "off", NULL};
static const char *const peers[] = {"openmpi", "mpich", NULL};

static const xy_option_t options[] = {
    {"collective", 'c', XY_OPT_LIST, "NAME", offsetof(nbc_values_t, collectives),
     .complete = "collective", XY_COMMON("collective"),
     .help = "measure this collective, such as bcast; may be repeated; 'all' for all 17 (default: "
             "all of them; simulated: reduce, bcast, gather, scatter, allreduce)"},
    {"size", 's', XY_OPT_LIST, "BYTES", offsetof(nbc_values_t, sizes), XY_COMMON("collective"),
     .help = "set the bytes of the vector or block; the block is that of a rank or pair; may be "
             "repeated (default: 1M; simulated: 2M)"},
    {"ranks", 'n', XY_OPT_STRING, "LIST", offsetof(nbc_values_t, ranks), XY_COMMON("collective"),
     .help = "run with these numbers of ranks; 8,16,32 or 2..64 or 2..64:2 (default: 8; simulated: "
             "half of the cores)"},
    {"algorithm", 'a', XY_OPT_STRING, "NAME", offsetof(nbc_values_t, algorithm),
     .complete = "algorithm name", XY_ADVANCED("collective"),
     .help = "use this algorithm for the collective (default: chosen by the library; simulated: "
             "trees and "
             "chains, otherwise the cheapest)"},
    {"progress", 'p', XY_OPT_LIST, "WAY", offsetof(nbc_values_t, progress), .choices = nbc_ways,
     XY_COMMON("overlap"),
     .help = "choose who progresses collectives; none, threads, split-tree (threads with S by the "
             "model; simulated: the best S), tasks; may be repeated (default: tasks; simulated: "
             "none, split-tree, tasks)"},
    {"comm-cores", 0, XY_OPT_LONG, "K", offsetof(nbc_values_t, comm_cores), .min = -1,
     .max = 1000000, XY_COMMON("overlap"),
     .help = "set the number of communication cores (default: 1; simulated: all cores without a "
             "rank, at most K)",
     .preset = "-1"},
    {"split", 0, XY_OPT_STRING, "S", offsetof(nbc_values_t, split), .choices = splits,
     XY_COMMON("overlap"),
     .help = "let ranks do S levels of a tree themselves; for threads and tasks: a number, auto, "
             "off, or, when measured, adaptive",
     .preset = "off"},
    {"threads", 0, XY_OPT_STRING, "PLACE", offsetof(nbc_values_t, threads), XY_COMMON("overlap"),
     .help = "choose where progress threads run; auto: the best of numa, odd-even and bind "
             "(simulated) or what the library chooses",
     .preset = "auto", .table = XY_TABLE(xy_threads_all)},
    {"order", 0, XY_OPT_STRING, "ORDER", offsetof(nbc_values_t, order), XY_ADVANCED("overlap"),
     .help = "choose the order of progress threads that share a core; auto: semaphore (simulated) "
             "or what the "
             "library chooses",
     .preset = "auto", .table = XY_TABLE(xy_order_all)},
    {"priority", 0, XY_OPT_LONG, "N", offsetof(nbc_values_t, priority), .min = 0, .max = 20,
     XY_ADVANCED("overlap"), .help = "set the priority of progress threads, with --order priority",
     .preset = "10"},
    {"let-arrive", 0, XY_OPT_CHOICE, "on|off", offsetof(nbc_values_t, let_arrive),
     XY_EXPERIMENTAL("overlap"), .help = "measured: let the other ranks of a core start first",
     .preset = "on", .choices = on_off},
    {"simulate", 0, XY_OPT_STRING, "MACHINE", offsetof(nbc_values_t, simulate),
     .complete = "machine file", XY_COMMON("measure"),
     .help = "simulate this machine instead of measuring; a name, a file or a string as for 'xylem "
             "machine'"},
    {"mode", 'm', XY_OPT_CHOICE, "MODE", offsetof(nbc_values_t, mode), XY_COMMON("measure"),
     .help = "choose how much is computed; cpu-exploit: as long as the collective takes; "
             "equivalent-compute: a fixed total work, shared by the ranks (default: the second if "
             "simulated or with several numbers of ranks)",
     .choices = nbc_modes},
    {"against", 0, XY_OPT_STRING, "NAME[,...]", offsetof(nbc_values_t, against), .choices = peers,
     XY_COMMON("measure"), .help = "measured: also run with these MPI libraries; openmpi,mpich"},
    {"repetitions", 'r', XY_OPT_LONG, "N", offsetof(nbc_values_t, repetitions), .min = 1,
     .max = 1000000, XY_COMMON("measure"),
     .help = "measured: repeat each measurement N times in one run", .preset = "15"},
    {"kernel", 0, XY_OPT_CHOICE, "KERNEL", offsetof(nbc_values_t, kernel), XY_ADVANCED("measure"),
     .help = "measured: compute products of small matrices (high intensity) or sums (low)",
     .preset = "product", .choices = kernels},
    {"work", 0, XY_OPT_LONG, "N", offsetof(nbc_values_t, work), .min = 1, .max = 1000000,
     XY_ADVANCED("measure"),
     .help = "measured, equivalent-compute: the total work is one product (or sum) of matrices of "
             "this size",
     .preset = "512"},
    {"factor", 0, XY_OPT_DOUBLE, "F", offsetof(nbc_values_t, factor), .min = 1e-3, .max = 1e6,
     XY_ADVANCED("measure"),
     .help = "measured, cpu-exploit: compute F times as long as the collective takes",
     .preset = "1"},
    {"limit", 0, XY_OPT_SECONDS, "TIME", offsetof(nbc_values_t, limit), XY_ADVANCED("measure"),
     .help = "measured: end the repetitions of a collective after this time, but not before three",
     .preset = "5s"},
    {"turns", 0, XY_OPT_LONG, "N", offsetof(nbc_values_t, turns), .min = 1, .max = NBC_TURNS_MAX,
     XY_ADVANCED("measure"), .help = "measured: run each library N times, in alternation",
     .preset = "1"},
    {"compute", 0, XY_OPT_SECONDS, "TIME", offsetof(nbc_values_t, compute), XY_ADVANCED("measure"),
     .help =
         "simulated, equivalent-compute: set the computation of a rank with one rank on every core "
         "(default: the time of the collective there)"},
    {"json", 0, XY_OPT_FLAG, .offset = offsetof(nbc_values_t, json), XY_COMMON("output"),
     .help = "print JSON"},
    {"csv", 0, XY_OPT_STRING, "FILE", offsetof(nbc_values_t, csv), XY_COMMON("output"),
     .help = "write comma-separated values", .complete = "file"},
    {"html", 0, XY_OPT_STRING, "FILE", offsetof(nbc_values_t, html), XY_COMMON("output"),
     .help = "write a page with curves, heat maps and the table", .complete = "file"},
    {"svg", 0, XY_OPT_STRING, "FILE", offsetof(nbc_values_t, svg), XY_COMMON("output"),
     .help = "write the curves", .complete = "file"},
    {"trace", 0, XY_OPT_STRING, "FILE", offsetof(nbc_values_t, trace), XY_COMMON("output"),
     .help = "simulated: write the trace of the last point; for 'xylem view'", .complete = "file"},
    {0}};

/* Adds a collective by name, or all of them for "all"; a misspelt name gets a suggestion. */
static xy_status_t add_collective(nbc_lists_t *lists, const char *name)
{
    xy_collective_t c;
    const char *nearest;

    if (strcmp(name, "all") == 0) {
        for (c = 0; c < XY_COLL_COUNT; c++)
            if (xy_vec_append(&lists->collectives, &c) != XY_OK)
                return xy_fail_memory("reading the list of collectives");
        return XY_OK;
    }
    if (xy_coll_parse(name, &c))
        return xy_vec_append(&lists->collectives, &c) == XY_OK
                   ? XY_OK
                   : xy_fail_memory("reading the list of collectives");
    nearest = xy_nearest_word(name, xy_coll_names());
    return xy_fail(XY_EUSAGE, "no collective is called '%s'; %s%s", name,
                   nearest != NULL ? "did you mean " : "there are bcast, reduce, allreduce, ",
                   nearest != NULL ? nearest : "and more");
}

static xy_status_t read_collectives(const nbc_values_t *v, const char *const *usual,
                                    nbc_lists_t *lists)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < v->collectives.count && st == XY_OK; i++)
        st = add_collective(lists, XY_VEC_AT(&v->collectives, const char *, i));
    for (size_t i = 0; v->collectives.count == 0 && usual[i] != NULL && st == XY_OK; i++)
        st = add_collective(lists, usual[i]);
    return st;
}

/* Reads the sizes of --size; without it 1M for real runs and 2M for simulated ones. */
static xy_status_t read_sizes(const nbc_values_t *v, nbc_lists_t *lists)
{
    for (size_t i = 0; i < v->sizes.count || (i == 0 && v->sizes.count == 0); i++) {
        const char *text = v->sizes.count > 0    ? XY_VEC_AT(&v->sizes, const char *, i)
                           : v->simulate != NULL ? "2M"
                                                 : "1M";
        uint64_t size;

        if (!xy_parse_size(text, &size) || size > UINT64_C(1) << 40)
            return xy_fail(XY_EUSAGE,
                           "--size %s is not a size; give bytes up to 1T, such as 64K or 2M", text);
        if (xy_vec_append(&lists->sizes, &size) != XY_OK)
            return xy_fail_memory("reading the list of sizes");
    }
    return XY_OK;
}

/* One part of the list: N, A..B or A..B:STEP. */
static bool parse_range(char *part, long *first, long *last, long *step)
{
    char *dots = strstr(part, ".."), *colon = strchr(part, ':');

    *step = 1;
    if (colon != NULL) {
        *colon = '\0';
        if (dots == NULL || !xy_parse_long(colon + 1, step))
            return false;
    }
    if (dots != NULL)
        *dots = '\0';
    if (!xy_parse_long(part, first))
        return false;
    *last = *first;
    return (dots == NULL || xy_parse_long(dots + 2, last)) && *step > 0 && *first > 0 &&
           *first <= *last && *last <= 1000000;
}

/* Adds the rank counts from `first` to `last`; they must increase. */
static xy_status_t add_ranks(nbc_lists_t *lists, long first, long last, long step)
{
    for (long n = first; n <= last; n += step) {
        int ranks = (int)n;

        if (lists->ranks.count > 0 &&
            XY_VEC_AT(&lists->ranks, int, lists->ranks.count - 1) >= ranks)
            return xy_fail(XY_EUSAGE, "--ranks must increase; %d is repeated or out of order",
                           ranks);
        if (xy_vec_append(&lists->ranks, &ranks) != XY_OK)
            return xy_fail_memory("reading the list of ranks");
    }
    return XY_OK;
}

/* Reads the list of --ranks; without it `usual`. */
static xy_status_t read_ranks(const nbc_values_t *v, int usual, nbc_lists_t *lists)
{
    char *list = xy_strdup(v->ranks != NULL ? v->ranks : ""), *rest = list, *part;
    long first, last, step;
    xy_status_t st = XY_OK;

    if (list == NULL)
        return xy_fail_memory("reading the list of ranks");
    if (v->ranks == NULL)
        st = add_ranks(lists, usual, usual, 1);
    while (v->ranks != NULL && st == XY_OK && (part = strsep(&rest, ",")) != NULL)
        st = parse_range(part, &first, &last, &step)
                 ? add_ranks(lists, first, last, step)
                 : xy_fail(XY_EUSAGE,
                           "--ranks %s is not a list of numbers; give 8,16 or 2..64 or 2..64:2",
                           v->ranks);
    xy_free(list);
    return st;
}

xy_status_t nbc_lists_read(const nbc_values_t *v, const char *const *usual, int ranks,
                           nbc_lists_t *lists)
{
    xy_status_t st;

    lists->collectives = XY_VEC_INIT(xy_collective_t);
    lists->sizes = XY_VEC_INIT(uint64_t);
    lists->ranks = XY_VEC_INIT(int);
    st = read_collectives(v, usual, lists);
    if (st == XY_OK)
        st = read_sizes(v, lists);
    if (st == XY_OK)
        st = read_ranks(v, ranks, lists);
    return st;
}

void nbc_lists_cleanup(nbc_lists_t *lists)
{
    xy_vec_cleanup(&lists->collectives);
    xy_vec_cleanup(&lists->sizes);
    xy_vec_cleanup(&lists->ranks);
}

/* An option that would do nothing is a mistake. */
static xy_status_t check_options(const nbc_values_t *v)
{
    static const char *const simulated[] = {"compute", "trace", NULL};
    static const char *const measured[] = {
        "kernel", "work", "factor", "repetitions", "limit", "turns", "against", "let-arrive", NULL};
    const char *const *wrong = v->simulate != NULL ? measured : simulated;

    for (int i = 0; wrong[i] != NULL; i++)
        if (xy_options_given(wrong[i]))
            return xy_fail(XY_EUSAGE, "--%s is for %s; %s", wrong[i],
                           v->simulate != NULL ? "measuring" : "simulating",
                           v->simulate != NULL ? "leave out --simulate, or the option"
                                               : "give --simulate MACHINE, or leave it out");
    return XY_OK;
}

static xy_status_t run(const xy_command_t *command, const void *values, int argc, char **argv)
{
    const nbc_values_t *v = values;
    xy_status_t st = check_options(v);

    (void)command;
    (void)argc;
    (void)argv;
    if (st != XY_OK)
        return st;
    return v->simulate != NULL ? nbc_simulate(v) : nbc_measure(v);
}

const xy_command_t bench_nbc = {
    .name = "nbc",
    .prefix = "xylem bench",
    .summary = "measure how well nonblocking collectives overlap with computation",
    .description =
        "Measures start, computation and wait of nonblocking collectives here, or simulates them "
        "on a machine, and prints t_comm (start and wait), t_comp (the computation alone) and "
        "t_ovrl (all three), from the start of the first rank to the end of the last, and the "
        "overlap: the part of the shorter of the first two that does not add to the third.\n"
        "\n"
        "The measuring program is plain MPI (share/xylem/bench/nbc.c). It is compiled with 'xylem "
        "cc' and run with 'xylem run', and with --against also by other MPI libraries: the same "
        "ranks with the same computation on the same cores. Every result is checked against the "
        "blocking collective.\n"
        "\n"
        "The column 'of sum' is t_ovrl / (t_comm + t_comp), 'bound' is the work bound divided by "
        "t_ovrl: 100 % means that no core was idle. The work bound is the larger of two times: the "
        "computation alone, and all work, computation and communication, spread evenly over all "
        "cores. 'to peer' is t_ovrl divided by that of the better peer.",
    .examples =
        "xylem bench nbc --against openmpi,mpich --size 1M --factor 2\n"
        "    all 17 collectives, compared with other libraries\n"
        "xylem bench nbc -c allreduce --ranks 2..64:2 --size 64K --size 1M --html sweep.html\n"
        "    time against the number of ranks, and the heat map of ranks and sizes\n"
        "xylem bench nbc --simulate knl64 -c reduce --ranks 32..63 --html reduce.html\n"
        "    a page with the curves of one collective\n"
        "xylem bench nbc --simulate knl64 -c scan -n 62 -s 1M -p threads --order round-robin "
        "--threads odd-even\n    one placement of progress threads\n",
    .options = options,
    .values_size = sizeof(nbc_values_t),
    .run = run,
};
