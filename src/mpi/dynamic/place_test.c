/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of ports as text, and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mpi/dynamic/place.h"
#include "testing/base.h"

static dynamic_place_t any_place(uint64_t *random)
{
    dynamic_place_t place = {
        .job = testing_random(random),
        .rank = (int)(testing_random(random) >> (33 + testing_random(random) % 31)),
        .context = (uint32_t)(testing_random(random) >> (testing_random(random) % 60))};

    if (testing_random(random) % 2 == 0) {
        place.process = (int)(testing_random(random) >> (33 + testing_random(random) % 31));
        snprintf(place.secret, sizeof(place.secret), "%016llx%016llx",
                 (unsigned long long)testing_random(random),
                 (unsigned long long)testing_random(random));
        snprintf(place.card, sizeof(place.card), "%u 10.0.%u.7 fd00::%x 127.0.0.1",
                 (unsigned)(1 + testing_random(random) % 65535),
                 (unsigned)(testing_random(random) % 256),
                 (unsigned)testing_random(random) & 0xffffu);
    }
    return place;
}

/* A printed placement is read back unchanged. */
static void test_again(void **state)
{
    uint64_t random = testing_seed();

    (void)state;
    for (int i = 0; i < 2000; i++) {
        dynamic_place_t place = any_place(&random), read;
        char text[PLACE_TEXT];

        dynamic_place_print(&place, "xylem-port", text);
        assert_true(dynamic_place_parse(text, "xylem-port", &read));
        assert_true(read.job == place.job && read.rank == place.rank &&
                    read.context == place.context && read.process == place.process);
        assert_string_equal(read.secret, place.secret);
        assert_string_equal(read.card, place.card);
        assert_false(dynamic_place_parse(text, "xylem-join", &read));
    }
}

/* One byte of another value is refused, or means what is printed for it. */
static void test_changed(void **state)
{
    uint64_t random = testing_seed();

    (void)state;
    for (int i = 0; i < 5000; i++) {
        dynamic_place_t place = any_place(&random), read;
        char text[PLACE_TEXT], again[PLACE_TEXT];

        dynamic_place_print(&place, "xylem-port", text);
        text[testing_random(&random) % strlen(text)] = (char)(1 + testing_random(&random) % 127);
        if (!dynamic_place_parse(text, "xylem-port", &read))
            continue;
        dynamic_place_print(&read, "xylem-port", again);
        assert_string_equal(text, again);
    }
}

/* A card that does not fit is cut behind an address. */
static void test_long(void **state)
{
    dynamic_place_t place = {.job = UINT64_MAX,
                             .rank = INT32_MAX,
                             .context = UINT32_MAX,
                             .process = INT32_MAX},
                    read;
    char prefix[65], text[PLACE_TEXT];

    (void)state;
    memset(prefix, 'p', 64);
    prefix[64] = '\0';
    memset(place.secret, 'a', PLACE_SECRET - 1);
    strcpy(place.card, "40000");
    while (strlen(place.card) + 20 < PLACE_CARD)
        strcat(place.card, " 192.168.100.200");
    dynamic_place_print(&place, prefix, text);
    assert_true(strlen(text) < PLACE_TEXT);
    assert_true(dynamic_place_parse(text, prefix, &read));
    assert_true(strncmp(read.card, place.card, strlen(read.card)) == 0);
    assert_string_equal(read.card + strlen(read.card) - 16, " 192.168.100.200");
}

static void test_refused(void **state)
{
    static const char no_process[] = "xylem-port:0123456789abcdef:1:7:"
                                     "00112233445566778899aabbccddeeff:40123,127.0.0.1";
    const char *const texts[] = {"",
                                 "xylem-port",
                                 "xylem-port:",
                                 "xylem-port:0123456789abcdef:0",
                                 "xylem-port:0123456789abcdef:0:",
                                 "xylem-port:0123456789abcdef:-1:7",
                                 "xylem-port:0123456789abcdef:01:7",
                                 "xylem-port:0123456789abcdef:1:4294967296",
                                 "xylem-port:0123456789abcdef:2147483648:7",
                                 "xylem-port:0123456789abcde:1:7",
                                 "xylem-port:0123456789ABCDEF:1:7",
                                 "xylem-port:0123456789abcdef:1:7:",
                                 "xylem-port:0123456789abcdef:1:7:00",
                                 "xylem-port:0123456789abcdef:1:7:0",
                                 no_process,
                                 "xylem-port:0123456789abcdef:1:7 "};
    dynamic_place_t place;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_false(dynamic_place_parse(texts[i], "xylem-port", &place));
    assert_true(dynamic_place_parse("xylem-port:0123456789abcdef:1:7", "xylem-port", &place));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
