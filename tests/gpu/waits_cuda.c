/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUDA in ranks, through the driver, found as the runtime finds it. With all ranks on one worker,
 * each waits for something that the next one does, so that it ends only if all wait at the same
 * time.
 *
 *   waits_cuda stream | default | event | context | copy | view | inside | crowd | storage | bound
 * | queues
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
static int (*context_create)(void **, unsigned, int), (*get_table)(const void **, const void *);

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
    find("cuCtxCreate", &context_create);
    find("cuGetExportTable", &get_table);
}

/* Occupy the device until another rank opens it. */
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

/* Keep data with the current context as a runtime does, ten times: under one address in all ranks,
 * as no two runtimes of a process do, or under one of the rank. */
static void keep(const void *const *functions, void *key, int rank)
{
    int (*put)(void *, void *, void *, void *), (*drop)(void *, void *);
    int (*get)(void **, void *, void *);
    int own, *found;

    memcpy(&put, &functions[0], sizeof(put));
    memcpy(&drop, &functions[1], sizeof(drop));
    memcpy(&get, &functions[2], sizeof(get));
    for (int i = 0; i < 10; i++) {
        own = 100 * rank + i;
        if (get((void **)&found, NULL, key) != 400)
            check(-1, "found before it was kept");
        check(put(NULL, key, &own, NULL), "keep");
        if (i == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        check(get((void **)&found, NULL, key), "find");
        if (found != &own || *found != 100 * rank + i)
            check(-1, "found what another rank keeps");
        if (i == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        check(drop(NULL, key), "delete");
        if (drop(NULL, key) != 400)
            check(-1, "deleted twice");
    }
}

/* For the context that ranks share, and for one of the rank, which the driver knows when it
 * ends. */
static void storage(int rank)
{
    static const unsigned char id[] = {0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11,
                                       0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93};
    static const unsigned char other[16] = {1};
    static int own;
    const void *table;
    void *context;

    if (get_table(&table, other) != 500)
        check(-1, "another table was found");
    check(get_table(&table, id), "cuGetExportTable");
    keep(table, (void *)16, rank);
    check(context_create(&context, 0, rank % 2), "cuCtxCreate");
    keep(table, &own, rank);
}

/* Print the current device of a rank that has not asked for one, as set by --gpu-bind. */
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
    else if (strcmp(argv[1], "storage") == 0)
        storage(rank);
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
