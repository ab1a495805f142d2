/* SPDX-License-Identifier: BSD-3-Clause */
/* The few functions of an installed MPI that the transport needs, alike for both ABIs. */
#ifndef XY_NET_MPI_HOST_H
#define XY_NET_MPI_HOST_H

#include "net/private.h"

typedef struct host_mpi host_mpi_t;

enum { HOST_ANY = -1000 }; /* any source */

typedef struct {
    int source;
    size_t bytes;
} host_status_t;

/* Open and initialise the library of the launcher that has started this process, which must have
 * started `processes` of them. Lives to the end of the process. */
xy_status_t host_open(int processes, const host_mpi_t **host_p);
int host_rank(const host_mpi_t *host);
const char *host_name(const host_mpi_t *host);
/* A message that it sends without asking the receiver first, with its usual settings. */
size_t host_short_limit(const host_mpi_t *host);
/* Requests are in 64 bits of the caller. */
void host_send(const host_mpi_t *host, const void *bytes, size_t size, int to, int tag,
               uint64_t *request);
void host_receive(const host_mpi_t *host, void *bytes, size_t size, int from, int tag,
                  uint64_t *request);
bool host_test(const host_mpi_t *host, uint64_t *request, host_status_t *status);
void host_cancel(const host_mpi_t *host, uint64_t *request);
/* Finalize, which is waited for so long. */
void host_close(const host_mpi_t *host, double seconds);

#endif
