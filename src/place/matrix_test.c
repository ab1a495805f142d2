/* SPDX-License-Identifier: BSD-3-Clause */
#include "place/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "testing/base.h"

static bool is_equal(const xy_matrix_t *a, const xy_matrix_t *b)
{
    size_t count = a->first[a->n];

    if (a->n != b->n || (a->messages == NULL) != (b->messages == NULL) ||
        memcmp(a->first, b->first, ((size_t)a->n + 1) * sizeof(*a->first)) != 0)
        return false;
    for (size_t k = 0; k < count; k++)
        if (a->to[k] != b->to[k] || a->bytes[k] != b->bytes[k] ||
            (a->messages != NULL && a->messages[k] != b->messages[k]))
            return false;
    return true;
}

static xy_matrix_t *random_matrix(uint64_t *seed, bool is_symmetric, bool has_messages)
{
    uint32_t n = 1 + (uint32_t)(testing_random(seed) % 20);
    size_t count = testing_random(seed) % 60;
    xy_matrix_entry_t entries[120];
    size_t used = 0;
    xy_matrix_t *m;

    for (size_t k = 0; k < count; k++) {
        uint32_t a = (uint32_t)(testing_random(seed) % n), b = (uint32_t)(testing_random(seed) % n);
        double value = (double)(1 + testing_random(seed) % 1000);

        if (!is_symmetric)
            value /= 8;
        else if (a == b)
            continue;
        entries[used++] = (xy_matrix_entry_t){a, b, value, 1 + (double)(k % 3)};
        if (is_symmetric)
            entries[used++] = (xy_matrix_entry_t){b, a, value, 1};
    }
    assert_int_equal(xy_matrix_build(n, entries, used, has_messages, &m), XY_OK);
    return m;
}

static xy_matrix_t *again(const xy_matrix_t *m, xy_matrix_format_t format)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    xy_matrix_t *back;

    assert_int_equal(xy_matrix_write(m, format, file), XY_OK);
    fclose(file);
    assert_int_equal(xy_matrix_parse(text, size, "test", format, &back), XY_OK);
    free(text);
    return back;
}

static void test_round_trips(void **state)
{
    static const xy_matrix_format_t formats[] = {XY_MATRIX_MAT, XY_MATRIX_MARKET, XY_MATRIX_CSV,
                                                 XY_MATRIX_METIS};
    uint64_t seed = 42;

    (void)state;
    for (int i = 0; i < 400; i++) {
        xy_matrix_format_t format = formats[i % 4];
        bool has_messages = format == XY_MATRIX_CSV && i % 8 == 2;
        xy_matrix_t *m = random_matrix(&seed, format == XY_MATRIX_METIS, has_messages);
        xy_matrix_t *back = again(m, format);

        assert_true(is_equal(m, back));
        xy_matrix_destroy(m);
        xy_matrix_destroy(back);
    }
}

static void test_entries_of_a_pair_add_up(void **state)
{
    xy_matrix_entry_t e[] = {{1, 0, 3, 1}, {0, 1, 5, 2}, {1, 0, 4, 3}};
    xy_matrix_t *m;

    (void)state;
    assert_int_equal(xy_matrix_build(2, e, 3, true, &m), XY_OK);
    assert_int_equal(m->first[2], 2);
    assert_true(xy_matrix_value(m, XY_METRIC_SIZE, 1) == 7);
    assert_true(xy_matrix_value(m, XY_METRIC_MSG, 1) == 4);
    assert_true(xy_matrix_value(m, XY_METRIC_AVG, 1) == 1.75);
    xy_matrix_destroy(m);
    assert_int_equal(xy_matrix_build(1, e, 3, true, &m), XY_EINVAL);
}

static void expect_said(xy_matrix_format_t format, const char *text, const char *said)
{
    xy_matrix_t *m = NULL;

    testing_listen();
    assert_int_not_equal(xy_matrix_parse(text, strlen(text), "f", format, &m), XY_OK);
    assert_null(m);
    assert_int_equal(testing_said_count, 1);
    if (strstr(testing_said, said) == NULL)
        assert_string_equal(testing_said, said);
    xy_error_handler_set(NULL, NULL);
}

