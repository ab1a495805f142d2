/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Machines from a string, in hwloc's synthetic syntax extended upwards:
 *
 *   node:64(latency=1us bandwidth=12.5GB/s) package:2 [numa(memory=16GiB)] l3:1(size=20MiB) core:8
 *
 * From the top; each level says how many of it stand in one of the level above. In parentheses:
 * memory, size, indexes (physical numbers) as hwloc has them, and latency and bandwidth of the
 * link upwards, and links, how many are parallel. A level in brackets is memory attached to the
 * level before: it becomes a NUMA level of one. "torus:4x4x2(...)" or "mesh:..." are nodes that
 * each have the link to the next in every dimension. Bare numbers, "2 24" or "64x2x8", are cores in
 * packages in nodes in switches.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_internal.h"

typedef struct {
    uint8_t type;
    bool is_typed;
    uint32_t arity;
    uint64_t bytes;
    xy_link_t link;
    xy_grid_t grid;      /* dimensions 0: none */
    uint32_t parallel;   /* links; 0: not said */
    const char *indexes; /* in the text, or NULL */
    size_t indexes_length;
} level_t;

typedef struct {
    const char *text;
    const char *at;
    level_t levels[XY_MACHINE_DEPTH_MAX];
    int count;
} parser_t;

static xy_status_t fail(const parser_t *p, xy_status_t status, const char *what, const char *where,
                        size_t length)
{
    return xy_fail(status, "synthetic machine '%.100s': %s '%.*s' at character %zu", p->text, what,
                   (int)(length < 60 ? length : 60), where, (size_t)(where - p->text) + 1);
}

static size_t word_length(const char *s, const char *stop)
{
    size_t n = 0;

    while (s[n] != '\0' && !isspace((unsigned char)s[n]) && strchr(stop, s[n]) == NULL)
        n++;
    return n;
}

/* hwloc's sizes: kB, MB, GB, TB are powers of 1000, KiB ... powers of 1024. */
static bool parse_size(const char *s, uint64_t *bytes_p)
{
    static const struct {
        const char *unit;
        uint64_t factor;
    } units[] = {{"", 1},          {"B", 1},           {"kB", 1000},          {"KB", 1000},
                 {"MB", 1000000},  {"GB", 1000000000}, {"TB", 1000000000000}, {"kiB", 1 << 10},
                 {"KiB", 1 << 10}, {"MiB", 1 << 20},   {"GiB", 1 << 30},      {"TiB", 1ull << 40},
                 {"k", 1 << 10},   {"K", 1 << 10},     {"M", 1 << 20},        {"G", 1 << 30},
                 {"T", 1ull << 40}};
    size_t digits = strspn(s, "0123456789");
    unsigned long long v;

    if (digits == 0 || digits > 18)
        return false;
    v = strtoull(s, NULL, 10);
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (strcmp(s + digits, units[i].unit) == 0)
            return !__builtin_mul_overflow(v, units[i].factor, bytes_p);
    return false;
}

static bool parse_links(const char *s, uint32_t *count_p)
{
    uint64_t count;

    if (!parse_size(s, &count) || count == 0 || count > XY_MACHINE_OBJECTS_MAX)
        return false;
    *count_p = (uint32_t)count;
    return true;
}

static bool is_key(const char *s, size_t n, const char *key)
{
    return strlen(key) == n && strncmp(s, key, n) == 0;
}

/* Reads one attribute "key=value" of a level. */
static xy_status_t parse_attribute(parser_t *p, level_t *level)
{
    const char *start = p->at;
    size_t key = word_length(start, "=)"), length;
    char value[64] = "";
    bool good;

    if (start[key] != '=')
        return fail(p, XY_EPARSE, "an attribute is written key=value, not", start, key);
    length = word_length(start + key + 1, ")");
    p->at = start + key + 1 + length;
    if (is_key(start, key, "indexes")) {
        level->indexes = start + key + 1;
        level->indexes_length = length;
        return XY_OK;
    }
    if (length < sizeof(value))
        memcpy(value, start + key + 1, length);
    if (is_key(start, key, "memory") || is_key(start, key, "size"))
        good = parse_size(value, &level->bytes);
    else if (is_key(start, key, "latency"))
        good = machine_parse_latency(value, &level->link.latency);
    else if (is_key(start, key, "bandwidth"))
        good = machine_parse_bandwidth(value, &level->link.bandwidth);
    else if (is_key(start, key, "links"))
        good = parse_links(value, &level->parallel);
    else
        return fail(p, XY_EPARSE,
                    "attributes are memory, size, indexes, latency, bandwidth and links, not",
                    start, key);
    if (!good)
        return fail(p, XY_EPARSE, "no valid value in", start, key + 1 + length);
    return XY_OK;
}

