/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of the component: the builder, through which every source makes its machine,
 * and small helpers.
 *
 *   machine_builder_t b;
 *   st = machine_builder_init(&b, "name", "source");          (opens the root)
 *   st = machine_builder_open(&b, &draft, &index);
 *   machine_builder_close(&b);
 *   st = machine_builder_repeat(&b, index, 99);               (99 more of what `index` holds)
 *   st = machine_builder_finish(&b, &m);
 *   machine_builder_cleanup(&b);                              (always)
 *
 * Drafts are in tree order (depth first), which repeating a subtree only appends to; the machine
 * is in level order, a stable sort by depth away.
 */
#ifndef XY_MACHINE_MACHINE_INTERNAL_H
#define XY_MACHINE_MACHINE_INTERNAL_H

#include "machine/machine.h"

typedef struct {
    uint64_t bytes;
    uint32_t parent; /* set by the builder */
    uint32_t name;
    uint32_t link;
    uint32_t physical; /* XY_OBJ_NONE: by its place */
    uint8_t type;
    uint8_t level; /* set by the builder */
    uint8_t flags;
} machine_draft_t;

typedef struct {
    char *name, *source;
    xy_vec_t drafts; /* machine_draft_t */
    xy_vec_t links;  /* xy_bundle_t */
    xy_vec_t names;  /* char * */
    xy_hash_t name_index;
    xy_vec_t groups; /* xy_gpu_group_t; host is a draft */
    xy_vec_t gpus;   /* xy_gpu_t */
    xy_vec_t peers;  /* xy_gpu_peer_t */
    xy_vec_t routes; /* xy_route_t; the ends are drafts */
    xy_vec_t grids;  /* xy_grid_t; the object is a draft */
    xy_vec_t cells;  /* uint32_t */
    uint32_t open[XY_MACHINE_DEPTH_MAX];
    uint32_t depth;
} machine_builder_t;

/* All of these say ENOMEM themselves. */
xy_status_t machine_builder_init(machine_builder_t *b, const char *name, const char *source);
void machine_builder_cleanup(machine_builder_t *b);
/* The depth and the number of objects must be within the limits: sources check, because they can
 * name the line. */
xy_status_t machine_builder_open(machine_builder_t *b, const machine_draft_t *draft,
                                 uint32_t *index_p);
void machine_builder_close(machine_builder_t *b);
xy_status_t machine_builder_repeat(machine_builder_t *b, uint32_t first, uint32_t times);
xy_status_t machine_builder_name(machine_builder_t *b, const char *name, uint32_t *id_p);
xy_status_t machine_builder_link(machine_builder_t *b, xy_bundle_t links, uint32_t *id_p);
/* A group of GPUs on the innermost open object; GPUs and peers that follow belong to it. */
xy_status_t machine_builder_gpu_group(machine_builder_t *b, const xy_gpu_group_t *group);
xy_status_t machine_builder_gpu(machine_builder_t *b, const xy_gpu_t *gpu);
xy_status_t machine_builder_peer(machine_builder_t *b, const xy_gpu_peer_t *peer);
xy_status_t machine_builder_route(machine_builder_t *b, const xy_route_t *route);
/* A grid of the children of draft `object`, which are complete: so many cells follow those that the
 * builder has. */
xy_status_t machine_builder_grid(machine_builder_t *b, uint32_t object, const xy_grid_t *grid,
                                 const uint32_t *cells, uint32_t count);
/* How many objects of `type` the scope that starts at draft `first` holds (and is still last):
 * those not inside a node of their own. */
uint32_t machine_builder_scope_count(const machine_builder_t *b, uint32_t first, uint8_t type);
/* Give them these physical numbers, in tree order. */
void machine_builder_number(machine_builder_t *b, uint32_t first, uint8_t type,
                            const uint32_t *numbers);
xy_status_t machine_builder_finish(machine_builder_t *b, xy_machine_t **machine_p);

/* XY_MACHINE_OBJECTS_MAX; fuzzers lower it, to look for errors and not for memory. */
extern uint32_t machine_objects_limit;

/* May a `child` stand directly below a `parent`? */
bool machine_type_fits(uint8_t parent, uint8_t child);
/* Has it a physical number? Caches and groups have none. */
bool machine_type_is_numbered(uint8_t type);
/* Is it part of a network, so that it may have parallel links and be a cell of a grid? */
bool machine_type_is_network(uint8_t type);

/* The next object of the subtree of `top` in tree order, or XY_OBJ_NONE. */
xy_obj_t machine_next(const xy_machine_t *m, xy_obj_t top, xy_obj_t object);

/* Physical numbers by place: walk objects in tree order through this. */
typedef struct {
    uint32_t outside[XY_OBJ_TYPES], inside[XY_OBJ_TYPES];
    uint32_t node_level; /* of the node we are in; 0: in none */
} machine_numbering_t;
uint32_t machine_numbering_next(machine_numbering_t *numbering, uint8_t type, uint32_t level);

/* Classes of identical subtrees: two objects have the same class when what is below and on them is
 * the same. With `exact` physical numbers count: they are compared within nodes (a node
 * and its objects fold whatever its own number). m->count entries the caller frees. */
xy_status_t machine_fold(const xy_machine_t *m, bool exact, uint32_t **class_p);
/* How many siblings from `object` to the last child of its parent have its class. */
uint32_t machine_fold_run(const xy_machine_t *m, const uint32_t *classes, xy_obj_t object);
/* The groups of GPUs on an object: [*first_p, *first_p + the result); groups are sorted by host. */
uint32_t machine_gpu_groups_of(const xy_machine_t *m, xy_obj_t object, uint32_t *first_p);

/* The physical numbers GPUs have by their place among those of their node; the caller frees. Silent
 * ENOMEM. */
xy_status_t machine_gpu_numbers(const xy_machine_t *m, uint32_t **numbers_p);

/* "4x4x2" at the start of `s`: sizes above 0, with at most XY_MACHINE_OBJECTS_MAX cells. Returns
 * the letters read; 0: it is none. */
size_t machine_grid_parse(const char *s, xy_grid_t *grid);
const char *machine_grid_format(const xy_grid_t *grid, char buffer[96]);

/* Units. Parsing is strict: finite, not negative; a bandwidth is above 0. */
bool machine_parse_latency(const char *s, double *seconds_p);
bool machine_parse_bandwidth(const char *s, double *bytes_per_second_p);
/* "9.5us" when that reads back as the same number, the plain number otherwise. */
char *machine_format_latency(double seconds, char buffer[48]);
char *machine_format_bandwidth(double bytes_per_second, char buffer[48]);
char *machine_format_bytes(uint64_t bytes, char buffer[48]);

/* Sources. */
xy_status_t machine_hwloc_parse(const char *data, size_t size, const char *path,
                                xy_machine_t **machine_p);
/* `root` is "/sys" but for tests; `check_affinity` looks at the calling thread's mask. */
xy_status_t machine_sysfs_live(const char *root, bool check_affinity, xy_machine_t **machine_p);
xy_status_t machine_file_parse(const xy_xml_t *doc, const xy_xml_node_t *root,
                               xy_machine_t **machine_p);

#endif
