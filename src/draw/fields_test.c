/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "draw/fields.h"

static char *text;
static size_t size;
static FILE *file;
static const char *volatile none; /* the compiler would warn of NULL itself */
static const bool yes = true, no = false;

static void begin(void)
{
    file = open_memstream(&text, &size);
    assert_non_null(file);
}

static void check(const char *expected)
{
    fclose(file);
    assert_string_equal(text, expected);
    free(text);
}

/* Every conversion, at the ends of its range. */
static void test_json(void **state)
{
    xy_json_t j;

    (void)state;
    begin();
    xy_json_init(&j, file, false);
    xy_json_begin_object(&j, NULL);
    xy_fields(&j, "text %s none %s", "a \"b\"", none);
    xy_fields(&j, "d %d u %u ld %ld lu %lu zu %zu lld %lld llu %llu", INT_MIN, UINT_MAX, LONG_MIN,
              7LU, (size_t)8, -9LL, 10LLU);
    xy_fields_object(&j, "inner", "yes %i no %i", yes, no);
    xy_fields(&j, "third %g not %g endless %g last %d", 1.0 / 3, (double)NAN, (double)INFINITY, 5);
    xy_json_end(&j);
    check("{\"text\":\"a \\\"b\\\"\",\"none\":null,\"d\":-2147483648,\"u\":4294967295,"
          "\"ld\":-9223372036854775808,\"lu\":7,\"zu\":8,\"lld\":-9,\"llu\":10,"
          "\"inner\":{\"yes\":true,\"no\":false},\"third\":0.3333333333333333,\"not\":null,"
          "\"endless\":null,\"last\":5}\n");
}

static void add_rows(xy_rows_t *rows)
{
    xy_rows_add(rows, "name %s size %lu time %g right %i", "a,\"b\"", 3LU, 0.5, yes);
    xy_rows_add(rows, "name %s size %lu time %g right %i", none, 4LU, (double)NAN, no);
}

/* The same rows in both formats; the head of CSV is written once. */
static void test_rows(void **state)
{
    xy_json_t j;

    (void)state;
    begin();
    add_rows(&(xy_rows_t){.csv = file});
    check("name,size,time,right\n\"a,\"\"b\"\"\",3,0.5,true\n,4,,false\n");
    begin();
    xy_json_init(&j, file, false);
    xy_json_begin_array(&j, NULL);
    add_rows(&(xy_rows_t){.json = &j});
    xy_json_end(&j);
    check("[{\"name\":\"a,\\\"b\\\"\",\"size\":3,\"time\":0.5,\"right\":true},"
          "{\"name\":null,\"size\":4,\"time\":null,\"right\":false}]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_json), cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
