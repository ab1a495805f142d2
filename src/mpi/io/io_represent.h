/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data representations: how the elements of a type lie in a file. `native` and `internal` are the
 * representation of memory (NULL here); `external32` is the same on all machines; others are
 * registered by the program, which converts them itself.
 */
#ifndef XY_MPI_IO_IO_REPRESENT_H
#define XY_MPI_IO_IO_REPRESENT_H

#include "mpi/datatype/datatype.h"

typedef struct io_rep io_rep_t;

/* The representation that the calling rank calls `name`. False: there is none. */
bool io_rep_find(const char *name, const io_rep_t **rep_p);
const char *io_rep_name(const io_rep_t *rep);
/* Is it converted by functions of the program? */
bool io_rep_is_program(const io_rep_t *rep);

/* Data bytes of one `type` in the file; 0 where a function of the program has failed. */
size_t io_rep_size(const io_rep_t *rep, const mpi_type_t *type);
/* The result of MPI_File_get_type_extent. */
MPI_Aint io_rep_extent(const io_rep_t *rep, const mpi_type_t *type);
/* `type` as its bytes lie in the file: held by the caller. Why not, if it cannot be. */
const char *io_rep_tile(const io_rep_t *rep, mpi_type_t *type, int *class_p, mpi_type_t **tile_p);

/* `count` of `type` between memory and the bytes of a file. 0, or an error class. Both may call
 * functions of the program, so that the rank itself must do it. */
int io_rep_write(const io_rep_t *rep, const void *memory, int64_t count, mpi_type_t *type,
                 char *in_file);
int io_rep_read(const io_rep_t *rep, void *memory, int64_t count, mpi_type_t *type, char *in_file);

void io_reps_cleanup(void);

#endif
