/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plug-ins of a program. The rule for libraries applies to them and to their dependencies. Two
 * plug-ins of a rank share one copy of a common dependency, so each file loaded with a plug-in is a
 * program of its own, with one module and as many images as its parent. Symbols are looked up in
 * the program, in plug-ins of RTLD_GLOBAL, and in the plug-in and its dependencies.
 */
#include <string.h>
#include <sys/stat.h>

#include "mpi/launch/image/collect.h"
#include "mpi/launch/image/lookup.h"

enum { DEPTH = 4 };

static bool uses_program(const mpi_program_t *program, const mpi_elf_t *library, int depth)
{
    bool is_found = false;

    for (size_t i = 0; i < program->modules.count && !is_found; i++) {
        const mpi_elf_t *module = XY_VEC_AT(&program->modules, mpi_module_t, i).elf;

        is_found =
            !mpi_library_is_fortran(module->path) && mpi_library_uses(library, module) != NULL;
    }
    for (size_t i = 0; i < library->needed.count && !is_found && depth > 0; i++) {
        const char *name = XY_VEC_AT(&library->needed, const char *, i);
        char *path = mpi_library_is_fortran(name) || mpi_library_known(name) != NULL
                         ? NULL
                         : mpi_elf_find_own_library(library, name);
        mpi_elf_t *needed;

        if (path != NULL && mpi_elf_open(path, &needed) == XY_OK) {
            is_found = uses_program(program, needed, depth - 1);
            mpi_elf_close(needed);
        }
        xy_free(path);
    }
    return is_found;
}

bool mpi_plugin_uses_program(const mpi_program_t *program, const char *path)
{
    mpi_elf_t *elf;
    bool is_found;

    if (mpi_elf_open(path, &elf) != XY_OK)
        return false;
    is_found = elf->kind == XMPI_ELF_LIBRARY && uses_program(program, elf, DEPTH);
    mpi_elf_close(elf);
    return is_found;
}

/* ---- What is loaded ---- */

/* By the name without directories, as libraries are needed; or by the file. */
static bool is_file(const mpi_elf_t *elf, const char *path, const struct stat *about)
{
    if (strchr(path, '/') == NULL)
        return mpi_library_has_name(elf, path);
    return elf->device == about->st_dev && elf->number == about->st_ino;
}

const mpi_module_t *mpi_program_find_module(const mpi_program_t *program, const char *path)
{
    const mpi_module_t *modules = program->modules.data;
    struct stat about;

    if (strchr(path, '/') != NULL && stat(path, &about) != 0)
        return NULL;
    for (size_t i = 0; i < program->modules.count; i++)
        if (is_file(modules[i].elf, path, &about))
            return &modules[i];
    return NULL;
}

mpi_program_t *mpi_plugin_find(const mpi_program_t *program, const char *path)
{
    for (mpi_program_t *p = program->plugins; p != NULL; p = p->next)
        if (mpi_program_find_module(p, path) != NULL)
            return p;
    return NULL;
}

bool mpi_library_is_module(const mpi_program_t *program, const char *name)
{
    for (; program != NULL; program = program->parent)
        if (mpi_program_find_module(program, basename(name)) != NULL ||
            mpi_plugin_find(program, basename(name)) != NULL)
            return true;
    return false;
}

/* ---- Loading ---- */

static const mpi_elf_t *elf_of(const mpi_program_t *plugin)
{
    return XY_VEC_AT(&plugin->modules, mpi_module_t, 0).elf;
}

static bool has(const xy_vec_t *programs, const mpi_program_t *program)
{
    for (size_t i = 0; i < programs->count; i++)
        if (XY_VEC_AT(programs, const mpi_program_t *, i) == program)
            return true;
    return false;
}

bool mpi_plugin_needs(const mpi_program_t *plugin, const mpi_program_t *other)
{
    return plugin != other && has(&plugin->family, other);
}

static xy_status_t append(xy_vec_t *programs, mpi_program_t *program)
{
    if (!has(programs, program) && xy_vec_append(programs, &program) != XY_OK)
        return xy_fail_memory("loading a plug-in");
    return XY_OK;
}

