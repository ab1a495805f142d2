/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A GPU that only takes time. Nothing is computed or copied: what is put into a stream has a
 * duration, and the clocks of host and device are numbers. Code that drives GPUs runs on it as on
 * a real one, decisions and all, and the clock says how long that would take.
 *
 * The device follows the host: before the host does anything it is brought up to the host's clock,
 * and when the host waits, its clock jumps to the moment at which that has happened. One kernel
 * runs at a time, and one copy in each direction; two directions share the link. A stream that
 * waits for another one continues a little after it.
 */
#include <math.h>
#include <string.h>

#include "gpu/gpu_internal.h"

typedef enum { MODEL_KERNEL, MODEL_IN, MODEL_OUT, MODEL_AFTER, MODEL_RECORD } model_kind_t;

enum { ENGINES = 3 }; /* kernels, copies in, copies out: the first three kinds */

typedef struct model_stream model_stream_t;

/* An event: the stream has done so many. */
typedef struct {
    const model_stream_t *stream; /* NULL: it was not recorded */
    uint64_t number;
    double time; /* at which it was reached */
} model_event_t;

typedef struct {
    model_kind_t kind;
    double ready;                /* when it could begin */
    double seconds;              /* that do not depend on the link */
    double bytes;                /* on the link, after that */
    uint64_t tasks;              /* of a kernel */
    const model_stream_t *other; /* MODEL_AFTER: until it has done so many, */
    uint64_t number;
    bool is_held;         /* and it had not when the stream came here */
    model_event_t *event; /* MODEL_RECORD */
} model_op_t;

struct model_stream {
    model_op_t *ops; /* a ring */
    uint64_t room, done, put;
    bool is_running; /* the first that is not done */
};

typedef struct {
    xy_gpu_model_t costs;
    double now;        /* of what has happened; the host's clock is not before it, */
    double next;       /* and nothing happens by itself before this */
    uint64_t memories; /* bytes given out so far */
    uint64_t tasks;    /* of kernels that have ended */
    xy_vec_t streams;  /* of model_stream_t * */
    model_stream_t *engines[ENGINES];
} model_t;

static model_t *model_of(const xy_gpu_device_t *gpu)
{
    return gpu->own;
}

/* ---- Time ---- */

static model_op_t *first_of(const model_stream_t *s)
{
    return &s->ops[s->done % s->room];
}

/* Bytes per second in a direction, where the other one may be in use. */
static double rate_of(const model_t *m, model_kind_t kind)
{
    const model_stream_t *other = m->engines[kind == MODEL_IN ? MODEL_OUT : MODEL_IN];
    double alone = kind == MODEL_IN ? m->costs.in_rate : m->costs.out_rate;
    bool is_shared = other != NULL && first_of(other)->seconds <= 0;

    return is_shared && m->costs.both_rate < alone ? m->costs.both_rate : alone;
}

/* When what an engine does is complete if nothing changes; or when its bytes begin to move. */
static double next_of(const model_t *m, int kind)
{
    const model_op_t *op;

    if (m->engines[kind] == NULL)
        return INFINITY;
    op = first_of(m->engines[kind]);
    if (op->seconds > 0)
        return m->now + op->seconds;
    return m->now + (op->bytes > 0 ? op->bytes / rate_of(m, (model_kind_t)kind) : 0);
}

static void end_op(model_t *m, model_stream_t *s)
{
    const model_op_t *op = first_of(s);

    if (op->kind == MODEL_RECORD && op->event != NULL && op->event->number == s->done + 1)
        op->event->time = m->now;
    m->tasks += op->tasks;
    s->done++;
    s->is_running = false;
}

/* Begin what can begin now. True: something changed. */
static bool begin(model_t *m, model_stream_t *s)
{
    model_op_t *op = first_of(s);

    if (s->done == s->put || s->is_running || op->ready > m->now)
        return false;
    if (op->kind == MODEL_AFTER && op->other->done < op->number) {
        op->is_held = true;
        return false;
    }
    if (op->is_held) {
        op->is_held = false;
        op->ready = m->now + m->costs.resume;
        return op->ready <= m->now && begin(m, s);
    }
    if (op->kind == MODEL_AFTER || op->kind == MODEL_RECORD) {
        end_op(m, s);
        return true;
    }
    if (m->engines[op->kind] != NULL)
        return false;
    m->engines[op->kind] = s;
    s->is_running = true;
    return true;
}

static void begin_all(model_t *m)
{
    bool is_changed = true;

    while (is_changed) {
        is_changed = false;
        for (size_t i = 0; i < m->streams.count; i++)
            while (begin(m, XY_VEC_AT(&m->streams, model_stream_t *, i)))
                is_changed = true;
    }
}

