/* SPDX-License-Identifier: BSD-3-Clause */
/* Typed data in the memory of a GPU (mpi/runtime/device.h). */
#ifndef XY_MPI_DATATYPE_TYPE_DEVICE_H
#define XY_MPI_DATATYPE_TYPE_DEVICE_H

#include <stdbool.h>

#include "mpi/datatype/type_object.h"

/* Is the first byte of the data in the memory of a device? */
bool mpi_type_is_on_device(const void *buffer, const mpi_type_t *type);
/* `bytes` data bytes from one to the other, from data byte `first` of each on. A type that is NULL
 * stands for packed data. */
void mpi_type_move_device(void *target, const mpi_type_t *target_type, size_t target_first,
                          const void *source, const mpi_type_t *source_type, size_t source_first,
                          size_t bytes);

/* Before an MPI call that is given this buffer: if it is memory of a device, what the caller has
 * put into its default stream is complete on return. Types that differ from block to block are
 * given as MPI_DATATYPE_NULL: any address may be meant. */
void mpi_buffer_order(const void *buffer, MPI_Datatype type);
/* The same for calls after which MPI keeps the address: persistent requests and windows. */
void mpi_buffer_order_kept(const void *buffer, MPI_Datatype type);
/* Before an MPI call that may touch memory whose address was kept. */
void mpi_buffer_order_known(void);

#endif
