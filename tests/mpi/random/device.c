/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of a GPU: that of the driver in tests/gpu, or of a real one, with --device.
 *
 * Data come and go in ways that CUDA allows, without more synchronisation than it demands: what is
 * put into the default stream is not waited for, another stream is waited for by the default
 * stream or by the host. A rank has one other stream; that of some ranks blocks, so that their
 * default stream is the real one.
 */
#include <dlfcn.h>
#include <string.h>

#include "random.h"

typedef unsigned long long address_t;

enum { JUNK = 0x77 };

static struct {
    int (*init)(unsigned);
    int (*retain)(void **, int);
    int (*context_set)(void *);
    int (*alloc)(address_t *, size_t);
    int (*alloc_async)(address_t *, size_t, void *);
    int (*alloc_managed)(address_t *, size_t, unsigned);
    int (*alloc_pinned)(void **, size_t, unsigned);
    int (*release)(address_t);
    int (*release_async)(address_t, void *);
    int (*release_pinned)(void *);
    int (*copy)(address_t, address_t, size_t);
    int (*copy_async)(address_t, address_t, size_t, void *);
    int (*set)(address_t, unsigned char, size_t);
    int (*stream_create)(void **, unsigned);
    int (*stream_wait)(void *);
    int (*event_create)(void **, unsigned);
    int (*event_record)(void *, void *);
    int (*wait_event)(void *, void *, unsigned);
} cuda;

static const struct {
    const char *name;
    void *to;
} functions[] = {{"cuInit", &cuda.init},
                 {"cuDevicePrimaryCtxRetain", &cuda.retain},
                 {"cuCtxSetCurrent", &cuda.context_set},
                 {"cuMemAlloc", &cuda.alloc},
                 {"cuMemAllocAsync", &cuda.alloc_async},
                 {"cuMemAllocManaged", &cuda.alloc_managed},
                 {"cuMemHostAlloc", &cuda.alloc_pinned},
                 {"cuMemFree", &cuda.release},
                 {"cuMemFreeAsync", &cuda.release_async},
                 {"cuMemFreeHost", &cuda.release_pinned},
                 {"cuMemcpy", &cuda.copy},
                 {"cuMemcpyAsync", &cuda.copy_async},
                 {"cuMemsetD8", &cuda.set},
                 {"cuStreamCreate", &cuda.stream_create},
                 {"cuStreamSynchronize", &cuda.stream_wait},
                 {"cuEventCreate", &cuda.event_create},
                 {"cuEventRecord", &cuda.event_record},
                 {"cuStreamWaitEvent", &cuda.wait_event}};
static void *context, *other, *event;

static void need(int result, const char *what, size_t bytes)
{
    if (result != 0)
        fail("%s with %zu bytes: error %d of the device", what, bytes, result);
}

void device_begin(uint64_t seed)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    int (*find)(const char *, void **, int, uint64_t, void *) = NULL;

    if (library == NULL)
        fail("--device: %s", dlerror());
    *(void **)&find = dlsym(library, "cuGetProcAddress_v2");
    if (find == NULL)
        fail("--device: the driver is too old");
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (find(functions[i].name, functions[i].to, 12000, 0, NULL) != 0)
            fail("--device: the driver has no %s", functions[i].name);
    need(cuda.init(0), "the driver", 0);
    need(cuda.retain(&context, 0), "a device", 0);
    need(cuda.context_set(context), "a context", 0);
    need(cuda.stream_create(&other, hash(seed, 31, (uint64_t)rank, 0) % 4 != 0), "a stream", 0);
    need(cuda.event_create(&event, 2), "an event", 0);
}

/* ---- Of any thread ---- */

void *device_alloc(size_t bytes)
{
    address_t address = 0;

    if (context == NULL || bytes == 0)
        return NULL;
    if (cuda.context_set(context) != 0 || cuda.alloc(&address, bytes) != 0)
        fail("no memory of the device for %zu bytes", bytes);
    return (void *)(uintptr_t)address;
}

void device_free(void *memory)
{
    if (memory != NULL && (cuda.context_set(context) != 0 || cuda.release((uintptr_t)memory) != 0))
        fail("memory of the device is not freed");
}

void device_copy(void *to, const void *from, size_t bytes)
{
    if (cuda.context_set(context) != 0 || cuda.copy((uintptr_t)to, (uintptr_t)from, bytes) != 0)
        fail("%zu bytes are not copied to or from the device", bytes);
}

