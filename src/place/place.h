/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placement: who goes where. This is the header that other components include; each part is a
 * chapter of its own.
 */
#ifndef XY_PLACE_PLACE_H
#define XY_PLACE_PLACE_H

#include "place/matrix.h"
#include "place/output.h"
#include "place/ranks.h"
#include "place/strategy.h"
#include "place/target.h"
#include "place/traffic.h"

#endif
