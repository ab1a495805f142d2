/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is where: one line for each group of ranks that are in the same call, for reports of
 * deadlocks and aborts. Ranks of other workers are read without synchronisation: the report is made
 * when no rank can progress, or when the job ends anyway.
 */
#include "mpi/check/check.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

enum { PENDING_SHOWN = 3, TEXT_SIZE = 1024 };

static void describe_peer(const mpi_call_t *call, char *text, size_t size)
{
    bool sends = strstr(call->name, "end") != NULL;
    bool receives = strstr(call->name, "ecv") != NULL || strstr(call->name, "robe") != NULL;
    const char *way = sends && receives ? "with" : sends ? "to" : "from";
    char tag[32] = "any tag";

    text[0] = '\0';
    if (call->peer == MPI_UNDEFINED)
        return;
    if (call->tag != MPI_ANY_TAG)
        snprintf(tag, sizeof(tag), "tag %d", call->tag);
    if (call->peer == MPI_ANY_SOURCE)
        snprintf(text, size, " %s any rank, %s", way, tag);
    else
        snprintf(text, size, " %s rank %d, %s", way, call->peer, tag);
}

static bool has_peer(const char *name)
{
    static const char *const names[] = {"Send", "Recv", "recv", "send", "Probe", "probe", NULL};

    for (int i = 0; names[i] != NULL; i++)
        if (strstr(name, names[i]) != NULL)
            return true;
    return false;
}

static bool is_wait(const char *name)
{
    return strncmp(name, "MPI_Wait", 8) == 0;
}

/* "MPI_Recv with rank 1, tag 7 on MPI_COMM_WORLD, at ring.c:25". */
static void describe_call(const mpi_call_t *call, char *text, size_t size)
{
    char peer[96] = "", site[160];
    bool has_comm = call->comm != NULL && !is_wait(call->name);

    if (has_peer(call->name))
        describe_peer(call, peer, sizeof(peer));
    mpi_caller_describe(call->caller, site, sizeof(site));
    snprintf(text, size, "%s%s%s%s%s%s", call->name, peer, has_comm ? " on " : "",
             has_comm ? mpi_comm_name(call->comm) : "", site[0] != '\0' ? ", " : "", site);
}

/* What a rank in MPI_Wait and its kin waits for: the first that are pending. */
static void describe_pending(const mpi_rank_t *rank, char *text, size_t size)
{
    int shown = 0, pending = 0;
    size_t length = 0;

    text[0] = '\0';
    for (int i = 0; i < rank->waits_count; i++) {
        const mpi_request_t *request = rank->waits[i];
        char call[256];

        if (mpi_request_is_empty(mpi_request_handle((mpi_request_t *)(uintptr_t)request)) ||
            request->is_done || request->call.name == NULL || pending++ >= PENDING_SHOWN)
            continue;
        describe_call(&request->call, call, sizeof(call));
        length += (size_t)snprintf(text + length, size - length, "%s %s",
                                   shown++ == 0 ? ", for" : "; for", call);
        if (length >= size)
            return;
    }
    if (pending > shown)
        snprintf(text + length, size - length, "; and for %d more", pending - shown);
}

static void describe(const mpi_rank_t *rank, char *text, size_t size)
{
    char call[256], pending[TEXT_SIZE - 300] = "";

    if (rank->call.name == NULL) {
        snprintf(text, size, "%s",
                 rank->phase == XMPI_RANK_FINALIZED     ? "has called MPI_Finalize"
                 : rank->phase == XMPI_RANK_BEFORE_INIT ? "has not called MPI_Init"
                                                        : "in its own code");
        return;
    }
    describe_call(&rank->call, call, sizeof(call));
    if (is_wait(rank->call.name))
        describe_pending(rank, pending, sizeof(pending));
    snprintf(text, size, "in %s%s", call, pending);
}

/* The site is an address of a private image: ranks in one place of the program have equal offsets.
 */
static bool is_same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static void print_group(const xy_bitset_t *members, const char *text)
{
    char *list = xy_bitset_format(members);

    fprintf(stderr, "  rank%s %s: %s\n", xy_bitset_count(members) > 1 ? "s" : "", list ? list : "?",
            text);
    xy_free(list);
}

/* Every rank once: the first that is not printed yet, with all that are in the same place. */
void mpi_job_report(const mpi_job_t *job, int at_most)
{
    xy_bitset_t printed, members;
    char text[TEXT_SIZE], other[TEXT_SIZE];
    int lines = 0;

    if (xy_bitset_init(&printed, (size_t)job->size) != XY_OK)
        return;
    for (int r = 0; r < job->size; r++) {
        if (xy_bitset_has(&printed, (size_t)r))
            continue;
        if (lines++ == at_most) {
            fprintf(stderr, "  and %zu ranks more\n",
                    (size_t)job->size - xy_bitset_count(&printed));
            break;
        }
        if (xy_bitset_init(&members, (size_t)job->size) != XY_OK)
            break;
        describe(&job->ranks[r], text, sizeof(text));
        for (int o = r; o < job->size; o++) {
            describe(&job->ranks[o], other, sizeof(other));
            if (is_same(text, other)) {
                xy_bitset_set(&members, (size_t)o);
                xy_bitset_set(&printed, (size_t)o);
            }
        }
        print_group(&members, text);
        xy_bitset_cleanup(&members);
    }
    xy_bitset_cleanup(&printed);
}
