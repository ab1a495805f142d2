/* SPDX-License-Identifier: BSD-3-Clause */
/* Sharing alike, against the plain way: at every change each user is advanced on its own. */
#include <math.h>

#include "testing/sim.h"

enum { USERS = 60 };

typedef struct {
    xy_share_user_t share;
    double start, seconds, end, expected;
    xy_event_t event;
} user_t;

typedef struct {
    xy_vclock_t clock;
    xy_share_t share;
    user_t users[USERS];
    int done;
} model_t;

static void begin_user(xy_event_t *event)
{
    model_t *m = event->owner;

    xy_share_start(&m->share, &m->users[event->index].share, m->users[event->index].seconds);
}

static void done(xy_share_user_t *share)
{
    user_t *user = (user_t *)share;
    model_t *m = user->event.owner;

    user->end = m->clock.now;
    m->done++;
}

/* When the next user comes or goes at the present rate, and who; all are advanced to that. */
static void plain(user_t *users, int n, double capacity)
{
    double now = 0, left[USERS];

    for (int i = 0; i < n; i++) {
        left[i] = users[i].seconds;
        users[i].expected = -1;
    }
    for (;;) {
        double next = INFINITY, inside = 0, rate;

        for (int i = 0; i < n; i++)
            if (users[i].start <= now && users[i].expected < 0)
                inside += users[i].share.weight;
        rate = inside > capacity ? capacity / inside : 1;
        for (int i = 0; i < n; i++)
            if (users[i].start > now)
                next = fmin(next, users[i].start);
            else if (users[i].expected < 0)
                next = fmin(next, now + left[i] / rate);
        if (next == INFINITY)
            return;
        for (int i = 0; i < n; i++)
            if (users[i].start <= now && users[i].expected < 0) {
                left[i] -= (next - now) * rate;
                if (left[i] < 1e-12)
                    users[i].expected = next;
            }
        now = next;
    }
}

static void test_against_plain(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        static model_t m;
        double capacity = 1 + round % 7 * 0.75;
        int n = 1 + round % USERS;

        m = (model_t){.done = 0};
        xy_share_init(&m.share, &m.clock, capacity);
        for (int i = 0; i < n; i++) {
            m.users[i].share.done = done;
            m.users[i].share.weight = round % 2 == 0 ? 1 : (1 + testing_below(8)) / 8.0;
            m.users[i].start = testing_below(32) / 8.0;
            m.users[i].seconds = (1 + testing_below(256)) / 64.0;
            xy_event_init(&m.users[i].event, begin_user, &m, i);
            xy_vclock_set(&m.clock, &m.users[i].event, m.users[i].start);
        }
        assert_int_equal(xy_vclock_run(&m.clock), XY_OK);
        assert_int_equal(m.done, n);
        plain(m.users, n, capacity);
        for (int i = 0; i < n; i++)
            assert_true(fabs(m.users[i].end - m.users[i].expected) < 1e-9);
        xy_share_cleanup(&m.share);
        xy_vclock_cleanup(&m.clock);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_plain)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
