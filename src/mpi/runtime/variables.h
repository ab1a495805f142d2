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

/* A type of C: its elements, or those of its array. */
typedef struct {
    enum { XMPI_ELEMENT_ANY, XMPI_ELEMENT_INTEGER, XMPI_ELEMENT_FLOAT } kind;
    size_t bytes;
    char name[48]; /* "double" */
} mpi_element_t;

typedef struct {
    char name[48];
    bool is_local;
    int64_t place; /* bytes from the frame address, or from the lowest address of the file */
    size_t size;
    bool is_pointer;       /* and the element is what it points to */
    bool is_uniform;       /* all elements are like the first one */
    mpi_element_t element; /* the first one */
} mpi_typed_t;

/* The variables in memory that the code at `offset` from the lowest address of `path` can name:
 * locals of its function, innermost first, and global pointers of its file. Returns how many; at
 * most `room`. As mpi_line_find, calls must not overlap, and need much stack. */
int mpi_variables_of_call(const char *path, size_t offset, mpi_typed_t *found, int room);
/* The type of a global variable, at the byte `offset`. False: it is not known. */
bool mpi_variables_global(const char *path, size_t offset, mpi_typed_t *found);
/* Does the function with the code at `offset` return nothing? */
bool mpi_variables_is_void(const char *path, size_t offset);

#endif
