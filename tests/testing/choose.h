/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests: remove a history with all its files. */
#ifndef XY_TESTING_CHOOSE_H
#define XY_TESTING_CHOOSE_H

#include <stdio.h>
#include <unistd.h>

static inline void testing_history_remove(const char *path)
{
    char lock[80];

    unlink(path);
    snprintf(lock, sizeof(lock), "%s.lock", path);
    unlink(lock);
}

#endif
