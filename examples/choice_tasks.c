/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of a policy for a stencil before it runs, by the number of GPUs and their memory.
 *
 *   cc -O2 choice_tasks.c $(pkg-config --cflags --libs xylem) -lm -o choice_tasks
 *   ./choice_tasks                    a table: the choice for each number of GPUs and memory
 *   ./choice_tasks 32 8               of 32 blocks and 8 sweeps
 *   ./choice_tasks 40 77 3 96 384     ... on 1 to 3 GPUs, with 96 and 384 MiB
 *
 * A domain of blocks of 8 MiB in a row, where each is computed from itself and its two
 * neighbours, from one copy to the other, sweep after sweep. What each policy takes is simulated
 * with tasks of a millisecond, and xylem_choose() takes the least. Once a policy keeps all GPUs
 * busy to the end, nearly, no other can be better, and none is simulated. How good that was is told
 * by tasks that really take up to a quarter more or less: all policies with these, and what each
 * would have lost as the only one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <xylem.h>

enum { POLICIES = 5, MIB = 1 << 20, BLOCK = 8, MEMORIES = 5 };

#define NEARLY 1.005

/* The most promising ones first. */
static const char *const policies[POLICIES] = {"closure", "relay", "darts", "dmdar", "eager"};

/* One configuration: the arg of the functions that predict. */
typedef struct {
    xylem_tasks *model, *real; /* all tasks take the same; each takes something else */
    xylem_run_options options;
    double ideal, least; /* all GPUs are busy all the time; what was predicted so far */
} configuration_t;

/* ---- The stencil ---- */

/* Seconds of a task: a millisecond, and up to so much of it more or less. */
static double seconds_of(int block, int sweep, double spread)
{
    unsigned x = (unsigned)block * 2654435761u + (unsigned)sweep * 40503u;

    x = (x ^ x >> 15) * 2246822519u;
    return 1e-3 * (1 + spread * ((double)(x >> 8) / (1 << 23) - 1));
}

static xylem_tasks *make_stencil(int blocks, int sweeps, double spread)
{
    xylem_tasks *t;
    int *data = malloc(2 * (size_t)blocks * sizeof(*data));

    if (data == NULL || xylem_tasks_create(&t) != 0)
        exit(1);
    for (int i = 0; i < 2 * blocks; i++)
        data[i] = xylem_tasks_data(t, &(xylem_data){.bytes = (unsigned long long)BLOCK * MIB,
                                                    .dims = 1,
                                                    .position = {i % blocks}});
    for (int sweep = 0; sweep < sweeps; sweep++) {
        const int *from = data + sweep % 2 * blocks, *to = data + (sweep + 1) % 2 * blocks;

        for (int i = 0; i < blocks; i++) {
            xylem_access a[4] = {{to[i], XYLEM_WRITE}, {from[i], XYLEM_READ}};
            int count = 2;

            if (i > 0)
                a[count++] = (xylem_access){from[i - 1], XYLEM_READ};
            if (i + 1 < blocks)
                a[count++] = (xylem_access){from[i + 1], XYLEM_READ};
            xylem_tasks_add(t, &(xylem_task){.seconds = seconds_of(i, sweep, spread)}, a, count);
        }
    }
    free(data);
    return t;
}

/* ---- What a policy takes ---- */

static double makespan(xylem_tasks *t, xylem_run_options options, int policy)
{
    xylem_run_result result;

    options.policy = policies[policy];
    return xylem_tasks_run(t, &options, &result) == 0 ? result.makespan : 0;
}

static double predict(void *arg, int policy)
{
    configuration_t *c = arg;
    double seconds;

    if (c->least <= NEARLY * c->ideal)
        return INFINITY;
    seconds = makespan(c->model, c->options, policy);
    c->least = fmin(c->least, seconds);
    return seconds;
}
static double predict_0(void *arg)
{
    return predict(arg, 0);
}
static double predict_1(void *arg)
{
    return predict(arg, 1);
}
static double predict_2(void *arg)
{
    return predict(arg, 2);
}
static double predict_3(void *arg)
{
    return predict(arg, 3);
}
static double predict_4(void *arg)
{
    return predict(arg, 4);
}

static int choose(configuration_t *c)
{
    xylem_parameter parameters[] = {{"gpus", c->options.gpus},
                                    {"memory", (double)c->options.memory}};
    xylem_alternative ways[POLICIES] = {{policies[0], predict_0, NULL, 0},
                                        {policies[1], predict_1, NULL, 0},
                                        {policies[2], predict_2, NULL, 0},
                                        {policies[3], predict_3, NULL, 0},
                                        {policies[4], predict_4, NULL, 0}};
    xylem_problem problem = {.name = "stencil-policy",
                             .parameters = parameters,
                             .parameter_count = 2,
                             .alternatives = ways,
                             .alternative_count = POLICIES,
                             .arg = c,
                             .ignores_history = 1};
    xylem_choice choice;

    return xylem_choose(&problem, &choice) == 0 ? choice.chosen : -1;
}

/* ---- The study ---- */

typedef struct {
    int count, right, near;
    double lost, fixed[POLICIES], spent, took;
} study_t;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void judge(study_t *s, configuration_t *c)
{
    double seconds[POLICIES], least = INFINITY, start = now();
    int chosen = choose(c), best = 0;

    if (chosen < 0)
        exit(1);
    s->spent += now() - start;
    for (int i = 0; i < POLICIES; i++) {
        seconds[i] = makespan(c->real, c->options, i);
        best = seconds[i] < seconds[best] ? i : best;
    }
    least = seconds[best];
    printf("%4d %6llu MiB  %-15s %8.4f s  %-15s %8.4f s\n", c->options.gpus,
           c->options.memory / MIB, policies[chosen], seconds[chosen], policies[best], least);
    s->count++;
    s->right += seconds[chosen] == least;
    s->near += seconds[chosen] <= 1.05 * least;
    s->lost += seconds[chosen] / least - 1;
    s->took += least;
    for (int i = 0; i < POLICIES; i++)
        s->fixed[i] += seconds[i] / least - 1;
}

int main(int argc, char **argv)
{
    int memories[MEMORIES] = {64, 128, 256, 512, 1024}, count = MEMORIES;
    int blocks = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 64;
    int sweeps = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 100;
    int most = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 4;
    configuration_t c = {.model = make_stencil(blocks, sweeps, 0),
                         .real = make_stencil(blocks, sweeps, 0.25)};
    study_t s = {0};

    for (count = argc > 4 ? 0 : count; count + 4 < argc && count < MEMORIES; count++)
        memories[count] = (int)strtol(argv[count + 4], NULL, 10);
    printf("GPUs      memory  chosen                       the best\n");
    for (int gpus = 1; gpus <= most; gpus = argc > 3 ? gpus + 1 : 2 * gpus)
        for (int m = 0; m < count; m++) {
            c.options =
                (xylem_run_options){.gpus = gpus, .memory = (unsigned long long)memories[m] * MIB};
            c.ideal = 1e-3 * blocks * sweeps / gpus;
            c.least = INFINITY;
            judge(&s, &c);
        }
    printf("%d configurations: the best in %d, within 5 %% in %d, %.2f %% lost\n", s.count, s.right,
           s.near, 100 * s.lost / s.count);
    for (int i = 0; i < POLICIES; i++)
        printf("always %s: %.1f %% lost\n", policies[i], 100 * s.fixed[i] / s.count);
    fprintf(stderr, "choosing took %.3g %% of the runs\n", 100 * s.spent / s.took);
    xylem_tasks_free(c.model);
    xylem_tasks_free(c.real);
    return s.near < s.count * 9 / 10;
}
