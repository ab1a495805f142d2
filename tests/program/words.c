/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments that are words: sscanf(), names in a table, characters; the functions of float. */
#include <ctype.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
static const struct {
    const char *name;
    int root;
} modes[] = {{"first", 0}, {"last", -1}, {"second", 1}};
static int lookup(const char *s)
{
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (strcasecmp(s, modes[i].name) == 0)
            return modes[i].root;
    return 0;
}
int main(int argc, char **argv)
{
    int size, a = 1, b = 2, root = 0, reps = 1;
    double x[400], scale = 1;
    const char *equals;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && sscanf(argv[1], "%dx%d", &a, &b) != 2)
        if (sscanf(argv[1], "grid=%d, %d%%", &a, &b) != 2)
            a = b = 9;
    for (int i = 2; i < argc; i++) {
        equals = strchr(argv[i], '=');
        if (equals != NULL && strncmp(argv[i], "mode", 4) == 0)
            root = (lookup(equals + 1) + size) % size;
        else if (sscanf(argv[i], "*%lf", &scale) == 1)
            continue;
        else if (isdigit((unsigned char)argv[i][0]))
            reps = (int)strtol(argv[i], NULL, 0);
    }
    for (int i = 0; i < reps; i++)
        MPI_Bcast(x, a * b + (int)floorf(sqrtf((float)scale)), MPI_DOUBLE, root, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
