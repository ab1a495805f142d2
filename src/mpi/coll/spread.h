/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of members in several processes: messages on a hidden context, in the order of a
 * *script*.
 *
 *   script_receive(s, parent, buffer, count, type);
 *   script_wait(s);                                    (until what was started before is over)
 *   script_send(s, child, buffer, count, type);
 *
 * The members of one process meet (spread_meet.c). When all have come, one script works for them:
 * it reads and writes the buffers of all, and speaks with other processes for one of them, the
 * *speaker*. So data crosses the network once for each process, and collectives have as many
 * partners as there are processes. Reductions that depend on an order of ranks that alternates
 * between processes have a script for each member instead, which is then a part of its own, and so
 * have intercommunicators.
 *
 * A script runs on the worker of its member, or of the speaker, and goes on where messages end: in
 * any call of a rank there, in the worker's poll function, or at its gate while its ranks compute.
 * Blocking, nonblocking and persistent collectives are the same to it.
 */
#ifndef XY_MPI_COLL_SPREAD_H
#define XY_MPI_COLL_SPREAD_H

#include <pthread.h>

#include "mpi/coll/coll.h"

enum { SPREAD_SAID = 8 };

typedef struct spread_meeting spread_meeting_t;

/* The members of a communicator in parts: a part for each process, or for each member. */
typedef struct {
    int parts;
    int *part_of;    /* [size] */
    int *first;      /* [parts]: the first member of each */
    int *place;      /* [size]: place of a member in its part */
    int *member;     /* [size]: members, part by part, in increasing order */
    int *begin;      /* [parts + 1]: where those of a part begin in `member` */
    bool is_ordered; /* the members of part i come before those of part i + 1 */
} spread_layout_t;

/* Of the shared part of a communicator with members in several processes (NULL there: in one). */
typedef struct coll_spread {
    spread_layout_t layout; /* by process */
    int own;                /* the part of this process */
    int link; /* to the job of members of another one (p2p/link.h); 0: all are of this one */
    /* What the first member here has said about the last collectives, and where a member of another
     * process has called the one that is reported. */
    pthread_mutex_t lock;
    struct {
        uint64_t number; /* + 1; 0: none */
        coll_claim_t claim;
    } said[SPREAD_SAID];
    _Atomic int told;
    _Atomic(const void *) told_at;
    spread_meeting_t *meetings; /* of collectives that not all members here have called */
} coll_spread_t;

/* What `group` needs; *spread_p stays NULL when all members are in this process. XY_ENOMEM is
 * silent. */
xy_status_t coll_spread_create(const mpi_group_t *group, coll_spread_t **spread_p);
void coll_spread_destroy(coll_spread_t *spread);

xy_status_t coll_spread_begin(const mpi_job_t *job);
void coll_spread_end(void);

/* Start a call that has its number. */
void coll_spread_start(mpi_rank_t *self, coll_call_t *call);

/* The tag of the messages of a call. */
int coll_spread_tag(const coll_call_t *call);

/* ---- Do the members say the same? (spread_claim.c) ---- */

/* Compare what a member says with what others of this process have said. */
void coll_spread_say(const coll_call_t *call);
/* The same for its messages. */
void coll_spread_claim(const coll_call_t *call, uint64_t words[2]);
/* A message of another process says something else than its receive (mpi_remote_differs). */
struct remote_letter;
void coll_spread_differs(const mpi_request_t *receive, const struct remote_letter *letter);
/* A call is over: are there messages of it, or of one before it, that no receive has met? */
void coll_spread_look_back(const coll_call_t *call);
/* No rank can move: such messages may say why. */
void coll_spread_compare_stuck(const mpi_waiter_t *waiter);

/* ---- Scripts (spread_script.c) ---- */

typedef struct script script_t;

/* Messages of one lane are waited for together: those of a segment, while the next one travels. */
enum { SCRIPT_LANES = 2 };

/* An empty script of `call`, which reports call `named`, for the members of `meeting`, or (NULL)
 * the one. */
script_t *script_new(coll_call_t *call, const mpi_call_t *named, spread_meeting_t *meeting);
/* Begin it, or go on: now, or when another one on its worker has given way. */
void script_run_soon(script_t *s);
/* Of the script that has started this message. */
const coll_call_t *script_call_of(const mpi_request_t *part);

void script_send(script_t *s, int peer, const void *buffer, int64_t count, const mpi_type_t *type);
void script_receive(script_t *s, int peer, void *buffer, int64_t count, const mpi_type_t *type);
/* The lane of what is added from now on (modulo SCRIPT_LANES); 0 at first. */
void script_lane(script_t *s, int64_t lane);
void script_wait_lane(script_t *s, int64_t lane);
void script_wait(script_t *s); /* for all lanes */
void script_copy(script_t *s, void *to, int64_t to_count, const mpi_type_t *to_type,
                 const void *from, int64_t from_count, const mpi_type_t *from_type);
