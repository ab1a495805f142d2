/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports about one-sided communication. */
#ifndef XY_MPI_CHECK_WINDOWS_H
#define XY_MPI_CHECK_WINDOWS_H

#include "mpi/runtime/runtime.h"

/* ", for rank 0, which rank 1 has locked exclusively": what the call `name`, which begins with
 * MPI_Win_, waits for; or nothing. Any thread. */
void check_describe_window(const char *name, const mpi_call_t *call, char *text, size_t size);

#endif
