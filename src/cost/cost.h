/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Costs. This is the header that other components include; each part is a chapter of its own:
 *
 *   fit.h       samples (size, seconds) to polynomials on intervals, and their value anywhere
 *   message_model.h   samples (bytes, seconds) to models of messages: Hockney, LogGP, PLogP
 *   shape.h     kernels with several sizes: what other shapes than equal sizes take
 *   outlier.h   samples that contradict their neighbours
 *   store.h     all of it in one XML file
 *   link.h      the four numbers that choose collective algorithms
 *   carrier.h   what messages of an installed MPI cost, for jobs that it carries
 *   plot.h      pictures of the models
 *   blas.h      which arguments of BLAS and LAPACK are sizes
 *   lapack.h    whether the solver that fits models is installed
 *
 * `measure` fits models and fills the store; prediction, the chooser of collectives and the
 * simulators ask it. A store is filled by one thread; once filled, any thread may ask. Nothing
 * parks.
 */
#ifndef XY_COST_COST_H
#define XY_COST_COST_H

#include "cost/blas.h"
#include "cost/carrier.h"
#include "cost/fit.h"
#include "cost/lapack.h"
#include "cost/link.h"
#include "cost/message_model.h"
#include "cost/outlier.h"
#include "cost/plot.h"
#include "cost/shape.h"
#include "cost/store.h"
#include "cost/tabulate.h"

#endif
