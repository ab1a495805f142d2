/* SPDX-License-Identifier: BSD-3-Clause */
/* FFTW: a plane wave in a plane and in a box has one coefficient; and back. */
#include <complex.h>
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>

static double transform(int dimensions, const ptrdiff_t sizes[])
{
    ptrdiff_t local, first, rest = 1, total = 1, n;
    double error = 0, all = 0;

    for (int d = 0; d < dimensions; d++)
        total *= sizes[d];
    rest = total / sizes[0];
    n = fftw_mpi_local_size(dimensions, sizes, MPI_COMM_WORLD, &local, &first);
    fftw_complex *x = fftw_alloc_complex((size_t)n);
    fftw_plan there =
        fftw_mpi_plan_dft(dimensions, sizes, x, x, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_plan back =
        fftw_mpi_plan_dft(dimensions, sizes, x, x, MPI_COMM_WORLD, FFTW_BACKWARD, FFTW_ESTIMATE);

    for (ptrdiff_t i = 0; i < local; i++)
        for (ptrdiff_t j = 0; j < rest; j++)
            x[i * rest + j] = cexp(2 * M_PI * I * 3 * (double)(first + i) / (double)sizes[0]);
    fftw_execute(there);
    for (ptrdiff_t i = 0; i < local; i++)
        for (ptrdiff_t j = 0; j < rest; j++)
            error += cabs(x[i * rest + j] - (first + i == 3 && j == 0 ? (double)total : 0));
    fftw_execute(back);
    for (ptrdiff_t i = 0; i < local; i++)
        error += cabs(x[i * rest] / (double)total -
                      cexp(2 * M_PI * I * 3 * (double)(first + i) / (double)sizes[0]));
    MPI_Allreduce(&error, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    fftw_destroy_plan(there);
    fftw_destroy_plan(back);
    fftw_free(x);
    return all;
}

int main(int argc, char **argv)
{
    const ptrdiff_t plane[2] = {64, 48}, box[3] = {20, 18, 16};
    double errors[2];
    int rank;

    MPI_Init(&argc, &argv);
    fftw_mpi_init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    errors[0] = transform(2, plane);
    errors[1] = transform(3, box);
    if (rank == 0)
        printf("plane %s, box %s\n", errors[0] < 1e-8 ? "right" : "WRONG",
               errors[1] < 1e-8 ? "right" : "WRONG");
    fftw_mpi_cleanup();
    MPI_Finalize();
    return errors[0] < 1e-8 && errors[1] < 1e-8 ? 0 : 1;
}
