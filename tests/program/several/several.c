/* SPDX-License-Identifier: BSD-3-Clause */
/* The first file: main. */
#include "several.h"
static double data[1000];
static int helper(int x)
{
    return x + 1;
}
int main(int argc, char **argv)
{
    layout_t layout;
    MPI_Init(&argc, &argv);
    layout_init(&layout, 100);
    while (exchanges < helper(4))
        exchange(&layout, data);
    MPI_Finalize();
    return 0;
}
