/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of processes of a simulated job: several calls of one process that wait at once. */
#include <math.h>

#include "testing/base.h"
#include "testing/sim_job.h"

#define NODE "core:8"

#define assert_close(a, b) assert_true(fabs((a) - (b)) <= 1e-12 * fabs(b))

static testing_job_t t;

static void begin(int32_t procs, int32_t threads)
{
    testing_job_init(&t, NODE, procs);
    testing_job_threads(&t, threads);
}

/* Each leaves its call when its own message has come, in whatever order these come. */
static void several_wait_at_once(void **state)
{
    testing_act_t first[] = {{.kind = DO_THREAD, .peer = 4},
                             {.kind = DO_THREAD, .peer = 5},
                             {.kind = DO_RECV, .peer = 1, .tag = 1},
                             {0}};
    testing_act_t second[] = {{.kind = DO_RECV, .peer = 2, .tag = 2}, {0}};
    testing_act_t third[] = {{.kind = DO_RECV, .peer = 3, .tag = 3}, {0}};
    testing_act_t senders[3][3] = {
        {{.kind = DO_COMPUTE, .seconds = 3}, {.kind = DO_SEND, .tag = 1, .bytes = 8}, {0}},
        {{.kind = DO_COMPUTE, .seconds = 1}, {.kind = DO_SEND, .tag = 2, .bytes = 8}, {0}},
        {{.kind = DO_COMPUTE, .seconds = 2}, {.kind = DO_SEND, .tag = 3, .bytes = 1 << 20}, {0}}};
    xy_vjob_proc_t result;

    (void)state;
    begin(4, 2);
    t.procs[0].acts = first;
    t.procs[4].acts = second;
    t.procs[5].acts = third;
    for (int i = 0; i < 3; i++)
        t.procs[i + 1].acts = senders[i];
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    assert_true(t.procs[0].times[2] > 3 && t.procs[0].times[2] < 3 + 1e-4);
    assert_true(t.procs[4].times[0] > 1 && t.procs[4].times[0] < 1 + 1e-4);
    assert_true(t.procs[5].times[0] > 2 && t.procs[5].times[0] < 2 + 1e-2);
    assert_int_equal(t.procs[0].sources[0], 1);
    assert_int_equal(t.procs[4].sources[0], 2);
    assert_int_equal(t.procs[5].sources[0], 3);
    xy_vjob_proc(t.job, 0, &result);
    assert_false(result.is_waiting);
    testing_job_cleanup(&t);
}

/* Messages of a thread are those of its process, to threads of others as well. */
static void messages_are_of_the_process(void **state)
{
    testing_act_t first[] = {{.kind = DO_THREAD, .peer = 2}, {.kind = DO_BLOCK, .seconds = 1}, {0}};
    testing_act_t sender[] = {{.kind = DO_SEND, .peer = 1, .tag = 7, .bytes = 100}, {0}};
    testing_act_t starter[] = {{.kind = DO_THREAD, .peer = 3}, {.kind = DO_BLOCK}, {0}};
    testing_act_t receiver[] = {
        {.kind = DO_RECV, .peer = XY_VJOB_ANY, .tag = 7}, {.kind = DO_WAKE, .peer = 1}, {0}};
    xy_vec_t pairs = XY_VEC_INIT(xy_vjob_pair_t);
    xy_vjob_proc_t result;

    (void)state;
    begin(2, 2);
    t.config.has_matrix = true;
    t.config.costs.swap = 0;
    t.procs[0].acts = first;
    t.procs[2].acts = sender;
    t.procs[1].acts = starter;
    t.procs[3].acts = receiver;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    assert_int_equal(t.procs[3].sources[0], 0);
    assert_close(t.procs[0].times[1], 1.0);
    assert_true(t.procs[1].times[1] < 1e-4);
    xy_vjob_proc(t.job, 0, &result);
    assert_int_equal(result.messages, 1);
    assert_int_equal(xy_vjob_matrix(t.job, &pairs), XY_OK);
    assert_int_equal(pairs.count, 1);
    assert_int_equal(XY_VEC_AT(&pairs, xy_vjob_pair_t, 0).from, 0);
    assert_int_equal(XY_VEC_AT(&pairs, xy_vjob_pair_t, 0).to, 1);
    xy_vec_cleanup(&pairs);
    testing_job_cleanup(&t);
}

