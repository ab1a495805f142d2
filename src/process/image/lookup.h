/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resolving symbols of an image. Between the files of this part.
 *
 * The order is the dynamic linker's: the modules (the program, then its private libraries), then
 * preloaded libraries, this library, whose functions precede those of the C library, and all other
 * shared libraries.
 */
#ifndef XY_PROCESS_IMAGE_LOOKUP_H
#define XY_PROCESS_IMAGE_LOOKUP_H

#include "process/image/load_program.h"

/* The number of a variable that every process has for itself, or -1. */
int process_lookup_variable(const char *name);
/* The number of a C++ stream, or -1. */
int process_lookup_cxx_stream(const char *name);

/* The first module in the program's scope that defines a name in this version (NULL: the default
 * one); a copy relocation asks behind the module that holds the copy. NULL: none does. */
const process_module_t *process_lookup_inside(const process_program_t *program, const char *name,
                                              const char *version, const process_module_t *behind,
                                              const ElfW(Sym) * *symbol_p);

/* The address outside of the modules, of this thread's where the variable is thread-local; NULL:
 * there is none. `version` may be NULL. */
void *process_lookup_outside(const char *name, const char *version);
/* The function that stands in front of what a module defines (process_runtime.refuse); NULL:
 * none. */
void *process_lookup_guarded(const process_elf_t *elf, const char *name);

/* The block of thread-local variables that holds an address of this thread: the dynamic linker's
 * number of its library and where in the block it is. */
typedef struct {
    unsigned long module, offset;
} process_tls_index_t;

bool process_lookup_block(const void *address, process_tls_index_t *index_p);

/* Does the module write all of these bytes of its own? */
bool process_fixup_fits(const process_module_t *module, uintptr_t address, uint64_t bytes);
/* One more store into every image. */
xy_status_t process_fixup_add(process_program_t *program, uint64_t where, process_fixup_kind_t kind,
                              int64_t value, uint64_t which);
xy_status_t process_fixup_undefined(const process_module_t *module, const char *name);
/* A function that says that `name` is undefined and ends the job; NULL: there is no room for more
 * of them. Both texts must stay. */
void *process_undefined_function(const char *path, const char *name);

/* Relocations of thread-local variables (fix_locals.c). */
bool process_fixup_is_local(unsigned type);
bool process_fixup_is_distance(unsigned type); /* and the variable must be at a fixed distance */
/* A pair that names module and variable takes two relocations: the second goes over the first. */
bool process_fixup_is_second(unsigned type);
xy_status_t process_fixup_local(process_program_t *program, const process_module_t *module,
                                const ElfW(Rela) * entry);

#endif
