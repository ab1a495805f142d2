/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stencil on a distributed grid whose borders are put into the neighbours' memory: rows are
 * contiguous, columns are vectors, and outside of the grid is MPI_PROC_NULL. Odd steps end with
 * fences, even ones use post, start, complete and wait. Every rank computes the whole grid alone as
 * well and compares.
 *
 *   halo [ROWS [COLUMNS [STEPS]]]
 */
#include "../check.h"

#include <stdlib.h>
#include <string.h>

enum { UP, DOWN, LEFT, RIGHT, SIDES };

static int rows, columns; /* of the whole grid */
static int dims[2], coords[2], neighbours[SIDES];
static int height, width; /* of this rank's part, without the border */
static MPI_Comm grid;

static unsigned at_begin(int row, int column)
{
    return (unsigned)(row * 31 + column * 17 + row * column % 13);
}

static unsigned next_value(unsigned self, unsigned up, unsigned down, unsigned left, unsigned right)
{
    return 3 * self + up + 5 * down + 7 * left + 11 * right + 1;
}

/* One step of a field with a border; `line` elements from row to row. */
static void compute(unsigned *to, const unsigned *from, int h, int w, int line)
{
    for (int i = 1; i <= h; i++)
        for (int j = 1; j <= w; j++) {
            const unsigned *p = from + (size_t)i * (size_t)line + j;

            to[(size_t)i * (size_t)line + (size_t)j] =
                next_value(p[0], p[-line], p[line], p[-1], p[1]);
        }
}

/* ---- The parts ---- */

typedef struct {
    unsigned *field;
    MPI_Win win;
    MPI_Datatype column; /* of a part */
    MPI_Group group;     /* the neighbours */
} part_t;

/* The first row or column of a part of `of` elements, among `parts` of them. */
static int first_of(int of, int parts, int i)
{
    return (int)((long)of * i / parts);
}

static int line_of(int w)
{
    return w + 2;
}

static void make_group(part_t *p)
{
    MPI_Group all;
    int list[SIDES], n = 0;

    for (int s = 0; s < SIDES; s++) {
        int is_new = neighbours[s] != MPI_PROC_NULL;

        for (int i = 0; i < n; i++)
            is_new = is_new && list[i] != neighbours[s];
        if (is_new)
            list[n++] = neighbours[s];
    }
    MPI_Comm_group(grid, &all);
    MPI_Group_incl(all, n, list, &p->group);
    MPI_Group_free(&all);
}

static void make_part(part_t *p)
{
    int line = line_of(width);
    MPI_Aint bytes = (MPI_Aint)(height + 2) * line * (MPI_Aint)sizeof(unsigned);

    p->field = malloc((size_t)bytes);
    CHECK(p->field != NULL);
    memset(p->field, 0, (size_t)bytes);
    MPI_Win_create(p->field, bytes, sizeof(unsigned), MPI_INFO_NULL, grid, &p->win);
    MPI_Type_vector(height, 1, line, MPI_UNSIGNED, &p->column);
    MPI_Type_commit(&p->column);
    make_group(p);
}

static void free_part(part_t *p)
{
    MPI_Win_free(&p->win);
    MPI_Type_free(&p->column);
    MPI_Group_free(&p->group);
    free(p->field);
}

/* Neighbours to the left and right have as many rows, those above and below as many columns. */
static void put_borders(part_t *p)
{
    int line = line_of(width), n;
    MPI_Datatype theirs;

    n = first_of(rows, dims[0], coords[0]) - first_of(rows, dims[0], coords[0] - 1);
    MPI_Put(p->field + line + 1, width, MPI_UNSIGNED, neighbours[UP], (MPI_Aint)(n + 1) * line + 1,
            width, MPI_UNSIGNED, p->win);
    MPI_Put(p->field + (size_t)height * (size_t)line + 1, width, MPI_UNSIGNED, neighbours[DOWN], 1,
            width, MPI_UNSIGNED, p->win);

    n = line_of(first_of(columns, dims[1], coords[1]) - first_of(columns, dims[1], coords[1] - 1));
    MPI_Type_vector(height, 1, n, MPI_UNSIGNED, &theirs);
    MPI_Type_commit(&theirs);
    MPI_Put(p->field + line + 1, 1, p->column, neighbours[LEFT], n + n - 1, 1, theirs, p->win);
    MPI_Type_free(&theirs);
    n = line_of(first_of(columns, dims[1], coords[1] + 2) -
                first_of(columns, dims[1], coords[1] + 1));
    MPI_Type_vector(height, 1, n, MPI_UNSIGNED, &theirs);
    MPI_Type_commit(&theirs);
    MPI_Put(p->field + line + width, 1, p->column, neighbours[RIGHT], n, 1, theirs, p->win);
    MPI_Type_free(&theirs);
}

