/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators: made of two groups, and merged into one.
 *
 * The calls make the messages that the MPI library makes: the two leaders greet each other in the
 * peer communicator, the one with the lower number makes what all share and tells the other, and
 * each group agrees on it.
 */
#include <mpi.h>
#include <string.h>

#include "program/walk.h"

/* The offer of the leader with the higher number, until the other has made the communicator. */
typedef struct walk_offer {
    uint32_t context; /* of the peer communicator, and the */
    int32_t tag, from, to;
    const walk_comm_t *group;
    walk_comm_t *made; /* NULL: not yet */
    struct walk_offer *next;
} walk_offer_t;

/* The arguments of a leader. */
typedef struct {
    const walk_comm_t *local;
    xy_vjob_p2p_t message; /* to the other leader */
    bool is_low;
} leader_t;

/* Fills the address of the remote leader from the arguments; fails for ranks outside the peer
 * group. */
static bool leader_of(walker_t *w, const walk_comm_t *local, const int64_t *args, leader_t *l)
{
    const walk_member_t *peer = walk_comm(w, args[2]);
    int32_t peers;

    if (peer == NULL)
        return false;
    peers = walk_peers(peer->comm, peer->rank);
    if (args[3] < 0 || args[3] >= peers)
        return process_fail(&w->process, "the remote leader is %lld; the peer group has %d ranks",
                            (long long)args[3], peers);
    l->local = local;
    l->message = (xy_vjob_p2p_t){
        .context = peer->comm->context | WALK_SHADOW,
        .peer =
            walk_comm_proc(peer->comm, walk_peers_first(peer->comm, peer->rank) + (int32_t)args[3]),
        .tag = (int32_t)args[4]};
    l->is_low = w->rank < l->message.peer;
    return true;
}

/* Publishes the local group for the remote leader. */
static bool offer(walker_t *w, const leader_t *l)
{
    walk_offer_t *o = xy_arena_alloc(w->walk->arena, sizeof(*o));

    if (o == NULL)
        return process_fail_memory(&w->process);
    *o = (walk_offer_t){.context = l->message.context,
                        .tag = l->message.tag,
                        .from = w->rank,
                        .to = l->message.peer,
                        .group = l->local,
                        .next = w->walk->offers};
    w->walk->offers = o;
    return true;
}

static walk_offer_t **offer_find(walker_t *w, const leader_t *l, int32_t from, int32_t to)
{
    walk_offer_t **at = &w->walk->offers;

    while (*at != NULL && !((*at)->context == l->message.context && (*at)->tag == l->message.tag &&
                            (*at)->from == from && (*at)->to == to))
        at = &(*at)->next;
    return at;
}

static bool has_common(walk_comm_t *low, const walk_comm_t *high)
{
    for (int32_t r = 0; r < high->size; r++)
        if (walk_comm_rank(low, walk_comm_proc(high, r)) >= 0)
            return true;
    return false;
}

/* The communicator of both groups. */
static walk_comm_t *make(walker_t *w, const walk_comm_t *low, const walk_comm_t *high)
{
    int32_t size = low->size + high->size, *procs = xy_malloc((size_t)size * sizeof(*procs));
    walk_comm_t *comm;

    for (int32_t r = 0; procs != NULL && r < size; r++)
        procs[r] = r < low->size ? walk_comm_proc(low, r) : walk_comm_proc(high, r - low->size);
    comm = procs != NULL ? walk_comm_new(w->walk, procs, size) : NULL;
    xy_free(procs);
    if (comm == NULL)
        process_fail_memory(&w->process);
    else
        comm->lows = low->size;
    return comm;
}

/* The leaders have greeted each other: the low one makes the communicator. */
static bool make_of_offer(walker_t *w, const leader_t *l)
{
    walk_offer_t *o = *offer_find(w, l, l->message.peer, w->rank);

    if (o == NULL)
        return process_fail(&w->process, "the leaders name different peer communicators");
    if (has_common((walk_comm_t *)(uintptr_t)l->local, o->group))
        return process_fail(&w->process, "the two groups have a rank in common");
    o->made = w->made = make(w, l->local, o->group);
    return o->made != NULL;
}

/* ... and the high one, who has heard of it, takes it. */
static void take_made(walker_t *w, const leader_t *l)
{
    walk_offer_t **at = offer_find(w, l, w->rank, l->message.peer), *offer = *at;

    if (offer == NULL)
        return; /* never: it is there until this */
    w->made = offer->made;
    *at = offer->next;
}

enum { GREET = 0, HEAR, SAID, PLAN, AGREE, AGREED }; /* of process_t.phase */

