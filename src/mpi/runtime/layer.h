/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface of the runtime for the layers above.
 *
 * The runtime moves packets and runs ranks; it knows neither messages nor collectives. Each layer
 * above it has one table of callbacks, and the table of all layers, lowest first, comes with the
 * configuration of the job:
 *
 *   const mpi_layer_t mpi_p2p_layer = {.packet = {[XMPI_PACKET_EAGER] = mpi_packet_eager, ...},
 *                                      .job_begin = begin, .job_end = end};
 *
 * The tables are read once, when the job is made. A NULL field is never called. A kind of packet or
 * of mail belongs to one layer.
 */
#ifndef XY_MPI_RUNTIME_LAYER_H
#define XY_MPI_RUNTIME_LAYER_H

#include "mpi/runtime/packet.h"
#include "mpi/runtime/rank.h"

struct remote_letter;
struct coll_call;
struct mpi_type;
struct io_access;
struct mpi_file;

/* Calls for what other processes send and ask (p2p/remote.h). Each belongs to one layer; but for
 * the letters, none needs to be there. */
typedef struct {
    /* Do what was left for the worker itself. False: there was nothing. */
    bool (*more)(mpi_worker_t *worker);
    /* A word about something of this process, for reports; `question` need not mean anything any
     * more. And the same about a port, for another job. Any thread. */
    uint64_t (*answer)(uint64_t question);
    uint64_t (*answer_port)(uint64_t question);
    /* Any thread, inside an event of the network: write at most XMPI_NEWS_MOST bytes of an answer
     * about names, and return their number. */
    size_t (*answer_name)(const char *question, size_t size, char *answer);
    /* A process of another job is gone: has a job failed that this process has spawned? Its exit
     * code; its mpiexec has said why. -1: none within a second. Any thread. */
    int (*spawned_code)(void);
    /* A message of mpi_network_send_news; inside an event of the network. */
    void (*news)(int from, const char *bytes, size_t size);
    /* A message of a collective is about to meet `receive`, which says something else about it:
     * does not return if they really differ. */
    void (*differs)(const mpi_request_t *receive, const struct remote_letter *letter);
    /* A letter of one-sided communication, on the worker of the rank that it is for, or at its
     * gate; the letter stays the caller's. */
    void (*one_sided)(mpi_worker_t *worker, const struct remote_letter *letter);
    /* In a job that survives, ranks have failed: end what waits for them, on the worker or at its
     * gate. */
    void (*failed)(mpi_worker_t *worker);
} mpi_far_t;

/* Calls of `--check`, each NULL unless this run makes that check: its layer writes them into
 * mpi_dispatch when the job begins, before ranks run. */
typedef struct {
    /* An observed rank enters a call, which it has noted, or has left it. */
    void (*call)(mpi_rank_t *self);
    /* A call returns an error because of MPI_ERRORS_RETURN. */
    void (*returned)(const mpi_rank_t *self, int code);
    /* A collective is about to begin; its request is NULL where it blocks. May give the call other
     * buffers. */
    void (*collective)(struct coll_call *call);
    /* The vectors that the program gave to a nonblocking collective, before it begins. */
    void (*vectors)(const struct coll_call *call, const mpi_request_t *request);
    /* An access to a file, with data, begins; `request` NULL: it blocks. */
    void (*access)(mpi_rank_t *self, const struct io_access *access, const mpi_request_t *request);
    /* A call that completes at once, and is not a collective, reads `count` elements or, a result,
     * writes them. */
    void (*local)(const void *address, int64_t count, const struct mpi_type *type, bool is_result);
    /* A block of the program from MPI_Alloc_mem. And MPI_Free_mem; true: it is freed later. */
    void (*allocated)(void *memory, size_t size);
    bool (*freed)(const void *memory);
    /* A member comes to an agreement about a file, which it leaves when all have come. */
    void (*agreement)(const mpi_comm_t *comm);
    /* All members have called MPI_File_close. */
    void (*close)(const struct mpi_file *file);
} mpi_check_calls_t;

