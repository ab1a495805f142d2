/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that are received as other elements than were sent. Programs get away with it on one
 * kind of machine, so it is a warning; with --check, an error. Without it they do not where the
 * data ends within an element that is spread over the memory of the receive: MPI_ERR_TYPE.
 */
#include <stdio.h>

#include "mpi/p2p/message.h"

enum { PLACE_TEXT = 160 };

/* " at ring.c:25", or "". */
static const char *place(const void *site, char text[PLACE_TEXT])
{
    text[0] = ' ';
    mpi_caller_describe(site, text + 1, PLACE_TEXT - 1);
    return text[1] != '\0' ? text : text + 1;
}

/* Report that the types of a message and its receive differ, with both call sites. */
static void report(const mpi_finding_t *finding, const mpi_request_t *receive, uint16_t signature)
{
    const mpi_completion_t *c = &receive->completion;
    char here[PLACE_TEXT], there[PLACE_TEXT], peer[XMPI_RANK_TEXT], tag[32] = "";
    char taken[XMPI_SIGNATURE_TEXT], sent[XMPI_SIGNATURE_TEXT];

    if ((receive->comm->context & XMPI_CONTEXT_BITS) == 0)
        snprintf(tag, sizeof(tag), " with tag %d", c->tag);
    mpi_finding_add(finding, "%s%s%s receives %s; %s sent %s%s%s; give the same types in both",
                    mpi_call_start_of(receive->call.name), receive->call.name,
                    place(receive->call.caller, here),
                    mpi_signature_describe(receive->type->signature, taken),
                    mpi_comm_describe_rank(receive->comm, c->source, peer),
                    mpi_signature_describe(signature, sent), tag, place(finding->sites[1], there));
}

static bool is_cut(const mpi_request_t *receive)
{
    uint16_t signature = receive->type->signature;

    return !mpi_type_is_contiguous(receive->type) && signature < XMPI_TYPE_TABLE &&
           receive->completion.bytes % mpi_type_table[signature].size != 0;
}

void mpi_receive_compare(mpi_request_t *receive, uint16_t signature, const void *site)
{
    mpi_completion_t *c = &receive->completion;
    mpi_finding_t finding = {.kind = XMPI_FINDING_TYPE_MISMATCH,
                             .rank = receive->owner->world,
                             .other = -1,
                             .sites = {receive->call.caller, site}};

    if (c->error != MPI_SUCCESS || /* is raised by the call that ends the receive */
        mpi_signatures_match(signature, receive->type->signature, c->bytes))
        return;
    finding.other = mpi_comm_world_rank(receive->comm, c->source);
    if (receive->comm->window != NULL) /* one-sided operations compare nothing */
        return;
    if (is_cut(receive)) {
        c->error = MPI_ERR_TYPE;
        c->sent_at = site;
    } else if (!mpi_finding_is_known(&finding)) {
        report(&finding, receive, signature);
    }
}
