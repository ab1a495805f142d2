! SPDX-License-Identifier: BSD-3-Clause
! What programs with `use mpi_f08` rely on, with functions that MPI calls. Prints "rank R: right" when
! all is well.
module state
  use mpi_f08
  implicit none
  integer :: rank, n, wrong = 0
  integer :: copies = 0, deletes = 0, errors = 0, queries = 0, frees = 0
  type(MPI_Datatype) :: reduced
  type(MPI_Comm) :: failed
contains
  subroutine check(is_right, what)
    logical, intent(in) :: is_right
    character(len=*), intent(in) :: what
    if (is_right) return
    wrong = wrong + 1
    print *, 'rank', rank, ': ', what
  end subroutine

  subroutine largest(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = max(a, b)
    reduced = datatype
  end subroutine

  subroutine on_error(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code, class
    errors = errors + 1
    failed = comm
    call MPI_Error_class(error_code, class)
    call check(class == MPI_ERR_RANK, 'the class in an error handler')
  end subroutine

  subroutine copy(comm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    copies = copies + 1
    attribute_val_out = attribute_val_in + extra_state
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    deletes = deletes + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine query(extra_state, status, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    queries = queries + int(extra_state)
    call MPI_Status_set_elements(status, MPI_INTEGER, 3, ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
    status%MPI_SOURCE = 7
    ierror = MPI_SUCCESS
  end subroutine

  subroutine free_it(extra_state, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    frees = frees + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine free_changed(extra_state, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    extra_state = extra_state - 1
    ierror = MPI_ERR_OTHER
  end subroutine

  subroutine cancel(extra_state, complete, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine
end module

program f08
  use mpi_f08
  use state
  implicit none
  integer :: provided
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  call messages
  call probes
  call operations
  call error_handlers
  call attributes
  call requests
  call others
  if (wrong == 0) print '(a,i0,a)', 'rank ', rank, ': right'
  call MPI_Finalize()
  if (wrong /= 0) stop 1
contains

  subroutine messages
    type(MPI_Request) :: request(2)
    type(MPI_Status) :: status, statuses(2)
    integer :: out(4), in(4), count, fields(MPI_STATUS_SIZE), ierror
    integer(kind=MPI_COUNT_KIND) :: large
    out = rank
    large = 4
    call MPI_Irecv(in, large, MPI_INTEGER, mod(rank + n - 1, n), 1, MPI_COMM_WORLD, request(1))
    call MPI_Isend(out, 4, MPI_INTEGER, mod(rank + 1, n), 1, MPI_COMM_WORLD, request(2), ierror)
    call MPI_Waitall(2, request, statuses, ierror=ierror)
    call MPI_Get_count(statuses(1), MPI_INTEGER, count)
    call check(ierror == MPI_SUCCESS .and. count == 4 .and. statuses(1)%MPI_TAG == 1 .and. &
               all(in == mod(rank + n - 1, n)), 'messages')
    call MPI_Get_count(statuses(1), MPI_INTEGER, large)
    call check(large == 4 .and. request(1) == MPI_REQUEST_NULL, 'large counts')
    call MPI_Status_f082f(statuses(1), fields)
    call MPI_Status_f2f08(fields, status)
    call check(fields(MPI_TAG) == 1 .and. status%MPI_SOURCE == statuses(1)%MPI_SOURCE, 'statuses')
    call MPI_Sendrecv(out, 1, MPI_INTEGER, 0, 0, in, 1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call PMPI_Barrier(MPI_COMM_WORLD)
  end subroutine

  subroutine probes
    type(MPI_Message) :: message
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: in, right, left
    right = mod(rank + 1, n)
    left = mod(rank + n - 1, n)
    call MPI_Isend(rank, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, request)
    call MPI_Mprobe(left, 2, MPI_COMM_WORLD, message, status)
    in = -1
    call MPI_Mrecv(in, 1, MPI_INTEGER, message, status)
    call check(in == left .and. message == MPI_MESSAGE_NULL .and. status%MPI_SOURCE == left, 'mrecv')
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Mprobe(MPI_PROC_NULL, 2, MPI_COMM_WORLD, message, status)
    call check(message == MPI_MESSAGE_NO_PROC, 'mprobe of no process')
    call MPI_Imrecv(in, 1, MPI_INTEGER, message, request)
    call MPI_Wait(request, status)
    call check(in == left .and. message == MPI_MESSAGE_NULL .and. status%MPI_SOURCE == MPI_PROC_NULL, 'imrecv')
  end subroutine

  subroutine operations
    type(MPI_Op) :: op
    type(MPI_Datatype) :: two
    integer :: values(2), most(2)
    logical :: commutes
    call MPI_Op_create(largest, .true., op)
    call MPI_Op_commutative(op, commutes)
    values = [rank, -rank]
    call MPI_Allreduce(values, most, 2, MPI_INTEGER, op, MPI_COMM_WORLD)
    call check(commutes .and. all(most == [n - 1, 0]), 'an operation')
    call MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INTEGER, op, MPI_COMM_WORLD)
    call check(all(values == most), 'an operation in place')
    call MPI_Type_contiguous(1, MPI_INTEGER, two)
    call MPI_Type_commit(two)
    most(1) = -1
    call MPI_Reduce_local(rank, most, 1, two, op)
    call check(most(1) == rank .and. reduced == two, 'an operation on a derived type')
    call MPI_Type_free(two)
    call MPI_Op_free(op)
    call check(op == MPI_OP_NULL .and. .not. op /= MPI_OP_NULL, 'op_free')
  end subroutine

  subroutine error_handlers
    type(MPI_Errhandler) :: handler, before
    type(MPI_Comm) :: comm
    integer :: ierror, class
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_create_errhandler(on_error, handler)
    call MPI_Comm_set_errhandler(comm, handler)
    call MPI_Comm_get_errhandler(comm, before)
    call check(before == handler, 'get_errhandler')
    call MPI_Send(rank, 1, MPI_INTEGER, n, 0, comm, ierror)
    call MPI_Error_class(ierror, class)
    call check(errors == 1 .and. failed == comm .and. class == MPI_ERR_RANK, 'an error handler')
    call MPI_Errhandler_free(before)
    call MPI_Errhandler_free(handler)
    call MPI_Comm_free(comm)
    call check(handler == MPI_ERRHANDLER_NULL, 'errhandler_free')
  end subroutine

  subroutine attributes
    integer(kind=MPI_ADDRESS_KIND) :: value
    integer :: key, none
    logical :: is_there
    type(MPI_Comm) :: comm
    call MPI_Comm_create_keyval(copy, delete, key, 1000_MPI_ADDRESS_KIND)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, none, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_SELF, key, 5_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_SELF, none, 6_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_get_attr(comm, key, value, is_there)
    call check(is_there .and. value == 1005 .and. copies == 1, 'a copied attribute')
    call MPI_Comm_get_attr(comm, none, value, is_there)
    call check(.not. is_there, 'MPI_COMM_NULL_COPY_FN')
    call MPI_Comm_free(comm)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, key)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, none)
    call check(deletes == 2, 'deleted attributes')
    call MPI_Comm_free_keyval(key)
    call MPI_Comm_free_keyval(none)
  end subroutine

  subroutine requests
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: count, error
    integer(kind=MPI_ADDRESS_KIND), volatile :: state
    call MPI_Grequest_start(query, free_it, cancel, 4_MPI_ADDRESS_KIND, request)
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status)
    call MPI_Get_elements(status, MPI_INTEGER, count)
    call check(queries == 4 .and. frees == 1 .and. count == 3 .and. status%MPI_SOURCE == 7, 'a generalized request')
    state = 8
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call MPI_Grequest_start(query, free_changed, cancel, state, request)
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status, error)
    call check(state == 7 .and. error == MPI_ERR_OTHER, 'the state and the error of a generalized request')
  end subroutine

  subroutine others
    use, intrinsic :: iso_c_binding
    integer, target :: buffer(1000)
    integer :: bytes
    type(c_ptr) :: place
    type(MPI_Info) :: info
    type(MPI_Group) :: group, first
    call MPI_Buffer_attach(buffer, 4000)
    call MPI_Buffer_detach(place, bytes)
    call check(bytes == 4000 .and. c_associated(place, c_loc(buffer)), 'buffer_detach')
    call MPI_Comm_group(MPI_COMM_WORLD, group)
    call MPI_Group_incl(group, 1, [0], first)
    call MPI_Group_size(first, bytes)
    call check(bytes == 1, 'groups')
    call MPI_Group_free(group)
    call MPI_Group_free(first)
    call MPI_Info_create(info)
    call MPI_Info_free(info)
    call check(info == MPI_INFO_NULL .and. info%MPI_VAL == MPI_INFO_NULL%MPI_VAL, 'handles')
  end subroutine
end program
