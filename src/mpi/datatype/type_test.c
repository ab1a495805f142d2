/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random nested datatypes against a reference that does nothing but write out the type map as the
 * standard defines it, element by element.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mpi/datatype/type_layout.h"
#include "mpi/object/object.h"
#include "testing/mpi_object.h"

enum { MAP_MAX = 3000, AREA = 1 << 16, ROUNDS = XYLEM_SANITIZED ? 300 : 1500 };

/* ---- The reference ----------------------------------------------------------------------- */

typedef struct {
    MPI_Aint at;
    int size;
    MPI_Datatype type;
} entry_t;

typedef struct {
    entry_t entry[MAP_MAX];
    int n;
    bool has_lb, has_ub; /* markers */
    MPI_Aint lb_mark, ub_mark;
    int align;
} map_t;

static MPI_Aint map_lb(const map_t *m)
{
    MPI_Aint lb = m->n > 0 ? m->entry[0].at : 0;

    if (m->has_lb)
        return m->lb_mark;
    for (int i = 0; i < m->n; i++)
        lb = m->entry[i].at < lb ? m->entry[i].at : lb;
    return lb;
}

static MPI_Aint map_end(const map_t *m)
{
    MPI_Aint end = m->n > 0 ? m->entry[0].at + m->entry[0].size : 0;

    for (int i = 0; i < m->n; i++)
        end = m->entry[i].at + m->entry[i].size > end ? m->entry[i].at + m->entry[i].size : end;
    return end;
}

static MPI_Aint map_extent(const map_t *m)
{
    MPI_Aint extent;

    if (m->has_ub)
        return m->ub_mark - map_lb(m);
    extent = map_end(m) - map_lb(m);
    while (extent % m->align != 0)
        extent++;
    return extent;
}

static size_t map_size(const map_t *m)
{
    size_t size = 0;

    for (int i = 0; i < m->n; i++)
        size += (size_t)m->entry[i].size;
    return size;
}

/* Append `part` moved by `by`; false when the map is full. */
static bool map_append(map_t *m, const map_t *part, MPI_Aint by)
{
    if (m->n + part->n > MAP_MAX)
        return false;
    for (int i = 0; i < part->n; i++) {
        m->entry[m->n] = part->entry[i];
        m->entry[m->n++].at += by;
    }
    if (part->has_lb && (!m->has_lb || part->lb_mark + by < m->lb_mark)) {
        m->lb_mark = part->lb_mark + by;
        m->has_lb = true;
    }
    if (part->has_ub && (!m->has_ub || part->ub_mark + by > m->ub_mark)) {
        m->ub_mark = part->ub_mark + by;
        m->has_ub = true;
    }
    /* An alignment counts only with an element that has it. */
    if (part->n > 0 && part->align > m->align)
        m->align = part->align;
    return true;
}

static bool map_append_block(map_t *m, const map_t *part, MPI_Aint by, int length)
{
    for (int i = 0; i < length; i++)
        if (!map_append(m, part, by + i * map_extent(part)))
            return false;
    return true;
}

static size_t map_pack(const map_t *m, const char *user, int count, char *packed)
{
    size_t done = 0;

    for (int k = 0; k < count; k++)
        for (int i = 0; i < m->n; i++) {
            memcpy(packed + done, user + k * map_extent(m) + m->entry[i].at,
                   (size_t)m->entry[i].size);
            done += (size_t)m->entry[i].size;
        }
    return done;
}

static void map_unpack(const map_t *m, char *user, int count, const char *packed, size_t bytes)
{
    size_t done = 0;

    for (int k = 0; k < count; k++)
        for (int i = 0; i < m->n && done < bytes; i++) {
            size_t n = (size_t)m->entry[i].size;

            n = n < bytes - done ? n : bytes - done;
            memcpy(user + k * map_extent(m) + m->entry[i].at, packed + done, n);
            done += n;
        }
}

/* The span of `count` elements around the buffer address. */
static void map_span(const map_t *m, int count, MPI_Aint *low, MPI_Aint *high)
{
    *low = *high = 0;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < m->n; i++) {
            MPI_Aint at = k * map_extent(m) + m->entry[i].at;

            *low = at < *low ? at : *low;
            *high = at + m->entry[i].size > *high ? at + m->entry[i].size : *high;
        }
}

