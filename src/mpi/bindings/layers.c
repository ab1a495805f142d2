/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/bindings/bindings.h"
#include "mpi/check/check.h"
#include "mpi/coll/coll.h"
#include "mpi/comm/comm.h"
#include "mpi/dynamic/dynamic.h"
#include "mpi/io/io.h"
#include "mpi/nbc/nbc.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/rma/rma.h"
#include "mpi/topo/topo.h"
#include "mpi/virtual/virtual.h"

const mpi_layer_t *const mpi_layers[] = {&mpi_object_layer,  &mpi_p2p_layer,     &mpi_coll_layer,
                                         &mpi_nbc_layer,     &mpi_virtual_layer, &mpi_comm_layer,
                                         &mpi_topo_layer,    &mpi_rma_layer,     &mpi_io_layer,
                                         &mpi_dynamic_layer, &mpi_check_layer,   NULL};
