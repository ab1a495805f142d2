/* SPDX-License-Identifier: BSD-3-Clause */
/* Fibers of one worker: the order they run in, and what they keep. */
#include <errno.h>
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fiber/fiber.h"
#include "fiber/sanitize.h"

/* TSan counts fibers as threads, and has room for 8000 (on aarch64: for some 470); ASan clears the
 * shadow of each stack. */
enum { MANY = FIBER_TSAN ? 200 : FIBER_ASAN ? 2000 : 10000, FEW = FIBER_TSAN ? 10 : 100 };

static char record[4096];
static size_t recorded;

static void note(char c)
{
    assert_true(recorded < sizeof(record) - 1);
    record[recorded++] = c;
    record[recorded] = '\0';
}

static xy_pool_t *pool_of(xy_pool_config_t config)
{
    xy_pool_t *pool;

    recorded = 0;
    record[0] = '\0';
    if (config.workers == 0)
        config.workers = 1;
    assert_int_equal(xy_pool_create(&config, &pool), XY_OK);
    return pool;
}

static xy_fiber_t *spawn(xy_pool_t *pool, xy_fiber_fn fn, void *arg)
{
    xy_fiber_t *fiber = NULL;

    assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), fn, arg, &fiber), XY_OK);
    return fiber;
}

static void run_and_destroy(xy_pool_t *pool)
{
    assert_int_equal(xy_pool_run(pool), XY_OK);
    xy_pool_destroy(pool);
}

/* Order --------------------------------------------------------------------------------------- */

static void note_thrice(void *arg)
{
    for (int i = 0; i < 3; i++) {
        note(*(char *)arg);
        xy_fiber_yield();
    }
}

static void test_order(void **state)
{
    xy_pool_t *pool = pool_of((xy_pool_config_t){0});
    char names[] = "abc";

    (void)state;
    for (int i = 0; i < 3; i++)
        spawn(pool, note_thrice, &names[i]);
    run_and_destroy(pool);
    assert_string_equal(record, "abcabcabc");
}

static void note_once(void *arg)
{
    note(*(char *)arg);
}

/* Every order of three priorities comes out sorted, equal ones in order of creation. */
static void test_priorities(void **state)
{
    const char *names = "0123456789abcdefghijklmnopqrstuv";
    char copy[33];

    (void)state;
    strcpy(copy, names);
    for (unsigned seed = 0; seed < 50; seed++) {
        xy_pool_t *pool = pool_of((xy_pool_config_t){0});
        int priority[32];

        srand(seed);
        for (int i = 0; i < 32; i++) {
            xy_fiber_t *fiber = spawn(pool, note_once, &copy[i]);

            priority[i] = rand() % 32;
            xy_fiber_priority_set(fiber, rand() % 32);
            xy_fiber_priority_set(fiber, priority[i]);
            xy_fiber_release(fiber);
        }
        run_and_destroy(pool);
        assert_int_equal(recorded, 32);
        for (int i = 1; i < 32; i++) {
            int a = (int)(strchr(names, record[i - 1]) - names);
            int b = (int)(strchr(names, record[i]) - names);

            assert_true(priority[a] <= priority[b]);
        }
    }
}

static bool flag;

static void set_flag(void *arg)
{
    (void)arg;
    flag = true;
}

static void wait_for_flag(void *arg)
{
    int turns = 0;

    (void)arg;
    while (!flag) {
        assert_true(turns++ < 10);
        xy_fiber_yield();
    }
}

/* An urgent fiber that polls in a loop lets a less urgent one run. */
static void test_yield_to_less_urgent(void **state)
{
    xy_pool_t *pool = pool_of((xy_pool_config_t){0});

    (void)state;
    flag = false;
    xy_fiber_priority_set(spawn(pool, wait_for_flag, NULL), 0);
    xy_fiber_priority_set(spawn(pool, wait_for_flag, NULL), 0);
    xy_fiber_priority_set(spawn(pool, set_flag, NULL), 31);
    run_and_destroy(pool);
    assert_true(flag);
}

/* Park and ready ------------------------------------------------------------------------------ */

static xy_fiber_t *peers[8];

static void park_and_note(void *arg)
{
    xy_fiber_park();
    note(*(char *)arg);
    xy_fiber_park();
    note(*(char *)arg);
}