/* ---- Random types ------------------------------------------------------------------------ */

static unsigned random_state;

static int random_in(int low, int high)
{
    random_state = random_state * 1103515245u + 12345u;
    return low + (int)((random_state >> 8) % (unsigned)(high - low + 1));
}

typedef struct {
    MPI_Datatype type;
    map_t map;
} pair_t;

static pair_t *basic(void)
{
    static const struct {
        MPI_Datatype type;
        int size, align;
    } known[] = {{MPI_CHAR, 1, 1},
                 {MPI_SHORT, 2, _Alignof(short)},
                 {MPI_INT, 4, _Alignof(int)},
                 {MPI_DOUBLE, 8, _Alignof(double)},
                 {MPI_LONG_DOUBLE, sizeof(long double), _Alignof(long double)},
                 {MPI_C_DOUBLE_COMPLEX, 16, _Alignof(double)}};
    int k = random_in(0, 5);
    pair_t *p = calloc(1, sizeof *p);

    p->type = known[k].type;
    p->map.n = 1;
    p->map.entry[0] = (entry_t){0, known[k].size, known[k].type};
    p->map.align = known[k].align;
    return p;
}

static void discard(pair_t *p)
{
    if (!mpi_type_of(p->type)->is_predefined)
        assert_int_equal(PMPI_Type_free(&p->type), MPI_SUCCESS);
    free(p);
}

static pair_t *random_type(int depth);

static bool make_vector(const pair_t *old, pair_t *new)
{
    int count = random_in(0, 4), length = random_in(0, 4), stride = random_in(-5, 8);
    bool in_bytes = random_in(0, 1);
    MPI_Aint bytes = in_bytes ? stride * 3 : stride * map_extent(&old->map);

    for (int i = 0; i < count; i++)
        if (!map_append_block(&new->map, &old->map, i * bytes, length))
            return false;
    if (in_bytes)
        assert_int_equal(PMPI_Type_create_hvector(count, length, bytes, old->type, &new->type), 0);
    else
        assert_int_equal(PMPI_Type_vector(count, length, stride, old->type, &new->type), 0);
    return true;
}

static bool make_indexed(const pair_t *old, pair_t *new)
{
    int n = random_in(0, 5), lengths[5], places[5], form = random_in(0, 3);
    MPI_Aint bytes[5];
    int one = random_in(0, 3), regular = random_in(0, 2);

    for (int i = 0; i < n; i++) {
        lengths[i] = form >= 2 || regular == 0 ? one : random_in(0, 3);
        places[i] = regular == 0 ? 3 * i : random_in(-10, 10);
        bytes[i] = form % 2 ? places[i] * 5 : places[i] * map_extent(&old->map);
        if (!map_append_block(&new->map, &old->map, bytes[i], lengths[i]))
            return false;
    }
    if (form == 0)
        assert_int_equal(PMPI_Type_indexed(n, lengths, places, old->type, &new->type), 0);
    else if (form == 1)
        assert_int_equal(PMPI_Type_create_hindexed(n, lengths, bytes, old->type, &new->type), 0);
    else if (form == 2)
        assert_int_equal(PMPI_Type_create_indexed_block(n, one, places, old->type, &new->type), 0);
    else
        assert_int_equal(PMPI_Type_create_hindexed_block(n, one, bytes, old->type, &new->type), 0);
    return true;
}

static bool make_struct(const pair_t *old, pair_t *new, int depth)
{
    pair_t *other = random_type(depth - 1);
    int n = random_in(1, 4), lengths[4];
    MPI_Aint bytes[4];
    MPI_Datatype types[4];
    bool fits = true;

    for (int i = 0; i < n && fits; i++) {
        const pair_t *part = random_in(0, 1) ? old : other;

        lengths[i] = random_in(0, 3);
        bytes[i] = random_in(-40, 80);
        types[i] = part->type;
        fits = map_append_block(&new->map, &part->map, bytes[i], lengths[i]);
    }
    if (fits)
        assert_int_equal(PMPI_Type_create_struct(n, lengths, bytes, types, &new->type), 0);
    discard(other);
    return fits;
}

