! SPDX-License-Identifier: BSD-3-Clause
! The number pi, in the Fortran of 1977: each rank adds up every N-th rectangle below the curve.
!   mpifort -O2 pi_f77.f -o pi_f77 && mpiexec -n 4 ./pi_f77
      PROGRAM PI
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INTEGER RANK, N, I, IERR, PIECES
      PARAMETER (PIECES = 1000000)
      DOUBLE PRECISION X, MINE, ALL
      CALL MPI_INIT(IERR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, RANK, IERR)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, N, IERR)
      MINE = 0
      DO 10 I = RANK + 1, PIECES, N
        X = (I - 0.5D0) / PIECES
        MINE = MINE + 4 / (1 + X * X) / PIECES
   10 CONTINUE
      CALL MPI_REDUCE(MINE, ALL, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0,
     &    MPI_COMM_WORLD, IERR)
      IF (RANK .EQ. 0) PRINT '(A,F12.9)', 'pi is', ALL
      CALL MPI_FINALIZE(IERR)
      END
