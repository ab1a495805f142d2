/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choices of MPI libraries: the rules by which each chooses among its algorithms.
 *
 *   xy_coll_request_t q = {.collective = XY_COLL_BCAST, .procs = 16, .count = 4096, .element = 8};
 *   xy_coll_library_choose(xy_coll_library_find("openmpi"), &q, &link, &choice);
 *   xy_coll_build(&q, &link, choice.algorithm, &graph);      (or xy_coll_walk)
 *
 * The rules of other libraries are tables in src/coll/rules/, one rule to a line; of the lines for
 * a collective exactly one holds for any call. Two surprises: an algorithm may turn into another
 * one that the rule does not name (choice.is_fallback), and some are compositions of collectives,
 * each of which is chosen by the rules again.
 *
 * Xylem's own rule: inside one node the direct algorithm, else the cheapest scheduled one.
 *
 * Constant data; any thread.
 */
#ifndef XY_COLL_LIBRARY_H
#define XY_COLL_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

typedef struct xy_coll_library xy_coll_library_t;
typedef struct xy_coll_request xy_coll_request_t;
typedef struct xy_coll_link xy_coll_link_t;
typedef struct xy_coll_algorithm xy_coll_algorithm_t;

/* A line of a table. */
typedef struct {
    int line;            /* in the table, the heading being line 1 */
    int collective;      /* XY_COLL_... */
    bool is_nonblocking; /* else blocking */
    int ranks;           /* whether it is for ranks that share nodes */
    int procs_min;
    int procs_max; /* inclusive */
    int measure;   /* the unit of the bytes */
    uint64_t bytes_min;
    uint64_t bytes_max;    /* inclusive */
    uint32_t conditions;   /* all of them hold */
    uint64_t segment;      /* bytes; 0: the messages are not cut */
    const char *algorithm; /* the table's word for it */
    const char *native;    /* the library's own */
    const char *when;      /* the conditions, in words */
    const char *measured;  /* likewise, the measure: "vector" */
    const char *inside;    /* the variants that the algorithm may use inside */
} xy_coll_rule_t;

struct xy_coll_library {
    const char *name;            /* a word: "openmpi" */
    const char *describe;        /* "Open MPI 4.1" */
    const char *table;           /* the file that has its rules; NULL: none */
    const xy_coll_rule_t *rules; /* the last has no algorithm */
};

/* The order of a rank's messages in a blocking collective: all started and then waited for; or one
 * call after the other, each of which sends or receives; or rounds in which it sends and receives
 * one message each. */
typedef enum { XY_COLL_AT_ONCE, XY_COLL_IN_ORDER, XY_COLL_IN_ROUNDS } xy_coll_order_t;

typedef struct {
    const xy_coll_algorithm_t *algorithm;
    const xy_coll_rule_t
        *rule;        /* NULL: no rule decides; one rank, no data, or Xylem's own choice */
    bool is_fallback; /* the algorithm of the rule turned into this one */
} xy_coll_choice_t;

/* "xylem", "openmpi", "mpich"; NULL where there is none of this name, in silence. */
const xy_coll_library_t *xy_coll_library_find(const char *name);
/* How the library does such an algorithm; Xylem's own are at once. */
xy_coll_order_t xy_coll_library_order(const xy_coll_library_t *library,
                                      const xy_coll_algorithm_t *algorithm);
/* All, NULL-terminated, Xylem first. */
const xy_coll_library_t *const *xy_coll_libraries(void);

/* The choice of the library for this call. The request, which must be valid, gets the library and
 * the segment, which builders need. It may give the nodes of ranks, whether the call is blocking
 * and whether the operation is the program's own. XY_EINVAL, XY_ENOMEM: as xy_coll_choose
 * (reported).
 */
xy_status_t xy_coll_library_choose(const xy_coll_library_t *library, xy_coll_request_t *q,
                                   const xy_coll_link_t *link, xy_coll_choice_t *choice_p);

/* The rules that hold for this call: exactly one, unless there is no data or one rank only. At most
 * `most` are written down; how many there are. */
int xy_coll_library_rules(const xy_coll_library_t *library, const xy_coll_request_t *q,
                          const xy_coll_rule_t **list, int most);

#endif
