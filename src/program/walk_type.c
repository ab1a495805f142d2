/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes: their sizes, and the basic type that they are made of. */
#include <mpi.h>
#include <string.h>

#include "program/walk.h"

bool walk_type_find(const walker_t *w, int64_t handle, walk_type_t *type_p)
{
    int64_t made = handle - WALK_TYPE_FIRST, predefined = handle - XY_TYPE_FIRST;

    if (made >= 0 && (uint64_t)made < w->types.count) {
        *type_p = XY_VEC_AT(&w->types, walk_type_t, made);
        return true;
    }
    if (predefined < 0 || predefined >= XY_TYPES || xy_type_extents[predefined].elements == 0)
        return false;
    *type_p = (walk_type_t){xy_type_extents[predefined], handle};
    return true;
}

bool walk_type(walker_t *w, int64_t handle, walk_type_t *type_p)
{
    return walk_type_find(w, handle, type_p) || process_fail(&w->process, "no datatype");
}

/* The new type goes where the program wants its handle. */
static bool make(walker_t *w, walk_type_t type, int64_t address)
{
    xy_extent_settle(&type.map);
    if (type.map.is_too_large)
        return process_fail(&w->process, "the datatype would describe more than 2^63 bytes");
    if (xy_vec_append(&w->types, &type) != XY_OK)
        return process_fail_memory(&w->process);
    return walk_set_handle(w, address, WALK_TYPE_FIRST + (int64_t)w->types.count - 1);
}

/* The type continues with blocks of another, as for xy_extent_add. */
static bool add(walker_t *w, walk_type_t *made, const walk_type_t *old, int64_t at, int64_t count,
                int64_t length, int64_t stride)
{
    uint64_t before = made->map.elements;

    if (count < 0 || length < 0)
        return process_fail(&w->process, "%lld blocks of %lld elements", (long long)count,
                            (long long)length);
    xy_extent_add(&made->map, &old->map, at, count, length, stride);
    if (made->map.elements > before)
        made->basic = before == 0 || made->basic == old->basic ? old->basic : 0;
    return true;
}

static bool contiguous(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_type_t made = {0}, old;

    (void)site;
    return walk_type(w, args[1], &old) && add(w, &made, &old, 0, 1, args[0], 0) &&
           make(w, made, args[2]);
}

/* Type_vector, and with the stride in bytes Type_create_hvector. */
static bool vector(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_type_t made = {0}, old;

    return walk_type(w, args[3], &old) &&
           add(w, &made, &old, 0, args[0], args[1],
               walk_extra(site) ? args[2] : args[2] * walk_type_extent(&old)) &&
           make(w, made, args[4]);
}

enum { LENGTHS = 1, BYTES = 2, TYPES = 4 }; /* extra: arrays; places in bytes, not in elements */

/* The types that are made of blocks at listed places. */
static bool blocks(walker_t *w, const code_site_t *site, int64_t *args)
{
    int32_t extra = walk_extra(site), length = (int32_t)args[1], place = 0;
    int64_t handle = args[3], at = 0;
    walk_type_t made = {0}, old;

    for (int64_t i = 0; i < args[0]; i++) {
        if (((extra & LENGTHS) && !walk_get_int(w, args[1], i, &length)) ||
            !(extra & BYTES ? walk_get_handle(w, args[2], i, &at)
                            : walk_get_int(w, args[2], i, &place)) ||
            ((extra & TYPES) && !walk_get_handle(w, args[3], i, &handle)) ||
            !walk_type(w, handle, &old) ||
            !add(w, &made, &old, extra & BYTES ? at : place * walk_type_extent(&old), 1, length, 0))
            return false;
    }
    return make(w, made, args[4]);
}

/* MPI_Type_create_subarray: wraps the type once per dimension, the innermost first. */
static bool subarray(walker_t *w, const code_site_t *site, int64_t *args)
{
    int64_t ndims = args[0];
    walk_type_t type;

    (void)site;
    if (!walk_type(w, args[5], &type))
        return false;
    for (int64_t k = 0; k < ndims; k++) {
        int64_t d = args[4] == MPI_ORDER_C ? ndims - 1 - k : k;
        int32_t size, part, start;

        if (!walk_get_int(w, args[1], d, &size) || !walk_get_int(w, args[2], d, &part) ||
            !walk_get_int(w, args[3], d, &start))
            return false;
        if (xy_subarray_bad(1, &(int64_t){size}, &(int64_t){part}, &(int64_t){start}) >= 0)
            return process_fail(
                &w->process,
                "dimension %lld: %d elements from %d on are not inside the %d of the array",
                (long long)d, part, start, size);
        xy_extent_wrap(&type.map, size, start, part, part, 0);
    }
    return make(w, type, args[6]);
}

/* Type_create_resized, and Type_dup (extra). */
static bool resized(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_type_t type;

    if (!walk_type(w, args[0], &type))
        return false;
    if (walk_extra(site))
        return make(w, type, args[1]);
    xy_extent_set(&type.map, args[1], args[2]);
    return make(w, type, args[3]);
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
    return walk_type(w, args[0], &type) && walk_set_int(w, args[1], (int32_t)type.map.size);
}

static bool type_extent(walker_t *w, const code_site_t *site, int64_t *args)
{
    walk_type_t type;

    (void)site;
    return walk_type(w, args[0], &type) && walk_set_handle(w, args[1], type.map.lb) &&
           walk_set_handle(w, args[2], walk_type_extent(&type));
}

static bool get_address(walker_t *w, const code_site_t *site, int64_t *args)
{
    (void)site;
    return walk_set_handle(w, args[1], args[0]);
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
                                       {"Type_indexed", blocks, LENGTHS},
                                       {"Type_create_hindexed", blocks, LENGTHS | BYTES},
                                       {"Type_create_indexed_block", blocks, 0},
                                       {"Type_create_struct", blocks, LENGTHS | BYTES | TYPES},
                                       {"Type_create_subarray", subarray, 0},
                                       {"Type_create_resized", resized, 0},
                                       {"Type_dup", resized, 1},
                                       {"Type_free", type_free, 0},
                                       {"Type_size", type_size, 0},
                                       {"Type_get_extent", type_extent, 0},
                                       {"Get_address", get_address, 0},
                                       {"Op_create", op_create, 0},
                                       {0}};
