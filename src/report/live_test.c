/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the ones above first */
#include <cmocka.h>
#include <string.h>

#include "report/live.h"
#include "testing/base.h"

static char *text_of(xy_live_t *live)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    assert_non_null(file);
    xy_live_write_job(live, file);
    xy_live_write(live, file);
    fputs("end\n", file);
    fclose(file);
    return text;
}

static xy_live_t *parse(const char *text)
{
    char *copy = strdup(text);
    xy_live_t *live = NULL;

    assert_non_null(copy);
    assert_int_equal(xy_live_parse(copy, &live), XY_OK);
    free(copy);
    return live;
}

static xy_live_t *make(uint32_t ranks)
{
    xy_live_process_t process = {0, "here", 1000000000};
    xy_live_t *live;

    assert_int_equal(xy_live_create(&live), XY_OK);
    live->program = "ring";
    live->pid = 4711;
    live->size = ranks;
    assert_int_equal(xy_vec_append(&live->processes, &process), XY_OK);
    for (uint32_t i = 0; i < ranks; i++) {
        xy_live_rank_t r = {.rank = (int32_t)i,
                            .state = XY_LIVE_COMPUTE,
                            .call = "",
                            .comm = "",
                            .place = "at ring.c:20",
                            .root = XY_LIVE_NOBODY,
                            .call_rate = -1,
                            .message_rate = -1,
                            .byte_rate = -1};

        assert_int_equal(xy_vec_append(&live->ranks, &r), XY_OK);
    }
    return live;
}

static xy_live_rank_t *at(xy_live_t *live, int rank)
{
    return &XY_VEC_AT(&live->ranks, xy_live_rank_t, rank);
}

/* A rank that waits for one other. */
static void wait_for(xy_live_t *live, int rank, int partner)
{
    xy_live_rank_t *r = at(live, rank);

    r->state = XY_LIVE_WAIT;
    r->call = "MPI_Recv";
    r->comm = "MPI_COMM_WORLD";
    r->partner[0] = partner;
    r->partners = 1;
}

static void test_text_keeps_everything(void **state)
{
    uint64_t seed = testing_seed();

    (void)state;
    for (int i = 0; i < 50; i++) {
        uint32_t n = 1 + (uint32_t)testing_random_below(&seed, 40);
        xy_live_t *live = make(n), *back;
        char *text, *again;

        for (uint32_t r = 0; r < n; r++) {
            xy_live_rank_t *one = at(live, (int)r);
            xy_live_calls_t calls = {(uint32_t)testing_random_below(&seed, 2), (int32_t)r,
                                     testing_random(&seed) % 3};

            one->state = (xy_live_state_t)testing_random_below(&seed, XY_LIVE_STATES);
            one->ns = testing_random(&seed);
            one->is_least = testing_random_below(&seed, 2) == 1;
            one->messages = testing_random(&seed);
            one->partners = (uint32_t)testing_random_below(&seed, 7);
            for (int k = 0; k < XY_LIVE_PARTNERS; k++)
                one->partner[k] = testing_random_below(&seed, (int)n);
            one->is_collective = testing_random_below(&seed, 2) == 1;
            one->number = testing_random(&seed) % 3;
            assert_int_equal(xy_vec_append(&live->calls, &calls), XY_OK);
        }
        text = text_of(live);
        back = parse(text);
        again = text_of(back);
        assert_string_equal(text, again);
        assert_int_equal(back->ranks.count, n);
        assert_int_equal(back->calls.count, n);
        free(text);
        free(again);
        xy_live_destroy(back);
        xy_live_destroy(live);
    }
}

/* Random waits: a root does not wait, or for nobody in particular, and has as many waiters as lead
 * to it; a circle has none. */
static void test_roots(void **state)
{
    uint64_t seed = testing_seed();

    (void)state;
    for (int i = 0; i < 200; i++) {
        int n = 2 + testing_random_below(&seed, 20);
        xy_live_t *live = make((uint32_t)n);
        uint32_t waiters = 0, led = 0;

        for (int r = 0; r < n; r++)
            if (testing_random_below(&seed, 4) > 0)
                wait_for(live, r, (r + 1 + testing_random_below(&seed, n - 1)) % n);
        xy_live_settle(live);
        for (int r = 0; r < n; r++) {
            int next = r, steps = 0;

            while (at(live, next)->state == XY_LIVE_WAIT && steps++ <= n)
                next = at(live, next)->partner[0];
            if (at(live, r)->state != XY_LIVE_WAIT || steps > n)
                assert_int_equal(at(live, r)->root, XY_LIVE_NOBODY);
            else
                assert_int_equal(at(live, r)->root, next);
            waiters += at(live, r)->waiters;
            led += at(live, r)->root != XY_LIVE_NOBODY;
        }
        assert_int_equal(waiters, led);
        xy_live_destroy(live);
    }
}

