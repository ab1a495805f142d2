/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The topics of `xylem explain`. Each is one file explain_NAME.c that ends in a table
 * `explain_NAME`, listed in verb_explain.c.
 */
#ifndef XY_TOOLS_EXPLAIN_H
#define XY_TOOLS_EXPLAIN_H

#include "cost/cost.h"

/* Options of the verb. */
typedef struct {
    const char *costs; /* file of costs; NULL: the user's own */
    bool json;
    const char *machine; /* of place and split; NULL: this one */
    const char *svg;     /* of split: a file for the picture */
    /* coll */
    long ranks;
    uint64_t size, element;
    uint64_t bandwidth, reduce; /* when given */
    double latency;             /* the same */
    const char *algorithm;
    bool ordered;
    const char *library;
    bool nonblocking;
    long ranks_per_node;
    uint64_t segment; /* 0: not given */
    long radix;
} explain_values_t;

typedef struct {
    const char *name;
    const char *synopsis; /* the arguments after the name */
    const char *summary;
    int arguments_min, arguments_max; /* after the name */
    /* One of them: `explain` is given the costs that the options name. */
    xy_status_t (*run)(const explain_values_t *values, int argc, char **argv);
    xy_status_t (*explain)(const xy_costs_t *costs, const explain_values_t *values, int argc,
                           char **argv);
} explain_topic_t;

#endif
