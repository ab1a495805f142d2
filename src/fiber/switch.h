/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contexts: the saved state of a suspended function. One implementation per processor
 * (switch_x86_64.S, switch_aarch64.S) and one in plain C.
 *
 *   to = fiber_switch_prepare(low, high, entry);
 *   fiber_switch(&from, to);        (runs entry on the stack [low, high); back when it switches)
 */
#ifndef XY_FIBER_SWITCH_H
#define XY_FIBER_SWITCH_H

/* Save the running context in *save_p and continue in `to`. A context is used once. Registers that
 * calls preserve, the floating-point modes and the exception flags belong to the context; the
 * signal mask does not (a system call per switch otherwise). */
void fiber_switch(void **save_p, void *to);

/* Where the running stack ends now. */
static inline const char *fiber_stack_pointer(void)
{
    const char *sp;

#if defined(__x86_64__)
    __asm__ volatile("movq %%rsp, %0" : "=r"(sp));
#elif defined(__aarch64__)
    __asm__ volatile("mov %0, sp" : "=r"(sp));
#else
    sp = __builtin_frame_address(0);
#endif
    return sp;
}

/* A context that calls `entry` on the empty stack [low, high). `entry` must not return. */
void *fiber_switch_prepare(void *low, void *high, void (*entry)(void));

#endif
