/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface of the library of load_machine.c: one table, XMPI_LOADER_SYMBOL. */
#ifndef XY_LAUNCH_LOAD_MACHINE_H
#define XY_LAUNCH_LOAD_MACHINE_H

#include "cost/cost.h"
#include "machine/machine.h"

#define XMPI_LOADER_FILE   "libxylem_machine.so"
#define XMPI_LOADER_SYMBOL "xylem_loader"

typedef struct {
    void (*set_program)(const char *name); /* for messages */
    xy_status_t (*machine)(const char *source, xy_machine_t **machine_p);
    xy_status_t (*costs)(const char *path, xy_costs_t **costs_p);
    xy_status_t (*costs_beside)(const char *machine, xy_costs_t **costs_p);
} mpi_loader_t;

extern const mpi_loader_t xylem_loader;

#endif
