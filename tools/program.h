/* SPDX-License-Identifier: BSD-3-Clause */
/* The command itself: the output of `xylem` without a verb. */
#ifndef XY_TOOLS_PROGRAM_H
#define XY_TOOLS_PROGRAM_H

#include "base/base.h"

typedef struct {
    bool version;
    bool man, complete;
} program_values_t;

extern const xy_command_t program;

/* Usage and the table of verbs. */
void program_help(xy_help_t which, FILE *file);

/* The man page of a verb, or of the command when `name` is NULL. */
xy_status_t program_man(const char *name, FILE *file);

/* Print the completions of the last of `argc` words: argv[0] is the name of a command of this
 * package, the others are those behind it. XY_EUSAGE: there is no such command, or no word. */
xy_status_t program_complete(int argc, char **argv, FILE *file);

#endif
