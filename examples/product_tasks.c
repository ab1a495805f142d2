/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks on tiles: the product C = A * B of matrices larger than the memory of a GPU.
 *
 *   cc product_tasks.c $(pkg-config --cflags --libs xylem) -o product
 *   ./product [PAGE.html [TRACE.xyt]]
 *
 * The program runs in virtual time first and prints how often tiles are loaded under each policy.
 * The tiles of C have positions, so that the page can show the progress of the product. Then it
 * runs in real time and checks the result; `xylem view TRACE.xyt` shows what each core did.
 */
#include <stdio.h>
#include <stdlib.h>
#include <xylem.h>

enum { TILES = 12, N = 32 }; /* tiles in a row; rows of a tile in the real run */

static double a[TILES][TILES][N][N], b[TILES][TILES][N][N], c[TILES][TILES][N][N];

static void clear(void *const *buffers, const void *arg)
{
    double(*z)[N] = buffers[0];

    (void)arg;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            z[i][j] = 0;
}

static void multiply(void *const *buffers, const void *arg) /* z = z + x * y */
{
    double(*z)[N] = buffers[0], (*x)[N] = buffers[1], (*y)[N] = buffers[2];

    (void)arg;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++)
                z[i][j] += x[i][k] * y[k][j];
}

static xylem_tasks *submit(unsigned long long bytes, double seconds)
{
    static int x[TILES][TILES], y[TILES][TILES], z[TILES][TILES];
    xylem_tasks *t;

    if (xylem_tasks_create(&t) != 0)
        exit(1);
    for (int i = 0; i < TILES; i++)
        for (int j = 0; j < TILES; j++) {
            x[i][j] = xylem_tasks_data(t, &(xylem_data){.address = a[i][j], .bytes = bytes});
            y[i][j] = xylem_tasks_data(t, &(xylem_data){.address = b[i][j], .bytes = bytes});
            z[i][j] = xylem_tasks_data(
                t,
                &(xylem_data){.address = c[i][j], .bytes = bytes, .dims = 2, .position = {i, j}});
        }
    for (int i = 0; i < TILES; i++)
        for (int j = 0; j < TILES; j++) {
            xylem_access first = {z[i][j], XYLEM_WRITE};

            xylem_tasks_add(t, &(xylem_task){.run = clear, .seconds = seconds / 20}, &first, 1);
            for (int k = 0; k < TILES; k++) {
                xylem_access all[] = {
                    {z[i][j], XYLEM_READ_WRITE}, {x[i][k], XYLEM_READ}, {y[k][j], XYLEM_READ}};

                xylem_tasks_add(t, &(xylem_task){.run = multiply, .seconds = seconds}, all, 3);
            }
        }
    return t;
}

static void run_virtual(const char *page)
{
    static const char *const policies[] = {"eager", "lws", "dmda", "dmdar", NULL};
    xylem_tasks *t = submit(8ULL << 20, 1e-3);
    xylem_run_options how = {.gpus = 2, .memory = 40 * (8ULL << 20)};
    xylem_run_result r;

    puts("virtual time, 2 GPUs");
    for (int i = 0; i < 5; i++) {
        how.policy = policies[i]; /* the last one is NULL: Xylem's own choice */
        how.page = policies[i] == NULL ? page : NULL;
        if (xylem_tasks_run(t, &how, &r) != 0)
            exit(1);
        printf("  %-13s %.3f times the bound, %llu loads, %llu stores\n", r.policy,
               r.makespan / r.compute_bound, r.loads, r.stores);
    }
    xylem_tasks_free(t);
}

static int is_right(void)
{
    for (int i = 0; i < TILES * N; i += 5)
        for (int j = 0; j < TILES * N; j++) {
            double sum = 0;

            for (int k = 0; k < TILES * N; k++)
                sum += a[i / N][k / N][i % N][k % N] * b[k / N][j / N][k % N][j % N];
            if (sum != c[i / N][j / N][i % N][j % N])
                return 0;
        }
    return 1;
}

static void run_real(const char *trace)
{
    xylem_tasks *t = submit(sizeof(a[0][0]), 1e-4);
    xylem_run_options how = {.clock = XYLEM_REAL, .trace = trace};
    xylem_run_result r;

    /* Small whole numbers: sums are exact in any order. */
    for (int i = 0; i < TILES * N; i++)
        for (int j = 0; j < TILES * N; j++) {
            a[i / N][j / N][i % N][j % N] = (i + j) % 7;
            b[i / N][j / N][i % N][j % N] = (i - j) % 5;
        }
    if (xylem_tasks_run(t, &how, &r) != 0)
        exit(1);
    printf("real time: %llu tasks, the result is %s\n", r.tasks, is_right() ? "right" : "WRONG");
    xylem_tasks_free(t);
}

int main(int argc, char **argv)
{
    run_virtual(argc > 1 ? argv[1] : NULL);
    run_real(argc > 2 ? argv[2] : NULL);
    return 0;
}
