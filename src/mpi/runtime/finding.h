/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings: what is wrong with a program, and does not end the job by itself.
 *
 *   mpi_finding_t finding = {.kind = XMPI_FINDING_NEVER_RECEIVED, .rank = self->world,
 *                            .other = sender, .sites = {message->site, NULL}};
 *
 *   if (!mpi_finding_is_known(&finding))
 *       mpi_finding_add(&finding, "1 message never received: ..., sent %s", place);
 *
 * Without --check a finding is printed at once, as a warning, whatever its severity is: the program
 * may have got away with it. With --check the findings of all ranks are kept (src/mpi/check).
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
    XMPI_FINDING_BUFFER_OVERLAP,
    XMPI_FINDING_WILDCARD,
    XMPI_FINDING_RMA_CONFLICT,
    XMPI_FINDING_KINDS
} mpi_finding_kind_t;

typedef struct {
    const char *name;    /* a word, the same in reports, files of suppressions and the docs */
    bool is_error;       /* ends the job with --check; the others are warnings */
    const char *summary; /* one line */
} mpi_finding_class_t;

extern const mpi_finding_class_t mpi_finding_classes[XMPI_FINDING_KINDS];

typedef struct {
    mpi_finding_kind_t kind;
    int rank;             /* of the world: the one that the message is about */
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

/* What keeps findings; NULL: they are printed. Written before ranks run. */
typedef struct {
    bool (*is_known)(const mpi_finding_t *finding);
    void (*add)(const mpi_finding_t *finding, const char *message);
} mpi_finding_store_t;

extern const mpi_finding_store_t *mpi_finding_store;

#endif
