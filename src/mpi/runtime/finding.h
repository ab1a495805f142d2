/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings: mistakes of a program.
 *
 *   mpi_finding_t finding = {.kind = XMPI_FINDING_NEVER_RECEIVED, .rank = self->world,
 *                            .other = sender, .sites = {message->site, NULL}};
 *
 *   if (!mpi_finding_is_known(&finding))
 *       mpi_finding_add(&finding, "1 message never received: ..., sent %s", place);
 *
 * Without --check a finding is printed at once, as a warning, whatever its severity is: the mistake
 * may have had no effect. With --check the findings of all ranks are kept (src/mpi/check).
 *
 * Errors that end every job are findings, too, for the files that --check writes:
 *
 *   mpi_finding_end(&finding, "rank 1 has no receive for a ready send ...");
 *   mpi_job->abort(1);
 */
#ifndef XY_MPI_RUNTIME_FINDING_H
#define XY_MPI_RUNTIME_FINDING_H

#include <stdbool.h>

/* The order of mpi_finding_classes. */
typedef enum {
    XMPI_FINDING_NEVER_RECEIVED,
    XMPI_FINDING_NEVER_COMPLETED,
    XMPI_FINDING_NEVER_FREED,
    XMPI_FINDING_TYPE_MISMATCH,
    XMPI_FINDING_NEEDS_BUFFERING,
    XMPI_FINDING_BUFFER_CHANGED,
    XMPI_FINDING_BUFFER_TOUCHED,
    XMPI_FINDING_BUFFER_OVERLAP,
    XMPI_FINDING_BUFFER_TOO_SMALL,
    XMPI_FINDING_BUFFER_FREED,
    XMPI_FINDING_BUFFER_READ_ONLY,
    XMPI_FINDING_BUFFER_TYPE,
    XMPI_FINDING_WILDCARD,
    XMPI_FINDING_RMA_CONFLICT,
    XMPI_FINDING_FILE_CONFLICT,
    XMPI_FINDING_ERROR_IGNORED,
    /* These end the job, with and without --check: */
    XMPI_FINDING_DEADLOCK,
    XMPI_FINDING_DISAGREEMENT,
    XMPI_FINDING_EXCESS,
    XMPI_FINDING_TRUNCATION,
    XMPI_FINDING_NOT_READY,
    XMPI_FINDING_CALL_ERROR,
    XMPI_FINDING_RMA_ERROR,
    XMPI_FINDING_WRONG_TIME,
    XMPI_FINDING_CONCURRENT,
    XMPI_FINDING_CRASH,
    XMPI_FINDING_EARLY_EXIT,
    XMPI_FINDING_ABORTED,
    XMPI_FINDING_TIME_LIMIT,
    XMPI_FINDING_KINDS
} mpi_finding_kind_t;

typedef struct {
    const char *name;    /* a word, the same in reports, files of suppressions and the docs */
    bool is_error;       /* ends the job with --check; the others are warnings */
    bool ends_job;       /* ... and without it */
    const char *summary; /* a clause */
    const char *rule;    /* the rule of the standard, or the method of detection; sentences */
    const char *cure;    /* the same */
    const char *limits;  /* cases that are not found; "": none known */
    const char *example; /* a program of tests/bugs; "": none */
    bool is_plain;       /* found without --check, too */
    bool may_go_on;      /* ends_job: but not with --check where a rule suppresses it */
} mpi_finding_class_t;

extern const mpi_finding_class_t mpi_finding_classes[XMPI_FINDING_KINDS];

typedef struct {
    mpi_finding_kind_t kind;
    int rank;             /* of the world: the one that the message is about; -1: not known */
    int other;            /* another one that has to do with it; -1: none */
    const void *sites[2]; /* return addresses, the more important one first; NULL: none */
} mpi_finding_t;

/* Was the same found before, by this rank at these sites? Then nothing need be put into words. Any
 * thread. */
bool mpi_finding_is_known(const mpi_finding_t *finding);
/* `format` has neither the number of the rank in front nor a full stop. With --check an error does
 * not return. Any thread. */
void mpi_finding_add(const mpi_finding_t *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A finding that ends the job: print the line, which names its ranks. Then the caller ends the job.
 * Any thread that may take locks. */
void mpi_finding_end(const mpi_finding_t *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Without --check, findings about what is left at the end of a job wait for each other, so that
 * those of all ranks at one place are one line: set before ranks run, and flushed at the end. Any
 * thread. */
extern bool mpi_findings_wait;
void mpi_findings_flush(void);

/* The function that keeps findings; NULL: they are printed. Written before ranks run. */
typedef struct {
    bool (*is_known)(const mpi_finding_t *finding);
    void (*add)(const mpi_finding_t *finding, const char *message);
    void (*end)(const mpi_finding_t *finding, const char *message);
} mpi_finding_store_t;

extern const mpi_finding_store_t *mpi_finding_store;

#endif