/* Reads the attributes of a level in parentheses, if there are any. */
static xy_status_t parse_attributes(parser_t *p, level_t *level)
{
    const char *open = p->at;
    xy_status_t st = XY_OK;

    if (*p->at != '(')
        return XY_OK;
    p->at++;
    while (st == XY_OK) {
        p->at += strspn(p->at, " \t");
        if (*p->at == ')') {
            p->at++;
            return XY_OK;
        }
        if (*p->at == '\0')
            return fail(p, XY_EPARSE, "no ')' closes", open, strlen(open));
        st = parse_attribute(p, level);
    }
    return st;
}

/* Reads the type of a level, with a suggestion for a misspelt one. */
static xy_status_t parse_type(parser_t *p, level_t *level, size_t length)
{
    static const char *const names[] = {"site", "cluster", "switch", "node", "package",
                                        "numa", "group",   "l3",     "l2",   "l1",
                                        "core", "pu",      "torus",  "mesh", NULL};
    xy_obj_type_t type;
    const char *near;
    char word[32] = "";

    /* hwloc numbers its groups: "Group3". */
    if (length > 5 && strncasecmp(p->at, "group", 5) == 0 && isdigit((unsigned char)p->at[5]))
        type = XY_OBJ_GROUP;
    else if (!xy_obj_type_parse(p->at, length, &type) || type == XY_OBJ_MACHINE) {
        if (length < sizeof(word))
            memcpy(word, p->at, length);
        near = xy_nearest_word(word, names);
        return xy_fail(XY_EPARSE, "synthetic machine '%.100s': no level is called '%.*s'; %s%s%s",
                       p->text, (int)(length < 40 ? length : 40), p->at,
                       near != NULL ? "did you mean '" : "write site, cluster, switch, node, ",
                       near != NULL ? near
                                    : "torus, mesh, package, numa, group, l3, l2, l1, core or pu",
                       near != NULL ? "'?" : "");
    }
    level->type = (uint8_t)type;
    level->is_typed = true;
    return XY_OK;
}

/* Reads the count of a level; XY_ELIMIT above the limit of objects. */
static xy_status_t parse_count(parser_t *p, level_t *level)
{
    size_t digits = strspn(p->at, "0123456789"), length = word_length(p->at, "([]");
    const char *start = p->at;
    unsigned long value;

    if (digits == 0)
        return fail(p, XY_EPARSE, "a count is a whole number above 0, not", start,
                    length > 0 ? length : 1);
    value = digits < 18 ? strtoul(start, NULL, 10) : (unsigned long)machine_objects_limit + 1;
    if (value == 0)
        return fail(p, XY_EPARSE, "a count is a whole number above 0, not", start, length);
    if (value > machine_objects_limit)
        return xy_fail(XY_ELIMIT,
                       "synthetic machine '%.100s': %.*s objects in one level; at most %u in all",
                       p->text, (int)(digits < 30 ? digits : 30), start, machine_objects_limit);
    level->arity = (uint32_t)value;
    p->at += digits;
    return XY_OK;
}

/* "[numa(memory=16GiB)]" */
static xy_status_t parse_attached(parser_t *p, level_t *level)
{
    const char *open = p->at++;
    size_t length = word_length(p->at, "(]:");
    xy_status_t st = parse_type(p, level, length);

    if (st != XY_OK)
        return st;
    if (level->type != XY_OBJ_NUMA)
        return fail(p, XY_EPARSE, "only numa can be in brackets, not", p->at, length);
    p->at += length;
    level->arity = 1;
    st = parse_attributes(p, level);
    if (st != XY_OK)
        return st;
    if (*p->at != ']')
        return fail(p, XY_EPARSE, "no ']' closes", open, strlen(open));
    p->at++;
    return XY_OK;
}

/* "torus:4x4x2" without its first word: nodes, as many as cells. */
static xy_status_t parse_grid(parser_t *p, level_t *level, size_t length)
{
    level->grid.is_torus = *p->at == 't';
    level->type = XY_OBJ_NODE;
    level->is_typed = true;
    p->at += length + 1;
    length = machine_grid_parse(p->at, &level->grid);
    if (length == 0)
        return fail(p, XY_EPARSE, "sizes of a torus or mesh are written 8x8x8, not", p->at,
                    word_length(p->at, "(["));
    level->arity = xy_grid_cells(&level->grid);
    p->at += length;
    return XY_OK;
}

/* Reads what stands before the attributes of a level. */
static xy_status_t parse_type_and_count(parser_t *p, level_t *level)
{
    size_t length = word_length(p->at, ":([]");
    xy_status_t st;

    if (p->at[length] != ':')
        return parse_count(p, level);
    if (is_key(p->at, length, "torus") || is_key(p->at, length, "mesh"))
        return parse_grid(p, level, length);
    st = parse_type(p, level, length);
    if (st != XY_OK)
        return st;
    p->at += length + 1;
    return parse_count(p, level);
}

