/* SPDX-License-Identifier: BSD-3-Clause */
/* A pointer that walks along a word. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char text[64], *p = text;
    const char *q = "one two three";
    int words = 1;

    while ((*p++ = *q++) != '\0')
        ;
    for (p = text; *p; p++)
        words += *p == ' ';
    MPI_Bcast(text, words, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
