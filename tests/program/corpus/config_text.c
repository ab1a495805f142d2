/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings from a text in the program: lines of KEY=VALUE, read by hand. */
#include <ctype.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char config[] = "# a comment\n"
                             "width = 24\n"
                             "steps=3\n"
                             "\n"
                             "mode = ring\n";

struct settings {
    int width, steps;
    char mode[16];
};

static char *trim(char *s)
{
    char *end;

    while (isspace((unsigned char)*s))
        s++;
    end = s + strlen(s);
    while (end > s && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return s;
}

static int parse(const char *text, struct settings *s)
{
    char line[80];
    int lines = 0;

    while (*text) {
        const char *nl = strchr(text, '\n');
        size_t len = nl ? (size_t)(nl - text) : strlen(text);
        char *eq;

        memcpy(line, text, len);
        line[len] = '\0';
        text += len + (nl != NULL);
        if (line[0] == '#' || (eq = strchr(line, '=')) == NULL)
            continue;
        *eq++ = '\0';
        char *key = trim(line), *value = trim(eq);
        if (!strcmp(key, "width"))
            s->width = atoi(value);
        else if (!strcmp(key, "steps"))
            s->steps = (int)strtol(value, NULL, 10);
        else if (!strcmp(key, "mode"))
            strncpy(s->mode, value, sizeof(s->mode) - 1);
        lines++;
    }
    return lines;
}

int main(int argc, char **argv)
{
    struct settings s = {1, 1, ""};
    int rank, size, n;
    double a[64] = {0}, b[64];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = parse(config, &s);
    for (int i = 0; i < s.steps * n; i++)
        if (strcmp(s.mode, "ring") == 0)
            MPI_Sendrecv(a, s.width, MPI_DOUBLE, (rank + 1) % size, 0, b, 64, MPI_DOUBLE,
                         (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
