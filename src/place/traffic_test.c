/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "place/place.h"
#include "testing/base.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    testing_template(folder);
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    char command[80];

    (void)state;
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command);
}

static void put(const char *name, const char *text)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static bool exists(const char *name)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "r");
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

static double bytes_of(const xy_traffic_t *t, xy_traffic_choice_t c)
{
    double sum = 0;
    xy_matrix_t *m;

    assert_int_equal(xy_traffic_matrix(t, &c, &m), XY_OK);
    for (size_t k = 0; k < m->first[m->n]; k++)
        sum += m->bytes[k];
    xy_matrix_destroy(m);
    return sum;
}

/* Two ranks: the world and another communicator, two phases, two slices, both kinds. */
static void put_rows(void)
{
    put("0.csv", "# ranks 2 slice 0.5\n"
                 "1,100,2,0,0,0,0,0\n"
                 "1,10,1,1,0,1,0,0\n"
                 "1,1000,1,0,1,1,0,3\n");
    put("1.csv", "# ranks 2 slice 0.5\n"
                 "0,7,1,0,1,1,0,3\n");
}

static void test_rows_of_ranks(void **state)
{
    xy_traffic_t t;

    (void)state;
    put_rows();
    assert_int_equal(xy_traffic_read(folder, &t), XY_OK);
    assert_int_equal(t.ranks, 2);
    assert_true(t.slice_seconds == 0.5);
    assert_true(bytes_of(&t, (xy_traffic_choice_t){true, true, -1, -1, -1}) == 1117);
    assert_true(bytes_of(&t, (xy_traffic_choice_t){true, false, -1, -1, -1}) == 1107);
    assert_true(bytes_of(&t, (xy_traffic_choice_t){false, true, -1, -1, -1}) == 10);
    assert_true(bytes_of(&t, (xy_traffic_choice_t){true, true, 1, -1, -1}) == 1007);
    assert_true(bytes_of(&t, (xy_traffic_choice_t){true, true, -1, 0, -1}) == 100);
    assert_true(bytes_of(&t, (xy_traffic_choice_t){true, true, -1, -1, 1}) == 1007);
    assert_true(bytes_of(&t, (xy_traffic_choice_t){true, true, -1, -1, 0}) == 110);
    xy_traffic_cleanup(&t);
}

static void test_a_directory_is_filled(void **state)
{
    static const char *const files[] = {
        "out/all.csv",     "out/program.csv",       "out/collectives.csv", "out/phase-0.csv",
        "out/phase-1.csv", "out/slice-0.csv",       "out/slice-1.csv",     "out/communicator-0.csv",
        "out/index.html",  "out/communicator-1.csv"};
    char path[128];
    xy_traffic_t t;
    xy_matrix_t *m;

    (void)state;
    put_rows();
    assert_int_equal(xy_traffic_read(folder, &t), XY_OK);
    snprintf(path, sizeof(path), "%s/out", folder);
    assert_int_equal(xy_traffic_write(&t, path), XY_OK);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        assert_true(exists(files[i]));
    assert_false(exists("out/phase-2.csv"));
    snprintf(path, sizeof(path), "%s/out/all.csv", folder);
    assert_int_equal(xy_matrix_read(path, &m), XY_OK);
    assert_int_equal(m->n, 2);
    assert_true(m->bytes[0] == 1110 && m->messages[0] == 4);
    xy_matrix_destroy(m);
    xy_traffic_cleanup(&t);
}

/* One phase, one communicator, no slices: no files about them. */
static void test_nothing_is_cut_without_need(void **state)
{
    xy_traffic_t t;
    char path[128];

    (void)state;
    put("0.csv", "# ranks 1 slice 0\n0,1,1,0,0,0,0,0\n");
    assert_int_equal(xy_traffic_read(folder, &t), XY_OK);
    snprintf(path, sizeof(path), "%s/out", folder);
    assert_int_equal(xy_traffic_write(&t, path), XY_OK);
    assert_true(exists("out/all.csv"));
    assert_false(exists("out/phase-0.csv") || exists("out/slice-0.csv") ||
                 exists("out/communicator-0.csv"));
    xy_traffic_cleanup(&t);
}

