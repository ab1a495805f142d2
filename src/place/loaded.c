/* SPDX-License-Identifier: BSD-3-Clause */
#include "place/loaded.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool find(void *library, const place_symbol_t *symbols)
{
    for (; symbols->name != NULL; symbols++) {
        void *address = dlsym(library, symbols->name);

        if (address == NULL)
            return false;
        /* C has no conversion from data to functions; POSIX says that the bits are the same. */
        memcpy(symbols->function, &address, sizeof(address));
    }
    return true;
}

bool place_library_load(const char *const *files, const place_symbol_t *symbols)
{
    bool is_found = false;

    pthread_mutex_lock(&lock);
    for (; !is_found && *files != NULL; files++) {
        void *library = dlopen(*files, RTLD_NOW | RTLD_LOCAL);

        is_found = library != NULL && find(library, symbols);
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}

xy_status_t place_library_fail(const char *strategy, const char *library)
{
    if (library == NULL)
        return xy_fail(XY_EUNSUPPORTED,
                       "strategy %s is not in this build; install lib%s-dev and build again",
                       strategy, strategy);
    return xy_fail(XY_EUNSUPPORTED,
                   "strategy %s cannot load %s; install it, or choose another strategy", strategy,
                   library);
}
