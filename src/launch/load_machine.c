/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Machine files and models for mpiexec, in a library of its own: they are read by libraries that
 * would make the start of every program slower. mpiexec opens it for --virtual alone
 * (virtual_time.c). What is made here lives to the end of the process.
 */
#include "launch/load_machine.h"

__attribute__((visibility("default")))
const mpi_loader_t xylem_loader = {.set_program = xy_error_program_set,
                                   .machine = xy_machine_load,
                                   .costs = xy_costs_load,
                                   .costs_beside = xy_costs_load_beside};
