/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections that carry frames: a kind, and up to 64 MiB of bytes. The control connection between
 * mpiexec and each process of the job is one, over a socket pair on this machine and over TCP
 * between machines. The senders and receivers define the meaning of frames.
 *
 *   xy_channel_t link;
 *   xy_channel_init(&link, fd, NULL);
 *   xy_channel_send(&link, HELLO, text, strlen(text));
 *   while (xy_channel_read(&link, &frame) == XY_CHANNEL_FRAME)
 *       ...frame.kind, frame.bytes, frame.size; xy_frame_free(&frame)
 *
 * Over TCP, both ends prove first that they know the secret of the job, without sending it
 * (greet.c): a listener answers many strangers at once and returns those that have proved it.
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
/* Another secret, for all who know this one and the salt, which others may know. */
void xy_secret_derive(const uint8_t secret[XY_SECRET_BYTES], const uint8_t salt[XY_SECRET_BYTES],
                      uint8_t derived[XY_SECRET_BYTES]);
/* A number for all who know the secret, which cannot be found from it. */
uint64_t xy_secret_number(const uint8_t secret[XY_SECRET_BYTES]);

/* ---- Encrypted connections ---- */

enum { XY_WHY_SIZE = 160 };

/* The cipher of a connection; NULL stands for one that is not encrypted. */
typedef struct xy_seal xy_seal_t;

/* Can connections be encrypted here? If not, `why` has half a line about it. */
bool xy_seal_is_there(char why[XY_WHY_SIZE]);
void xy_seal_free(xy_seal_t *seal); /* NULL is fine */
/* For a process that starts itself again: a descriptor that lives on, or -1; and back, which closes
 * it, or NULL. */
int xy_seal_save(const xy_seal_t *seal);
xy_seal_t *xy_seal_load(int fd);

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
    xy_seal_t *seal;     /* or NULL */
    uint8_t *records[2]; /* that is being sent, and received; NULL where nothing is encrypted */
    size_t record_got;
} xy_channel_t;

typedef enum { XY_CHANNEL_FRAME, XY_CHANNEL_NOTHING, XY_CHANNEL_END } xy_channel_answer_t;

/* The link owns `fd` and `seal` from now on. False, with a closed link: no memory. */
bool xy_channel_init(xy_channel_t *link, int fd, xy_seal_t *seal);
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

/* Connections within a machine need no encryption: nobody else sees them. */
typedef enum { XY_SEAL_BETWEEN_HOSTS, XY_SEAL_NEVER, XY_SEAL_ALWAYS } xy_seal_rule_t;

/* For all listeners of this process. Who connects does what the listener has decided, which only
 * one that knows the secret can have done. */
typedef struct {
    xy_seal_rule_t seal;
    double
        patience; /* seconds without an answer after which a connection ends; 0: 15, < 0: never */
    uint16_t port_low, port_high; /* where listeners are; 0: anywhere */
    char interface[64];           /* to listen at, or "": any; commas between several */
} xy_net_rules_t;

enum { XY_RULES_SIZE = 128 };

/* Before the first listener is opened. */
void xy_net_rules_set(const xy_net_rules_t *rules);
/* Write the rules of this process as a text for another, and read them back; false: the text is
 * none, or NULL. */
void xy_net_rules_write(char text[XY_RULES_SIZE]);
bool xy_net_rules_read(const char *text, xy_net_rules_t *rules);
/* Ports as people write them, "LOW-HIGH" or one number; false: they are none. */
bool xy_net_rules_ports(const char *text, xy_net_rules_t *rules);

/* On a port of its own, of this machine's loopback address only or of all. `name` is for the other
 * end to know whom it has reached; `count` names are accepted, 0 to count - 1. */
xy_status_t xy_listener_open(const uint8_t secret[XY_SECRET_BYTES], int name, int count,
                             bool is_local, xy_listener_t **listener_p);
/* Where to connect: "PORT ADDRESS ADDRESS...", with `first` (or NULL) before the others. NULL: no
 * memory. The caller frees. */
char *xy_listener_card(const xy_listener_t *listener, const char *first);
/* To wait for with poll: readable when there may be something to do. */
int xy_listener_fd(const xy_listener_t *listener);
/* The next that has proved to know the secret: its descriptor, who it is, and what the connection
 * is encrypted with (the caller frees). -1: none, yet. Never waits. */
int xy_listener_accept(xy_listener_t *listener, int *name_p, xy_seal_t **seal_p);
void xy_listener_close(xy_listener_t *listener);

/* Connect to the listener `name` at one of the addresses of its card, as `own`, until xy_now-like
 * `deadline` (CLOCK_MONOTONIC, seconds). -1: not reached; `why` has half a line about it. */
int xy_card_connect(const char *card, const uint8_t secret[XY_SECRET_BYTES], int name, int own,
                    double deadline, xy_seal_t **seal_p, char why[XY_WHY_SIZE]);
/* Apply the rules' patience to a connection that was made before they were known. */
void xy_socket_tune(int fd);
/* This machine's address that a connection uses, as text; false: it is no internet connection. */
bool xy_socket_address(int fd, char text[64]);

#endif
