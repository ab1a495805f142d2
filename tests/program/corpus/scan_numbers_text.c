/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers out of text in many formats. arguments: 10,20:30 0x1f 3.5e1 --n=7 */
#include <ctype.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char b[2048];
static void say(int v)
{
    MPI_Bcast(b, v, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static int digits(const char *s)
{
    int v = 0;

    for (; isdigit((unsigned char)*s); s++)
        v = 10 * v + (*s - '0');
    return v;
}

int main(int argc, char **argv)
{
    int x = 0, y = 0, z = 0;
    char copy[64], *end, *eq;
    double d;

    MPI_Init(&argc, &argv);
    if (sscanf(argv[1], "%d,%d:%d", &x, &y, &z) == 3)
        say(x + y + z);
    say((int)strtol(argv[2], NULL, 16));
    d = strtod(argv[3], &end);
    say((int)d + (*end == '\0'));
    eq = strchr(argv[4], '=');
    if (eq && strncmp(argv[4], "--n", (size_t)(eq - argv[4])) == 0)
        say(atoi(eq + 1) * 10);
    strcpy(copy, argv[1]);
    int sum = 0;
    for (char *t = strtok(copy, ",:"); t; t = strtok(NULL, ",:"))
        sum = 2 * sum + digits(t);
    say(sum);
    for (int i = 1; i < argc; i++) {
        size_t n = strspn(argv[i], "0123456789");
        say((int)(n + strcspn(argv[i], ":=") + strlen(argv[i] + n)));
        for (char *p = argv[i]; *p; ++p)
            if (isalpha((unsigned char)*p))
                say(toupper((unsigned char)*p));
    }
    MPI_Finalize();
    return 0;
}
