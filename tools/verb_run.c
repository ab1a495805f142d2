/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xylem run, xylem cc, xylem c++: programs of their own beside this one (mpiexec, mpicc, mpicxx),
 * which the command becomes. They understand their arguments themselves.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verbs.h"

/* The table of mpiexec's own command line. */
extern const xy_option_t mpi_launch_options[];
extern const char mpi_launch_description[];
extern const char mpi_launch_exit_status[];
extern const char mpi_launch_examples[];

/* Replaces this process by a program beside it; returns only on failure. */
static xy_status_t become(const char *program, int argc, char **argv)
{
    char *path = xy_beside(program);
    char **arguments = xy_calloc((size_t)argc + 2, sizeof(char *));
    xy_status_t st;

    if (path == NULL || arguments == NULL) {
        st = xy_fail_memory("starting a program");
    } else {
        arguments[0] = path;
        memcpy(arguments + 1, argv, (size_t)argc * sizeof(char *));
        execv(path, arguments);
        st = xy_fail_errno(errno, path, "execute");
    }
    xy_free(arguments);
    xy_free(path);
    return st;
}

static xy_status_t run_mpiexec(const xy_command_t *command, const void *values, int argc,
                               char **argv)
{
    (void)command;
    (void)values;
    return become("mpiexec", argc, argv);
}

static xy_status_t run_mpicc(const xy_command_t *command, const void *values, int argc, char **argv)
{
    (void)command;
    (void)values;
    return become("mpicc", argc, argv);
}

static xy_status_t run_mpicxx(const xy_command_t *command, const void *values, int argc,
                              char **argv)
{
    (void)command;
    (void)values;
    return become("mpicxx", argc, argv);
}

/* The options are mpiexec's; the table is here for the help and the man page. */
const xy_command_t verb_run = {
    .name = "run",
    .summary = "run an MPI program (also installed as mpiexec and mpirun)",
    .synopsis = "PROGRAM [ARGUMENT]... [: ...]",
    .description = mpi_launch_description,
    .exit_status = mpi_launch_exit_status,
    .examples = mpi_launch_examples,
    .options = mpi_launch_options,
    .positional_max = -1,
    .stop_at_positional = true,
    .single_dash = true,
    .complete = "file",
    .is_raw = true,
    .run = run_mpiexec,
};

/* The options of the compiler wrappers, which pass all others to the compiler; `own` names the
 * compiler. The table is for man pages and completion: the wrappers are shell scripts. */
