/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "testing/base.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_growing_text(void **state)
{
    xy_text_t text = XY_TEXT_INIT;
    char expected[8192] = "";
    size_t length = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        xy_text_addf(&text, "%d,", i);
        length += (size_t)snprintf(expected + length, sizeof(expected) - length, "%d,", i);
    }
    xy_text_add(&text, "");
    xy_text_add_bytes(&text, "end!", 3);
    snprintf(expected + length, sizeof(expected) - length, "end");
    assert_false(text.failed);
    assert_string_equal(text.s, expected);
    assert_int_equal(text.length, strlen(expected));
    xy_text_cleanup(&text);
}

static void test_growing_text_without_memory(void **state)
{
    xy_text_t text = XY_TEXT_INIT;

    (void)state;
    xy_text_add(&text, "kept");
    xy_memory_fail_at(1);
    for (int i = 0; i < 100; i++)
        xy_text_addf(&text, "%d", i);
    assert_true(text.failed);
    xy_memory_fail_at(0);
    xy_text_add(&text, "ignored");
    assert_int_equal(strncmp(text.s, "kept", 4), 0);
    assert_null(strstr(text.s, "ignored"));
    xy_text_cleanup(&text);
}

static void test_parse_long(void **state)
{
    static const char *const bad[] = {"",
                                      " 1",
                                      "1 ",
                                      "1x",
                                      "0x10",
                                      "--1",
                                      "+",
                                      "1.0",
                                      "1e3",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "nan"};
    long value = 7;

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(xy_parse_long(bad[i], &value));
    assert_int_equal(value, 7);
    assert_true(xy_parse_long("-9223372036854775808", &value) && value == INT64_MIN);
    assert_true(xy_parse_long("9223372036854775807", &value) && value == INT64_MAX);
    assert_true(xy_parse_long("+12", &value) && value == 12);
    assert_true(xy_parse_long("-0", &value) && value == 0);
}

static void test_parse_double(void **state)
{
    static const char *const bad[] = {"",    "nan",  "inf",      "-inf", "1e999", "0x1p3",
                                      "1,5", "1.5x", ".",        "-",    "e5",    " 1",
                                      "1 ",  "--1",  "infinity", "+nan", "- 1"};
    double value = 7;

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(xy_parse_double(bad[i], &value));
    assert_true(value == 7);
    assert_true(xy_parse_double("1.5e-3", &value) && value == 1.5e-3);
    assert_true(xy_parse_double("-.25", &value) && value == -.25);
    assert_true(xy_parse_double("3.", &value) && value == 3);
}

static void test_parse_size(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0},
                {"4096", 4096},
                {"1k", 1024},
                {"1K", 1024},
                {"1KB", 1024},
                {"1KiB", 1024},
                {"2 MiB", 2 << 20},
                {"1.5G", UINT64_C(3) << 29},
                {"3TiB", UINT64_C(3) << 40},
                {"12B", 12},
                {"9007199254740993", UINT64_C(9007199254740993)},
                {"18446744073709551615", UINT64_MAX},
                {"16777215T", UINT64_C(16777215) << 40}};
    static const char *const bad[] = {"",          "-1",   "-1K",  "1X",    "1KiBs",
                                      "1iB",       "K",    "nan",  "1 K B", "18446744073709551616",
                                      "16777216T", "1e30", "0x10", "1Ki"};
    uint64_t value = 7;

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        if (xy_parse_size(bad[i], &value))
            fail_msg("accepted '%s'", bad[i]);
    assert_int_equal(value, 7);
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_true(xy_parse_size(good[i].text, &value));
        assert_int_equal(value, good[i].value);
    }
}

static void test_parse_seconds(void **state)
{
    static const char *const bad[] = {"", "s", "1x", "1 ss", "nan", "1us2", "1e308h"};
    double value = 7;

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(xy_parse_seconds(bad[i], &value));
    assert_true(value == 7);
    assert_true(xy_parse_seconds("20us", &value) && fabs(value - 20e-6) < 1e-18);
    assert_true(xy_parse_seconds("1.5 s", &value) && value == 1.5);
    assert_true(xy_parse_seconds("2", &value) && value == 2);
    assert_true(xy_parse_seconds("3m", &value) && value == 180);
    assert_true(xy_parse_seconds("1h", &value) && value == 3600);
    assert_true(xy_parse_seconds("5ms", &value) && value == 5e-3);
    assert_true(xy_parse_seconds("7ns", &value) && fabs(value - 7e-9) < 1e-21);
}

