/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes: where the bytes of a message lie in memory.
 *
 *   mpi_type_t *type = mpi_type_of(handle);          (NULL: no datatype)
 *   if (mpi_type_is_contiguous(type))
 *       memcpy(packet, buffer, count * type->size);
 *   else
 *       mpi_type_pack(packet, buffer, count, type, 0, count * type->size);
 *
 * Every type, committed or not, carries its layout in one normal form: nested loops around a list
 * of blocks. A 3-d face is two loops around one block; an indexed type is a list without loops.
 * Runs that touch are merged, regular lists become loops, so equal memory gives equally fast code
 * however it was described.
 *
 * A type belongs to the rank that made it; other ranks may read it while a message of its owner is
 * pending. Predefined types have no owner and are never freed.
 */
#ifndef XY_MPI_DATATYPE_TYPE_OBJECT_H
#define XY_MPI_DATATYPE_TYPE_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arith/arith.h"
#include "mpi.h"
#include "mpi/datatype/signature.h"
#include "mpi/object/object.h"

/* The kinds of basic elements, as reductions distinguish them. */
typedef enum {
    XMPI_BASIC_NONE, /* a derived type of mixed elements */
    XMPI_BASIC_BYTE,
    XMPI_BASIC_CHARACTER, /* text: no arithmetic */
    XMPI_BASIC_INT8,
    XMPI_BASIC_INT16,
    XMPI_BASIC_INT32,
    XMPI_BASIC_INT64,
    XMPI_BASIC_INT128,
    XMPI_BASIC_UINT8,
    XMPI_BASIC_UINT16,
    XMPI_BASIC_UINT32,
    XMPI_BASIC_UINT64,
    XMPI_BASIC_FLOAT16,
    XMPI_BASIC_FLOAT,
    XMPI_BASIC_DOUBLE,
    XMPI_BASIC_LONG_DOUBLE,
    XMPI_BASIC_FLOAT128,
    XMPI_BASIC_COMPLEX16,
    XMPI_BASIC_COMPLEX_FLOAT,
    XMPI_BASIC_COMPLEX_DOUBLE,
    XMPI_BASIC_COMPLEX_LONG_DOUBLE,
    XMPI_BASIC_COMPLEX128,
    XMPI_BASIC_BOOL,     /* C and C++: one byte */
    XMPI_BASIC_LOGICAL8, /* Fortran, by size */
    XMPI_BASIC_LOGICAL16,
    XMPI_BASIC_LOGICAL32,
    XMPI_BASIC_LOGICAL64,
    XMPI_BASIC_LOGICAL128,
    XMPI_BASIC_FLOAT_INT,
    XMPI_BASIC_DOUBLE_INT,
    XMPI_BASIC_LONG_INT,
    XMPI_BASIC_2INT,
    XMPI_BASIC_SHORT_INT,
    XMPI_BASIC_LONG_DOUBLE_INT,
    XMPI_BASIC_2FLOAT,
    XMPI_BASIC_2DOUBLE,
    XMPI_BASIC_KINDS
} mpi_basic_t;

enum { XMPI_TYPE_DEPTH = 8 }; /* loops in a layout; deeper nests unroll their inner loops */

typedef struct {
    int64_t count;
    MPI_Aint stride; /* bytes in memory from one iteration to the next */
    size_t size;     /* data bytes of one iteration */
} mpi_loop_t;

typedef struct {
    MPI_Aint offset; /* in memory */
    size_t length;
    size_t before; /* data bytes of the blocks in front of this one */
} mpi_block_t;

typedef struct {
    int depth;
    size_t blocks;      /* 0: no data at all */
    mpi_loop_t *loops;  /* [depth], outermost first */
    mpi_block_t *block; /* [blocks], in the order of the type map */
} mpi_layout_t;

/* How the type was made, for MPI_Type_get_contents. */
typedef struct {
    int combiner;
    size_t ints, aints, counts, types;
    int *an_int;
    MPI_Aint *an_aint;
    MPI_Count *a_count;
    MPI_Datatype *a_type; /* each holds a reference */
} mpi_contents_t;

typedef struct mpi_type {
    size_t size; /* data bytes */
    MPI_Aint lb, extent;
    int64_t most_received; /* elements, before their blocks overlap; INT64_MAX: any number */
    bool is_contiguous;    /* any number of elements is one run that starts at the buffer */
    bool is_predefined;
    bool is_committed;
    bool is_lb_set, is_ub_set; /* by MPI_Type_create_resized, here or in a part */
    uint8_t align;             /* of the strictest basic element */
    uint8_t basic;             /* mpi_basic_t when all elements are of one kind */
    uint16_t signature;        /* signature.h */
    MPI_Aint true_lb, true_extent;
    mpi_layout_t layout;
    size_t elements; /* basic elements in it */
    mpi_contents_t contents;
    struct mpi_attributes *attributes;
    MPI_Datatype handle;    /* the program's handle */
    int handles;            /* that the program holds; touched by its rank alone */
    atomic_long references; /* the handle, each pending operation, each type made from it */
    mpi_life_t life;        /* of the handles; of predefined types not used */
    char name[MPI_MAX_OBJECT_NAME];
} mpi_type_t;

enum { XMPI_TYPE_FIRST = XY_TYPE_FIRST, XMPI_TYPE_TABLE = XY_TYPES };
extern mpi_type_t
    mpi_type_table[XMPI_TYPE_TABLE]; /* by handle - XMPI_TYPE_FIRST; size 0: no type */

