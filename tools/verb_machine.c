/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem machine: show what we run on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "live_gpus.h"
#include "machine/machine.h"
#include "verbs.h"

typedef struct {
    bool tree, json, usable, list;
    const char *svg, *xml, *only, *clusters, *route;
    double rho, rho_site;
} values_t;

static const xy_option_t options[] = {
    {"tree", 't', XY_OPT_FLAG, .offset = offsetof(values_t, tree), XY_COMMON("output"),
     .help = "print the tree (the default without other output options)"},
    {"svg", 0, XY_OPT_STRING, "FILE", offsetof(values_t, svg), XY_COMMON("output"),
     .help = "draw nested boxes into FILE ('-': standard output)", .complete = "file"},
    {"xml", 0, XY_OPT_STRING, "FILE", offsetof(values_t, xml), XY_COMMON("output"),
     .help = "write a machine file; it reads back as the same machine ('-': standard output)",
     .complete = "file"},
    {"json", 0, XY_OPT_FLAG, .offset = offsetof(values_t, json), XY_COMMON("output"),
     .help = "print all objects, GPUs and routes as JSON"},
    {"only", 0, XY_OPT_STRING, "TYPE:N", offsetof(values_t, only), XY_COMMON("select"),
     .help = "show only the part below one object; by its logical number: package:0"},
    {"route", 0, XY_OPT_STRING, "A:B", offsetof(values_t, route), XY_COMMON("output"),
     .help = "print the links that a message from node A to node B crosses, by their logical "
             "numbers: 0:17"},
    {"usable", 'u', XY_OPT_FLAG, .offset = offsetof(values_t, usable), XY_COMMON("select"),
     .help = "omit objects that cannot be used; those that the cgroup, the affinity mask or the "
             "file excludes"},
    {"list", 'l', XY_OPT_FLAG, .offset = offsetof(values_t, list), XY_COMMON("machines"),
     .help = "print the names of the installed machines"},
    {"clusters", 0, XY_OPT_STRING, "FILE", offsetof(values_t, clusters), XY_COMMON("machines"),
     .help = "find clusters in the matrix of latencies in FILE ('-': standard input)",
     .complete = "file"},
    {"rho", 0, XY_OPT_DOUBLE, "X", offsetof(values_t, rho), .min = 1, .max = 1e6, .preset = "1.2",
     .needs = "clusters", XY_ADVANCED("machines"),
     .help = "with --clusters: the most that an edge inside a cluster may cost, relative to the "
             "cheapest edge of its ends"},
    {"rho-site", 0, XY_OPT_DOUBLE, "X", offsetof(values_t, rho_site), .min = 1, .max = 1e6,
     .preset = "10", .needs = "clusters", XY_ADVANCED("machines"),
     .help = "with --clusters: the most that the latency between two clusters of a site may be, "
             "relative to the latencies inside them"},
    {0}};

/* Returns the style for the terminal: colours and UTF-8, none for files. */
static int style(void)
{
    const char *locale = getenv("LC_ALL");
    int flags = 0;

    if (!isatty(STDOUT_FILENO))
        return 0;
    if (getenv("NO_COLOR") == NULL)
        flags |= XY_MACHINE_COLOR;
    if (locale == NULL || *locale == '\0')
        locale = getenv("LC_CTYPE");
    if (locale == NULL || *locale == '\0')
        locale = getenv("LANG");
    if (locale != NULL && (strcasestr(locale, "utf-8") || strcasestr(locale, "utf8")))
        flags |= XY_MACHINE_UTF8;
    return flags;
}

static xy_status_t write_svg(const void *machine, FILE *file)
{
    return xy_machine_print_svg(machine, file);
}

static xy_status_t write_xml(const void *machine, FILE *file)
{
    return xy_machine_print_xml(machine, file);
}

