/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu_internal.h"

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
/* Drivers and their compilers keep memory to the end, also what their own threads allocate. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
    return "leak:libpocl\nleak:libLLVM\nleak:libOpenCL\nleak:libcuda\nleak:libnvrtc\n";
}
#endif

bool gpu_symbols_find(void *library, const gpu_symbol_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *list[i].to = dlsym(library, list[i].symbol);
        if (*list[i].to == NULL)
            return false;
    }
    return true;
}

/* In this order: a device that two drivers know belongs to the first. The last ones are no devices
 * of this machine: a model, which is opened and not listed, and one that was added. */
static const gpu_driver_t *drivers[] = {&gpu_driver_cuda, &gpu_driver_opencl, &gpu_driver_model,
                                        NULL};
enum { DRIVERS = 2, ADDED = sizeof(drivers) / sizeof(drivers[0]) - 1 };

static const char *state[DRIVERS];

void gpu_driver_add(const gpu_driver_t *driver)
{
    drivers[ADDED] = driver;
}

/* The driver of that name among the first ones, or the one that was added; NULL: none. */
static const gpu_driver_t *find_driver(const char *name, int first)
{
    for (int i = 0; i <= ADDED; i++)
        if ((i < first || i == ADDED) && drivers[i] != NULL && strcmp(drivers[i]->name, name) == 0)
            return drivers[i];
    return NULL;
}

/* ---- What there is ---- */

int gpu_numa_of(const char *pci)
{
    char path[96], text[16] = "";
    FILE *file;
    long node = -1;

    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/numa_node", pci);
    file = pci[0] != '\0' ? fopen(path, "r") : NULL;
    if (file == NULL)
        return -1;
    if (fgets(text, sizeof(text), file) != NULL)
        text[strcspn(text, "\n")] = '\0';
    fclose(file);
    return xy_parse_long(text, &node) ? (int)node : -1;
}

/* Another driver has listed it before: the same address, or, where one does not tell, the name. */
static bool is_known(const xy_vec_t *found, size_t before, const xy_gpu_info_t *info)
{
    for (size_t i = 0; i < before; i++) {
        const xy_gpu_info_t *other = &XY_VEC_AT(found, xy_gpu_info_t, i);
        bool is_told = other->pci[0] != '\0' && info->pci[0] != '\0';

        if (is_told ? strcmp(other->pci, info->pci) == 0 : strcmp(other->name, info->name) == 0)
            return true;
    }
    return false;
}

static void keep_wanted(xy_vec_t *found, size_t before, bool is_named)
{
    xy_gpu_info_t *list = found->data;
    size_t kept = before;

    for (size_t i = before; i < found->count; i++)
        if ((is_named || !list[i].is_cpu) && !is_known(found, before, &list[i]))
            list[kept++] = list[i];
    found->count = kept;
}

static xy_status_t check_name(const char *name)
{
    return strcmp(name, "none") == 0 || find_driver(name, DRIVERS) != NULL
               ? XY_OK
               : xy_fail(XY_EINVAL, "XYLEM_GPU_DRIVER=%s is not a driver; use cuda, opencl or none",
                         name);
}

xy_status_t xy_gpu_list(xy_vec_t *found_p)
{
    const char *name = getenv("XYLEM_GPU_DRIVER");
    bool is_named = name != NULL && name[0] != '\0';
    xy_vec_t found = XY_VEC_INIT(xy_gpu_info_t);
    xy_status_t st = is_named ? check_name(name) : XY_OK;

    for (int i = 0; i <= ADDED && st == XY_OK; i++) {
        size_t before = found.count;
        const char *why = "another driver was requested";
        bool is_listed = i < DRIVERS || (i == ADDED && is_named && drivers[i] != NULL);

        if (is_listed && (!is_named || strcmp(drivers[i]->name, name) == 0)) {
            why = drivers[i]->list(&found, &st);
            keep_wanted(&found, before, is_named);
        }
        if (i < DRIVERS)
            state[i] = why;
    }
    if (st == XY_OK)
        *found_p = found;
    else
        xy_vec_cleanup(&found);
    return st;
}

bool xy_gpu_driver_state(size_t i, const char **name_p, const char **why_p)
{
    if (i >= DRIVERS)
        return false;
    *name_p = drivers[i]->name;
    *why_p = state[i] != NULL ? state[i] : "";
    return true;
}

/* ---- A device ---- */

xy_status_t xy_gpu_open(const xy_gpu_info_t *info, xy_gpu_device_t **gpu_p)
{
    xy_gpu_device_t *gpu = xy_calloc(1, sizeof(*gpu));
    xy_status_t st;

    if (gpu == NULL)
        return xy_fail_memory("opening a GPU");
    gpu->info = *info;
    gpu->driver = find_driver(info->driver, ADDED);
    st = gpu->driver->open(gpu);
    if (st == XY_OK) {
        st = gpu_pinned_open(gpu);
        if (st != XY_OK)
            gpu->driver->close(gpu);
    }
    if (st == XY_OK) {
        *gpu_p = gpu;
        return XY_OK;
    }
    xy_free(gpu);
    return st;
}

