/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreements of live ranks, in mpiexec: each member sends a value; when no live member is missing,
 * all get the same answer.
 *
 *   consensus_t c = {.ranks = 8, .decide = send_answer};
 *   consensus_ask(&c, &ask, members);         (a value of a member)
 *   consensus_fail(&c, 3);                    (rank 3 has failed: nobody waits for it any more;
 *   consensus_settle(&c);                      answers, when all have been told)
 *
 * Failures and answers have one order, in which they reach each process: a process that gets an
 * answer knows all failures that the answer counts.
 */
#ifndef XY_LAUNCH_CONSENSUS_H
#define XY_LAUNCH_CONSENSUS_H

#include "mpi/p2p/p2p.h"

typedef struct consensus_one consensus_one_t;

typedef struct {
    int ranks;
    void (*decide)(const mpi_agree_answer_t *answer, void *arg);
    void *arg;
    /* Its own: */
    bool *is_failed; /* [ranks] */
    int failures;
    consensus_one_t *all; /* that are not decided */
} consensus_t;

/* A message of a member; malformed ones are ignored. XY_ENOMEM is reported. */
xy_status_t consensus_ask(consensus_t *c, const void *bytes, size_t size);
/* False: it was known. */
bool consensus_fail(consensus_t *c, int rank);
/* After failures that all have been told: answer what nobody is missing in. */
void consensus_settle(consensus_t *c);

#endif