/* Prints the way between the two nodes of --route. */
static xy_status_t show_route(const xy_machine_t *m, const char *text)
{
    uint32_t nodes = xy_machine_count(m, XY_OBJ_NODE);
    unsigned long a, b;
    char *end;

    a = strtoul(text, &end, 10);
    b = *end == ':' && end > text ? strtoul(end + 1, &end, 10) : nodes;
    if (*end != '\0' || end[-1] == ':' || strspn(text, "0123456789:") != strlen(text))
        return xy_fail(XY_EUSAGE, "--route '%s' is not of the form A:B; write for instance 0:17",
                       text);
    if (a >= nodes || b >= nodes)
        return xy_fail(XY_ENOENT, "--route '%s': %s has %u nodes, numbered from 0", text, m->name,
                       nodes);
    xy_machine_print_route(m, xy_machine_object(m, XY_OBJ_NODE, (uint32_t)a),
                           xy_machine_object(m, XY_OBJ_NODE, (uint32_t)b), stdout);
    return XY_OK;
}

/* Writes the machine in the forms asked for. */
static xy_status_t show(const xy_machine_t *m, const values_t *v)
{
    xy_status_t st = xy_out_write(v->svg, write_svg, m);

    if (st == XY_OK)
        st = xy_out_write(v->xml, write_xml, m);
    if (st != XY_OK)
        return st;
    if (v->route != NULL)
        st = show_route(m, v->route);
    else if (v->json)
        xy_machine_print_json(m, stdout);
    else if (v->tree || (v->svg == NULL && v->xml == NULL))
        st = xy_machine_print_tree(m, style(), stdout);
    return st == XY_OK ? xy_stdout_check() : st;
}

/* Finds the object "TYPE:N" of --only. */
static xy_status_t find_object(const xy_machine_t *m, const char *text, xy_obj_t *object_p)
{
    size_t length = strcspn(text, ":");
    xy_obj_type_t type;
    long number;

    if (!xy_obj_type_parse(text, length, &type) || text[length] != ':' ||
        !xy_parse_long(text + length + 1, &number) || number < 0)
        return xy_fail(XY_EUSAGE,
                       "--only '%s' is not of the form TYPE:N; write for instance package:0", text);
    *object_p = number > UINT32_MAX ? XY_OBJ_NONE : xy_machine_object(m, type, (uint32_t)number);
    if (*object_p == XY_OBJ_NONE)
        return xy_fail(XY_ENOENT, "--only '%s': %s has %u of type %s, numbered from 0", text,
                       m->name, xy_machine_count(m, type), xy_obj_type_name(type));
    return XY_OK;
}

/* Replace *m by a part of it; on failure it stays. */
static xy_status_t reduce(xy_machine_t **m, const values_t *v)
{
    xy_machine_t *part;
    xy_obj_t object = 0;
    xy_status_t st = XY_OK;

    if (v->only != NULL) {
        st = find_object(*m, v->only, &object);
        if (st == XY_OK)
            st = xy_machine_subtree(*m, object, &part);
        if (st != XY_OK)
            return st;
        xy_machine_destroy(*m);
        *m = part;
    }
    if (v->usable) {
        st = xy_machine_restrict_usable(*m, &part);
        if (st != XY_OK)
            return st;
        xy_machine_destroy(*m);
        *m = part;
    }
    return st;
}

/* Lists the names of known machine files. */
static xy_status_t list_machines(void)
{
    xy_vec_t names;
    xy_status_t st = xy_machine_names(&names);

    if (st != XY_OK)
        return st;
    for (size_t i = 0; i < names.count; i++) {
        puts(XY_VEC_AT(&names, char *, i));
        xy_free(XY_VEC_AT(&names, char *, i));
    }
    xy_vec_cleanup(&names);
    return xy_stdout_check();
}

/* Finds and prints the clusters of a latency matrix. */
static xy_status_t show_clusters(const values_t *v)
{
    xy_latency_t *matrix;
    xy_eco_t *eco;
    xy_status_t st = xy_latency_read(v->clusters, &matrix);

    if (st != XY_OK)
        return st;
    st = xy_eco_compute(matrix, v->rho, fmax(v->rho, v->rho_site), &eco);
    if (st == XY_OK) {
        if (v->json)
            xy_eco_print_json(eco, matrix, stdout);
        else
            xy_eco_print(eco, matrix, stdout);
        xy_eco_destroy(eco);
        st = xy_stdout_check();
    }
    xy_latency_destroy(matrix);
    return st;
}

