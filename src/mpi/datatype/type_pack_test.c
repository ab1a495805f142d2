/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that is moved in another order than the type map says, for speed: columns of matrices,
 * structs, and lists of blocks. Each against a loop over the elements.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "mpi/datatype/type_square.h"
#include "mpi/datatype/type_turn.h"
#include "testing/mpi_object.h"

enum { ROUNDS = XYLEM_SANITIZED ? 60 : 300, MEMBERS = 10, MARGIN = 64 };

static unsigned random_state;

static int random_in(int low, int high)
{
    random_state = random_state * 1103515245u + 12345u;
    return low + (int)((random_state >> 8) % (unsigned)(high - low + 1));
}

/* Memory with a margin on both sides, at any address; every byte differs from its neighbours. */
typedef struct {
    char *all, *data;
    size_t bytes;
} area_t;

/* The data begins so many bytes behind the beginning of a line. */
static area_t area_at(size_t bytes, int seed, int offset)
{
    area_t a = {.bytes = (bytes + 3 * (size_t)MARGIN) & ~(size_t)(MARGIN - 1)};

    a.all = aligned_alloc(MARGIN, a.bytes);
    a.data = a.all + offset;
    for (size_t i = 0; i < a.bytes; i++)
        a.all[i] = (char)((size_t)seed + i * 7 + i / 256);
    return a;
}

static area_t area_new(size_t bytes, int seed)
{
    return area_at(bytes, seed, random_in(0, MARGIN));
}

/* The same bytes. */
static area_t area_copy(const area_t *a)
{
    area_t copy = {.all = malloc(a->bytes), .bytes = a->bytes};

    copy.data = copy.all + (a->data - a->all);
    memcpy(copy.all, a->all, a->bytes);
    return copy;
}

static void expect_same(area_t *a, area_t *b)
{
    assert_memory_equal(a->all, b->all, a->bytes);
    free(a->all);
    free(b->all);
}

/* ---- Columns ---- */

typedef struct {
    int rows, columns, length, stride;
    int user_at, packed_at; /* in a line */
    mpi_loop_t loop;
} columns_t;

/* Also more than a block of squares, and rows from the last to the first. */
static columns_t random_columns(void)
{
    static const int lengths[] = {4, 8, 16};
    columns_t m = {.rows = random_in(8, random_in(0, 3) ? 40 : 290),
                   .columns = random_in(2, random_in(0, 3) ? 40 : 150),
                   .length = lengths[random_in(0, 2)],
                   .user_at = random_in(0, MARGIN),
                   .packed_at = random_in(0, MARGIN)};

    m.stride = m.length + (random_in(0, 2) ? 0 : 4 * random_in(1, 3));
    m.loop = (mpi_loop_t){.count = m.rows,
                          .stride = m.columns * m.stride + (random_in(0, 1) ? 0 : random_in(1, 70)),
                          .size = (size_t)m.length};
    if (random_in(0, 3) == 0)
        m.loop.stride = -m.loop.stride;
    return m;
}

static char *element(const columns_t *m, char *first, int r, int c)
{
    return first + r * m->loop.stride + c * m->stride;
}

static void check_columns(const columns_t *m)
{
    size_t far = (size_t)llabs((long long)m->loop.stride), length = (size_t)m->length;
    area_t user = area_at(far * (size_t)m->rows, 3, m->user_at), user_too = area_copy(&user);
    area_t packed = area_at(length * (size_t)m->rows * (size_t)m->columns, 5, m->packed_at);
    area_t packed_too = area_copy(&packed);
    size_t first = m->loop.stride < 0 ? far * (size_t)(m->rows - 1) : 0;

    assert_true(mpi_turn_is_worth(m->stride, m->columns, &m->loop, length));
    mpi_turn_pack(packed.data, length * (size_t)m->rows, user.data + first, m->stride, m->columns,
                  &m->loop, length);
    for (int c = 0; c < m->columns; c++)
        for (int r = 0; r < m->rows; r++)
            memcpy(packed_too.data + (size_t)(c * m->rows + r) * length,
                   element(m, user.data + first, r, c), length);
    assert_memory_equal(packed.all, packed_too.all, packed.bytes);
    for (size_t i = 0; i < packed.bytes; i++)
        packed.all[i] = (char)~packed.all[i];
    mpi_turn_unpack(user.data + first, packed.data, length * (size_t)m->rows, m->stride, m->columns,
                    &m->loop, length);
    for (int c = 0; c < m->columns; c++)
        for (int r = 0; r < m->rows; r++)
            memcpy(element(m, user_too.data + first, r, c),
                   packed.data + (size_t)(c * m->rows + r) * length, length);
    expect_same(&user, &user_too);
    free(packed.all);
    free(packed_too.all);
}

