/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XY_TOOLS_FIND_LINE_H
#define XY_TOOLS_FIND_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* "PROGRAM+0x11d4", a place in a trace, becomes "ring.c:25". False: its line is not known. */
bool find_line(const char *site, char *text, size_t size);

#endif