/* Reads one level: type, count and attributes. */
static xy_status_t parse_level(parser_t *p, level_t *level)
{
    xy_status_t st;

    if (*p->at == '[')
        return parse_attached(p, level);
    st = parse_type_and_count(p, level);
    if (st != XY_OK)
        return st;
    st = parse_attributes(p, level);
    if (st != XY_OK)
        return st;
    if (!level->is_typed && (*p->at == 'x' || *p->at == 'X') && isdigit((unsigned char)p->at[1]))
        p->at++;
    else if (*p->at != '\0' && *p->at != '[' && !isspace((unsigned char)*p->at))
        return fail(p, XY_EPARSE, "a level ends before", p->at, word_length(p->at, ""));
    return XY_OK;
}

/* Levels without a type, from below: cores, packages, nodes, switches. */
static xy_status_t infer_types(parser_t *p)
{
    static const uint8_t from_below[] = {XY_OBJ_CORE, XY_OBJ_PACKAGE, XY_OBJ_NODE};
    int untyped = 0;

    for (int i = 0; i < p->count; i++)
        untyped += !p->levels[i].is_typed;
    if (untyped == 0)
        return XY_OK;
    if (untyped < p->count)
        return xy_fail(XY_EPARSE,
                       "synthetic machine '%.100s': some levels have a type and some have none; "
                       "write all as 'core:8'",
                       p->text);
    for (int i = 0; i < p->count; i++) {
        int below = p->count - 1 - i;

        p->levels[i].type = below < 3 ? from_below[below] : XY_OBJ_SWITCH;
    }
    return XY_OK;
}

/* Checks the order of types and the total number of objects. */
static xy_status_t check_levels(const parser_t *p)
{
    uint64_t width = 1, total = 1;
    uint8_t above = XY_OBJ_MACHINE;

    if (p->count == 0)
        return xy_fail(XY_EPARSE, "the synthetic machine is empty; write for instance 'package:2 "
                                  "core:8'");
    for (int i = 0; i < p->count; i++) {
        const level_t *level = &p->levels[i];

        if (!machine_type_fits(above, level->type))
            return xy_fail(XY_EPARSE,
                           "synthetic machine '%.100s': a %s cannot hold a %s; levels "
                           "go from the largest to the smallest",
                           p->text, xy_obj_type_name(above), xy_obj_type_name(level->type));
        if (level->parallel > 0 &&
            (!machine_type_is_network(level->type) || level->grid.dimensions > 0))
            return xy_fail(XY_EPARSE,
                           "synthetic machine '%.100s': links=%u of a %s; only sites, clusters, "
                           "switches and nodes outside a torus or mesh have parallel links",
                           p->text, level->parallel, xy_obj_type_name(level->type));
        above = level->type;
        width *= level->arity;
        total += width;
        if (total > machine_objects_limit)
            return xy_fail(XY_ELIMIT,
                           "synthetic machine '%.100s': %llu objects down to level %d; at most %u "
                           "in all",
                           p->text, (unsigned long long)total, i + 1, machine_objects_limit);
    }
    return XY_OK;
}

/* Reads the whole description and infers missing types. */
static xy_status_t parse(parser_t *p)
{
    xy_status_t st = XY_OK;

    for (p->at = p->text; st == XY_OK; p->count++) {
        while (isspace((unsigned char)*p->at))
            p->at++;
        if (*p->at == '\0')
            break;
        if (p->count == XY_MACHINE_DEPTH_MAX - 1)
            return xy_fail(XY_ELIMIT, "synthetic machine '%.100s': more than %d levels", p->text,
                           XY_MACHINE_DEPTH_MAX - 1);
        st = parse_level(p, &p->levels[p->count]);
    }
    if (st == XY_OK)
        st = infer_types(p);
    return st == XY_OK ? check_levels(p) : st;
}

/* "0,2,4,6": as many numbers as objects. */
static bool read_list(const char *s, size_t length, uint32_t *numbers, uint32_t count)
{
    const char *end = s + length;

    for (uint32_t i = 0; i < count; i++) {
        size_t digits = strspn(s, "0123456789");

        if (digits == 0 || digits > 9 || s + digits > end)
            return false;
        numbers[i] = (uint32_t)strtoul(s, NULL, 10);
        s += digits;
        if (i + 1 < count && *s++ != ',')
            return false;
    }
    return s == end;
}

/* "step*count:step*count": nested loops, hwloc's interleaving. The loop with a step of `step`
 * logical places contributes the next digit of the physical number. */
