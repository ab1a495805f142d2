/* SPDX-License-Identifier: BSD-3-Clause */
/* Sweeps from four corners over a grid of ranks, as transport codes do. ranks: 4 6 */
#include <mpi.h>
#include <stdlib.h>

typedef struct {
    int px, py, x, y;
    int west, east, north, south;
} topo;

static int id(const topo *t, int x, int y)
{
    return x < 0 || y < 0 || x >= t->px || y >= t->py ? MPI_PROC_NULL : y * t->px + x;
}

static void sweep(const topo *t, int ix, int iy, int planes, double *ew, double *ns)
{
    int from_x = ix > 0 ? t->west : t->east, to_x = ix > 0 ? t->east : t->west;
    int from_y = iy > 0 ? t->north : t->south, to_y = iy > 0 ? t->south : t->north;

    for (int k = 0; k < planes; k++) {
        MPI_Recv(ew, 12, MPI_DOUBLE, from_x, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(ns, 20, MPI_DOUBLE, from_y, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 12; i++)
            for (int j = 0; j < 20; j++)
                ew[i] = ns[j] = 0.5 * (ew[i] + ns[j]);
        MPI_Send(ew, 12, MPI_DOUBLE, to_x, k, MPI_COMM_WORLD);
        MPI_Send(ns, 20, MPI_DOUBLE, to_y, k, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    topo t = {0};
    int rank, size;
    double ew[12] = {0}, ns[20] = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (t.px = 1; (t.px + 1) * (t.px + 1) <= size; t.px++)
        ;
    while (size % t.px)
        t.px--;
    t.py = size / t.px;
    t.x = rank % t.px, t.y = rank / t.px;
    t.west = id(&t, t.x - 1, t.y), t.east = id(&t, t.x + 1, t.y);
    t.north = id(&t, t.x, t.y - 1), t.south = id(&t, t.x, t.y + 1);
    for (int octant = 0; octant < 4; octant++)
        sweep(&t, octant & 1 ? 1 : -1, octant & 2 ? 1 : -1, 3, ew, ns);
    MPI_Finalize();
    return 0;
}
