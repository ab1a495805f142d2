/* SPDX-License-Identifier: BSD-3-Clause */
/* Breadth-first search of a small graph; frontiers are exchanged level by level. */
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define V        24
#define OWNER(v) ((v) % size)

int main(int argc, char **argv)
{
    int rank, size, level[V], frontier[V], nf = 0, depth = 0, any;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(level, -1, sizeof(level));
    if (OWNER(0) == rank) {
        level[0] = 0;
        frontier[nf++] = 0;
    }
    do {
        int out[64][V], n[64] = {0}, in[V], got;
        int next[V], nn = 0;
        for (int i = 0; i < nf; i++) {
            int edges[3] = {(2 * frontier[i] + 1) % V, (frontier[i] + 7) % V,
                            (3 * frontier[i]) % V};
            for (int e = 0; e < 3; e++) {
                int o = OWNER(edges[e]);
                out[o][n[o]++] = edges[e];
                if (n[o] == V)
                    n[o] = V - 1;
            }
        }
        depth++;
        MPI_Request rq[64];
        for (int r = 0; r < size; r++)
            MPI_Isend(out[r], n[r], MPI_INT, r, depth, MPI_COMM_WORLD, &rq[r]);
        for (int r = 0; r < size; r++) {
            MPI_Status st;
            MPI_Recv(in, V, MPI_INT, r, depth, MPI_COMM_WORLD, &st);
            MPI_Get_count(&st, MPI_INT, &got);
            for (int i = 0; i < got; i++)
                if (level[in[i]] < 0) {
                    level[in[i]] = depth;
                    next[nn++] = in[i];
                }
        }
        MPI_Waitall(size, rq, MPI_STATUSES_IGNORE);
        memcpy(frontier, next, nn * sizeof(int));
        nf = nn;
        bool more = nf > 0;
        MPI_Allreduce(&more, &any, 0, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD);
        MPI_Allreduce(&nf, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } while (any);
    MPI_Finalize();
    return 0;
}
