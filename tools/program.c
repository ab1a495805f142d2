/* SPDX-License-Identifier: BSD-3-Clause */
#include "program.h"

#include <stddef.h>
#include <string.h>
#include <xylem.h>

#include "verbs.h"

extern const xy_command_t mpi_launch_command;

static const char *const shells[] = {"bash", NULL};

/* --man and --completion are for the build, which installs what they print; help is silent about
 * them. */
static const xy_option_t options[] = {
    {"version", 'V', XY_OPT_FLAG, .offset = offsetof(program_values_t, version),
     .help = "print the version and exit"},
    {"man", 0, XY_OPT_FLAG, .offset = offsetof(program_values_t, man)},
    {"completion", 0, XY_OPT_CHOICE, "SHELL", offsetof(program_values_t, completion),
     .choices = shells},
    {0}};

static const char description[] =
    "Xylem discovers a parallel machine, learns what things cost on it, places processes and data, "
    "hides communication behind computation, and predicts the result before it runs.\n"
    "\n"
    "'xylem help VERB' and 'xylem VERB --help' describe one verb.";

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
};

void program_help(FILE *file)
{
    xy_command_help(&program, file);
    fputs("\nVerbs:\n", file);
    for (size_t i = 0; verbs[i] != NULL; i++)
        fprintf(file, "  %-22s  %s\n", verbs[i]->name, verbs[i]->summary);
}

static xy_status_t man_of_program(FILE *file)
{
    xy_text_t list = XY_TEXT_INIT, see_also = XY_TEXT_INIT;
    xy_section_t sections[2] = {{0}};
    xy_command_t page = program;
    xy_status_t st = XY_OK;

    for (size_t i = 0; verbs[i] != NULL; i++) {
        xy_text_addf(&list, "%s: %s.\n\n", verbs[i]->name, verbs[i]->summary);
        xy_text_addf(&see_also, "%sxylem-%s(1)", i > 0 ? ", " : "", verbs[i]->name);
    }
    if (list.failed || see_also.failed) {
        st = xy_fail_memory("writing the man page");
    } else {
        sections[0] = (xy_section_t){.name = "verbs", .text = list.s};
        page.sections = sections;
        xy_command_man(&page, xylem_version(), see_also.s, file);
    }
    xy_text_cleanup(&list);
    xy_text_cleanup(&see_also);
    return st;
}

/* The commands beside this one that have a page of their own. */
static const xy_command_t *const other_commands[] = {&mpi_launch_command, &command_mpicc,
                                                     &command_mpicxx, &command_mpifort};

xy_status_t program_man(const char *name, FILE *file)
{
    const xy_command_t *verb;
    xy_status_t st;

    if (name == NULL)
        return man_of_program(file);
    for (size_t i = 0; i < sizeof(other_commands) / sizeof(other_commands[0]); i++)
        if (strcmp(other_commands[i]->name, name) == 0) {
            xy_command_man(other_commands[i], xylem_version(), "xylem(1), xylem.h(3)", file);
            return XY_OK;
        }
    st = verb_find(name, &verb);
    if (st == XY_OK)
        xy_command_man(verb, xylem_version(), "xylem(1)", file);
    return st;
}
