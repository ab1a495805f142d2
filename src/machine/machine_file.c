/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Xylem's machine file, read. docs/machine.md describes it; the smallest one is
 *
 *   <machine name="small"><node count="4"><core count="8"/></node></machine>
 *
 * Two passes over the elements. The first counts what each would make, with the counts and the
 * references followed, so that a billion declared cores and a reference that holds itself are
 * refused before anything is built; the second builds, once per element, and repeats.
 */
#include <stdlib.h>
#include <string.h>

#include "machine/machine_internal.h"

/* What is known of an element with an id. */
typedef struct {
    const xy_xml_node_t *node;
    uint64_t objects; /* one of it, without its own count; 0: not counted yet */
    bool is_open;     /* being counted: meeting it again is a cycle */
    uint64_t instances;
    uint32_t draft; /* the first instance */
} target_t;

typedef struct {
    const xy_xml_t *doc;
    const char *path;
    machine_builder_t builder;
    xy_vec_t targets; /* target_t, in the order of the file */
    xy_hash_t index;  /* id to position in targets + 1 */
    uint64_t times;   /* how often what is being built will be repeated */
} reader_t;

static const char *const object_attrs[] = {"name",    "id",        "count",    "os", "memory",
                                           "latency", "bandwidth", "excluded", NULL};
static const char *const cache_attrs[] = {"name",    "id",        "count",    "size",
                                          "latency", "bandwidth", "excluded", NULL};
static const char *const root_attrs[] = {"name", "version", "memory", "excluded", NULL};
static const char *const use_attrs[] = {"ref", "count", NULL};
static const char *const none[] = {NULL};
static const char *const children[] = {"site",  "cluster", "switch",    "node",  "package", "numa",
                                       "group", "l3",      "l2",        "l1",    "core",    "pu",
                                       "gpus",  "use",     "numbering", "route", "define",  NULL};

static xy_status_t fail(const reader_t *r, const xy_xml_node_t *n, const char *what,
                        const char *value)
{
    return xy_fail_at(XY_EPARSE, r->path, n->line, "%s '%.60s'", what, value);
}

static bool is(const xy_xml_node_t *n, const char *name)
{
    return strcmp(n->name, name) == 0;
}

/* Objects have the exact lower-case name of their type; "machine" is the root only. */
static bool object_type(const xy_xml_node_t *n, xy_obj_type_t *type_p)
{
    for (int t = XY_OBJ_SITE; t < XY_OBJ_TYPES; t++) {
        if (is(n, xy_obj_type_name((xy_obj_type_t)t))) {
            *type_p = (xy_obj_type_t)t;
            return true;
        }
    }
    return false;
}

static xy_status_t read_count(const reader_t *r, const xy_xml_node_t *n, uint32_t *count_p)
{
    long count = 1;
    xy_status_t st = XY_OK;

    if (n->attr != NULL)
        st = xy_xml_attr_long(r->doc, n, "count", 1, 4000000000L, &count);
    if (st == XY_OK && count > machine_objects_limit)
        return xy_fail_at(XY_ELIMIT, r->path, n->line,
                          "count=\"%ld\": at most %u objects make a machine", count,
                          machine_objects_limit);
    if (st == XY_OK)
        *count_p = (uint32_t)count;
    return st;
}

/* ---- First pass: ids, then sizes ---- */

static target_t *target_of(const reader_t *r, const char *id)
{
    uintptr_t position = (uintptr_t)xy_hash_get(&r->index, XY_HASH_KEY(id));

    return position == 0 ? NULL : &XY_VEC_AT(&r->targets, target_t, position - 1);
}

