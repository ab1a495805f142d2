/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: starting them, as the MPI library does in virtual time. */
#include <mpi.h>
#include <string.h>

#include "program/walk.h"

/* ---- Requests ---- */

int32_t walk_request_new(walker_t *w)
{
    while ((size_t)w->free_request < w->requests.count &&
           walk_request_at(w, w->free_request)->is_used)
        w->free_request++;
    if ((size_t)w->free_request == w->requests.count && xy_vec_push(&w->requests) == NULL) {
        process_fail_memory(&w->process);
        return -1;
    }
    *walk_request_at(w, w->free_request) = (walk_request_t){.is_used = true, .is_active = true};
    return w->free_request++;
}

bool walk_keep(walker_t *w, walk_request_t *r, const code_site_t *site, const int64_t *args)
{
    size_t bytes = args != NULL ? (size_t)site->count * sizeof(*args) : 0;

    r->kept = xy_malloc(sizeof(*r->kept) + bytes);
    if (r->kept == NULL)
        return process_fail_memory(&w->process);
    *r->kept = (walk_kept_t){.site = site};
    if (args != NULL)
        memcpy(r->kept->args, args, bytes);
    return true;
}

/* ---- Starting ---- */

/* Starts a message; buffered sends and messages to MPI_PROC_NULL complete at once. */
static bool start(walker_t *w, walk_request_t *r, const walk_message_t *m)
{
    xy_vjob_t *job = w->walk->job;
    walk_data_t *data = NULL;

    r->is_active = true;
    r->is_done = false;
    if (m->p2p.peer == MPI_PROC_NULL) {
        r->is_done = true;
        r->status = (walk_status_t){.source = MPI_PROC_NULL, .tag = MPI_ANY_TAG};
        return true;
    }
    r->status.bytes = m->p2p.bytes; /* the room of a receive */
    if (m->buffer != 0) {
        data = walk_data_new(w, m);
        if (data == NULL)
            return false;
    }
    r->vreq = r->kind == WALK_SEND ? xy_vjob_isend(job, w->rank, &m->p2p, data)
                                   : xy_vjob_irecv(job, w->rank, &m->p2p, data);
    if (r->vreq == NULL)
        return process_stop(&w->process);
    if (r->kind == WALK_SEND &&
        (m->p2p.mode == XY_VJOB_BUFFERED || xy_vjob_is_done(job, r->vreq))) {
        xy_vjob_release(job, r->vreq);
        r->vreq = NULL;
        r->is_done = true;
    }
    return true;
}

/* Checks the arguments of a message and fills request and message; contents above 1 MiB are not
 * kept. */
static bool describe(walker_t *w, const walk_transfer_t *m, walk_request_t *r, walk_message_t *to)
{
    const walk_member_t *member = walk_comm(w, m->comm);
    bool is_send = m->kind == WALK_SEND;
    walk_type_t type;
    int32_t peers;

    if (member == NULL || !walk_type(w, m->type, &type))
        return false;
    if (m->count < 0)
        return process_fail(&w->process, "the count is %lld", (long long)m->count);
    peers = walk_peers(member->comm, member->rank);
    if (m->peer != MPI_PROC_NULL && (is_send || m->peer != MPI_ANY_SOURCE) &&
        (m->peer < 0 || m->peer >= peers))
        return process_fail(&w->process, "rank %lld does not exist; the communicator has %d",
                            (long long)m->peer, peers);
    if (m->tag < 0 && (is_send || m->tag != MPI_ANY_TAG))
        return process_fail(&w->process, "the tag is %lld", (long long)m->tag);
    r->kind = m->kind;
    r->comm = member->comm;
    r->first = walk_peers_first(member->comm, member->rank);
    to->buffer = m->has_buffer && m->count > 0 ? (uint64_t)m->buffer : 0;
    to->span = walk_type_span(&type, m->count);
    to->is_lost = (uint64_t)m->count * type.map.size > 1 << 20 || !walk_type_is_dense(&type);
    to->p2p = (xy_vjob_p2p_t){.context = member->comm->context | (m->is_hidden ? WALK_SHADOW : 0),
                              .tag = m->tag == MPI_ANY_TAG ? XY_VJOB_ANY : (int32_t)m->tag,
                              .mode = m->mode,
                              .is_blocking = m->is_blocking,
                              .bytes = (uint64_t)m->count * type.map.size};
    to->p2p.peer = m->peer == MPI_PROC_NULL ? MPI_PROC_NULL
                   : m->peer == MPI_ANY_SOURCE
                       ? XY_VJOB_ANY
                       : walk_comm_proc(member->comm, r->first + (int32_t)m->peer);
    return true;
}

