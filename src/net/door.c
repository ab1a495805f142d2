/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/door.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 16, DESCRIPTOR = 64 };

/* In /proc/net/unix the name begins with '@' instead of a NUL. */
#define PREFIX "xylem-live/%lu/"

static socklen_t name_of(long pid, struct sockaddr_un *name)
{
    int length;

    memset(name, 0, sizeof(*name));
    name->sun_family = AF_UNIX;
    length = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1, PREFIX "%ld",
                      (unsigned long)geteuid(), pid);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* Programs count on low numbers for the files that they open. */
static int move_up(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTOR);

    if (high < 0)
        return fd;
    close(fd);
    return high;
}

int xy_door_open(void)
{
    struct sockaddr_un name;
    socklen_t size = name_of((long)getpid(), &name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&name, size) != 0 || listen(fd, BACKLOG) != 0) {
        close(fd);
        return -1;
    }
    return move_up(fd);
}

static bool is_ours(int fd, long pid)
{
    struct ucred other;
    socklen_t size = sizeof(other);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 && other.uid == geteuid() &&
           (pid == 0 || other.pid == pid);
}

int xy_door_accept(int door)
{
    int fd;

    while ((fd = accept4(door, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        if (is_ours(fd, 0))
            return fd;
        close(fd);
    }
    return -1;
}

/* Does a process exist, and is it of this user? */
static bool is_process_ours(long pid, bool *exists_p)
{
    char path[64];
    struct stat s;

    snprintf(path, sizeof(path), "/proc/%ld", pid);
    *exists_p = stat(path, &s) == 0;
    return *exists_p && s.st_uid == geteuid();
}

/* Report why no job of this process can be reached. */
static xy_status_t refuse(long pid)
{
    bool exists;

    if (is_process_ours(pid, &exists))
        return xy_fail(XY_ENOENT,
                       "process %ld is not an mpiexec of Xylem with ranks to show; 'xylem top' "
                       "without a number lists those",
                       pid);
    if (exists)
        return xy_fail(XY_EIO, "process %ld belongs to another user: only the same user may attach",
                       pid);
    return xy_fail(XY_ENOENT, "there is no process %ld", pid);
}

xy_status_t xy_door_connect(long pid, int *fd_p)
{
    struct sockaddr_un name;
    socklen_t size = name_of(pid, &name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return xy_fail_errno(errno, "a socket", "make");
    if (connect(fd, (struct sockaddr *)&name, size) != 0 || !is_ours(fd, pid)) {
        close(fd);
        return refuse(pid);
    }
    *fd_p = fd;
    return XY_OK;
}

static int by_number(const void *left, const void *right)
{
    long a = *(const long *)left, b = *(const long *)right;

    return a < b ? -1 : a > b;
}

/* The process of a line of /proc/net/unix; 0: it is none of ours. */
static long pid_of(char *line)
{
    char prefix[64], *at = strrchr(line, '@');
    size_t length = (size_t)snprintf(prefix, sizeof(prefix), PREFIX, (unsigned long)geteuid());
    long pid;
    bool exists;

    line[strcspn(line, "\n")] = '\0';
    if (at == NULL || strncmp(at + 1, prefix, length) != 0 ||
        !xy_parse_long(at + 1 + length, &pid) || pid < 1 || !is_process_ours(pid, &exists))
        return 0;
    return pid;
}

xy_status_t xy_door_list(xy_vec_t *pids)
{
    FILE *file = fopen("/proc/net/unix", "re");
    char line[512];
    bool is_full = false;

    if (file == NULL)
        return xy_fail_errno(errno, "/proc/net/unix", "read");
    while (!is_full && fgets(line, sizeof(line), file) != NULL) {
        long pid = pid_of(line);

        is_full = pid > 0 && xy_vec_append(pids, &pid) != XY_OK;
    }
    fclose(file);
    if (is_full)
        return xy_fail_memory("looking for jobs");
    if (pids->count > 0)
        qsort(pids->data, pids->count, sizeof(long), by_number);
    return XY_OK;
}
