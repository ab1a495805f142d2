/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors that calls have returned, and that the program does not look at (result_use.h). Nothing is
 * done before there is an error.
 */
#ifndef XY_MPI_CHECK_IGNORED_H
#define XY_MPI_CHECK_IGNORED_H

/* Before ranks run. */
void check_ignored_begin(void);
/* At the end of the job: report each place. */
void check_ignored_finish(void);

#endif
