/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of libraries as src/coll/rules/generate.py writes them down. */
#ifndef XY_COLL_RULES_H
#define XY_COLL_RULES_H

#include "coll/library.h"

/* The meaning of the bytes of a rule. */
enum {
    COLL_BYTES_NOTHING,      /* they do not matter */
    COLL_BYTES_BLOCK,        /* the vector, or the block of a rank or of a pair of ranks */
    COLL_BYTES_MEAN,         /* a block on average */
    COLL_BYTES_SUM,          /* all blocks together */
    COLL_BYTES_SUM_ELEMENTS, /* likewise, but elements */
};

/* The ranks that a rule is for. */
enum {
    COLL_RANKS_ANY,
    COLL_RANKS_FLAT, /* at most one on each node */
    COLL_RANKS_NODE, /* several on some node */
};

/* The conditions of a rule. */
enum {
    COLL_IF_DATA = 1 << 0,
    COLL_IF_NO_DATA = 1 << 1,
    COLL_IF_COMMUTES = 1 << 2,
    COLL_IF_ORDERED = 1 << 3, /* the operation does not commute */
    COLL_IF_IN_PLACE = 1 << 4,
    COLL_IF_NOT_IN_PLACE = 1 << 5,
    COLL_IF_ORDERED_OR_IN_PLACE = 1 << 6,
    COLL_IF_ENOUGH = 1 << 7, /* elements: one for each rank, rounded down to a power of two */
    COLL_IF_FEW = 1 << 8,
    COLL_IF_POWER = 1 << 9, /* the number of ranks is one of two */
    COLL_IF_NO_POWER = 1 << 10,
    COLL_IF_PREDEFINED = 1 << 11, /* the operation is MPI's */
    COLL_IF_USER = 1 << 12,
    COLL_IF_EQUAL = 1 << 13, /* blocks */
    COLL_IF_UNEQUAL_OR_NO_POWER = 1 << 14,
    COLL_IF_ONE_NODE = 1 << 15,
    COLL_IF_SEVERAL_NODES = 1 << 16,
    COLL_IF_CONSECUTIVE = 1 << 17, /* the ranks of each node */
    COLL_IF_SCATTERED = 1 << 18,
};

/* The last rule has no algorithm. */
extern const xy_coll_rule_t coll_rules_openmpi[], coll_rules_mpich[];

#endif
