/* SPDX-License-Identifier: BSD-3-Clause */
/* Xylem's machine file, written: identical siblings as one element with a count, physical numbers
 * as lists where they are not what their place says. */
#include <string.h>

#include "machine/machine_internal.h"

typedef struct {
    const xy_machine_t *m;
    FILE *file;
    const uint32_t *classes;
    const uint32_t *gpu_numbers;
} writer_t;

static void indent(const writer_t *w, int depth)
{
    fprintf(w->file, "%*s", 2 * depth, "");
}

static void attribute(const writer_t *w, const char *name, const char *value)
{
    fprintf(w->file, " %s=\"", name);
    xy_xml_escape(w->file, value);
    fputc('"', w->file);
}

static void write_link(const writer_t *w, const char *latency, const char *bandwidth,
                       xy_link_t link)
{
    char text[48];

    if (link.latency > 0)
        attribute(w, latency, machine_format_latency(link.latency, text));
    if (link.bandwidth > 0)
        attribute(w, bandwidth, machine_format_bandwidth(link.bandwidth, text));
}

static void write_excluded(const writer_t *w, uint32_t flags)
{
    if ((flags & XY_EXCLUDED) == 0)
        return;
    fprintf(w->file, " excluded=\"%s%s%s%s%s\"", flags & XY_EXCLUDED_FILE ? "yes" : "",
            flags & XY_EXCLUDED_FILE && flags & XY_EXCLUDED_CGROUP ? " " : "",
            flags & XY_EXCLUDED_CGROUP ? "cgroup" : "",
            flags & XY_EXCLUDED_AFFINITY && flags & (XY_EXCLUDED_FILE | XY_EXCLUDED_CGROUP) ? " "
                                                                                            : "",
            flags & XY_EXCLUDED_AFFINITY ? "affinity" : "");
}

static void write_bytes(const writer_t *w, const char *name, uint64_t bytes)
{
    char text[48];

    if (bytes > 0)
        attribute(w, name, machine_format_bytes(bytes, text));
}

/* The attributes of an object; the root has its name already. */
static void write_attributes(const writer_t *w, xy_obj_t o, uint32_t count)
{
    const xy_machine_t *m = w->m;
    uint32_t above = o > 0 ? m->flags[m->parent[o]] : 0;

    if (m->flags[o] & XY_OBJ_ROUTED)
        fprintf(w->file, " id=\"o%u\"", o);
    if (m->name_of[o] != 0)
        attribute(w, "name", xy_machine_object_name(m, o));
    if (count > 1)
        fprintf(w->file, " count=\"%u\"", count);
    write_bytes(w, xy_obj_type_is_cache(m->type[o]) ? "size" : "memory", m->bytes[o]);
    write_link(w, "latency", "bandwidth", xy_machine_link(m, o));
    if (xy_machine_parallel(m, o) > 1)
        fprintf(w->file, " links=\"%u\"", xy_machine_parallel(m, o));
    write_excluded(w, m->flags[o] & ~above);
}

/* Writes a GPU as XML; a number that follows from its place is left out. */
static void write_gpu(const writer_t *w, uint32_t i, int depth)
{
    const xy_gpu_t *gpu = &w->m->gpus[i];

    indent(w, depth);
    fputs("<gpu", w->file);
    if (gpu->name != 0)
        attribute(w, "name", w->m->names[gpu->name]);
    if (gpu->physical != w->gpu_numbers[i])
        fprintf(w->file, " os=\"%u\"", gpu->physical);
    write_bytes(w, "memory", gpu->memory);
    write_link(w, "in-latency", "in-bandwidth", gpu->in);
    write_link(w, "out-latency", "out-bandwidth", gpu->out);
    write_link(w, "kernel-latency", "kernel-bandwidth", gpu->kernel);
    write_excluded(w, gpu->flags);
    fputs("/>\n", w->file);
}

