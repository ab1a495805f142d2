/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that wait for each other while others continue (private to the part): the records of
 * workers about their ranks (watch_ranks.c), and the thread that examines them (watch.c, with the
 * full description).
 */
#ifndef XY_MPI_CHECK_WATCH_H
#define XY_MPI_CHECK_WATCH_H

#include <stdatomic.h>

#include "mpi/check/check.h"
#include "mpi/check/knot.h"
#include "mpi/check/picture.h"
#include "mpi/check/wait.h"
#include "mpi/coll/coll.h"

/* The members that a collective lacks; of the ranks of one worker that wait for it. */
typedef struct {
    coll_need_t need;
    int *ranks;
    int count;
} watch_meeting_t;

/* One wait, and what knot_wait_t refers to. */
typedef struct {
    check_wait_t wait;
    mpi_group_t *group; /* held, or NULL */
    int meeting;        /* of the worker; or -1 */
    bool is_forced;     /* a send that waits only because of --check */
} watch_entry_t;

/* The history of a rank that polls. */
typedef struct {
    uint64_t failed, quick, others, order;
    double inside, outside;
} watch_tally_t;

/* A worker's record of a parked rank. */
typedef struct {
    knot_rank_t knot;
    bool is_polling;
    watch_tally_t tally; /* of one that polls */
    xy_vec_t entries;    /* of watch_entry_t, */
    xy_vec_t waits;      /* and of knot_wait_t, as many */
    xy_vec_t messages;   /* of const void *: the send requests of those it keeps */
    /* Where other processes are: */
    xy_vec_t needs; /* of picture_need_t, as many as waits */
    xy_vec_t calls; /* of picture_calls_t: on its communicators */
} watch_record_t;

typedef struct {
    _Alignas(XMPI_LINES) _Atomic uint32_t answered;
    bool is_busy;
    xy_vec_t meetings;
    bool is_in_time; /* of the thread that looks: it had answered before this look was asked for, */
    bool is_expected;  /* ... and is waited for */
    bool had_answered; /* or, where other processes are, before its own had told of the last one */
} watch_answer_t;

typedef struct {
    mpi_job_t *job;           /* NULL: no thread looks */
    watch_record_t **records; /* [ranks], made when they are needed */
    watch_answer_t *answers;  /* [workers] */
    _Alignas(XMPI_LINES) _Atomic uint32_t asked;
    _Atomic bool releases;      /* let a send go that waits only because of --check, */
    char cause[CHECK_SENTENCE]; /* in several processes: why */
    bool *stuck;                /* [ranks] */
    /* For ranks that poll: */
    double polling;      /* seconds; 0: not looked for */
    watch_tally_t *last; /* [ranks]: at the last look; failed 0: it did not poll then */
    double last_time;
    double *idle_since;             /* [ranks]: it has done nothing else since then; 0: it has */
    _Atomic uint64_t *parked_since; /* [ranks]: ns; seen parked at all looks since; 0: it was not */
    _Atomic bool is_over;           /* the job is: no more looks */
} check_watch_t;

extern check_watch_t check_watch;

/* On the thread that looks, where other processes are: let the workers of this one look at their
 * ranks, and write what they have seen. `is_second`: at once after the one before, which counts
 * for ranks that poll. */
void check_watch_look_here(bool is_second, xy_text_t *text);
/* The same as if none had answered: nothing is written. */
void check_watch_skip(void);
/* In process 0: what all have seen. */
mpi_watch_t check_watch_look_far(void);
/* Questions about a rank that was found: does it poll? Why can they make no progress? */
bool check_watch_far_polls(int rank);
void check_watch_explain_far(char *cause, size_t room);
bool check_watch_far_begin(mpi_job_t *job);
void check_watch_news(int process, const char *bytes, size_t size);
void check_watch_far_end(void);
/* The lines of other processes about the knot, and sentences after CHECK_TOLD_MARK. */
char *const *check_watch_far_reports(void);
/* Sentences about the ranks of this process that are stuck: which of its waits each is in, and for
 * whom. NULL: memory ran out. free() it. */
char *check_watch_tell(const int *wait, const int *next);

/* In a worker's poll function: look at its ranks if that was asked for. */
bool check_watch_help(mpi_worker_t *worker);
void check_watch_record_destroy(watch_record_t *record); /* NULL is fine */
void check_watch_meetings_clear(xy_vec_t *all);          /* of watch_meeting_t */

#endif