void xy_gpu_close(xy_gpu_device_t *gpu)
{
    if (gpu == NULL)
        return;
    gpu_pinned_close(gpu);
    gpu->driver->close(gpu);
    xy_free(gpu);
}

const xy_gpu_info_t *xy_gpu_info(const xy_gpu_device_t *gpu)
{
    return &gpu->info;
}

xy_status_t xy_gpu_room(xy_gpu_device_t *gpu, uint64_t *bytes_p)
{
    return gpu->driver->room(gpu, bytes_p);
}

xy_status_t xy_gpu_memory_take(xy_gpu_device_t *gpu, uint64_t bytes, xy_gpu_memory_t *memory_p)
{
    return gpu->driver->memory_take(gpu, bytes, memory_p);
}

void xy_gpu_memory_give(xy_gpu_device_t *gpu, xy_gpu_memory_t memory)
{
    if (memory != 0)
        gpu->driver->memory_give(gpu, memory);
}

static const uint64_t ROW_GRAIN = 512; /* as drivers align what they give */

xy_status_t xy_gpu_memory_take_row(xy_gpu_device_t *gpu, uint64_t bytes, size_t count,
                                   xy_gpu_memory_t *memories)
{
    uint64_t stride = (bytes + ROW_GRAIN - 1) / ROW_GRAIN * ROW_GRAIN;
    xy_status_t st = XY_OK;
    size_t n = 0;

    if (gpu->driver->has_addresses && count > 0) {
        st = xy_gpu_memory_take(gpu, stride * count, &memories[0]);
        for (size_t i = 1; i < count && st == XY_OK; i++)
            memories[i] = memories[0] + i * stride;
        return st;
    }
    for (; n < count && st == XY_OK; n++)
        st = xy_gpu_memory_take(gpu, bytes, &memories[n]);
    if (st != XY_OK)
        xy_gpu_memory_give_row(gpu, memories, n - 1);
    return st;
}

void xy_gpu_memory_give_row(xy_gpu_device_t *gpu, const xy_gpu_memory_t *memories, size_t count)
{
    if (gpu->driver->has_addresses && count > 1)
        count = 1;
    for (size_t i = 0; i < count; i++)
        xy_gpu_memory_give(gpu, memories[i]);
}

bool xy_gpu_pin(xy_gpu_device_t *gpu, void *address, uint64_t bytes)
{
    return gpu->driver->pin(gpu, address, bytes);
}

void xy_gpu_unpin(xy_gpu_device_t *gpu, void *address)
{
    gpu->driver->unpin(gpu, address);
}

/* ---- Streams and events ---- */

xy_status_t xy_gpu_stream_create(xy_gpu_device_t *gpu, xy_gpu_stream_t **stream_p)
{
    xy_gpu_stream_t *s = xy_calloc(1, sizeof(*s));
    xy_status_t st;

    if (s == NULL)
        return xy_fail_memory("making a stream of a GPU");
    s->gpu = gpu;
    st = gpu->driver->stream_create(s);
    if (st == XY_OK)
        *stream_p = s;
    else
        xy_free(s);
    return st;
}

void xy_gpu_stream_destroy(xy_gpu_stream_t *stream)
{
    if (stream == NULL)
        return;
    stream->gpu->driver->stream_destroy(stream);
    xy_free(stream);
}

xy_status_t xy_gpu_stream_wait(xy_gpu_stream_t *stream)
{
    return stream->gpu->driver->stream_wait(stream);
}

xy_status_t xy_gpu_stream_after(xy_gpu_stream_t *stream, const xy_gpu_event_t *event)
{
    return stream->gpu->driver->stream_after(stream, event);
}

xy_status_t xy_gpu_event_create(xy_gpu_device_t *gpu, bool is_timed, xy_gpu_event_t **event_p)
{
    xy_gpu_event_t *e = xy_calloc(1, sizeof(*e));
    xy_status_t st;

    if (e == NULL)
        return xy_fail_memory("making an event of a GPU");
    e->gpu = gpu;
    st = gpu->driver->event_create(e, is_timed);
    if (st == XY_OK)
        *event_p = e;
    else
        xy_free(e);
    return st;
}

void xy_gpu_event_destroy(xy_gpu_event_t *event)
{
    if (event == NULL)
        return;
    event->gpu->driver->event_destroy(event);
    xy_free(event);
}

xy_status_t xy_gpu_event_record(xy_gpu_event_t *event, xy_gpu_stream_t *stream)
{
    return event->gpu->driver->event_record(event, stream);
}

xy_status_t xy_gpu_event_wait(const xy_gpu_event_t *event)
{
    return event->gpu->driver->event_wait(event);
}

xy_status_t xy_gpu_event_is_reached(const xy_gpu_event_t *event, bool *is_reached_p)
{
    return event->gpu->driver->event_is_reached(event, is_reached_p);
}

