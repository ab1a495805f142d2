/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine in a terminal: a summary, then the tree with identical siblings folded.
 *
 *   haswell32: 1 node, 2 packages, 4 NUMA nodes, 32 cores, 64 PUs, 128 GiB of memory
 *   node
 *   `-- package x 2
 *       `-- NUMA node 32 GiB + L3 20 MiB x 2
 *
 * An only child inside a node is written on the line of its parent, after a "+".
 */
#include <string.h>

#include "machine/machine_internal.h"

typedef struct {
    const xy_machine_t *m;
    const uint32_t *classes;
    FILE *file;
    int style;
    char prefix[XY_MACHINE_DEPTH_MAX * 12];
} printer_t;

static void paint(const printer_t *p, const char *code, const char *text)
{
    if (p->style & XY_MACHINE_COLOR)
        fprintf(p->file, "\033[%sm%s\033[0m", code, text);
    else
        fputs(text, p->file);
}

/* Names come from files: nothing in them may move the cursor. */
static void print_name(FILE *file, const char *name)
{
    for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; c++)
        fputc(*c < ' ' || *c == 0x7f ? '?' : *c, file);
}

static void print_link(const printer_t *p, const char *label, xy_link_t link)
{
    char text[32];

    if (link.latency == 0 && link.bandwidth == 0)
        return;
    fprintf(p->file, "  %s", label);
    if (link.latency > 0)
        fprintf(p->file, " %s", xy_format_seconds(link.latency, text));
    if (link.bandwidth > 0)
        fprintf(p->file, " %s", xy_format_bandwidth(link.bandwidth, text));
}

static void print_grid(const printer_t *p, xy_obj_t o)
{
    const xy_grid_t *g = xy_machine_grid(p->m, o);
    char size[96];

    if (g == NULL)
        return;
    fprintf(p->file, "  %s %s", g->is_torus ? "torus" : "mesh", machine_grid_format(g, size));
    if (p->m->child_count[o] < xy_grid_cells(g))
        fprintf(p->file, " (%u of %u cells)", p->m->child_count[o], xy_grid_cells(g));
    print_link(p, "of links", g->link);
}

static void print_excluded(const printer_t *p, uint32_t flags)
{
    if (flags & XY_EXCLUDED_CGROUP)
        paint(p, "31", "  excluded by the cgroup");
    if (flags & XY_EXCLUDED_AFFINITY)
        paint(p, "31", "  excluded by the affinity mask");
    if (flags & XY_EXCLUDED_FILE)
        paint(p, "31", "  excluded by the machine file");
}

static void print_label(const printer_t *p, xy_obj_t o)
{
    const xy_machine_t *m = p->m;
    char text[32];

    paint(p, xy_obj_type_is_cache(m->type[o]) ? "36" : "1", xy_obj_type_title(m->type[o]));
    if (m->name_of[o] != 0) {
        fputc(' ', p->file);
        print_name(p->file, xy_machine_object_name(m, o));
    }
    if (m->bytes[o] > 0)
        fprintf(p->file, " %s", xy_format_size(m->bytes[o], text));
}

/* "P#0-3,8": the physical numbers of a run of siblings, at most a few ranges. */
static void print_numbers(const printer_t *p, xy_obj_t first, uint32_t run)
{
    const uint32_t *n = &p->m->physical[first];
    int ranges = 0;

    if (!machine_type_is_numbered(p->m->type[first]))
        return;
    fputs("  P#", p->file);
    for (uint32_t i = 0, j; i < run; i = j) {
        for (j = i + 1; j < run && n[j] == n[j - 1] + 1; j++)
            ;
        if (++ranges > 8) {
            fputs(",...", p->file);
            return;
        }
        fprintf(p->file, j - i > 1 ? "%s%u-%u" : "%s%u", i > 0 ? "," : "", n[i], n[j - 1]);
    }
}

/* May the only child of `o` share its line? */
static bool is_chained(const xy_machine_t *m, xy_obj_t o)
{
    uint32_t first;

    return m->child_count[o] == 1 && m->type[o] >= XY_OBJ_PACKAGE &&
           machine_gpu_groups_of(m, o, &first) == 0;
}

/* Prints an object with its chain of single children on one line; returns the last of the chain. */
static xy_obj_t print_line(const printer_t *p, xy_obj_t o, uint32_t run, bool is_single)
{
    const xy_machine_t *m = p->m;
    xy_obj_t last = o;
    uint32_t above = o > 0 ? m->flags[m->parent[o]] : 0;
    char text[32];

    print_label(p, last);
    while (is_chained(m, last)) {
        last = m->first_child[last];
        fputs(" + ", p->file);
        print_label(p, last);
    }
    snprintf(text, sizeof(text), " x %u", run);
    if (run > 1)
        paint(p, "1;33", text);
    /* The numbers of one chain are those of its end; of several, only without a chain are they
     * contiguous in the arrays. */
    if (is_single && m->type[last] >= XY_OBJ_PACKAGE && (run == 1 || last == o))
        print_numbers(p, last, run);
    for (xy_obj_t c = last; c != m->parent[o] && c != XY_OBJ_NONE; c = m->parent[c]) {
        uint32_t parallel = xy_machine_parallel(m, c);

        snprintf(text, sizeof(text), parallel > 1 ? "%u links, each" : "link", parallel);
        print_link(p, text, xy_machine_link(m, c));
    }
    print_grid(p, last);
    print_excluded(p, m->flags[o] & ~above);
    fputc('\n', p->file);
    return last;
}

