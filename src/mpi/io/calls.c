/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that read and write: each is an order. */
#include "mpi/io/calls.h"

#include "mpi/io/order.h"

/* ---- Explicit offsets ---- */

int impl_file_read_at(mpi_rank_t *self, MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                      MPI_Datatype datatype, MPI_Status *status)
{
    return io_do(self,
                 &(io_order_t){.handle = fh,
                               .where = IO_AT,
                               .is_write = false,
                               .is_collective = false,
                               .offset = offset,
                               .memory = buf,
                               .count = count,
                               .type = datatype},
                 status);
}

int impl_file_iread_at(mpi_rank_t *self, MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                       MPI_Datatype datatype, MPI_Request *request)
{
    return io_start(self,
                    &(io_order_t){.handle = fh,
                                  .where = IO_AT,
                                  .is_write = false,
                                  .is_collective = false,
                                  .offset = offset,
                                  .memory = buf,
                                  .count = count,
                                  .type = datatype},
                    request);
}

int impl_file_write_at(mpi_rank_t *self, MPI_File fh, MPI_Offset offset, const void *buf,
                       MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    return io_do(self,
                 &(io_order_t){.handle = fh,
                               .where = IO_AT,
                               .is_write = true,
                               .is_collective = false,
                               .offset = offset,
                               .memory = buf,
                               .count = count,
                               .type = datatype},
                 status);
}

int impl_file_iwrite_at(mpi_rank_t *self, MPI_File fh, MPI_Offset offset, const void *buf,
                        MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return io_start(self,
                    &(io_order_t){.handle = fh,
                                  .where = IO_AT,
                                  .is_write = true,
                                  .is_collective = false,
                                  .offset = offset,
                                  .memory = buf,
                                  .count = count,
                                  .type = datatype},
                    request);
}

int impl_file_read_at_all(mpi_rank_t *self, MPI_File fh, MPI_Offset offset, void *buf,
                          MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    return io_do(self,
                 &(io_order_t){.handle = fh,
                               .where = IO_AT,
                               .is_write = false,
                               .is_collective = true,
                               .offset = offset,
                               .memory = buf,
                               .count = count,
                               .type = datatype},
                 status);
}

int impl_file_iread_at_all(mpi_rank_t *self, MPI_File fh, MPI_Offset offset, void *buf,
                           MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return io_start(self,
                    &(io_order_t){.handle = fh,
                                  .where = IO_AT,
                                  .is_write = false,
                                  .is_collective = true,
                                  .offset = offset,
                                  .memory = buf,
                                  .count = count,
                                  .type = datatype},
                    request);
}

int impl_file_read_at_all_begin(mpi_rank_t *self, MPI_File fh, MPI_Offset offset, void *buf,
                                MPI_Count count, MPI_Datatype datatype)
{
    return io_begin(self,
                    &(io_order_t){.handle = fh,
                                  .where = IO_AT,
                                  .is_write = false,
                                  .is_collective = true,
                                  .offset = offset,
                                  .memory = buf,
                                  .count = count,
                                  .type = datatype},
                    "MPI_File_read_at_all");
}

int impl_file_read_at_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    return io_end(fh, buf, status, "MPI_File_read_at_all");
}

int impl_file_write_at_all(mpi_rank_t *self, MPI_File fh, MPI_Offset offset, const void *buf,
                           MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    return io_do(self,
                 &(io_order_t){.handle = fh,
                               .where = IO_AT,
                               .is_write = true,
                               .is_collective = true,
                               .offset = offset,
                               .memory = buf,
                               .count = count,
                               .type = datatype},
                 status);
}

int impl_file_iwrite_at_all(mpi_rank_t *self, MPI_File fh, MPI_Offset offset, const void *buf,
                            MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    return io_start(self,
                    &(io_order_t){.handle = fh,
                                  .where = IO_AT,
                                  .is_write = true,
                                  .is_collective = true,
                                  .offset = offset,
                                  .memory = buf,
                                  .count = count,
                                  .type = datatype},
                    request);
}

