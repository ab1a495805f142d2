/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Working directories of processes.
 *
 * The kernel keeps a working directory for the host, or for a thread that has asked for one of
 * its own (unshare). So that all calls with a relative path work, those of libraries as well, a
 * thread that runs a process with a directory of its own asks for that, and changes to the
 * directory of the next process when it runs another. Threads that never ran such a process are
 * left alone: they are in the directory of the job. A job in which no process was spawned into
 * another directory pays nothing.
 */
#include "process/libc/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/libc/affinity.h"
#include "process/libc/interpose.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static int of_job = -1;        /* for processes without one of their own */
static _Atomic uint64_t given; /* numbers of directories */

/* The directory of this thread; 0: that of the job. */
static _Thread_local uint64_t here;
static _Thread_local bool is_apart; /* it has one of its own */

static int plain_fchdir(int fd)
{
    return XY_NEXT(fchdir)(fd);
}

static bool become_apart(void)
{
    if (!is_apart)
        is_apart = unshare(CLONE_FS) == 0;
    return is_apart;
}

static void *try_apart(void *error)
{
    *(int *)error = become_apart() ? 0 : errno;
    return NULL;
}

/* Some containers forbid it. It is tried once, by a thread that ends, before a process counts on
 * it.
 */
static xy_status_t begin_to_use(void)
{
    pthread_t thread;
    int error = 0, code;

    if (process_directory_is_used())
        return XY_OK;
    code = process_thread_create_plain(&thread, NULL, try_apart, &error);
    if (code == 0)
        pthread_join(thread, NULL);
    if (code != 0 || error != 0)
        return xy_fail(XY_EUNSUPPORTED,
                       "ranks cannot have working directories of their own here: the kernel says "
                       "'%s' to unshare(CLONE_FS); leave the info key wdir out, or allow that call",
                       strerror(code != 0 ? code : error));
    of_job = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (of_job < 0)
        return xy_fail_errno(errno, ".", "open");
    atomic_fetch_or(&process_switch_more, PROCESS_SWITCH_DIRECTORIES);
    return XY_OK;
}

static void take(process_t *process, int fd)
{
    process_directory_drop(process);
    process->directory = fd;
    process->directory_number = atomic_fetch_add(&given, 1) + 1;
}

static bool is_here(const char *path)
{
    struct stat there, now;

    return stat(path, &there) == 0 && stat(".", &now) == 0 && there.st_dev == now.st_dev &&
           there.st_ino == now.st_ino;
}

xy_status_t process_directory_give(process_t *process, const process_t *parent, const char *path)
{
    bool has_own = parent != NULL && parent->directory_number != 0;
    bool is_inherited = path == NULL && has_own;
    xy_status_t st;
    int fd;

    if ((path == NULL && !is_inherited) || (path != NULL && !has_own && is_here(path)))
        return XY_OK;
    st = begin_to_use();
    if (st != XY_OK)
        return st;
    fd = is_inherited ? fcntl(parent->directory, F_DUPFD_CLOEXEC, 0)
                      : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || (path != NULL && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0)) {
        st = xy_fail_errno(errno, path != NULL ? path : "the working directory", "change to");
        if (fd >= 0)
            close(fd);
        return st;
    }
    take(process, fd);
    return XY_OK;
}

void process_directory_drop(process_t *process)
{
    if (process->directory_number != 0)
        close(process->directory);
    process->directory_number = 0;
}

/* It was made by one that may be anywhere, and shares its directory. */
void process_directory_begin_thread(void)
{
    if (process_directory_is_used() && become_apart())
        here = UINT64_MAX;
}

/* The acquire pairs with begin_to_use: the descriptor is there. */
static int directory_of_job(void)
{
    return atomic_load_explicit(&process_switch_more, memory_order_acquire) != 0 ? of_job : -1;
}

static void move(const process_t *process)
{
    int fd = process->directory_number != 0 ? process->directory : directory_of_job();
    int code = errno;

    if (!become_apart() || plain_fchdir(fd) != 0) {
        xy_fail_errno(errno, "the working directory of a rank", "change to");
        XY_RUNTIME_CALL(abort, 1);
    }
    here = process->directory_number;
    errno = code;
}

void process_directory_enter(const process_t *process)
{
    if (process->directory_number != here)
        move(process);
}

/* ---- In front of the C library ---- */

static bool is_own(void)
{
    return process_self != NULL && !process_is_child && process_directory_is_used();
}

/* A thread that the process has made changes its own: others may be in the middle of a call. */
static int change(int fd)
{
    if (!become_apart() || plain_fchdir(fd) != 0)
        return -1;
    if (!process_is_main())
        return 0;
    fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) {
        int code = errno;

        here = UINT64_MAX;
        process_directory_enter(process_self);
        errno = code;
        return -1;
    }
    take(process_self, fd);
    here = process_self->directory_number;
    return 0;
}

XY_INTERPOSE int fchdir(int fd)
{
    return is_own() ? change(fd) : plain_fchdir(fd);
}

XY_INTERPOSE int chdir(const char *path)
{
    int fd, result, code;

    if (!is_own())
        return XY_NEXT(chdir)(path);
    fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    result = change(fd);
    code = errno;
    close(fd);
    errno = code;
    return result;
}
