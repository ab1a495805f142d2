/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder. An event is encoded straight into its row's buffer, which is laid out as a chunk
 * of the file: a flush fills in the chunk's header and appends it with one write. O_APPEND makes
 * writes of several rows follow each other without a lock of ours.
 *
 * The file is FILE.part until the trace ends, then FILE: after a crash the part is found and read.
 */
#include "trace/record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "trace/format.h"
#include "trace/recorder.h"
#include "trace/trace_clock.h"

struct xy_trace_row {
    uint8_t *at;       /* the next event goes here */
    uint8_t *limit;    /* behind it an event may not fit */
    uint64_t last;     /* time of the previous event */
    uint64_t deadline; /* flush at the first event from this time on */
    uint64_t base;     /* times of the chunk start from here */
    uint8_t *buffer;   /* the chunk's header, then events */
    xy_trace_t *trace;
    uint32_t number, sequence;
    xy_trace_row_t *next;
};

typedef struct {
    xy_hash_t by_name; /* value: the number, as a pointer */
    uint32_t count;
} names_t;

struct xy_trace {
    int fd;
    xy_trace_clock_t clock;
    size_t buffer;
    char *path;
    char *part; /* the file while it is written; NULL: what cannot be renamed, a device or a pipe */
    atomic_int error;     /* errno of the first failed write; nothing is written after it */
    pthread_mutex_t lock; /* protects all that follows */
    xy_arena_t *arena;    /* names */
    names_t kinds, labels, counters, sites;
    xy_trace_row_t *rows; /* the newest first */
    uint32_t row_count, sequence;
};

/* After the first error the file stays as it is: a gap would be harder to explain than an end. */
void trace_append(xy_trace_t *trace, const uint8_t *data, size_t n)
{
    int none = 0, error = 0;

    /* Relaxed: the value is all there is to see; close() reads it after all users ended. */
    if (atomic_load_explicit(&trace->error, memory_order_relaxed) == 0)
        error = xy_write_all(trace->fd, data, n);
    if (error != 0)
        atomic_compare_exchange_strong_explicit(&trace->error, &none, error, memory_order_relaxed,
                                                memory_order_relaxed);
}

/* `chunk` has room for the header in front of `length` bytes of payload. */
static void chunk_append(xy_trace_t *trace, uint8_t *chunk, size_t length, uint32_t row,
                         uint32_t sequence, uint64_t base)
{
    trace_chunk_t c = {.row = row, .length = (uint32_t)length, .sequence = sequence, .base = base};

    if (trace->clock == XY_TRACE_REAL) {
        c.sync_ticks = xy_trace_clock();
        c.sync_ns = trace_monotonic_ns();
    }
    c.checksum = trace_checksum(chunk + TRACE_CHUNK_SIZE, length);
    trace_chunk_encode(&c, chunk);
    trace_append(trace, chunk, TRACE_CHUNK_SIZE + length);
}

/* A signal handler that ends the process may find its thread anywhere in here, and flushes again.
 * Until the buffer is empty that gives a chunk of the same number which begins with this one:
 * readers take the later of the two. */
void xy_trace_flush(xy_trace_row_t *row)
{
    uint8_t *events;
    size_t length;

    if (row == NULL)
        return;
    events = row->buffer + TRACE_CHUNK_SIZE;
    length = (size_t)(row->at - events);
    if (length > 0)
        chunk_append(row->trace, row->buffer, length, row->number, row->sequence, row->base);
    row->at = events;
    row->base = row->last;
    atomic_signal_fence(memory_order_seq_cst);
    row->sequence += length > 0;
    if (row->trace->clock == XY_TRACE_REAL)
        row->deadline = xy_trace_clock() + trace_clock_second();
}

static inline uint8_t *event_begin(xy_trace_row_t *row, uint64_t time, uint8_t type)
{
    uint8_t *p;

    if (__builtin_expect(row->at > row->limit || time >= row->deadline, 0))
        xy_trace_flush(row);
    p = row->at;
    *p++ = type;
    p = trace_put_varint(p, trace_zigzag((int64_t)(time - row->last)));
    row->last = time;
    return p;
}

void xy_trace_put_enter(xy_trace_row_t *row, uint64_t time, uint32_t kind, int64_t id,
                        uint32_t label)
{
    uint8_t *p = event_begin(row, time, TRACE_ENTER);

    p = trace_put_varint(p, kind);
    p = trace_put_varint(p, trace_zigzag(id));
    row->at = trace_put_varint(p, label);
}

void xy_trace_put_leave(xy_trace_row_t *row, uint64_t time)
{
    row->at = event_begin(row, time, TRACE_LEAVE);
}

