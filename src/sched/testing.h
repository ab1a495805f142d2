/* SPDX-License-Identifier: BSD-3-Clause */
/* For the unit tests of this room: what was said, repeatable random numbers. */
#ifndef XY_SCHED_TESTING_H
#define XY_SCHED_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/base.h"

static char testing_said[4096];
static int testing_said_count;

static inline void testing_on_message(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status;
    snprintf(testing_said, sizeof(testing_said), "%s", message);
    testing_said_count++;
}

/* Messages go to testing_said from now on; forget earlier ones. */
static inline void testing_listen(void)
{
    testing_said[0] = '\0';
    testing_said_count = 0;
    xy_error_handler_set(testing_on_message, NULL);
}

/* The next of a repeatable series (xorshift64*); *state must not be 0. */
static inline uint64_t testing_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

#endif
