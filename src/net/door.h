/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Doors: connections from a user's commands to a running mpiexec of the same user, by its process
 * id.
 *
 *   int door = xy_door_open();                    (in mpiexec)
 *   int guest = xy_door_accept(door);
 *
 *   int fd = xy_door_connect(4711);               (elsewhere)
 *
 * A door is an abstract socket, which leaves no file behind. Both ends ask the kernel for the user
 * of the other one: a process of another user is refused, whatever name its socket has.
 */
#ifndef XY_NET_DOOR_H
#define XY_NET_DOOR_H

#include "base/base.h"

/* Open the door of this process. */
int xy_door_open(void);
/* The next guest, a process of the same user; others are sent away. -1: none, yet. Never waits. */
int xy_door_accept(int door);

/* The door of process `pid`. Fails with a message: there is no such process, it has no door, or it
 * belongs to another user. */
xy_status_t xy_door_connect(long pid, int *fd_p);
/* The processes of this user that have doors, as `long`s in growing order. */
xy_status_t xy_door_list(xy_vec_t *pids);

#endif
