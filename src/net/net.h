/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between the processes of a job: messages and large buffers over one of several transports, and
 * the control connection between mpiexec and the processes that it has started (control.h), and the
 * door through which a user's commands reach a running mpiexec (door.h).
 *
 *   xy_net_config_t config = {.process = 1, .processes = 2, .transport = "tcp", ...};
 *   xy_net_t *net;
 *   st = xy_net_open(&config, &net);                       (all processes, at the same time)
 *   xy_net_listen(net, &events, job);
 *   xy_net_send(net, 0, &head, sizeof(head), text, 5);     (events.message is called there)
 *   while (xy_net_poll(net)) ;
 *   xy_net_close(net);                                     (all processes)
 *
 * A short message is copied or sent before the call returns. A large buffer is given by one side
 * and taken by the other under a number that both know, straight from one buffer into the other:
 * the protocol above announces it first, and the taker is ready before the giver gives, unless the
 * transport gives early (xy_net_gives_early). The giver is done when the buffer is being taken, or
 * later.
 *
 * Short messages from one process to another arrive in order; given buffers may arrive earlier or
 * later than messages that were sent after them. Nothing here waits, except open, sleep and close.
 * Sends, gives and takes are called from any thread; events from xy_net_poll alone, on the thread
 * that polls, one at a time, with no lock held: they may send, give and take.
 */
#ifndef XY_NET_NET_H
#define XY_NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "net/control.h"
#include "net/door.h"
#include "net/pmi.h"

typedef struct xy_net xy_net_t;

typedef struct {
    /* A short message has come; `bytes` are valid during the call. */
    void (*message)(void *context, int from, const void *bytes, size_t size);
    /* A given buffer may be used again, or a taken one is full. */
    void (*done)(void *context, void *token);
    /* A process is gone or cannot be reached: once for each. `why` is half a line for people; NULL:
     * it has left a hub in order. */
    void (*lost)(void *context, int process, const char *why);
} xy_net_events_t;

/* A reason for `lost`: others then lose the connection to this process as a consequence. */
extern const char xy_net_changed[];

/* Gives a short text to all processes and gets theirs: cards[p] of each process p, which the caller
 * frees. All processes call it, in the same order. */
typedef xy_status_t (*xy_net_exchange_fn)(void *arg, const char *card, char **cards);

/* Measurements of the messages of a library that may carry them. */
typedef struct {
    const char *library; /* "Open MPI" or "MPICH" */
    double latency;      /* seconds */
    double bandwidth;    /* bytes per second */
    size_t eager;        /* the largest message that is sent at once; 0: not measured */
} xy_net_measured_t;

typedef struct {
    int process, processes;
    const char *transport; /* one of xy_net_transports, or "auto" */
    uint8_t secret[XY_SECRET_BYTES];
    bool is_local;       /* all processes are on this machine: listen there only */
    const char *address; /* of this machine, that others are most likely to reach; or NULL */
    xy_net_exchange_fn exchange;
    void *exchange_arg;
    double seconds; /* that opening may take */
    /* The installed MPI whose launcher has started this process, "openmpi" or "mpich"; NULL: the
     * environment tells. */
    const char *library;
    /* The measured costs of messages; 0: those that the transport states. All processes say the
     * same. */
    double latency, bandwidth;
    const xy_net_measured_t *measured; /* the same for single libraries */
    int measured_count;
    /* Called around every call of a library that is not this one's: replaced functions behave as
     * the C library's in between. NULL: nothing does. */
    void (*mark)(bool is_inside);
} xy_net_config_t;

/* The available transports, in the order of preference. */
typedef struct net_transport net_transport_t;
extern const net_transport_t *const xy_net_transports[];

/* All processes call it. EIO: a process was not reached in time (reported, with its card). */
xy_status_t xy_net_open(const xy_net_config_t *config, xy_net_t **net_p);
/* Set the receiver of the events; before the first poll. */
void xy_net_listen(xy_net_t *net, const xy_net_events_t *events, void *context);
/* The transport's name. */
const char *xy_net_name(const xy_net_t *net);
/* Room in a short message beside its data: for the head and the stamp of a message of a rank. */
enum { XY_NET_HEADS = 64 + 24 };

