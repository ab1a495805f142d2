/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stencils on the GPU of this machine under the default policy and others, for stencil_random.py:
 * the memory and the kernels of a stencil are prepared once for all of them. A line of standard
 * input is a problem,
 *
 *   jacobi 128x1 512x4096 10 469762048 closure:2 dmdar:0     (iterations, memory,
 * policy:look-ahead)
 *
 * and a line of output its result, in JSON: the choice of the default policy, the seconds until
 * the memory was ready and for which the run then waited for the choice, and the seconds of
 * `ROUNDS` runs of each, in turn; one round where the default is as fast as the others.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "stencil/real.h"

/* ALONE: every so many problems, a line more: {"ready_alone": SECONDS}, where nothing is chosen. */
enum { OTHERS = 40, ROUNDS = 3, LINE = 2048, ALONE = 4 };
static const double as_fast = 1.02;

typedef struct {
    stencil_choice_t choice;
    xy_task_result_t result; /* of the last round */
    double seconds[ROUNDS];
    double predicted; /* by the costs that the choice was made from */
    int rounds;
    bool is_refused;
} way_t;

/* Read a problem and the others that it is run with; returns their number, or -1. */
static int read_line(char *line, xy_stencil_run_t *run, way_t *ways)
{
    xy_stencil_t *s = &run->grid;
    char *rest = line, *words[5];
    long n;
    int count = 0;

    *run = (xy_stencil_run_t){.grid = XY_STENCIL_DEFAULT,
                              .is_real = true,
                              .is_unchecked = true,
                              .is_on_gpus = true,
                              .gpus = 1,
                              .how = {.params = {.look_ahead = XY_TASK_CHOOSE}}};
    for (int i = 0; i < 5; i++)
        if ((words[i] = strsep(&rest, " ")) == NULL)
            return -1;
    if (!xy_stencil_graph_parse(words[0], &s->graph) || !xy_stencil_blocks_parse(words[1], s) ||
        !xy_stencil_cells_parse(words[2], s) || !xy_parse_long(words[3], &n) ||
        !xy_parse_size(words[4], &run->memory))
        return -1;
    s->iterations = (int)n;
    for (char *word; count < OTHERS && (word = strsep(&rest, " ")) != NULL; count++) {
        char *colon = strchr(word, ':');

        if (colon == NULL || !xy_parse_long(colon + 1, &n))
            return -1;
        *colon = '\0';
        ways[count] = (way_t){
            .choice = {.policy = word, .memory = run->memory, .gpus = 1, .look_ahead = (int32_t)n}};
    }
    return count;
}

static void run_once(stencil_real_t *r, way_t *way)
{
    if (way->is_refused)
        return;
    way->is_refused = stencil_gpu_execute(r, &way->choice, &way->result) != XY_OK;
    way->seconds[way->rounds++] = way->result.makespan;
}

/* Has the default a round that no first one of the others clearly beats? */
static bool is_first(const way_t *ways, int count)
{
    double least = ways[0].seconds[0];

    for (int i = 1; i < count; i++)
        if (!ways[i].is_refused && ways[i].seconds[0] < least)
            least = ways[i].seconds[0];
    return ways[0].seconds[0] <= as_fast * least;
}

static void print_way(const way_t *way)
{
    const stencil_choice_t *c = &way->choice;
    const xy_task_result_t *s = &way->result;

    printf("{\"policy\": \"%s\", \"eviction\": \"%s\", \"look_ahead\": %d, \"memory\": %llu, "
           "\"rounds\": %d, "
           "\"loads\": %llu, \"stores\": %llu, \"launches\": %llu, \"waiting\": %llu, "
           "\"deciding\": %.6g, \"predicted\": %.6g, \"seconds\": [",
           s->policy, s->eviction, (int)c->look_ahead, (unsigned long long)c->memory,
           (int)c->extra_rounds, (unsigned long long)s->loads, (unsigned long long)s->stores,
           (unsigned long long)s->launches, (unsigned long long)s->launches_waiting,
           s->scheduling_seconds, way->predicted);
    for (int i = 0; i < way->rounds && !way->is_refused; i++)
        printf("%s%.6g", i > 0 ? ", " : "", way->seconds[i]);
    printf("]}");
}

