/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plug-ins of a program. The rule for libraries applies to them and to their dependencies. Two
 * plug-ins of a process share one copy of a common dependency, so each file loaded with a plug-in
 * is a program of its own, with one module and as many images as its parent. Symbols are looked up
 * in the program, in plug-ins of RTLD_GLOBAL, and in the plug-in and its dependencies.
 */
#include <string.h>
#include <sys/stat.h>

#include "process/image/collect.h"
#include "process/image/lookup.h"

enum { DEPTH = 4 };

/* Whether a library or one of its dependencies, down to `depth`, uses symbols of the program. */
static bool uses_program(const process_program_t *program, const process_elf_t *library, int depth)
{
    bool is_found = false;

    for (size_t i = 0; i < program->modules.count && !is_found; i++) {
        const process_elf_t *module = XY_VEC_AT(&program->modules, process_module_t, i).elf;

        is_found = !process_library_is_fortran(module->path) &&
                   process_library_uses(library, module) != NULL;
    }
    for (size_t i = 0; i < library->needed.count && !is_found && depth > 0; i++) {
        const char *name = XY_VEC_AT(&library->needed, const char *, i);
        char *path = process_library_is_fortran(name) || process_library_known(name) != NULL
                         ? NULL
                         : process_elf_find_own_library(library, name);
        process_elf_t *needed;

        if (path != NULL && process_elf_open(path, &needed) == XY_OK) {
            is_found = uses_program(program, needed, depth - 1);
            process_elf_close(needed);
        }
        xy_free(path);
    }
    return is_found;
}

bool process_plugin_uses_program(const process_program_t *program, const char *path)
{
    process_elf_t *elf;
    bool is_found;

    if (process_elf_open(path, &elf) != XY_OK)
        return false;
    is_found = elf->kind == PROCESS_ELF_LIBRARY && uses_program(program, elf, DEPTH);
    process_elf_close(elf);
    return is_found;
}

/* ---- What is loaded ---- */

/* By the name without directories, as libraries are needed; or by the file. */
static bool is_file(const process_elf_t *elf, const char *path, const struct stat *about)
{
    if (strchr(path, '/') == NULL)
        return process_library_has_name(elf, path);
    return elf->device == about->st_dev && elf->number == about->st_ino;
}

const process_module_t *process_program_find_module(const process_program_t *program,
                                                    const char *path)
{
    const process_module_t *modules = program->modules.data;
    struct stat about;

    if (strchr(path, '/') != NULL && stat(path, &about) != 0)
        return NULL;
    for (size_t i = 0; i < program->modules.count; i++)
        if (is_file(modules[i].elf, path, &about))
            return &modules[i];
    return NULL;
}

process_program_t *process_plugin_find(const process_program_t *program, const char *path)
{
    for (process_program_t *p = program->plugins; p != NULL; p = p->next)
        if (process_program_find_module(p, path) != NULL)
            return p;
    return NULL;
}

bool process_library_is_module(const process_program_t *program, const char *name)
{
    for (; program != NULL; program = program->parent)
        if (process_program_find_module(program, basename(name)) != NULL ||
            process_plugin_find(program, basename(name)) != NULL)
            return true;
    return false;
}

/* ---- Loading ---- */

static const process_elf_t *elf_of(const process_program_t *plugin)
{
    return XY_VEC_AT(&plugin->modules, process_module_t, 0).elf;
}

static bool has(const xy_vec_t *programs, const process_program_t *program)
{
    for (size_t i = 0; i < programs->count; i++)
        if (XY_VEC_AT(programs, const process_program_t *, i) == program)
            return true;
    return false;
}

bool process_plugin_needs(const process_program_t *plugin, const process_program_t *other)
{
    return plugin != other && has(&plugin->family, other);
}

static xy_status_t append(xy_vec_t *programs, process_program_t *program)
{
    if (!has(programs, program) && xy_vec_append(programs, &program) != XY_OK)
        return xy_fail_memory("loading a plug-in");
    return XY_OK;
}