/* The greatest short message, head included. */
size_t xy_net_short_limit(const xy_net_t *net);

/* Up to this size, head included, a message is better sent at once than announced and asked for;
 * the same number in all processes. */
size_t xy_net_eager_limit(const xy_net_t *net);
/* How many processes are reached through memory that both share. */
int xy_net_near(const xy_net_t *net);
/* Memory of this process that others of its machine can map. */
typedef struct {
    void *base;
    size_t bytes; /* 0: there is none */
    int fd;       /* under which others find it; -1: they cannot any more */
} xy_net_memory_t;

/* `bytes` of memory, which are more than 0. Returns 0, or an errno value, which is not reported.
 * Any thread; xy_net_memory_free() frees it. */
int xy_net_memory_make(size_t bytes, xy_net_memory_t *memory);
/* It is mapped by all who need it: no one opens it from now on. */
void xy_net_memory_seal(xy_net_memory_t *memory);
void xy_net_memory_free(xy_net_memory_t *memory);
/* Map the memory that another process has made under `fd`. NULL: that process is not reached
 * through shared memory, or this fails. The caller unmaps it. Any thread. */
void *xy_net_memory_map(const xy_net_t *net, int process, int fd, size_t bytes);

/* Over how many interfaces a large buffer goes. */
int xy_net_lanes(const xy_net_t *net);

/* The time of a short message in seconds, and bytes per second: the same numbers in all processes,
 * for choices. */
void xy_net_cost(const xy_net_t *net, double *latency_p, double *bandwidth_p);

/* `head` and then `data` as one message. Sent to a lost process, it is forgotten. */
void xy_net_send(xy_net_t *net, int to, const void *head, size_t head_size, const void *data,
                 size_t size);
/* May a buffer be given to that process before it is taken? Otherwise the taker says first that it
 * is ready. */
bool xy_net_gives_early(const xy_net_t *net, int to);
/* Large buffers. `id` belongs to the direction from one process to another, and may be used again
 * when the buffer has arrived; those in use differ in their lower 27 bits. `bytes` is more than 0,
 * and the same on both sides. */
void xy_net_give(xy_net_t *net, int to, uint64_t id, const void *buffer, size_t bytes, void *token);
void xy_net_take(xy_net_t *net, int from, uint64_t id, void *buffer, size_t bytes, void *token);

/* Let it progress, and call events for what has come. False: nothing has, or another thread is at
 * it. */
bool xy_net_poll(xy_net_t *net);
/* Is a thread at it right now? While one has lost its processor in the middle, what has come stays,
 * and a sleep ends at once. */
bool xy_net_is_polled(const xy_net_t *net);
/* Wait until something comes, xy_net_wake is called (also just before), or the time has passed; it
 * may end earlier. */
void xy_net_sleep(xy_net_t *net, double seconds);
void xy_net_wake(xy_net_t *net);
/* Close the connection to a process that is known to be dead: `lost` follows, unless it came
 * before. Any thread. */
void xy_net_cut(xy_net_t *net, int process);

/* ---- A hub ----
 *
 * Connections to processes of other jobs, which come and go: 0 is this process, 1 to `most` those
 * that it is connected to. A number is used again after xy_net_hub_part. The hub listens; who
 * proves to know its secret becomes one of them, and is heard of by its first message. */

xy_status_t xy_net_hub_open(int most, const uint8_t secret[XY_SECRET_BYTES], xy_net_t **net_p);
/* Where it listens, as xy_card_connect takes it. NULL: no memory. The caller frees. */
char *xy_net_hub_card(const xy_net_t *net);
/* Connect to the hub that has this card and secret: its number here. -1: it was not reached; `why`
 * has half a line about it. Waits; on any thread that does not poll. */
int xy_net_hub_connect(xy_net_t *net, const char *card, const uint8_t secret[XY_SECRET_BYTES],
                       double deadline, char why[XY_WHY_SIZE]);
/* Nothing is expected from there any more. What was sent arrives. Any thread; safe to repeat. */
void xy_net_hub_part(xy_net_t *net, int process);

/* All processes call it when they expect nothing any more. What was sent arrives; a process that
 * does not come is waited for some seconds. Events may still be called. Frees `net`. */
void xy_net_close(xy_net_t *net);

#endif
