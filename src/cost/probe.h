/* SPDX-License-Identifier: BSD-3-Clause */
/* The program of probe/, as a string (private to the room), made by cmake/EmbedText.cmake. */
#ifndef XY_COST_PROBE_H
#define XY_COST_PROBE_H

extern const char cost_probe_source[];

#endif
