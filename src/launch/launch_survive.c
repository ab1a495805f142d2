/* SPDX-License-Identifier: BSD-3-Clause */
/* --survive: what a job must be to survive failures of its processes. */
#include "launch/head.h"

enum { PROCESSES_MOST = 256 };

xy_status_t mpi_launch_survive(mpi_launch_values_t *v, int size, const mpi_hosts_t *hosts)
{
    if (!v->survive)
        return XY_OK;
    if (node_is_over_mpi(v->net))
        return xy_fail(XY_EUNSUPPORTED,
                       "--survive: an installed MPI ends the job when a process fails; use --net "
                       "tcp or shm");
    /* A rank that waits for a failed one gets an error. */
    v->deadlock_after = v->polling_after = 0;
    if (hosts == NULL || hosts->count > 0 || v->processes > 1 || size <= 1)
        return XY_OK;
    if (size > PROCESSES_MOST && v->processes == 0)
        return xy_fail(XY_EUSAGE,
                       "--survive: %d ranks would run in as many processes; say how many with "
                       "--processes",
                       size);
    if (v->processes == 0)
        v->processes = size;
    return XY_OK;
}

xy_status_t head_survive_check(const head_t *head)
{
    if (!head->values->survive)
        return XY_OK;
    if (head->has_children)
        return xy_fail(XY_EUNSUPPORTED,
                       "--survive: ranks of scripts and wrapped programs are processes that do not "
                       "survive failures; start a program that was compiled with mpicc");
    if (head->starts_all)
        return xy_fail(XY_EUNSUPPORTED,
                       "--survive: '%s' ends all processes when one fails; use --launcher ssh",
                       head->launcher_name);
    return XY_OK;
}
