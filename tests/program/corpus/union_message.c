/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of several kinds in a union behind a kind. */
#include <mpi.h>
#include <string.h>

typedef struct {
    int kind;
    union {
        int numbers[8];
        char text[32];
        double real;
    } u;
} message_t;

static int wire_size(const message_t *m)
{
    int head = sizeof(int);

    if (m->kind == 0)
        return head + 8 * sizeof(int);
    if (m->kind == 1)
        return head + 32;
    return head + sizeof(double);
}

int main(int argc, char **argv)
{
    message_t m, in;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(&m, 0, sizeof m);
    m.kind = rank % 3;
    switch (m.kind) {
    case 0:
        for (int i = 0; i < 8; i++)
            m.u.numbers[i] = i;
        break;
    case 1:
        strcpy(m.u.text, "text of this rank");
        break;
    case 2:
        m.u.real = 2.5;
    }
    MPI_Sendrecv(&m, wire_size(&m), MPI_BYTE, (rank + 1) % size, 0, &in, sizeof in, MPI_BYTE,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
