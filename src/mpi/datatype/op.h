/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduction operations.
 *
 *   mpi_op_t *op = mpi_op_of(handle);                (NULL: no operation)
 *   if (!mpi_op_is_valid_for(op, type))
 *       return mpi_op_error(op, type);
 *   mpi_op_apply(op, mine, sum, count, type);        (sum = mine op sum)
 *
 * Predefined operations are tables of loops, one per kind of basic element, compiled for several
 * instruction sets; the best one is chosen when the program is loaded. They work on predefined
 * types only. Operations of the program work on any type; they are called on the calling rank's
 * stack, so only a rank may apply one.
 */
#ifndef XY_MPI_DATATYPE_OP_H
#define XY_MPI_DATATYPE_OP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi.h"
#include "mpi/datatype/type_object.h"
#include "mpi/object/object.h"

typedef enum {
    XMPI_OP_KIND_USER,
    XMPI_OP_KIND_SUM,
    XMPI_OP_KIND_MIN,
    XMPI_OP_KIND_MAX,
    XMPI_OP_KIND_PROD,
    XMPI_OP_KIND_BAND,
    XMPI_OP_KIND_BOR,
    XMPI_OP_KIND_BXOR,
    XMPI_OP_KIND_LAND,
    XMPI_OP_KIND_LOR,
    XMPI_OP_KIND_LXOR,
    XMPI_OP_KIND_MINLOC,
    XMPI_OP_KIND_MAXLOC,
    XMPI_OP_KIND_REPLACE,
    XMPI_OP_KIND_NO_OP,
    XMPI_OP_KINDS
} mpi_op_kind_t;

typedef struct mpi_op {
    mpi_op_kind_t kind;
    bool is_predefined;
    bool is_commutative;
    const char *name;           /* "MPI_SUM", "a user-defined operation" */
    MPI_User_function *fn;      /* of the program, */
    MPI_User_function_c *fn_c;  /* one of the two */
    mpi_op_through_fn *through; /* how it is called; NULL: it is a function of C */
    atomic_long references;     /* the handle, and each pending operation */
    mpi_life_t life;            /* of the handle; of predefined operations not used */
} mpi_op_t;

enum { XMPI_OP_FIRST = 0x20, XMPI_OP_TABLE = 0x20 };
extern mpi_op_t mpi_op_table[XMPI_OP_TABLE]; /* by handle - XMPI_OP_FIRST */

/* The object behind a handle; NULL for MPI_OP_NULL, for one that was freed, and for what is no
 * operation. */
static inline mpi_op_t *mpi_op_of(MPI_Op handle)
{
    uintptr_t value = (uintptr_t)handle;
    mpi_op_t *made = (mpi_op_t *)(void *)handle;

    if (value - XMPI_OP_FIRST < XMPI_OP_TABLE) {
        mpi_op_t *op = &mpi_op_table[value - XMPI_OP_FIRST];

        return op->is_predefined ? op : NULL;
    }
    if (value < 4096)
        return NULL;
    return __builtin_expect(mpi_life_is(&made->life, XMPI_LIFE_OP), 1)
               ? made
               : mpi_life_refuse(&made->life, XMPI_LIFE_OP);
}

/* References, as for datatypes. */
static inline void mpi_op_hold(mpi_op_t *op)
{
    if (!op->is_predefined)
        atomic_fetch_add_explicit(&op->references, 1, memory_order_relaxed);
}
void mpi_op_destroy(mpi_op_t *op);
static inline void mpi_op_release(mpi_op_t *op)
{
    if (!op->is_predefined &&
        atomic_fetch_sub_explicit(&op->references, 1, memory_order_acq_rel) == 1)
        mpi_op_destroy(op);
}

/* How the function of the operation that was just made is called. */
void mpi_op_set_through(MPI_Op handle, mpi_op_through_fn *through);

/* MPI_REPLACE and MPI_NO_OP: reductions refuse them. */
static inline bool mpi_op_is_one_sided(const mpi_op_t *op)
{
    return op->kind == XMPI_OP_KIND_REPLACE || op->kind == XMPI_OP_KIND_NO_OP;
}
#define XMPI_OP_ONE_SIDED "%s is an operation of one-sided communication, and not of reductions"

/* Whether `op` is defined for elements of `type`. What the functions below are given must be. */
bool mpi_op_is_valid_for(const mpi_op_t *op, const mpi_type_t *type);

/* Raise MPI_ERR_OP with a line that names both; returns the error code. */
int mpi_op_error(const mpi_op_t *op, const mpi_type_t *type);

/* inout = in op inout, for each of `count` elements. The vectors do not overlap. */
void mpi_op_apply(const mpi_op_t *op, const void *in, void *inout, int64_t count,
                  const mpi_type_t *type);

/* The same of vectors in memory of the host, which no driver is asked about. */
void mpi_op_apply_here(const mpi_op_t *op, const void *in, void *inout, int64_t count,
                       const mpi_type_t *type);

/* out = a op b. `out` may be `b` and, with a predefined operation, `a`; else they do not overlap.
 */
void mpi_op_apply2(const mpi_op_t *op, const void *a, const void *b, void *out, int64_t count,
                   const mpi_type_t *type);

/* out = sources[0] op sources[1] op ... op sources[n - 1], n >= 1, in one pass over the memory:
 * blocks of `out` stay in the first-level cache while the sources stream through. `out`
 * overlaps no source, except that it may be sources[0] of a predefined operation. */
void mpi_op_reduce_many(const mpi_op_t *op, void *const *sources, int n, void *out, int64_t count,
                        const mpi_type_t *type);

/* The same of vectors in memory of the host, which no driver is asked about. */
void mpi_op_reduce_here(const mpi_op_t *op, void *const *sources, int n, void *out, int64_t count,
                        const mpi_type_t *type);

#endif
