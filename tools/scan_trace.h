/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that a source does not give, from a recorded run. */
#ifndef XY_TOOLS_SCAN_TRACE_H
#define XY_TOOLS_SCAN_TRACE_H

#include "program/program.h"

/* The unknowns of the description that had one value in all of the run, which was made with these
 * arguments (of char *), as "NAME=VALUE" in fresh memory at the end of `assumed` (of char *). What
 * had several is reported: a description has no room for them. */
xy_status_t scan_from_trace(const char *trace, const xy_vec_t *arguments,
                            const xy_program_t *program, xy_vec_t *assumed);

#endif
