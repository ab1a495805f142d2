/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Find the message that each receive meets, and when: random programs against a simulation that
 * does one thing after the other in the order of time, with lists that are searched from the front.
 */
#include <math.h>

#include "testing/sim_job.h"

enum { PROCS = 5, ACTS = 64, MESSAGES = PROCS * ACTS };

/* ---- The plain simulation ---- */

typedef struct {
    int from, to, tag;
    double arrives, receive;
    bool is_arrived, is_taken;
} plain_message_t;

typedef struct {
    int source, tag; /* as asked */
    int message;     /* -1 */
    bool is_handled, is_logged;
} plain_receive_t;

typedef struct {
    double now;
    int pc, first; /* receives before it were waited for */
    bool is_waiting, is_over;
    plain_receive_t receives[ACTS];
    int count;
    int arrived[MESSAGES], arrived_count;
    int inbox[ACTS], inbox_count; /* receives */
    int sources[ACTS], tags[ACTS], logged;
} plain_proc_t;

typedef struct {
    const testing_act_t *acts[PROCS];
    xy_vjob_costs_t costs;
    plain_message_t messages[MESSAGES];
    int message_count;
    plain_proc_t procs[PROCS];
} plain_t;

static bool fits(const plain_receive_t *r, const plain_message_t *m)
{
    return (r->source == XY_VJOB_ANY || r->source == m->from) &&
           (r->tag == XY_VJOB_ANY || r->tag == m->tag);
}

static void plain_handle(plain_t *x, plain_proc_t *p, int receive)
{
    const plain_message_t *m = &x->messages[p->receives[receive].message];

    p->now = fmax(p->now, m->arrives) + m->receive;
    p->receives[receive].is_handled = true;
}

static void plain_check(plain_proc_t *p)
{
    for (int i = p->first; i < p->count; i++)
        if (!p->receives[i].is_handled)
            return;
    p->is_waiting = false;
}

static void plain_arrive(plain_t *x, int number)
{
    plain_message_t *m = &x->messages[number];
    plain_proc_t *p = &x->procs[m->to];

    m->is_arrived = true;
    for (int i = 0; i < p->count; i++) {
        plain_receive_t *r = &p->receives[i];

        if (r->message >= 0 || !fits(r, m))
            continue;
        r->message = number;
        m->is_taken = true;
        if (!p->is_waiting) {
            p->inbox[p->inbox_count++] = i;
            return;
        }
        plain_handle(x, p, i);
        plain_check(p);
        return;
    }
    p->arrived[p->arrived_count++] = number;
}

static void plain_receive(plain_t *x, plain_proc_t *p, const testing_act_t *act)
{
    plain_receive_t *r = &p->receives[p->count++];

    *r = (plain_receive_t){act->peer, act->tag, -1, false, false};
    for (int i = 0; i < p->arrived_count; i++) {
        plain_message_t *m = &x->messages[p->arrived[i]];

        if (m->is_taken || !fits(r, m))
            continue;
        m->is_taken = true;
        r->message = p->arrived[i];
        p->inbox[p->inbox_count++] = p->count - 1;
        return;
    }
}

static void plain_log(plain_t *x, plain_proc_t *p)
{
    for (; p->first < p->count; p->first++) {
        const plain_message_t *m = &x->messages[p->receives[p->first].message];

        p->sources[p->logged] = m->from;
        p->tags[p->logged++] = m->tag;
    }
}

static void plain_step(plain_t *x, int number)
{
    plain_proc_t *p = &x->procs[number];
    const testing_act_t *act = &x->acts[number][p->pc];
    double copy = (double)act->bytes / x->costs.copy;

    switch (act->kind) {
    case DO_COMPUTE:
        p->now += act->seconds;
        break;
    case DO_ISEND:
        p->now += x->costs.send + copy;
        x->messages[x->message_count++] = (plain_message_t){
            number, act->peer, act->tag, p->now + x->costs.latency, x->costs.receive + copy,
            false,  false};
        break;
    case DO_IRECV:
        plain_receive(x, p, act);
        break;
    case DO_WAIT:
        for (int i = 0; i < p->inbox_count; i++)
            plain_handle(x, p, p->inbox[i]);
        p->inbox_count = 0;
        p->is_waiting = true;
        plain_check(p);
        if (p->is_waiting)
            return; /* the act continues */
        plain_log(x, p);
        break;
    default:
        p->is_over = true;
        return;
    }
    p->pc++;
}

/* One thing: the earliest. False: nothing is left to happen. */
static bool plain_next(plain_t *x)
{
    double first = INFINITY;
    int message = -1, proc = -1;

    for (int i = 0; i < x->message_count; i++)
        if (!x->messages[i].is_arrived && x->messages[i].arrives < first) {
            first = x->messages[i].arrives;
            message = i;
        }
    for (int i = 0; i < PROCS; i++)
        if (!x->procs[i].is_over && !x->procs[i].is_waiting && x->procs[i].now < first) {
            first = x->procs[i].now;
            proc = i;
        }
    if (proc >= 0)
        plain_step(x, proc);
    else if (message >= 0)
        plain_arrive(x, message);
    return proc >= 0 || message >= 0;
}