static void test_columns(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        columns_t m;

        random_state = (unsigned)round * 37u + 11;
        m = random_columns();
        check_columns(&m);
    }
}

/* An element of a line, or any address. */
static int random_place(int length)
{
    return random_in(0, 3) ? length * random_in(0, MARGIN / length - 1) : random_in(0, MARGIN);
}

/* Matrices that are not in the first-level cache, whose rows begin everywhere in lines, on both
 * sides; so many rows and columns more than such a matrix needs. */
static void check_lines(int length, int more_rows, int more_columns)
{
    int least = length == 4 ? 92 : length == 8 ? 65 : 46;
    columns_t m = {.rows = least + more_rows,
                   .columns = least + more_columns,
                   .length = length,
                   .stride = length,
                   .user_at = random_place(length),
                   .packed_at = random_place(length)};

    m.loop = (mpi_loop_t){.count = m.rows, .stride = m.columns * length, .size = (size_t)length};
    if (random_in(0, 7) == 0)
        m.loop.stride += random_in(1, 70);
    if (random_in(0, 3) == 0)
        m.loop.stride = -m.loop.stride;
    check_columns(&m);
}

static void test_lines(void **state)
{
    (void)state;
    random_state = 29;
    for (int length = 4; length <= 16; length *= 2)
        for (int round = 0; round < (XYLEM_SANITIZED ? 1 : 4); round++)
            for (int more = 0; more < MARGIN / length; more++)
                check_lines(length, more, random_in(0, MARGIN / length));
}

/* However long the rows are, each column of a square begins a line. */
static void test_skews(void **state)
{
    (void)state;
    for (int length = 4; length <= 16; length *= 2)
        for (int row = -1000; row < 1000; row++) {
            int unit = mpi_square_unit((size_t)length), skew = mpi_square_skew(row, (size_t)length);

            assert_int_equal(skew == XMPI_SKEW_UNKNOWN, row % unit != 0);
            for (int c = 0; c < MARGIN / length && skew != XMPI_SKEW_UNKNOWN; c++)
                assert_int_equal((c * row + mpi_square_shift(c, skew, (size_t)length) * unit) % 64,
                                 0);
        }
}

/* More than one block of squares, in no near cache. */
static void test_blocks(void **state)
{
    (void)state;
    random_state = 31;
    for (int more = 0; more < (XYLEM_SANITIZED ? 1 : 5); more++) {
        check_lines(4, 431 + more, 442 + random_in(0, 15));
        check_lines(8, 235 + more, 471 + random_in(0, 7));
        check_lines(16, 240 + more, 490 + random_in(0, 3));
    }
}

/* Elements that overlap keep their order, and long ones are not for squares. */
static void test_what_is_not_turned(void **state)
{
    mpi_loop_t loop = {.count = 100, .stride = 8000, .size = 8};

    (void)state;
    assert_true(mpi_turn_is_worth(8, 1000, &loop, 8));
    assert_false(mpi_turn_is_worth(8, 1001, &loop, 8)); /* the last column is in the next row */
    assert_false(mpi_turn_is_worth(4, 1000, &loop, 8));
    assert_false(mpi_turn_is_worth(-8, 1000, &loop, 8));
    assert_false(mpi_turn_is_worth(8, 1, &loop, 8));
    assert_false(mpi_turn_is_worth(12, 100, &loop, 12));
}

