/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the command line, and the hosts it names. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <xylem.h>

#include "mpi/launch/options.h"

static xy_status_t parse_one(int argc, char **argv, mpi_launch_context_t *context, bool *is_done)
{
    bool help = false;
    xy_status_t st =
        xy_options_parse(&mpi_launch_command, argc, argv, &context->values, &context->argc, &help);

    context->argv = argv;
    if (st != XY_OK)
        return st;
    context->has_n = xy_options_given("n");
    context->values.has_eager = xy_options_given("eager");
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

/* ---- Hosts: all must be this machine ---- */

static bool is_here(const char *name)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "::1", "localhost.localdomain",
                                        NULL};
    char own[256] = "";
    size_t dot;

    for (int i = 0; names[i] != NULL; i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    if (gethostname(own, sizeof(own) - 1) != 0)
        return false;
    dot = strcspn(own, ".");
    return strcasecmp(name, own) == 0 ||
           (strncasecmp(name, own, dot) == 0 && (name[dot] == '\0' || name[dot] == '.'));
}

static xy_status_t check_host(const char *name, const char *file, long line)
{
    if (is_here(name))
        return XY_OK;
    return xy_fail_at(
        XY_EUNSUPPORTED, file, line,
        "the host '%s' is not this machine; jobs on several machines are not possible "
        "yet, leave the option out to run here",
        name);
}

/* "a:4,b": slots are of no interest. */
static xy_status_t check_list(const char *list)
{
    xy_status_t st = XY_OK;

    while (*list != '\0' && st == XY_OK) {
        size_t n = strcspn(list, ",");
        char name[256];

        snprintf(name, sizeof(name), "%.*s", (int)n, list);
        if (strcmp(name, "::1") != 0)
            name[strcspn(name, ":")] = '\0';
        if (name[0] != '\0')
            st = check_host(name, "--host", 0);
        list += n;
        list += *list == ',';
    }
    return st;
}

static xy_status_t check_file(const char *path)
{
    char *data, *rest;
    size_t size;
    long number = 1;
    xy_status_t st = xy_file_read(path, 16 << 20, &data, &size);

    if (st != XY_OK)
        return st;
    rest = data;
    for (char *line; st == XY_OK && (line = strsep(&rest, "\n")) != NULL; number++) {
        line += strspn(line, " \t");
        line[strcspn(line, "# \t\r:")] = '\0';
        if (*line != '\0')
            st = check_host(line, path, number);
    }
    xy_free(data);
    return st;
}

xy_status_t mpi_launch_check_hosts(const mpi_launch_values_t *values)
{
    xy_status_t st = values->host != NULL ? check_list(values->host) : XY_OK;

    if (st == XY_OK && values->hostfile != NULL)
        st = check_file(values->hostfile);
    return st;
}
