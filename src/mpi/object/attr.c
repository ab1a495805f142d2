/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/object/attr.h"

#include <limits.h>
#include <string.h>

#include "mpi/object/calls.h"
#include "mpi/object/comm.h"
#include "mpi/object/error.h"

/* A number that Fortran has set: C gets the address of it, which stays while it is set. */
typedef struct {
    MPI_Aint wide;
    int narrow;
} number_t;

typedef struct {
    mpi_keyval_t *keyval;
    void *value;             /* a pointer that C has set, or a number */
    mpi_language_t language; /* of who has set it */
    number_t *number;        /* of Fortran */
} attribute_t;

struct mpi_attributes {
    xy_vec_t list; /* of attribute_t, in the order they were set */
};

/* In mpi_env_t.shared. */
typedef struct {
    const void *object;
    mpi_attributes_t *attributes;
} shared_t;

void mpi_keyvals_init(mpi_env_t *env)
{
    env->keyvals = XY_VEC_INIT(mpi_keyval_t *);
    env->shared = XY_VEC_INIT(shared_t);
}

void mpi_attributes_drop(mpi_attributes_t *attributes)
{
    for (size_t i = 0; attributes && i < attributes->list.count; i++)
        xy_free(XY_VEC_AT(&attributes->list, attribute_t, i).number);
    if (attributes)
        xy_vec_cleanup(&attributes->list);
    xy_free(attributes);
}

void mpi_keyvals_cleanup(mpi_env_t *env)
{
    for (size_t i = 0; i < env->shared.count; i++)
        mpi_attributes_drop(XY_VEC_AT(&env->shared, shared_t, i).attributes);
    for (size_t i = 0; i < env->keyvals.count; i++)
        xy_free(XY_VEC_AT(&env->keyvals, mpi_keyval_t *, i));
    xy_vec_cleanup(&env->shared);
    xy_vec_cleanup(&env->keyvals);
}

static mpi_keyval_t *keyval_find(mpi_attr_kind_t kind, int number)
{
    const mpi_env_t *env = mpi_env_self();
    mpi_keyval_t *keyval;

    if (!env || number < XMPI_KEYVAL_FIRST ||
        (size_t)(number - XMPI_KEYVAL_FIRST) >= env->keyvals.count)
        return NULL;
    keyval = XY_VEC_AT(&env->keyvals, mpi_keyval_t *, number - XMPI_KEYVAL_FIRST);
    return keyval && keyval->kind == kind ? keyval : NULL;
}

static void keyval_release(mpi_keyval_t *keyval)
{
    mpi_env_t *env = mpi_env_self();

    if (--keyval->references > 0)
        return;
    XY_VEC_AT(&env->keyvals, mpi_keyval_t *, keyval->number - XMPI_KEYVAL_FIRST) = NULL;
    xy_free(keyval);
}

/* A free place in the table: the number of a key that is gone may be used again. */
static mpi_keyval_t **keyval_place(mpi_env_t *env)
{
    for (size_t i = 0; i < env->keyvals.count; i++)
        if (!XY_VEC_AT(&env->keyvals, mpi_keyval_t *, i))
            return &XY_VEC_AT(&env->keyvals, mpi_keyval_t *, i);
    return xy_vec_push(&env->keyvals);
}

int mpi_keyval_create(mpi_keyval_t filled, int *number_p)
{
    mpi_env_t *env = mpi_env_self();
    mpi_keyval_t *keyval, **place;

    keyval = env ? xy_malloc(sizeof *keyval) : NULL;
    place = keyval ? keyval_place(env) : NULL;
    if (!place) {
        xy_free(keyval);
        return mpi_error_memory(NULL, "an attribute key");
    }
    *keyval = filled;
    keyval->references = 1;
    keyval->number = XMPI_KEYVAL_FIRST + (int)(place - (mpi_keyval_t **)env->keyvals.data);
    *place = keyval;
    *number_p = keyval->number;
    return MPI_SUCCESS;
}

static int refuse_keyval(mpi_comm_t *comm, int number)
{
    if (number == MPI_KEYVAL_INVALID)
        return mpi_error(comm, MPI_ERR_KEYVAL, "the attribute key is MPI_KEYVAL_INVALID");
    return mpi_error(
        comm, MPI_ERR_KEYVAL, "%d is not an attribute key of this kind of object%s", number,
        number > 0 && number < XMPI_KEYVAL_FIRST ? " that can be changed: it is predefined" : "");
}

