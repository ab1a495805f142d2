/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that calls MPI_Init without having been made a rank: alone it becomes rank 0 of 1, but
 * one of several that a launcher has started would do the work of a whole job, N times, and look
 * like success. It happens when a wrapper (valgrind, a script, an interpreter) stands between
 * mpiexec and the program, or with the launcher of another MPI.
 *
 * Ranks of a job and the processes they start have XYLEM_LAUNCHED=rank: such a process runs as
 * rank 0 of 1. Processes that mpiexec has started have XYLEM_LAUNCHED=process:SOCKET, and what they
 * are goes there, so that one message is printed for all of them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "mpi/bindings/bindings.h"

typedef struct {
    const char *rank, *size; /* names of variables */
} launcher_t;

static const launcher_t launchers[] = {
    {"PMI_RANK", "PMI_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
};

static long number_of(const char *variable)
{
    const char *text = getenv(variable);
    long value = 0;

    return text != NULL && xy_parse_long(text, &value) ? value : 0;
}

/* The launcher that has started several; NULL: none has. */
static const launcher_t *find_launcher(void)
{
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
        if (number_of(launchers[i].size) > 1)
            return &launchers[i];
    return NULL;
}

/* "file of the program\0first argument": what mpiexec needs to say what to type. */
static bool tell_mpiexec(const char *socket_name)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t length = strlen(socket_name);
    char text[8192], file[4096] = "";
    int fd, n;
    bool is_told;

    if (length == 0 || length + 1 > sizeof(to.sun_path))
        return false;
    memcpy(to.sun_path + 1, socket_name, length);
    if (readlink("/proc/self/exe", file, sizeof(file) - 1) < 0)
        file[0] = '\0';
    n = snprintf(text, sizeof(text), "%s%c%s", file, 0, program_invocation_name);
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    is_told = sendto(fd, text, (size_t)n < sizeof(text) ? (size_t)n + 1 : sizeof(text), 0,
                     (const struct sockaddr *)&to,
                     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) > 0;
    close(fd);
    return is_told;
}

/* Rank 0 says it; the others only where that has not ended the job. */
static void say(const launcher_t *launcher)
{
    if (number_of(launcher->rank) != 0)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_sec = 1}, NULL);
    xy_fail(XY_EUNSUPPORTED,
            "%s is one of %ld processes of another launcher or a script (%s), and each would be a "
            "job of its own; type 'mpiexec -n %ld %s' with the mpiexec of Xylem",
            program_invocation_name, number_of(launcher->size), launcher->size,
            number_of(launcher->size), program_invocation_name);
}

void mpi_refuse_one_of_several(void)
{
    static const char process[] = "process:";
    const char *launched = getenv(XMPI_LAUNCHED);
    const launcher_t *launcher = find_launcher();

    if (launcher == NULL || (launched != NULL && strcmp(launched, XMPI_LAUNCHED_RANK) == 0))
        return;
    if (launched == NULL || strncmp(launched, process, strlen(process)) != 0 ||
        !tell_mpiexec(launched + strlen(process)))
        say(launcher);
    fflush(NULL);
    _exit(1);
}
