/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conjugate gradients for the five-point Laplacian on a distributed grid, with persistent requests
 * alone inside the loop: borders by persistent messages in one solve and by a persistent
 * neighbourhood collective in the next, both while the inner points are computed; scalar products
 * by a persistent allreduce, whose partial sums a persistent allgather brings as well, so that the
 * result can be checked; the largest residual by a persistent allreduce during which the vectors
 * are updated. The right-hand side belongs to a known solution, whose scale a persistent broadcast
 * announces before each solve.
 *
 *   cg [N [SOLVES]]
 */
#include "../check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5 /* it has other names for them */
#include <mpi-ext.h>
#define MPI_Allgather_init          MPIX_Allgather_init
#define MPI_Allreduce_init          MPIX_Allreduce_init
#define MPI_Barrier_init            MPIX_Barrier_init
#define MPI_Bcast_init              MPIX_Bcast_init
#define MPI_Neighbor_alltoallw_init MPIX_Neighbor_alltoallw_init
#define MPI_Reduce_init             MPIX_Reduce_init
#endif

enum { UP, DOWN, LEFT, RIGHT, SIDES };

static int n;             /* points of a side */
static int rank, size;    /* in the grid */
static int height, width; /* of this rank's part, without the border */
static int line;          /* doubles from row to row */
static int row, column;   /* of the first point */
static MPI_Comm grid;

typedef struct {
    double *x, *r, *p, *q; /* with borders; only that of p has values */
    double scale;
    double part, *parts, sum; /* of a scalar product: own, [size] of all, their sum */
    double largest, residual; /* own, of all */
    MPI_Datatype types[SIDES];
    MPI_Aint sends[SIDES], receives[SIDES];
    int counts[SIDES];
    MPI_Request messages[2 * SIDES], hood;
    MPI_Request product[2], norm, announce, report, barrier;
    double error, worst;
} solver_t;

static double *point(double *v, int i, int j)
{
    return v + (size_t)i * (size_t)line + j;
}

/* ---- Requests, made once ---- */

static void make_borders(solver_t *s)
{
    int neighbours[SIDES];
    int from[SIDES][2] = {{1, 1}, {height, 1}, {1, 1}, {1, width}};
    int to[SIDES][2] = {{0, 1}, {height + 1, 1}, {1, 0}, {1, width + 1}};
    MPI_Datatype types[SIDES];

    MPI_Cart_shift(grid, 0, 1, &neighbours[UP], &neighbours[DOWN]);
    MPI_Cart_shift(grid, 1, 1, &neighbours[LEFT], &neighbours[RIGHT]);
    MPI_Type_contiguous(width, MPI_DOUBLE, &types[UP]);
    MPI_Type_vector(height, 1, line, MPI_DOUBLE, &types[LEFT]);
    MPI_Type_commit(&types[UP]);
    MPI_Type_commit(&types[LEFT]);
    types[DOWN] = types[UP];
    types[RIGHT] = types[LEFT];
    for (int b = 0; b < SIDES; b++) {
        double *sent = point(s->p, from[b][0], from[b][1]);
        double *received = point(s->p, to[b][0], to[b][1]);

        s->types[b] = types[b];
        s->counts[b] = 1;
        s->sends[b] = (char *)sent - (char *)s->p;
        s->receives[b] = (char *)received - (char *)s->p;
        /* The data sent up is received from below. */
        MPI_Send_init(sent, 1, types[b], neighbours[b], b ^ 1, grid, &s->messages[b]);
        MPI_Recv_init(received, 1, types[b], neighbours[b], b, grid, &s->messages[SIDES + b]);
    }
}

