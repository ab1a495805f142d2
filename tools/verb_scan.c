/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem scan: from C sources to a program description. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/program.h"
#include "scan_trace.h"
#include "verbs.h"

typedef struct {
    const char *output, *show, *standard, *from_trace;
    xy_vec_t includes, defines, kernels, assumed, arguments;
    long threads;
    bool list;
} values_t;

static const char *const styles[] = {"text", "html", NULL};

static const xy_option_t options[] = {
    {"include", 'I', XY_OPT_LIST, "DIR", offsetof(values_t, includes), XY_COMMON("program"),
     .help = "look for headers there, too", .complete = "directory"},
    {"define", 'D', XY_OPT_LIST, "NAME[=VALUE]", offsetof(values_t, defines), XY_COMMON("program"),
     .help = "define a macro"},
    {"kernel", 0, XY_OPT_LIST, "NAME", offsetof(values_t, kernels), XY_COMMON("program"),
     .help = "name a compute kernel; it is costed by a model of its own; cblas_*, LAPACKE_* and "
             "clapack_* are kernels without being named"},
    {"assume", 0, XY_OPT_LIST, "NAME=VALUE", offsetof(values_t, assumed), XY_COMMON("program"),
     .help = "give a value that the source lacks; a C expression"},
    {"from-trace", 0, XY_OPT_STRING, "FILE", offsetof(values_t, from_trace), XY_COMMON("program"),
     .help = "take missing values from a recorded run; of 'mpiexec --trace': those that had one "
             "value in all of it",
     .complete = "file"},
    {"arg", 0, XY_OPT_LIST, "WORD", offsetof(values_t, arguments), .needs = "from-trace",
     .may_be_empty = true, XY_COMMON("program"),
     .help = "name an argument of the program in that run"},
    {"threads-per-rank", 0, XY_OPT_LONG, "T", offsetof(values_t, threads), .preset = "-1",
     .min = -1, .max = 1 << 20, XY_COMMON("program"),
     .help = "set the number of threads of a team of OpenMP where the program does not; 0: it is "
             "compiled without OpenMP; -1: not known"},
    {"std", 0, XY_OPT_STRING, "STANDARD", offsetof(values_t, standard), XY_ADVANCED("program"),
     .help = "set the C standard of the program: c89, gnu11, ...", .preset = "gnu11"},
    {"output", 'o', XY_OPT_STRING, "FILE", offsetof(values_t, output), XY_COMMON("output"),
     .help = "write the description there (\"-\": standard output)", .complete = "file"},
    {"show", 0, XY_OPT_CHOICE, "STYLE", offsetof(values_t, show), .choices = styles,
     XY_COMMON("output"),
     .help = "print the sources with dropped lines in grey; behind // where the output is not a "
             "terminal; html: a page"},
    {"list", 0, XY_OPT_FLAG, .offset = offsetof(values_t, list), XY_COMMON("output"),
     .help = "print what was kept and why, and what is unknown"},
    {0}};

/* -IDIR, -DNAME and -std=... as clang takes them, in fresh memory. */
static xy_status_t make_flags(const values_t *v, char ***flags_p)
{
    size_t count = v->includes.count + v->defines.count + 1, n = 0;
    char **flags = xy_calloc(count + 1, sizeof(*flags));
    bool is_full = flags == NULL;

    *flags_p = flags;
    for (size_t i = 0; i < v->includes.count && !is_full; i++)
        is_full |= (flags[n++] = xy_sprintf("-I%s", XY_VEC_AT(&v->includes, char *, i))) == NULL;
    for (size_t i = 0; i < v->defines.count && !is_full; i++)
        is_full |= (flags[n++] = xy_sprintf("-D%s", XY_VEC_AT(&v->defines, char *, i))) == NULL;
    if (!is_full)
        is_full |= (flags[n++] = xy_sprintf("-std=%s", v->standard)) == NULL;
    return is_full ? xy_fail_memory("scanning a program") : XY_OK;
}

static void free_flags(char **flags)
{
    for (size_t i = 0; flags != NULL && flags[i] != NULL; i++)
        xy_free(flags[i]);
    xy_free(flags);
}

/* The list with a NULL behind it; the vector keeps the memory. */
static const char *const *names(const xy_vec_t *list)
{
    xy_vec_t *v = (xy_vec_t *)(uintptr_t)list;

    if (xy_vec_push(v) == NULL)
        return NULL;
    v->count--;
    return v->data;
}

