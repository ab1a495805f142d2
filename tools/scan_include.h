/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XY_TOOLS_SCAN_INCLUDE_H
#define XY_TOOLS_SCAN_INCLUDE_H

#include "base/base.h"

/* Where this command has its mpi.h: beside the directory that it is in, in an installed tree and in
 * a build tree. The caller frees *include_p. */
xy_status_t scan_find_include(char **include_p);

#endif
