! SPDX-License-Identifier: BSD-3-Clause
! A Fortran program for any MPI: handles, statuses, special addresses, functions of the program, errors. It prints
! one line per mistake. launch.sh puts the module or the header in.
program f
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: ierr, rank, size, i, req(2), stat(MPI_STATUS_SIZE,2), st(MPI_STATUS_SIZE), comm2, dt, op, n, newtype
  integer :: x, y, total, color
  double precision :: a(10), b(10), t
  character(len=MPI_MAX_PROCESSOR_NAME) :: name
  integer(kind=MPI_ADDRESS_KIND) :: val
  logical :: flag
  external addup
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  x = rank
  call MPI_Irecv(y, 1, MPI_INTEGER, mod(rank+size-1,size), 7, MPI_COMM_WORLD, req(1), ierr)
  call MPI_Isend(x, 1, MPI_INTEGER, mod(rank+1,size), 7, MPI_COMM_WORLD, req(2), ierr)
  call MPI_Waitall(2, req, stat, ierr)
  if (y /= mod(rank+size-1,size)) print *, 'wrong y'
  if (stat(MPI_SOURCE,1) /= y .or. stat(MPI_TAG,1) /= 7) print *, 'wrong status'
  if (req(1) /= MPI_REQUEST_NULL) print *, 'wrong request'
  call MPI_Get_count(stat(:,1), MPI_INTEGER, n, ierr)
  if (n /= 1) print *, 'wrong count', n
  total = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (total /= size*(size+1)/2) print *, 'wrong sum', total
  call MPI_Op_create(addup, .true., op, ierr)
  a = rank; b = -1
  call MPI_Reduce(a, b, 10, MPI_DOUBLE_PRECISION, op, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. b(3) /= size*(size-1)/2) print *, 'wrong op', b(3)
  call MPI_Op_free(op, ierr)
  color = mod(rank, 2)
  call MPI_Comm_split(MPI_COMM_WORLD, color, rank, comm2, ierr)
  call MPI_Barrier(comm2, ierr)
  call MPI_Comm_free(comm2, ierr)
  if (comm2 /= MPI_COMM_NULL) print *, 'wrong null'
  call MPI_Type_vector(2, 1, 2, MPI_DOUBLE_PRECISION, newtype, ierr)
  call MPI_Type_commit(newtype, ierr)
  call MPI_Type_free(newtype, ierr)
  call MPI_Recv(y, 1, MPI_INTEGER, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, st, ierr)
  if (st(MPI_SOURCE) /= MPI_PROC_NULL) print *, 'wrong proc null'
  call MPI_Sendrecv(x, 1, MPI_INTEGER, rank, 1, y, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, val, flag, ierr)
  if (.not. flag .or. val < 32767) print *, 'wrong attr'
  call MPI_Get_processor_name(name, n, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Send(x, 1, MPI_INTEGER, size, 0, MPI_COMM_WORLD, ierr)
  call MPI_Error_class(ierr, n, i)
  if (n /= MPI_ERR_RANK) print *, 'wrong class', n
  t = MPI_Wtime()
  print *, 'one of', size
  call MPI_Finalize(ierr)
end program
subroutine addup(a, b, n, t)
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: n, t
  double precision :: a(n), b(n)
  if (t /= MPI_DOUBLE_PRECISION) print *, 'wrong type', t
  b = a + b
end subroutine
