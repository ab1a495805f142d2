/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/consensus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "testing/base.h"

enum { RANKS = 6, NUMBERS = 3 };

/* The events and their expected result, computed from the definition. */
static struct {
    consensus_t c;
    mpi_agree_ask_t asked[NUMBERS][RANKS];
    bool has_asked[NUMBERS][RANKS], is_failed[RANKS];
    int failures, decisions[NUMBERS];
} job;

/* Nobody who lives is missing; the answer is that of all who have said something. */
static void decide(const mpi_agree_answer_t *answer, void *arg)
{
    int number = (int)answer->number, flag = -1, acked = 1 << 20, first = -1;

    (void)arg;
    job.decisions[number]++;
    assert_int_equal(answer->context, 7);
    for (int r = RANKS - 1; r >= 0; r--) {
        assert_true(job.has_asked[number][r] || job.is_failed[r]);
        if (!job.has_asked[number][r])
            continue;
        flag &= job.asked[number][r].flag;
        acked = job.asked[number][r].acked < acked ? job.asked[number][r].acked : acked;
        first = r;
    }
    assert_int_equal(answer->flag, flag);
    assert_int_equal(answer->acked, acked);
    assert_int_equal(answer->proposal, job.asked[number][first].proposal);
    assert_int_equal(answer->failures, job.failures);
}

static void ask(int number, int rank, uint64_t *random)
{
    struct {
        mpi_agree_ask_t ask;
        int32_t members[RANKS];
    } message = {.ask = {.context = 7,
                         .number = (uint32_t)number,
                         .rank = rank,
                         .flag = (int)testing_random(random),
                         .acked = testing_random_below(random, 5),
                         .proposal = (uint32_t)testing_random_below(random, 1000),
                         .size = RANKS}};

    for (int r = 0; r < RANKS; r++)
        message.members[r] = r;
    job.asked[number][rank] = message.ask;
    job.has_asked[number][rank] = true;
    assert_int_equal(consensus_ask(&job.c, &message, sizeof(message)), XY_OK);
}

static void lose(int rank)
{
    bool is_new = !job.is_failed[rank];

    job.is_failed[rank] = true;
    job.failures += is_new;
    assert_int_equal(consensus_fail(&job.c, rank), is_new);
    consensus_settle(&job.c);
}

/* Each rank asks in the order of numbers, and some fail, at any time: all agreements are decided
 * exactly once, when nobody is missing. */
static void all_orders(void **state)
{
    uint64_t random = testing_seed();

    (void)state;
    for (int i = 0; i < 2000; i++) {
        int next[RANKS] = {0}, living = RANKS;

        memset(&job, 0, sizeof(job));
        job.c = (consensus_t){.ranks = RANKS, .decide = decide};
        for (int done = 0; done < RANKS;) {
            int r = testing_random_below(&random, RANKS);

            if (next[r] == NUMBERS || job.is_failed[r])
                continue;
            if (living > 1 && testing_random_below(&random, 8) == 0) {
                living--;
                done++;
                lose(r);
            } else {
                ask(next[r]++, r, &random);
                done += next[r] == NUMBERS;
            }
        }
        for (int n = 0; n < NUMBERS; n++)
            assert_int_equal(job.decisions[n], 1);
        assert_null(job.c.all);
        xy_free(job.c.is_failed);
    }
}

/* Messages that are cut short, or name no ranks, are ignored. */
static void malformed(void **state)
{
    struct {
        mpi_agree_ask_t ask;
        int32_t members[2];
    } message = {.ask = {.rank = 0, .size = 2}, .members = {0, 99}};
    consensus_t c = {.ranks = 2, .decide = decide};

    (void)state;
    assert_int_equal(consensus_ask(&c, &message, sizeof(message)), XY_OK);
    message.members[1] = 1;
    message.ask.rank = 5;
    assert_int_equal(consensus_ask(&c, &message, sizeof(message)), XY_OK);
    message.ask.rank = 0;
    assert_int_equal(consensus_ask(&c, &message, sizeof(message) - 4), XY_OK);
    assert_int_equal(consensus_ask(&c, &message, 3), XY_OK);
    assert_null(c.all);
    xy_free(c.is_failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_orders), cmocka_unit_test(malformed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
