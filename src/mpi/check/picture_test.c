/* SPDX-License-Identifier: BSD-3-Clause */
/* The knot of ranks in several processes is that of the same ranks in one, whatever they wait for;
 * and a text that is cut is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include <string.h>

#include "mpi/check/picture.h"
#include "testing/base.h"

enum { RANKS = 9, PROCESSES = 3, WAITS = 3, CONTEXTS = 3, COLLECTIVES = 4 };

/* A job: what each rank waits for, and how many collectives it has called. */
static picture_rank_t ranks[RANKS];
static knot_wait_t waits[RANKS][WAITS];
static picture_need_t needs[RANKS][WAITS];
static picture_calls_t calls[RANKS][CONTEXTS];
static const void *messages[RANKS][2 * RANKS * WAITS];
static int lists[RANKS][WAITS][RANKS];
static int process[RANKS];
static bool is_told[PROCESSES];

static void make_list(int r, int i, knot_wait_t *wait)
{
    wait->count = testing_below(RANKS);
    for (int k = 0; k < wait->count; k++)
        lists[r][i][k] = testing_below(RANKS);
    wait->ranks = testing_below(4) > 0 ? lists[r][i] : NULL;
}

static void make_wait(int r, int i)
{
    knot_wait_t *wait = &waits[r][i];
    knot_rank_t *to;

    *wait = (knot_wait_t){.kind = (knot_kind_t)testing_below(KNOT_ALL_OF + 1),
                          .rank = testing_below(RANKS)};
    needs[r][i] = (picture_need_t){.context = 1 + (uint32_t)testing_below(CONTEXTS),
                                   .number = (uint64_t)testing_below(COLLECTIVES),
                                   .member = testing_below(RANKS + 2) - 2,
                                   .is_together = testing_below(2) == 1};
    if (wait->kind == KNOT_ANY_OF)
        make_list(r, i, wait);
    if (wait->kind == KNOT_SEND) {
        wait->message = picture_message(process[r], 0x7f0000001000u + (unsigned)(16 * i));
        to = &ranks[wait->rank].knot;
        if (testing_below(4) > 0) /* else it has been received */
            messages[wait->rank][to->messages_count++] = wait->message;
    }
}

static void make_job(void)
{
    memset(ranks, 0, sizeof(ranks));
    for (int r = 0; r < RANKS; r++) {
        process[r] = testing_below(PROCESSES);
        ranks[r] = (picture_rank_t){.rank = r,
                                    .is_polling = testing_below(5) == 0,
                                    .is_long = testing_below(2) == 1,
                                    .needs = needs[r],
                                    .calls = calls[r],
                                    .calls_count = testing_below(CONTEXTS + 1)};
        ranks[r].knot = (knot_rank_t){.is_parked = testing_below(12) > 0,
                                      .is_any = testing_below(2) == 1,
                                      .count = 1 + testing_below(WAITS),
                                      .waits = waits[r],
                                      .messages = messages[r]};
        for (int c = 0; c < CONTEXTS; c++)
            calls[r][c] = (picture_calls_t){1 + (uint32_t)c, (uint64_t)testing_below(COLLECTIVES)};
    }
    for (int r = 0; r < RANKS; r++)
        for (int i = 0; i < ranks[r].knot.count; i++)
            make_wait(r, i);
    for (int p = 0; p < PROCESSES; p++)
        is_told[p] = testing_below(6) > 0;
}

static picture_t *tell(void)
{
    picture_t *picture = picture_new(RANKS);

    assert_non_null(picture);
    for (int p = 0; p < PROCESSES; p++) {
        xy_text_t text = XY_TEXT_INIT;

        for (int r = 0; r < RANKS; r++)
            if (process[r] == p)
                picture_write(&text, &ranks[r]);
        if (is_told[p])
            assert_true(picture_read(picture, p, text.s != NULL ? text.s : ""));
        xy_text_cleanup(&text);
    }
    return picture;
}