static xy_status_t collect_ids(reader_t *r, const xy_xml_node_t *n)
{
    xy_status_t st = XY_OK;
    const char *id = n->attr != NULL ? xy_xml_attr(n, "id") : NULL;

    if (id != NULL) {
        target_t target = {.node = n};

        if (target_of(r, id) != NULL)
            return xy_fail_at(XY_EPARSE, r->path, n->line,
                              "id '%.60s' was given in line %ld already; ids are unique", id,
                              target_of(r, id)->node->line);
        if (xy_vec_append(&r->targets, &target) != XY_OK ||
            xy_hash_set(&r->index, XY_HASH_KEY(id), (void *)(uintptr_t)r->targets.count) != XY_OK)
            return xy_fail_memory("reading a machine file");
    }
    for (const xy_xml_node_t *c = n->child; st == XY_OK && c != NULL; c = c->next)
        st = collect_ids(r, c);
    return st;
}

static xy_status_t find_target(const reader_t *r, const xy_xml_node_t *n, const char *attr,
                               target_t **target_p)
{
    const char *id = xy_xml_attr(n, attr);

    if (id == NULL)
        return xy_fail_at(XY_EPARSE, r->path, n->line, "<%s> needs %s=\"ID\"", n->name, attr);
    *target_p = target_of(r, id);
    return *target_p != NULL ? XY_OK : fail(r, n, "no element has the id", id);
}

static xy_status_t count_one(reader_t *r, const xy_xml_node_t *n, int depth, uint64_t *objects_p);

static xy_status_t count_target(reader_t *r, const xy_xml_node_t *use, int depth,
                                uint64_t *objects_p)
{
    target_t *t;
    xy_obj_type_t type;
    xy_status_t st = find_target(r, use, "ref", &t);

    if (st != XY_OK)
        return st;
    if (!object_type(t->node, &type))
        return fail(r, use,
                    "ref names an element that is no object of the tree:", xy_xml_attr(use, "ref"));
    if (t->is_open)
        return xy_fail_at(XY_EPARSE, r->path, use->line,
                          "cycle: '%.60s' (line %ld) holds itself through this reference",
                          xy_xml_attr(use, "ref"), t->node->line);
    return count_one(r, t->node, depth, objects_p);
}

/* Children with their counts. Sizes are bounded at every step, so nothing overflows. */
static xy_status_t count_below(reader_t *r, const xy_xml_node_t *n, int depth, uint64_t *objects_p)
{
    xy_status_t st = XY_OK;
    uint64_t total = 0;

    for (const xy_xml_node_t *c = n->child; st == XY_OK && c != NULL; c = c->next) {
        xy_obj_type_t type;
        uint64_t one = 0;
        uint32_t count = 1;

        if (is(c, "use"))
            st = count_target(r, c, depth, &one);
        else if (object_type(c, &type))
            st = count_one(r, c, depth, &one);
        else
            continue;
        if (st == XY_OK)
            st = read_count(r, c, &count);
        total += one * count;
        if (st == XY_OK && total > machine_objects_limit)
            return xy_fail_at(XY_ELIMIT, r->path, c->line,
                              "%llu objects are declared up to here; at most %u make a machine",
                              (unsigned long long)total, machine_objects_limit);
    }
    *objects_p = total;
    return st;
}

static xy_status_t count_one(reader_t *r, const xy_xml_node_t *n, int depth, uint64_t *objects_p)
{
    const char *id = n->attr != NULL ? xy_xml_attr(n, "id") : NULL;
    target_t *t = id != NULL ? target_of(r, id) : NULL;
    uint64_t below = 0;
    xy_status_t st;

    if (depth >= XY_MACHINE_DEPTH_MAX)
        return xy_fail_at(XY_ELIMIT, r->path, n->line, "more than %d levels", XY_MACHINE_DEPTH_MAX);
    /* A known size spares the walk; without it nested references would cost exponential time. The
     * depth is checked again when building. */
    if (t != NULL && t->objects > 0) {
        *objects_p = t->objects;
        return XY_OK;
    }
    if (t != NULL)
        t->is_open = true;
    st = count_below(r, n, depth + 1, &below);
    if (t != NULL) {
        t->is_open = false;
        t->objects = below + 1;
    }
    *objects_p = below + 1;
    return st;
}

/* ---- Second pass: building ---- */

