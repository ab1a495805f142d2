/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVIDIA GPUs through the driver library, which comes with the driver and not with a toolkit. Its
 * interface is stable: types and numbers are declared here, and functions are found by the names
 * of the versions that were current in CUDA 11 and are in all later ones.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu/gpu_internal.h"

typedef int result_t; /* CUresult */
typedef unsigned long long address_t;

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    NOT_READY = 600,
    FIRST_OF_KERNELS = 700, /* from here on the context is lost: illegal address, ... */
    LAST_OF_KERNELS = 720,
    OLDEST_DRIVER = 11000,
    FIRST_WITH_CHAINS = 90, /* compute capability */
};
enum { ATTRIBUTE_MAJOR = 75, ATTRIBUTE_MINOR = 76 };
enum { STREAM_NON_BLOCKING = 1, HOST_PORTABLE = 1, EVENT_DEFAULT = 0, EVENT_WITHOUT_TIME = 2 };

#define FUNCTIONS(X)                                                                               \
    X(init, "cuInit", (unsigned))                                                                  \
    X(driver_version, "cuDriverGetVersion", (int *))                                               \
    X(device_count, "cuDeviceGetCount", (int *))                                                   \
    X(device_get, "cuDeviceGet", (int *, int))                                                     \
    X(device_name, "cuDeviceGetName", (char *, int, int))                                          \
    X(device_memory, "cuDeviceTotalMem_v2", (size_t *, int))                                       \
    X(device_attribute, "cuDeviceGetAttribute", (int *, int, int))                                 \
    X(device_pci, "cuDeviceGetPCIBusId", (char *, int, int))                                       \
    X(context_retain, "cuDevicePrimaryCtxRetain", (void **, int))                                  \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", (int))                                      \
    X(context_get, "cuCtxGetCurrent", (void **))                                                   \
    X(context_set, "cuCtxSetCurrent", (void *))                                                    \
    X(memory_info, "cuMemGetInfo_v2", (size_t *, size_t *))                                        \
    X(memory_alloc, "cuMemAlloc_v2", (address_t *, size_t))                                        \
    X(memory_free, "cuMemFree_v2", (address_t))                                                    \
    X(host_alloc, "cuMemHostAlloc", (void **, size_t, unsigned))                                   \
    X(host_free, "cuMemFreeHost", (void *))                                                        \
    X(host_register, "cuMemHostRegister_v2", (void *, size_t, unsigned))                           \
    X(host_unregister, "cuMemHostUnregister", (void *))                                            \
    X(copy_in, "cuMemcpyHtoDAsync_v2", (address_t, const void *, size_t, void *))                  \
    X(copy_out, "cuMemcpyDtoHAsync_v2", (void *, address_t, size_t, void *))                       \
    X(copy_on, "cuMemcpyDtoDAsync_v2", (address_t, address_t, size_t, void *))                     \
    X(stream_create, "cuStreamCreate", (void **, unsigned))                                        \
    X(stream_destroy, "cuStreamDestroy_v2", (void *))                                              \
    X(stream_wait, "cuStreamSynchronize", (void *))                                                \
    X(stream_after, "cuStreamWaitEvent", (void *, void *, unsigned))                               \
    X(event_create, "cuEventCreate", (void **, unsigned))                                          \
    X(event_destroy, "cuEventDestroy_v2", (void *))                                                \
    X(event_record, "cuEventRecord", (void *, void *))                                             \
    X(event_query, "cuEventQuery", (void *))                                                       \
    X(event_wait, "cuEventSynchronize", (void *))                                                  \
    X(event_between, "cuEventElapsedTime", (float *, void *, void *))                              \
    X(module_load, "cuModuleLoadData", (void **, const void *))                                    \
    X(module_unload, "cuModuleUnload", (void *))                                                   \
    X(function_get, "cuModuleGetFunction", (void **, void *, const char *))                        \
    X(launch, "cuLaunchKernel",                                                                    \
      (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,       \
       void **, void **))                                                                          \
    X(error_name, "cuGetErrorName", (result_t, const char **))                                     \
    X(error_text, "cuGetErrorString", (result_t, const char **))

