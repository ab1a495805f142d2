! SPDX-License-Identifier: BSD-3-Clause
! Heat in a rod, in modern Fortran: each rank has a piece of it, and exchanges the ends with its
! neighbours while the inner points are computed.
!   mpifort -O2 heat_f08.f90 -o heat_f08 && mpiexec -n 4 ./heat_f08
program heat_f08
  use mpi_f08
  implicit none
  integer, parameter :: points = 1000, steps = 2000
  double precision, allocatable, asynchronous :: old(:), new(:)
  double precision :: total
  type(MPI_Request) :: requests(4)
  integer :: rank, ranks, left, right, mine, step

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  mine = points / ranks + merge(1, 0, rank < mod(points, ranks))
  allocate (old(0:mine + 1), new(0:mine + 1))
  old = 0
  if (rank == 0) old(0) = 100
  new = old

  do step = 1, steps
    call MPI_Irecv(old(0), 1, MPI_DOUBLE_PRECISION, left, 0, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(old(mine + 1), 1, MPI_DOUBLE_PRECISION, right, 0, MPI_COMM_WORLD, requests(2))
    call MPI_Isend(old(1), 1, MPI_DOUBLE_PRECISION, left, 0, MPI_COMM_WORLD, requests(3))
    call MPI_Isend(old(mine), 1, MPI_DOUBLE_PRECISION, right, 0, MPI_COMM_WORLD, requests(4))
    new(2:mine - 1) = old(2:mine - 1) + 0.25d0 * (old(1:mine - 2) - 2 * old(2:mine - 1) + old(3:mine))
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    new(1) = old(1) + 0.25d0 * (old(0) - 2 * old(1) + old(2))
    new(mine) = old(mine) + 0.25d0 * (old(mine - 1) - 2 * old(mine) + old(mine + 1))
    old(1:mine) = new(1:mine)
  end do

  total = sum(old(1:mine))
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(a,f9.3,a,i0,a)', 'heat in the rod: ', total, ' on ', ranks, ' ranks'
  call MPI_Finalize()
end program