static xy_status_t read_link(const reader_t *r, const xy_xml_node_t *n, const char *latency,
                             const char *bandwidth, xy_link_t *link)
{
    const char *l = xy_xml_attr(n, latency), *b = xy_xml_attr(n, bandwidth);

    if (l != NULL && !machine_parse_latency(l, &link->latency))
        return xy_fail_at(XY_EPARSE, r->path, n->line,
                          "%s=\"%.40s\" is no time; write seconds or 20us", latency, l);
    if (b != NULL && !machine_parse_bandwidth(b, &link->bandwidth))
        return xy_fail_at(XY_EPARSE, r->path, n->line,
                          "%s=\"%.40s\" is no bandwidth above 0; write bytes per second or 10GB/s",
                          bandwidth, b);
    return XY_OK;
}

static xy_status_t read_excluded(const reader_t *r, const xy_xml_node_t *n, uint8_t *flags_p)
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
            return fail(r, n, "excluded is yes, cgroup or affinity, not", value);
        value += length + strspn(value + length, " ");
    }
    *flags_p = flags;
    return XY_OK;
}

static xy_status_t read_name(reader_t *r, const xy_xml_node_t *n, uint32_t *id_p)
{
    const char *name = xy_xml_attr(n, "name");

    return name == NULL ? XY_OK : machine_builder_name(&r->builder, name, id_p);
}

static xy_status_t read_physical(const reader_t *r, const xy_xml_node_t *n, uint32_t *physical_p)
{
    long os = -1;
    xy_status_t st = xy_xml_attr_long(r->doc, n, "os", 0, 1000000000, &os);

    if (st == XY_OK && os >= 0)
        *physical_p = (uint32_t)os;
    return st;
}

static xy_status_t read_object(reader_t *r, const xy_xml_node_t *n, xy_obj_type_t type,
                               machine_draft_t *d)
{
    bool is_cache = xy_obj_type_is_cache(type);
    xy_link_t link = {0};
    xy_status_t st;

    *d = (machine_draft_t){.type = (uint8_t)type, .physical = XY_OBJ_NONE};
    st = xy_xml_check_names(r->doc, n, is_cache ? cache_attrs : object_attrs, children);
    /* Most elements of a long file have nothing to read. */
    if (st != XY_OK || n->attr == NULL)
        return st;
    if (!machine_type_is_numbered(d->type) && xy_xml_attr(n, "os") != NULL)
        return fail(r, n, "caches and groups have no physical number; remove os from", n->name);
    st = read_name(r, n, &d->name);
    if (st == XY_OK)
        st = read_physical(r, n, &d->physical);
    if (st == XY_OK)
        st = xy_xml_attr_size(r->doc, n, is_cache ? "size" : "memory", &d->bytes);
    if (st == XY_OK)
        st = read_excluded(r, n, &d->flags);
    if (st == XY_OK)
        st = read_link(r, n, "latency", "bandwidth", &link);
    return st == XY_OK ? machine_builder_link(&r->builder, link, &d->link) : st;
}

static xy_status_t build_below(reader_t *r, const xy_xml_node_t *n, uint8_t type, uint32_t first);

static xy_status_t build_one(reader_t *r, const xy_xml_node_t *n, uint8_t parent)
{
    machine_draft_t d;
    xy_obj_type_t type = XY_OBJ_MACHINE; /* fits nowhere */
    uint32_t first = 0;
    const char *id = n->attr != NULL ? xy_xml_attr(n, "id") : NULL;
    xy_status_t st;

    object_type(n, &type);
    if (!machine_type_fits(parent, (uint8_t)type))
        return xy_fail_at(XY_EPARSE, r->path, n->line, "a %s cannot stand in a %s",
                          xy_obj_type_name(type), xy_obj_type_name(parent));
    if (r->builder.depth >= XY_MACHINE_DEPTH_MAX)
        return xy_fail_at(XY_ELIMIT, r->path, n->line, "more than %d levels", XY_MACHINE_DEPTH_MAX);
    st = read_object(r, n, type, &d);
    if (st == XY_OK)
        st = machine_builder_open(&r->builder, &d, &first);
    if (st != XY_OK)
        return st;
    if (id != NULL) {
        target_t *t = target_of(r, id);

        if (t->instances == 0)
            t->draft = first;
        t->instances += r->times;
    }
    st = build_below(r, n, (uint8_t)type, first);
    machine_builder_close(&r->builder);
    return st;
}

