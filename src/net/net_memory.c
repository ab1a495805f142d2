/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that processes of one machine share: a file without a name (memfd). Nothing stays behind
 * when a process is killed, and the size of /dev/shm does not matter. Others open it below /proc as
 * long as its owner keeps the descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/net_private.h"

static void *map(int fd, size_t bytes)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return base != MAP_FAILED ? base : NULL;
}

/* A limit on files is one on this memory, too, and a signal ends who does not look first. */
static bool is_within_limit(size_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           bytes <= limit.rlim_cur;
}

int xy_net_memory_make(size_t bytes, xy_net_memory_t *memory)
{
    int fd, error;
    void *base = NULL;

    if (!is_within_limit(bytes))
        return EFBIG;
    fd = memfd_create("xylem", MFD_CLOEXEC);
    if (fd < 0)
        return errno;
    if (ftruncate(fd, (off_t)bytes) == 0)
        base = map(fd, bytes);
    if (base == NULL) {
        error = errno;
        close(fd);
        return error;
    }
    *memory = (xy_net_memory_t){base, bytes, fd};
    return 0;
}

void xy_net_memory_seal(xy_net_memory_t *memory)
{
    if (memory->bytes > 0 && memory->fd >= 0)
        close(memory->fd);
    memory->fd = -1;
}

void xy_net_memory_free(xy_net_memory_t *memory)
{
    xy_net_memory_seal(memory);
    if (memory->bytes > 0)
        munmap(memory->base, memory->bytes);
    *memory = (xy_net_memory_t){.fd = -1};
}

void *net_memory_open(long pid, int there, size_t bytes)
{
    struct stat about;
    void *base = NULL;
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/proc/%ld/fd/%d", pid, there);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && (uint64_t)about.st_size == bytes)
        base = map(fd, bytes);
    close(fd);
    return base;
}

void *xy_net_memory_map(const xy_net_t *net, int process, int fd, size_t bytes)
{
    long pid = net->transport->near_pid != NULL ? net->transport->near_pid(net, process) : 0;

    return pid != 0 ? net_memory_open(pid, fd, bytes) : NULL;
}
