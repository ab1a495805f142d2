/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that hold what several processes have recorded. */
#include <stdlib.h>

#include "trace/reader.h"

enum { SOURCE_LIMIT = 1 << 20 };

static reader_source_t *source_at(const reader_t *r, size_t i)
{
    return &XY_VEC_AT(&r->sources, reader_source_t, i);
}

/* Its index; the file itself where there is no such source. */
static uint32_t find_source(const reader_t *r, uint64_t number)
{
    return (uint32_t)(uintptr_t)xy_hash_get(&r->source_of, number);
}

xy_status_t reader_define_origin(reader_t *r, reader_cursor_t *c)
{
    reader_source_t s = {.number = reader_varint(c)};
    const char *name;

    s.start_ticks = s.last_ticks = reader_varint(c);
    s.start_ns = s.last_ns = reader_varint(c);
    name = reader_string(r, c);
    if (name == NULL)
        return XY_ENOMEM;
    if (s.number == 0 || find_source(r, s.number) != 0 || r->sources.count > SOURCE_LIMIT)
        c->failed = true;
    if (c->failed)
        return XY_OK;
    s.name = name;
    if (xy_hash_set(&r->source_of, s.number, (void *)(uintptr_t)r->sources.count) != XY_OK)
        return XY_ENOMEM;
    return xy_vec_append(&r->sources, &s);
}

static int compare_row_names(const void *a, const void *b)
{
    const reader_row_name_t *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Rows of processes that recorded at the same time are shown process by process. */
xy_status_t reader_order_rows(reader_t *r)
{
    reader_row_name_t *name = r->row_names.data;
    xy_vec_t rows = XY_VEC_INIT(xy_trace_row_info_t);
    xy_status_t st = XY_OK;

    if (r->sources.count <= 1 || name == NULL || r->row_names.count != r->rows.items.count)
        return XY_OK;
    qsort(name, r->row_names.count, sizeof(*name), compare_row_names);
    for (size_t i = 0; i < r->row_names.count && st == XY_OK; i++) {
        st = xy_vec_append(&rows, &XY_VEC_AT(&r->rows.items, xy_trace_row_info_t, name[i].index));
        if (st == XY_OK)
            st = xy_hash_set(&r->rows.index, reader_key(&r->rows, name[i].source, name[i].number),
                             (void *)(uintptr_t)(i + 1));
    }
    if (st != XY_OK) {
        xy_vec_cleanup(&rows);
        return st;
    }
    xy_vec_cleanup(&r->rows.items);
    r->rows.items = rows;
    return XY_OK;
}

void reader_define_source(reader_t *r, reader_cursor_t *c)
{
    uint64_t number = reader_varint(c);

    r->source = find_source(r, number);
    if (r->source == 0 && number != 0)
        c->failed = true;
}

void reader_define_clock(reader_t *r, reader_cursor_t *c)
{
    uint32_t source = find_source(r, reader_varint(c));
    xy_trace_clock_fit_t fit;

    for (int i = 0; i < 2; i++) {
        fit.time[i] = reader_varint(c);
        fit.offset[i] = trace_unzigzag(reader_varint(c));
    }
    fit.error = reader_varint(c);
    if (source == 0)
        c->failed = true;
    if (c->failed)
        return;
    source_at(r, source)->fit = fit;
    source_at(r, source)->is_fit = true;
}
