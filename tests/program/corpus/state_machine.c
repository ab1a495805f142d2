/* SPDX-License-Identifier: BSD-3-Clause */
/* A protocol as a state machine: states are an enum, transitions a table. */
#include <mpi.h>
#include <stdio.h>

typedef enum { HELLO, SIZE, DATA, BYE, END, STATES } state_t;

#define TRANSITION(from, to) [from] = to
static const state_t after[STATES] = {TRANSITION(HELLO, SIZE), TRANSITION(SIZE, DATA),
                                      TRANSITION(DATA, BYE), TRANSITION(BYE, END)};
static const char *name[STATES] = {"hello", "size", "data", "bye", "end"};

static int peer, is_client;
static char room[4096];
static int length;

static void transfer(void *p, int n, int tag)
{
    if (is_client)
        MPI_Send(p, n, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
    else
        MPI_Recv(p, n, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static state_t run(state_t s)
{
    switch (s) {
    case HELLO:
    case BYE:
        transfer(room, 6, s);
        break;
    case SIZE:
        if (is_client)
            length = 300 + peer;
        transfer(&length, sizeof(length), s);
        break;
    case DATA: {
        int sent = 0;
        while (sent < length) {
            int part = length - sent > 128 ? 128 : length - sent;
            transfer(room + sent, part, s);
            sent += part;
        }
    } break;
    default:
        return END;
    }
    return after[s];
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer = rank ^ 1;
    is_client = rank & 1;
    if (peer < size)
        for (state_t s = HELLO; s != END; s = run(s))
            printf("%d: %s\n", rank, name[s]);
    MPI_Finalize();
    return 0;
}
