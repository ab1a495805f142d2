/* SPDX-License-Identifier: BSD-3-Clause */
/* The point-to-point part of the runtime. */
#include "mpi/p2p/offload.h"
#include "mpi/p2p/p2p.h"
#include "mpi/p2p/polling.h"
#include "mpi/p2p/remote.h"

static bool has_gates;

/* There is a gate only where it is needed: see gate.h. */
static xy_status_t begin(mpi_job_t *job, const mpi_job_config_t *config)
{
    (void)config;
    job->offloads = job->comm_workers > 0 && job->settings->progress != XMPI_PROGRESS_NONE;
    has_gates = job->net != NULL ? job->settings->progress != XMPI_PROGRESS_NONE
                                 : job->offloads && job->workers - job->comm_workers > 1;
    for (int r = 0; has_gates && r < job->size; r++)
        if (job->ranks[r].worker != NULL)
            job->ranks[r].gate = &job->ranks[r].worker->gate;
    mpi_survive_begin(job);
    if (job->net != NULL && mpi_network_begin(job, job->net, false) != XY_OK)
        return XY_EIO;
    return XY_OK;
}

static bool help(mpi_worker_t *worker)
{
    return mpi_job->net != NULL && mpi_network_help(worker);
}

static void end(mpi_job_t *job)
{
    mpi_network_end();
    mpi_survive_end();
    for (int r = 0; r < job->size; r++) {
        mpi_bsend_destroy(job->ranks[r].bsend);
        job->ranks[r].bsend = NULL;
    }
    mpi_messages_cleanup(job);
    mpi_requests_cleanup(job);
}

/* Also where threads of other ranks visit its worker. */
static xy_status_t rank_begin(mpi_rank_t *rank)
{
    rank->gate = has_gates || rank->worker->gate.is_shared ? &rank->worker->gate : NULL;
    mpi_polling_forget(rank);
    return XY_OK;
}

static void rank_end(mpi_rank_t *rank)
{
    mpi_bsend_destroy(rank->bsend);
    rank->bsend = NULL;
    mpi_messages_drop(rank);
}

/* Its requests are complete: they hold it. */
static void comm_end(mpi_comm_t *comm)
{
    mpi_bsend_destroy(comm->bsend);
}

const mpi_layer_t mpi_p2p_layer = {
    .packet = {[XMPI_PACKET_EAGER] = mpi_packet_eager,
               [XMPI_PACKET_RTS] = mpi_packet_rts,
               [XMPI_PACKET_OFFER] = mpi_packet_offer,
               [XMPI_PACKET_DONE] = mpi_packet_done,
               [XMPI_PACKET_CANCEL] = mpi_packet_cancel,
               [XMPI_PACKET_COPY] = mpi_packet_copy,
               [XMPI_PACKET_MATCH] = mpi_packet_match},
    .gate_packet = {[XMPI_PACKET_EAGER] = mpi_packet_eager,
                    [XMPI_PACKET_RTS] = mpi_packet_rts_offload,
                    [XMPI_PACKET_DONE] = mpi_packet_done},
    .mail = {[XMPI_MAIL_COPIES] = mpi_offload_progress},
    .gate_mail = mpi_network_read,
    .describe_site = mpi_network_describe,
    .help = help,
    .job_begin = begin,
    .job_end = end,
    .rank_begin = rank_begin,
    .rank_end = rank_end,
    .comm_end = comm_end,
};
