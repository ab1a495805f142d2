/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment of a rank: its error codes and keyvals, and the end of the job.
 */
#ifndef XY_MPI_OBJECT_ENV_H
#define XY_MPI_OBJECT_ENV_H

#include "base/base.h"
#include "mpi.h"
#include "mpi/runtime/runtime.h"

typedef struct {
    const void *object;
    char name[MPI_MAX_OBJECT_NAME];
} mpi_named_t;

/* Objects that a rank has made. Of one rank, so no locks; created when first needed. */
enum { XMPI_BURIED = 8, XMPI_ENDED = 64 };

typedef struct {
    xy_vec_t codes;   /* of mpi_code_t: error classes and codes the program added (errclass.c) */
    xy_vec_t keyvals; /* of struct mpi_keyval *: index + XMPI_KEYVAL_FIRST is the number (attr.c) */
    xy_vec_t shared;  /* attributes of objects that all ranks share (attr.c) */
    xy_vec_t names;   /* of mpi_named_t: names given to objects that all ranks share */
    xy_vec_t made;    /* of mpi_made_t: what must be freed, where that is noted (made.h) */
    bool is_pardoned; /* the last error handler has written MPI_SUCCESS */
    MPI_Errhandler file_errhandler;  /* of MPI_FILE_NULL: what files begin with */
    mpi_comm_t *buried[XMPI_BURIED]; /* communicators freed last, to name them (comm.c) */
    int next_buried;
    void *ended[XMPI_ENDED]; /* memory of other objects that were freed last (life.h) */
    int next_ended;
    const void *refused_in, *freed_at; /* the call that was given a freed object, and who did it */
    int attributes_by;                 /* language of the next call about attributes (attr.c) */
    int predefined[8]; /* values of the predefined attributes; programs get pointers to them */
} mpi_env_t;

/* The calling rank's; NULL: memory ran out, or the caller is no rank (both silent). */
mpi_env_t *mpi_env_self(void);
/* The name that the calling rank gave to an object that all ranks share; NULL: none. */
const char *mpi_env_name(const void *object);
/* Longer names are cut. False: memory ran out. */
bool mpi_env_set_name(const void *object, const char *name);
/* Frees rank->env. When the job ends; the rank must not run any more. */
void mpi_env_cleanup(mpi_rank_t *rank);

/* End the whole job with an exit code that a shell sees as a failure. Does not return. */
void mpi_abort(int code) __attribute__((noreturn));

#endif
