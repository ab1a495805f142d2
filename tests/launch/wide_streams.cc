// SPDX-License-Identifier: BSD-3-Clause
// std::wcout and std::wcin of ranks.
#include <mpi.h>

#include <clocale>
#include <iostream>
#include <string>

int main(int argc, char **argv)
{
    std::wstring word = L"nothing";
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::setlocale(LC_ALL, "C.UTF-8");
    std::wcin >> word;
    std::wcout << L"rank " << rank << L" \u00fc " << word << std::endl;
    std::wcerr << L"e" + std::to_wstring(rank) + L"\n"; // in one piece: each is flushed
    MPI_Finalize();
    return std::wcout ? 0 : 1;
}
