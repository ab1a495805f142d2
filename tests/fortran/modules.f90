! SPDX-License-Identifier: BSD-3-Clause
! What programs with `use mpi` rely on, and that module variables belong to the rank. Prints
! "rank R: right" when all is well.
module state
  implicit none
  integer :: rank, n, wrong = 0
  integer :: mine = 3
  real, allocatable :: field(:)
contains
  subroutine check(is_right, what)
    logical, intent(in) :: is_right
    character(len=*), intent(in) :: what
    if (is_right) return
    wrong = wrong + 1
    print *, 'rank', rank, ': ', what
  end subroutine
end module

! In place of the library's: calls of MPI_BARRIER are counted.
subroutine mpi_barrier(comm, ierror)
  implicit none
  integer, intent(in) :: comm
  integer, intent(out) :: ierror
  integer :: count
  common /counted/ count
  count = count + 1
  call pmpi_barrier(comm, ierror)
end subroutine

program modules
  use mpi
  use state
  implicit none
  integer :: ierror, count
  common /counted/ count
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierror)
  call variables
  call buffers
  call sizes
  call window
  call file_per_rank
  call check(count == 2, 'PMPI names')
  if (wrong == 0) print '(a,i0,a)', 'rank ', rank, ': right'
  call MPI_Finalize(ierror)
  if (wrong /= 0) stop 1
contains

  subroutine variables
    mine = mine + rank
    allocate (field(rank + 1))
    field = rank
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call check(mine == 3 + rank .and. size(field) == rank + 1 .and. all(field == rank), 'module variables')
  end subroutine

  ! Buffers of any type, rank and shape.
  subroutine buffers
    type pair
      sequence
      double precision :: x
      integer :: i, j
    end type
    type(pair) :: p
    character(len=8) :: text
    integer :: grid(2, 3, 2), back(12), status(MPI_STATUS_SIZE), request
    logical :: is_there
    p%x = 1.5d0
    p%i = rank
    p%j = 0
    call MPI_Bcast(p, 16, MPI_BYTE, 0, MPI_COMM_WORLD, ierror)
    call check(p%i == 0 .and. p%x == 1.5d0, 'a derived type')
    text = merge('zero    ', 'another ', rank == 0)
    call MPI_Bcast(text, 8, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierror)
    call check(text == 'zero', 'MPI_CHARACTER')
    grid = reshape([(ierror + 1, ierror = 0, 11)], [2, 3, 2])
    call MPI_Irecv(back, 12, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, request, ierror)
    call MPI_Wait(request, status, ierror)
    call check(status(MPI_SOURCE) == MPI_PROC_NULL, 'status')
    call MPI_Sendrecv(grid, 12, MPI_INTEGER, 0, 0, back, 12, MPI_INTEGER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
    call check(all(back == [(ierror + 1, ierror = 0, 11)]), 'an array of three dimensions')
    call MPI_Initialized(is_there, ierror)
    call check(is_there .and. MPI_Wtime() > 0 .and. MPI_Wtick() > 0, 'functions')
  end subroutine

  subroutine sizes
    integer :: bytes(5)
    double precision :: x(2, 2)
    complex(kind=8) :: z
    call MPI_Sizeof(x, bytes(1), ierror)
    call MPI_Sizeof(z, bytes(2), ierror)
    call MPI_Sizeof(rank, bytes(3), ierror)
    call MPI_Sizeof('abc', bytes(4), ierror)
    call MPI_Sizeof(.true., bytes(5), ierror)
    call check(all(bytes == [8, 16, 4, 1, 4]), 'MPI_Sizeof')
  end subroutine

  ! Memory as a pointer of C and as an integer, and a window on it.
  subroutine window
    use, intrinsic :: iso_c_binding
    type(c_ptr) :: place
    integer, pointer :: memory(:)
    integer :: win, other
    integer(kind=MPI_ADDRESS_KIND) :: bytes, value
    logical :: is_there
    bytes = 40
    call MPI_Alloc_mem(bytes, MPI_INFO_NULL, place, ierror)
    call c_f_pointer(place, memory, [10])
    memory = rank
    call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, is_there, ierror)
    call check(is_there .and. value == 40, 'MPI_WIN_SIZE')
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, is_there, ierror)
    call check(is_there .and. value == 4, 'MPI_WIN_DISP_UNIT')
    call MPI_Win_fence(0, win, ierror)
    call MPI_Get(other, 1, MPI_INTEGER, mod(rank + 1, n), 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    call check(other == mod(rank + 1, n), 'MPI_Get')
    call MPI_Win_free(win, ierror)
    call MPI_Free_mem(memory, ierror)
  end subroutine

  ! Each rank has its own units: the same number is another file.
  subroutine file_per_rank
    character(len=20) :: name
    integer :: found
    write (name, '(a,i0)') 'unit.', rank
    open (unit=10, file=name, status='replace', action='readwrite')
    write (10, *) rank
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    rewind (10)
    read (10, *) found
    close (10, status='delete')
    call check(found == rank, 'units')
  end subroutine
end program
