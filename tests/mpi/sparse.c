/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoallv and alltoallw in which many ranks have nothing for many others: what comes is right,
 * and no rank waits for ever, also where an algorithm of another library goes in rounds.
 *
 *   mpiexec -n 11 sparse
 */
#include "check.h"

#include <stdlib.h>

enum { PATTERNS = 12, MOST = 600 /* numbers of a block: eager ones and others */ };

/* In place what comes is as long as what goes. */
static int is_in_place(unsigned pattern)
{
    return pattern % 4 >= 2;
}

/* The amount that `from` has for `to`: mostly nothing. */
static int amount(unsigned pattern, int from, int to)
{
    unsigned a = (unsigned)from, b = (unsigned)to, state;

    if (is_in_place(pattern) && a > b) {
        a = (unsigned)to;
        b = (unsigned)from;
    }
    state = pattern * 7919u + a * 104729u + b * 1299709u;
    next_random(&state);
    return next_random(&state) % 3 == 0 ? (int)(next_random(&state) % MOST) : 0;
}

typedef struct {
    int *counts, *places, *bytes;
    int *numbers;
} side_t;

static side_t side_new(unsigned pattern, int rank, int size, int is_from)
{
    side_t s = {calloc((size_t)size, sizeof(int)), calloc((size_t)size, sizeof(int)),
                calloc((size_t)size, sizeof(int)), calloc((size_t)size * MOST, sizeof(int))};

    CHECK(s.counts != NULL && s.places != NULL && s.bytes != NULL && s.numbers != NULL);
    for (int r = 0; r < size; r++) {
        s.counts[r] = is_from ? amount(pattern, rank, r) : amount(pattern, r, rank);
        s.places[r] = r * MOST;
        s.bytes[r] = r * MOST * (int)sizeof(int);
        for (int i = 0; i < s.counts[r] && (is_from || is_in_place(pattern)); i++)
            s.numbers[s.places[r] + i] = rank * 1000 + r + i;
    }
    return s;
}

static void check_received(const side_t *s, int rank, int size)
{
    for (int r = 0; r < size; r++)
        for (int i = 0; i < MOST; i++)
            CHECK_EQUAL(s->numbers[s->places[r] + i], i < s->counts[r] ? r * 1000 + rank + i : 0);
}

static void side_free(side_t *s)
{
    free(s->counts);
    free(s->places);
    free(s->bytes);
    free(s->numbers);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Datatype *types;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    types = malloc((size_t)size * sizeof(MPI_Datatype));
    CHECK(types != NULL);
    for (int r = 0; r < size; r++)
        types[r] = MPI_INT;
    for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
        side_t out = side_new(pattern, rank, size, 1), in = side_new(pattern, rank, size, 0);
        const void *from = is_in_place(pattern) ? MPI_IN_PLACE : out.numbers;

        if (pattern % 2 == 0)
            MPI_Alltoallv(from, out.counts, out.places, MPI_INT, in.numbers, in.counts, in.places,
                          MPI_INT, MPI_COMM_WORLD);
        else
            MPI_Alltoallw(from, out.counts, out.bytes, types, in.numbers, in.counts, in.bytes,
                          types, MPI_COMM_WORLD);
        check_received(&in, rank, size);
        side_free(&out);
        side_free(&in);
    }
    free(types);
    MPI_Finalize();
    return 0;
}
