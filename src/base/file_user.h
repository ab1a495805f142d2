/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of the user that a program can do without, such as hints for the next run:
 *
 *   error = xy_try_directories(path);
 *   if (error != 0)
 *       xy_warn("'%s' is not stored: %s", path, strerror(error));
 */
#ifndef XY_BASE_FILE_USER_H
#define XY_BASE_FILE_USER_H

/* xy_make_directories() without a message: 0 or the number of the error. */
int xy_try_directories(const char *path);

#endif
