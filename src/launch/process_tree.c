/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/process_tree.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fiber/fiber.h"

/* The parent of a process; 0: there is no such process any more. */
static pid_t parent_of(pid_t pid)
{
    char path[64], text[512], *end;
    FILE *file;
    size_t n;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    n = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[n] = '\0';
    end = strrchr(text, ')');           /* the name before it may contain anything */
    if (end == NULL || strlen(end) < 4) /* ") S 123" */
        return 0;
    return (pid_t)strtol(end + 4, NULL, 10);
}

/* Children of this process, by birth or adopted. */
static void kill_children(void)
{
    DIR *all = opendir("/proc");
    pid_t self = getpid();

    if (all == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(all)) != NULL;) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10); /* 0: another file */

        if (pid > 1 && parent_of(pid) == self)
            kill(pid, SIGKILL);
    }
    closedir(all);
}

/* False: there are no children any more. */
static bool reap(void (*note)(pid_t, int))
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        note(pid, status);
    return pid == 0 || errno == EINTR;
}

/* With its children dead, those of a child are this process's: the next round finds them. */
void mpi_tree_end(double grace, const int *running, void (*note)(pid_t pid, int status))
{
    const struct timespec pause = {.tv_nsec = 5000000};
    const double hopeless = 30; /* a process that the kernel does not let go */
    double start = xy_now();

    while (reap(note) && xy_now() - start < grace + hopeless) {
        if (*running == 0 || xy_now() - start >= grace)
            kill_children();
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
}
