/* SPDX-License-Identifier: BSD-3-Clause */
/* Choosing the libraries of an image. Between collect_libraries.c and preload.c. */
#ifndef XY_MPI_LAUNCH_IMAGE_COLLECT_H
#define XY_MPI_LAUNCH_IMAGE_COLLECT_H

#include "mpi/launch/image/program.h"

/* The C and C++ runtimes; and those of them that every process of the launcher has. */
bool mpi_library_is_runtime(const char *name);
bool mpi_library_is_base(const char *name);
/* The runtime of gfortran, of which what is private has its own. */
bool mpi_library_is_fortran(const char *name);

/* Does the library use, without defining it, a symbol that a module defines? */
bool mpi_library_uses(const mpi_elf_t *library, const mpi_elf_t *module);
/* Does the program's list of libraries have `first` before the one whose name begins with `second`?
 */
bool mpi_library_stands_before(const mpi_elf_t *program, const mpi_elf_t *first,
                               const char *second);

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
