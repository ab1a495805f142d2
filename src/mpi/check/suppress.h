/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of suppressions: findings that are known and not to be reported. One rule per line, a class
 * and a place, with # in front of comments:
 *
 *   never-freed     ring.c:*        (every line of that file)
 *   *               legacy_*.c:*      (every class there)
 *   buffer-overlap  halo.c:112
 */
#ifndef XY_MPI_CHECK_SUPPRESS_H
#define XY_MPI_CHECK_SUPPRESS_H

#include "base/base.h"
#include "mpi/runtime/runtime.h"

typedef struct {
    int kind;          /* mpi_finding_kind_t; -1: every one */
    const char *place; /* a pattern, as the shell has them */
    long line;
    bool is_used;
} check_rule_t;

/* `text` is changed and must live as long as the rules, a vector of check_rule_t. `path` is for
 * messages. The rules are to be cleaned up in all cases. */
xy_status_t check_rules_parse(char *text, const char *path, xy_vec_t *rules);

/* Does a rule name the finding, which has this place ("ring.c:12")? The rule is used then. */
bool check_rules_match(const xy_vec_t *rules, mpi_finding_kind_t kind, const char *place);

#endif
