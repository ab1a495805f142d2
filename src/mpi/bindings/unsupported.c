/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that are not implemented yet: every function of functions.def, defined weakly.
 *
 * This file is a library of its own, linked behind the others: where another file implements a
 * function, its strong PMPI_ symbol and its earlier weak MPI_ alias win; what is left exists, says
 * so and returns MPI_ERR_UNSUPPORTED_OPERATION. Tests check that both names of every exported
 * function are the same function.
 */
#include <stdint.h>

#include "mpi/bindings/alias.h"
#include "mpi/object/local.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define MPI_FUNCTION(type, name, arguments)                                                        \
    __attribute__((weak, visibility("default"))) type PMPI_##name arguments                        \
    {                                                                                              \
        return (type)(intptr_t)XMPI_LOCAL_ERROR("MPI_" #name, MPI_ERR_UNSUPPORTED_OPERATION,       \
                                                "this function is not implemented yet");           \
    }                                                                                              \
    XY_MPI_ALIAS(name)
#include "mpi/bindings/functions.def"
