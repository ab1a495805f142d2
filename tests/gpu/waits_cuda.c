/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUDA in ranks, through the driver, found as the runtime finds it. With all ranks on one worker,
 * each waits for something that the next one does, so that it ends only if all wait at the same
 * time.
 *
 *   waits_cuda stream | default | event | context | copy | view | inside | crowd | bound | queues
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long address_t;

static int (*get_address)(const char *, void **, int, uint64_t, void *);

static int (*init)(unsigned), (*device_get)(int *, int), (*retain)(void **, int);
static int (*context_set)(void *), (*context_get)(void **), (*context_wait)(void);
static int (*device_reset)(int), (*release)(int), (*current_device)(int *);
static int (*stream_create)(void **, unsigned), (*stream_wait)(void *);
static int (*event_create)(void **, unsigned), (*event_record)(void *, void *);
static int (*event_wait)(void *), (*call_host)(void *, void (*)(void *), void *);
static int (*alloc)(address_t *, size_t), (*copy_in)(address_t, const void *, size_t);
static int (*copy_out)(void *, address_t, size_t);

static void check(int code, const char *what)
{
    if (code != 0) {
        fprintf(stderr, "%s: %d\n", what, code);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void find(const char *name, void *to)
{
    check(get_address(name, to, 12000, 0, NULL), name);
}

static void find_all(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);

    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    *(void **)&get_address = dlsym(library, "cuGetProcAddress_v2");
    find("cuInit", &init);
    find("cuDeviceGet", &device_get);
    find("cuDevicePrimaryCtxRetain", &retain);
    find("cuDevicePrimaryCtxReset", &device_reset);
    find("cuDevicePrimaryCtxRelease", &release);
    find("cuCtxSetCurrent", &context_set);
    find("cuCtxGetCurrent", &context_get);
    find("cuCtxGetDevice", &current_device);
    find("cuCtxSynchronize", &context_wait);
    find("cuStreamCreate", &stream_create);
    find("cuStreamSynchronize", &stream_wait);
    find("cuEventCreate", &event_create);
    find("cuEventRecord", &event_record);
    find("cuEventSynchronize", &event_wait);
    find("cuLaunchHostFunc", &call_host);
    find("cuMemAlloc", &alloc);
    find("cuMemcpyHtoD", &copy_in);
    find("cuMemcpyDtoH", &copy_out);
}

/* What runs on the device, until another rank opens it. */
static void wait_at(void *arg)
{
    while (!atomic_load((atomic_bool *)arg))
        usleep(1000);
}

static void wait_behind(const char *how, atomic_bool *gate, int *value)
{
    void *stream = NULL, *event;
    address_t memory;

    check(alloc(&memory, sizeof(int)), "cuMemAlloc");
    check(copy_in(memory, value, sizeof(int)), "cuMemcpyHtoD");
    *value = 0;
    if (strcmp(how, "stream") == 0 || strcmp(how, "event") == 0)
        check(stream_create(&stream, 1), "cuStreamCreate");
    check(call_host(stream, wait_at, gate), "cuLaunchHostFunc");
    if (strcmp(how, "event") == 0) {
        check(event_create(&event, 2), "cuEventCreate");
        check(event_record(event, stream), "cuEventRecord");
        check(event_wait(event), "cuEventSynchronize");
    } else if (strcmp(how, "context") == 0) {
        check(context_wait(), "cuCtxSynchronize");
        check(device_reset(0), "cuDevicePrimaryCtxReset");
    } else if (strcmp(how, "copy") != 0) {
        check(stream_wait(stream), "cuStreamSynchronize");
    }
    if (!atomic_load(gate) && strcmp(how, "copy") != 0)
        check(-1, "returned too early");
    check(copy_out(value, memory, sizeof(int)), "cuMemcpyDtoH");
    if (!atomic_load(gate))
        check(-1, "copied too early");
}

/* Ranks have devices of their own, whatever others on their thread have. */
static void view(int rank)
{
    void *context;
    int device;

    check(retain(&context, rank % 2), "cuDevicePrimaryCtxRetain");
    check(context_set(context), "cuCtxSetCurrent");
    for (int i = 0; i < 20; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        check(current_device(&device), "cuCtxGetDevice");
        if (device != rank % 2)
            check(-1, "the device of another rank");
        check(context_set(NULL), "cuCtxSetCurrent");
        MPI_Barrier(MPI_COMM_WORLD);
        check(context_get(&context), "cuCtxGetCurrent");
        if (context != NULL)
            check(-1, "the context of another rank");
        check(retain(&context, rank % 2), "cuDevicePrimaryCtxRetain");
        check(context_set(context), "cuCtxSetCurrent");
    }
}

/* Calls of the driver that wait inside it, in all ranks at once. */
static void allocate(void)
{
    address_t memory;

    for (int i = 0; i < 20; i++)
        check(alloc(&memory, sizeof(int)), "cuMemAlloc");
}

/* Calls of more threads than are let in at once, which return when all are in. */
static void *record(void *context)
{
    void *event;

    check(context_set(context), "cuCtxSetCurrent");
    check(event_create(&event, 2), "cuEventCreate");
    check(event_record(event, NULL), "cuEventRecord");
    return NULL;
}

static void crowd(void *context)
{
    enum { CROWD = 12 };
    pthread_t threads[CROWD];

    for (int i = 0; i < CROWD; i++)
        check(pthread_create(&threads[i], NULL, record, context), "pthread_create");
    for (int i = 0; i < CROWD; i++)
        check(pthread_join(threads[i], NULL), "pthread_join");
}

/* What --gpu-bind says is the current device of a rank that has not asked for one. */
static void print_device(int rank)
{
    int device;

    MPI_Barrier(MPI_COMM_WORLD);
    check(current_device(&device), "cuCtxGetDevice");
    printf("rank %d has device %d\n", rank, device);
}

int main(int argc, char **argv)
{
    atomic_bool gate = false, *before = NULL, *own = &gate;
    int rank, size, value, end;
    void *context;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    find_all();
    check(init(0), "cuInit");
    if (strcmp(argv[1], "bound") == 0 || strcmp(argv[1], "queues") == 0) {
        if (strcmp(argv[1], "bound") == 0)
            print_device(rank);
        else
            printf("rank %d: %s\n", rank, getenv("CUDA_DEVICE_MAX_CONNECTIONS"));
        MPI_Finalize();
        return 0;
    }
    check(context_get(&context), "cuCtxGetCurrent");
    if (context != NULL)
        check(-1, "a context before one was made");
    check(retain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(context_set(context), "cuCtxSetCurrent");

    if (rank < size - 1)
        MPI_Send(&own, sizeof(own), MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
    if (rank > 0)
        MPI_Recv(&before, sizeof(before), MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    value = 1000 + rank;
    if (strcmp(argv[1], "view") == 0)
        view(rank);
    else if (strcmp(argv[1], "inside") == 0)
        allocate();
    else if (strcmp(argv[1], "crowd") == 0)
        crowd(context);
    else if (rank < size - 1)
        wait_behind(argv[1], &gate, &value);
    if (rank > 0)
        atomic_store(before, true);
    MPI_Reduce(&value, &end, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: %d ranks, sum %s\n", argv[1], size,
               end == 1000 * size + size * (size - 1) / 2 ? "right" : "wrong");
    check(release(0), "cuDevicePrimaryCtxRelease");
    MPI_Finalize();
    return 0;
}