int impl_file_write_at_all_begin(mpi_rank_t *self, MPI_File fh, MPI_Offset offset, const void *buf,
                                 MPI_Count count, MPI_Datatype datatype)
{
    return io_begin(self,
                    &(io_order_t){.handle = fh,
                                  .where = IO_AT,
                                  .is_write = true,
                                  .is_collective = true,
                                  .offset = offset,
                                  .memory = buf,
                                  .count = count,
                                  .type = datatype},
                    "MPI_File_write_at_all");
}

int impl_file_write_at_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    return io_end(fh, buf, status, "MPI_File_write_at_all");
}

/* ---- Individual pointers ---- */

int impl_file_read(mpi_rank_t *self, MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Status *status)
{
    return io_do(self,
                 &(io_order_t){.handle = fh,
                               .where = IO_OWN,
                               .is_write = false,
                               .is_collective = false,
                               .memory = buf,
                               .count = count,
                               .type = datatype},
                 status);
}

int impl_file_iread(mpi_rank_t *self, MPI_File fh, void *buf, MPI_Count count,
                    MPI_Datatype datatype, MPI_Request *request)
{
    return io_start(self,
                    &(io_order_t){.handle = fh,
                                  .where = IO_OWN,
                                  .is_write = false,
                                  .is_collective = false,
                                  .memory = buf,
                                  .count = count,
                                  .type = datatype},
                    request);
}

int impl_file_write(mpi_rank_t *self, MPI_File fh, const void *buf, MPI_Count count,
                    MPI_Datatype datatype, MPI_Status *status)
{
    return io_do(self,
                 &(io_order_t){.handle = fh,
                               .where = IO_OWN,
                               .is_write = true,
                               .is_collective = false,
                               .memory = buf,
                               .count = count,
                               .type = datatype},
                 status);
}

int impl_file_iwrite(mpi_rank_t *self, MPI_File fh, const void *buf, MPI_Count count,
                     MPI_Datatype datatype, MPI_Request *request)
{
    return io_start(self,
                    &(io_order_t){.handle = fh,
                                  .where = IO_OWN,
                                  .is_write = true,
                                  .is_collective = false,
                                  .memory = buf,
                                  .count = count,
                                  .type = datatype},
                    request);
}

int impl_file_read_all(mpi_rank_t *self, MPI_File fh, void *buf, MPI_Count count,
                       MPI_Datatype datatype, MPI_Status *status)
{
    return io_do(self,
                 &(io_order_t){.handle = fh,
                               .where = IO_OWN,
                               .is_write = false,
                               .is_collective = true,
                               .memory = buf,
                               .count = count,
                               .type = datatype},
                 status);
}

int impl_file_iread_all(mpi_rank_t *self, MPI_File fh, void *buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Request *request)
{
    return io_start(self,
                    &(io_order_t){.handle = fh,
                                  .where = IO_OWN,
                                  .is_write = false,
                                  .is_collective = true,
                                  .memory = buf,
                                  .count = count,
                                  .type = datatype},
                    request);
}

int impl_file_read_all_begin(mpi_rank_t *self, MPI_File fh, void *buf, MPI_Count count,
                             MPI_Datatype datatype)
{
    return io_begin(self,
                    &(io_order_t){.handle = fh,
                                  .where = IO_OWN,
                                  .is_write = false,
                                  .is_collective = true,
                                  .memory = buf,
                                  .count = count,
                                  .type = datatype},
                    "MPI_File_read_all");
}

int impl_file_read_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    return io_end(fh, buf, status, "MPI_File_read_all");
}

int impl_file_write_all(mpi_rank_t *self, MPI_File fh, const void *buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Status *status)
{
    return io_do(self,
                 &(io_order_t){.handle = fh,
                               .where = IO_OWN,
                               .is_write = true,
                               .is_collective = true,
                               .memory = buf,
                               .count = count,
                               .type = datatype},
                 status);
}

int impl_file_iwrite_all(mpi_rank_t *self, MPI_File fh, const void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Request *request)
{
    return io_start(self,
                    &(io_order_t){.handle = fh,
                                  .where = IO_OWN,
                                  .is_write = true,
                                  .is_collective = true,
                                  .memory = buf,
                                  .count = count,
                                  .type = datatype},
                    request);
}

