/* SPDX-License-Identifier: BSD-3-Clause */
/* Choosing: what a decision takes, from a problem as text to the answer, and with a history. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapt/adapt.h"
#include "bench.h"
#include "mpi/adapt/adapt.h"

static const char problem_text[] =
    "parameter n\nparameter p = 16\nlet compare = 5e-9\nlet message = 20e-6\n"
    "alternative gather formula n*log2(n)*compare + 8e-9*n\n"
    "alternative sample formula n/p*log2(n/p)*compare + p*message\n"
    "alternative merge formula n/p*log2(n/p)*compare + log2(p)*(message + 8e-9*n)\n"
    "alternative bitonic formula n/p*log2(n/p)*compare + log2(p)*(log2(p)+1)/2*(message+8e-9*n/p)\n"
    "alternative radix formula 8*n/p*2e-9 + 8*p*message\n";

static xy_history_t *history;
static char path[] = "/tmp/xylem-bench-history-XXXXXX";

static xy_status_t simulate(void *arg, const char *verb, int argc, char **argv,
                            xy_simulated_t *simulated)
{
    (void)arg, (void)verb, (void)argv;
    *simulated = (xy_simulated_t){.seconds = argc, .error = 0.1};
    return XY_OK;
}

static xy_status_t evaluate_and_choose(const xy_adapt_t *p, const xy_adapt_given_t *given,
                                       const xy_history_t *h)
{
    xy_estimate_of_t of[8];
    xy_choice_t choice;
    xy_adapt_times_t *times;
    xy_status_t st = xy_adapt_evaluate(p, given, &times);
    xy_choose_t q;

    if (st != XY_OK)
        return st;
    q = (xy_choose_t){.instance = {"sort", "here", times->parameters, times->parameter_count},
                      .candidates = times->candidates,
                      .count = times->count,
                      .history = h,
                      .reference = XY_CHOOSE_NONE};
    st = xy_choose(&q, of, &choice);
    bench_use(&choice);
    xy_adapt_times_destroy(times);
    return st;
}

/* Read the problem, evaluate its formulas, choose. */
static double formulas(long n, const xy_history_t *h)
{
    xy_parameter_t size = {"n", 1e6};
    xy_adapt_given_t given = {.parameters = &size, .count = 1};
    double begin = bench_now();
    xy_status_t st = XY_OK;

    for (long i = 0; i < n && st == XY_OK; i++) {
        xy_adapt_t *p;

        st = xy_adapt_parse(problem_text, sizeof(problem_text) - 1, "sort.problem", &p);
        if (st != XY_OK)
            break;
        size.value = 1000.0 + (double)i;
        st = evaluate_and_choose(p, &given, h);
        xy_adapt_destroy(p);
    }
    return st == XY_OK ? bench_now() - begin : -1;
}

static double round_formulas(long n)
{
    return formulas(n, NULL);
}

static double round_history(long n)
{
    return formulas(n, history);
}

static double round_load(long n)
{
    double begin = bench_now();

    for (long i = 0; i < n; i++) {
        xy_history_t *h;

        if (xy_history_load(path, "sort", "here", &h) != XY_OK)
            return -1;
        xy_history_destroy(h);
    }
    return bench_now() - begin;
}

/* Three simulations whose answers are in the file. */
static double round_cached(long n)
{
    static const char text[] = "alternative a predict x.c -n 16\nalternative b predict x.c -n 32\n"
                               "alternative c predict x.c -n 64\n";
    char *cache = xy_sprintf("%s.cache", path);
    xy_adapt_given_t given = {.simulate = simulate, .cache = cache, .salt = "1"};
    xy_adapt_t *p = NULL;
    xy_status_t st = xy_adapt_parse(text, sizeof(text) - 1, "x.problem", &p);
    double begin;

    if (st == XY_OK)
        st = evaluate_and_choose(p, &given, NULL);
    begin = bench_now();
    for (long i = 0; i < n && st == XY_OK; i++)
        st = evaluate_and_choose(p, &given, NULL);
    begin = bench_now() - begin;
    xy_adapt_destroy(p);
    unlink(cache);
    xy_free(cache);
    return st == XY_OK ? begin : -1;
}

/* ---- Plans of mpiexec --adapt ---- */

