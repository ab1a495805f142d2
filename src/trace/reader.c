/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From bytes to chunks. A file is searched for the next complete chunk wherever the previous one
 * ended: after damage the search continues byte by byte, so that a hole costs what is in it and no
 * more.
 */
#include "trace/reader.h"

#include <inttypes.h>
#include <stdio.h>

#define FILE_LIMIT ((size_t)4 << 30)
/* A summary has rows times kinds entries: without a limit a small file could ask for a large one.
 */
enum { KIND_LIMIT = 256 };

uint64_t reader_varint(reader_cursor_t *c)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte;

        if (c->at == c->end)
            break;
        byte = *c->at++;
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    c->failed = true;
    return 0;
}

/* A string of the definitions, kept in the log; "" when it does not fit, NULL without memory. */
const char *reader_string(reader_t *r, reader_cursor_t *c)
{
    uint64_t n = reader_varint(c);
    const char *s = (const char *)c->at;

    if (c->failed || n > (uint64_t)(c->end - c->at)) {
        c->failed = true;
        return "";
    }
    c->at += n;
    return xy_arena_strndup(r->log->arena, s, n);
}

/* Numbers of different sources are different. A file made to collide has wrong names, no more. */
uint64_t reader_key(const reader_table_t *table, uint32_t source, uint64_t number)
{
    return number == 0 && table->has_none ? 0 : number ^ (uint64_t)source << 40;
}

void *reader_entry(reader_table_t *table, uint32_t source, uint64_t number, uint32_t *index_p)
{
    uint64_t key = reader_key(table, source, number);
    uintptr_t found = (uintptr_t)xy_hash_get(&table->index, key);
    void *item;

    if (found != 0) {
        *index_p = (uint32_t)(found - 1);
        return (char *)table->items.data + (found - 1) * table->items.size;
    }
    if (table->limit != 0 && table->items.count == table->limit) {
        *index_p = 0;
        return table->items.data;
    }
    item = xy_vec_push(&table->items);
    if (item == NULL ||
        xy_hash_set(&table->index, key, (void *)(uintptr_t)table->items.count) != XY_OK)
        return NULL;
    *index_p = (uint32_t)(table->items.count - 1);
    return item;
}

/* The same for a definition: one name of several processes is one entry. */
static void *named_entry(reader_t *r, reader_table_t *table, uint64_t number, const char *name,
                         uint32_t *index_p)
{
    uint64_t key = reader_key(table, r->source, number);
    void *found = r->source > 0 ? xy_hash_get(&table->named, XY_HASH_KEY(name)) : NULL;
    void *item;

    if (found != NULL && xy_hash_get(&table->index, key) == NULL &&
        xy_hash_set(&table->index, key, found) != XY_OK)
        return NULL;
    item = reader_entry(table, r->source, number, index_p);
    if (item != NULL && r->source > 0 && found == NULL &&
        xy_hash_set(&table->named, XY_HASH_KEY(name), (void *)(uintptr_t)(*index_p + 1)) != XY_OK)
        return NULL;
    return item;
}

/* Reads the definition of a row. */
static xy_status_t define_row(reader_t *r, reader_cursor_t *c)
{
    uint64_t number = reader_varint(c);
    const char *name = reader_string(r, c), *group = reader_string(r, c);
    xy_trace_row_info_t *row;
    uint32_t index;

    if (name == NULL || group == NULL)
        return XY_ENOMEM;
    if (c->failed)
        return XY_OK;
    row = reader_entry(&r->rows, r->source, number, &index);
    if (row == NULL)
        return XY_ENOMEM;
    *row = (xy_trace_row_info_t){.name = name, .group = group};
    return xy_vec_append(
        &r->row_names,
        &(reader_row_name_t){XY_VEC_AT(&r->sources, reader_source_t, r->source).number, number,
                             r->source, index});
}

