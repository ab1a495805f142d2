/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What things cost. This is the header that other rooms include; each part is a chapter of its own:
 *
 *   fit.h       samples (size, seconds) to polynomials on intervals, and their value anywhere
 *   message.h   samples (bytes, seconds) to models of messages: Hockney, LogGP, PLogP
 *   store.h     all of it in one XML file
 *   link.h      the four numbers that choose collective algorithms
 *   calibrate.h measuring the machine we run on
 *   messages.h  measuring messages inside it
 *   plot.h      pictures of the models
 *   hosts.h     measuring several hosts through the installed MPI
 */
#ifndef XY_COST_COST_H
#define XY_COST_COST_H

#include "cost/calibrate.h"
#include "cost/fit.h"
#include "cost/hosts.h"
#include "cost/link.h"
#include "cost/message.h"
#include "cost/messages.h"
#include "cost/plot.h"
#include "cost/store.h"

#endif
