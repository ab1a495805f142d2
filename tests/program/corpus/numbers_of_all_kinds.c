/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables, macros, numbers of the C library and of all types, mutual recursion. */
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static char b[1024];
static void say(long v)
{
    MPI_Bcast(b, (int)((v % 700 + 700) % 700), MPI_CHAR, 0, MPI_COMM_WORLD);
}
static const int primes[] = {2, 3, [4] = 11, 13, [2] = 5, 7};
struct item {
    const char *name;
    int n;
    const struct item *next;
    int (*f)(int);
};
static int dbl(int v)
{
    return 2 * v;
}
static int inc(int v)
{
    return v + 1;
}
static const struct item last = {"last", 5, NULL, inc}, first = {"first", 3, &last, dbl};
static const struct item *heads[] = {&first, &last};
static inline int clamp(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}
extern int table[3];
int table[3] = {1, 2, 3};
static int grid[3][4] = {{1}, {2, 3}, {[3] = 9}};
enum { A = 5, B, C = B * 2, D = -1 };
#define CAT(a, b) a##b
#define STR(x)    #x
#define XSTR(x)   STR(x)
#define VERSION   1.25
static int apply(int (*f)(int), int n, ...)
{
    return f(n);
}
static void fill(int *restrict out, const int *restrict in, size_t n)
{
    while (n--)
        *out++ = *in++ * 2;
}
static unsigned gcd(unsigned a, unsigned c)
{
    return c ? gcd(c, a % c) : a;
}
static int is_even(int n);
static int is_odd(int n)
{
    return n == 0 ? 0 : is_even(n - 1);
}
static int is_even(int n)
{
    return n == 0 ? 1 : is_odd(n - 1);
}
static int *find(int *a, int n, int v)
{
    for (int *p = a; p < a + n; p++)
        if (*p == v)
            return p;
    return NULL;
}
static long power(long x, unsigned n)
{
    long r = 1;
    for (; n; n >>= 1, x *= x)
        if (n & 1)
            r *= x;
    return r;
}
int main(int argc, char **argv)
{
    register int i;
    int CAT(var, 1) = 9, out[6];
    long double ld = 1.0L / 3;
    float f = 1e10f, inf = 1e30f;
    double x = 0.1 + 0.2;
    MPI_Init(&argc, &argv);
    for (i = 0; i < (int)(sizeof primes / sizeof *primes); i++)
        say(primes[i]);
    for (const struct item *p = heads[0]; p; p = p->next)
        say(p->f(p->n) * 10 + p->name[0]);
    say(clamp(7, 1, 5) + clamp(-1, 0, 3) * 10), say(table[2] * 100 + grid[1][1] * 10 + grid[2][3]);
    say(A + B + C + D), say(var1), say(strlen(XSTR(VERSION)) + strlen(STR(VERSION)) * 10);
    say((long)(ld * 1000)), say(f > 1e9 && f < inf), say(x == 0.3 ? 1 : 2),
        say(x == 0.1 + 0.2 ? 3 : 4);
    say((long)fmod(17.5, 5)), say(lround(2.5) + lround(-2.5) * 10 + 100),
        say((long)ceil(-1.5) + 20);
    say((long)rint(2.5)), say((long)trunc(-2.7) + 10), say((int)cbrt(28)), say((int)hypot(3, 4)),
        say((int)exp(3)), say((int)log10(1234));
    say(apply(inc, 41)), fill(out, primes, 6), say(out[4]), say(gcd(1071, 462)),
        say(is_even(10) + is_odd(7) * 2);
    int *at = find(out, 6, 14);
    say(at ? at - out : 99), say(find(out, 6, 3) == NULL), say(power(3, 13) % 1009);
    say((bool)0.5 + (bool)argv), say((int)(char)200 + 100), say((unsigned short)70000),
        say((int8_t)0x1ff + 9);
    say(7 == 7.0f), say('a' < 200u), say(-1L < 1u);
    say(i++ + 1), say(i-- - -1), say(-i + +i - -3), say(!i || !!i), say(i ? i > 3 ? 11 : 12 : 13);
    uint64_t h = 14695981039346656037ULL;
    for (const char *s = "hash me"; *s; s++)
        h = (h ^ (uint8_t)*s) * 1099511628211ULL;
    say(h % 691), say(h >> 57), say((int32_t)h % 500), say((uint32_t)h / 10000000);
    int32_t lcg = 12345;
    for (i = 0; i < 5; i++)
        lcg = (int32_t)((uint32_t)lcg * 1103515245u + 12345u) & 0x7fffffff;
    say(lcg % 600), say(lcg >> 20);
    double v[3] = {1.5, 2.5}, *pv = v;
    *pv++ += 1, *pv *= 2, pv[1] = v[0] - v[1];
    say((long)(v[0] * 100 + v[1] * 10 + v[2]));
    char *e;
    say(strtol("  -42abc", &e, 10) + 50), say(e[0]), say(strtoul("zz", NULL, 36)),
        say(atof("2.5e1")), say(strtol("0777", NULL, 0));
    MPI_Finalize();
    return 0;
}