static xy_status_t build_counted(reader_t *r, const xy_xml_node_t *n, uint8_t parent)
{
    const xy_xml_node_t *what = n;
    uint32_t first = (uint32_t)r->builder.drafts.count, count = 1;
    uint64_t times = r->times;
    target_t *t;
    xy_status_t st = read_count(r, n, &count);

    if (st == XY_OK && is(n, "use")) {
        st = xy_xml_check_names(r->doc, n, use_attrs, none);
        if (st == XY_OK)
            st = find_target(r, n, "ref", &t);
        if (st == XY_OK)
            what = t->node;
    }
    if (st != XY_OK)
        return st;
    r->times *= count;
    st = build_one(r, what, parent);
    r->times = times;
    return st == XY_OK ? machine_builder_repeat(&r->builder, first, count - 1) : st;
}

static xy_status_t build_gpus(reader_t *r, const xy_xml_node_t *n);
static xy_status_t build_numbering(reader_t *r, const xy_xml_node_t *n, uint32_t first);

static xy_status_t build_below(reader_t *r, const xy_xml_node_t *n, uint8_t type, uint32_t first)
{
    xy_status_t st = XY_OK;
    xy_obj_type_t child;

    for (const xy_xml_node_t *c = n->child; st == XY_OK && c != NULL; c = c->next) {
        if (is(c, "use") || object_type(c, &child))
            st = build_counted(r, c, type);
        else if (is(c, "gpus"))
            st = build_gpus(r, c);
        else if (is(c, "define"))
            st = xy_xml_check_names(r->doc, c, none, children);
        else if (is(c, "route") && type != XY_OBJ_MACHINE)
            st = fail(r, c, "routes stand directly in <machine>, not in", n->name);
    }
    /* When everything below is there. */
    for (const xy_xml_node_t *c = n->child; st == XY_OK && c != NULL; c = c->next) {
        if (!is(c, "numbering"))
            continue;
        if (type != XY_OBJ_NODE && type != XY_OBJ_MACHINE)
            st = fail(r, c, "numberings stand in a node or in <machine>, not in", n->name);
        else
            st = build_numbering(r, c, first);
    }
    return st;
}

/* ---- Numberings: <numbering type="pu" os="0-7,16-23"/> ---- */

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

static xy_status_t build_numbering(reader_t *r, const xy_xml_node_t *n, uint32_t first)
{
    static const char *const attrs[] = {"type", "os", NULL};
    const char *name = xy_xml_attr(n, "type"), *os = xy_xml_attr(n, "os");
    xy_obj_type_t type;
    uint32_t *numbers, count;
    bool good;
    xy_status_t st = xy_xml_check_names(r->doc, n, attrs, none);

    if (st != XY_OK)
        return st;
    if (name == NULL || os == NULL)
        return xy_fail_at(XY_EPARSE, r->path, n->line, "<numbering> needs type and os");
    if (!xy_obj_type_parse(name, strlen(name), &type) || !machine_type_is_numbered((uint8_t)type))
        return fail(r, n, "no numbered objects are called", name);
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
                             "os=\"%.40s\" is no list '0-3,8' of %u numbers, one for each %s", os,
                             count, name);
}

/* ---- GPUs ---- */

