/* SPDX-License-Identifier: BSD-3-Clause */
#include "choose/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/base.h"

int choose_lock(const char *path, bool is_writer)
{
    char *name = xy_sprintf("%s.lock", path);
    int file = -1;

    if (name == NULL) {
        errno = ENOMEM;
        return -1;
    }
    file = is_writer ? open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666)
                     : open(name, O_RDONLY | O_CLOEXEC);
    xy_free(name);
    if (file < 0)
        return -1;
    while (flock(file, is_writer ? LOCK_EX : LOCK_SH) != 0)
        if (errno != EINTR) {
            close(file);
            return -1;
        }
    return file;
}

void choose_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}
