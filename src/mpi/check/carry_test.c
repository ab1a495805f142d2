/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings that travel: what arrives is what was sent, and bytes that are cut or changed are no
 * findings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include <string.h>

#include "mpi/check/carry.h"
#include "testing/base.h"

enum { RANKS = 70, MOST = 6 };

static check_finding_t got[MOST];
static int got_count;

static void take(check_finding_t *f)
{
    assert_true(got_count < MOST);
    got[got_count++] = *f;
}

static void forget(void)
{
    while (got_count > 0)
        check_finding_cleanup(&got[--got_count]);
}

static void set_some(xy_bitset_t *ranks)
{
    assert_int_equal(xy_bitset_init(ranks, RANKS), XY_OK);
    for (int n = testing_below(5); n > 0; n--)
        xy_bitset_set(ranks, (size_t)testing_below(RANKS));
}

/* Any text but NUL. */
static void make_text(char *text, size_t most)
{
    size_t n = (size_t)testing_below((int)most);

    for (size_t i = 0; i < n; i++)
        text[i] = (char)(1 + testing_below(255));
    text[n] = '\0';
}

static void make(check_finding_t *f)
{
    char text[300];

    *f = (check_finding_t){.kind = (mpi_finding_kind_t)testing_below(XMPI_FINDING_KINDS),
                           .count = (long)testing_below(1000000),
                           .is_printed = testing_below(2) == 1,
                           .lines = XY_VEC_INIT(check_line_t)};
    set_some(&f->ranks);
    make_text(text, sizeof(text));
    f->message = xy_strdup(text);
    for (int i = 0; i < 2; i++)
        make_text(f->places[i], CHECK_PLACE_SIZE);
    for (int n = testing_below(3); n > 0; n--) {
        check_line_t *line = xy_vec_push(&f->lines);

        set_some(&line->ranks);
        make_text(text, sizeof(text));
        line->text = xy_strdup(text);
        make_text(line->place, CHECK_PLACE_SIZE);
    }
}

static void same_ranks(const xy_bitset_t *a, const xy_bitset_t *b)
{
    for (size_t r = 0; r < RANKS; r++)
        assert_int_equal(xy_bitset_has(a, r), xy_bitset_has(b, r));
}

static void same(const check_finding_t *a, const check_finding_t *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->is_printed, b->is_printed);
    same_ranks(&a->ranks, &b->ranks);
    assert_string_equal(a->message, b->message);
    assert_string_equal(a->places[0], b->places[0]);
    assert_string_equal(a->places[1], b->places[1]);
    assert_int_equal(a->lines.count, b->lines.count);
    for (size_t i = 0; i < a->lines.count; i++) {
        const check_line_t *x = &XY_VEC_AT(&a->lines, check_line_t, i);
        const check_line_t *y = &XY_VEC_AT(&b->lines, check_line_t, i);

        same_ranks(&x->ranks, &y->ranks);
        assert_string_equal(x->text, y->text);
        assert_string_equal(x->place, y->place);
    }
}

static void arrives(void **state)
{

    (void)state;
    for (int round = 0; round < 200; round++) {
        int n = testing_below(MOST);
        bool is_ended = round % 2 == 1, has_ended;
        xy_text_t text = XY_TEXT_INIT;
        check_finding_t sent[MOST];

        check_carry_begin(&text, RANKS, is_ended);
        for (int i = 0; i < n; i++) {
            make(&sent[i]);
            check_carry_add(&text, &sent[i]);
        }
        assert_false(text.failed);
        assert_true(check_carry_read(text.s, text.length, &has_ended, take));
        assert_int_equal(has_ended, is_ended);
        assert_int_equal(got_count, n);
        for (int i = 0; i < n; i++) {
            same(&sent[i], &got[i]);
            check_finding_cleanup(&sent[i]);
        }
        forget();
        xy_text_cleanup(&text);
    }
}

/* Cut anywhere but between two findings. */
static void cut_is_refused(void **state)
{
    xy_text_t text = XY_TEXT_INIT;
    check_finding_t f;
    size_t front;
    bool has_ended;

    (void)state;
    make(&f);
    check_carry_begin(&text, RANKS, false);
    front = text.length;
    check_carry_add(&text, &f);
    for (size_t n = 0; n < text.length; n++)
        if (n != front)
            assert_false(check_carry_read(text.s, n, &has_ended, take));
    assert_int_equal(got_count, 0);
    check_finding_cleanup(&f);
    xy_text_cleanup(&text);
}

static void other_bytes_are_refused(void **state)
{
    static const char *const bad[] = {"x\0000\0", "-1\0000\0", "70\0002\0", "99999999999\0000\0"};
    bool has_ended;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(check_carry_read(bad[i], strlen(bad[i]) + 3, &has_ended, take));
    assert_int_equal(got_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrives), cmocka_unit_test(cut_is_refused),
                                       cmocka_unit_test(other_bytes_are_refused)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
