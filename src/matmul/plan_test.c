/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitions for random speeds: every element of C belongs to one rank, and by columns each rank
 * has its share of them, as far as whole rows and columns allow.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matmul/matmul.h"

enum { RANKS = 40, SIDE = 97 };

static uint64_t state = 20240229;

static int below(int n)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (int)((state * UINT64_C(0x2545f4914f6cdd1d) >> 33) % (uint64_t)n);
}

/* Whether each element is in one rectangle. */
static bool covers(const matmul_t *p, const matmul_rect_t *rects)
{
    static unsigned char seen[SIDE * SIDE];
    int count = 0;

    memset(seen, 0, sizeof(seen));
    for (int r = 0; r < p->ranks; r++)
        for (int i = 0; i < rects[r].rows; i++)
            for (int j = 0; j < rects[r].columns; j++) {
                int at = (rects[r].row + i) * p->size.n + rects[r].column + j;

                if (rects[r].row + i >= p->size.m || rects[r].column + j >= p->size.n ||
                    seen[at]++ != 0)
                    return false;
                count++;
            }
    return count == p->size.m * p->size.n;
}

static bool is_fair(const matmul_t *p, const matmul_rect_t *rects)
{
    double all = 0;

    for (int r = 0; r < p->ranks; r++)
        all += p->speeds[r];
    for (int r = 0; r < p->ranks; r++) {
        double share = p->speeds[r] / all * p->size.m * p->size.n;
        double area = (double)rects[r].rows * rects[r].columns;

        if (fabs(area - share) > rects[r].rows + rects[r].columns + 1)
            return false;
    }
    return true;
}

int main(void)
{
    double speeds[RANKS];
    matmul_rect_t rects[RANKS];
    int bad = 0;

    for (int i = 0; i < 2000; i++) {
        matmul_t p = {.size = {1 + below(SIDE), 1 + below(SIDE), 10},
                      .ranks = 1 + below(RANKS),
                      .speeds = speeds,
                      .per_byte = 1e-10};
        int rows, columns;

        for (int r = 0; r < p.ranks; r++)
            speeds[r] = 1 + below(10);
        bad += !matmul_plan_columns(&p, rects) || !covers(&p, rects) || !is_fair(&p, rects);
        bad += !matmul_plan_grid(&p, &rows, &columns, rects) || rows * columns != p.ranks ||
               !covers(&p, rects);
    }
    printf("%d partitions are wrong\n", bad);
    return bad != 0;
}
