/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a source before clang reads it as C: OpenMP and CUDA are marked or taken out, and
 * each letter that stays is where it was. */
#ifndef XY_PROGRAM_SCAN_SOURCE_H
#define XY_PROGRAM_SCAN_SOURCE_H

#include "program/scan_internal.h"

/* Headers that clang finds beside mpi.h. */
extern const char scan_omp_h[], scan_cuda_h[];

/* The text of a file, in the arena. EUNSUPPORTED: it is of a language that is not read. */
char *scan_source_read(xy_scan_t *scan, const char *path);
bool scan_source_is_cuda(const char *path);

/* Behind a comment or a literal that begins here; else behind one letter. Counts the lines in it.
 */
char *scan_skip_token(char *s, long *line_p);

void scan_openmp_rewrite(xy_scan_t *scan, const char *path, char *text);
void scan_cuda_rewrite(xy_scan_t *scan, const char *path, char *text);

#endif
