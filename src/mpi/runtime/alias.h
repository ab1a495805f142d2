/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two names of an MPI function.
 *
 * A function is written under its PMPI_ name, strong, and exported under both names; MPI_ is a weak
 * alias so that a tool can put its own MPI_Send in front and call PMPI_Send:
 *
 *   int PMPI_Wibble(int a)
 *   {
 *       ...
 *   }
 *   XY_MPI_ALIAS(Wibble)
 *
 * Its prototype comes from mpi.h. For functions of kind `hand` in functions.def.
 */
#ifndef XY_MPI_RUNTIME_ALIAS_H
#define XY_MPI_RUNTIME_ALIAS_H

#include "mpi.h"

#define XY_MPI_ALIAS(name)                                                                         \
    extern __typeof__(PMPI_##name) MPI_##name                                                      \
        __attribute__((weak, alias("PMPI_" #name), visibility("default")));

#endif
