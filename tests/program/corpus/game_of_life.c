/* SPDX-License-Identifier: BSD-3-Clause */
/* Life on a torus of rows; the world is text in the program. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *glider[] = {".#......", "..#.....", "###.....", "........", "........",
                               "........", "........", "........", NULL};

int main(int argc, char **argv)
{
    int rank, size, height = 0, width, lo, hi, n;
    unsigned char *now, *then;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (glider[height])
        height++;
    width = (int)strlen(glider[0]);
    lo = rank * height / size;
    hi = (rank + 1) * height / size;
    n = hi - lo;
    now = malloc((n + 2) * width);
    then = malloc((n + 2) * width);
    for (int y = lo; y < hi; y++)
        for (int x = 0; x < width; x++)
            now[(y - lo + 1) * width + x] = glider[y][x] == '#';
    for (int g = 0; g < 4; g++) {
        int up = (rank + size - 1) % size, down = (rank + 1) % size;
        MPI_Sendrecv(now + width, width, MPI_UNSIGNED_CHAR, up, 0, now + (n + 1) * width, width,
                     MPI_UNSIGNED_CHAR, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(now + n * width, width, MPI_UNSIGNED_CHAR, down, 1, now, width,
                     MPI_UNSIGNED_CHAR, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int y = 1; y <= n; y++)
            for (int x = 0; x < width; x++) {
                int c = 0;
                for (int dy = -1; dy <= 1; dy++)
                    for (int dx = -1; dx <= 1; dx++)
                        if (dx || dy)
                            c += now[(y + dy) * width + (x + dx + width) % width];
                then[y * width + x] = c == 3 || (c == 2 && now[y * width + x]);
            }
        unsigned char *t = now;
        now = then;
        then = t;
    }
    free(now);
    free(then);
    MPI_Finalize();
    return 0;
}