/* All indices of the box, the last dimension fastest (C) or the first (Fortran). */
static bool make_subarray(const pair_t *old, pair_t *new)
{
    int nd = random_in(1, 3), sizes[3] = {1, 1, 1}, subs[3] = {1, 1, 1}, starts[3] = {0};
    int order = random_in(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, total = 1;
    MPI_Aint extent = map_extent(&old->map);

    for (int d = 0; d < nd; d++) {
        sizes[d] = random_in(1, 5);
        subs[d] = random_in(1, sizes[d]);
        starts[d] = random_in(0, sizes[d] - subs[d]);
        total *= sizes[d];
    }
    for (int k = 0; k < subs[0] * subs[1] * subs[2]; k++) {
        int rest = k, at = 0, scale = 1;

        for (int j = 0; j < nd; j++) {
            int d = order == MPI_ORDER_C ? nd - 1 - j : j;

            at += (starts[d] + rest % subs[d]) * scale;
            rest /= subs[d];
            scale *= sizes[d];
        }
        if (!map_append(&new->map, &old->map, at * extent))
            return false;
    }
    new->map.has_lb = new->map.has_ub = true;
    new->map.lb_mark = 0;
    new->map.ub_mark = total *extent;
    assert_int_equal(
        PMPI_Type_create_subarray(nd, sizes, subs, starts, order, old->type, &new->type), 0);
    return true;
}

static bool make_resized(const pair_t *old, pair_t *new)
{
    MPI_Aint lb = random_in(-8, 8),
             extent = random_in(0, 3) ? random_in(1, 100) : -random_in(1, 60);

    map_append(&new->map, &old->map, 0);
    new->map.has_lb = new->map.has_ub = true;
    new->map.lb_mark = lb;
    new->map.ub_mark = lb + extent;
    assert_int_equal(PMPI_Type_create_resized(old->type, lb, extent, &new->type), 0);
    return true;
}

static bool make_contiguous(const pair_t *old, pair_t *new)
{
    int count = random_in(0, 5);

    if (!map_append_block(&new->map, &old->map, 0, count))
        return false;
    assert_int_equal(PMPI_Type_contiguous(count, old->type, &new->type), 0);
    return true;
}

static bool make_dup(const pair_t *old, pair_t *new)
{
    map_append(&new->map, &old->map, 0);
    assert_int_equal(PMPI_Type_dup(old->type, &new->type), 0);
    return true;
}

static bool make_over(int form, const pair_t *old, pair_t *new, int depth)
{
    switch (form) {
    case 0:
        return make_vector(old, new);
    case 1:
        return make_indexed(old, new);
    case 2:
        return make_struct(old, new, depth);
    case 3:
        return make_subarray(old, new);
    case 4:
        return make_resized(old, new);
    case 5:
        return make_contiguous(old, new);
    default:
        return make_dup(old, new);
    }
}

static pair_t *random_type(int depth)
{
    pair_t *old, *new;

    if (depth <= 0)
        return basic();
    old = random_type(depth - 1);
    new = calloc(1, sizeof *new);
    new->map.align = 1;
    if (!make_over(random_in(0, 6), old, new, depth)) {
        free(new);
        return old;
    }
    discard(old); /* the new type keeps what it needs */
    return new;
}

/* ---- Properties -------------------------------------------------------------------------- */

static char *area_a, *area_b, *area_c, *packed_a, *packed_b;

static void fill(char *area, size_t n)
{
    for (size_t i = 0; i < n; i++)
        area[i] = (char)random_in(0, 255);
}

/* Whether `count` of the map fit around the middle of an area. */
static bool fits(const map_t *m, int count)
{
    MPI_Aint low, high;

    map_span(m, count, &low, &high);
    return low > -AREA / 2 && high < AREA / 2 && map_size(m) * (size_t)count < AREA;
}

static bool overlaps(const map_t *m, int count)
{
    static char used[AREA];
    bool found = false;

    memset(used, 0, AREA);
    for (int k = 0; k < count && !found; k++)
        for (int i = 0; i < m->n; i++)
            for (int j = 0; j < m->entry[i].size; j++) {
                char *u = &used[AREA / 2 + k * map_extent(m) + m->entry[i].at + j];

                found = found || *u;
                *u = 1;
            }
    return found;
}

static void check_bounds(const pair_t *p)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    map_t plain = p->map;
    int size;

    plain.has_lb = plain.has_ub = false;
    plain.align = 1;
    assert_int_equal(PMPI_Type_size(p->type, &size), 0);
    assert_int_equal(size, (int)map_size(&p->map));
    assert_int_equal(PMPI_Type_get_extent(p->type, &lb, &extent), 0);
    assert_int_equal(lb, map_lb(&p->map));
    assert_int_equal(extent, map_extent(&p->map));
    assert_int_equal(PMPI_Type_get_true_extent(p->type, &true_lb, &true_extent), 0);
    assert_int_equal(true_lb, map_lb(&plain));
    assert_int_equal(true_extent, map_extent(&plain));
}