/* Reads the definition of a kind; number 0 is reserved. */
static xy_status_t define_kind(reader_t *r, reader_cursor_t *c)
{
    uint64_t number = reader_varint(c), role = reader_varint(c), colour = reader_varint(c);
    const char *name = reader_string(r, c);
    xy_trace_kind_info_t *kind;
    uint32_t index;

    if (name == NULL)
        return XY_ENOMEM;
    if (c->failed || number == 0)
        return XY_OK;
    kind = named_entry(r, &r->kinds, number, name, &index);
    if (kind == NULL)
        return XY_ENOMEM;
    if (index == 0)
        return XY_OK;
    *kind = (xy_trace_kind_info_t){
        .name = name,
        .role = role < XY_TRACE_ROLES ? (xy_trace_role_t)role : XY_TRACE_OTHER,
        .colour = (uint32_t)colour & 0xffffff,
    };
    return XY_OK;
}

/* Reads the definition of a label or site into `table`; number 0 is reserved. */
static xy_status_t define_name(reader_t *r, reader_table_t *table, reader_cursor_t *c)
{
    uint64_t number = reader_varint(c);
    const char *name = reader_string(r, c), **entry;
    uint32_t index;

    if (name == NULL)
        return XY_ENOMEM;
    if (c->failed || number == 0)
        return XY_OK;
    entry = named_entry(r, table, number, name, &index);
    if (entry == NULL)
        return XY_ENOMEM;
    *entry = name;
    return XY_OK;
}

/* Reads the definition of a counter. */
static xy_status_t define_counter(reader_t *r, reader_cursor_t *c)
{
    uint64_t number = reader_varint(c);
    const char *name = reader_string(r, c), *unit = reader_string(r, c);
    xy_trace_counter_info_t *counter;
    uint32_t index;

    if (name == NULL || unit == NULL)
        return XY_ENOMEM;
    if (c->failed)
        return XY_OK;
    counter = named_entry(r, &r->counters, number, name, &index);
    if (counter == NULL)
        return XY_ENOMEM;
    *counter = (xy_trace_counter_info_t){.name = name, .unit = unit};
    return XY_OK;
}

static xy_status_t define_title(reader_t *r, reader_cursor_t *c)
{
    const char *title = reader_string(r, c);

    if (title == NULL)
        return XY_ENOMEM;
    if (!c->failed)
        r->log->title = title;
    return XY_OK;
}

/* Reads one definition; an unknown one ends the chunk as damaged. */
static xy_status_t read_definition(reader_t *r, reader_cursor_t *c)
{
    switch (*c->at++) {
    case TRACE_DEF_TITLE:
        return define_title(r, c);
    case TRACE_DEF_ROW:
        return define_row(r, c);
    case TRACE_DEF_KIND:
        return define_kind(r, c);
    case TRACE_DEF_LABEL:
        return define_name(r, &r->labels, c);
    case TRACE_DEF_SITE:
        return define_name(r, &r->sites, c);
    case TRACE_DEF_COUNTER:
        return define_counter(r, c);
    case TRACE_DEF_END:
        if (r->source == 0)
            r->log->damage.is_unfinished = false;
        return XY_OK;
    case TRACE_DEF_ORIGIN:
        return reader_define_origin(r, c);
    case TRACE_DEF_SOURCE:
        reader_define_source(r, c);
        return XY_OK;
    case TRACE_DEF_CLOCK:
        reader_define_clock(r, c);
        return XY_OK;
    default:
        c->failed = true;
        return XY_OK;
    }
}

/* Reads a chunk of definitions; a bad one is counted and ends the chunk. */
static xy_status_t read_definitions(reader_t *r, const reader_chunk_t *chunk)
{
    reader_cursor_t c = {chunk->payload, chunk->payload + chunk->head.length, false};

    while (c.at < c.end && !c.failed) {
        xy_status_t st = read_definition(r, &c);

        if (st != XY_OK)
            return st;
    }
    if (c.failed)
        r->log->damage.records_bad++;
    return XY_OK;
}

