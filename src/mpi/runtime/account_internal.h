/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of accounts. Times are ticks of the trace's clock, or virtual nanoseconds. */
#ifndef XY_MPI_RUNTIME_ACCOUNT_INTERNAL_H
#define XY_MPI_RUNTIME_ACCOUNT_INTERNAL_H

#include "mpi/runtime/account.h"

enum {
    ACCOUNT_FIRST = 64,   /* records of a rank, at first; a power of two */
    ACCOUNT_MOST = 16384, /* and at most */
    ACCOUNT_PENDING = 4,  /* blames of one call */
    ACCOUNT_BRIEF = 4096, /* bytes of a call that take no time worth a reading of the clock */
    ACCOUNT_TIMED = 8, /* of the short calls of a record, after as many: one in so many is timed */
};

typedef struct {
    int rank;
    const void *site;
    uint64_t ticks;
} account_blame_t;

/* The key of the calls of one record. */
typedef struct {
    const void *site;
    const char *name;
    uint64_t shape; /* account_shape() */
} account_key_t;

/* Members of the communicator and class of sizes, in one word: keys are compared in each call. */
static inline uint64_t account_shape(uint32_t members, uint64_t bytes)
{
    return (uint64_t)members << 32 | xy_profile_class(bytes);
}

typedef struct account_record {
    const void *site;
    const char *name; /* NULL: a free slot */
    uint64_t shape;
    uint64_t calls, bytes;
    uint64_t compute, time;         /* time: of the calls, with all parts */
    uint64_t usual;                 /* of a call without waits and much data; 0: not known */
    uint32_t untimed;               /* so many of the next calls take that long */
    uint64_t part[XY_PART_LIBRARY]; /* without the last, which is the rest */
    account_blame_t blame[XY_PROFILE_BLAMES];
    struct account_record *next; /* that was used after it; NULL: not known */
} account_record_t;

/* Ticks of a call so short that not every one is timed. */
extern uint64_t account_short_ticks;

/* The last call of a rank. */
typedef struct {
    _Atomic uint64_t entered;
    _Atomic(const void *) site;
} account_entry_t;

/* [job.started], of ranks of other processes, with places as they are there; NULL: there are none.
 */
extern account_entry_t *account_far;
/* Ranks run on other hosts, too. */
extern bool account_has_hosts;

struct mpi_account {
    _Alignas(XMPI_LINES) account_entry_t entry; /* read by others */
    /* Of the rank's worker. */
    int depth; /* calls inside each other: the outermost counts */
    bool is_on, is_over, is_stopped, is_lock, is_parked;
    bool has_resumed; /* the present call was parked before */
    bool is_virtual;  /* its times are those of the job's clock */
    const char *name;
    uint64_t left;                    /* when the last call ended */
    uint64_t compute, bytes;          /* before, and of, the present call */
    account_record_t *records, *last; /* last: that was used, or `rest` */
    account_record_t *of_left;        /* of the last call, which has ended at `left` */
    size_t room, count;
    uint64_t since; /* the present call: what has been attributed so far */
    uint64_t ready; /* parked: when it could continue; 0: not yet */
    uint64_t over;  /* when its wait ended, up to the hook that reports it; or 0 */
    uint64_t part[XY_PART_LIBRARY];
    unsigned parts;                           /* a bit for each of these that is not 0 */
    account_blame_t pending[ACCOUNT_PENDING]; /* the first are used */
    uint64_t begun, counted;
    account_record_t rest; /* of sites without a record */
};

#endif
