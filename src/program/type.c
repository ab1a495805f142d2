/* SPDX-License-Identifier: BSD-3-Clause */
/* C types: the basic ones, those that MPI and the C library name, structs. */
#include "program/type.h"

#include <string.h>

static const type_t basic[] = {
    [TYPE_VOID] = {TYPE_VOID, 1, 1, NULL, 0, NULL, NULL, NULL},
    [TYPE_BOOL] = {TYPE_BOOL, 1, 1, NULL, 0, NULL, NULL, NULL},
    [TYPE_I8] = {TYPE_I8, 1, 1, NULL, 0, NULL, NULL, NULL},
    [TYPE_U8] = {TYPE_U8, 1, 1, NULL, 0, NULL, NULL, NULL},
    [TYPE_I16] = {TYPE_I16, 2, 2, NULL, 0, NULL, NULL, NULL},
    [TYPE_U16] = {TYPE_U16, 2, 2, NULL, 0, NULL, NULL, NULL},
    [TYPE_I32] = {TYPE_I32, 4, 4, NULL, 0, NULL, NULL, NULL},
    [TYPE_U32] = {TYPE_U32, 4, 4, NULL, 0, NULL, NULL, NULL},
    [TYPE_I64] = {TYPE_I64, 8, 8, NULL, 0, NULL, NULL, NULL},
    [TYPE_U64] = {TYPE_U64, 8, 8, NULL, 0, NULL, NULL, NULL},
    [TYPE_F32] = {TYPE_F32, 4, 4, NULL, 0, NULL, NULL, NULL},
    [TYPE_F64] = {TYPE_F64, 8, 8, NULL, 0, NULL, NULL, NULL},
};

const type_t type_void_pointer = {
    .kind = TYPE_POINTER, .align = 8, .size = 8, .of = &basic[TYPE_VOID]};

static const struct {
    const char *name;
    type_kind_t kind;
} words[] = {
    {"void", TYPE_VOID},      {"bool", TYPE_BOOL},          {"_Bool", TYPE_BOOL},
    {"float", TYPE_F32},      {"double", TYPE_F64},         {"size_t", TYPE_U64},
    {"ssize_t", TYPE_I64},    {"ptrdiff_t", TYPE_I64},      {"intptr_t", TYPE_I64},
    {"uintptr_t", TYPE_U64},  {"int8_t", TYPE_I8},          {"uint8_t", TYPE_U8},
    {"int16_t", TYPE_I16},    {"uint16_t", TYPE_U16},       {"int32_t", TYPE_I32},
    {"uint32_t", TYPE_U32},   {"int64_t", TYPE_I64},        {"uint64_t", TYPE_U64},
    {"time_t", TYPE_I64},     {"MPI_Aint", TYPE_I64},       {"MPI_Count", TYPE_I64},
    {"MPI_Offset", TYPE_I64}, {"MPI_Comm", TYPE_I64},       {"MPI_Datatype", TYPE_I64},
    {"MPI_Group", TYPE_I64},  {"MPI_Op", TYPE_I64},         {"MPI_Request", TYPE_I64},
    {"MPI_Info", TYPE_I64},   {"MPI_Errhandler", TYPE_I64}, {"MPI_Message", TYPE_I64},
    {"MPI_Win", TYPE_I64},    {"MPI_File", TYPE_I64},
};

const type_t *type_basic(type_kind_t kind)
{
    return &basic[kind];
}

const type_t *type_word(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strncmp(words[i].name, name, length) == 0 && words[i].name[length] == '\0')
            return &basic[words[i].kind];
    return NULL;
}

const type_t *type_pointer(types_t *types, const type_t *of)
{
    type_t *t = xy_arena_alloc(types->arena, sizeof(*t));

    if (t != NULL)
        *t = (type_t){.kind = TYPE_POINTER, .align = 8, .size = 8, .of = of};
    return t;
}

const type_t *type_array(types_t *types, const type_t *of, uint64_t count,
                         const struct expr *length)
{
    type_t *t = xy_arena_alloc(types->arena, sizeof(*t));

    if (t != NULL)
        *t = (type_t){.kind = TYPE_ARRAY,
                      .align = of->align,
                      .size = of->size * count,
                      .of = of,
                      .count = count,
                      .length = length};
    return t;
}

const type_t *type_struct(const types_t *types, const char *name, size_t length)
{
    char word[256];

    if (length >= sizeof(word))
        return NULL;
    memcpy(word, name, length);
    word[length] = '\0';
    return xy_hash_get(&types->structs, XY_HASH_KEY(word));
}

type_t *type_struct_add(types_t *types, const char *name)
{
    type_t *t = xy_arena_alloc(types->arena, sizeof(*t));

    if (t == NULL)
        return NULL;
    *t = (type_t){.kind = TYPE_STRUCT, .align = 1, .name = name};
    return xy_hash_set(&types->structs, XY_HASH_KEY(name), t) == XY_OK ? t : NULL;
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

bool type_field_add(types_t *types, type_t *structure, const char *name, const type_t *type)
{
    type_field_t *field = xy_arena_alloc(types->arena, sizeof(*field)), **at = &structure->fields;
    uint64_t end = 0;

    if (field == NULL)
        return false;
    for (; *at != NULL; at = &(*at)->next)
        end = (*at)->offset + (*at)->type->size;
    *field = (type_field_t){.name = name, .type = type, .offset = round_up(end, type->align)};
    *at = field;
    if (type->align > structure->align)
        structure->align = type->align;
    structure->size = round_up(field->offset + type->size, structure->align);
    return true;
}

const type_field_t *type_field(const type_t *structure, const char *name, size_t length)
{
    const type_field_t *f = structure->fields;

    while (f != NULL && (strncmp(f->name, name, length) != 0 || f->name[length] != '\0'))
        f = f->next;
    return f;
}

/* MPI_Status as the standard ABI has it; the first of the internal words keeps the bytes. */
static bool add_status(types_t *types)
{
    type_t *status = type_struct_add(types, "MPI_Status");
    const type_t *rest = type_array(types, &basic[TYPE_I32], 5, NULL);

    return status != NULL && rest != NULL &&
           type_field_add(types, status, "MPI_SOURCE", &basic[TYPE_I32]) &&
           type_field_add(types, status, "MPI_TAG", &basic[TYPE_I32]) &&
           type_field_add(types, status, "MPI_ERROR", &basic[TYPE_I32]) &&
           type_field_add(types, status, "MPI_internal", rest);
}

xy_status_t types_init(types_t *types, xy_arena_t *arena)
{
    types->arena = arena;
    xy_hash_init(&types->structs, XY_HASH_STRING);
    if (add_status(types))
        return XY_OK;
    xy_hash_cleanup(&types->structs);
    return XY_ENOMEM;
}

void types_cleanup(types_t *types)
{
    xy_hash_cleanup(&types->structs);
}