/* ---- Programs ---- */

static uint64_t below(uint64_t *random, uint64_t limit)
{
    return (xy_random(random) >> 20) % limit;
}

static double between(uint64_t *random, double low, double high)
{
    return low + (high - low) * 0.5 * (xy_random_unit(random) + 1);
}

/* Sends of each process in any order; as many receives at the other end, some for anything. */
static void make_programs(uint64_t *random, testing_act_t acts[PROCS][ACTS], int wild)
{
    int sent[PROCS] = {0}, messages = 10 + (int)below(random, 60);
    int at[PROCS] = {0};

    for (int p = 0; p < PROCS; p++)
        acts[p][at[p]++] = (testing_act_t){.kind = DO_COMPUTE, .seconds = between(random, 0, 1e-5)};
    for (int i = 0; i < messages; i++) {
        int from = (int)below(random, PROCS), to = (int)below(random, PROCS);
        int tag = (int)below(random, 3);
        bool any_source = (int)below(random, 100) < wild;
        bool any_tag = (int)below(random, 100) < wild;

        if (at[from] > ACTS - 6 || at[to] > ACTS - 6)
            continue;
        acts[from][at[from]++] =
            (testing_act_t){.kind = DO_ISEND, .peer = to, .tag = tag, .bytes = below(random, 4000)};
        acts[to][at[to]++] = (testing_act_t){.kind = DO_IRECV,
                                             .peer = any_source ? XY_VJOB_ANY : from,
                                             .tag = any_tag ? XY_VJOB_ANY : tag};
        sent[from]++;
        if (below(random, 4) == 0)
            acts[to][at[to]++] =
                (testing_act_t){.kind = DO_COMPUTE, .seconds = between(random, 0, 2e-6)};
        if (below(random, 6) == 0)
            acts[to][at[to]++] = (testing_act_t){.kind = DO_WAIT};
    }
    for (int p = 0; p < PROCS; p++) {
        acts[p][at[p]++] = (testing_act_t){.kind = DO_WAIT};
        acts[p][at[p]] = (testing_act_t){.kind = DO_END};
    }
}

static void compare(const testing_job_t *t, const plain_t *x, int seed)
{
    for (int p = 0; p < PROCS; p++) {
        const testing_proc_t *a = &t->procs[p];
        const plain_proc_t *b = &x->procs[p];

        if (a->at != b->pc || a->received != b->logged)
            fail_msg("program %d, process %d: %d acts and %d messages, not %d and %d", seed, p,
                     a->at, a->received, b->pc, b->logged);
        for (int i = 0; i < b->logged; i++)
            if (a->sources[i] != b->sources[i] || a->tags[i] != b->tags[i])
                fail_msg("program %d, process %d: receive %d met another message", seed, p, i);
        if (fabs(xy_vjob_now(t->job, p) - b->now) > 1e-12 * b->now)
            fail_msg("program %d, process %d: %.17g, not %.17g", seed, p, xy_vjob_now(t->job, p),
                     b->now);
    }
}

static int check_program(int seed, int wild)
{
    static testing_act_t acts[PROCS][ACTS];
    static plain_t plain;
    uint64_t random = (uint64_t)seed * 7919 + 1;
    testing_job_t t;
    int is_stuck;

    memset(acts, 0, sizeof(acts));
    memset(&plain, 0, sizeof(plain));
    make_programs(&random, acts, wild);
    xy_vjob_costs_default(&plain.costs);
    testing_job_init(&t, "core:8", PROCS);
    for (int p = 0; p < PROCS; p++)
        t.procs[p].acts = plain.acts[p] = acts[p];
    testing_job_run(&t);
    while (plain_next(&plain))
        continue;
    is_stuck = t.status != XY_OK;
    assert_int_equal(t.stuck, is_stuck);
    compare(&t, &plain, seed);
    testing_job_cleanup(&t);
    return is_stuck;
}

static void receives_meet_what_they_should(void **state)
{
    (void)state;
    for (int seed = 1; seed <= (XYLEM_SANITIZED ? 100 : 1000); seed++)
        assert_int_equal(check_program(seed, 0), 0);
}

static void wildcards_take_the_first_arrival(void **state)
{
    int stuck = 0, programs = XYLEM_SANITIZED ? 100 : 1000;

    (void)state;
    for (int seed = 1; seed <= programs; seed++)
        stuck += check_program(seed, 40);
    assert_true(stuck > 0 && stuck < programs); /* both happen */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(receives_meet_what_they_should),
        cmocka_unit_test(wildcards_take_the_first_arrival),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
