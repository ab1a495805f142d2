/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks on tiles: the Cholesky factorisation A = L * transposed L of a symmetric matrix, in place.
 * The loops submit tasks in the order of the sequential algorithm; which tasks may run at the same
 * time follows from the tiles that each one reads and writes.
 *
 *   cc cholesky_tasks.c $(pkg-config --cflags --libs xylem) -lm -o cholesky && ./cholesky
 *
 * The program runs in virtual time first, with tiles of 2048 x 2048 numbers on two GPUs that hold
 * 24 of them, under several policies; then in real time with small tiles, and checks the result.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <xylem.h>

enum { TILES = 16, N = 48 }; /* tiles in a row; rows of a tile in the real run */

static double matrix[TILES][TILES][N][N];

/* ---- What tasks do: each gets its tiles in the order of its accesses ---- */

static void factor(void *const *buffers, const void *arg) /* a = its own factor */
{
    double(*a)[N] = buffers[0];

    (void)arg;
    for (int k = 0; k < N; k++) {
        a[k][k] = sqrt(a[k][k]);
        for (int i = k + 1; i < N; i++)
            a[i][k] /= a[k][k];
        for (int j = k + 1; j < N; j++)
            for (int i = j; i < N; i++)
                a[i][j] -= a[i][k] * a[j][k];
    }
}

static void solve(void *const *buffers, const void *arg) /* b = b / transposed l */
{
    double(*l)[N] = buffers[0], (*b)[N] = buffers[1];

    (void)arg;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            for (int k = 0; k < j; k++)
                b[i][j] -= b[i][k] * l[j][k];
            b[i][j] /= l[j][j];
        }
}

static void update(void *const *buffers, const void *arg) /* c = c - a * transposed b */
{
    double(*c)[N] = buffers[0], (*a)[N] = buffers[1], (*b)[N] = buffers[2];

    (void)arg;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                c[i][j] -= a[i][k] * b[j][k];
}

static void update_diagonal(void *const *buffers, const void *arg) /* c = c - a * transposed a */
{
    void *const all[3] = {buffers[0], buffers[1], buffers[1]};

    update(all, arg);
}

/* ---- The program ---- */

/* Tiles of `bytes`; `gemm` seconds for an update, the others take their share of it. */
static xylem_tasks *submit(unsigned long long bytes, double gemm)
{
    static int tile[TILES][TILES];
    xylem_tasks *t;

    if (xylem_tasks_create(&t) != 0)
        exit(1);
    for (int i = 0; i < TILES; i++)
        for (int j = 0; j <= i; j++)
            tile[i][j] = xylem_tasks_data(
                t, &(xylem_data){
                       .address = matrix[i][j], .bytes = bytes, .dims = 2, .position = {i, j}});
    for (int k = 0; k < TILES; k++) {
        xylem_access a = {tile[k][k], XYLEM_READ_WRITE};
        int left = 3 * (TILES - k); /* tasks on the longest path come first */

        xylem_tasks_add(t, &(xylem_task){.run = factor, .seconds = gemm / 3, .priority = left}, &a,
                        1);
        for (int i = k + 1; i < TILES; i++) {
            xylem_access b[] = {{tile[k][k], XYLEM_READ}, {tile[i][k], XYLEM_READ_WRITE}};

            xylem_tasks_add(
                t, &(xylem_task){.run = solve, .seconds = gemm / 2, .priority = left - i}, b, 2);
        }
        for (int i = k + 1; i < TILES; i++) {
            xylem_access d[] = {{tile[i][i], XYLEM_READ_WRITE}, {tile[i][k], XYLEM_READ}};

            xylem_tasks_add(
                t, &(xylem_task){.run = update_diagonal, .seconds = gemm / 2, .priority = left - i},
                d, 2);
            for (int j = k + 1; j < i; j++) {
                xylem_access c[] = {{tile[i][j], XYLEM_READ_WRITE},
                                    {tile[i][k], XYLEM_READ},
                                    {tile[j][k], XYLEM_READ}};

                xylem_tasks_add(
                    t, &(xylem_task){.run = update, .seconds = gemm, .priority = left - i - j}, c,
                    3);
            }
        }
    }
    return t;
}

static void run_virtual(void)
{
    static const char *const policies[] = {"eager", "prio", "dmda", "dmdar", NULL};
    xylem_tasks *t = submit(32ULL << 20, 4e-3);
    xylem_run_options how = {.gpus = 2, .memory = 24 * (32ULL << 20)};
    xylem_run_result r;

    puts("virtual time, 2 GPUs");
    for (int i = 0; i < 5; i++) {
        how.policy = policies[i]; /* the last one is NULL: Xylem's own choice */
        if (xylem_tasks_run(t, &how, &r) != 0)
            exit(1);
        printf("  %-13s %.3f times the bound, %llu loads, %llu stores\n", r.policy,
               r.makespan / r.compute_bound, r.loads, r.stores);
    }
    xylem_tasks_free(t);
}

/* ---- Real time ---- */

static double original(int i, int j)
{
    return i == j ? 2.0 * TILES * N : 1.0 / (1 + abs(i - j));
}

/* The largest difference between A and L * transposed L. */
static double difference(void)
{
    double worst = 0;

    for (int i = 0; i < TILES * N; i += 7)
        for (int j = 0; j <= i; j++) {
            double sum = 0;

            for (int k = 0; k <= j; k++)
                sum += matrix[i / N][k / N][i % N][k % N] * matrix[j / N][k / N][j % N][k % N];
            worst = fmax(worst, fabs(sum - original(i, j)));
        }
    return worst;
}

static void run_real(void)
{
    xylem_tasks *t = submit(sizeof(matrix[0][0]), 1e-4);
    xylem_run_options how = {.clock = XYLEM_REAL};
    xylem_run_result r;

    for (int i = 0; i < TILES * N; i++)
        for (int j = 0; j < TILES * N; j++)
            matrix[i / N][j / N][i % N][j % N] = original(i, j);
    if (xylem_tasks_run(t, &how, &r) != 0)
        exit(1);
    printf("real time: %llu tasks, the result is %s\n", r.tasks,
           difference() < 1e-9 * TILES * N ? "right" : "WRONG");
    xylem_tasks_free(t);
}

int main(void)
{
    run_virtual();
    run_real();
    return 0;
}