int32_t walk_transfer(walker_t *w, const walk_transfer_t *m)
{
    int32_t index = walk_request_new(w);
    walk_message_t message;
    walk_request_t *r;

    if (index < 0)
        return -1;
    r = walk_request_at(w, index);
    return describe(w, m, r, &message) && start(w, r, &message) ? index : -1;
}

int32_t walk_message(walker_t *w, walk_kind_t kind, const xy_vjob_p2p_t *p2p)
{
    int32_t index = walk_request_new(w);
    walk_request_t *r;

    if (index < 0)
        return -1;
    r = walk_request_at(w, index);
    r->kind = kind;
    return start(w, r, &(walk_message_t){.p2p = *p2p}) ? index : -1;
}

static xy_vjob_mode_t mode_of(int32_t extra)
{
    static const xy_vjob_mode_t modes[] = {XY_VJOB_STANDARD, XY_VJOB_SYNCHRONOUS, XY_VJOB_BUFFERED,
                                           XY_VJOB_READY};

    return modes[extra];
}

/* buf count datatype peer tag comm: the first six arguments of most calls. */
static walk_transfer_t message_of(walk_kind_t kind, const code_site_t *site, const int64_t *args)
{
    return (walk_transfer_t){.kind = kind,
                             .buffer = args[0],
                             .has_buffer = (site->given & 1) != 0,
                             .count = args[1],
                             .type = args[2],
                             .peer = args[3],
                             .tag = args[4],
                             .comm = args[5],
                             .mode = kind == WALK_SEND ? mode_of(walk_extra(site) & 3)
                                                       : XY_VJOB_STANDARD};
}

static bool set_status(walker_t *w, int64_t address, const walk_request_t *r)
{
    int32_t source = r->status.source;

    if (source >= 0 && r->comm != NULL)
        source = walk_comm_rank(r->comm, source) - r->first;
    return walk_set_status(w, address, source, r->status.tag, r->status.bytes);
}

/* MPI_Send and its modes. */
static bool send_blocking(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_transfer_t m = message_of(WALK_SEND, site, args);

    m.is_blocking = m.mode != XY_VJOB_BUFFERED;
    return walk_wait_begun(w, w->process.phase == 0 ? walk_transfer(w, &m) : 0) != NULL;
}

/* MPI_Recv. */
static bool receive_blocking(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_transfer_t m = message_of(WALK_RECEIVE, site, args);
    const walk_request_t *r = walk_wait_begun(w, w->process.phase == 0 ? walk_transfer(w, &m) : 0);

    return r != NULL && set_status(w, args[6], r);
}

/* The receive is started first, and waited for first. */
static bool exchange(walker_t *w, const walk_transfer_t *send, const walk_transfer_t *receive,
                     int64_t status)
{
    if (w->process.phase == 0) {
        w->current[0] = walk_transfer(w, receive);
        w->current[1] = w->current[0] >= 0 ? walk_transfer(w, send) : -1;
        if (w->current[1] < 0)
            return false;
        w->process.phase = 1;
    }
    if (w->process.phase == 1) {
        if (!walk_wait(w, w->current, 1, false))
            return false;
        w->process.phase = 2;
    }
    if (!walk_wait(w, w->current + 1, 1, false))
        return false;
    walk_request_free(w, walk_request_at(w, w->current[0]));
    walk_request_free(w, walk_request_at(w, w->current[1]));
    return set_status(w, status, walk_request_at(w, w->current[0]));
}

/* MPI_Sendrecv. */
static bool sendrecv(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_transfer_t send = {.kind = WALK_SEND,
                            .is_blocking = true,
                            .buffer = args[0],
                            .has_buffer = (site->given & 1) != 0,
                            .count = args[1],
                            .type = args[2],
                            .peer = args[3],
                            .tag = args[4],
                            .comm = args[10]};
    walk_transfer_t receive = {.kind = WALK_RECEIVE,
                               .buffer = args[5],
                               .has_buffer = (site->given & 1 << 5) != 0,
                               .count = args[6],
                               .type = args[7],
                               .peer = args[8],
                               .tag = args[9],
                               .comm = args[10]};

    return exchange(w, &send, &receive, args[11]);
}

