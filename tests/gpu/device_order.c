/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every kind of MPI call with memory of a device, compared with the same call on memory of the
 * host.
 *
 *   device_order late      What the rank has put into its default stream before the call is
 *                          complete when MPI reads or writes the memory: copies from memory that is
 *                          not pinned, copies on the device, memsets, waits for events, memory that
 *                          a stream allocates, managed memory. Nothing is synchronised here.
 *   device_order legacy    The same for ranks that have made a stream which blocks: their default
 *                          stream is the real one.
 *   device_order overlap   A call without memory of the device does not wait for the stream.
 *   device_order mixed N   Vectors of up to N ints; some ranks have them on the device, others not.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long address_t;

static int rank, size, next, before, most, checks;
static int (*find)(const char *, void **, int, uint64_t, void *);
static int (*init)(unsigned), (*retain)(void **, int), (*context_set)(void *);
static int (*alloc)(address_t *, size_t), (*alloc_async)(address_t *, size_t, void *);
static int (*free_async)(address_t, void *), (*alloc_managed)(address_t *, size_t, unsigned);
static int (*copy)(address_t, address_t, size_t);
static int (*copy_async)(address_t, address_t, size_t, void *);
static int (*copy_rows)(const void *), (*set)(address_t, unsigned char, size_t);
static int (*stream_create)(void **, unsigned), (*stream_wait)(void *);
static int (*event_create)(void **, unsigned), (*event_record)(void *, void *);
static int (*wait_event)(void *, void *, unsigned);
static int (*call_host)(void *, void (*)(void *), void *);

