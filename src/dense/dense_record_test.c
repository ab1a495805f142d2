/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of algorithms, written down for all ranks without MPI: each message that is sent
 * is received with its size and in its order, all members of a group take part in its broadcasts
 * alike, and every product of two elements is computed once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <math.h>

#include "dense/dense.h"
#include "testing/base.h"

enum { RANKS = 30, SIDE = 200 };

static double multiplied; /* products of two elements */

static double count_products(int m, int n, int k, int rank, void *arg)
{
    (void)rank, (void)arg;
    assert_true(m >= 0 && n >= 0 && k >= 0);
    multiplied += (double)m * n * k;
    return 1e-9 * m * n * k;
}

static dense_t random_product(double *speeds)
{
    dense_t p = {
        .routine = &dense_matmul,
        .size = {1 + testing_below(SIDE), 1 + testing_below(SIDE), 1 + testing_below(SIDE)},
        .ranks = 1 + testing_below(RANKS),
        .block = 1 + testing_below(40),
        .speeds = speeds,
        .per_byte = 1e-10,
        .sum = 1e-9,
        .seconds = count_products};

    for (int r = 0; r < p.ranks; r++)
        speeds[r] = 1 + testing_below(10);
    return p;
}

/* ---- Messages ---- */

/* The next message of `ops` from `*at` on to (`sends`) or from a rank; its bytes. -1: none. */
static long next_message(const dense_ops_t *ops, int *at, int other, bool sends)
{
    while (*at < ops->count) {
        const dense_op_t *op = &ops->ops[(*at)++];

        if (sends && (op->kind == DENSE_SEND || op->kind == DENSE_EXCHANGE) && op->peer == other)
            return (long)op->bytes;
        if (!sends && op->kind == DENSE_RECEIVE && op->peer == other)
            return (long)op->bytes;
        if (!sends && op->kind == DENSE_EXCHANGE && op->source == other)
            return (long)op->more;
    }
    return -1;
}

static void check_messages(const dense_record_t *record)
{
    for (int from = 0; from < record->ranks; from++)
        for (int to = 0; to < record->ranks; to++) {
            int sent = 0, received = 0;
            long bytes;

            do {
                bytes = next_message(&record->of[from], &sent, to, true);
                assert_int_equal(next_message(&record->of[to], &received, from, false), bytes);
            } while (bytes >= 0);
        }
}

/* ---- Broadcasts ---- */

static const dense_op_t *next_bcast(const dense_ops_t *ops, int *at, int group)
{
    while (*at < ops->count) {
        const dense_op_t *op = &ops->ops[(*at)++];

        if (op->kind == DENSE_BCAST && op->group == group)
            return op;
    }
    return NULL;
}

static void check_group(const dense_record_t *record, int number)
{
    const dense_group_t *group = &record->groups[number];
    int at[RANKS] = {0};
    const dense_op_t *first;

    assert_true(group->count >= 1);
    assert_true(group->first + (group->count - 1) * group->stride < record->ranks);
    do {
        first = next_bcast(&record->of[group->first], &at[0], number);
        assert_true(first == NULL || (first->peer >= 0 && first->peer < group->count));
        for (int i = 1; i < group->count; i++) {
            const dense_op_t *op =
                next_bcast(&record->of[group->first + i * group->stride], &at[i], number);

            assert_int_equal(op != NULL, first != NULL);
            if (op != NULL) {
                assert_int_equal(op->peer, first->peer);
                assert_int_equal(op->bytes, first->bytes);
            }
        }
    } while (first != NULL);
}

static void check_groups(const dense_record_t *record)
{
    for (int g = 0; g < record->group_count; g++)
        check_group(record, g);
    for (int r = 0; r < record->ranks; r++)
        for (int i = 0; i < record->of[r].count; i++) {
            const dense_op_t *op = &record->of[r].ops[i];
            const dense_group_t *g = &record->groups[op->group];

            if (op->kind != DENSE_BCAST)
                continue;
            assert_true(op->group < record->group_count);
            assert_true(r >= g->first && (r - g->first) % g->stride == 0 &&
                        (r - g->first) / g->stride < g->count);
        }
}

/* ---- All algorithms ---- */

static void check_algorithm(const dense_t *p, const dense_algorithm_t *a)
{
    double all = (double)p->size.m * p->size.n * p->size.k;
    dense_record_t record;

    multiplied = 0;
    assert_true(dense_record(p, a, 0, &record));
    assert_true(record.done >= record.whole);
    check_messages(&record);
    check_groups(&record);
    if (a != &dense_strassen_cannon)
        assert_true(multiplied == all);
    else /* seven of eight, and what the zeros around the halves add */
        assert_true(multiplied >= 0.875 * all);
    dense_record_cleanup(&record);
}