/* The object behind a handle of the program; NULL for MPI_DATATYPE_NULL, for one that was freed,
 * and for what is no datatype. */
static inline mpi_type_t *mpi_type_of(MPI_Datatype handle)
{
    uintptr_t value = (uintptr_t)handle;
    mpi_type_t *made = (mpi_type_t *)(void *)handle;

    if (value - XMPI_TYPE_FIRST < XMPI_TYPE_TABLE) {
        mpi_type_t *type = &mpi_type_table[value - XMPI_TYPE_FIRST];

        return type->is_predefined ? type : NULL;
    }
    if (value < 4096)
        return NULL;
    return __builtin_expect(mpi_life_is(&made->life, XMPI_LIFE_TYPE), 1)
               ? made
               : mpi_life_refuse(&made->life, XMPI_LIFE_TYPE);
}

/* MPI_DATATYPE_NULL is good for no elements, as in MPICH: programs give it where they have nothing
 * to send. */
static inline bool mpi_type_is_absent(MPI_Datatype handle, int64_t count)
{
    return count == 0 && handle == MPI_DATATYPE_NULL;
}

/* Its stand-in: bytes. */
static inline mpi_type_t *mpi_type_or_bytes(MPI_Datatype handle)
{
    return mpi_type_of(handle == MPI_DATATYPE_NULL ? MPI_BYTE : handle);
}

/* The object behind the handle of a type that is held: the program may have freed it. */
static inline mpi_type_t *mpi_type_held(MPI_Datatype handle)
{
    return (uintptr_t)handle < 4096 ? mpi_type_or_bytes(handle) : (mpi_type_t *)(void *)handle;
}

static inline size_t mpi_type_size(const mpi_type_t *type)
{
    return type->size;
}

/* True: `count` elements are count * size bytes from the first byte of the buffer on. */
static inline bool mpi_type_is_contiguous(const mpi_type_t *type)
{
    return type->is_contiguous;
}

/* References: a pending operation holds the types it was given, so that MPI_Type_free takes effect
 * when it is complete. Any thread. */
static inline void mpi_type_hold(mpi_type_t *type)
{
    if (!type->is_predefined)
        atomic_fetch_add_explicit(&type->references, 1, memory_order_relaxed);
}
/* One more handle of a type that is held, for the program, which frees it. */
static inline MPI_Datatype mpi_type_give(mpi_type_t *type)
{
    if (!type->is_predefined && type->handles++ == 0)
        mpi_life_begin(&type->life, XMPI_LIFE_TYPE);
    mpi_type_hold(type);
    return type->handle;
}
void mpi_type_destroy(mpi_type_t *type);
static inline void mpi_type_release(mpi_type_t *type)
{
    /* acq_rel: what others did with the type happens before its memory is freed */
    if (!type->is_predefined &&
        atomic_fetch_sub_explicit(&type->references, 1, memory_order_acq_rel) == 1)
        mpi_type_destroy(type);
}

/* Copy data bytes [first, first + bytes) of `count` elements at `source` to `packed`, which points
 * to where byte `first` goes; and the reverse. Any split of a message into such ranges, in any
 * order, gives the same result. Any thread; does not park. */
void mpi_type_pack(void *packed, const void *source, int64_t count, const mpi_type_t *type,
                   size_t first, size_t bytes);
void mpi_type_unpack(void *target, int64_t count, const mpi_type_t *type, const void *packed,
                     size_t first, size_t bytes);

/* Tell --check of a buffer of a call that computes and does not communicate; packed data of `bytes`
 * likewise. On the rank's thread. */
void mpi_type_note_local(const void *buffer, int64_t count, const mpi_type_t *type, bool is_result);
void mpi_type_note_packed(const void *packed, size_t bytes, bool is_result);

/* Copy typed data to typed data, block by block, without a buffer between. Copies what fits in
 * both; *bytes_p is how much (less than the source: truncated). Any thread; does not park. */
void mpi_type_copy(void *target, int64_t target_count, const mpi_type_t *target_type,
                   const void *source, int64_t source_count, const mpi_type_t *source_type,
                   size_t *bytes_p);

/* The layout of `type` as bytes that another process of the job can read, and how many they are;
 * and a type that has this layout, of which the caller has the one reference (NULL: memory ran out,
 * in silence). Any thread; do not park. */
size_t mpi_type_wire_size(const mpi_type_t *type);
void mpi_type_wire_write(const mpi_type_t *type, void *bytes);
mpi_type_t *mpi_type_wire_read(const void *bytes);

/* The number of basic elements in the first `bytes` data bytes of many `type`; -1 when the bytes
 * end inside an element. */
int64_t mpi_type_elements(const mpi_type_t *type, size_t bytes);

/* The attributes that the calling rank hung on a datatype, predefined ones included; or NULL. */
const struct mpi_attributes *mpi_attributes_of_type(const mpi_type_t *type);

/* For messages: "MPI_INT", the name the program gave, or "a derived datatype". */
const char *mpi_type_name(const mpi_type_t *type);
/* Raise MPI_ERR_TYPE: more than `most_received` elements are to be received. */
int mpi_type_refuse_overlap(mpi_comm_t *comm) __attribute__((cold));

#endif
