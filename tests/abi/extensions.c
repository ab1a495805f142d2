/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extensions of other MPIs. Without an argument: what they answer. With the name of one that is not
 * supported: call it, which ends the job. OPENMPI or MPICH is the MPI that this is compiled for.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OPENMPI
#ifdef OMPI_MAJOR_VERSION /* its own header */
#include <mpi-ext.h>
#else
enum { OMPI_AFFINITY_STRING_MAX = 1024 };
int MPIX_Query_cuda_support(void);
int OMPI_Affinity_str(int format, char *bound, char *now, char *exists);
int MPIX_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPIX_Bcast_init(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
                    MPI_Info info, MPI_Request *request);
int MPIX_Allreduce_init(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request);
#endif
#else
int MPIX_Query_cuda_support(void);
int MPIX_Query_hip_support(void);
int MPIX_Query_ze_support(void);
int MPIX_GPU_query_support(int kind, int *is_supported);
#endif

static void check(int is_right, const char *what)
{
    if (!is_right) {
        fprintf(stderr, "%s is wrong\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

#ifdef OPENMPI
/* The processors of a list, "0-3,8". */
static cpu_set_t read_list(const char *text)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    while (*text != '\0') {
        char *end;
        long first = strtol(text, &end, 10), last = first;

        check(end > text, "a list of processors");
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long i = first; i <= last; i++)
            CPU_SET(i, &set);
        text = *end == ',' ? end + 1 : end;
    }
    return set;
}

static void check_affinity(void)
{
    char bound[OMPI_AFFINITY_STRING_MAX], now[OMPI_AFFINITY_STRING_MAX];
    char exists[OMPI_AFFINITY_STRING_MAX];
    cpu_set_t real, read;

    check(OMPI_Affinity_str(0, bound, now, exists) == MPI_SUCCESS, "OMPI_Affinity_str");
    sched_getaffinity(0, sizeof(real), &real);
    read = read_list(now);
    check(CPU_EQUAL(&real, &read), "what OMPI_Affinity_str says of the binding");
    read = read_list(exists);
    check(CPU_COUNT(&read) >= CPU_COUNT(&real), "what OMPI_Affinity_str says of the machine");
    check(bound[0] != '\0', "what OMPI_Affinity_str says of the launcher");
    check(OMPI_Affinity_str(7, bound, now, exists) != MPI_SUCCESS, "a format of OMPI_Affinity_str");
}

static void check_collectives(int rank, int size)
{
    int value = 0, sum;
    MPI_Request requests[3];
    MPI_Status statuses[3];

    MPIX_Bcast_init(&value, 1, MPI_INT, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPIX_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                        &requests[1]);
    MPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
    for (int i = 1; i < 4; i++) {
        value = rank * i;
        sum = -1;
        MPI_Startall(3, requests);
        MPI_Waitall(3, requests, statuses);
        check(value == (size - 1) * i, "MPIX_Bcast_init");
        check(sum == size * (size - 1) / 2, "MPIX_Allreduce_init");
    }
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&requests[i]);
}
#else
static void check_gpus(void)
{
    int is_supported = -1;

    check(MPIX_GPU_query_support(0, &is_supported) == MPI_SUCCESS, "MPIX_GPU_query_support");
    check(is_supported == MPIX_Query_cuda_support(), "what MPIX_GPU_query_support says of CUDA");
    check(MPIX_Query_hip_support() == 0 && MPIX_Query_ze_support() == 0,
          "the support of other GPUs");
    check(MPIX_GPU_query_support(9, &is_supported) != MPI_SUCCESS, "a kind of GPUs");
}
#endif

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) {
        void (*missing)(void);

        *(void **)&missing = dlsym(RTLD_DEFAULT, argv[1]);
        check(missing != NULL, argv[1]);
        missing();
        check(0, "that it returns");
    }
#ifdef OPENMPI
    check_affinity();
    check_collectives(rank, size);
#else
    check_gpus();
#endif
    printf("CUDA %d\n", MPIX_Query_cuda_support());
    MPI_Finalize();
    return 0;
}
