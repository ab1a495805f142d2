/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of an object behind a handle: live while the program holds a handle of it, then freed.
 * Stale copies of a handle are recognised as long as the memory has no other use; values that are
 * no handle of the kind are refused.
 *
 *   mpi_life_begin(&op->life, XMPI_LIFE_OP);
 *   return mpi_life_is(&op->life, XMPI_LIFE_OP) ? op : mpi_life_refuse(&op->life, XMPI_LIFE_OP);
 *   mpi_life_end(&op->life);                     (the program has freed it, here)
 *   mpi_life_bury(op);                           (in place of xy_free)
 *
 * Any error of the same call then names the place where the object was freed.
 */
#ifndef XY_MPI_OBJECT_LIFE_H
#define XY_MPI_OBJECT_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    XMPI_LIFE_TYPE = 1,
    XMPI_LIFE_OP,
    XMPI_LIFE_GROUP,
    XMPI_LIFE_INFO,
    XMPI_LIFE_ERRHANDLER,
    XMPI_LIFE_WINDOW,
    XMPI_LIFE_FILE,
    XMPI_LIFE_SESSION,
} mpi_life_kind_t;

typedef struct {
    uint64_t mark;        /* of its kind and state, unlike other data */
    const void *freed_at; /* where the program did that */
} mpi_life_t;

#define XMPI_LIFE_LIVE  UINT64_C(0x58796c656d6c6900) /* + kind */
#define XMPI_LIFE_FREED UINT64_C(0x58796c656d667200) /* + kind */

static inline void mpi_life_begin(mpi_life_t *life, mpi_life_kind_t kind)
{
    life->mark = XMPI_LIFE_LIVE + kind;
}

/* `life` is what a handle points to, if it is one: a multiple of 8. */
static inline bool mpi_life_is(const mpi_life_t *life, mpi_life_kind_t kind)
{
    return ((uintptr_t)life & 7) == 0 && life->mark == XMPI_LIFE_LIVE + kind;
}

/* The calling rank has freed it. */
void mpi_life_end(mpi_life_t *life);
/* It is not live: if it was, the next error of this call says where it was freed. Returns NULL. */
void *mpi_life_refuse(const mpi_life_t *life, mpi_life_kind_t kind) __attribute__((cold));
/* ": it was freed at ring.c:25", if the current call has been refused something; or "". Once. */
void mpi_life_explain(char *text, size_t size);

/* Give memory back that an object with a life had, after others have been. NULL is fine. */
void mpi_life_bury(void *memory);

#endif
