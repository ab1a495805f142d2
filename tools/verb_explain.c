/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem explain: how an answer comes about. */
#include <stddef.h>
#include <string.h>

#include "explain.h"
#include "verbs.h"

extern const explain_topic_t explain_coll;
extern const explain_topic_t explain_cost;
extern const explain_topic_t explain_finding;
extern const explain_topic_t explain_message;
extern const explain_topic_t explain_place;
extern const explain_topic_t explain_split;

static const explain_topic_t *const topics[] = {
    &explain_coll,  &explain_cost, &explain_finding, &explain_message, &explain_place,
    &explain_split, NULL,
};

enum { RANKS_MAX = 1 << 14 };
enum { TOPICS = sizeof(topics) / sizeof(topics[0]) };

static const char *const libraries[] = {"xylem", "openmpi", "mpich", NULL};

static const xy_option_t options[] = {
    {"ranks", 'n', XY_OPT_LONG, "N", offsetof(explain_values_t, ranks), .min = 1, .max = RANKS_MAX,
     .preset = "16", XY_COMMON("collective"), .help = "set the number of ranks"},
    {"size", 's', XY_OPT_SIZE, "BYTES", offsetof(explain_values_t, size), .preset = "64K",
     XY_COMMON("collective"),
     .help =
         "set the bytes of the vector or block; of the vector (bcast, reductions), of one rank's "
         "block (gather, scatter, allgather, reduce_scatter) or of a pair's block (alltoall)"},
    {"algorithm", 'a', XY_OPT_STRING, "NAME", offsetof(explain_values_t, algorithm),
     .complete = "algorithm name", XY_COMMON("collective"),
     .help = "force this algorithm, as a program can"},
    {"library", 'l', XY_OPT_STRING, "NAME", offsetof(explain_values_t, library),
     .choices = libraries, XY_COMMON("collective"),
     .help = "print the choice of this library and its rule; xylem, openmpi (4.1) or mpich (4.0)"},
    {"element", 0, XY_OPT_SIZE, "BYTES", offsetof(explain_values_t, element), .preset = "8",
     XY_ADVANCED("collective"), .help = "set the bytes of one element"},
    {"ordered", 0, XY_OPT_FLAG, .offset = offsetof(explain_values_t, ordered),
     XY_ADVANCED("collective"), .help = "assume that the reduction does not commute"},
    {"nonblocking", 0, XY_OPT_FLAG, .offset = offsetof(explain_values_t, nonblocking),
     .needs = "library", XY_ADVANCED("collective"),
     .help = "with --library: explain the nonblocking call, which has its own rules"},
    {"ranks-per-node", 0, XY_OPT_LONG, "N", offsetof(explain_values_t, ranks_per_node), .min = 1,
     .max = RANKS_MAX, .preset = "1", .needs = "library", XY_ADVANCED("collective"),
     .help = "with --library: put N consecutive ranks on each node"},
    {"segment", 0, XY_OPT_SIZE, "BYTES", offsetof(explain_values_t, segment),
     XY_ADVANCED("collective"),
     .help = "set the bytes of a piece of chains, trees and the ring of allgather (default: their "
             "own)"},
    {"radix", 0, XY_OPT_LONG, "N", offsetof(explain_values_t, radix), .min = 2, .max = RANKS_MAX,
     .preset = "4", XY_ADVANCED("collective"), .help = "set the radix of k-nomial trees"},
    {"costs", 0, XY_OPT_STRING, "FILE", offsetof(explain_values_t, costs), XY_COMMON("costs"),
     .help = "read the costs from FILE; 'xylem calibrate' writes it (default: the user's)",
     .complete = "file"},
    {"machine", 'm', XY_OPT_STRING, "MACHINE", offsetof(explain_values_t, machine),
     .complete = "machine file", XY_COMMON("costs"),
     .help = "explain place or split on this machine; any source of 'xylem machine'; with place "
             "also torus:8x8x8, mesh:32x32 (default: this machine)",
     .env = "XYLEM_MACHINE"},
    {"latency", 0, XY_OPT_SECONDS, "TIME", offsetof(explain_values_t, latency),
     XY_ADVANCED("costs"),
     .help = "set a, the latency of one message (default: as calibrated, else 300ns)"},
    {"bandwidth", 0, XY_OPT_SIZE, "BYTES", offsetof(explain_values_t, bandwidth),
     XY_ADVANCED("costs"),
     .help = "set 1/b and 1/c, the bytes copied per second, from another rank or inside one "
             "(default: as "
             "calibrated, else 8e9)"},
    {"reduce", 0, XY_OPT_SIZE, "BYTES", offsetof(explain_values_t, reduce), XY_ADVANCED("costs"),
     .help = "set 1/g, the bytes reduced per second (default: as calibrated, else 16e9)"},
    {"svg", 0, XY_OPT_STRING, "FILE", offsetof(explain_values_t, svg), XY_COMMON("output"),
     .help = "draw the curves of split", .complete = "file"},
    {"json", 0, XY_OPT_FLAG, .offset = offsetof(explain_values_t, json), XY_COMMON("output"),
     .help = "print JSON"},
    {0}};

