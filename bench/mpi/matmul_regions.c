/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The predicted times of the algorithms of xylem_matmul, as a table for `xylem choose --map`:
 *
 *   mpicc -O2 matmul_regions.c -lxylem_dense -lxylem -lm -o matmul_regions
 *   ./matmul_regions LATENCY BANDWIDTH SLOW >regions.csv
 *
 * Between nodes of one rank each; every second rank is SLOW times as slow as the others (1: none
 * is).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <xylem_matmul.h>

enum { RANKS_MAX = 64 };

int main(int argc, char **argv)
{
    double speeds[RANKS_MAX], slow = argc > 3 ? atof(argv[3]) : 1;
    xylem_matmul_options o = {.speeds = speeds,
                              .latency = argc > 1 ? atof(argv[1]) : 1e-5,
                              .bandwidth = argc > 2 ? atof(argv[2]) : 1e9};

    for (int i = 0; i < RANKS_MAX; i++)
        speeds[i] = i % 2 == 0 ? 4e9 : 4e9 / slow;
    puts("alternative,n,p,seconds");
    for (int p = 2; p <= RANKS_MAX; p++)
        for (double n = 64; n < 4200; n *= pow(2, 0.25))
            for (int i = 0; xylem_matmul_algorithms[i] != NULL; i++) {
                int side = (int)(n + 0.5);
                double seconds =
                    xylem_matmul_seconds(xylem_matmul_algorithms[i], side, side, side, p, &o);

                if (seconds > 0)
                    printf("%s,%d,%d,%.6g\n", xylem_matmul_algorithms[i], side, p, seconds);
            }
    return 0;
}
