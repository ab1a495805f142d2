/* SPDX-License-Identifier: BSD-3-Clause */
/* Shifts, divisions and conversions of small and unsigned types, as C has them. */
#include <limits.h>
#include <mpi.h>
#include <stdint.h>

static char b[1024];
static void say(long long v)
{
    MPI_Bcast(b, (int)((unsigned long long)v % 1000), MPI_CHAR, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int8_t i8 = 100;
    uint8_t u8 = 200;
    int16_t i16 = -12345;
    unsigned u = 3;
    long l = -7;
    float f = 16777217;
    double d = -2.75;

    MPI_Init(&argc, &argv);
    i8 += 100;
    u8 += 100;
    say(i8 < 0 ? -i8 : 1);
    say(u8);
    say(-7 / 2 + 10), say(-7 % 3 + 10);
    say(l / 2 + 50), say(l >> 1 & 0xff);
    say(u - 4 > 0 ? 21 : 12);
    say(-1 < u ? 31 : 13);
    say((int64_t)(-1 < (int)u) + 5);
    say((uint16_t)i16), say((int8_t)i16 & 0xff);
    say(f == 16777216.f), say((int)d + 10), say((unsigned char)(int)(d * 100));
    say(1u << 31 >> 29), say((1LL << 40) / 1000003);
    say(UINT_MAX + 2 + argc), say(INT_MIN / -2 / 3000000);
    say('A' + '\n' + '\x10' + '\101'), say(sizeof("abc") + sizeof 'a' + sizeof(short[3]));
    say(!5 + !!5 + ~5 + 20), say(5 & 3 ^ 1 | 8), say(1 ? 2 : 3);
    int a[3] = {1, 2, 3}, *p = a;
    say(*p++ + a[2]), say(p[-1] + 2 [a] + *(a + 1)), say((char *)&a[2] - (char *)a);
    MPI_Finalize();
    return 0;
}
