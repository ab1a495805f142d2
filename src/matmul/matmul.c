/* SPDX-License-Identifier: BSD-3-Clause */
/* One function for all algorithms: check, choose on rank 0, tell the others, run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xylem.h>

#include "matmul/matmul.h"

enum { ALGORITHMS = 5, BLOCK = 128 };

static const matmul_algorithm_t *const algorithms[ALGORITHMS] = {
    &matmul_columns, &matmul_cartesian, &matmul_fox, &matmul_summa, &matmul_strassen_cannon};

const char *const xylem_matmul_algorithms[] = {"columns", "cartesian",       "fox",
                                               "summa",   "strassen-cannon", NULL};

/* ---- What is asked for ---- */

static double *make_speeds(int ranks, const double *given)
{
    double *speeds = calloc((size_t)ranks + 1, sizeof(*speeds));

    for (int i = 0; speeds != NULL && i < ranks; i++)
        speeds[i] = given != NULL && given[i] > 0 ? given[i] : 4e9;
    return speeds;
}

static matmul_t make(int m, int n, int k, int ranks, const xylem_matmul_options *o)
{
    static const xylem_matmul_options none = {0};

    o = o != NULL ? o : &none;
    return (matmul_t){.size = {m, n, k},
                      .ranks = ranks,
                      .block = o->block > 0 ? o->block : BLOCK,
                      .speeds = make_speeds(ranks, o->speeds),
                      .latency = o->latency > 0 ? o->latency : 1e-6,
                      .per_byte = 1 / (o->bandwidth > 0 ? o->bandwidth : 8e9),
                      .sum = o->sum < 0   ? 0
                             : o->sum > 0 ? o->sum
                                          : 2e-9,
                      .kernel = o->kernel,
                      .arg = o->arg};
}

static int find(const char *name)
{
    for (int i = 0; i < ALGORITHMS; i++)
        if (strcmp(algorithms[i]->name, name) == 0)
            return i;
    return -1;
}

double xylem_matmul_seconds(const char *algorithm, int m, int n, int k, int ranks,
                            const xylem_matmul_options *options)
{
    int i = find(algorithm);
    matmul_t p;
    double seconds;

    if (i < 0 || m < 1 || n < 1 || k < 1 || ranks < algorithms[i]->least)
        return 0;
    p = make(m, n, k, ranks, options);
    seconds = p.speeds != NULL ? algorithms[i]->seconds(&p) : 0;
    free(p.speeds);
    return seconds;
}

/* ---- Choosing ---- */

#define SECONDS_OF(number)                                                                         \
    static double seconds_##number(void *arg)                                                      \
    {                                                                                              \
        const matmul_t *p = arg;                                                                   \
                                                                                                   \
        return p->ranks < algorithms[number]->least ? 0 : algorithms[number]->seconds(p);          \
    }
SECONDS_OF(0)
SECONDS_OF(1)
SECONDS_OF(2)
SECONDS_OF(3)
SECONDS_OF(4)

/* The problem that xylem_choose() is asked, with what it points to. */
typedef struct {
    xylem_parameter parameters[4];
    xylem_alternative alternatives[ALGORITHMS];
    xylem_problem problem;
    xylem_choice choice;
} asked_t;

static int choose(matmul_t *p, asked_t *q)
{
    static double (*const seconds[ALGORITHMS])(void *) = {seconds_0, seconds_1, seconds_2,
                                                          seconds_3, seconds_4};
    const double values[] = {p->size.m, p->size.n, p->size.k, p->ranks};
    static const char *const names[] = {"m", "n", "k", "p"};

    for (int i = 0; i < 4; i++)
        q->parameters[i] = (xylem_parameter){names[i], values[i]};
    for (int i = 0; i < ALGORITHMS; i++)
        q->alternatives[i] = (xylem_alternative){algorithms[i]->name, seconds[i], NULL, 0};
    q->problem = (xylem_problem){.name = "xylem_matmul",
                                 .parameters = q->parameters,
                                 .parameter_count = 4,
                                 .alternatives = q->alternatives,
                                 .alternative_count = ALGORITHMS,
                                 .arg = p};
    return xylem_choose(&q->problem, &q->choice) == 0 ? q->choice.chosen : -1;
}

/* The number of the algorithm on rank 0; -1: something is wrong, which is said. */
static int decide(matmul_t *p, const char *name, asked_t *q)
{
    int i = name != NULL ? find(name) : 0;

    if (p->size.m < 1 || p->size.n < 1 || p->size.k < 1) {
        fprintf(stderr, "xylem_matmul: %d x %d x %d: sizes are 1 or more\n", p->size.m, p->size.n,
                p->size.k);
        return -1;
    }
    if (i < 0) {
        fprintf(stderr,
                "xylem_matmul: there is no algorithm '%s'; columns, cartesian, fox, summa and "
                "strassen-cannon are known\n",
                name);
        return -1;
    }
    if (name != NULL && p->ranks < algorithms[i]->least) {
        fprintf(stderr, "xylem_matmul: %s needs %d ranks or more; there are %d\n", name,
                algorithms[i]->least, p->ranks);
        return -1;
    }
    if (p->speeds == NULL) {
        fprintf(stderr, "xylem_matmul: no memory\n");
        return -1;
    }
    return name != NULL ? i : choose(p, q);
}

/* ---- All of it ---- */

static int run(const matmul_t *p, int i, const xylem_matmul_options *o, asked_t *q)
{
    double start = MPI_Wtime();
    int failed = algorithms[i]->run(p);

    if (failed && p->rank == 0)
        fprintf(stderr, "xylem_matmul: no memory for %s\n", algorithms[i]->name);
    if (!failed && p->rank == 0 && o != NULL && o->learns && o->algorithm == NULL)
        (void)xylem_chosen(&q->problem, &q->choice, MPI_Wtime() - start);
    return failed;
}

int xylem_matmul(int m, int n, int k, const double *a, const double *b, double *c,
                 const xylem_matmul_options *o, MPI_Comm comm)
{
    matmul_t p;
    asked_t q = {0};
    int ranks, i = -1, failed = 1;

    MPI_Comm_size(comm, &ranks);
    p = make(m, n, k, ranks, o);
    MPI_Comm_rank(comm, &p.rank);
    p.a = a;
    p.b = b;
    p.c = c;
    if (p.rank == 0)
        i = decide(&p, o != NULL ? o->algorithm : NULL, &q);
    MPI_Bcast(&i, 1, MPI_INT, 0, comm);
    MPI_Comm_dup(comm, &p.comm);
    if (i >= 0 && matmul_all(&p, p.speeds != NULL))
        failed = run(&p, i, o, &q);
    MPI_Comm_free(&p.comm);
    free(p.speeds);
    return failed;
}
