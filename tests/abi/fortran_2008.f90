! SPDX-License-Identifier: BSD-3-Clause
! Messages and a reduction with the module mpi_f08, whose library is that of the other MPI.
program f08
  use mpi_f08
  implicit none
  integer :: rank, n, from
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
  type(MPI_Comm) :: graph, parent
  character(len=200) :: own
  call MPI_Init()
  call MPI_Comm_get_parent(parent)
  if (parent /= MPI_COMM_NULL) then
    call MPI_Finalize()
    stop
  end if
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  call MPI_Irecv(from, 1, MPI_INTEGER, mod(rank + n - 1, n), 3, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(rank, 1, MPI_INTEGER, mod(rank + 1, n), 3, MPI_COMM_WORLD, requests(2))
  call MPI_Wait(requests(1), status)
  if (status%MPI_SOURCE /= from .or. requests(1) /= MPI_REQUEST_NULL) print *, 'wrong status'
  call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
  call MPI_Allreduce(MPI_IN_PLACE, from, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [mod(rank + 1, n)], MPI_UNWEIGHTED, MPI_INFO_NULL, &
                             .false., graph)
  call MPI_Comm_free(graph)
  call get_command_argument(0, own)
  call MPI_Comm_spawn(own, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, graph, MPI_ERRCODES_IGNORE)
  print *, 'sum', from
  call MPI_Finalize()
end program
