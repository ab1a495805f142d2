// SPDX-License-Identifier: BSD-3-Clause
//
// Globals: every rank has its own, in C++ too.
//
//   mpicxx globals.cpp -o globals && mpiexec -n 64 ./globals
//
// MPI programs may keep state in global variables: each rank is a program of its own. This one does
// so in five ways (a global, a global object with a constructor, a static member, a static in a
// function, an exception in flight) and checks that no other rank has changed them. A library that
// runs ranks as threads of one process would mix them up, unless each rank has a private copy.
#include <mpi.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

static int my_rank = -1;

class Journal
{
  public:
    Journal() : lines{"opened"}
    {
        opened++;
    }
    void write(const std::string &line)
    {
        lines.push_back(line);
    }
    std::size_t size() const
    {
        return lines.size();
    }
    const std::string &last() const
    {
        return lines.back();
    }
    static int opened;

  private:
    std::vector<std::string> lines;
};

int Journal::opened = 0;
static Journal journal; // constructed before main, once per rank

static int count_calls()
{
    static int calls = 0; // one counter per rank

    return ++calls;
}

static std::string name_of(int rank)
{
    return "rank " + std::to_string(rank);
}

// While one rank handles its exception, the others are handling theirs. `throw;` must throw the one
// of this rank again.
static std::string fail_and_recover()
{
    try {
        try {
            throw std::runtime_error(name_of(my_rank));
        } catch (const std::exception &) {
            MPI_Barrier(MPI_COMM_WORLD);
            throw;
        }
    } catch (const std::runtime_error &error) {
        MPI_Barrier(MPI_COMM_WORLD);
        return error.what();
    }
}

int main(int argc, char **argv)
{
    int size, good, all;
    std::string said;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int i = 0; i <= my_rank % 10; i++) {
        count_calls();
        MPI_Barrier(MPI_COMM_SELF);
    }
    journal.write(name_of(my_rank));
    MPI_Barrier(MPI_COMM_WORLD); // by now every rank has written to its globals
    said = fail_and_recover();

    MPI_Comm_rank(MPI_COMM_WORLD, &good);
    good = my_rank == good && Journal::opened == 1 && journal.size() == 2 &&
           journal.last() == name_of(my_rank) && count_calls() == my_rank % 10 + 2 &&
           said == name_of(my_rank);
    MPI_Reduce(&good, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (my_rank == 0)
        std::printf("%d of %d ranks found their globals as they left them\n", all, size);
    MPI_Finalize();
    return 0;
}
