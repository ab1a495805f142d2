/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of moving data that is described by datatypes, beside a loop written by hand for the
 * same layout, and a transpose beside a plain copy of its bytes. A row has the seconds of the loop,
 * of MPI_Pack, of MPI_Unpack and of a message to the rank itself (into contiguous memory), and what
 * the worst of the first two takes of the loop. The shapes:
 *
 *   column B      a vector of blocks of B bytes, one in a row of 1 KiB: the halo of a matrix
 *   face          a subarray of two dimensions in a cube
 *   indexed       blocks of 16 bytes at distances that differ
 *   struct        an int and a double of a struct with a hole
 *   transpose B N all columns of a matrix of N x N elements of B bytes, one after the other
 *   subarray N    the same, 8 bytes, each column a subarray
 *   darray N      the same, each column the share of a process among N
 *   cube N        a cube whose first and last dimension change places, 8 bytes
 *
 * Each number is the least of several turns in which all take their turn.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { TURNS = 15, ROW = 1024, BLOCKS = 4096, CUBE = 128 };

typedef struct {
    const char *name;
    MPI_Datatype type;
    int count;
    size_t bytes, area;                              /* of data, of memory */
    void (*loop)(char *to, const char *from, int n); /* by hand */
    int n;
    double most; /* times the loop: the aim */
} shape_t;

typedef struct {
    double loop, pack, unpack, message;
} times_t;

/* ---- By hand ---- */

#define COLUMN(bits)                                                                               \
    static void column_##bits(char *to, const char *from, int n)                                   \
    {                                                                                              \
        for (int i = 0; i < n; i++)                                                                \
            memcpy(to + (size_t)i * (bits), from + (size_t)i * ROW, (bits));                       \
    }
COLUMN(4)
COLUMN(8)
COLUMN(16)

static void face(char *to, const char *from, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            memcpy(to + ((size_t)i * (size_t)n + (size_t)j) * 8,
                   from + (((size_t)i * (size_t)n + (size_t)j) * (size_t)n) * 8, 8);
}

static int displacement(int i)
{
    return 4 * i + i % 3; /* in units of 16 bytes */
}

static void indexed(char *to, const char *from, int n)
{
    for (int i = 0; i < n; i++)
        memcpy(to + (size_t)i * 16, from + (size_t)displacement(i) * 16, 16);
}

typedef struct {
    int number;
    double value;
    char rest[16];
} item_t;

static void items(char *to, const char *from, int n)
{
    for (int i = 0; i < n; i++) {
        memcpy(to + (size_t)i * 12, from + (size_t)i * sizeof(item_t), 4);
        memcpy(to + (size_t)i * 12 + 4, from + (size_t)i * sizeof(item_t) + 8, 8);
    }
}

static void copy_8(char *to, const char *from, int n)
{
    memcpy(to, from, (size_t)n * (size_t)n * 8);
}

static void copy_cube(char *to, const char *from, int n)
{
    memcpy(to, from, (size_t)n * (size_t)n * (size_t)n * 8);
}

static void copy_16(char *to, const char *from, int n)
{
    memcpy(to, from, (size_t)n * (size_t)n * 16);
}

static void copy_4(char *to, const char *from, int n)
{
    memcpy(to, from, (size_t)n * (size_t)n * 4);
}

/* ---- Shapes ---- */

static MPI_Datatype element(int bytes)
{
    return bytes == 4 ? MPI_INT : bytes == 8 ? MPI_DOUBLE : MPI_C_DOUBLE_COMPLEX;
}

static shape_t column(const char *name, int bytes, void (*loop)(char *, const char *, int))
{
    shape_t s = {.name = name, .count = 1, .loop = loop, .n = BLOCKS, .most = 1.2};

    MPI_Type_vector(BLOCKS, 1, ROW / bytes, element(bytes), &s.type);
    s.bytes = (size_t)BLOCKS * (size_t)bytes;
    s.area = (size_t)BLOCKS * ROW;
    return s;
}

static shape_t cube_face(void)
{
    shape_t s = {.name = "face", .count = 1, .loop = face, .n = CUBE, .most = 1.2};

    MPI_Type_create_subarray(3, (int[]){CUBE, CUBE, CUBE}, (int[]){CUBE, CUBE, 1}, (int[]){0, 0, 0},
                             MPI_ORDER_C, MPI_DOUBLE, &s.type);
    s.bytes = (size_t)CUBE * CUBE * 8;
    s.area = s.bytes * CUBE;
    return s;
}

static shape_t list(void)
{
    shape_t s = {.name = "indexed", .count = 1, .loop = indexed, .n = BLOCKS, .most = 1.5};
    int *displacements = malloc(BLOCKS * sizeof(int));

    for (int i = 0; i < BLOCKS; i++)
        displacements[i] = displacement(i);
    MPI_Type_create_indexed_block(BLOCKS, 1, displacements, element(16), &s.type);
    free(displacements);
    s.bytes = (size_t)BLOCKS * 16;
    s.area = (size_t)(displacement(BLOCKS) + 1) * 16;
    return s;
}

static shape_t structure(void)
{
    shape_t s = {.name = "struct", .count = BLOCKS, .loop = items, .n = BLOCKS, .most = 1.5};
    MPI_Datatype made;

    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8},
                           (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &made);
    MPI_Type_create_resized(made, 0, sizeof(item_t), &s.type);
    MPI_Type_free(&made);
    s.bytes = (size_t)BLOCKS * 12;
    s.area = (size_t)BLOCKS * sizeof(item_t);
    return s;
}

