/* SPDX-License-Identifier: BSD-3-Clause */
/* An array of structs by a type with holes and the extent of the struct. */
#include <mpi.h>
#include <stddef.h>

typedef struct particle {
    double x[3];
    int id;
    char tag;
    float mass;
} Particle;

static MPI_Datatype particle_type(void)
{
    const int n = 4;
    int len[] = {3, 1, 1, 1};
    MPI_Aint disp[] = {offsetof(Particle, x), offsetof(Particle, id), offsetof(Particle, tag),
                       offsetof(Particle, mass)};
    MPI_Datatype of[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR, MPI_FLOAT}, t, r;

    MPI_Type_create_struct(n, len, disp, of, &t);
    MPI_Type_create_resized(t, 0, sizeof(Particle), &r);
    MPI_Type_commit(&r);
    MPI_Type_free(&t);
    return r;
}

int main(int argc, char *argv[])
{
    Particle out[20] = {{{0}}}, in[20];
    int me, n;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Datatype type = particle_type();
    for (int i = 0; i < 20; i++)
        out[i].id = i + me;
    MPI_Sendrecv(out, 5 + me, type, (me + 1) % n, 0, in, 20, type, (me + n - 1) % n, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(in, 3, type, n - 1, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
