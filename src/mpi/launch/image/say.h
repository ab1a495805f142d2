/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XY_MPI_LAUNCH_IMAGE_SAY_H
#define XY_MPI_LAUNCH_IMAGE_SAY_H

/* One line on standard error, "NAME: ...", with one write. Safe in signal handlers. */
void mpi_launch_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
