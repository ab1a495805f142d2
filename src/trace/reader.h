/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between the files of the reader (private to the component). reader.c finds complete chunks and
 * definitions, reader_events.c decodes events, log.c puts the result in order.
 */
#ifndef XY_TRACE_READER_H
#define XY_TRACE_READER_H

#include "base/base.h"
#include "trace/format.h"
#include "trace/log.h"

typedef struct {
    trace_chunk_t head;
    const uint8_t *payload;
    size_t order; /* in the file */
} reader_chunk_t;

/* Numbers of the file to dense indices, so that nothing depends on how large a number is. A name
 * that is used and never defined gets an entry too: memory stays in proportion to the file. */
typedef struct {
    xy_hash_t index; /* value: index + 1, as a pointer */
    size_t limit;    /* numbers beyond so many names are one with entry 0; 0: none */
    xy_vec_t items;
} reader_table_t;

typedef struct {
    uint64_t key, bytes;
    int64_t time;
    uint32_t row, label;
    bool is_in;
    size_t step; /* from 1: that it comes from; 0: none */
} reader_half_t;

typedef struct {
    xy_trace_log_t *log;
    xy_vec_t chunks; /* reader_chunk_t, of events */
    reader_table_t rows, kinds, labels, counters, sites;
    xy_vec_t states, links, samples, marks, halves, steps;
    xy_vec_t open; /* size_t: states entered and not left, of the row being decoded */
    uint64_t start_ticks, start_ns, last_ticks, last_ns;
    double scale; /* ns per tick */
} reader_t;

/* A cursor over the records of a chunk; `failed` once something did not fit. */
typedef struct {
    const uint8_t *at, *end;
    bool failed;
} reader_cursor_t;

uint64_t reader_varint(reader_cursor_t *c);

/* The entry of a table for a number of the file, made on first use; NULL: memory ran out. */
void *reader_entry(reader_table_t *table, uint64_t number, uint32_t *index_p);

xy_status_t reader_decode_events(reader_t *reader);

/* Move the vectors into the log, sort, nest, choose colours. `log` is valid in all cases. */
xy_status_t reader_finish(reader_t *reader);

#endif
