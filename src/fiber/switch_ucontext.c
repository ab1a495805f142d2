/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switch in plain C for processors without one in assembly. A context is a ucontext_t that lives on
 * the stack it describes. Each switch costs a system call (the signal mask), so this is a fallback.
 */
#include <fenv.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "fiber/switch.h"

void fiber_switch(void **save_p, void *to)
{
    ucontext_t here;

    *save_p = &here;
    swapcontext(&here, to);
}

void *fiber_switch_prepare(void *low, void *high, void (*entry)(void))
{
    uintptr_t top = ((uintptr_t)high - sizeof(ucontext_t)) & ~(uintptr_t)63;
    ucontext_t *context = (ucontext_t *)top;
    fenv_t modes;

    fegetenv(&modes); /* the new fiber starts with a process's modes, not with those of this one */
    fesetenv(FE_DFL_ENV);
    getcontext(context); /* fails on no system that has it */
    fesetenv(&modes);
    context->uc_link = NULL;
    context->uc_stack.ss_sp = low;
    context->uc_stack.ss_size = (size_t)(top - (uintptr_t)low);
    makecontext(context, entry, 0);
    return context;
}
