/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows over links: fairness by its definition, against a plain reference that advances everything
 * at every change, and equal runs. */
#include <math.h>
#include <string.h>

#include "testing/sim.h"

enum { LINKS = 12, PATHS = 10, FLOWS = 40, CROSSED = 4 };

typedef struct {
    xy_flow_path_t path;
    int32_t links[CROSSED], count;
    double most;
} way_t;

typedef struct {
    xy_flow_t flow; /* first */
    const way_t *way;
    double start, latency, bytes, end, expected;
    double left, rate; /* of the reference */
    xy_event_t event;
} message_t;

typedef struct {
    xy_vclock_t clock;
    xy_flows_t net;
    double rates[LINKS];
    int32_t link_count, count, done;
    way_t ways[PATHS];
    message_t messages[FLOWS];
    uint64_t state;
    int looks; /* at the rates while it ran */
} model_t;

static uint64_t draw(model_t *m, uint64_t n)
{
    return (uint64_t)testing_random_below(&m->state, (int)n);
}

static void arrived(void *model, xy_flow_t *flow)
{
    model_t *m = model;

    ((message_t *)flow)->end = m->clock.now;
    m->done++;
}

static void start_due(xy_event_t *event)
{
    model_t *m = event->owner;
    message_t *msg = &m->messages[event->index];

    xy_flow_start(&msg->flow, msg->latency, msg->bytes);
}

static double load_of(const model_t *m, int32_t link)
{
    const xy_flow_link_t *l = &m->net.links[link];
    double sum = 0;

    for (int32_t k = 0; k < l->count; k++)
        sum += l->paths[k]->rate * (double)l->paths[k]->flows.count;
    return sum;
}

/* Max-min: no link carries more than it can, and each flow has all it can use or crosses a full
 * link on which none has more than it. */
static void check_fairness(const model_t *m)
{
    for (int32_t i = 0; i < m->link_count; i++) {
        assert_true(load_of(m, i) <= m->rates[i] * (1 + 1e-9));
        for (int32_t k = 0; k < m->net.links[i].count; k++) {
            const xy_flow_path_t *f = m->net.links[i].paths[k];
            bool is_bound = f->rate >= f->most * (1 - 1e-9);

            for (int32_t j = 0; j < f->link_count && !is_bound; j++) {
                const xy_flow_link_t *l = &m->net.links[f->links[j]];

                is_bound = load_of(m, f->links[j]) >= l->rate * (1 - 1e-9);
                for (int32_t o = 0; o < l->count && is_bound; o++)
                    is_bound = l->paths[o]->rate <= f->rate * (1 + 1e-9);
            }
            assert_true(is_bound);
        }
    }
}

static void settle(void *owner)
{
    model_t *m = owner;

    check_fairness(m);
    m->looks++;
}

/* ---- The reference ---- */

static bool crosses(const way_t *way, int32_t link)
{
    for (int32_t j = 0; j < way->count; j++)
        if (way->links[j] == link)
            return true;
    return false;
}

static bool is_under_way(const message_t *msg, double now)
{
    return msg->expected < 0 && msg->start + msg->latency <= now;
}

/* Raise all rates together; who meets a full link or its own limit stays there. */
static void plain_rates(model_t *m, double now)
{
    bool is_open[FLOWS];
    double level = 0;

    for (int32_t i = 0; i < m->count; i++) {
        is_open[i] = is_under_way(&m->messages[i], now);
        m->messages[i].rate = 0;
    }
    for (;;) {
        double rise = INFINITY;
        bool has_open = false;

        for (int32_t i = 0; i < m->count; i++)
            if (is_open[i]) {
                has_open = true;
                if (m->messages[i].way->most > 0)
                    rise = fmin(rise, m->messages[i].way->most - level);
            }
        if (!has_open)
            return;
        for (int32_t l = 0; l < m->link_count; l++) {
            double room = m->rates[l];
            int open = 0;

            for (int32_t i = 0; i < m->count; i++)
                if (crosses(m->messages[i].way, l)) {
                    room -= m->messages[i].rate;
                    open += is_open[i];
                }
            if (open > 0)
                rise = fmin(rise, room / open);
        }
        level += rise;
        for (int32_t i = 0; i < m->count; i++)
            if (is_open[i])
                m->messages[i].rate = level;
        for (int32_t i = 0; i < m->count; i++) {
            double most = m->messages[i].way->most;

            if (is_open[i] && most > 0 && level >= most * (1 - 1e-12))
                is_open[i] = false;
        }
        for (int32_t l = 0; l < m->link_count; l++) {
            double room = m->rates[l];

            for (int32_t i = 0; i < m->count; i++)
                room -= crosses(m->messages[i].way, l) ? m->messages[i].rate : 0;
            for (int32_t i = 0; i < m->count && room <= 1e-9 * m->rates[l]; i++)
                if (crosses(m->messages[i].way, l))
                    is_open[i] = false;
        }
    }
}

static void plain_run(model_t *m)
{
    double now = 0, next;

    for (int32_t i = 0; i < m->count; i++) {
        m->messages[i].left = m->messages[i].bytes;
        m->messages[i].expected = -1;
    }
    for (;;) {
        next = INFINITY;
        plain_rates(m, now);
        for (int32_t i = 0; i < m->count; i++) {
            const message_t *msg = &m->messages[i];

            if (is_under_way(msg, now))
                next = fmin(next, now + msg->left / msg->rate);
            else if (msg->expected < 0)
                next = fmin(next, msg->start + msg->latency);
        }
        if (next == INFINITY)
            return;
        for (int32_t i = 0; i < m->count; i++) {
            message_t *msg = &m->messages[i];

            if (!is_under_way(msg, now))
                continue;
            msg->left -= (next - now) * msg->rate;
            if (msg->left <= 1)
                msg->expected = next;
        }
        now = next;
    }
}