/* MPI_Sendrecv_replace. */
static bool sendrecv_replace(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_transfer_t send = {.kind = WALK_SEND,
                            .is_blocking = true,
                            .buffer = args[0],
                            .has_buffer = (site->given & 1) != 0,
                            .count = args[1],
                            .type = args[2],
                            .peer = args[3],
                            .tag = args[4],
                            .comm = args[7]};
    walk_transfer_t receive = send;

    receive.kind = WALK_RECEIVE;
    receive.is_blocking = false;
    receive.peer = args[5];
    receive.tag = args[6];
    return exchange(w, &send, &receive, args[8]);
}

/* Isend and its modes, Irecv (extra & 4). */
static bool start_one(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_transfer_t m = message_of(walk_extra(site) & 4 ? WALK_RECEIVE : WALK_SEND, site, args);
    int32_t index = walk_transfer(w, &m);

    return index >= 0 && walk_set_handle(w, args[6], WALK_REQUEST_FIRST + index);
}

/* ---- Persistent requests ---- */

/* MPI_Send_init, its modes and MPI_Recv_init: an inactive persistent request. */
static bool init(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_transfer_t m = message_of(walk_extra(site) & 4 ? WALK_RECEIVE : WALK_SEND, site, args);
    int32_t index = walk_request_new(w);
    walk_request_t *r;

    if (index < 0)
        return false;
    r = walk_request_at(w, index);
    r->is_persistent = true;
    r->is_active = false;
    return walk_keep(w, r, site, NULL) && describe(w, &m, r, &r->kept->message) &&
           walk_set_handle(w, args[6], WALK_REQUEST_FIRST + index);
}

/* Start, and Startall (extra). */
static bool start_again(walker_t *w, const code_site_t *site, int64_t *args)
{
    int64_t count = walk_extra(site) ? args[0] : 1, at = args[walk_extra(site)];

    for (int64_t i = 0; i < count; i++) {
        walk_request_t *r;
        int64_t handle;

        if (!walk_get_handle(w, at, i, &handle))
            return false;
        r = walk_request(w, handle);
        if (r == NULL)
            return false;
        if (!r->is_persistent || r->is_active)
            return process_fail(&w->process, r->is_active ? "the request is active"
                                                          : "the request is not persistent");
        if (!(r->kind == WALK_COLLECTIVE ? walk_coll_again(w, r) : start(w, r, &r->kept->message)))
            return false;
    }
    return true;
}

/* ---- Probes ---- */

enum { LOOKS = 1, TAKES = 2 }; /* extra: does not wait; the message is received by its handle */

static int64_t const no_message = (int64_t)(intptr_t)MPI_MESSAGE_NULL,
                     from_nobody = (int64_t)(intptr_t)MPI_MESSAGE_NO_PROC;

/* Give the program the handle of the message that a probe has taken. */
static bool give_taken(walker_t *w, const walk_request_t *look, int64_t address)
{
    int32_t index = walk_request_new(w);
    walk_request_t *r;

    if (index < 0)
        return false;
    r = walk_request_at(w, index);
    *r = *look;
    r->is_used = true;
    r->number = (uint64_t)(uintptr_t)xy_vjob_taken(w->walk->job, w->rank);
    return walk_set_handle(w, address, WALK_MESSAGE_FIRST + index);
}

