/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * __libc_start_main stands here before the C library's, for two reasons.
 *
 * To find `main` of an image, stripped or not: its entry point is called on a stack of its own, and
 * the first thing it does is to call __libc_start_main with main as the argument. That call does
 * not return to the image.
 *
 * Every other program (the launcher itself, a program run without a launcher) continues to the C
 * library's function.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

typedef int (*main_fn)(int, char **, char **);
typedef int (*start_main_fn)(main_fn, int, char **, void (*)(void), void (*)(void), void (*)(void),
                             void *);

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static _Thread_local struct {
    bool is_capturing;
    main_fn main;
    void *back;
} capture;

/* enter() jumps to `entry` with the stack pointer at `stack`, as the kernel starts a program, and
 * returns when come_back() is called there. What a call preserves is kept on the stack, whose
 * pointer is kept in `back`. */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
        ".hidden process_capture_jump\n"
        ".globl process_capture_jump\n"
        ".type process_capture_jump, @function\n"
        "process_capture_jump:\n" /* (entry, stack, back) */
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    pushq %rbp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    .cfi_offset rbp, -16\n"
        "    pushq %rbx\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    pushq %r12\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    pushq %r13\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    pushq %r14\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    pushq %r15\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    movq %rsp, (%rdx)\n"
        "    movq %rsi, %rsp\n"
        "    xorl %edx, %edx\n"
        "    xorl %ebp, %ebp\n"
        "    jmp *%rdi\n"
        "    .cfi_endproc\n"
        ".size process_capture_jump, . - process_capture_jump\n"
        ".hidden process_capture_return\n"
        ".globl process_capture_return\n"
        ".type process_capture_return, @function\n"
        "process_capture_return:\n" /* (back) */
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    movq %rdi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size process_capture_return, . - process_capture_return\n"
        ".popsection\n");
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
        ".hidden process_capture_jump\n"
        ".globl process_capture_jump\n"
        ".type process_capture_jump, %function\n"
        "process_capture_jump:\n" /* (entry, stack, back) */
        "    .cfi_startproc\n"
        "    hint 34\n" /* bti c */
        "    stp x29, x30, [sp, #-160]!\n"
        "    .cfi_def_cfa_offset 160\n"
        "    .cfi_offset x29, -160\n"
        "    .cfi_offset x30, -152\n"
        "    stp x19, x20, [sp, #16]\n"
        "    stp x21, x22, [sp, #32]\n"
        "    stp x23, x24, [sp, #48]\n"
        "    stp x25, x26, [sp, #64]\n"
        "    stp x27, x28, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x2]\n"
        "    mov sp, x1\n"
        "    mov x16, x0\n"
        "    mov x0, #0\n"
        "    mov x29, #0\n"
        "    mov x30, #0\n"
        "    br x16\n"
        "    .cfi_endproc\n"
        ".size process_capture_jump, . - process_capture_jump\n"
        ".hidden process_capture_return\n"
        ".globl process_capture_return\n"
        ".type process_capture_return, %function\n"
        "process_capture_return:\n" /* (back) */
        "    .cfi_startproc\n"
        "    hint 34\n"
        "    mov sp, x0\n"
        "    ldp x19, x20, [sp, #16]\n"
        "    ldp x21, x22, [sp, #32]\n"
        "    ldp x23, x24, [sp, #48]\n"
        "    ldp x25, x26, [sp, #64]\n"
        "    ldp x27, x28, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    ldp x29, x30, [sp], #160\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size process_capture_return, . - process_capture_return\n"
        ".popsection\n");
#endif

#if defined(__x86_64__) || defined(__aarch64__)
void process_capture_jump(void *entry, void *stack, void **back)
    __attribute__((visibility("hidden")));
_Noreturn void process_capture_return(void *back) __attribute__((visibility("hidden")));

static void enter(void *entry, void *stack)
{
    process_capture_jump(entry, stack, &capture.back);
}

static _Noreturn void come_back(void)
{
    process_capture_return(capture.back);
}
#else
static void enter(void *entry, void *stack)
{
    (void)entry;
    (void)stack;
}

static _Noreturn void come_back(void)
{
    abort();
}
#endif

XY_INTERPOSE int __libc_start_main(main_fn main, int argc, char **argv, void (*init)(void),
                                   void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    start_main_fn next;

    if (capture.is_capturing) {
        capture.main = main;
        come_back();
    }
    next = (start_main_fn)dlsym(RTLD_NEXT, "__libc_start_main");
    if (next == NULL)
        abort();
    return next(main, argc, argv, init, fini, rtld_fini, stack_end);
}

void *process_capture_main(void *entry)
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
    enter(entry, top);
    capture.is_capturing = false;
    xy_free(scratch);
    return (void *)capture.main;
}
