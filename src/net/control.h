/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections that carry frames: a kind, and up to 64 MiB of bytes. The control connection between
 * mpiexec and each process of the job is one, over a socket pair on this machine and over TCP
 * between machines. What frames mean is the affair of those who send them.
 *
 *   xy_channel_t link;
 *   xy_channel_init(&link, fd);
 *   xy_channel_send(&link, HELLO, text, strlen(text));
 *   while (xy_channel_read(&link, &frame) == XY_CHANNEL_FRAME)
 *       ...frame.kind, frame.bytes, frame.size; xy_frame_free(&frame)
 *
 * Over TCP, both ends prove first that they know the secret of the job, without sending it
 * (greet.c): a listener answers many strangers at once and hands out those that have proved it.
 */
#ifndef XY_NET_CONTROL_H
#define XY_NET_CONTROL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum { XY_SECRET_BYTES = 16, XY_FRAME_LIMIT = 64 << 20 };

/* Random bytes from the kernel. */
xy_status_t xy_secret_make(uint8_t secret[XY_SECRET_BYTES]);
/* As 32 hexadecimal digits, and back (false: they are none). */
void xy_secret_write(const uint8_t secret[XY_SECRET_BYTES], char text[2 * XY_SECRET_BYTES + 1]);
bool xy_secret_read(const char *text, uint8_t secret[XY_SECRET_BYTES]);
/* A number for all who know the secret, which cannot be found from it. */
uint64_t xy_secret_number(const uint8_t secret[XY_SECRET_BYTES]);

/* ---- Frames ---- */

typedef struct {
    uint32_t kind;
    char *bytes; /* NUL behind them; the owner frees */
    size_t size;
} xy_frame_t;

typedef struct {
    int fd;                  /* -1: closed */
    _Atomic bool is_sending; /* by one at a time */
    uint8_t head[8];
    size_t got; /* of the head, then of the bytes */
    xy_frame_t frame;
} xy_channel_t;

typedef enum { XY_CHANNEL_FRAME, XY_CHANNEL_NOTHING, XY_CHANNEL_END } xy_channel_answer_t;

/* The link owns `fd` from now on. */
void xy_channel_init(xy_channel_t *link, int fd);
void xy_channel_close(xy_channel_t *link); /* safe to repeat */
/* The next frame, if it has come whole; never waits. END: the other side is gone, or what it sends
 * is no frame. One thread reads. */
xy_channel_answer_t xy_channel_read(xy_channel_t *link, xy_frame_t *frame);
/* The same, waiting up to `seconds`. */
xy_channel_answer_t xy_channel_await(xy_channel_t *link, double seconds, xy_frame_t *frame);
/* False: the other side is gone, or has not read for half a minute. Any thread. */
bool xy_channel_send(xy_channel_t *link, uint32_t kind, const void *bytes, size_t size);
/* The same from a signal handler, for the last frame of a process: false also if another thread, or
 * the code that the signal has interrupted, is sending and does not come to an end. */
bool xy_channel_send_last(xy_channel_t *link, uint32_t kind, const void *bytes, size_t size);
void xy_frame_free(xy_frame_t *frame);

/* ---- Over TCP ---- */

typedef struct xy_listener xy_listener_t;

/* On a port of its own, of this machine's loopback address only or of all. `name` is for the other
 * end to know whom it has reached; `count` names are accepted, 0 to count - 1. */
xy_status_t xy_listener_open(const uint8_t secret[XY_SECRET_BYTES], int name, int count,
                             bool is_local, xy_listener_t **listener_p);
/* Where to connect: "PORT ADDRESS ADDRESS...", with `first` (or NULL) before the others. NULL: no
 * memory. The caller frees. */
char *xy_listener_card(const xy_listener_t *listener, const char *first);
/* To wait for with poll: readable when there may be something to do. */
int xy_listener_fd(const xy_listener_t *listener);
/* The next that has proved to know the secret: its descriptor, and who it is. -1: none, yet. Never
 * waits. */
int xy_listener_accept(xy_listener_t *listener, int *name_p);
void xy_listener_close(xy_listener_t *listener);

/* Connect to the listener `name` at one of the addresses of its card, as `own`, until xy_now-like
 * `deadline` (CLOCK_MONOTONIC, seconds). -1: not reached; `why` has half a line about it. */
enum { XY_WHY_SIZE = 160 };
int xy_card_connect(const char *card, const uint8_t secret[XY_SECRET_BYTES], int name, int own,
                    double deadline, char why[XY_WHY_SIZE]);
/* This machine's address that a connection uses, as text; false: it is no internet connection. */
bool xy_socket_address(int fd, char text[64]);

#endif
