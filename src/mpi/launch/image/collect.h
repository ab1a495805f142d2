/* SPDX-License-Identifier: BSD-3-Clause */
/* Choosing the libraries of an image. Between known_libraries.c, collect_libraries.c, uses.c,
 * preload.c and plugin.c. */
#ifndef XY_MPI_LAUNCH_IMAGE_COLLECT_H
#define XY_MPI_LAUNCH_IMAGE_COLLECT_H

#include "mpi/launch/image/program.h"

/* Why a library is shared whatever it contains. */
typedef enum {
    XMPI_KNOWN_SHARED,  /* --privatize takes it off the list */
    XMPI_KNOWN_RUNTIME, /* it must be shared */
    XMPI_KNOWN_BASE,    /* and every process of the launcher has it */
} mpi_known_kind_t;

typedef struct {
    const char *name; /* the beginning of the file's name */
    const char *reason;
    mpi_known_kind_t kind;
} mpi_known_t;

/* The entry for a library, by its name without directories; NULL: it is not in the table. */
const mpi_known_t *mpi_library_known(const char *name);
/* The C and C++ runtimes; and those of them that every process of the launcher has. */
bool mpi_library_is_runtime(const char *name);
bool mpi_library_is_base(const char *name);
/* The runtime of gfortran. Shared libraries use the process's, private ones the rank's. */
bool mpi_library_is_fortran(const char *name);

/* Is it the library that is needed by this name? */
bool mpi_library_has_name(const mpi_elf_t *elf, const char *name);
bool mpi_library_needs(const mpi_elf_t *user, const mpi_elf_t *library);
/* The symbol that a library uses without defining it and that a module defines; NULL: none. */
const char *mpi_library_uses(const mpi_elf_t *library, const mpi_elf_t *module);
/* Does it refer to a variable of the C or C++ runtime that ranks have copies of? */
bool mpi_library_uses_copies(const mpi_elf_t *library);
/* The variable of the library that the program has a copy of (a copy relocation); NULL: none. */
const char *mpi_library_copied(const mpi_elf_t *library, const mpi_elf_t *program);
/* Does the program's list of libraries have `first` before the one whose name begins with `second`?
 */
bool mpi_library_stands_before(const mpi_elf_t *program, const mpi_elf_t *first,
                               const char *second);
/* Visit the symbols that a module uses without defining them, with the type of the relocation. */
typedef xy_status_t (*mpi_use_fn)(const char *name, unsigned type, void *argument);
xy_status_t mpi_library_each_use(const mpi_elf_t *elf, mpi_use_fn visit, void *argument);

/* Fill program->preloads: which of the libraries that are `shared` (mpi_elf_t *) must be there when
 * the process starts and are not in the list `preloaded`. */
xy_status_t mpi_preload_choose(mpi_program_t *program, const xy_vec_t *shared,
                               const char *preloaded);
xy_status_t mpi_preload_add(mpi_program_t *program, const char *preloaded, const char *library);
/* The same for the runtime of a sanitizer, which goes first. EUNSUPPORTED: one that does not work
 * with ranks (reported). */
xy_status_t mpi_preload_sanitizer(mpi_program_t *program, const char *preloaded);
/* Is a library, by its name without directories, in a list separated by colons or blanks? */
bool mpi_preload_has(const char *list, const char *name);

#endif
