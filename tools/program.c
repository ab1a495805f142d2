/* SPDX-License-Identifier: BSD-3-Clause */
#include "program.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <xylem.h>

#include "coll/coll.h"
#include "machine/machine.h"
#include "measure/measure.h"
#include "tasks/tasks.h"
#include "verbs.h"

extern const xy_command_t mpi_launch_command;

/* --man is for the build, --complete for the scripts in tools/completion; help omits both. */
static const xy_option_t options[] = {
    {"version", 'V', XY_OPT_FLAG, .offset = offsetof(program_values_t, version),
     XY_COMMON("options"), .help = "print the version and exit"},
    {"man", 0, XY_OPT_FLAG, .offset = offsetof(program_values_t, man)},
    {"complete", 0, XY_OPT_FLAG, .offset = offsetof(program_values_t, complete)},
    {0}};

static const char description[] = "Xylem runs MPI programs, finds their mistakes and shows where "
                                  "their time goes. It also describes "
                                  "machines, measures the costs of messages and kernels, places "
                                  "ranks, overlaps communication with "
                                  "computation, and predicts run times.\n"
                                  "\n"
                                  "'xylem help VERB' and 'xylem VERB --help' describe one verb. "
                                  "The guides (docs/NAME.md) and the "
                                  "examples are installed in share/doc/xylem.";

const xy_command_t program = {
    .name = "xylem",
    .prefix = "",
    .summary = "run, place, overlap and predict parallel programs",
    .synopsis = "VERB [ARGUMENT]...",
    .description = description,
    .options = options,
    .values_size = sizeof(program_values_t),
    .positional_max = -1,
    .stop_at_positional = true,
    .subcommands = verbs,
};

void program_help(xy_help_t which, FILE *file)
{
    xy_command_help(&program, which, file);
    fputs("\nVerbs:\n", file);
    for (size_t i = 0; verbs[i] != NULL; i++)
        fprintf(file, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
}

/* Writes the man page of the program, with a list of its verbs. */
static xy_status_t man_of_program(FILE *file)
{
    xy_text_t list = XY_TEXT_INIT, see_also = XY_TEXT_INIT;
    xy_section_t sections[2] = {{0}};
    xy_command_t page = program;
    xy_status_t st = XY_OK;

    for (size_t i = 0; verbs[i] != NULL; i++) {
        xy_text_addf(&list, "- %s: %c%s.\n\n", verbs[i]->name,
                     toupper((unsigned char)verbs[i]->summary[0]), verbs[i]->summary + 1);
        xy_text_addf(&see_also, "%sxylem-%s(1)", i > 0 ? ", " : "", verbs[i]->name);
    }
    if (list.failed || see_also.failed) {
        st = xy_fail_memory("writing the man page");
    } else {
        sections[0] = (xy_section_t){.name = "verbs", .text = list.s};
        page.sections = sections;
        page.subcommands = NULL; /* each has a page of its own */
        xy_command_man(&page, xylem_version(), see_also.s, file);
    }
    xy_text_cleanup(&list);
    xy_text_cleanup(&see_also);
    return st;
}

/* The commands of the package, under all of their names; the first name is that of a man page. */
static const struct {
    const xy_command_t *command;
    const char *names[4];
} commands[] = {
    {&program, {"xylem"}},
    {&mpi_launch_command, {"mpiexec", "mpirun"}},
    {&command_mpicc, {"mpicc"}},
    {&command_mpicxx, {"mpicxx", "mpic++", "mpiCC"}},
    {&command_mpifort, {"mpifort", "mpif77", "mpif90"}},
};

/* The command of this name, or NULL. */
static const xy_command_t *find_command(const char *name)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        for (int k = 0; k < 4 && commands[i].names[k] != NULL; k++)
            if (strcmp(commands[i].names[k], name) == 0)
                return commands[i].command;
    return NULL;
}

/* Pages that readers of a verb's page look for next, and the guide with examples. */
static const struct {
    const char *verb, *see_also;
} related[] = {
    {"run", "xylem-cc(1), xylem-gdb(1), xylem-top(1), xylem-report(1), docs/running.md"},
    {"cc", "xylem-run(1), docs/running.md"},
    {"c++", "xylem-run(1), docs/running.md"},
    {"gdb", "xylem-run(1), docs/debugging.md"},
    {"machine", "xylem-calibrate(1), xylem-place(1), docs/machine.md"},
    {"calibrate", "xylem-explain(1), xylem-predict(1), docs/calibrate.md"},
    {"monitor", "xylem-place(1), xylem-report(1), docs/place.md"},
    {"place", "xylem-monitor(1), xylem-machine(1), xylem-explain(1), docs/place.md"},
    {"scan", "xylem-predict(1), docs/scan.md"},
    {"predict", "xylem-scan(1), xylem-calibrate(1), xylem-machine(1), docs/predict.md"},
    {"choose", "xylem-predict(1), xylem-calibrate(1), docs/adapt.md"},
    {"bench", "xylem-run(1), xylem-view(1), docs/overlap.md, docs/simulate.md"},
    {"stencil", "xylem-machine(1), xylem-view(1), docs/stencil.md"},
    {"explain", "xylem-calibrate(1), xylem-place(1), docs/collectives.md"},
    {"view", "xylem-report(1), xylem-advise(1), mpiexec(1), docs/view.md"},
    {"report", "xylem-view(1), xylem-advise(1), mpiexec(1), docs/report.md"},
    {"advise", "xylem-report(1), xylem-view(1), mpiexec(1), docs/advise.md"},
    {"top", "xylem-report(1), mpiexec(1), docs/top.md"},
    {"info", "docs/getting-started.md"},
    {"help", "docs/README.md"},
};

