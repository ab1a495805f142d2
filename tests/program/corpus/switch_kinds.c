/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches over characters, negative numbers, enums, long values and without a default. */
#include <mpi.h>

typedef enum { LOW = -3, ZERO, ONE = 1, TWO, MANY = 0x40000000 } kind;
static char b[512];
static void say(int v)
{
    MPI_Bcast(b, v, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static int letter(char c)
{
    switch (c) {
    case 'a':
    case 'e':
        return 1;
    case 'x' + 1:
        return 2;
    case '\n':
    case '\'':
        c++;
        break;
    default: {
        int d = c * 2;
        if (d > 200)
            break;
        return d;
    }
    }
    return c;
}

static int number(long n)
{
    int r = 0;

    switch (n) {
    case -1:
        r = 1;
    case 5000000000L:
        r += 2;
    case 0:
        break;
    case sizeof(int):
        r = 9;
    }
    return r;
}

static int kinds(kind k)
{
    int r = 5;

    switch (k)
    case MANY:
    case LOW:
        r = 50 + (k < 0);
    switch (k & 1) {
        r = 100; /* never */
    case 1:
        r++;
    }
    switch (r) {
    }
    switch (k) {
    default:
        r += 2;
    case TWO:
        r += 3;
        if (k == ZERO)
            break;
        r += 4;
    }
    return r;
}

int main(int argc, char **argv)
{
    static const char text[] = "aey\n'z9";

    MPI_Init(&argc, &argv);
    for (const char *p = text; *p; p++)
        say(letter(*p));
    say(number(-1)), say(number(5000000000L)), say(number(705032704)), say(number(4)),
        say(number(7));
    for (int k = -3; k < 4; k++)
        say(kinds((kind)k));
    say(kinds(MANY));
    MPI_Finalize();
    return 0;
}
