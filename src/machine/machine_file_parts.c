/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a machine file beside the tree: numberings, grids, GPUs, routes; and the attributes
 * that several elements have. */
#include <stdlib.h>
#include <string.h>

#include "machine/machine_file.h"

const char *const machine_file_nothing[] = {NULL};

xy_status_t machine_file_fail(const machine_reader_t *r, const xy_xml_node_t *n, const char *what,
                              const char *value)
{
    return xy_fail_at(XY_EPARSE, r->path, n->line, "%s '%.60s'", what, value);
}

bool machine_file_is(const xy_xml_node_t *n, const char *name)
{
    return strcmp(n->name, name) == 0;
}

/* ---- Attributes ---- */

xy_status_t machine_file_link(const machine_reader_t *r, const xy_xml_node_t *n,
                              const char *latency, const char *bandwidth, xy_link_t *link)
{
    const char *l = xy_xml_attr(n, latency), *b = xy_xml_attr(n, bandwidth);

    if (l != NULL && !machine_parse_latency(l, &link->latency))
        return xy_fail_at(XY_EPARSE, r->path, n->line,
                          "%s=\"%.40s\" is not a time; write seconds or 20us", latency, l);
    if (b != NULL && !machine_parse_bandwidth(b, &link->bandwidth))
        return xy_fail_at(
            XY_EPARSE, r->path, n->line,
            "%s=\"%.40s\" is not a bandwidth above 0; write bytes per second, 10GB/s or 100Gb/s",
            bandwidth, b);
    return XY_OK;
}

xy_status_t machine_file_parallel(const machine_reader_t *r, const xy_xml_node_t *n, uint8_t type,
                                  uint32_t *count_p)
{
    long links = 1;
    xy_status_t st = xy_xml_attr_long(r->doc, n, "links", 1, XY_MACHINE_OBJECTS_MAX, &links);

    if (st == XY_OK && links > 1 && !machine_type_is_network(type))
        return machine_file_fail(
            r, n, "only sites, clusters, switches and nodes have parallel links; remove links from",
            n->name);
    if (st == XY_OK && links > 1)
        *count_p = (uint32_t)links;
    return st;
}

xy_status_t machine_file_excluded(const machine_reader_t *r, const xy_xml_node_t *n,
                                  uint8_t *flags_p)
{
    const char *value = xy_xml_attr(n, "excluded");
    uint8_t flags = 0;

    while (value != NULL && *value != '\0') {
        size_t length = strcspn(value, " ");

        if (length == 6 && strncmp(value, "cgroup", 6) == 0)
            flags |= XY_EXCLUDED_CGROUP;
        else if (length == 8 && strncmp(value, "affinity", 8) == 0)
            flags |= XY_EXCLUDED_AFFINITY;
        else if (length == 3 && strncmp(value, "yes", 3) == 0)
            flags |= XY_EXCLUDED_FILE;
        else
            return machine_file_fail(r, n, "excluded is yes, cgroup or affinity, not", value);
        value += length + strspn(value + length, " ");
    }
    *flags_p = flags;
    return XY_OK;
}

xy_status_t machine_file_name(machine_reader_t *r, const xy_xml_node_t *n, uint32_t *id_p)
{
    const char *name = xy_xml_attr(n, "name");

    return name == NULL ? XY_OK : machine_builder_name(&r->builder, name, id_p);
}

xy_status_t machine_file_physical(const machine_reader_t *r, const xy_xml_node_t *n,
                                  uint32_t *physical_p)
{
    long os = -1;
    xy_status_t st = xy_xml_attr_long(r->doc, n, "os", 0, 1000000000, &os);

    if (st == XY_OK && os >= 0)
        *physical_p = (uint32_t)os;
    return st;
}

/* ---- Numberings: <numbering type="pu" os="0-7,16-23"/> ---- */

/* Reads a number or a range "low-high" and advances *s; returns false if it is malformed. */
static bool read_range(const char **s, uint32_t *low_p, uint32_t *high_p)
{
    char *end;
    unsigned long low, high;

    if (strspn(*s, "0123456789") == 0)
        return false;
    low = high = strtoul(*s, &end, 10);
    if (*end == '-' && strspn(end + 1, "0123456789") > 0)
        high = strtoul(end + 1, &end, 10);
    if (low > high || high > 1000000000)
        return false;
    *low_p = (uint32_t)low;
    *high_p = (uint32_t)high;
    *s = end;
    return *end == ',' || *end == '\0';
}

