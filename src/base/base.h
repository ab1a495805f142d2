/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ground floor: what every room uses and what knows nothing of machines or messages. This is
 * the header that other components include; each part is a chapter of its own.
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
#include "base/progress.h"
#include "base/random.h"
#include "base/status.h"
#include "base/table.h"
#include "base/text.h"
#include "base/vec.h"
#include "base/xml.h"

#endif
