/* SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void in_many_pieces(int rank)
{
    for (int line = 0; line < 50; line++) {
        printf("%d:", rank);
        for (int i = 0; i < 40; i++) {
            fputc('a' + rank % 26, stdout);
            if (i % 10 == 0)
                MPI_Barrier(MPI_COMM_SELF);
        }
        putchar('a' + rank % 26);
        fputs(".", stdout);
        MPI_Barrier(MPI_COMM_WORLD);
        puts("!");
    }
}

int main(int argc, char **argv)
{
    char line[64];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(argv[1], "pieces") == 0) {
        in_many_pieces(rank);
    } else if (strcmp(argv[1], "input") == 0) {
        int n = 0, c;

        if (scanf("%d", &n) == 1)
            printf("%d read %d\n", rank, n);
        while ((c = getchar()) == '\n')
            ;
        if (c != EOF && fgets(line, sizeof(line), stdin) != NULL)
            printf("%d then %c%s", rank, c, line);
        printf("%d end %d\n", rank, feof(stdin) != 0 || fgetc(stdin) == EOF);
    } else if (strcmp(argv[1], "both") == 0) {
        printf("out %d\n", rank);
        fprintf(stderr, "err %d\n", rank);
    } else if (strcmp(argv[1], "partial") == 0) {
        if (rank == 0) {
            printf("begun");
            fflush(stdout);
            usleep(1000);
            printf(" and");
        }
        fclose(stderr);
    } else if (strcmp(argv[1], "long") == 0) {
        for (int i = 0; i < 100000; i++)
            putchar('0' + rank);
        printf("\n");
    } else if (strcmp(argv[1], "unbuffered") == 0) {
        setvbuf(stdout, NULL, _IONBF, 0);
        for (int i = 0; i < 20; i++) {
            printf("%d ", rank);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        printf("\n");
    }
    MPI_Finalize();
    return 0;
}
