# SPDX-License-Identifier: BSD-3-Clause
"""What the tutorial of mpi4py shows, with the results checked; run by recipes/mpi4py.py.

    mpiexec -n N python3 mpi4py_tutorial.py FILE

Buffers are arrays of the standard library, so that NumPy is not needed.
"""
import sys
from array import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size


def objects_between_two():
    """send and recv, isend and irecv of what can be pickled."""
    request = comm.isend({"a": 7, "b": 3.14, "from": rank}, dest=right, tag=11)
    assert comm.recv(source=left, tag=11) == {"a": 7, "b": 3.14, "from": left}
    request.wait()
    request = comm.irecv(source=left, tag=12)
    comm.send([rank] * 1000, dest=right, tag=12)
    assert request.wait() == [left] * 1000


def buffers_between_two():
    """Send and Recv of memory, with a datatype and with one that is found."""
    own, got = array("i", range(rank, rank + 1000)), array("i", [0] * 1000)
    comm.Sendrecv([own, MPI.INT], dest=right, sendtag=77, recvbuf=[got, MPI.INT], source=left, recvtag=77)
    assert got == array("i", range(left, left + 1000))
    status = MPI.Status()
    own, got = array("d", [rank / 4] * 100), array("d", [0] * 200)
    request = comm.Isend(own, dest=right, tag=13)
    comm.Recv(got, source=MPI.ANY_SOURCE, tag=13, status=status)
    request.Wait()
    assert status.Get_source() == left and status.Get_count(MPI.DOUBLE) == 100
    assert got[:100] == array("d", [left / 4] * 100) and got[100] == 0


def objects_of_all():
    """bcast, scatter, gather, allreduce."""
    told = comm.bcast({"key1": [7, 2.72, 2 + 3j], "key2": ("abc", "xyz")} if rank == 0 else None, root=0)
    assert told == {"key1": [7, 2.72, 2 + 3j], "key2": ("abc", "xyz")}
    assert comm.scatter([(i + 1) ** 2 for i in range(size)] if rank == 0 else None, root=0) == (rank + 1) ** 2
    gathered = comm.gather((rank + 1) ** 2, root=0)
    assert gathered == ([(i + 1) ** 2 for i in range(size)] if rank == 0 else None)
    assert comm.allgather(str(rank)) == [str(i) for i in range(size)]
    assert comm.alltoall([(rank, i) for i in range(size)]) == [(i, rank) for i in range(size)]
    assert comm.allreduce(rank) == size * (size - 1) // 2
    assert comm.reduce("x", op=MPI.SUM, root=0) == ("x" * size if rank == 0 else None)


def buffers_of_all():
    """Bcast, Scatter, Gather, Allreduce, and a product of a matrix and a vector."""
    data = array("i", range(100)) if rank == 0 else array("i", [0] * 100)
    comm.Bcast(data, root=0)
    assert data == array("i", range(100))
    got = array("i", [0] * 10)
    comm.Scatter(array("i", [i // 10 for i in range(10 * size)]) if rank == 0 else None, got, root=0)
    assert got == array("i", [rank] * 10)
    back = array("i", [0] * 10 * size) if rank == 0 else None
    comm.Gather(got, back, root=0)
    assert rank != 0 or back == array("i", [i // 10 for i in range(10 * size)])
    n = 3
    rows = [[(rank * n + i) * 100 + j for j in range(n * size)] for i in range(n)]
    part, whole = array("d", [rank * n + i for i in range(n)]), array("d", [0] * n * size)
    comm.Allgather([part, MPI.DOUBLE], [whole, MPI.DOUBLE])
    assert list(whole) == list(range(n * size))
    product = [sum(a * b for a, b in zip(row, whole)) for row in rows]
    total = array("d", [0])
    comm.Allreduce(array("d", [sum(product)]), total, op=MPI.SUM)
    m = n * size
    assert total[0] == sum(sum((i * 100 + j) * j for j in range(m)) for i in range(m))


def functions_of_the_program():
    """An operation in Python, an error handler that raises, attributes."""
    operation = MPI.Op.Create(lambda a, b: a if a["v"] >= b["v"] else b, commute=True)
    try:
        assert comm.allreduce({"v": rank}, op=lambda a, b: a if a["v"] >= b["v"] else b) == {"v": size - 1}
    finally:
        operation.Free()
    try:
        comm.send(None, dest=size + 1)
        raise SystemExit("no exception for a rank that is not there")
    except MPI.Exception as error:
        assert error.Get_error_class() == MPI.ERR_RANK
    key = MPI.Comm.Create_keyval()
    comm.Set_attr(key, ["of", rank])
    assert comm.Get_attr(key) == ["of", rank]
    comm.Delete_attr(key)
    MPI.Comm.Free_keyval(key)


def files(name):
    """One file that all write, with explicit offsets and through a view."""
    mode = MPI.MODE_CREATE | MPI.MODE_RDWR | MPI.MODE_DELETE_ON_CLOSE
    file = MPI.File.Open(comm, name, mode)
    file.Write_at_all(rank * 10 * 4, array("i", [rank] * 10))
    file.Sync()
    comm.Barrier()
    got = array("i", [0] * 10)
    file.Read_at_all(right * 10 * 4, got)
    assert got == array("i", [right] * 10)
    comm.Barrier()
    view = MPI.INT.Create_vector(10, 1, size)
    view.Commit()
    file.Set_view(rank * 4, etype=MPI.INT, filetype=view)
    file.Write_all(array("i", [100 + rank] * 10))
    file.Set_view(0, etype=MPI.INT)
    everything = array("i", [0] * 10 * size)
    comm.Barrier()
    file.Read_at(0, everything)
    assert everything == array("i", [100 + i % size for i in range(10 * size)])
    view.Free()
    file.Close()


def one_sided():
    """A window on memory of each rank."""
    memory = array("i", [-1] * 10)
    window = MPI.Win.Create(memory, disp_unit=4, comm=comm)
    window.Fence()
    window.Put([array("i", [rank] * 10), MPI.INT], right)
    window.Fence()
    assert memory == array("i", [left] * 10)
    window.Free()


def communicators():
    """Splits, duplicates, grids."""
    half = comm.Split(color=rank % 2, key=-rank)
    assert half.allgather(rank) == list(reversed([i for i in range(size) if i % 2 == rank % 2]))
    half.Free()
    grid = comm.Create_cart(MPI.Compute_dims(size, 2), periods=[True, True])
    source, dest = grid.Shift(0, 1)
    assert grid.sendrecv(grid.rank, dest=dest, source=source) == source
    grid.Free()


def main():
    for step in (objects_between_two, buffers_between_two, objects_of_all, buffers_of_all,
                 functions_of_the_program, one_sided, communicators):
        step()
    files(sys.argv[1])
    comm.Barrier()
    if rank == 0:
        print(f"mpi4py on {size} ranks: all examples agree")


main()
