/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands as text lines, built by snprintf, taken apart by sscanf and strtok. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 96

static void send_line(int to, const char *line)
{
    MPI_Send(line, (int)strlen(line) + 1, MPI_CHAR, to, 0, MPI_COMM_WORLD);
}

static char *recv_line(int from, char *line)
{
    MPI_Recv(line, LINE, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return line;
}

static int handle(const char *line, char *answer)
{
    int a, b;

    if (strncmp(line, "add ", 4) == 0) {
        a = atoi(line + 4);
        b = atoi(strrchr(line, ' ') + 1);
        sprintf(answer, "sum=%d", a + b);
    } else if (!strcmp(line, "bye")) {
        return 0;
    } else {
        char copy[LINE];
        int words = 0;

        strcpy(copy, line);
        for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
            words++;
        snprintf(answer, LINE, "%d words, %zu letters", words, strlen(line));
    }
    return 1;
}

int main(int argc, char **argv)
{
    static const char *const script[] = {"add 17 25", "to be or not", "add 500 500", NULL};
    char line[LINE], answer[LINE];
    int rank, size, total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        for (int to = 1; to < size; to++) {
            for (const char *const *s = script; *s; s++) {
                send_line(to, *s);
                total += (int)strlen(recv_line(to, line));
            }
            send_line(to, "bye");
        }
    } else {
        while (handle(recv_line(0, line), answer))
            send_line(0, answer);
    }
    MPI_Bcast(&total, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(line, total % LINE, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
