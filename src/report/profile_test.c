/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the ones above first */
#include <cmocka.h>
#include <string.h>

#include "testing/report.h"

static xy_profile_t *random_profile(uint64_t *seed, uint32_t ranks)
{
    static const char *const functions[] = {"MPI_Send", "MPI_Recv", "MPI_Barrier"};
    xy_profile_t *p;

    assert_int_equal(xy_profile_create("a program, with a comma", ranks, &p), XY_OK);
    for (uint32_t r = 0; r < ranks; r++)
        XY_VEC_AT(&p->ranks, xy_profile_rank_t, r) = (xy_profile_rank_t){
            (uint32_t)testing_random_below(seed, 4), 1 + testing_random(seed) % 99};
    for (int i = 0; i < 40; i++) {
        char place[32];
        xy_profile_record_t *r;

        snprintf(place, sizeof(place), "some file.c:%d", testing_random_below(seed, 20));
        r = testing_record(p, (uint32_t)testing_random_below(seed, (int)ranks),
                           functions[testing_random_below(seed, 3)], place);
        r->bytes = testing_random(seed) >> 20;
        r->size_class = xy_profile_class(r->bytes);
        r->members = (uint32_t)testing_random_below(seed, 9);
        r->compute = testing_random(seed) >> 20;
        for (int k = 0; k < XY_PARTS; k++)
            r->part[k] = testing_random(seed) >> 22;
        for (int k = testing_random_below(seed, 5); k > 0; k--)
            xy_profile_blame(r->blame, testing_random_below(seed, (int)ranks + 1) - 1,
                             (uint32_t)testing_random_below(seed, (int)p->sites.count),
                             1 + (testing_random(seed) >> 30));
    }
    for (int i = 0; i < 10; i++) {
        xy_profile_pair_t q = {(uint32_t)testing_random_below(seed, (int)ranks),
                               (uint32_t)testing_random_below(seed, (int)ranks),
                               testing_random(seed) >> 3, testing_random(seed) >> 40};

        assert_int_equal(xy_vec_append(&p->pairs, &q), XY_OK);
    }
    return p;
}

/* A written profile reads back unchanged. */
static void test_files_keep_everything(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (int i = 0; i < 20; i++) {
        xy_profile_t *p = random_profile(&seed, 1 + (uint32_t)i), *back;
        char *text = testing_text(p), *copy = strdup(text), *again;

        assert_non_null(copy);
        assert_int_equal(xy_profile_parse(copy, "test", &back), XY_OK);
        again = testing_text(back);
        assert_string_equal(again, text);
        xy_profile_destroy(p);
        xy_profile_destroy(back);
        free(text);
        free(copy);
        free(again);
    }
}

/* A file without its last line, with one line more, or with a changed word, is refused in one
 * message. */
static void test_bad_files_are_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "xylem profile 0\n",
        "xylem profile 1\nranks 2\n",
        "xylem profile 1\nranks 2\ncall 2 0 0 0 0 0 0 0 0 0 0 0 0 0\nend\n",
        "xylem profile 1\nranks 2\ncall 0 1 0 0 0 0 0 0 0 0 0 0 0 0\nend\n",
        "xylem profile 1\nranks 2\ncall 0 0 0 65 0 0 0 0 0 0 0 0 0 0 0\nend\n",
        "xylem profile 1\nranks 2\ncall 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 9:0:1\nend\n",
        "xylem profile 1\nranks 2\nsite 2 MPI_Send x\nend\n",
        "xylem profile 1\nranks 2\nsite 1 MPI_Send x\nsite 2 MPI_Send x\nend\n",
        "xylem profile 1\nranks 99999999\nend\n",
        "xylem profile 1\nranks 2\nrank 0 0 99999999999999999999\nend\n",
        "xylem profile 1\nranks 2\npair 0 2 1 1\nend\n",
        "xylem profile 1\nranks 2\nnothing\nend\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char *copy = strdup(bad[i]);
        xy_profile_t *p;

        assert_non_null(copy);
        testing_listen();
        assert_int_equal(xy_profile_parse(copy, "bad", &p), XY_EPARSE);
        assert_int_equal(testing_said_count, 1);
        free(copy);
    }
    {
        char later[] = "xylem profile 2\n";
        xy_profile_t *p;

        assert_int_equal(xy_profile_parse(later, "later", &p), XY_EUNSUPPORTED);
    }
}

/* The most blamed ones stay, whatever comes in between. */
static void test_blames_keep_the_most(void **state)
{
    xy_blame_t blame[XY_PROFILE_BLAMES] = {{0}};

    (void)state;
    for (int i = 0; i < 1000; i++) {
        xy_profile_blame(blame, 7, 1, 100);
        xy_profile_blame(blame, 1000 + i, 2, 1);
    }
    assert_int_equal(blame[0].rank, 7);
    assert_in_range(blame[0].ns, 100000, 101000);
    for (int b = 1; b < XY_PROFILE_BLAMES; b++)
        assert_true(blame[b - 1].ns >= blame[b].ns);
}