/* ---- Kinds of memory ---- */

/* In some steps all ranks have memory of the device, in others some. */
kind_of_memory_t memory_draw(void)
{
    if (context == NULL || chance(&own_random, hash((uint64_t)step, 78, 0, 0) % 3 == 0 ? 5 : 50))
        return MEMORY_PLAIN;
    return (kind_of_memory_t)(1 + draw(&own_random, MEMORY_KINDS - 1));
}

char *memory_alloc(kind_of_memory_t kind, size_t bytes)
{
    address_t address = 0;
    void *pinned = NULL;

    need(cuda.context_set(context), "a context", 0);
    if (kind == MEMORY_PINNED)
        need(cuda.alloc_pinned(&pinned, bytes, 1), "pinned memory", bytes);
    else if (kind == MEMORY_MANAGED)
        need(cuda.alloc_managed(&address, bytes, 1), "managed memory", bytes);
    else if (kind == MEMORY_OF_STREAM)
        need(cuda.alloc_async(&address, bytes, NULL), "memory of a stream", bytes);
    else
        need(cuda.alloc(&address, bytes), "memory of the device", bytes);
    return pinned != NULL ? pinned : (char *)(uintptr_t)address;
}

void memory_free(kind_of_memory_t kind, char *memory)
{
    need(cuda.context_set(context), "a context", 0);
    if (kind == MEMORY_PINNED)
        need(cuda.release_pinned(memory), "freeing pinned memory", 0);
    else if (kind == MEMORY_OF_STREAM)
        need(cuda.release_async((uintptr_t)memory, NULL), "freeing memory of a stream", 0);
    else
        need(cuda.release((uintptr_t)memory), "freeing memory", 0);
}

/* By another stream, which comes after the default stream. */
static void store_beside(address_t to, address_t from, size_t bytes, bool is_waited_for)
{
    need(cuda.event_record(event, NULL), "an event", 0);
    need(cuda.wait_event(other, event, 0), "an event", 0);
    need(cuda.copy_async(to, from, bytes, other), "a copy", bytes);
    if (is_waited_for) {
        need(cuda.stream_wait(other), "a stream", 0);
        return;
    }
    need(cuda.event_record(event, other), "an event", 0);
    need(cuda.wait_event(NULL, event, 0), "an event", 0);
}

/* By memory that the default stream has for a moment. */
static void store_twice(address_t to, address_t from, size_t bytes)
{
    address_t between;

    need(cuda.alloc_async(&between, bytes, NULL), "memory of a stream", bytes);
    need(cuda.copy_async(between, from, bytes, NULL), "a copy", bytes);
    need(cuda.copy_async(to, between, bytes, NULL), "a copy", bytes);
    need(cuda.release_async(between, NULL), "freeing memory of a stream", bytes);
}

void memory_store(kind_of_memory_t kind, char *memory, const char *from, size_t bytes)
{
    address_t to = (uintptr_t)memory, source = (uintptr_t)from;
    int way = kind == MEMORY_PINNED ? -1 : draw(&own_random, 6);

    need(cuda.context_set(context), "a context", 0);
    if (way < 0) { /* the host writes it, as MPI reads it */
        memcpy(memory, from, bytes);
    } else if (way <= 1) {
        need(cuda.copy(to, source, bytes), "a copy", bytes);
    } else if (way == 2) {
        need(cuda.set(to, JUNK, bytes), "setting", bytes);
        need(cuda.copy_async(to, source, bytes, NULL), "a copy", bytes);
    } else if (way == 3) {
        store_twice(to, source, bytes);
    } else {
        store_beside(to, source, bytes, way == 4);
    }
}

void memory_load(kind_of_memory_t kind, const char *memory, char *to, size_t bytes)
{
    void *stream = draw(&own_random, 2) == 0 ? NULL : other;

    need(cuda.context_set(context), "a context", 0);
    if (kind == MEMORY_PINNED || (kind == MEMORY_MANAGED && stream == NULL)) {
        memcpy(to, memory, bytes);
    } else {
        need(cuda.copy_async((uintptr_t)to, (uintptr_t)memory, bytes, stream), "a copy", bytes);
        need(cuda.stream_wait(stream), "a stream", bytes);
    }
}

void device_clear(void *memory, size_t bytes)
{
    need(cuda.context_set(context), "a context", 0);
    need(cuda.set((uintptr_t)memory, 0, bytes), "setting", bytes);
}
