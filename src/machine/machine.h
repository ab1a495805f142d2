/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine as one tree.
 *
 * From the whole machine down to the processing units: sites, clusters, switches, nodes, packages,
 * NUMA nodes, caches, cores, PUs. Nothing has to be symmetric. An object without children is a
 * leaf; work runs on leaves. A GPU belongs to an object of the tree, beside its children.
 *
 *   xy_machine_t *m;
 *   st = xy_machine_load("node:64 package:2 core:8", &m);     (NULL: the live machine)
 *   for (uint32_t i = 0; i < m->leaves; i++)
 *       if (xy_machine_is_usable(m, m->leaf[i])) ...
 *   hops = xy_machine_hops(m, m->leaf[0], m->leaf[17]);
 *   xy_machine_destroy(m);
 *
 * Objects are indices into parallel arrays, in level order: the root is 0, a parent comes before
 * its children, siblings are contiguous. About 60 bytes per object, so that a cluster of a million
 * PUs fits in a cache-friendly 100 MB and a walk up is a chain of array reads.
 *
 * Two numberings. Logical: the position among the objects of the same type, in tree order.
 * Physical: the number of the operating system, which starts from 0 in every node. Caches and
 * groups have none.
 *
 * A machine never changes once made: all functions that take a const machine may be called from
 * any thread, and none of them parks.
 *
 * Clusters from latencies have a chapter of their own, machine/eco.h.
 */
#ifndef XY_MACHINE_MACHINE_H
#define XY_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/base.h"
#include "machine/eco.h"
#include "machine/sysfs.h"

typedef enum {
    XY_OBJ_MACHINE, /* the root, and only it */
    XY_OBJ_SITE,
    XY_OBJ_CLUSTER,
    XY_OBJ_SWITCH, /* may be nested */
    XY_OBJ_NODE,
    XY_OBJ_PACKAGE,
    XY_OBJ_NUMA,
    XY_OBJ_GROUP, /* dies and whatever else shares something */
    XY_OBJ_L3,
    XY_OBJ_L2,
    XY_OBJ_L1,
    XY_OBJ_CORE,
    XY_OBJ_PU,
    XY_OBJ_TYPES /* how many there are */
} xy_obj_type_t;

typedef uint32_t xy_obj_t;

#define XY_OBJ_NONE UINT32_MAX /* no object; also "no physical number" */

/* Why a leaf must not be used. A reason stands on an inner object when it holds for all below. */
enum {
    XY_EXCLUDED_CGROUP = 1,   /* the container or administrator did not allow it */
    XY_EXCLUDED_AFFINITY = 2, /* the process was bound elsewhere */
    XY_EXCLUDED_FILE = 4,     /* excluded by the machine file */
    XY_EXCLUDED = 7,
    XY_OBJ_ROUTED = 8, /* an end of a route */
    XY_OBJ_GRID = 16,  /* its children are joined in a torus or a mesh */
};

/* Limits of what is built: 10^9 declared cores are refused, not tried. */
enum { XY_MACHINE_OBJECTS_MAX = 1 << 24, XY_MACHINE_DEPTH_MAX = 32 };

/* 0 is "not known" for both. */
typedef struct {
    double latency;   /* seconds */
    double bandwidth; /* bytes per second */
} xy_link_t;

/* Parallel links from an object to its parent; a message takes one of them (xy_machine_route). */
typedef struct {
    xy_link_t link; /* each of them */
    uint32_t count; /* 0 and 1: there is one */
} xy_bundle_t;

/* GPUs that reach their host through one shared link. */
typedef struct {
    xy_obj_t host;    /* the object they hang on */
    xy_link_t shared; /* crossed by all of them, both directions; bandwidth 0: nothing is shared */
    xy_link_t peer;   /* between two of them, unless `peers` says otherwise */
    uint32_t first_gpu, gpu_count;
    uint32_t first_peer, peer_count;
} xy_gpu_group_t;

