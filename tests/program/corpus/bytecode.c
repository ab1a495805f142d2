/* SPDX-License-Identifier: BSD-3-Clause */
/* An interpreter: a program of bytes says what to send; its stack steers. */
#include <mpi.h>
#include <stdint.h>

enum op { PUSH, ADD, DUP, RING, JUMP_IF, DEC, HALT, RANK };

static const uint8_t program[] = {PUSH, 3,    DUP, RANK, ADD,     PUSH, 10,
                                  ADD,  RING, DEC, DUP,  JUMP_IF, 2,    HALT};

int main(int argc, char **argv)
{
    int rank, size, stack[16], sp = 0, pc = 0;
    char x[100], y[100];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (;;) {
        switch ((enum op)program[pc++]) {
        case PUSH:
            stack[sp++] = program[pc++];
            continue;
        case ADD:
            sp--;
            stack[sp - 1] += stack[sp];
            continue;
        case DUP:
            stack[sp] = stack[sp - 1];
            sp++;
            continue;
        case RANK:
            stack[sp++] = rank;
            continue;
        case RING:
            MPI_Sendrecv(x, stack[--sp], MPI_CHAR, (rank + 1) % size, 0, y, 100, MPI_CHAR,
                         (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            break;
        case DEC:
            stack[sp - 1]--;
            break;
        case JUMP_IF:
            if (stack[--sp] > 0)
                pc = program[pc];
            else
                pc++;
            break;
        case HALT:
            goto out;
        }
    }
out:
    MPI_Finalize();
    return 0;
}