/* Another way: one after the other, who may continue? */
static bool is_rank_needed(const picture_need_t *need, int of, int r)
{
    bool is_asked = need->member == PICTURE_ALL || need->member == r ||
                    (need->is_together && process[r] == process[of]);

    return is_asked && (int)need->context <= ranks[r].calls_count &&
           calls[r][need->context - 1].number <= need->number;
}

static bool has_message(int r, const void *message)
{
    for (int i = 0; i < ranks[r].knot.messages_count; i++)
        if (messages[r][i] == message)
            return true;
    return false;
}

static bool may_end(int r, int i, const bool *stuck)
{
    const knot_wait_t *w = &waits[r][i];
    bool is_any_free = false, is_any_stuck = false;

    for (int k = 0; k < RANKS; k++)
        is_any_stuck |= stuck[k] && is_rank_needed(&needs[r][i], r, k);
    for (int k = 0; w->kind == KNOT_ANY_OF && k < w->count; k++) {
        int other = w->ranks != NULL ? w->ranks[k] : k;

        is_any_free |= other != r && !stuck[other];
    }
    switch (w->kind) {
    case KNOT_RANK:
        return !stuck[w->rank];
    case KNOT_SEND:
        return !stuck[w->rank] || !has_message(w->rank, w->message);
    case KNOT_ANY_OF:
        return is_any_free;
    case KNOT_ALL_OF:
        return !is_any_stuck;
    default:
        return true;
    }
}

static bool may_go_on(int r, const bool *stuck)
{
    int open = 0;

    for (int i = 0; i < ranks[r].knot.count; i++)
        open += may_end(r, i, stuck);
    return ranks[r].knot.is_any ? open > 0 : open == ranks[r].knot.count;
}

static void expect(picture_who_t who, bool *stuck)
{
    for (int r = 0; r < RANKS; r++)
        stuck[r] = is_told[process[r]] && ranks[r].knot.is_parked &&
                   (!ranks[r].is_polling || who == PICTURE_POLLING ||
                    (who == PICTURE_LONG && ranks[r].is_long));
    for (int again = 0; again < RANKS; again++)
        for (int r = 0; r < RANKS; r++)
            stuck[r] = stuck[r] && !may_go_on(r, stuck);
}

static void test_knot_of_several_processes(void **state)
{
    int found = 0;

    (void)state;
    for (int n = 0; n < 3000; n++) {
        picture_who_t who = (picture_who_t)testing_below(3);
        bool expected[RANKS], stuck[RANKS];
        picture_t *picture;
        int members;

        make_job();
        picture = tell();
        members = picture_find(picture, who, stuck);
        expect(who, expected);
        for (int r = 0; r < RANKS; r++) {
            int partner = -1;

            assert_int_equal(stuck[r], expected[r]);
            members -= stuck[r];
            if (stuck[r])
                assert_true(picture_wait(picture, stuck, r, &partner) >= 0);
            assert_true(partner < 0 || stuck[partner]);
            found += stuck[r];
        }
        assert_int_equal(members, 0);
        picture_destroy(picture);
    }
    assert_true(found > 1000); /* there was something to find */
}

static void test_cut_text(void **state)
{
    (void)state;
    for (int n = 0; n < 200; n++) {
        xy_text_t text = XY_TEXT_INIT;
        picture_t *picture = picture_new(RANKS);
        bool stuck[RANKS];

        assert_non_null(picture);
        make_job();
        picture_write(&text, &ranks[0]);
        text.s[text.length - 1 - (size_t)testing_below((int)text.length - 1)] = '\0';
        assert_false(picture_read(picture, 0, text.s));
        assert_int_equal(picture_process(picture, 0), -1);
        assert_int_equal(picture_find(picture, PICTURE_POLLING, stuck), 0);
        xy_text_cleanup(&text);
        picture_destroy(picture);
    }
}

static void test_messages_of_processes_differ(void **state)
{
    (void)state;
    assert_ptr_not_equal(picture_message(0, 0x1000), picture_message(1, 0x1000));
    assert_ptr_not_equal(picture_message(1, 0x1000), picture_message(1, 0x1008));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_knot_of_several_processes),
        cmocka_unit_test(test_cut_text),
        cmocka_unit_test(test_messages_of_processes_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