/* Writes the groups of GPUs at an object. */
static void write_gpus(const writer_t *w, xy_obj_t o, int depth)
{
    const xy_machine_t *m = w->m;
    uint32_t first, count = machine_gpu_groups_of(m, o, &first);

    for (uint32_t i = first; i < first + count; i++) {
        const xy_gpu_group_t *g = &m->gpu_groups[i];

        indent(w, depth);
        fputs("<gpus", w->file);
        write_link(w, "latency", "bandwidth", g->shared);
        write_link(w, "peer-latency", "peer-bandwidth", g->peer);
        fputs(">\n", w->file);
        for (uint32_t k = 0; k < g->gpu_count; k++)
            write_gpu(w, g->first_gpu + k, depth + 1);
        for (uint32_t k = 0; k < g->peer_count; k++) {
            const xy_gpu_peer_t *p = &m->gpu_peers[g->first_peer + k];

            indent(w, depth + 1);
            fprintf(w->file, "<peer from=\"%u\" to=\"%u\"", p->a, p->b);
            write_link(w, "latency", "bandwidth", p->link);
            fputs("/>\n", w->file);
        }
        indent(w, depth);
        fputs("</gpus>\n", w->file);
    }
}

/* The next object of the scope in tree order; what is inside nodes has its own scope. */
static xy_obj_t scope_next(const xy_machine_t *m, xy_obj_t scope, xy_obj_t o)
{
    xy_obj_t next;

    if (m->type[o] != XY_OBJ_NODE || o == scope)
        return machine_next(m, scope, o);
    for (next = machine_next(m, scope, o); next != XY_OBJ_NONE && m->level[next] > m->level[o];)
        next = machine_next(m, scope, next);
    return next;
}

static bool is_numbered_by_place(const xy_machine_t *m, xy_obj_t scope, uint8_t type)
{
    uint32_t place = 0;

    for (xy_obj_t o = scope_next(m, scope, scope); o != XY_OBJ_NONE; o = scope_next(m, scope, o))
        if (m->type[o] == type && m->physical[o] != place++)
            return false;
    return true;
}

/* Writes the physical numbers of one type inside a scope, as ranges. */
static void write_numbering(const writer_t *w, xy_obj_t scope, uint8_t type, int depth)
{
    const xy_machine_t *m = w->m;
    uint32_t low = 0, high = 0;
    bool first = true, open = false;

    indent(w, depth);
    fprintf(w->file, "<numbering type=\"%s\" os=\"", xy_obj_type_name(type));
    for (xy_obj_t o = scope_next(m, scope, scope);; o = scope_next(m, scope, o)) {
        if (o != XY_OBJ_NONE && m->type[o] != type)
            continue;
        if (open && o != XY_OBJ_NONE && m->physical[o] == high + 1) {
            high++;
            continue;
        }
        if (open) {
            fprintf(w->file, first ? "%u" : ",%u", low);
            if (high > low)
                fprintf(w->file, "-%u", high);
            first = false;
        }
        if (o == XY_OBJ_NONE)
            break;
        low = high = m->physical[o];
        open = true;
    }
    fputs("\"/>\n", w->file);
}

static uint32_t scope_types(const writer_t *w, xy_obj_t o)
{
    uint32_t types = 0;

    if (w->m->type[o] != XY_OBJ_NODE && o != 0)
        return 0;
    for (int t = XY_OBJ_SITE; t < XY_OBJ_TYPES; t++)
        if (machine_type_is_numbered((uint8_t)t) && xy_machine_count(w->m, t) > 0 &&
            !is_numbered_by_place(w->m, o, (uint8_t)t))
            types |= 1u << t;
    return types;
}

static void write_object(const writer_t *w, xy_obj_t o, uint32_t count, int depth);

static bool is_complete(const uint32_t *cells, uint32_t count, uint32_t all)
{
    uint32_t i = 0;

    while (i < count && cells[i] == i)
        i++;
    return i == all;
}