/* The plug-in and, breadth first, the plug-ins it needs. */
static xy_status_t fill_family(process_program_t *plugin)
{
    xy_vec_t *family = &plugin->family;
    xy_status_t st = append(family, plugin);

    for (size_t i = 0; i < family->count && st == XY_OK; i++) {
        const xy_vec_t *needed = &elf_of(XY_VEC_AT(family, process_program_t *, i))->needed;

        for (size_t k = 0; k < needed->count && st == XY_OK; k++) {
            process_program_t *other =
                process_plugin_find(plugin->parent, XY_VEC_AT(needed, const char *, k));

            st = other != NULL ? append(family, other) : XY_OK;
        }
    }
    return st;
}

/* Where a file that was loaded for the plug-in `root` looks for symbols. */
static xy_status_t fill_scope(process_program_t *plugin, const process_program_t *root)
{
    xy_vec_t *scope = &plugin->scope;
    xy_status_t st = append(scope, plugin->parent);

    for (process_program_t *p = plugin->parent->plugins; p != NULL && st == XY_OK; p = p->next)
        st = p->is_global ? append(scope, p) : XY_OK;
    for (size_t i = 0; i < root->family.count && st == XY_OK; i++)
        st = append(scope, XY_VEC_AT(&root->family, process_program_t *, i));
    for (size_t i = 0; i < scope->count; i++)
        if (XY_VEC_AT(scope, const process_program_t *, i) == plugin)
            plugin->self = i;
    return st;
}

/* The modules that were found become plug-ins, at the end of the parent's list. */
static xy_status_t divide(process_program_t *all, process_program_t ***end_p)
{
    process_module_t *modules = all->modules.data;
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < all->modules.count && st == XY_OK; i++) {
        process_program_t *plugin =
            process_program_new(modules[i].elf->path, &all->config, all->parent);

        if (plugin == NULL || xy_vec_append(&plugin->modules, &modules[i]) != XY_OK) {
            process_program_destroy(plugin);
            return xy_fail_memory("loading a plug-in");
        }
        modules[i].elf = NULL;
        plugin->binds_now = all->binds_now;
        **end_p = plugin;
        *end_p = &plugin->next;
        st = process_program_place_locals(plugin, &plugin->config);
        if (st == XY_OK)
            st = process_program_lay_out(plugin);
    }
    return st;
}

/* Resolve the new ones: `first` and those behind it in the list. */
static xy_status_t resolve(process_program_t *first)
{
    xy_status_t st = XY_OK;

    for (process_program_t *p = first; p != NULL && st == XY_OK; p = p->next)
        st = fill_family(p);
    for (process_program_t *p = first; p != NULL && st == XY_OK; p = p->next) {
        st = fill_scope(p, first);
        if (st == XY_OK)
            st = process_program_resolve(p);
    }
    for (process_program_t *p = first; p != NULL && st == XY_OK; p = p->next)
        st = process_program_register(p);
    return st;
}

/* Load a plug-in and its dependencies behind the others of the program; on failure they are removed
 * again. */
static xy_status_t load(process_program_t *all, process_program_t **plugin_p)
{
    process_program_t **end = &all->parent->plugins, **first;
    xy_status_t st = process_program_gather(all, &all->config);

    while (*end != NULL)
        end = &(*end)->next;
    first = end;
    if (st == XY_OK)
        st = divide(all, &end);
    if (st == XY_OK)
        st = resolve(*first);
    while (st != XY_OK && *first != NULL) {
        process_program_t *plugin = *first;

        *first = plugin->next;
        process_program_destroy(plugin);
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

xy_status_t process_plugin_load(process_program_t *parent, const char *path, bool binds_now,
                                process_program_t **plugin_p)
{
    process_program_config_t config = parent->config;
    process_program_t *all;
    xy_status_t st;

    *plugin_p = process_plugin_find(parent, path);
    if (*plugin_p != NULL)
        return XY_OK;
    config.must_preload = ignore;
    config.must_reserve = NULL;
    all = process_program_new(path, &config, parent);
    if (all == NULL)
        return xy_fail_memory("loading a plug-in");
    all->binds_now = binds_now;
    st = load(all, plugin_p);
    if (st == XY_OK && config.is_verbose)
        process_program_tell(all);
    process_program_destroy(all);
    return st;
}
