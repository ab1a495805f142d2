/* SPDX-License-Identifier: BSD-3-Clause */
/* The wait of a rank, and the sentence that explains why it never ends. */
#ifndef XY_MPI_CHECK_WAIT_H
#define XY_MPI_CHECK_WAIT_H

#include <stdio.h>

#include "mpi/p2p/p2p.h"

typedef enum {
    CHECK_WAIT_NONE, /* for nothing, or for what is not known */
    CHECK_WAIT_RECEIVE,
    CHECK_WAIT_SEND,
    CHECK_WAIT_COLLECTIVE,
    CHECK_WAIT_WINDOW,
    CHECK_WAIT_READY, /* for its own MPI_Pready */
    CHECK_WAIT_OWN,   /* for its own MPI_Grequest_complete */
    CHECK_WAIT_PORT   /* for a rank that connects */
} check_wait_kind_t;

/* A message from the partner that the receive does not take, or one on another communicator. */
typedef struct {
    bool is_there;
    int tag;
    int source;             /* a rank of the world; MPI_UNDEFINED: not known */
    bool is_elsewhere;      /* on another communicator: */
    const mpi_comm_t *comm; /* that, NULL: not known */
    const void *site;
} check_other_t;

typedef struct {
    check_wait_kind_t kind;
    const mpi_comm_t *comm;
    int peer;     /* rank in comm, or MPI_ANY_SOURCE; */
    bool is_part; /* of a collective: the one whose message is missing (check_wait_of_part) */
    int tag;
    const char *call;
    int target;                   /* of a lock that `peer` has: rank in comm; or MPI_UNDEFINED */
    const mpi_request_t *request; /* NULL: a probe */
    const void *polled_at;        /* it is not parked, but tests again and again there; or NULL */
    check_other_t other;
} check_wait_t;

/* All of these: on the worker of the rank, or when all workers are asleep. */

/* Does the rank itself, and no thread of it, wait for requests or for a message? */
bool check_is_waiting(const mpi_rank_t *rank);
/* ... for a message, in MPI_Probe or MPI_Mprobe? */
bool check_is_probing(const mpi_rank_t *rank);
/* The message that it probes for. */
check_wait_t check_wait_of_probe(const mpi_rank_t *rank);
/* The subject of the i-th request that it waits for, if that is still pending; else false. */
bool check_wait_of(const mpi_rank_t *rank, int i, check_wait_t *wait_p);
/* A neighbourhood collective waits for some members: one of those, the first that has called
 * MPI_Finalize if there is one. Nothing is changed where `wait` is about another collective. */
void check_wait_of_part(const mpi_rank_t *rank, check_wait_t *wait);
/* ... and any request that it tests. */
check_wait_t check_wait_of_request(const mpi_rank_t *rank, const mpi_request_t *request);
/* Is one of several enough: MPI_Waitany, MPI_Waitsome? */
bool check_waits_for_any(const mpi_rank_t *rank);
/* Has it called MPI_Finalize? */
bool check_is_ending(const mpi_rank_t *rank);

/* The messages to the rank that no receive has taken, from the first; `found` is false: no more of
 * them. */
void check_each_left(const mpi_rank_t *rank, bool (*found)(void *user, const mpi_left_t *message),
                     void *user);
/* Is it a message of the program? The library has its own. */
static inline bool check_is_own(const mpi_left_t *message)
{
    return (message->envelope.context & XMPI_CONTEXT_BITS) == 0;
}

enum { CHECK_SENTENCE = 1200 };

/* The description of a rank by its own process (told.c). */
typedef struct {
    bool is_known, is_ending;
    bool takes_any;      /* it receives from any rank */
    uint32_t collective; /* that it waits in: the context of the communicator + 1; or 0 */
    const char *link;    /* "rank 2 waits for a message from rank 0" */
    const char *other;   /* "; a message with tag 3 is there" */
    char *text;          /* where both are */
} check_told_t;

/* The wait of each rank, and the rank of the world that it points at; -1: none. */
typedef struct {
    const mpi_job_t *job;
    check_wait_t *wait;
    int *next;
    check_told_t *told; /* ranks are in several processes; NULL: in one */
} check_graph_t;

/* False: memory ran out. */
bool check_graph_init(check_graph_t *graph, const mpi_job_t *job);
void check_graph_cleanup(check_graph_t *graph);
/* Find out what the ranks of this process wait for. */
void check_graph_fill(check_graph_t *graph);
/* Sentences about a rank of this process, at the end of `text`, which has room for CHECK_SENTENCE.
 * False: there is no such message. */
void check_graph_add_link(char *text, const check_graph_t *graph, int rank);
bool check_graph_add_other(char *text, const check_graph_t *graph, int rank);
/* The cause, if there is one to be seen; or "". */
void check_graph_explain(const check_graph_t *graph, char *cause, size_t room);

/* ---- Over several processes (told.c) ---- */

/* The description of this process's ranks, for another one to read. */
void check_told_write(FILE *out);
/* A report, as another process has sent it, ends here: behind is what it says. */
enum { CHECK_TOLD_MARK = '\f' };
/* The same about ranks that wait for each other: those that `graph` has something about. */
void check_told_write_knot(FILE *out, const check_graph_t *graph, const bool *stuck);
/* The descriptions of all processes, in `reports` and (this one) in `own`, which is changed
 * meanwhile. False: memory ran out. */
bool check_told_read(check_graph_t *graph, char *own, char *const *reports);
void check_told_cleanup(check_graph_t *graph);

#endif
