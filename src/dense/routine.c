/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of all routines: check, choose on rank 0, tell the others, run; and predict
 * without MPI. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dense/dense.h"

static const xylem_matmul_options no_options = {0};

/* ---- What is asked for ---- */

static double *make_speeds(int ranks, const double *given)
{
    double *speeds = calloc((size_t)ranks + 1, sizeof(*speeds));

    for (int i = 0; speeds != NULL && i < ranks; i++)
        speeds[i] = given != NULL && given[i] > 0 ? given[i] : DENSE_SPEED;
    return speeds;
}

/* Sets what the options say, or their defaults; the caller frees the speeds. */
static void fill(dense_t *p, int ranks, const xylem_matmul_options *o)
{
    p->ranks = ranks;
    p->block = o->block > 0 ? o->block : p->routine->block;
    p->speeds = make_speeds(ranks, o->speeds);
    p->per_byte = 1 / (o->bandwidth > 0 ? o->bandwidth : DENSE_BANDWIDTH);
    p->sum = o->sum < 0 ? 0 : o->sum > 0 ? o->sum : 2e-9;
    p->move = o->sum > 0 ? o->sum : 0;
    p->kernel = o->kernel;
    p->seconds = o->seconds;
    p->worked = o->worked;
    p->arg = o->arg;
}

static void set_speeds(dense_t *p, double speed)
{
    for (int i = 0; p->speeds != NULL && i < p->ranks; i++)
        p->speeds[i] = speed;
}

void dense_take_model(dense_t *p, const xylem_matmul_options *o, const dense_place_t *place)
{
    double speed = o->kernel != NULL && o->speeds == NULL ? dense_model_speed(place->platform) : 0;

    p->platform = speed > 0 ? place->platform : NULL;
    if (speed > 0)
        set_speeds(p, speed);
}

int dense_find(const dense_routine_t *routine, const char *name)
{
    for (int i = 0; i < routine->count; i++)
        if (strcmp(routine->algorithms[i]->name, name) == 0)
            return i;
    return -1;
}

/* ---- Predicting ---- */

double dense_simulated(const dense_t *p, const dense_algorithm_t *algorithm,
                       const dense_place_t *place)
{
    dense_record_t record;
    double seconds = 0;

    if (dense_record(p, algorithm, 0, &record))
        seconds = dense_simulate(&record, place);
    dense_record_cleanup(&record);
    return seconds;
}

/* Returns the seconds that `how` predicts for an algorithm; 0 for invalid arguments. */
double dense_predict(const dense_routine_t *routine, const char *algorithm, dense_size_t size,
                     int ranks, const xylem_matmul_options *o, dense_predict_fn how)
{
    int i = dense_find(routine, algorithm);
    dense_place_t place;
    dense_t p = {.routine = routine, .size = size};
    double seconds = 0;

    o = o != NULL ? o : &no_options;
    if (i < 0 || size.m < 1 || size.n < 1 || size.k < 1 || ranks < routine->algorithms[i]->least)
        return 0;
    fill(&p, ranks, o);
    if (p.speeds != NULL && dense_place_open(o, ranks, &place)) {
        dense_take_model(&p, o, &place);
        seconds = how(&p, routine->algorithms[i], &place);
        dense_place_close(&place);
    }
    free(p.speeds);
    return seconds;
}

const char *dense_best(const dense_routine_t *routine, dense_size_t size, int ranks,
                       const xylem_matmul_options *o, double *seconds_p)
{
    double seconds[DENSE_ALGORITHMS_MAX] = {0};
    int best = -1;
    dense_place_t place;
    dense_t p = {.routine = routine, .size = size};

    o = o != NULL ? o : &no_options;
    fill(&p, ranks, o);
    if (p.speeds != NULL && dense_place_open(o, ranks, &place)) {
        dense_take_model(&p, o, &place);
        dense_estimate_all(&p, &place, seconds);
        dense_refine(&p, &place, seconds);
        dense_place_close(&place);
    }
    free(p.speeds);
    for (int i = 0; i < routine->count; i++)
        if (seconds[i] > 0 && (best < 0 || seconds[i] < seconds[best]))
            best = i;
    if (best >= 0 && seconds_p != NULL)
        *seconds_p = seconds[best];
    return best >= 0 ? routine->algorithms[best]->name : NULL;
}

/* ---- Rank 0 reports errors ---- */

static bool has_speeds(const dense_t *p, const xylem_matmul_options *o)
{
    for (int i = 0; o->speeds != NULL && i < p->ranks; i++)
        if (!(o->speeds[i] > 0)) {
            fprintf(stderr, "%s: rank %d has a speed of %g flop/s; speeds must be positive\n",
                    p->routine->name, i, o->speeds[i]);
            return false;
        }
    if (p->speeds == NULL)
        fprintf(stderr, "%s: out of memory\n", p->routine->name);
    return p->speeds != NULL;
}

/* Returns the index of an algorithm; -1 with a message if it is unknown or needs more ranks. */
static int find_named(const dense_t *p, const char *name)
{
    const dense_routine_t *routine = p->routine;
    int i = dense_find(routine, name);

    if (i < 0)
        fprintf(stderr, "%s: there is no algorithm '%s'; %s are known\n", routine->name, name,
                routine->list);
    else if (p->ranks < routine->algorithms[i]->least)
        fprintf(stderr, "%s: %s needs %d ranks or more; there are %d\n", routine->name, name,
                routine->algorithms[i]->least, p->ranks);
    else
        return i;
    return -1;
}

/* The number of the algorithm on rank 0; -1: an error (reported). */
static int decide(dense_t *p, const xylem_matmul_options *o, dense_check_fn check,
                  dense_choice_t **choice_p)
{
    if (!check(p) || !has_speeds(p, o))
        return -1;
    if (o->algorithm != NULL)
        return find_named(p, o->algorithm);
    return dense_choose(p, o, choice_p);
}

/* ---- All of it ---- */

static int run(const dense_t *p, int i, bool learns, dense_choice_t *choice)
{
    const dense_algorithm_t *algorithm = p->routine->algorithms[i];
    double start = MPI_Wtime();
    int failed = algorithm->run(p);

    if (failed && p->rank == 0)
        fprintf(stderr, "%s: out of memory for %s\n", p->routine->name, algorithm->name);
    if (!failed && choice != NULL)
        dense_chosen(choice, MPI_Wtime() - start, learns);
    return failed;
}

int dense_run(dense_t *p, const xylem_matmul_options *o, MPI_Comm comm, dense_check_fn check)
{
    dense_choice_t *choice = NULL;
    struct {
        double algorithm, speed;
    } told = {-1, 0};
    int ranks, failed = 1;

    o = o != NULL ? o : &no_options;
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &p->rank);
    fill(p, ranks, o);
    if (p->rank == 0) {
        told.algorithm = decide(p, o, check, &choice);
        told.speed = p->speeds != NULL ? p->speeds[0] : 0;
    }
    MPI_Bcast(&told, 2, MPI_DOUBLE, 0, comm);
    if (o->speeds == NULL)
        set_speeds(p, told.speed); /* partitions are the same on all ranks, to the last bit */
    MPI_Comm_dup(comm, &p->comm);
    if (told.algorithm >= 0 && dense_all(p, p->speeds != NULL))
        failed = run(p, (int)told.algorithm, o->learns != 0, choice);
    MPI_Comm_free(&p->comm);
    dense_choice_free(choice);
    free(p->speeds);
    return failed;
}