static void print_branch(const printer_t *p, bool is_last)
{
    fputs(p->prefix, p->file);
    if (p->style & XY_MACHINE_UTF8)
        fputs(is_last ? "└─ " : "├─ ", p->file);
    else
        fputs(is_last ? "`- " : "|- ", p->file);
}

static size_t descend(printer_t *p, bool is_last)
{
    size_t length = strlen(p->prefix);
    const char *bar = p->style & XY_MACHINE_UTF8 ? "│  " : "|  ";

    snprintf(p->prefix + length, sizeof(p->prefix) - length, "%s", is_last ? "   " : bar);
    return length;
}

static bool same_gpu(const xy_gpu_t *a, const xy_gpu_t *b)
{
    return a->name == b->name && a->memory == b->memory && a->flags == b->flags &&
           a->in.latency == b->in.latency && a->in.bandwidth == b->in.bandwidth &&
           a->out.latency == b->out.latency && a->out.bandwidth == b->out.bandwidth &&
           a->kernel.latency == b->kernel.latency && a->kernel.bandwidth == b->kernel.bandwidth;
}

/* Prints a run of equal GPUs on one line. */
static void print_gpu(const printer_t *p, const xy_gpu_t *gpu, uint32_t run)
{
    char text[32];

    paint(p, "1;32", "GPU");
    if (gpu->name != 0) {
        fputc(' ', p->file);
        print_name(p->file, p->m->names[gpu->name]);
    }
    if (gpu->memory > 0)
        fprintf(p->file, " %s", xy_format_size(gpu->memory, text));
    snprintf(text, sizeof(text), " x %u", run);
    if (run > 1)
        paint(p, "1;33", text);
    print_link(p, "in", gpu->in);
    print_link(p, "out", gpu->out);
    print_link(p, "kernel", gpu->kernel);
    print_excluded(p, gpu->flags);
    fputc('\n', p->file);
}

/* Prints the GPUs of a group and the links between them. */
static void print_group(const printer_t *p, const xy_gpu_group_t *g)
{
    const xy_gpu_t *gpus = &p->m->gpus[g->first_gpu];

    for (uint32_t i = 0, j; i < g->gpu_count; i = j) {
        for (j = i + 1; j < g->gpu_count && same_gpu(&gpus[i], &gpus[j]); j++)
            ;
        print_branch(p, j == g->gpu_count && g->peer_count == 0);
        print_gpu(p, &gpus[i], j - i);
    }
    for (uint32_t i = 0; i < g->peer_count; i++) {
        const xy_gpu_peer_t *peer = &p->m->gpu_peers[g->first_peer + i];

        print_branch(p, i + 1 == g->peer_count);
        fprintf(p->file, "GPU %u - GPU %u", peer->a, peer->b);
        print_link(p, "link", peer->link);
        fputc('\n', p->file);
    }
}

/* Prints groups of GPUs below their titles. */
static void print_groups(printer_t *p, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        const xy_gpu_group_t *g = &p->m->gpu_groups[i];
        bool is_last = i + 1 == first + count;
        size_t length;

        print_branch(p, is_last);
        fputs("GPUs", p->file);
        print_link(p, "shared host link", g->shared);
        print_link(p, "between two", g->peer);
        fputc('\n', p->file);
        length = descend(p, is_last);
        print_group(p, g);
        p->prefix[length] = '\0';
    }
}

/* Prints all below an object, with runs of equal objects folded. */
static void print_below(printer_t *p, xy_obj_t o, bool is_single)
{
    const xy_machine_t *m = p->m;
    uint32_t first, groups = machine_gpu_groups_of(m, o, &first);
    xy_obj_t end = m->first_child[o] + m->child_count[o];

    for (xy_obj_t c = m->first_child[o]; c < end;) {
        uint32_t run = machine_fold_run(m, p->classes, c);
        bool is_last = c + run == end && groups == 0;
        size_t length;
        xy_obj_t shown;

        print_branch(p, is_last);
        shown = print_line(p, c, run, is_single);
        length = descend(p, is_last);
        print_below(p, shown, is_single && run == 1);
        p->prefix[length] = '\0';
        c += run;
    }
    print_groups(p, first, groups);
}

static void print_end(const printer_t *p, xy_obj_t o)
{
    if (p->m->name_of[o] != 0)
        print_name(p->file, xy_machine_object_name(p->m, o));
    else
        fprintf(p->file, "%s %u", xy_obj_type_title(p->m->type[o]), p->m->logical[o]);
}

static void print_routes(const printer_t *p)
{
    for (uint32_t i = 0; i < p->m->route_count; i++) {
        const xy_route_t *r = &p->m->routes[i];

        fputs("route ", p->file);
        print_end(p, r->a);
        fputs(" - ", p->file);
        print_end(p, r->b);
        print_link(p, "link", r->link);
        fputc('\n', p->file);
    }
}

