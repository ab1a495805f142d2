/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that calls MPI_Init without having been made a rank: alone it becomes rank 0 of 1. One
 * of several that mpiexec has started, behind a wrapper, a script or as an interpreter, joins the
 * others (join.c), and so does one of several of another launcher that has a key-value space. One
 * of several without it is refused: it would do the work of a whole job, N times, and look like
 * success.
 *
 * Ranks of a job and the processes they start have XYLEM_LAUNCHED=rank: such a process runs as
 * rank 0 of 1. Processes that mpiexec has started have XYLEM_LAUNCHED=process:SOCKET,..., where
 * they meet.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "mpi/bindings/bindings.h"
#include "mpi/bindings/join.h"

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

/* Rank 0 says it; the others only where that has not ended the job. */
static void say(const launcher_t *launcher, const char *why)
{
    if (number_of(launcher->rank) != 0)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_sec = 1}, NULL);
    xy_fail(XY_EUNSUPPORTED,
            "%s is one of %ld processes of another launcher or a script (%s), and each would be a "
            "job of its own: %s; type 'mpiexec -n %ld %s' with the mpiexec of Xylem",
            program_invocation_name, number_of(launcher->size), launcher->size, why,
            number_of(launcher->size), program_invocation_name);
}

/* Up to the next comma; false: there is no room for it. */
static bool take_word(const char **at, char *word, size_t room)
{
    size_t length = strcspn(*at, ",");

    if (length >= room)
        return false;
    memcpy(word, *at, length);
    word[length] = '\0';
    *at += length + ((*at)[length] == ',');
    return true;
}

static bool read_others(const char *text, mpi_others_t *others)
{
    return take_word(&text, others->socket, sizeof(others->socket)) &&
           take_word(&text, others->address, sizeof(others->address)) &&
           take_word(&text, others->library, sizeof(others->library)) && *text == '\0' &&
           others->socket[0] != '\0';
}

bool mpi_is_one_of_several(mpi_others_t *others)
{
    static const char process[] = "process:";
    const char *launched = getenv(XMPI_LAUNCHED);
    const launcher_t *launcher = find_launcher();

    char why[XY_WHY_SIZE];
    bool is_pmix = getenv("PMIX_NAMESPACE") != NULL && getenv("PMIX_RANK") != NULL;

    /* A launcher with PMIx alone tells only there how many there are. */
    if ((launcher == NULL && !is_pmix) ||
        (launched != NULL && strcmp(launched, XMPI_LAUNCHED_RANK) == 0))
        return false;
    *others = (mpi_others_t){0};
    if (launcher != NULL && launched != NULL && strncmp(launched, process, strlen(process)) == 0 &&
        read_others(launched + strlen(process), others)) {
        others->rank = (int)number_of(launcher->rank);
        others->size = (int)number_of(launcher->size);
        return true;
    }
    others->is_launched = true;
    if (xy_pmi_is_there(why))
        return true;
    say(launcher, why);
    fflush(NULL);
    _exit(1);
}
