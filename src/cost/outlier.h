/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples that contradict their neighbours (private to the component).
 *
 *            o           one or two samples that are far above where the samples before and after
 *   o  o  o     o  o     them, which agree with each other, put them: a disturbance that was not
 *                        noticed, or a size of its own, of which no polynomial can tell
 *   o  o  o  .  .  .     no outlier: the samples before and after do not agree, it is a jump
 *
 * Only what is too slow is doubted: disturbances add.
 */
#ifndef XY_COST_OUTLIER_H
#define XY_COST_OUTLIER_H

#include <stdbool.h>
#include <stddef.h>

/* Mark the outliers among n samples with x increasing, all positive. The first two and the last two
 * are never marked, nor are more than an eighth: then it is no outlier but how things are, and none
 * is. The number of marks. */
size_t cost_outliers(const double *x, const double *t, size_t n, bool *is_out);

#endif