static void ready_backwards(void *arg)
{
    (void)arg;
    for (int i = 3; i >= 0; i--)
        xy_fiber_ready(peers[i]);
    xy_fiber_yield();
    note('.');
    assert_false(xy_worker_has_ready(xy_worker_self()));
    for (int i = 0; i < 4; i++)
        xy_fiber_ready(peers[i]);
    assert_true(xy_worker_has_ready(xy_worker_self()));
}

static void test_ready_in_order(void **state)
{
    xy_pool_t *pool = pool_of((xy_pool_config_t){0});
    char names[] = "abcd";

    (void)state;
    for (int i = 0; i < 4; i++)
        peers[i] = spawn(pool, park_and_note, &names[i]);
    spawn(pool, ready_backwards, NULL);
    run_and_destroy(pool);
    assert_string_equal(record, "dcba.abcd");
}

static void ready_self_first(void *arg)
{
    (void)arg;
    xy_fiber_ready(xy_fiber_self());
    note('1');
    xy_fiber_park();
    note('2');
    xy_fiber_wake(xy_fiber_self());
    xy_fiber_sleep(1e-4); /* does not use it up */
    note('3');
    xy_fiber_park();
    note('4');
}

static void test_ready_before_park(void **state)
{
    xy_pool_t *pool = pool_of((xy_pool_config_t){0});

    (void)state;
    spawn(pool, ready_self_first, NULL);
    run_and_destroy(pool);
    assert_string_equal(record, "1234");
}

static int polls;

static bool poll_third(xy_worker_t *w)
{
    (void)w;
    errno = EBADF;
    if (++polls != 3)
        return false;
    xy_fiber_ready(peers[0]);
    return true;
}

static void park_once(void *arg)
{
    (void)arg;
    errno = ENOTTY;
    xy_fiber_park();
    assert_int_equal(errno, ENOTTY);
    note('p');
}

/* The worker polls on the stack of the parked fiber, which continues when poll makes it ready. */
static void test_poll(void **state)
{
    xy_pool_t *pool = pool_of((xy_pool_config_t){.poll = poll_third, .spin_seconds = 1e-3});

    (void)state;
    polls = 0;
    peers[0] = spawn(pool, park_once, NULL);
    run_and_destroy(pool);
    assert_string_equal(record, "p");
    assert_true(polls >= 3);
}

/* State that a fiber keeps ----------------------------------------------------------------------
 */

/* fegetround asks one unit of the processor; this asks the one that computes. */
static double third(void)
{
    volatile double one = 1, three = 3;

    return one / three;
}

static void keep_errno_and_modes(void *arg)
{
    int mine = (int)(intptr_t)arg;
    double mine_third;
    const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

    assert_int_equal(errno, 0);
    assert_int_equal(fegetround(), FE_TONEAREST);
    fesetround(modes[mine % 4]);
    mine_third = third();
    for (int i = 0; i < 100; i++) {
        errno = 1000 + mine;
        xy_fiber_yield();
        assert_int_equal(errno, 1000 + mine);
        assert_int_equal(fegetround(), modes[mine % 4]);
        assert_true(third() == mine_third);
        assert_ptr_equal(xy_fiber_user(xy_fiber_self()), arg);
    }
}

static void test_errno_and_modes(void **state)
{
    xy_pool_t *pool = pool_of((xy_pool_config_t){0});

    (void)state;
    for (intptr_t i = 1; i <= 8; i++)
        xy_fiber_user_set(spawn(pool, keep_errno_and_modes, (void *)i), (void *)i);
    run_and_destroy(pool);
    assert_int_equal(fegetround(), FE_TONEAREST);
    assert_null(xy_fiber_self());
    assert_null(xy_worker_self());
}

/* Raise the flags of a set of bits, as a program does: in double, and in long double, which has a
 * unit of its own on some processors. */
static int raise_flags(int bits)
{
    volatile double zero = 0, large = DBL_MAX;
    volatile long double long_zero = 0;
    int raised = 0;

    if (bits & 1) {
        zero = 1 / zero;
        raised |= FE_DIVBYZERO;
    }
    if (bits & 2) {
        large *= large;
        raised |= FE_OVERFLOW;
    }
    if (bits & 4) {
        long_zero = long_zero / long_zero;
        raised |= FE_INVALID;
    }
    return raised;
}

