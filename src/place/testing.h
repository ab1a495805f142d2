/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For unit tests only: what was said, repeatable random numbers.
 *
 *   testing_listen();
 *   assert_int_equal(xy_thing_parse("x"), XY_EPARSE);
 *   assert_string_equal(testing_said, "...");           (one message: testing_said_count is 1)
 */
#ifndef XY_PLACE_TESTING_H
#define XY_PLACE_TESTING_H

#include <stdint.h>
#include <stdio.h>

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
