/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading: messages from a buffer, large ones straight to where they belong. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "net/tcp.h"

/* While a piece is coming, so much is read behind it: what begins there is copied. */
enum { BEHIND = 4 << 10 };

void tcp_take(xy_net_t *base, int from, uint64_t id, void *buffer, size_t bytes, void *token)
{
    tcp_peer_t *p = &((tcp_net_t *)base)->peers[from];

    pthread_mutex_lock(&p->lock);
    if (!net_queue_take(&p->queue, id, buffer, bytes, token)) {
        p->is_broken = true;
        if (p->wire.fd >= 0)
            shutdown(p->wire.fd, SHUT_RDWR);
    }
    pthread_mutex_unlock(&p->lock);
}

static net_taken_t *find_taken(tcp_peer_t *p, uint64_t id)
{
    net_taken_t *t;

    tcp_lock(p);
    t = net_queue_find(&p->first->queue, id);
    tcp_unlock(p);
    return t;
}

static void end_taken(tcp_net_t *net, tcp_peer_t *p, net_taken_t *t)
{
    void *token;

    tcp_lock(p);
    token = net_queue_taken(&p->first->queue, t);
    tcp_unlock(p);
    net->base.events->done(net->base.context, token);
}

/* `n` more bytes of the current piece are in place. */
static void advance(tcp_net_t *net, tcp_peer_t *p, size_t n)
{
    net_taken_t *t = p->current;

    t->got += n;
    p->current_at += n;
    p->current_left -= n;
    if (p->current_left > 0)
        return;
    p->current = NULL;
    if (t->got == t->size)
        end_taken(net, p, t);
}

void tcp_shut(tcp_net_t *net, int peer)
{
    tcp_peer_t *p = &net->peers[peer];

    tcp_lock(p);
    p->is_broken = true;
    epoll_ctl(net->epoll, EPOLL_CTL_DEL, p->wire.fd, NULL);
    net_wire_close(&p->wire);
    atomic_store_explicit(&p->has_output, false, memory_order_relaxed);
    tcp_unlock(p);
    p->is_gone = true;
}

/* Close a connection. With one that has not said BYE, the process is lost on all lanes. */
static void drop(tcp_net_t *net, int peer, const char *why)
{
    int process = peer % net->base.processes;

    tcp_shut(net, peer);
    if (net->peers[peer].is_leaving)
        return;
    for (int other = process; other < net->count; other += net->base.processes)
        if (!net->peers[other].is_gone)
            tcp_shut(net, other);
    net->base.events->lost(net->base.context, process, why);
}

static uint64_t get64(const char *bytes)
{
    uint64_t x = 0;

    for (int i = 7; i >= 0; i--)
        x = x << 8 | (uint8_t)bytes[i];
    return x;
}

/* The piece whose head has come begins. What is wrong with it, or NULL. */
static const char *begin_piece(tcp_net_t *net, tcp_peer_t *p, uint64_t id, uint64_t number,
                               size_t size)
{
    net_taken_t *t = find_taken(p, id);
    size_t n = p->end - p->begin < size ? p->end - p->begin : size;
    uint64_t at = t == NULL ? 0 : number * tcp_piece(net, t->size);

    if (t == NULL || size == 0 || at >= t->size || size > t->size - at || size > t->size - t->begun)
        return "it has sent bytes that were not requested";
    memcpy(t->buffer + at, p->buffer + p->begin, n);
    p->begin += n;
    t->begun += size;
    p->current = t;
    p->current_at = t->buffer + at;
    p->current_left = size;
    advance(net, p, n);
    return NULL;
}

/* One frame of the buffer. False: it is not whole yet, or wrong (*why_p). */
static bool take_frame(tcp_net_t *net, int from, const char **why_p)
{
    tcp_peer_t *p = &net->peers[from];
    const char *head = p->buffer + p->begin;
    size_t size, have = p->end - p->begin;
    uint64_t first;

    if (have < TCP_HEAD)
        return false;
    first = get64(head);
    size = (uint32_t)first;
    switch (first >> 32 & 0xff) {
    case TCP_KIND_SHORT:
        if (size > TCP_SHORT) {
            *why_p = "it has sent a message that is too long";
            return false;
        }
        if (have - TCP_HEAD < size)
            return false;
        p->begin += TCP_HEAD + size;
        net->base.events->message(net->base.context, from, head + TCP_HEAD, size);
        return true;
    case TCP_KIND_DATA:
        p->begin += TCP_HEAD;
        *why_p = begin_piece(net, p, get64(head + 8), first >> 40, size);
        return *why_p == NULL;
    case TCP_KIND_BYE:
        p->begin += TCP_HEAD;
        p->is_leaving = true;
        if (net->listener != NULL)
            net->base.events->lost(net->base.context, from, NULL);
        return true;
    default:
        *why_p = "it has sent an invalid message";
        return false;
    }
}