/* Receive first, as MPI_Sendrecv does. */
static bool greet(walker_t *w, const leader_t *l)
{
    xy_vjob_p2p_t message = l->message;

    message.bytes = XY_VJOB_GREETING;
    if (!l->is_low && !offer(w, l))
        return false;
    w->current[0] = walk_message(w, WALK_RECEIVE, &message);
    w->current[1] = w->current[0] >= 0 ? walk_message(w, WALK_SEND, &message) : -1;
    w->process.phase = HEAR;
    return w->current[1] >= 0;
}

/* One leader tells the other what was made. */
static bool plan(walker_t *w, const leader_t *l)
{
    xy_vjob_p2p_t message = l->message;

    message.bytes = XY_VJOB_PLAN;
    for (int i = 0; i < 2; i++)
        walk_request_free(w, walk_request_at(w, w->current[i]));
    if (l->is_low && !make_of_offer(w, l))
        return false;
    w->current[0] = walk_message(w, l->is_low ? WALK_SEND : WALK_RECEIVE, &message);
    w->process.phase = PLAN;
    return w->current[0] >= 0;
}

/* The leader's part; true: w->made is the new communicator. */
static bool meet_leader(walker_t *w, const leader_t *l)
{
    if (w->process.phase == GREET && !greet(w, l))
        return false;
    if (w->process.phase == HEAR) {
        if (!walk_wait(w, w->current, 1, false))
            return false;
        w->process.phase = SAID;
    }
    if (w->process.phase == SAID && (!walk_wait(w, w->current + 1, 1, false) || !plan(w, l)))
        return false;
    if (w->process.phase == PLAN) {
        if (!walk_wait(w, w->current, 1, false))
            return false;
        walk_request_free(w, walk_request_at(w, w->current[0]));
        if (!l->is_low)
            take_made(w, l);
        w->process.phase = AGREE;
    }
    return true;
}

/* Each group agrees: the leader gives what was made. */
static bool agree(walker_t *w, int64_t handle, int32_t leader, walk_made_t *made_p)
{
    xy_vjob_coll_t call = {.collective = XY_COLL_ALLREDUCE,
                           .count = 1,
                           .element = 8,
                           .is_agreement = true,
                           .is_commutative = true};
    walk_member_t *m = walk_comm(w, handle);
    walk_meeting_t *meeting;

    if (w->process.phase != AGREED) {
        const void *data = m->rank == leader ? &w->made : NULL;

        if (walk_meet(w, m, m->number, data, sizeof(w->made)) == NULL ||
            !walk_coll_start(w, m, &call, &w->current[0]))
            return false;
        w->process.phase = AGREED;
    }
    if (!walk_wait(w, w->current, 1, false))
        return false;
    meeting = walk_meeting_find(m->comm, m->number - 1);
    memcpy(&made_p->comm, meeting->given[leader], sizeof(made_p->comm));
    made_p->rank = walk_comm_rank(made_p->comm, w->rank);
    walk_meeting_leave(m->comm, meeting);
    walk_request_free(w, walk_request_at(w, w->current[0]));
    return true;
}

/* MPI_Intercomm_create: the leaders meet, then each group agrees on the new communicator. */
static bool intercomm_create(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = walk_intracomm(w, args[0]);
    walk_made_t made;
    leader_t leader = {0};

    (void)site;
    if (m == NULL)
        return false;
    if (args[1] < 0 || args[1] >= m->comm->size)
        return process_fail(&w->process, "the local leader is %lld; the group has %d ranks",
                            (long long)args[1], m->comm->size);
    if (m->rank == args[1] && (!leader_of(w, m->comm, args, &leader) || !meet_leader(w, &leader)))
        return false;
    return agree(w, args[0], (int32_t)args[1], &made) && walk_give(w, args[5], &made);
}

/* The group whose members say so is the second; when both say the same, the high one. */
static bool intercomm_merge(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = walk_comm(w, args[0]);
    walk_made_t made;

    (void)site;
    if (m == NULL)
        return false;
    if (m->comm->lows == 0)
        return process_fail(&w->process, "the communicator is not an intercommunicator");
    return walk_merge(w, args[0], args[1] != 0, &made) && walk_give(w, args[2], &made);
}

/* Comm_remote_size, and Comm_test_inter (extra). */
static bool look(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_member_t *m = walk_comm(w, args[0]);

    if (m == NULL)
        return false;
    if (walk_extra(site))
        return walk_set_int(w, args[1], m->comm->lows > 0);
    if (m->comm->lows == 0)
        return process_fail(&w->process, "the communicator is not an intercommunicator");
    return walk_set_int(w, args[1], walk_peers(m->comm, m->rank));
}

const walk_call_t walk_calls_inter[] = {{"Intercomm_create", intercomm_create, 0},
                                        {"Intercomm_merge", intercomm_merge, 0},
                                        {"Comm_remote_size", look, 0},
                                        {"Comm_test_inter", look, 1},
                                        {0}};