/* Move the message in pieces cut at random places; `backwards` takes them from the end. */
static void in_pieces(const pair_t *p, int count, size_t bytes, bool pack, bool backwards)
{
    const mpi_type_t *type = mpi_type_of(p->type);
    size_t done = 0;

    while (done < bytes) {
        size_t n = (size_t)random_in(1, (int)bytes / 3 + 1), first;

        n = n < bytes - done ? n : bytes - done;
        first = backwards ? bytes - done - n : done;
        if (pack)
            mpi_type_pack(packed_b + first, area_a + AREA / 2, count, type, first, n);
        else
            mpi_type_unpack(area_b + AREA / 2, count, type, packed_a + first, first, n);
        done += n;
    }
}

static void check_pack(const pair_t *p, int count)
{
    size_t bytes = map_size(&p->map) * (size_t)count;

    fill(area_a, AREA);
    assert_int_equal(map_pack(&p->map, area_a + AREA / 2, count, packed_a), bytes);
    memset(packed_b, 0, bytes);
    mpi_type_pack(packed_b, area_a + AREA / 2, count, mpi_type_of(p->type), 0, bytes);
    assert_memory_equal(packed_a, packed_b, bytes);
    memset(packed_b, 0, bytes);
    in_pieces(p, count, bytes, true, random_in(0, 1));
    assert_memory_equal(packed_a, packed_b, bytes);

    memcpy(area_b, area_a, AREA);
    memcpy(area_c, area_a, AREA);
    fill(packed_a, bytes);
    map_unpack(&p->map, area_c + AREA / 2, count, packed_a, bytes);
    in_pieces(p, count, bytes, false, !overlaps(&p->map, count) && random_in(0, 1));
    assert_memory_equal(area_b, area_c, AREA);
}

static void check_copy(const pair_t *from, int from_count, const pair_t *to, int to_count)
{
    size_t room = map_size(&to->map) * (size_t)to_count, bytes, copied;

    fill(area_a, AREA);
    fill(area_b, AREA);
    memcpy(area_c, area_b, AREA);
    bytes = map_pack(&from->map, area_a + AREA / 2, from_count, packed_a);
    bytes = bytes < room ? bytes : room;
    map_unpack(&to->map, area_c + AREA / 2, to_count, packed_a, bytes);
    mpi_type_copy(area_b + AREA / 2, to_count, mpi_type_of(to->type), area_a + AREA / 2, from_count,
                  mpi_type_of(from->type), &copied);
    assert_int_equal(copied, bytes);
    assert_memory_equal(area_b, area_c, AREA);
}

/* The number of elements in a prefix, both ways, and in the status. */
static void check_elements(const pair_t *p)
{
    size_t bytes = 0, size = map_size(&p->map);
    MPI_Status status = {0};
    int n;

    if (size == 0)
        return;
    for (int i = 0; i < p->map.n; i++) {
        assert_int_equal(mpi_type_elements(mpi_type_of(p->type), bytes), i);
        if (p->map.entry[i].size > 1)
            assert_int_equal(mpi_type_elements(mpi_type_of(p->type), bytes + 1), -1);
        assert_int_equal(PMPI_Status_set_elements(&status, p->type, i + 2 * p->map.n), 0);
        assert_int_equal(mpi_status_bytes(&status), bytes + 2 * size);
        assert_int_equal(PMPI_Get_elements(&status, p->type, &n), 0);
        assert_int_equal(n, i + 2 * p->map.n);
        assert_int_equal(PMPI_Get_count(&status, p->type, &n), 0);
        assert_int_equal(n, i == 0 ? 2 : MPI_UNDEFINED);
        bytes += (size_t)p->map.entry[i].size;
    }
}

