/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An intercommunicator with a group of another job.
 *
 * The leaders, whose processes are connected, tell each other who the members of their groups are,
 * in which processes, and where these listen. Then each process of one job connects to each of the
 * other: that with the lower number does, the other one waits. One member of each process, the
 * *speaker*, does it for all; speakers tell their leader how it went, and the leaders each other.
 */
#include <stdio.h>
#include <string.h>

#include "mpi/comm/make.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"

enum { CARD = 900, WHY = XY_WHY_SIZE + 100 };

/* Where a process listens. */
typedef struct {
    int32_t process;
    char secret[2 * XY_SECRET_BYTES + 1];
    char card[CARD];
} contact_t;

/* A member: its number in its job, and where it is. */
typedef struct {
    int32_t rank, process;
} member_t;

/* The first message between the leaders. */
typedef struct {
    uint64_t job;
    int32_t leader, size, processes;
    uint32_t context; /* of the intercommunicator, and the next of the merged one */
    bool is_broken;   /* the leaders have not met */
} side_t;

/* How it went. */
typedef struct {
    xy_status_t status;
    char why[WHY];
} report_t;

/* The other group. */
typedef struct {
    side_t side;
    member_t *members;   /* [size] */
    contact_t *contacts; /* [processes] */
} group_t;

static void *memory_or_abort(size_t bytes)
{
    void *memory = xy_calloc(bytes + 1, 1);

    if (!memory) { /* the others wait for this one */
        xy_fail_memory("making an intercommunicator");
        mpi_job->abort(1);
    }
    return memory;
}

static int process_of(const mpi_comm_t *local, int rank)
{
    return mpi_job->process_of[mpi_group_world(local->group, rank)];
}

/* Members that are the first of their process, in order: their number. */
static int find_speakers(const mpi_comm_t *local, int *speakers)
{
    bool *seen = memory_or_abort((size_t)mpi_job->processes);
    int count = 0;

    for (int r = 0; r < local->size; r++) {
        if (!seen[process_of(local, r)])
            speakers[count++] = r;
        seen[process_of(local, r)] = true;
    }
    xy_free(seen);
    return count;
}

/* Speakers give `bytes` each to the leader, which has them in the order of speakers. */
static int to_leader(mpi_comm_t *local, int leader, const void *own, size_t bytes, char *all)
{
    mpi_comm_t shadow = mpi_comm_shadow(local, XMPI_CONTEXT_SHADOW);
    const mpi_call_t call = local->owner->call;
    MPI_Comm handle = (MPI_Comm)(void *)&shadow;
    int *speakers = memory_or_abort((size_t)local->size * sizeof *speakers);
    int count = find_speakers(local, speakers), code = MPI_SUCCESS;

    for (int i = 0; i < count && code == MPI_SUCCESS; i++) {
        bool is_own = speakers[i] == local->rank;

        if (local->rank == leader && is_own)
            memcpy(all + (size_t)i * bytes, own, bytes);
        else if (local->rank == leader)
            code = impl_recv(local->owner, all + (size_t)i * bytes, (int)bytes, MPI_BYTE,
                             speakers[i], 0, handle, MPI_STATUS_IGNORE);
        else if (is_own)
            code = impl_send(local->owner, own, (int)bytes, MPI_BYTE, leader, 0, handle);
    }
    local->owner->call = call;
    xy_free(speakers);
    return code;
}

/* Where this process listens; one that cannot has no card. */
static contact_t own_contact(void)
{
    contact_t contact = {.process = mpi_job->process};
    size_t size;

    if (mpi_link_open() != XY_OK || mpi_link_card() == NULL)
        return contact;
    size = strlen(mpi_link_card());
    while (size >= CARD || (size < strlen(mpi_link_card()) && mpi_link_card()[size] != ' '))
        size--; /* whole addresses */
    memcpy(contact.card, mpi_link_card(), size);
    snprintf(contact.secret, sizeof contact.secret, "%s", mpi_link_secret());
    return contact;
}

/* ---- Between the leaders ---- */

typedef struct {
    mpi_comm_t *local, *shadow;
    int leader, tag; /* the remote one */
} table_t;