xy_status_t xy_gpu_event_between(const xy_gpu_event_t *from, const xy_gpu_event_t *to,
                                 double *seconds_p)
{
    return from->gpu->driver->event_between(from, to, seconds_p);
}

/* ---- Copies ---- */

xy_status_t xy_gpu_copy_in(xy_gpu_stream_t *stream, xy_gpu_memory_t to, uint64_t offset,
                           const void *from, uint64_t bytes)
{
    return stream->gpu->driver->copy_in(stream, to, offset, from, bytes);
}

xy_status_t xy_gpu_copy_out(xy_gpu_stream_t *stream, void *to, xy_gpu_memory_t from,
                            uint64_t offset, uint64_t bytes)
{
    return stream->gpu->driver->copy_out(stream, to, from, offset, bytes);
}

xy_status_t xy_gpu_copy_on(xy_gpu_stream_t *stream, xy_gpu_memory_t to, uint64_t to_offset,
                           xy_gpu_memory_t from, uint64_t from_offset, uint64_t bytes)
{
    return stream->gpu->driver->copy_on(stream, to, to_offset, from, from_offset, bytes);
}

/* ---- Kernels ---- */

xy_status_t xy_gpu_program_create(xy_gpu_device_t *gpu, const char *name, const char *text,
                                  xy_gpu_program_t **program_p)
{
    xy_gpu_program_t *p = xy_calloc(1, sizeof(*p));
    xy_status_t st;

    if (p == NULL)
        return xy_fail_memory("compiling a kernel");
    p->gpu = gpu;
    p->name = name;
    st = gpu->driver->program_create(p, text);
    p->name = NULL;
    if (st == XY_OK)
        *program_p = p;
    else
        xy_free(p);
    return st;
}

void xy_gpu_program_destroy(xy_gpu_program_t *program)
{
    if (program == NULL)
        return;
    program->gpu->driver->program_destroy(program);
    xy_free(program);
}

xy_status_t xy_gpu_kernel_create(xy_gpu_program_t *program, const char *name,
                                 xy_gpu_kernel_t **kernel_p)
{
    xy_gpu_kernel_t *k = xy_calloc(1, sizeof(*k));
    char *copy = k != NULL ? xy_sprintf("%s", name) : NULL;
    xy_status_t st;

    if (copy == NULL) {
        xy_free(k);
        return xy_fail_memory("finding a kernel");
    }
    *k = (xy_gpu_kernel_t){
        .gpu = program->gpu, .native = program->native, .name = copy, .count = -1};
    st = program->gpu->driver->kernel_create(k, name);
    if (st == XY_OK) {
        *kernel_p = k;
        return XY_OK;
    }
    xy_free(copy);
    xy_free(k);
    return st;
}

void xy_gpu_kernel_destroy(xy_gpu_kernel_t *kernel)
{
    if (kernel == NULL)
        return;
    kernel->gpu->driver->kernel_destroy(kernel);
    xy_free(kernel->name);
    xy_free(kernel);
}

void xy_gpu_kernel_chain(xy_gpu_kernel_t *kernel)
{
    kernel->is_chained = true;
}

/* Drivers take what lies behind the last value for those that are missing. */
static xy_status_t check_arguments(const xy_gpu_kernel_t *k, const xy_gpu_arg_t *args, int count)
{
    if (count > XY_GPU_ARGS_MAX)
        return xy_fail(XY_ELIMIT, "a kernel with %d arguments; at most %d are passed", count,
                       XY_GPU_ARGS_MAX);
    if (k->count >= 0 && k->count != count)
        return xy_fail(
            XY_EINVAL,
            "kernel '%s' takes %d arguments, and %d were given: data in the order of the "
            "accesses, then values",
            k->name, k->count, count);
    for (int i = 0; i < count && k->count >= 0; i++)
        if (k->sizes[i] > 0 && k->sizes[i] != args[i].size)
            return xy_fail(XY_EINVAL,
                           "argument %d of kernel '%s' takes %zu bytes, and %zu were given", i + 1,
                           k->name, k->sizes[i], args[i].size);
    return XY_OK;
}

xy_status_t xy_gpu_launch(xy_gpu_stream_t *stream, xy_gpu_kernel_t *kernel, const size_t threads[3],
                          const size_t group[3], const xy_gpu_arg_t *args, int count)
{
    size_t groups[3];
    xy_status_t st = check_arguments(kernel, args, count);

    if (st != XY_OK)
        return st;
    for (int i = 0; i < 3; i++)
        groups[i] = (threads[i] + group[i] - 1) / group[i];
    return stream->gpu->driver->launch(stream, kernel, groups, group, args, count);
}

void *xy_gpu_native_context(const xy_gpu_device_t *gpu)
{
    return gpu->context;
}

void *xy_gpu_native_stream(const xy_gpu_stream_t *stream)
{
    return stream->native;
}