/* The page of a verb. */
static void man_of_verb(const xy_command_t *verb, FILE *file)
{
    char see_also[256] = "xylem(1)";

    for (size_t i = 0; i < sizeof(related) / sizeof(related[0]); i++)
        if (strcmp(related[i].verb, verb->name) == 0)
            snprintf(see_also, sizeof(see_also), "xylem(1), %s", related[i].see_also);
    xy_command_man(verb, xylem_version(), see_also, file);
}

xy_status_t program_man(const char *name, FILE *file)
{
    const xy_command_t *command;
    xy_status_t st;

    if (name == NULL)
        return man_of_program(file);
    command = find_command(name);
    if (command != NULL) {
        xy_command_man(command, xylem_version(), "xylem(1), xylem.h(3)", file);
        return XY_OK;
    }
    st = verb_find(name, &command);
    if (st == XY_OK)
        man_of_verb(command, file);
    return st;
}

static void offer_machines(xy_offer_fn offer, void *to)
{
    xy_vec_t names = XY_VEC_INIT(char *);

    if (xy_machine_names(&names) != XY_OK)
        return;
    for (size_t i = 0; i < names.count; i++) {
        offer(to, XY_VEC_AT(&names, char *, i), NULL);
        xy_free(XY_VEC_AT(&names, char *, i));
    }
    xy_vec_cleanup(&names);
}

static void offer_kernels(xy_offer_fn offer, void *to)
{
    const char *name, *text;

    for (size_t i = 0; xy_calibrate_kernel_name(i, &name, &text); i++)
        offer(to, name, text);
    offer(to, "all", NULL);
}

/* Each name once: algorithms of several collectives share some. */
static void offer_algorithm_names(xy_offer_fn offer, void *to)
{
    const xy_coll_algorithm_t *const *all = xy_coll_algorithms();

    for (size_t i = 0, j; all[i] != NULL; i++) {
        for (j = 0; strcmp(all[j]->name, all[i]->name) != 0; j++)
            ;
        if (j == i && !all[i]->is_direct)
            offer(to, all[i]->name, NULL);
    }
}

/* "allreduce=ring" for every collective and algorithm. */
static void offer_algorithms(xy_offer_fn offer, void *to)
{
    char word[128];

    for (size_t k = 0; xy_coll_names()[k] != NULL; k++)
        for (const xy_coll_algorithm_t *const *a = xy_coll_algorithms(); *a != NULL; a++)
            if (((*a)->collectives >> k & 1) != 0 && !(*a)->is_direct) {
                snprintf(word, sizeof(word), "%s=%s", xy_coll_names()[k], (*a)->name);
                offer(to, word, (*a)->describe);
            }
}

/* Lists that are not in an option table. */
static void offer_words(const char *complete, xy_offer_fn offer, void *to)
{
    const char *const *names = xy_coll_names();

    if (strncmp(complete, "machine", 7) == 0)
        offer_machines(offer, to);
    else if (strncmp(complete, "topic", 5) == 0)
        explain_offer_topics(offer, to);
    else if (strcmp(complete, "algorithm") == 0)
        offer_algorithms(offer, to);
    else if (strcmp(complete, "algorithm name") == 0)
        offer_algorithm_names(offer, to);
    else if (strcmp(complete, "kernel") == 0)
        offer_kernels(offer, to);
    for (size_t i = 0; strcmp(complete, "collective") == 0 && names[i] != NULL; i++)
        offer(to, names[i], NULL);
    for (size_t i = 0; strcmp(complete, "eviction") == 0 && xy_task_evictions[i].name != NULL; i++)
        offer(to, xy_task_evictions[i].name, xy_task_evictions[i].describe);
    for (size_t i = 0; strcmp(complete, "verb") == 0 && verbs[i] != NULL; i++)
        offer(to, verbs[i]->name, verbs[i]->summary);
}

xy_status_t program_complete(int argc, char **argv, FILE *file)
{
    const xy_command_t *command = argc > 0 ? find_command(argv[0]) : NULL;

    if (command == NULL || argc < 2)
        return xy_fail(XY_EUSAGE, "--complete needs the name of a command and its words");
    xy_command_complete(command, argc - 1, argv + 1, offer_words, file);
    return XY_OK;
}
