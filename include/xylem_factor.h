/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LU and Cholesky factorisations on the ranks of an MPI job, by the algorithm that is the fastest
 * there.
 *
 *   #include <xylem_factor.h>
 *
 *   info = xylem_lu(n, a, pivots, NULL, MPI_COMM_WORLD);        (P A = L U, on rank 0)
 *   info = xylem_cholesky(n, a, NULL, MPI_COMM_WORLD);          (A = L L^T, likewise)
 *
 * The matrix is stored by rows and is on rank 0, where the factors take its place; the other ranks
 * pass NULL. Its blocks are distributed over the ranks in turn (block-cyclic), and collected at the
 * end. The calls are plain MPI: compile with mpicc and link with `-lxylem_dense -lxylem`.
 * docs/routines.md is the page to learn it from.
 *
 * Algorithms: "columns" gives each rank whole block columns; a panel is factored by its owner alone
 * and broadcast. "grid" lays the blocks on a grid as square as possible, for 4 ranks or more; a
 * panel is factored by a column of the grid. With "-ahead" the next panel is factored before the
 * rest of the matrix is updated, and panels travel from neighbour to neighbour.
 */
#ifndef XYLEM_FACTOR_H
#define XYLEM_FACTOR_H

#include <xylem_matmul.h>

#ifdef __cplusplus
extern "C" {
#endif

/* LU with partial pivoting of the n x n matrix `a` on rank 0: U is on and above the diagonal, L,
 * whose diagonal is 1, below it. pivots[i] on rank 0: row i + 1 was exchanged with that row,
 * counted from 1, as LAPACK's dgetrf has it. The options are those of xylem_matmul.h; `block` is
 * the width of a panel, 0: 64; `sum` is not used.
 *
 * On all ranks 0; or i > 0: U(i, i), counted from 1, is 0, and the factors are complete; or -1, and
 * rank 0 says why on standard error: a size below 1 or above 46340, a pointer that is NULL, or
 * options, as those of xylem_matmul(). Collective. */
int xylem_lu(int n, double *a, int *pivots, const xylem_matmul_options *options, MPI_Comm comm);

/* Cholesky: L takes the place of the lower triangle of the symmetric matrix; what is above the
 * diagonal is not used, and stays. i > 0: the leading minor of order i is not positive; the
 * contents of the lower triangle are undefined then. All else as xylem_lu(). */
int xylem_cholesky(int n, double *a, const xylem_matmul_options *options, MPI_Comm comm);

/* As xylem_matmul_seconds(), xylem_matmul_simulated() and xylem_matmul_best(); `routine` is "lu" or
 * "cholesky". Pivots of LU are taken to be anywhere below the diagonal. */
double xylem_factor_seconds(const char *routine, const char *algorithm, int n, int ranks,
                            const xylem_matmul_options *options);
double xylem_factor_simulated(const char *routine, const char *algorithm, int n, int ranks,
                              const xylem_matmul_options *options);
const char *xylem_factor_best(const char *routine, int n, int ranks,
                              const xylem_matmul_options *options, double *seconds_p);

/* The names of all algorithms, of both routines, ended by NULL. */
extern const char *const xylem_factor_algorithms[];

#ifdef __cplusplus
}
#endif

#endif
