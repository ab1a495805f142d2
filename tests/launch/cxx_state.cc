// SPDX-License-Identifier: BSD-3-Clause
// What a rank sets of std::cout and std::cin is its own, in a library of its program, too. Compiled with -DLIBRARY it
// is that library.
#include <iomanip>
#include <iostream>

#ifdef LIBRARY
void say(int rank, int number)
{
    std::cout << rank << " says " << std::setw(5) << number << std::endl;
}
#else
#include <mpi.h>

void say(int rank, int number);

int main(int argc, char **argv)
{
    int rank, number = -1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        std::cout << std::hex << std::setfill('.');
        std::cin >> number; // at its end: nothing more can be read
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        std::cin >> number;
    std::cout << rank << ": " << std::setw(5) << 255 << " " << (rank == 1 ? std::cin.eof() : number) << std::endl;
    say(rank, 254);
    MPI_Finalize();
    return 0;
}
#endif
