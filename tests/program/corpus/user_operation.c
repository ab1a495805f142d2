/* SPDX-License-Identifier: BSD-3-Clause */
/* A reduction with an operation of the program on a type of its own. */
#include <mpi.h>
#include <stdlib.h>

typedef struct {
    double re, im;
} complex_t;

static void multiply(void *in_, void *inout_, int *len, MPI_Datatype *type)
{
    complex_t *in = in_, *inout = inout_;

    (void)type;
    for (int i = 0; i < *len; ++i, in++, inout++) {
        complex_t c = {inout->re * in->re - inout->im * in->im,
                       inout->re * in->im + inout->im * in->re};
        *inout = c;
    }
}

int main(int argc, char **argv)
{
    complex_t a[40], answer[40];
    MPI_Op product;
    MPI_Datatype type;

    MPI_Init(&argc, &argv);
    for (int i = 0; i < 40; i++)
        a[i] = (complex_t){1.0 / (i + 1), i};
    MPI_Type_contiguous(2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(multiply, 1, &product);
    MPI_Reduce(a, answer, 40, type, product, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, a, 10, type, product, MPI_COMM_WORLD);
    MPI_Scan(a, answer, 3, type, product, MPI_COMM_WORLD);
    MPI_Op_free(&product);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
