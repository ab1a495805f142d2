/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of the component. A driver is one file that ends in one table.
 *
 *   gpu.c      devices, and the functions that go to the driver as they are
 *   pinned.c   the pool of pinned memory
 *   gpu_text.c     the words of kernels, messages of compilers
 *   cuda.c     NVIDIA's driver library: devices, memory, streams
 *   nvrtc.c    its compiler
 *   opencl.c   OpenCL through its loader
 *   model.c    a device that only takes virtual time
 */
#ifndef XY_GPU_GPU_INTERNAL_H
#define XY_GPU_GPU_INTERNAL_H

#include <pthread.h>

#include "gpu/gpu.h"

/* A native handle is what the driver calls the thing: CUstream or cl_command_queue, ... */
typedef struct {
    const char *name;
    const char *describe;
    /* Append the devices. "": there are some; else why there is none, static text. */
    const char *(*list)(xy_vec_t *found, xy_status_t *status_p);
    xy_status_t (*open)(xy_gpu_device_t *gpu);
    void (*close)(xy_gpu_device_t *gpu);
    xy_status_t (*room)(xy_gpu_device_t *gpu, uint64_t *bytes_p);
    xy_status_t (*memory_take)(xy_gpu_device_t *gpu, uint64_t bytes, xy_gpu_memory_t *memory_p);
    void (*memory_give)(xy_gpu_device_t *gpu, xy_gpu_memory_t memory);
    bool has_addresses; /* a part of memory is its address and an offset */
    /* *handle_p is for pinned_give. */
    xy_status_t (*pinned_take)(xy_gpu_device_t *gpu, uint64_t bytes, void **address_p,
                               void **handle_p);
    void (*pinned_give)(xy_gpu_device_t *gpu, void *address, void *handle);
    bool is_pinned_shared; /* by all who have opened a device */
    bool (*pin)(xy_gpu_device_t *gpu, void *address, uint64_t bytes);
    void (*unpin)(xy_gpu_device_t *gpu, void *address);
    xy_status_t (*stream_create)(xy_gpu_stream_t *stream);
    void (*stream_destroy)(xy_gpu_stream_t *stream);
    xy_status_t (*stream_wait)(xy_gpu_stream_t *stream);
    xy_status_t (*stream_after)(xy_gpu_stream_t *stream, const xy_gpu_event_t *event);
    xy_status_t (*event_create)(xy_gpu_event_t *event, bool is_timed);
    void (*event_destroy)(xy_gpu_event_t *event);
    xy_status_t (*event_record)(xy_gpu_event_t *event, xy_gpu_stream_t *stream);
    xy_status_t (*event_wait)(const xy_gpu_event_t *event);
    xy_status_t (*event_is_reached)(const xy_gpu_event_t *event, bool *is_reached_p);
    xy_status_t (*event_between)(const xy_gpu_event_t *from, const xy_gpu_event_t *to,
                                 double *seconds_p);
    xy_status_t (*copy_in)(xy_gpu_stream_t *stream, xy_gpu_memory_t to, uint64_t offset,
                           const void *from, uint64_t bytes);
    xy_status_t (*copy_out)(xy_gpu_stream_t *stream, void *to, xy_gpu_memory_t from,
                            uint64_t offset, uint64_t bytes);
    xy_status_t (*copy_on)(xy_gpu_stream_t *stream, xy_gpu_memory_t to, uint64_t to_offset,
                           xy_gpu_memory_t from, uint64_t from_offset, uint64_t bytes);
    xy_status_t (*program_create)(xy_gpu_program_t *program, const char *text);
    void (*program_destroy)(xy_gpu_program_t *program);
    /* It may fill in what is known of the arguments. */
    xy_status_t (*kernel_create)(xy_gpu_kernel_t *kernel, const char *name);
    void (*kernel_destroy)(xy_gpu_kernel_t *kernel);
    xy_status_t (*launch)(xy_gpu_stream_t *stream, xy_gpu_kernel_t *kernel, const size_t groups[3],
                          const size_t group[3], const xy_gpu_arg_t *args, int count);
} gpu_driver_t;

extern const gpu_driver_t gpu_driver_cuda, gpu_driver_opencl, gpu_driver_model;

/* Add a driver that is listed only if XYLEM_GPU_DRIVER names it; there is room for one. */
void gpu_driver_add(const gpu_driver_t *driver);

struct xy_gpu_device {
    const gpu_driver_t *driver;
    xy_gpu_info_t info;
    void *device, *context; /* native */
    int capability;         /* CUDA: 90 is 9.0 */
    bool is_lost;           /* a kernel failed, and nothing works any more */
    void *own;              /* of the driver */
};

struct xy_gpu_stream {
    xy_gpu_device_t *gpu;
    void *native;
};

struct xy_gpu_event {
    xy_gpu_device_t *gpu;
    void *native; /* OpenCL: NULL until it is recorded */
};

struct xy_gpu_program {
    xy_gpu_device_t *gpu;
    const char *name;
    void *native;
};

struct xy_gpu_kernel {
    xy_gpu_device_t *gpu;
    void *native;
    bool is_chained;
    char *name;
    int count;                     /* of its arguments; negative: not known */
    size_t sizes[XY_GPU_ARGS_MAX]; /* of them; 0: not known */
};

/* The NUMA node of a PCI device by its address; -1: not known. */
int gpu_numa_of(const char *pci);

/* pinned.c */
/* The device was opened; is about to be closed. */
xy_status_t gpu_pinned_open(const xy_gpu_device_t *gpu);
void gpu_pinned_close(xy_gpu_device_t *gpu);

/* gpu_text.c */
/* The prelude, the words of one driver and the text, whose lines keep their numbers. The caller
 * frees it; NULL: no memory. */
char *gpu_text_make(const char *words, const char *name, const char *text);
/* XY_EPARSE with the first error of a compiler's log. */
xy_status_t gpu_text_fail(const xy_gpu_device_t *gpu, const char *name, const char *log);
extern const char gpu_words_cuda[], gpu_words_opencl[];

/* A function of a driver library, and where its address goes. */
typedef struct {
    void **to;
    const char *symbol;
} gpu_symbol_t;

/* False: one of them is not there. */
bool gpu_symbols_find(void *library, const gpu_symbol_t *list, size_t count);

/* nvrtc.c */
/* Compile for a compute capability. The caller frees *image_p, which cuModuleLoadData takes. */
xy_status_t gpu_nvrtc_compile(const xy_gpu_device_t *gpu, const char *name, const char *text,
                              char **image_p);

#endif
