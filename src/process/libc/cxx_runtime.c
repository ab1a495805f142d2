/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The C++ standard streams.
 *
 * A program has its own std::cout, a copy of the library's that is made when the image is filled
 * (a copy relocation, or in the room that images have for it). The library's must be ready by then,
 * and must not be torn down while copies are in use: sync_with_stdio(false), which replaces the
 * buffers behind all of them, does nothing in a process. Its purpose, speed, is met in any case: a
 * process's stdout has its own buffer.
 */
#include <dlfcn.h>
#include <stdbool.h>

#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* std::ios_base::Init::Init(): makes the streams when the first such object appears. */
void process_prepare_cxx(void)
{
    static char object[16];
    static bool is_done;
    void (*init)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "_ZNSt8ios_base4InitC1Ev");

    if (init != NULL && !is_done) {
        is_done = true;
        init(object);
    }
}

/* std::ios_base::sync_with_stdio(bool) */
XY_INTERPOSE bool _ZNSt8ios_base15sync_with_stdioEb(bool is_synchronised)
{
    if (process_self != NULL)
        return true;
    return XY_NEXT(_ZNSt8ios_base15sync_with_stdioEb)(is_synchronised);
}