static void test_bad_input_is_one_line_with_its_place(void **state)
{
    (void)state;
    expect_said(XY_MATRIX_MAT, "", "f: empty");
    expect_said(XY_MATRIX_MAT, "0 1\n1 0 2\n", "f:2: row 2 has 3 values and the first 2");
    expect_said(XY_MATRIX_MAT, "0 1\n", "f:1: 1 rows of 2 values; a matrix is square");
    expect_said(XY_MATRIX_MAT, "0 1\n1 0\n0 0\n", "f:3: more than 2 rows");
    expect_said(XY_MATRIX_MAT, "0 x\n1 0\n",
                "f:1: 'x' at column 3 is not a value: it is not a number");
    expect_said(XY_MATRIX_MAT, "0 1\n-1 0\n",
                "f:2: '-1' at column 1 is not a value: it is negative");
    expect_said(XY_MATRIX_MAT, "0 nan\n1 0\n", "it is not finite");
    expect_said(XY_MATRIX_MAT, "0 inf\n1 0\n", "it is not finite");
    expect_said(XY_MATRIX_MAT, "0 1e101\n1 0\n", "it is too large");
    expect_said(XY_MATRIX_MAT, "0 1e999\n1 0\n", "f:1: '1e999' at column 3");
    expect_said(XY_MATRIX_MAT, "0 1,5\n1 0\n", "decimals are written with a point");
    expect_said(XY_MATRIX_CSV, "", "f: empty");
    expect_said(XY_MATRIX_CSV, "# ranks 2\nsource,target,bytes\n0,2,5\n",
                "f:3: rank 2 at column 3 is outside 0 to 1");
    expect_said(XY_MATRIX_CSV, "source,target,bytes\n0,1\n", "f:2: the line ends where a value");
    expect_said(XY_MATRIX_CSV, "source,target,bytes\n0,1,2,3\n", "f:2: unexpected '3' at column 7");
    expect_said(XY_MATRIX_CSV, "source,target,bytes\n0,1.5,2\n", "it is not a whole number");
    expect_said(XY_MATRIX_MARKET,
                "%%MatrixMarket matrix coordinate real general\n"
                "10000000 10000000 3\n1 1 1\n",
                "f:2: number of rows 10000000 at column 1 is outside 0 to 4194304");
    expect_said(XY_MATRIX_MARKET, "%%MatrixMarket matrix coordinate real general\n2 3 0\n",
                "f:2: 2 rows and 3 columns; a matrix is square");
    expect_said(XY_MATRIX_MARKET, "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n",
                "f:3: row 3 at column 1 is outside 1 to 2");
    expect_said(XY_MATRIX_MARKET, "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 5\n",
                "1 entries instead of 2");
    expect_said(XY_MATRIX_MARKET, "%%MatrixMarket matrix coordinate complex general\n", "not read");
    expect_said(XY_MATRIX_METIS, "2 1\n3\n1\n", "f:2: neighbour 3 at column 1 is outside 1 to 2");
    expect_said(XY_MATRIX_METIS, "2 1\n2\n", "f:2: lines for 1 vertices of 2");
    expect_said(XY_MATRIX_METIS, "2 1\n1\n1\n", "vertex 1 is its own neighbour");
    expect_said(XY_MATRIX_OPENMPI, "", "f: empty");
    expect_said(XY_MATRIX_OPENMPI, "C\t0\tx\t1 bytes\t1 msgs sent\n", "f:1: 'x'");
    expect_said(XY_MATRIX_OPENMPI, "hello\n", "no line of Open MPI's monitoring begins with");
    expect_said(XY_MATRIX_OPENMPI, "E\t0\t99999999\t1 bytes\t1 msgs sent\n", "f:1: rank 99999999");
}

static void test_formats_are_told_apart(void **state)
{
    (void)state;
    assert_int_equal(xy_matrix_guess("a.mat", "0"), XY_MATRIX_MAT);
    assert_int_equal(xy_matrix_guess("a", "%%MatrixMarket"), XY_MATRIX_MARKET);
    assert_int_equal(xy_matrix_guess("a.graph", "2 1\n"), XY_MATRIX_METIS);
    assert_int_equal(xy_matrix_guess("a", "0,1\n1,0\n"), XY_MATRIX_CSV);
    assert_int_equal(xy_matrix_guess("a", "# POINT TO POINT\n"), XY_MATRIX_OPENMPI);
    assert_int_equal(xy_matrix_guess("-", "0 1\n1 0\n"), XY_MATRIX_MAT);
}

static void test_other_shapes(void **state)
{
    static const struct {
        xy_matrix_format_t format;
        const char *text;
    } same[] = {
        {XY_MATRIX_MAT, "0 5\n7 0"},
        {XY_MATRIX_MAT, "# two\n\n0 5\r\n7 0\r\n"},
        {XY_MATRIX_CSV, "0,5\n7,0\n"},
        {XY_MATRIX_CSV, "0;5\n7;0"},
        {XY_MATRIX_CSV, "source,target,bytes\n1,0,7\n0,1,5"},
        {XY_MATRIX_MARKET, "%%MatrixMarket matrix array real general\n2 2\n0\n7\n5\n0\n"},
        {XY_MATRIX_MARKET,
         "%%MatrixMarket matrix coordinate integer general\n% c\n2 2 2\n1 2 5\n2 1 7"},
    };
    xy_matrix_t *first, *m;

    (void)state;
    assert_int_equal(
        xy_matrix_parse(same[0].text, strlen(same[0].text), "f", same[0].format, &first), XY_OK);
    for (size_t i = 1; i < sizeof(same) / sizeof(same[0]); i++) {
        assert_int_equal(
            xy_matrix_parse(same[i].text, strlen(same[i].text), "f", same[i].format, &m), XY_OK);
        assert_true(is_equal(first, m));
        xy_matrix_destroy(m);
    }
    xy_matrix_destroy(first);
}

