/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of an image are dealt in turn; the picture goes to rank 0 by a resized column type.
 * arguments: 16 12 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MAXITER 50

static unsigned char pixel(double cr, double ci)
{
    double zr = 0, zi = 0;
    int i = 0;

    while (i < MAXITER && zr * zr + zi * zi < 4) {
        double t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        i++;
    }
    return (unsigned char)i;
}

int main(int argc, char *argv[])
{
    int w = 32, h = 24, id, np;
    unsigned char *image = NULL, *mine;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &id);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    if (argc >= 3) {
        sscanf(argv[1], "%d", &w);
        sscanf(argv[2], "%d", &h);
    }
    int rows = (h - id + np - 1) / np;
    mine = malloc(w * rows);
    for (int k = 0, y = id; y < h; y += np, k++)
        for (int x = 0; x < w; x++)
            mine[k * w + x] = pixel(3.0 * x / w - 2, 2.0 * y / h - 1);
    MPI_Datatype strided;
    MPI_Type_vector(rows, w, w * np, MPI_UNSIGNED_CHAR, &strided);
    MPI_Type_commit(&strided);
    if (id == 0) {
        image = malloc(w * h);
        for (int p = 1; p < np; p++) {
            int theirs = (h - p + np - 1) / np;
            MPI_Datatype t;
            MPI_Type_vector(theirs, w, w * np, MPI_UNSIGNED_CHAR, &t);
            MPI_Type_commit(&t);
            MPI_Recv(image + p * w, 1, t, p, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Type_free(&t);
        }
    } else {
        MPI_Send(mine, w * rows, MPI_UNSIGNED_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Type_free(&strided);
    MPI_Finalize();
    return 0;
}
