/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands run and read line by line (private to the room). */
#ifndef XY_COST_PROCESS_H
#define XY_COST_PROCESS_H

#include <sys/types.h>

#include "base/base.h"

typedef xy_status_t (*cost_line_fn)(void *arg, char *line);

/* Run argv[0] from PATH with its standard output read line by line (`line` NULL: not wanted, both
 * streams go to /dev/null). *code_p: its exit code; 128 + signal; 127: it could not be started. A
 * command still there after `seconds` is ended (code 124). A line that is refused ends it too, with
 * that status. */
xy_status_t cost_command_run(char *const argv[], double seconds, cost_line_fn line, void *arg,
                             int *code_p);

/* Start it with both streams to /dev/null; wait for it until the clock says `deadline`. */
pid_t cost_command_start(char *const argv[]); /* -1: it could not be started */
int cost_command_wait(pid_t pid, double deadline);

#endif