/* Loops around blocks of one length, nested differently on the two sides. */
static void check_vectors(void)
{
    pair_t *p = basic(), *ends[2];

    for (int i = 0; i < 2; i++) {
        ends[i] = calloc(1, sizeof **ends);
        ends[i]->map.align = 1;
        if (random_in(0, 1))
            assert_true(make_subarray(p, ends[i]));
        else
            assert_true(make_vector(p, ends[i]));
    }
    check_copy(ends[0], random_in(0, 5), ends[1], random_in(0, 5));
    discard(ends[0]);
    discard(ends[1]);
    discard(p);
}

static void test_random_types(void **state)
{
    int moved = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        pair_t *p, *q;
        int count, other;

        random_state = (unsigned)round * 7919u + 1;
        p = random_type(random_in(0, 4));
        q = random_type(random_in(0, 3));
        count = random_in(0, 5);
        other = random_in(0, 5);
        check_bounds(p);
        check_elements(p);
        if (fits(&p->map, count) && fits(&q->map, other)) {
            check_pack(p, count);
            check_copy(p, count, q, other);
            if (fits(&p->map, other))
                check_copy(p, count, p, other);
            check_vectors();
            moved++;
        }
        discard(p);
        discard(q);
    }
    assert_in_range(moved, ROUNDS / 2, ROUNDS); /* the others span more than the areas */
}

/* ---- Normal form ------------------------------------------------------------------------- */

/* Equal memory gives one layout, however it was described. */
static void test_normal_form(void **state)
{
    int sizes[3] = {20, 30, 40}, whole[3] = {5, 30, 40}, face[3] = {20, 30, 1}, zero[3] = {0};
    int places[4] = {0, 3, 6, 9};
    MPI_Datatype t, u;

    (void)state;
    PMPI_Type_vector(10, 4, 4, MPI_INT, &t);
    assert_true(mpi_type_of(t)->is_contiguous);
    PMPI_Type_free(&t);
    PMPI_Type_create_subarray(3, sizes, whole, zero, MPI_ORDER_C, MPI_DOUBLE, &t);
    assert_int_equal(mpi_type_of(t)->layout.depth, 0);
    assert_int_equal(mpi_type_of(t)->layout.blocks, 1);
    PMPI_Type_free(&t);
    PMPI_Type_create_subarray(3, sizes, face, zero, MPI_ORDER_C, MPI_DOUBLE, &t);
    assert_int_equal(mpi_type_of(t)->layout.depth, 1);
    assert_int_equal(mpi_type_of(t)->layout.loops[0].count, 600);
    PMPI_Type_free(&t);
    PMPI_Type_create_indexed_block(4, 1, places, MPI_INT, &t);
    assert_int_equal(mpi_type_of(t)->layout.depth, 1);
    assert_int_equal(mpi_type_of(t)->layout.blocks, 1);
    PMPI_Type_contiguous(1, t, &u);
    assert_int_equal(mpi_type_of(u)->layout.depth, 1);
    PMPI_Type_free(&t);
    PMPI_Type_free(&u);
}