/* The next moment at which something happens by itself. */
static double next_moment(const model_t *m)
{
    double next = INFINITY;

    for (int k = 0; k < ENGINES; k++)
        next = fmin(next, next_of(m, k));
    for (size_t i = 0; i < m->streams.count; i++) {
        const model_stream_t *s = XY_VEC_AT(&m->streams, model_stream_t *, i);

        if (s->done < s->put && !s->is_running && first_of(s)->ready > m->now)
            next = fmin(next, first_of(s)->ready);
    }
    return next;
}

/* All engines work until then; none of them changes what it does before. */
static void work_until(model_t *m, double time)
{
    double rates[ENGINES] = {1, rate_of(m, MODEL_IN), rate_of(m, MODEL_OUT)};
    double ends[ENGINES];

    for (int k = 0; k < ENGINES; k++)
        ends[k] = next_of(m, k);
    for (int k = 0; k < ENGINES; k++) {
        model_op_t *op = m->engines[k] != NULL ? first_of(m->engines[k]) : NULL;
        bool is_step = ends[k] <= time;

        if (op == NULL)
            continue;
        if (op->seconds > 0)
            op->seconds = is_step ? 0 : op->seconds - (time - m->now);
        else
            op->bytes = is_step ? 0 : op->bytes - rates[k] * (time - m->now);
    }
    m->now = time;
    for (int k = 0; k < ENGINES; k++) {
        model_stream_t *s = m->engines[k];

        if (s == NULL || first_of(s)->seconds > 0 || first_of(s)->bytes > 0)
            continue;
        m->engines[k] = NULL;
        end_op(m, s);
    }
}

static void step(model_t *m)
{
    work_until(m, m->next);
    begin_all(m);
    m->next = next_moment(m);
}

/* The device does all that it can up to the host's clock. */
static void follow(model_t *m)
{
    while (m->next <= *m->costs.clock)
        step(m);
}

/* The host waits until the stream has done so many. */
static xy_status_t until(xy_gpu_device_t *gpu, const model_stream_t *s, uint64_t number)
{
    model_t *m = model_of(gpu);

    follow(m);
    while (s->done < number) {
        if (isinf(m->next))
            return xy_fail(XY_EIO, "%s: streams wait for each other", gpu->info.name);
        step(m);
    }
    *m->costs.clock = fmax(*m->costs.clock, m->now);
    return XY_OK;
}

/* The host is busy for so long. */
static void spend(model_t *m, double seconds)
{
    *m->costs.clock += seconds;
    follow(m);
}

/* ---- Devices and memory ---- */

static const char *list(xy_vec_t *found, xy_status_t *status_p)
{
    (void)found;
    *status_p = XY_OK;
    return "it is not a device of this machine";
}

static xy_status_t open_device(xy_gpu_device_t *gpu)
{
    model_t *m = xy_calloc(1, sizeof(*m));

    if (m == NULL)
        return xy_fail_memory("opening a GPU");
    m->streams = (xy_vec_t)XY_VEC_INIT(model_stream_t *);
    gpu->own = m;
    return XY_OK;
}

static void close_device(xy_gpu_device_t *gpu)
{
    xy_vec_cleanup(&model_of(gpu)->streams);
    xy_free(gpu->own);
}

static xy_status_t room(xy_gpu_device_t *gpu, uint64_t *bytes_p)
{
    *bytes_p = gpu->info.memory;
    return XY_OK;
}

/* The callers keep count of memory; here it has addresses only. */
static xy_status_t memory_take(xy_gpu_device_t *gpu, uint64_t bytes, xy_gpu_memory_t *memory_p)
{
    *memory_p = model_of(gpu)->memories + 1;
    model_of(gpu)->memories += bytes;
    return XY_OK;
}

static void memory_give(xy_gpu_device_t *gpu, xy_gpu_memory_t memory)
{
    (void)gpu;
    (void)memory;
}

static xy_status_t pinned_take(xy_gpu_device_t *gpu, uint64_t bytes, void **address_p,
                               void **handle_p)
{
    (void)gpu;
    *handle_p = NULL;
    *address_p = xy_malloc(bytes);
    return *address_p != NULL ? XY_OK : xy_fail_memory("taking pinned memory");
}

static void pinned_give(xy_gpu_device_t *gpu, void *address, void *handle)
{
    (void)gpu;
    (void)handle;
    xy_free(address);
}

