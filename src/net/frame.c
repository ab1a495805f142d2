/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames: kind and size as 32-bit little-endian numbers, then the bytes. On an encrypted connection
 * a frame is one record or several (seal.h), and no record has parts of two: nothing of the next
 * frame is read before its time, when another program may read it (xy_seal_save).
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "net/seal.h"

enum { HEAD = 8 };
#define PATIENCE      30.0 /* seconds for the other side to read */
#define LAST_PATIENCE 2.0  /* ... for others to end their frames, before the process ends */

static void put32(uint8_t *p, uint32_t x)
{
    for (int i = 0; i < 4; i++, x >>= 8)
        p[i] = (uint8_t)x;
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

bool xy_channel_init(xy_channel_t *link, int fd, xy_seal_t *seal)
{
    memset(link, 0, sizeof(*link));
    link->fd = fd;
    link->seal = seal;
    atomic_init(&link->is_sending, false);
    for (int i = 0; i < 2 && seal != NULL; i++) {
        link->records[i] = xy_malloc(NET_SEAL_RECORD);
        if (link->records[i] == NULL) {
            xy_channel_close(link);
            return false;
        }
    }
    return true;
}

void xy_channel_close(xy_channel_t *link)
{
    if (link->fd < 0)
        return;
    close(link->fd);
    link->fd = -1;
    xy_frame_free(&link->frame);
    xy_seal_free(link->seal);
    link->seal = NULL;
    for (int i = 0; i < 2; i++) {
        xy_free(link->records[i]);
        link->records[i] = NULL;
    }
}

void xy_frame_free(xy_frame_t *frame)
{
    xy_free(frame->bytes);
    frame->bytes = NULL;
}

/* 1: the piece is whole; 0: not yet; -1: there will be no more. */
static int fill(const xy_channel_t *link, void *piece, size_t *got_p, size_t size)
{
    while (*got_p < size) {
        ssize_t n = recv(link->fd, (char *)piece + *got_p, size - *got_p, MSG_DONTWAIT);

        if (n > 0)
            *got_p += (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            return 0;
        else if (n == 0 || errno != EINTR)
            return -1;
    }
    return 1;
}

static xy_channel_answer_t answer_of(int code)
{
    return code < 0 ? XY_CHANNEL_END : XY_CHANNEL_NOTHING;
}

/* The head has come. False: it is none. */
static bool begin_frame(xy_channel_t *link, const uint8_t *head)
{
    xy_frame_t *f = &link->frame;

    f->kind = get32(head);
    f->size = get32(head + 4);
    f->bytes = f->size <= XY_FRAME_LIMIT ? xy_malloc(f->size + 1) : NULL;
    link->got = 0;
    return f->bytes != NULL;
}

static xy_channel_answer_t end_frame(xy_channel_t *link, xy_frame_t *frame)
{
    xy_frame_t *f = &link->frame;

    f->bytes[f->size] = '\0';
    *frame = *f;
    *f = (xy_frame_t){0};
    link->got = 0;
    return XY_CHANNEL_FRAME;
}

/* Continue to read a frame of a plain connection; what has come so far is kept in the link. */
static xy_channel_answer_t read_plain(xy_channel_t *link, xy_frame_t *frame)
{
    int code;

    if (link->frame.bytes == NULL) {
        code = fill(link, link->head, &link->got, HEAD);
        if (code <= 0)
            return answer_of(code);
        if (!begin_frame(link, link->head))
            return XY_CHANNEL_END;
    }
    code = fill(link, link->frame.bytes, &link->got, link->frame.size);
    return code <= 0 ? answer_of(code) : end_frame(link, frame);
}

/* Add a record to the frame. False: it does not belong there. */
static bool take_record(xy_channel_t *link, const uint8_t *plain, size_t size)
{
    if (link->frame.bytes == NULL) {
        if (size < HEAD || !begin_frame(link, plain))
            return false;
        plain += HEAD;
        size -= HEAD;
    }
    if (size > link->frame.size - link->got)
        return false;
    memcpy(link->frame.bytes + link->got, plain, size);
    link->got += size;
    return true;
}

/* Continue to read a frame of an encrypted connection, record by record; a forged record ends it.
 */
static xy_channel_answer_t read_sealed(xy_channel_t *link, xy_frame_t *frame)
{
    uint8_t *record = link->records[1], *plain = record + NET_SEAL_SIZE;

    do {
        int code = fill(link, record, &link->record_got, NET_SEAL_SIZE);
        size_t length = code > 0 ? net_seal_length(record) : 0;

        if (code <= 0)
            return answer_of(code);
        code = length > 0 ? fill(link, record, &link->record_got, length) : -1;
        if (code <= 0)
            return answer_of(code);
        link->record_got = 0;
        if (!net_seal_open(link->seal, record, length, plain) ||
            !take_record(link, plain, length - NET_SEAL_SIZE - NET_SEAL_TAG))
            return XY_CHANNEL_END;
    } while (link->got < link->frame.size);
    return end_frame(link, frame);
}

xy_channel_answer_t xy_channel_read(xy_channel_t *link, xy_frame_t *frame)
{
    if (link->fd < 0)
        return XY_CHANNEL_END;
    return link->seal != NULL ? read_sealed(link, frame) : read_plain(link, frame);
}

xy_channel_answer_t xy_channel_await(xy_channel_t *link, double seconds, xy_frame_t *frame)
{
    double deadline = net_now() + seconds;
    xy_channel_answer_t answer;

    while ((answer = xy_channel_read(link, frame)) == XY_CHANNEL_NOTHING)
        if (!net_await(link->fd, POLLIN, deadline))
            return XY_CHANNEL_NOTHING;
    return answer;
}

/* Send both pieces, waiting up to PATIENCE seconds for room; false if the connection is broken. */
static bool send_all(int fd, struct iovec pieces[2])
{
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
    double deadline = net_now() + PATIENCE;

    while (pieces[0].iov_len + pieces[1].iov_len > 0) {
        ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EAGAIN && net_await(fd, POLLOUT, deadline))
            continue;
        if (n < 0 && errno != EINTR)
            return false;
        for (int i = 0; i < 2 && n > 0; i++) {
            size_t done = (size_t)n < pieces[i].iov_len ? (size_t)n : pieces[i].iov_len;

            pieces[i].iov_base = (char *)pieces[i].iov_base + done;
            pieces[i].iov_len -= done;
            n -= (ssize_t)done;
        }
    }
    return true;
}

/* In records, one after the other. */
static bool send_sealed(const xy_channel_t *link, const struct iovec pieces[2])
{
    size_t total = pieces[0].iov_len + pieces[1].iov_len, done = 0, taken;

    while (done < total) {
        struct iovec record[2] = {{.iov_base = link->records[0]}, {.iov_len = 0}};

        record[0].iov_len = net_seal_wrap(link->seal, pieces, 2, done, link->records[0], &taken);
        if (record[0].iov_len == 0 || !send_all(link->fd, record))
            return false;
        done += taken;
    }
    return true;
}

/* A flag and not a mutex: a signal handler may look at it, whatever it has interrupted. False: it
 * was not free within `seconds`. */
static bool begin_to_send(xy_channel_t *link, double seconds)
{
    const struct timespec pause = {.tv_nsec = 100000};
    double deadline = net_now() + seconds;

    while (atomic_exchange_explicit(&link->is_sending, true, memory_order_acquire)) {
        if (net_now() > deadline)
            return false;
        syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL); /* not a rank's */
    }
    return true;
}

/* Send a frame as the only sender, waiting up to `seconds` for another one; false if it was not
 * sent whole. */
static bool send_frame(xy_channel_t *link, uint32_t kind, const void *bytes, size_t size,
                       double seconds)
{
    uint8_t head[HEAD];
    struct iovec pieces[2] = {{.iov_base = head, .iov_len = HEAD},
                              {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size}};
    bool is_sent;

    if (link->fd < 0 || size > XY_FRAME_LIMIT)
        return false;
    put32(head, kind);
    put32(head + 4, (uint32_t)size);
    if (!begin_to_send(link, seconds))
        return false;
    is_sent = link->seal != NULL ? send_sealed(link, pieces) : send_all(link->fd, pieces);
    atomic_store_explicit(&link->is_sending, false, memory_order_release);
    return is_sent;
}

/* Each of those before it may take its time. */
bool xy_channel_send(xy_channel_t *link, uint32_t kind, const void *bytes, size_t size)
{
    return send_frame(link, kind, bytes, size, 10 * PATIENCE);
}

bool xy_channel_send_last(xy_channel_t *link, uint32_t kind, const void *bytes, size_t size)
{
    return send_frame(link, kind, bytes, size, LAST_PATIENCE);
}