/* Is there a complete chunk at `p`? *cost_p grows by the bytes that were looked at in vain. */
static bool chunk_decode(const uint8_t *p, size_t left, reader_chunk_t *chunk, size_t *cost_p)
{
    trace_chunk_t *h = &chunk->head;

    if (left < TRACE_CHUNK_SIZE || trace_get_u32(p) != TRACE_CHUNK_MAGIC)
        return false;
    if (trace_get_u32(p + 44) != trace_checksum(p, 44))
        return false;
    h->row = trace_get_u32(p + 4);
    h->length = trace_get_u32(p + 8);
    h->sequence = trace_get_u32(p + 12);
    h->base = trace_get_u64(p + 16);
    h->sync_ticks = trace_get_u64(p + 24);
    h->sync_ns = trace_get_u64(p + 32);
    h->checksum = trace_get_u32(p + 40);
    chunk->payload = p + TRACE_CHUNK_SIZE;
    if (h->length > TRACE_PAYLOAD_MAX || h->length > left - TRACE_CHUNK_SIZE)
        return false;
    if (trace_checksum(chunk->payload, h->length) == h->checksum)
        return true;
    *cost_p += h->length;
    return false;
}

/* The file itself defines its sources, between their chunks and by its own clock. */
static bool is_of_file(const reader_chunk_t *chunk)
{
    return chunk->head.row == TRACE_DEFINITIONS && chunk->head.length > 0 &&
           (chunk->payload[0] == TRACE_DEF_ORIGIN || chunk->payload[0] == TRACE_DEF_SOURCE ||
            chunk->payload[0] == TRACE_DEF_CLOCK);
}

/* Reads a chunk of definitions at once; others are kept for later, with the last clock sample
 * noted. */
static xy_status_t chunk_accept(reader_t *r, reader_chunk_t *chunk)
{
    reader_source_t *s;

    chunk->source = is_of_file(chunk) ? 0 : r->source;
    s = &XY_VEC_AT(&r->sources, reader_source_t, chunk->source);
    if (chunk->head.sync_ticks - s->start_ticks > s->last_ticks - s->start_ticks) {
        s->last_ticks = chunk->head.sync_ticks;
        s->last_ns = chunk->head.sync_ns;
    }
    if (chunk->head.row == TRACE_DEFINITIONS)
        return read_definitions(r, chunk);
    return xy_vec_append(&r->chunks, chunk);
}

/* Where the next chunk may begin, from `at` on. */
static size_t next_candidate(const uint8_t *data, size_t size, size_t at)
{
    const uint8_t *p = memchr(data + at, TRACE_CHUNK_MAGIC & 0xff, size - at);

    return p == NULL ? size : (size_t)(p - data);
}

/* Finds all chunks of a file, skipping damaged bytes; fails if there is none. */
static xy_status_t scan(reader_t *r, const uint8_t *data, size_t size)
{
    /* A file made to have a header everywhere could make the search quadratic: give up then. */
    size_t at = TRACE_HEADER_SIZE, wasted = 0, budget = 4 * size + ((size_t)64 << 20);
    size_t order = 0;

    while (at < size && wasted < budget) {
        reader_chunk_t chunk = {.order = order};
        xy_status_t st;

        if (!chunk_decode(data + at, size - at, &chunk, &wasted)) {
            size_t next = next_candidate(data, size, at + 1);

            r->log->damage.bytes_skipped += next - at;
            at = next;
            continue;
        }
        st = chunk_accept(r, &chunk);
        if (st != XY_OK)
            return st;
        at += TRACE_CHUNK_SIZE + chunk.head.length;
        order++;
    }
    r->log->damage.bytes_skipped += size - at;
    if (order == 0)
        return xy_fail(XY_EPARSE,
                       "%s: a trace without any complete chunk; nothing in it is readable: record "
                       "it again",
                       r->log->path);
    return XY_OK;
}

_Static_assert((int)TRACE_HEADER_SIZE <= (int)XY_FILE_HEAD, "a header is in the head of a file");

/* Checks magic, checksum and version of a trace file. */
static xy_status_t header_check(const char *path, const void *head, size_t size)
{
    const uint8_t *data = head;
    size_t magic = size < 8 ? size : 8;

    if (size == 0)
        return xy_fail(XY_EPARSE, "%s: empty; a trace has at least a header: record it again",
                       path);
    if (memcmp(data, TRACE_MAGIC, magic) != 0)
        return xy_fail(XY_EPARSE, "%s: not a Xylem trace; give a file recorded by Xylem", path);
    if (size < TRACE_HEADER_SIZE)
        return xy_fail(XY_EPARSE, "%s: cut off in the header of the trace; record it again", path);
    if (trace_get_u32(data + TRACE_HEADER_SIZE - 4) != trace_checksum(data, TRACE_HEADER_SIZE - 4))
        return xy_fail(XY_EPARSE, "%s: the header of the trace is damaged; record it again", path);
    if (trace_get_u32(data + 8) < 1 || trace_get_u32(data + 8) > TRACE_VERSION)
        return xy_fail(XY_EUNSUPPORTED,
                       "%s: trace format %" PRIu32
                       ", this program reads up to %d; use the Xylem that "
                       "recorded it",
                       path, trace_get_u32(data + 8), TRACE_VERSION);
    return XY_OK;
}

