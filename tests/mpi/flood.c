/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flood of messages does not fill the memory: on the core of its receiver a sender lets it run
 * once enough bytes wait, whatever the kind of send, and between cores it waits for room in the
 * ring. The messages that wait are counted by the memory that they take.
 *
 *   mpiexec -n 2 flood
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

/* Sanitizers keep memory of their own: there only the traffic is checked. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer)
enum { LIMIT_KIB = 1 << 30, LARGE_LIMIT_KIB = LIMIT_KIB };
#else
enum { LIMIT_KIB = 24 << 10, LARGE_LIMIT_KIB = 10 << 10 };
#endif
enum { MESSAGES = XYLEM_SANITIZED ? 20000 : 200000, BATCH = 1000, BYTES = 200 };
enum { LARGE_MESSAGES = 3000, LARGE = 16 << 10 /* the default of --eager */ };

/* Memory of the process at its peak, in KiB. */
static long peak_kib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;

    CHECK(file != NULL);
    while (fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    fclose(file);
    return kib;
}

typedef enum { BLOCKING, NONBLOCKING, PERSISTENT, BUFFERED, KINDS } kind_t;
static const char *const names[KINDS] = {"MPI_Send", "MPI_Isend", "MPI_Startall", "MPI_Bsend"};

static void send_batch(kind_t kind, char *buffer, int bytes, MPI_Request *requests)
{
    if (kind == PERSISTENT)
        MPI_Startall(BATCH, requests);
    for (int k = 0; k < BATCH; k++)
        if (kind == BLOCKING)
            MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        else if (kind == BUFFERED)
            MPI_Bsend(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        else if (kind == NONBLOCKING)
            MPI_Isend(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[k]);
    if (kind == NONBLOCKING || kind == PERSISTENT)
        MPI_Waitall(BATCH, requests, MPI_STATUSES_IGNORE);
}

static void send_all(kind_t kind, int bytes, int messages)
{
    static char buffer[LARGE], attached[BATCH * (LARGE + MPI_BSEND_OVERHEAD)];
    MPI_Request requests[BATCH];
    int size;

    for (int k = 0; kind == PERSISTENT && k < BATCH; k++)
        MPI_Send_init(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[k]);
    MPI_Buffer_attach(attached, sizeof(attached));
    for (int i = 0; i < messages; i += BATCH)
        send_batch(kind, buffer, bytes, requests);
    MPI_Buffer_detach(&(char *){NULL}, &size);
    for (int k = 0; kind == PERSISTENT && k < BATCH; k++)
        MPI_Request_free(&requests[k]);
}

static void flood(kind_t kind, int rank, int bytes, int messages, long limit)
{
    static char buffer[LARGE];
    long before;

    MPI_Barrier(MPI_COMM_WORLD);
    before = peak_kib();
    if (rank == 0)
        send_all(kind, bytes, messages);
    for (int i = 0; rank == 1 && i < messages; i++)
        MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && before > 0 && peak_kib() - before > limit) {
        fprintf(stderr, "flood: %s of %d bytes took %ld KiB\n", names[kind], bytes,
                peak_kib() - before);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* The large ones first: a peak of small ones hides theirs. */
    for (kind_t kind = BLOCKING; size > 1 && kind < KINDS; kind++)
        flood(kind, rank, LARGE, LARGE_MESSAGES, LARGE_LIMIT_KIB);
    for (kind_t kind = BLOCKING; size > 1 && kind < KINDS; kind++)
        flood(kind, rank, BYTES, MESSAGES, LIMIT_KIB);
    MPI_Finalize();
    return 0;
}