int impl_file_write_all_begin(mpi_rank_t *self, MPI_File fh, const void *buf, MPI_Count count,
                              MPI_Datatype datatype)
{
    return io_begin(self,
                    &(io_order_t){.handle = fh,
                                  .where = IO_OWN,
                                  .is_write = true,
                                  .is_collective = true,
                                  .memory = buf,
                                  .count = count,
                                  .type = datatype},
                    "MPI_File_write_all");
}

int impl_file_write_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    return io_end(fh, buf, status, "MPI_File_write_all");
}

/* ---- Shared pointers ---- */

int impl_file_read_shared(mpi_rank_t *self, MPI_File fh, void *buf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Status *status)
{
    return io_do(self,
                 &(io_order_t){.handle = fh,
                               .where = IO_SHARED,
                               .is_write = false,
                               .is_collective = false,
                               .memory = buf,
                               .count = count,
                               .type = datatype},
                 status);
}

int impl_file_iread_shared(mpi_rank_t *self, MPI_File fh, void *buf, MPI_Count count,
                           MPI_Datatype datatype, MPI_Request *request)
{
    return io_start(self,
                    &(io_order_t){.handle = fh,
                                  .where = IO_SHARED,
                                  .is_write = false,
                                  .is_collective = false,
                                  .memory = buf,
                                  .count = count,
                                  .type = datatype},
                    request);
}

int impl_file_write_shared(mpi_rank_t *self, MPI_File fh, const void *buf, MPI_Count count,
                           MPI_Datatype datatype, MPI_Status *status)
{
    return io_do(self,
                 &(io_order_t){.handle = fh,
                               .where = IO_SHARED,
                               .is_write = true,
                               .is_collective = false,
                               .memory = buf,
                               .count = count,
                               .type = datatype},
                 status);
}

int impl_file_iwrite_shared(mpi_rank_t *self, MPI_File fh, const void *buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Request *request)
{
    return io_start(self,
                    &(io_order_t){.handle = fh,
                                  .where = IO_SHARED,
                                  .is_write = true,
                                  .is_collective = false,
                                  .memory = buf,
                                  .count = count,
                                  .type = datatype},
                    request);
}

/* ---- In order of rank ---- */

int impl_file_read_ordered(mpi_rank_t *self, MPI_File fh, void *buf, MPI_Count count,
                           MPI_Datatype datatype, MPI_Status *status)
{
    return io_do(self,
                 &(io_order_t){.handle = fh,
                               .where = IO_ORDERED,
                               .is_write = false,
                               .is_collective = true,
                               .memory = buf,
                               .count = count,
                               .type = datatype},
                 status);
}

int impl_file_read_ordered_begin(mpi_rank_t *self, MPI_File fh, void *buf, MPI_Count count,
                                 MPI_Datatype datatype)
{
    return io_begin(self,
                    &(io_order_t){.handle = fh,
                                  .where = IO_ORDERED,
                                  .is_write = false,
                                  .is_collective = true,
                                  .memory = buf,
                                  .count = count,
                                  .type = datatype},
                    "MPI_File_read_ordered");
}

int impl_file_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status)
{
    return io_end(fh, buf, status, "MPI_File_read_ordered");
}

int impl_file_write_ordered(mpi_rank_t *self, MPI_File fh, const void *buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Status *status)
{
    return io_do(self,
                 &(io_order_t){.handle = fh,
                               .where = IO_ORDERED,
                               .is_write = true,
                               .is_collective = true,
                               .memory = buf,
                               .count = count,
                               .type = datatype},
                 status);
}

int impl_file_write_ordered_begin(mpi_rank_t *self, MPI_File fh, const void *buf, MPI_Count count,
                                  MPI_Datatype datatype)
{
    return io_begin(self,
                    &(io_order_t){.handle = fh,
                                  .where = IO_ORDERED,
                                  .is_write = true,
                                  .is_collective = true,
                                  .memory = buf,
                                  .count = count,
                                  .type = datatype},
                    "MPI_File_write_ordered");
}

int impl_file_write_ordered_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    return io_end(fh, buf, status, "MPI_File_write_ordered");
}