static int swap(const table_t *t, const void *mine, size_t bytes, void *theirs, size_t room)
{
    return impl_sendrecv(t->local->owner, mine, (int)bytes, MPI_BYTE, t->leader, t->tag, theirs,
                         (int)room, MPI_BYTE, t->leader, t->tag, (MPI_Comm)(void *)t->shadow,
                         MPI_STATUS_IGNORE);
}

/* Exchange members and contacts with the leader of the other job; the caller frees those in
 * `other`. */
static int swap_groups(const table_t *t, const side_t *mine, const contact_t *contacts,
                       group_t *other)
{
    size_t size = (size_t)mine->size * sizeof(member_t);
    member_t *members = memory_or_abort(size);
    int code = swap(t, mine, sizeof *mine, &other->side, sizeof other->side);

    for (int r = 0; r < mine->size; r++)
        members[r] = (member_t){mpi_group_world(t->local->group, r), process_of(t->local, r)};
    if (code == MPI_SUCCESS) {
        other->members = memory_or_abort((size_t)other->side.size * sizeof(member_t));
        other->contacts = memory_or_abort((size_t)other->side.processes * sizeof(contact_t));
        code = swap(t, members, size, other->members, (size_t)other->side.size * sizeof(member_t));
    }
    if (code == MPI_SUCCESS)
        code = swap(t, contacts, (size_t)mine->processes * sizeof(contact_t), other->contacts,
                    (size_t)other->side.processes * sizeof(contact_t));
    xy_free(members);
    return code;
}

/* All members learn what the leaders have told each other. */
static void learn(mpi_comm_t *local, int leader, const table_t *t, side_t *mine, group_t *other)
{
    contact_t own = own_contact();
    contact_t *contacts =
        local->rank == leader ? memory_or_abort((size_t)mine->processes * sizeof own) : NULL;
    int code = to_leader(local, leader, &own, sizeof own, (char *)contacts);

    if (local->rank == leader && code == MPI_SUCCESS)
        code = swap_groups(t, mine, contacts, other);
    other->side.is_broken = code != MPI_SUCCESS;
    xy_free(contacts);
    mpi_spread_bcast(local, leader, mine, sizeof *mine);
    mpi_spread_bcast(local, leader, &other->side, sizeof other->side);
    if (other->side.is_broken)
        return;
    if (local->rank != leader) {
        other->members = memory_or_abort((size_t)other->side.size * sizeof(member_t));
        other->contacts = memory_or_abort((size_t)other->side.processes * sizeof(contact_t));
    }
    mpi_spread_bcast(local, leader, other->members, (size_t)other->side.size * sizeof(member_t));
    mpi_spread_bcast(local, leader, other->contacts,
                     (size_t)other->side.processes * sizeof(contact_t));
}

/* ---- The connections ---- */

/* Connect this process to one of the other job, or wait for its connection; a failure is noted in
 * `report`. */
static void connect_one(const side_t *other, contact_t *contact, report_t *report)
{
    char why[XY_WHY_SIZE] = "it cannot be connected to others";
    int process = -1;

    contact->secret[sizeof contact->secret - 1] = contact->card[CARD - 1] = '\0';
    if (contact->card[0] == '\0' || mpi_link_open() != XY_OK)
        process = mpi_link_find(other->job, contact->process);
    else if (mpi_job->id < other->job)
        process =
            mpi_link_connect(other->job, contact->process, contact->card, contact->secret, why);
    else
        process = mpi_link_await(other->job, contact->process, why);
    if (process >= 0)
        return;
    report->status = XY_EIO;
    snprintf(report->why, sizeof report->why,
             "process %d of a job and process %d of another one do not reach each other: %s",
             mpi_job->process, contact->process, why);
}