static void keep_flags(void *arg)
{
    const int all = FE_DIVBYZERO | FE_OVERFLOW | FE_INVALID;
    int mine = (int)(intptr_t)arg, raised = 0;

    assert_int_equal(fetestexcept(FE_ALL_EXCEPT), 0);
    for (int i = 0; i < 100; i++) {
        if (i % 10 == mine) {
            feclearexcept(FE_ALL_EXCEPT);
            raised = raise_flags((mine + i / 10) % 8);
        }
        xy_fiber_yield();
        assert_int_equal(fetestexcept(all), raised);
    }
}

static void test_flags(void **state)
{
    xy_pool_t *pool = pool_of((xy_pool_config_t){0});

    (void)state;
    feraiseexcept(FE_INVALID | FE_DIVBYZERO);
    for (intptr_t i = 0; i < 8; i++)
        spawn(pool, keep_flags, (void *)i);
    run_and_destroy(pool);
    feclearexcept(FE_ALL_EXCEPT);
}

/* Each fiber keeps sums of many lengths in registers and on its stack over switches. */
static double sum_with_switches(int depth, double x)
{
    double a = x + 1, b = x * 2, c = x - 3, d = x / 4;

    if (depth % 7 == 0)
        xy_fiber_yield();
    if (depth > 0)
        a += sum_with_switches(depth - 1, x + 1);
    xy_fiber_yield();
    return a + b + c + d;
}

static double sum_plain(int depth, double x)
{
    double a = x + 1, b = x * 2, c = x - 3, d = x / 4;

    if (depth > 0)
        a += sum_plain(depth - 1, x + 1);
    return a + b + c + d;
}

static void check_sums(void *arg)
{
    int depth = (int)(intptr_t)arg;

    assert_true(sum_with_switches(depth, depth) == sum_plain(depth, depth));
    note('s');
}

static void test_stacks_are_private(void **state)
{
    xy_pool_t *pool = pool_of((xy_pool_config_t){.stack_size = 256 << 10});

    (void)state;
    for (intptr_t i = 0; i < 40; i++)
        spawn(pool, check_sums, (void *)(i * 5));
    run_and_destroy(pool);
    assert_int_equal(recorded, 40);
}

static const char *first_frame;

/* The stacks of this worker, those of other fibers too, and nothing else. */
static void check_stack_at(void *arg)
{
    const char *frame = __builtin_frame_address(0);
    char *memory = xy_malloc(1);

    assert_non_null(memory);
    assert_true(xy_worker_has_stack_at(frame));
    assert_false(xy_worker_has_stack_at(memory));
    assert_false(xy_worker_has_stack_at(record));
    assert_false(xy_worker_has_stack_at(NULL));
    if (first_frame != NULL)
        assert_true(xy_worker_has_stack_at(first_frame));
    else
        first_frame = frame;
    xy_free(memory);
    (void)arg;
    xy_fiber_yield(); /* the first one's is in use while the others look */
    note('a');
}

static void test_stack_at(void **state)
{
    xy_pool_t *pool = pool_of((xy_pool_config_t){.stack_size = 128 << 10});

    (void)state;
    first_frame = NULL;
    for (int i = 0; i < 40; i++)
        spawn(pool, check_stack_at, NULL);
    run_and_destroy(pool);
    assert_int_equal(recorded, 40);
    assert_false(xy_worker_has_stack_at(first_frame)); /* no worker */
}

static int switches;

static void count_switch(xy_worker_t *w, xy_fiber_t *previous, xy_fiber_t *fiber)
{
    static xy_fiber_t *last;

    assert_ptr_equal(xy_worker_self(), w);
    assert_ptr_equal(xy_fiber_self(), fiber);
    assert_ptr_not_equal(previous, fiber);
    if (previous != NULL)
        assert_ptr_equal(previous, last);
    last = fiber;
    switches++;
}

static void test_switched(void **state)
{
    xy_pool_t *pool = pool_of((xy_pool_config_t){.switched = count_switch});
    char names[] = "ab";

    (void)state;
    switches = 0;
    spawn(pool, note_thrice, &names[0]);
    spawn(pool, note_thrice, &names[1]);
    run_and_destroy(pool);
    assert_string_equal(record, "ababab");
    assert_int_equal(switches, 8); /* six letters, two ends */
}