/* Reads a list of ranges that must make exactly `count` numbers. */
static bool read_numbers(const char *s, uint32_t *numbers, uint32_t count)
{
    uint32_t low, high, used = 0;

    while (used < count && read_range(&s, &low, &high)) {
        if (high - low >= count - used)
            return false;
        while (low <= high)
            numbers[used++] = low++;
        if (*s == '\0')
            return used == count;
        s++;
    }
    return false;
}

xy_status_t machine_file_numbering(machine_reader_t *r, const xy_xml_node_t *n, uint32_t first)
{
    static const char *const attrs[] = {"type", "os", NULL};
    const char *name = xy_xml_attr(n, "type"), *os = xy_xml_attr(n, "os");
    xy_obj_type_t type;
    uint32_t *numbers, count;
    bool good;
    xy_status_t st = xy_xml_check_names(r->doc, n, attrs, machine_file_nothing);

    if (st != XY_OK)
        return st;
    if (name == NULL || os == NULL)
        return xy_fail_at(XY_EPARSE, r->path, n->line, "<numbering> needs type and os");
    if (!xy_obj_type_parse(name, strlen(name), &type) || !machine_type_is_numbered((uint8_t)type))
        return machine_file_fail(r, n, "no numbered objects are called", name);
    count = machine_builder_scope_count(&r->builder, first, (uint8_t)type);
    numbers = xy_malloc(count * sizeof(*numbers));
    if (numbers == NULL)
        return xy_fail_memory("reading a machine file");
    good = read_numbers(os, numbers, count);
    if (good)
        machine_builder_number(&r->builder, first, (uint8_t)type, numbers);
    xy_free(numbers);
    return good ? XY_OK
                : xy_fail_at(XY_EPARSE, r->path, n->line,
                             "os=\"%.40s\" is not a list '0-3,8' of %u numbers, one for each %s",
                             os, count, name);
}

/* ---- Grids: <torus size="4x4x2" latency="1us" bandwidth="10GB/s"/> ---- */

/* Checks the children of draft `first` and returns their number. */
static xy_status_t count_children(const machine_reader_t *r, const xy_xml_node_t *n, uint32_t first,
                                  uint32_t *count_p)
{
    uint32_t count = 0;

    for (size_t i = first + 1; i < r->builder.drafts.count; i++) {
        const machine_draft_t *d = &XY_VEC_AT(&r->builder.drafts, machine_draft_t, i);

        if (d->parent != first)
            continue;
        if (!machine_type_is_network(d->type))
            return xy_fail_at(XY_EPARSE, r->path, n->line,
                              "a %s joins nodes or larger objects, and a %s is here", n->name,
                              xy_obj_type_name(d->type));
        count++;
    }
    *count_p = count;
    return XY_OK;
}

/* Reads the cells of all children: in their order, or as the attribute says. */
static xy_status_t read_cells(const machine_reader_t *r, const xy_xml_node_t *n,
                              const xy_grid_t *grid, uint32_t *cells, uint32_t count)
{
    const char *text = xy_xml_attr(n, "cells");
    uint32_t all = xy_grid_cells(grid);
    xy_bitset_t seen;
    bool is_good;

    for (uint32_t i = 0; i < count; i++)
        cells[i] = i;
    if (text == NULL && count == all)
        return XY_OK;
    if (text == NULL)
        return xy_fail_at(XY_EPARSE, r->path, n->line,
                          "<%s size=\"%s\"> has %u cells for %u objects; name the cells of the "
                          "objects, as in cells=\"0-%u\"",
                          n->name, xy_xml_attr(n, "size"), all, count, count > 0 ? count - 1 : 0);
    if (xy_bitset_init(&seen, all) != XY_OK)
        return xy_fail_memory("reading a machine file");
    is_good = read_numbers(text, cells, count);
    for (uint32_t i = 0; is_good && i < count; i++) {
        is_good = cells[i] < all && !xy_bitset_has(&seen, cells[i]);
        if (is_good)
            xy_bitset_set(&seen, cells[i]);
    }
    xy_bitset_cleanup(&seen);
    return is_good ? XY_OK
                   : xy_fail_at(XY_EPARSE, r->path, n->line,
                                "cells=\"%.40s\" is not a list '0-3,8' of %u different cells "
                                "below %u, one for each object",
                                text, count, all);
}

