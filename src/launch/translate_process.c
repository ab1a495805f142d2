/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library for the dynamic linker of processes that mpiexec starts and does not load itself:
 * scripts, interpreters (LD_AUDIT, see rank_environment.c). A process that loads the library of
 * another MPI, when it starts or later (python3 -m mpi4py), gets the one that stands in for it
 * (src/mpi/abi), which lies beside this file in openmpi/ or mpich/. Processes that the launcher of
 * another MPI has started keep their own.
 *
 * The C library alone is below it.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/other_mpi.h"

#define EXPORTED __attribute__((visibility("default")))

/* Valgrind replaces functions of one C library only. With that of this library it would leave out
 * the program's, and report errors that are none. */
static bool is_in_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");

    return preloaded != NULL && strstr(preloaded, "/vgpreload_") != NULL;
}

/* 0: the linker forgets this library. */
EXPORTED unsigned int la_version(unsigned int version)
{
    if (is_in_valgrind())
        return 0;
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* Has a launcher of another MPI started this process? */
static bool is_of_other_launcher(void)
{
    return getenv("PMIX_NAMESPACE") != NULL || getenv("PMI_FD") != NULL ||
           getenv("PMI_PORT") != NULL;
}

/* Is there a file that stands in for a library of this name? */
static bool find(const char *name, char *path, size_t size)
{
    static const char *const abis[] = {"openmpi", "mpich"};
    const char *slash;
    Dl_info own;

    if (dladdr((const void *)(uintptr_t)la_version, &own) == 0)
        return false;
    slash = strrchr(own.dli_fname, '/');
    for (size_t i = 0; slash != NULL && i < sizeof(abis) / sizeof(abis[0]); i++) {
        snprintf(path, size, "%.*s/%s/%s", (int)(slash - own.dli_fname), own.dli_fname, abis[i],
                 name);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* Look for a link without the version of the ABI (libmpi.so) in a list of directories. */
static bool find_link(const char *list, const char *name, char *versioned)
{
    char link[4096];

    while (list != NULL && *list != '\0') {
        int length = (int)strcspn(list, ":");

        snprintf(link, sizeof(link), "%.*s/%s", length, list, name);
        if (access(link, R_OK) == 0)
            return mpi_other_versioned(link, versioned);
        list += length;
        list += *list == ':';
    }
    return false;
}

/* The name with the version of the ABI. A link that is asked for without a directory is looked for
 * where the dynamic linker would find it: in LD_LIBRARY_PATH, and beside the C library. */
static bool find_version(const char *name, char *versioned)
{
    char directory[4096] = "";
    Dl_info about;

    if (strncmp(name, "libmpi", 6) != 0 || strstr(name, ".so.") != NULL)
        return mpi_other_versioned(name, versioned);
    if (dladdr((const void *)(uintptr_t)getenv, &about) != 0 &&
        strchr(about.dli_fname, '/') != NULL)
        snprintf(directory, sizeof(directory), "%.*s",
                 (int)(strrchr(about.dli_fname, '/') - about.dli_fname), about.dli_fname);
    return find_link(getenv("LD_LIBRARY_PATH"), name, versioned) ||
           find_link(directory, name, versioned);
}

/* Called for each library, first under the name that is asked for. */
EXPORTED char *la_objsearch(const char *name, uintptr_t *cookie, unsigned int flag)
{
    static char path[4096];
    char versioned[XMPI_OTHER_NAME];

    (void)cookie;
    if (flag == LA_SER_ORIG && find_version(name, versioned) && !is_of_other_launcher() &&
        find(versioned, path, sizeof(path)))
        return path;
    return (char *)(uintptr_t)name;
}
