! SPDX-License-Identifier: BSD-3-Clause
! Attributes between Fortran and C (attributes.c).
program attributes
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function c_reads_wide(key) bind(c)
      import
      integer(c_int) :: key
    end function
    integer(c_int) function c_reads_narrow(key) bind(c)
      import
      integer(c_int) :: key
    end function
    integer(c_int) function c_reads_own(key) bind(c)
      import
      integer(c_int) :: key
    end function
    integer(c_int) function c_is_own(address) bind(c)
      import
      integer(c_intptr_t) :: address
    end function
    subroutine c_sets(key) bind(c)
      import
      integer(c_int) :: key
    end subroutine
  end interface
  integer :: key, old, narrow, rank, error
  integer(kind=MPI_ADDRESS_KIND) :: value
  logical :: there
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, error)
  call MPI_Comm_set_attr(MPI_COMM_SELF, key, int(rank + 7, MPI_ADDRESS_KIND) * 2_MPI_ADDRESS_KIND**32, error)
  call check(c_reads_wide(key) == rank + 7, 'C reads what Fortran has set')
  call MPI_Comm_get_attr(MPI_COMM_SELF, key, value, there, error)
  call check(there .and. value == int(rank + 7, MPI_ADDRESS_KIND) * 2_MPI_ADDRESS_KIND**32, 'Fortran reads its own')
  call c_sets(key)
  call check(c_reads_own(key) == 1, 'C reads its own')
  call MPI_Comm_get_attr(MPI_COMM_SELF, key, value, there, error)
  call check(there .and. c_is_own(value) == 1, 'Fortran reads what C has set')
  call MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, old, 0, error)
  call MPI_Attr_put(MPI_COMM_SELF, old, -rank - 3, error)
  call check(c_reads_narrow(old) == -rank - 3, 'C reads what MPI_ATTR_PUT has set')
  call MPI_Attr_get(MPI_COMM_SELF, old, narrow, there, error)
  call check(there .and. narrow == -rank - 3, 'MPI_ATTR_GET')
  call MPI_Comm_get_attr(MPI_COMM_SELF, old, value, there, error)
  call check(there .and. value == -rank - 3, 'its sign is kept')
  print '(a,i0,a)', 'rank ', rank, ': right'
  call MPI_Finalize(error)
contains
  subroutine check(is_right, what)
    logical, intent(in) :: is_right
    character(*), intent(in) :: what
    integer :: code
    if (is_right) return
    print *, 'wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 3, code)
  end subroutine
end program
