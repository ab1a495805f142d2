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

#include "machine/machine_file.h"

static const char *const object_attrs[] = {"name",    "id",        "count", "os",       "memory",
                                           "latency", "bandwidth", "links", "excluded", NULL};
static const char *const cache_attrs[] = {"name",    "id",        "count",    "size",
                                          "latency", "bandwidth", "excluded", NULL};
static const char *const root_attrs[] = {"name", "version", "memory", "excluded", NULL};
static const char *const use_attrs[] = {"ref", "count", NULL};
static const char *const children[] = {
    "site", "cluster", "switch", "node", "package",   "numa",  "group",  "l3",    "l2",   "l1",
    "core", "pu",      "gpus",   "use",  "numbering", "route", "define", "torus", "mesh", NULL};

/* Objects have the exact lower-case name of their type; "machine" is the root only. */
static bool object_type(const xy_xml_node_t *n, xy_obj_type_t *type_p)
{
    for (int t = XY_OBJ_SITE; t < XY_OBJ_TYPES; t++) {
        if (machine_file_is(n, xy_obj_type_name((xy_obj_type_t)t))) {
            *type_p = (xy_obj_type_t)t;
            return true;
        }
    }
    return false;
}

/* Reads the attribute count, 1 if it is missing; XY_ELIMIT above the limit of objects. */
static xy_status_t read_count(const machine_reader_t *r, const xy_xml_node_t *n, uint32_t *count_p)
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

static machine_target_t *target_of(const machine_reader_t *r, const char *id)
{
    uintptr_t position = (uintptr_t)xy_hash_get(&r->index, XY_HASH_KEY(id));

    return position == 0 ? NULL : &XY_VEC_AT(&r->targets, machine_target_t, position - 1);
}

