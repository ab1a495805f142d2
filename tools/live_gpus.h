/* SPDX-License-Identifier: BSD-3-Clause */
/* The GPUs of the machine that the command runs on. */
#ifndef TOOLS_LIVE_GPUS_H
#define TOOLS_LIVE_GPUS_H

#include "machine/machine.h"

/* Add what the drivers find to the live machine, with the links that were measured here. */
xy_status_t live_gpus_add(xy_machine_t *live);

#endif
