/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to and from ranks of other processes.
 *
 * A small message crosses with its head (EAGER). A large one is announced (RTS); when it has met
 * its receive, the receiver pulls it piece by piece (PULL): it takes a piece under a number of its
 * own, and the sender gives that piece, straight from one buffer to the other where both types are
 * contiguous. Then there is one piece; otherwise each has a buffer for a few of them, and packs and
 * unpacks. DONE ends a send that waits for its receive, and CANCELLED one that was taken back.
 *
 * Where the transport gives early, contiguous data that is not huge is given together with its RTS,
 * which has its number behind the head. The receiver takes it when it has met its receive; if it
 * does not fit there, or is taken back (SCRAP), it goes to scratch memory.
 *
 *   sender                     receiver
 *   EAGER, data          ->    (DONE, if it is synchronous)
 *   RTS                  ->    take; PULL
 *   give                 <-
 *   RTS (GIVEN), give    ->    take
 *   CANCEL               ->    CANCELLED, if no receive has met it; nothing otherwise
 *   SCRAP                ->    take (after CANCELLED of what was given)
 *   RELEASE              ->    DONE, if no receive has met it (EAGER); nothing otherwise
 *
 * Messages for a rank are letters in the mailbox of its worker, which alone touches the rank's
 * queues: letters of one process to a rank stay in order. Any thread may fetch letters
 * (p2p_network.c). A small message that the worker fetches itself, that has nothing before it in
 * the mailbox and meets a receive is copied there at once.
 */
#ifndef XY_MPI_P2P_REMOTE_H
#define XY_MPI_P2P_REMOTE_H

#include <stddef.h>
#include <string.h>

#include "mpi/p2p/message.h"
#include "net/net.h"

typedef enum {
    REMOTE_EAGER,
    REMOTE_RTS,
    REMOTE_PULL,
    REMOTE_DONE,
    REMOTE_CANCEL,
    REMOTE_CANCELLED,
    REMOTE_RELEASE,
    REMOTE_ONE_SIDED, /* of windows: mpi_remote_one_sided */
    REMOTE_SMALL,     /* EAGER with a short head */
    REMOTE_SCRAP,
    /* Not on the wire: */
    REMOTE_PIECE,  /* a piece has been given or taken */
    REMOTE_GAVE,   /* ... given with its RTS */
    REMOTE_ERRAND, /* something to do for a layer above */
    REMOTE_MET,    /* a message with the receive that it has met */
    REMOTE_SERVICE /* and above: not for ranks (p2p_network.c) */
} remote_kind_t;

enum {
    REMOTE_READY = 1,       /* of a ready send */
    REMOTE_SYNCHRONOUS = 2, /* EAGER: the sender waits for DONE */
    REMOTE_PACKS = 4,       /* RTS: the sender's type is not contiguous */
    REMOTE_GIVEN = 8,       /* RTS: with its data */
    REMOTE_TIMED = 16       /* EAGER, RTS, PULL, DONE: a mpi_stamp_t lies behind the head */
};

/* The head of every message between processes; all run on one kind of processor. */
typedef struct {
    uint8_t kind, flags;
    uint16_t signature;
    int32_t to; /* world rank */
    union {
        struct {
            uint32_t context;
            int32_t source, tag;
        };
        struct {
            uint32_t unused;
            uint32_t length_low, length_high; /* PULL: of the piece */
        };
    };
    int32_t owner;  /* world rank of the sender */
    uint64_t bytes; /* of the message; PULL: that are wanted of it */
    uint64_t id;    /* the send request, in its process */
    union {
        uint64_t site; /* EAGER, RTS: where the sender called, in its process */
        uint64_t take; /* PULL, SCRAP: the piece's number */
    };
    union {
        uint64_t offset;   /* PULL: of the piece */
        uint64_t claim[2]; /* EAGER, RTS of a collective: what the member says about it */
    };
} remote_head_t;

_Static_assert(sizeof(remote_head_t) == 64, "no padding");

/* ... of an EAGER message that nobody answers and that is not part of a collective (SMALL): what
 * its head begins with, and `site`. Its bytes are those behind it. */
enum { REMOTE_SMALL_HEAD = 32, REMOTE_BEGINNING = 24 };
_Static_assert(offsetof(remote_head_t, bytes) == REMOTE_BEGINNING, "up to the owner");

/* ONE_SIDED: what lies behind `to` belongs to the windows (rma/far.h). */
enum { REMOTE_WORDS = 56 };
_Static_assert(offsetof(remote_head_t, to) + sizeof(int32_t) + REMOTE_WORDS == 64, "all of it");

static inline void remote_head_set(remote_head_t *head, const void *words)
{
    memcpy((char *)head + sizeof(*head) - REMOTE_WORDS, words, REMOTE_WORDS);
}

static inline void remote_head_get(const remote_head_t *head, void *words)
{
    memcpy(words, (const char *)head + sizeof(*head) - REMOTE_WORDS, REMOTE_WORDS);
}

/* A letter in a mailbox. */
typedef struct remote_mail {
    struct remote_mail *next;
    remote_kind_t kind;
} remote_mail_t;

/* Something to do on a worker, or at its gate while its ranks compute. */
typedef struct remote_errand {
    remote_mail_t mail; /* must be first */
    void (*run)(struct remote_errand *errand);
} remote_errand_t;

typedef struct remote_letter {
    remote_mail_t mail; /* must be first */
    int from;           /* process */
    remote_head_t head;
    mpi_stamp_t stamp;      /* of one that is REMOTE_TIMED */
    mpi_request_t *receive; /* MET */
    _Alignas(16) char data[];
} remote_letter_t;

/* `sender` of an unexpected message from another process, whose letter is in `data`. */
extern mpi_request_t mpi_remote_sender;

