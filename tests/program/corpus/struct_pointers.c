/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs that point to structs, of which little matters. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double *values;
    int count;
} field_t;
typedef struct {
    field_t *fields[2];
    struct mesh *mesh;
    int fields_count;
} domain_t;
struct mesh {
    int nx, ny;
    domain_t *back;
};
static domain_t *make(int nx, int ny)
{
    domain_t *d = malloc(sizeof(*d));

    d->mesh = malloc(sizeof(*d->mesh));
    d->mesh->nx = nx;
    d->mesh->ny = ny;
    d->mesh->back = d;
    d->fields_count = 2;
    for (int i = 0; i < 2; i++) {
        d->fields[i] = malloc(sizeof(field_t));
        d->fields[i]->count = nx * ny / (i + 1);
        d->fields[i]->values = calloc(d->fields[i]->count, sizeof(double));
    }
    return d;
}
int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    domain_t *d = make(6, 4 + rank * 0);

    for (int i = 0; i < d->fields_count; i++)
        MPI_Bcast(d->fields[i]->values, d->fields[i]->count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(d->fields[0]->values, d->mesh->back->mesh->nx, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