static bool pin(xy_gpu_device_t *gpu, void *address, uint64_t bytes)
{
    (void)gpu;
    (void)address;
    (void)bytes;
    return false;
}

static void unpin(xy_gpu_device_t *gpu, void *address)
{
    (void)gpu;
    (void)address;
}

/* ---- Streams and events ---- */

/* Create an empty stream and add it to the streams of the model. */
static xy_status_t stream_create(xy_gpu_stream_t *stream)
{
    model_t *m = model_of(stream->gpu);
    model_stream_t *s = xy_calloc(1, sizeof(*s));

    if (s != NULL) {
        s->room = 64;
        s->ops = xy_calloc(s->room, sizeof(*s->ops));
    }
    if (s == NULL || s->ops == NULL || xy_vec_append(&m->streams, &s) != XY_OK) {
        xy_free(s != NULL ? s->ops : NULL);
        xy_free(s);
        return xy_fail_memory("making a stream");
    }
    stream->native = s;
    return XY_OK;
}

static void stream_destroy(xy_gpu_stream_t *stream)
{
    model_t *m = model_of(stream->gpu);
    model_stream_t *s = stream->native, **all = m->streams.data;
    size_t kept = 0;

    for (size_t i = 0; i < m->streams.count; i++)
        if (all[i] != s)
            all[kept++] = all[i];
    m->streams.count = kept;
    xy_free(s->ops);
    xy_free(s);
}

static xy_status_t grow(model_stream_t *s)
{
    model_op_t *ops = xy_calloc(2 * s->room, sizeof(*ops));

    if (ops == NULL)
        return xy_fail_memory("filling a stream");
    for (uint64_t i = s->done; i < s->put; i++)
        ops[i % (2 * s->room)] = s->ops[i % s->room];
    xy_free(s->ops);
    s->ops = ops;
    s->room *= 2;
    return XY_OK;
}

/* Putting it there takes the host so long. */
static xy_status_t put(xy_gpu_stream_t *stream, const model_op_t *op, double seconds)
{
    model_t *m = model_of(stream->gpu);
    model_stream_t *s = stream->native;
    xy_status_t st = XY_OK;

    spend(m, seconds);
    if (s->put - s->done == s->room)
        st = grow(s);
    if (st != XY_OK)
        return st;
    s->ops[s->put % s->room] = *op;
    s->ops[s->put % s->room].ready = *m->costs.clock + m->costs.delay;
    if (s->put++ == s->done) /* otherwise it is looked at when the one before it ends */
        m->next = fmin(m->next, *m->costs.clock + m->costs.delay);
    follow(m);
    return XY_OK;
}

static xy_status_t stream_wait(xy_gpu_stream_t *stream)
{
    const model_stream_t *s = stream->native;

    return until(stream->gpu, s, s->put);
}

static xy_status_t stream_after(xy_gpu_stream_t *stream, const xy_gpu_event_t *event)
{
    const model_event_t *e = event->native;

    if (e->stream == NULL || e->stream->done >= e->number)
        return XY_OK;
    return put(stream, &(model_op_t){.kind = MODEL_AFTER, .other = e->stream, .number = e->number},
               model_of(stream->gpu)->costs.event_put);
}

static xy_status_t event_create(xy_gpu_event_t *event, bool is_timed)
{
    (void)is_timed;
    event->native = xy_calloc(1, sizeof(model_event_t));
    return event->native != NULL ? XY_OK : xy_fail_memory("making an event");
}

/* Forget the event in all operations that would still record it. Its stream may be gone. */
static void event_destroy(xy_gpu_event_t *event)
{
    const model_t *m = model_of(event->gpu);

    for (size_t i = 0; i < m->streams.count; i++) {
        const model_stream_t *s = XY_VEC_AT(&m->streams, model_stream_t *, i);

        for (uint64_t k = s->done; k < s->put; k++)
            if (s->ops[k % s->room].event == event->native)
                s->ops[k % s->room].event = NULL;
    }
    xy_free(event->native);
}

static xy_status_t event_record(xy_gpu_event_t *event, xy_gpu_stream_t *stream)
{
    model_stream_t *s = stream->native;
    model_event_t *e = event->native;

    *e = (model_event_t){.stream = s, .number = s->put + 1};
    return put(stream, &(model_op_t){.kind = MODEL_RECORD, .event = e},
               model_of(stream->gpu)->costs.event_put);
}

static xy_status_t event_wait(const xy_gpu_event_t *event)
{
    const model_event_t *e = event->native;

    return e->stream == NULL ? XY_OK : until(event->gpu, e->stream, e->number);
}