/* Threads compute one after the other, and a process of another core beside them. */
static void threads_share_a_core(void **state)
{
    testing_act_t first[] = {{.kind = DO_THREAD, .peer = 2},
                             {.kind = DO_COMPUTE, .seconds = 1},
                             {.kind = DO_SYNC},
                             {.kind = DO_SLEEP, .seconds = 5},
                             {0}};
    testing_act_t work[] = {{.kind = DO_COMPUTE, .seconds = 1}, {.kind = DO_SYNC}, {0}};
    xy_vjob_proc_t result;

    (void)state;
    begin(2, 1);
    t.procs[0].acts = first;
    t.procs[1].acts = t.procs[2].acts = work;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    assert_close(t.procs[1].times[1], 1.0);
    assert_close(t.procs[0].times[2], 1.0);
    assert_true(t.procs[2].times[1] >= 2 && t.procs[2].times[1] < 2 + 1e-3);
    xy_vjob_proc(t.job, 0, &result);
    assert_close(result.compute, 2.0);
    testing_job_cleanup(&t);
}

/* A blocked one continues at the time of the one that wakes it, or when its time has passed. */
static void one_wakes_another(void **state)
{
    testing_act_t first[] = {{.kind = DO_THREAD, .peer = 1},
                             {.kind = DO_BLOCK},
                             {.kind = DO_WAKE, .peer = 1}, /* too late: it has ended */
                             {.kind = DO_THREAD, .peer = 1},
                             {.kind = DO_BLOCK, .seconds = 0.25},
                             {0}};
    testing_act_t work[] = {{.kind = DO_COMPUTE, .seconds = 1}, {.kind = DO_WAKE, .peer = 0}, {0}};

    (void)state;
    begin(1, 1);
    t.config.costs.swap = 0;
    t.procs[0].acts = first;
    t.procs[1].acts = work;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    assert_close(t.procs[0].times[1], 1.0);
    /* The second thread computes until 2, and then wakes it: its limit has passed. */
    assert_close(t.procs[0].times[4], 2.0);
    testing_job_cleanup(&t);
}

static void all_blocked_is_stuck(void **state)
{
    testing_act_t first[] = {{.kind = DO_THREAD, .peer = 2}, {.kind = DO_BLOCK}, {0}};
    testing_act_t thread[] = {{.kind = DO_RECV, .peer = 1, .tag = 1}, {0}};
    testing_act_t other[] = {{.kind = DO_SEND, .peer = 0, .tag = 2}, {0}};

    (void)state;
    begin(2, 1);
    t.procs[0].acts = first;
    t.procs[2].acts = thread;
    t.procs[1].acts = other;
    testing_job_run(&t);
    assert_int_equal(t.status, XY_EINVAL);
    assert_int_equal(t.stuck, 1);
    testing_job_cleanup(&t);
}

/* Threads that wait end with their process, wherever they are. */
static void the_end_of_a_process_ends_its_threads(void **state)
{
    testing_act_t first[] = {{.kind = DO_THREAD, .peer = 2},
                             {.kind = DO_THREAD, .peer = 3},
                             {.kind = DO_THREAD, .peer = 4},
                             {.kind = DO_SLEEP, .seconds = 1},
                             {0}};
    testing_act_t waits[] = {{.kind = DO_RECV, .peer = 1, .tag = 1}, {0}};
    testing_act_t blocks[] = {{.kind = DO_BLOCK}, {0}};
    testing_act_t sleeps[] = {{.kind = DO_SLEEP, .seconds = 9}, {0}};
    testing_act_t late[] = {
        {.kind = DO_SLEEP, .seconds = 2}, {.kind = DO_SEND, .peer = 0, .tag = 1}, {0}};

    (void)state;
    begin(2, 3);
    t.procs[0].acts = first;
    t.procs[1].acts = late;
    t.procs[2].acts = waits;
    t.procs[3].acts = blocks;
    t.procs[4].acts = sleeps;
    assert_true(testing_job_run(&t) < 2.1);
    assert_int_equal(t.status, XY_OK);
    testing_job_cleanup(&t);
}

static void there_is_a_limit(void **state)
{
    testing_act_t first[] = {{.kind = DO_SYNC}, {0}};
    int32_t thread = -1;

    (void)state;
    begin(1, 0);
    t.procs[0].acts = first;
    assert_int_equal(testing_job_make(&t), XY_OK);
    testing_listen();
    assert_int_equal(xy_vjob_thread(t.job, 0, &thread), XY_ENOMEM);
    assert_non_null(strstr(testing_said, "at most 0 threads"));
    assert_int_equal(thread, -1);
    testing_job_cleanup(&t);
}

