/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that bind themselves: each sees what it asked for, and workers stay where they are. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef WITH_HWLOC
#include <hwloc.h>

/* All threads of the process, which is more than the rank's own. */
static int bind_process(int core)
{
    hwloc_topology_t topology;
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    int result;

    hwloc_topology_init(&topology);
    hwloc_topology_load(topology);
    hwloc_bitmap_only(set, (unsigned)core);
    result = hwloc_set_cpubind(topology, set, HWLOC_CPUBIND_PROCESS);
    hwloc_bitmap_free(set);
    hwloc_topology_destroy(topology);
    return result;
}
#endif

static void *in_thread(void *arg)
{
    cpu_set_t *set = arg;

    sched_getaffinity(0, sizeof(*set), set);
    return NULL;
}

/* The kernel's word for it, past everything in between. */
static int kernel_cpu(void)
{
    char line[256];
    FILE *file = fopen("/proc/thread-self/status", "r");
    int cpu = -1, last = -1, n;

    while (fgets(line, sizeof(line), file) != NULL) {
        n = sscanf(line, "Cpus_allowed_list: %d-%d", &cpu, &last);
        if (n == 2)
            cpu = -1; /* several */
        if (n >= 1)
            break;
    }
    fclose(file);
    return cpu;
}

#ifndef WITH_HWLOC
static int bind_by(const char *how, const cpu_set_t *set)
{
    if (strcmp(how, "sched") == 0)
        return sched_setaffinity(0, sizeof(*set), set);
    if (strcmp(how, "pid") == 0)
        return sched_setaffinity(getpid(), sizeof(*set), set);
    if (strcmp(how, "tid") == 0)
        return sched_setaffinity(gettid(), sizeof(*set), set);
    if (strcmp(how, "pthread") == 0)
        return pthread_setaffinity_np(pthread_self(), sizeof(*set), set);
    return (int)syscall(SYS_sched_setaffinity, 0, sizeof(*set), set);
}
#endif

/* Ranks with threads that share a worker: a rank runs on a kernel thread of its own, where its
 * threads may run, too. */
static int run_beside_threads(void)
{
    cpu_set_t answer;
    int rank, level;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    sched_getaffinity(0, sizeof(answer), &answer);
    printf("rank %d is bound to one core: %d, and says so: %d\n", rank, kernel_cpu() >= 0,
           CPU_COUNT(&answer) == 1);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    cpu_set_t set, answer, second, third, of_thread;
    int rank, before, core = argc > 2 ? atoi(argv[2]) : 0;
    pthread_t thread;

    if (strcmp(argv[1], "threads") == 0)
        return run_beside_threads();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    before = kernel_cpu();
    CPU_ZERO(&set);
    CPU_SET(core, &set);
#ifdef WITH_HWLOC
    if (bind_process(core) != 0)
#else
    if (bind_by(argv[1], &set) != 0)
#endif
        perror("bind");
    MPI_Barrier(MPI_COMM_WORLD);
    sched_getaffinity(0, sizeof(answer), &answer);
    pthread_getaffinity_np(pthread_self(), sizeof(second), &second);
    CPU_ZERO(&third);
    syscall(SYS_sched_getaffinity, 0, sizeof(third), &third);
    pthread_create(&thread, NULL, in_thread, &of_thread);
    pthread_join(thread, NULL);
    printf("rank %d is bound %d %d %d, its thread %d, its worker stays %d\n", rank,
           CPU_EQUAL(&set, &answer), CPU_EQUAL(&set, &second), CPU_EQUAL(&set, &third),
           CPU_EQUAL(&set, &of_thread), before >= 0 && kernel_cpu() == before);
    fprintf(stderr, "%d\n", before);
    CPU_ZERO(&set);
    if (sched_setaffinity(0, sizeof(set), &set) == 0)
        printf("no core at all is accepted\n");
    MPI_Finalize();
    return 0;
}
