/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Used by every component; it knows nothing of machines, messages or tasks. This is the header that
 * other components include; each part is a chapter of its own:
 *
 *   status.h    status codes, and the one place where errors are reported
 *   memory.h    malloc that can be made to fail, and an arena
 *   vec.h hash.h heap.h bitset.h   containers
 *   text.h random.h clock.h        numbers and sizes as text, repeatable random numbers, clocks
 *   file.h xml.h json.h            files read whole and written safely, XML in, JSON out
 *   option.h table.h               command lines, and tables of strategies, each described once
 *   plugin.h                       tables of the user, in shared objects
 *   progress.h                     a progress bar on a terminal
 *
 * Containers belong to one thread at a time. Reporting and memory may be used from any thread, and
 * nothing in here parks a fiber.
 */
#ifndef XY_BASE_BASE_H
#define XY_BASE_BASE_H

#include "base/bitset.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/option.h"
#include "base/plugin.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/status.h"
#include "base/table.h"
#include "base/text.h"
#include "base/vec.h"
#include "base/xml.h"

#endif