/* Editors on Windows put a mark in front. */
static void test_a_byte_order_mark_is_skipped(void **state)
{
    static const struct {
        const char *name, *text;
        xy_matrix_format_t format;
    } marked[] = {
        {"a.mat",
         "\xef\xbb\xbf"
         "0 5\n5 0\n",
         XY_MATRIX_MAT},
        {"-",
         "\xef\xbb\xbf"
         "0 5\n5 0\n",
         XY_MATRIX_MAT},
        {"-",
         "\xef\xbb\xbf"
         "source,target,bytes\n0,1,5\n1,0,5\n",
         XY_MATRIX_CSV},
        {"-",
         "\xef\xbb\xbf"
         "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 5\n2 1 5\n",
         XY_MATRIX_MARKET},
    };
    double load[2];
    char loads[] = "\xef\xbb\xbf"
                   "1\n2\n";

    (void)state;
    for (size_t i = 0; i < sizeof(marked) / sizeof(marked[0]); i++) {
        const char *text = marked[i].text;
        xy_matrix_t *m;

        assert_int_equal(xy_matrix_guess(marked[i].name, text), marked[i].format);
        assert_int_equal(xy_matrix_parse(text, strlen(text), "f", marked[i].format, &m), XY_OK);
        assert_int_equal(m->n, 2);
        assert_true(m->first[2] == 2 && m->bytes[0] == 5);
        xy_matrix_destroy(m);
    }
    testing_listen();
    assert_int_not_equal(
        xy_matrix_parse("\xef\xbb\xbf", 3, "f", XY_MATRIX_MAT, &(xy_matrix_t *){NULL}), XY_OK);
    assert_int_equal(testing_said_count, 1);
    xy_error_handler_set(NULL, NULL);
    assert_int_equal(xy_loads_parse(loads, "f", 2, load), XY_OK);
    assert_true(load[0] == 1 && load[1] == 2);
}

static void test_open_mpi_monitoring(void **state)
{
    static const char text[] = "# POINT TO POINT\nE\t0\t1\t100 bytes\t2 msgs sent\t0,1\n"
                               "I\t0\t1\t28 bytes\t1 msgs sent\t0\n# OSC\n"
                               "S\t1\t2\t10 bytes\t1 msgs sent\nR\t0\t2\t6 bytes\t1 msgs sent\n"
                               "# COLLECTIVES\nC\t0\t1\t28 bytes\t1 msgs sent\n"
                               "D\tMPI COMMUNICATOR 0\tprocs: 0,1,2\n"
                               "O2A\t0\t0 bytes\t0 msgs sent\n";
    static const char collectives[] = "# POINT TO POINT\n# OSC\n# COLLECTIVES\n"
                                      "C\t0\t1\t28 bytes\t3 msgs sent\n"
                                      "C\t3\t0\t5 bytes\t1 msgs sent\n";
    xy_matrix_t *m;

    (void)state;
    assert_int_equal(xy_matrix_parse(text, strlen(text), "f", XY_MATRIX_OPENMPI, &m), XY_OK);
    assert_int_equal(m->n, 3);
    assert_true(m->bytes[0] == 128 && m->messages[0] == 3);
    assert_true(m->bytes[1] == 10 && m->to[1] == 2);
    assert_true(m->bytes[2] == 6 && m->to[2] == 0);
    xy_matrix_destroy(m);
    /* Without messages, those of collectives count. */
    assert_int_equal(xy_matrix_parse(collectives, strlen(collectives), "f", XY_MATRIX_OPENMPI, &m),
                     XY_OK);
    assert_int_equal(m->n, 4);
    assert_true(m->bytes[0] == 28 && m->messages[0] == 3 && m->to[0] == 1);
    assert_true(m->bytes[1] == 5 && m->to[1] == 0);
    xy_matrix_destroy(m);
}

static void test_memory_runs_out(void **state)
{
    static const char text[] = "source,target,bytes\n2,0,7\n0,1,5\n1,2,3\n";

    (void)state;
    testing_listen();
    for (long k = 1;; k++) {
        xy_matrix_t *m = NULL;
        xy_status_t st;

        xy_memory_fail_at(k);
        st = xy_matrix_parse(text, strlen(text), "f", XY_MATRIX_CSV, &m);
        if (!xy_memory_fail_hit()) {
            xy_memory_fail_at(0);
            assert_int_equal(st, XY_OK);
            xy_matrix_destroy(m);
            break;
        }
        assert_int_equal(st, XY_ENOMEM);
        assert_null(m);
    }
    xy_error_handler_set(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_entries_of_a_pair_add_up),
        cmocka_unit_test(test_bad_input_is_one_line_with_its_place),
        cmocka_unit_test(test_formats_are_told_apart),
        cmocka_unit_test(test_other_shapes),
        cmocka_unit_test(test_a_byte_order_mark_is_skipped),
        cmocka_unit_test(test_open_mpi_monitoring),
        cmocka_unit_test(test_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