/* ---- Loops in any order ---- */

enum { SIDES = 4 };

typedef struct {
    int sides, count[SIDES], length;
    MPI_Aint stride[SIDES], bytes; /* outermost first; memory that is touched */
} cube_t;

/* A dense cube of two to four dimensions, or one with holes, whose dimensions change places at
 * random; the packed order is that of the loops. Some go from the last to the first. */
static cube_t random_cube(void)
{
    static const int lengths[] = {4, 8, 16, 8, 12};
    cube_t q = {.sides = random_in(2, SIDES), .length = lengths[random_in(0, 4)]};
    MPI_Aint stride = q.length + (random_in(0, 3) ? 0 : 4);

    for (int i = 0; i < q.sides; i++) {
        q.count[i] = random_in(2, q.sides == 2 ? 60 : q.sides == 3 ? 24 : 11);
        q.stride[i] = stride;
        stride = stride * q.count[i] + (random_in(0, 2) ? 0 : 4 * random_in(1, 5));
    }
    q.bytes = stride;
    for (int i = q.sides - 1; i > 0; i--) {
        int j = random_in(0, i), count = q.count[i];

        stride = q.stride[i];
        q.count[i] = q.count[j];
        q.stride[i] = q.stride[j];
        q.count[j] = count;
        q.stride[j] = stride;
    }
    return q;
}

/* Where the first element is: behind all that loops with a negative stride go back. */
static MPI_Aint turn_around(cube_t *q)
{
    MPI_Aint first = 0;

    for (int i = 0; i < q->sides; i++)
        if (random_in(0, 5) == 0) {
            first += q->stride[i] * (q->count[i] - 1);
            q->stride[i] = -q->stride[i];
        }
    return first;
}

static MPI_Datatype cube_type(const cube_t *q)
{
    MPI_Datatype type, next;

    PMPI_Type_contiguous(q->length, MPI_CHAR, &type);
    for (int i = q->sides - 1; i >= 0; i--) {
        PMPI_Type_create_hvector(q->count[i], 1, q->stride[i], type, &next);
        PMPI_Type_free(&type);
        type = next;
    }
    return type;
}

/* Element by element, in the order of the loops. */
static void move_cube(const cube_t *q, int level, char *user, char **packed_p, bool pack)
{
    size_t length = (size_t)q->length;

    if (level == q->sides) {
        memcpy(pack ? *packed_p : user, pack ? user : *packed_p, length);
        *packed_p += length;
        return;
    }
    for (int i = 0; i < q->count[level]; i++)
        move_cube(q, level + 1, user + i * q->stride[level], packed_p, pack);
}

/* `is_cut`: in two parts, the second first. */
static void check_cube(cube_t *q, bool is_cut)
{
    MPI_Aint first = turn_around(q);
    MPI_Datatype handle = cube_type(q);
    const mpi_type_t *type = mpi_type_of(handle);
    size_t bytes = type->size, cut = is_cut ? (size_t)random_in(0, (int)bytes) : 0;
    area_t user = area_new((size_t)q->bytes, 3), user_too = area_copy(&user);
    area_t packed = area_new(bytes, 5), packed_too = area_copy(&packed);
    char *at = packed_too.data;

    mpi_type_pack(packed.data, user.data + first, 1, type, 0, cut);
    mpi_type_pack(packed.data + cut, user.data + first, 1, type, cut, bytes - cut);
    move_cube(q, 0, user.data + first, &at, true);
    assert_memory_equal(packed.all, packed_too.all, packed.bytes);
    for (size_t i = 0; i < packed.bytes; i++)
        packed.all[i] = (char)(i * 11 + i / 256);
    mpi_type_unpack(user.data + first, 1, type, packed.data + cut, cut, bytes - cut);
    mpi_type_unpack(user.data + first, 1, type, packed.data, 0, cut);
    at = packed.data;
    move_cube(q, 0, user_too.data + first, &at, false);
    expect_same(&user, &user_too);
    free(packed.all);
    free(packed_too.all);
    PMPI_Type_free(&handle);
}

