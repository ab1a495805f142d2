/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dense matrix products on the ranks of an MPI job, by the algorithm that is the fastest there.
 *
 *   #include <xylem_matmul.h>
 *
 *   xylem_matmul(m, n, k, a, b, c, NULL, MPI_COMM_WORLD);          (C = A * B, on rank 0)
 *
 * Matrices are stored by rows, and are on rank 0; the other ranks pass NULL. The call distributes
 * the work and collects the result. It calls plain MPI: compile with mpicc and link with
 * `-lxylem_dense -lxylem`. docs/routines.md is the page to learn it from.
 */
#ifndef XYLEM_MATMUL_H
#define XYLEM_MATMUL_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* C += A * B of a rank's own blocks, stored by rows with these distances between rows. */
typedef void (*xylem_matmul_kernel)(int m, int n, int k, const double *a, int lda, const double *b,
                                    int ldb, double *c, int ldc, void *arg);

/* The seconds that it takes on that rank for blocks of this size. Called on rank 0 only. */
typedef double (*xylem_matmul_kernel_seconds)(int m, int n, int k, int rank, void *arg);

/* Fields that are 0 or NULL have the stated defaults; all ranks pass the same values. */
typedef struct {
    const char *algorithm;     /* "columns", "cartesian", "fox", "summa", "strassen-cannon"; NULL:
                                  the best is chosen, by xylem_choose() on rank 0 */
    const double *speeds;      /* of each rank, in flop/s; NULL: all alike, with a kernel as fast as
                                  the calibrated dgemm is, else 4e9 */
    double latency, bandwidth; /* of messages: seconds, bytes per second. Without `machine` and with
                                  one of them, each rank has a node of its own; 0: 1e-6 and 8e9 */
    double sum;                /* seconds to add two elements in memory; 0: 2e-9; < 0: none.
                                  Factorisations copy an element in this time, if it is given */
    int block;                 /* of inner products that are sent at once; 0: 128 */
    xylem_matmul_kernel kernel; /* NULL: a plain loop. A BLAS is many times as fast */
    void *arg;                  /* for the kernel */
    const char *machine;        /* as `xylem machine` takes it; NULL: where the job runs, and each
                                   rank on the core that it has */
    const char *costs;          /* file of `xylem calibrate`; NULL: what is stored for the machine,
                                   or, where nothing is, the simulator's own figures */
    double share; /* of the time of all products so far, for predictions: one that would
                     take longer waits for later calls, and until then "cartesian"
                     is used, or "strassen-cannon" between nodes for small blocks; 0: 0.01;
                     INFINITY: predict always */
    int learns;   /* not 0: store the time of the run for later choices */
    xylem_matmul_kernel_seconds seconds; /* time of the kernel for predictions, with `arg`; NULL:
                                            from `speeds`, or the calibrated dgemm */
    void (*worked)(double operations, void *arg); /* called on each rank with the operations of a
                                            loop of a factorisation beside the kernel, and the
                                            elements that it copies, with `arg`: a program that
                                            charges virtual time for its kernel charges it for
                                            these, too; predictions charge them by `speeds`, with a
                                            kernel at 2e9 flop/s at most (elements also by `sum`, as
                                            more operations). NULL: not called */
} xylem_matmul_options;

/* 0, or a number other than 0 on all ranks; then rank 0 says why on standard error: a size below 1,
 * a matrix of more than 2^31 - 1 elements or that is NULL, a speed that is none, an unknown
 * algorithm, one that needs more ranks ("strassen-cannon": 7), a machine or a file of costs that
 * cannot be read. Collective. Rank 0 keeps what it has predicted until MPI_Finalize. */
int xylem_matmul(int m, int n, int k, const double *a, const double *b, double *c,
                 const xylem_matmul_options *options, MPI_Comm comm);

/* The predicted seconds of an algorithm with so many ranks, as xylem_matmul() compares them. 0: it
 * cannot be used or predicted (reported). Calls no MPI. */
double xylem_matmul_seconds(const char *algorithm, int m, int n, int k, int ranks,
                            const xylem_matmul_options *options);

/* The same by simulating what all ranks do on the machine of the options: as `mpiexec --virtual`,
 * exactly, in about a microsecond for each message. 0: it cannot be used or simulated (reported).
 * Calls no MPI. */
double xylem_matmul_simulated(const char *algorithm, int m, int n, int k, int ranks,
                              const xylem_matmul_options *options);

/* The algorithm that is predicted to be the best: what xylem_matmul() uses where it has time to
 * predict and knows no earlier runs. Those that are predicted to take about the same are simulated.
 * *seconds_p (if not NULL): its time. NULL: nothing can be predicted (reported). Calls no MPI. */
const char *xylem_matmul_best(int m, int n, int k, int ranks, const xylem_matmul_options *options,
                              double *seconds_p);

/* The names of all algorithms, ended by NULL. */
extern const char *const xylem_matmul_algorithms[];

#ifdef __cplusplus
}
#endif

#endif
