/* SPDX-License-Identifier: BSD-3-Clause */
/* Thread-local variables of the program and of its library, in ranks and in their threads. -DEXTERN
 * names one of the library, -DALIGNED=N aligns one of the program, -DLARGE=N has one of N bytes. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

int locals_step(int by);
int *locals_level(void);
#ifdef EXTERN
extern _Thread_local int level;
#else
#define level (*locals_level())
#endif

static int target;
static _Thread_local const char *text = "text";
static _Thread_local int *pointer = &target;
static _Thread_local int number = 5;
#ifdef ALIGNED
static _Thread_local _Alignas(ALIGNED) char aligned[8] = "aligned";
#endif

#ifdef LARGE
static _Thread_local char large[LARGE] = "large";
#endif

static int check(const char *where, int rank, int steps, int expected_level)
{
    int got, wrong = 0;

#ifdef ALIGNED
    wrong += (uintptr_t)aligned % ALIGNED != 0 || strcmp(aligned, "aligned") != 0;
#endif
#ifdef LARGE
    wrong += strcmp(large, "large") != 0 || large[LARGE - 1] != 0;
#endif
    wrong += strcmp(text, "text") != 0 || pointer != &target || number != 5;
    wrong += level != expected_level || locals_level() != &level;
    got = locals_step(1);
    wrong += got != expected_level * 1000 + 40 + steps;
    if (wrong > 0)
        fprintf(stderr, "rank %d, %s: %d wrong; '%s', number %d, level %d, step %d\n", rank, where,
                wrong, text, number, level, got);
    return wrong;
}

static void *posix(void *rank)
{
    return (void *)(intptr_t)check("pthread", *(int *)rank, 1, 3);
}

static int c11(void *rank)
{
    return check("thrd", *(int *)rank, 1, 3);
}

int main(int argc, char **argv)
{
    int rank, wrong, result = 0;
    pthread_t first;
    thrd_t second;
    void *end;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    wrong = check("start", rank, 1, 3);
    level = 10 + rank;
    for (int i = 2; i < 6; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        wrong += check("rank", rank, i, 10 + rank);
    }
    pthread_create(&first, NULL, posix, &rank);
    pthread_join(first, &end);
    thrd_create(&second, c11, &rank);
    thrd_join(second, &result);
    wrong += (int)(intptr_t)end + result;
    MPI_Barrier(MPI_COMM_WORLD);
    wrong += check("end", rank, 6, 10 + rank);
    printf("%d: %d wrong\n", rank, wrong);
    MPI_Finalize();
    return 0;
}
