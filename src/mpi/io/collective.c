/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective accesses. All members' memory is visible here, so that nothing is sent: the range of
 * the file that they touch is cut into pieces, and a piece is put together in a buffer from the
 * memory of all of them and written at once, or read at once and dealt out.
 *
 *   members    0 1 2 3 0 1 2 3 0 1 2 3 0 1 2 3        one block of 8 bytes each
 *   pieces     [-------------][-------------]         one write of 1 MiB each
 *
 * Runs of some pages need no buffer: the kernel takes those of a piece from the members in one
 * call.
 *
 * Holes that no member writes keep what they have: a piece with holes is written through a mapping
 * of the file, or segment by segment where it cannot be mapped.
 */
#include <errno.h>
#include <string.h>

#include "mpi/io/access.h"
#include "mpi/io/descriptor.h"
#include "mpi/io/gather.h"
#include "mpi/io/io_buffer.h"
#include "mpi/io/io_write.h"
#include "mpi/io/map.h"
#include "mpi/runtime/runtime.h"

enum {
    ALONE = 64 << 10,     /* bytes of a run from which on each member does its own, */
    ALONE_HERE = 8 << 10, /* and where the file is memory of this machine */
    SPARSE = 64,          /* so much more file than data: likewise */
    MOST_MARKS = 1 << 24
};

typedef struct {
    io_access_t *const *accesses;
    int count;
    bool is_write;
    bool is_disjoint; /* no two members have the same byte: amounts tell whether there are holes */
    bool may_join;    /* they are not each for itself in any case */
    size_t bytes;     /* of all */
    size_t shortest;  /* run, on the average of an access */
    size_t grain;     /* divides all offsets and lengths */
    size_t piece;
    int64_t low, high; /* bytes of the file */
    _Atomic int error;
    _Atomic int64_t end; /* of the file, as far as reads have met it */
} plan_t;

/* The share of an access in a piece: bytes [first, end) of it. */
typedef struct {
    size_t first, end;
} share_t;

static size_t clamp(int64_t value, size_t most)
{
    if (value < 0)
        return 0;
    return (uint64_t)value > most ? most : (size_t)value;
}

static share_t share_of(const io_access_t *a, int64_t from, int64_t to)
{
    return (share_t){clamp(io_view_before(a->view, from) - a->at, a->bytes),
                     clamp(io_view_before(a->view, to) - a->at, a->bytes)};
}

/* ---- Which bytes are covered ---- */

/* Mark the bytes of [from, from + bytes) that bytes [first, end) of the view are in. False: one was
 * marked before. */
static bool mark(const io_view_t *view, int64_t first, int64_t end, size_t grain, int64_t from,
                 char *marks)
{
    bool is_free = true;
    io_walk_t walk;

    if (first >= end)
        return true;
    if (view->is_plain) {
        char *at = marks + (size_t)(view->disp + first - from) / grain;
        size_t n = (size_t)(end - first) / grain;

        is_free = memchr(at, 1, n) == NULL;
        memset(at, 1, n);
        return is_free;
    }
    io_walk_begin(&walk, view, first);
    while (first < end) {
        size_t n;
        char *at = marks + (size_t)(io_walk_run(&walk, &n) - from) / grain;

        n = (int64_t)n < end - first ? n : (size_t)(end - first);
        is_free = is_free && memchr(at, 1, n / grain) == NULL;
        memset(at, 1, n / grain);
        io_walk_advance(&walk, n);
        first += (int64_t)n;
    }
    return is_free;
}

/* One behind the other, in order of rank. */
static bool is_in_order(const plan_t *p)
{
    int64_t end = 0;

    for (int i = 0; i < p->count; i++) {
        const io_access_t *a = p->accesses[i];

        if (!a->view->is_plain || a->view->disp + a->at < end)
            return false;
        end = a->view->disp + a->at + (int64_t)a->bytes;
    }
    return true;
}

/* Views that repeat with the same step are disjoint if they are within one step, wherever each of
 * them begins. */
