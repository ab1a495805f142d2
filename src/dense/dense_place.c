/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a call runs: the machine of the options, and what messages cost there. */
#include <math.h>
#include <stdio.h>

#include "dense/dense.h"

static bool open_platform(const xylem_matmul_options *o, int ranks, xylem_platform **platform_p)
{
    char text[128];

    if (o->machine != NULL || (o->latency <= 0 && o->bandwidth <= 0))
        return xylem_platform_create(o->machine, o->costs, platform_p) == 0;
    /* A message crosses two links. */
    snprintf(text, sizeof(text), "node:%d(latency=%gns bandwidth=%gkB/s) core:1", ranks,
             5e8 * (o->latency > 0 ? o->latency : DENSE_LATENCY),
             1e-3 * (o->bandwidth > 0 ? o->bandwidth : DENSE_BANDWIDTH));
    return xylem_platform_create(text, o->costs, platform_p) == 0;
}

double dense_model_speed(const xylem_platform *platform)
{
    enum { SIDE = 256 };
    static const double sizes[] = {SIDE, SIDE, SIDE};
    double seconds = xylem_platform_kernel(platform, "dgemm", sizes, 3);

    return seconds > 0 ? 2.0 * SIDE * SIDE * SIDE / seconds : 0;
}

/* `count` messages from one rank to another. */
static double probe_pair(const dense_place_t *place, int from, int to, unsigned long bytes,
                         int count)
{
    xylem_script *s;
    double seconds = 0;

    if (xylem_script_create(place->ranks, &s) != 0)
        return 0;
    for (int i = 0; i < count; i++) {
        xylem_script_isend(s, from, to, 0, bytes);
        xylem_script_irecv(s, to, from, 0, bytes);
    }
    xylem_script_wait(s, from);
    xylem_script_wait(s, to);
    if (xylem_script_run(s, place->platform, &seconds) != 0)
        seconds = 0;
    xylem_script_free(s);
    return seconds;
}

static double probe(const dense_place_t *place, unsigned long bytes, int count)
{
    return probe_pair(place, 0, place->ranks - 1, bytes, count);
}

/* Whether each rank has a node of its own, and some more pairs take the same. */
static bool is_uniform(const dense_place_t *place, unsigned long bytes, double seconds)
{
    int last = place->ranks - 1, pairs[][2] = {{0, 1}, {last, last / 2}, {last / 3, last - 1}};

    if (xylem_platform_nodes(place->platform) < place->ranks)
        return false;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (pairs[i][0] != pairs[i][1] &&
            fabs(probe_pair(place, pairs[i][0], pairs[i][1], bytes, 1) / seconds - 1) > 1e-6)
            return false;
    return true;
}

/* The time of an operation of all ranks together, from the beginning; 0: it failed. */
static double together(const dense_place_t *place, void (*what)(xylem_script *s, int rank))
{
    xylem_script *s;
    double seconds = 0;

    if (xylem_script_create(place->ranks, &s) != 0)
        return 0;
    for (int r = 0; r < place->ranks; r++)
        what(s, r);
    if (xylem_script_run(s, place->platform, &seconds) != 0)
        seconds = 0;
    xylem_script_free(s);
    return seconds;
}

static void agree(xylem_script *s, int rank)
{
    xylem_script_agree(s, rank, 0);
}

/* As a call begins: the choice is broadcast, a communicator is made, ranks agree. */
static void begin(xylem_script *s, int rank)
{
    xylem_script_bcast(s, rank, 0, 0, 2 * sizeof(double));
    xylem_script_agree(s, rank, 0);
    xylem_script_allreduce(s, rank, 0, sizeof(int));
}

/* By the number of rounds: simulating many ranks takes longer than predicting a small product. */
static void count_rounds(dense_place_t *place)
{
    int rounds = 0, all;

    while (2 << rounds <= place->ranks)
        rounds++;
    all = rounds + (1 << rounds == place->ranks ? 0 : 2);
    place->agree = all * place->latency;
    place->begin = (2 * all + rounds + (1 << rounds != place->ranks)) * place->latency;
}

bool dense_place_open(const xylem_matmul_options *o, int ranks, dense_place_t *place)
{
    enum { RANKS_FEW = 32, SMALL = 8, MIDDLE = 1 << 15, LARGE = 1 << 20 };

    *place = (dense_place_t){.ranks = ranks};
    if (!open_platform(o, ranks, &place->platform))
        return false;
    if (ranks == 1)
        return true;
    place->latency = probe(place, SMALL, 1);
    place->overhead = (probe(place, SMALL, 65) - place->latency) / 64;
    place->per_byte = (probe(place, 2 * LARGE, 1) - probe(place, LARGE, 1)) / LARGE;
    place->copy = ((probe(place, MIDDLE, 1) - place->latency) / MIDDLE - place->per_byte) / 2;
    place->copy = fmax(place->copy, 0);
    place->is_uniform = is_uniform(place, MIDDLE, probe(place, MIDDLE, 1));
    count_rounds(place);
    if (!place->is_uniform || ranks <= RANKS_FEW) {
        place->agree = together(place, agree);
        place->begin = together(place, begin);
    }
    return true;
}

void dense_place_close(dense_place_t *place)
{
    xylem_platform_free(place->platform);
    *place = (dense_place_t){0};
}
