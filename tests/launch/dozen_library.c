/* SPDX-License-Identifier: BSD-3-Clause */
/* Twelve libraries and four plug-ins that keep something of their rank in global variables; -DNAME
 * chooses one. Each has a function that sets it and one that returns how much of it is wrong after
 * all other ranks have done the same. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dozen.h"

#if defined(RANK)
int rank_number = -1;
static int counts[2000]; /* larger than a page */
void rank_set(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_number);
    counts[1999] += rank_number;
}
int rank_check(int rank)
{
    return (rank_number != rank) + (counts[1999] != rank);
}
#elif defined(COMM)
static MPI_Comm comm = MPI_COMM_NULL;
static MPI_Request request = MPI_REQUEST_NULL;
static int from;
void comm_set(void)
{
    int size;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_size(comm, &size);
    MPI_Irecv(&from, 1, MPI_INT, (rank_number + 1) % size, 7, comm, &request);
}
int comm_check(int rank)
{
    int size, mine;

    MPI_Comm_rank(comm, &mine);
    MPI_Comm_size(comm, &size);
    MPI_Send(&mine, 1, MPI_INT, (mine + size - 1) % size, 7, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    return (mine != rank) + (from != (rank + 1) % size);
}
#elif defined(STREAM)
static FILE *file;
void stream_set(void)
{
    file = tmpfile();
    fprintf(file, "%d ", rank_number);
}
int stream_check(int rank)
{
    int first = -1, second = -1;

    fprintf(file, "%d", 2 * rank);
    rewind(file);
    if (fscanf(file, "%d %d", &first, &second) != 2)
        return 1;
    fclose(file);
    return first != rank || second != 2 * rank;
}
#elif defined(LOCAL)
static _Thread_local int local_value = 17;
static _Thread_local char text[64] = "begin";
static void *in_thread(void *unused)
{
    (void)unused;
    return (void *)(long)(local_value != 17 || strcmp(text, "begin") != 0);
}
void local_set(void)
{
    local_value = rank_number;
    snprintf(text, sizeof(text), "rank %d", rank_number);
}
int local_check(int rank)
{
    char wanted[64];
    pthread_t thread;
    void *end;

    snprintf(wanted, sizeof(wanted), "rank %d", rank);
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, &end);
    return (local_value != rank) + (strcmp(text, wanted) != 0) + (int)(long)end;
}
#elif defined(LAZY)
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int *table;
static void make(void)
{
    table = malloc(sizeof(int));
    *table = rank_number;
}
void lazy_set(void)
{
    pthread_once(&once, make);
}
int lazy_check(int rank)
{
    pthread_once(&once, make);
    return *table != rank;
}
#elif defined(POINTER)
/* Addresses in another library, stored when this one is loaded. */
static int *const where[] = {&rank_number, &local_is_here};
static int (*function)(int) = rank_check;
void pointer_set(void)
{
    *where[1] += rank_number;
}
int pointer_check(int rank)
{
    return (where[0] != &rank_number) + (*where[0] != rank) + function(rank) +
           (local_is_here != rank);
}
#elif defined(ORDER)
int order_value, local_is_here;
static __attribute__((constructor)) void begin(void)
{
    order_value = 100;
}
static __attribute__((destructor)) void end(void)
{
    if (order_value != 300 + rank_number)
        printf("wrong: the destructor of libctor.so did not run before that of liborder.so\n");
}
int order_check(int rank)
{
    return order_value != 200 + rank;
}
#elif defined(CTOR)
/* Its constructor needs that of liborder.so, which the program names first. */
static int seen;
static __attribute__((constructor)) void begin(void)
{
    seen = order_value;
    order_value += 100;
}
static __attribute__((destructor)) void end(void)
{
    order_value += 100;
}
void ctor_set(void)
{
    order_value += rank_number;
}
int ctor_check(int rank)
{
    (void)rank;
    return seen != 100;
}
#elif defined(VERSION)
static int calls;
int version_old(int rank);
int version_new(int rank);
int version_old(int rank)
{
    (void)rank;
    return 1000;
}
int version_new(int rank)
{
    return calls != rank;
}
void version_set(void)
{
    calls += rank_number;
}
__asm__(".symver version_old, version_check@OLD_1");
__asm__(".symver version_new, version_check@@NEW_2");
#elif defined(KEY)
static pthread_key_t key;
static __attribute__((constructor)) void begin(void)
{
    if (pthread_key_create(&key, NULL) != 0)
        abort();
}
static void *in_thread(void *unused)
{
    (void)unused;
    if (pthread_getspecific(key) != NULL)
        return (void *)1;
    pthread_setspecific(key, &key);
    return pthread_getspecific(key) != &key ? (void *)1 : NULL;
}
void key_set(void)
{
    pthread_setspecific(key, (void *)(long)(rank_number + 1));
}
int key_check(int rank)
{
    pthread_t thread;
    void *end;

    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, &end);
    return ((long)pthread_getspecific(key) != rank + 1) + (int)(long)end;
}
#elif defined(CONSTANT)
/* No variables, but addresses of the rank's. */
int constant_check(int rank)
{
    return rank_check(rank) + program_check(rank);
}
#elif defined(DEPENDENCY)
int dependency_calls;
static __attribute__((constructor)) void begin(void)
{
    dependency_calls = 10;
}
int dependency_call(void)
{
    return ++dependency_calls;
}
#elif defined(PLUGIN)
int dependency_call(void);
static int mine;
static _Thread_local int own = 5;
static __attribute__((constructor)) void begin(void)
{
    mine = dependency_call() + rank_number;
}
/* `call` is the how manieth constructor of the rank that has called the dependency. */
int plugin_check(int rank, int call)
{
    own += rank;
    return (mine != 10 + call + rank) + (own != 5 + rank) + (rank_check(rank) != 0);
}
#elif defined(GLOBAL)
int global_value = 3;
int global_add(int n)
{
    return global_value += n;
}
#elif defined(USES_GLOBAL)
extern int global_value;
int global_add(int n);
int missing_function(void);
int uses_check(int rank)
{
    return rank < 0 ? missing_function() : global_value != 3 || global_add(rank) != 3 + rank;
}
#endif
