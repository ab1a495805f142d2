/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles: where the time of a run went, by rank and call site. `mpiexec --report` records one.
 *
 *   xy_profile_t *p;
 *   st = xy_profile_read("run.xyp", &p);
 *   for (size_t i = 0; i < p->records.count; i++)
 *       use(&XY_VEC_AT(&p->records, xy_profile_record_t, i));
 *   xy_profile_destroy(p);
 *
 * A rank computes, then makes a call; a record holds all calls of a rank at one site with one size
 * of communicator and one class of message sizes, and the computation before them. The time of a
 * call is the sum of its parts, so that the records of a rank add up to its time. Times are in
 * nanoseconds.
 *
 * Invariants: ranks and sites of records, blames and pairs exist.
 */
#ifndef XY_REPORT_PROFILE_H
#define XY_REPORT_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/base.h"

/* The parts of a rank's time in a call. The first ones are waits. */
typedef enum {
    XY_PART_LATE_SENDER,   /* a receive waits for its send */
    XY_PART_LATE_RECEIVER, /* a send waits for its receive */
    XY_PART_COLLECTIVE,    /* a collective waits for the last member, or the root */
    XY_PART_LOCK,          /* for a lock of a window */
    XY_PART_CORE,          /* it could continue, and its core was in use by another rank */
    XY_PART_WAITS,
    XY_PART_TRANSFER = XY_PART_WAITS, /* all are there, and data is on its way */
    XY_PART_LIBRARY,                  /* everything else: work of the library */
    XY_PARTS
} xy_part_t;

extern const char *const xy_part_names[XY_PARTS];

enum {
    XY_PROFILE_NOBODY = -1, /* as a rank to blame: not known */
    XY_PROFILE_BLAMES = 3,  /* kept for each record: those that were blamed most */
    XY_PROFILE_RANKS_MAX = 1 << 22,
    XY_PROFILE_CLASSES = 65, /* of sizes: 0, then [2^(k-1), 2^k) for k = 1 to 64 */
};

typedef struct {
    int32_t rank;  /* or XY_PROFILE_NOBODY */
    uint32_t site; /* where it was, when it came at last */
    uint64_t ns;
} xy_blame_t;

typedef struct {
    uint32_t rank, site;
    uint32_t members;    /* of the communicator; 0: the call has none */
    uint32_t size_class; /* of what one call sends or receives */
    uint64_t calls, bytes;
    uint64_t compute; /* before these calls */
    uint64_t part[XY_PARTS];
    xy_blame_t blame[XY_PROFILE_BLAMES]; /* ns 0: unused; most first */
} xy_profile_record_t;

typedef struct {
    const char *function; /* "MPI_Recv" */
    const char *place;    /* "ring.c:25", "solve+0x1c" or "" */
} xy_profile_site_t;

typedef struct {
    uint32_t core; /* ranks with the same number share a core */
    uint64_t ns;   /* counted, from MPI_Init to the end of MPI_Finalize */
} xy_profile_rank_t;

typedef struct {
    uint32_t from, to;
    uint64_t bytes, messages;
} xy_profile_pair_t;

/* Other processes of the job name this place of a rank by its address. */
typedef struct {
    uint32_t rank, site;
    uint64_t address;
} xy_profile_place_t;

/* The function of a site that is xy_profile_address() of a rank of another process. */
#define XY_PROFILE_ELSEWHERE "@"

typedef struct {
    const char *program;
    bool is_virtual;
    bool has_roots;             /* blames are root causes, from a trace; not in files */
    struct xy_insight *insight; /* likewise: what only a trace tells (insight.h); or NULL */
    xy_vec_t ranks;             /* of xy_profile_rank_t */
    xy_vec_t sites;             /* of xy_profile_site_t; [0] is "no site" */
    xy_vec_t records;           /* of xy_profile_record_t */
    xy_vec_t pairs;             /* of xy_profile_pair_t */
    xy_vec_t places;            /* of xy_profile_place_t: of one process of several */
    xy_hash_t index;            /* of sites, by their text: "FUNCTION PLACE" */
    xy_arena_t *arena;
} xy_profile_t;

/* An empty one with so many ranks. On success the caller owns *profile_p. */
xy_status_t xy_profile_create(const char *program, uint32_t ranks, xy_profile_t **profile_p);
void xy_profile_destroy(xy_profile_t *p); /* NULL is fine */

/* The number of a site, made on first use. False: memory ran out, in silence. */
bool xy_profile_site(xy_profile_t *p, const char *function, const char *place, uint32_t *site_p);
/* Add to what the record of this rank and site blames. `blame` stays sorted; what does not fit is
 * dropped from the least. */
void xy_profile_blame(xy_blame_t blame[XY_PROFILE_BLAMES], int32_t rank, uint32_t site,
                      uint64_t ns);

/* The class of a size in bytes, and the smallest size of a class. */
static inline uint32_t xy_profile_class(uint64_t bytes)
{
    return bytes == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(bytes);
}
uint64_t xy_profile_class_least(uint32_t size_class);

uint64_t xy_profile_wait(const xy_profile_record_t *r);
uint64_t xy_profile_time(const xy_profile_record_t *r); /* all parts */

/* The place of a rank as text. */
void xy_profile_address(int32_t rank, uint64_t address, char *text, size_t size);
/* The profiles of all processes of a job, 1 or more, become one. The caller owns *profile_p. */
xy_status_t xy_profile_join(xy_profile_t *const *parts, size_t count, xy_profile_t **profile_p);
/* When all processes are merged: a wait in a collective whose last member was not known is blamed
 * on the rank that computed longest before it; what even the shortest wait took is transfer. */
xy_status_t xy_profile_settle(xy_profile_t *p);

/* The file (docs/report.md has the format). Write errors stay in the FILE. */
void xy_profile_write(const xy_profile_t *p, FILE *file);
/* EPARSE, with file and line: not a profile. EUNSUPPORTED: of a later version. */
xy_status_t xy_profile_read(const char *path, xy_profile_t **profile_p);
/* The same from memory; `text` is changed. `path` is named in messages. */
xy_status_t xy_profile_parse(char *text, const char *path, xy_profile_t **profile_p);

#endif