/* inout = in op inout, with the operation and type of the call. */
void script_reduce(script_t *s, const void *in, void *inout, int64_t count);
/* inout = inout op in; `in` may change. */
void script_reduce_after(script_t *s, void *inout, void *in, int64_t count);
typedef void (*script_fn)(void *arg);
void script_do(script_t *s, script_fn fn, void *arg);
/* Memory until the call is over; never NULL. */
void *script_memory(script_t *s, size_t bytes);
/* The same for `count` elements of `type`: where the first one would be. */
void *script_vector(script_t *s, int64_t count, const mpi_type_t *type);
const mpi_type_t *spread_bytes_type(void);
/* Ends the job. */
void coll_spread_out_of_memory(void) __attribute__((noreturn, cold));

/* ---- Members of one process (spread_meet.c, spread_part.c, spread_blocks.c) ---- */

typedef struct {
    const spread_layout_t *layout;
    int own;             /* which part it is */
    int members;         /* of it */
    coll_call_t **calls; /* [members], by place */
    coll_call_t *call;   /* the speaker's */
} spread_part_t;

/* Does one script work for all members of a process? The same in all processes. */
bool spread_is_together(const coll_call_t *call);
/* A member has come; the last one begins. */
void spread_meeting_join(mpi_rank_t *self, coll_call_t *call);
/* The script is over: the calls of all members are. */
void spread_meeting_end(spread_meeting_t *meeting);
/* The member of a part that speaks with other parts, where `root` does for its own. */
int spread_speaker(const spread_layout_t *s, int part, int root);
/* Plain bytes to one member, of `all` bytes that the members here get: so many that they go past
 * the caches, as inside one process. */
void spread_copy(void *to, const void *from, size_t bytes, uint64_t all);
void spread_build_part(script_t *s, const spread_part_t *part);
void spread_build_blocks(script_t *s, const spread_part_t *part);
void spread_build_bcast(script_t *s, const spread_part_t *part);

/* Elements [begin, begin + count) of a vector of `total` that all members here shall have
 * (spread_bcast.c). */
typedef struct {
    const spread_part_t *part;
    const void *from; /* the whole vector */
    const mpi_type_t *type;
    int64_t begin, count, total;
} spread_share_t;

void script_share(script_t *s, const spread_share_t *all, int64_t begin, int64_t count);

/* ---- Which algorithm between processes (spread_choose.c) ---- */

typedef enum {
    SPREAD_BINOMIAL, /* a tree */
    SPREAD_CHAIN,    /* pieces from process to process */
    SPREAD_SCATTER,  /* each gets its part, then they gather the parts */
    SPREAD_DOUBLING, /* of how many a sum stands for */
    SPREAD_RING,
    SPREAD_HALVING, /* the vector, while sums double; then they gather */
    SPREAD_LINEAR,  /* everyone to everyone */
    SPREAD_BRUCK,   /* each round doubles what everyone has */
} spread_way_t;

typedef struct {
    spread_way_t way;
    const xy_coll_algorithm_t *algorithm; /* of src/coll */
    int64_t piece;                        /* bytes that go on while more come; trees and chains */
    double seconds;
} spread_choice_t;

typedef struct {
    double latency;   /* seconds */
    double bandwidth; /* bytes per second */
    uint64_t eager;   /* bytes of the largest message that is sent at once */
} spread_cost_t;

/* For a vector, or (allgather) a block of each part, of so many bytes. */
spread_choice_t spread_choose(const spread_part_t *part, xy_collective_t collective,
                              uint64_t bytes);
spread_choice_t spread_choose_by(const spread_cost_t *cost, xy_collective_t collective, int parts,
                                 uint64_t bytes);

/* A process takes part in such a call: picked by `bytes` (spread_count.c). */
void spread_count(const coll_call_t *call, int parts, xy_collective_t collective, uint64_t bytes,
                  const xy_coll_algorithm_t *algorithm);
void spread_count_reset(void); /* before a job */

/* ---- Trees ---- */

/* A member's place in a tree. */
enum { SPREAD_CHILDREN = 64 };
typedef struct {
    int parent; /* -1: it is the root */
    int children;
    int child[SPREAD_CHILDREN]; /* the one with most below itself first */
} spread_tree_t;

/* Of the speaker of `part` among those of all parts, below that of part `top`; or in a chain. */
void spread_tree_parts(const spread_layout_t *s, int part, int top, int root, bool is_chain,
                       spread_tree_t *tree);
/* Of a member among [first, end) in the order of their ranks: what is below a member are those that
 * follow it. The root is `first`. */
void spread_tree_ordered(int first, int end, int rank, spread_tree_t *tree);

/* The script of a member of an intercommunicator (spread_inter.c). */
void spread_build_inter(script_t *s, const coll_call_t *call);

#endif
