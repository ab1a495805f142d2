/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An OpenCL device for tests, on which everything happens as late as it may. What is put into a
 * stream is only written down. When the caller waits for something, streams take turns at random,
 * and events alone order what is in different ones, until that has happened. Code that forgot to
 * wait for something then sooner or later finds it not done, which on a device of cores it hardly
 * ever does.
 */
#include "late.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/gpu_internal.h"

typedef enum { LATE_IN, LATE_OUT, LATE_ON, LATE_LAUNCH, LATE_AFTER } late_kind_t;

enum { VALUES_MAX = 1024 };

typedef struct late_stream late_stream_t;

/* Something that was put into a stream. */
typedef struct {
    late_kind_t kind;
    xy_gpu_memory_t to, from;
    uint64_t to_offset, from_offset, bytes;
    void *host;
    const void *read; /* likewise, for LATE_IN */
    xy_gpu_kernel_t *kernel;
    size_t groups[3], group[3];
    xy_gpu_arg_t args[XY_GPU_ARGS_MAX]; /* the values point into `values` once it is done */
    size_t at[XY_GPU_ARGS_MAX];
    char values[VALUES_MAX];
    int count;
    const late_stream_t *other; /* LATE_AFTER: until it has done so many */
    uint64_t number;
} late_op_t;

struct late_stream {
    xy_gpu_stream_t inner; /* of OpenCL */
    xy_vec_t ops;          /* of late_op_t */
    size_t done;           /* of them */
};

/* An event: the stream has done so many. */
typedef struct {
    late_stream_t *stream; /* NULL: it was not recorded */
    uint64_t number;
} late_event_t;

/* Of a device. */
typedef struct {
    xy_vec_t streams; /* of late_stream_t * */
    uint64_t seed;
} late_device_t;

static const gpu_driver_t *const cl = &gpu_driver_opencl;

/* ---- Doing it ---- */

static bool is_blocked(const late_stream_t *s)
{
    const late_op_t *op;

    if (s->done == s->ops.count)
        return true;
    op = &XY_VEC_AT(&s->ops, late_op_t, s->done);
    return op->kind == LATE_AFTER && op->other->done < op->number;
}

static xy_status_t perform(late_stream_t *s, late_op_t *op)
{
    xy_gpu_stream_t *stream = &s->inner;
    xy_status_t st = XY_OK;

    switch (op->kind) {
    case LATE_IN:
        st = cl->copy_in(stream, op->to, op->to_offset, op->read, op->bytes);
        break;
    case LATE_OUT:
        st = cl->copy_out(stream, op->host, op->from, op->from_offset, op->bytes);
        break;
    case LATE_ON:
        st = cl->copy_on(stream, op->to, op->to_offset, op->from, op->from_offset, op->bytes);
        break;
    case LATE_LAUNCH:
        for (int i = 0; i < op->count; i++)
            op->args[i].value = op->values + op->at[i];
        st = cl->launch(stream, op->kernel, op->groups, op->group, op->args, op->count);
        break;
    default:
        return XY_OK;
    }
    return st == XY_OK ? cl->stream_wait(stream) : st;
}

/* One thing of one stream that has something to do; *is_idle_p: none has. */
static xy_status_t step(xy_gpu_device_t *gpu, bool *is_idle_p)
{
    late_device_t *d = gpu->own;
    size_t n = d->streams.count, first = n > 0 ? (xy_random(&d->seed) >> 33) % n : 0;

    for (size_t i = 0; i < n; i++) {
        late_stream_t *s = XY_VEC_AT(&d->streams, late_stream_t *, (first + i) % n);

        if (is_blocked(s))
            continue;
        *is_idle_p = false;
        s->done++;
        return perform(s, &XY_VEC_AT(&s->ops, late_op_t, s->done - 1));
    }
    *is_idle_p = true;
    return XY_OK;
}

static xy_status_t until(xy_gpu_device_t *gpu, const late_stream_t *s, uint64_t number)
{
    bool is_idle = false;
    xy_status_t st = XY_OK;

    while (s->done < number && st == XY_OK && !is_idle)
        st = step(gpu, &is_idle);
    return st == XY_OK && s->done < number
               ? xy_fail(XY_EIO, "%s: streams wait for each other", gpu->info.name)
               : st;
}

/* ---- Devices ---- */

