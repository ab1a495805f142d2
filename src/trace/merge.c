/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/merge.h"

#include "trace/format.h"
#include "trace/recorder.h"

typedef struct {
    const char *name;
    xy_text_t rest; /* the beginning of a chunk whose end has not come */
    bool has_begun, is_refused;
} source_t;

struct xy_trace_merge {
    xy_trace_t *file;
    char *path;
    int count, current; /* the source of the chunks; -1: the file's own */
    source_t *sources;
};

static void merge_free(xy_trace_merge_t *merge)
{
    for (int i = 0; i < merge->count && merge->sources != NULL; i++)
        xy_text_cleanup(&merge->sources[i].rest);
    xy_free(merge->sources);
    xy_free(merge->path);
    xy_free(merge);
}

xy_status_t xy_trace_merge_create(const char *path, const char *const *names, int count,
                                  xy_trace_merge_t **merge_p)
{
    xy_trace_merge_t *merge = xy_calloc(1, sizeof(*merge));
    xy_status_t st;

    if (merge == NULL)
        return xy_fail_memory("starting a trace");
    merge->sources = xy_calloc((size_t)count, sizeof(*merge->sources));
    merge->path = xy_strdup(path);
    merge->count = count;
    merge->current = -1;
    st = merge->sources == NULL || merge->path == NULL ? xy_fail_memory("starting a trace")
                                                       : xy_trace_create(path, NULL, &merge->file);
    if (st != XY_OK) {
        merge_free(merge);
        return st;
    }
    for (int i = 0; i < count; i++)
        merge->sources[i] = (source_t){.name = names[i], .rest = XY_TEXT_INIT};
    *merge_p = merge;
    return XY_OK;
}

/* Definitions of the file itself, and chunks of a source, behind a word about whose they are. */
static void switch_to(xy_trace_merge_t *merge, int source)
{
    if (merge->current == source)
        return;
    merge->current = source;
    trace_define(merge->file, TRACE_DEF_SOURCE, &(uint64_t){(uint64_t)(source + 1)}, 1, NULL, NULL);
}

static bool begin(xy_trace_merge_t *merge, int source, const uint8_t *header)
{
    if (memcmp(header, TRACE_MAGIC, 8) != 0 || trace_get_u32(header + 8) != TRACE_VERSION ||
        trace_get_u32(header + TRACE_HEADER_SIZE - 4) !=
            trace_checksum(header, TRACE_HEADER_SIZE - 4))
        return false;
    switch_to(merge, -1);
    trace_define(
        merge->file, TRACE_DEF_ORIGIN,
        (uint64_t[]){(uint64_t)source + 1, trace_get_u64(header + 16), trace_get_u64(header + 24)},
        3, merge->sources[source].name, NULL);
    return true;
}

/* How many bytes the next piece has, header or chunk; 0: that has not come yet. -1: it is none. */
static long piece_size(const source_t *s, const uint8_t *at, size_t left)
{
    if (!s->has_begun)
        return left >= TRACE_HEADER_SIZE ? TRACE_HEADER_SIZE : 0;
    if (left < TRACE_CHUNK_SIZE)
        return 0;
    if (trace_get_u32(at) != TRACE_CHUNK_MAGIC || trace_get_u32(at + 8) > TRACE_PAYLOAD_MAX)
        return -1;
    return (long)TRACE_CHUNK_SIZE + (long)trace_get_u32(at + 8);
}

/* Appends all whole pieces; what is left of `size`, or -1. */
static long take_pieces(xy_trace_merge_t *merge, int source, const uint8_t *at, size_t size)
{
    source_t *s = &merge->sources[source];
    size_t left = size;

    for (;;) {
        long n = piece_size(s, at, left);

        if (n < 0 || (n > 0 && !s->has_begun && !begin(merge, source, at)))
            return -1;
        if (n == 0 || (size_t)n > left)
            return (long)left;
        if (s->has_begun) {
            switch_to(merge, source);
            trace_append(merge->file, at, (size_t)n);
        }
        s->has_begun = true;
        at += n;
        left -= (size_t)n;
    }
}

xy_status_t xy_trace_merge_add(xy_trace_merge_t *merge, int source, const void *bytes, size_t size)
{
    source_t *s = &merge->sources[source];
    long left;

    if (s->is_refused)
        return XY_OK;
    xy_text_add_bytes(&s->rest, bytes, size);
    if (s->rest.failed)
        return xy_fail_memory("merging traces");
    left = take_pieces(merge, source, (const uint8_t *)s->rest.s, s->rest.length);
    if (left < 0) {
        s->is_refused = true;
        return xy_fail(XY_EPARSE, "%s: the record of %s is not a trace; the rest of it is missing",
                       merge->path, s->name);
    }
    memmove(s->rest.s, s->rest.s + s->rest.length - (size_t)left, (size_t)left);
    s->rest.length = (size_t)left;
    return XY_OK;
}

void xy_trace_merge_clock(xy_trace_merge_t *merge, int source, const xy_trace_clock_fit_t *fit)
{
    if (!merge->sources[source].has_begun) /* nothing has come of it: it has no name there */
        return;
    switch_to(merge, -1);
    trace_define(merge->file, TRACE_DEF_CLOCK,
                 (uint64_t[]){(uint64_t)source + 1, fit->time[0], trace_zigzag(fit->offset[0]),
                              fit->time[1], trace_zigzag(fit->offset[1]), fit->error},
                 6, NULL, NULL);
}

xy_status_t xy_trace_merge_close(xy_trace_merge_t *merge)
{
    xy_status_t st;

    if (merge == NULL)
        return XY_OK;
    switch_to(merge, -1);
    st = xy_trace_close(merge->file);
    merge_free(merge);
    return st;
}
