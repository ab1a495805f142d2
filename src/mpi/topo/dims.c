/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Dims_create: the most nearly cubic grid. Of all factorisations in non-increasing order, the
 * one whose largest factor is least, then the second largest, and so on. 16 in 3: 4 2 2, where
 * dividing by prime factors in turn may end at 4 4 1.
 */
#include <limits.h>
#include <string.h>

#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"
#include "mpi/topo/calls.h"

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

int impl_dims_create(int nnodes, int ndims, int *dims)
{
    int free_dims = 0, rest = nnodes;

    if (ndims < 0 || (ndims > 0 && !dims))
        return mpi_error(NULL, MPI_ERR_DIMS, "the number of dimensions is %d", ndims);
    if (nnodes < 1)
        return mpi_error(NULL, MPI_ERR_ARG, "the number of nodes is %d", nnodes);
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0)
            return mpi_error(NULL, MPI_ERR_DIMS, "dims[%d] is %d", i, dims[i]);
        if (dims[i] > 0 && rest % dims[i] != 0)
            return mpi_error(NULL, MPI_ERR_DIMS,
                             "%d nodes cannot be divided by the dimensions that are set", nnodes);
        if (dims[i] > 0)
            rest /= dims[i];
        free_dims += dims[i] == 0;
    }
    if (free_dims == 0 && rest != 1)
        return mpi_error(NULL, MPI_ERR_DIMS, "the dimensions that are set do not make %d nodes",
                         nnodes);
    if (free_dims > 0)
        fill(rest, free_dims, ndims, dims);
    return MPI_SUCCESS;
}