static void make_requests(solver_t *s, double *copy)
{
    make_borders(s);
    /* The send buffer must not overlap the receive buffer, so a copy is sent. */
    MPI_Neighbor_alltoallw_init(copy, s->counts, s->sends, s->types, s->p, s->counts, s->receives,
                                s->types, grid, MPI_INFO_NULL, &s->hood);
    MPI_Allreduce_init(&s->part, &s->sum, 1, MPI_DOUBLE, MPI_SUM, grid, MPI_INFO_NULL,
                       &s->product[0]);
    MPI_Allgather_init(MPI_IN_PLACE, 0, MPI_DOUBLE, s->parts, 1, MPI_DOUBLE, grid, MPI_INFO_NULL,
                       &s->product[1]);
    MPI_Allreduce_init(&s->largest, &s->residual, 1, MPI_DOUBLE, MPI_MAX, grid, MPI_INFO_NULL,
                       &s->norm);
    MPI_Bcast_init(&s->scale, 1, MPI_DOUBLE, size - 1, grid, MPI_INFO_NULL, &s->announce);
    MPI_Reduce_init(&s->error, &s->worst, 1, MPI_DOUBLE, MPI_MAX, 0, grid, MPI_INFO_NULL,
                    &s->report);
    MPI_Barrier_init(grid, MPI_INFO_NULL, &s->barrier);
}

static void free_requests(solver_t *s)
{
    for (int b = 0; b < 2 * SIDES; b++)
        MPI_Request_free(&s->messages[b]);
    MPI_Request_free(&s->hood);
    MPI_Request_free(&s->product[0]);
    MPI_Request_free(&s->product[1]);
    MPI_Request_free(&s->norm);
    MPI_Request_free(&s->announce);
    MPI_Request_free(&s->report);
    MPI_Request_free(&s->barrier);
    MPI_Type_free(&s->types[UP]);
    MPI_Type_free(&s->types[LEFT]);
}

/* ---- The loop ---- */

