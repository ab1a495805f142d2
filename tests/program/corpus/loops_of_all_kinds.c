/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops with several variables, without parts, with breaks in conditions, and counts that change
 * inside. */
#include <mpi.h>

static char b[512];
static int no;
static void say(int v)
{
    MPI_Bcast(b, (v % 400 + 400) % 400, MPI_CHAR, 0, MPI_COMM_WORLD);
}
static int next(void)
{
    return no++;
}

int main(int argc, char **argv)
{
    int i, j, n = 5, total = 0;

    MPI_Init(&argc, &argv);
    for (i = 0, j = n; i <= j; ++i, j -= 2)
        say(i * 10 + j);
    for (int k = 10; k; k /= 2)
        total += k;
    say(total);
    for (;;) {
        if (n-- == 0)
            break;
        if (n % 2)
            continue;
        say(n + 100);
    }
    do
        n += 3;
    while (n < 10);
    say(n);
    do {
        if (n > 14)
            continue;
        say(n);
    } while ((n += 2) < 18);
    for (i = 0; i < 10; i++) {
        for (j = 0; j < 10; j++) {
            if (j == i)
                break;
            if (i + j == 7)
                goto seven;
            total += i * j;
        }
        if (j > 4)
            break;
        continue;
    seven:
        total += 1000;
        i += 2;
    }
    say(total), say(i), say(j);
    while (next() < 4 && next() != 3)
        say(no + 30);
    say(no);
    for (unsigned k = 3; k < 4; k--)
        say((int)k + 60);
    for (long long x = 1LL << 32; x > 1LL << 29; x >>= 1)
        say((int)(x >> 28));
    for (double t = 0; t < 1; t += 0.1)
        total++;
    say(total);
    for (float t = 0; t < 1; t += 0.1f)
        total++;
    say(total);
    for (char c = 'a'; c <= 'e'; c += 2)
        say(c);
    for (int *p = &n, **q = &p; n < 25; (**q)++)
        total += *p;
    say(total), say(n);
    for (i = 0; i < 3; i++) {
        int fresh = 7, kept;
        static int stays = 7;

        fresh += i, stays += i, kept = fresh * stays;
        say(kept);
    }
again:
    if (i-- > 0) {
        for (j = 0; j < 3; j++)
            if (j == i)
                goto again;
        say(i + 200);
    }
    say(i + j);
    MPI_Finalize();
    return 0;
}