/* A launch with attributes. */
typedef struct {
    int id;
    int unused;
    union {
        char room[64];
        int value;
    };
} attribute_t;

typedef struct {
    unsigned groups[3], group[3], shared;
    void *stream;
    attribute_t *attributes;
    unsigned count;
} config_t;

enum { ATTRIBUTE_CHAINED = 6 /* CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION */ };

#define MEMBER(member, symbol, arguments) result_t(*member) arguments;
static struct {
    pthread_once_t once;
    const char *why; /* it cannot be used; NULL: it can */
    FUNCTIONS(MEMBER)
    result_t (*launch_with)(const config_t *, void *, void **, void **); /* NULL before CUDA 12 */
    result_t (*param_info)(void *, size_t, size_t *, size_t *);          /* and 12.4 */
} cuda = {.once = PTHREAD_ONCE_INIT};

static bool find_functions(void *library)
{
#define SYMBOL(member, symbol, arguments) {(void **)&cuda.member, symbol},
    static const gpu_symbol_t list[] = {FUNCTIONS(SYMBOL)};
    static const gpu_symbol_t with = {(void **)&cuda.launch_with, "cuLaunchKernelEx"};
    static const gpu_symbol_t info = {(void **)&cuda.param_info, "cuFuncGetParamInfo"};

    (void)gpu_symbols_find(library, &with, 1);
    (void)gpu_symbols_find(library, &info, 1);
    return gpu_symbols_find(library, list, sizeof(list) / sizeof(list[0]));
}

static void load(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int version = 0;

    if (library == NULL)
        cuda.why = "libcuda.so.1, the NVIDIA driver, is not installed";
    else if (!find_functions(library) || cuda.driver_version(&version) != SUCCESS ||
             version < OLDEST_DRIVER)
        cuda.why = "the NVIDIA driver is older than CUDA 11; install a newer one";
    else if (cuda.init(0) != SUCCESS)
        cuda.why = "the NVIDIA driver finds no device that this process may use";
}

/* ---- Failures ---- */

/* A failed kernel makes all later calls fail: it is reported once. */
static xy_status_t failed(xy_gpu_device_t *gpu, result_t r, const char *doing)
{
    const char *name = "unknown error", *text = "";

    cuda.error_name(r, &name);
    cuda.error_text(r, &text);
    if (gpu->is_lost)
        return XY_EIO;
    gpu->is_lost = r >= FIRST_OF_KERNELS && r <= LAST_OF_KERNELS;
    if (gpu->is_lost)
        return xy_fail(XY_EIO,
                       "%s: a kernel failed (%s, %s), detected when it was to %s; the contents of "
                       "the device are lost",
                       gpu->info.name, text, name, doing);
    return xy_fail(r == OUT_OF_MEMORY ? XY_ENOMEM : XY_EIO, "%s cannot %s: %s (%s)", gpu->info.name,
                   doing, text, name);
}

static xy_status_t check(xy_gpu_device_t *gpu, result_t r, const char *doing)
{
    return r == SUCCESS ? XY_OK : failed(gpu, r, doing);
}

/* Threads have a current context, which most functions work in; other code of the thread may have
 * set another one meanwhile. */
static void enter(const xy_gpu_device_t *gpu)
{
    void *current = NULL;

    if (cuda.context_get(&current) != SUCCESS || current != gpu->context)
        cuda.context_set(gpu->context);
}

/* ---- Devices ---- */