struct mpi_layer {
    /* Handlers of packets, called on the consuming worker. */
    mpi_packet_fn packet[XMPI_PACKET_KINDS];
    /* The same while the worker's own ranks compute (gate.h): large copies are offloaded. NULL:
     * only the worker itself may handle the packet, as it may need room in a ring of the worker. */
    mpi_packet_fn gate_packet[XMPI_PACKET_KINDS];
    /* A worker found something in its mailbox. */
    void (*mail[XMPI_MAIL_KINDS])(mpi_worker_t *worker);
    /* Other processes have left something for the worker, which is about to leave the gate, or
     * whose ranks compute. */
    void (*gate_mail)(mpi_worker_t *worker);
    mpi_far_t far;
    /* The members of a communicator. Belongs to one layer. */
    uint32_t (*members)(const mpi_comm_t *comm);
    /* Describe a place in the program of another process, whose addresses are its own. False: it is
     * not one. Belongs to one layer; any thread. */
    bool (*describe_site)(const void *site, char *text, size_t size);
    /* A worker has nothing to do: do something for others. False: there was nothing. */
    bool (*help)(mpi_worker_t *worker);
    /* The same where local groups owe answers (mpi_worker_t.owing). Belongs to one layer. */
    bool (*settle)(mpi_worker_t *worker);
    /* `self`, which has operations that ask for it (mpi_rank_t.deferred, schedules), is going to
     * wait for these requests, or tests (requests NULL). */
    void (*wait)(mpi_rank_t *self, mpi_request_t *const *requests, int count);

    /* No rank can move any more: end the job if the cause is known here. */
    void (*stuck)(void);

    /* Where the ranks of this process are, in lines of text; NULL: there is no memory. The caller
     * frees. */
    char *(*report)(void);

    /* The job has its workers and ranks, and does not run yet; lower layers have begun. XY_ENOMEM
     * may be silent. */
    xy_status_t (*job_begin)(mpi_job_t *job, const mpi_job_config_t *config);
    /* No rank runs any more; higher layers have ended. Also after a job_begin that failed or did
     * not come to pass. */
    void (*job_end)(mpi_job_t *job);

    /* A rank that was spawned begins: on its worker, before it runs. And it has ended, when its
     * number is about to be used again. */
    xy_status_t (*rank_begin)(mpi_rank_t *rank);
    void (*rank_end)(mpi_rank_t *rank);

    /* `to` is a duplicate of the communicator `from`; `comm` is no longer referenced. */
    void (*comm_duplicate)(const mpi_comm_t *from, mpi_comm_t *to);
    void (*comm_end)(mpi_comm_t *comm);
};

/* All handlers that layers registered for packets, mail and other processes: one load and one
 * call. */
typedef struct {
    mpi_packet_fn packet[XMPI_PACKET_KINDS];
    mpi_packet_fn gate_packet[XMPI_PACKET_KINDS];
    void (*mail[XMPI_MAIL_KINDS])(mpi_worker_t *worker);
    void (*gate_mail)(mpi_worker_t *worker);
    bool (*settle)(mpi_worker_t *worker);
    mpi_far_t far;
    uint32_t (*members)(const mpi_comm_t *comm);
    bool (*describe_site)(const void *site, char *text, size_t size);
    mpi_check_calls_t check;
} mpi_dispatch_t;

extern mpi_dispatch_t mpi_dispatch;

/* Read the tables; `layers` ends with NULL and is kept. NULL: a job without layers. */
void mpi_layers_register(const mpi_layer_t *const *layers);
/* Call what the layers registered: from the lowest to the highest, and the ends in reverse. */
xy_status_t mpi_layers_begin(mpi_job_t *job, const mpi_job_config_t *config);
void mpi_layers_end(mpi_job_t *job);
xy_status_t mpi_layers_rank_begin(mpi_rank_t *rank);
void mpi_layers_rank_end(mpi_rank_t *rank);
bool mpi_layers_help(mpi_worker_t *worker);
void mpi_layers_wait(mpi_rank_t *self, mpi_request_t *const *requests, int count);
void mpi_layers_stuck(void);
char *mpi_layers_report(void);
void mpi_layers_comm_duplicate(const mpi_comm_t *from, mpi_comm_t *to);
void mpi_layers_comm_end(mpi_comm_t *comm);

#endif
