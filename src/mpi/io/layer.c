/* SPDX-License-Identifier: BSD-3-Clause */
/* The files' part of the runtime: mail from the threads that read and write. */
#include "mpi/io/io.h"
#include "mpi/io/io_buffer.h"
#include "mpi/io/io_order.h"
#include "mpi/io/io_pool.h"
#include "mpi/io/io_represent.h"

static void end(mpi_job_t *job)
{
    (void)job;
    io_pool_cleanup();
    io_buffers_cleanup();
    io_reps_cleanup();
}

const mpi_layer_t mpi_io_layer = {.mail = {[XMPI_MAIL_FILES] = io_mail}, .job_end = end};