/* Describe a device; false if the driver does not give its name or memory. */
static bool describe(int number, xy_gpu_info_t *info)
{
    int device, version = 0;
    size_t bytes;

    if (cuda.device_get(&device, number) != SUCCESS ||
        cuda.device_name(info->name, sizeof(info->name), device) != SUCCESS ||
        cuda.device_memory(&bytes, device) != SUCCESS)
        return false;
    if (cuda.device_pci(info->pci, sizeof(info->pci), device) != SUCCESS)
        info->pci[0] = '\0';
    for (char *c = info->pci; *c != '\0'; c++) /* as in /sys */
        *c = (char)(*c >= 'A' && *c <= 'F' ? *c - 'A' + 'a' : *c);
    cuda.driver_version(&version);
    snprintf(info->version, sizeof(info->version), "CUDA %d.%d", version / 1000,
             version % 1000 / 10);
    info->driver = "cuda";
    info->number = number;
    info->memory = bytes;
    info->numa = gpu_numa_of(info->pci);
    return true;
}

/* Append all devices to `found`; returns why there are none, or "". */
static const char *list(xy_vec_t *found, xy_status_t *status_p)
{
    int count = 0;

    pthread_once(&cuda.once, load);
    if (cuda.why != NULL)
        return cuda.why;
    cuda.device_count(&count);
    for (int i = 0; i < count && *status_p == XY_OK; i++) {
        xy_gpu_info_t info = {0};

        if (describe(i, &info) && xy_vec_append(found, &info) != XY_OK)
            *status_p = xy_fail_memory("listing GPUs");
    }
    return count > 0 ? "" : "the NVIDIA driver finds no device";
}

/* Retain the primary context of a device and read its compute capability. */
static xy_status_t open_device(xy_gpu_device_t *gpu)
{
    int device = 0, major = 0, minor = 0;
    result_t r;

    pthread_once(&cuda.once, load);
    if (cuda.why != NULL)
        return xy_fail(XY_EUNSUPPORTED, "%s cannot be used: %s", gpu->info.name, cuda.why);
    r = cuda.device_get(&device, gpu->info.number);
    if (r == SUCCESS)
        r = cuda.context_retain(&gpu->context, device);
    if (r != SUCCESS)
        return failed(gpu, r, "be opened");
    gpu->device = (void *)(intptr_t)device;
    cuda.device_attribute(&major, ATTRIBUTE_MAJOR, device);
    cuda.device_attribute(&minor, ATTRIBUTE_MINOR, device);
    gpu->capability = 10 * major + minor;
    return XY_OK;
}

/* The context stays until the process ends, as that of CUDA's runtime does: making one takes longer
 * than many a run. One in which a kernel failed is good for nothing, and the next gets a new one.
 */
static void close_device(xy_gpu_device_t *gpu)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t kept; /* devices whose context is held for that */
    int device = (int)(intptr_t)gpu->device;
    uint64_t bit = UINT64_C(1) << (gpu->info.number % 64);
    int releases = 1;

    pthread_mutex_lock(&lock);
    if (gpu->is_lost)
        releases += (kept & bit) != 0;
    else
        releases -= (kept & bit) == 0;
    kept = gpu->is_lost ? kept & ~bit : kept | bit;
    pthread_mutex_unlock(&lock);
    while (releases-- > 0)
        cuda.context_release(device);
}

/* ---- Memory ---- */

static xy_status_t room(xy_gpu_device_t *gpu, uint64_t *bytes_p)
{
    size_t left, all;
    result_t r;

    enter(gpu);
    r = cuda.memory_info(&left, &all);
    if (r != SUCCESS)
        return failed(gpu, r, "report its free memory");
    *bytes_p = left;
    return XY_OK;
}

