/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock between processes for a file that may be replaced: a file of its own, PATH.lock. */
#ifndef XY_CHOOSE_LOCK_H
#define XY_CHOOSE_LOCK_H

#include <stdbool.h>

/* Waits. -1: there is no lock to be had (nobody has written here, or it may not be written):
 * readers continue without. */
int choose_lock(const char *path, bool is_writer);
void choose_unlock(int lock);

#endif
