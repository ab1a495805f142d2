/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accelerators, found and driven at run time: the driver libraries are loaded when they are first
 * asked for, and a machine without them has no devices.
 *
 *   xy_vec_t found;                                       (of xy_gpu_info_t)
 *   st = xy_gpu_list(&found);
 *   st = xy_gpu_open(&XY_VEC_AT(&found, xy_gpu_info_t, 0), &gpu);
 *   st = xy_gpu_program_create(gpu, "scale.cl", text, &program);
 *   st = xy_gpu_kernel_create(program, "scale", &kernel);
 *   st = xy_gpu_memory_take(gpu, bytes, &memory);
 *   st = xy_gpu_stream_create(gpu, &stream);
 *   st = xy_gpu_copy_in(stream, memory, 0, x, bytes);     (returns before it is done, if x is
 *   xy_gpu_arg_t args[] = {XY_GPU_ARG(memory), XY_GPU_ARG(n)};                    pinned)
 *   st = xy_gpu_launch(stream, kernel, (size_t[3]){n, 1, 1}, (size_t[3]){64, 1, 1}, args, 2);
 *   st = xy_gpu_copy_out(stream, x, memory, 0, bytes);
 *   st = xy_gpu_stream_wait(stream);
 *
 * Kernels are one text for all drivers, written with a few words that all drivers know
 * (gpu_text.c):
 *
 *   XY_KERNEL scale(XY_GLOBAL double *x, long n)
 *   {
 *       long i = XY_ID(0);
 *       if (i < n)
 *           x[i] = 2 * x[i];
 *   }
 *
 * Products and sums are not contracted: the same operations give the same bits as on a CPU with
 * IEEE arithmetic. A text of the user in the driver's own language works as well.
 *
 * The operations of a stream run in order; streams run at the same time. An event is a point of a
 * stream that other streams, or the caller, wait for.
 *
 * Any thread, but one at a time for one stream, kernel or event. Only the functions named "wait"
 * block, and a copy of memory that is not pinned. The primary context of a CUDA device is the
 * current one of the calling thread afterwards: it is the one that the CUDA runtime uses, too.
 * Failures are reported in one line. After an error of the device itself everything on it fails.
 */
#ifndef XY_GPU_GPU_H
#define XY_GPU_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

typedef struct xy_gpu_device xy_gpu_device_t;
typedef struct xy_gpu_stream xy_gpu_stream_t;
typedef struct xy_gpu_event xy_gpu_event_t;
typedef struct xy_gpu_program xy_gpu_program_t;
typedef struct xy_gpu_kernel xy_gpu_kernel_t;

/* ---- What there is ---- */

typedef struct {
    const char *driver; /* "cuda", "opencl" */
    int number;         /* among the devices of the driver */
    char name[128];     /* "NVIDIA H200" */
    char version[96];   /* of the driver */
    char pci[32];       /* "0000:1b:00.0"; "": not known */
    uint64_t memory;    /* bytes */
    int numa;           /* NUMA node that it is near; -1: not known */
    bool is_cpu;        /* an OpenCL device made of cores */
} xy_gpu_info_t;

/* The devices of all drivers, or of the one that XYLEM_GPU_DRIVER names ("none": no driver is
 * looked for). A device that is made of cores is listed only if its driver was named. A device
 * that two drivers know is listed once. *found_p (of xy_gpu_info_t) is the caller's. XY_OK with
 * none; XY_EINVAL: no such driver. XY_ENOMEM. */
xy_status_t xy_gpu_list(xy_vec_t *found_p);
/* Why a driver has no device: "libcuda.so.1 is not installed"; "": it has some. For number `i`
 * of the drivers; false: no more. After xy_gpu_list. */
bool xy_gpu_driver_state(size_t i, const char **name_p, const char **why_p);

/* ---- A device ---- */

/* XY_EUNSUPPORTED, XY_EIO, XY_ENOMEM. */
xy_status_t xy_gpu_open(const xy_gpu_info_t *info, xy_gpu_device_t **gpu_p);
/* Everything made with it is gone before. NULL is fine. */
void xy_gpu_close(xy_gpu_device_t *gpu);
const xy_gpu_info_t *xy_gpu_info(const xy_gpu_device_t *gpu);
/* Bytes that a process can still take; about as many. */
xy_status_t xy_gpu_room(xy_gpu_device_t *gpu, uint64_t *bytes_p);

/* ---- Memory ---- */

/* A CUdeviceptr or a cl_mem. 0: none, a null pointer for kernels. */
typedef uint64_t xy_gpu_memory_t;

/* XY_ENOMEM: the device has no more, which is reported with what it has. */
xy_status_t xy_gpu_memory_take(xy_gpu_device_t *gpu, uint64_t bytes, xy_gpu_memory_t *memory_p);
void xy_gpu_memory_give(xy_gpu_device_t *gpu, xy_gpu_memory_t memory); /* 0 is fine */
/* So many pieces of one size at once, which is far quicker where memory has addresses: a driver
 * takes long for each. They are given back together. */
xy_status_t xy_gpu_memory_take_row(xy_gpu_device_t *gpu, uint64_t bytes, size_t count,
                                   xy_gpu_memory_t *memories);
void xy_gpu_memory_give_row(xy_gpu_device_t *gpu, const xy_gpu_memory_t *memories, size_t count);

/* Host memory that a device reads and writes by itself. Taking it from the system takes long (about
 * half a second per GiB), so what is given back is kept for the next one until the device is
 * closed. */
xy_status_t xy_gpu_pinned_take(xy_gpu_device_t *gpu, uint64_t bytes, void **address_p);
void xy_gpu_pinned_give(xy_gpu_device_t *gpu, void *address); /* NULL is fine */
/* Pin memory that the caller has. false: this driver or system cannot, in silence; copies of it
 * then work too, but slower. */