static void test_bad_rows_are_said_with_their_place(void **state)
{
    static const struct {
        const char *text, *said;
    } bad[] = {
        {"", "not the row of a monitored rank"},
        {"0,1,1\n", "not the row of a monitored rank"},
        {"# ranks 0 slice 0\n", "0.csv:1"},
        {"# ranks 10000000 slice 0\n", "0.csv:1"},
        {"# ranks 2 slice x\n", "0.csv:1"},
        {"# ranks 2\n", "'slice' is expected"},
        {"# ranks 2 piece 0\n", "'slice' is expected"},
        {"# ranks 2 slice 0 1\n", "0.csv:1"},
        {"# ranks 2 slice 0\n2,1,1,0,0,0,0,0\n", "0.csv:2"},
        {"# ranks 2 slice 0\n1,-1,1,0,0,0,0,0\n", "0.csv:2"},
        {"# ranks 2 slice 0\n1,nan,1,0,0,0,0,0\n", "0.csv:2"},
        {"# ranks 2 slice 0\n1,1,1,2,0,0,0,0\n", "0.csv:2"},
        {"# ranks 2 slice 0\n1,1,1,0,0,0,0\n", "0.csv:2"},
        {"# ranks 2 slice 0\n1,1,1,0,0,0,0,0,9\n", "0.csv:2"},
    };
    xy_traffic_t t;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        testing_listen();
        put("0.csv", bad[i].text);
        assert_int_not_equal(xy_traffic_read(folder, &t), XY_OK);
        assert_int_equal(testing_said_count, 1);
        assert_non_null(strstr(testing_said, bad[i].said));
    }
}

static void test_rows_of_two_runs_are_said(void **state)
{
    xy_traffic_t t;

    (void)state;
    testing_listen();
    put("0.csv", "# ranks 2 slice 0\n");
    put("1.csv", "# ranks 3 slice 0\n2,1,1,0,0,0,0,0\n");
    assert_int_equal(xy_traffic_read(folder, &t), XY_EPARSE);
    assert_non_null(strstr(testing_said, "different runs"));
}

/* Only NUMBER.csv is the row of a rank. */
static void test_other_files_are_left_alone(void **state)
{
    xy_traffic_t t;

    (void)state;
    put_rows();
    put("0.csv~", "what an editor left");
    put("7", "");
    put("99999999999999999999.csv", "");
    put("notes.csv", "");
    assert_int_equal(xy_traffic_read(folder, &t), XY_OK);
    assert_int_equal(t.records.count, 4);
    xy_traffic_cleanup(&t);
}

static void test_an_empty_directory_is_said(void **state)
{
    xy_traffic_t t;

    (void)state;
    testing_listen();
    assert_int_equal(xy_traffic_read(folder, &t), XY_ENOENT);
    assert_non_null(strstr(testing_said, "nothing was monitored"));
    assert_int_not_equal(xy_traffic_read("/nowhere/at/all", &t), XY_OK);
}

static void test_memory_runs_out(void **state)
{
    char path[128];

    (void)state;
    put_rows();
    testing_listen();
    snprintf(path, sizeof(path), "%s/out", folder);
    for (long k = 1;; k++) {
        xy_traffic_t t;
        xy_status_t st;

        xy_memory_fail_at(k);
        st = xy_traffic_read(folder, &t);
        if (st == XY_OK) {
            st = xy_traffic_write(&t, path);
            xy_traffic_cleanup(&t);
        }
        if (!xy_memory_fail_hit()) {
            assert_int_equal(st, XY_OK);
            break;
        }
        assert_int_equal(st, XY_ENOMEM);
    }
    xy_memory_fail_at(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows_of_ranks, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_a_directory_is_filled, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_nothing_is_cut_without_need, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_bad_rows_are_said_with_their_place, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_rows_of_two_runs_are_said, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_other_files_are_left_alone, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_an_empty_directory_is_said, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_memory_runs_out, make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