static void test_all_that_is_sent_is_received(void **state)
{
    double speeds[RANKS];

    (void)state;
    for (int i = 0; i < 300 / (1 + 9 * XYLEM_SANITIZED); i++) {
        dense_t p = random_product(speeds);

        for (int a = 0; a < dense_matmul.count; a++)
            if (p.ranks >= dense_matmul.algorithms[a]->least)
                check_algorithm(&p, dense_matmul.algorithms[a]);
    }
}

/* Factorisations, whose kernel is called for less than all operations. */
static void test_factorisations_are_received(void **state)
{
    const dense_routine_t *const routines[] = {&dense_lu, &dense_cholesky};
    double speeds[RANKS];

    (void)state;
    for (int i = 0; i < 100 / (1 + 9 * XYLEM_SANITIZED); i++) {
        dense_t p = random_product(speeds);

        p.routine = routines[i % 2];
        p.size.m = p.size.k = p.size.n;
        for (int a = 0; a < p.routine->count; a++) {
            dense_record_t record;

            if (p.ranks < p.routine->algorithms[a]->least)
                continue;
            multiplied = 0;
            assert_true(dense_record(&p, p.routine->algorithms[a], 0, &record));
            check_messages(&record);
            check_groups(&record);
            /* Blocks of the diagonal are multiplied whole. */
            assert_true(2 * multiplied <=
                        p.routine->operations(&p.size) + 2.0 * p.size.n * p.size.n * (p.block + 8));
            dense_record_cleanup(&record);
        }
    }
}

/* Rank 0 copies the part of another rank before it sends it, and after it has come back: as fast as
 * other loops, or as elements are copied. */
static void test_copies_of_factorisations_take_time(void **state)
{
    enum { SIZE = 96, BLOCK = 16 };
    double speeds[] = {1e9, 1e9};
    const dense_routine_t *const routines[] = {&dense_lu, &dense_cholesky};

    (void)state;
    for (int i = 0; i < 8; i++) {
        const dense_routine_t *routine = routines[i / 2 % 2];
        double move = i < 4 ? 0 : 3e-9, least = (i < 4 ? 1e-9 : move) * SIZE * SIZE / 2 - 1e-12;
        dense_t p = {.routine = routine,
                     .size = {SIZE, SIZE, SIZE},
                     .ranks = 2,
                     .block = BLOCK,
                     .speeds = speeds,
                     .move = move,
                     .seconds = count_products};
        const dense_ops_t *own;
        dense_record_t record;
        int last;

        assert_true(dense_record(&p, routine->algorithms[i % 2], 0, &record));
        own = &record.of[0];
        assert_true(own->ops[0].kind == DENSE_COMPUTE && own->ops[0].seconds >= least);
        for (last = own->count - 1; own->ops[last].kind != DENSE_RECEIVE;)
            last--;
        assert_true(own->ops[last + 1].kind == DENSE_COMPUTE &&
                    own->ops[last + 1].seconds >= least / 2);
        dense_record_cleanup(&record);
    }
}

/* Strassen's halves are exact where all sizes are multiples of what the grids need. */
static void test_strassen_saves_an_eighth(void **state)
{
    double speeds[RANKS] = {[0 ... RANKS - 1] = 1};
    dense_record_t record;

    (void)state;
    for (int q = 1; 7 * q * q <= RANKS; q++) {
        dense_t p = {.routine = &dense_matmul,
                     .size = {24 * q, 12 * q, 36 * q},
                     .ranks = 7 * q * q,
                     .block = 16,
                     .speeds = speeds,
                     .sum = 1e-9,
                     .seconds = count_products};

        multiplied = 0;
        assert_true(dense_record(&p, &dense_strassen_cannon, 0, &record));
        assert_true(multiplied == 0.875 * p.size.m * p.size.n * p.size.k);
        dense_record_cleanup(&record);
    }
}

/* The first steps are a part of all, more of them a larger one. */
static void test_some_steps_are_a_part_of_all(void **state)
{
    double speeds[RANKS] = {[0 ... RANKS - 1] = 1};
    dense_t p = {.routine = &dense_matmul,
                 .size = {150, 140, 400},
                 .ranks = 12,
                 .block = 8,
                 .speeds = speeds,
                 .per_byte = 1e-10,
                 .sum = 1e-9,
                 .seconds = count_products};

    (void)state;
    for (int a = 0; a < dense_matmul.count; a++) {
        double before = 0;

        for (int steps = 1; steps <= 64; steps *= 2) {
            dense_record_t record;

            multiplied = 0;
            assert_true(dense_record(&p, dense_matmul.algorithms[a], steps, &record));
            check_messages(&record);
            assert_true(record.done <= record.whole && multiplied >= before);
            assert_true(record.done < record.whole ||
                        multiplied >= 0.875 * p.size.m * p.size.n * p.size.k);
            before = multiplied;
            dense_record_cleanup(&record);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_that_is_sent_is_received),
        cmocka_unit_test(test_factorisations_are_received),
        cmocka_unit_test(test_copies_of_factorisations_take_time),
        cmocka_unit_test(test_strassen_saves_an_eighth),
        cmocka_unit_test(test_some_steps_are_a_part_of_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
