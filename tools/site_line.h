/* SPDX-License-Identifier: BSD-3-Clause */
/* Places of programs as lines of source. */
#ifndef XY_TOOLS_SITE_LINE_H
#define XY_TOOLS_SITE_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* "PROGRAM+0x11d4" becomes "ring.c:25". False: the line is not known. */
bool site_line_find(const char *site, char *text, size_t size);

#endif
