/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/io/descriptor.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"

enum {
    OFTEN = 64, /* calls from which on a worker has its own */
    PART = 8    /* of the descriptors that the process may have, this part is for them */
};

static atomic_int opened; /* by all files of the process */

bool io_own_create(io_shared_t *shared, int workers)
{
    atomic_init(&shared->users, 0);
    if (workers < 2)
        return true;
    shared->own = xy_malloc((size_t)workers * sizeof(io_own_t));
    if (shared->own == NULL)
        return false;
    for (int w = 0; w < workers; w++)
        shared->own[w] = (io_own_t){.fd = -1};
    shared->workers = workers;
    return true;
}

void io_own_destroy(io_shared_t *shared)
{
    for (int w = 0; w < shared->workers; w++)
        if (shared->own[w].fd >= 0 && shared->own[w].fd != shared->fd) {
            close(shared->own[w].fd);
            atomic_fetch_sub_explicit(&opened, 1, memory_order_relaxed);
        }
    xy_free(shared->own);
}

/* The same file once more, whatever its name is by now; -1: not to be had, or too many are open. */
static int open_again(int fd)
{
    struct rlimit limit;
    struct stat about;
    char path[64];
    int flags = fcntl(fd, F_GETFL), again = -1;

    if (flags < 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) ||
        getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return -1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if ((rlim_t)atomic_fetch_add_explicit(&opened, 1, memory_order_relaxed) < limit.rlim_cur / PART)
        again = open(path, (flags & O_ACCMODE) | O_CLOEXEC);
    if (again < 0)
        atomic_fetch_sub_explicit(&opened, 1, memory_order_relaxed);
    return again;
}

int io_fd_without(io_shared_t *shared, io_own_t *own)
{
    if (!shared->is_local || own->uses > OFTEN || ++own->uses <= OFTEN)
        return shared->fd;
    own->fd = atomic_fetch_add_explicit(&shared->users, 1, memory_order_relaxed) == 0
                  ? shared->fd
                  : open_again(shared->fd);
    return own->fd >= 0 ? own->fd : shared->fd;
}

/* ---- Calls ---- */

/* The C library's syscall(): the name alone is the function for programs, which checks each call.
 */
static long (*system_call)(long number, ...);

static ssize_t read_direct(int fd, void *to, size_t bytes, off_t offset)
{
    return system_call(SYS_pread64, fd, to, bytes, offset);
}

static ssize_t write_direct(int fd, const void *from, size_t bytes, off_t offset)
{
    return system_call(SYS_pwrite64, fd, from, bytes, offset);
}

io_calls_t io_calls = {pread, pwrite};

static bool is_in_library(const void *function, const Dl_info *library)
{
    Dl_info about;

    return dladdr(function, &about) != 0 && about.dli_fbase == library->dli_fbase;
}

static void choose(void)
{
    const io_calls_t direct = {read_direct, write_direct};
    Dl_info library;

    *(void **)&system_call = dlsym(RTLD_NEXT, "syscall");
    if (system_call != NULL &&
        dladdr((const void *)(uintptr_t)gnu_get_libc_version, &library) != 0 &&
        is_in_library((const void *)(uintptr_t)pread, &library) &&
        is_in_library((const void *)(uintptr_t)pwrite, &library))
        io_calls = direct;
}

void io_calls_choose(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, choose);
}
