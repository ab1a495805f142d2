/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library in front of the processes that mpiexec starts and does not load itself: scripts,
 * interpreters, programs that are not linked with Xylem. A program that is compiled for another MPI
 * would be a job of one rank in each of them, and look like success. So it is refused when it
 * initialises that MPI, whatever has loaded it: the linker, a plug-in, dlopen. Programs that use
 * Xylem pass through, and so do processes that the launcher of the other MPI has started.
 *
 * It is a library of its own, with the C library alone below it (LD_PRELOAD, see
 * rank_environment.c).
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/other_mpi.h"

#define EXPORTED __attribute__((visibility("default")))

typedef void *(*symbol_fn)(void *, const char *);
typedef long (*init_fn)(long, long, long, long);

/* The dlsym of the C library. */
static symbol_fn real_symbol(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    static symbol_fn found;

    for (size_t i = 0; found == NULL && i < sizeof(versions) / sizeof(versions[0]); i++)
        *(void **)&found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    return found;
}

/* Is this one of several that Xylem's mpiexec has started, and not another launcher below it? The
 * environment says so until Xylem's MPI_Init. */
static bool is_one_of_several;
static char job[64];

__attribute__((constructor)) static void note_launcher(void)
{
    static const char *const of_others[] = {"PMIX_NAMESPACE", "PMI_FD", "PMI_PORT"};
    const char *launched = getenv("XYLEM_LAUNCHED"), *size = getenv("PMI_SIZE");

    for (size_t i = 0; i < sizeof(of_others) / sizeof(of_others[0]); i++)
        if (getenv(of_others[i]) != NULL)
            return;
    is_one_of_several = launched != NULL && strncmp(launched, "process:", 8) == 0 && size != NULL &&
                        strtol(size, NULL, 10) > 1;
    if (is_one_of_several)
        snprintf(job, sizeof(job), "%s", launched);
}

/* Is this the first process of the job here that comes? */
static bool is_first(void)
{
    struct sockaddr_un address;
    socklen_t size = mpi_other_claim(job, &address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    return connect(fd, (struct sockaddr *)&address, size) == 0 || errno != EAGAIN;
}

/* The message is printed by one process of the job. */
static void refuse(const char *library) __attribute__((noreturn));
static void refuse(const char *library)
{
    if (is_first())
        fprintf(stderr, "mpiexec: " XMPI_OTHER_REFUSED "\n", program_invocation_name, library);
    _exit(1);
}

/* The object around an address; NULL: none. */
static const struct link_map *object_of(const void *address)
{
    struct link_map *map = NULL;
    Dl_info info;

    return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 ? map : NULL;
}

/* Look for a function in an object and in those it was linked with. */
static void *find_in(const struct link_map *object, const char *name)
{
    void *handle = object != NULL && object->l_name[0] != '\0'
                       ? dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD)
                       : NULL;

    return handle != NULL ? real_symbol()(handle, name) : NULL;
}

/* The function of the first MPI library in a list of objects; NULL: there is none. */
static void *find_from(const struct link_map *object, const char *name)
{
    void *found = NULL;

    for (; found == NULL && object != NULL; object = object->l_next)
        if (strncmp(mpi_other_name(object), "libmpi_abi.so", 13) == 0 ||
            mpi_other_is_library(mpi_other_name(object)))
            found = find_in(object, name);
    return found;
}

/* The list of all objects. A mpiexec that is one of the processes has copied this library for its
 * ranks, so that the list must be found by another one. */
static const struct link_map *first_object(void)
{
    const struct link_map *object = object_of((void *)getenv);

    while (object != NULL && object->l_prev != NULL)
        object = object->l_prev;
    return object;
}

/* Is it a library that stands in for that of another MPI? They lie in directories beside this one.
 */
static bool stands_in(const struct link_map *object)
{
    const struct link_map *own = object_of((const void *)(uintptr_t)is_first);
    const char *slash = own != NULL ? strrchr(own->l_name, '/') : NULL;
    size_t length = slash != NULL ? (size_t)(slash + 1 - own->l_name) : 0;

    return length > 0 && strncmp(object->l_name, own->l_name, length) == 0 &&
           strchr(object->l_name + length, '/') != NULL;
}

/* The name of the other MPI that the function belongs to; NULL: of none, or of one that has a
 * library that stands in for it. */
static const char *foreign_of(const void *function)
{
    const struct link_map *object = function != NULL ? object_of(function) : NULL;
    const char *name = object != NULL ? mpi_other_name(object) : "";

    return mpi_other_is_library(name) && !stands_in(object) ? name : NULL;
}

/* The function that the caller would have without this library: that of the program and what is
 * loaded with it, else one of the caller's own libraries, else of any loaded later. */
static init_fn find(const char *name, const void *caller)
{
    void *function = real_symbol()(RTLD_NEXT, name);
    void *own = find_in(object_of(caller), name);
    init_fn found;

    if (function == NULL || (foreign_of(own) != NULL && is_one_of_several))
        function = own;
    if (function == NULL)
        function = find_from(first_object(), name);
    if (function == NULL) {
        fprintf(stderr, "mpiexec: %s: no loaded library defines %s\n", program_invocation_name,
                name);
        _exit(1);
    }
    if (foreign_of(function) != NULL && is_one_of_several)
        refuse(foreign_of(function));
    memcpy(&found, &function, sizeof(found));
    return found;
}

/* Their arguments are pointers and integers: this serves all. */
#define GUARD(name)                                                                                \
    EXPORTED long name(long a, long b, long c, long d);                                            \
    long name(long a, long b, long c, long d)                                                      \
    {                                                                                              \
        return find(#name, __builtin_return_address(0))(a, b, c, d);                               \
    }

GUARD(MPI_Init)
GUARD(PMPI_Init)
GUARD(MPI_Init_thread)
GUARD(PMPI_Init_thread)
GUARD(MPI_Session_init)
GUARD(PMPI_Session_init)

static const char *asked_for;

static void refuse_asked(void)
{
    refuse(asked_for);
}

/* A program that asks for such a function of another MPI by name gets one that refuses. The last
 * call must be a jump: the C library looks at who calls it. */
EXPORTED void *dlsym(void *handle, const char *name)
{
    const struct link_map *caller;
    symbol_fn next = real_symbol();
    void *found;

    if (!mpi_other_is_init(name))
        return next(handle, name);
    caller = handle == RTLD_NEXT ? object_of(__builtin_return_address(0)) : NULL;
    found = caller != NULL ? find_from(caller->l_next, name) : next(handle, name);
    if (found == NULL || foreign_of(found) == NULL || !is_one_of_several)
        return found;
    asked_for = foreign_of(found);
    return (void *)refuse_asked;
}
