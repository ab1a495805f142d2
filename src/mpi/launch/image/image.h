/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs, and the private images of them that ranks run.
 *
 *   elf.h       a file of the program or of a library, checked
 *   program.h   a program with its libraries, loaded once, and the images made from it
 *   runtime_ops.h  what is taken from the runtime above
 *   say.h       lines for the user
 *
 * The launcher loads each program once and places one image per rank, before any rank runs; images
 * live to the end of the process. Finding the image around an address is safe at any time, also in
 * a signal handler.
 */
#ifndef XY_MPI_LAUNCH_IMAGE_IMAGE_H
#define XY_MPI_LAUNCH_IMAGE_IMAGE_H

#include "mpi/launch/image/elf.h"
#include "mpi/launch/image/program.h"
#include "mpi/launch/image/runtime_ops.h"
#include "mpi/launch/image/say.h"

#endif
