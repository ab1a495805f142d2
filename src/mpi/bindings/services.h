/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of this library for translations of other ABIs (src/mpi/abi). They export the names
 * MPI_ and PMPI_ themselves, so they call Xylem's functions through a table; each gets the address
 * where the program called.
 */
#ifndef XY_MPI_BINDINGS_SERVICES_H
#define XY_MPI_BINDINGS_SERVICES_H

#include <stdbool.h>

#include "mpi/bindings/table.h"
#include "mpi/comm/comm.h"
#include "mpi/object/object.h"

typedef struct {
    int (*handle_to_int)(const void *handle);
    void *(*handle_from_int)(int number);
    void (*op_set_through)(MPI_Op op, mpi_op_through_fn *through);
    /* Give an operation another function; returns the one that it had. */
    MPI_User_function *(*op_set_function)(MPI_Op op, MPI_User_function *fn);
    void (*errhandler_set_through)(MPI_Errhandler errhandler, mpi_errhandler_through_fn *through);
    void (*keyval_set_through)(mpi_attr_kind_t kind, int keyval, const mpi_attr_through_t *through);
    void (*keyval_set_language)(mpi_attr_kind_t kind, int keyval, mpi_language_t language);
    void (*attributes_language)(mpi_language_t language);
    void (*idup_set_place)(MPI_Request request, void *place, mpi_comm_give_fn *give);
    /* How many datatypes MPI_Alltoallw and MPI_Neighbor_alltoallw take; 0 for what is no
     * communicator. */
    long (*peers)(MPI_Comm comm);
    long (*degree)(MPI_Comm comm, bool is_out);
    int (*query_cuda_support)(void);
} mpi_services_t;

extern const mpi_table_t xylem_mpi_table __attribute__((visibility("default")));
extern const mpi_services_t xylem_mpi_services __attribute__((visibility("default")));

#endif
