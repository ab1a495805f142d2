/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing: at once where the socket has room, else when it has. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "net/tcp.h"

enum { GATHERED = 16 }; /* blocks in one system call */

/* Tell the thread that sleeps whether room is worth waking for. */
static void want_output(tcp_net_t *net, int peer, bool wants)
{
    tcp_peer_t *p = &net->peers[peer];
    struct epoll_event event = {.events = EPOLLIN | (wants ? (unsigned)EPOLLOUT : 0u),
                                .data.u32 = (uint32_t)peer};

    if (atomic_load_explicit(&p->has_output, memory_order_relaxed) == wants)
        return;
    atomic_store_explicit(&p->has_output, wants, memory_order_relaxed);
    if (p->wire.fd >= 0)
        epoll_ctl(net->epoll, EPOLL_CTL_MOD, p->wire.fd, &event);
}

/* The kernel could not read a buffer of the program. The connection is not to blame: the same
 * access from here faults, and the report names the place. */
static void read_pieces(const struct iovec *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < pieces[i].iov_len; at++)
            (void)((const volatile char *)pieces[i].iov_base)[at];
}

/* Send as much as the socket takes without waiting; returns the bytes sent. An error marks the peer
 * as broken. */
static size_t put_plain(tcp_peer_t *p, struct iovec *pieces, size_t count)
{
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = count};
    ssize_t n;

    do
        n = sendmsg(p->wire.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EFAULT)
        read_pieces(pieces, count);
    if (n < 0 && errno != EAGAIN)
        p->is_broken = true;
    return n > 0 ? (size_t)n : 0;
}

/* Write what waits of a record. False: no room, or never again. */
static bool put_record(tcp_peer_t *p)
{
    struct iovec rest = {p->sealed_out + p->sealed_begin, p->sealed_end - p->sealed_begin};

    if (rest.iov_len > 0)
        p->sealed_begin += put_plain(p, &rest, 1);
    return p->sealed_begin == p->sealed_end;
}

/* Record after record, each sent before the next is sealed. What is in a record is written. */
static size_t put_sealed(tcp_peer_t *p, const struct iovec *pieces, size_t count)
{
    size_t total = 0, done = 0, taken;

    for (size_t i = 0; i < count; i++)
        total += pieces[i].iov_len;
    while (put_record(p) && done < total && !p->is_broken) {
        p->sealed_begin = 0;
        p->sealed_end = net_seal_wrap(p->wire.seal, pieces, count, done, p->sealed_out, &taken);
        if (p->sealed_end == 0) {
            p->is_broken = true;
            shutdown(p->wire.fd, SHUT_RDWR);
            return done;
        }
        done += taken;
    }
    return done;
}

/* How much was written; 0: no room, or never again. */
static size_t put(tcp_peer_t *p, struct iovec *pieces, size_t count)
{
    return p->wire.seal != NULL ? put_sealed(p, pieces, count) : put_plain(p, pieces, count);
}

/* Send queued messages and free those sent; true if the socket took all that were tried. Under the
 * peer's lock. */
static bool flush_blocks(tcp_peer_t *p)
{
    struct iovec pieces[GATHERED];
    size_t count = 0, total = 0, n;

    for (net_block_t *b = p->queue.blocks; b != NULL && count < GATHERED; b = b->next) {
        pieces[count++] =
            (struct iovec){.iov_base = b->bytes + b->sent, .iov_len = b->size - b->sent};
        total += b->size - b->sent;
    }
    n = put(p, pieces, count);
    for (size_t left = n; left > 0 && p->queue.blocks != NULL;) {
        net_block_t *b = p->queue.blocks;
        size_t step = left < b->size - b->sent ? left : b->size - b->sent;

        b->sent += step;
        left -= step;
        if (b->sent < b->size)
            break;
        net_queue_sent(&p->queue);
    }
    return n == total;
}

/* Move a given buffer of a peer to the list of finished ones and wake a sleeper. Under the peer's
 * lock. */
static void finish(tcp_net_t *net, tcp_peer_t *p, net_given_t *g)
{
    net_queue_given(&p->first->queue, g);
    net_finished_add(&net->finished, g);
    if (atomic_load(&net->sleeping) > 0)
        tcp_wake(&net->base);
}

static bool is_inside_piece(const tcp_peer_t *p)
{
    return p->piece_head_left + p->piece_left > 0;
}

/* The first given buffer with a piece that no lane has begun, or NULL. */
static net_given_t *next_given(const tcp_peer_t *p)
{
    net_given_t *g = p->first->queue.gives;

    while (g != NULL && g->begun == g->size)
        g = g->next;
    return g;
}

static void begin_piece(const tcp_net_t *net, tcp_peer_t *p, net_given_t *g)
{
    size_t piece = tcp_piece(net, g->size), left = g->size - g->begun;

    p->given = g;
    p->piece = g->bytes + g->begun;
    p->piece_left = left < piece ? left : piece;
    p->piece_head_left = TCP_HEAD;
    tcp_put(p->piece_head, p->piece_left, TCP_KIND_DATA, g->begun / piece, g->id);
    g->begun += p->piece_left;
}