static const char *list(xy_vec_t *found, xy_status_t *status_p)
{
    size_t before = found->count;
    const char *why = cl->list(found, status_p);

    for (size_t i = before; i < found->count; i++)
        XY_VEC_AT(found, xy_gpu_info_t, i).driver = "late";
    return why;
}

static xy_status_t open_device(xy_gpu_device_t *gpu)
{
    late_device_t *d = xy_calloc(1, sizeof(*d));
    xy_status_t st = d != NULL ? cl->open(gpu) : xy_fail_memory("opening a GPU");

    if (st != XY_OK) {
        xy_free(d);
        return st;
    }
    d->streams = (xy_vec_t)XY_VEC_INIT(late_stream_t *);
    d->seed = 1;
    gpu->own = d;
    return XY_OK;
}

static void close_device(xy_gpu_device_t *gpu)
{
    late_device_t *d = gpu->own;

    cl->close(gpu);
    xy_vec_cleanup(&d->streams);
    xy_free(d);
}

/* ---- Streams and events ---- */

static xy_status_t stream_create(xy_gpu_stream_t *stream)
{
    late_device_t *d = stream->gpu->own;
    late_stream_t *s = xy_calloc(1, sizeof(*s));
    xy_status_t st = XY_OK;

    if (s == NULL || xy_vec_append(&d->streams, &s) != XY_OK) {
        xy_free(s);
        return xy_fail_memory("making a stream");
    }
    s->ops = (xy_vec_t)XY_VEC_INIT(late_op_t);
    s->inner.gpu = stream->gpu;
    st = cl->stream_create(&s->inner);
    if (st != XY_OK) {
        xy_vec_pop(&d->streams);
        xy_free(s);
        return st;
    }
    stream->native = s;
    return XY_OK;
}

static void stream_destroy(xy_gpu_stream_t *stream)
{
    late_device_t *d = stream->gpu->own;
    late_stream_t *s = stream->native, **all = d->streams.data;
    size_t kept = 0;

    for (size_t i = 0; i < d->streams.count; i++)
        if (all[i] != s)
            all[kept++] = all[i];
    d->streams.count = kept;
    cl->stream_destroy(&s->inner);
    xy_vec_cleanup(&s->ops);
    xy_free(s);
}

static xy_status_t stream_wait(xy_gpu_stream_t *stream)
{
    const late_stream_t *s = stream->native;

    return until(stream->gpu, s, s->ops.count);
}

static xy_status_t put(xy_gpu_stream_t *stream, const late_op_t *op)
{
    late_stream_t *s = stream->native;

    return xy_vec_append(&s->ops, op) == XY_OK ? XY_OK : xy_fail_memory("filling a stream");
}

static xy_status_t stream_after(xy_gpu_stream_t *stream, const xy_gpu_event_t *event)
{
    const late_event_t *e = event->native;

    if (e->stream == NULL)
        return XY_OK;
    return put(stream, &(late_op_t){.kind = LATE_AFTER, .other = e->stream, .number = e->number});
}

static xy_status_t event_create(xy_gpu_event_t *event, bool is_timed)
{
    (void)is_timed;
    event->native = xy_calloc(1, sizeof(late_event_t));
    return event->native != NULL ? XY_OK : xy_fail_memory("making an event");
}

static void event_destroy(xy_gpu_event_t *event)
{
    xy_free(event->native);
}

static xy_status_t event_record(xy_gpu_event_t *event, xy_gpu_stream_t *stream)
{
    late_stream_t *s = stream->native;

    *(late_event_t *)event->native = (late_event_t){s, s->ops.count};
    return XY_OK;
}

static xy_status_t event_wait(const xy_gpu_event_t *event)
{
    const late_event_t *e = event->native;

    return e->stream == NULL ? XY_OK : until(event->gpu, e->stream, e->number);
}

/* A poll sees something happen now and then, or it would poll for ever. */
static xy_status_t event_is_reached(const xy_gpu_event_t *event, bool *is_reached_p)
{
    const late_event_t *e = event->native;
    late_device_t *d = event->gpu->own;
    bool is_idle = false;
    xy_status_t st = XY_OK;

    for (uint64_t n = xy_random(&d->seed) >> 61; n > 0 && st == XY_OK && !is_idle; n--)
        st = step(event->gpu, &is_idle);
    *is_reached_p = e->stream == NULL || e->stream->done >= e->number;
    return st;
}

