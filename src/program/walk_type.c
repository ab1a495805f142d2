/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes: their sizes, and the basic type that they are made of. */
#include <mpi.h>
#include <string.h>

#include "program/walk.h"

#define BASIC(name, size)                                                                          \
    {                                                                                              \
        (int64_t)(intptr_t)(name), size, size                                                      \
    }
#define PAIR(name, size, element)                                                                  \
    {                                                                                              \
        (int64_t)(intptr_t)(name), size, element                                                   \
    }

static const struct {
    int64_t handle;
    uint32_t size, element;
} basic[] = {
    BASIC(MPI_AINT, 8),
    BASIC(MPI_COUNT, 8),
    BASIC(MPI_OFFSET, 8),
    BASIC(MPI_PACKED, 1),
    BASIC(MPI_BYTE, 1),
    BASIC(MPI_SHORT, 2),
    BASIC(MPI_INT, 4),
    BASIC(MPI_LONG, 8),
    BASIC(MPI_LONG_LONG, 8),
    BASIC(MPI_UNSIGNED_SHORT, 2),
    BASIC(MPI_UNSIGNED, 4),
    BASIC(MPI_UNSIGNED_LONG, 8),
    BASIC(MPI_UNSIGNED_LONG_LONG, 8),
    BASIC(MPI_CHAR, 1),
    BASIC(MPI_SIGNED_CHAR, 1),
    BASIC(MPI_UNSIGNED_CHAR, 1),
    BASIC(MPI_WCHAR, 4),
    BASIC(MPI_C_BOOL, 1),
    BASIC(MPI_INT8_T, 1),
    BASIC(MPI_UINT8_T, 1),
    BASIC(MPI_INT16_T, 2),
    BASIC(MPI_UINT16_T, 2),
    BASIC(MPI_INT32_T, 4),
    BASIC(MPI_UINT32_T, 4),
    BASIC(MPI_INT64_T, 8),
    BASIC(MPI_UINT64_T, 8),
    BASIC(MPI_FLOAT, 4),
    BASIC(MPI_DOUBLE, 8),
    BASIC(MPI_LONG_DOUBLE, 16),
    BASIC(MPI_C_FLOAT_COMPLEX, 8),
    BASIC(MPI_C_DOUBLE_COMPLEX, 16),
    BASIC(MPI_C_LONG_DOUBLE_COMPLEX, 32),
    BASIC(MPI_INTEGER, 4),
    BASIC(MPI_REAL, 4),
    BASIC(MPI_DOUBLE_PRECISION, 8),
    BASIC(MPI_COMPLEX, 8),
    BASIC(MPI_DOUBLE_COMPLEX, 16),
    BASIC(MPI_CHARACTER, 1),
    BASIC(MPI_LOGICAL, 4),
    /* A value and an index count as two elements. */
    PAIR(MPI_FLOAT_INT, 8, 4),
    PAIR(MPI_DOUBLE_INT, 12, 6),
    PAIR(MPI_LONG_INT, 12, 6),
    PAIR(MPI_2INT, 8, 4),
    PAIR(MPI_SHORT_INT, 6, 3),
    PAIR(MPI_LONG_DOUBLE_INT, 20, 10),
};

enum { BASICS = sizeof(basic) / sizeof(basic[0]) };

/* Most messages are of a basic type: it is found at once by the last digits of its handle, where no
 * other has the same. */
void walk_types_init(walk_t *walk)
{
    for (size_t i = BASICS; i-- > 0;)
        walk->basic_of[(uint64_t)basic[i].handle % WALK_BASICS] = (uint8_t)(i + 1);
}

static size_t find_basic(const walk_t *walk, int64_t handle)
{
    size_t i = walk->basic_of[(uint64_t)handle % WALK_BASICS];

    if (i > 0 && basic[i - 1].handle == handle)
        return i - 1;
    for (i = 0; i < BASICS && basic[i].handle != handle; i++)
        ;
    return i;
}

bool walk_type_find(const walker_t *w, int64_t handle, walk_type_t *type_p)
{
    int64_t index = handle - WALK_TYPE_FIRST;
    size_t at;

    if (index >= 0 && (uint64_t)index < w->types.count) {
        *type_p = XY_VEC_AT(&w->types, walk_type_t, index);
        return true;
    }
    at = find_basic(w->walk, handle);
    if (at == BASICS)
        return false;
    *type_p = (walk_type_t){basic[at].size, basic[at].size, handle, basic[at].element};
    return true;
}

bool walk_type(walker_t *w, int64_t handle, walk_type_t *type_p)
{
    return walk_type_find(w, handle, type_p) || process_fail(&w->process, "no datatype");
}

/* The new type goes where the program wants its handle. */
static bool make(walker_t *w, walk_type_t type, int64_t address)
{
    if (xy_vec_append(&w->types, &type) != XY_OK)
        return process_fail_memory(&w->process);
    return walk_set_handle(w, address, WALK_TYPE_FIRST + (int64_t)w->types.count - 1);
}

/* `count` times the type, from first to last byte `extent`. */
static walk_type_t times(walk_type_t type, int64_t count, int64_t extent)
{
    type.size *= (uint64_t)(count > 0 ? count : 0);
    type.extent = extent;
    return type;
}