/* Time ---------------------------------------------------------------------------------------- */

static double slept[64], began[64];

static void sleep_some(void *arg)
{
    int i = (int)(intptr_t)arg;

    began[i] = xy_now();
    xy_fiber_sleep(slept[i]);
    assert_true(xy_now() - began[i] >= slept[i]);
    note((char)('0' + i));
}

/* Fibers wake in the order of their deadlines. A fiber reads the clock after it noted `began` and
 * before the next fiber did, however long the machine kept the thread waiting in between: no
 * deadline that is surely later comes first. */
static void test_sleep_order(void **state)
{
    (void)state;
    for (int spin = 0; spin < 2; spin++) {
        xy_pool_t *pool =
            pool_of((xy_pool_config_t){.spin_seconds = spin * 2e-3, .yields = spin == 1});

        srand(7);
        for (intptr_t i = 0; i < 40; i++) {
            slept[i] = 0.02 + 0.002 * (double)((i * 17) % 40);
            spawn(pool, sleep_some, (void *)i);
        }
        run_and_destroy(pool);
        assert_int_equal(recorded, 40);
        began[40] = began[39] + 1;
        for (int i = 1; i < 40; i++) {
            int first = record[i - 1] - '0', second = record[i] - '0';

            assert_true(began[first] + slept[first] <= began[second + 1] + slept[second]);
        }
    }
}

static void sleep_oddly(void *arg)
{
    (void)arg;
    xy_fiber_sleep(0);
    xy_fiber_sleep(-1);
    xy_fiber_sleep((double)NAN);
    xy_fiber_sleep(1e-9);
    note('z');
    xy_pool_stop(xy_worker_pool(xy_worker_self()));
    xy_fiber_sleep((double)INFINITY);
    note('!');
}

static void test_sleep_odd(void **state)
{
    xy_pool_t *pool = pool_of((xy_pool_config_t){0});

    (void)state;
    spawn(pool, sleep_oddly, NULL);
    run_and_destroy(pool);
    assert_string_equal(record, "z");
}

/* Ends ---------------------------------------------------------------------------------------- */

static void exit_deep(int depth)
{
    if (depth > 0)
        exit_deep(depth - 1);
    else if (recorded > 0)
        xy_fiber_exit();
    note('!');
}

static void spawn_children(void *arg)
{
    int left = (int)(intptr_t)arg;

    note('c');
    if (left > 0)
        assert_int_equal(
            xy_fiber_create(xy_worker_self(), spawn_children, (void *)(intptr_t)(left - 1), NULL),
            XY_OK);
    exit_deep(10);
}

static void test_exit_and_reuse(void **state)
{
    xy_pool_t *pool = pool_of((xy_pool_config_t){0});

    (void)state;
    assert_int_equal(xy_pool_run(pool), XY_OK); /* nothing to do */
    for (int round = 0; round < 2; round++) {
        recorded = 0;
        spawn(pool, spawn_children, (void *)(intptr_t)1000);
        assert_int_equal(xy_pool_run(pool), XY_OK);
        assert_int_equal(recorded, 1001);
    }
    xy_pool_destroy(pool);
}

static void hop(void *arg)
{
    for (int i = 0; i < 3; i++) {
        (*(int *)arg)++;
        xy_fiber_yield();
    }
}

static void test_many(void **state)
{
    xy_pool_t *pool = pool_of((xy_pool_config_t){0});
    int hops = 0;

    (void)state;
    for (int i = 0; i < MANY; i++)
        assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), hop, &hops, NULL), XY_OK);
    run_and_destroy(pool);
    assert_int_equal(hops, 3 * MANY);
}

static void ready_main(void *arg)
{
    note('f');
    xy_fiber_ready(arg);
}

static void test_adopt(void **state)
{
    xy_pool_t *pool = pool_of((xy_pool_config_t){0});
    xy_fiber_t *self;

    (void)state;
    assert_int_equal(xy_pool_adopt(pool, &self), XY_OK);
    assert_ptr_equal(xy_fiber_self(), self);
    for (int i = 0; i < 3; i++) {
        spawn(pool, ready_main, self);
        xy_fiber_park();
        note('m');
    }
    xy_fiber_sleep(1e-3);
    xy_pool_destroy(pool);
    assert_string_equal(record, "fmfmfm");
    assert_null(xy_worker_self());
}