static void test_cubes(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        cube_t q;

        random_state = (unsigned)round * 43u + 17;
        q = random_cube();
        check_cube(&q, true);
    }
}

/* Loops between the two that overlap each other: the last element that is written stays. */
static void test_overlapping_cube(void **state)
{
    cube_t q = {.sides = 3, .count = {4, 4, 9}, .length = 8, .stride = {8, 40, 96}, .bytes = 1200};

    (void)state;
    random_state = 5;
    for (int round = 0; round < 20; round++) {
        cube_t again = q;

        check_cube(&again, false);
    }
}

/* ---- Structs and lists ---- */

typedef struct {
    int members, lengths[MEMBERS];
    MPI_Aint at[MEMBERS], extent;
    MPI_Datatype type;
} struct_t;

/* Runs of equal lengths are likely; members come in any order. */
static struct_t random_struct(int most)
{
    static const int lengths[] = {4, 8, 16, 8, 4, 1, 2, 12, 24, 37};
    struct_t s = {.members = random_in(2, most)};
    MPI_Datatype made;

    for (int i = 0; i < s.members; i++) {
        s.lengths[i] = i > 0 && random_in(0, 1) ? s.lengths[i - 1] : lengths[random_in(0, 9)];
        s.at[i] = s.extent + random_in(1, 9); /* a hole in front of each */
        s.extent = s.at[i] + s.lengths[i];
    }
    for (int i = s.members - 1; i > 0 && random_in(0, 1); i--) {
        MPI_Aint at = s.at[i];

        s.at[i] = s.at[0];
        s.at[0] = at;
        at = s.lengths[i];
        s.lengths[i] = s.lengths[0];
        s.lengths[0] = (int)at;
    }
    s.extent += random_in(0, 20);
    PMPI_Type_create_hindexed(s.members, s.lengths, s.at, MPI_CHAR, &made);
    PMPI_Type_create_resized(made, 0, s.extent, &s.type);
    PMPI_Type_free(&made);
    return s;
}

static void check_struct(struct_t *s, int count)
{
    const mpi_type_t *type = mpi_type_of(s->type);
    area_t user = area_new((size_t)count * (size_t)s->extent, 3), user_too = area_copy(&user);
    area_t packed = area_new((size_t)count * type->size, 5), packed_too = area_copy(&packed);
    char *at = packed_too.data;

    mpi_type_pack(packed.data, user.data, count, type, 0, (size_t)count * type->size);
    for (int i = 0; i < count; i++)
        for (int m = 0; m < s->members; at += s->lengths[m++])
            memcpy(at, user.data + i * s->extent + s->at[m], (size_t)s->lengths[m]);
    assert_memory_equal(packed.all, packed_too.all, packed.bytes);
    for (size_t i = 0; i < packed.bytes; i++)
        packed.all[i] = (char)~packed.all[i];
    mpi_type_unpack(user.data, count, type, packed.data, 0, (size_t)count * type->size);
    at = packed.data;
    for (int i = 0; i < count; i++)
        for (int m = 0; m < s->members; at += s->lengths[m++])
            memcpy(user_too.data + i * s->extent + s->at[m], at, (size_t)s->lengths[m]);
    expect_same(&user, &user_too);
    free(packed.all);
    free(packed_too.all);
    PMPI_Type_free(&s->type);
}

static void test_structs(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct_t s;

        random_state = (unsigned)round * 41u + 13;
        s = random_struct(random_in(0, 2) ? 4 : MEMBERS);
        check_struct(&s, random_in(1, random_in(0, 1) ? 20 : 300));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_skews),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_what_is_not_turned),
        cmocka_unit_test(test_cubes),
        cmocka_unit_test(test_overlapping_cube),
        cmocka_unit_test(test_structs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
