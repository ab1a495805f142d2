/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a GPU: that of the driver in tests/gpu, or of a real one, with --device. */
#include <dlfcn.h>

#include "random.h"

typedef unsigned long long address_t;

static int (*context_set)(void *), (*alloc)(address_t *, size_t), (*release)(address_t);
static int (*copy)(address_t, address_t, size_t);
static void *context;

void device_begin(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    int (*find)(const char *, void **, int, uint64_t, void *) = NULL;
    int (*init)(unsigned) = NULL, (*retain)(void **, int) = NULL;

    if (library == NULL)
        fail("--device: %s", dlerror());
    *(void **)&find = dlsym(library, "cuGetProcAddress_v2");
    if (find == NULL)
        fail("--device: the driver is too old");
    find("cuInit", (void **)&init, 12000, 0, NULL);
    find("cuDevicePrimaryCtxRetain", (void **)&retain, 12000, 0, NULL);
    find("cuCtxSetCurrent", (void **)&context_set, 12000, 0, NULL);
    find("cuMemAlloc", (void **)&alloc, 12000, 0, NULL);
    find("cuMemFree", (void **)&release, 12000, 0, NULL);
    find("cuMemcpy", (void **)&copy, 12000, 0, NULL);
    if (init(0) != 0 || retain(&context, 0) != 0)
        fail("--device: the driver has no device");
}

void *device_alloc(size_t bytes)
{
    address_t address = 0;

    if (context == NULL || bytes == 0)
        return NULL;
    if (context_set(context) != 0 || alloc(&address, bytes) != 0)
        fail("no memory of the device for %zu bytes", bytes);
    return (void *)(uintptr_t)address;
}

void device_free(void *memory)
{
    if (memory != NULL && (context_set(context) != 0 || release((uintptr_t)memory) != 0))
        fail("memory of the device is not freed");
}

void device_copy(void *to, const void *from, size_t bytes)
{
    if (context_set(context) != 0 || copy((uintptr_t)to, (uintptr_t)from, bytes) != 0)
        fail("%zu bytes are not copied to or from the device", bytes);
}
