/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recognising and refusing other MPI libraries, for ranks (other_mpi.c), for processes
 * (foreign.c) and for the launcher. Only the C library stands below.
 */
#ifndef XY_LAUNCH_OTHER_MPI_H
#define XY_LAUNCH_OTHER_MPI_H

#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Its arguments: the program and the library. */
#define XMPI_OTHER_REFUSED                                                                         \
    "%s uses another MPI (%s), and each of its ranks would be a job of its own; compile it with "  \
    "the mpicc of Xylem, or start it with the mpirun of that MPI"

/* A socket at this address, of the launcher of the processes with this XYLEM_LAUNCHED, has room for
 * one connection and accepts none: the process that connects reports a refusal, the others find no
 * room. An abstract name; returns the size of the address. */
static inline socklen_t mpi_other_claim(const char *launched, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "xylem-refused-%.*s",
             (int)strcspn(launched, ","), launched);
    return sizeof(*address);
}

/* Is a library of this name the library with the C functions of Open MPI or MPICH (libmpi.so.12 and
 * libmpich.so.12), or of a library derived from one of them? */
static inline bool mpi_other_is_library(const char *name)
{
    static const char *const names[] = {"libmpi.so.", "libmpich.so.", "libmpi_ibm.so."};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

enum { XMPI_OTHER_NAME = 256 };

/* Write the name with the version of the ABI, libmpi.so.40, of a library of an MPI that is asked
 * for by it, as libmpi.so.40.30.4, or by the path of a link to such a file (libmpi.so). False: it
 * is none. */
static inline bool mpi_other_versioned(const char *path, char *name)
{
    const char *base = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path, *version;
    char real[PATH_MAX];

    if (strncmp(base, "libmpi", 6) != 0)
        return false;
    if (strstr(base, ".so.") == NULL && base > path && realpath(path, real) != NULL)
        base = strrchr(real, '/') + 1;
    version = strstr(base, ".so.");
    if (version == NULL)
        return false;
    version += strlen(".so.");
    snprintf(name, XMPI_OTHER_NAME, "%.*s", (int)(version - base + (long)strcspn(version, ".")),
             base);
    return true;
}

/* Is it a function that initialises MPI? Without strcmp: a sanitizer that has one in front of the C
 * library's calls dlsym before it is ready. */
static inline bool mpi_other_is_init(const char *name)
{
    static const char *const names[] = {"MPI_Init", "MPI_Init_thread", "MPI_Session_init"};

    name += name[0] == 'P';
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t at = 0;

        while (name[at] != '\0' && name[at] == names[i][at])
            at++;
        if (name[at] == names[i][at])
            return true;
    }
    return false;
}

/* The name that a loaded library gives itself, else that of its file. */
static inline const char *mpi_other_name(const struct link_map *library)
{
    const char *slash = strrchr(library->l_name, '/'), *strings = NULL;
    size_t soname = 0;

    for (const ElfW(Dyn) *d = library->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_SONAME)
            soname = d->d_un.d_val;
        else if (d->d_tag == DT_STRTAB)
            strings = (const char *)d->d_un.d_ptr;
    if (soname != 0 && (uintptr_t)strings >= library->l_addr) /* the kernel's is not relocated */
        return strings + soname;
    return slash != NULL ? slash + 1 : library->l_name;
}

/* For private libraries: a function that refuses the job, where `name` initialises another MPI. */
void *mpi_foreign_guard(const char *library, const char *name);
/* The same for an address that dlsym has found in a library that ranks share. */
void *mpi_foreign_guard_shared(const char *name, void *found);

#endif