typedef struct {
    uint32_t group;
    uint32_t name;     /* index in names */
    uint32_t physical; /* among the GPUs of its node */
    uint32_t flags;    /* XY_EXCLUDED_* */
    uint64_t memory;   /* bytes; 0 is not known */
    xy_link_t in;      /* host to GPU */
    xy_link_t out;     /* GPU to host */
    xy_link_t kernel;  /* its launch, and bytes per second that it reads and writes */
} xy_gpu_t;

/* A pair of GPUs with a link of its own; a < b, indices within the group. */
typedef struct {
    uint32_t a, b;
    xy_link_t link;
} xy_gpu_peer_t;

/* The measurements between all objects below `a` and all below `b`. Real networks are not trees:
 * between four clusters there are six latencies. */
typedef struct {
    xy_obj_t a, b; /* a < b */
    xy_link_t link;
} xy_route_t;

enum { XY_GRID_DIMENSIONS_MAX = 8 };

/* The children of an object as the cells of a torus or a mesh: each is linked to the next in every
 * dimension. Cells are numbered with the first dimension fastest. */
typedef struct {
    xy_obj_t object;
    bool is_torus; /* the last cell of a dimension is linked to the first */
    uint32_t dimensions;
    uint32_t size[XY_GRID_DIMENSIONS_MAX];
    xy_link_t link;      /* each of its links */
    uint32_t first_cell; /* the cell of each child: cells[first_cell .. + child_count) */
} xy_grid_t;

/* One direction of a link. */
typedef struct {
    enum { XY_WIRE_LINK, XY_WIRE_GRID, XY_WIRE_ROUTE } kind;
    uint32_t owner;     /* the object whose link to its parent it is; the grid; the route */
    uint32_t number;    /* LINK: which of the parallel ones; GRID: cell * dimensions + dimension */
    uint32_t direction; /* 0: up, to the next cell, to the second end; 1: the other way */
    xy_link_t link;
} xy_wire_t;

typedef void (*xy_wire_fn)(void *context, const xy_wire_t *wire);

/* Read-only outside this component. */
typedef struct {
    char *name;   /* never NULL */
    char *source; /* where it was read, for people; never NULL */

    /* The tree, `count` entries each. */
    uint32_t count;
    uint32_t depth; /* levels; the root alone is 1 */
    uint32_t *parent;
    uint32_t *first_child;
    uint32_t *child_count;
    uint32_t *first_leaf; /* the leaves below are leaf[first_leaf .. + leaf_count) */
    uint32_t *leaf_count;
    uint32_t *logical;
    uint32_t *physical;
    uint32_t *name_of; /* index in names; 0: none */
    uint32_t *link_of; /* index in links: towards the parent */
    uint64_t *bytes;   /* size of a cache, memory of everything else; 0: not known */
    uint8_t *type;     /* xy_obj_type_t */
    uint8_t *level;    /* 0 for the root */
    uint8_t *flags;

    uint32_t leaves;
    xy_obj_t *leaf;          /* in tree order */
    uint32_t *usable_before; /* leaves + 1 entries: usable leaves before this one */

    xy_obj_t *typed; /* objects by type, then by logical number */
    uint32_t typed_first[XY_OBJ_TYPES + 1];

    char **names; /* names[0] is "" */
    uint32_t name_count;
    xy_bundle_t *links; /* links[0] is not known */
    uint32_t link_count;

    xy_gpu_group_t *gpu_groups;
    uint32_t gpu_group_count;
    xy_gpu_t *gpus;
    uint32_t gpu_count;
    xy_gpu_peer_t *gpu_peers;
    uint32_t gpu_peer_count;

    xy_route_t *routes;
    uint32_t route_count;
    xy_hash_t route_index; /* a << 32 | b to xy_route_t */

    xy_grid_t *grids; /* by object */
    uint32_t grid_count;
    uint32_t *cells;
    uint32_t cell_count;
} xy_machine_t;

/* ---- Making one. On success the caller owns *machine_p; on failure it is untouched and the cause
 * was reported. ---- */

/* Load a machine from `source`: NULL or "live"; the name of a machine that ships with Xylem
 * ("knl64"); a file (Xylem's or hwloc's XML, "-" for standard input); a synthetic string. */
