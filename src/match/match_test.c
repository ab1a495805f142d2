/* SPDX-License-Identifier: BSD-3-Clause */
/* Random posts, arrivals, probes and cancels against two plain lists that are searched from their
 * beginnings, as the standard defines matching. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "match/match.h"
#include "testing/base.h"

enum { MOST = 400, STEPS = 4000 / (1 + 9 * XYLEM_SANITIZED) };

/* ---- The reference ---- */

typedef struct {
    xy_match_entry_t *entries[MOST];
    int count;
} list_t;

static bool accepts(const xy_envelope_t *receive, const xy_envelope_t *message)
{
    return receive->context == message->context &&
           (receive->source == XY_MATCH_ANY_SOURCE || receive->source == message->source) &&
           (receive->tag == XY_MATCH_ANY_TAG || receive->tag == message->tag);
}

/* The first posted receive that takes `message`; `count`: there is none. */
static int first_receive(const list_t *posted, const xy_envelope_t *message)
{
    int i = 0;

    while (i < posted->count && !accepts(&posted->entries[i]->envelope, message))
        i++;
    return i;
}

/* The first message that `receive` takes; `count`: there is none. */
static int first_message(const list_t *kept, const xy_envelope_t *receive)
{
    int i = 0;

    while (i < kept->count && !accepts(receive, &kept->entries[i]->envelope))
        i++;
    return i;
}

static xy_match_entry_t *take_out(list_t *list, int i)
{
    xy_match_entry_t *e = list->entries[i];

    list->count--;
    memmove(&list->entries[i], &list->entries[i + 1],
            (size_t)(list->count - i) * sizeof(list->entries[0]));
    return e;
}

/* ---- Both side by side ---- */

typedef struct {
    xy_match_t match;
    list_t posted, kept;
    xy_match_entry_t pool[MOST], *free[MOST];
    int free_count;
    int ranks, tags; /* few: most envelopes meet; many: few do */
    int wildcards;   /* of ten receives */
} both_t;

static void begin(both_t *b, int ranks, int tags, int wildcards)
{
    *b = (both_t){.ranks = ranks, .tags = tags, .wildcards = wildcards, .free_count = MOST};
    for (int i = 0; i < MOST; i++)
        b->free[i] = &b->pool[i];
    assert_int_equal(xy_match_init(&b->match), XY_OK);
}

static xy_envelope_t random_message(const both_t *b)
{
    return (xy_envelope_t){(uint32_t)testing_below(2), testing_below(b->ranks),
                           testing_below(b->tags)};
}

static xy_envelope_t random_receive(const both_t *b)
{
    xy_envelope_t e = random_message(b);

    if (testing_below(10) < b->wildcards)
        e.source = XY_MATCH_ANY_SOURCE;
    if (testing_below(10) < b->wildcards)
        e.tag = XY_MATCH_ANY_TAG;
    return e;
}

static xy_match_entry_t *entry_of(both_t *b, xy_envelope_t envelope)
{
    xy_match_entry_t *e = b->free[--b->free_count];

    memset(e, 0x5a, sizeof(*e)); /* nothing is expected there */
    e->envelope = envelope;
    return e;
}

/* A message comes: a receive takes it, or it is kept. */
static void arrive(both_t *b)
{
    xy_envelope_t envelope = random_message(b);
    int i = first_receive(&b->posted, &envelope);
    xy_match_entry_t *met = xy_match_arrive(&b->match, &envelope);

    if (i < b->posted.count) {
        assert_ptr_equal(met, b->posted.entries[i]);
        b->free[b->free_count++] = take_out(&b->posted, i);
        return;
    }
    assert_null(met);
    if (b->free_count > 0) {
        met = entry_of(b, envelope);
        xy_match_keep(&b->match, met);
        b->kept.entries[b->kept.count++] = met;
    }
}

/* A receive takes the first message that it may take, or is posted. */
static void receive(both_t *b)
{
    xy_envelope_t envelope = random_receive(b);
    int i = first_message(&b->kept, &envelope);
    xy_match_entry_t *found = xy_match_find(&b->match, &envelope);

    if (i < b->kept.count) {
        assert_ptr_equal(found, b->kept.entries[i]);
        xy_match_drop(&b->match, found);
        b->free[b->free_count++] = take_out(&b->kept, i);
        return;
    }
    assert_null(found);
    if (b->free_count > 0) {
        found = entry_of(b, envelope);
        xy_match_post(&b->match, found);
        b->posted.entries[b->posted.count++] = found;
    }
}

