/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings as bytes: a process of a job of several sends them to mpiexec, which prints and writes
 * those of all.
 */
#ifndef XY_MPI_CHECK_CARRY_H
#define XY_MPI_CHECK_CARRY_H

#include "mpi/check/findings.h"

/* The header of a process: how many ranks there may be, and whether an error that it has found has
 * ended the job. Findings follow. */
void check_carry_begin(xy_text_t *text, size_t bits, bool is_ended);
void check_carry_add(xy_text_t *text, const check_finding_t *finding);

/* Calls `take` for each; it takes all that the finding has. False: the bytes are something else, or
 * memory ran out; some may have been taken. */
typedef void (*check_carry_fn)(check_finding_t *finding);
bool check_carry_read(const char *bytes, size_t size, bool *is_ended_p, check_carry_fn take);
void check_finding_cleanup(check_finding_t *finding);

#endif
