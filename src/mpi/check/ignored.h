/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors that calls returned and the program did not examine (result_use.h). Free until there is an
 * error.
 */
#ifndef XY_MPI_CHECK_IGNORED_H
#define XY_MPI_CHECK_IGNORED_H

/* Before ranks run. */
void check_ignored_begin(void);
/* At the end of the job: report each place. */
void check_ignored_finish(void);

#endif