/* All columns of an n x n matrix, beginning with `first`, which is freed. */
static shape_t columns(MPI_Datatype first, int bytes, int n)
{
    shape_t s = {.count = n,
                 .loop = bytes == 4   ? copy_4
                         : bytes == 8 ? copy_8
                                      : copy_16,
                 .n = n,
                 .most = 2};

    MPI_Type_create_resized(first, 0, bytes, &s.type);
    MPI_Type_free(&first);
    s.bytes = s.area = (size_t)n * (size_t)n * (size_t)bytes;
    return s;
}

static shape_t transpose(const char *name, int bytes, int n)
{
    MPI_Datatype first;
    shape_t s;

    MPI_Type_vector(n, 1, n, element(bytes), &first);
    s = columns(first, bytes, n);
    s.name = name;
    return s;
}

static shape_t subarrays(const char *name, int n)
{
    MPI_Datatype first;
    shape_t s;

    MPI_Type_create_subarray(2, (int[]){n, n}, (int[]){n, 1}, (int[]){0, 0}, MPI_ORDER_C,
                             MPI_DOUBLE, &first);
    s = columns(first, 8, n);
    s.name = name;
    return s;
}

static shape_t darrays(const char *name, int n)
{
    MPI_Datatype first;
    shape_t s;

    MPI_Type_create_darray(
        n, 0, 2, (int[]){n, n}, (int[]){MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC},
        (int[]){MPI_DISTRIBUTE_DFLT_DARG, 1}, (int[]){1, n}, MPI_ORDER_C, MPI_DOUBLE, &first);
    s = columns(first, 8, n);
    s.name = name;
    return s;
}

static shape_t cube(const char *name, int n)
{
    shape_t s = {.name = name, .count = 1, .loop = copy_cube, .n = n, .most = 2};
    MPI_Datatype line, plane;

    MPI_Type_create_hvector(n, 1, (MPI_Aint)n * n * 8, MPI_DOUBLE, &line);
    MPI_Type_create_hvector(n, 1, (MPI_Aint)n * 8, line, &plane);
    MPI_Type_create_hvector(n, 1, 8, plane, &s.type);
    MPI_Type_free(&line);
    MPI_Type_free(&plane);
    s.bytes = s.area = (size_t)n * (size_t)n * (size_t)n * 8;
    return s;
}

/* ---- Measuring ---- */

static void least(double *best, double seconds)
{
    if (*best == 0 || seconds < *best)
        *best = seconds;
}

static void take_turn(const shape_t *s, char *area, char *packed, times_t *t)
{
    double begin = bench_now();
    int position = 0;

    s->loop(packed, area, s->n);
    bench_use(packed);
    least(&t->loop, bench_now() - begin);
    begin = bench_now();
    MPI_Pack(area, s->count, s->type, packed, (int)s->bytes, &position, MPI_COMM_SELF);
    least(&t->pack, bench_now() - begin);
    position = 0;
    begin = bench_now();
    MPI_Unpack(packed, (int)s->bytes, &position, area, s->count, s->type, MPI_COMM_SELF);
    least(&t->unpack, bench_now() - begin);
    begin = bench_now();
    MPI_Sendrecv(area, s->count, s->type, 0, 0, packed, (int)s->bytes, MPI_BYTE, 0, 0,
                 MPI_COMM_SELF, MPI_STATUS_IGNORE);
    least(&t->message, bench_now() - begin);
}

static void measure(shape_t s)
{
    char *area = malloc(s.area), *packed = malloc(s.bytes);
    int turns = bench_is_quick() ? 3 : TURNS;
    times_t t = {0};
    double worst;

    MPI_Type_commit(&s.type);
    memset(area, 1, s.area);
    memset(packed, 1, s.bytes);
    for (int i = 0; i < turns; i++)
        take_turn(&s, area, packed, &t);
    worst = (t.pack > t.unpack ? t.pack : t.unpack) / t.loop;
    printf("%-16s %9.2f us %9.2f us %9.2f us %9.2f us   %5.2f x (%.1f)\n", s.name, 1e6 * t.loop,
           1e6 * t.pack, 1e6 * t.unpack, 1e6 * t.message, worst, s.most);
    MPI_Type_free(&s.type);
    free(area);
    free(packed);
}

int main(int argc, char **argv)
{
    bench_init(argc, argv);
    MPI_Init(NULL, NULL);
    printf("%-16s %12s %12s %12s %12s   %s\n", "", "by hand", "pack", "unpack", "message",
           "worst of both (aim)");
    measure(column("column 4", 4, column_4));
    measure(column("column 8", 8, column_8));
    measure(column("column 16", 16, column_16));
    measure(cube_face());
    measure(list());
    measure(structure());
    measure(transpose("transpose 4 256", 4, 256));
    measure(transpose("transpose 4 1000", 4, 1000));
    measure(transpose("transpose 4 1024", 4, 1024));
    measure(transpose("transpose 8 256", 8, 256));
    measure(transpose("transpose 8 1000", 8, 1000));
    measure(transpose("transpose 8 1024", 8, 1024));
    measure(transpose("transpose 8 3000", 8, 3000));
    measure(transpose("transpose 16 200", 16, 200));
    measure(transpose("transpose 16 700", 16, 700));
    measure(subarrays("subarray 1000", 1000));
    measure(darrays("darray 1000", 1000));
    measure(cube("cube 100", 100));
    MPI_Finalize();
    return 0;
}