int mpi_keyval_free(mpi_attr_kind_t kind, int *number_p)
{
    mpi_keyval_t *keyval;

    keyval = keyval_find(kind, *number_p);
    if (!keyval)
        return refuse_keyval(NULL, *number_p);
    /* While attributes still use the key it may be freed again: copies of its number are known. */
    if (!keyval->is_freed) {
        keyval->is_freed = true;
        keyval_release(keyval);
    }
    *number_p = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

/* The language of the next call of a thread that is no rank. */
static _Thread_local mpi_language_t thread_language;

void mpi_attributes_language(mpi_language_t language)
{
    mpi_env_t *env = mpi_env_self();

    if (env)
        env->attributes_by = language;
    else
        thread_language = language;
}

/* The language of the call that has just begun; functions of the program that it calls make calls
 * in C again. */
static mpi_language_t take_language(void)
{
    mpi_env_t *env = mpi_env_self();
    mpi_language_t language = thread_language;

    thread_language = XMPI_FROM_C;
    if (env && language == XMPI_FROM_C)
        language = (mpi_language_t)env->attributes_by;
    if (env)
        env->attributes_by = XMPI_FROM_C;
    return language;
}

/* The value returned to callers in that language. */
static void *seen_from(const attribute_t *attribute, mpi_language_t language)
{
    if (language != XMPI_FROM_C || attribute->language == XMPI_FROM_C)
        return attribute->value;
    return attribute->language == XMPI_FROM_FORTRAN ? (void *)&attribute->number->wide
                                                    : (void *)&attribute->number->narrow;
}

/* False: memory ran out. */
static bool write_value(attribute_t *attribute, void *value, mpi_language_t language)
{
    if (language != XMPI_FROM_C && !attribute->number)
        attribute->number = xy_malloc(sizeof *attribute->number);
    if (language != XMPI_FROM_C && !attribute->number)
        return false;
    attribute->value = value;
    attribute->language = language;
    if (language != XMPI_FROM_C)
        *attribute->number = (number_t){(MPI_Aint)value, (int)(MPI_Aint)value};
    return true;
}

/* ---- Functions of the program in Fortran: everything is passed by address ---- */

typedef void(fortran_copy_t)(int *, int *, MPI_Aint *, MPI_Aint *, MPI_Aint *, int *, int *);
typedef void(fortran_delete_t)(int *, int *, MPI_Aint *, MPI_Aint *, int *);
typedef void(fortran_1_copy_t)(int *, int *, int *, int *, int *, int *, int *);
typedef void(fortran_1_delete_t)(int *, int *, int *, int *, int *);

static int copy_in_fortran(mpi_any_fn *fn, void *handle, int keyval, void *extra_state, void *value,
                           void **copy_p, int *flag_p)
{
    int object = mpi_handle_to_int(handle), error = MPI_SUCCESS;
    MPI_Aint extra = (MPI_Aint)extra_state, from = (MPI_Aint)value, to = 0;

    ((fortran_copy_t *)fn)(&object, &keyval, &extra, &from, &to, flag_p, &error);
    *copy_p = (void *)to;
    return error;
}

static int delete_in_fortran(mpi_any_fn *fn, void *handle, int keyval, void *value,
                             void *extra_state)
{
    int object = mpi_handle_to_int(handle), error = MPI_SUCCESS;
    MPI_Aint extra = (MPI_Aint)extra_state, old = (MPI_Aint)value;

    ((fortran_delete_t *)fn)(&object, &keyval, &old, &extra, &error);
    return error;
}

static int copy_in_fortran_1(mpi_any_fn *fn, void *handle, int keyval, void *extra_state,
                             void *value, void **copy_p, int *flag_p)
{
    int object = mpi_handle_to_int(handle), error = MPI_SUCCESS;
    int extra = (int)(MPI_Aint)extra_state, from = (int)(MPI_Aint)value, to = 0;

    ((fortran_1_copy_t *)fn)(&object, &keyval, &extra, &from, &to, flag_p, &error);
    *copy_p = (void *)(MPI_Aint)to;
    return error;
}

static int delete_in_fortran_1(mpi_any_fn *fn, void *handle, int keyval, void *value,
                               void *extra_state)
{
    int object = mpi_handle_to_int(handle), error = MPI_SUCCESS;
    int extra = (int)(MPI_Aint)extra_state, old = (int)(MPI_Aint)value;

    ((fortran_1_delete_t *)fn)(&object, &keyval, &old, &extra, &error);
    return error;
}

void mpi_keyval_set_through(mpi_attr_kind_t kind, int number, const mpi_attr_through_t *through)
{
    mpi_rank_t *self = mpi_self ? NULL : mpi_enter_any_thread("MPI_Comm_create_keyval", NULL);
    mpi_keyval_t *keyval = keyval_find(kind, number);

    if (keyval)
        keyval->through = through;
    mpi_leave_any(self, MPI_SUCCESS);
}

void mpi_keyval_set_language(mpi_attr_kind_t kind, int number, mpi_language_t language)
{
    static const mpi_attr_through_t of[] = {
        [XMPI_FROM_FORTRAN] = {copy_in_fortran, delete_in_fortran},
        [XMPI_FROM_FORTRAN_1] = {copy_in_fortran_1, delete_in_fortran_1},
    };
    mpi_rank_t *self = mpi_self ? NULL : mpi_enter_any_thread("MPI_Comm_create_keyval", NULL);
    mpi_keyval_t *keyval = keyval_find(kind, number);

    if (keyval)
        keyval->language = language;
    mpi_keyval_set_through(kind, number, language != XMPI_FROM_C ? &of[language] : NULL);
    mpi_leave_any(self, MPI_SUCCESS);
}

/* The functions of the program may call MPI, which must not change what this call is. */
static int call_copy(const attribute_t *attribute, void *handle, void **copy_p,
                     mpi_language_t *language_p, int *flag_p)
{
    const mpi_keyval_t *keyval = attribute->keyval;
    const mpi_call_t call = mpi_self->call;
    void *value = seen_from(attribute, keyval->language);
    int code = MPI_SUCCESS;

    *flag_p = 0;
    *language_p = keyval->language;
    if (keyval->copy.comm == MPI_COMM_NULL_COPY_FN)
        return MPI_SUCCESS;
    if (keyval->copy.comm == MPI_COMM_DUP_FN) {
        *copy_p = attribute->value;
        *language_p = attribute->language;
        *flag_p = 1;
        return MPI_SUCCESS;
    }
    if (keyval->through)
        code = keyval->through->copy((mpi_any_fn *)keyval->copy.comm, handle, keyval->number,
                                     keyval->extra_state, value, copy_p, flag_p);
    else if (keyval->kind == XMPI_ATTR_COMM)
        code =
            keyval->copy.comm(handle, keyval->number, keyval->extra_state, value, copy_p, flag_p);
    else if (keyval->kind == XMPI_ATTR_TYPE)
        code =
            keyval->copy.type(handle, keyval->number, keyval->extra_state, value, copy_p, flag_p);
    else
        code = keyval->copy.win(handle, keyval->number, keyval->extra_state, value, copy_p, flag_p);
    mpi_self->call = call;
    return code;
}

/* Call the delete function of an attribute; returns its code. */
static int call_delete(const attribute_t *attribute, void *handle)
{
    const mpi_keyval_t *keyval = attribute->keyval;
    const mpi_call_t call = mpi_self->call;
    void *value = seen_from(attribute, keyval->language);
    int code;

    if (keyval->delete.comm == MPI_COMM_NULL_DELETE_FN)
        return MPI_SUCCESS;
    if (keyval->through)
        code = keyval->through->delete ((mpi_any_fn *)keyval->delete.comm, handle, keyval->number,
                                        value, keyval->extra_state);
    else if (keyval->kind == XMPI_ATTR_COMM)
        code = keyval->delete.comm(handle, keyval->number, value, keyval->extra_state);
    else if (keyval->kind == XMPI_ATTR_TYPE)
        code = keyval->delete.type(handle, keyval->number, value, keyval->extra_state);
    else
        code = keyval->delete.win(handle, keyval->number, value, keyval->extra_state);
    mpi_self->call = call;
    return code;
}

static attribute_t *attribute_find(const mpi_attributes_t *attributes, const mpi_keyval_t *keyval)
{
    for (size_t i = 0; attributes && i < attributes->list.count; i++)
        if (XY_VEC_AT(&attributes->list, attribute_t, i).keyval == keyval)
            return &XY_VEC_AT(&attributes->list, attribute_t, i);
    return NULL;
}

/* Append; the attribute takes a reference of the key. */
static int attribute_add(mpi_attributes_t **attributes_p, mpi_keyval_t *keyval, void *value,
                         mpi_language_t language)
{
    attribute_t *attribute;

    if (!*attributes_p) {
        *attributes_p = xy_malloc(sizeof **attributes_p);
        if (!*attributes_p)
            return MPI_ERR_NO_MEM;
        (*attributes_p)->list = XY_VEC_INIT(attribute_t);
    }
    attribute = xy_vec_push(&(*attributes_p)->list);
    if (!attribute)
        return MPI_ERR_NO_MEM;
    *attribute = (attribute_t){.keyval = keyval};
    if (!write_value(attribute, value, language)) {
        xy_vec_pop(&(*attributes_p)->list);
        return MPI_ERR_NO_MEM;
    }
    keyval->references++;
    return MPI_SUCCESS;
}

/* Call the delete function, then take the attribute out. The function may change the list, so it is
 * searched again. */
static int attribute_delete(void *handle, mpi_attributes_t *attributes, mpi_keyval_t *keyval)
{
    attribute_t *attribute = attribute_find(attributes, keyval);
    int code = call_delete(attribute, handle);
    size_t place;

    if (code != MPI_SUCCESS)
        return code;
    attribute = attribute_find(attributes, keyval);
    if (!attribute)
        return MPI_SUCCESS;
    place = (size_t)(attribute - (attribute_t *)attributes->list.data);
    xy_free(attribute->number);
    memmove(attribute, attribute + 1, (attributes->list.count - place - 1) * sizeof *attribute);
    xy_vec_pop(&attributes->list);
    keyval_release(keyval);
    return MPI_SUCCESS;
}

int mpi_attributes_delete(mpi_attr_kind_t kind, void *handle, mpi_attributes_t **attributes_p)
{
    mpi_attributes_t *attributes = *attributes_p;

    (void)kind;
    while (attributes && attributes->list.count > 0) {
        size_t last = attributes->list.count - 1;
        int code = attribute_delete(handle, attributes,
                                    XY_VEC_AT(&attributes->list, attribute_t, last).keyval);
        if (code != MPI_SUCCESS)
            return code;
    }
    mpi_attributes_drop(attributes);
    *attributes_p = NULL;
    return MPI_SUCCESS;
}

int mpi_attributes_copy(mpi_attr_kind_t kind, void *handle, const mpi_attributes_t *from,
                        mpi_attributes_t **to_p)
{
    mpi_attributes_t *made = NULL;
    int code = MPI_SUCCESS;

    for (size_t i = 0; from && code == MPI_SUCCESS && i < from->list.count; i++) {
        attribute_t attribute = XY_VEC_AT(&from->list, attribute_t, i);
        mpi_language_t language;
        void *copy = NULL;
        int flag;

        code = call_copy(&attribute, handle, &copy, &language, &flag);
        if (code == MPI_SUCCESS && flag)
            code = attribute_add(&made, attribute.keyval, copy, language);
    }
    if (code == MPI_SUCCESS)
        *to_p = made;
    else
        mpi_attributes_delete(kind, handle, &made);
    return code;
}

int mpi_attribute_set(mpi_comm_t *comm, mpi_attr_kind_t kind, void *handle,
                      mpi_attributes_t **attributes_p, int number, void *value)
{
    mpi_language_t language = take_language();
    mpi_keyval_t *keyval = keyval_find(kind, number);
    attribute_t *attribute;
    int code;

    if (!keyval)
        return refuse_keyval(comm, number);
    attribute = attribute_find(*attributes_p, keyval);
    if (attribute) {
        code = call_delete(attribute, handle);
        if (code != MPI_SUCCESS)
            return mpi_error_raise(comm, code, "the delete function of the attribute failed");
        attribute = attribute_find(*attributes_p, keyval);
    }
    if (attribute)
        code = write_value(attribute, value, language) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    else
        code = attribute_add(attributes_p, keyval, value, language);
    return code == MPI_SUCCESS ? code : mpi_error_memory(comm, "an attribute");
}

int mpi_attribute_get(mpi_comm_t *comm, mpi_attr_kind_t kind, const mpi_attributes_t *attributes,
                      int number, void *value_p, int *flag)
{
    mpi_language_t language = take_language();
    const mpi_keyval_t *keyval = keyval_find(kind, number);
    const attribute_t *attribute;
    void *value;

    if (!value_p)
        return mpi_error_null(comm, "attribute_val");
    if (!keyval)
        return refuse_keyval(comm, number);
    attribute = attribute_find(attributes, keyval);
    *flag = attribute != NULL;
    if (attribute) {
        value = seen_from(attribute, language);
        memcpy(value_p, &value, sizeof value);
    }
    return MPI_SUCCESS;
}

int mpi_attribute_remove(mpi_comm_t *comm, mpi_attr_kind_t kind, void *handle,
                         mpi_attributes_t *attributes, int number)
{
    mpi_keyval_t *keyval = keyval_find(kind, number);
    int code;

    if (!keyval)
        return refuse_keyval(comm, number);
    if (!attribute_find(attributes, keyval))
        return mpi_error(comm, MPI_ERR_KEYVAL, "the object has no attribute with key %d", number);
    code = attribute_delete(handle, attributes, keyval);
    if (code != MPI_SUCCESS)
        return mpi_error_raise(comm, code, "the delete function of the attribute failed");
    return MPI_SUCCESS;
}

/* Do all ranks read one clock? Each host has its own. */
static bool is_one_clock(const mpi_job_t *job)
{
    for (int p = 1; p < job->processes && job->hosts != NULL; p++)
        if (strcmp(job->hosts[p], job->hosts[0]) != 0)
            return false;
    return true;
}

/* Predefined attributes of communicators; programs get the address of an int. */
static int predefined_get(mpi_comm_t *comm, int number, void *value_p, int *flag)
{
    mpi_env_t *env = mpi_env_self();
    int *place, value;

    if (!value_p)
        return mpi_error_null(comm, "attribute_val");
    if (!env)
        return mpi_error_memory(comm, "the predefined attributes");
    switch (number) {
    case MPI_TAG_UB:
        value = INT_MAX;
        break;
    case MPI_IO: /* every rank can do input and output */
        value = MPI_ANY_SOURCE;
        break;
    case MPI_HOST:
        value = MPI_PROC_NULL;
        break;
    case MPI_WTIME_IS_GLOBAL:
        value = is_one_clock(mpi_job);
        break;
    case MPI_UNIVERSE_SIZE:
        value = mpi_job->universe;
        break;
    case MPI_APPNUM:
        value = mpi_self->appnum;
        break;
    case MPI_LASTUSEDCODE:
        value = mpi_error_last_used();
        break;
    default:
        return refuse_keyval(comm, number);
    }
    place = &env->predefined[number - MPI_TAG_UB];
    *place = value;
    memcpy(value_p, &place, sizeof place);
    *flag = 1;
    return MPI_SUCCESS;
}

int impl_comm_set_attr(MPI_Comm handle, int number, void *value)
{
    mpi_comm_t *comm = mpi_comm_of(handle);

    if (!comm)
        return mpi_comm_refuse(handle);
    return mpi_attribute_set(comm, XMPI_ATTR_COMM, handle, &comm->attributes, number, value);
}

int impl_comm_get_attr(mpi_comm_t *comm, int number, void *value_p, int *flag)
{
    if (number >= MPI_TAG_UB && number <= MPI_LASTUSEDCODE)
        return predefined_get(comm, number, value_p, flag);
    return mpi_attribute_get(comm, XMPI_ATTR_COMM, comm->attributes, number, value_p, flag);
}

int impl_comm_delete_attr(MPI_Comm handle, int number)
{
    mpi_comm_t *comm = mpi_comm_of(handle);

    if (!comm)
        return mpi_comm_refuse(handle);
    return mpi_attribute_remove(comm, XMPI_ATTR_COMM, handle, comm->attributes, number);
}

mpi_attributes_t **mpi_attributes_shared(const void *object, bool make)
{
    mpi_env_t *env = make ? mpi_env_self() : mpi_self ? mpi_self->env : NULL;
    shared_t *entry;

    for (size_t i = 0; env && i < env->shared.count; i++)
        if (XY_VEC_AT(&env->shared, shared_t, i).object == object)
            return &XY_VEC_AT(&env->shared, shared_t, i).attributes;
    entry = env && make ? xy_vec_push(&env->shared) : NULL;
    if (!entry)
        return NULL;
    *entry = (shared_t){.object = object};
    return &entry->attributes;
}

int impl_comm_create_keyval(MPI_Comm_copy_attr_function *copy,
                            MPI_Comm_delete_attr_function *delete, int *number_p, void *extra)
{
    mpi_keyval_t filled = {.kind = XMPI_ATTR_COMM, .extra_state = extra};

    filled.copy.comm = copy;
    filled.delete.comm = delete;
    return mpi_keyval_create(filled, number_p);
}

int impl_win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
                           MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval,
                           void *extra_state)
{
    mpi_keyval_t filled = {.kind = XMPI_ATTR_WIN, .extra_state = extra_state};

    filled.copy.win = win_copy_attr_fn;
    filled.delete.win = win_delete_attr_fn;
    return mpi_keyval_create(filled, win_keyval);
}
