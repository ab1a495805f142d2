! SPDX-License-Identifier: BSD-3-Clause
! MUMPS: factorise a matrix that is given on rank 0, and one whose parts are on all ranks.
program solve
  implicit none
  include 'mpif.h'
  include 'dmumps_struc.h'
  type(dmumps_struc) :: id
  integer, parameter :: n = 200
  integer :: ierr, rank, ranks, form, i, at, n_mine
  double precision :: error

  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, ranks, ierr)
  do form = 0, 3, 3
    id%comm = mpi_comm_world
    id%sym = 0
    id%par = 1
    id%job = -1
    call dmumps(id)
    id%icntl(1:4) = 0
    id%icntl(18) = form
    id%n = n
    n_mine = 0
    do i = 1, n
      if (form == 0 .and. rank /= 0) cycle
      if (form == 3 .and. mod(i, ranks) /= rank) cycle
      n_mine = n_mine + 3
    end do
    if (form == 0) then
      id%nz = n_mine
      if (rank == 0) allocate(id%irn(n_mine), id%jcn(n_mine), id%a(n_mine))
    else
      id%nz_loc = n_mine
      allocate(id%irn_loc(n_mine), id%jcn_loc(n_mine), id%a_loc(n_mine))
    end if
    at = 0
    do i = 1, n
      if (form == 0 .and. rank /= 0) cycle
      if (form == 3 .and. mod(i, ranks) /= rank) cycle
      call entry(i, i, 4.0d0)
      call entry(i, mod(i, n) + 1, -1.0d0)
      call entry(i, mod(i + 12, n) + 1, -1.0d0)
    end do
    if (rank == 0) then
      allocate(id%rhs(n))
      id%rhs = 2.0d0
    end if
    id%job = 6
    call dmumps(id)
    if (rank == 0) then
      error = maxval(abs(id%rhs - 1.0d0))
      print '(a,i0,a,i0,a,l1)', 'form ', form, ' info ', id%infog(1), ' right ', error < 1.0d-12
      deallocate(id%rhs)
    end if
    id%job = -2
    call dmumps(id)
  end do
  call mpi_finalize(ierr)
contains
  subroutine entry(row, column, value)
    integer, intent(in) :: row, column
    double precision, intent(in) :: value
    at = at + 1
    if (form == 0) then
      id%irn(at) = row
      id%jcn(at) = column
      id%a(at) = value
    else
      id%irn_loc(at) = row
      id%jcn_loc(at) = column
      id%a_loc(at) = value
    end if
  end subroutine
end program
