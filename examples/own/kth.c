/* SPDX-License-Identifier: BSD-3-Clause */
/* The k-th smallest of n numbers in two ways, for `xylem choose` (kth.problem). */
#include <stdlib.h>
static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double *numbers(int n)
{
    double *x = malloc(sizeof(double) * n);
    for (int i = 0; i < n; i++)
        x[i] = rand() / (RAND_MAX + 1.0);
    return x;
}
/* The time of each algorithm in seconds: values[0] is n. */
double sort_seconds(int count, const double *values)
{
    return 5e-9 * values[0] * __builtin_log2(values[0] + 1) + 1e-7;
}
double bisect_seconds(int count, const double *values)
{
    return 50e-9 * values[0] + 1e-6;
}
/* Run it: 0 means that it worked. */
int sort_run(int count, const double *values)
{
    double *x = numbers(values[0]);
    qsort(x, values[0], sizeof(double), by_value);
    free(x);
    return 0;
}
int bisect_run(int count, const double *values)
{
    double *x = numbers(values[0]), low = 0, high = 1;
    for (int pass = 0; pass < 50; pass++) {
        double middle = (low + high) / 2, below = 0;
        for (int i = 0; i < values[0]; i++)
            below += x[i] < middle;
        *(below > values[1] ? &high : &low) = middle;
    }
    free(x);
    return 0;
}
