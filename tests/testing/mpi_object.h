/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For unit tests of calls that need no running job: errors are read instead of handled, and there
 * is a rank with a communicator. Linked with --wrap=mpi_error.
 */
#ifndef XY_TESTING_MPI_OBJECT_H
#define XY_TESTING_MPI_OBJECT_H

#include <stdarg.h>
#include <stdio.h>

#include "mpi/object/comm.h"
#include "mpi/object/error.h"

/* Weak: the runtime's own wins when other files of the library bring it in. */
__attribute__((weak)) _Thread_local mpi_rank_t *mpi_self __attribute__((tls_model("initial-exec")));

static char test_message[512];
static int test_class;

int __wrap_mpi_error(mpi_comm_t *comm, int error_class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int __wrap_mpi_error(mpi_comm_t *comm, int error_class, const char *format, ...)
{
    va_list arguments;

    (void)comm;
    va_start(arguments, format);
    vsnprintf(test_message, sizeof test_message, format, arguments);
    va_end(arguments);
    test_class = error_class;
    return error_class;
}

/* Make the calling thread a rank with MPI_COMM_WORLD. */
static inline void test_become_rank(void)
{
    static mpi_comm_t world = {.mark = XMPI_COMM_LIVE, .size = 1};
    static mpi_rank_t self = {.comm_world = &world, .named_world = &world};

    mpi_self = &self;
}

#endif
