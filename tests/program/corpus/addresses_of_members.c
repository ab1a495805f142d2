/* SPDX-License-Identifier: BSD-3-Clause */
/* Types from addresses of members; what they carry steers. */
#include <mpi.h>
#include <stdlib.h>

typedef struct {
    char name[6];
    int steps, unused;
    short shape[3];
    double dt;
} setup;

int main(int argc, char **argv)
{
    setup s[2];
    int rank;
    MPI_Datatype t, r;
    MPI_Aint base, at[3], next;
    char data[500];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        s[0].steps = 3;
        s[0].shape[0] = 10, s[0].shape[1] = 20, s[0].shape[2] = 30;
        s[0].dt = 0.5;
    }
    MPI_Get_address(s, &base);
    MPI_Get_address(&s[0].steps, &at[0]);
    MPI_Get_address(s[0].shape, &at[1]);
    MPI_Get_address(&s->dt, &at[2]);
    MPI_Get_address(s + 1, &next);
    for (int i = 0; i < 3; i++)
        at[i] = MPI_Aint_diff(at[i], base);
    MPI_Type_create_struct(3, (int[]){1, 3, 1}, at,
                           (MPI_Datatype[]){MPI_INT, MPI_SHORT, MPI_DOUBLE}, &t);
    MPI_Type_create_resized(t, 0, MPI_Aint_diff(next, base), &r);
    MPI_Type_commit(&r);
    if (rank == 0)
        MPI_Send(s, 2, r, 1, 5, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(s, 2, r, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(&s[0].steps, (int)(next - base) - 8, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < s[0].steps; i++)
        MPI_Bcast(data, s[0].shape[i], MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
