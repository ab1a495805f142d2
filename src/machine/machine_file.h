/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the two files of the reader of machine files. */
#ifndef XY_MACHINE_MACHINE_FILE_H
#define XY_MACHINE_MACHINE_FILE_H

#include "machine/machine_internal.h"

/* The element with an id. */
typedef struct {
    const xy_xml_node_t *node;
    uint64_t objects; /* one of it, without its own count; 0: not counted yet */
    bool is_open;     /* being counted: meeting it again is a cycle */
    uint64_t instances;
    uint32_t draft; /* the first instance */
} machine_target_t;

typedef struct {
    const xy_xml_t *doc;
    const char *path;
    machine_builder_t builder;
    xy_vec_t targets; /* machine_target_t, in the order of the file */
    xy_hash_t index;  /* id to position in targets + 1 */
    uint64_t times;   /* how often what is being built will be repeated */
} machine_reader_t;

/* For elements without attributes or children. */
extern const char *const machine_file_nothing[];

/* Say "FILE:LINE: what 'value'". */
xy_status_t machine_file_fail(const machine_reader_t *r, const xy_xml_node_t *n, const char *what,
                              const char *value);
bool machine_file_is(const xy_xml_node_t *n, const char *name);

/* The element whose id the attribute holds; NULL: there is none, which was reported. */
machine_target_t *machine_file_target(const machine_reader_t *r, const xy_xml_node_t *n,
                                      const char *attr);

/* Attributes; the output is untouched when they are absent. */
xy_status_t machine_file_link(const machine_reader_t *r, const xy_xml_node_t *n,
                              const char *latency, const char *bandwidth, xy_link_t *link);
/* The parallel links of an object of this type. */
xy_status_t machine_file_parallel(const machine_reader_t *r, const xy_xml_node_t *n, uint8_t type,
                                  uint32_t *count_p);
xy_status_t machine_file_excluded(const machine_reader_t *r, const xy_xml_node_t *n,
                                  uint8_t *flags_p);
xy_status_t machine_file_name(machine_reader_t *r, const xy_xml_node_t *n, uint32_t *id_p);
xy_status_t machine_file_physical(const machine_reader_t *r, const xy_xml_node_t *n,
                                  uint32_t *physical_p);

/* Elements: a numbering of the scope that starts at draft `first`, a grid of its children, GPUs of
 * the open object, all routes of the root. */
xy_status_t machine_file_numbering(machine_reader_t *r, const xy_xml_node_t *n, uint32_t first);
xy_status_t machine_file_grid(machine_reader_t *r, const xy_xml_node_t *n, uint32_t first);
xy_status_t machine_file_gpus(machine_reader_t *r, const xy_xml_node_t *n);
xy_status_t machine_file_routes(machine_reader_t *r, const xy_xml_node_t *root);

#endif