void explain_offer_topics(xy_offer_fn offer, void *to)
{
    for (size_t i = 0; topics[i] != NULL; i++)
        offer(to, topics[i]->name, topics[i]->summary);
}

static xy_status_t list_topics(void)
{
    for (size_t i = 0; topics[i] != NULL; i++)
        printf("xylem explain %s %s\n    %s\n", topics[i]->name, topics[i]->synopsis,
               topics[i]->summary);
    return xy_stdout_check();
}

static xy_status_t fail_unknown(const char *name)
{
    const char *names[TOPICS];
    const char *nearest;

    for (size_t i = 0; i < TOPICS; i++)
        names[i] = topics[i] != NULL ? topics[i]->name : NULL;
    nearest = xy_nearest_word(name, names);
    if (nearest != NULL)
        return xy_fail(XY_EUSAGE, "unknown topic '%s'; did you mean '%s'?", name, nearest);
    return xy_fail(XY_EUSAGE, "unknown topic '%s'; 'xylem explain' lists them", name);
}

/* Runs a topic, with the costs that the options name if it wants them. */
static xy_status_t explain(const explain_topic_t *t, const explain_values_t *values, int argc,
                           char **argv)
{
    xy_costs_t *costs;
    xy_status_t st;

    if (t->explain == NULL)
        return t->run(values, argc, argv);
    st = xy_costs_load(values->costs, &costs);
    if (st != XY_OK)
        return st;
    st = t->explain(costs, values, argc, argv);
    xy_costs_destroy(costs);
    return st;
}

/* Entry point of 'xylem explain': runs a topic by name, or lists all. */
static xy_status_t run(const xy_command_t *command, const void *values, int argc, char **argv)
{
    (void)command;
    if (argc == 0)
        return list_topics();
    for (size_t i = 0; topics[i] != NULL; i++) {
        const explain_topic_t *t = topics[i];

        if (strcmp(t->name, argv[0]) != 0)
            continue;
        if (argc - 1 < t->arguments_min || argc - 1 > t->arguments_max)
            return xy_fail(XY_EUSAGE, "usage: xylem explain %s %s", t->name, t->synopsis);
        return explain(t, values, argc - 1, argv + 1);
    }
    return fail_unknown(argv[0]);
}

const xy_command_t verb_explain = {
    .name = "explain",
    .summary = "explain a choice: candidates, their costs, the result",
    .synopsis = "[TOPIC ARGUMENT...]",
    .description =
        "Without an argument, lists the topics.\n\n"
        "- coll: the algorithms of a collective, cheapest first. COLLECTIVE is one of barrier, "
        "bcast, "
        "gather, gatherv, scatter, scatterv, allgather, allgatherv, alltoall, alltoallv, "
        "alltoallw, "
        "reduce, allreduce, reduce_scatter, reduce_scatter_block, scan and exscan; the v and w "
        "forms are shown for blocks of equal size. With --library also those that only other "
        "libraries use, and the rule of that library. In the formulas p is the number of "
        "ranks, n the "
        "bytes of --size, a the time of a message, b and c the time of a byte copied from another "
        "rank or inside one, g that of a byte reduced, lg the logarithm to base 2.\n\n"
        "- cost KERNEL SIZE [THREADS]: the predicted time of a kernel, the polynomial it comes "
        "from, and its error.\n\n"
        "- finding [CLASS]: a class of mistakes that mpiexec reports, such as deadlock or "
        "never-freed: the rule, the cure, and the limits of its detection.\n\n"
        "- message SIZE [CLUSTER CLUSTER]: the time of a message, predicted by each model.\n\n"
        "- place MATRIX [STRATEGY]: the cost of a placement: the traffic within each level of the "
        "machine, the most expensive pairs, and the costs of other strategies.\n\n"
        "- split COLLECTIVE: the model of split-tree on a node of --machine, where --ranks cores "
        "(default: seven eighths) compute: messages of each level F(N, i), the time T_nb(S) of the "
        "collective alone and T_ovrl(S) beside the computation C(N), and the numbers of ranks at "
        "which the best S changes.",
    .examples =
        "xylem explain coll allreduce -n 64 -s 1M\n    algorithms for a long vector\n"
        "xylem explain coll bcast -n 64 -s 8 --json\n    the same for programs\n"
        "xylem explain coll bcast -n 64 -s 8 --library openmpi\n    what Open MPI would do\n"
        "xylem explain cost dgemm 1500\n    the model of a matrix product at n = 1500\n"
        "xylem explain finding rma-conflict\n    the meaning of a class in a report\n"
        "xylem explain message 64K C1 C2\n    64 KiB between two clusters\n"
        "xylem explain place app.mat -m 16x2x8\n    what is still far apart, and why\n"
        "xylem explain split reduce -m knl64 -n 58 --svg split.svg\n    how many levels ranks do\n",
    .options = options,
    .values_size = sizeof(explain_values_t),
    .positional_max = -1,
    .complete = "topic file",
    .run = run,
};