xy_status_t xy_machine_load(const char *source, xy_machine_t **machine_p);

/* The machine this process runs on, with what its cgroup and its affinity mask leave of it. */
xy_status_t xy_machine_live(xy_machine_t **machine_p);

/* "numa:2 core:24 pu:2", hwloc's syntax with site, cluster, switch and node above, nodes in a grid
 * as "torus:4x4x2 core:8", or arities "64x2x8". EPARSE and ELIMIT name the level. */
xy_status_t xy_machine_synthetic(const char *text, xy_machine_t **machine_p);

/* A machine file, Xylem's or hwloc's, or a file of costs of several hosts (cost/store.h), which has
 * one inside; from a path or from memory (`path` for messages). */
xy_status_t xy_machine_read(const char *path, xy_machine_t **machine_p);
xy_status_t xy_machine_parse(const char *data, size_t size, const char *path,
                             xy_machine_t **machine_p);

/* The element <machine> of a larger document. */
xy_status_t xy_machine_parse_element(const xy_xml_t *doc, const xy_xml_node_t *element,
                                     xy_machine_t **machine_p);

/* The part of `m` below `object`, under a new root. Physical numbers are kept. */
xy_status_t xy_machine_subtree(const xy_machine_t *m, xy_obj_t object, xy_machine_t **machine_p);

/* The part of `m` that holds the leaves of the set (bit i: m->leaf[i]). EINVAL: the set is empty.
 */
xy_status_t xy_machine_restrict(const xy_machine_t *m, const xy_bitset_t *leaves,
                                xy_machine_t **machine_p);

/* The part of `m` that may be used. EINVAL: nothing may. */
xy_status_t xy_machine_restrict_usable(const xy_machine_t *m, xy_machine_t **machine_p);

void xy_machine_destroy(xy_machine_t *m); /* NULL is fine */

/* Multiply the latencies and bandwidths of all links, grids and routes; both > 0. */
void xy_machine_scale(xy_machine_t *m, double latency, double bandwidth);

/* A GPU as its driver describes it; 0 and links that are not known leave what the machine says. */
typedef struct {
    const char *name;
    uint64_t memory;
    int numa; /* physical number of the NUMA node that it is near; -1: not known */
    xy_link_t in, out, shared, kernel;
} xy_gpu_found_t;

/* The GPUs found by drivers on this node, which is the only one, by physical number. Where they
 * know more GPUs than the machine has, theirs are the GPUs; otherwise those of the machine are
 * described better. For the one who has just made the machine. XY_ENOMEM: some may be described,
 * others not.
 */
xy_status_t xy_machine_set_gpus(xy_machine_t *m, const xy_gpu_found_t *found, uint32_t count);

/* The names of the machines that ship with Xylem, sorted, in fresh memory: the caller frees each
 * and the vector (of char *). XY_OK with an empty vector when none is found. */
xy_status_t xy_machine_names(xy_vec_t *names);

/* ---- Asking ---- */

/* "package"; "L3" for people is xy_obj_type_title. */
const char *xy_obj_type_name(xy_obj_type_t type);
const char *xy_obj_type_title(xy_obj_type_t type);
/* hwloc's spellings too ("socket", "NUMANode", "L2Cache"), in any case. false: no such type. */
bool xy_obj_type_parse(const char *name, size_t length, xy_obj_type_t *type_p);
bool xy_obj_type_is_cache(xy_obj_type_t type);

/* How many objects of a type, and the one with a logical number (XY_OBJ_NONE: none). */
uint32_t xy_machine_count(const xy_machine_t *m, xy_obj_type_t type);
xy_obj_t xy_machine_object(const xy_machine_t *m, xy_obj_type_t type, uint32_t logical);
/* The nearest object of a type at or above `object`, or XY_OBJ_NONE. */
xy_obj_t xy_machine_above(const xy_machine_t *m, xy_obj_t object, xy_obj_type_t type);
/* Memory of the whole subtree, counting every memory once; 0 when none is known. */
uint64_t xy_machine_memory(const xy_machine_t *m, xy_obj_t object);

