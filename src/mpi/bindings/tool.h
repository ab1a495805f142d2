/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tool interface (MPI_T), shared by its files. Its functions return codes and never raise
 * errors; any pointer for a result may be NULL. Variables are tables: tool_control.c has control
 * variables, tool_values.c performance variables, tool_event.c events.
 */
#ifndef XY_MPI_BINDINGS_TOOL_H
#define XY_MPI_BINDINGS_TOOL_H

#include <stdbool.h>

#include "mpi.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

/* Between MPI_T_init_thread and MPI_T_finalize of any rank of the process? */
bool tool_is_ready(void);

/* A text for the program: *length_p is the room for it, and then what it needs; both with the
 * terminating zero. */
void tool_text(const char *text, char *place, int *length_p);

/* How many variables there are, and their names; for categories. */
int tool_control_count(void);
int tool_perform_count(void);
int tool_event_count(void);

/* Categories. */
typedef enum {
    TOOL_CONTROL,
    TOOL_MESSAGES,
    TOOL_PROGRESS,
    TOOL_MEMORY,
    TOOL_CATEGORIES
} tool_category_t;

/* A performance variable. */
typedef struct {
    const char *name, *description;
    int class; /* timers are in nanoseconds here */
    tool_category_t category;
    bool is_of_comm; /* bound to a communicator; else `comm` is NULL */
    uint64_t (*now)(const mpi_rank_t *self, const mpi_comm_t *comm);
    /* A handle is started, or stopped; NULL: nothing to do. */
    void (*turn)(const mpi_rank_t *self, bool on);
    bool needs_stack; /* of a fiber */
    /* One value for each rank that the communicator can send to, instead of `now`; or NULL. */
    uint64_t (*of_peer)(const mpi_rank_t *self, const mpi_comm_t *comm, int peer);
} tool_variable_t;

const tool_variable_t *tool_variable(int index);

/* The names of collectives, by their numbers in events. */
MPI_T_enum tool_collectives(void);

static inline void tool_set(int *place, int value)
{
    if (place)
        *place = value;
}

#endif