static bool contiguous(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_type_t old;

    (void)site;
    return walk_type(w, args[1], &old) &&
           make(w, times(old, args[0], args[0] * old.extent), args[2]);
}

/* Type_vector, and with the stride in bytes Type_create_hvector. */
static bool vector(walker_t *w, const code_site_t *site, int64_t *args)
{
    int64_t stride;
    walk_type_t old;

    if (!walk_type(w, args[3], &old))
        return false;
    stride = walk_extra(site) ? args[2] : args[2] * old.extent;
    return make(w,
                times(old, args[0] * args[1],
                      args[0] > 0 ? (args[0] - 1) * stride + args[1] * old.extent : 0),
                args[4]);
}

/* Type_indexed and Type_create_hindexed: blocks of different lengths. */
static bool indexed(walker_t *w, const code_site_t *site, int64_t *args)
{
    int64_t total = 0, last = 0;
    walk_type_t old;

    if (!walk_type(w, args[3], &old))
        return false;
    for (int64_t i = 0; i < args[0]; i++) {
        int32_t length, at = 0;
        int64_t far = 0;

        if (!walk_get_int(w, args[1], i, &length) ||
            !(walk_extra(site) ? walk_get_handle(w, args[2], i, &far)
                               : walk_get_int(w, args[2], i, &at)))
            return false;
        total += length;
        far += at * old.extent + length * old.extent;
        last = far > last ? far : last;
    }
    return make(w, times(old, total, last), args[4]);
}

static bool indexed_block(walker_t *w, const code_site_t *site, int64_t *args)
{
    int64_t last = 0;
    walk_type_t old;

    (void)site;
    if (!walk_type(w, args[3], &old))
        return false;
    for (int64_t i = 0; i < args[0]; i++) {
        int32_t at;

        if (!walk_get_int(w, args[2], i, &at))
            return false;
        last = at + args[1] > last ? at + args[1] : last;
    }
    return make(w, times(old, args[0] * args[1], last * old.extent), args[4]);
}

static bool structure(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_type_t made = {0}, part;

    (void)site;
    for (int64_t i = 0; i < args[0]; i++) {
        int64_t type, at, end;
        int32_t length;

        if (!walk_get_int(w, args[1], i, &length) || !walk_get_handle(w, args[2], i, &at) ||
            !walk_get_handle(w, args[3], i, &type) || !walk_type(w, type, &part))
            return false;
        made.size += (uint64_t)length * part.size;
        end = at + length * part.extent;
        made.extent = end > made.extent ? end : made.extent;
        made.basic = i == 0 || made.basic == part.basic ? part.basic : 0;
        made.element = made.basic != 0 ? part.element : 1;
    }
    return make(w, made, args[4]);
}

static bool subarray(walker_t *w, const code_site_t *site, int64_t *args)
{
    int64_t points = 1, all = 1;
    walk_type_t old;

    (void)site;
    if (!walk_type(w, args[5], &old))
        return false;
    for (int64_t i = 0; i < args[0]; i++) {
        int32_t size, part;

        if (!walk_get_int(w, args[1], i, &size) || !walk_get_int(w, args[2], i, &part))
            return false;
        all *= size;
        points *= part;
    }
    return make(w, times(old, points, all * old.extent), args[6]);
}

static bool resized(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_type_t old;

    if (!walk_type(w, args[0], &old))
        return false;
    if (walk_extra(site)) /* Type_dup */
        return make(w, old, args[1]);
    old.extent = args[2];
    return make(w, old, args[3]);
}

static bool type_free(walker_t *w, const code_site_t *site, int64_t *args)
{
    (void)site;
    return walk_set_handle(w, args[0], (int64_t)(intptr_t)MPI_DATATYPE_NULL);
}

static bool type_size(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_type_t type;

    (void)site;
    return walk_type(w, args[0], &type) && walk_set_int(w, args[1], (int32_t)type.size);
}

static bool type_extent(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_type_t type;

    (void)site;
    return walk_type(w, args[0], &type) && walk_set_handle(w, args[1], 0) &&
           walk_set_handle(w, args[2], type.extent);
}

/* Operations of the program: what they compute is not followed. */
static bool op_create(walker_t *w, const code_site_t *site, int64_t *args)
{
    (void)site;
    return walk_set_handle(w, args[2], args[1] != 0 ? 1 : 2);
}

const walk_call_t walk_calls_type[] = {{"Type_contiguous", contiguous, 0},
                                       {"Type_vector", vector, 0},
                                       {"Type_create_hvector", vector, 1},
                                       {"Type_indexed", indexed, 0},
                                       {"Type_create_hindexed", indexed, 1},
                                       {"Type_create_indexed_block", indexed_block, 0},
                                       {"Type_create_struct", structure, 0},
                                       {"Type_create_subarray", subarray, 0},
                                       {"Type_create_resized", resized, 0},
                                       {"Type_dup", resized, 1},
                                       {"Type_free", type_free, 0},
                                       {"Type_size", type_size, 0},
                                       {"Type_get_extent", type_extent, 0},
                                       {"Op_create", op_create, 0},
                                       {0}};
