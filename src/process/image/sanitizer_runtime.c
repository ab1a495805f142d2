/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtimes of -fsanitize. That of the address sanitizer replaces malloc and much of the C
 * library, so it must stand before everything else when the host starts; it also wants to find
 * the functions of the C++ runtime that throw, if a process will use them. That of the thread
 * sanitizer watches threads, which processes are not. A runtime that is part of the program cannot
 * be shared by several processes.
 */
#include <dlfcn.h>
#include <string.h>

#include "process/image/collect.h"

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static bool is_thread_sanitizer(const char *name)
{
    return begins(name, "libtsan.so") || begins(name, "libclang_rt.tsan");
}

static bool must_be_first(const char *name)
{
    return begins(name, "libasan.so") || begins(name, "libclang_rt.asan");
}

/* A launcher that is itself compiled with it tells its runtime of all processes. */
static xy_status_t check_threads(const process_elf_t *elf)
{
    if (dlsym(RTLD_DEFAULT, "__tsan_init") != NULL)
        return XY_OK;
    return xy_fail_at(XY_EUNSUPPORTED, elf->path, 0,
                      "the program is compiled with -fsanitize=thread, which watches threads, but "
                      "ranks are none; -fsanitize=address,undefined works");
}

/* It finds nothing in processes: a clean run would mean nothing. */
static xy_status_t refuse_leaks(const process_elf_t *elf)
{
    return xy_fail_at(XY_EUNSUPPORTED, elf->path, 0,
                      "-fsanitize=leak alone does not see ranks; -fsanitize=address finds leaks, "
                      "too");
}

static xy_status_t check_own_runtime(const process_elf_t *elf)
{
    if (process_elf_lookup(elf, "__tsan_init") != NULL)
        return check_threads(elf);
    if (process_elf_lookup(elf, "__asan_init") != NULL ||
        process_elf_lookup(elf, "__msan_init") != NULL ||
        process_elf_lookup(elf, "__lsan_init") != NULL)
        return xy_fail_at(XY_EUNSUPPORTED, elf->path, 0,
                          "the runtime of the sanitizer is part of the program, and ranks must "
                          "share it; link with gcc, or with clang and -shared-libasan");
    return XY_OK;
}

static xy_status_t add(process_program_t *program, const process_elf_t *elf, const char *preloaded,
                       const char *name)
{
    char *path = process_elf_find_own_library(elf, name);
    xy_status_t st = process_preload_add(program, preloaded, path != NULL ? path : name);

    xy_free(path);
    return st;
}

xy_status_t process_preload_sanitizer(process_program_t *program, const char *preloaded)
{
    const process_elf_t *elf = XY_VEC_AT(&program->modules, process_module_t, 0).elf;
    const char *const *needed = elf->needed.data;
    xy_status_t st = check_own_runtime(elf);
    bool is_found = false;

    for (size_t i = 0; i < elf->needed.count && st == XY_OK; i++) {
        if (is_thread_sanitizer(needed[i]))
            st = check_threads(elf);
        else if (begins(needed[i], "liblsan.so"))
            st = refuse_leaks(elf);
        else if (must_be_first(needed[i]))
            st = add(program, elf, preloaded, needed[i]);
        is_found |= must_be_first(needed[i]);
    }
    for (size_t i = 0; i < elf->needed.count && st == XY_OK && is_found; i++)
        if (begins(needed[i], "libstdc++.so") || begins(needed[i], "libc++.so"))
            st = add(program, elf, preloaded, needed[i]);
    return st;
}