void xy_trace_put_state(xy_trace_row_t *row, uint64_t start, uint64_t end, uint32_t kind,
                        int64_t id, uint32_t label)
{
    uint8_t *p = event_begin(row, start, TRACE_STATE);

    p = trace_put_varint(p, end > start ? end - start : 0);
    p = trace_put_varint(p, kind);
    p = trace_put_varint(p, trace_zigzag(id));
    row->at = trace_put_varint(p, label);
}

void xy_trace_put_link(xy_trace_row_t *row, uint32_t from, uint64_t start, uint32_t to,
                       uint64_t end, uint64_t bytes, uint32_t label)
{
    uint8_t *p = event_begin(row, start, TRACE_LINK);

    p = trace_put_varint(p, trace_zigzag((int64_t)(end - start)));
    p = trace_put_varint(p, from);
    p = trace_put_varint(p, to);
    p = trace_put_varint(p, bytes);
    row->at = trace_put_varint(p, label);
}

void xy_trace_put_sent(xy_trace_row_t *row, uint64_t time, const xy_trace_message_t *message)
{
    uint8_t *p = event_begin(row, time, TRACE_SENT);

    p = trace_put_varint(p, message->key);
    p = trace_put_varint(p, message->bytes);
    p = trace_put_varint(p, message->label);
    p = trace_put_varint(p, message->rank);
    row->at = trace_put_varint(p, message->peer);
}

void xy_trace_put_received(xy_trace_row_t *row, uint64_t time, const xy_trace_message_t *message)
{
    uint8_t *p = event_begin(row, time, TRACE_RECEIVED);

    p = trace_put_varint(p, message->key);
    p = trace_put_varint(p, message->rank);
    row->at = trace_put_varint(p, message->peer);
}

void xy_trace_put_call(xy_trace_row_t *row, uint64_t time, uint32_t rank, uint32_t label,
                       uint32_t site)
{
    uint8_t *p = event_begin(row, time, TRACE_CALL);

    p = trace_put_varint(p, rank);
    p = trace_put_varint(p, label);
    row->at = trace_put_varint(p, site);
}

void xy_trace_put_collective(xy_trace_row_t *row, uint64_t time, const xy_trace_collective_t *c)
{
    uint8_t *p = event_begin(row, time, TRACE_COLLECTIVE);

    p = trace_put_varint(p, c->rank);
    p = trace_put_varint(p, c->collective);
    p = trace_put_varint(p, c->context);
    p = trace_put_varint(p, c->first);
    p = trace_put_varint(p, c->member);
    p = trace_put_varint(p, c->members);
    p = trace_put_varint(p, c->root);
    p = trace_put_varint(p, c->count);
    row->at = trace_put_varint(p, c->element);
}

void xy_trace_put_counter(xy_trace_row_t *row, uint64_t time, uint32_t counter, double value)
{
    uint8_t *p = event_begin(row, time, TRACE_COUNTER);
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    p = trace_put_varint(p, counter);
    trace_put_u64(p, bits);
    row->at = p + 8;
}

void xy_trace_put_mark(xy_trace_row_t *row, uint64_t time, int64_t id, uint32_t label)
{
    uint8_t *p = event_begin(row, time, TRACE_MARK);

    p = trace_put_varint(p, trace_zigzag(id));
    row->at = trace_put_varint(p, label);
}

static uint8_t *put_string(uint8_t *p, const char *s)
{
    size_t n = s == NULL ? 0 : strnlen(s, TRACE_NAME_MAX);

    p = trace_put_varint(p, n);
    if (n > 0)
        memcpy(p, s, n);
    return p + n;
}

/* Definitions are rare: each is a chunk of its own, in the file before anyone can use its number.
 * The caller holds the lock. */
void trace_define(xy_trace_t *trace, uint8_t type, const uint64_t *numbers, size_t count,
                  const char *name, const char *more)
{
    uint8_t chunk[TRACE_CHUNK_SIZE + TRACE_EVENT_MAX + 2 * TRACE_NAME_MAX];
    uint8_t *p = chunk + TRACE_CHUNK_SIZE;

    *p++ = type;
    for (size_t i = 0; i < count; i++)
        p = trace_put_varint(p, numbers[i]);
    if (name != NULL)
        p = put_string(p, name);
    if (more != NULL)
        p = put_string(p, more);
    chunk_append(trace, chunk, (size_t)(p - chunk) - TRACE_CHUNK_SIZE, TRACE_DEFINITIONS,
                 trace->sequence++, 0);
}

