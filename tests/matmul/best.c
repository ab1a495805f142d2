/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice equals the best of the simulations of all algorithms, where passes over their messages
 * alone are wrong now and then; and products take the time that the function of the options gives.
 * Calls no MPI. Prints "right".
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <xylem_matmul.h>

enum { INSTANCES = 40, RANKS = 12 };

static uint64_t state = 77;

static double uniform(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (double)(state * UINT64_C(0x2545f4914f6cdd1d) >> 11) * 0x1p-53;
}

/* The least of all by these; what it takes. */
static const char *least(int n, int ranks, const xylem_matmul_options *o,
                         double (*predict)(const char *algorithm, int m, int n, int k, int ranks,
                                           const xylem_matmul_options *o))
{
    const char *best = "";
    double seconds = INFINITY;

    for (int i = 0; xylem_matmul_algorithms[i] != NULL; i++) {
        double x = predict(xylem_matmul_algorithms[i], n, n, n, ranks, o);

        if (x > 0 && x < seconds) {
            seconds = x;
            best = xylem_matmul_algorithms[i];
        }
    }
    return best;
}

static int check_choices(void)
{
    int wrong = 0, differ = 0;

    for (int i = 0; i < INSTANCES; i++) {
        double speeds[RANKS], seconds = 0;
        int ranks = 4 + (int)((RANKS - 3) * uniform()), n = (int)(50 * pow(28, uniform()));
        char machine[80];
        xylem_matmul_options o = {.speeds = speeds, .sum = -1, .machine = machine, .costs = ""};
        const char *best, *simulated;

        snprintf(machine, sizeof(machine), "node:%d(latency=%s) core:1", ranks,
                 i % 2 == 0 ? "600ns bandwidth=24GB/s" : "3us bandwidth=3GB/s");
        for (int r = 0; r < ranks; r++)
            speeds[r] = 1e9 * floor(1 + 8 * uniform());
        best = xylem_matmul_best(n, n, n, ranks, &o, &seconds);
        simulated = least(n, ranks, &o, xylem_matmul_simulated);
        differ += strcmp(simulated, least(n, ranks, &o, xylem_matmul_seconds)) != 0;
        if (best == NULL || strcmp(best, simulated) != 0 || !(seconds > 0)) {
            printf("%d ranks, n %d: %s, the best is %s\n", ranks, n, best != NULL ? best : "none",
                   simulated);
            wrong++;
        }
    }
    printf("a pass alone has another best in %d of %d\n", differ, INSTANCES);
    return wrong + (differ == 0); /* else nothing is tested */
}

static double of_block(int m, int n, int k, int rank, void *arg)
{
    return *(const double *)arg * (m + 10.0 * n + 100.0 * k) * (rank + 1);
}

/* One rank multiplies one block after the other. */
static int check_seconds(void)
{
    double unit = 1e-3;
    xylem_matmul_options o = {.seconds = of_block, .arg = &unit, .machine = "core:1", .costs = ""};
    double seconds = xylem_matmul_seconds("columns", 30, 40, 300, 1, &o);
    double expected = of_block(30, 40, 128, 0, &unit) * 2 + of_block(30, 40, 44, 0, &unit);

    if (fabs(seconds / expected - 1) < 1e-3)
        return 0;
    printf("%g s, %g s are expected\n", seconds, expected);
    return 1;
}

int main(void)
{
    int wrong = check_choices() + check_seconds();

    if (xylem_matmul_best(0, 1, 1, 4, NULL, NULL) != NULL)
        wrong++;
    puts(wrong > 0 ? "WRONG" : "right");
    return wrong > 0;
}
