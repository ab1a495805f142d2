/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * __libc_start_main stands here before the C library's, for two reasons.
 *
 * To find `main` of an image, stripped or not: its entry point is called on a stack of its own, and
 * the first thing it does is to call __libc_start_main with main as the argument. That call does
 * not return to the image.
 *
 * Every other program (the launcher itself, a program run without a launcher) goes on to the C
 * library's function.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#include "mpi/launch/libc/interpose.h"
#include "mpi/launch/libc/process.h"

typedef int (*main_fn)(int, char **, char **);
typedef int (*start_main_fn)(main_fn, int, char **, void (*)(void), void (*)(void), void (*)(void),
                             void *);

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static _Thread_local struct {
    bool is_capturing;
    main_fn main;
    void *back[5];
} capture;

XY_INTERPOSE int __libc_start_main(main_fn main, int argc, char **argv, void (*init)(void),
                                   void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    start_main_fn next;

    if (capture.is_capturing) {
        capture.main = main;
        __builtin_longjmp(capture.back, 1);
    }
    next = (start_main_fn)dlsym(RTLD_NEXT, "__libc_start_main");
    if (next == NULL)
        abort();
    return next(main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* Jump to `entry` with the stack pointer at `stack`, as the kernel starts a program. */
static void enter(void *entry, void *stack)
{
#if defined(__x86_64__)
    __asm__ volatile("movq %1, %%rsp\n\txorl %%edx, %%edx\n\txorl %%ebp, %%ebp\n\tjmp *%0"
                     :
                     : "r"(entry), "r"(stack)
                     : "memory", "rdx");
#elif defined(__aarch64__)
    __asm__ volatile("mov sp, %1\n\tmov x0, #0\n\tmov x29, #0\n\tmov x30, #0\n\tbr %0"
                     :
                     : "r"(entry), "r"(stack)
                     : "memory", "x0");
#else
    (void)entry;
    (void)stack;
#endif
}

void *mpi_process_capture_main(void *entry)
{
    enum { SCRATCH = 64 << 10 };
    /* argc, argv (NULL), environment (NULL), auxiliary vector (AT_NULL), padding. */
    static uintptr_t first_words[8];
    char *scratch = xy_malloc(SCRATCH);
    uintptr_t *top;

    if (scratch == NULL)
        return NULL;
    top = (uintptr_t *)(((uintptr_t)scratch + SCRATCH - 256) & ~(uintptr_t)63);
    for (int i = 0; i < 8; i++)
        top[i] = first_words[i];
    capture.main = NULL;
    capture.is_capturing = true;
    if (__builtin_setjmp(capture.back) == 0)
        enter(entry, top);
    capture.is_capturing = false;
    xy_free(scratch);
    return (void *)capture.main;
}