static xy_status_t build_gpu(reader_t *r, const xy_xml_node_t *n)
{
    static const char *const attrs[] = {
        "name",       "count",        "os",          "memory",        "excluded",
        "in-latency", "in-bandwidth", "out-latency", "out-bandwidth", NULL};
    xy_gpu_t gpu = {.physical = XY_OBJ_NONE};
    uint8_t flags = 0;
    long count = 1;
    xy_status_t st = xy_xml_check_names(r->doc, n, attrs, none);

    if (st == XY_OK)
        st = xy_xml_attr_long(r->doc, n, "count", 1, 1024, &count);
    if (st == XY_OK)
        st = read_name(r, n, &gpu.name);
    if (st == XY_OK)
        st = read_physical(r, n, &gpu.physical);
    if (st == XY_OK)
        st = xy_xml_attr_size(r->doc, n, "memory", &gpu.memory);
    if (st == XY_OK)
        st = read_excluded(r, n, &flags);
    if (st == XY_OK)
        st = read_link(r, n, "in-latency", "in-bandwidth", &gpu.in);
    if (st == XY_OK)
        st = read_link(r, n, "out-latency", "out-bandwidth", &gpu.out);
    gpu.flags = flags;
    while (st == XY_OK && count-- > 0)
        st = machine_builder_gpu(&r->builder, &gpu);
    return st;
}

static xy_status_t build_peer(reader_t *r, const xy_xml_node_t *n)
{
    static const char *const attrs[] = {"from", "to", "latency", "bandwidth", NULL};
    const xy_gpu_group_t *g =
        &XY_VEC_AT(&r->builder.groups, xy_gpu_group_t, r->builder.groups.count - 1);
    long a = -1, b = -1, last = (long)g->gpu_count - 1;
    xy_gpu_peer_t peer = {0};
    xy_status_t st = xy_xml_check_names(r->doc, n, attrs, none);

    if (st == XY_OK)
        st = xy_xml_attr_long(r->doc, n, "from", 0, last, &a);
    if (st == XY_OK)
        st = xy_xml_attr_long(r->doc, n, "to", 0, last, &b);
    if (st == XY_OK && (a < 0 || b < 0 || a == b))
        return xy_fail_at(XY_EPARSE, r->path, n->line,
                          "<peer> needs from and to, two different GPUs of the %u before it",
                          g->gpu_count);
    if (st == XY_OK)
        st = read_link(r, n, "latency", "bandwidth", &peer.link);
    peer.a = (uint32_t)(a < b ? a : b);
    peer.b = (uint32_t)(a < b ? b : a);
    return st == XY_OK ? machine_builder_peer(&r->builder, &peer) : st;
}

static xy_status_t build_gpus(reader_t *r, const xy_xml_node_t *n)
{
    static const char *const attrs[] = {"latency", "bandwidth", "peer-latency", "peer-bandwidth",
                                        NULL};
    static const char *const inside[] = {"gpu", "peer", NULL};
    xy_gpu_group_t group = {0};
    xy_status_t st = xy_xml_check_names(r->doc, n, attrs, inside);

    if (st == XY_OK)
        st = read_link(r, n, "latency", "bandwidth", &group.shared);
    if (st == XY_OK)
        st = read_link(r, n, "peer-latency", "peer-bandwidth", &group.peer);
    if (st == XY_OK)
        st = machine_builder_gpu_group(&r->builder, &group);
    for (const xy_xml_node_t *c = n->child; st == XY_OK && c != NULL; c = c->next)
        st = is(c, "gpu") ? build_gpu(r, c) : build_peer(r, c);
    return st;
}

/* ---- Routes ---- */

static xy_status_t find_end(const reader_t *r, const xy_xml_node_t *n, const char *attr,
                            uint32_t *draft_p)
{
    target_t *t;
    xy_status_t st = find_target(r, n, attr, &t);

    if (st == XY_OK && t->instances != 1)
        return xy_fail_at(XY_EPARSE, r->path, n->line,
                          "a route joins two single objects; '%.60s' stands for %llu",
                          xy_xml_attr(n, attr), (unsigned long long)t->instances);
    if (st == XY_OK)
        *draft_p = t->draft;
    return st;
}