xy_status_t machine_file_grid(machine_reader_t *r, const xy_xml_node_t *n, uint32_t first)
{
    static const char *const attrs[] = {"size", "latency", "bandwidth", "cells", NULL};
    xy_grid_t grid = {.is_torus = machine_file_is(n, "torus")};
    const char *size = xy_xml_attr(n, "size");
    uint32_t count = 0, *cells;
    xy_status_t st = xy_xml_check_names(r->doc, n, attrs, machine_file_nothing);

    if (st == XY_OK &&
        (size == NULL || size[machine_grid_parse(size, &grid)] != '\0' || *size == '\0'))
        return machine_file_fail(r, n, "a grid needs sizes as in size=\"4x4x2\", not",
                                 size != NULL ? size : "");
    if (st == XY_OK && XY_VEC_AT(&r->builder.drafts, machine_draft_t, first).flags & XY_OBJ_GRID)
        return machine_file_fail(r, n, "an object has one torus or mesh; remove the second one,",
                                 size);
    if (st == XY_OK)
        st = machine_file_link(r, n, "latency", "bandwidth", &grid.link);
    if (st == XY_OK)
        st = count_children(r, n, first, &count);
    if (st != XY_OK)
        return st;
    cells = xy_malloc((count + 1) * sizeof(*cells));
    if (cells == NULL)
        return xy_fail_memory("reading a machine file");
    st = read_cells(r, n, &grid, cells, count);
    if (st == XY_OK)
        st = machine_builder_grid(&r->builder, first, &grid, cells, count);
    xy_free(cells);
    return st;
}

/* ---- GPUs ---- */

/* Adds a GPU, as often as its count says, to the last group. */
static xy_status_t build_gpu(machine_reader_t *r, const xy_xml_node_t *n)
{
    static const char *const attrs[] = {"name",
                                        "count",
                                        "os",
                                        "memory",
                                        "excluded",
                                        "in-latency",
                                        "in-bandwidth",
                                        "out-latency",
                                        "out-bandwidth",
                                        "kernel-latency",
                                        "kernel-bandwidth",
                                        NULL};
    xy_gpu_t gpu = {.physical = XY_OBJ_NONE};
    uint8_t flags = 0;
    long count = 1;
    xy_status_t st = xy_xml_check_names(r->doc, n, attrs, machine_file_nothing);

    if (st == XY_OK)
        st = xy_xml_attr_long(r->doc, n, "count", 1, 1024, &count);
    if (st == XY_OK)
        st = machine_file_name(r, n, &gpu.name);
    if (st == XY_OK)
        st = machine_file_physical(r, n, &gpu.physical);
    if (st == XY_OK)
        st = xy_xml_attr_size(r->doc, n, "memory", &gpu.memory);
    if (st == XY_OK)
        st = machine_file_excluded(r, n, &flags);
    if (st == XY_OK)
        st = machine_file_link(r, n, "in-latency", "in-bandwidth", &gpu.in);
    if (st == XY_OK)
        st = machine_file_link(r, n, "out-latency", "out-bandwidth", &gpu.out);
    if (st == XY_OK)
        st = machine_file_link(r, n, "kernel-latency", "kernel-bandwidth", &gpu.kernel);
    gpu.flags = flags;
    while (st == XY_OK && count-- > 0)
        st = machine_builder_gpu(&r->builder, &gpu);
    return st;
}

