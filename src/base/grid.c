/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/grid.h"

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
            return -1;
        place = (place % dim + dim) % dim;
    }
    return (int)(number + (place - at) * stride);
}

enum { DIVISORS = 1536 }; /* the most that an int has */

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

/* value to the power of count >= n ? */
static bool reaches(int value, int count, int n)
{
    long long product = 1;

    for (int i = 0; i < count && product < n; i++)
        product *= value;
    return product >= n;
}

/* Write `count` factors of n, none above `limit`, into dims; false: there are none. `divisors` are
 * those of a multiple of n, ended by 0. */
static bool factor(int n, int count, int limit, const int *divisors, int *dims)
{
    if (count == 1) {
        dims[0] = n;
        return n <= limit;
    }
    for (const int *d = divisors; *d > 0 && *d <= limit && *d <= n; d++) {
        if (n % *d != 0 || !reaches(*d, count, n))
            continue;
        dims[0] = *d;
        if (factor(n / *d, count - 1, *d, divisors, dims + 1))
            return true;
    }
    return false;
}

/* The free entries of dims get the factors of n. */
static void fill(int n, int free_dims, int ndims, int *dims)
{
    enum { MOST = 32 }; /* no int has more factors above 1; further dimensions are 1 */
    int divisors[DIVISORS + 1], factors[MOST], next = 0;

    divisors[divisors_of(n, divisors)] = 0;
    factor(n, free_dims < MOST ? free_dims : MOST, INT_MAX, divisors, factors);
    for (int i = 0; i < ndims; i++) {
        if (dims[i] == 0) {
            dims[i] = next < MOST ? factors[next] : 1;
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
