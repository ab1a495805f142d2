! SPDX-License-Identifier: BSD-3-Clause
! Three ranks with known messages, in the bindings that the build chooses.
program talk_fortran
#if defined(USE_MPIF_H)
  implicit none
  include 'mpif.h'
#elif defined(USE_MPI)
  use mpi
  implicit none
#else
  use mpi_f08
  implicit none
#endif
#if defined(USE_MPIF_H) || defined(USE_MPI)
  integer :: half
#else
  type(MPI_Comm) :: half
#endif
  integer :: rank, error, given(100), got(100)

  given = 0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  ! 40 bytes from 0 to 1, twice; 20 from 2 to 0.
  if (rank == 0) then
    call MPI_Send(given, 10, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, error)
    call MPI_Send(given, 10, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, error)
    call MPI_Recv(got, 5, MPI_INTEGER, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  else if (rank == 1) then
    call MPI_Recv(got, 10, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call MPI_Recv(got, 10, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  else
    call MPI_Send(given, 5, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, error)
  end if
  ! 12 bytes from 0 to 1 and 2; then a reduction with MPI_IN_PLACE in the pair of 0 and 1.
  call MPI_Bcast(given, 3, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, half, error)
  call MPI_Allreduce(MPI_IN_PLACE, given, 2, MPI_INTEGER, MPI_SUM, half, error)
  call MPI_Finalize(error)
end program talk_fortran
