/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xylem gdb: gdb on mpiexec, with the commands of tools/gdb/xylem.py. What follows the options of
 * the verb is the command line of mpiexec.
 */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verbs.h"

extern const xy_command_t mpi_launch_command; /* mpiexec's own command line */

typedef struct {
    long pid;
    const char *core, *gdb;
    xy_vec_t commands;
    bool batch, script;
} values_t;

static const xy_option_t options[] = {
    {"pid", 'p', XY_OPT_LONG, "PID", offsetof(values_t, pid), .min = 1, .max = INT_MAX,
     XY_COMMON("options"), .help = "attach to the mpiexec with this process id"},
    {"core", 0, XY_OPT_STRING, "FILE", offsetof(values_t, core), .complete = "file",
     XY_COMMON("options"), .help = "examine the core file of an mpiexec"},
    {"ex", 0, XY_OPT_LIST, "COMMAND", offsetof(values_t, commands), XY_COMMON("options"),
     .help = "run this gdb command first; may be repeated"},
    {"batch", 0, XY_OPT_FLAG, .offset = offsetof(values_t, batch), XY_COMMON("options"),
     .help = "end after the commands of --ex, without a prompt"},
    {"gdb", 0, XY_OPT_STRING, "PROGRAM", offsetof(values_t, gdb), .env = "XYLEM_GDB",
     .preset = "gdb", .complete = "file", XY_ADVANCED("options"), .help = "run this gdb"},
    {"script", 0, XY_OPT_FLAG, .offset = offsetof(values_t, script), XY_ADVANCED("options"),
     .help = "print where the gdb script is, for 'gdb -x' or an editor's debugger"},
    {0}};

/* Count the options at the beginning that are ours; the rest belongs to mpiexec. */
static int count_own(int argc, char **argv)
{
    int i = 0;

    while (i < argc && argv[i][0] == '-') {
        const char *name = argv[i] + (argv[i][1] == '-' ? 2 : 1);
        size_t length = strcspn(name, "=");
        const xy_option_t *option = options;

        while (option->name != NULL &&
               !(strncmp(option->name, name, length) == 0 && option->name[length] == '\0') &&
               !(length == 1 && option->letter == name[0]))
            option++;
        if (option->name == NULL)
            break;
        i += option->kind == XY_OPT_FLAG || name[length] == '=' ? 1 : 2;
    }
    return i < argc ? i : argc;
}

static char *find_script(void)
{
    char *path = xy_beside("../share/xylem/gdb/xylem.py");

    if (path != NULL && access(path, R_OK) == 0)
        return path;
    xy_free(path);
    return xy_strdup(XYLEM_GDB_SCRIPT);
}

/* mpiexec would complain inside gdb; this reports it earlier. */
static xy_status_t check_launch(int argc, char **argv)
{
    char **copy = xy_calloc((size_t)argc + 1, sizeof(char *));
    void *values = xy_calloc(1, mpi_launch_command.values_size);
    xy_help_t help = XY_HELP_NONE;
    int count = 0;
    xy_status_t st = XY_OK;

    if (copy == NULL || values == NULL) {
        st = xy_fail_memory("reading the command line");
        goto end;
    }
    memcpy(copy, argv, (size_t)argc * sizeof(char *));
    st = xy_options_parse(&mpi_launch_command, argc, copy, values, &count, &help);
    if (st == XY_OK && count == 0 && help == XY_HELP_NONE)
        st = xy_fail(XY_EUSAGE, "no program was given; see 'xylem gdb --help'");
    xy_options_cleanup(&mpi_launch_command, values);
end:
    xy_free(values);
    xy_free(copy);
    return st;
}

static xy_status_t check(const values_t *v, int argc, char **argv)
{
    if (v->pid != 0 && v->core != NULL)
        return xy_fail(XY_EUSAGE, "a process or a core file, not both; see 'xylem gdb --help'");
    if (v->pid == 0 && v->core == NULL)
        return check_launch(argc, argv);
    if (argc > 0)
        return xy_fail(XY_EUSAGE, "'%s' is not expected with --%s; see 'xylem gdb --help'", argv[0],
                       v->pid != 0 ? "pid" : "core");
    if (v->core != NULL && access(v->core, R_OK) != 0)
        return xy_fail_errno(errno, v->core, "read");
    return XY_OK;
}

typedef struct {
    xy_vec_t words; /* of const char * */
    bool failed;
} command_line_t;