/* Its clock counts what was done. */
static xy_status_t event_between(const xy_gpu_event_t *from, const xy_gpu_event_t *to,
                                 double *seconds_p)
{
    const late_event_t *a = from->native, *b = to->native;

    *seconds_p = 1e-6 * ((double)b->number - (double)a->number);
    return XY_OK;
}

/* ---- Copies and kernels ---- */

static xy_status_t copy_in(xy_gpu_stream_t *stream, xy_gpu_memory_t to, uint64_t offset,
                           const void *from, uint64_t bytes)
{
    return put(
        stream,
        &(late_op_t){.kind = LATE_IN, .to = to, .to_offset = offset, .read = from, .bytes = bytes});
}

static xy_status_t copy_out(xy_gpu_stream_t *stream, void *to, xy_gpu_memory_t from,
                            uint64_t offset, uint64_t bytes)
{
    return put(
        stream,
        &(late_op_t){
            .kind = LATE_OUT, .from = from, .from_offset = offset, .host = to, .bytes = bytes});
}

static xy_status_t copy_on(xy_gpu_stream_t *stream, xy_gpu_memory_t to, uint64_t to_offset,
                           xy_gpu_memory_t from, uint64_t from_offset, uint64_t bytes)
{
    return put(stream, &(late_op_t){.kind = LATE_ON,
                                    .to = to,
                                    .to_offset = to_offset,
                                    .from = from,
                                    .from_offset = from_offset,
                                    .bytes = bytes});
}

static xy_status_t launch(xy_gpu_stream_t *stream, xy_gpu_kernel_t *kernel, const size_t groups[3],
                          const size_t group[3], const xy_gpu_arg_t *args, int count)
{
    late_op_t op = {.kind = LATE_LAUNCH, .kernel = kernel, .count = count};
    size_t used = 0;

    memcpy(op.groups, groups, sizeof(op.groups));
    memcpy(op.group, group, sizeof(op.group));
    for (int i = 0; i < count; i++) {
        if (used + args[i].size > VALUES_MAX)
            return xy_fail(XY_ELIMIT, "the arguments of a kernel have more than %d bytes",
                           VALUES_MAX);
        op.args[i].size = args[i].size;
        op.at[i] = used;
        memcpy(op.values + used, args[i].value, args[i].size);
        used += (args[i].size + 7) / 8 * 8;
    }
    return put(stream, &op);
}

/* The rest is OpenCL's. */
static xy_status_t room(xy_gpu_device_t *gpu, uint64_t *bytes_p)
{
    return cl->room(gpu, bytes_p);
}

static xy_status_t memory_take(xy_gpu_device_t *gpu, uint64_t bytes, xy_gpu_memory_t *memory_p)
{
    return cl->memory_take(gpu, bytes, memory_p);
}

static void memory_give(xy_gpu_device_t *gpu, xy_gpu_memory_t memory)
{
    cl->memory_give(gpu, memory);
}

static xy_status_t pinned_take(xy_gpu_device_t *gpu, uint64_t bytes, void **address_p,
                               void **handle_p)
{
    return cl->pinned_take(gpu, bytes, address_p, handle_p);
}

static void pinned_give(xy_gpu_device_t *gpu, void *address, void *handle)
{
    cl->pinned_give(gpu, address, handle);
}

static bool pin(xy_gpu_device_t *gpu, void *address, uint64_t bytes)
{
    return cl->pin(gpu, address, bytes);
}

static void unpin(xy_gpu_device_t *gpu, void *address)
{
    cl->unpin(gpu, address);
}

static xy_status_t program_create(xy_gpu_program_t *program, const char *text)
{
    return cl->program_create(program, text);
}

static void program_destroy(xy_gpu_program_t *program)
{
    cl->program_destroy(program);
}

static xy_status_t kernel_create(xy_gpu_kernel_t *kernel, const char *name)
{
    return cl->kernel_create(kernel, name);
}

static void kernel_destroy(xy_gpu_kernel_t *kernel)
{
    cl->kernel_destroy(kernel);
}

static const gpu_driver_t driver = {
    .name = "late",
    .describe = "OpenCL, with everything as late as it may be",
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

void testing_use_late(void)
{
    gpu_driver_add(&driver);
    setenv("XYLEM_GPU_DRIVER", "late", 1);
}
