/* SPDX-License-Identifier: BSD-3-Clause */
/* Type signatures: against lists of single elements, and what counts as alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "mpi/datatype/datatype.h"
#include "testing/mpi_object.h"

static uint16_t signature_of(MPI_Datatype type)
{
    return mpi_type_of(type)->signature;
}

static bool match(MPI_Datatype a, MPI_Datatype b, uint64_t bytes)
{
    return mpi_signatures_match(signature_of(a), signature_of(b), bytes);
}

/* Types that a test makes, until it is complete. */
static MPI_Datatype kept[256];
static int kept_count;

static MPI_Datatype keep(MPI_Datatype type)
{
    assert_true(kept_count < (int)(sizeof(kept) / sizeof(kept[0])));
    kept[kept_count++] = type;
    return type;
}

static void free_kept(void)
{
    while (kept_count > 0)
        MPI_Type_free(&kept[--kept_count]);
}

static int teardown(void **state)
{
    (void)state;
    free_kept();
    return 0;
}

static MPI_Datatype make_struct(int n, const int *lengths, const MPI_Datatype *types)
{
    MPI_Aint places[8] = {0}, at = 0;
    MPI_Datatype type;

    for (int i = 0; i < n; i++) {
        MPI_Aint lb, extent;

        MPI_Type_get_extent(types[i], &lb, &extent);
        places[i] = at - lb;
        at += lengths[i] * extent + 16;
    }
    assert_int_equal(MPI_Type_create_struct(n, lengths, places, types, &type), MPI_SUCCESS);
    return keep(type);
}

static MPI_Datatype make_pair(MPI_Datatype a, int n, MPI_Datatype b, int m)
{
    return make_struct(2, (int[]){n, m}, (MPI_Datatype[]){a, b});
}

