/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace is a set of rows (cores, ranks, links), each with states over time, messages between
 * rows, counters and marks. Both engines, in real and in virtual time, record the same trace, and
 * every picture is drawn from one. This is the header that other components include; each part is a
 * chapter of its own:
 *
 *   record.h  recording, cheap enough to be always there
 *   merge.h   recordings of several processes into one file
 *   log.h     reading a trace file, damaged or not, into memory
 *   report.h  its output: summary, Pajé, Chrome/Perfetto, the page
 *
 * The runtime, the simulators and the task engines record; `xylem view` reads and reports. A row is
 * filled by one thread at a time without locks, and different rows by different threads; a log and
 * a summary never change once they are made.
 */
#ifndef XY_TRACE_TRACE_H
#define XY_TRACE_TRACE_H

#include "trace/log.h"
#include "trace/merge.h"
#include "trace/record.h"
#include "trace/report.h"

#endif