static bool find_disjoint(const plan_t *p)
{
    const io_view_t *first = p->accesses[0]->view;
    int64_t step = first->tile->extent;
    size_t most = (size_t)step / p->grain;
    bool is_disjoint = true;
    char *marks;

    if (first->is_plain || step == 0 || most > MOST_MARKS)
        return is_in_order(p);
    for (int i = 1; i < p->count; i++)
        if (p->accesses[i]->view->tile->extent != step || p->accesses[i]->view->is_plain)
            return false;
    marks = xy_calloc(2 * most, 1);
    for (int i = 0; marks != NULL && i < p->count && is_disjoint; i++) {
        const io_view_t *view = p->accesses[i]->view;
        int64_t place = view->disp % step;

        /* The part of a tile beyond the step is where the next tile has it. */
        is_disjoint = place + view->high[0] <= 2 * step &&
                      mark(view, 0, (int64_t)view->tile->size, p->grain, view->disp - place, marks);
    }
    for (size_t i = 0; marks != NULL && is_disjoint && i < most; i++)
        is_disjoint = !(marks[i] && marks[most + i]);
    xy_free(marks);
    return marks != NULL && is_disjoint;
}

/* ---- Pieces of writes ---- */

/* The data of `a` in a piece, into memory that holds the file from `from` on. errno. */
static int put(const io_access_t *a, share_t share, char *memory, int64_t from)
{
    size_t bytes = share.end - share.first;
    char *data = io_access_bytes(a), *packed = NULL;

    if (bytes == 0)
        return 0;
    if (data != NULL) {
        data += share.first;
    } else {
        data = packed = io_buffer_get(IO_BUFFER_MEMORY, bytes);
        if (packed == NULL)
            return ENOMEM;
        mpi_type_pack(packed, a->memory, a->count, a->type, share.first, bytes);
    }
    mpi_type_unpack(io_view_base(a->view, memory, from), 0, a->view->tile, data,
                    (size_t)a->at + share.first, bytes);
    if (packed != NULL)
        io_buffer_put(IO_BUFFER_MEMORY, packed);
    return 0;
}

static int put_all(const plan_t *p, int64_t from, int64_t to, char *memory, int64_t start)
{
    int error = 0;

    for (int i = 0; i < p->count && error == 0; i++)
        error = put(p->accesses[i], share_of(p->accesses[i], from, to), memory, start);
    return error;
}

/* The marked parts of a buffer. */
static int write_marked(int fd, const char *buffer, const char *marks, size_t count, size_t grain,
                        int64_t from)
{
    const char *end = marks + count, *first = marks, *last;
    int error = 0;

    while (error == 0 && first < end && (first = memchr(first, 1, (size_t)(end - first))) != NULL) {
        last = memchr(first, 0, (size_t)(end - first));
        last = last != NULL ? last : end;
        error = io_write_at(fd, buffer + (size_t)(first - marks) * grain,
                            (size_t)(last - first) * grain,
                            from + (int64_t)((size_t)(first - marks) * grain));
        first = last;
    }
    return error;
}

/* Write those segments of a piece that members have filled, and leave the holes as they are. */
static int write_segments(const plan_t *p, int64_t from, int64_t to, char *buffer)
{
    size_t count = (size_t)(to - from) / p->grain;
    char *marks = xy_calloc(count, 1);
    int error;

    if (marks == NULL)
        return ENOMEM;
    for (int i = 0; i < p->count; i++) {
        const io_access_t *a = p->accesses[i];
        share_t share = share_of(a, from, to);

        mark(a->view, a->at + (int64_t)share.first, a->at + (int64_t)share.end, p->grain, from,
             marks);
    }
    error = write_marked(io_fd(p->accesses[0]->shared), buffer, marks, count, p->grain, from);
    xy_free(marks);
    return error;
}

/* Put a piece together in a buffer and write it, whole if it has no holes; returns an errno value.
 */
static int write_buffered(const plan_t *p, int64_t from, int64_t to, bool is_full)
{
    char *buffer = io_buffer_get(IO_BUFFER_FILE, (size_t)(to - from));
    int error;

    if (buffer == NULL)
        return ENOMEM;
    error = put_all(p, from, to, buffer, from);
    if (error == 0 && is_full)
        error = io_write(p->accesses[0]->shared, buffer, (size_t)(to - from), from);
    else if (error == 0)
        error = write_segments(p, from, to, buffer);
    io_buffer_put(IO_BUFFER_FILE, buffer);
    return error;
}

/* False: not all of it. */
static bool write_mapped(const plan_t *p, int64_t from, int64_t to, int *error_p)
{
    io_shared_t *shared = p->accesses[0]->shared;
    io_map_t map;

    if (!io_map(shared, from, to, &map))
        return false;
    *error_p = put_all(p, from, to, map.memory, map.from);
    return io_unmap(shared, &map);
}

