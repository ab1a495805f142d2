/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries that stand in for those of other MPIs (src/mpi/abi). They lie beside this library, in
 * xylem/ABI/, each under the name that programs need; only the presence of the file is checked
 * here.
 */
#ifndef XY_LAUNCH_TRANSLATION_H
#define XY_LAUNCH_TRANSLATION_H

#include <stdbool.h>

#include "process/process.h"

/* The file that stands in for a library of this name, in fresh memory; NULL: there is none. */
char *mpi_translation_find(const char *name);
/* Is this file one of them? */
bool mpi_translation_is(const char *path);

/* Does the program use MPI, itself or through any of its libraries? A program whose files are
 * compiled for several MPIs, or use a library of another MPI that nothing stands in for, is
 * refused.
 */
xy_status_t mpi_translation_inspect(const process_elf_t *program, bool *uses_mpi_p);

#endif