/* MPI_Probe, MPI_Iprobe, MPI_Mprobe and MPI_Improbe. */
static bool probe(walker_t *w, const code_site_t *site, int64_t *args)
{
    bool is_waiting = (walk_extra(site) & LOOKS) == 0, takes = (walk_extra(site) & TAKES) != 0;
    int64_t handle = args[is_waiting ? 3 : 4], status = args[3 + !is_waiting + takes];
    walk_transfer_t m = {.kind = WALK_RECEIVE,
                         .peer = args[0],
                         .tag = args[1],
                         .comm = args[2],
                         .type = (int64_t)(intptr_t)MPI_BYTE};
    walk_request_t look = {0};
    walk_message_t message;
    xy_vjob_status_t found;
    bool is_found;

    if (!describe(w, &m, &look, &message))
        return false;
    if (m.peer == MPI_PROC_NULL)
        return (is_waiting || walk_set_int(w, args[3], 1)) &&
               (!takes || walk_set_handle(w, handle, from_nobody)) &&
               walk_set_status(w, status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    if (w->process.phase == 0) {
        w->process.phase = 1;
        if (!xy_vjob_probe(w->walk->job, w->rank, &message.p2p, is_waiting, takes))
            return false;
    }
    is_found = xy_vjob_flag(w->walk->job, w->rank);
    if (is_found) {
        xy_vjob_found(w->walk->job, w->rank, &found);
        look.status = (walk_status_t){found.source, found.tag, found.bytes};
        if (!set_status(w, status, &look) || (takes && !give_taken(w, &look, handle)))
            return false;
    } else if (takes && !walk_set_handle(w, handle, no_message)) {
        return false;
    }
    return is_waiting || walk_set_int(w, args[3], is_found);
}

/* Starts to receive a message that was taken; its request, -1: it failed. */
static int32_t receive_taken(walker_t *w, const code_site_t *site, const int64_t *args,
                             int64_t handle)
{
    int64_t index = handle - WALK_MESSAGE_FIRST;
    walk_data_t *data = NULL;
    walk_message_t message;
    walk_request_t *r;
    walk_type_t type;

    if (index < 0 || (uint64_t)index >= w->requests.count ||
        walk_request_at(w, (int32_t)index)->number == 0 ||
        walk_request_at(w, (int32_t)index)->is_active) {
        process_fail(&w->process, "no message");
        return -1;
    }
    if (!walk_type(w, args[2], &type))
        return -1;
    if (args[1] < 0) {
        process_fail(&w->process, "the count is %lld", (long long)args[1]);
        return -1;
    }
    r = walk_request_at(w, (int32_t)index);
    r->is_active = true;
    r->status.bytes = (uint64_t)args[1] * type.map.size;
    message = (walk_message_t){.p2p = {.bytes = r->status.bytes},
                               .buffer = (uint64_t)args[0],
                               .span = walk_type_span(&type, args[1]),
                               .is_lost = r->status.bytes > 1 << 20 || !walk_type_is_dense(&type)};
    if ((site->given & 1) != 0 && args[1] > 0) {
        data = walk_data_new(w, &message);
        if (data == NULL)
            return -1;
    }
    r->vreq = xy_vjob_imrecv(w->walk->job, w->rank, (xy_vmsg_t *)(uintptr_t)r->number, data);
    r->number = 0;
    if (r->vreq == NULL)
        process_stop(&w->process);
    return r->vreq != NULL ? (int32_t)index : -1;
}

/* A receive of the handle, which may be that of no message; the handle is used up. */
static int32_t begin_taken(walker_t *w, const code_site_t *site, const int64_t *args)
{
    walk_request_t *r;
    int64_t handle;
    int32_t index;

    if (!walk_get_handle(w, args[3], 0, &handle) || !walk_set_handle(w, args[3], no_message))
        return -1;
    if (handle != from_nobody)
        return receive_taken(w, site, args, handle);
    index = walk_request_new(w);
    if (index < 0)
        return -1;
    r = walk_request_at(w, index);
    r->kind = WALK_RECEIVE;
    r->is_done = true;
    r->status = (walk_status_t){.source = MPI_PROC_NULL, .tag = MPI_ANY_TAG};
    return index;
}

/* MPI_Mrecv: receive the message of a handle, or nothing from MPI_MESSAGE_NO_PROC. */
static bool mrecv(walker_t *w, const code_site_t *site, int64_t *args)
{
    const walk_request_t *r =
        walk_wait_begun(w, w->process.phase == 0 ? begin_taken(w, site, args) : 0);

    return r != NULL && set_status(w, args[4], r);
}

static bool imrecv(walker_t *w, const code_site_t *site, int64_t *args)
{
    int32_t index = begin_taken(w, site, args);

    return index >= 0 && walk_set_handle(w, args[4], WALK_REQUEST_FIRST + index);
}

const walk_call_t walk_calls_p2p[] = {{"Send", send_blocking, 0},
                                      {"Ssend", send_blocking, 1},
                                      {"Bsend", send_blocking, 2},
                                      {"Rsend", send_blocking, 3},
                                      {"Recv", receive_blocking, 0},
                                      {"Sendrecv", sendrecv, 0},
                                      {"Sendrecv_replace", sendrecv_replace, 0},
                                      {"Isend", start_one, 0},
                                      {"Issend", start_one, 1},
                                      {"Ibsend", start_one, 2},
                                      {"Irsend", start_one, 3},
                                      {"Irecv", start_one, 4},
                                      {"Send_init", init, 0},
                                      {"Ssend_init", init, 1},
                                      {"Bsend_init", init, 2},
                                      {"Rsend_init", init, 3},
                                      {"Recv_init", init, 4},
                                      {"Start", start_again, 0},
                                      {"Startall", start_again, 1},
                                      {"Probe", probe, 0},
                                      {"Iprobe", probe, LOOKS},
                                      {"Mprobe", probe, TAKES},
                                      {"Improbe", probe, LOOKS | TAKES},
                                      {"Mrecv", mrecv, 0},
                                      {"Imrecv", imrecv, 0},
                                      {0}};
