/* SPDX-License-Identifier: BSD-3-Clause */
/* The working directory and environment for programs that a process starts (path.c). */
#ifndef XY_PROCESS_LIBC_PATH_H
#define XY_PROCESS_LIBC_PATH_H

#include "process/libc/process_state.h"

enum { PROCESS_PATH_SIZE = 4096 };

/* The process's environment in place of the launcher's, which shared libraries name; others stay.
 */
char *const *process_environment_for(char *const *environment);
/* `file` as the process's PATH finds it, in `path`; `file` itself when it does not, or when the
 * caller is no process. */
const char *process_path_find(const char *file, char path[PROCESS_PATH_SIZE]);

#endif
