/* SPDX-License-Identifier: BSD-3-Clause */
/* Compound assignments between types, steps of small types, bit-fields, and unsigned loops
 * downwards. */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

static char b[1024];
static void say(long v)
{
    MPI_Bcast(b, (int)((unsigned long)v % 1009), MPI_CHAR, 0, MPI_COMM_WORLD);
}

struct bits {
    unsigned a : 3, b : 5;
    signed c : 4;
    _Bool d : 1;
};

int main(int argc, char **argv)
{
    uint8_t u8 = 250;
    int8_t i8 = 127;
    uint16_t u16 = 65535;
    short s = -5;
    int i = 7;
    unsigned u = 0;
    long l = 3;
    float f = 2.5f;
    double d = 10;
    struct bits x = {6, 30, -8, 1};
    _Bool flag = 4;

    MPI_Init(&argc, &argv);
    u8 += 10, say(u8);
    u8++, u8 <<= 5, say(u8);
    i8++, say(-i8);
    u16 += 2, say(u16--), say(u16), say(--u16);
    s *= 3.5, say(-s);
    s >>= 1, say(-s), s /= 2, say(-s), s %= 3, say(s + 9);
    i *= 1.9, say(i), i -= 2.5, say(i), i /= 3u, say(i);
    i = -i, i /= 3u, say(i % 997);
    u -= 1, say(u), u >>= 28, say(u);
    l <<= 33, say(l), l ^= i, say(l), l = ~l, say(l);
    f /= 3, say((long)(f * 1e6f)), d -= f, say((long)(d * 1000));
    i = f + d, say(i), i = (int)f + (int)d, say(i);
    x.a += 3, say(x.a), x.b <<= 1, say(x.b), x.c--, say(x.c + 20), x.d = 0, x.d = 16, say(x.d);
    say(++x.a), say(x.b++), say(x.b);
    flag += 3, say(flag), flag = 0.3, say(flag + 1), flag = !argc, say(flag + 2);
    for (size_t k = 4; k-- > 0;)
        say((long)k + 10);
    for (unsigned char c = 254; c > 3; c++)
        say(c);
    int n = 3;
    while (n-- > 0)
        say(n + 40);
    say(sizeof(x) + sizeof(u8 + u8) + sizeof(1 ? u8 : s) + sizeof(f + d));
    say((argc ? -1 : 1u) > 0 ? 60 : 61), say((unsigned char)~0 >> 4), say(-1 >> 31 & 7);
    MPI_Finalize();
    return 0;
}
