/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports about wrong programs: the place of each rank when none can move, or when the job is
 * ended.
 *
 *   mpi_job_report(job, 16);        (at most 16 lines, on standard error)
 *
 * Called once, by the thread that ends the job: ranks may still run and change their data, so
 * values are copied before use, and a bad address is a result, not a fault (copy_memory.h).
 */
#ifndef XY_MPI_CHECK_CHECK_H
#define XY_MPI_CHECK_CHECK_H

#include "mpi/runtime/runtime.h"

/* Print "  rank 3: MPI_Recv(source 2, tag 7, MPI_COMM_WORLD) at file:line or symbol" for each rank,
 * folded for many equal ones. For stuck and abort reports. */
void mpi_job_report(const mpi_job_t *job, int at_most);
/* The current activity of the ranks of this process, for xylem top; from the first call on they
 * record when calls begin (live.h). Adds to `live`. One thread at a time; ranks may run. */
xy_status_t mpi_job_snapshot(mpi_job_t *job, xy_live_t *live);
/*
 * Ranks that wait for each other, or poll for what cannot come, while others continue (watch.c). A
 * thread of its own calls look again and again, with a pause between; when that finds some, it
 * reports, and ends the job.
 *
 *   mpi_watch_begin(job, 10);       (before the ranks run)
 *   do
 *       xy_watcher_sleep(5);
 *   while (mpi_watch_look() == XMPI_WATCH_NONE);
 *   mpi_watch_describe(found, 10, text, sizeof(text));
 *   mpi_watch_report(32);
 *   mpi_watch_say_cause(text, sizeof(text));
 *
 * Where the job has several processes, process 0 looks, and the thread of each other one answers
 * it:
 *
 *   mpi_watch_serve();              (until the job has ended)
 */
typedef enum {
    XMPI_WATCH_NONE,
    XMPI_WATCH_PARKED, /* parked at the last look, and all the time since, for ever */
    XMPI_WATCH_POLLING /* the same, but some of them have polled for `polling` seconds */
} mpi_watch_t;

/* `polling` 0: ranks that poll may continue. */
xy_status_t mpi_watch_begin(mpi_job_t *job, double polling);
mpi_watch_t mpi_watch_look(void);
/* As mpi_job_report, for those that were found. */
void mpi_watch_report(int at_most);
/* A finding as half a line, and then the cause, which is printed and added to it. */
void mpi_watch_describe(mpi_watch_t found, double polling_after, char *text, size_t size);
void mpi_watch_say_cause(char *message, size_t size);
/* In a process that is not 0; returns when the job has ended. */
void mpi_watch_serve(void);
/* Before the network of the job ends: there are no more looks. Safe to repeat. */
void mpi_watch_stop(void);
extern const mpi_layer_t mpi_check_layer;

/* At the beginning of MPI_Finalize, while other processes can be asked: where the first message was
 * sent that the rank has not received. */
void mpi_rank_look_ahead(mpi_rank_t *self);
/* At the end of MPI_Finalize, where all ranks are, or (not `is_together`) of the last session of a
 * rank: findings about messages that were never received, requests that were
 * never completed and, where that is asked for, objects that were never freed. */
void mpi_rank_look_back(mpi_rank_t *self, bool is_together);
/* "rank 0 waits for a message from rank 1, rank 1 ...": the cause, where there is one to be seen;
 * or
 * "". Only when no rank can move: all workers are asleep. */
void mpi_job_explain(const mpi_job_t *job, char *cause, size_t room);

/* ---- --check ---- */

/* The additional checks. */
typedef struct {
    bool is_on;
    bool leaks, sends, buffers, wildcards, windows, errors;
    bool goes_on;   /* after an error */
    bool is_strict; /* hints change the exit code, too */
    bool shuffles;  /* the order of ranks and of messages, by: */
    uint64_t seed;
    bool has_seed; /* it was given */
} mpi_checks_t;

extern mpi_checks_t mpi_checks;

/* From the words of --check=LIST; "": the usual ones. False: `why` says what is wrong. */
enum { XMPI_CHECK_WHY = 256 };
bool mpi_checks_parse(const char *list, mpi_checks_t *checks, char why[XMPI_CHECK_WHY]);

typedef struct {
    const char *json, *sarif; /* files to write; or NULL */
    const char *suppress;     /* file to read; or NULL */
    const char *program;
    int ranks;
    bool is_verbose;
    /* In a process of several: what is found goes there, an error at once and all of it at the
     * end, for mpi_check_take of mpiexec; nothing is printed or written here. NULL: it is. */
    bool (*send)(const void *bytes, size_t size);
} mpi_check_config_t;

/* For the job (mpi_job_config_t): sends and receives wait longer with --check. */
extern const mpi_reviver_t mpi_check_reviver;

/* Exit codes of programs that end with 0 themselves. */
enum { XMPI_EXIT_WARNINGS = 120, XMPI_EXIT_ERRORS = 121 };

/* A report that ends the job, and was printed: with --check it is a finding, too. Any thread that
 * may take locks. */
typedef struct {
    mpi_finding_kind_t kind;
    int rank;              /* -1: all */
    int other;             /* another one; -1: none */
    const bool *ranks;     /* [size of the job]: which they are, instead of these; or NULL */
    const char *places[2]; /* "ring.c:12"; NULL: those in the lines of mpi_job_report, if any */
    const char *message;
} mpi_check_end_t;

void mpi_check_end(const mpi_check_end_t *end);
/* The same about the ranks that mpi_watch_look has found. */
void mpi_watch_end(const char *message);

/* The function that programs get for `found`, such as malloc; or `found`. */
void *mpi_check_substitute(const char *name, void *found);

/* Faults can be handled: receive buffers may be protected until their data may be used. Or no
 * longer, where the program handles faults itself. `begin` is called before the first is
 * protected; NULL: nothing is. */
void mpi_check_guards_allow(bool is_allowed, void (*begin)(void));
/* In the handler of a fault: was the memory protected? Then it no longer is, and the instruction
 * can continue. `find_site` finds the program's place; it is called where that is of interest.
 * `is_child`: in a process that a rank has forked. */
bool mpi_check_fault(const void *address, bool is_child, const void *(*find_site)(void *),
                     void *at);

/* Keep findings from now on, with what mpi_checks says. After the job was made (without --check:
 * NULL) and before ranks run; `config` is kept. */
xy_status_t mpi_check_begin(const mpi_check_config_t *config);
/* In mpiexec, where other processes find something: before they run, and what one has sent. */
xy_status_t mpi_check_collect(const mpi_check_config_t *config);
void mpi_check_take(const void *bytes, size_t size);
/* The job has ended, or ends with `code`: print and write what was found. The exit code; `code`
 * unless that is 0, and without --check. Any thread, once. */
int mpi_check_finish(int code);

#endif