/* In a collective, those that have called fewer are waited for; one that has gone on is not. */
static void test_collectives(void **state)
{
    static const uint64_t numbers[] = {5, 4, 5, 6, 4};
    xy_live_t *live = make(5);

    (void)state;
    for (int r = 0; r < 5; r++) {
        xy_live_calls_t calls = {7, r, numbers[r]}, other = {8, r, 0};

        assert_int_equal(xy_vec_append(&live->calls, &other), XY_OK);
        assert_int_equal(xy_vec_append(&live->calls, &calls), XY_OK);
    }
    for (int r = 0; r < 3; r += 2) {
        at(live, r)->state = XY_LIVE_WAIT;
        at(live, r)->is_collective = true;
        at(live, r)->context = 7;
        at(live, r)->number = 4;
    }
    {
        char *text = text_of(live);
        xy_live_t *back = parse(text);

        free(text);
        xy_live_settle(back);
        for (int r = 0; r < 3; r += 2) {
            assert_int_equal(at(back, r)->partners, 2);
            assert_int_equal(at(back, r)->partner[0], 1);
            assert_int_equal(at(back, r)->partner[1], 4);
            assert_int_equal(at(back, r)->root, 1);
        }
        assert_int_equal(at(back, 1)->waiters, 2);
        assert_int_equal(at(back, 3)->waiters, 0);
        xy_live_destroy(back);
    }
    xy_live_destroy(live);
}

static char *print(const xy_live_t *live, const xy_live_style_t *style, int *rows_p)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    assert_non_null(file);
    assert_int_equal(xy_live_text(live, style, file, rows_p), XY_OK);
    fclose(file);
    return text;
}

/* 1000 ranks in two groups are two rows; each is there where it is asked for. No line is longer
 * than the window, nor are there more of them. */
static void test_folding(void **state)
{
    xy_live_t *live = make(1000);
    int rows = 0, lines = 0;
    char *text;

    (void)state;
    for (int r = 0; r < 1000; r++)
        if (r != 3)
            wait_for(live, r, 3);
    at(live, 3)->ns = 2000000000;
    xy_live_settle(live);
    text = print(live, &(xy_live_style_t){.rows = 0}, &rows);
    assert_int_equal(rows, 2);
    assert_non_null(strstr(text, "999 wait; 999 ultimately for rank 3: its own code, after "
                                 "ring.c:20, 2 s\n"));
    assert_non_null(strstr(text, "\n0-2,4-999 "));
    assert_true(strstr(text, "\n3 ") < strstr(text, "\n0-2,4-999 "));
    free(text);
    text = print(live, &(xy_live_style_t){.is_unfolded = true, .rows = 20, .width = 40}, &rows);
    assert_int_equal(rows, 1000);
    for (char *line, *rest = text; (line = strsep(&rest, "\n")) != NULL; lines++)
        assert_true(strlen(line) <= 40);
    assert_int_equal(lines, 21); /* the last one is empty */
    free(text);
    xy_live_destroy(live);
}

static void test_rates(void **state)
{
    xy_live_t *before = make(2), *now = make(2);

    (void)state;
    XY_VEC_AT(&now->processes, xy_live_process_t, 0).time = 3000000000;
    at(now, 1)->messages = 10;
    at(now, 1)->bytes = 4096;
    at(now, 1)->calls = 20;
    xy_live_rates(now, before);
    assert_true(at(now, 0)->message_rate == 0);
    assert_true(at(now, 1)->message_rate == 5 && at(now, 1)->byte_rate == 2048 &&
                at(now, 1)->call_rate == 10);
    xy_live_rates(now, now); /* no time has passed: nothing changes */
    assert_true(at(now, 1)->message_rate == 5);
    xy_live_destroy(before);
    xy_live_destroy(now);
}

static void test_refusals(void **state)
{
    static const char *const wrong[] = {
        "",
        "xylem live 2\n",
        "xylem live 1\njob\t1\t1\tx\n",
        "xylem live 1\nend\n",
        "xylem live 1\njob\t1\t1\tx\nrank\t1\t0\twait\t0\t0\t0\t0\t0\t\t\t\t0\t-\t-\nend\n",
        "xylem live 1\njob\t1\t1\tx\nrank\t0\t0\tsleep\t0\t0\t0\t0\t0\t\t\t\t0\t-\t-\nend\n",
        "xylem live 1\njob\t1\t1\tx\nrank\t0\t0\twait\t0\t0\t0\t0\t0\t\t\t\t1\t-\t-\nend\n",
        "xylem live 1\njob\t1\t1\tx\ncalls\t1\t1\t0-1\nend\n",
        ("xylem live 1\njob\t1\t2\tx\nrank\t0\t0\tend\t0\t0\t0\t0\t0\t\t\t\t0\t-\t-\n"
         "rank\t0\t0\tend\t0\t0\t0\t0\t0\t\t\t\t0\t-\t-\nend\n"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char *copy = strdup(wrong[i]);
        xy_live_t *live = NULL;

        assert_non_null(copy);
        testing_listen();
        assert_int_equal(xy_live_parse(copy, &live), XY_EPARSE);
        assert_int_equal(testing_said_count, 1);
        assert_null(live);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_keeps_everything),
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_collectives),
        cmocka_unit_test(test_folding),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
