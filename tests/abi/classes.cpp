// SPDX-License-Identifier: BSD-3-Clause
// The C++ interface of another MPI: functions of the program are called with its classes.
#include <mpi.h>

#include <cstdio>

static int wrong, calls, raised;

#define CHECK(what)                                                                                \
    ((what) ? (void)0 : (void)(wrong++, std::printf("line %d: %s\n", __LINE__, #what)))

static void add(const void *in, void *inout, int length, const MPI::Datatype &type)
{
    CHECK(type == MPI::INT);
    for (int i = 0; i < length; i++)
        static_cast<int *>(inout)[i] += static_cast<const int *>(in)[i];
}

static int copy(const MPI::Comm &comm, int keyval, void *extra, void *in, void *out, bool &flag)
{
    CHECK(comm.Get_size() == 1 && keyval != MPI::KEYVAL_INVALID && extra == &calls);
    *static_cast<void **>(out) = static_cast<char *>(in) + 1;
    flag = true;
    return MPI::SUCCESS;
}

static int drop(MPI::Comm &comm, int, void *, void *extra)
{
    CHECK(comm.Get_size() == 1 && extra == &calls);
    calls++;
    return MPI::SUCCESS;
}

static void handler(MPI::Comm &comm, int *code, ...)
{
    CHECK(comm.Get_size() == 1);
    raised = MPI::Get_error_class(*code);
}

int main(int argc, char **argv)
{
    static char place[2];
    void *found = nullptr;
    int sum = 0;

    MPI::Init(argc, argv);
    const int rank = MPI::COMM_WORLD.Get_rank(), size = MPI::COMM_WORLD.Get_size();
    MPI::Op op;
    op.Init(add, true);
    const int mine = rank + 1;
    MPI::COMM_WORLD.Allreduce(&mine, &sum, 1, MPI::INT, op);
    CHECK(sum == size * (size + 1) / 2);
    op.Free();

    int keyval = MPI::Comm::Create_keyval(copy, drop, &calls);
    MPI::Intracomm self = MPI::COMM_SELF.Dup();
    self.Set_attr(keyval, place);
    MPI::Intracomm made = self.Dup();
    CHECK(made.Get_attr(keyval, &found) && found == place + 1);
    calls = 0;
    made.Free();
    self.Delete_attr(keyval);
    CHECK(calls == 2);

    MPI::Errhandler errhandler = MPI::Comm::Create_errhandler(handler);
    self.Set_errhandler(errhandler);
    self.Send(&sum, 1, MPI::INT, 7, 0);
    CHECK(raised == MPI::ERR_RANK);
    errhandler.Free();
    self.Free();
    MPI::Comm::Free_keyval(keyval);

    const bool is_periodic = true;
    MPI::Cartcomm ring = MPI::COMM_WORLD.Create_cart(1, &size, &is_periodic, false);
    int source, dest;
    ring.Shift(0, 1, source, dest);
    MPI::Status status;
    int other = -1;
    ring.Sendrecv(&rank, 1, MPI::INT, dest, 1, &other, 1, MPI::INT, MPI::ANY_SOURCE, MPI::ANY_TAG,
                  status);
    CHECK(other == source && status.Get_source() == source && status.Get_count(MPI::INT) == 1);
    ring.Free();
    MPI::Finalize();
    std::printf("%s\n", wrong == 0 ? "right" : "wrong");
    return wrong != 0;
}