/* Adds a link between two GPUs of the last group. */
static xy_status_t build_peer(machine_reader_t *r, const xy_xml_node_t *n)
{
    static const char *const attrs[] = {"from", "to", "latency", "bandwidth", NULL};
    const xy_gpu_group_t *g =
        &XY_VEC_AT(&r->builder.groups, xy_gpu_group_t, r->builder.groups.count - 1);
    long a = -1, b = -1, last = (long)g->gpu_count - 1;
    xy_gpu_peer_t peer = {0};
    xy_status_t st = xy_xml_check_names(r->doc, n, attrs, machine_file_nothing);

    if (st == XY_OK)
        st = xy_xml_attr_long(r->doc, n, "from", 0, last, &a);
    if (st == XY_OK)
        st = xy_xml_attr_long(r->doc, n, "to", 0, last, &b);
    if (st == XY_OK && (a < 0 || b < 0 || a == b))
        return xy_fail_at(XY_EPARSE, r->path, n->line,
                          "<peer> needs from and to, two different GPUs of the %u before it",
                          g->gpu_count);
    if (st == XY_OK)
        st = machine_file_link(r, n, "latency", "bandwidth", &peer.link);
    peer.a = (uint32_t)(a < b ? a : b);
    peer.b = (uint32_t)(a < b ? b : a);
    return st == XY_OK ? machine_builder_peer(&r->builder, &peer) : st;
}

xy_status_t machine_file_gpus(machine_reader_t *r, const xy_xml_node_t *n)
{
    static const char *const attrs[] = {"latency", "bandwidth", "peer-latency", "peer-bandwidth",
                                        NULL};
    static const char *const inside[] = {"gpu", "peer", NULL};
    xy_gpu_group_t group = {0};
    xy_status_t st = xy_xml_check_names(r->doc, n, attrs, inside);

    if (st == XY_OK)
        st = machine_file_link(r, n, "latency", "bandwidth", &group.shared);
    if (st == XY_OK)
        st = machine_file_link(r, n, "peer-latency", "peer-bandwidth", &group.peer);
    if (st == XY_OK)
        st = machine_builder_gpu_group(&r->builder, &group);
    for (const xy_xml_node_t *c = n->child; st == XY_OK && c != NULL; c = c->next)
        st = machine_file_is(c, "gpu") ? build_gpu(r, c) : build_peer(r, c);
    return st;
}

/* ---- Routes ---- */

static xy_status_t find_end(const machine_reader_t *r, const xy_xml_node_t *n, const char *attr,
                            uint32_t *draft_p)
{
    machine_target_t *t = machine_file_target(r, n, attr);

    if (t == NULL)
        return XY_EPARSE;
    if (t->instances != 1)
        return xy_fail_at(XY_EPARSE, r->path, n->line,
                          "a route joins two single objects; '%.60s' stands for %llu",
                          xy_xml_attr(n, attr), (unsigned long long)t->instances);
    *draft_p = t->draft;
    return XY_OK;
}

static bool is_inside(const machine_reader_t *r, uint32_t inner, uint32_t outer)
{
    while (inner != XY_OBJ_NONE && inner != outer)
        inner = XY_VEC_AT(&r->builder.drafts, machine_draft_t, inner).parent;
    return inner == outer;
}

/* Adds a route between two objects, none inside the other. */
static xy_status_t build_route(machine_reader_t *r, const xy_xml_node_t *n)
{
    static const char *const attrs[] = {"from", "to", "latency", "bandwidth", NULL};
    xy_route_t route = {0};
    xy_status_t st = xy_xml_check_names(r->doc, n, attrs, machine_file_nothing);

    if (st == XY_OK)
        st = find_end(r, n, "from", &route.a);
    if (st == XY_OK)
        st = find_end(r, n, "to", &route.b);
    if (st == XY_OK && (is_inside(r, route.a, route.b) || is_inside(r, route.b, route.a)))
        return xy_fail_at(XY_EPARSE, r->path, n->line,
                          "a route joins two objects, none inside the other");
    if (st == XY_OK)
        st = machine_file_link(r, n, "latency", "bandwidth", &route.link);
    return st == XY_OK ? machine_builder_route(&r->builder, &route) : st;
}

xy_status_t machine_file_routes(machine_reader_t *r, const xy_xml_node_t *root)
{
    xy_status_t st = XY_OK;

    for (const xy_xml_node_t *c = root->child; st == XY_OK && c != NULL; c = c->next)
        if (machine_file_is(c, "route"))
            st = build_route(r, c);
    return st;
}
