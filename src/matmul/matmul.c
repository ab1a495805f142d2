/* SPDX-License-Identifier: BSD-3-Clause */
/* One function for all algorithms: check, choose on rank 0, tell the others, run. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matmul/matmul.h"

enum { BLOCK = 128 };

const char *const xylem_matmul_algorithms[] = {"columns", "cartesian",       "fox",
                                               "summa",   "strassen-cannon", NULL};

static const xylem_matmul_options no_options = {0};

/* ---- What is asked for ---- */

static double *make_speeds(int ranks, const double *given)
{
    double *speeds = calloc((size_t)ranks + 1, sizeof(*speeds));

    for (int i = 0; speeds != NULL && i < ranks; i++)
        speeds[i] = given != NULL && given[i] > 0 ? given[i] : MATMUL_SPEED;
    return speeds;
}

/* Returns a problem with the defaults of missing options; the caller frees its speeds. */
static matmul_t make(int m, int n, int k, int ranks, const xylem_matmul_options *o)
{
    return (matmul_t){.size = {m, n, k},
                      .ranks = ranks,
                      .block = o->block > 0 ? o->block : BLOCK,
                      .speeds = make_speeds(ranks, o->speeds),
                      .per_byte = 1 / (o->bandwidth > 0 ? o->bandwidth : MATMUL_BANDWIDTH),
                      .sum = o->sum < 0   ? 0
                             : o->sum > 0 ? o->sum
                                          : 2e-9,
                      .kernel = o->kernel,
                      .seconds = o->seconds,
                      .arg = o->arg};
}

static void set_speeds(matmul_t *p, double speed)
{
    for (int i = 0; p->speeds != NULL && i < p->ranks; i++)
        p->speeds[i] = speed;
}

void matmul_take_model(matmul_t *p, const xylem_matmul_options *o, const matmul_place_t *place)
{
    double speed = o->kernel != NULL && o->speeds == NULL ? matmul_model_speed(place->platform) : 0;

    p->platform = speed > 0 ? place->platform : NULL;
    if (speed > 0)
        set_speeds(p, speed);
}

int matmul_find(const char *name)
{
    for (int i = 0; i < MATMUL_ALGORITHMS; i++)
        if (strcmp(matmul_algorithms[i]->name, name) == 0)
            return i;
    return -1;
}

static bool is_size(const matmul_size_t *s)
{
    bool is_small = (long long)s->m * s->n <= INT_MAX && (long long)s->m * s->k <= INT_MAX &&
                    (long long)s->k * s->n <= INT_MAX;

    if (s->m < 1 || s->n < 1 || s->k < 1)
        fprintf(stderr, "xylem_matmul: %d x %d x %d: sizes are 1 or more\n", s->m, s->n, s->k);
    else if (!is_small)
        fprintf(stderr, "xylem_matmul: %d x %d x %d: a matrix has at most %d elements\n", s->m,
                s->n, s->k, INT_MAX);
    return s->m > 0 && s->n > 0 && s->k > 0 && is_small;
}

/* ---- Predicting ---- */

static double simulate(const matmul_t *p, const matmul_algorithm_t *algorithm,
                       const matmul_place_t *place)
{
    matmul_record_t record;
    double seconds = 0;

    if (matmul_record(p, algorithm, 0, &record))
        seconds = matmul_simulate(&record, place);
    matmul_record_cleanup(&record);
    return seconds;
}

/* Returns the seconds that `how` predicts for an algorithm; 0 for invalid arguments. */
static double predict(const char *algorithm, const matmul_size_t *size, int ranks,
                      const xylem_matmul_options *o,
                      double (*how)(const matmul_t *p, const matmul_algorithm_t *algorithm,
                                    const matmul_place_t *place))
{
    int i = matmul_find(algorithm);
    matmul_place_t place;
    matmul_t p;
    double seconds = 0;

    o = o != NULL ? o : &no_options;
    if (i < 0 || size->m < 1 || size->n < 1 || size->k < 1 || ranks < matmul_algorithms[i]->least)
        return 0;
    p = make(size->m, size->n, size->k, ranks, o);
    if (p.speeds != NULL && matmul_place_open(o, ranks, &place)) {
        matmul_take_model(&p, o, &place);
        seconds = how(&p, matmul_algorithms[i], &place);
        matmul_place_close(&place);
    }
    free(p.speeds);
    return seconds;
}

double xylem_matmul_seconds(const char *algorithm, int m, int n, int k, int ranks,
                            const xylem_matmul_options *options)
{
    return predict(algorithm, &(matmul_size_t){m, n, k}, ranks, options, matmul_estimate);
}

double xylem_matmul_simulated(const char *algorithm, int m, int n, int k, int ranks,
                              const xylem_matmul_options *options)
{
    return predict(algorithm, &(matmul_size_t){m, n, k}, ranks, options, simulate);
}

