/* SPDX-License-Identifier: BSD-3-Clause */
/* A preloaded library: how many messages the process has sent over sockets. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>

static atomic_long count;

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    static ssize_t (*next)(int, const struct msghdr *, int);

    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "sendmsg");
    count++;
    return next(fd, message, flags);
}

__attribute__((destructor)) static void say(void)
{
    fprintf(stderr, "sent %ld\n", (long)count);
}
