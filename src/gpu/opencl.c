/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenCL devices, of whatever kind, through the loader that all implementations share. Streams are
 * queues in order; an event is a marker in one. The headers give the types; the library is loaded
 * when it is first asked for.
 */
#include <stdio.h>
#include <string.h>

#include "gpu/gpu_internal.h"

#if XYLEM_HAVE_OPENCL

#include <dlfcn.h>
#include <pthread.h>

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

enum { PLATFORMS_MAX = 16, DEVICES_MAX = 64 };

#define FUNCTIONS(X)                                                                               \
    X(clGetPlatformIDs)                                                                            \
    X(clGetDeviceIDs)                                                                              \
    X(clGetDeviceInfo)                                                                             \
    X(clCreateContext)                                                                             \
    X(clReleaseContext)                                                                            \
    X(clCreateCommandQueue)                                                                        \
    X(clReleaseCommandQueue)                                                                       \
    X(clFlush)                                                                                     \
    X(clFinish)                                                                                    \
    X(clCreateBuffer)                                                                              \
    X(clReleaseMemObject)                                                                          \
    X(clEnqueueMapBuffer)                                                                          \
    X(clEnqueueUnmapMemObject)                                                                     \
    X(clEnqueueReadBuffer)                                                                         \
    X(clEnqueueWriteBuffer)                                                                        \
    X(clEnqueueCopyBuffer)                                                                         \
    X(clEnqueueMarkerWithWaitList)                                                                 \
    X(clEnqueueBarrierWithWaitList)                                                                \
    X(clWaitForEvents)                                                                             \
    X(clReleaseEvent)                                                                              \
    X(clGetEventInfo)                                                                              \
    X(clGetEventProfilingInfo)                                                                     \
    X(clCreateProgramWithSource)                                                                   \
    X(clBuildProgram)                                                                              \
    X(clGetProgramBuildInfo)                                                                       \
    X(clReleaseProgram)                                                                            \
    X(clCreateKernel)                                                                              \
    X(clReleaseKernel)                                                                             \
    X(clSetKernelArg)                                                                              \
    X(clGetKernelInfo)                                                                             \
    X(clEnqueueNDRangeKernel)

#define MEMBER(symbol) __typeof__(symbol) *symbol;
static struct {
    pthread_once_t once;
    const char *why; /* it cannot be used; NULL: it can */
    cl_device_id devices[DEVICES_MAX];
    int count;
    FUNCTIONS(MEMBER)
} cl = {.once = PTHREAD_ONCE_INIT};

static bool find_functions(void *library)
{
#define SYMBOL(symbol) {(void **)&cl.symbol, #symbol},
    static const gpu_symbol_t list[] = {FUNCTIONS(SYMBOL)};

    return gpu_symbols_find(library, list, sizeof(list) / sizeof(list[0]));
}

/* Load the OpenCL loader and list the devices of all platforms; cl.why says why there are none. */
static void load(void)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint count = 0, devices;

    if (library == NULL)
        cl.why = "libOpenCL.so.1, the OpenCL loader, is not installed";
    else if (!find_functions(library))
        cl.why = "the OpenCL loader is older than OpenCL 1.2; install a newer one";
    else if (cl.clGetPlatformIDs(PLATFORMS_MAX, platforms, &count) != CL_SUCCESS || count == 0)
        cl.why = "no implementation of OpenCL is installed";
    if (cl.why != NULL)
        return;
    for (cl_uint i = 0; i < count && i < PLATFORMS_MAX; i++) {
        cl_uint most = (cl_uint)(DEVICES_MAX - cl.count);

        if (cl.clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, most, cl.devices + cl.count,
                              &devices) == CL_SUCCESS)
            cl.count += (int)(devices < most ? devices : most);
    }
}

/* ---- Failures ---- */

/* Describe an error code of OpenCL for messages. */
static const char *text_of(cl_int error)
{
    switch (error) {
    case CL_DEVICE_NOT_AVAILABLE:
        return "the device is not available";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
        return "the device has no more memory or resources";
    case CL_OUT_OF_HOST_MEMORY:
        return "the host has no more memory";
    case CL_INVALID_BUFFER_SIZE:
        return "the buffer is larger than the device allows";
    case CL_INVALID_KERNEL_ARGS:
    case CL_INVALID_ARG_SIZE:
    case CL_INVALID_ARG_INDEX:
        return "the arguments are not those of the kernel";
    case CL_INVALID_WORK_GROUP_SIZE:
        return "the group has more threads than the device allows";
    case CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST:
        return "something before it failed";
    default:
        return "OpenCL failed";
    }
}

static xy_status_t failed(const xy_gpu_device_t *gpu, cl_int error, const char *doing)
{
    bool is_memory = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
                     error == CL_OUT_OF_HOST_MEMORY || error == CL_INVALID_BUFFER_SIZE;

    return xy_fail(is_memory ? XY_ENOMEM : XY_EIO, "%s cannot %s: %s (error %d)", gpu->info.name,
                   doing, text_of(error), (int)error);
}