/* Types that are alike in memory have the same signature. */
static void test_predefined(void **state)
{
    static const struct {
        MPI_Datatype a, b;
        bool is_alike;
    } cases[] = {
        {MPI_INT, MPI_INT32_T, true},
        {MPI_INT, MPI_UNSIGNED, true},
        {MPI_INT, MPI_INTEGER, true},
        {MPI_LONG, MPI_LONG_LONG, true},
        {MPI_LONG, MPI_AINT, true},
        {MPI_CHAR, MPI_UNSIGNED_CHAR, true},
        {MPI_CHAR, MPI_CHARACTER, true},
        {MPI_WCHAR, MPI_INT, true},
        {MPI_DOUBLE, MPI_DOUBLE_PRECISION, true},
        {MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX, true},
        {MPI_2INT, MPI_INT, true},
        {MPI_C_BOOL, MPI_LOGICAL1, true},
        {MPI_BYTE, MPI_DOUBLE, true},
        {MPI_FLOAT_INT, MPI_PACKED, true},
        {MPI_INT, MPI_FLOAT, false},
        {MPI_INT, MPI_LONG, false},
        {MPI_INT, MPI_CHAR, false},
        {MPI_INT, MPI_LOGICAL, false},
        {MPI_FLOAT, MPI_DOUBLE, false},
        {MPI_DOUBLE, MPI_C_COMPLEX, false},
        {MPI_LONG_DOUBLE, MPI_REAL16, false},
        {MPI_DOUBLE_INT, MPI_DOUBLE, false},
        {MPI_DOUBLE_INT, MPI_LONG_INT, false},
        {MPI_2INT, MPI_2REAL, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (match(cases[i].a, cases[i].b, 1 << 20) != cases[i].is_alike)
            fail_msg("%s and %s", mpi_type_of(cases[i].a)->name, mpi_type_of(cases[i].b)->name);
        assert_true(match(cases[i].b, cases[i].a, 1 << 20) == cases[i].is_alike);
        assert_true(match(cases[i].b, cases[i].a, 0));
    }
}

/* However it is made: one number. */
static void test_roots(void **state)
{
    MPI_Datatype pair = make_pair(MPI_INT, 1, MPI_DOUBLE, 1), four, strided, nested, turned, long_;

    (void)state;
    MPI_Type_contiguous(4, pair, &four);
    keep(four);
    MPI_Type_vector(3, 2, 5, four, &strided);
    keep(strided);
    nested = make_struct(3, (int[]){2, 1, 0}, (MPI_Datatype[]){strided, pair, MPI_CHAR});
    assert_int_equal(signature_of(pair), signature_of(four));
    assert_int_equal(signature_of(pair), signature_of(strided));
    assert_int_equal(signature_of(pair), signature_of(nested));
    /* d i i d, twice: the last run continues in the first */
    turned = make_struct(3, (int[]){1, 2, 1}, (MPI_Datatype[]){MPI_DOUBLE, MPI_INT, MPI_DOUBLE});
    long_ = make_struct(2, (int[]){1, 1}, (MPI_Datatype[]){turned, turned});
    assert_int_equal(signature_of(turned), signature_of(long_));
    long_ = make_struct(5, (int[]){1, 2, 2, 2, 1},
                        (MPI_Datatype[]){MPI_DOUBLE, MPI_INT, MPI_DOUBLE, MPI_INT, MPI_DOUBLE});
    assert_int_equal(signature_of(turned), signature_of(long_));
    assert_int_not_equal(signature_of(turned), signature_of(pair));
    /* all alike: that of the first */
    assert_int_equal(
        signature_of(make_struct(2, (int[]){1, 3}, (MPI_Datatype[]){MPI_INT32_T, MPI_INT})),
        signature_of(MPI_INT32_T));
    /* a predefined pair is two elements */
    assert_true(match(MPI_DOUBLE_INT, make_pair(MPI_DOUBLE, 1, MPI_INT, 1), 1000));
    assert_false(match(MPI_DOUBLE_INT, pair, 1000));
}

/* The beginning counts: what was not sent does not matter. Bytes are like anything. */
static void test_prefix(void **state)
{
    MPI_Datatype header = make_pair(MPI_INT, 3, MPI_DOUBLE, 2);
    MPI_Datatype open = make_pair(MPI_INT, 3, MPI_BYTE, 16);
    MPI_Datatype other = make_pair(MPI_FLOAT, 3, MPI_BYTE, 16);

    (void)state;
    assert_true(match(MPI_INT, header, 12));
    assert_false(match(MPI_INT, header, 16));
    assert_true(match(header, open, 28 * 10));
    assert_false(match(header, other, 28));
    assert_false(match(open, other, 4));
}

static void test_too_long(void **state)
{
    enum { PARTS = 5000 };
    int *lengths = xy_malloc(2 * PARTS * sizeof(int));
    MPI_Aint *places = xy_malloc(2 * PARTS * sizeof(MPI_Aint));
    MPI_Datatype *types = xy_malloc(2 * PARTS * sizeof(MPI_Datatype)), type;

    (void)state;
    for (int i = 0; i < PARTS; i++) {
        lengths[i] = i + 1; /* no repetition */
        places[i] = (MPI_Aint)i * 100000;
        types[i] = i % 2 ? MPI_INT : MPI_DOUBLE;
    }
    MPI_Type_create_struct(PARTS, lengths, places, types, &type);
    assert_int_equal(signature_of(type), XMPI_SIGNATURE_ANY);
    MPI_Type_free(&type);
    MPI_Type_create_struct(1000, lengths, places, types, &type);
    assert_int_not_equal(signature_of(type), XMPI_SIGNATURE_ANY);
    MPI_Type_free(&type);
    xy_free(lengths);
    xy_free(places);
    xy_free(types);
}

static void test_text(void **state)
{
    char text[XMPI_SIGNATURE_TEXT];
    MPI_Datatype pair = make_pair(MPI_UNSIGNED, 2, MPI_DOUBLE, 1), six;

    (void)state;
    assert_string_equal(mpi_signature_describe(signature_of(MPI_UNSIGNED), text), "MPI_UNSIGNED");
    assert_string_equal(mpi_signature_describe(signature_of(MPI_BYTE), text), "MPI_BYTE");
    assert_string_equal(mpi_signature_describe(signature_of(pair), text),
                        "(2 MPI_INT, MPI_DOUBLE)");
    six = make_struct(
        7, (int[]){1, 1, 1, 1, 1, 1, 1},
        (MPI_Datatype[]){MPI_INT, MPI_BYTE, MPI_INT, MPI_DOUBLE, MPI_FLOAT, MPI_INT, MPI_CHAR});
    assert_string_equal(mpi_signature_describe(signature_of(six), text),
                        "(MPI_INT, MPI_BYTE, MPI_INT, MPI_DOUBLE, MPI_FLOAT, MPI_INT, ...)");
}

/* ---- Random types against lists of their elements ---- */

enum { LIST_MOST = 2000 };

typedef struct {
    MPI_Datatype type;
    int n;
    char element[LIST_MOST];
} listed_t;

static unsigned random_state;

static int random_in(int low, int high)
{
    random_state = random_state * 1103515245u + 12345u;
    return low + (int)((random_state >> 8) % (unsigned)(high - low + 1));
}

static void append(listed_t *to, const listed_t *from, int times)
{
    for (int t = 0; t < times; t++) {
        memcpy(to->element + to->n, from->element, (size_t)from->n);
        to->n += from->n;
    }
}

/* Few elements and small counts, so that sequences agree often. */
static listed_t random_type(int depth)
{
    listed_t made = {.n = 1}, part[3];
    int n = random_in(1, 3), lengths[3];
    MPI_Datatype types[3];

    if (depth == 0) {
        made.element[0] = random_in(0, 1) ? 'i' : 'd';
        made.type = made.element[0] == 'i' ? MPI_INT : MPI_DOUBLE;
        return made;
    }
    made.n = 0;
    for (int i = 0; i < n; i++) {
        part[i] = random_type(random_in(0, depth - 1));
        types[i] = part[i].type;
        lengths[i] = random_in(0, 3);
    }
    if (random_in(0, 1)) {
        append(&made, &part[0], 2 * lengths[0]);
        MPI_Type_vector(2, lengths[0], 7, types[0], &made.type);
        keep(made.type);
        return made;
    }
    for (int i = 0; i < n; i++)
        append(&made, &part[i], lengths[i]);
    made.type = make_struct(n, lengths, types);
    return made;
}

static int size_of(char element)
{
    return element == 'i' ? 4 : 8;
}

/* The first `bytes`, one by one. */
static bool match_listed(const listed_t *a, const listed_t *b, int bytes)
{
    for (int i = 0; bytes > 0; i++) {
        if (a->element[i % a->n] != b->element[i % b->n])
            return false;
        bytes -= size_of(a->element[i % a->n]);
    }
    return true;
}

static void test_random(void **state)
{
    int agreed = 0, differed = 0;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        listed_t a, b;
        int bytes;

        free_kept();
        random_state = (unsigned)round * 77u + 3;
        a = random_type(random_in(0, 3));
        b = random_type(random_in(0, 3));
        bytes = random_in(0, 1) ? random_in(0, 60) : 5000;
        if (a.n == 0 || b.n == 0)
            continue;
        if (match(a.type, b.type, (uint64_t)bytes) != match_listed(&a, &b, bytes))
            fail_msg("round %d: %.*s and %.*s, %d bytes", round, a.n, a.element, b.n, b.element,
                     bytes);
        if (bytes == 5000 && match_listed(&a, &b, bytes))
            assert_int_equal(signature_of(a.type), signature_of(b.type));
        agreed += match_listed(&a, &b, bytes);
        differed += !match_listed(&a, &b, bytes);
    }
    assert_true(agreed > 300 && differed > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_predefined, teardown),
        cmocka_unit_test_teardown(test_roots, teardown),
        cmocka_unit_test_teardown(test_prefix, teardown),
        cmocka_unit_test_teardown(test_too_long, teardown),
        cmocka_unit_test_teardown(test_text, teardown),
        cmocka_unit_test_teardown(test_random, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