/* Allocate device memory; reports how much is free when it does not suffice. */
static xy_status_t memory_take(xy_gpu_device_t *gpu, uint64_t bytes, xy_gpu_memory_t *memory_p)
{
    char need[32], have[32];
    address_t address;
    uint64_t left = 0;
    result_t r;

    enter(gpu);
    r = cuda.memory_alloc(&address, bytes);
    if (r == OUT_OF_MEMORY && room(gpu, &left) == XY_OK)
        return xy_fail(XY_ENOMEM, "%s has no room for %s: %s are free; use less (--memory)",
                       gpu->info.name, xy_format_size(bytes, need), xy_format_size(left, have));
    if (r != SUCCESS)
        return failed(gpu, r, "give memory");
    *memory_p = address;
    return XY_OK;
}

static void memory_give(xy_gpu_device_t *gpu, xy_gpu_memory_t memory)
{
    enter(gpu);
    cuda.memory_free(memory);
}

/* The driver fills pages one after the other, which takes long for many. */
enum { TOUCHERS_MAX = 16, TOUCHED_ALONE = 256 << 20 /* bytes */, PAGE = 4096 };

typedef struct {
    char *from, *to;
} range_t;

static void *touch(void *arg)
{
    const range_t *range = arg;

    for (char *c = range->from; c < range->to; c += PAGE)
        *(volatile char *)c = 0;
    return NULL;
}

/* Touch all pages of a range from several threads, and from this one where a thread cannot be
 * started. */
static void touch_all(char *address, uint64_t bytes)
{
    range_t ranges[TOUCHERS_MAX];
    pthread_t threads[TOUCHERS_MAX];
    bool is_started[TOUCHERS_MAX];
    uint64_t part = bytes / TOUCHERS_MAX / PAGE * PAGE;

    for (int i = 0; i < TOUCHERS_MAX; i++) {
        ranges[i].from = address + (uint64_t)i * part;
        ranges[i].to = i < TOUCHERS_MAX - 1 ? ranges[i].from + part : address + bytes;
        is_started[i] = pthread_create(&threads[i], NULL, touch, &ranges[i]) == 0;
        if (!is_started[i])
            touch(&ranges[i]);
    }
    for (int i = 0; i < TOUCHERS_MAX; i++)
        if (is_started[i])
            pthread_join(threads[i], NULL);
}

/* Pages of our own, large ones if there are, pinned when they are there. NULL: the driver cannot.
 */
static void *pin_new(uint64_t bytes)
{
    void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (address == MAP_FAILED)
        return NULL;
    (void)madvise(address, bytes, MADV_HUGEPAGE); /* only slower without */
    touch_all(address, bytes);
    if (cuda.host_register(address, bytes, HOST_PORTABLE) == SUCCESS)
        return address;
    munmap(address, bytes);
    return NULL;
}

static xy_status_t pinned_take(xy_gpu_device_t *gpu, uint64_t bytes, void **address_p,
                               void **handle_p)
{
    *handle_p = NULL;
    enter(gpu);
    *address_p = bytes >= TOUCHED_ALONE ? pin_new(bytes) : NULL;
    if (*address_p != NULL) {
        *handle_p = (void *)(uintptr_t)bytes;
        return XY_OK;
    }
    return check(gpu, cuda.host_alloc(address_p, bytes, HOST_PORTABLE), "pin memory of the host");
}

/* The handle of pages of our own is their size. */
static void pinned_give(xy_gpu_device_t *gpu, void *address, void *handle)
{
    enter(gpu);
    if (handle == NULL) {
        cuda.host_free(address);
        return;
    }
    cuda.host_unregister(address);
    munmap(address, (size_t)(uintptr_t)handle);
}

static bool pin(xy_gpu_device_t *gpu, void *address, uint64_t bytes)
{
    enter(gpu);
    return cuda.host_register(address, bytes, HOST_PORTABLE) == SUCCESS;
}

static void unpin(xy_gpu_device_t *gpu, void *address)
{
    enter(gpu);
    cuda.host_unregister(address);
}

/* ---- Streams and events ---- */

static xy_status_t stream_create(xy_gpu_stream_t *s)
{
    enter(s->gpu);
    return check(s->gpu, cuda.stream_create(&s->native, STREAM_NON_BLOCKING), "create a stream");
}