static xy_status_t check(const xy_gpu_device_t *gpu, cl_int error, const char *doing)
{
    return error == CL_SUCCESS ? XY_OK : failed(gpu, error, doing);
}

/* ---- Devices ---- */

static uint64_t number_of(cl_device_id device, cl_device_info what)
{
    cl_ulong value = 0;

    cl.clGetDeviceInfo(device, what, sizeof(value), &value, NULL);
    return value;
}

/* Fill in the description of a device; what the implementation does not tell stays empty. */
static void describe(int number, xy_gpu_info_t *info)
{
    cl_device_id device = cl.devices[number];
    char name[256] = "", version[256] = "", driver[256] = "";

    cl.clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name), name, NULL);
    cl.clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof(version), version, NULL);
    cl.clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof(driver), driver, NULL);
    *info = (xy_gpu_info_t){.driver = "opencl", .number = number, .numa = -1};
    snprintf(info->name, sizeof(info->name), "%.127s", name);
    snprintf(info->version, sizeof(info->version), "%.40s, driver %.40s", version, driver);
    info->memory = number_of(device, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->is_cpu = (number_of(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
}

/* Append all devices to `found`; returns why there are none, or "". */
static const char *list(xy_vec_t *found, xy_status_t *status_p)
{
    pthread_once(&cl.once, load);
    if (cl.why != NULL)
        return cl.why;
    for (int i = 0; i < cl.count && *status_p == XY_OK; i++) {
        xy_gpu_info_t info;

        describe(i, &info);
        if (xy_vec_append(found, &info) != XY_OK)
            *status_p = xy_fail_memory("listing GPUs");
    }
    return cl.count > 0 ? "" : "OpenCL has no device";
}

/* Create a context for the device. */
static xy_status_t open_device(xy_gpu_device_t *gpu)
{
    cl_device_id device;
    cl_int error;

    pthread_once(&cl.once, load);
    if (cl.why != NULL || gpu->info.number >= cl.count)
        return xy_fail(XY_EUNSUPPORTED, "%s cannot be used: %s", gpu->info.name,
                       cl.why != NULL ? cl.why : "OpenCL has no such device");
    device = cl.devices[gpu->info.number];
    gpu->device = device;
    gpu->context = cl.clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    return check(gpu, error, "be opened");
}

static void close_device(xy_gpu_device_t *gpu)
{
    cl.clReleaseContext(gpu->context);
}

/* ---- Memory ---- */

static cl_mem buffer_of(xy_gpu_memory_t memory)
{
    return (cl_mem)(uintptr_t)memory;
}

/* OpenCL does not tell what is free. */
static xy_status_t room(xy_gpu_device_t *gpu, uint64_t *bytes_p)
{
    *bytes_p = gpu->info.memory;
    return XY_OK;
}

/* Allocate device memory; a buffer larger than the device allows is reported with that limit. */
static xy_status_t memory_take(xy_gpu_device_t *gpu, uint64_t bytes, xy_gpu_memory_t *memory_p)
{
    uint64_t most = number_of(gpu->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    char need[32], have[32];
    cl_mem buffer;
    cl_int error;

    if (bytes > most)
        return xy_fail(XY_ENOMEM, "%s has no room for %s: one buffer has %s at most",
                       gpu->info.name, xy_format_size(bytes, need), xy_format_size(most, have));
    buffer = cl.clCreateBuffer(gpu->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    if (error == CL_SUCCESS)
        *memory_p = (uintptr_t)buffer;
    return check(gpu, error, "give memory");
}

static void memory_give(xy_gpu_device_t *gpu, xy_gpu_memory_t memory)
{
    (void)gpu;
    cl.clReleaseMemObject(buffer_of(memory));
}

/* A buffer of the implementation that stays mapped. */
static xy_status_t pinned_take(xy_gpu_device_t *gpu, uint64_t bytes, void **address_p,
                               void **handle_p)
{
    cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
    cl_map_flags both = CL_MAP_READ | CL_MAP_WRITE;
    cl_command_queue queue;
    cl_int error;
    cl_mem buffer = cl.clCreateBuffer(gpu->context, flags, bytes, NULL, &error);

    if (error != CL_SUCCESS)
        return failed(gpu, error, "pin memory of the host");
    queue = cl.clCreateCommandQueue(gpu->context, gpu->device, 0, &error);
    if (error == CL_SUCCESS) {
        *address_p =
            cl.clEnqueueMapBuffer(queue, buffer, CL_TRUE, both, 0, bytes, 0, NULL, NULL, &error);
        cl.clReleaseCommandQueue(queue);
    }
    if (error == CL_SUCCESS)
        *handle_p = buffer;
    else
        cl.clReleaseMemObject(buffer);
    return check(gpu, error, "pin memory of the host");
}

static void pinned_give(xy_gpu_device_t *gpu, void *address, void *handle)
{
    cl_int error;
    cl_command_queue queue = cl.clCreateCommandQueue(gpu->context, gpu->device, 0, &error);

    if (error == CL_SUCCESS) {
        cl.clEnqueueUnmapMemObject(queue, handle, address, 0, NULL, NULL);
        cl.clFinish(queue);
        cl.clReleaseCommandQueue(queue);
    }
    cl.clReleaseMemObject(handle);
}

static bool pin(xy_gpu_device_t *gpu, void *address, uint64_t bytes)
{
    (void)gpu, (void)address, (void)bytes;
    return false;
}

static void unpin(xy_gpu_device_t *gpu, void *address)
{
    (void)gpu, (void)address;
}

/* ---- Streams and events ---- */

static xy_status_t stream_create(xy_gpu_stream_t *s)
{
    cl_int error;

    s->native =
        cl.clCreateCommandQueue(s->gpu->context, s->gpu->device, CL_QUEUE_PROFILING_ENABLE, &error);
    return check(s->gpu, error, "create a stream");
}

static void stream_destroy(xy_gpu_stream_t *s)
{
    cl.clReleaseCommandQueue(s->native);
}

static xy_status_t stream_wait(xy_gpu_stream_t *s)
{
    return check(s->gpu, cl.clFinish(s->native), "finish its work");
}

static xy_status_t stream_after(xy_gpu_stream_t *s, const xy_gpu_event_t *e)
{
    cl_event event = e->native;

    if (event == NULL)
        return XY_OK;
    return check(s->gpu, cl.clEnqueueBarrierWithWaitList(s->native, 1, &event, NULL),
                 "synchronize its streams");
}

static xy_status_t event_create(xy_gpu_event_t *e, bool is_timed)
{
    (void)is_timed; /* queues time everything */
    e->native = NULL;
    return XY_OK;
}

static void event_destroy(xy_gpu_event_t *e)
{
    if (e->native != NULL)
        cl.clReleaseEvent(e->native);
}

/* A queue that others wait for must be on its way. */
static xy_status_t event_record(xy_gpu_event_t *e, xy_gpu_stream_t *s)
{
    cl_event event;
    cl_int error = cl.clEnqueueMarkerWithWaitList(s->native, 0, NULL, &event);

    if (error != CL_SUCCESS)
        return failed(e->gpu, error, "record an event");
    event_destroy(e);
    e->native = event;
    return check(e->gpu, cl.clFlush(s->native), "record an event");
}

static xy_status_t event_wait(const xy_gpu_event_t *e)
{
    cl_event event = e->native;

    return event == NULL ? XY_OK
                         : check(e->gpu, cl.clWaitForEvents(1, &event), "wait for an event");
}

static xy_status_t event_is_reached(const xy_gpu_event_t *e, bool *is_reached_p)
{
    cl_int status = CL_COMPLETE, error = CL_SUCCESS;

    if (e->native != NULL)
        error = cl.clGetEventInfo(e->native, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
                                  &status, NULL);
    *is_reached_p = status == CL_COMPLETE;
    return check(e->gpu, status < 0 ? status : error, "wait for an event");
}

static cl_ulong end_of(const xy_gpu_event_t *e, cl_int *error_p)
{
    cl_ulong end = 0;

    *error_p = e->native == NULL ? CL_INVALID_EVENT
                                 : cl.clGetEventProfilingInfo(e->native, CL_PROFILING_COMMAND_END,
                                                              sizeof(end), &end, NULL);
    return end;
}

static xy_status_t event_between(const xy_gpu_event_t *from, const xy_gpu_event_t *to,
                                 double *seconds_p)
{
    cl_int first, second;
    cl_ulong a = end_of(from, &first), b = end_of(to, &second);

    *seconds_p = b >= a ? 1e-9 * (double)(b - a) : -1e-9 * (double)(a - b);
    return check(from->gpu, first != CL_SUCCESS ? first : second, "read the time of an event");
}

/* ---- Copies ---- */

static xy_status_t copy_in(xy_gpu_stream_t *s, xy_gpu_memory_t to, uint64_t offset,
                           const void *from, uint64_t bytes)
{
    cl_int error = cl.clEnqueueWriteBuffer(s->native, buffer_of(to), CL_FALSE, offset, bytes, from,
                                           0, NULL, NULL);

    return check(s->gpu, error, "copy to the device");
}

static xy_status_t copy_out(xy_gpu_stream_t *s, void *to, xy_gpu_memory_t from, uint64_t offset,
                            uint64_t bytes)
{
    cl_int error = cl.clEnqueueReadBuffer(s->native, buffer_of(from), CL_FALSE, offset, bytes, to,
                                          0, NULL, NULL);

    return check(s->gpu, error, "copy to the host");
}

static xy_status_t copy_on(xy_gpu_stream_t *s, xy_gpu_memory_t to, uint64_t to_offset,
                           xy_gpu_memory_t from, uint64_t from_offset, uint64_t bytes)
{
    cl_int error = cl.clEnqueueCopyBuffer(s->native, buffer_of(from), buffer_of(to), from_offset,
                                          to_offset, bytes, 0, NULL, NULL);

    return check(s->gpu, error, "copy in its memory");
}

/* ---- Kernels ---- */

/* Report the build log of a program. */
static xy_status_t fail_build(const xy_gpu_program_t *p)
{
    size_t size = 0;
    char *log = NULL;
    xy_status_t st;

    cl.clGetProgramBuildInfo(p->native, p->gpu->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    log = xy_calloc(size + 1, 1);
    if (log != NULL)
        cl.clGetProgramBuildInfo(p->native, p->gpu->device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    st = gpu_text_fail(p->gpu, p->name, log != NULL ? log : "");
    xy_free(log);
    return st;
}

/* Compile a program; on failure it is released and the compiler errors are reported. */
static xy_status_t program_create(xy_gpu_program_t *p, const char *text)
{
    char *whole = gpu_text_make(gpu_words_opencl, p->name, text);
    const char *source = whole;
    cl_device_id device = p->gpu->device;
    cl_int error;
    xy_status_t st = XY_OK;

    if (whole == NULL)
        return xy_fail_memory("compiling a kernel");
    p->native = cl.clCreateProgramWithSource(p->gpu->context, 1, &source, NULL, &error);
    xy_free(whole);
    if (error != CL_SUCCESS)
        return failed(p->gpu, error, "compile a kernel");
    error = cl.clBuildProgram(p->native, 1, &device, "-cl-std=CL1.2 -w", NULL, NULL);
    if (error == CL_BUILD_PROGRAM_FAILURE)
        st = fail_build(p);
    else if (error != CL_SUCCESS)
        st = failed(p->gpu, error, "compile a kernel");
    if (st != XY_OK)
        cl.clReleaseProgram(p->native);
    return st;
}

static void program_destroy(xy_gpu_program_t *p)
{
    cl.clReleaseProgram(p->native);
}

/* Create a kernel from the program in k->native, which the kernel replaces there. */
static xy_status_t kernel_create(xy_gpu_kernel_t *k, const char *name)
{
    cl_uint count;
    cl_int error;

    k->native = cl.clCreateKernel(k->native, name, &error);
    if (error == CL_INVALID_KERNEL_NAME)
        return xy_fail(XY_ENOENT,
                       "the program has no kernel '%s': write XY_KERNEL %s(...), with a name that "
                       "is not a function of the language itself",
                       name, name);
    if (error == CL_SUCCESS && cl.clGetKernelInfo(k->native, CL_KERNEL_NUM_ARGS, sizeof(count),
                                                  &count, NULL) == CL_SUCCESS)
        k->count = (int)count; /* it compares their sizes by itself */
    return check(k->gpu, error, "find a kernel");
}

static void kernel_destroy(xy_gpu_kernel_t *k)
{
    cl.clReleaseKernel(k->native);
}

static xy_status_t launch(xy_gpu_stream_t *s, xy_gpu_kernel_t *k, const size_t groups[3],
                          const size_t group[3], const xy_gpu_arg_t *args, int count)
{
    size_t threads[3] = {groups[0] * group[0], groups[1] * group[1], groups[2] * group[2]};
    cl_int error = CL_SUCCESS;

    for (int i = 0; i < count && error == CL_SUCCESS; i++)
        error = cl.clSetKernelArg(k->native, (cl_uint)i, args[i].size, args[i].value);
    if (error == CL_SUCCESS)
        error =
            cl.clEnqueueNDRangeKernel(s->native, k->native, 3, NULL, threads, group, 0, NULL, NULL);
    return check(s->gpu, error, "launch a kernel");
}

const gpu_driver_t gpu_driver_opencl = {
    .name = "opencl",
    .describe = "devices of all vendors, through the OpenCL loader",
    .list = list,
    .open = open_device,
    .close = close_device,
    .room = room,
    .memory_take = memory_take,
    .memory_give = memory_give,
    .pinned_take = pinned_take,
    .pinned_give = pinned_give,
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

#else

static const char *list(xy_vec_t *found, xy_status_t *status_p)
{
    (void)found, (void)status_p;
    return "Xylem was built without the headers of OpenCL (opencl-c-headers)";
}

const gpu_driver_t gpu_driver_opencl = {
    .name = "opencl", .describe = "devices of all vendors; not in this build", .list = list};

#endif
