// SPDX-License-Identifier: BSD-3-Clause
// C++: static objects, their constructors and destructors, exceptions in flight while others run.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

struct Named {
    std::string name;
    explicit Named(const char *n) : name(n)
    {
        std::cout << std::getenv("PMI_RANK") << " made " << name << std::endl;
    }
    ~Named()
    {
        std::cout << std::getenv("PMI_RANK") << " unmade " << name << "\n";
    }
};

static Named global("global");
static std::vector<int> numbers;
thread_local std::vector<int> locals{1, 2, 3};

int main(int argc, char **argv)
{
    int rank;

    std::ios::sync_with_stdio(false);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static Named inner("inner");
    numbers.resize(rank + 1);
    locals.push_back(rank);
    try {
        MPI_Barrier(MPI_COMM_WORLD);
        throw std::runtime_error("error of " + std::to_string(rank));
    } catch (const std::exception &e) {
        MPI_Barrier(MPI_COMM_WORLD); // others are in their handlers meanwhile
        try {
            MPI_Barrier(MPI_COMM_WORLD);
            throw rank;
        } catch (int value) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (value != rank)
                std::cout << "wrong exception\n";
        }
        std::cout << rank << " " << e.what() << ", " << numbers.size() << " numbers, "
                  << locals.size() << " locals\n";
    }
    MPI_Finalize();
    return 0;
}
