/* SPDX-License-Identifier: BSD-3-Clause */
// Threads of every kind that a rank can make call MPI: POSIX, C11, C++ and OpenMP. Thread-local
// variables are each thread's own; those of the rank keep their values.
#include <mpi.h>
#include <pthread.h>
#include <threads.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

static thread_local std::string name = "fresh";
static thread_local int number = 11;

static int rank, size;

static void check(bool is_true, const char *what)
{
    if (is_true)
        return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void talk(int tag)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, got = -1, is_main = 1;
    int mine = rank * 100 + tag;

    number += tag;
    check(number == 11 + tag, "a thread-local number is not fresh");
    check(name == "fresh", "a thread-local object is not fresh");
    MPI_Is_thread_main(&is_main);
    check(!is_main, "a thread is the main one");
    MPI_Sendrecv(&mine, 1, MPI_INT, right, tag, &got, 1, MPI_INT, left, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(got == left * 100 + tag, "another message");
    check(number == 11 + tag, "a thread-local number has changed");
}

static void *posix(void *)
{
    talk(1);
    return nullptr;
}

static int c11(void *)
{
    talk(2);
    return 42;
}

int main(int argc, char **argv)
{
    int provided, is_main = 0, result = 0;
    pthread_t thread;
    thrd_t other;

    name = "main";
    number = 7;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    check(provided == MPI_THREAD_SERIALIZED, "another level");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check(pthread_create(&thread, nullptr, posix, nullptr) == 0, "no thread of POSIX");
    pthread_join(thread, nullptr);
    check(thrd_create(&other, c11, nullptr) == thrd_success, "no thread of C11");
    thrd_join(other, &result);
    check(result == 42, "another result of a thread of C11");
    std::thread(talk, 3).join();
#pragma omp parallel num_threads(3)
#pragma omp critical
    {
        int here = -1;

        MPI_Comm_rank(MPI_COMM_WORLD, &here);
        check(here == rank, "another rank in a thread of OpenMP");
    }
    MPI_Is_thread_main(&is_main);
    check(is_main && name == "main" && number == 7, "the rank is not itself");
    MPI_Finalize();
    check(name == "main" && number == 7, "the rank is not itself after MPI_Finalize");
    return rank == 0 ? printf("passed\n") != 7 : 0;
}
