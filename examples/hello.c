/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hello: the smallest MPI program.
 *
 *   mpicc hello.c -o hello && mpiexec -n 4 ./hello
 *
 * mpiexec starts the program four times. Each of the four is a rank: it runs the whole of main()
 * with its own variables, and asks MPI for its number. Ranks run at the same time, so their lines
 * appear in any order. The last line is different: rank 0 prints it after it has received one
 * number from every rank.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, one = 1, greetings = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank); /* my number: 0, 1, ..., size - 1 */
    MPI_Comm_size(MPI_COMM_WORLD, &size); /* how many are we? */

    printf("hello from rank %d of %d\n", rank, size);
    fflush(stdout);

    /* Every rank gives a 1; rank 0 gets their sum. */
    MPI_Reduce(&one, &greetings, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d of %d ranks said hello\n", greetings, size);

    MPI_Finalize();
    return 0;
}