/* The plug-in and, breadth first, the plug-ins it needs. */
static xy_status_t fill_family(mpi_program_t *plugin)
{
    xy_vec_t *family = &plugin->family;
    xy_status_t st = append(family, plugin);

    for (size_t i = 0; i < family->count && st == XY_OK; i++) {
        const xy_vec_t *needed = &elf_of(XY_VEC_AT(family, mpi_program_t *, i))->needed;

        for (size_t k = 0; k < needed->count && st == XY_OK; k++) {
            mpi_program_t *other =
                mpi_plugin_find(plugin->parent, XY_VEC_AT(needed, const char *, k));

            st = other != NULL ? append(family, other) : XY_OK;
        }
    }
    return st;
}

/* Where a file that was loaded for the plug-in `root` looks for symbols. */
static xy_status_t fill_scope(mpi_program_t *plugin, const mpi_program_t *root)
{
    xy_vec_t *scope = &plugin->scope;
    xy_status_t st = append(scope, plugin->parent);

    for (mpi_program_t *p = plugin->parent->plugins; p != NULL && st == XY_OK; p = p->next)
        st = p->is_global ? append(scope, p) : XY_OK;
    for (size_t i = 0; i < root->family.count && st == XY_OK; i++)
        st = append(scope, XY_VEC_AT(&root->family, mpi_program_t *, i));
    for (size_t i = 0; i < scope->count; i++)
        if (XY_VEC_AT(scope, const mpi_program_t *, i) == plugin)
            plugin->self = i;
    return st;
}

/* The modules that were found become plug-ins, at the end of the parent's list. */
static xy_status_t divide(mpi_program_t *all, mpi_program_t ***end_p)
{
    mpi_module_t *modules = all->modules.data;
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < all->modules.count && st == XY_OK; i++) {
        mpi_program_t *plugin = mpi_program_new(modules[i].elf->path, &all->config, all->parent);

        if (plugin == NULL || xy_vec_append(&plugin->modules, &modules[i]) != XY_OK) {
            mpi_program_destroy(plugin);
            return xy_fail_memory("loading a plug-in");
        }
        modules[i].elf = NULL;
        plugin->binds_now = all->binds_now;
        **end_p = plugin;
        *end_p = &plugin->next;
        st = mpi_program_place_locals(plugin, &plugin->config);
        if (st == XY_OK)
            st = mpi_program_lay_out(plugin);
    }
    return st;
}

/* Resolve the new ones: `first` and those behind it in the list. */
static xy_status_t resolve(mpi_program_t *first)
{
    xy_status_t st = XY_OK;

    for (mpi_program_t *p = first; p != NULL && st == XY_OK; p = p->next)
        st = fill_family(p);
    for (mpi_program_t *p = first; p != NULL && st == XY_OK; p = p->next) {
        st = fill_scope(p, first);
        if (st == XY_OK)
            st = mpi_program_resolve(p);
    }
    for (mpi_program_t *p = first; p != NULL && st == XY_OK; p = p->next)
        st = mpi_program_register(p);
    return st;
}

static xy_status_t load(mpi_program_t *all, mpi_program_t **plugin_p)
{
    mpi_program_t **end = &all->parent->plugins, **first;
    xy_status_t st = mpi_program_gather(all, &all->config);

    while (*end != NULL)
        end = &(*end)->next;
    first = end;
    if (st == XY_OK)
        st = divide(all, &end);
    if (st == XY_OK)
        st = resolve(*first);
    while (st != XY_OK && *first != NULL) {
        mpi_program_t *plugin = *first;

        *first = plugin->next;
        mpi_program_destroy(plugin);
    }
    if (st == XY_OK)
        *plugin_p = *first;
    return st;
}

/* The process cannot be started again any more: the library is refused when it comes to that. */
static xy_status_t ignore(const xy_vec_t *libraries, bool is_verbose)
{
    (void)libraries;
    (void)is_verbose;
    return XY_OK;
}

xy_status_t mpi_plugin_load(mpi_program_t *parent, const char *path, bool binds_now,
                            mpi_program_t **plugin_p)
{
    mpi_program_config_t config = parent->config;
    mpi_program_t *all;
    xy_status_t st;

    *plugin_p = mpi_plugin_find(parent, path);
    if (*plugin_p != NULL)
        return XY_OK;
    config.must_preload = ignore;
    config.must_reserve = NULL;
    all = mpi_program_new(path, &config, parent);
    if (all == NULL)
        return xy_fail_memory("loading a plug-in");
    all->binds_now = binds_now;
    st = load(all, plugin_p);
    if (st == XY_OK && config.is_verbose)
        mpi_program_tell(all);
    mpi_program_destroy(all);
    return st;
}
