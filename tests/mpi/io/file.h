/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of the tests: a name that no other run has, the same on all ranks. */
#ifndef XY_TESTS_MPI_IO_FILE_H
#define XY_TESTS_MPI_IO_FILE_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../check.h"

enum { NAME = 256 };

static inline void file_name(char name[NAME], const char *what)
{
    const char *directory = getenv("TMPDIR");
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        snprintf(name, NAME, "%s/xylem-io-%s-%ld", directory != NULL ? directory : "/tmp", what,
                 (long)getpid());
    MPI_Bcast(name, NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static inline MPI_File file_open(const char *name, int amode)
{
    MPI_File file;

    CHECK_EQUAL(MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file), MPI_SUCCESS);
    return file;
}

#endif