/* ---- Runs ---- */

static void make(model_t *m, uint64_t seed)
{
    *m = (model_t){.state = seed};
    m->link_count = 1 + (int32_t)draw(m, LINKS);
    m->count = 1 + (int32_t)draw(m, FLOWS);
    for (int32_t i = 0; i < m->link_count; i++)
        m->rates[i] = 1e6 * (double)(1 + draw(m, 20));
    for (int32_t i = 0; i < PATHS; i++) {
        way_t *way = &m->ways[i];
        int32_t crossed = (int32_t)draw(m, CROSSED + 1);

        for (int32_t j = 0; j < crossed; j++) {
            int32_t link = (int32_t)draw(m, (uint64_t)m->link_count);

            if (!crosses(way, link))
                way->links[way->count++] = link;
        }
        way->most = way->count == 0 || draw(m, 2) == 0 ? 1e6 * (double)(1 + draw(m, 10)) : 0;
    }
    for (int32_t i = 0; i < m->count; i++) {
        message_t *msg = &m->messages[i];

        msg->way = &m->ways[draw(m, PATHS)];
        msg->start = (double)draw(m, 8) / 16;
        msg->latency = (double)draw(m, 3) / 128;
        msg->bytes = 1e5 * (double)(1 + draw(m, 30));
    }
}

static xy_status_t run(model_t *m)
{
    xy_status_t st;

    m->clock.settle = settle;
    m->clock.owner = m;
    st = xy_flows_init(&m->net, &m->clock, m->rates, m->link_count, m, arrived);
    for (int32_t i = 0; i < PATHS; i++)
        xy_flow_path_init(&m->ways[i].path, &m->net, m->ways[i].links, m->ways[i].count,
                          m->ways[i].most);
    for (int32_t i = 0; i < m->count && st == XY_OK; i++) {
        message_t *msg = &m->messages[i];

        xy_flow_init(&msg->flow, &m->ways[msg->way - m->ways].path);
        xy_event_init(&msg->event, start_due, m, i);
        xy_vclock_set(&m->clock, &msg->event, msg->start);
    }
    if (st == XY_OK)
        st = xy_vclock_run(&m->clock);
    for (int32_t i = 0; i < PATHS; i++)
        xy_flow_path_cleanup(&m->ways[i].path);
    xy_flows_cleanup(&m->net);
    xy_vclock_cleanup(&m->clock);
    return st;
}

static void test_against_plain(void **state)
{
    static model_t m, again;

    (void)state;
    for (uint64_t seed = 1; seed <= (XYLEM_SANITIZED ? 40 : 400); seed++) {
        make(&m, seed);
        assert_int_equal(run(&m), XY_OK);
        assert_int_equal(m.done, m.count);
        assert_true(m.looks > 0);
        plain_run(&m);
        for (int32_t i = 0; i < m.count; i++)
            if (fabs(m.messages[i].end - m.messages[i].expected) > 3e-6)
                fail_msg("seed %d, message %d: %.9g, expected %.9g", (int)seed, i,
                         m.messages[i].end, m.messages[i].expected);
        make(&again, seed);
        assert_int_equal(run(&again), XY_OK);
        for (int32_t i = 0; i < m.count; i++)
            assert_true(m.messages[i].end == again.messages[i].end);
    }
}

/* A change on some links leaves others alone, and all changes of a moment are one. */
static void test_changes_are_local(void **state)
{
    static model_t m;

    (void)state;
    m = (model_t){.link_count = 3, .count = 40};
    for (int32_t i = 0; i < 3; i++)
        m.rates[i] = 1e6;
    for (int32_t i = 0; i < 5; i++)
        m.ways[i] = (way_t){.links = {i < 4 ? 0 : 1}, .count = 1};
    for (int32_t i = 0; i < 40; i++) {
        m.messages[i] = (message_t){.way = &m.ways[i < 20 ? i % 4 : 4], .bytes = 1e6};
        m.messages[i].start = i < 20 ? 0 : 0.5 + i;
    }
    assert_int_equal(run(&m), XY_OK);
    for (int32_t i = 0; i < 20; i++)
        assert_true(fabs(m.messages[i].end - 20) < 1e-5);
    /* Twenty that begin together are one change, and one when they end together: a pass each. Each
     * of the others is alone: two changes, and its end. */
    assert_in_range(m.net.pass, 1, 3 + 3 * 20);
}

static void test_memory_runs_out(void **state)
{
    static model_t m;

    (void)state;
    for (long k = 1;; k++) {
        xy_status_t st;
        int is_hit;

        make(&m, 17);
        xy_memory_fail_at(k);
        st = run(&m);
        is_hit = xy_memory_fail_hit();
        xy_memory_fail_at(0);
        if (!is_hit) {
            assert_int_equal(st, XY_OK);
            break;
        }
        assert_int_equal(st, XY_ENOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_plain),
        cmocka_unit_test(test_changes_are_local),
        cmocka_unit_test(test_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