#define WRAPPER_OPTIONS(own)                                                                       \
    {                                                                                              \
        {"show",                                                                                   \
         0,                                                                                        \
         XY_OPT_FLAG,                                                                              \
         .aliases = show_names,                                                                    \
         XY_COMMON("options"),                                                                     \
         .help = "print the command instead of running it"},                                       \
            {"showme:compile", 0, XY_OPT_FLAG, XY_COMMON("options"),                               \
             .help = "print the options added for compiling"},                                     \
            {"showme:link", 0, XY_OPT_FLAG, XY_COMMON("options"),                                  \
             .help = "print the options added for linking"},                                       \
            {"showme:command", 0, XY_OPT_FLAG, XY_COMMON("options"),                               \
             .help = "print the name of the compiler"},                                            \
            {"showme:incdirs", 0, XY_OPT_FLAG, XY_COMMON("options"),                               \
             .help = "print the directory of mpi.h"},                                              \
            {"showme:libdirs", 0, XY_OPT_FLAG, XY_COMMON("options"),                               \
             .help = "print the directory of the library"},                                        \
            {"showme:libs", 0, XY_OPT_FLAG, XY_COMMON("options"),                                  \
             .help = "print the name of the library"},                                             \
            {"showme:version", 0, XY_OPT_FLAG, XY_COMMON("options"), .help = "print the version"}, \
            {"compile-info", 0, XY_OPT_FLAG, XY_COMMON("options"),                                 \
             .help = "print the whole command that compiles"},                                     \
            {"link-info", 0, XY_OPT_FLAG, XY_COMMON("options"),                                    \
             .help = "print the whole command that links"},                                        \
            {"echo", 0, XY_OPT_FLAG, XY_COMMON("options"),                                         \
             .help = "print the command, and run it"},                                             \
            {own "=COMPILER", 0, XY_OPT_FLAG, XY_COMMON("options"), .help = "use this compiler"},  \
            {"help:mpi",           0,                                                              \
             XY_OPT_FLAG,          .aliases = help_names,                                          \
             XY_COMMON("options"), .help = "print these options"},                                 \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

static const char *const show_names[] = {"showme", NULL};
static const char *const help_names[] = {"help", "showme:help", NULL};
static const xy_option_t cc_options[] = WRAPPER_OPTIONS("cc");
static const xy_option_t cxx_options[] = WRAPPER_OPTIONS("cxx");
static const xy_option_t fort_options[] = WRAPPER_OPTIONS("fc");

static const xy_section_t wrapper_sections[] = {
    {"choice of the compiler",
     "XYLEM_CC, OMPI_CC or MPICH_CC names the C compiler, XYLEM_CXX, OMPI_CXX or MPICH_CXX the C++ "
     "compiler, XYLEM_FC, OMPI_FC or MPICH_FC the Fortran compiler. The default is the compiler "
     "that Xylem was built with; for Fortran, gfortran. A compiler that is named and not installed "
     "is "
     "an error."},
    {0}};

static const char wrapper_exit_status[] =
    "That of the compiler; 1 if there is no compiler of that name, 2 for an unsupported option of "
    "another MPI's wrapper.";

#define WRAPPER_DESCRIPTION(language)                                                              \
    "Runs the " language " compiler with the options that MPI programs need: -I, -L, -l and an "   \
    "rpath, and with gcc and clang -fstack-clash-protection. All arguments but those below are "   \
    "passed to the compiler."

const xy_command_t command_mpicc = {
    .name = "mpicc",
    .prefix = "",
    .summary = "compile a C program with MPI",
    .synopsis = "ARGUMENT...",
    .description = WRAPPER_DESCRIPTION("C"),
    .options = cc_options,
    .sections = wrapper_sections,
    .exit_status = wrapper_exit_status,
    .examples = "mpicc -O2 -g heat.c -o heat -lm\n    compile and link\n"
                "mpicc -show\n    the command without its arguments",
    .is_one_dash = true,
    .complete = "file",
};

const xy_command_t command_mpicxx = {
    .name = "mpicxx",
    .prefix = "",
    .summary = "compile a C++ program with MPI (also installed as mpic++ and mpiCC)",
    .synopsis = "ARGUMENT...",
    .description = WRAPPER_DESCRIPTION("C++"),
    .options = cxx_options,
    .sections = wrapper_sections,
    .exit_status = wrapper_exit_status,
    .examples = "mpicxx -O2 -g heat.cc -o heat\n    compile and link",
    .is_one_dash = true,
    .complete = "file",
};

const xy_command_t command_mpifort = {
    .name = "mpifort",
    .prefix = "",
    .summary = "compile a Fortran program with MPI (also installed as mpif77 and mpif90)",
    .synopsis = "ARGUMENT...",
    .description =
        "Runs gfortran with the options that MPI programs need: -I for mpif.h and the modules mpi "
        "and mpi_f08, -L, -l and an rpath, -fstack-clash-protection, and "
        "-fallow-argument-mismatch, as calls with mpif.h may have buffers of several types. All "
        "arguments but those below are passed to the compiler.",
    .options = fort_options,
    .sections = wrapper_sections,
    .exit_status = wrapper_exit_status,
    .examples = "mpifort -O2 -g heat.f90 -o heat\n    compile and link",
    .is_one_dash = true,
    .complete = "file",
};

const xy_command_t verb_cc = {
    .name = "cc",
    .summary = "compile a C program with MPI (also installed as mpicc)",
    .synopsis = "ARGUMENT...",
    .description = WRAPPER_DESCRIPTION("C"),
    .options = cc_options,
    .sections = wrapper_sections,
    .exit_status = wrapper_exit_status,
    .examples = "xylem cc -O2 -g heat.c -o heat -lm\n    compile and link",
    .is_one_dash = true,
    .positional_max = -1,
    .complete = "file",
    .is_raw = true,
    .run = run_mpicc,
};

const xy_command_t verb_cxx = {
    .name = "c++",
    .summary = "compile a C++ program with MPI (also installed as mpicxx)",
    .synopsis = "ARGUMENT...",
    .description = WRAPPER_DESCRIPTION("C++"),
    .options = cxx_options,
    .sections = wrapper_sections,
    .exit_status = wrapper_exit_status,
    .examples = "xylem c++ -O2 -g heat.cc -o heat\n    compile and link",
    .is_one_dash = true,
    .positional_max = -1,
    .complete = "file",
    .is_raw = true,
    .run = run_mpicxx,
};
