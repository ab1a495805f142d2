/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything global, set up in functions without arguments, as translated from Fortran. */
#include <mpi.h>
#include <stdlib.h>

int nprow, npcol, myrow, mycol, mb = 8, nb = 8, n_, lrows, lcols;
double *a_, *work;
MPI_Comm row_comm, col_comm;
MPI_Datatype panel;

int numroc(int n, int nb_, int iproc, int nprocs)
{
    int nblocks = n / nb_, extra, result;

    result = (nblocks / nprocs) * nb_;
    extra = nblocks % nprocs;
    if (iproc < extra)
        result += nb_;
    else if (iproc == extra)
        result += n % nb_;
    return result;
}

void blacs_gridinit(void)
{
    int me, np;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    nprow = 1;
    for (int i = 2; i * i <= np; i++)
        if (np % i == 0)
            nprow = i;
    npcol = np / nprow;
    myrow = me / npcol;
    mycol = me % npcol;
    MPI_Comm_split(MPI_COMM_WORLD, myrow, mycol, &row_comm);
    MPI_Comm_split(MPI_COMM_WORLD, mycol + 1000, myrow, &col_comm);
}

void allocate(void)
{
    lrows = numroc(n_, mb, myrow, nprow);
    lcols = numroc(n_, nb, mycol, npcol);
    a_ = calloc(lrows * lcols + 1, sizeof(double));
    work = calloc((lrows + lcols) * nb, sizeof(double));
    MPI_Type_vector(nb, lrows, lrows, MPI_DOUBLE, &panel);
    MPI_Type_commit(&panel);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    n_ = 70;
    blacs_gridinit();
    allocate();
    for (int k = 0; k < n_; k += nb) {
        int prow = k / mb % nprow, pcol = k / nb % npcol;

        if (mycol == pcol)
            MPI_Bcast(work, nb * nb, MPI_DOUBLE, prow, col_comm);
        MPI_Bcast(work, 1, panel, pcol, row_comm);
        MPI_Bcast(work, nb * lcols, MPI_DOUBLE, prow, col_comm);
    }
    MPI_Type_free(&panel);
    MPI_Finalize();
    return 0;
}
