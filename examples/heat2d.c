/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heat in a plate: a halo exchange.
 *
 *   mpicc -O2 heat2d.c -o heat2d && mpiexec -n 64 ./heat2d 256 200
 *
 * The plate is a grid of points. In each step a point moves towards the mean of its four
 * neighbours; the left edge is hot, the other edges are cold. Every rank has one rectangle of the
 * grid, and around it a halo: copies of the adjacent points, which belong to its neighbours.
 *
 *        up                     The ranks form a grid themselves: MPI_Cart_create makes it and
 *      o o o o                  MPI_Cart_shift names the neighbours. At the edge of the plate the
 *    o[. . . .]o                neighbour is MPI_PROC_NULL, and messages to it do nothing.
 *    o[. . . .]o right
 *    o[. . . .]o                Rows lie in one piece in memory, columns do not: a datatype made
 *      o o o o                  by MPI_Type_vector describes a column, and no copy is needed.
 *       down
 *
 * Each step starts all receives and sends, computes the points that need no halo while the messages
 * are in flight, waits, and computes the border. The checksum is a sum of integers, so it does not
 * depend on the order of the ranks or on their number.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    MPI_Comm grid;
    int up, down, left, right;
    int rows, columns; /* of my rectangle, without the halo */
    int first_row;     /* where it begins in the whole plate */
    int first_column;
    int width; /* of a row in memory: columns + 2 */
    MPI_Datatype row, column;
    double *now, *next;
} plate_t;

/* Share n points among p ranks: how many has rank r, and which is its first? */
static int share(int n, int p, int r, int *first)
{
    *first = r * (n / p) + (r < n % p ? r : n % p);
    return n / p + (r < n % p);
}

static void create_plate(int n, plate_t *p)
{
    int dims[2] = {0, 0}, periods[2] = {0, 0}, where[2], size, rank;
    size_t points;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    if (dims[0] > n || dims[1] > n) {
        fprintf(stderr, "heat2d: %d x %d ranks need a plate of at least %d points\n", dims[0],
                dims[1], dims[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &p->grid);
    MPI_Comm_rank(p->grid, &rank); /* may differ from the rank in MPI_COMM_WORLD */
    MPI_Cart_coords(p->grid, rank, 2, where);
    MPI_Cart_shift(p->grid, 0, 1, &p->up, &p->down);
    MPI_Cart_shift(p->grid, 1, 1, &p->left, &p->right);

    p->rows = share(n, dims[0], where[0], &p->first_row);
    p->columns = share(n, dims[1], where[1], &p->first_column);
    p->width = p->columns + 2;
    MPI_Type_contiguous(p->columns, MPI_DOUBLE, &p->row);
    MPI_Type_vector(p->rows, 1, p->width, MPI_DOUBLE, &p->column);
    MPI_Type_commit(&p->row);
    MPI_Type_commit(&p->column);

    points = (size_t)(p->rows + 2) * (size_t)p->width;
    p->now = calloc(points, sizeof(double));
    p->next = calloc(points, sizeof(double));
    if (p->now == NULL || p->next == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void destroy_plate(plate_t *p)
{
    MPI_Type_free(&p->row);
    MPI_Type_free(&p->column);
    MPI_Comm_free(&p->grid);
    free(p->now);
    free(p->next);
}

/* The hot edge is the halo of those who have no left neighbour. */
static void heat_edge(plate_t *p)
{
    for (int i = 1; i <= p->rows && p->left == MPI_PROC_NULL; i++)
        p->now[i * p->width] = p->next[i * p->width] = 100.0;
}

static double *point(plate_t *p, int i, int j)
{
    return &p->now[i * p->width + j];
}

/* The tag says which way a message goes. On a ring (periods not 0) two neighbours may be one and
 * the same rank, and nothing else would tell its messages apart. */
static void start_exchange(plate_t *p, MPI_Request *requests)
{
    enum { UP, DOWN, LEFT, RIGHT };

    MPI_Irecv(point(p, 0, 1), 1, p->row, p->up, DOWN, p->grid, &requests[0]);
    MPI_Irecv(point(p, p->rows + 1, 1), 1, p->row, p->down, UP, p->grid, &requests[1]);
    MPI_Irecv(point(p, 1, 0), 1, p->column, p->left, RIGHT, p->grid, &requests[2]);
    MPI_Irecv(point(p, 1, p->columns + 1), 1, p->column, p->right, LEFT, p->grid, &requests[3]);
    MPI_Isend(point(p, 1, 1), 1, p->row, p->up, UP, p->grid, &requests[4]);
    MPI_Isend(point(p, p->rows, 1), 1, p->row, p->down, DOWN, p->grid, &requests[5]);
    MPI_Isend(point(p, 1, 1), 1, p->column, p->left, LEFT, p->grid, &requests[6]);
    MPI_Isend(point(p, 1, p->columns), 1, p->column, p->right, RIGHT, p->grid, &requests[7]);
}

/* The rows [top, bottom) and columns [left, right) of the next step. */
static void compute(plate_t *p, int top, int bottom, int left, int right)
{
    const double *u = p->now;
    int w = p->width;

    for (int i = top; i < bottom; i++)
        for (int j = left; j < right; j++) {
            int at = i * w + j;
            double around = (u[at - w] + u[at + w]) + (u[at - 1] + u[at + 1]);

            p->next[at] = 0.5 * u[at] + 0.125 * around;
        }
}

static void step(plate_t *p)
{
    MPI_Request requests[8];
    int rows = p->rows, columns = p->columns;
    double *swap;

    start_exchange(p, requests);
    compute(p, 2, rows, 2, columns);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    compute(p, 1, 2, 1, columns + 1);
    if (rows > 1)
        compute(p, rows, rows + 1, 1, columns + 1);
    compute(p, 2, rows, 1, 2);
    if (columns > 1)
        compute(p, 2, rows, columns, columns + 1);
    swap = p->now;
    p->now = p->next;
    p->next = swap;
}

/* Every point as a whole number, weighed by its place in the plate. */
static uint64_t checksum(plate_t *p)
{
    uint64_t mine = 0, all;

    for (int i = 1; i <= p->rows; i++)
        for (int j = 1; j <= p->columns; j++) {
            uint64_t place = (uint64_t)(p->first_row + i) * 1000 + (uint64_t)(p->first_column + j);

            mine += place * (uint64_t)(*point(p, i, j) * 1e6);
        }
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, p->grid);
    return all;
}

int main(int argc, char **argv)
{
    int n, steps, rank, size;
    double begin, seconds;
    uint64_t sum;
    plate_t plate;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = argc > 1 ? atoi(argv[1]) : 128;
    steps = argc > 2 ? atoi(argv[2]) : 100;
    create_plate(n, &plate);
    heat_edge(&plate);

    MPI_Barrier(plate.grid);
    begin = MPI_Wtime();
    for (int s = 0; s < steps; s++)
        step(&plate);
    sum = checksum(&plate);
    seconds = MPI_Wtime() - begin;

    if (rank == 0) {
        printf("plate of %d x %d points after %d steps: checksum %llu\n", n, n, steps,
               (unsigned long long)sum);
        printf("time: %.3f s, ranks: %d\n", seconds, size);
    }
    destroy_plate(&plate);
    MPI_Finalize();
    return 0;
}
