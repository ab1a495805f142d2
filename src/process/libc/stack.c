/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stack of a process is that of its fiber. Garbage collectors and interpreters search it from
 * the stack pointer to its end, which they learn from pthread_getattr_np.
 */
#include <pthread.h>

#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

XY_INTERPOSE int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes)
{
    int error = XY_NEXT(pthread_getattr_np)(thread, attributes);
    void *low, *high;

    if (error != 0 || !process_is_main() || !pthread_equal(thread, pthread_self()))
        return error;
    xy_fiber_stack(*process_self->fiber, &low, &high);
    return pthread_attr_setstack(attributes, low, (size_t)((char *)high - (char *)low));
}