/* Registers the ids of an element and of all below it; fails for an id used twice. */
static xy_status_t collect_ids(machine_reader_t *r, const xy_xml_node_t *n)
{
    xy_status_t st = XY_OK;
    const char *id = n->attr != NULL ? xy_xml_attr(n, "id") : NULL;

    if (id != NULL) {
        machine_target_t target = {.node = n};

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

machine_target_t *machine_file_target(const machine_reader_t *r, const xy_xml_node_t *n,
                                      const char *attr)
{
    const char *id = xy_xml_attr(n, attr);
    machine_target_t *t = id != NULL ? target_of(r, id) : NULL;

    if (id == NULL)
        xy_fail_at(XY_EPARSE, r->path, n->line, "<%s> needs %s=\"ID\"", n->name, attr);
    else if (t == NULL)
        machine_file_fail(r, n, "no element has the id", id);
    return t;
}

static xy_status_t count_one(machine_reader_t *r, const xy_xml_node_t *n, int depth,
                             uint64_t *objects_p);

/* Counts the objects of the element that a <use> names; fails for cycles. */
static xy_status_t count_target(machine_reader_t *r, const xy_xml_node_t *use, int depth,
                                uint64_t *objects_p)
{
    machine_target_t *t = machine_file_target(r, use, "ref");
    xy_obj_type_t type;

    if (t == NULL)
        return XY_EPARSE;
    if (!object_type(t->node, &type))
        return machine_file_fail(r, use, "ref names an element that is not an object of the tree:",
                                 xy_xml_attr(use, "ref"));
    if (t->is_open)
        return xy_fail_at(XY_EPARSE, r->path, use->line,
                          "cycle: '%.60s' (line %ld) contains itself through this reference",
                          xy_xml_attr(use, "ref"), t->node->line);
    return count_one(r, t->node, depth, objects_p);
}

/* Children with their counts. Sizes are bounded at every step, so nothing overflows. */
static xy_status_t count_below(machine_reader_t *r, const xy_xml_node_t *n, int depth,
                               uint64_t *objects_p)
{
    xy_status_t st = XY_OK;
    uint64_t total = 0;

    for (const xy_xml_node_t *c = n->child; st == XY_OK && c != NULL; c = c->next) {
        xy_obj_type_t type;
        uint64_t one = 0;
        uint32_t count = 1;

        if (machine_file_is(c, "use"))
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

/* Counts an object and those below it; the size of an element with an id is computed once. */
static xy_status_t count_one(machine_reader_t *r, const xy_xml_node_t *n, int depth,
                             uint64_t *objects_p)
{
    const char *id = n->attr != NULL ? xy_xml_attr(n, "id") : NULL;
    machine_target_t *t = id != NULL ? target_of(r, id) : NULL;
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

/* Reads the attributes of an object into a draft. */
static xy_status_t read_object(machine_reader_t *r, const xy_xml_node_t *n, xy_obj_type_t type,
                               machine_draft_t *d)
{
    bool is_cache = xy_obj_type_is_cache(type);
    xy_bundle_t links = {0};
    xy_status_t st;

    *d = (machine_draft_t){.type = (uint8_t)type, .physical = XY_OBJ_NONE};
    st = xy_xml_check_names(r->doc, n, is_cache ? cache_attrs : object_attrs, children);
    /* Most elements of a long file have nothing to read. */
    if (st != XY_OK || n->attr == NULL)
        return st;
    if (!machine_type_is_numbered(d->type) && xy_xml_attr(n, "os") != NULL)
        return machine_file_fail(r, n, "caches and groups have no physical number; remove os from",
                                 n->name);
    st = machine_file_name(r, n, &d->name);
    if (st == XY_OK)
        st = machine_file_physical(r, n, &d->physical);
    if (st == XY_OK)
        st = xy_xml_attr_size(r->doc, n, is_cache ? "size" : "memory", &d->bytes);
    if (st == XY_OK)
        st = machine_file_excluded(r, n, &d->flags);
    if (st == XY_OK)
        st = machine_file_link(r, n, "latency", "bandwidth", &links.link);
    if (st == XY_OK)
        st = machine_file_parallel(r, n, d->type, &links.count);
    return st == XY_OK ? machine_builder_link(&r->builder, links, &d->link) : st;
}

static xy_status_t build_below(machine_reader_t *r, const xy_xml_node_t *n, uint8_t type,
                               uint32_t first);

/* Adds an object with all below it to the builder. */
static xy_status_t build_one(machine_reader_t *r, const xy_xml_node_t *n, uint8_t parent)
{
    machine_draft_t d;
    xy_obj_type_t type = XY_OBJ_MACHINE; /* fits nowhere */
    uint32_t first = 0;
    const char *id = n->attr != NULL ? xy_xml_attr(n, "id") : NULL;
    xy_status_t st;

    object_type(n, &type);
    if (!machine_type_fits(parent, (uint8_t)type))
        return xy_fail_at(XY_EPARSE, r->path, n->line, "a %s cannot be inside a %s",
                          xy_obj_type_name(type), xy_obj_type_name(parent));
    if (r->builder.depth >= XY_MACHINE_DEPTH_MAX)
        return xy_fail_at(XY_ELIMIT, r->path, n->line, "more than %d levels", XY_MACHINE_DEPTH_MAX);
    st = read_object(r, n, type, &d);
    if (st == XY_OK)
        st = machine_builder_open(&r->builder, &d, &first);
    if (st != XY_OK)
        return st;
    if (id != NULL) {
        machine_target_t *t = target_of(r, id);

        if (t->instances == 0)
            t->draft = first;
        t->instances += r->times;
    }
    st = build_below(r, n, (uint8_t)type, first);
    machine_builder_close(&r->builder);
    return st;
}

/* Adds an object, or the target of a <use>, as often as its count says. */
static xy_status_t build_counted(machine_reader_t *r, const xy_xml_node_t *n, uint8_t parent)
{
    const xy_xml_node_t *what = n;
    uint32_t first = (uint32_t)r->builder.drafts.count, count = 1;
    uint64_t times = r->times;
    machine_target_t *t;
    xy_status_t st = read_count(r, n, &count);

    if (st == XY_OK && machine_file_is(n, "use")) {
        st = xy_xml_check_names(r->doc, n, use_attrs, machine_file_nothing);
        if (st != XY_OK)
            return st;
        t = machine_file_target(r, n, "ref");
        if (t == NULL)
            return XY_EPARSE;
        what = t->node;
    }
    if (st != XY_OK)
        return st;
    r->times *= count;
    st = build_one(r, what, parent);
    r->times = times;
    return st == XY_OK ? machine_builder_repeat(&r->builder, first, count - 1) : st;
}

/* Adds the children of an element, then applies its numberings. */
static xy_status_t build_below(machine_reader_t *r, const xy_xml_node_t *n, uint8_t type,
                               uint32_t first)
{
    xy_status_t st = XY_OK;
    xy_obj_type_t child;

    for (const xy_xml_node_t *c = n->child; st == XY_OK && c != NULL; c = c->next) {
        if (machine_file_is(c, "use") || object_type(c, &child))
            st = build_counted(r, c, type);
        else if (machine_file_is(c, "gpus"))
            st = machine_file_gpus(r, c);
        else if (machine_file_is(c, "define"))
            st = xy_xml_check_names(r->doc, c, machine_file_nothing, children);
        else if (machine_file_is(c, "route") && type != XY_OBJ_MACHINE)
            st = machine_file_fail(r, c, "routes belong directly in <machine>, not in", n->name);
    }
    /* When everything below is there. */
    for (const xy_xml_node_t *c = n->child; st == XY_OK && c != NULL; c = c->next) {
        if (machine_file_is(c, "torus") || machine_file_is(c, "mesh"))
            st = machine_file_grid(r, c, first);
        if (!machine_file_is(c, "numbering"))
            continue;
        if (type != XY_OBJ_NODE && type != XY_OBJ_MACHINE)
            st = machine_file_fail(r, c, "numberings belong in a node or in <machine>, not in",
                                   n->name);
        else
            st = machine_file_numbering(r, c, first);
    }
    return st;
}

/* ---- The whole ---- */

/* Reads the document element, its objects and routes. */
static xy_status_t build_root(machine_reader_t *r, const xy_xml_node_t *root)
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
        st = machine_file_excluded(r, root, &flags);
    if (st != XY_OK)
        return st;
    d = &XY_VEC_AT(&r->builder.drafts, machine_draft_t, 0);
    d->bytes = memory;
    d->flags = flags;
    st = build_below(r, root, XY_OBJ_MACHINE, 0);
    return st == XY_OK ? machine_file_routes(r, root) : st;
}

/* Counts all objects before any is built, and reserves memory for them. */
static xy_status_t check_size(machine_reader_t *r, const xy_xml_node_t *root)
{
    uint64_t objects = 0;
    xy_status_t st = collect_ids(r, root);

    if (st == XY_OK)
        st = count_below(r, root, 1, &objects);
    /* Unused definitions are checked for cycles, too. */
    for (size_t i = 0; st == XY_OK && i < r->targets.count; i++) {
        xy_obj_type_t type;
        const xy_xml_node_t *n = XY_VEC_AT(&r->targets, machine_target_t, i).node;

        if (object_type(n, &type))
            st = count_one(r, n, 1, &objects);
    }
    if (st == XY_OK && xy_vec_reserve(&r->builder.drafts, (size_t)objects + 1) != XY_OK)
        return xy_fail_memory("reading a machine file");
    return st;
}

xy_status_t machine_file_parse(const xy_xml_t *doc, const xy_xml_node_t *root,
                               xy_machine_t **machine_p)
{
    machine_reader_t r = {
        .doc = doc, .path = xy_xml_path(doc), .targets = XY_VEC_INIT(machine_target_t)};
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