static void stream_destroy(xy_gpu_stream_t *s)
{
    enter(s->gpu);
    cuda.stream_destroy(s->native);
}

static xy_status_t stream_wait(xy_gpu_stream_t *s)
{
    enter(s->gpu);
    return check(s->gpu, cuda.stream_wait(s->native), "finish its work");
}

static xy_status_t stream_after(xy_gpu_stream_t *s, const xy_gpu_event_t *e)
{
    enter(s->gpu);
    return check(s->gpu, cuda.stream_after(s->native, e->native, 0), "synchronize its streams");
}

static xy_status_t event_create(xy_gpu_event_t *e, bool is_timed)
{
    unsigned flags = is_timed ? EVENT_DEFAULT : EVENT_WITHOUT_TIME;

    enter(e->gpu);
    return check(e->gpu, cuda.event_create(&e->native, flags), "create an event");
}

static void event_destroy(xy_gpu_event_t *e)
{
    enter(e->gpu);
    cuda.event_destroy(e->native);
}

static xy_status_t event_record(xy_gpu_event_t *e, xy_gpu_stream_t *s)
{
    enter(s->gpu);
    return check(e->gpu, cuda.event_record(e->native, s->native), "record an event");
}

static xy_status_t event_wait(const xy_gpu_event_t *e)
{
    enter(e->gpu);
    return check(e->gpu, cuda.event_wait(e->native), "wait for an event");
}

static xy_status_t event_is_reached(const xy_gpu_event_t *e, bool *is_reached_p)
{
    result_t r;

    enter(e->gpu);
    r = cuda.event_query(e->native);
    *is_reached_p = r == SUCCESS;
    return r == NOT_READY ? XY_OK : check(e->gpu, r, "wait for an event");
}

static xy_status_t event_between(const xy_gpu_event_t *from, const xy_gpu_event_t *to,
                                 double *seconds_p)
{
    float milliseconds = 0;
    result_t r;

    enter(from->gpu);
    r = cuda.event_between(&milliseconds, from->native, to->native);
    *seconds_p = 1e-3 * (double)milliseconds;
    return check(from->gpu, r, "read the time of an event");
}

/* ---- Copies ---- */

static xy_status_t copy_in(xy_gpu_stream_t *s, xy_gpu_memory_t to, uint64_t offset,
                           const void *from, uint64_t bytes)
{
    enter(s->gpu);
    return check(s->gpu, cuda.copy_in(to + offset, from, bytes, s->native), "copy to the device");
}

static xy_status_t copy_out(xy_gpu_stream_t *s, void *to, xy_gpu_memory_t from, uint64_t offset,
                            uint64_t bytes)
{
    enter(s->gpu);
    return check(s->gpu, cuda.copy_out(to, from + offset, bytes, s->native), "copy to the host");
}

static xy_status_t copy_on(xy_gpu_stream_t *s, xy_gpu_memory_t to, uint64_t to_offset,
                           xy_gpu_memory_t from, uint64_t from_offset, uint64_t bytes)
{
    enter(s->gpu);
    return check(s->gpu, cuda.copy_on(to + to_offset, from + from_offset, bytes, s->native),
                 "copy in its memory");
}

/* ---- Kernels ---- */

/* Compile a program and load its image into the device; compiler errors are reported. */
static xy_status_t program_create(xy_gpu_program_t *p, const char *text)
{
    char *whole = gpu_text_make(gpu_words_cuda, p->name, text), *image = NULL;
    xy_status_t st = whole != NULL ? gpu_nvrtc_compile(p->gpu, p->name, whole, &image) : XY_ENOMEM;

    if (whole == NULL)
        return xy_fail_memory("compiling a kernel");
    xy_free(whole);
    if (st != XY_OK)
        return st;
    enter(p->gpu);
    st = check(p->gpu, cuda.module_load(&p->native, image), "load a kernel");
    xy_free(image);
    return st;
}

