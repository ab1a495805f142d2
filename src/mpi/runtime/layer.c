/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/layer.h"

#include <string.h>

mpi_dispatch_t mpi_dispatch;

static const mpi_layer_t *const none[] = {NULL};
static const mpi_layer_t *const *all = none;
/* Layers that help idle workers: a worker that polls asks them again and again. */
enum { MOST_HELPERS = 8 };
static bool (*helpers[MOST_HELPERS + 1])(mpi_worker_t *worker);

static void register_helpers(void)
{
    int n = 0;

    for (int i = 0; all[i] != NULL; i++)
        if (all[i]->help != NULL && n < MOST_HELPERS)
            helpers[n++] = all[i]->help;
    helpers[n] = NULL;
}

/* Add the calls that a layer wants; all fields are pointers to functions. */
static void register_far(const mpi_far_t *wanted)
{
    void (*function)(void);

    for (size_t at = 0; at < sizeof(*wanted); at += sizeof(function)) {
        memcpy(&function, (const char *)wanted + at, sizeof(function));
        if (function != NULL)
            memcpy((char *)&mpi_dispatch.far + at, &function, sizeof(function));
    }
}

void mpi_layers_register(const mpi_layer_t *const *layers)
{
    all = layers != NULL ? layers : none;
    mpi_dispatch = (mpi_dispatch_t){0};
    register_helpers();
    for (int i = 0; all[i] != NULL; i++) {
        for (int k = 0; k < XMPI_PACKET_KINDS; k++) {
            if (all[i]->packet[k] != NULL)
                mpi_dispatch.packet[k] = all[i]->packet[k];
            if (all[i]->gate_packet[k] != NULL)
                mpi_dispatch.gate_packet[k] = all[i]->gate_packet[k];
        }
        if (all[i]->gate_mail != NULL)
            mpi_dispatch.gate_mail = all[i]->gate_mail;
        if (all[i]->settle != NULL)
            mpi_dispatch.settle = all[i]->settle;
        if (all[i]->members != NULL)
            mpi_dispatch.members = all[i]->members;
        if (all[i]->describe_site != NULL)
            mpi_dispatch.describe_site = all[i]->describe_site;
        register_far(&all[i]->far);
        for (int k = 0; k < XMPI_MAIL_KINDS; k++)
            if (all[i]->mail[k] != NULL)
                mpi_dispatch.mail[k] = all[i]->mail[k];
    }
}

xy_status_t mpi_layers_begin(mpi_job_t *job, const mpi_job_config_t *config)
{
    xy_status_t st = XY_OK;

    for (int i = 0; all[i] != NULL && st == XY_OK; i++)
        if (all[i]->job_begin != NULL)
            st = all[i]->job_begin(job, config);
    return st;
}

static int count_layers(void)
{
    int n = 0;

    while (all[n] != NULL)
        n++;
    return n;
}

void mpi_layers_end(mpi_job_t *job)
{
    for (int i = count_layers(); i-- > 0;)
        if (all[i]->job_end != NULL)
            all[i]->job_end(job);
}

xy_status_t mpi_layers_rank_begin(mpi_rank_t *rank)
{
    xy_status_t st = XY_OK;

    for (int i = 0; all[i] != NULL && st == XY_OK; i++)
        if (all[i]->rank_begin != NULL)
            st = all[i]->rank_begin(rank);
    return st;
}

void mpi_layers_rank_end(mpi_rank_t *rank)
{
    for (int i = count_layers(); i-- > 0;)
        if (all[i]->rank_end != NULL)
            all[i]->rank_end(rank);
}

bool mpi_layers_help(mpi_worker_t *worker)
{
    bool found = false;

    for (int i = 0; helpers[i] != NULL; i++)
        found |= helpers[i](worker);
    return found;
}

void mpi_layers_wait(mpi_rank_t *self, mpi_request_t *const *requests, int count)
{
    for (int i = 0; all[i] != NULL; i++)
        if (all[i]->wait != NULL)
            all[i]->wait(self, requests, count);
}

void mpi_layers_stuck(void)
{
    for (int i = 0; all[i] != NULL; i++)
        if (all[i]->stuck != NULL)
            all[i]->stuck();
}

char *mpi_layers_report(void)
{
    for (int i = 0; all[i] != NULL; i++)
        if (all[i]->report != NULL)
            return all[i]->report();
    return NULL;
}

void mpi_layers_comm_duplicate(const mpi_comm_t *from, mpi_comm_t *to)
{
    for (int i = 0; all[i] != NULL; i++)
        if (all[i]->comm_duplicate != NULL)
            all[i]->comm_duplicate(from, to);
}

void mpi_layers_comm_end(mpi_comm_t *comm)
{
    for (int i = count_layers(); i-- > 0;)
        if (all[i]->comm_end != NULL)
            all[i]->comm_end(comm);
}
