/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs, and their private images, which processes run.
 *
 *   elf.h           a file of the program or of a library, checked
 *   load_program.h  a program with its libraries, loaded once, and the images made from it
 *
 * The launcher loads each program once and places one image per process, before any process runs;
 * images live to the end of the host. Finding the image around an address is safe at any time, also
 * in a signal handler.
 */
#ifndef XY_PROCESS_IMAGE_IMAGE_H
#define XY_PROCESS_IMAGE_IMAGE_H

#include "process/image/elf.h"
#include "process/image/load_program.h"
#include "process/ops/ops.h"

#endif
