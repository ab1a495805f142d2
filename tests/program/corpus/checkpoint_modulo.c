/* SPDX-License-Identifier: BSD-3-Clause */
/* A solver that gathers a checkpoint every few steps, in a struct of options with defaults by
 * macros. arguments: every=3 steps=8 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS(X)                                                                                 \
    X(steps, 5)                                                                                    \
    X(every, 2)                                                                                    \
    X(cells, 100)

typedef struct {
#define FIELD(name, value) long name;
    OPTIONS(FIELD)
#undef FIELD
} options_t;

static options_t defaults(void)
{
    options_t o = {
#define VALUE(name, value) .name = value,
        OPTIONS(VALUE)
#undef VALUE
    };
    return o;
}

static int set(options_t *o, const char *word)
{
#define TRY(name, value)                                                                           \
    if (strncmp(word, #name "=", sizeof(#name)) == 0) {                                            \
        o->name = strtol(word + sizeof(#name), NULL, 0);                                           \
        return 1;                                                                                  \
    }
    OPTIONS(TRY)
#undef TRY
    return 0;
}

int main(int argc, char **argv)
{
    options_t o = defaults();
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (--argc > 0)
        if (!set(&o, *++argv))
            printf("ignored: %s\n", *argv);
    float *cells = calloc(o.cells, sizeof(float)),
          *all = rank ? NULL : malloc(o.cells * size * sizeof(float));
    for (long s = 1; s <= o.steps; s++) {
        MPI_Sendrecv(cells, 1, MPI_FLOAT, (rank + 1) % size, 0, cells + 1, 1, MPI_FLOAT,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (s % o.every == 0 || s == o.steps)
            MPI_Gather(cells, (int)o.cells, MPI_FLOAT, all, (int)o.cells, MPI_FLOAT, 0,
                       MPI_COMM_WORLD);
    }
    free(all);
    free(cells);
    MPI_Finalize();
    return 0;
}
