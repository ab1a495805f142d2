/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples that contradict their neighbours.
 *
 *            o           a few samples that are far above where the samples before and after them
 *   o  o  o     o  o     put them: a disturbance that was not noticed, or a size of its own, of
 *                        which no polynomial can tell
 *   o  o  o  .  .  .     no outlier: the samples after it agree with it, it is a jump
 *
 * Only slow samples are doubted: disturbances add time.
 */
#ifndef XY_COST_OUTLIER_H
#define XY_COST_OUTLIER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

/* Mark the outliers among n samples with x > 0 increasing and t > 0; *count_p: how many. They are
 * those that the cheapest explanation by parabolas in logarithms leaves out (segment.h), at least a
 * fifth above. `expected` (NULL: not wanted) gets what the parabola says at each sample. ENOMEM is
 * reported. */
xy_status_t xy_outliers(const double *x, const double *t, size_t n, bool *is_out, size_t *count_p,
                        double *expected);

#endif
