/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine for other programs: flat arrays, every object by its index. */
#include "draw/draw.h"
#include "machine/machine_internal.h"

static void write_link(xy_json_t *j, const char *key, xy_link_t link)
{
    if (link.latency == 0 && link.bandwidth == 0)
        return;
    xy_json_begin_object(j, key);
    if (link.latency > 0)
        xy_json_double(j, "latency", link.latency);
    if (link.bandwidth > 0)
        xy_json_double(j, "bandwidth", link.bandwidth);
    xy_json_end(j);
}

static void write_excluded(xy_json_t *j, uint32_t flags)
{
    if ((flags & XY_EXCLUDED) == 0)
        return;
    xy_json_begin_array(j, "excluded");
    if (flags & XY_EXCLUDED_CGROUP)
        xy_json_string(j, NULL, "cgroup");
    if (flags & XY_EXCLUDED_AFFINITY)
        xy_json_string(j, NULL, "affinity");
    if (flags & XY_EXCLUDED_FILE)
        xy_json_string(j, NULL, "file");
    xy_json_end(j);
}

/* Writes an object of the tree. */
static void write_object(xy_json_t *j, const xy_machine_t *m, xy_obj_t o)
{
    xy_json_begin_object(j, NULL);
    xy_fields(j, "id %u type %s", o, xy_obj_type_name(m->type[o]));
    if (o > 0)
        xy_json_int(j, "parent", m->parent[o]);
    xy_json_int(j, "logical", m->logical[o]);
    if (m->physical[o] != XY_OBJ_NONE)
        xy_json_int(j, "physical", m->physical[o]);
    if (m->name_of[o] != 0)
        xy_json_string(j, "name", xy_machine_object_name(m, o));
    if (m->bytes[o] > 0)
        xy_json_int(j, xy_obj_type_is_cache(m->type[o]) ? "size" : "memory", (int64_t)m->bytes[o]);
    write_link(j, "link", xy_machine_link(m, o));
    if (xy_machine_parallel(m, o) > 1)
        xy_json_int(j, "links", xy_machine_parallel(m, o));
    write_excluded(j, m->flags[o]);
    xy_json_end(j);
}

static void write_counts(xy_json_t *j, const xy_machine_t *m)
{
    xy_json_begin_object(j, "counts");
    for (int t = XY_OBJ_SITE; t < XY_OBJ_TYPES; t++)
        if (xy_machine_count(m, t) > 0)
            xy_json_int(j, xy_obj_type_name(t), xy_machine_count(m, t));
    if (m->gpu_count > 0)
        xy_json_int(j, "gpu", m->gpu_count);
    xy_json_end(j);
}

/* Writes all groups of GPUs with their links. */
static void write_gpus(xy_json_t *j, const xy_machine_t *m)
{
    xy_json_begin_array(j, "gpu_groups");
    for (uint32_t i = 0; i < m->gpu_group_count; i++) {
        const xy_gpu_group_t *g = &m->gpu_groups[i];

        xy_json_begin_object(j, NULL);
        xy_json_int(j, "host", g->host);
        write_link(j, "shared", g->shared);
        write_link(j, "peer", g->peer);
        xy_json_begin_array(j, "gpus");
        for (uint32_t k = 0; k < g->gpu_count; k++) {
            const xy_gpu_t *gpu = &m->gpus[g->first_gpu + k];

            xy_json_begin_object(j, NULL);
            if (gpu->name != 0)
                xy_json_string(j, "name", m->names[gpu->name]);
            xy_json_int(j, "physical", gpu->physical);
            if (gpu->memory > 0)
                xy_json_int(j, "memory", (int64_t)gpu->memory);
            write_link(j, "in", gpu->in);
            write_link(j, "out", gpu->out);
            write_link(j, "kernel", gpu->kernel);
            write_excluded(j, gpu->flags);
            xy_json_end(j);
        }
        xy_json_end(j);
        xy_json_begin_array(j, "peers");
        for (uint32_t k = 0; k < g->peer_count; k++) {
            const xy_gpu_peer_t *p = &m->gpu_peers[g->first_peer + k];

            xy_json_begin_object(j, NULL);
            xy_fields(j, "from %u to %u", p->a, p->b);
            write_link(j, "link", p->link);
            xy_json_end(j);
        }
        xy_json_end(j);
        xy_json_end(j);
    }
    xy_json_end(j);
}

/* Writes all grids, with the object in each cell. */
static void write_grids(xy_json_t *j, const xy_machine_t *m)
{
    xy_json_begin_array(j, "grids");
    for (uint32_t i = 0; i < m->grid_count; i++) {
        const xy_grid_t *g = &m->grids[i];

        xy_json_begin_object(j, NULL);
        xy_fields(j, "object %u kind %s", g->object, g->is_torus ? "torus" : "mesh");
        xy_json_begin_array(j, "size");
        for (uint32_t d = 0; d < g->dimensions; d++)
            xy_json_int(j, NULL, g->size[d]);
        xy_json_end(j);
        write_link(j, "link", g->link);
        xy_json_begin_array(j, "cells");
        for (uint32_t k = 0; k < m->child_count[g->object]; k++)
            xy_json_int(j, NULL, m->cells[g->first_cell + k]);
        xy_json_end(j);
        xy_json_end(j);
    }
    xy_json_end(j);
}

static void write_routes(xy_json_t *j, const xy_machine_t *m)
{
    xy_json_begin_array(j, "routes");
    for (uint32_t i = 0; i < m->route_count; i++) {
        xy_json_begin_object(j, NULL);
        xy_fields(j, "from %u to %u", m->routes[i].a, m->routes[i].b);
        write_link(j, "link", m->routes[i].link);
        xy_json_end(j);
    }
    xy_json_end(j);
}

void xy_machine_print_json(const xy_machine_t *m, FILE *file)
{
    xy_json_t j;

    xy_json_init(&j, file, true);
    xy_json_begin_object(&j, NULL);
    xy_fields(&j, "name %s source %s leaves %u usable %u levels %u memory %lu", m->name, m->source,
              m->leaves, xy_machine_usable(m, 0), m->depth, xy_machine_memory(m, 0));
    write_counts(&j, m);
    xy_json_begin_array(&j, "objects");
    for (xy_obj_t o = 0; o < m->count; o++)
        write_object(&j, m, o);
    xy_json_end(&j);
    write_gpus(&j, m);
    if (m->grid_count > 0)
        write_grids(&j, m);
    write_routes(&j, m);
    xy_json_end(&j);
}