static bool is_inside(const reader_t *r, uint32_t inner, uint32_t outer)
{
    while (inner != XY_OBJ_NONE && inner != outer)
        inner = XY_VEC_AT(&r->builder.drafts, machine_draft_t, inner).parent;
    return inner == outer;
}

static xy_status_t build_route(reader_t *r, const xy_xml_node_t *n)
{
    static const char *const attrs[] = {"from", "to", "latency", "bandwidth", NULL};
    xy_route_t route = {0};
    xy_status_t st = xy_xml_check_names(r->doc, n, attrs, none);

    if (st == XY_OK)
        st = find_end(r, n, "from", &route.a);
    if (st == XY_OK)
        st = find_end(r, n, "to", &route.b);
    if (st == XY_OK && (is_inside(r, route.a, route.b) || is_inside(r, route.b, route.a)))
        return xy_fail_at(XY_EPARSE, r->path, n->line,
                          "a route joins two objects of which none holds the other");
    if (st == XY_OK)
        st = read_link(r, n, "latency", "bandwidth", &route.link);
    return st == XY_OK ? machine_builder_route(&r->builder, &route) : st;
}

static xy_status_t build_routes(reader_t *r, const xy_xml_node_t *root)
{
    xy_status_t st = XY_OK;

    for (const xy_xml_node_t *c = root->child; st == XY_OK && c != NULL; c = c->next)
        if (is(c, "route"))
            st = build_route(r, c);
    return st;
}

/* ---- The whole ---- */

static xy_status_t build_root(reader_t *r, const xy_xml_node_t *root)
{
    machine_draft_t *d;
    uint64_t memory = 0;
    uint8_t flags = 0;
    long version = 1;
    xy_status_t st = xy_xml_check_names(r->doc, root, root_attrs, children);

    if (st == XY_OK)
        st = xy_xml_attr_long(r->doc, root, "version", 1, 1, &version);
    if (st == XY_OK)
        st = xy_xml_attr_size(r->doc, root, "memory", &memory);
    if (st == XY_OK)
        st = read_excluded(r, root, &flags);
    if (st != XY_OK)
        return st;
    d = &XY_VEC_AT(&r->builder.drafts, machine_draft_t, 0);
    d->bytes = memory;
    d->flags = flags;
    st = build_below(r, root, XY_OBJ_MACHINE, 0);
    return st == XY_OK ? build_routes(r, root) : st;
}

static xy_status_t check_size(reader_t *r, const xy_xml_node_t *root)
{
    uint64_t objects = 0;
    xy_status_t st = collect_ids(r, root);

    if (st == XY_OK)
        st = count_below(r, root, 1, &objects);
    /* What is defined and never used is checked for cycles too. */
    for (size_t i = 0; st == XY_OK && i < r->targets.count; i++) {
        xy_obj_type_t type;
        const xy_xml_node_t *n = XY_VEC_AT(&r->targets, target_t, i).node;

        if (object_type(n, &type))
            st = count_one(r, n, 1, &objects);
    }
    if (st == XY_OK && xy_vec_reserve(&r->builder.drafts, (size_t)objects + 1) != XY_OK)
        return xy_fail_memory("reading a machine file");
    return st;
}

xy_status_t machine_file_parse(const xy_xml_t *doc, xy_machine_t **machine_p)
{
    reader_t r = {.doc = doc, .path = xy_xml_path(doc), .targets = XY_VEC_INIT(target_t)};
    const xy_xml_node_t *root = xy_xml_root(doc);
    const char *name = xy_xml_attr(root, "name");
    xy_status_t st;

    r.times = 1;
    xy_hash_init(&r.index, XY_HASH_STRING);
    st = machine_builder_init(&r.builder, name != NULL ? name : "machine", r.path);
    if (st == XY_OK)
        st = check_size(&r, root);
    if (st == XY_OK)
        st = build_root(&r, root);
    if (st == XY_OK)
        st = machine_builder_finish(&r.builder, machine_p);
    machine_builder_cleanup(&r.builder);
    xy_hash_cleanup(&r.index);
    xy_vec_cleanup(&r.targets);
    return st;
}
