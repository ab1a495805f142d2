/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Temporal blocking: the 2D 5-point Jacobi on a domain several times larger than the last cache,
 * under Xylem's policy, by a plain sweep, and as the same graph under StarPU. All in turn, so that
 * what else happens on the machine meets all of them.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "stencil_starpu.h"
#include "stencil_sweep.h"
#include "tasks/exec/exec.h"

enum { ROUNDS = 5, ROUNDS_LONG = 3, RIVALS = BENCH_STARPU ? 4 : 2 };

static const char *const names[] = {"closure", "plain sweep", "StarPU lws", "StarPU dmdar"};

static double run_xylem(const xy_stencil_t *s, int threads)
{
    xy_stencil_run_t run = {.grid = *s,
                            .is_real = true,
                            .is_unchecked = true,
                            .cpus = threads,
                            .how = {.policy = "closure"}};
    xy_stencil_result_t r;

    return xy_stencil_run(&run, &r) == XY_OK ? r.sim.makespan : -1;
}

static struct {
    xy_stencil_t grid;
    stencil_shape_t shape;
    const stencil_kernels_t *kernels;
} of_starpu;

static void fill(int array, int64_t block, double *to)
{
    stencil_fill(&of_starpu.grid, &of_starpu.shape, array, block, to);
}

static void update(const double *const from[3], double *to)
{
    stencil_around_t around = {{from[0], from[1], from[2]}};

    of_starpu.kernels->update(&of_starpu.shape, &around, 0, of_starpu.shape.rows, to);
}

static double run_starpu(const xy_stencil_t *s, int threads, const char *scheduler)
{
    bench_blocks_t blocks = {.blocks = s->blocks[0],
                             .iterations = s->iterations,
                             .bytes = s->block_bytes,
                             .fill = fill,
                             .update = update};

    of_starpu.grid = *s;
    of_starpu.kernels = stencil_kernels_best(false);
    if (stencil_shape(&of_starpu.grid, &of_starpu.shape) != XY_OK)
        return -1;
    return BENCH_STARPU ? bench_starpu(&blocks, threads, scheduler) : -1;
}

static double run_rival(const xy_stencil_t *s, int threads, int which)
{
    switch (which) {
    case 0:
        return run_xylem(s, threads);
    case 1:
        return bench_sweep(s, threads);
    case 2:
        return run_starpu(s, threads, "lws");
    case 3:
        return run_starpu(s, threads, "dmdar");
    default:
        return -1;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* All rounds are printed: each ratio within the same round, and their median. */
static void print(const double times[RIVALS][ROUNDS], int rivals, int rounds, int iterations,
                  double cells)
{
    char title[96];

    for (int which = 0; which < rivals; which++) {
        double sorted[ROUNDS];

        for (int i = 0; i < rounds; i++)
            sorted[i] = times[which][i];
        qsort(sorted, (size_t)rounds, sizeof(*sorted), compare);
        snprintf(title, sizeof(title), "jacobi 2D, %d iterations: %s", iterations, names[which]);
        bench_value(title, cells / sorted[rounds / 2] * 1e-9, "Gcell/s");
    }
    for (int which = 1; which < rivals; which++) {
        double ratios[ROUNDS];

        for (int i = 0; i < rounds; i++)
            ratios[i] = times[which][i] / times[0][i];
        qsort(ratios, (size_t)rounds, sizeof(*ratios), compare);
        for (int i = 0; i < rounds; i++) {
            snprintf(title, sizeof(title), "jacobi 2D, %d iterations: closure against %s%s",
                     iterations, names[which], i == rounds / 2 ? ", median" : "");
            bench_value(title, ratios[i], "times");
        }
    }
}

/* Until the policy or a rival fails; false then. */
static bool compare_rivals(const xy_stencil_t *s, int threads, int rivals, int rounds)
{
    double times[RIVALS][ROUNDS];
    double cells = (double)(s->blocks[0] - 2) * (double)(s->cells[0] * s->cells[1]) * s->iterations;

    for (int i = 0; i < rounds; i++)
        for (int which = 0; which < rivals; which++) {
            times[which][i] = run_rival(s, threads, which);
            if (times[which][i] < 0)
                return false;
        }
    print(times, rivals, rounds, s->iterations, cells);
    return true;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

int main(int argc, char **argv)
{
    static const int iterations[] = {20, 60};
    int threads = xy_task_exec_workers(&(xy_task_exec_t){0});
    int rounds, count = (int)(sizeof(iterations) / sizeof(*iterations));
    long last = sysconf(_SC_LEVEL3_CACHE_SIZE);
    xy_stencil_t s = XY_STENCIL_DEFAULT;
    bool is_right = true;
    char home[] = "/tmp/xylem-starpu-XXXXXX";

    bench_init(argc, argv);
    if (mkdtemp(home) == NULL || setenv("STARPU_HOME", home, 1) != 0 ||
        setenv("STARPU_SILENT", "1", 1) != 0)
        return 1;
    rounds = bench_is_quick() ? 1 : ROUNDS;
    (void)xy_stencil_blocks_parse("3x1", &s);
    s.graph = XY_STENCIL_JACOBI;
    s.cells[0] = 4;
    s.cells[1] = 2048;
    s.block_bytes = (uint64_t)(s.cells[0] * s.cells[1]) * sizeof(double);
    /* Four times the last cache, where it is known. */
    s.blocks[0] = bench_is_quick()
                      ? 1024
                      : (int64_t)(4 * (uint64_t)(last > 0 ? last : 64 << 20) / 2 / s.block_bytes);
    bench_value("jacobi 2D: both arrays",
                2 * (double)s.blocks[0] * (double)s.block_bytes / (1 << 20), "MiB");
    bench_value("jacobi 2D: last cache", (double)last / (1 << 20), "MiB");
    bench_value("jacobi 2D: threads", threads, "");
    /* StarPU takes several times as long: it runs the shortest only. */
    for (int i = 0; i < (bench_is_quick() ? 1 : count) && is_right; i++) {
        s.iterations = bench_is_quick() ? 4 : iterations[i];
        is_right = compare_rivals(&s, threads, i == 0 ? RIVALS : 2, i == 0 ? rounds : ROUNDS_LONG);
    }
    (void)nftw(home, remove_one, 8, FTW_DEPTH | FTW_PHYS); /* StarPU's models */
    return is_right ? 0 : 1;
}
