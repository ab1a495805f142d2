! SPDX-License-Identifier: BSD-3-Clause
! Functions of the program that MPI calls, from Fortran: a generalized request, a data representation, attributes, and
! ranks that are started.
module calls
  implicit none
  integer :: queried = 0, freed = 0, cancelled = 0, converted = 0, copied = 0
contains
  subroutine query(extra, status, ierror)
    use mpi
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), ierror
    if (extra == 77) queried = queried + 1
    status(MPI_SOURCE) = 5
    status(MPI_TAG) = 6
    call MPI_Status_set_elements(status, MPI_INTEGER, 3, ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
    ierror = MPI_SUCCESS
  end subroutine
  subroutine release(extra, ierror)
    use mpi
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: ierror
    if (extra == 77) freed = freed + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra, complete, ierror)
    use mpi
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierror
    if (extra == 77 .and. .not. complete) cancelled = cancelled + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine copy(comm, keyval, extra, value, new_value, flag, ierror)
    use mpi
    integer :: comm, keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra, value, new_value
    logical :: flag
    if (extra == 9 .and. value == 100) copied = copied + 1
    new_value = value + 1
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine drop(comm, keyval, value, extra, ierror)
    use mpi
    integer :: comm, keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    if (extra == 9 .and. value == 101) copied = copied + 10
    ierror = MPI_SUCCESS
  end subroutine
  subroutine write_conversion(userbuf, datatype, count, filebuf, position, extra, ierror)
    use mpi
    integer :: datatype, count, ierror
    integer :: userbuf(*), filebuf(*)
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: i
    if (extra /= 5 .or. datatype /= MPI_INTEGER) error stop "conversion"
    do i = 1, count
      filebuf(int(position) + i) = -userbuf(i)
    end do
    converted = converted + count
    ierror = MPI_SUCCESS
  end subroutine
  subroutine read_conversion(userbuf, datatype, count, filebuf, position, extra, ierror)
    use mpi
    integer :: datatype, count, ierror
    integer :: userbuf(*), filebuf(*)
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: i
    if (extra /= 5) error stop "conversion"
    do i = 1, count
      userbuf(int(position) + i) = -filebuf(i)
    end do
    converted = converted + count
    ierror = MPI_SUCCESS
  end subroutine
  subroutine extent(datatype, bytes, extra, ierror)
    use mpi
    integer :: datatype, ierror
    integer(MPI_ADDRESS_KIND) :: bytes, extra
    if (extra /= 5) error stop "extent"
    bytes = 4
    ierror = MPI_SUCCESS
  end subroutine
end module

program callbacks
  use mpi
  use calls
  implicit none
  integer :: request, status(MPI_STATUS_SIZE), n, rank, ierror, keyval, comm, parent, got, file, i, codes(2)
  integer(MPI_ADDRESS_KIND) :: extra, value
  logical :: flag
  character(len=200) :: own
  integer :: numbers(4)
  character(len=8) :: arguments(3)

  call MPI_Init(ierror)
  call MPI_Comm_get_parent(parent, ierror)
  if (parent /= MPI_COMM_NULL) then
    call get_command_argument(2, own)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    n = len_trim(own) + rank
    call MPI_Send(n, 1, MPI_INTEGER, 0, 1, parent, ierror)
    call MPI_Finalize(ierror)
    stop
  end if

  extra = 77
  call MPI_Grequest_start(query, release, cancel, extra, request, ierror)
  call MPI_Cancel(request, ierror)
  call MPI_Grequest_complete(request, ierror)
  call MPI_Wait(request, status, ierror)
  call MPI_Get_count(status, MPI_INTEGER, n, ierror)
  print *, 'request', queried, freed, cancelled, n, status(MPI_SOURCE), status(MPI_TAG)

  extra = 9
  call MPI_Comm_create_keyval(copy, drop, keyval, extra, ierror)
  value = 100
  call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, value, ierror)
  call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
  call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
  call MPI_Comm_free(comm, ierror)
  call MPI_Comm_delete_attr(MPI_COMM_SELF, keyval, ierror)
  print *, 'attribute', copied, value, flag
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
  print *, 'tags', value > 32766, flag

  extra = 5
  call MPI_Register_datarep('negative', read_conversion, write_conversion, extent, extra, ierror)
  call MPI_File_open(MPI_COMM_SELF, 'callbacks.out', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierror)
  call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'negative', MPI_INFO_NULL, ierror)
  if (ierror == MPI_SUCCESS) then
    call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, [1, 2, 3, 4], 4, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, numbers, 4, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    print *, 'data', converted, numbers
  end if
  call MPI_File_close(file, ierror)

  call get_command_argument(0, own)
  arguments = ['first   ', 'second  ', '        ']
  call MPI_Comm_spawn(own, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, comm, codes, ierror)
  n = 0
  do i = 0, 1
    call MPI_Recv(got, 1, MPI_INTEGER, i, 1, comm, MPI_STATUS_IGNORE, ierror)
    n = n + got
  end do
  print *, 'started', n, codes
  call MPI_Finalize(ierror)
end program
