/* SPDX-License-Identifier: BSD-3-Clause */
/* Where in the program a call stands, for messages. */
#ifndef XY_MPI_RUNTIME_CALLER_H
#define XY_MPI_RUNTIME_CALLER_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "mpi/runtime/variables.h"

enum { XMPI_CALLER_STACK = 1 << 20 }; /* bytes that reading lines may need */

/* Call a function on a thread with that stack, and wait for it; false if there is no thread. What
 * it asks of the functions below needs no further threads. */
bool mpi_caller_run_aside(void *(*function)(void *), void *argument);

/* The place of the return address `site`, as "at ring.c:25" (the program has line numbers and libdw
 * is installed), "in solve+0x1c", or "at offset 0x11d4 of the program"; "" when it is unknown. Any
 * thread; makes one. */
void mpi_caller_describe(const void *site, char *text, size_t size);
/* The name of the MPI function that was called there ("MPI_Isend"), as the machine code has it;
 * NULL: it is called in another way, or in another process. */
const char *mpi_caller_function(const void *site);
/* The same with the directories of the file, and without "at": "examples/ring.c:25". */
void mpi_caller_describe_path(const void *site, char *text, size_t size);

/* The same for the byte at `offset` of a file, with the function in front: "solve at ring.c:25".
 * Runs on this thread, and needs its stack. */
void mpi_caller_describe_frame(const Dl_info *info, size_t offset, char *text, size_t size);

/* A global variable of the program or a library. */
typedef struct {
    const char *low;
    size_t size;
    char name[128];
} mpi_variable_t;

/* The variable that has this byte, by the symbol table. False: none is known. Any thread; makes
 * one. */
bool mpi_caller_variable(const void *address, mpi_variable_t *variable);

/* Variables with their types: those that the code at the return address `site` can name, and the
 * global one that has a byte, which begins at *low_p. Places count from *base_p, but for local
 * ones. `found` of the first is kept, and NULL where there are none. Any thread; may make one. */
int mpi_caller_variables(const void *site, const mpi_typed_t **found_p, const char **base_p);
bool mpi_caller_global(const void *address, mpi_typed_t *found, const char **low_p);
/* Does the function that has the return address `site` return nothing? False: not known, too. Any
 * thread; makes one. */
bool mpi_caller_is_void(const void *site);

/* The function that finds the file of an address and where it begins, as dladdr() does, but no
 * symbol: false where it does not know. Before there are ranks. */
void mpi_caller_set_files(bool (*find)(const void *address, Dl_info *info));
/* How threads are made that belong to no rank; before there are ranks. The C library's functions
 * unless this is called. */
void mpi_caller_set_threads(int (*create)(pthread_t *thread, const pthread_attr_t *attributes,
                                          void *(*function)(void *), void *argument));
/* Make one; an errno. Any thread. */
int mpi_caller_create_thread(pthread_t *thread, void *(*function)(void *), void *argument);

#endif