static void program_destroy(xy_gpu_program_t *p)
{
    enter(p->gpu);
    cuda.module_unload(p->native);
}

/* A number that is too large is an invalid value. */
static void find_arguments(xy_gpu_kernel_t *k)
{
    result_t r = SUCCESS;
    size_t offset;
    int n = 0;

    while (cuda.param_info != NULL && n < XY_GPU_ARGS_MAX && r == SUCCESS) {
        r = cuda.param_info(k->native, (size_t)n, &offset, &k->sizes[n]);
        n += r == SUCCESS;
    }
    k->count = r == INVALID_VALUE ? n : -1;
}

/* Look up a kernel in the program in k->native, which the kernel replaces there. */
static xy_status_t kernel_create(xy_gpu_kernel_t *k, const char *name)
{
    void *module = k->native;

    enter(k->gpu);
    if (cuda.function_get(&k->native, module, name) == SUCCESS) {
        find_arguments(k);
        return XY_OK;
    }
    return xy_fail(XY_ENOENT,
                   "the program has no kernel '%s': write XY_KERNEL %s(...), with a name that is "
                   "not a function of the language itself",
                   name, name);
}

static void kernel_destroy(xy_gpu_kernel_t *k)
{
    (void)k; /* it belongs to its module */
}

/* The kernel waits by itself for the end of what is before it (XY_BEGIN). */
static result_t launch_chained(const xy_gpu_stream_t *s, const xy_gpu_kernel_t *k,
                               const size_t groups[3], const size_t group[3], void **values)
{
    attribute_t chained = {.id = ATTRIBUTE_CHAINED, .value = 1};
    config_t config = {.stream = s->native, .attributes = &chained, .count = 1};

    for (int d = 0; d < 3; d++) {
        config.groups[d] = (unsigned)groups[d];
        config.group[d] = (unsigned)group[d];
    }
    return cuda.launch_with(&config, k->native, values, NULL);
}

/* Enqueue a kernel, as a chained launch if the kernel asks for it and the device can do so. */
static xy_status_t launch(xy_gpu_stream_t *s, xy_gpu_kernel_t *k, const size_t groups[3],
                          const size_t group[3], const xy_gpu_arg_t *args, int count)
{
    void *values[XY_GPU_ARGS_MAX];
    result_t r;

    for (int i = 0; i < count; i++)
        memcpy(&values[i], &args[i].value, sizeof(values[i])); /* they are only read */
    enter(s->gpu);
    if (k->is_chained && cuda.launch_with != NULL && s->gpu->capability >= FIRST_WITH_CHAINS)
        return check(s->gpu, launch_chained(s, k, groups, group, values), "launch a kernel");
    r = cuda.launch(k->native, (unsigned)groups[0], (unsigned)groups[1], (unsigned)groups[2],
                    (unsigned)group[0], (unsigned)group[1], (unsigned)group[2], 0, s->native,
                    values, NULL);
    return check(s->gpu, r, "launch a kernel");
}

const gpu_driver_t gpu_driver_cuda = {
    .name = "cuda",
    .describe = "NVIDIA GPUs, through the driver library",
    .list = list,
    .open = open_device,
    .close = close_device,
    .room = room,
    .memory_take = memory_take,
    .memory_give = memory_give,
    .has_addresses = true,
    .pinned_take = pinned_take,
    .pinned_give = pinned_give,
    .is_pinned_shared = true, /* the primary context has it, and there is one */
    .pin = pin,
    .unpin = unpin,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_wait = stream_wait,
    .stream_after = stream_after,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_wait = event_wait,
    .event_is_reached = event_is_reached,
    .event_between = event_between,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .copy_on = copy_on,
    .program_create = program_create,
    .program_destroy = program_destroy,
    .kernel_create = kernel_create,
    .kernel_destroy = kernel_destroy,
    .launch = launch,
};
