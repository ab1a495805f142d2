/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem bench: measure, or simulate. Each benchmark is a file bench_NAME.c that ends in a table. */
#include <string.h>

#include "verbs.h"

extern const xy_command_t bench_nbc;
extern const xy_command_t bench_smt;

static const xy_command_t *const benches[] = {&bench_nbc, &bench_smt, NULL};

/* Entry point of 'xylem bench': runs a benchmark by name. */
static xy_status_t run(const xy_command_t *command, const void *values, int argc, char **argv)
{
    const char *names[sizeof(benches) / sizeof(benches[0])] = {NULL};
    const char *nearest;

    (void)command;
    (void)values;
    for (size_t i = 0; benches[i] != NULL; i++) {
        names[i] = benches[i]->name;
        if (strcmp(argv[0], names[i]) == 0)
            return xy_command_run(benches[i], argc - 1, argv + 1);
    }
    nearest = xy_nearest_word(argv[0], names);
    if (nearest != NULL)
        return xy_fail(XY_EUSAGE, "no benchmark is called '%s'; did you mean '%s'?", argv[0],
                       nearest);
    return xy_fail(XY_EUSAGE, "no benchmark is called '%s'; see 'xylem bench --help'", argv[0]);
}

const xy_command_t verb_bench = {
    .name = "bench",
    .summary = "measure or simulate the overlap of communication and computation",
    .synopsis = "nbc|smt [OPTION]...",
    .description =
        "- nbc: Measure how well nonblocking collectives overlap with computation.\n\n"
        "- smt: Measure the effect of a copying thread on a computation, by placement.\n\n"
        "'xylem bench BENCHMARK --help' prints the options of each.",
    .examples = "xylem bench nbc --simulate knl64 --ranks 32..63 --size 2M\n    compare ways of "
                "progress on a simulated 64-core node\n",
    .positional_min = 1,
    .positional_max = -1,
    .stop_at_positional = true,
    .subcommands = benches,
    .run = run,
};
