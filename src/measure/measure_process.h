/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands run and read line by line (private to the component). */
#ifndef XY_MEASURE_MEASURE_PROCESS_H
#define XY_MEASURE_MEASURE_PROCESS_H

#include <sys/types.h>

#include "base/base.h"

typedef xy_status_t (*measure_line_fn)(void *arg, char *line);

/* Run argv[0] from PATH with its standard output read line by line (`line` NULL: not wanted, both
 * streams go to /dev/null). *code_p: its exit code; 128 + signal; 127: it could not be started. A
 * command still there after `seconds` is ended (code 124). A line that is refused ends it too, with
 * that status. */
xy_status_t measure_command_run(char *const argv[], double seconds, measure_line_fn line, void *arg,
                                int *code_p);

/* The same for a command that has a last line. How it ends after that does not matter (code 0), and
 * it is ended when it takes too long over it. */
typedef struct {
    const char *line; /* not given to the reader */
    double grace;     /* seconds to end in */
} measure_last_t;
xy_status_t measure_command_run_to(char *const argv[], double seconds, const measure_last_t *last,
                                   measure_line_fn line, void *arg, int *code_p);

/* Start it, and wait for it until the clock says `deadline`. What it prints can be read from
 * *out_p, which is the caller's to close; NULL: not wanted. Errors go to /dev/null. -1: it could
 * not be started. */
pid_t measure_command_start(char *const argv[], int *out_p);
int measure_command_wait(pid_t pid, double deadline);

#endif
