/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choices of xylem_matmul beside simulations, on networks and instances that are drawn at random:
 *
 *   mpicc -O2 matmul_networks.c -lxylem_dense -lxylem -lm -o matmul_networks
 *   ./matmul_networks INSTANCES SEED
 *
 * 4 to 256 ranks on nodes of their own, latencies of 1 to 50 us, 0.1 to 12.6 GB/s, n from 50 to
 * 1600, half of the instances with ranks of eight speeds. The simulated times are those of mpiexec
 * --virtual, as the tests of the library compare them.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <xylem_matmul.h>

enum { RANKS_MAX = 256, ALGORITHMS = 5 };

static uint64_t state;

static int below(int n)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (int)((state * UINT64_C(0x2545f4914f6cdd1d) >> 33) % (uint64_t)n);
}

static double part(void)
{
    return below(1000) / 1000.0;
}

/* Return the loss by the choice: the chosen algorithm's time relative to the best one's. */
static double compare(int n, int ranks, const xylem_matmul_options *o)
{
    double predicted = INFINITY, least = INFINITY, chosen = 0;

    for (int i = 0; i < ALGORITHMS; i++) {
        const char *name = xylem_matmul_algorithms[i];
        double expected = xylem_matmul_seconds(name, n, n, n, ranks, o);
        double simulated = xylem_matmul_simulated(name, n, n, n, ranks, o);

        if (expected <= 0 || simulated <= 0)
            continue;
        if (expected < predicted) {
            predicted = expected;
            chosen = simulated;
        }
        least = fmin(least, simulated);
    }
    return chosen / least - 1;
}

int main(int argc, char **argv)
{
    static double speeds[RANKS_MAX];
    int count = argc > 1 ? atoi(argv[1]) : 100, best = 0, near = 0;
    double lost = 0, worst = 0;

    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (int i = 0; i < count; i++) {
        int ranks = 4 + (int)((RANKS_MAX - 3) * pow(part(), 2)), n, differ;
        xylem_matmul_options o = {.speeds = speeds, .sum = -1};
        double loss;

        o.latency = 1e-6 * pow(10, part() * 1.7);
        o.bandwidth = 1e8 * pow(10, part() * 2.1);
        n = (int)(50 * pow(32, part()));
        differ = below(2);
        for (int r = 0; r < ranks; r++)
            speeds[r] = 1e9 * (differ ? 1 + below(8) : 4);
        loss = compare(n, ranks, &o);
        best += loss == 0;
        near += loss <= 0.01;
        lost += loss;
        worst = fmax(worst, loss);
    }
    printf("%d instances: the best in %d, within 1 %% in %d, mean loss %.2f %%, worst %.1f %%\n",
           count, best, near, 100 * lost / count, 100 * worst);
    return 0;
}
