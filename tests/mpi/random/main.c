/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random SEED [--steps N] [--only LIST] [--threads] [--device] [--plain] [--verbose]
 *
 * Runs the random program of this seed (random.h). --only takes some of its steps, '3,7-9';
 * --threads lets ranks have threads that call MPI; --device puts some data into memory of a GPU;
 * --plain leaves out persistent collectives, those between two groups, partitioned requests and
 * files; --verbose prints each step of each rank to standard error.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

int rank, size, step, turn;
random_t shared_random, own_random;
bool is_verbose;

static uint64_t seed;
static int steps = 60;
static const char *only;
static bool has_threads, has_device, is_plain;

uint64_t hash(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t words[] = {a, b, c, d}, x = 0x243f6a8885a308d3u;

    for (int i = 0; i < 4; i++) {
        x = (x ^ words[i]) + 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
        x = (x ^ x >> 27) * 0x94d049bb133111ebu;
        x ^= x >> 31;
    }
    return x;
}

int draw(random_t *random, int below)
{
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return (int)((random->state >> 33) % (uint64_t)(below > 0 ? below : 1));
}

bool chance(random_t *random, int percent)
{
    return draw(random, 100) < percent;
}

void fail(const char *format, ...)
{
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(stderr, "random program %llu, step %d, rank %d of %d: %s\n", (unsigned long long)seed,
            step, rank, size, text);
    MPI_Abort(MPI_COMM_WORLD, 3);
    abort();
}

/* Is step s in the list '3,7-9'? */
static bool is_wanted(int s)
{
    const char *at = only;

    while (at != NULL && *at != '\0') {
        char *end;
        long first = strtol(at, &end, 10), last = first;

        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (s >= first && s <= last)
            return true;
        at = *end == ',' ? end + 1 : NULL;
    }
    return only == NULL;
}

typedef struct {
    void (*run)(void);
    int weight;
} step_t;

static const step_t kinds[] = {{step_collective, 45},
                               {step_messages, 20},
                               {step_fan_in, 6},
                               {step_wild, 6},
                               {step_poll, 6},
                               {step_cancel, 4},
                               {step_persistent, 4},
                               {step_shift, 4},
                               {step_flood, 1},
                               {step_make_comm, 7},
                               {step_free_comm, 2},
                               {step_neighbors, 4},
                               {step_window, 5},
                               {step_threads, 5},
                               /* not in plain programs: */
                               {step_repeated, 7},
                               {step_repeat, 9},
                               {step_make_inter, 4},
                               {step_inter, 10},
                               {step_partitioned, 6},
                               {step_file, 5}};
enum { PLAIN_KINDS = 14 };

/* Ranks come to a step at different times. */
static void compute_a_little(void)
{
    double end = MPI_Wtime() + 1e-6 * draw(&own_random, 100);

    while (MPI_Wtime() < end)
        continue;
}

static void take_step(void)
{
    int count = is_plain ? PLAIN_KINDS : (int)(sizeof(kinds) / sizeof(kinds[0]));
    int total = 0, at, k = 0;

    shared_random.state = hash(seed, (uint64_t)step, 1, 0);
    own_random.state = hash(seed, (uint64_t)step, 2, (uint64_t)rank);
    for (int i = 0; i < count; i++)
        total += kinds[i].weight;
    at = draw(&shared_random, total);
    if (chance(&own_random, 5))
        compute_a_little();
    while (at >= kinds[k].weight)
        at -= kinds[k++].weight;
    kinds[k].run();
    pending_complete_some();
}

static void read_arguments(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "random SEED [--steps N] [--only LIST] [--threads] [--device] [--plain] "
                        "[--verbose]\n");
        exit(2);
    }
    seed = strtoull(argv[1], NULL, 0);
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--steps") == 0 && i + 1 < argc)
            steps = atoi(argv[++i]);
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--threads") == 0)
            has_threads = true;
        else if (strcmp(argv[i], "--device") == 0)
            has_device = true;
        else if (strcmp(argv[i], "--plain") == 0)
            is_plain = true;
        else if (strcmp(argv[i], "--verbose") == 0)
            is_verbose = true;
    }
    if (steps > STEPS_MAX)
        steps = STEPS_MAX;
}

int main(int argc, char **argv)
{
    int provided;

    read_arguments(argc, argv);
    MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (has_device)
        device_begin(seed);
    data_begin();
    reductions_begin();
    comms_begin();
    messages_begin();
    threads_begin(provided);
    for (step = 0; step < steps; step++)
        if (is_wanted(step))
            take_step();
    pending_complete(true);
    repeated_end();
    inter_end();
    MPI_Barrier(MPI_COMM_WORLD); /* freed sends are over, too */
    pending_end();
    threads_end();
    messages_end();
    comms_end();
    reductions_end();
    data_end();
    MPI_Finalize();
    return 0;
}