static xy_status_t event_is_reached(const xy_gpu_event_t *event, bool *is_reached_p)
{
    const model_event_t *e = event->native;

    spend(model_of(event->gpu), model_of(event->gpu)->costs.event_put);
    *is_reached_p = e->stream == NULL || e->stream->done >= e->number;
    return XY_OK;
}

static xy_status_t event_between(const xy_gpu_event_t *from, const xy_gpu_event_t *to,
                                 double *seconds_p)
{
    const model_event_t *a = from->native, *b = to->native;

    *seconds_p = b->time - a->time;
    return XY_OK;
}

/* ---- Copies and kernels ---- */

static xy_status_t copy_in(xy_gpu_stream_t *stream, xy_gpu_memory_t to, uint64_t offset,
                           const void *from, uint64_t bytes)
{
    const xy_gpu_model_t *c = &model_of(stream->gpu)->costs;

    (void)to;
    (void)offset;
    (void)from;
    return put(stream,
               &(model_op_t){.kind = MODEL_IN, .seconds = c->in_latency, .bytes = (double)bytes},
               c->copy_put);
}

static xy_status_t copy_out(xy_gpu_stream_t *stream, void *to, xy_gpu_memory_t from,
                            uint64_t offset, uint64_t bytes)
{
    const xy_gpu_model_t *c = &model_of(stream->gpu)->costs;

    (void)to;
    (void)offset;
    (void)from;
    return put(stream,
               &(model_op_t){.kind = MODEL_OUT, .seconds = c->out_latency, .bytes = (double)bytes},
               c->copy_put);
}

static xy_status_t copy_on(xy_gpu_stream_t *stream, xy_gpu_memory_t to, uint64_t to_offset,
                           xy_gpu_memory_t from, uint64_t from_offset, uint64_t bytes)
{
    (void)to;
    (void)to_offset;
    (void)from;
    (void)from_offset;
    (void)bytes;
    return put(stream, &(model_op_t){.kind = MODEL_KERNEL},
               model_of(stream->gpu)->costs.launch_put);
}

static xy_status_t program_create(xy_gpu_program_t *program, const char *text)
{
    (void)text;
    return xy_fail(XY_EUNSUPPORTED, "%s has no compiler", program->gpu->info.name);
}

static void program_destroy(xy_gpu_program_t *program)
{
    (void)program;
}

static xy_status_t kernel_create(xy_gpu_kernel_t *kernel, const char *name)
{
    return xy_fail(XY_EUNSUPPORTED, "%s has no kernel %s", kernel->gpu->info.name, name);
}

static void kernel_destroy(xy_gpu_kernel_t *kernel)
{
    (void)kernel;
}

static xy_status_t launch(xy_gpu_stream_t *stream, xy_gpu_kernel_t *kernel, const size_t groups[3],
                          const size_t group[3], const xy_gpu_arg_t *args, int count)
{
    (void)kernel;
    (void)groups;
    (void)group;
    (void)args;
    (void)count;
    return xy_fail(XY_EUNSUPPORTED, "%s runs no kernels", stream->gpu->info.name);
}

const gpu_driver_t gpu_driver_model = {
    .name = "model",
    .describe = "a GPU that only takes time",
    .list = list,
    .open = open_device,
    .close = close_device,
    .room = room,
    .memory_take = memory_take,
    .memory_give = memory_give,
    .has_addresses = true,
    .pinned_take = pinned_take,
    .pinned_give = pinned_give,
    .is_pinned_shared = true,
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

/* ---- What only it has ---- */

xy_status_t xy_gpu_model_open(const xy_gpu_model_t *costs, xy_gpu_device_t **gpu_p)
{
    xy_gpu_info_t info = {
        .driver = "model", .name = "model of a GPU", .memory = costs->memory, .numa = -1};
    xy_status_t st = xy_gpu_open(&info, gpu_p);

    if (st != XY_OK)
        return st;
    model_of(*gpu_p)->costs = *costs;
    model_of(*gpu_p)->now = *costs->clock;
    model_of(*gpu_p)->next = INFINITY;
    return XY_OK;
}

xy_status_t xy_gpu_model_launch(xy_gpu_stream_t *stream, double seconds, uint64_t tasks)
{
    const model_t *m = model_of(stream->gpu);

    return put(stream, &(model_op_t){.kind = MODEL_KERNEL, .seconds = seconds, .tasks = tasks},
               m->costs.launch_put);
}

uint64_t xy_gpu_model_tasks(const xy_gpu_device_t *gpu)
{
    return model_of(gpu)->tasks;
}
