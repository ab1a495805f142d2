/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches in loops in switches; break and continue leave different ones. */
#include <mpi.h>

static char b[256];

static int decode(int op, int arg)
{
    int result = 0;

    for (int i = 0; i < 6; i++) {
        switch (op) {
        case 0:
            switch (arg + i) {
            case 1:
                continue;
            case 2:
                break;
            default:
                result += i;
                break;
            }
            result += 10;
            break;
        case 1:
            while (1) {
                if (arg-- <= 0)
                    break;
                if (arg == 2)
                    continue;
                result++;
            }
            /* fall through */
        case 2:
            if (i == 3)
                return result;
        case 3:
            result += 100;
            break;
        default:
            i = 6;
        }
    }
    return result;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int op = 0; op < 5; op++)
        for (int arg = 0; arg < 4; arg++)
            MPI_Bcast(b, decode(op, arg) % 251, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