static int write_piece(const plan_t *p, int64_t from, int64_t to, size_t data)
{
    bool is_full = p->is_disjoint && data == (size_t)(to - from);
    const io_shared_t *shared = p->accesses[0]->shared;
    bool is_mapped =
        !p->accesses[0]->is_direct && (!is_full || (shared->is_memory && io_is_solid(shared, to)));
    int error;

    if (is_mapped && write_mapped(p, from, to, &error))
        return error;
    return write_buffered(p, from, to, is_full);
}

/* ---- Pieces of reads ---- */

/* Copy a member's share of a piece from the file's bytes into its memory; returns an errno value.
 */
static int take(const io_access_t *a, share_t share, char *memory, int64_t from)
{
    size_t bytes = share.end - share.first;
    char *data = io_access_bytes(a), *packed = NULL;

    if (bytes == 0)
        return 0;
    if (data == NULL && (packed = io_buffer_get(IO_BUFFER_MEMORY, bytes)) == NULL)
        return ENOMEM;
    mpi_type_pack(data != NULL ? data + share.first : packed, io_view_base(a->view, memory, from),
                  0, a->view->tile, (size_t)a->at + share.first, bytes);
    if (packed != NULL)
        mpi_type_unpack(a->memory, a->count, a->type, packed, share.first, bytes);
    if (packed != NULL)
        io_buffer_put(IO_BUFFER_MEMORY, packed);
    return 0;
}

static void note_end(plan_t *p, int64_t end)
{
    int64_t known = atomic_load_explicit(&p->end, memory_order_relaxed);

    while (end < known && !atomic_compare_exchange_weak_explicit(
                              &p->end, &known, end, memory_order_relaxed, memory_order_relaxed))
        ;
}

/* Read a piece of the file and deal it out to the members; notes where the file ends. */
static int read_piece(plan_t *p, int64_t from, int64_t to)
{
    char *buffer = io_buffer_get(IO_BUFFER_FILE, (size_t)(to - from));
    size_t got = 0;
    int error;

    if (buffer == NULL)
        return ENOMEM;
    error = io_read_at(io_fd(p->accesses[0]->shared), buffer, (size_t)(to - from), from, &got);
    if (error == 0 && got < (size_t)(to - from))
        note_end(p, from + (int64_t)got);
    for (int i = 0; i < p->count && error == 0; i++)
        error =
            take(p->accesses[i], share_of(p->accesses[i], from, from + (int64_t)got), buffer, from);
    io_buffer_put(IO_BUFFER_FILE, buffer);
    return error;
}

/* ---- All pieces ---- */

static void find_piece(const plan_t *p, int64_t index, int64_t *from_p, int64_t *to_p)
{
    int64_t base = p->low & -(int64_t)4096, start = base + index * (int64_t)p->piece;
    int64_t end = start + (int64_t)p->piece;

    *from_p = start > p->low ? start : p->low;
    *to_p = end < p->high ? end : p->high;
}

static void note_error(plan_t *p, int error)
{
    if (error != 0)
        atomic_store_explicit(&p->error, error, memory_order_relaxed);
}

/* Read or write one piece; pieces without data of any member are skipped. */
static void do_piece(void *arg, int64_t index)
{
    plan_t *p = arg;
    int64_t from, to;
    size_t data = 0;
    int error = 0;

    find_piece(p, index, &from, &to);
    for (int i = 0; i < p->count; i++) {
        share_t share = share_of(p->accesses[i], from, to);

        data += share.end - share.first;
    }
    if (data > 0)
        error = p->is_write ? write_piece(p, from, to, data) : read_piece(p, from, to);
    note_error(p, error);
}

/* Straight from and to the memory of the members; or through a mapping where another worker has the
 * lock of the file (io_write.h). */
static void do_filled(void *arg, int64_t index)
{
    plan_t *p = arg;
    io_shared_t *shared = p->accesses[0]->shared;
    bool may_wait = !p->is_write || !shared->is_memory || p->accesses[0]->is_direct;
    bool is_alone = !may_wait && io_write_enter(shared);
    int64_t from, to;
    size_t got = 0;
    int error;

    find_piece(p, index, &from, &to);
    if (may_wait || is_alone || !io_is_solid(shared, to) || !write_mapped(p, from, to, &error))
        error = io_gather(p->accesses, p->count, from, to, &got);
    if (is_alone)
        io_write_leave(shared);
    if (!p->is_write && error == 0 && got < (size_t)(to - from))
        note_end(p, from + (int64_t)got);
    note_error(p, error);
}