static void run(MPI_Request *request)
{
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static double product(solver_t *s, double *a, double *b)
{
    double sum = 0;

    s->part = 0;
    for (int i = 1; i <= height; i++)
        for (int j = 1; j <= width; j++)
            s->part += *point(a, i, j) * *point(b, i, j);
    s->parts[rank] = s->part;
    MPI_Startall(2, s->product);
    MPI_Waitall(2, s->product, MPI_STATUSES_IGNORE);
    for (int k = 0; k < size; k++)
        sum += s->parts[k];
    CHECK(fabs(sum - s->sum) <= 1e-12 * fabs(sum));
    return sum; /* in the same order with every library */
}

/* Rows `from` to `to` of q = A p, points `first` to `last` of each. */
static void apply(solver_t *s, int from, int to, int first, int last)
{
    for (int i = from; i <= to; i++)
        for (int j = first; j <= last; j++) {
            const double *p = point(s->p, i, j);

            *point(s->q, i, j) = 4 * p[0] - p[-1] - p[1] - p[-line] - p[line];
        }
}

static void multiply(solver_t *s, double *copy, int is_hood)
{
    if (is_hood) {
        memcpy(copy, s->p, (size_t)(height + 2) * (size_t)line * sizeof(double));
        MPI_Start(&s->hood);
    } else {
        MPI_Startall(2 * SIDES, s->messages);
    }
    apply(s, 2, height - 1, 2, width - 1);
    if (is_hood)
        MPI_Wait(&s->hood, MPI_STATUS_IGNORE);
    else
        MPI_Waitall(2 * SIDES, s->messages, MPI_STATUSES_IGNORE);
    apply(s, 1, 1, 1, width);
    if (height > 1)
        apply(s, height, height, 1, width);
    apply(s, 2, height - 1, 1, 1);
    if (width > 1)
        apply(s, 2, height - 1, width, width);
}

/* y += a x */
static void add(double *y, double a, double *x)
{
    for (int i = 1; i <= height; i++)
        for (int j = 1; j <= width; j++)
            *point(y, i, j) += a * *point(x, i, j);
}

/* Zero on the border of the whole grid. */
static double solution(double scale, int i, int j)
{
    double x = (i + 1.0) / (n + 1.0), y = (j + 1.0) / (n + 1.0);

    return scale * x * (1 - x) * y * (1 - y) * (1 + x + 3 * y * y);
}

static double solution_near(double scale, int i, int j)
{
    return i < 0 || j < 0 || i == n || j == n ? 0 : solution(scale, i, j);
}

static void begin(solver_t *s)
{
    for (int i = 1; i <= height; i++)
        for (int j = 1; j <= width; j++) {
            int a = row + i - 1, b = column + j - 1;

            *point(s->x, i, j) = 0;
            *point(s->r, i, j) = *point(s->p, i, j) =
                4 * solution(s->scale, a, b) - solution_near(s->scale, a - 1, b) -
                solution_near(s->scale, a + 1, b) - solution_near(s->scale, a, b - 1) -
                solution_near(s->scale, a, b + 1);
        }
}

/* Returns the number of steps. */
static int solve(solver_t *s, double *copy, int is_hood)
{
    double rho, next, alpha;
    int steps = 0;

    begin(s);
    rho = product(s, s->r, s->r);
    do {
        multiply(s, copy, is_hood);
        alpha = rho / product(s, s->p, s->q);
        add(s->r, -alpha, s->q);
        s->largest = 0;
        for (int i = 1; i <= height; i++)
            for (int j = 1; j <= width; j++)
                s->largest = fmax(s->largest, fabs(*point(s->r, i, j)));
        MPI_Start(&s->norm);
        add(s->x, alpha, s->p);
        MPI_Wait(&s->norm, MPI_STATUS_IGNORE);
        CHECK(s->residual >= s->largest);
        next = product(s, s->r, s->r);
        for (int i = 1; i <= height; i++)
            for (int j = 1; j <= width; j++)
                *point(s->p, i, j) = *point(s->r, i, j) + next / rho * *point(s->p, i, j);
        rho = next;
        CHECK(++steps <= 10 * n);
    } while (s->residual > 1e-10 * fabs(s->scale));
    return steps;
}

static void compare(solver_t *s)
{
    s->error = 0;
    for (int i = 1; i <= height; i++)
        for (int j = 1; j <= width; j++)
            s->error = fmax(s->error, fabs(*point(s->x, i, j) -
                                           solution(s->scale, row + i - 1, column + j - 1)));
    CHECK(s->error < 1e-7 * fabs(s->scale));
}

static int first_of(int parts, int i)
{
    return (int)((long)n * i / parts);
}

static void make_grid(void)
{
    int dims[2] = {0, 0}, periods[2] = {0, 0}, coords[2];

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, coords);
    row = first_of(dims[0], coords[0]);
    column = first_of(dims[1], coords[1]);
    height = first_of(dims[0], coords[0] + 1) - row;
    width = first_of(dims[1], coords[1] + 1) - column;
    line = width + 2;
    CHECK(height > 0 && width > 0);
}

int main(int argc, char **argv)
{
    solver_t s = {0};
    size_t points;
    double *memory;
    int solves, steps = 0;

    MPI_Init(&argc, &argv);
    n = argc > 1 ? atoi(argv[1]) : 20;
    solves = argc > 2 ? atoi(argv[2]) : 4;
    make_grid();
    points = (size_t)(height + 2) * (size_t)line;
    memory = calloc(5 * points + (size_t)size, sizeof(*memory));
    CHECK(memory != NULL);
    s.x = memory;
    s.r = s.x + points;
    s.p = s.r + points;
    s.q = s.p + points;
    s.parts = s.q + 2 * points; /* behind the copy */
    make_requests(&s, s.q + points);
    for (int k = 0; k < solves; k++) {
        s.scale = rank == size - 1 ? 1 + k * 0.75 : -1;
        run(&s.announce);
        CHECK(s.scale == 1 + k * 0.75);
        steps += solve(&s, s.q + points, k % 2);
        compare(&s);
        run(&s.report);
        CHECK(rank != 0 || s.worst >= s.error);
        run(&s.barrier);
    }
    if (rank == 0)
        printf("cg: %d x %d, %d solves, %d steps\n", n, n, solves, steps);
    free_requests(&s);
    free(memory);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
