/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xylem.h>

#include "launch/launch.h"
#include "launch/launch_node.h"

enum { RULES_SECONDS = 15 };

/* Names that become variables of the environment. */
static xy_status_t check_names(const char *option, const xy_vec_t *list, size_t step,
                               bool is_warned)
{
    for (size_t i = 0; i < list->count; i += step) {
        const char *text = XY_VEC_AT(list, const char *, i);

        if (*text == '=' || (step == 2 && strchr(text, '=') != NULL))
            return xy_fail(XY_EUSAGE, "%s '%s' is not the name of a variable", option, text);
        if (is_warned && strchr(text, '=') == NULL && getenv(text) == NULL)
            xy_warn("%s %s: there is no such variable; ranks do not have it either", option, text);
    }
    return XY_OK;
}

/* Checks of values beyond those of the option table. */
static xy_status_t check_values(const mpi_launch_values_t *v)
{
    bool is_warned = !v->quiet && !mpi_node_is_one();
    xy_status_t st = check_names("-x", &v->x, 1, is_warned);

    if (st == XY_OK)
        st = check_names("-env", &v->env, 2, false);
    if (st == XY_OK)
        st = check_names("-genv", &v->genv, 2, false);
    if (is_warned && v->ignored_pairs.count > 0)
        xy_warn("--mca %s has no effect: it is a parameter of Open MPI",
                XY_VEC_AT(&v->ignored_pairs, const char *, 0));
    if (st == XY_OK && strcmp(v->net, "auto") != 0 &&
        xy_table_find(XY_TABLE(xy_net_transports), v->net) == NULL)
        st = xy_table_fail(XY_TABLE(xy_net_transports), "transport", v->net);
    return st;
}

xy_status_t mpi_launch_set_rules(const mpi_launch_values_t *v)
{
    /* The head has the first word about a host that is not reached; then connections end, too. */
    xy_net_rules_t rules = {.seal = v->net_plain ? XY_SEAL_NEVER : XY_SEAL_BETWEEN_HOSTS,
                            .patience = v->heartbeat > 0 ? v->heartbeat + RULES_SECONDS : -1};

    if (v->net_ports != NULL && !xy_net_rules_ports(v->net_ports, &rules))
        return xy_fail(XY_EUSAGE,
                       "--net-ports '%s' are not ports; give two numbers from 1 to 65535, such as "
                       "20000-20100",
                       v->net_ports);
    if (v->net_interface != NULL &&
        (v->net_interface[0] == '\0' || strlen(v->net_interface) >= sizeof(rules.interface)))
        return xy_fail(XY_EUSAGE, "--net-interface '%s' is not the name of an interface",
                       v->net_interface);
    if (v->net_interface != NULL)
        snprintf(rules.interface, sizeof(rules.interface), "%s", v->net_interface);
    xy_net_rules_set(&rules);
    return XY_OK;
}

/* Options of the other programs that hold for their own ranks. */
static xy_status_t check_later(const mpi_launch_context_t *context)
{
    static const char *const own[] = {"n",        "x",    "env",       "wdir",  "host",
                                      "hostfile", "help", "privatize", "share", "oversubscribe",
                                      NULL};

    for (const xy_option_t *o = mpi_launch_options; o->name != NULL; o++) {
        int i = 0;

        while (own[i] != NULL && strcmp(own[i], o->name) != 0)
            i++;
        if (own[i] == NULL && o->kind != XY_OPT_IGNORED && xy_options_given(o->name))
            return xy_fail(XY_EUSAGE,
                           "option --%s before '%s' applies to the whole job; give it before the "
                           "first program",
                           o->name, context->argc > 0 ? context->argv[0] : "");
    }
    return XY_OK;
}

/* Parse one command line; *is_done is set if help or the version was printed instead. */
static xy_status_t parse_one(int argc, char **argv, mpi_launch_context_t *context, bool *is_done)
{
    xy_help_t help = XY_HELP_NONE;
    xy_status_t st =
        xy_options_parse(&mpi_launch_command, argc, argv, &context->values, &context->argc, &help);

    context->argv = argv;
    if (st != XY_OK)
        return st;
    context->has_n = xy_options_given("n");
    context->values.has_eager = xy_options_given("eager") || getenv("XYLEM_EAGER") != NULL;
    if (help != XY_HELP_NONE)
        xy_command_help(&mpi_launch_command, help, stdout);
    else if (context->values.version)
        printf("mpiexec (Xylem) %s\n", xylem_version());
    else if (context->argc == 0)
        return xy_fail(XY_EUSAGE, "no program was given; see 'mpiexec --help'");
    *is_done |= help != XY_HELP_NONE || context->values.version;
    return *is_done ? XY_OK : check_values(&context->values);
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
        if (st == XY_OK && begin > 0 && !*is_done)
            st = check_later(context);
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
