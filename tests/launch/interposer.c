/* SPDX-License-Identifier: BSD-3-Clause */
/* A library in front of the C library: getenv("WHO") is answered here, all else behind. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

char *getenv(const char *name)
{
    static char *(*next)(const char *);

    if (strcmp(name, "WHO") == 0)
        return (char *)(unsigned long)"the interposer";
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "getenv");
    return next(name);
}
