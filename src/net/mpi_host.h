/* SPDX-License-Identifier: BSD-3-Clause */
/* The few functions of an installed MPI that the transport needs, alike for both ABIs. */
#ifndef XY_NET_MPI_HOST_H
#define XY_NET_MPI_HOST_H

#include "net/net_private.h"

typedef struct host_mpi host_mpi_t;

enum { HOST_ANY = -1000 }; /* any source */

/* Open and initialise the library of the launcher that has started this process ("openmpi",
 * "mpich", or NULL: the environment tells), which must have started `processes` of them. Lives to
 * the end of the process. */
xy_status_t host_open(int processes, const char *launcher, const host_mpi_t **host_p);
int host_rank(const host_mpi_t *host);
const char *host_name(const host_mpi_t *host);
/* A message that it sends without asking the receiver first, with its usual settings. */
size_t host_short_limit(const host_mpi_t *host);
/* Requests are in 64 bits of the caller. */
void host_send(const host_mpi_t *host, const void *bytes, size_t size, int to, int tag,
               uint64_t *request);
/* ... which is complete when it is being received, not before. */
void host_send_matched(const host_mpi_t *host, const void *bytes, size_t size, int to, int tag,
                       uint64_t *request);
void host_receive(const host_mpi_t *host, void *bytes, size_t size, int from, int tag,
                  uint64_t *request);
bool host_test(const host_mpi_t *host, uint64_t *request);

/* Requests that are looked at together: the library progresses once for all of them. */
typedef struct {
    int count, room;
    void *requests; /* [room] handles */
    void **tokens;  /* [room] */
    int *done;      /* [room] */
} host_set_t;

/* Make room for so many more. */
xy_status_t host_set_reserve(host_set_t *set, int more);
void host_set_add(const host_mpi_t *host, host_set_t *set, uint64_t request, void *token);
/* Take away those that are complete, and call `over` for each. */
void host_set_test(const host_mpi_t *host, host_set_t *set, void (*over)(void *arg, void *token),
                   void *arg);
void host_set_cleanup(host_set_t *set);

void host_cancel(const host_mpi_t *host, uint64_t *request);
/* Finalize, which is waited for so long. */
void host_close(const host_mpi_t *host, double seconds);

#endif