const char *xylem_matmul_best(int m, int n, int k, int ranks, const xylem_matmul_options *o,
                              double *seconds_p)
{
    double seconds[MATMUL_ALGORITHMS] = {0};
    int best = -1;
    matmul_place_t place;
    matmul_t p;

    o = o != NULL ? o : &no_options;
    if (!is_size(&(matmul_size_t){m, n, k}) || ranks < 1)
        return NULL;
    p = make(m, n, k, ranks, o);
    if (p.speeds != NULL && matmul_place_open(o, ranks, &place)) {
        matmul_take_model(&p, o, &place);
        matmul_estimate_all(&p, matmul_algorithms, MATMUL_ALGORITHMS, &place, seconds);
        matmul_refine(&p, matmul_algorithms, MATMUL_ALGORITHMS, &place, seconds);
        matmul_place_close(&place);
    }
    free(p.speeds);
    for (int i = 0; i < MATMUL_ALGORITHMS; i++)
        if (seconds[i] > 0 && (best < 0 || seconds[i] < seconds[best]))
            best = i;
    if (best >= 0 && seconds_p != NULL)
        *seconds_p = seconds[best];
    return best >= 0 ? matmul_algorithms[best]->name : NULL;
}

/* ---- Errors, reported by rank 0 ---- */

static bool has_matrices(const matmul_t *p)
{
    const char *lacks = p->a == NULL ? "A" : p->b == NULL ? "B" : p->c == NULL ? "C" : NULL;

    if (lacks != NULL)
        fprintf(stderr, "xylem_matmul: rank 0 has no matrix %s: its pointer is NULL\n", lacks);
    return lacks == NULL;
}

static bool has_speeds(const matmul_t *p, const xylem_matmul_options *o)
{
    for (int i = 0; o->speeds != NULL && i < p->ranks; i++)
        if (!(o->speeds[i] > 0)) {
            fprintf(stderr,
                    "xylem_matmul: rank %d has a speed of %g flop/s; speeds must be positive\n", i,
                    o->speeds[i]);
            return false;
        }
    if (p->speeds == NULL)
        fprintf(stderr, "xylem_matmul: out of memory\n");
    return p->speeds != NULL;
}

/* Returns the index of an algorithm; -1 with a message if it is unknown or needs more ranks. */
static int find_named(const matmul_t *p, const char *name)
{
    int i = matmul_find(name);

    if (i < 0)
        fprintf(stderr,
                "xylem_matmul: there is no algorithm '%s'; columns, cartesian, fox, summa and "
                "strassen-cannon are known\n",
                name);
    else if (p->ranks < matmul_algorithms[i]->least)
        fprintf(stderr, "xylem_matmul: %s needs %d ranks or more; there are %d\n", name,
                matmul_algorithms[i]->least, p->ranks);
    else
        return i;
    return -1;
}

/* The number of the algorithm on rank 0; -1 on failure (reported). */
static int decide(matmul_t *p, const xylem_matmul_options *o, matmul_choice_t **choice_p)
{
    if (!is_size(&p->size) || !has_matrices(p) || !has_speeds(p, o))
        return -1;
    if (o->algorithm != NULL)
        return find_named(p, o->algorithm);
    return matmul_choose(p, o, choice_p);
}

/* ---- All of it ---- */

static int run(const matmul_t *p, int i, bool learns, matmul_choice_t *choice)
{
    double start = MPI_Wtime();
    int failed = matmul_algorithms[i]->run(p);

    if (failed && p->rank == 0)
        fprintf(stderr, "xylem_matmul: out of memory for %s\n", matmul_algorithms[i]->name);
    if (!failed && choice != NULL)
        matmul_chosen(choice, MPI_Wtime() - start, learns);
    return failed;
}

int xylem_matmul(int m, int n, int k, const double *a, const double *b, double *c,
                 const xylem_matmul_options *o, MPI_Comm comm)
{
    matmul_t p;
    matmul_choice_t *choice = NULL;
    struct {
        double algorithm, speed;
    } told = {-1, 0};
    int ranks, failed = 1;

    o = o != NULL ? o : &no_options;
    MPI_Comm_size(comm, &ranks);
    p = make(m, n, k, ranks, o);
    MPI_Comm_rank(comm, &p.rank);
    p.a = a;
    p.b = b;
    p.c = c;
    if (p.rank == 0) {
        told.algorithm = decide(&p, o, &choice);
        told.speed = p.speeds != NULL ? p.speeds[0] : 0;
    }
    MPI_Bcast(&told, 2, MPI_DOUBLE, 0, comm);
    if (o->speeds == NULL)
        set_speeds(&p, told.speed); /* partitions are the same on all ranks, to the last bit */
    MPI_Comm_dup(comm, &p.comm);
    if (told.algorithm >= 0 && matmul_all(&p, p.speeds != NULL))
        failed = run(&p, (int)told.algorithm, o->learns != 0, choice);
    MPI_Comm_free(&p.comm);
    matmul_choice_free(choice);
    free(p.speeds);
    return failed;
}
