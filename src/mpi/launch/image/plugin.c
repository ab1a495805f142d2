/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plug-ins that use the symbols of the program that loads them, and so are private to a rank. A
 * plug-in is a program of its own, with as many images as its parent; those of the parent come
 * first when its symbols are looked for.
 */
#include <string.h>

#include "mpi/launch/image/collect.h"
#include "mpi/launch/image/lookup.h"

enum { DEPTH = 4 };

/* The same question for the libraries it needs, as far as they are no system's. */
static bool uses_program(const mpi_program_t *program, const mpi_elf_t *library, int depth)
{
    bool is_found = false;

    for (size_t i = 0; i < program->modules.count && !is_found; i++) {
        const mpi_elf_t *module = XY_VEC_AT(&program->modules, mpi_module_t, i).elf;

        is_found = !mpi_library_is_fortran(module->path) && mpi_library_uses(library, module);
    }
    for (size_t i = 0; i < library->needed.count && !is_found; i++) {
        const char *name = XY_VEC_AT(&library->needed, const char *, i);
        char *path = depth > 0 ? mpi_elf_find_library(library, name) : NULL;
        mpi_elf_t *needed;

        if (mpi_library_is_fortran(name)) {
            xy_free(path);
            continue;
        }
        is_found = mpi_library_is_module(program, name);
        if (path != NULL && !mpi_library_is_runtime(name) && mpi_elf_open(path, &needed) == XY_OK) {
            is_found |= uses_program(program, needed, depth - 1);
            mpi_elf_close(needed);
        }
        xy_free(path);
    }
    return is_found;
}

bool mpi_plugin_is_private(const mpi_program_t *program, const char *path)
{
    mpi_elf_t *elf;
    bool is_private;

    if (mpi_elf_open(path, &elf) != XY_OK)
        return false;
    is_private = elf->kind == XMPI_ELF_LIBRARY && uses_program(program, elf, DEPTH);
    mpi_elf_close(elf);
    return is_private;
}

xy_status_t mpi_plugin_load(mpi_program_t *parent, const char *path, mpi_program_t **plugin_p)
{
    xy_status_t st;

    for (mpi_program_t *p = parent->plugins; p != NULL; p = p->next)
        if (strcmp(p->path, path) == 0) {
            *plugin_p = p;
            return XY_OK;
        }
    st = mpi_program_load_plugin(parent, path, plugin_p);
    if (st != XY_OK)
        return st;
    (*plugin_p)->next = parent->plugins;
    parent->plugins = *plugin_p;
    return XY_OK;
}
