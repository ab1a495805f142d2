/* SPDX-License-Identifier: BSD-3-Clause */
#include "arith/arith.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

void xy_grid_coords(int number, int ndims, const int *dims, int *coords)
{
    for (int d = ndims - 1; d >= 0; d--) {
        coords[d] = number % dims[d];
        number /= dims[d];
    }
}

int xy_grid_number(int ndims, const int *dims, const int *periods, const int *coords, int *bad_p)
{
    int number = 0;

    for (int d = 0; d < ndims; d++) {
        int place = coords[d];

        if ((place < 0 || place >= dims[d]) && !periods[d]) {
            *bad_p = d;
            return -1;
        }
        place %= dims[d];
        number = number * dims[d] + (place < 0 ? place + dims[d] : place);
    }
    return number;
}

int xy_grid_shift(int number, int ndims, const int *dims, const int *periods, int direction,
                  long steps)
{
    long dim = dims[direction], stride = 1, at, place;

    for (int d = direction + 1; d < ndims; d++)
        stride *= dims[d];
    at = number / stride % dim;
    place = at + steps;
    if (place < 0 || place >= dim) {
        if (!periods[direction])
            return MPI_PROC_NULL;
        place = (place % dim + dim) % dim;
    }
    return (int)(number + (place - at) * stride);
}

int xy_grid_points(int ndims, const int *dims, int most, int *bad_p)
{
    long long points = 1;

    for (int d = 0; d < ndims; d++) {
        *bad_p = dims[d] < 1 ? d : -1;
        points *= dims[d];
        if (dims[d] < 1 || points > most)
            return -1;
    }
    return (int)points;
}

int xy_grid_sub(int ndims, const int *dims, const int *periods, const int *coords,
                const int *remain, int *sub_dims, int *sub_periods, int *color_p, int *key_p)
{
    int kept = 0;

    *color_p = *key_p = 0;
    for (int d = 0; d < ndims; d++) {
        int *number = remain[d] ? key_p : color_p;

        *number = *number * dims[d] + coords[d];
        if (remain[d]) {
            sub_dims[kept] = dims[d];
            sub_periods[kept++] = periods[d];
        }
    }
    return kept;
}

enum {
    DIVISORS = 1600, /* the most that an int has: 2095133040 */
    MOST = 32        /* no int has more factors above 1; further dimensions are 1 */
};

/* The divisors of n in increasing order; returns their number. */
static int divisors_of(int n, int *divisors)
{
    int low = 0, high = DIVISORS;

    for (int d = 1; d <= n / d; d++) {
        if (n % d != 0)
            continue;
        divisors[low++] = d;
        if (d != n / d)
            divisors[--high] = n / d;
    }
    memmove(divisors + low, divisors + high, (size_t)(DIVISORS - high) * sizeof *divisors);
    return low + DIVISORS - high;
}

/* A search for factors that are close to each other: the largest and the smallest differ least, and
 * of such ones the surface of the grid is least, the sum of n / factor. All are divisors, so that
 * it is exact. */
typedef struct {
    int n;
    int count;
    const int *divisors; /* of n, ended by 0 */
    int factors[MOST];   /* of the branch that is looked at */
    int best[MOST];
    int spread; /* of the best */
    long long surface;
} search_t;

/* value to the power of count >= n ? */
static bool reaches(int value, int count, int n)
{
    long long product = 1;

    for (int i = 0; i < count && product < n; i++)
        product *= value;
    return product >= n;
}

/* The least number that does: the smallest of `count` factors of n is no larger. */
static int root_of(int n, int count)
{
    int low = 1, high = n;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (reaches(middle, count, n))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void keep(search_t *s, int last, long long surface)
{
    int spread = s->factors[0] - last;

    if (spread > s->spread || (spread == s->spread && surface >= s->surface))
        return;
    s->spread = spread;
    s->surface = surface;
    memcpy(s->best, s->factors, sizeof s->best);
}

/* Factors `at` and further are those of `rest`, none larger than the one before; `surface` is that
 * of the factors before. With larger factors the smallest gets smaller, so that a spread that is
 * too large ends the loop; no factors have less surface than equal ones. */
static void factor(search_t *s, int at, int rest, long long surface)
{
    int left = s->count - at, limit = at > 0 ? s->factors[at - 1] : rest;

    if (left == 1) {
        s->factors[at] = rest;
        if (rest <= limit)
            keep(s, rest, surface + s->n / rest);
        return;
    }
    for (const int *d = s->divisors; *d > 0 && *d <= limit && *d <= rest; d++) {
        int largest = at > 0 ? s->factors[0] : *d, root;
        long long with = surface + s->n / *d;

        if (rest % *d != 0 || !reaches(*d, left, rest))
            continue;
        root = root_of(rest / *d, left - 1);
        if (largest - root > s->spread)
            return;
        if (largest - root == s->spread && with + (long long)(left - 1) * s->n / root >= s->surface)
            continue;
        s->factors[at] = *d;
        factor(s, at + 1, rest / *d, with);
    }
}

/* The free entries of dims get the factors of n. */
static void fill(int n, int free_dims, int ndims, int *dims)
{
    int divisors[DIVISORS + 1], next = 0;
    search_t search = {.n = n,
                       .count = free_dims < MOST ? free_dims : MOST,
                       .divisors = divisors,
                       .spread = INT_MAX};

    divisors[divisors_of(n, divisors)] = 0;
    factor(&search, 0, n, 0);
    for (int i = 0; i < ndims; i++) {
        if (dims[i] == 0) {
            dims[i] = next < MOST ? search.best[next] : 1;
            next++;
        }
    }
}

bool xy_grid_factor(int n, int ndims, int *dims)
{
    int free_dims = 0, rest = n;

    for (int i = 0; i < ndims; i++) {
        if (dims[i] > 0 && rest % dims[i] != 0)
            return false;
        if (dims[i] > 0)
            rest /= dims[i];
        free_dims += dims[i] == 0;
    }
    if (free_dims == 0)
        return rest == 1;
    fill(rest, free_dims, ndims, dims);
    return true;
}
