/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpiexec --check: its options, and where what is found goes. In a job of several processes each
 * sends what it has found to the head, which prints and writes what all have.
 */
#include "launch/launch_node.h"
#include "mpi/check/check.h"

static mpi_check_config_t config;

xy_status_t mpi_launch_checks_read(const mpi_launch_values_t *v)
{
    char why[XMPI_CHECK_WHY];

    if (v->check != NULL && !mpi_checks_parse(v->check, &mpi_checks, why))
        return xy_fail(XY_EUSAGE, "--check: %s", why);
    if (v->check != NULL && mpi_checks.shuffles && v->virtual_machine != NULL)
        return xy_fail(XY_EUSAGE, "--check=shuffle chooses which message arrives first, and so "
                                  "does virtual time; leave shuffle or --virtual out");
    if (v->check != NULL && mpi_checks.shuffles && v->comm_cores != NULL)
        return xy_fail(XY_EUSAGE, "--check=shuffle runs all ranks on one core, to repeat their "
                                  "order; leave shuffle or --comm-cores out");
    return XY_OK;
}

double mpi_launch_checks_spin(const mpi_launch_values_t *v)
{
    const double most = 2e-6;

    return v->check != NULL && v->spin > most ? most : v->spin;
}

xy_status_t mpi_launch_checks_read_several(const mpi_launch_values_t *v)
{
    if (v->check != NULL && v->comm_cores != NULL)
        return xy_fail(XY_EUNSUPPORTED, "--check runs the ranks of each of several processes on "
                                        "one core; leave --comm-cores out");
    return mpi_launch_checks_read(v);
}

xy_status_t mpi_launch_checks_begin(const mpi_launch_values_t *v, const char *program,
                                    const mpi_job_t *job, const mpi_node_job_t *node)
{
    if (node != NULL && !mpi_checks.has_seed)
        mpi_checks.seed = mpi_node_seed(node->secret);
    config = (mpi_check_config_t){.json = v->check_json,
                                  .sarif = v->check_sarif,
                                  .suppress = v->check_suppress,
                                  .program = program,
                                  .ranks = job != NULL ? job->started : 0,
                                  .is_verbose = v->verbose,
                                  .send = node != NULL ? mpi_node_send_found : NULL};
    return job != NULL ? mpi_check_begin(&config) : mpi_check_collect(&config);
}

int mpi_launch_checks_collect(int ranks, int code)
{
    config.ranks = ranks;
    return mpi_check_finish(code);
}