/* Send the current piece; true if the socket took all of it. */
static bool flush_piece(tcp_net_t *net, tcp_peer_t *p)
{
    net_given_t *g = p->given;
    struct iovec pieces[2];
    size_t wanted, n, of_head;

    pieces[0] = (struct iovec){.iov_base = p->piece_head + TCP_HEAD - p->piece_head_left,
                               .iov_len = p->piece_head_left};
    pieces[1] = (struct iovec){.iov_base = (void *)(uintptr_t)p->piece, .iov_len = p->piece_left};
    wanted = p->piece_head_left + p->piece_left;
    n = put(p, pieces, 2);
    of_head = n < p->piece_head_left ? n : p->piece_head_left;
    p->piece_head_left -= of_head;
    p->piece_left -= n - of_head;
    p->piece += n - of_head;
    g->sent += n - of_head;
    if (g->sent == g->size)
        finish(net, p, g);
    return n == wanted;
}

/* Write one thing that waits; with the peer's lock. After the piece that has begun, messages come
 * before the next one. False: nothing waits, or there is no room. */
static bool flush_step(tcp_net_t *net, tcp_peer_t *p)
{
    net_given_t *g;

    if (p->is_broken || !put_record(p))
        return false;
    if (!is_inside_piece(p)) {
        if (p->queue.blocks != NULL)
            return flush_blocks(p);
        g = next_given(p);
        if (g == NULL)
            return false;
        begin_piece(net, p, g);
    }
    return flush_piece(net, p);
}

/* Write what the sockets to a process take, on its lanes in turn; with its lock. */
static void flush(tcp_net_t *net, int to)
{
    bool goes_on = true;

    while (goes_on) {
        goes_on = false;
        for (int peer = to; peer < net->count; peer += net->base.processes)
            goes_on |= flush_step(net, &net->peers[peer]);
    }
    for (int peer = to; peer < net->count; peer += net->base.processes) {
        const tcp_peer_t *p = &net->peers[peer];

        want_output(net, peer,
                    !p->is_broken && (p->queue.blocks != NULL || is_inside_piece(p) ||
                                      next_given(p) != NULL || p->sealed_begin < p->sealed_end));
    }
}

/* Does anything wait for room on a lane to a process? */
static bool has_output(const tcp_net_t *net, int to)
{
    for (int peer = to; peer < net->count; peer += net->base.processes)
        if (atomic_load_explicit(&net->peers[peer].has_output, memory_order_relaxed))
            return true;
    return false;
}

void tcp_flush_all(tcp_net_t *net)
{
    for (int to = 0; to < net->base.processes; to++) {
        if (!has_output(net, to))
            continue;
        pthread_mutex_lock(&net->peers[to].lock);
        flush(net, to);
        pthread_mutex_unlock(&net->peers[to].lock);
    }
}

/* Keep the rest of a message after `sent` bytes of it. Without memory the stream cannot be kept
 * whole: the connection ends, and both sides see that. */
static void keep_rest(tcp_peer_t *p, const struct iovec *pieces, size_t count, size_t sent)
{
    if (net_queue_keep(&p->queue, pieces, count, sent))
        return;
    p->is_broken = true;
    shutdown(p->wire.fd, SHUT_RDWR);
}

/* Send a frame, or queue what the socket does not take; frames to broken peers are dropped. */
static void send_frame(tcp_net_t *net, int peer, struct iovec *pieces, size_t count, size_t total)
{
    tcp_peer_t *p = &net->peers[peer];
    size_t n = 0;

    tcp_lock(p);
    if (!p->is_broken) {
        if (p->queue.blocks == NULL && !is_inside_piece(p))
            n = put(p, pieces, count);
        if (n < total && !p->is_broken)
            keep_rest(p, pieces, count, n);
        if (n < total || p->sealed_begin < p->sealed_end)
            want_output(net, peer, !p->is_broken);
    }
    tcp_unlock(p);
}

void tcp_send(xy_net_t *base, int to, const void *head, size_t head_size, const void *data,
              size_t size)
{
    uint8_t frame[TCP_HEAD];
    struct iovec pieces[3] = {
        {frame, TCP_HEAD}, {(void *)(uintptr_t)head, head_size}, {(void *)(uintptr_t)data, size}};

    tcp_put(frame, head_size + size, TCP_KIND_SHORT, 0, 0);
    send_frame((tcp_net_t *)base, to, pieces, 3, TCP_HEAD + head_size + size);
}

void tcp_send_bye(tcp_net_t *net, int peer)
{
    uint8_t frame[TCP_HEAD];
    struct iovec piece = {frame, TCP_HEAD};

    tcp_put(frame, 0, TCP_KIND_BYE, 0, 0);
    send_frame(net, peer, &piece, 1, TCP_HEAD);
}

void tcp_give(xy_net_t *base, int to, uint64_t id, const void *buffer, size_t bytes, void *token)
{
    tcp_net_t *net = (tcp_net_t *)base;
    tcp_peer_t *p = &net->peers[to];

    pthread_mutex_lock(&p->lock);
    if (net_queue_give(&p->queue, id, buffer, bytes, token)) {
        flush(net, to);
    } else {
        p->is_broken = true;
        if (p->wire.fd >= 0)
            shutdown(p->wire.fd, SHUT_RDWR);
    }
    pthread_mutex_unlock(&p->lock);
}