/* The costs that the choice was made from, and all ways with their times. */
static void print_row(const stencil_real_t *r, const way_t *ways, int count, double ready,
                      double waited)
{
    const xy_stencil_costs_t *c = stencil_gpu_costs(r);

    printf("{\"ready\": %.6g, \"waited\": %.6g, \"task\": %.6g, \"once\": %.6g, \"launch\": %.6g, "
           "\"copy\": %.6g, \"event\": %.6g, \"resume\": %.6g, \"in\": [%.6g, %.6g], \"out\": "
           "[%.6g, %.6g], "
           "\"both\": %.6g, \"ways\": [",
           ready, waited, c->task, c->ahead.once, c->ahead.launch, c->ahead.copy, c->ahead.event,
           c->ahead.resume, c->in.latency, c->in.bandwidth, c->out.latency, c->out.bandwidth,
           c->both);
    for (int i = 0; i < count; i++) {
        printf("%s", i > 0 ? ", " : "");
        print_way(&ways[i]);
    }
    puts("]}");
    fflush(stdout);
}

/* Seconds until the memory is ready, and those for which a run then waits for its choice. */
static xy_status_t make_ready(stencil_real_t *r, stencil_choice_t *choice, double *ready_p,
                              double *waited_p)
{
    double begin = bench_now(), middle;
    xy_status_t st = stencil_real_memory(r);

    middle = bench_now();
    if (st == XY_OK)
        st = stencil_real_choose_end(r, choice);
    *ready_p = middle - begin;
    *waited_p = bench_now() - middle;
    return st;
}

/* The first way is the default. */
static xy_status_t run_all(const xy_stencil_run_t *run, way_t *ways, int count)
{
    stencil_real_t r;
    double ready, waited;
    xy_status_t st = stencil_real_begin(&r, run);

    ways[0] = (way_t){.rounds = 0};
    if (st == XY_OK)
        st = make_ready(&r, &ways[0].choice, &ready, &waited);
    for (int round = 0; round < ROUNDS && st == XY_OK && (round != 1 || !is_first(ways, count));
         round++)
        for (int i = 0; i < count; i++)
            run_once(&r, &ways[i]);
    for (int i = 0; i < count && st == XY_OK; i++)
        if (!ways[i].is_refused)
            st = stencil_real_predict(&r, &ways[i].choice, &ways[i].predicted);
    if (st == XY_OK)
        print_row(&r, ways, count, ready, waited);
    stencil_real_cleanup(&r);
    return st;
}

/* The same without a choice. */
static void print_alone(const xy_stencil_run_t *run, const way_t *way)
{
    xy_stencil_run_t alone = *run;
    stencil_choice_t choice;
    stencil_real_t r;
    double ready, waited;

    alone.how.policy = way->choice.policy;
    alone.how.params.look_ahead = way->choice.look_ahead;
    if (stencil_real_begin(&r, &alone) == XY_OK &&
        make_ready(&r, &choice, &ready, &waited) == XY_OK)
        printf("{\"ready_alone\": %.6g}\n", ready);
    stencil_real_cleanup(&r);
}

static void do_line(char *line, long number)
{
    xy_stencil_run_t run;
    way_t ways[OTHERS + 1];
    int count;

    line[strcspn(line, "\n")] = '\0';
    count = read_line(line, &run, ways + 1);
    if (count < 0 || run_all(&run, ways, count + 1) != XY_OK)
        puts("{}");
    else if (number % ALONE == 0 && count > 0)
        print_alone(&run, &ways[1]);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char line[LINE] = "jacobi 8x1 16x64 4 262144 closure:2 dmdar:0";
    xy_vec_t found;
    bool is_there = xy_gpu_list(&found) == XY_OK && found.count > 0;

    bench_init(argc, argv);
    xy_vec_cleanup(&found);
    if (!is_there)
        puts("there is no GPU");
    else if (bench_is_quick())
        do_line(line, 0);
    else
        for (long n = 0; fgets(line, sizeof(line), stdin) != NULL; n++)
            do_line(line, n);
    return 0;
}
