/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of models of messages, by name: what a file of costs has, and what one may change. */
#include <stddef.h>

#include "cost/message_model.h"

#define MODEL(field)  offsetof(xy_message_model_t, field)
#define SAMPLE(field) offsetof(xy_message_sample_t, field)

enum {
    CORE = 1 << XY_PAIR_CORE,
    CORES = 1 << XY_PAIR_CORES,
    OTHER = 1 << XY_PAIR_OTHER,
    HOSTS = 1 << XY_PAIR_HOSTS,
    NODE = CORE | CORES | OTHER
};

static const xy_figure_t figures[] = {
    {"Eager", MODEL(eager), -1, "B", "largest message whose send does not wait for its receive",
     NODE | HOSTS},
    {"Overhead", MODEL(loggp.overhead), 0, "s", "of a core, to send or to receive a message",
     CORES | OTHER | HOSTS},
    {"Hold", MODEL(hold), -1, "", "time that a large send keeps its sender, in messages", HOSTS},
    {"Barrier", MODEL(barrier), 0, "s", "a barrier of the two processes", NODE},
    {"Copy", MODEL(copy), -1, "s", "a copy of 4 KiB in the caches of a core", OTHER},
    {"Reduce", MODEL(reduce), -1, "s", "a sum of 4 KiB and 4 KiB", CORES | OTHER},
    {"Allreduce", MODEL(allreduce), XY_MESSAGE_BCAST, "s", "an allreduce of 4 KiB", CORES},
    {"SmallBcast", MODEL(small_bcast), XY_MESSAGE_SMALL, "s", "a broadcast of 64 B", NODE},
    {"SmallBcastBack", MODEL(small_bcast_back), XY_MESSAGE_SMALL, "s",
     "a message of 64 B to the root, and a broadcast of as many", CORES},
    {"SmallAllreduce", MODEL(small_allreduce), XY_MESSAGE_SMALL, "s", "an allreduce of 64 B", NODE},
    {"SmallReduce", MODEL(small_reduce), XY_MESSAGE_SMALL, "s", "a reduce of 64 B", OTHER},
    {"SmallScatter", MODEL(small_scatter), XY_MESSAGE_SMALL, "s", "a scatter of 64 B", OTHER},
    {"SmallGather", MODEL(small_gather), XY_MESSAGE_SMALL, "s", "a gather of 64 B", OTHER},
    {"Issue", MODEL(issue), XY_MESSAGE_SMALL, "s", "of the sender of a stream of 64 B", CORES},
    {"Compute", MODEL(compute), -1, "", "code on both cores, in its time on one", CORES | OTHER},
    {"Alltoall", MODEL(alltoall), -1, "s", "an alltoall of 64 B, 8 processes on each of two cores",
     CORE},
    {0}};

static const xy_figure_t curves[] = {
    [XY_MESSAGE_BLOCKING] = {"Blocking", SAMPLE(blocking), 0, "s",
                             "half a round trip of MPI_Send and MPI_Recv", NODE | HOSTS},
    [XY_MESSAGE_NONBLOCKING] = {"Nonblocking", SAMPLE(nonblocking), 0, "s",
                                "the same of MPI_Isend, MPI_Irecv and MPI_Wait", NODE | HOSTS},
    [XY_MESSAGE_GAP] = {"Gap", SAMPLE(gap), 0, "s", "between messages of a stream",
                        CORES | OTHER | HOSTS},
    [XY_MESSAGE_EXCHANGE] = {"Exchange", SAMPLE(exchange), 0, "s",
                             "messages of both to each other, by MPI_Sendrecv", CORES | OTHER},
    [XY_MESSAGE_KINDS] = {0}};

const xy_figure_t *xy_message_figures(void)
{
    return figures;
}

const xy_figure_t *xy_message_curves(void)
{
    return curves;
}
