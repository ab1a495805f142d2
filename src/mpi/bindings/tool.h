/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tool interface (MPI_T): what its files share. Its functions return codes and never raise; any
 * pointer for a result may be NULL. Variables are tables: tool_control.c has those that control the
 * library, tool_perform.c those that count; tool_event.c has what is told while it happens.
 */
#ifndef XY_MPI_BINDINGS_TOOL_H
#define XY_MPI_BINDINGS_TOOL_H

#include <stdbool.h>

#include "mpi.h"

/* Between MPI_T_init_thread and MPI_T_finalize of any rank of the process? */
bool tool_is_ready(void);

/* A text for the program: *length_p is the room for it, and then what it needs; both with the
 * terminating zero. */
void tool_text(const char *text, char *place, int *length_p);

/* How many variables there are, and their names; for categories. */
int tool_control_count(void);
int tool_perform_count(void);
int tool_event_count(void);

static inline void tool_set(int *place, int value)
{
    if (place)
        *place = value;
}

#endif