static xy_status_t header_read(reader_t *r, const uint8_t *data, size_t size)
{
    xy_status_t st = header_check(r->log->path, data, size);

    if (st != XY_OK)
        return st;
    r->log->clock = trace_get_u32(data + 12) == XY_TRACE_VIRTUAL ? XY_TRACE_VIRTUAL : XY_TRACE_REAL;
    r->log->wall_ns = (int64_t)trace_get_u64(data + 32);
    return xy_vec_append(&r->sources, &(reader_source_t){.start_ticks = trace_get_u64(data + 16),
                                                         .last_ticks = trace_get_u64(data + 16),
                                                         .start_ns = trace_get_u64(data + 24),
                                                         .last_ns = trace_get_u64(data + 24)});
}

static void add_clause(xy_text_t *text, uint64_t count, const char *format)
{
    char number[32];

    if (count == 0)
        return;
    snprintf(number, sizeof(number), "%" PRIu64, count);
    xy_text_add(text, text->length > 0 ? ", " : "");
    xy_text_add(text, number);
    xy_text_add(text, format);
}

/* States left open and halves of messages are no damage by themselves in a file that was not
 * closed: the one reason is reported, not its consequences. */
static void say_damage(const xy_trace_log_t *log)
{
    const xy_trace_damage_t *d = &log->damage;
    xy_text_t text = XY_TEXT_INIT;

    if (d->is_unfinished)
        xy_text_add(&text, "not closed (its program stopped early or still runs)");
    add_clause(&text, d->bytes_skipped, " damaged or incomplete bytes");
    add_clause(&text, d->chunks_missing, " missing chunks");
    add_clause(&text, d->records_bad, " chunks with unknown records");
    if (text.length == 0) {
        add_clause(&text, d->states_open, " states never left");
        add_clause(&text, d->leaves_alone, " states left but never entered");
        add_clause(&text, d->states_clipped, " states that end after the state around them");
        add_clause(&text, d->links_alone, " messages that were received, but not sent");
    }
    if (text.length > 0 && !text.failed)
        xy_warn("%s: %s; showing what is readable", log->path, text.s);
    xy_text_cleanup(&text);
}

/* Initializes an empty reader. */
static void reader_init(reader_t *r)
{
    *r = (reader_t){.chunks = XY_VEC_INIT(reader_chunk_t),
                    .rows.items = XY_VEC_INIT(xy_trace_row_info_t),
                    .kinds = {.items = XY_VEC_INIT(xy_trace_kind_info_t),
                              .limit = KIND_LIMIT,
                              .has_none = true},
                    .labels = {.items = XY_VEC_INIT(const char *), .has_none = true},
                    .counters.items = XY_VEC_INIT(xy_trace_counter_info_t),
                    .sites = {.items = XY_VEC_INIT(const char *), .has_none = true},
                    .sources = XY_VEC_INIT(reader_source_t),
                    .row_names = XY_VEC_INIT(reader_row_name_t),
                    .states = XY_VEC_INIT(xy_trace_state_t),
                    .links = XY_VEC_INIT(xy_trace_link_t),
                    .samples = XY_VEC_INIT(xy_trace_sample_t),
                    .marks = XY_VEC_INIT(xy_trace_mark_t),
                    .halves = XY_VEC_INIT(reader_half_t),
                    .steps = XY_VEC_INIT(xy_trace_step_t),
                    .open = XY_VEC_INIT(size_t)};
    xy_hash_init(&r->rows.index, XY_HASH_U64);
    xy_hash_init(&r->kinds.index, XY_HASH_U64);
    xy_hash_init(&r->labels.index, XY_HASH_U64);
    xy_hash_init(&r->counters.index, XY_HASH_U64);
    xy_hash_init(&r->sites.index, XY_HASH_U64);
    xy_hash_init(&r->source_of, XY_HASH_U64);
    xy_hash_init(&r->rows.named, XY_HASH_STRING);
    xy_hash_init(&r->kinds.named, XY_HASH_STRING);
    xy_hash_init(&r->labels.named, XY_HASH_STRING);
    xy_hash_init(&r->counters.named, XY_HASH_STRING);
    xy_hash_init(&r->sites.named, XY_HASH_STRING);
}

