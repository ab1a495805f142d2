/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of hosts: servers may take seconds to answer, while the other processes of the core run. */
#include <errno.h>
#include <netdb.h>
#include <sys/socket.h>

#include "process/libc/block.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

typedef struct {
    const char *name, *service;
    const struct addrinfo *hints;
    struct addrinfo **found;
    int result, error;
} address_t;

static void look_up_there(void *arg)
{
    address_t *a = arg;

    a->result = getaddrinfo(a->name, a->service, a->hints, a->found);
    a->error = errno;
}

XY_INTERPOSE int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                             struct addrinfo **found)
{
    address_t a = {.name = name, .service = service, .hints = hints, .found = found};

    if (!XY_MAY_PARK())
        return XY_NEXT(getaddrinfo)(name, service, hints, found);
    process_block_run(look_up_there, &a);
    if (a.result == EAI_SYSTEM)
        errno = a.error;
    return a.result;
}

typedef struct {
    const struct sockaddr *address;
    socklen_t size, name_size, service_size;
    char *name, *service;
    int flags, result, error;
} name_t;

static void name_there(void *arg)
{
    name_t *n = arg;

    n->result = getnameinfo(n->address, n->size, n->name, n->name_size, n->service, n->service_size,
                            n->flags);
    n->error = errno;
}

XY_INTERPOSE int getnameinfo(const struct sockaddr *address, socklen_t size, char *name,
                             socklen_t name_size, char *service, socklen_t service_size, int flags)
{
    name_t n = {.address = address,
                .size = size,
                .name_size = name_size,
                .service_size = service_size,
                .name = name,
                .service = service,
                .flags = flags};

    if (!XY_MAY_PARK())
        return XY_NEXT(getnameinfo)(address, size, name, name_size, service, service_size, flags);
    process_block_run(name_there, &n);
    if (n.result == EAI_SYSTEM)
        errno = n.error;
    return n.result;
}
