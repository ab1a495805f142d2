/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deadlock detection over several processes. The test sends the messages of all other processes.
 * Linked with --wrap for the network and for the look at the ranks here.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "mpi/check/watch.h"

/* As in watch_far.c. */
enum { LOOK, MARK, SEEN, REPORT, LINES };
enum { MARKS = 1, IS_LAST = 4 };

typedef struct {
    uint32_t kind, flags, look;
} news_t;

enum { RANKS = 2, PAUSE_US = 50000 /* time enough to go wrong */ };

static bool stuck[RANKS];
static mpi_job_t job = {.size = RANKS, .numbers = RANKS};
static _Atomic bool mark_came;
static _Atomic int looks, looks_too_early, marks_sent;

/* In which looks do ranks 0 and 1, each in a process of its own, wait for each other? */
static bool is_knot_first, is_knot_second;

/* "Rank `rank` is parked and waits for the other one." */
static void write_rank(xy_text_t *text, int rank)
{
    static const picture_need_t need = {.member = PICTURE_NONE};
    knot_wait_t wait = {.kind = KNOT_RANK, .rank = 1 - rank};
    picture_rank_t r = {
        .rank = rank, .knot = {.is_parked = true, .waits = &wait, .count = 1}, .needs = &need};

    picture_write(text, &r);
}

static void come(int process, uint32_t kind, uint32_t flags, uint32_t look, const char *text)
{
    char bytes[4096];
    news_t news = {kind, flags | IS_LAST, look};

    memcpy(bytes, &news, sizeof(news));
    memcpy(bytes + sizeof(news), text, strlen(text));
    check_watch_news(process, bytes, sizeof(news) + strlen(text));
}

size_t __wrap_xy_net_short_limit(const xy_net_t *net);
size_t __wrap_xy_net_short_limit(const xy_net_t *net)
{
    (void)net;
    return 2048;
}

/* ---- The looks at the ranks here ---- */

void __wrap_check_watch_look_here(bool is_second, xy_text_t *text);
void __wrap_check_watch_look_here(bool is_second, xy_text_t *text)
{
    looks++;
    looks_too_early += is_second && !mark_came;
    if (is_second ? is_knot_second : is_knot_first)
        write_rank(text, mpi_job->process);
}

/* ---- The other processes ---- */

static news_t asked;

/* Process 1: its mark comes late, behind what its rank has sent. */
static void *answer_late(void *arg)
{
    xy_text_t text = XY_TEXT_INIT;

    (void)arg;
    if (asked.flags & MARKS) {
        usleep(PAUSE_US);
        mark_came = true;
        come(1, MARK, 0, asked.look, "");
    }
    if (asked.flags & MARKS ? is_knot_second : is_knot_first)
        write_rank(&text, 1);
    come(1, SEEN, 0, asked.look, text.s != NULL ? text.s : "");
    xy_text_cleanup(&text);
    return NULL;
}

void __wrap_mpi_network_send_news(int process, const void *bytes, size_t size);
void __wrap_mpi_network_send_news(int process, const void *bytes, size_t size)
{
    pthread_t thread;
    news_t news;

    assert_true(size >= sizeof(news));
    memcpy(&news, bytes, sizeof(news));
    marks_sent += news.kind == MARK;
    if (mpi_job->process != 0)
        return;
    assert_int_equal(process, 1);
    if (news.kind == LOOK) {
        asked = news;
        assert_int_equal(pthread_create(&thread, NULL, answer_late, NULL), 0);
        assert_int_equal(pthread_detach(thread), 0);
    } else if (news.kind == REPORT) {
        come(1, LINES, 0, news.look, "in time");
    }
}

static void begin(int process, int processes)
{
    job.process = process;
    job.processes = processes;
    mpi_job = &job;
    check_watch = (check_watch_t){.job = &job, .stuck = stuck};
    mark_came = false;
    looks = looks_too_early = marks_sent = 0;
    assert_true(check_watch_far_begin(&job));
}

/* ---- Process 0 ---- */

/* Process 1 counts from its second answer in time on. */
static mpi_watch_t look_twice(bool first, bool second)
{
    mpi_watch_t found;

    begin(0, 2);
    is_knot_first = is_knot_second = false;
    assert_int_equal(check_watch_look_far(), XMPI_WATCH_NONE);
    is_knot_first = first;
    is_knot_second = second;
    found = check_watch_look_far();
    assert_int_equal(looks_too_early, 0);
    check_watch_far_end();
    return found;
}

/* A message that is still on its way at the first look: its receiver seems to wait. */
static void test_a_message_held_back_is_no_knot(void **state)
{
    (void)state;
    assert_int_equal(look_twice(true, false), XMPI_WATCH_NONE);
    assert_int_equal(looks, 3);
}

static void test_a_knot_of_both_looks_is_one(void **state)
{
    (void)state;
    assert_int_equal(look_twice(true, true), XMPI_WATCH_PARKED);
    assert_true(stuck[0] && stuck[1]);
    assert_int_equal(looks, 3);
}

/* A part that comes after the report was taken does not change it: it is read without a lock. */
static void test_a_late_part_is_not_added(void **state)
{
    char late[3000];
    const char *report;

    (void)state;
    memset(late, 'x', sizeof(late) - 1);
    late[sizeof(late) - 1] = '\0';
    begin(0, 2);
    is_knot_first = is_knot_second = false;
    assert_int_equal(check_watch_look_far(), XMPI_WATCH_NONE);
    is_knot_first = is_knot_second = true;
    assert_int_equal(check_watch_look_far(), XMPI_WATCH_PARKED);
    report = check_watch_far_reports()[1];
    assert_string_equal(report, "in time");
    come(1, LINES, 0, 2, late);
    assert_ptr_equal(check_watch_far_reports()[1], report);
    assert_string_equal(report, "in time");
    check_watch_far_end();
}

static void test_without_a_knot_there_are_no_marks(void **state)
{
    (void)state;
    assert_int_equal(look_twice(false, true), XMPI_WATCH_NONE);
    assert_int_equal(looks, 2);
}

/* ---- Another process ---- */

static void *serve(void *arg)
{
    mpi_watch_serve();
    return arg;
}

/* It looks when the marks of all others have come, and sends them its own before. */
static void test_others_wait_for_all_marks(void **state)
{
    pthread_t thread;

    (void)state;
    begin(1, 3);
    assert_int_equal(pthread_create(&thread, NULL, serve, NULL), 0);
    come(0, LOOK, MARKS, 1, "");
    while (marks_sent < 2)
        usleep(100);
    usleep(PAUSE_US);
    assert_int_equal(looks, 0);
    mark_came = true;
    come(2, MARK, 0, 1, "");
    while (looks == 0)
        usleep(100);
    mpi_watch_stop();
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(looks_too_early, 0);
    check_watch_far_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First: a process other than 0 begins with look 0. */
        cmocka_unit_test(test_others_wait_for_all_marks),
        cmocka_unit_test(test_a_message_held_back_is_no_knot),
        cmocka_unit_test(test_a_knot_of_both_looks_is_one),
        cmocka_unit_test(test_a_late_part_is_not_added),
        cmocka_unit_test(test_without_a_knot_there_are_no_marks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
