/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the C++ library that use thread-local variables of its own. */
#include <mpi.h>

#include <future>
#include <iostream>
#include <mutex>
#include <sstream>

static std::once_flag flag;
static int count;

int main(int argc, char **argv)
{
    int rank;
    std::promise<int> promise;
    std::ostringstream line;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3; i++) {
        std::call_once(flag, [&] {
            count += 1 + rank;
            MPI_Barrier(MPI_COMM_WORLD);
        });
        MPI_Barrier(MPI_COMM_WORLD);
    }
    promise.set_value(rank);
    auto later = std::async(std::launch::async, [rank] { return rank * 2; });
    auto lazy = std::async(std::launch::deferred, [rank] { return rank * 3; });
    line << rank << ' ' << count << ' ' << promise.get_future().get() << ' ' << later.get() << ' '
         << lazy.get() << '\n';
    std::cout << line.str();
    MPI_Finalize();
    return 0;
}
