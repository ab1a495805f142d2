/* SPDX-License-Identifier: BSD-3-Clause */
/* Point-to-point and one-sided calls: counted where data leaves the rank. */
#include <stdlib.h>

#include "monitor.h"

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    monitor_message(comm, to, count, type);
    return MONITOR_CALL_AS(MONITOR_TRANSFER, PMPI_Send(data, count, type, to, tag, comm));
}

int MPI_Ssend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    monitor_message(comm, to, count, type);
    return MONITOR_CALL_AS(MONITOR_TRANSFER, PMPI_Ssend(data, count, type, to, tag, comm));
}

int MPI_Bsend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    monitor_message(comm, to, count, type);
    return MONITOR_CALL_AS(MONITOR_TRANSFER, PMPI_Bsend(data, count, type, to, tag, comm));
}

int MPI_Rsend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    monitor_message(comm, to, count, type);
    return MONITOR_CALL_AS(MONITOR_TRANSFER, PMPI_Rsend(data, count, type, to, tag, comm));
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    monitor_message(comm, to, count, type);
    return MONITOR_CALL(PMPI_Isend(data, count, type, to, tag, comm, request));
}

int MPI_Issend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    monitor_message(comm, to, count, type);
    return MONITOR_CALL(PMPI_Issend(data, count, type, to, tag, comm, request));
}

int MPI_Ibsend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    monitor_message(comm, to, count, type);
    return MONITOR_CALL(PMPI_Ibsend(data, count, type, to, tag, comm, request));
}

int MPI_Irsend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    monitor_message(comm, to, count, type);
    return MONITOR_CALL(PMPI_Irsend(data, count, type, to, tag, comm, request));
}

int MPI_Sendrecv(const void *data, int count, MPI_Datatype type, int to, int tag, void *in,
                 int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    monitor_message(comm, to, count, type);
    return MONITOR_CALL_AS(MONITOR_TRANSFER, PMPI_Sendrecv(data, count, type, to, tag, in, in_count,
                                                           in_type, from, in_tag, comm, status));
}

int MPI_Sendrecv_replace(void *data, int count, MPI_Datatype type, int to, int tag, int from,
                         int in_tag, MPI_Comm comm, MPI_Status *status)
{
    monitor_message(comm, to, count, type);
    return MONITOR_CALL_AS(MONITOR_TRANSFER, PMPI_Sendrecv_replace(data, count, type, to, tag, from,
                                                                   in_tag, comm, status));
}

/* Persistent sends: what MPI_Start sends. Few programs have many; a list is enough. */
typedef struct persistent {
    MPI_Request request;
    MPI_Comm comm;
    int to;
    double bytes;
    struct persistent *next;
} persistent_t;

static persistent_t *persistents;

static void remember(MPI_Request request, MPI_Comm comm, int to, int count, MPI_Datatype type)
{
    persistent_t *p = malloc(sizeof(*p));
    int size = 0;

    if (p == NULL)
        return;
    PMPI_Type_size(type, &size);
    *p = (persistent_t){request, comm, to, (double)size * count, persistents};
    persistents = p;
}

static void start(MPI_Request request)
{
    for (persistent_t *p = persistents; p != NULL; p = p->next)
        if (p->request == request) {
            monitor_bytes(p->comm, p->to, p->bytes, 1, MONITOR_PROGRAM);
            return;
        }
}

int MPI_Start(MPI_Request *request)
{
    start(*request);
    return MONITOR_CALL(PMPI_Start(request));
}

int MPI_Startall(int count, MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        start(requests[i]);
    return MONITOR_CALL(PMPI_Startall(count, requests));
}

int MPI_Request_free(MPI_Request *request)
{
    for (persistent_t **p = &persistents; *p != NULL; p = &(*p)->next)
        if ((*p)->request == *request) {
            persistent_t *gone = *p;

            *p = gone->next;
            free(gone);
            break;
        }
    return PMPI_Request_free(request);
}

int MPI_Send_init(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    int rc = PMPI_Send_init(data, count, type, to, tag, comm, request);

    if (rc == MPI_SUCCESS)
        remember(*request, comm, to, count, type);
    return rc;
}

int MPI_Ssend_init(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
    int rc = PMPI_Ssend_init(data, count, type, to, tag, comm, request);

    if (rc == MPI_SUCCESS)
        remember(*request, comm, to, count, type);
    return rc;
}

int MPI_Bsend_init(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
    int rc = PMPI_Bsend_init(data, count, type, to, tag, comm, request);

    if (rc == MPI_SUCCESS)
        remember(*request, comm, to, count, type);
    return rc;
}

int MPI_Rsend_init(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
    int rc = PMPI_Rsend_init(data, count, type, to, tag, comm, request);

    if (rc == MPI_SUCCESS)
        remember(*request, comm, to, count, type);
    return rc;
}
