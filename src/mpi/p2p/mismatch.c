/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that are received as other elements than were sent. Programs get away with it on one
 * kind of machine, so it is a warning: one for each pair of places, and few.
 */
#include <pthread.h>
#include <stdio.h>

#include "mpi/p2p/message.h"

enum { PAIRS_MOST = 8, PLACE_TEXT = 160 };

static struct {
    pthread_mutex_t lock;
    int pairs;
    const void *sent[PAIRS_MOST], *received[PAIRS_MOST];
} warned = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The number of this pair among those that are warned of; -1: it was before, or there are many. */
static int pair_new(const void *sent, const void *received)
{
    int number = -1, i = 0;

    pthread_mutex_lock(&warned.lock);
    while (i < warned.pairs && (warned.sent[i] != sent || warned.received[i] != received))
        i++;
    if (i == warned.pairs && i < PAIRS_MOST) {
        warned.sent[i] = sent;
        warned.received[i] = received;
        number = warned.pairs++;
    }
    pthread_mutex_unlock(&warned.lock);
    return number;
}

/* " at ring.c:25", or "". */
static const char *place(const void *site, char text[PLACE_TEXT])
{
    text[0] = ' ';
    mpi_caller_describe(site, text + 1, PLACE_TEXT - 1);
    return text[1] != '\0' ? text : text + 1;
}

static void warn(const mpi_request_t *receive, uint16_t signature, const void *site, bool is_last)
{
    const mpi_completion_t *c = &receive->completion;
    char here[PLACE_TEXT], there[PLACE_TEXT], peer[XMPI_RANK_TEXT], tag[32] = "";
    char taken[XMPI_SIGNATURE_TEXT], sent[XMPI_SIGNATURE_TEXT];

    if ((receive->comm->context & (XMPI_CONTEXT_SHADOW | XMPI_CONTEXT_NEIGHBORS)) == 0)
        snprintf(tag, sizeof(tag), " with tag %d", c->tag);
    xy_warn("rank %d: %s%s receives %s; %s sent %s%s%s; give the same types in both%s",
            receive->owner->world, receive->call.name, place(receive->call.caller, here),
            mpi_signature_describe(receive->type->signature, taken),
            mpi_comm_describe_rank(receive->comm, c->source, peer),
            mpi_signature_describe(signature, sent), tag, place(site, there),
            is_last ? "; more of this kind is not shown" : "");
}

void mpi_receive_compare(const mpi_request_t *receive, uint16_t signature, const void *site)
{
    const mpi_completion_t *c = &receive->completion;
    int number;

    if (c->error != MPI_SUCCESS || /* is raised by the call that ends the receive */
        mpi_signatures_match(signature, receive->type->signature, c->bytes))
        return;
    number = pair_new(site, receive->call.caller);
    if (number >= 0)
        warn(receive, signature, site, number == PAIRS_MOST - 1);
}
