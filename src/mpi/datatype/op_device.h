/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of data in the memory of GPUs (mpi/runtime/device.h). */
#ifndef XY_MPI_DATATYPE_OP_DEVICE_H
#define XY_MPI_DATATYPE_OP_DEVICE_H

#include "mpi/datatype/op.h"

/* Each of outs = sources[0] op ... op sources[n - 1]. An out may be a source. By one kernel where
 * all are in the memory of one device and the device has the operation, else in memory of the host.
 * false: none is on a device, and nothing was done. */
bool mpi_op_reduce_device(const mpi_op_t *op, void *const *sources, int n, void *const *outs,
                          int out_count, int64_t count, const mpi_type_t *type);
/* Would that be one kernel, if all are in the memory of one device? */
bool mpi_op_has_kernel(const mpi_op_t *op, int n, int out_count, const mpi_type_t *type);

#endif