static void add(command_line_t *line, const char *word)
{
    line->failed |= word == NULL || xy_vec_append(&line->words, &word) != XY_OK;
}

/* Adds the job to debug: a process, a core file or a command. */
static void add_target(command_line_t *line, const values_t *v, int argc, char **argv)
{
    char *mpiexec = xy_beside("mpiexec");

    if (v->pid != 0) {
        add(line, "-p");
        add(line, xy_sprintf("%ld", v->pid));
        return;
    }
    if (v->core == NULL)
        add(line, "--args");
    add(line, mpiexec);
    if (v->core != NULL)
        add(line, v->core);
    for (int i = 0; i < argc; i++)
        add(line, argv[i]);
}

/* Replaces this process by gdb; returns only on failure. */
static xy_status_t become_gdb(const values_t *v, const char *script, int argc, char **argv)
{
    command_line_t line = {.words = XY_VEC_INIT(const char *)};
    const char *end = NULL;

    add(&line, v->gdb);
    add(&line, "-q");
    if (v->batch)
        add(&line, "-batch");
    add(&line, "-x");
    add(&line, script);
    for (size_t i = 0; i < v->commands.count; i++) {
        add(&line, "-ex");
        add(&line, XY_VEC_AT(&v->commands, const char *, i));
    }
    add_target(&line, v, argc, argv);
    if (line.failed || xy_vec_append(&line.words, &end) != XY_OK)
        return xy_fail_memory("starting gdb");
    fflush(NULL);
    execvp(v->gdb, line.words.data);
    if (errno == ENOENT)
        return xy_fail(XY_ENOENT, "'%s' was not found; install gdb, or name it with --gdb", v->gdb);
    return xy_fail_errno(errno, v->gdb, "execute");
}

/* Entry point of 'xylem gdb'; only options before the command are its own. */
static xy_status_t run(const xy_command_t *command, const void *none, int argc, char **argv)
{
    int own = count_own(argc, argv), count = 0;
    char **rest = argv + own;
    char *script = find_script();
    xy_help_t help = XY_HELP_NONE;
    values_t values;
    xy_status_t st;

    (void)none;
    if (own < argc && strcmp(*rest, "--") == 0)
        rest++;
    st = xy_options_parse(command, own, argv, &values, &count, &help);
    if (st == XY_OK && script == NULL)
        st = xy_fail_memory("starting gdb");
    if (st == XY_OK && values.script)
        printf("%s\n", script);
    else if (st == XY_OK)
        st = check(&values, (int)(argv + argc - rest), rest);
    if (st == XY_OK && !values.script)
        st = become_gdb(&values, script, (int)(argv + argc - rest), rest);
    xy_options_cleanup(command, &values);
    xy_free(script);
    return st;
}

static const xy_section_t sections[] = {
    {"commands of gdb",
     "- info ranks [LIST]: show the state of every rank, its MPI call and its source line.\n\n"
     "- rank N: select rank N, running or waiting, and the innermost frame of the program.\n\n"
     "- rank apply LIST|all COMMAND: run a command in several ranks.\n\n"
     "- $_rank(): the rank of the selected thread, as in 'break solve if $_rank() == 3'.\n\n"
     "- others: breakpoints, lines and variables are those of gdb. It knows the first 64 ranks, or "
     "those of --debug-ranks."},
    {0}};

const xy_command_t verb_gdb = {
    .name = "gdb",
    .summary = "debug an MPI program: gdb with commands for ranks",
    .synopsis = "[-n N] PROGRAM [ARGUMENT]...",
    .description =
        "Starts gdb on mpiexec, with commands that show and select ranks. The options of mpiexec "
        "follow those of the verb. Ranks are known to gdb with the C library 2.35 or later and gdb "
        "13 or later; compile the program with -g.",
    .exit_status = "That of gdb; 2 if the command line is wrong.",
    .examples = "xylem gdb -n 4 ./a.out\n    'break solve', 'run', 'info ranks', 'rank 2', 'bt'\n"
                "xylem gdb -p 4711\n    attach to a running mpiexec\n"
                "xylem gdb --core core\n    see where each rank was when the job crashed\n"
                "xylem gdb --batch --ex run --ex 'rank apply all bt' -n 4 ./a.out\n    where every "
                "rank is after a crash",
    .options = options,
    .sections = sections,
    .values_size = sizeof(values_t),
    .positional_max = -1,
    .complete = "file",
    .is_raw = true,
    .run = run,
};
