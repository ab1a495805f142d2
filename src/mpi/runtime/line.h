/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of source, from the debugging information of a program or a library.
 *
 *   mpi_line_t line;
 *   if (mpi_line_find("./ring", 0x11d4, XMPI_WANT_BOTH, &line))
 *       printf("%s:%d in %s\n", line.file, line.number, line.function);
 *
 * The information is read by libdw of the elfutils, which is loaded when it is first needed: it
 * knows every version of the format, and finds debugging information that was split off the file.
 * Without the library there are no lines.
 */
#ifndef XY_MPI_RUNTIME_LINE_H
#define XY_MPI_RUNTIME_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { XMPI_LINE_TEXT = 128, XMPI_LINE_PATH = 512 };

typedef struct {
    char file[XMPI_LINE_TEXT]; /* without directories; "": the line is not known */
    char path[XMPI_LINE_PATH]; /* with them, from where it was compiled, if it lies below */
    int number;
    char function[XMPI_LINE_TEXT]; /* as in the symbol table; "": not known */
} mpi_line_t;

/* The parts of mpi_line_t that a caller uses. Finding a function takes a millisecond in a file with
 * thousands of symbols. */
typedef enum {
    XMPI_WANT_LINE,
    XMPI_WANT_EITHER, /* the function only where the line is not known */
    XMPI_WANT_BOTH    /* both */
} mpi_wanted_t;

/* A variable or function of the symbol table. */
typedef struct {
    char name[XMPI_LINE_TEXT];
    size_t offset, size; /* of its first byte, as below; in bytes */
} mpi_symbol_t;

/* The symbol that has the byte at `offset`, as below. False: none is known. */
bool mpi_line_symbol(const char *path, size_t offset, mpi_symbol_t *symbol);

/* For further readers of the information: functions of libdw, filled in by mpi_line_module. */
typedef struct {
    const char *name;
    void *function; /* a pointer to a pointer */
} mpi_line_import_t;

/* The Dwfl_Module of a file and its lowest address there, and these functions. NULL: it cannot be
 * read. */
void *mpi_line_module(const char *path, const mpi_line_import_t *imports, size_t count,
                      uint64_t *start_p);

/* The line of the byte at `offset` from the lowest address of `path` in memory. False: nothing is
 * known. Calls must not overlap; needs much stack (XMPI_CALLER_STACK). */
bool mpi_line_find(const char *path, size_t offset, mpi_wanted_t wanted, mpi_line_t *line);

#endif
