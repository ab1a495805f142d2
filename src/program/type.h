/* SPDX-License-Identifier: BSD-3-Clause */
/* C types of a description, with the layout that they have on 64-bit machines. */
#ifndef XY_PROGRAM_TYPE_H
#define XY_PROGRAM_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

typedef enum {
    TYPE_VOID,
    TYPE_BOOL,
    TYPE_I8,
    TYPE_U8,
    TYPE_I16,
    TYPE_U16,
    TYPE_I32,
    TYPE_U32,
    TYPE_I64,
    TYPE_U64,
    TYPE_F32,
    TYPE_F64,
    TYPE_POINTER,
    TYPE_ARRAY,
    TYPE_STRUCT,
} type_kind_t;

typedef struct type type_t;

typedef struct type_field {
    const char *name;
    const type_t *type;
    uint64_t offset;
    struct type_field *next;
} type_field_t;

struct type {
    type_kind_t kind;
    uint32_t align;
    uint64_t size;
    const type_t *of;          /* of pointers and arrays */
    uint64_t count;            /* of arrays */
    const struct expr *length; /* of arrays whose length is known when they are declared; or NULL */
    const char *name;          /* of structs */
    type_field_t *fields;
};

enum { TYPE_SIZE_MAX = 1 << 30 }; /* of a variable */

/* All structs by name, and the arena for what is made. */
typedef struct {
    xy_arena_t *arena;
    xy_hash_t structs;
} types_t;

xy_status_t types_init(types_t *types, xy_arena_t *arena);
void types_cleanup(types_t *types);

extern const type_t type_void_pointer;
const type_t *type_basic(type_kind_t kind);
/* NULL: memory ran out, in silence. */
const type_t *type_pointer(types_t *types, const type_t *of);
const type_t *type_array(types_t *types, const type_t *of, uint64_t count,
                         const struct expr *length);
/* The struct of this name, or NULL. */
const type_t *type_struct(const types_t *types, const char *name, size_t length);
type_t *type_struct_add(types_t *types, const char *name);
bool type_field_add(types_t *types, type_t *structure, const char *name, const type_t *type);
const type_field_t *type_field(const type_t *structure, const char *name, size_t length);

/* The type that a word alone names ("size_t", "MPI_Comm", "float"), or NULL. */
const type_t *type_word(const char *name, size_t length);

static inline bool type_is_integer(const type_t *t)
{
    return t->kind >= TYPE_BOOL && t->kind <= TYPE_U64;
}
static inline bool type_is_real(const type_t *t)
{
    return t->kind == TYPE_F32 || t->kind == TYPE_F64;
}
static inline bool type_is_arithmetic(const type_t *t)
{
    return t->kind >= TYPE_BOOL && t->kind <= TYPE_F64;
}
static inline bool type_is_scalar(const type_t *t)
{
    return t->kind >= TYPE_BOOL && t->kind <= TYPE_POINTER;
}

#endif