/* The first failure is that of all; the lists of the two leaders are the same then. */
static void agree(mpi_comm_t *local, int leader, const table_t *t, const side_t *mine,
                  report_t *report)
{
    const mpi_call_t call = local->owner->call;
    report_t *all = NULL, theirs = {.status = XY_OK};
    int code;

    if (local->rank == leader)
        all = memory_or_abort((size_t)mine->processes * sizeof *all);
    code = to_leader(local, leader, report, sizeof *report, (char *)all);
    for (int i = 0; all && i < mine->processes; i++)
        if (report->status == XY_OK)
            *report = all[i];
    if (local->rank == leader && code == MPI_SUCCESS)
        code = swap(t, report, sizeof *report, &theirs, sizeof theirs);
    if (code != MPI_SUCCESS || (report->status == XY_OK && theirs.status != XY_OK))
        *report = code != MPI_SUCCESS ? (report_t){XY_EIO, "the leaders did not connect"} : theirs;
    report->why[WHY - 1] = '\0';
    local->owner->call = call;
    xy_free(all);
    mpi_spread_bcast(local, leader, report, sizeof *report);
}

/* ---- The communicator ---- */

/* NULL: it has ranks that are not known here, or memory ran out. */
static mpi_group_t *group_of(const group_t *other)
{
    int *ranks = memory_or_abort((size_t)other->side.size * sizeof *ranks);

    for (int i = 0; i < other->side.size; i++) {
        mpi_rank_name_t name = {other->side.job, other->members[i].rank, other->members[i].process};

        ranks[i] = mpi_rank_named(&name);
        if (ranks[i] < 0) {
            xy_free(ranks);
            return NULL;
        }
    }
    return mpi_group_create(ranks, other->side.size);
}

/* Make the intercommunicator when all processes are connected; ends the job if its tables are full.
 */
static int make(mpi_comm_t *local, const side_t *mine, const group_t *other, mpi_comm_t **made_p)
{
    mpi_group_t *remote = group_of(other);
    bool is_high = mine->job > other->side.job;
    mpi_plan_t plan;
    int link;

    if (!remote) { /* the others continue */
        xy_fail(XY_EINVAL,
                "a process cannot know more than %d ranks of other jobs; disconnect from those "
                "that are not needed any more",
                XMPI_FOREIGN);
        mpi_job->abort(1);
        return MPI_ERR_NO_MEM;
    }
    link = mpi_link_of(remote);
    mpi_group_hold(local->group, 1);
    plan = mpi_plan_spread_inter(
        local->group, remote, is_high,
        mpi_link_context(link, is_high ? other->side.context : mine->context), local->rank);
    return mpi_comm_from_plan(local, &plan, made_p);
}

int mpi_intercomm_foreign(mpi_comm_t *local, int local_leader, mpi_comm_t *peer, int remote_leader,
                          int tag, mpi_comm_t **made_p)
{
    bool is_leader = local->rank == local_leader;
    int *speakers = memory_or_abort((size_t)local->size * sizeof *speakers), code;
    side_t mine = {.job = mpi_job->id,
                   .leader = mpi_group_world(local->group, local_leader),
                   .size = local->size,
                   .processes = find_speakers(local, speakers)};
    report_t report = {.status = XY_OK};
    group_t other = {.members = NULL};
    mpi_comm_t shadow;
    table_t table = {local, &shadow, remote_leader, tag};

    if (is_leader) {
        int there = mpi_job->process_of[mpi_comm_world_rank(peer, remote_leader)];

        shadow = mpi_comm_shadow(peer, XMPI_CONTEXT_SHADOW);
        mine.context = mpi_link_context_new(mpi_link_to(there), 2);
    }
    learn(local, local_leader, &table, &mine, &other);
    for (int i = 0; i < mine.processes && !other.side.is_broken; i++)
        for (int k = 0; speakers[i] == local->rank && k < other.side.processes; k++)
            if (report.status == XY_OK)
                connect_one(&other.side, &other.contacts[k], &report);
    if (!other.side.is_broken)
        agree(local, local_leader, &table, &mine, &report);
    if (other.side.is_broken)
        code = mpi_error(local, MPI_ERR_OTHER, "the leaders of the two groups have not connected");
    else if (report.status != XY_OK)
        code = mpi_error(local, MPI_ERR_PORT, "%s", report.why);
    else
        code = make(local, &mine, &other, made_p);
    xy_free(speakers);
    xy_free(other.members);
    xy_free(other.contacts);
    return code;
}
