/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries that must be there when the process starts.
 *
 * The dynamic linker treats a library that comes later differently from one that the program is
 * linked with in two ways. Its thread-local variables are at another distance from the thread
 * pointer in each thread, unless they find room in a small reserve; and it stands behind the C
 * library, so that an allocator or another library that puts its functions in front of those of the
 * C library does not. Where either matters, the launcher starts again with the library preloaded.
 */
#include <dlfcn.h>
#include <string.h>

#include "process/image/collect.h"
#include "process/image/lookup.h"

bool process_preload_has(const char *list, const char *name)
{
    const char *base = basename(name);
    size_t n = strlen(base);

    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ": ");
        const char *end = list + length;

        if (length >= n && memcmp(end - n, base, n) == 0 &&
            (length == n || end[-(long)n - 1] == '/'))
            return true;
        list = end + strspn(end, ": ");
    }
    return false;
}

xy_status_t process_preload_add(process_program_t *program, const char *preloaded,
                                const char *library)
{
    char *copy;

    for (size_t i = 0; i < program->preloads.count; i++)
        if (strcmp(XY_VEC_AT(&program->preloads, char *, i), library) == 0)
            return XY_OK;
    if (process_preload_has(preloaded, library))
        return XY_OK;
    copy = xy_strdup(library);
    if (copy == NULL || xy_vec_append(&program->preloads, &copy) != XY_OK)
        return xy_fail_memory("loading the program");
    return XY_OK;
}

typedef struct {
    process_program_t *program;
    const xy_vec_t *shared;
    const char *preloaded;
    size_t module; /* the module whose symbols are visited */
} choice_t;

static xy_status_t preload_runtimes(choice_t *c)
{
    const process_elf_t *elf = XY_VEC_AT(&c->program->modules, process_module_t, c->module).elf;
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < elf->needed.count && st == XY_OK; i++) {
        const char *name = XY_VEC_AT(&elf->needed, const char *, i);

        if (process_library_is_runtime(name) && !process_library_is_base(name))
            st = process_preload_add(c->program, c->preloaded, name);
    }
    return st;
}

/* A thread-local variable of a library, addressed by its distance from the thread pointer. */
static xy_status_t choose_owner(choice_t *c, const char *name)
{
    const ElfW(Sym) * symbol;

    if (process_lookup_inside(c->program, name, NULL, NULL, &symbol) != NULL)
        return XY_OK;
    for (size_t i = 0; i < c->shared->count; i++) {
        const process_elf_t *elf = XY_VEC_AT(c->shared, process_elf_t *, i);

        if (process_elf_lookup(elf, name) != NULL)
            return process_preload_add(c->program, c->preloaded, elf->path);
    }
    return preload_runtimes(c);
}

/* A function of the C library or of this one that a library of the program has put in front. */
static xy_status_t choose_interposer(choice_t *c, const char *name)
{
    const process_elf_t *program = XY_VEC_AT(&c->program->modules, process_module_t, 0).elf;
    void *found = NULL;
    Dl_info info;

    for (size_t i = 0; i < c->shared->count; i++) {
        const process_elf_t *elf = XY_VEC_AT(c->shared, process_elf_t *, i);
        const char *object;

        if (process_elf_lookup(elf, name) == NULL)
            continue;
        found = found != NULL ? found : dlsym(RTLD_DEFAULT, name);
        if (found == NULL || dladdr(found, &info) == 0)
            return XY_OK;
        object = basename(info.dli_fname);
        if (process_library_is_base(object) && process_library_stands_before(program, elf, object))
            return process_preload_add(c->program, c->preloaded, elf->path);
    }
    return XY_OK;
}

static xy_status_t choose_for_use(const char *name, unsigned type, void *argument)
{
    return process_fixup_is_distance(type) ? choose_owner(argument, name)
                                           : choose_interposer(argument, name);
}

/* Room for thread-local variables of libraries that come later is scarce: 1664 bytes by default,
 * which runtimes share. */
enum { SMALL = 256 };

static xy_status_t choose_for_itself(choice_t *c, const process_elf_t *elf)
{
    bool is_allocator = process_elf_is_allocator(elf);
    bool is_large = elf->has_static_tls && elf->tls != NULL && elf->tls->p_memsz > SMALL;

    return is_allocator || is_large ? process_preload_add(c->program, c->preloaded, elf->path)
                                    : XY_OK;
}

xy_status_t process_preload_choose(process_program_t *program, const xy_vec_t *shared,
                                   const char *preloaded)
{
    choice_t c = {.program = program, .shared = shared, .preloaded = preloaded};
    xy_status_t st = process_preload_sanitizer(program, preloaded);

    for (size_t i = 0; i < shared->count && st == XY_OK; i++)
        st = choose_for_itself(&c, XY_VEC_AT(shared, process_elf_t *, i));
    for (c.module = 0; c.module < program->modules.count && st == XY_OK; c.module++)
        st = process_library_each_use(XY_VEC_AT(&program->modules, process_module_t, c.module).elf,
                                      choose_for_use, &c);
    return st;
}