/* Writes the grid of an object; cells only where they do not follow from the order of children. */
static void write_grid(const writer_t *w, xy_obj_t o, int depth)
{
    const xy_machine_t *m = w->m;
    const xy_grid_t *g = xy_machine_grid(m, o);
    const uint32_t *cells = &m->cells[g->first_cell];
    uint32_t count = m->child_count[o];
    char size[96];

    indent(w, depth);
    fprintf(w->file, "<%s size=\"%s\"", g->is_torus ? "torus" : "mesh",
            machine_grid_format(g, size));
    write_link(w, "latency", "bandwidth", g->link);
    if (!is_complete(cells, count, xy_grid_cells(g))) {
        fputs(" cells=\"", w->file);
        for (uint32_t i = 0, j; i < count; i = j) {
            for (j = i + 1; j < count && cells[j] == cells[j - 1] + 1; j++)
                ;
            fprintf(w->file, j - i > 1 ? "%s%u-%u" : "%s%u", i > 0 ? "," : "", cells[i],
                    cells[j - 1]);
        }
        fputc('"', w->file);
    }
    fputs("/>\n", w->file);
}

/* Writes children, grid, GPUs and numberings of an object. */
static void write_inside(const writer_t *w, xy_obj_t o, uint32_t types, int depth)
{
    const xy_machine_t *m = w->m;
    xy_obj_t end = m->first_child[o] + m->child_count[o];

    for (xy_obj_t c = m->first_child[o]; c < end;) {
        uint32_t run = machine_fold_run(m, w->classes, c);

        write_object(w, c, run, depth);
        c += run;
    }
    if (m->flags[o] & XY_OBJ_GRID)
        write_grid(w, o, depth);
    write_gpus(w, o, depth);
    for (int t = 0; t < XY_OBJ_TYPES; t++)
        if (types & 1u << t)
            write_numbering(w, o, (uint8_t)t, depth);
}

/* Writes an object, with `count` for a run of equal ones. */
static void write_object(const writer_t *w, xy_obj_t o, uint32_t count, int depth)
{
    const char *name = xy_obj_type_name(w->m->type[o]);
    uint32_t first, types = scope_types(w, o);

    indent(w, depth);
    fprintf(w->file, "<%s", name);
    write_attributes(w, o, count);
    if (w->m->child_count[o] == 0 && machine_gpu_groups_of(w->m, o, &first) == 0) {
        fputs("/>\n", w->file);
        return;
    }
    fputs(">\n", w->file);
    write_inside(w, o, types, depth + 1);
    indent(w, depth);
    fprintf(w->file, "</%s>\n", name);
}

static void write_routes(const writer_t *w)
{
    for (uint32_t i = 0; i < w->m->route_count; i++) {
        const xy_route_t *r = &w->m->routes[i];

        fprintf(w->file, "  <route from=\"o%u\" to=\"o%u\"", r->a, r->b);
        write_link(w, "latency", "bandwidth", r->link);
        fputs("/>\n", w->file);
    }
}

static void write_machine(const writer_t *w)
{
    fputs("<machine", w->file);
    attribute(w, "name", w->m->name);
    fputs(" version=\"1\"", w->file);
    write_bytes(w, "memory", w->m->bytes[0]);
    write_excluded(w, w->m->flags[0]);
    fputs(">\n", w->file);
    write_inside(w, 0, scope_types(w, 0), 1);
    write_routes(w);
    fputs("</machine>\n", w->file);
}

xy_status_t xy_machine_print_xml(const xy_machine_t *m, FILE *file)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", file);
    return xy_machine_print_element(m, file);
}

xy_status_t xy_machine_print_element(const xy_machine_t *m, FILE *file)
{
    uint32_t *classes, *gpu_numbers;
    xy_status_t st = machine_fold(m, true, &classes);

    if (st != XY_OK)
        return st;
    if (machine_gpu_numbers(m, &gpu_numbers) != XY_OK) {
        xy_free(classes);
        return xy_fail_memory("writing a machine");
    }
    write_machine(&(writer_t){m, file, classes, gpu_numbers});
    xy_free(gpu_numbers);
    xy_free(classes);
    return XY_OK;
}
