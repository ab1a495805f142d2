/* SPDX-License-Identifier: BSD-3-Clause */
/* The request of a call that reads or writes, and the three ways to do it. */
#ifndef XY_MPI_IO_IO_ORDER_H
#define XY_MPI_IO_IO_ORDER_H

#include "mpi/io/io_file.h"

typedef enum { IO_AT, IO_OWN, IO_SHARED, IO_ORDERED } io_where_t;

typedef struct {
    MPI_File handle;
    io_where_t where; /* an explicit offset, or a pointer */
    bool is_write, is_collective;
    MPI_Offset offset; /* IO_AT: in etypes */
    const void *memory;
    MPI_Count count;
    MPI_Datatype type;
} io_order_t;

/* Blocking, nonblocking, and split: `name` is that of the call without _begin. */
int io_do(mpi_rank_t *self, const io_order_t *order, MPI_Status *status);
int io_start(mpi_rank_t *self, const io_order_t *order, MPI_Request *request);
int io_begin(mpi_rank_t *self, const io_order_t *order, const char *name);
int io_end(MPI_File handle, const void *memory, MPI_Status *status, const char *name);

/* ---- Between io_order.c and io_start.c ---- */

/* Check the order, advance pointers: what is to be done. Agrees with the others in ordered calls.
 * Holds nothing. *file_p is NULL when an error was raised, which is returned. */
int io_prepare(mpi_rank_t *self, const io_order_t *order, mpi_file_t **file_p, io_access_t *access);
/* Data in another representation is converted before a write and after a read. An error class. */
int io_stage(io_access_t *access);
int io_unstage(io_access_t *access);
/* Bytes of memory that were read or written. */
size_t io_done(const io_access_t *access);
/* In virtual time: before and after an access of so many bytes. When it is complete. */
void io_charge_before(mpi_rank_t *self);
double io_charge(mpi_rank_t *self, size_t bytes);
io_how_t io_how_of(const mpi_file_t *file, bool is_write);

/* Mail of the pool: accesses of its ranks that are complete. */
void io_mail(mpi_worker_t *worker);

#endif