/* Prints the number of usable leaves, and of excluded ones by reason. */
static void print_excluded_counts(const xy_machine_t *m, FILE *file)
{
    uint32_t counts[3] = {0};
    static const char *const by[3] = {"the cgroup", "the affinity mask", "the machine file"};
    const char *separator = ": ";

    for (uint32_t i = 0; i < m->leaves; i++)
        for (int k = 0; k < 3; k++)
            counts[k] += (m->flags[m->leaf[i]] >> k) & 1u;
    fprintf(file, "; %u of %u usable", xy_machine_usable(m, 0), m->leaves);
    for (int k = 0; k < 3; k++) {
        if (counts[k] == 0)
            continue;
        fprintf(file, "%s%u excluded by %s", separator, counts[k], by[k]);
        separator = ", ";
    }
}

void xy_machine_print_summary(const xy_machine_t *m, FILE *file)
{
    static const uint8_t shown[] = {XY_OBJ_SITE,    XY_OBJ_CLUSTER, XY_OBJ_SWITCH, XY_OBJ_NODE,
                                    XY_OBJ_PACKAGE, XY_OBJ_NUMA,    XY_OBJ_CORE,   XY_OBJ_PU};
    const char *separator = ": ";
    uint64_t memory = xy_machine_memory(m, 0);
    char text[32];

    print_name(file, m->name);
    for (size_t i = 0; i < sizeof(shown); i++) {
        uint32_t n = xy_machine_count(m, shown[i]);

        if (n == 0)
            continue;
        fprintf(file, "%s%u %s%s", separator, n, xy_obj_type_title(shown[i]),
                n == 1                      ? ""
                : shown[i] == XY_OBJ_SWITCH ? "es"
                                            : "s");
        separator = ", ";
    }
    if (m->gpu_count > 0)
        fprintf(file, "%s%u GPU%s", separator, m->gpu_count, m->gpu_count == 1 ? "" : "s");
    if (memory > 0)
        fprintf(file, ", %s of memory", xy_format_size(memory, text));
    if (xy_machine_usable(m, 0) < m->leaves)
        print_excluded_counts(m, file);
    fputc('\n', file);
}

xy_status_t xy_machine_print_tree(const xy_machine_t *m, int style, FILE *file)
{
    printer_t p = {.m = m, .file = file, .style = style};
    uint32_t *classes;
    xy_status_t st = machine_fold(m, false, &classes);

    if (st != XY_OK)
        return st;
    p.classes = classes;
    xy_machine_print_summary(m, file);
    print_label(&p, 0);
    print_grid(&p, 0);
    fputc('\n', file);
    print_below(&p, 0, true);
    print_routes(&p);
    xy_free(classes);
    return XY_OK;
}

/* ---- A way ---- */

typedef struct {
    const printer_t p;
    uint32_t count; /* links with known figures */
    bool is_counted;
} route_printer_t;

/* Prints one link of a way that has known figures. */
static void print_wire(void *context, const xy_wire_t *wire)
{
    route_printer_t *r = context;
    const xy_machine_t *m = r->p.m;
    char size[96];

    if (wire->link.latency == 0 && wire->link.bandwidth == 0)
        return;
    r->count++;
    if (!r->is_counted)
        return;
    if (wire->kind == XY_WIRE_GRID) {
        const xy_grid_t *g = &m->grids[wire->owner];

        fprintf(r->p.file, "%s %s: cell %u, dimension %u, %s", g->is_torus ? "torus" : "mesh",
                machine_grid_format(g, size), wire->number / g->dimensions,
                wire->number % g->dimensions, wire->direction == 0 ? "up" : "down");
    } else if (wire->kind == XY_WIRE_ROUTE) {
        const xy_route_t *route = &m->routes[wire->owner];

        fputs("route ", r->p.file);
        print_end(&r->p, wire->direction == 0 ? route->a : route->b);
        fputs(" - ", r->p.file);
        print_end(&r->p, wire->direction == 0 ? route->b : route->a);
    } else {
        print_end(&r->p, wire->owner);
        fputs(wire->direction == 0 ? " up" : " down", r->p.file);
        if (xy_machine_parallel(m, wire->owner) > 1)
            fprintf(r->p.file, ", link %u of %u", wire->number,
                    xy_machine_parallel(m, wire->owner));
    }
    print_link(&r->p, "link", wire->link);
    fputc('\n', r->p.file);
}

void xy_machine_print_route(const xy_machine_t *m, xy_obj_t a, xy_obj_t b, FILE *file)
{
    route_printer_t r = {.p = {.m = m, .file = file}};

    xy_machine_route(m, a, b, print_wire, &r);
    fprintf(file, "%u link%s:", r.count, r.count == 1 ? "" : "s");
    print_link(&r.p, "in all", xy_machine_path(m, a, b));
    fputc('\n', file);
    r.is_counted = true;
    xy_machine_route(m, a, b, print_wire, &r);
}
