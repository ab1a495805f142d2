/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes: values that the program hangs on communicators, datatypes and windows, under keys
 * with copy and delete functions.
 *
 *   duplicating:  code = mpi_attributes_copy(XMPI_ATTR_TYPE, handle, old->attributes,
 *                                            &new->attributes);
 *   freeing:      code = mpi_attributes_delete(XMPI_ATTR_TYPE, handle, &type->attributes);
 *
 * Both call functions of the program, so they are called by the owner, in the call of the program
 * that duplicates or frees. Most objects have no attributes: a NULL pointer.
 */
#ifndef XY_MPI_OBJECT_ATTR_H
#define XY_MPI_OBJECT_ATTR_H

#include "mpi/object/env.h"
#include "mpi/object/handle.h"

typedef enum { XMPI_ATTR_COMM, XMPI_ATTR_TYPE, XMPI_ATTR_WIN } mpi_attr_kind_t;

typedef struct mpi_attributes mpi_attributes_t;

/* A key. The program's handle and each attribute that uses it hold a reference. The functions of
 * the three kinds differ in the type of the object only. */
typedef struct mpi_keyval {
    mpi_attr_kind_t kind;
    int number;
    long references;
    bool is_freed;
    mpi_language_t language;           /* of the functions */
    const mpi_attr_through_t *through; /* how they are called; NULL: they are functions of C */
    union {
        MPI_Comm_copy_attr_function *comm;
        MPI_Type_copy_attr_function *type;
        MPI_Win_copy_attr_function *win;
    } copy;
    union {
        MPI_Comm_delete_attr_function *comm;
        MPI_Type_delete_attr_function *type;
        MPI_Win_delete_attr_function *win;
    } delete;
    void *extra_state;
} mpi_keyval_t;

enum { XMPI_KEYVAL_FIRST = 0x1000 }; /* above the predefined ones */

/* The attributes of a new object that is a duplicate of `handle`, which has `from` (may be NULL).
 * Returns MPI_SUCCESS, or what a copy function of the program returned, or MPI_ERR_NO_MEM: not
 * raised, and *to_p is untouched. */
int mpi_attributes_copy(mpi_attr_kind_t kind, void *handle, const mpi_attributes_t *from,
                        mpi_attributes_t **to_p);

/* Call the delete functions, the attribute set last first, and leave *attributes_p NULL. When one
 * fails its code is returned (not raised), and it and the rest stay. */
int mpi_attributes_delete(mpi_attr_kind_t kind, void *handle, mpi_attributes_t **attributes_p);

/* A key of the calling rank: `filled` with kind, functions and extra state; and its end. Both
 * raise.
 */
int mpi_keyval_create(mpi_keyval_t filled, int *number_p);
int mpi_keyval_free(mpi_attr_kind_t kind, int *number_p);
/* The functions of the key that was just made are Fortran's. */
void mpi_keyval_set_language(mpi_attr_kind_t kind, int number, mpi_language_t language);
/* They are called through other functions than those of their language. */
void mpi_keyval_set_through(mpi_attr_kind_t kind, int number, const mpi_attr_through_t *through);

/* The next call of the rank that sets or gets an attribute comes from that language: C gets the
 * address of a number that Fortran has set, and Fortran the address that C has set as a number. */
void mpi_attributes_language(mpi_language_t language);

/* MPI_*_set_attr, _get_attr and _delete_attr for an object of `kind`; they raise on `comm` (NULL:
 * the object is none). */
int mpi_attribute_set(mpi_comm_t *comm, mpi_attr_kind_t kind, void *handle,
                      mpi_attributes_t **attributes_p, int number, void *value);
int mpi_attribute_get(mpi_comm_t *comm, mpi_attr_kind_t kind, const mpi_attributes_t *attributes,
                      int number, void *value_p, int *flag);
int mpi_attribute_remove(mpi_comm_t *comm, mpi_attr_kind_t kind, void *handle,
                         mpi_attributes_t *attributes, int number);

/* Where the calling rank's attributes of an object hang that all ranks share (a predefined
 * datatype). NULL: there are none and `make` is false, or memory ran out. */
mpi_attributes_t **mpi_attributes_shared(const void *object, bool make);

/* Free the list without calling the program, whose code has ended. NULL is fine. */
void mpi_attributes_drop(mpi_attributes_t *attributes);

/* The lists in mpi_env_t. */
void mpi_keyvals_init(mpi_env_t *env);
void mpi_keyvals_cleanup(mpi_env_t *env);

#endif