const char *xy_machine_object_name(const xy_machine_t *m, xy_obj_t object); /* "": none */
xy_link_t xy_machine_link(const xy_machine_t *m, xy_obj_t object);          /* towards the parent */
uint32_t xy_machine_parallel(const xy_machine_t *m, xy_obj_t object); /* how many; at least 1 */
bool xy_machine_is_usable(const xy_machine_t *m, xy_obj_t object);  /* some leaf below is usable */
uint32_t xy_machine_usable(const xy_machine_t *m, xy_obj_t object); /* usable leaves below */

/* ---- Distances between any two objects, O(depth) and the links in grids ---- */

xy_obj_t xy_machine_common_ancestor(const xy_machine_t *m, xy_obj_t a, xy_obj_t b);
/* Levels up and down; between cells of a grid, its links in place of the last two of them. */
uint32_t xy_machine_hops(const xy_machine_t *m, xy_obj_t a, xy_obj_t b);
/* Latencies add up and the narrowest bandwidth counts, over the links of the path; or the route
 * that joins the topmost routed objects on both sides. Links that are not known count nothing. */
xy_link_t xy_machine_path(const xy_machine_t *m, xy_obj_t a, xy_obj_t b);
/* Calls `fn` for each link from `a` to `b`, in order. The way is static. Of n parallel links, up or
 * down, it takes that of the destination's node, by its physical number modulo n; in a tree of
 * switches this is the D-mod-k routing of fat trees. In a grid it goes dimension by dimension, the
 * shorter way round (half way round: to the next cell). A <route> with a bandwidth replaces the
 * links above its ends. */
void xy_machine_route(const xy_machine_t *m, xy_obj_t a, xy_obj_t b, xy_wire_fn fn, void *context);

/* The grid of an object; NULL: it has none. */
const xy_grid_t *xy_machine_grid(const xy_machine_t *m, xy_obj_t object);
uint32_t xy_grid_cells(const xy_grid_t *g);
/* Calls `fn` for each link from a cell to another, in order, with `owner` for the grid's number. */
void xy_grid_route(const xy_grid_t *g, uint32_t owner, uint32_t from, uint32_t to, xy_wire_fn fn,
                   void *context);
uint32_t xy_grid_distance(const xy_grid_t *g, uint32_t a, uint32_t b);
/* The same with weights of the links along each dimension. */
double xy_grid_weighted(const xy_grid_t *g, const double *step, uint32_t a, uint32_t b);
/* The link between two GPUs of one group (a != b). */
xy_link_t xy_machine_gpu_peer(const xy_machine_t *m, uint32_t a, uint32_t b);

/* ---- Showing. Write errors stay in the FILE's error flag. ENOMEM is reported. ---- */

enum { XY_MACHINE_COLOR = 1, XY_MACHINE_UTF8 = 2 };

/* One line: "haswell32: 1 node, 2 packages, ...". */
void xy_machine_print_summary(const xy_machine_t *m, FILE *file);
/* The summary, then the tree with identical siblings folded. */
xy_status_t xy_machine_print_tree(const xy_machine_t *m, int style, FILE *file);
/* The links of xy_machine_route(), one per line, after their number, latency and bandwidth. */
void xy_machine_print_route(const xy_machine_t *m, xy_obj_t a, xy_obj_t b, FILE *file);
/* The network, where it has parallel links or a grid, above nested boxes; identical siblings folded
 * when there are many. */
xy_status_t xy_machine_print_svg(const xy_machine_t *m, FILE *file);
/* Xylem's machine file; reading it back gives an equal machine. */
xy_status_t xy_machine_print_xml(const xy_machine_t *m, FILE *file);
/* The same as an element of a larger document. */
xy_status_t xy_machine_print_element(const xy_machine_t *m, FILE *file);
/* All objects, GPUs, grids and routes as flat arrays. */
void xy_machine_print_json(const xy_machine_t *m, FILE *file);

#endif