/* Failures ------------------------------------------------------------------------------------ */

static void be_silent(void *arg, xy_status_t status, const char *message)
{
    (void)status;
    snprintf(arg, 400, "%s", message);
}

/* For every failing allocation, creation reports the error, leaks nothing and works the next time.
 */
static void test_creation_fails(void **state)
{
    char said[400] = "";
    int failures = 0;

    (void)state;
    xy_error_handler_set(be_silent, said);
    for (long k = 1;; k++) {
        xy_pool_t *pool = NULL;
        xy_status_t st;
        int hops = 0;

        xy_memory_fail_at(k);
        st = xy_pool_create(&(xy_pool_config_t){.workers = 3}, &pool);
        for (int i = 0; i < FEW && st == XY_OK; i++)
            st = xy_fiber_create(xy_pool_worker(pool, i % 3), hop, &hops, NULL);
        xy_memory_fail_at(0);
        if (st == XY_OK) {
            xy_pool_destroy(pool);
            break;
        }
        failures++;
        assert_int_equal(st, XY_ENOMEM);
        assert_non_null(strstr(said, "out of memory"));
        if (pool == NULL)
            continue;
        assert_int_equal(xy_fiber_create(xy_pool_worker(pool, 0), hop, &hops, NULL), XY_OK);
        xy_pool_destroy(pool);
    }
    xy_error_handler_set(NULL, NULL);
    assert_true(failures > 6);
}

static void test_bad_config(void **state)
{
    char said[400] = "";
    xy_pool_t *pool = NULL;
    int cpus[] = {-1};

    (void)state;
    xy_error_handler_set(be_silent, said);
    assert_int_equal(xy_pool_create(&(xy_pool_config_t){.workers = 0}, &pool), XY_EINVAL);
    assert_int_equal(xy_pool_create(&(xy_pool_config_t){.workers = 1, .cpus = cpus}, &pool),
                     XY_EINVAL);
    cpus[0] = 8191;
    assert_int_equal(xy_pool_create(&(xy_pool_config_t){.workers = 1, .cpus = cpus}, &pool), XY_OK);
    spawn(pool, set_flag, NULL);
    assert_int_equal(xy_pool_run(pool), XY_EINVAL);
    assert_non_null(strstr(said, "core 8191"));
    xy_pool_destroy(pool);
    xy_error_handler_set(NULL, NULL);
}

/* A limit on address space is named with its cure. In a child: limits do not come back. */
static void test_address_space_limit(void **state)
{
    pid_t child;
    int status;

    (void)state;
    if (FIBER_ASAN || FIBER_TSAN)
        skip(); /* their shadow memory is beyond every limit */
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit limit = {.rlim_cur = 1 << 30, .rlim_max = 1 << 30};
        char said[400] = "";
        xy_pool_t *pool;
        xy_status_t st = XY_OK;

        setrlimit(RLIMIT_AS, &limit);
        xy_error_handler_set(be_silent, said);
        xy_pool_create(&(xy_pool_config_t){.workers = 1}, &pool);
        for (int i = 0; i < 1000 && st == XY_OK; i++)
            st = xy_fiber_create(xy_pool_worker(pool, 0), set_flag, NULL, NULL);
        _exit(st == XY_ENOMEM && strstr(said, "ulimit -v") != NULL ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_priorities),
        cmocka_unit_test(test_yield_to_less_urgent),
        cmocka_unit_test(test_ready_in_order),
        cmocka_unit_test(test_ready_before_park),
        cmocka_unit_test(test_poll),
        cmocka_unit_test(test_errno_and_modes),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_stacks_are_private),
        cmocka_unit_test(test_stack_at),
        cmocka_unit_test(test_switched),
        cmocka_unit_test(test_sleep_order),
        cmocka_unit_test(test_sleep_odd),
        cmocka_unit_test(test_exit_and_reuse),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_adopt),
        cmocka_unit_test(test_creation_fails),
        cmocka_unit_test(test_bad_config),
        cmocka_unit_test(test_address_space_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
