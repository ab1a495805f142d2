// SPDX-License-Identifier: BSD-3-Clause
// Boost.MPI: serialised objects, operations of the program, skeletons, and requests.
#include <boost/mpi.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <iostream>

namespace mpi = boost::mpi;

struct Longer {
    std::string operator()(const std::string &a, const std::string &b) const
    {
        return a.size() >= b.size() ? a : b;
    }
};

int main(int argc, char **argv)
{
    mpi::environment environment(argc, argv);
    mpi::communicator world;
    const int rank = world.rank(), size = world.size();
    int wrong = 0;

    std::map<std::string, std::vector<int>> mine{{"rank", {rank}},
                                                 {"squares", {rank * rank, size}}},
        got;
    std::vector<mpi::request> requests;
    requests.push_back(world.isend((rank + 1) % size, 3, mine));
    requests.push_back(world.irecv((rank + size - 1) % size, 3, got));
    mpi::wait_all(requests.begin(), requests.end());
    wrong += got["rank"].at(0) != (rank + size - 1) % size;

    std::string longest;
    mpi::all_reduce(world, std::string(static_cast<size_t>(rank) + 1, 'x'), longest, Longer());
    wrong += longest.size() != static_cast<size_t>(size);
    wrong += mpi::all_reduce(world, rank, std::plus<int>()) != size * (size - 1) / 2;
    wrong += mpi::all_reduce(world, static_cast<double>(rank), mpi::maximum<double>()) != size - 1;

    std::vector<std::string> names;
    mpi::gather(world, "rank " + std::to_string(rank), names, 0);
    for (int i = 0; rank == 0 && i < size; i++)
        wrong += names[static_cast<size_t>(i)] != "rank " + std::to_string(i);

    std::vector<double> content(100, rank == 0 ? 2.5 : 0);
    mpi::broadcast(world, mpi::skeleton(content), 0);
    mpi::broadcast(world, mpi::get_content(content), 0);
    wrong += content[99] != 2.5;

    mpi::communicator half = world.split(rank % 2);
    wrong += half.size() != (size + 1 - rank % 2) / 2;
    wrong = mpi::all_reduce(world, wrong, std::plus<int>());
    if (rank == 0)
        std::cout << size << " ranks, " << wrong << " wrong" << std::endl;
    return wrong != 0;
}
