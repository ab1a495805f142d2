/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix products: the algorithms and the functions for programs. */
#include <limits.h>
#include <stdio.h>

#include "dense/dense.h"

const char *const xylem_matmul_algorithms[] = {"columns", "cartesian",       "fox",
                                               "summa",   "strassen-cannon", NULL};

static const dense_algorithm_t *const algorithms[] = {&dense_strassen_cannon, &dense_columns,
                                                      &dense_cartesian, &dense_summa, &dense_fox};

static double operations(const dense_size_t *s)
{
    return 2.0 * s->m * s->n * s->k;
}

static double elements(const dense_size_t *s)
{
    return ((double)s->m + s->n) * s->k;
}

static double messages(const dense_t *p)
{
    return p->ranks * ((double)p->size.k / p->block + 16);
}

/* strassen-cannon sends straight from rank 0 to each, and the others wait for several messages one
 * after the other. */
const dense_routine_t dense_matmul = {.name = "xylem_matmul",
                                      .sizes = {"m", "n", "k"},
                                      .algorithms = algorithms,
                                      .count = sizeof(algorithms) / sizeof(algorithms[0]),
                                      .list = "columns, cartesian, fox, summa and strassen-cannon",
                                      .few = "strassen-cannon",
                                      .usual = "cartesian",
                                      .block = 128,
                                      .operations = operations,
                                      .elements = elements,
                                      .messages = messages};

static bool is_size(const dense_size_t *s)
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

static bool check(const dense_t *p)
{
    const char *lacks = p->a == NULL ? "A" : p->b == NULL ? "B" : p->c == NULL ? "C" : NULL;

    if (!is_size(&p->size))
        return false;
    if (lacks != NULL)
        fprintf(stderr, "xylem_matmul: rank 0 has no matrix %s: its pointer is NULL\n", lacks);
    return lacks == NULL;
}

int xylem_matmul(int m, int n, int k, const double *a, const double *b, double *c,
                 const xylem_matmul_options *o, MPI_Comm comm)
{
    dense_t p = {.routine = &dense_matmul, .size = {m, n, k}, .a = a, .b = b, .c = c};

    return dense_run(&p, o, comm, check);
}

double xylem_matmul_seconds(const char *algorithm, int m, int n, int k, int ranks,
                            const xylem_matmul_options *o)
{
    return dense_predict(&dense_matmul, algorithm, (dense_size_t){m, n, k}, ranks, o,
                         dense_estimate);
}

double xylem_matmul_simulated(const char *algorithm, int m, int n, int k, int ranks,
                              const xylem_matmul_options *o)
{
    return dense_predict(&dense_matmul, algorithm, (dense_size_t){m, n, k}, ranks, o,
                         dense_simulated);
}

const char *xylem_matmul_best(int m, int n, int k, int ranks, const xylem_matmul_options *o,
                              double *seconds_p)
{
    dense_size_t size = {m, n, k};

    return is_size(&size) && ranks >= 1 ? dense_best(&dense_matmul, size, ranks, o, seconds_p)
                                        : NULL;
}
