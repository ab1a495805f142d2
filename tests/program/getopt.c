/* SPDX-License-Identifier: BSD-3-Clause */
/* Options by getopt. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int c, n = 10, steps = 2, verbose = 0;
    char *data;
    MPI_Init(&argc, &argv);
    while ((c = getopt(argc, argv, "n:s:v")) != -1)
        switch (c) {
        case 'n':
            n = atoi(optarg);
            break;
        case 's':
            steps = (int)strtol(optarg, NULL, 10);
            break;
        case 'v':
            verbose++;
            break;
        default:
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    data = calloc(n, 1);
    for (int i = 0; i < steps + verbose; i++)
        MPI_Bcast(data, n, MPI_CHAR, 0, MPI_COMM_WORLD);
    free(data);
    MPI_Finalize();
    return 0;
}
