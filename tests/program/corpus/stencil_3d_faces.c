/* SPDX-License-Identifier: BSD-3-Clause */
/* Six faces of a block in three dimensions, as subarray types in a table. ranks: 4 8 */
#include <mpi.h>
#include <stdlib.h>

enum { NX = 8, NY = 6, NZ = 10, HALO = 1 };

struct face {
    MPI_Datatype send, recv;
    int peer;
};

static void make_face(struct face *f, int axis, int side, const int n[3])
{
    int full[3], part[3], at[3] = {HALO, HALO, HALO}, ghost[3] = {HALO, HALO, HALO};

    for (int d = 0; d < 3; d++) {
        full[d] = n[d] + 2 * HALO;
        part[d] = d == axis ? HALO : n[d];
    }
    at[axis] = side ? n[axis] : HALO;
    ghost[axis] = side ? n[axis] + HALO : 0;
    MPI_Type_create_subarray(3, full, part, at, MPI_ORDER_C, MPI_DOUBLE, &f->send);
    MPI_Type_create_subarray(3, full, part, ghost, MPI_ORDER_C, MPI_DOUBLE, &f->recv);
    MPI_Type_commit(&f->send);
    MPI_Type_commit(&f->recv);
}

int main(int argc, char **argv)
{
    int size, dims[3] = {0, 0, 0}, wrap[3] = {0, 1, 0}, n[3] = {NX, NY, NZ};
    struct face faces[3][2];
    MPI_Comm cart;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, wrap, 0, &cart);
    double *u = calloc((NX + 2) * (NY + 2) * (NZ + 2), sizeof(double));
    for (int d = 0; d < 3; d++) {
        MPI_Cart_shift(cart, d, 1, &faces[d][0].peer, &faces[d][1].peer);
        for (int s = 0; s < 2; s++)
            make_face(&faces[d][s], d, s, n);
    }
    for (int it = 0; it < 2; it++)
        for (int d = 0; d < 3; d++)
            for (int s = 0; s < 2; s++)
                MPI_Sendrecv(u, 1, faces[d][s].send, faces[d][s].peer, s, u, 1,
                             faces[d][1 - s].recv, faces[d][1 - s].peer, s, cart,
                             MPI_STATUS_IGNORE);
    for (int i = 0; i < 6; i++) {
        MPI_Type_free(&faces[i / 2][i % 2].send);
        MPI_Type_free(&faces[i / 2][i % 2].recv);
    }
    MPI_Finalize();
    return 0;
}
