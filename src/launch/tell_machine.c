/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the job runs, for ranks that predict what they are about to do (xylem_platform_create): a
 * rank is bound to its core, so that it cannot see the others by asking the operating system.
 *
 *   XYLEM_JOB_MACHINE  the cores of the job, or the machine of --virtual, as `xylem machine` takes
 * it XYLEM_JOB_COSTS    in virtual time: the file of --costs, or the same, for the costs in its
 * file XYLEM_JOB_CORES    "0,1,0,1": which of the cores each rank has; for ranks of one process
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/launch.h"
#include "launch/virtual_time.h"
#include "mpi/topo/topo.h"

enum { RANKS_MOST = 4096 }; /* an environment has a size */

static xy_status_t set(const char *name, const char *value)
{
    int failed = value != NULL ? setenv(name, value, 1) : unsetenv(name);

    return failed == 0 ? XY_OK : xy_fail_memory("making the environment");
}

/* Programs may change to another directory. */
static xy_status_t set_path(const char *name, const char *path)
{
    char whole[PATH_MAX];

    if (path != NULL && access(path, F_OK) == 0 && realpath(path, whole) != NULL)
        path = whole;
    return set(name, path);
}

/* Write the machine of the job; each of several processes is taken to have as many cores as this
 * one. */
static xy_status_t set_machine(const mpi_launch_values_t *values, const mpi_placement_t *p,
                               int processes)
{
    char text[64];

    if (values->virtual_machine != NULL)
        return set_path("XYLEM_JOB_MACHINE", values->virtual_machine);
    snprintf(text, sizeof(text), "numa:%d core:%d", processes * p->numas, p->numa_cores);
    return set("XYLEM_JOB_MACHINE", text);
}

xy_status_t mpi_launch_tell_machine(const mpi_launch_values_t *values, const mpi_placement_t *p,
                                    const int32_t *core_of, int ranks, int processes)
{
    xy_text_t list = XY_TEXT_INIT;
    bool is_whole = processes == 1 && ranks <= RANKS_MOST;
    xy_status_t st = set_machine(values, p, processes);

    if (st == XY_OK)
        st = set_path("XYLEM_JOB_COSTS",
                      values->costs != NULL ? values->costs : values->virtual_machine);
    for (int r = 0; is_whole && r < ranks; r++) {
        int core = core_of != NULL ? core_of[r] : p->node_core_of[p->worker_of[r]];

        xy_text_addf(&list, "%s%d", r > 0 ? "," : "", core);
        is_whole &= core >= 0;
    }
    if (st == XY_OK)
        st = list.failed ? xy_fail_memory("making the environment")
                         : set("XYLEM_JOB_CORES", is_whole ? list.s : NULL);
    xy_text_cleanup(&list);
    return st;
}

/* Names and files are read by another library, which is not opened for a text that describes the
 * machine. */
xy_status_t mpi_launch_imagine(const char *text)
{
    size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    bool is_text = text[word] == ':' || strspn(text, "0123456789xX ") == strlen(text);
    xy_machine_t *m;
    xy_status_t st;

    if (is_text && access(text, F_OK) != 0)
        return mpi_reorder_check(text);
    st = mpi_launch_machine(text, &m);
    return st == XY_OK ? mpi_reorder_imagine(m) : st;
}