static xy_status_t print(const values_t *v, xy_scan_t *scan)
{
    xy_scan_style_t style = isatty(STDOUT_FILENO) ? XY_SCAN_COLOUR : XY_SCAN_PLAIN;

    if (v->list)
        xy_scan_list(scan, stdout);
    if (v->show != NULL)
        return xy_scan_show(scan, strcmp(v->show, "html") == 0 ? XY_SCAN_HTML : style, stdout);
    return XY_OK;
}

static xy_status_t finish(const values_t *v, xy_scan_t *scan)
{
    bool is_shown = v->list || v->show != NULL;
    xy_status_t st = print(v, scan);

    if (st == XY_OK && (v->output != NULL || !is_shown))
        st = xy_program_write(xy_scan_program(scan), v->output != NULL ? v->output : "-");
    if (st == XY_OK && !v->list && xy_scan_unknowns(scan, stderr) > 0)
        xy_warn("give these values with --assume NAME=VALUE, here or to 'xylem predict'");
    return st;
}

/* The values of a run into the options, and the sources once more with them. */
static xy_status_t scan_again(const values_t *v, xy_scan_options_t *o, int count,
                              const char *const *paths, xy_vec_t *assumed, xy_scan_t **scan_p)
{
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < v->assumed.count && st == XY_OK; i++) {
        char *text = xy_strdup(XY_VEC_AT(&v->assumed, char *, i));

        if (text == NULL || xy_vec_append(assumed, &text) != XY_OK) {
            xy_free(text);
            st = xy_fail_memory("scanning a program");
        }
    }
    if (st == XY_OK)
        st = scan_from_trace(v->from_trace, &v->arguments, xy_scan_program(*scan_p), assumed);
    if (st != XY_OK)
        return st;
    xy_scan_free(*scan_p);
    *scan_p = NULL;
    o->assumed = names(assumed);
    return xy_scan_run(o, count, paths, scan_p);
}

/* Entry point of 'xylem scan'. */
static xy_status_t run(const xy_command_t *command, const void *values_p, int argc, char **argv)
{
    const values_t *v = values_p;
    xy_scan_options_t o = {
        .kernels = names(&v->kernels), .assumed = names(&v->assumed), .threads = v->threads};
    char **flags = NULL, *include = NULL;
    xy_vec_t assumed = XY_VEC_INIT(char *);
    xy_scan_t *scan = NULL;
    xy_status_t st = make_flags(v, &flags);

    (void)command;
    if (st == XY_OK && (include = xy_beside("../include")) == NULL)
        st = xy_fail_memory("scanning a program");
    o.flags = (const char *const *)flags;
    o.include = include;
    if (st == XY_OK)
        st = xy_scan_run(&o, argc, (const char *const *)argv, &scan);
    if (st == XY_OK && v->from_trace != NULL)
        st = scan_again(v, &o, argc, (const char *const *)argv, &assumed, &scan);
    if (st == XY_OK)
        st = finish(v, scan);
    xy_scan_free(scan);
    for (size_t i = 0; i < assumed.count; i++)
        xy_free(XY_VEC_AT(&assumed, char *, i));
    xy_vec_cleanup(&assumed);
    free_flags(flags);
    xy_free(include);
    return st;
}

const xy_command_t verb_scan = {
    .name = "scan",
    .summary = "describe the messages and kernels of a C program",
    .synopsis = "FILE.c...",
    .description =
        "Reads the C sources of an MPI program (all of its files) and writes a description of "
        "what matters for its run time: calls of MPI, calls of compute kernels, and the "
        "statements that decide which of them are made, and with which sizes. The rest is "
        "dropped; loops that are dropped leave the number of their passes. 'xylem predict' walks "
        "the description for any number of processes on any machine.\n\n"
        "Values that the source does not give (results of random numbers, of files that are "
        "read, of floating-point data) are listed with their lines. Failures (memory that runs "
        "out, MPI calls that do not succeed) are assumed not to happen.\n\n"
        "Needs libclang 19.",
    .examples = "xylem scan heat.c -o heat.xml\n    describe a program\n"
                "xylem scan main.c grid.c -Iinclude -DN=100 --kernel relax -o p.xml\n"
                "    several files, with your own kernel\n"
                "xylem scan cg.c --from-trace run.xyt -o cg.xml\n"
                "    take values that the program reads from files from a recorded run\n"
                "xylem scan cg.c --assume residual=1 --show=text\n"
                "    print the sources with the kept lines\n",
    .options = options,
    .values_size = sizeof(values_t),
    .positional_min = 1,
    .positional_max = -1,
    .complete = "file",
    .run = run,
};
