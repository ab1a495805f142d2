/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packing by datatypes. Plain MPI-3, so that it compiles with any MPI library.
 *
 *   datatypes WHAT:N [--seconds S]
 *
 *   column column_back       a column of doubles in a matrix of N rows of 1 KiB
 *   indexed indexed_back     N blocks of 16 bytes at distances that differ
 *   struct struct_back       N structs of 32 bytes: an int and a double of each
 *   float double complex     a matrix of N x N elements, column by column
 *   float_back ...           the reverse
 *   subarray darray          the same with doubles, by types that these calls make
 *
 * `_back` is MPI_Unpack, the others are MPI_Pack. The line is `WHAT SECONDS`, the least of many
 * rounds.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double budget = 0.3;
static int n;

static void fail(const char *what)
{
    fprintf(stderr, "datatypes: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The packed data: `count` elements of a type, in so many bytes of memory. */
typedef struct {
    MPI_Datatype type;
    int count;
    size_t area;
} shape_t;

static void take_column(shape_t *s)
{
    MPI_Type_vector(n, 1, 128, MPI_DOUBLE, &s->type);
    s->count = 1;
    s->area = (size_t)n * 1024;
}

static void take_list(shape_t *s)
{
    int *displacements = malloc((size_t)n * sizeof(int));

    for (int i = 0; i < n; i++)
        displacements[i] = 4 * i + i % 3;
    MPI_Type_create_indexed_block(n, 1, displacements, MPI_C_DOUBLE_COMPLEX, &s->type);
    free(displacements);
    s->count = 1;
    s->area = ((size_t)n * 4 + 4) * 16;
}

static void take_structs(shape_t *s)
{
    MPI_Datatype made;

    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8},
                           (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &made);
    MPI_Type_create_resized(made, 0, 32, &s->type);
    MPI_Type_free(&made);
    s->count = n;
    s->area = (size_t)n * 32;
}

/* All columns, one behind the other: `column` is the first. */
static void take_columns(shape_t *s, MPI_Datatype column, int bytes)
{
    MPI_Type_create_resized(column, 0, bytes, &s->type);
    MPI_Type_free(&column);
    s->count = n;
    s->area = (size_t)n * (size_t)n * (size_t)bytes;
}

static void take_vector(shape_t *s, MPI_Datatype element, int bytes)
{
    MPI_Datatype column;

    MPI_Type_vector(n, 1, n, element, &column);
    take_columns(s, column, bytes);
}

static void take_float(shape_t *s)
{
    take_vector(s, MPI_FLOAT, 4);
}

static void take_double(shape_t *s)
{
    take_vector(s, MPI_DOUBLE, 8);
}

static void take_complex(shape_t *s)
{
    take_vector(s, MPI_C_DOUBLE_COMPLEX, 16);
}

static void take_subarray(shape_t *s)
{
    MPI_Datatype column;

    MPI_Type_create_subarray(2, (int[]){n, n}, (int[]){n, 1}, (int[]){0, 0}, MPI_ORDER_C,
                             MPI_DOUBLE, &column);
    take_columns(s, column, 8);
}

/* Columns dealt to n processes in turn: that of the first. */
static void take_darray(shape_t *s)
{
    MPI_Datatype column;

    MPI_Type_create_darray(
        n, 0, 2, (int[]){n, n}, (int[]){MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC},
        (int[]){MPI_DISTRIBUTE_DFLT_DARG, 1}, (int[]){1, n}, MPI_ORDER_C, MPI_DOUBLE, &column);
    take_columns(s, column, 8);
}

static const struct {
    const char *name;
    void (*take)(shape_t *s);
} kinds[] = {{"column", take_column},     {"indexed", take_list},  {"struct", take_structs},
             {"float", take_float},       {"double", take_double}, {"complex", take_complex},
             {"subarray", take_subarray}, {"darray", take_darray}};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static double measure(const shape_t *s, int is_back)
{
    double best = 0, begin = MPI_Wtime(), last = begin;
    int size, position;
    char *area = malloc(s->area), *packed;

    MPI_Pack_size(s->count, s->type, MPI_COMM_SELF, &size);
    packed = malloc((size_t)size);
    if (area == NULL || packed == NULL)
        fail("out of memory");
    memset(area, 1, s->area);
    memset(packed, 1, (size_t)size);
    for (int i = 0; i < 3 || last - begin < budget; i++) {
        double start = MPI_Wtime();

        position = 0;
        if (is_back)
            MPI_Unpack(packed, size, &position, area, s->count, s->type, MPI_COMM_SELF);
        else
            MPI_Pack(area, s->count, s->type, packed, size, &position, MPI_COMM_SELF);
        last = MPI_Wtime();
        if (i > 0 && (best == 0 || last - start < best))
            best = last - start;
    }
    free(area);
    free(packed);
    return best;
}

int main(int argc, char **argv)
{
    char name[64] = "";
    const char *colon = argc > 1 ? strchr(argv[1], ':') : NULL, *back;
    int kind = 0;
    shape_t shape;

    MPI_Init(&argc, &argv);
    if (colon == NULL || (n = atoi(colon + 1)) < 2)
        fail("usage: datatypes WHAT:N [--seconds S]");
    if (argc > 3 && strcmp(argv[2], "--seconds") == 0)
        budget = atof(argv[3]);
    snprintf(name, sizeof(name), "%.*s", (int)(colon - argv[1]), argv[1]);
    back = strstr(name, "_back");
    if (back != NULL)
        name[back - name] = '\0';
    while (kind < KINDS && strcmp(kinds[kind].name, name) != 0)
        kind++;
    if (kind == KINDS)
        fail("there is no such shape");
    kinds[kind].take(&shape);
    MPI_Type_commit(&shape.type);
    printf("%s %.9f\n", argv[1], measure(&shape, back != NULL));
    MPI_Type_free(&shape.type);
    MPI_Finalize();
    return 0;
}
