/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of probe/, as strings (private to the component), made by cmake/EmbedText.cmake. */
#ifndef XY_MEASURE_PROBE_H
#define XY_MEASURE_PROBE_H

extern const char measure_probe_source[], measure_probe_loops[], measure_probe_pace[],
    measure_probe_trips[], measure_probe_meetings[];

#endif
