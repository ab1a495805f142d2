/* SPDX-License-Identifier: BSD-3-Clause */
/* Records arrive as they were sealed, in their order, and nothing else is taken for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "testing/base.h"
#include "testing/net.h"

enum { MOST = 3 * NET_SEAL_MOST };

static uint8_t text[MOST], record[NET_SEAL_RECORD], plain[NET_SEAL_MOST];

/* For each cipher that there is. */
static void each(void (*body)(xy_seal_t *seals[2]))
{
    if (net_seal_ciphers() == 0)
        skip();
    for (unsigned cipher = 1; cipher <= 2; cipher++) {
        xy_seal_t *seals[2];

        if ((net_seal_ciphers() & cipher) == 0)
            continue;
        assert_true(testing_seals(cipher, seals));
        body(seals);
        xy_seal_free(seals[0]);
        xy_seal_free(seals[1]);
    }
}

static size_t seal_all(xy_seal_t *seal, const void *bytes, size_t size)
{
    struct iovec piece = {(void *)(uintptr_t)bytes, size};
    size_t taken, length = net_seal_wrap(seal, &piece, 1, 0, record, &taken);

    assert_int_equal(taken, size);
    assert_int_equal(length, net_seal_length(record));
    return length;
}

/* A text of any length, in pieces of any length, in both directions. */
static void pieces_of(xy_seal_t *seals[2])
{
    uint64_t random = testing_seed();

    for (int round = 0; round < 40; round++) {
        struct iovec pieces[8];
        size_t total = 0, done = 0, count = 1 + (size_t)testing_random_below(&random, 8);
        int from = round % 2;

        for (size_t i = 0; i < count; i++) {
            size_t room = (MOST - total) / (count - i);
            size_t size = room == 0 ? 0 : (size_t)testing_random_below(&random, (int)room);

            pieces[i] = (struct iovec){text + total, i % 3 == 1 ? size % 17 : size};
            total += pieces[i].iov_len;
        }
        for (size_t i = 0; i < total; i++)
            text[i] = (uint8_t)testing_random(&random);
        while (done < total) {
            size_t taken, length = net_seal_wrap(seals[from], pieces, count, done, record, &taken);

            assert_int_equal(length, taken + NET_SEAL_SIZE + NET_SEAL_TAG);
            assert_true(taken == NET_SEAL_MOST || taken == total - done);
            assert_true(net_seal_open(seals[1 - from], record, length, plain));
            assert_memory_equal(plain, text + done, taken);
            done += taken;
        }
    }
}

static void any_text_arrives(void **state)
{
    (void)state;
    each(pieces_of);
}

/* One bit of it, anywhere but in its size; the connection is of no more use then. */
static void change_each(xy_seal_t *seals[2])
{
    size_t length;

    (void)seals;
    for (size_t at = NET_SEAL_SIZE; at < NET_SEAL_SIZE + 20 + NET_SEAL_TAG; at++) {
        xy_seal_t *fresh[2];

        assert_true(testing_seals(net_seal_choose(3, net_seal_ciphers()), fresh));
        length = seal_all(fresh[0], "twenty bytes of text", 20);
        record[at] ^= (uint8_t)(1 << at % 8);
        assert_false(net_seal_open(fresh[1], record, length, plain));
        xy_seal_free(fresh[0]);
        xy_seal_free(fresh[1]);
    }
}

static void changed_records_are_refused(void **state)
{
    (void)state;
    each(change_each);
}

static void repeat_and_skip(xy_seal_t *seals[2])
{
    uint8_t first[64];
    size_t length = seal_all(seals[0], "once", 4);

    memcpy(first, record, length);
    /* Back to who has sealed it: each direction has its own key. */
    assert_false(net_seal_open(seals[0], first, length, plain));
    assert_true(net_seal_open(seals[1], first, length, plain));
    assert_memory_equal(plain, "once", 4);
    assert_false(net_seal_open(seals[1], first, length, plain));
}

