/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Typed data in the memory of a GPU: runs of bytes that lie at equal distances on both sides become
 * one copy of rows, and all copies of a message run before the first is waited for.
 */
#include "mpi/datatype/type_device.h"

#include "mpi/datatype/type_cursor.h"
#include "mpi/runtime/runtime.h"

/* Runs that were found and not yet copied. */
typedef struct {
    char *to;
    const char *from;
    ptrdiff_t to_step, from_step;
    size_t bytes, n;
} rows_t;

static void flush(rows_t *r)
{
    if (r->n > 0)
        mpi_device_copy_rows(r->to, r->to_step, r->from, r->from_step, r->bytes, r->n);
    r->n = 0;
}

/* Add a run to the current rows if it continues them; otherwise copy these and begin new ones. */
static void add(rows_t *r, char *to, const char *from, size_t bytes)
{
    ptrdiff_t to_step = to - r->to, from_step = from - r->from;

    if (r->n == 1 && bytes == r->bytes) {
        r->to_step = to_step;
        r->from_step = from_step;
        r->n = 2;
    } else if (r->n > 1 && bytes == r->bytes && to_step == r->to_step * (ptrdiff_t)r->n &&
               from_step == r->from_step * (ptrdiff_t)r->n) {
        r->n++;
    } else {
        flush(r);
        *r = (rows_t){.to = to, .from = from, .bytes = bytes, .n = 1};
    }
}

/* A side of a copy: typed, or bytes side by side where the type is NULL. */
typedef struct {
    mpi_cursor_t cursor;
    char *bytes;
} side_t;

static side_t side_of(const void *at, const mpi_type_t *type)
{
    side_t side = {.bytes = (char *)(uintptr_t)at};

    if (type != NULL && !type->is_contiguous)
        side.cursor = (mpi_cursor_t){.type = type, .at = side.bytes};
    else if (type != NULL)
        side.bytes += type->true_lb;
    return side;
}

static char *run_of(const side_t *side, size_t *length_p)
{
    if (side->cursor.type != NULL)
        return mpi_cursor_run(&side->cursor, length_p);
    *length_p = SIZE_MAX;
    return side->bytes;
}

static void advance(side_t *side, size_t n)
{
    if (side->cursor.type != NULL)
        mpi_cursor_advance(&side->cursor, n);
    else
        side->bytes += n;
}

/* Move a side forward by a number of data bytes. */
static void skip(side_t *side, size_t bytes)
{
    size_t n;

    if (side->cursor.type != NULL) {
        side->cursor.at += (ptrdiff_t)(bytes / side->cursor.type->size) * side->cursor.type->extent;
        bytes %= side->cursor.type->size;
    }
    for (; bytes > 0; bytes -= n) {
        run_of(side, &n);
        n = n < bytes ? n : bytes;
        advance(side, n);
    }
}

void mpi_type_move_device(void *target, const mpi_type_t *target_type, size_t target_first,
                          const void *source, const mpi_type_t *source_type, size_t source_first,
                          size_t bytes)
{
    side_t to = side_of(target, target_type), from = side_of(source, source_type);
    rows_t rows = {0};

    skip(&to, target_first);
    skip(&from, source_first);
    mpi_device_begin();
    while (bytes > 0) {
        size_t n, m;
        char *d = run_of(&to, &n), *s = run_of(&from, &m);

        n = n < m ? n : m;
        n = n < bytes ? n : bytes;
        add(&rows, d, s, n);
        advance(&to, n);
        advance(&from, n);
        bytes -= n;
    }
    flush(&rows);
    mpi_device_end();
}

bool mpi_type_is_on_device(const void *buffer, const mpi_type_t *type)
{
    return mpi_device_has((const char *)buffer + type->true_lb, NULL);
}

/* ---- Order after the default stream of the caller ---- */

static _Atomic bool is_any_kept; /* by some rank of this process */

static bool may_be_written(const void *buffer, MPI_Datatype handle)
{
    const mpi_type_t *type = mpi_type_of(handle);

    return handle == MPI_DATATYPE_NULL || mpi_device_is_written(buffer) ||
           (type != NULL && type->true_lb != 0 &&
            mpi_device_is_written((const char *)buffer + type->true_lb));
}

void mpi_buffer_order(const void *buffer, MPI_Datatype type)
{
    if (mpi_device_has_work() && may_be_written(buffer, type))
        mpi_device_wait_for_work();
}

void mpi_buffer_order_kept(const void *buffer, MPI_Datatype type)
{
    if (!is_any_kept && may_be_written(buffer, type))
        is_any_kept = true;
    mpi_buffer_order(buffer, type);
}

void mpi_buffer_order_known(void)
{
    if (is_any_kept && mpi_device_has_work())
        mpi_device_wait_for_work();
}
