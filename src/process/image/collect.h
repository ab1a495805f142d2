/* SPDX-License-Identifier: BSD-3-Clause */
/* Choosing the libraries of an image. Between known_libraries.c, collect_libraries.c,
 * symbol_uses.c, preload.c and image_plugin.c. */
#ifndef XY_PROCESS_IMAGE_COLLECT_H
#define XY_PROCESS_IMAGE_COLLECT_H

#include "process/image/load_program.h"

/* Why a library is shared whatever it contains. */
typedef enum {
    PROCESS_KNOWN_SHARED,  /* --privatize takes it off the list */
    PROCESS_KNOWN_RUNTIME, /* it must be shared */
    PROCESS_KNOWN_BASE,    /* and every process of the launcher has it */
} process_known_kind_t;

typedef struct {
    const char *name; /* the beginning of the file's name */
    const char *reason;
    process_known_kind_t kind;
} process_known_t;

/* The entry for a library, by its name without directories; NULL: it is not in the table. */
const process_known_t *process_library_known(const char *name);
/* The C and C++ runtimes; and those of them that every process of the launcher has. */
bool process_library_is_runtime(const char *name);
bool process_library_is_base(const char *name);
/* The runtime of gfortran. Shared libraries use the host's, private ones the process's. */
bool process_library_is_fortran(const char *name);

/* Is it the library that is needed by this name? */
bool process_library_has_name(const process_elf_t *elf, const char *name);
bool process_library_needs(const process_elf_t *user, const process_elf_t *library);
/* The symbol that a library uses without defining it and that a module defines; NULL: none. */
const char *process_library_uses(const process_elf_t *library, const process_elf_t *module);
/* Does it refer to a variable of the C or C++ runtime that processes have copies of? */
bool process_library_uses_copies(const process_elf_t *library);
/* The variable of the library that the program has a copy of (a copy relocation); NULL: none. */
const char *process_library_copied(const process_elf_t *library, const process_elf_t *program);
/* Does the program's list of libraries have `first` before the one whose name begins with `second`?
 */
bool process_library_stands_before(const process_elf_t *program, const process_elf_t *first,
                                   const char *second);
/* Visit the symbols that a module uses without defining them, with the type of the relocation. */
typedef xy_status_t (*process_use_fn)(const char *name, unsigned type, void *argument);
xy_status_t process_library_each_use(const process_elf_t *elf, process_use_fn visit,
                                     void *argument);

/* Fill program->preloads: which of the libraries that are `shared` (process_elf_t *) must be there
 * when the process starts and are not in the list `preloaded`. */
xy_status_t process_preload_choose(process_program_t *program, const xy_vec_t *shared,
                                   const char *preloaded);
xy_status_t process_preload_add(process_program_t *program, const char *preloaded,
                                const char *library);
/* The same for the runtime of a sanitizer, which goes first. EUNSUPPORTED: one that does not work
 * with processes (reported). */
xy_status_t process_preload_sanitizer(process_program_t *program, const char *preloaded);
/* Is a library, by its name without directories, in a list separated by colons or blanks? */
bool process_preload_has(const char *list, const char *name);

#endif
