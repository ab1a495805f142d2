/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is where: one line for each group of ranks that are in the same call, for reports of
 * deadlocks and aborts. Ranks of other workers are read without synchronisation: the report is made
 * when nobody moves any more, or when the job ends anyway.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "mpi/comm.h"
#include "mpi/error.h"
#include "mpi/rank.h"

static void describe_site(const void *site, char *text, size_t size)
{
    const char *function;
    uintptr_t offset = mpi_site_find(site, &function);

    text[0] = '\0';
    if (function != NULL)
        snprintf(text, size, ", called in %s+0x%" PRIxPTR, function, offset);
    else if (offset != 0)
        snprintf(text, size, ", called at offset 0x%" PRIxPTR " of the program", offset);
}

static void describe_peer(const mpi_call_t *call, char *text, size_t size)
{
    char tag[32] = "any tag";

    text[0] = '\0';
    if (call->peer == MPI_UNDEFINED)
        return;
    if (call->tag != MPI_ANY_TAG)
        snprintf(tag, sizeof(tag), "tag %d", call->tag);
    if (call->peer == MPI_ANY_SOURCE)
        snprintf(text, size, " with any rank, %s", tag);
    else
        snprintf(text, size, " with rank %d, %s", call->peer, tag);
}

static bool has_peer(const char *name)
{
    static const char *const names[] = {"Send", "Recv", "recv", "send", "Probe", "probe", NULL};

    for (int i = 0; names[i] != NULL; i++)
        if (strstr(name, names[i]) != NULL)
            return true;
    return false;
}

static void describe(const mpi_rank_t *rank, char *text, size_t size)
{
    const mpi_call_t *call = &rank->call;
    char peer[96] = "", site[160];

    if (call->name == NULL) {
        snprintf(text, size, "%s",
                 rank->phase == MPI_RANK_FINALIZED     ? "has called MPI_Finalize"
                 : rank->phase == MPI_RANK_BEFORE_INIT ? "has not called MPI_Init"
                                                       : "in its own code");
        return;
    }
    if (has_peer(call->name))
        describe_peer(call, peer, sizeof(peer));
    describe_site(call->site, site, sizeof(site));
    snprintf(text, size, "in %s%s%s%s%s", call->name, peer, call->comm ? " on " : "",
             call->comm ? mpi_comm_name(call->comm) : "", site);
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
    char text[512], other[512];
    int lines = 0;

    if (xy_bitset_init(&printed, (size_t)job->size) != XY_OK)
        return;
    for (int r = 0; r < job->size; r++) {
        if (xy_bitset_has(&printed, (size_t)r))
            continue;
        if (lines++ == at_most) {
            fprintf(stderr, "  (%zu more)\n", (size_t)job->size - xy_bitset_count(&printed));
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