/* Room for `size` bytes behind what was read. */
static void make_room_for(tcp_peer_t *p, size_t size)
{
    if (p->begin == p->end)
        p->begin = p->end = 0;
    if (p->begin > 0 && TCP_BUFFER - p->end < size) {
        memmove(p->buffer, p->buffer + p->begin, p->end - p->begin);
        p->end -= p->begin;
        p->begin = 0;
    }
}

/* ... for all of the longest message. */
static void make_room(tcp_peer_t *p)
{
    make_room_for(p, p->begin + TCP_HEAD + TCP_SHORT > TCP_BUFFER ? TCP_BUFFER : 0);
}

/* Read into the large buffer that is being received, if any, and into the peer's own buffer behind
 * it. */
static ssize_t read_some(tcp_peer_t *p)
{
    struct iovec pieces[2];
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 1};
    size_t room;
    ssize_t n;

    make_room(p);
    room = TCP_BUFFER - p->end;
    pieces[0] = (struct iovec){p->buffer + p->end, room};
    if (p->current != NULL) {
        pieces[0] = (struct iovec){p->current_at, p->current_left};
        pieces[1] = (struct iovec){p->buffer + p->end, room < BEHIND ? room : BEHIND};
        message.msg_iovlen = 2;
    }
    n = recvmsg(p->wire.fd, &message, MSG_DONTWAIT);
    /* The kernel could not write to a buffer of the program. The connection is not to blame: the
     * same access from here faults, and the report names the place. */
    if (n < 0 && errno == EFAULT && p->current != NULL)
        memset(p->current_at, 0, p->current_left);
    return n;
}

/* All messages that are whole in the buffer. What is wrong, or NULL. */
static const char *take_frames(tcp_net_t *net, int from)
{
    const char *why = NULL;

    while (net->peers[from].current == NULL && take_frame(net, from, &why))
        ;
    return why;
}

static const char *take_plain(tcp_net_t *net, int from, size_t n)
{
    tcp_peer_t *p = &net->peers[from];
    size_t of_piece = n < p->current_left ? n : p->current_left;

    p->end += n - of_piece;
    if (of_piece > 0)
        advance(net, p, of_piece);
    return take_frames(net, from);
}

const char xy_net_changed[] = "its data was changed in transit";

/* A record goes straight to its place if all of it belongs to the current piece, else to the
 * buffer, which is empty while a piece comes. */
static const char *take_record(tcp_net_t *net, int from, const uint8_t *record, size_t length)
{
    tcp_peer_t *p = &net->peers[from];
    size_t size = length - NET_SEAL_SIZE - NET_SEAL_TAG, of_piece;
    net_taken_t *t = p->current;

    if (t != NULL && p->current_left >= size) {
        if (!net_seal_open(p->wire.seal, record, length, p->current_at))
            return xy_net_changed;
        advance(net, p, size);
        return NULL;
    }
    make_room_for(p, size);
    if (!net_seal_open(p->wire.seal, record, length, p->buffer + p->end))
        return xy_net_changed;
    p->end += size;
    if (t != NULL) {
        of_piece = p->current_left;
        memcpy(p->current_at, p->buffer + p->begin, of_piece);
        p->begin += of_piece;
        advance(net, p, of_piece);
    }
    return take_frames(net, from);
}

/* All records that are whole. */
static const char *take_sealed(tcp_net_t *net, int from, size_t n)
{
    tcp_peer_t *p = &net->peers[from];
    size_t at = 0, length = 0;
    const char *why = NULL;

    p->sealed_got += n;
    while (why == NULL && p->sealed_got - at >= NET_SEAL_SIZE) {
        length = net_seal_length(p->sealed_in + at);
        if (length == 0)
            return "it has sent an invalid record";
        if (p->sealed_got - at < length)
            break;
        why = take_record(net, from, p->sealed_in + at, length);
        at += length;
    }
    memmove(p->sealed_in, p->sealed_in + at, p->sealed_got - at);
    p->sealed_got -= at;
    return why;
}

bool tcp_receive(tcp_net_t *net, int from)
{
    tcp_peer_t *p = &net->peers[from];
    const char *why;
    ssize_t n;

    if (p->is_gone)
        return false;
    n = p->wire.seal == NULL ? read_some(p)
                             : recv(p->wire.fd, p->sealed_in + p->sealed_got,
                                    TCP_SEALED - p->sealed_got, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0) {
        drop(net, from, n == 0 ? "it has closed the connection" : strerror(errno));
        return true;
    }
    why =
        p->wire.seal == NULL ? take_plain(net, from, (size_t)n) : take_sealed(net, from, (size_t)n);
    if (why != NULL)
        drop(net, from, why);
    return true;
}