/* More loops than a layout holds: the whole becomes a list, the data stays the same. */
static void test_deep_nest(void **state)
{
    enum { LEVELS = XMPI_TYPE_DEPTH + 2, BYTES = 1 << LEVELS };
    static char from[3 * BYTES], packed[BYTES];
    MPI_Datatype t = MPI_CHAR, next;

    (void)state;
    for (int i = 0; i < LEVELS; i++) {
        /* Each level lies apart and the strides fall, so no two loops merge. */
        PMPI_Type_create_hvector(2, 1, (MPI_Aint)3 << (LEVELS - 1 - i), t, &next);
        if (t != MPI_CHAR)
            PMPI_Type_free(&t);
        t = next;
        assert_in_range(mpi_type_of(t)->layout.depth, 0, XMPI_TYPE_DEPTH);
    }
    assert_int_equal(mpi_type_of(t)->size, BYTES);
    for (int i = 0; i < 3 * BYTES; i++)
        from[i] = (char)(i * 7 + i / 256);
    mpi_type_pack(packed, from, 1, mpi_type_of(t), 0, BYTES);
    for (int i = 0; i < BYTES; i++) {
        int at = 0;

        for (int bit = 0; bit < LEVELS; bit++)
            at += (i >> bit & 1) * (3 << (LEVELS - 1 - bit));
        assert_int_equal(packed[i], from[at]);
    }
    PMPI_Type_free(&t);
}

/* Columns of a matrix one after the other, which go in tiles: sizes around those of tiles, elements
 * with holes between, whole and in parts. */
static void check_transpose(int rows, int columns, int length, int gap, int split)
{
    size_t bytes = (size_t)rows * (size_t)columns * (size_t)length;
    int pitch = columns * (length + gap);
    MPI_Datatype element, column, t;

    PMPI_Type_contiguous(length, MPI_CHAR, &element);
    PMPI_Type_create_hvector(rows, 1, pitch, element, &column);
    PMPI_Type_create_resized(column, 0, length + gap, &t);
    for (int i = 0; i < rows * pitch; i++)
        area_a[i] = (char)(i * 7 + i / 256);
    memset(area_b, 0, AREA);
    for (size_t at = 0; at < bytes; at += (size_t)split) {
        size_t n = bytes - at < (size_t)split ? bytes - at : (size_t)split;

        mpi_type_pack(packed_a + at, area_a, columns, mpi_type_of(t), at, n);
        mpi_type_unpack(area_b, columns, mpi_type_of(t), packed_a + at, at, n);
    }
    for (int c = 0; c < columns; c++)
        for (int r = 0; r < rows; r++) {
            const char *place = area_a + r * pitch + c * (length + gap);

            assert_memory_equal(packed_a + (c * rows + r) * length, place, (size_t)length);
            assert_memory_equal(area_b + (place - area_a), place, (size_t)length);
            for (int g = 0; g < gap; g++)
                assert_int_equal(area_b[place - area_a + length + g], 0);
        }
    PMPI_Type_free(&element);
    PMPI_Type_free(&column);
    PMPI_Type_free(&t);
}

static void test_transposes(void **state)
{
    static const int lengths[] = {4, 8, 16, 12}, sizes[] = {1, 3, 4, 8, 16, 17, 31, 33, 40};

    (void)state;
    for (int l = 0; l < 4; l++)
        for (int r = 0; r < 9; r++)
            for (int c = 0; c < 9; c++)
                for (int gap = 0; gap <= 8; gap += 8)
                    check_transpose(sizes[r], sizes[c], lengths[l], gap,
                                    (r + c) % 3 == 0 ? 97 : AREA);
}

static int set_up(void **state)
{
    (void)state;
    area_a = malloc(AREA);
    area_b = malloc(AREA);
    area_c = malloc(AREA);
    packed_a = malloc(AREA);
    packed_b = malloc(AREA);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(area_a);
    free(area_b);
    free(area_c);
    free(packed_a);
    free(packed_b);
    return 0;
}

/* An operation of the program that asks for a size in the middle of a reduction: reports continue
 * naming the reduction. */
static void test_local_call_keeps_the_outer_one(void **state)
{
    static mpi_rank_t rank = {.call = {.name = "MPI_Allreduce"}};
    int size = 0;

    (void)state;
    rank.call.caller = &rank;
    mpi_self = &rank;
    PMPI_Type_size(MPI_DOUBLE, &size);
    mpi_self = NULL;
    assert_int_equal(size, sizeof(double));
    assert_string_equal(rank.call.name, "MPI_Allreduce");
    assert_ptr_equal(rank.call.caller, &rank);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_local_call_keeps_the_outer_one),
        cmocka_unit_test(test_random_types),
        cmocka_unit_test(test_normal_form),
        cmocka_unit_test(test_deep_nest),
        cmocka_unit_test(test_transposes),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