static void do_alone(void *arg, int64_t index)
{
    io_access_run(((const plan_t *)arg)->accesses[index]);
}

static void run(const io_how_t *how, void (*fn)(void *arg, int64_t piece), void *arg,
                int64_t pieces)
{
    if (how->run != NULL) {
        how->run(fn, arg, pieces);
        return;
    }
    for (int64_t i = 0; i < pieces; i++)
        fn(arg, i);
}

static void finish(plan_t *p)
{
    int error = atomic_load_explicit(&p->error, memory_order_relaxed);
    int64_t end = atomic_load_explicit(&p->end, memory_order_relaxed);

    for (int i = 0; i < p->count; i++) {
        io_access_t *a = p->accesses[i];

        a->error = error;
        a->done = error == 0 ? share_of(a, p->low, end < p->high ? end : p->high).end : 0;
    }
}

/* ---- Together, or each for itself ---- */

bool io_is_alone(const io_access_t *a)
{
    size_t run = io_view_run(a->view), least = a->shared->is_local ? ALONE_HERE : ALONE;

    return !a->is_write && !a->is_atomic && run >= least && a->bytes >= least;
}

/* Find the common properties of the accesses with data; puts them first, into `with`. */
static void make_plan(io_access_t *const *accesses, int count, const io_how_t *how,
                      io_access_t **with, plan_t *p)
{
    size_t bits = 4096, run;
    bool is_alone = how->is_split;

    *p = (plan_t){.accesses = with,
                  .low = INT64_MAX,
                  .piece = how->piece,
                  .shortest = SIZE_MAX,
                  .end = INT64_MAX};
    for (int i = 0; i < count; i++) {
        io_access_t *a = accesses[i];
        int64_t first, last;

        if (a->bytes == 0)
            continue;
        first = io_view_offset(a->view, a->at);
        last = io_view_offset(a->view, a->at + (int64_t)a->bytes - 1);
        p->low = first < p->low ? first : p->low;
        p->high = last >= p->high ? last + 1 : p->high;
        p->bytes += a->bytes;
        run = io_view_run(a->view);
        run = run < a->bytes ? run : a->bytes;
        p->shortest = run < p->shortest ? run : p->shortest;
        bits |= a->view->grain | (size_t)a->at | a->bytes;
        is_alone |= a->is_atomic || a->view->overlaps;
        p->is_write = a->is_write;
        with[p->count++] = a;
    }
    p->grain = bits & -bits;
    p->may_join = !is_alone && p->count > 1;
}

/* Runs so short that they are put together in a buffer. */
static bool is_for_buffers(const plan_t *p)
{
    bool is_here = p->may_join && p->accesses[0]->shared->may_map;

    return p->may_join && p->shortest < (is_here ? ALONE_HERE : ALONE) &&
           (uint64_t)(p->high - p->low) / SPARSE < p->bytes;
}

/* Longer ones that have each byte of the range once. */
static bool is_filled(const plan_t *p)
{
    if (!p->may_join || p->accesses[0]->view->is_plain || (size_t)(p->high - p->low) != p->bytes)
        return false;
    for (int i = 0; i < p->count; i++)
        if (io_access_bytes(p->accesses[i]) == NULL)
            return false;
    return find_disjoint(p);
}

static void run_pieces(const io_how_t *how, void (*fn)(void *arg, int64_t piece), plan_t *p)
{
    int64_t base = p->low & -(int64_t)4096;

    run(how, fn, p, (p->high - base + (int64_t)p->piece - 1) / (int64_t)p->piece);
    finish(p);
}

void io_collective_run(io_access_t *const *accesses, int count, const io_how_t *how)
{
    io_access_t **with;
    plan_t plan;

    if (how->run == NULL && !how->is_split && io_runs_run(accesses, count))
        return;
    with = xy_malloc((size_t)count * sizeof(io_access_t *));
    if (with == NULL) {
        for (int i = 0; i < count; i++)
            accesses[i]->error = accesses[i]->bytes > 0 ? ENOMEM : 0;
        return;
    }
    make_plan(accesses, count, how, with, &plan);
    if (is_for_buffers(&plan)) {
        plan.is_disjoint = plan.is_write && find_disjoint(&plan);
        run_pieces(how, do_piece, &plan);
    } else if (is_filled(&plan)) {
        run_pieces(how, do_filled, &plan);
    } else {
        run(how, do_alone, &plan, plan.count);
    }
    xy_free(with);
}