static mpi_profile_t profile;
static mpi_adapt_t adapt;
static xy_history_t *runs;

static double round_plans(long n)
{
    double begin = bench_now();
    mpi_adapt_choice_t choice;

    for (long i = 0; i < n; i++)
        if (mpi_adapt_choose(&adapt, &choice) != XY_OK)
            return -1;
    bench_use(&choice);
    return bench_now() - begin;
}

static xy_status_t make_history(void)
{
    xy_parameter_t parameters[] = {{"n", 0}, {"p", 16}};
    static const char *const names[] = {"gather", "sample", "merge", "bitonic", "radix"};
    xy_status_t st = XY_OK;

    for (int i = 0; i < XY_HISTORY_RECENT && st == XY_OK; i++) {
        xy_run_t run = {.instance = {"sort", "here", parameters, 2},
                        .alternative = names[i % 5],
                        .predicted = 1e-3,
                        .measured = 1e-3 * (1 + i % 7)};

        parameters[0].value = 1000 + 10 * (i % 50);
        st = xy_history_append(path, &run, 1);
    }
    return st == XY_OK ? xy_history_load(path, "sort", "here", &history) : st;
}

static xy_status_t make_plans(void)
{
    static const char *const words[] = {"default", "allreduce/64/65536:ring",
                                        "allreduce/64/65536:two-level", "bcast/64/65536:chain"};
    static xy_parameter_t ranks = {"ranks", 64};
    xy_instance_t instance = {"mpiexec:x:0", "here", &ranks, 1};
    xy_vec_t calls = XY_VEC_INIT(xy_vjob_calls_t);
    xy_status_t st = XY_OK;

    profile = (mpi_profile_t){.share = 0.5, .gain = 0.8};
    for (int i = 0; i < 8 && st == XY_OK; i++) {
        xy_collective_t c = i % 2 == 0 ? XY_COLL_ALLREDUCE : XY_COLL_BCAST;

        xy_vjob_calls_t made = {.collective = c,
                                .procs = 64,
                                .nodes = 4,
                                .bytes = 8ull << 2 * i,
                                .element = 8,
                                .calls = 100,
                                .seconds = 0.01,
                                .is_nonblocking = true,
                                .algorithm =
                                    xy_coll_find(c, c == XY_COLL_BCAST ? "binomial" : "ring"),
                                .link = {1e-5, 1e-9, 1e-10, 1e-10}};

        st = xy_vec_append(&calls, &made);
    }
    mpi_profile_calls(&profile, &calls);
    xy_vec_cleanup(&calls);
    for (int i = 0; i < XY_HISTORY_RECENT && st == XY_OK; i++)
        st = xy_history_append(path,
                               &(xy_run_t){.instance = instance,
                                           .alternative = words[i % 4],
                                           .predicted = 1,
                                           .measured = 1 + 0.01 * (i % 4)},
                               1);
    if (st == XY_OK)
        st = xy_history_load(path, "mpiexec:x:0", "here", &runs);
    adapt = (mpi_adapt_t){.instance = instance,
                          .history = runs,
                          .profile = &profile,
                          .learns = true,
                          .ranks = 64,
                          .cores = 64,
                          .nodes = 4,
                          .node_cores = 16,
                          .may_place = true,
                          .may_split = true,
                          .may_keep_cores = true,
                          .may_share_cores = true};
    return st;
}

int main(int argc, char **argv)
{
    char *lock;
    xy_status_t st;

    bench_init(argc, argv);
    close(mkstemp(path));
    st = make_history();
    if (st == XY_OK)
        st = make_plans();
    if (st == XY_OK) {
        bench_rate("choice: five formulas", round_formulas, 1000, "us", 1e6);
        bench_rate("choice: five formulas, 250 runs", round_history, 200, "us", 1e6);
        bench_rate("choice: load 250 runs", round_load, 100, "us", 1e6);
        bench_rate("choice: three simulations kept", round_cached, 200, "us", 1e6);
        bench_rate("choice: plans of --adapt, 250 runs", round_plans, 50, "us", 1e6);
    }
    xy_history_destroy(history);
    xy_history_destroy(runs);
    unlink(path);
    lock = xy_sprintf("%s.lock", path);
    if (lock != NULL)
        unlink(lock);
    xy_free(lock);
    return st == XY_OK ? 0 : 1;
}