static void skip_one(xy_seal_t *seals[2])
{
    size_t length;

    seal_all(seals[0], "lost", 4);
    length = seal_all(seals[0], "next", 4);
    assert_false(net_seal_open(seals[1], record, length, plain));
}

static void repeated_and_missing_records_are_refused(void **state)
{
    (void)state;
    each(repeat_and_skip);
    each(skip_one);
}

/* Seal the records that one key may seal, and some more. */
static void use_up_a_key(xy_seal_t *seals[2])
{
    for (uint32_t i = 0; i < NET_SEAL_KEY_RECORDS + 3; i++) {
        size_t length = seal_all(seals[0], &i, sizeof(i));

        if (!net_seal_open(seals[1], record, length, plain) || memcmp(plain, &i, sizeof(i)) != 0)
            fail_msg("record %u", i);
    }
}

static void keys_are_replaced(void **state)
{
    (void)state;
    if (XYLEM_SANITIZED)
        skip();
    each(use_up_a_key);
}

/* The next program continues with the state of this one. */
static void hand_over(xy_seal_t *seals[2])
{
    int fd;

    for (int i = 0; i < 5; i++) {
        size_t length = seal_all(seals[0], &i, sizeof(i));

        assert_true(net_seal_open(seals[1], record, length, plain));
        fd = xy_seal_save(seals[i % 2]);
        assert_true(fd >= 0);
        xy_seal_free(seals[i % 2]);
        seals[i % 2] = xy_seal_load(fd);
        assert_non_null(seals[i % 2]);
        length = seal_all(seals[1], &i, sizeof(i));
        assert_true(net_seal_open(seals[0], record, length, plain));
        assert_memory_equal(plain, &i, sizeof(i));
    }
}

static void connections_are_handed_over(void **state)
{
    (void)state;
    each(hand_over);
}

static void sizes_of_records(void **state)
{
    static const uint8_t none[] = {0, 0, 0, 0}, most[] = {128, 0, 1, 0}, more[] = {129, 0, 1, 0},
                         huge[] = {255, 255, 255, 255};

    (void)state;
    assert_int_equal(net_seal_length(none), 0);
    assert_int_equal(net_seal_length(most), NET_SEAL_RECORD);
    assert_int_equal(net_seal_length(more), 0);
    assert_int_equal(net_seal_length(huge), 0);
}

/* Only who has the secret, and has heard the same, has the key. */
static void keys_depend_on_all(void **state)
{
    static const uint8_t secrets[2][XY_SECRET_BYTES] = {{1}, {2}};
    uint8_t own[2][NET_SEAL_KEY], shown[2][NET_SEAL_KEY], nothing[NET_SEAL_KEY] = {0};

    (void)state;
    if (net_seal_ciphers() == 0)
        skip();
    assert_true(net_seal_pair(own[0], shown[0]) && net_seal_pair(own[1], shown[1]));
    for (int i = 0; i < 3; i++) {
        xy_seal_t *a = net_seal_make(2, secrets[0], "said", 4, own[0], shown[1], true);
        xy_seal_t *b =
            net_seal_make(2, secrets[i == 1], i == 2 ? "sung" : "said", 4, own[1], shown[0], false);
        size_t length = seal_all(a, "text", 4);

        assert_int_equal(net_seal_open(b, record, length, plain), i == 0);
        xy_seal_free(a);
        xy_seal_free(b);
    }
    assert_null(net_seal_make(2, secrets[0], "said", 4, own[0], nothing, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_text_arrives),
        cmocka_unit_test(changed_records_are_refused),
        cmocka_unit_test(repeated_and_missing_records_are_refused),
        cmocka_unit_test(keys_are_replaced),
        cmocka_unit_test(connections_are_handed_over),
        cmocka_unit_test(sizes_of_records),
        cmocka_unit_test(keys_depend_on_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