/* A probe sees what a receive would take, and leaves it there: twice the same. */
static void probe(both_t *b)
{
    xy_envelope_t envelope = random_receive(b);
    int i = first_message(&b->kept, &envelope);

    for (int again = 0; again < 2; again++)
        assert_ptr_equal(xy_match_find(&b->match, &envelope),
                         i < b->kept.count ? b->kept.entries[i] : NULL);
}

/* A receive, or a message that its sender takes back, from anywhere in the middle. */
static void cancel(both_t *b)
{
    list_t *list = testing_below(2) == 0 ? &b->posted : &b->kept;
    xy_match_entry_t *e;

    if (list->count == 0)
        return;
    e = take_out(list, testing_below(list->count));
    if (list == &b->posted)
        xy_match_unpost(&b->match, e);
    else
        xy_match_drop(&b->match, e);
    b->free[b->free_count++] = e;
}

static void check_lists(const both_t *b)
{
    int i = 0;

    for (const xy_match_entry_t *e = b->match.first; e != NULL; e = e->list_next, i++)
        assert_ptr_equal(e, b->kept.entries[i]);
    assert_int_equal(i, b->kept.count);
    assert_int_equal(b->match.unexpected.count, b->kept.count);
    assert_int_equal(b->match.posted.count, b->posted.count);
    assert_ptr_equal(b->match.last, i > 0 ? b->kept.entries[i - 1] : NULL);
}

/* `messages` of ten steps are arrivals: with few, receives queue; with many, messages do. */
static void run(both_t *b, int messages)
{
    for (int step = 0; step < STEPS; step++) {
        int what = testing_below(12);

        if (what == 10)
            probe(b);
        else if (what == 11)
            cancel(b);
        else if (what < messages)
            arrive(b);
        else
            receive(b);
        check_lists(b);
    }
}

static void test_as_two_lists(void **state)
{
    static const struct {
        int ranks, tags, wildcards, messages;
    } cases[] = {{2, 2, 0, 5},   {2, 2, 3, 5},   {2, 2, 10, 5},  {1, 1, 5, 5},
                 {4, 3, 2, 2},   {4, 3, 2, 8},   {50, 50, 0, 5}, {50, 50, 2, 5},
                 {50, 50, 0, 1}, {50, 50, 1, 9}, {1000, 1, 2, 5}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static both_t b;

        begin(&b, cases[i].ranks, cases[i].tags, cases[i].wildcards);
        run(&b, cases[i].messages);
        xy_match_cleanup(&b.match);
    }
}

/* The least and greatest numbers are no wildcards and no special case. */
static void test_numbers_at_the_ends(void **state)
{
    static const int numbers[] = {0, 1, INT32_MAX - 1, INT32_MAX};
    static const uint32_t contexts[] = {0, 1, UINT32_MAX};
    xy_match_entry_t entries[3 * 4 * 4];
    xy_match_t match;
    int n = 0;

    (void)state;
    assert_int_equal(xy_match_init(&match), XY_OK);
    for (int c = 0; c < 3; c++)
        for (int s = 0; s < 4; s++)
            for (int t = 0; t < 4; t++) {
                entries[n].envelope = (xy_envelope_t){contexts[c], numbers[s], numbers[t]};
                xy_match_post(&match, &entries[n++]);
            }
    while (n-- > 0) {
        xy_envelope_t envelope = entries[n].envelope;

        assert_ptr_equal(xy_match_arrive(&match, &envelope), &entries[n]);
        assert_null(xy_match_arrive(&match, &envelope));
    }
    xy_match_cleanup(&match);
}

/* Without memory for more buckets the tables stay right; without memory for the first there is no
 * table. */
static void test_memory(void **state)
{
    static both_t b;
    xy_match_t match;

    (void)state;
    for (int k = 1; k <= 2; k++) {
        xy_memory_fail_at(k);
        assert_int_equal(xy_match_init(&match), XY_ENOMEM);
        xy_memory_fail_at(0);
    }
    begin(&b, 50, 50, 1);
    for (int step = 0; step < STEPS; step++) {
        xy_memory_fail_at(1);
        if (step % 3 == 0)
            arrive(&b);
        else
            receive(&b);
        xy_memory_fail_at(0);
        check_lists(&b);
    }
    xy_match_cleanup(&b.match);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_two_lists),
        cmocka_unit_test(test_numbers_at_the_ends),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
