/* SPDX-License-Identifier: BSD-3-Clause */
/* PETSc: the Poisson equation on a grid, by conjugate gradients, and a scatter of the solution. */
#include <petscdmda.h>
#include <petscksp.h>

int main(int argc, char **argv)
{
    DM grid;
    Mat a;
    Vec b, x, zero;
    KSP solver;
    VecScatter scatter;
    PetscInt x0, y0, nx, ny, iterations, n = 24;
    PetscReal norm, sum;

    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                           n, n, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &grid));
    PetscCall(DMSetUp(grid));
    PetscCall(DMCreateMatrix(grid, &a));
    PetscCall(DMDAGetCorners(grid, &x0, &y0, NULL, &nx, &ny, NULL));
    for (PetscInt j = y0; j < y0 + ny; j++)
        for (PetscInt i = x0; i < x0 + nx; i++) {
            MatStencil row = {.i = i, .j = j}, columns[5];
            PetscScalar values[5];
            PetscInt m = 0;
            const PetscInt di[5] = {0, 1, -1, 0, 0}, dj[5] = {0, 0, 0, 1, -1};

            for (int k = 0; k < 5; k++)
                if (i + di[k] >= 0 && i + di[k] < n && j + dj[k] >= 0 && j + dj[k] < n) {
                    columns[m] = (MatStencil){.i = i + di[k], .j = j + dj[k]};
                    values[m++] = k == 0 ? 4 : -1;
                }
            PetscCall(MatSetValuesStencil(a, 1, &row, m, columns, values, INSERT_VALUES));
        }
    PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreateVecs(a, &x, &b));
    PetscCall(VecSet(b, 1));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
    PetscCall(KSPSetOperators(solver, a, a));
    PetscCall(KSPSetType(solver, KSPCG));
    PetscCall(KSPSetTolerances(solver, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(KSPSetFromOptions(solver));
    PetscCall(KSPSolve(solver, b, x));
    PetscCall(KSPGetIterationNumber(solver, &iterations));
    PetscCall(VecScatterCreateToZero(x, &scatter, &zero));
    PetscCall(VecScatterBegin(scatter, x, zero, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter, x, zero, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecNorm(zero, NORM_2, &norm));
    PetscCall(VecSum(x, &sum));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations %d norm %.7g sum %.7g\n", (int)iterations,
                          (double)norm, (double)sum));
    PetscCall(VecScatterDestroy(&scatter));
    PetscCall(VecDestroy(&zero));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&a));
    PetscCall(KSPDestroy(&solver));
    PetscCall(DMDestroy(&grid));
    return (int)PetscFinalize();
}