bool xy_gpu_pin(xy_gpu_device_t *gpu, void *address, uint64_t bytes);
void xy_gpu_unpin(xy_gpu_device_t *gpu, void *address);

/* ---- Streams and events ---- */

xy_status_t xy_gpu_stream_create(xy_gpu_device_t *gpu, xy_gpu_stream_t **stream_p);
void xy_gpu_stream_destroy(xy_gpu_stream_t *stream); /* after its end; NULL is fine */
/* Wait until all work of the stream is complete. */
xy_status_t xy_gpu_stream_wait(xy_gpu_stream_t *stream);
/* Later work of the stream comes after the event. */
xy_status_t xy_gpu_stream_after(xy_gpu_stream_t *stream, const xy_gpu_event_t *event);

/* One that is not timed costs the device less. */
xy_status_t xy_gpu_event_create(xy_gpu_device_t *gpu, bool is_timed, xy_gpu_event_t **event_p);
void xy_gpu_event_destroy(xy_gpu_event_t *event); /* NULL is fine */
/* The event is from now on the end of all that the stream holds. */
xy_status_t xy_gpu_event_record(xy_gpu_event_t *event, xy_gpu_stream_t *stream);
xy_status_t xy_gpu_event_wait(const xy_gpu_event_t *event);
/* One that was never recorded is reached. */
xy_status_t xy_gpu_event_is_reached(const xy_gpu_event_t *event, bool *is_reached_p);
/* Seconds by the clock of the device; both are timed and reached. */
xy_status_t xy_gpu_event_between(const xy_gpu_event_t *from, const xy_gpu_event_t *to,
                                 double *seconds_p);

/* ---- Copies ---- */

xy_status_t xy_gpu_copy_in(xy_gpu_stream_t *stream, xy_gpu_memory_t to, uint64_t offset,
                           const void *from, uint64_t bytes);
xy_status_t xy_gpu_copy_out(xy_gpu_stream_t *stream, void *to, xy_gpu_memory_t from,
                            uint64_t offset, uint64_t bytes);
xy_status_t xy_gpu_copy_on(xy_gpu_stream_t *stream, xy_gpu_memory_t to, uint64_t to_offset,
                           xy_gpu_memory_t from, uint64_t from_offset, uint64_t bytes);

/* ---- Kernels ---- */

/* Compile a text; `name` stands for it in messages. XY_EPARSE: the first error of the compiler,
 * with its line. XY_EUNSUPPORTED: there is no compiler. */
xy_status_t xy_gpu_program_create(xy_gpu_device_t *gpu, const char *name, const char *text,
                                  xy_gpu_program_t **program_p);
void xy_gpu_program_destroy(xy_gpu_program_t *program); /* NULL is fine */
/* XY_ENOENT: the text has no such kernel. */
xy_status_t xy_gpu_kernel_create(xy_gpu_program_t *program, const char *name,
                                 xy_gpu_kernel_t **kernel_p);
void xy_gpu_kernel_destroy(xy_gpu_kernel_t *kernel); /* before its program; NULL is fine */
/* The kernel begins with XY_BEGIN, before it reads or writes any memory: its threads may be started
 * while the kernel before it in the stream ends, for whose end they wait there. That hides most of
 * what a launch takes, on devices that can. */
void xy_gpu_kernel_chain(xy_gpu_kernel_t *kernel);

typedef struct {
    const void *value; /* copied by the launch */
    size_t size;
} xy_gpu_arg_t;

#define XY_GPU_ARG(variable) ((xy_gpu_arg_t){&(variable), sizeof(variable)})

enum { XY_GPU_ARGS_MAX = 128 };

/* `threads` in all, in groups of `group`; they are rounded up to whole groups, so a kernel looks at
 * its number. XY_EINVAL: the arguments are not as many, or as large, as the kernel has, where the
 * driver knows (CUDA 12.4 and later; OpenCL). */
xy_status_t xy_gpu_launch(xy_gpu_stream_t *stream, xy_gpu_kernel_t *kernel, const size_t threads[3],
                          const size_t group[3], const xy_gpu_arg_t *args, int count);

/* ---- A GPU that only takes time ---- */

/* Seconds and bytes per second. The host's clock is the caller's, who adds what it does itself;
 * several models may share it. */
typedef struct {
    double *clock;
    uint64_t memory;
    double launch_put, copy_put, event_put; /* of the host: to put it into a stream */
    double delay;                           /* until it can begin */
    double resume; /* from the end of something to the beginning of what waits in another stream */
    double in_latency, out_latency;      /* of each copy */
    double in_rate, out_rate, both_rate; /* both_rate: each way, when both are used at once */
} xy_gpu_model_t;

/* Open one: streams, events and copies take virtual time and move nothing, and it compiles nothing.
 * XY_ENOMEM. */
xy_status_t xy_gpu_model_open(const xy_gpu_model_t *costs, xy_gpu_device_t **gpu_p);
/* A kernel of so many tasks that takes so long, on such a GPU; and the tasks of all that have ended
 * by the clock. */
xy_status_t xy_gpu_model_launch(xy_gpu_stream_t *stream, double seconds, uint64_t tasks);
uint64_t xy_gpu_model_tasks(const xy_gpu_device_t *gpu);

/* ---- For code that calls the driver itself ---- */

void *xy_gpu_native_context(const xy_gpu_device_t *gpu);   /* CUcontext, cl_context */
void *xy_gpu_native_stream(const xy_gpu_stream_t *stream); /* CUstream, cl_command_queue */

#endif