/* Appends the header of the file; real clocks state their ticks, monotonic and wall time. */
static void header_append(xy_trace_t *trace)
{
    uint8_t h[TRACE_HEADER_SIZE] = {0};
    struct timespec wall;

    for (size_t i = 0; i < 8; i++)
        h[i] = (uint8_t)TRACE_MAGIC[i];
    trace_put_u32(h + 8, TRACE_VERSION);
    trace_put_u32(h + 12, (uint32_t)trace->clock);
    if (trace->clock == XY_TRACE_REAL) {
        clock_gettime(CLOCK_REALTIME, &wall);
        trace_put_u64(h + 16, xy_trace_clock());
        trace_put_u64(h + 24, trace_monotonic_ns());
        trace_put_u64(h + 32, (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec);
    }
    trace_put_u32(h + TRACE_HEADER_SIZE - 4, trace_checksum(h, TRACE_HEADER_SIZE - 4));
    trace_append(trace, h, sizeof(h));
}

/* Frees a trace and its rows; the file is already closed. */
static void trace_free(xy_trace_t *trace)
{
    for (xy_trace_row_t *row = trace->rows, *next; row != NULL; row = next) {
        next = row->next;
        xy_free(row->buffer);
        xy_free(row);
    }
    xy_hash_cleanup(&trace->kinds.by_name);
    xy_hash_cleanup(&trace->labels.by_name);
    xy_hash_cleanup(&trace->counters.by_name);
    xy_hash_cleanup(&trace->sites.by_name);
    xy_arena_destroy(trace->arena);
    pthread_mutex_destroy(&trace->lock);
    xy_free(trace->path);
    xy_free(trace->part);
    xy_free(trace);
}

/* Returns a trace without a file; NULL without memory. */
static xy_trace_t *trace_new(const char *path, const xy_trace_options_t *options)
{
    xy_trace_t *trace = xy_calloc(1, sizeof(*trace));

    if (trace == NULL)
        return NULL;
    pthread_mutex_init(&trace->lock, NULL);
    xy_hash_init(&trace->kinds.by_name, XY_HASH_STRING);
    xy_hash_init(&trace->labels.by_name, XY_HASH_STRING);
    xy_hash_init(&trace->counters.by_name, XY_HASH_STRING);
    xy_hash_init(&trace->sites.by_name, XY_HASH_STRING);
    trace->clock = options->clock;
    trace->buffer = options->buffer == 0 ? 65536 : options->buffer;
    trace->path = xy_strdup(path);
    trace->part = xy_sprintf("%s.part", path);
    if (trace->path == NULL || trace->part == NULL || xy_arena_create(&trace->arena) != XY_OK) {
        trace_free(trace);
        return NULL;
    }
    return trace;
}

/* A new file in any case: what lies there under its name is an older part, or a link to a file of
 * another. The descriptor, or -1 with errno. */
static int part_create(const char *part)
{
    int fd = -1;

    for (int i = 0; i < 100 && fd < 0; i++) {
        if (unlink(part) != 0 && errno != ENOENT)
            return -1;
        fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

/* Opens the file to record to, a temporary one unless `path` is a device or pipe; returns -1 with
 * errno set. */
static int file_open(xy_trace_t *trace)
{
    struct stat info;
    bool exists = stat(trace->path, &info) == 0;

    if (exists && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    if (exists && !S_ISREG(info.st_mode)) {
        xy_free(trace->part);
        trace->part = NULL;
        return open(trace->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
    }
    /* The rename would replace a file that its owner has protected. */
    if (exists && access(trace->path, W_OK) != 0)
        return -1;
    return part_create(trace->part);
}

xy_status_t xy_trace_create(const char *path, const xy_trace_options_t *options,
                            xy_trace_t **trace_p)
{
    static const xy_trace_options_t none;
    xy_trace_t *trace;

    if (options == NULL)
        options = &none;
    if (options->buffer != 0 && (options->buffer < 4096 || options->buffer > TRACE_PAYLOAD_MAX))
        return xy_fail(XY_EINVAL, "a trace buffer of %zu bytes; use 4 KiB to 1 MiB",
                       options->buffer);
    trace_clock_choose();
    trace = trace_new(path, options);
    if (trace == NULL)
        return xy_fail_memory("starting a trace");
    trace->fd = file_open(trace);
    if (trace->fd < 0) {
        int err = errno;

        trace_free(trace);
        if (err == EISDIR)
            return xy_fail_at(XY_EINVAL, path, 0, "this is a directory; name a file");
        return xy_fail_errno(err, path, "write the trace");
    }
    header_append(trace);
    if (options->title != NULL)
        trace_define(trace, TRACE_DEF_TITLE, NULL, 0, options->title, NULL);
    *trace_p = trace;
    return XY_OK;
}

void xy_trace_end(xy_trace_t *trace)
{
    for (xy_trace_row_t *row = trace->rows; row != NULL; row = row->next)
        xy_trace_flush(row);
    trace_define(trace, TRACE_DEF_END, NULL, 0, NULL, NULL);
    if (trace->part != NULL && rename(trace->part, trace->path) != 0) {
        int none = 0;

        atomic_compare_exchange_strong_explicit(&trace->error, &none, errno, memory_order_relaxed,
                                                memory_order_relaxed);
    }
}

xy_status_t xy_trace_close(xy_trace_t *trace)
{
    xy_status_t st = XY_OK;
    int err;

    if (trace == NULL)
        return XY_OK;
    xy_trace_end(trace);
    err = atomic_load_explicit(&trace->error, memory_order_relaxed);
    if (close(trace->fd) != 0 && err == 0)
        err = errno;
    if (err != 0)
        st = xy_fail_errno(err, trace->path, "write the trace");
    trace_free(trace);
    return st;
}

/* Returns a row with an empty buffer; NULL without memory. */
static xy_trace_row_t *row_new(xy_trace_t *trace)
{
    xy_trace_row_t *row = xy_calloc(1, sizeof(*row));

    if (row == NULL)
        return NULL;
    row->buffer = xy_malloc(trace->buffer);
    if (row->buffer == NULL) {
        xy_free(row);
        return NULL;
    }
    row->trace = trace;
    row->at = row->buffer + TRACE_CHUNK_SIZE;
    row->limit = row->buffer + trace->buffer - TRACE_EVENT_MAX;
    row->deadline = UINT64_MAX;
    if (trace->clock == XY_TRACE_REAL) {
        row->last = row->base = xy_trace_clock();
        row->deadline = row->base + trace_clock_second();
    }
    return row;
}

xy_status_t xy_trace_row_create(xy_trace_t *trace, const char *name, const char *group,
                                xy_trace_row_t **row_p)
{
    xy_trace_row_t *row = row_new(trace);

    if (row == NULL)
        return xy_fail_memory("adding a row to a trace");
    pthread_mutex_lock(&trace->lock);
    row->number = trace->row_count++;
    row->next = trace->rows;
    trace->rows = row;
    trace_define(trace, TRACE_DEF_ROW, &(uint64_t){row->number}, 1, name,
                 group == NULL ? "" : group);
    pthread_mutex_unlock(&trace->lock);
    *row_p = row;
    return XY_OK;
}

uint32_t xy_trace_row_number(const xy_trace_row_t *row)
{
    return row == NULL ? 0 : row->number;
}

/* The number of `name`, or 0 with *new_p untouched when it could not be kept. */
static uint32_t name_intern(xy_trace_t *trace, names_t *names, const char *name, bool *new_p)
{
    void *found = xy_hash_get(&names->by_name, XY_HASH_KEY(name));
    char *copy;

    if (found != NULL)
        return (uint32_t)(uintptr_t)found;
    copy = xy_arena_strndup(trace->arena, name, strlen(name));
    if (copy == NULL || xy_hash_set(&names->by_name, XY_HASH_KEY(copy),
                                    (void *)(uintptr_t)(names->count + 1)) != XY_OK)
        return 0;
    *new_p = true;
    return ++names->count;
}

uint32_t xy_trace_kind(xy_trace_t *trace, const char *name, xy_trace_role_t role, uint32_t colour)
{
    bool is_new = false;
    uint32_t number;

    if (trace == NULL)
        return 0;
    pthread_mutex_lock(&trace->lock);
    number = name_intern(trace, &trace->kinds, name, &is_new);
    if (is_new)
        trace_define(trace, TRACE_DEF_KIND, (uint64_t[]){number, role, colour}, 3, name, NULL);
    pthread_mutex_unlock(&trace->lock);
    return number;
}

static uint32_t name_define(xy_trace_t *trace, names_t *names, uint8_t type, const char *name)
{
    bool is_new = false;
    uint32_t number;

    pthread_mutex_lock(&trace->lock);
    number = name_intern(trace, names, name, &is_new);
    if (is_new)
        trace_define(trace, type, &(uint64_t){number}, 1, name, NULL);
    pthread_mutex_unlock(&trace->lock);
    return number;
}

uint32_t xy_trace_label(xy_trace_t *trace, const char *name)
{
    return trace != NULL ? name_define(trace, &trace->labels, TRACE_DEF_LABEL, name) : 0;
}

uint32_t xy_trace_site(xy_trace_t *trace, const char *name)
{
    return trace != NULL ? name_define(trace, &trace->sites, TRACE_DEF_SITE, name) : 0;
}

uint32_t xy_trace_counter_name(xy_trace_t *trace, const char *name, const char *unit)
{
    bool is_new = false;
    uint32_t number;

    if (trace == NULL)
        return 0;
    pthread_mutex_lock(&trace->lock);
    number = name_intern(trace, &trace->counters, name, &is_new);
    if (is_new)
        trace_define(trace, TRACE_DEF_COUNTER, &(uint64_t){number}, 1, name,
                     unit == NULL ? "" : unit);
    pthread_mutex_unlock(&trace->lock);
    return number;
}
