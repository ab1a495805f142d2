/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that send nothing, but may wait: timed for profiles, handed on at once otherwise. */
#include "monitor.h"

/* The number in the world of the rank that a message came from; -1: not known. */
static int world_rank(MPI_Comm comm, int source)
{
    return source >= 0 ? monitor_world_rank(comm, source) : -1;
}

/* Is the message of a receive not there yet? Its sender is late then. */
static int is_late(MPI_Comm comm, int source, int tag)
{
    int flag = 1;

    if (source != MPI_PROC_NULL)
        PMPI_Iprobe(source, tag, comm, &flag, MPI_STATUS_IGNORE);
    return !flag;
}

static void receive_begins(MPI_Comm comm, int source, int tag)
{
    monitor_call.comm = comm;
    monitor_call.part = is_late(comm, source, tag) ? MONITOR_LATE_SENDER : MONITOR_TRANSFER;
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    MPI_Status own;
    int rc, elements = 0;

    if (!monitor_call.is_on)
        return PMPI_Recv(data, count, type, from, tag, comm, status);
    monitor_enter_timed(__func__, __builtin_return_address(0));
    receive_begins(comm, from, tag);
    rc = PMPI_Recv(data, count, type, from, tag, comm, &own);
    if (rc == MPI_SUCCESS) {
        monitor_call.who = world_rank(comm, own.MPI_SOURCE);
        PMPI_Get_count(&own, MPI_BYTE, &elements);
        monitor_call.bytes += elements > 0 ? elements : 0;
    }
    if (status != MPI_STATUS_IGNORE)
        *status = own;
    return monitor_leave_timed(rc);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    return MONITOR_CALL(PMPI_Irecv(data, count, type, from, tag, comm, request));
}

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    if (!monitor_call.is_on)
        return PMPI_Probe(from, tag, comm, status);
    monitor_enter_timed(__func__, __builtin_return_address(0));
    receive_begins(comm, from, tag);
    return monitor_leave_timed(PMPI_Probe(from, tag, comm, status));
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    return MONITOR_CALL(PMPI_Iprobe(from, tag, comm, flag, status));
}

/* The kinds of requests are not known: while they are pending, data is on its way. */
int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return MONITOR_CALL_AS(MONITOR_TRANSFER, PMPI_Wait(request, status));
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    return MONITOR_CALL_AS(MONITOR_TRANSFER, PMPI_Waitall(count, requests, statuses));
}

int MPI_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    return MONITOR_CALL_AS(MONITOR_TRANSFER, PMPI_Waitany(count, requests, index, status));
}

int MPI_Waitsome(int count, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses)
{
    return MONITOR_CALL_AS(MONITOR_TRANSFER,
                           PMPI_Waitsome(count, requests, done, indices, statuses));
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    return MONITOR_CALL(PMPI_Test(request, flag, status));
}

int MPI_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    return MONITOR_CALL(PMPI_Testall(count, requests, flag, statuses));
}

int MPI_Testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    return MONITOR_CALL(PMPI_Testany(count, requests, index, flag, status));
}

int MPI_Testsome(int count, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses)
{
    return MONITOR_CALL(PMPI_Testsome(count, requests, done, indices, statuses));
}
