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

static tcp_taken_t **bucket_of(tcp_peer_t *p, uint64_t id)
{
    return &p->takes[(id * 0x9e3779b97f4a7c15u >> 32) % TCP_BUCKETS];
}

void tcp_take(xy_net_t *base, int from, uint64_t id, void *buffer, size_t bytes, void *token)
{
    tcp_peer_t *p = &((tcp_net_t *)base)->peers[from];
    tcp_taken_t *t = xy_malloc(sizeof(*t)), **bucket = bucket_of(p, id);

    pthread_mutex_lock(&p->lock);
    if (t == NULL) {
        xy_fail_memory("taking a buffer from another process");
        p->is_broken = true;
        if (p->fd >= 0)
            shutdown(p->fd, SHUT_RDWR);
    } else {
        *t = (tcp_taken_t){
            .next = *bucket, .id = id, .buffer = buffer, .size = bytes, .token = token};
        *bucket = t;
    }
    pthread_mutex_unlock(&p->lock);
}

static tcp_taken_t *find_taken(tcp_peer_t *p, uint64_t id)
{
    tcp_taken_t *t;

    pthread_mutex_lock(&p->lock);
    for (t = *bucket_of(p, id); t != NULL && t->id != id;)
        t = t->next;
    pthread_mutex_unlock(&p->lock);
    return t;
}

static void end_taken(tcp_net_t *net, tcp_peer_t *p, tcp_taken_t *t)
{
    tcp_taken_t **at = bucket_of(p, t->id);
    void *token = t->token;

    pthread_mutex_lock(&p->lock);
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    pthread_mutex_unlock(&p->lock);
    xy_free(t);
    net->base.events->done(net->base.context, token);
}

/* `n` more bytes of the current piece are in place. */
static void advance(tcp_net_t *net, tcp_peer_t *p, size_t n)
{
    tcp_taken_t *t = p->current;

    t->got += n;
    p->current_left -= n;
    if (p->current_left > 0)
        return;
    p->current = NULL;
    if (t->got == t->size)
        end_taken(net, p, t);
}

void tcp_shut(tcp_net_t *net, int process)
{
    tcp_peer_t *p = &net->peers[process];

    pthread_mutex_lock(&p->lock);
    p->is_broken = true;
    epoll_ctl(net->epoll, EPOLL_CTL_DEL, p->fd, NULL);
    close(p->fd);
    p->fd = -1;
    atomic_store_explicit(&p->has_output, false, memory_order_relaxed);
    pthread_mutex_unlock(&p->lock);
    p->is_gone = true;
}

static void drop(tcp_net_t *net, int process, const char *why)
{
    const tcp_peer_t *p = &net->peers[process];

    tcp_shut(net, process);
    if (!p->is_leaving)
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
static const char *begin_piece(tcp_net_t *net, tcp_peer_t *p, uint64_t id, size_t size)
{
    tcp_taken_t *t = find_taken(p, id);
    size_t n = p->end - p->begin < size ? p->end - p->begin : size;

    if (t == NULL || size == 0 || size > t->size - t->got)
        return "it sends bytes that were not asked for";
    memcpy(t->buffer + t->got, p->buffer + p->begin, n);
    p->begin += n;
    p->current = t;
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
    switch (first >> 32) {
    case TCP_KIND_SHORT:
        if (size > TCP_SHORT) {
            *why_p = "it sends a message that is too long";
            return false;
        }
        if (have - TCP_HEAD < size)
            return false;
        p->begin += TCP_HEAD + size;
        net->base.events->message(net->base.context, from, head + TCP_HEAD, size);
        return true;
    case TCP_KIND_DATA:
        p->begin += TCP_HEAD;
        *why_p = begin_piece(net, p, get64(head + 8), size);
        return *why_p == NULL;
    case TCP_KIND_BYE:
        p->begin += TCP_HEAD;
        p->is_leaving = true;
        if (net->listener != NULL)
            net->base.events->lost(net->base.context, from, NULL);
        return true;
    default:
        *why_p = "it sends what is no message";
        return false;
    }
}

static ssize_t read_some(tcp_peer_t *p)
{
    struct iovec pieces[2];
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 1};
    size_t room;
    ssize_t n;

    if (p->begin == p->end)
        p->begin = p->end = 0;
    if (p->begin > 0 && TCP_BUFFER - p->begin < TCP_HEAD + TCP_SHORT) {
        memmove(p->buffer, p->buffer + p->begin, p->end - p->begin);
        p->end -= p->begin;
        p->begin = 0;
    }
    room = TCP_BUFFER - p->end;
    pieces[0] = (struct iovec){p->buffer + p->end, room};
    if (p->current != NULL) {
        pieces[0] = (struct iovec){p->current->buffer + p->current->got, p->current_left};
        pieces[1] = (struct iovec){p->buffer + p->end, room < BEHIND ? room : BEHIND};
        message.msg_iovlen = 2;
    }
    n = recvmsg(p->fd, &message, MSG_DONTWAIT);
    /* The kernel could not write to a buffer of the program. The connection is not to blame: the
     * same access from here faults, and the report names the place. */
    if (n < 0 && errno == EFAULT && p->current != NULL)
        memset(p->current->buffer + p->current->got, 0, p->current_left);
    return n;
}

bool tcp_receive(tcp_net_t *net, int from)
{
    tcp_peer_t *p = &net->peers[from];
    const char *why = NULL;
    size_t of_piece;
    ssize_t n;

    if (p->is_gone)
        return false;
    n = read_some(p);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0) {
        drop(net, from, n == 0 ? "it has closed the connection" : strerror(errno));
        return true;
    }
    of_piece = (size_t)n < p->current_left ? (size_t)n : p->current_left;
    p->end += (size_t)n - of_piece;
    if (of_piece > 0)
        advance(net, p, of_piece);
    while (p->current == NULL && take_frame(net, from, &why))
        ;
    if (why != NULL)
        drop(net, from, why);
    return true;
}