/* A place in another process becomes that of its own process; one that is not known becomes none.
 */
static void test_join_finds_places(void **state)
{
    xy_profile_t *all, *part[2];
    const xy_profile_record_t *r;
    const xy_profile_site_t *s;
    uint32_t known, unknown;
    char text[64];

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(xy_profile_create("two", 2, &part[i]), XY_OK);
        testing_record(part[i], i, i == 0 ? "MPI_Recv" : "MPI_Send", i == 0 ? "a.c:1" : "b.c:2");
    }
    xy_profile_address(1, 4711, text, sizeof(text));
    assert_true(xy_profile_site(part[0], XY_PROFILE_ELSEWHERE, text, &known));
    xy_profile_address(0, 4711, text, sizeof(text));
    assert_true(xy_profile_site(part[0], XY_PROFILE_ELSEWHERE, text, &unknown));
    xy_profile_blame(XY_VEC_AT(&part[0]->records, xy_profile_record_t, 0).blame, 1, known, 100);
    xy_profile_blame(XY_VEC_AT(&part[0]->records, xy_profile_record_t, 0).blame, 0, unknown, 10);
    assert_int_equal(
        xy_vec_append(&part[1]->places,
                      &(xy_profile_place_t){
                          1, XY_VEC_AT(&part[1]->records, xy_profile_record_t, 0).site, 4711}),
        XY_OK);
    assert_int_equal(xy_profile_join(part, 2, &all), XY_OK);
    r = &XY_VEC_AT(&all->records, xy_profile_record_t, 0);
    s = &XY_VEC_AT(&all->sites, xy_profile_site_t, r->blame[0].site);
    assert_int_equal(r->blame[0].rank, 1);
    assert_string_equal(s->function, "MPI_Send");
    assert_string_equal(s->place, "b.c:2");
    assert_int_equal(r->blame[1].site, 0);
    for (size_t i = 0; i < all->sites.count; i++)
        assert_string_not_equal(XY_VEC_AT(&all->sites, xy_profile_site_t, i).function,
                                XY_PROFILE_ELSEWHERE);
    xy_profile_destroy(part[0]);
    xy_profile_destroy(part[1]);
    xy_profile_destroy(all);
}

/* The parts of two processes become one: all times are there. */
static void test_merge_adds_up(void **state)
{
    uint64_t seed = 3, sum = 0, merged = 0;
    xy_profile_t *all, *part[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        part[i] = random_profile(&seed, 4);
        for (size_t k = 0; k < part[i]->records.count; k++)
            sum += xy_profile_time(&XY_VEC_AT(&part[i]->records, xy_profile_record_t, k));
    }
    assert_int_equal(xy_profile_join(part, 2, &all), XY_OK);
    assert_int_equal(xy_profile_settle(all), XY_OK);
    for (size_t k = 0; k < all->records.count; k++) {
        const xy_profile_record_t *r = &XY_VEC_AT(&all->records, xy_profile_record_t, k);

        merged += xy_profile_time(r);
        assert_true(r->site < all->sites.count);
    }
    assert_int_equal(merged, sum);
    xy_profile_destroy(part[0]);
    xy_profile_destroy(part[1]);
    xy_profile_destroy(all);
}

/* Between processes the last member of a barrier is not known: it is the one that computed longest,
 * and what even it waits is transfer. */
static void test_unknown_is_settled(void **state)
{
    xy_profile_t *p;

    (void)state;
    assert_int_equal(xy_profile_create("barrier", 3, &p), XY_OK);
    for (uint32_t r = 0; r < 3; r++) {
        xy_profile_record_t *record = testing_record(p, r, "MPI_Barrier", "b.c:3");

        record->members = 3;
        record->compute = 100 * (r + 1);
        record->part[XY_PART_COLLECTIVE] = 210 - 100 * r;
        xy_profile_blame(record->blame, XY_PROFILE_NOBODY, 0, record->part[XY_PART_COLLECTIVE]);
    }
    assert_int_equal(xy_profile_settle(p), XY_OK);
    for (uint32_t r = 0; r < 3; r++) {
        const xy_profile_record_t *record = &XY_VEC_AT(&p->records, xy_profile_record_t, r);

        assert_int_equal(record->part[XY_PART_TRANSFER], 10);
        assert_int_equal(record->part[XY_PART_COLLECTIVE], 200 - 100 * r);
        if (r < 2)
            assert_int_equal(record->blame[0].rank, 2);
    }
    xy_profile_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_keep_everything), cmocka_unit_test(test_bad_files_are_refused),
        cmocka_unit_test(test_blames_keep_the_most),  cmocka_unit_test(test_merge_adds_up),
        cmocka_unit_test(test_unknown_is_settled),    cmocka_unit_test(test_join_finds_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