/* Load a machine; the live one also with the GPUs that drivers know. */
static xy_status_t load(const char *source, xy_machine_t **machine_p)
{
    xy_machine_t *m;
    xy_status_t st = xy_machine_load(source, &m);

    if (st == XY_OK && (source == NULL || strcmp(source, "live") == 0)) {
        st = live_gpus_add(m);
        if (st != XY_OK)
            xy_machine_destroy(m);
    }
    if (st == XY_OK)
        *machine_p = m;
    return st;
}

/* Entry point of 'xylem machine'. */
static xy_status_t run(const xy_command_t *command, const void *values, int argc, char **argv)
{
    const values_t *v = values;
    xy_machine_t *m;
    xy_status_t st;

    (void)command;
    if (v->list)
        return list_machines();
    if (v->clusters != NULL &&
        (argc > 0 || v->svg || v->xml || v->only || v->usable || v->tree || v->route))
        return xy_fail(XY_EUSAGE, "--clusters reads a matrix, not a machine: only --json, --rho "
                                  "and --rho-site go with it");
    if (v->clusters != NULL)
        return show_clusters(v);
    if (v->route != NULL && (v->json || v->tree))
        return xy_fail(XY_EUSAGE, "--route prints a way as text; remove --json and --tree");
    st = load(argc > 0 ? argv[0] : NULL, &m);
    if (st != XY_OK)
        return st;
    st = reduce(&m, v);
    if (st == XY_OK)
        st = show(m, v);
    xy_machine_destroy(m);
    return st;
}

static const xy_section_t sections[] = {
    {"SOURCES",
     "The live machine if SOURCE is left out or 'live'; the name of a machine that ships with "
     "Xylem (see --list); a file, Xylem's machine file or hwloc's XML ('-': standard input); or a "
     "synthetic string: levels from the top, each with the number per object of the level above, "
     "as in 'node:64 package:2 core:8', or bare numbers, '64x2x8'. Levels are site, cluster, "
     "switch, node, package, numa, group, l3, l2, l1, core and pu; memory, size, indexes, latency, "
     "bandwidth and links may follow in parentheses. 'torus:4x4x2' and 'mesh:8x8' are nodes that "
     "are linked to their neighbours."},
    {"CLUSTERS",
     "--clusters reads latencies between machines: text, one row per machine with an optional name "
     "and the microseconds to each machine; '#' starts a comment. Lowekamp's ECO algorithm groups "
     "machines with similar latencies, and the output explains each cluster. In JSON, cluster_of "
     "has the cluster number, from 1, of each machine."},
    {"GPUS",
     "GPUs of the live machine are those that hwloc or the drivers of GPUs find: CUDA, and OpenCL. "
     "XYLEM_GPU_DRIVER=cuda, opencl or none asks only that driver; an OpenCL device that is made "
     "of cores is shown only if XYLEM_GPU_DRIVER=opencl."},
    {"ENVIRONMENT", "- XYLEM_MACHINES: directories, separated by colons, that are searched for "
                    "machines before those of Xylem.\n\n"
                    "- XYLEM_GPU_DRIVER: the driver to ask for GPUs, as above.\n\n"
                    "- NO_COLOR: print without colours."},
    {0}};

const xy_command_t verb_machine = {
    .name = "machine",
    .summary = "show a machine: its tree, memories, links and GPUs",
    .synopsis = "[SOURCE]",
    .description = "Prints the machine as a tree in which identical siblings are folded into one "
                   "line, after a summary of all objects and of the usable ones.\n\n"
                   "Nothing is measured: latencies and bandwidths are those of the file or string, "
                   "and those of links to GPUs of this machine what 'xylem calibrate --gpu' has "
                   "measured before.",
    .examples = "xylem machine\n    the machine this runs on\n"
                "xylem machine haswell32 --svg haswell.svg\n    a picture of a shipped machine\n"
                "xylem machine 'node:4 package:2 core:8' --xml small.xml\n    a machine file to "
                "start from\n"
                "xylem machine fattree1024 --route 0:1000\n    the switches and links between two "
                "nodes\n"
                "xylem machine --clusters latencies.txt\n    the clusters among measured hosts\n",
    .options = options,
    .sections = sections,
    .values_size = sizeof(values_t),
    .positional_max = 1,
    .complete = "machine file",
    .run = run,
};
