/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static char *text;
static size_t text_size;

static FILE *open_text(void)
{
    FILE *file = open_memstream(&text, &text_size);

    assert_non_null(file);
    return file;
}

static void check_text(FILE *file, const char *expected)
{
    fclose(file);
    assert_string_equal(text, expected);
    free(text);
}

static void write_sample(FILE *file, bool indent)
{
    xy_json_t j;

    xy_json_init(&j, file, indent);
    xy_json_begin_object(&j, NULL);
    xy_json_string(&j, "name", "core");
    xy_json_string(&j, "none", NULL);
    xy_json_begin_array(&j, "list");
    xy_json_int(&j, NULL, -3);
    xy_json_double(&j, NULL, 0.1);
    xy_json_bool(&j, NULL, true);
    xy_json_begin_object(&j, NULL);
    xy_json_end(&j);
    xy_json_end(&j);
    xy_json_begin_array(&j, "empty");
    xy_json_end(&j);
    xy_json_double(&j, "nan", NAN);
    xy_json_double(&j, "inf", INFINITY);
    xy_json_int(&j, "least", INT64_MIN);
    xy_json_bool(&j, "no", false);
    xy_json_end(&j);
}

static void test_compact(void **state)
{
    FILE *file = open_text();

    (void)state;
    write_sample(file, false);
    check_text(file, "{\"name\":\"core\",\"none\":null,\"list\":[-3,0.1,true,{}],\"empty\":[],"
                     "\"nan\":null,\"inf\":null,\"least\":-9223372036854775808,\"no\":false}\n");
}

static void test_indented(void **state)
{
    FILE *file = open_text();

    (void)state;
    write_sample(file, true);
    check_text(file, "{\n  \"name\": \"core\",\n  \"none\": null,\n  \"list\": [\n    -3,\n"
                     "    0.1,\n    true,\n    {}\n  ],\n  \"empty\": [],\n  \"nan\": null,\n"
                     "  \"inf\": null,\n  \"least\": -9223372036854775808,\n  \"no\": false\n}\n");
}

static void test_top_level_values(void **state)
{
    FILE *file = open_text();
    xy_json_t j;

    (void)state;
    xy_json_init(&j, file, true);
    xy_json_int(&j, NULL, 1);
    xy_json_string(&j, NULL, "x");
    check_text(file, "1\n\"x\"\n");
}

static void test_deepest(void **state)
{
    FILE *file = open_text();
    xy_json_t j;

    (void)state;
    xy_json_init(&j, file, false);
    for (int i = 0; i < 64; i++)
        xy_json_begin_array(&j, NULL);
    for (int i = 0; i < 64; i++)
        xy_json_end(&j);
    fclose(file);
    assert_int_equal(text_size, 129);
    free(text);
}

static void test_quote(void **state)
{
    static const char *const cases[][2] = {
        {"", "\"\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
        {"\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\""},
        {"</script>", "\"\\u003c/script>\""},
        {"h\xc3\xa9 \xf0\x9f\x98\x80", "\"h\xc3\xa9 \xf0\x9f\x98\x80\""},
        {"\xff\xc3", "\"\\ufffd\\ufffd\""},
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        FILE *file = open_text();

        xy_json_quote(file, cases[i][0]);
        check_text(file, cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compact),
        cmocka_unit_test(test_indented),
        cmocka_unit_test(test_top_level_values),
        cmocka_unit_test(test_deepest),
        cmocka_unit_test(test_quote),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