/* ---- Random jobs ---- */

enum {
    PROCS = 4,
    THREADS = 3,
    ALL = PROCS * (THREADS + 1),
    PAIRS = 40,
    ACTS = 4 * PAIRS + THREADS + 1
};

typedef struct {
    testing_act_t acts[ALL][ACTS];
    int count[ALL];
} script_t;

static void add(script_t *s, int32_t who, testing_act_t act)
{
    s->acts[who][s->count[who]++] = act;
}

/* Each message has a tag and so a receiver of its own: any thread of any process to any other one,
 * sends before receives in the order of the pairs, so that none waits for ever. */
static void draw(script_t *s)
{
    static const uint64_t sizes[] = {0, 8, 4096, 1 << 18};

    memset(s, 0, sizeof(*s));
    for (int32_t p = 0; p < PROCS; p++)
        for (int32_t k = 0; k < THREADS; k++)
            add(s, p, (testing_act_t){.kind = DO_THREAD, .peer = 0});
    for (int i = 0; i < PAIRS; i++) {
        int32_t from = (int32_t)testing_below(ALL), to = (int32_t)testing_below(ALL);
        uint64_t bytes = sizes[testing_below(4)];
        bool polls = testing_below(4) == 0;

        add(s, from,
            (testing_act_t){.kind = DO_COMPUTE, .seconds = 1e-6 * (double)testing_below(50)});
        add(s, from, (testing_act_t){.kind = DO_ISEND, .peer = to, .tag = i, .bytes = bytes});
        if (polls)
            add(s, to, (testing_act_t){.kind = DO_IPROBE, .peer = from, .tag = i});
        add(s, to, (testing_act_t){.kind = DO_RECV, .peer = from, .tag = i});
    }
    for (int32_t p = 0; p < PROCS; p++) /* its end would be that of its threads */
        add(s, p, (testing_act_t){.kind = DO_SLEEP, .seconds = 1});
}

/* Processes are 0 to PROCS - 1; thread k of process p is PROCS + its place in the order in which
 * the job makes them, which is by process. */
static int32_t process_of(int32_t who)
{
    return who < PROCS ? who : (who - PROCS) / THREADS;
}

static void run_script(script_t *s, double times[ALL], xy_sim_progress_t progress)
{
    static testing_act_t acts[ALL][ACTS + 1];

    begin(PROCS, PROCS * THREADS);
    t.config.progress = progress;
    for (int32_t w = 0; w < ALL; w++) {
        int threads = 0;

        memset(acts[w], 0, sizeof(acts[w]));
        for (int i = 0; i < s->count[w]; i++) {
            acts[w][i] = s->acts[w][i];
            if (acts[w][i].kind == DO_THREAD)
                acts[w][i].peer = PROCS + w * THREADS + threads++;
            else
                acts[w][i].peer = process_of(acts[w][i].peer);
        }
        t.procs[w].acts = acts[w];
    }
    testing_job_run(&t);
    assert_int_equal(t.status, XY_OK);
    for (int32_t w = 0; w < ALL; w++)
        times[w] = s->count[w] > 0 ? t.procs[w].times[s->count[w] - 1] : 0;
    testing_job_cleanup(&t);
}

/* All messages are received, by the threads that wait for them, at the same times in each run. */
static void random_jobs_end_and_are_repeated(void **state)
{
    static const xy_sim_progress_t progress[] = {XY_SIM_NONE, XY_SIM_THREADS};
    static script_t s;

    (void)state;
    for (int i = 0; i < 200; i++) {
        double times[ALL], again[ALL];

        draw(&s);
        run_script(&s, times, progress[i % 2]);
        run_script(&s, again, progress[i % 2]);
        assert_memory_equal(times, again, sizeof(times));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_wait_at_once),
        cmocka_unit_test(messages_are_of_the_process),
        cmocka_unit_test(threads_share_a_core),
        cmocka_unit_test(one_wakes_another),
        cmocka_unit_test(all_blocked_is_stuck),
        cmocka_unit_test(the_end_of_a_process_ends_its_threads),
        cmocka_unit_test(there_is_a_limit),
        cmocka_unit_test(random_jobs_end_and_are_repeated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