/* ---- Ranks ---- */

/* As mpi_send_start, to a rank of another process. */
bool mpi_remote_send(mpi_rank_t *self, int to, const mpi_transfer_t *t, uint64_t bytes,
                     const xy_envelope_t *envelope, mpi_request_t *request);
/* Would it be over at once? */
bool mpi_remote_is_eager(uint64_t bytes);
/* The message of `letter`, which is used up, meets `receive`. On the worker of the receive. */
void mpi_remote_receive(mpi_request_t *receive, remote_letter_t *letter);
/* MPI_Cancel of a send that is pending. */
void mpi_remote_cancel(const mpi_request_t *request);
/* A message whose worker has fetched it itself, while its mailbox is empty. True: it was received.
 * False: it is to go into the mailbox, as a letter for *met_p, which it has met, or (NULL) as one
 * that has not been looked at. */
bool mpi_remote_deliver(const remote_head_t *head, const mpi_stamp_t *stamp, const char *data,
                        mpi_request_t **met_p);
/* A small synchronous send that is pending may end before its message is received. */
void mpi_remote_release(const mpi_request_t *request);
/* Where the message was sent from, of one that has met no receive; for mpi_caller_describe. */
const void *mpi_remote_site(const struct remote_letter *letter);
/* Handle what the mailbox of a worker had. */
void mpi_remote_handle(mpi_worker_t *worker, remote_mail_t *mail);
/* The worker that a letter with this head goes to, and the one of a piece that has been given or
 * taken. */
mpi_worker_t *mpi_remote_reader(const remote_head_t *head);
mpi_worker_t *mpi_remote_owner(const remote_mail_t *piece);
/* Has it been taken to be thrown away? Then it is gone now. */
bool mpi_remote_is_scrap(remote_mail_t *piece);
/* Its other process is dead, and its connection closed: no part of the message is on its way. */
void mpi_remote_forget(const mpi_request_t *request);
/* Drop the announcements of messages of senders that are dead, of one rank, on its worker. */
void mpi_remote_drop_dead(mpi_rank_t *rank, bool (*is_dead)(const mpi_rank_t *rank, int world));
/* The job has ended: take what was given and never received, or its senders would not end. */
void mpi_remote_take_left(void);
/* The rank in whose receive buffer this address is, of a message that another process sends right
 * now; NULL: there is none, or too many come. Safe in a signal handler. */
mpi_rank_t *mpi_remote_receiver(const void *address);

/* ---- The network (p2p_network.c) ---- */

/* `net` is the job's from now on, which idle workers and a thread drive. `is_hub`: to processes of
 * other jobs. On failure it stays the caller's. */
xy_status_t mpi_network_begin(mpi_job_t *job, xy_net_t *net, bool is_hub);
/* The transport to a process, and its number there. */
static inline xy_net_t *mpi_network_to(int process)
{
    return process < mpi_job->processes ? mpi_job->net : mpi_job->hub;
}

static inline int mpi_network_number(int process)
{
    return process < mpi_job->processes ? process : process - mpi_job->processes + 1;
}
/* Let it progress, on an idle worker. False: there was nothing. */
bool mpi_network_help(mpi_worker_t *worker);
/* Let `worker` run an errand, in the order in which they are posted and letters come. Any thread.
 */
void mpi_network_post(mpi_worker_t *worker, remote_errand_t *errand);
/* Handle what the mailbox of `worker` has; on that worker, or at its gate. */
void mpi_network_read(mpi_worker_t *worker);
/* mpi_layer_t.describe_site. */
bool mpi_network_describe(const void *place, char *text, size_t size);
/* In the middle of long work on `worker`, or at its gate: let the network progress. Messages wait
 * if the work is part of what one has begun: the next one would overtake it. */
void mpi_network_look(mpi_worker_t *worker);
/* The job has ended: nothing here uses its connection to other processes any more. Safe to repeat.
 */
void mpi_network_end(void);
/* A message to another process, counted as one in flight; `stamp` makes it REMOTE_TIMED, NULL does
 * not. */
void mpi_network_send(int process, const remote_head_t *head, const mpi_stamp_t *stamp,
                      const void *data, size_t size);
/* The first message to a process of another job: mpi_link_hello there; and to one of this job:
 * mpi_link_message. */
void mpi_network_send_hello(int process, const void *data, size_t size);
void mpi_network_send_link(int process, const void *data, size_t size);
/* Pieces that are given or taken; `change` 1 or -1. */
void mpi_network_count_pieces(int change);
/* Count data that came with its RTS and is taken: to its sender that is like a message, which is
 * handled when it has been given (GAVE). */
void mpi_network_count_take(void);
/* Ask another process for a word about something of its own, for reports: mpi_far_t.answer there.
 * False: it does not answer in time. Not inside an event of the network. */
bool mpi_network_ask(int process, uint64_t question, uint64_t *answer_p) __attribute__((cold));
/* The same about a port, of a process of another job. */
bool mpi_network_ask_port(int process, uint64_t question, uint64_t *answer_p) __attribute__((cold));
/* Ask a process of this job about names, in at most XMPI_NEWS_MOST bytes; returns with its answer,
 * of exactly `room` bytes. */
void mpi_network_ask_name(int process, const void *question, size_t size, void *answer, size_t room)
    __attribute__((cold));
/* News for a layer above, in another process of the job: mpi_far_t.news there, inside an event of
 * the network. At most XMPI_NEWS_MOST bytes; in order with all that was sent there before. */
enum { XMPI_NEWS_MOST = 4096 };
void mpi_network_send_news(int process, const void *bytes, size_t size);
/* A number for a place in the program of another process, for reports; NULL: there are too many. */
const void *mpi_network_site(int process, uint64_t site) __attribute__((cold));

#endif
