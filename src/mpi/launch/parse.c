/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xylem.h>

#include "mpi/launch/launch.h"

static xy_status_t parse_one(int argc, char **argv, mpi_launch_context_t *context, bool *is_done)
{
    bool help = false;
    xy_status_t st =
        xy_options_parse(&mpi_launch_command, argc, argv, &context->values, &context->argc, &help);

    context->argv = argv;
    if (st != XY_OK)
        return st;
    context->has_n = xy_options_given("n");
    context->values.has_eager = xy_options_given("eager") || getenv("XYLEM_EAGER") != NULL;
    if (help)
        xy_command_help(&mpi_launch_command, stdout);
    else if (context->values.version)
        printf("mpiexec (Xylem) %s\n", xylem_version());
    else if (context->argc == 0)
        return xy_fail(XY_EUSAGE, "no program was given; see 'mpiexec --help'");
    *is_done |= help || context->values.version;
    return XY_OK;
}

xy_status_t mpi_launch_parse(int argc, char **argv, xy_vec_t *contexts, bool *is_done)
{
    xy_status_t st = XY_OK;
    int begin = 0;

    *contexts = XY_VEC_INIT(mpi_launch_context_t);
    *is_done = false;
    while (begin <= argc && st == XY_OK && !*is_done) {
        mpi_launch_context_t *context = xy_vec_push(contexts);
        int end = begin;

        while (end < argc && strcmp(argv[end], ":") != 0)
            end++;
        if (context == NULL)
            return xy_fail_memory("reading the command line");
        st = parse_one(end - begin, argv + begin, context, is_done);
        begin = end + 1;
        if (end >= argc)
            break;
    }
    return st;
}

void mpi_launch_parse_cleanup(xy_vec_t *contexts)
{
    for (size_t i = 0; i < contexts->count; i++)
        xy_options_cleanup(&mpi_launch_command,
                           &XY_VEC_AT(contexts, mpi_launch_context_t, i).values);
    xy_vec_cleanup(contexts);
}

xy_status_t mpi_launch_settings(const mpi_launch_values_t *v, mpi_settings_t *s)
{
    char why[XMPI_SETTINGS_WHY];

    if (!mpi_settings_progress(s, v->progress, why))
        return xy_fail(XY_EUSAGE, "--progress: %s", why);
    if (!mpi_settings_place(s, v->progress_place, why))
        return xy_fail(XY_EUSAGE, "--progress-place: %s", why);
    if (!mpi_settings_order(s, v->progress_order, why))
        return xy_fail(XY_EUSAGE, "--progress-order: %s", why);
    s->priority = (int)v->progress_priority;
    if (!mpi_settings_split(s, v->split, why))
        return xy_fail(XY_EUSAGE, "--split: %s", why);
    for (size_t i = 0; i < v->algorithm.count; i++)
        if (!mpi_settings_algorithm(s, XY_VEC_AT(&v->algorithm, const char *, i), why))
            return xy_fail(XY_EUSAGE, "--algorithm: %s", why);
    return XY_OK;
}