static bool read_loops(const char *s, size_t length, uint32_t *numbers, uint32_t count)
{
    const char *end = s + length;
    uint64_t weight = 1;

    memset(numbers, 0, count * sizeof(*numbers));
    while (s < end) {
        char *next;
        unsigned long step = strtoul(s, &next, 10), times;

        if (next == s || *next != '*' || step == 0 || step > count)
            return false;
        s = next + 1;
        times = strtoul(s, &next, 10);
        if (next == s || next > end || times == 0 || times > count || weight * times > count)
            return false;
        for (uint32_t j = 0; j < count; j++)
            numbers[j] += (uint32_t)((j / step % times) * weight);
        weight *= times;
        s = next;
        if (s < end && *s++ != ':')
            return false;
    }
    return weight == count;
}

/* Applies the indexes of a level to the objects below `first`. */
static xy_status_t number(const parser_t *p, machine_builder_t *b, uint32_t first,
                          const level_t *level)
{
    uint32_t count = machine_builder_scope_count(b, first, level->type);
    uint32_t *numbers = xy_malloc(count * sizeof(*numbers));
    bool good;

    if (numbers == NULL)
        return xy_fail_memory("numbering a synthetic machine");
    if (memchr(level->indexes, '*', level->indexes_length) != NULL)
        good = read_loops(level->indexes, level->indexes_length, numbers, count);
    else
        good = read_list(level->indexes, level->indexes_length, numbers, count);
    if (good)
        machine_builder_number(b, first, level->type, numbers);
    xy_free(numbers);
    if (good)
        return XY_OK;
    return xy_fail(XY_EPARSE,
                   "synthetic machine '%.100s': indexes of %s are not %u numbers 'a,b,...' or "
                   "loops 'step*count:...' that make as many",
                   p->text, xy_obj_type_name(level->type), count);
}

/* Numbers start again in every node, so they are given where the scope is complete: at the end of
 * one node, before it is repeated, or at the end of the machine. */
static xy_status_t number_scope(const parser_t *p, machine_builder_t *b, uint32_t first, int from,
                                int to)
{
    xy_status_t st = XY_OK;

    for (int i = from; st == XY_OK && i < to; i++)
        if (p->levels[i].indexes != NULL && machine_type_is_numbered(p->levels[i].type))
            st = number(p, b, first, &p->levels[i]);
    return st;
}

/* Joins the nodes of a level, which are complete, in the torus or mesh of their parent. */
static xy_status_t build_grid(machine_builder_t *b, const level_t *level)
{
    uint32_t *cells = xy_malloc(level->arity * sizeof(*cells));
    xy_grid_t grid = level->grid;
    xy_status_t st;

    if (cells == NULL)
        return xy_fail_memory("making a synthetic machine");
    for (uint32_t i = 0; i < level->arity; i++)
        cells[i] = i;
    grid.link = level->link;
    st = machine_builder_grid(b, b->open[b->depth - 1], &grid, cells, level->arity);
    xy_free(cells);
    return st;
}

/* Adds level `i` and those below it to the builder, recursively. */
static xy_status_t build_level(const parser_t *p, machine_builder_t *b, int i)
{
    const level_t *level = &p->levels[i];
    machine_draft_t d = {.type = level->type, .bytes = level->bytes, .physical = XY_OBJ_NONE};
    uint32_t first = 0;
    xy_status_t st = XY_OK;

    if (i == p->count)
        return XY_OK;
    if (level->grid.dimensions == 0)
        st = machine_builder_link(b, (xy_bundle_t){level->link, level->parallel}, &d.link);
    if (st == XY_OK)
        st = machine_builder_open(b, &d, &first);
    if (st != XY_OK)
        return st;
    st = build_level(p, b, i + 1);
    machine_builder_close(b);
    if (st == XY_OK && level->type == XY_OBJ_NODE)
        st = number_scope(p, b, first, i + 1, p->count);
    if (st == XY_OK)
        st = machine_builder_repeat(b, first, level->arity - 1);
    return st == XY_OK && level->grid.dimensions > 0 ? build_grid(b, level) : st;
}

static int node_level(const parser_t *p)
{
    int i = 0;

    while (i < p->count && p->levels[i].type != XY_OBJ_NODE)
        i++;
    return i < p->count ? i + 1 : p->count;
}

xy_status_t xy_machine_synthetic(const char *text, xy_machine_t **machine_p)
{
    parser_t p = {.text = text};
    machine_builder_t b;
    xy_status_t st = parse(&p);

    if (st != XY_OK)
        return st;
    st = machine_builder_init(&b, "synthetic", text);
    if (st == XY_OK)
        st = build_level(&p, &b, 0);
    if (st == XY_OK)
        st = number_scope(&p, &b, 0, 0, node_level(&p));
    if (st == XY_OK)
        st = machine_builder_finish(&b, machine_p);
    machine_builder_cleanup(&b);
    return st;
}
