// SPDX-License-Identifier: BSD-3-Clause
// Exceptions of several ranks at once: each leaves a frame with an array that is watched.
#include <mpi.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

static std::vector<std::string> texts;

static void thrower(int rank)
{
    char text[300];

    std::snprintf(text, sizeof(text), "thrown by %d", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    throw std::runtime_error(text);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3; i++)
        try {
            thrower(rank);
        } catch (const std::exception &e) {
            MPI_Barrier(MPI_COMM_WORLD);
            texts.push_back(e.what());
        }
    if (texts != std::vector<std::string>(3, "thrown by " + std::to_string(rank)))
        std::printf("rank %d has caught something else\n", rank);
    MPI_Finalize();
    return 0;
}