static void check(int is_right, const char *what, const char *how)
{
    if (!is_right) {
        fprintf(stderr, "rank %d: %s, %s: wrong\n", rank, what, how);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    checks++;
}

static void open_device(void)
{
    static const struct {
        const char *name;
        void *to;
    } all[] = {{"cuInit", &init},
               {"cuDevicePrimaryCtxRetain", &retain},
               {"cuCtxSetCurrent", &context_set},
               {"cuMemAlloc", &alloc},
               {"cuMemAllocAsync", &alloc_async},
               {"cuMemAllocManaged", &alloc_managed},
               {"cuMemFreeAsync", &free_async},
               {"cuMemcpy", &copy},
               {"cuMemcpyAsync", &copy_async},
               {"cuMemcpy2DUnaligned", &copy_rows},
               {"cuMemsetD8", &set},
               {"cuStreamCreate", &stream_create},
               {"cuStreamSynchronize", &stream_wait},
               {"cuEventCreate", &event_create},
               {"cuEventRecord", &event_record},
               {"cuStreamWaitEvent", &wait_event},
               {"cuLaunchHostFunc", &call_host}};
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;

    check(library != NULL, "the driver", "loaded");
    *(void **)&find = dlsym(library, "cuGetProcAddress_v2");
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        check(find(all[i].name, all[i].to, 12000, 0, NULL) == 0, all[i].name, "found");
    check(init(0) == 0 && retain(&context, 0) == 0 && context_set(context) == 0, "a device",
          "open");
}

/* ---- Calls: `s` has n ints for each rank, and so has `r` ---- */

static MPI_Comm ring;
static int n; /* ints of a block */

static void call_send(void *s, void *r)
{
    MPI_Request q;

    MPI_Irecv(r, n, MPI_INT, before, 1, MPI_COMM_WORLD, &q);
    MPI_Send(s, n, MPI_INT, next, 1, MPI_COMM_WORLD);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void call_isend(void *s, void *r)
{
    MPI_Request q;

    MPI_Isend(s, n, MPI_INT, next, 1, MPI_COMM_WORLD, &q);
    MPI_Recv(r, n, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void call_bsend(void *s, void *r)
{
    int bytes = n * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
    void *buffer = malloc((size_t)bytes);

    MPI_Buffer_attach(buffer, bytes);
    MPI_Bsend(s, n, MPI_INT, next, 1, MPI_COMM_WORLD);
    MPI_Recv(r, n, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&buffer, &bytes);
    free(buffer);
}

static void call_mrecv(void *s, void *r)
{
    MPI_Message message;
    MPI_Request q;

    MPI_Issend(s, n, MPI_INT, next, 1, MPI_COMM_WORLD, &q);
    MPI_Mprobe(before, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(r, n, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void call_sendrecv(void *s, void *r)
{
    MPI_Sendrecv(s, n, MPI_INT, next, 1, r, n, MPI_INT, before, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* Types with absolute addresses, and with gaps. */
static void call_types(void *s, void *r)
{
    MPI_Aint from = (MPI_Aint)s, to = (MPI_Aint)r;
    MPI_Datatype half, out, in;

    MPI_Type_vector(n / 2, 1, 2, MPI_INT, &half);
    MPI_Type_create_hindexed_block(1, 1, &from, half, &out);
    MPI_Type_create_hindexed_block(1, 1, &to, half, &in);
    MPI_Type_commit(&out);
    MPI_Type_commit(&in);
    MPI_Sendrecv(MPI_BOTTOM, n > 1, out, next, 1, MPI_BOTTOM, n > 1, in, before, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Type_free(&half);
    MPI_Type_free(&out);
    MPI_Type_free(&in);
}

static void start_both(MPI_Request *q)
{
    MPI_Startall(2, q);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
}

/* The memory is named before it is prepared: see late(). */
static MPI_Request kept[2];
static MPI_Win window;

static void make_persistent(void *s, void *r)
{
    MPI_Send_init(s, n, MPI_INT, next, 1, MPI_COMM_WORLD, &kept[0]);
    MPI_Recv_init(r, n, MPI_INT, before, 1, MPI_COMM_WORLD, &kept[1]);
}

static void call_persistent(void *s, void *r)
{
    (void)s;
    (void)r;
    start_both(kept);
}

static void make_partitioned(void *s, void *r)
{
    MPI_Psend_init(s, 1, n, MPI_INT, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &kept[0]);
    MPI_Precv_init(r, 1, n, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &kept[1]);
}

static void call_partitioned(void *s, void *r)
{
    (void)s;
    (void)r;
    MPI_Startall(2, kept);
    MPI_Pready(0, kept[0]);
    MPI_Waitall(2, kept, MPI_STATUSES_IGNORE);
    MPI_Request_free(&kept[0]);
    MPI_Request_free(&kept[1]);
}

static void make_allreduce(void *s, void *r)
{
    MPI_Allreduce_init(s, r, n * size, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &kept[0]);
}

static void call_allreduce_init(void *s, void *r)
{
    (void)s;
    (void)r;
    MPI_Start(&kept[0]);
    MPI_Wait(&kept[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&kept[0]);
}

static void call_bcast(void *s, void *r)
{
    MPI_Bcast(rank == 0 ? s : r, n, MPI_INT, 0, MPI_COMM_WORLD);
}

static void call_ibcast(void *s, void *r)
{
    MPI_Request q;

    MPI_Ibcast(rank == size - 1 ? s : r, n, MPI_INT, size - 1, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void call_allreduce(void *s, void *r)
{
    MPI_Allreduce(s, r, n * size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void call_allreduce_in_place(void *s, void *r)
{
    MPI_Allreduce(s, r, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, r, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void call_iallreduce(void *s, void *r)
{
    MPI_Request q;

    MPI_Iallreduce(s, r, n * size, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void call_reduce(void *s, void *r)
{
    MPI_Reduce(s, r, n * size, MPI_INT, MPI_SUM, size / 2, MPI_COMM_WORLD);
    MPI_Reduce(s, r, n, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
}

static void call_scan(void *s, void *r)
{
    MPI_Scan(s, r, n * size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void call_exscan(void *s, void *r)
{
    MPI_Exscan(s, r, n * size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void call_reduce_scatter(void *s, void *r)
{
    MPI_Reduce_scatter_block(s, r, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void call_allgather(void *s, void *r)
{
    MPI_Allgather(s, n, MPI_INT, r, n, MPI_INT, MPI_COMM_WORLD);
}

static void call_alltoall(void *s, void *r)
{
    MPI_Alltoall(s, n, MPI_INT, r, n, MPI_INT, MPI_COMM_WORLD);
}

static void call_alltoallw(void *s, void *r)
{
    int counts[64], places[64];
    MPI_Datatype types[64];

    for (int i = 0; i < size; i++) {
        counts[i] = n;
        places[i] = i * n * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    MPI_Alltoallw(s, counts, places, types, r, counts, places, types, MPI_COMM_WORLD);
}

static void call_gather(void *s, void *r)
{
    MPI_Gather(s, n, MPI_INT, r, n, MPI_INT, size - 1, MPI_COMM_WORLD);
}

static void call_scatter(void *s, void *r)
{
    MPI_Scatter(s, n, MPI_INT, r, n, MPI_INT, 0, MPI_COMM_WORLD);
}

static void call_neighbors(void *s, void *r)
{
    MPI_Neighbor_allgather(s, n, MPI_INT, r, n, MPI_INT, ring);
}

/* Between the ranks with even numbers and the others. */
static void call_between(void *s, void *r)
{
    MPI_Comm half, both;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &both);
    MPI_Allreduce(s, r, n, MPI_INT, MPI_SUM, both);
    MPI_Comm_free(&half);
    MPI_Comm_free(&both);
}

static void make_window(void *s, void *r)
{
    (void)s;
    MPI_Win_create(r, (MPI_Aint)n * size * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &window);
}

/* The source is a window. */
static void make_source(void *s, void *r)
{
    make_window(r, s);
}

static void call_put(void *s, void *r)
{
    (void)r;
    MPI_Win_fence(0, window);
    MPI_Put(s, n, MPI_INT, next, rank, n, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void call_get(void *s, void *r)
{
    (void)s;
    MPI_Win_fence(0, window);
    MPI_Get(r, n, MPI_INT, next, n * (size - 1), n, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void call_lock(void *s, void *r)
{
    (void)s;
    MPI_Win_lock_all(0, window);
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get(r, n, MPI_INT, next, 0, n, MPI_INT, window);
    MPI_Win_flush(next, window);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static void call_accumulate(void *s, void *r)
{
    (void)r;
    MPI_Win_fence(0, window);
    MPI_Accumulate(s, n, MPI_INT, next, 0, n, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void call_fetch(void *s, void *r)
{
    int *out = r;

    MPI_Win_fence(0, window);
    MPI_Fetch_and_op(s, out + n, MPI_INT, next, 0, MPI_SUM, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void call_pack(void *s, void *r)
{
    char *packed = malloc((size_t)n * sizeof(int));
    int at = 0;

    MPI_Pack(s, n, MPI_INT, packed, n * (int)sizeof(int), &at, MPI_COMM_WORLD);
    at = 0;
    MPI_Unpack(packed, n * (int)sizeof(int), &at, r, n, MPI_INT, MPI_COMM_WORLD);
    free(packed);
}

static void call_reduce_local(void *s, void *r)
{
    MPI_Reduce_local(s, r, n * size, MPI_INT, MPI_SUM);
}

static void call_file(void *s, void *r)
{
    MPI_Offset block = (MPI_Offset)n * (MPI_Offset)sizeof(int);
    MPI_File file;

    MPI_File_open(MPI_COMM_WORLD, "order", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, rank * block, s, n, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    MPI_File_read_at(file, next * block, r, n, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static const struct {
    const char *name;
    void (*call)(void *s, void *r);
    void (*make)(void *s, void *r);
} calls[] = {{"MPI_Send", call_send, NULL},
             {"MPI_Isend", call_isend, NULL},
             {"MPI_Bsend", call_bsend, NULL},
             {"MPI_Mrecv", call_mrecv, NULL},
             {"MPI_Sendrecv", call_sendrecv, NULL},
             {"MPI_BOTTOM", call_types, NULL},
             {"MPI_Startall", call_persistent, make_persistent},
             {"MPI_Pready", call_partitioned, make_partitioned},
             {"MPI_Allreduce_init", call_allreduce_init, make_allreduce},
             {"MPI_Bcast", call_bcast, NULL},
             {"MPI_Ibcast", call_ibcast, NULL},
             {"MPI_Allreduce", call_allreduce, NULL},
             {"MPI_Allreduce in place", call_allreduce_in_place, NULL},
             {"MPI_Iallreduce", call_iallreduce, NULL},
             {"MPI_Reduce", call_reduce, NULL},
             {"MPI_Scan", call_scan, NULL},
             {"MPI_Exscan", call_exscan, NULL},
             {"MPI_Reduce_scatter_block", call_reduce_scatter, NULL},
             {"MPI_Allgather", call_allgather, NULL},
             {"MPI_Alltoall", call_alltoall, NULL},
             {"MPI_Alltoallw", call_alltoallw, NULL},
             {"MPI_Gather", call_gather, NULL},
             {"MPI_Scatter", call_scatter, NULL},
             {"MPI_Neighbor_allgather", call_neighbors, NULL},
             {"MPI_Allreduce between groups", call_between, NULL},
             {"MPI_Put", call_put, make_window},
             {"MPI_Get", call_get, make_source},
             {"MPI_Win_sync", call_lock, make_source},
             {"MPI_Accumulate", call_accumulate, make_window},
             {"MPI_Fetch_and_op", call_fetch, make_window},
             {"MPI_Pack", call_pack, NULL},
             {"MPI_Reduce_local", call_reduce_local, NULL},
             {"MPI_File_write_at_all", call_file, NULL}};

enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

/* ---- Memory of a rank ---- */

static int *host_s, *host_r, *back, *old;     /* of the host */
static address_t dev_s, dev_r, spare, shared; /* of the device; and managed */
static size_t bytes;

static int *make_host(void)
{
    int *memory = malloc(bytes);

    check(memory != NULL, "memory", "of the host");
    return memory;
}

static void make_memory(void)
{
    bytes = (size_t)most * (size_t)size * 2 * sizeof(int);
    host_s = make_host();
    host_r = make_host();
    back = make_host();
    old = make_host();
    check(alloc(&dev_s, bytes) == 0 && alloc(&dev_r, bytes) == 0 && alloc(&spare, bytes) == 0 &&
              alloc_managed(&shared, bytes, 1) == 0,
          "memory", "of the device");
}

static void fill(int *data, int seed)
{
    for (size_t i = 0; i < bytes / sizeof(int); i++)
        data[i] = (int)((i * 2654435761u + (unsigned)(rank * 977 + seed) * 40503u) >> 8 & 0xffff);
}

static void wipe(void)
{
    set(dev_s, 0xee, bytes);
    set(dev_r, 0xee, bytes);
    set(shared, 0xee, bytes);
    stream_wait(NULL);
}

/* The call with memory of the host: what it makes of the content of `old` is in host_r. */
static void reference(int c, int seed)
{
    fill(host_s, seed);
    fill(old, seed + 500);
    memcpy(host_r, old, bytes);
    if (calls[c].make != NULL)
        calls[c].make(host_s, host_r);
    calls[c].call(host_s, host_r);
}

static void compare(address_t result, int c, const char *how)
{
    copy((uintptr_t)back, result, bytes);
    stream_wait(NULL);
    check(memcmp(back, host_r, bytes) == 0, calls[c].name, how);
}

/* ---- Work in the default stream, which nobody waits for ---- */

static void *other, *event;

/* CUDA_MEMCPY2D. */
typedef struct {
    size_t from_x, from_y;
    unsigned from_type;
    const void *from_host;
    address_t from;
    void *from_array;
    size_t from_pitch, to_x, to_y;
    unsigned to_type;
    void *to_host;
    address_t to;
    void *to_array;
    size_t to_pitch, width, height;
} rows_t;

static void by_copy(address_t to)
{
    copy(to, (uintptr_t)host_s, bytes);
}

static void by_device_copy(address_t to)
{
    copy(spare, (uintptr_t)host_s, bytes);
    copy_async(to, spare, bytes, NULL);
}

/* From another stream, for which the default stream waits. */
static void by_event(address_t to)
{
    copy(spare, (uintptr_t)host_s, bytes);
    stream_wait(NULL);
    copy_async(to, spare, bytes, other);
    event_record(event, other);
    wait_event(NULL, event, 0);
}

static void by_rows(address_t to)
{
    rows_t rows = {.from_type = 4,
                   .to_type = 4,
                   .from = (uintptr_t)host_s,
                   .to = to,
                   .from_pitch = bytes / 2,
                   .to_pitch = bytes / 2,
                   .width = bytes / 2,
                   .height = 2};

    copy_rows(&rows);
}

static const struct {
    const char *name;
    void (*prepare)(address_t to);
} producers[] = {{"after a copy", by_copy},
                 {"after a copy on the device", by_device_copy},
                 {"after an event", by_event},
                 {"after a copy of rows", by_rows}};

/* The source is prepared by the default stream. */
static void late_source(int c, int p, address_t source, address_t target)
{
    reference(c, c);
    wipe();
    copy(target, (uintptr_t)old, bytes);
    stream_wait(NULL);
    if (calls[c].make != NULL)
        calls[c].make((void *)(uintptr_t)source, (void *)(uintptr_t)target);
    producers[p].prepare(source);
    calls[c].call((void *)(uintptr_t)source, (void *)(uintptr_t)target);
    compare(target, c, producers[p].name);
}

/* The default stream still reads the target, and then writes it. */
static void late_target(int c, address_t target)
{
    reference(c, c);
    wipe();
    fill(back, 99);
    copy(target, (uintptr_t)back, bytes);
    stream_wait(NULL);
    if (calls[c].make != NULL)
        calls[c].make(host_s, (void *)(uintptr_t)target);
    copy_async(spare, target, bytes, NULL);
    copy(target, (uintptr_t)old, bytes);
    calls[c].call(host_s, (void *)(uintptr_t)target);
    compare(target, c, "with a target in use");
    copy((uintptr_t)old, spare, bytes);
    stream_wait(NULL);
    fill(back, 99);
    check(memcmp(back, old, bytes) == 0, calls[c].name, "and what was read before");
}

/* Memory that the default stream allocates, and frees afterwards. */
static void late_memory(int c)
{
    address_t source, target;

    alloc_async(&source, bytes, NULL);
    alloc_async(&target, bytes, NULL);
    late_source(c, c % 2, source, target);
    free_async(source, NULL);
    free_async(target, NULL);
}

static void late(void)
{
    check(stream_create(&other, 1) == 0 && event_create(&event, 2) == 0, "a stream", "made");
    for (int c = 0; c < CALLS; c++) {
        for (int p = 0; p < (int)(sizeof(producers) / sizeof(producers[0])); p++)
            late_source(c, p, dev_s, dev_r);
        late_source(c, 0, shared, dev_r);
        late_target(c, dev_r);
        late_memory(c);
    }
}

/* ---- Other modes ---- */

static void wait_at(void *arg)
{
    while (!atomic_load((atomic_bool *)arg))
        usleep(1000);
}

/* Calls with memory of the host are complete before the stream is. The driver runs the host
 * functions of all ranks in one thread, so no rank may start a function while another one waits for
 * its own. It may also wait for the device when it takes memory or makes a stream, which ranks do
 * the first time that they use the device: all of that is over before the first function that
 * waits for other ranks. */
static void overlap(void)
{
    static atomic_bool gate;

    atomic_store(&gate, 1);
    check(call_host(NULL, wait_at, &gate) == 0 && stream_wait(NULL) == 0, "the stream", "used");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int c = 0; c < CALLS; c++) {
        if (calls[c].call == call_alltoallw) /* its addresses are not looked at */
            continue;
        atomic_store(&gate, 0);
        call_host(NULL, wait_at, &gate);
        reference(c, c);
        atomic_store(&gate, 1);
        check(stream_wait(NULL) == 0, calls[c].name, "before the stream");
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The combinations of source and target on the device. */
static void mixed_call(int c, int mix)
{
    bool sends_there = mix == 0 ? rank % 2 == 0 : (rank + mix) % 3 != 0;
    bool gets_there = mix == 0 ? rank % 2 == 0 : (rank + mix) % 3 == 1;
    void *s = sends_there ? (void *)(uintptr_t)dev_s : host_s;
    void *r = gets_there ? (void *)(uintptr_t)dev_r : old;

    reference(c, c + mix);
    copy(dev_s, (uintptr_t)host_s, bytes);
    copy(dev_r, (uintptr_t)old, bytes);
    if (calls[c].make != NULL)
        calls[c].make(s, r);
    calls[c].call(s, r);
    compare((uintptr_t)r, c, "with memory of both kinds");
}

static void mixed(void)
{
    const int blocks[] = {1, most / 40 + 1, most};

    for (int i = 0; i < 3; i++)
        for (int c = 0; c < CALLS; c++)
            for (int mix = 0; mix < (i < 2 ? 3 : 1); mix++) {
                n = blocks[i];
                mixed_call(c, mix);
            }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    void *stream;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ring);
    n = most = argc > 2 ? atoi(argv[2]) : 300;
    open_device();
    make_memory();
    if (strcmp(mode, "legacy") == 0)
        check(stream_create(&stream, 0) == 0, "a stream", "made");
    if (strcmp(mode, "mixed") == 0)
        mixed();
    else if (strcmp(mode, "overlap") == 0)
        overlap();
    else
        late();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: %d checks\n", mode, checks);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
