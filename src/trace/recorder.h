/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the recorder and the merging of recordings (private to the component). */
#ifndef XY_TRACE_RECORDER_H
#define XY_TRACE_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#include "trace/record.h"

/* Append bytes to the file as they are; after the first error nothing is written. */
void trace_append(xy_trace_t *trace, const uint8_t *data, size_t n);
/* A definition of the file: `type`, numbers, then a name or two where they are not NULL. */
void trace_define(xy_trace_t *trace, uint8_t type, const uint64_t *numbers, size_t count,
                  const char *name, const char *more);

#endif