/* Frees all memory of the reader except the log. */
static void reader_cleanup(reader_t *r)
{
    reader_table_t *tables[] = {&r->rows, &r->kinds, &r->labels, &r->counters, &r->sites};
    xy_vec_t *vecs[] = {&r->chunks, &r->states, &r->links, &r->samples, &r->marks,
                        &r->halves, &r->steps,  &r->open,  &r->sources, &r->row_names};

    xy_hash_cleanup(&r->source_of);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        xy_hash_cleanup(&tables[i]->index);
        xy_hash_cleanup(&tables[i]->named);
        xy_vec_cleanup(&tables[i]->items);
    }
    for (size_t i = 0; i < sizeof(vecs) / sizeof(vecs[0]); i++)
        xy_vec_cleanup(vecs[i]);
}

/* Returns an empty log, marked unfinished; NULL without memory. */
static xy_trace_log_t *log_new(const char *path)
{
    xy_trace_log_t *log = xy_calloc(1, sizeof(*log));

    if (log == NULL)
        return NULL;
    if (xy_arena_create(&log->arena) != XY_OK ||
        (log->path = xy_arena_strndup(log->arena, path, strlen(path))) == NULL) {
        xy_trace_log_free(log);
        return NULL;
    }
    log->title = "";
    log->damage.is_unfinished = true;
    return log;
}

/* Entry 0 of kinds, labels and sites is "no name". */
static xy_status_t add_no_names(reader_t *r)
{
    uint32_t index;
    xy_trace_kind_info_t *kind = reader_entry(&r->kinds, 0, 0, &index);
    const char **label = reader_entry(&r->labels, 0, 0, &index);
    const char **site = reader_entry(&r->sites, 0, 0, &index);

    if (kind == NULL || label == NULL || site == NULL)
        return XY_ENOMEM;
    kind->name = "(no name)";
    *label = *site = "";
    return XY_OK;
}

/* Reads a whole trace from memory. */
static xy_status_t read_all(reader_t *r, const uint8_t *data, size_t size)
{
    xy_status_t st = header_read(r, data, size);

    if (st == XY_OK)
        st = add_no_names(r);
    if (st == XY_OK)
        st = scan(r, data, size);
    if (st == XY_OK)
        st = reader_order_rows(r);
    if (st == XY_OK)
        st = reader_decode_events(r);
    return st == XY_OK ? reader_finish(r) : st;
}

xy_status_t xy_trace_parse(const void *data, size_t size, const char *path, xy_trace_log_t **log_p)
{
    reader_t r;
    xy_status_t st;

    reader_init(&r);
    r.log = log_new(path);
    st = r.log == NULL ? XY_ENOMEM : read_all(&r, data, size);
    if (st == XY_ENOMEM)
        st = xy_fail_memory("reading a trace");
    reader_cleanup(&r);
    if (st != XY_OK) {
        xy_trace_log_free(r.log);
        return st;
    }
    say_damage(r.log);
    *log_p = r.log;
    return XY_OK;
}

bool xy_trace_is_trace(const char *path)
{
    FILE *file = fopen(path, "rb");
    char head[8];
    bool is_trace;

    if (file == NULL)
        return false;
    is_trace =
        fread(head, 1, sizeof(head), file) == sizeof(head) && memcmp(head, TRACE_MAGIC, 8) == 0;
    fclose(file);
    return is_trace;
}

xy_status_t xy_trace_read(const char *path, xy_trace_log_t **log_p)
{
    char *data;
    size_t size;
    xy_status_t st = xy_file_read_known(path, FILE_LIMIT, header_check, &data, &size);

    if (st != XY_OK)
        return st;
    st = xy_trace_parse(data, size, path, log_p);
    xy_free(data);
    return st;
}
