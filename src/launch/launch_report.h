/* SPDX-License-Identifier: BSD-3-Clause */
/* --report: a profile of the run, printed and written when it ends. */
#ifndef XY_LAUNCH_LAUNCH_REPORT_H
#define XY_LAUNCH_LAUNCH_REPORT_H

#include "launch/options.h"
#include "mpi/runtime/runtime.h"

/* Before ranks run, and before the directory changes. */
xy_status_t mpi_report_prepare(const mpi_launch_values_t *values);
/* All ranks of this process have ended well: write and print it, or as a node send it to the head.
 */
xy_status_t mpi_report_finish(const mpi_launch_values_t *values, mpi_job_t *job,
                              const char *program, bool is_node);
/* In the head: what a process has sent, one of `count`; and all have ended well. */
void mpi_report_take(int process, int count, const void *bytes, size_t size);
xy_status_t mpi_report_end(bool is_quiet);

#endif