static void exchange(part_t *p, int step)
{
    if (step % 2 == 1) {
        MPI_Win_fence(0, p->win);
        put_borders(p);
        MPI_Win_fence(0, p->win);
        return;
    }
    MPI_Win_post(p->group, 0, p->win);
    MPI_Win_start(p->group, 0, p->win);
    put_borders(p);
    MPI_Win_complete(p->win);
    MPI_Win_wait(p->win);
}

/* ---- Alone ---- */

static unsigned *whole_grid(int steps)
{
    int line = line_of(columns);
    size_t n = (size_t)(rows + 2) * (size_t)line;
    unsigned *a = calloc(n, sizeof(*a)), *b = calloc(n, sizeof(*b));

    CHECK(a != NULL && b != NULL);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            a[(size_t)(i + 1) * (size_t)line + (size_t)j + 1] = at_begin(i, j);
    for (int s = 0; s < steps; s++) {
        unsigned *old = a;

        compute(b, a, rows, columns, line);
        a = b;
        b = old;
    }
    free(b);
    return a;
}

int main(int argc, char **argv)
{
    int rank, size, steps, row, column, periods[2] = {0, 0};
    unsigned sum = 0, all;
    unsigned *whole, *next;
    part_t p;

    MPI_Init(&argc, &argv);
    rows = argc > 1 ? atoi(argv[1]) : 45;
    columns = argc > 2 ? atoi(argv[2]) : 70;
    steps = argc > 3 ? atoi(argv[3]) : 7;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, coords);
    MPI_Cart_shift(grid, 0, 1, &neighbours[UP], &neighbours[DOWN]);
    MPI_Cart_shift(grid, 1, 1, &neighbours[LEFT], &neighbours[RIGHT]);
    row = first_of(rows, dims[0], coords[0]);
    column = first_of(columns, dims[1], coords[1]);
    height = first_of(rows, dims[0], coords[0] + 1) - row;
    width = first_of(columns, dims[1], coords[1] + 1) - column;

    make_part(&p);
    next = calloc((size_t)(height + 2) * (size_t)line_of(width), sizeof(*next));
    CHECK(next != NULL);
    for (int i = 0; i < height; i++)
        for (int j = 0; j < width; j++)
            p.field[(size_t)(i + 1) * (size_t)line_of(width) + (size_t)j + 1] =
                at_begin(row + i, column + j);
    for (int s = 0; s < steps; s++) {
        exchange(&p, s);
        compute(next, p.field, height, width, line_of(width));
        for (int i = 1; i <= height; i++)
            memcpy(p.field + (size_t)i * (size_t)line_of(width) + 1,
                   next + (size_t)i * (size_t)line_of(width) + 1, (size_t)width * sizeof(unsigned));
    }

    whole = whole_grid(steps);
    for (int i = 0; i < height; i++)
        for (int j = 0; j < width; j++) {
            unsigned mine = p.field[(size_t)(i + 1) * (size_t)line_of(width) + (size_t)j + 1];

            CHECK_EQUAL(
                mine,
                whole[(size_t)(row + i + 1) * (size_t)line_of(columns) + (size_t)(column + j) + 1]);
            sum += mine * (unsigned)(1 + (row + i) % 5 + (column + j) % 3);
        }
    MPI_Reduce(&sum, &all, 1, MPI_UNSIGNED, MPI_SUM, 0, grid);
    if (rank == 0)
        printf("halo: %d x %d, %d steps, checksum %u\n", rows, columns, steps, all);
    free(whole);
    free(next);
    free_part(&p);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
