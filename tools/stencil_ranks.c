/* SPDX-License-Identifier: BSD-3-Clause */
#include "stencil_ranks.h"

#include <stdlib.h>

#if XYLEM_HAS_MPI
#include <xylem_tasks_mpi.h>

bool stencil_ranks_are_several(void)
{
    const char *size = getenv("PMI_SIZE");
    long n;

    return size != NULL && xy_parse_long(size, &n) && n > 1;
}

static xy_status_t fail_mpi(void)
{
    return xy_fail(XY_EIO, "MPI could not be made ready for several ranks");
}

xy_status_t stencil_ranks_begin(xylem_messages *messages)
{
    int is_ready = 0;

    if (MPI_Initialized(&is_ready) != MPI_SUCCESS ||
        (!is_ready && MPI_Init(NULL, NULL) != MPI_SUCCESS))
        return fail_mpi();
    return xylem_tasks_mpi_open(MPI_COMM_WORLD, messages) == MPI_SUCCESS ? XY_OK : fail_mpi();
}

xy_status_t stencil_ranks_end(xylem_messages *messages, xy_status_t status)
{
    if (status != XY_OK)
        MPI_Abort(MPI_COMM_WORLD, status == XY_EUSAGE ? 2 : 1);
    xylem_tasks_mpi_close(messages);
    MPI_Finalize();
    return status;
}
#else
bool stencil_ranks_are_several(void)
{
    return false;
}

xy_status_t stencil_ranks_begin(xylem_messages *messages)
{
    (void)messages;
    return XY_EUNSUPPORTED;
}

xy_status_t stencil_ranks_end(xylem_messages *messages, xy_status_t status)
{
    (void)messages;
    return status;
}
#endif
