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
    size_t order;    /* in the file */
    uint32_t source; /* an index into the reader's sources */
} reader_chunk_t;

/* Numbers of the file to dense indices, so that nothing depends on how large a number is. A name
 * that is used and never defined gets an entry too: memory stays in proportion to the file. */
typedef struct {
    xy_hash_t index; /* value: index + 1, as a pointer */
    size_t limit;    /* numbers beyond so many names are one with entry 0; 0: none */
    bool has_none;   /* number 0 is no name, whichever source uses it */
    xy_hash_t named; /* by name, likewise: sources share what they name alike */
    xy_vec_t items;
} reader_table_t;

/* The file itself, or a process whose chunks it holds: a clock of its own. */
typedef struct {
    const char *name;
    uint64_t number, start_ticks, start_ns, last_ticks, last_ns;
    double scale;  /* ns per tick */
    int64_t shift; /* ns: from its start to that of the file, on the clock of the file */
    double drift;  /* ns per ns: what the clock of the file gains on its own */
    double before; /* ns: from when the drift is counted to its start */
    xy_trace_clock_fit_t fit;
    bool is_fit;
} reader_source_t;

typedef struct {
    uint64_t key, bytes;
    int64_t time;
    uint32_t row, label;
    bool is_in;
    size_t step; /* from 1: that it comes from; 0: none */
} reader_half_t;

typedef struct {
    uint64_t process, number;
    uint32_t source, index; /* process: the number of the source; index: in the table */
} reader_row_name_t;

typedef struct {
    xy_trace_log_t *log;
    xy_vec_t chunks; /* reader_chunk_t, of events */
    reader_table_t rows, kinds, labels, counters, sites;
    xy_vec_t states, links, samples, marks, halves, steps;
    xy_vec_t open;       /* size_t: states entered and not left, of the row being decoded */
    xy_vec_t sources;    /* of reader_source_t; [0] is the file itself */
    xy_hash_t source_of; /* number to index */
    xy_vec_t row_names;  /* of reader_row_name_t: rows in the order of their definitions */
    uint32_t source;     /* the source of the chunks */
} reader_t;

/* A cursor over the records of a chunk; `failed` once something did not fit. */
typedef struct {
    const uint8_t *at, *end;
    bool failed;
} reader_cursor_t;

uint64_t reader_varint(reader_cursor_t *c);
/* A string of the definitions, kept in the log; "" when it does not fit, NULL without memory. */
const char *reader_string(reader_t *r, reader_cursor_t *c);

/* The entry of a table for a number of a source, made on first use; NULL: memory ran out. */
void *reader_entry(reader_table_t *table, uint32_t source, uint64_t number, uint32_t *index_p);

uint64_t reader_key(const reader_table_t *table, uint32_t source, uint64_t number);

/* Definitions about processes (reader_sources.c), and, when all are read, the order of rows. */
xy_status_t reader_define_origin(reader_t *r, reader_cursor_t *c);
void reader_define_source(reader_t *r, reader_cursor_t *c);
void reader_define_clock(reader_t *r, reader_cursor_t *c);
xy_status_t reader_order_rows(reader_t *r);

xy_status_t reader_decode_events(reader_t *reader);

/* Move the vectors into the log, sort, nest, choose colours. `log` is valid in all cases. */
xy_status_t reader_finish(reader_t *reader);

#endif
