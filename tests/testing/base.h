/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For unit tests only, of this and of every other component: messages, repeatable random numbers,
 * temporary files.
 *
 *   testing_listen();
 *   assert_int_equal(xy_thing_parse("x"), XY_EPARSE);
 *   assert_string_equal(testing_said, "...");           (one message: testing_said_count is 1)
 *
 * Random numbers start from XYLEM_SEED, any text, or from a fixed one; the test prints the command
 * that repeats them. Tests with many similar cases run a fixed sample of them (testing_is_chosen),
 * and all of them with XYLEM_SOAK=1. tests/testing.py and tests/testing.sh do the same.
 */
#ifndef XY_TESTING_BASE_H
#define XY_TESTING_BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/status.h"

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

/* The next of a repeatable series; *state must not be 0. */
static inline uint64_t testing_random(uint64_t *state)
{
    return xy_random(state);
}

/* The same from 0 to n - 1. */
static inline int testing_random_below(uint64_t *state, int n)
{
    return (int)((xy_random(state) >> 33) % (uint64_t)n);
}

/* `make soak`: all cases, and longer ones. */
static inline bool testing_is_soak(void)
{
    const char *text = getenv("XYLEM_SOAK");

    return text != NULL && *text != '\0';
}

/* Whether case n belongs to the sample, one of `share` cases in a row. ThreadSanitizer gets other
 * cases than AddressSanitizer. */
static inline bool testing_is_chosen(unsigned n, unsigned share)
{
#if defined(__SANITIZE_THREAD__)
    n++;
#endif
    return testing_is_soak() || n % share == 0;
}

/* The 64-bit FNV-1a hash of a seed; never 0. */
static inline uint64_t testing_hash(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    while (*text != '\0')
        hash = (hash ^ (unsigned char)*text++) * UINT64_C(1099511628211);
    return hash != 0 ? hash : 1;
}

/* The start of a test's random numbers. */
static inline uint64_t testing_seed(void)
{
    static bool is_printed;
    const char *text = getenv("XYLEM_SEED");

    if (text == NULL || *text == '\0')
        text = "xylem";
    if (!is_printed)
        fprintf(stderr, "random numbers of: XYLEM_SEED='%s' %s\n", text, program_invocation_name);
    is_printed = true;
    return testing_hash(text);
}

/* One of 0 .. n - 1, from the series of the program. One thread only. */
static inline int testing_below(int n)
{
    static uint64_t state;

    if (state == 0)
        state = testing_seed();
    return testing_random_below(&state, n);
}

/* Something with its first allocation failing, then with its second, until none is left to fail:
 *
 *   for (long k = 0; testing_fail_next(&k);)
 *       assert_null(testing_fail_fault(&k, xy_thing_create(&thing)));
 *
 * What is wrong with an answer, or NULL: without memory it must be XY_ENOMEM with one message, and
 * in the end XY_OK. Messages are listened to. */
static inline bool testing_fail_next(long *k)
{
    if (*k < 0) {
        xy_memory_fail_at(0);
        return false;
    }
    testing_listen();
    xy_memory_fail_at(++*k);
    return true;
}

static inline const char *testing_fail_fault(long *k, xy_status_t answer)
{
    if (!xy_memory_fail_hit()) {
        *k = -1;
        return answer == XY_OK ? NULL : "it fails with all the memory it wants";
    }
    if (answer != XY_ENOMEM)
        return "memory ran out, and it does not say XY_ENOMEM";
    return testing_said_count == 1 ? NULL : "memory ran out, and there is not one message";
}

/* A name in the directory for temporary files, for mkstemp and mkdtemp. */
static inline void testing_template(char path[64])
{
    const char *directory = getenv("TMPDIR");

    if (directory == NULL || directory[0] == '\0' || strlen(directory) > 40)
        directory = "/tmp";
    snprintf(path, 64, "%s/xylem-test-XXXXXX", directory);
}

/* An empty file that no other test uses; the caller unlinks it. */
static inline void testing_path(char path[64])
{
    int fd;

    testing_template(path);
    fd = mkstemp(path);
    if (fd < 0)
        abort();
    close(fd);
}

#endif