static void test_formats(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } sizes[] = {{0, "0 B"},           {1, "1 B"},
                 {1023, "1023 B"},     {1024, "1 KiB"},
                 {1536, "1.5 KiB"},    {(1 << 20) - 1, "1 MiB"},
                 {3 << 19, "1.5 MiB"}, {UINT64_MAX, "16 EiB"},
                 {12595, "12.3 KiB"}};
    char b[32];

    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++)
        assert_string_equal(xy_format_size(sizes[i].bytes, b), sizes[i].text);
    assert_string_equal(xy_format_seconds(0, b), "0 s");
    assert_string_equal(xy_format_seconds(3.25e-6, b), "3.25 us");
    assert_string_equal(xy_format_seconds(-2e-3, b), "-2 ms");
    assert_string_equal(xy_format_seconds(0.9996, b), "1 s");
    assert_string_equal(xy_format_seconds(1234.5, b), "1234 s");
    assert_string_equal(xy_format_seconds(1e-12, b), "0 ns");
    assert_string_equal(xy_format_seconds(1e300, b), "1e+300 s");
    assert_string_equal(xy_format_seconds(NAN, b), "nan s");
    assert_string_equal(xy_format_bandwidth(12.3e9, b), "12.3 GB/s");
    assert_string_equal(xy_format_bandwidth(999.6, b), "1 kB/s");
    assert_string_equal(xy_format_bandwidth(0, b), "0 B/s");
    assert_string_equal(xy_format_bandwidth(1e300, b), "1e+300 B/s");
}

/* Every bit pattern comes back, and no shorter text would. */
static void test_format_double(void **state)
{
    uint64_t seed = 21, bits;
    char b[32], shorter[40];
    double value, back;

    (void)state;
    assert_string_equal(xy_format_double(0.1, b), "0.1");
    assert_string_equal(xy_format_double(100, b), "100");
    assert_string_equal(xy_format_double(5e-324, b), "5e-324");
    assert_string_equal(xy_format_double(1e22, b), "1e+22");
    for (int i = 0; i < 20000; i++) {
        bits = testing_random(&seed);
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value))
            continue;
        assert_true(xy_parse_double(xy_format_double(value, b), &back));
        assert_memory_equal(&back, &value, sizeof(value));
        for (int digits = 1; digits <= 17; digits++) {
            snprintf(shorter, sizeof(shorter), "%.*g", digits, value);
            if (strtod(shorter, NULL) == value) {
                assert_true(strlen(b) <= strlen(shorter));
                break;
            }
        }
    }
}

static void test_nearest_word(void **state)
{
    static const char *const words[] = {"machine", "view", "help", "version", "no-load", NULL};

    (void)state;
    assert_string_equal(xy_nearest_word("machin", words), "machine");
    assert_string_equal(xy_nearest_word("mahcine", words), "machine");
    assert_string_equal(xy_nearest_word("MACHINE", words), "machine");
    assert_string_equal(xy_nearest_word("mach", words), "machine");
    assert_string_equal(xy_nearest_word("veiw", words), "view");
    assert_string_equal(xy_nearest_word("hepl", words), "help");
    assert_string_equal(xy_nearest_word("noload", words), "no-load");
    assert_null(xy_nearest_word("zebra", words));
    assert_null(xy_nearest_word("", words));
    assert_null(xy_nearest_word("x", words));
    assert_null(xy_nearest_word("a-word-that-is-much-longer-than-anything-anybody-would-ever-type-"
                                "on-a-command-line",
                                words));
}

static void test_utf8(void **state)
{
    static const char *const bad[] = {
        "\x80",         "\xc0\x80",         "\xc1\xbf",         "\xe0\x80\x80",
        "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff",
        "\xc3",         "\xe2\x82",         "\xf0\x9f\x98",     "\xf0\x80\x80\x80"};

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(xy_utf8_length(bad[i]), 0);
    assert_int_equal(xy_utf8_length("a"), 1);
    assert_int_equal(xy_utf8_length("\xc3\xa9"), 2);
    assert_int_equal(xy_utf8_length("\xe2\x82\xac"), 3);
    assert_int_equal(xy_utf8_length("\xf0\x9f\x98\x80"), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growing_text), cmocka_unit_test(test_growing_text_without_memory),
        cmocka_unit_test(test_parse_long),   cmocka_unit_test(test_parse_double),
        cmocka_unit_test(test_parse_size),   cmocka_unit_test(test_parse_seconds),
        cmocka_unit_test(test_formats),      cmocka_unit_test(test_format_double),
        cmocka_unit_test(test_nearest_word), cmocka_unit_test(test_utf8),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
