/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs, and the private images of them that ranks run. */
#ifndef XY_MPI_LAUNCH_IMAGE_IMAGE_H
#define XY_MPI_LAUNCH_IMAGE_IMAGE_H

#include "mpi/launch/image/elf.h"
#include "mpi/launch/image/program.h"
#include "mpi/launch/image/say.h"

#endif
