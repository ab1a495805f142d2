/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The types of variables, from the debugging information of a program or a library.
 *
 *   mpi_typed_t found[16];
 *   int count = mpi_variables_of_call("./ring", 0x11d4, found, 16);
 *
 * A local variable lies at a distance from the canonical frame address of its function.
 */
#ifndef XY_MPI_RUNTIME_VARIABLES_H
#define XY_MPI_RUNTIME_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A basic type of C. */
typedef struct {
    enum { XMPI_ELEMENT_ANY, XMPI_ELEMENT_INTEGER, XMPI_ELEMENT_FLOAT } kind;
    size_t bytes;
    char name[32]; /* "double" */
} mpi_element_t;

/* Elements of one type that follow each other in a structure, or the only one of an array. */
typedef struct {
    size_t at, count; /* `at`: bytes from the beginning */
    mpi_element_t element;
} mpi_typed_part_t;

/* A variable; its parts are those of the first element of an array. Bytes in no part may be
 * anything: padding, unions, fields of bits, and parts beyond XMPI_PARTS. */
enum { XMPI_PARTS = 24 };
typedef struct {
    char name[48];
    bool is_local;
    int64_t place; /* bytes from the frame address, or from the lowest address of the file */
    size_t size;
    /* Of an array of variable length, which is local, `place` has the address, and `bound` in the
     * same way the highest index, which stands for `step` bytes; else 0. */
    int64_t bound;
    size_t step;
    bool is_pointer; /* and the parts are those of the memory that it points to */
    size_t stride;   /* bytes of one element; 0: not known */
    int parts;
    mpi_typed_part_t part[XMPI_PARTS];
} mpi_typed_t;

/* The variables in memory that the code at `offset` from the lowest address of `path` can name:
 * locals of its function, innermost first, and global pointers of its file. Returns how many; at
 * most `room`. As mpi_line_find, calls must not overlap, and need much stack. */
int mpi_variables_of_call(const char *path, size_t offset, mpi_typed_t *found, int room);
/* The global variable that has the byte at `offset`. False: it is not known. */
bool mpi_variables_global(const char *path, size_t offset, mpi_typed_t *found);
/* The element at a byte of the variable, or of the memory that it points to: in any element of an
 * array of one basic type, in the first structure otherwise. NULL: it may be anything. */
const mpi_element_t *mpi_typed_element(const mpi_typed_t *variable, size_t offset);
/* Does the function with the code at `offset` return nothing? */
bool mpi_variables_is_void(const char *path, size_t offset);

#endif
