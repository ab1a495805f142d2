/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that stand for numbers: those of mpi.h with its own values, and of the C library. */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "program/compile.h"

#define POINTER(name)                                                                              \
    {                                                                                              \
#name, (int64_t)(intptr_t)(name), TYPE_POINTER                                             \
    }

/* Pointers of mpi.h, and constants of the C library. */
static const struct {
    const char *name;
    int64_t value;
    type_kind_t kind;
} constants[] = {
    {"INT_MAX", INT_MAX, TYPE_I32},
    {"INT_MIN", INT_MIN, TYPE_I32},
    {"RAND_MAX", RAND_MAX, TYPE_I32},
    {"LONG_MAX", LONG_MAX, TYPE_I64},
    {"UINT_MAX", UINT_MAX, TYPE_U32},
    {"true", 1, TYPE_I32},
    {"false", 0, TYPE_I32},
    {"EXIT_SUCCESS", 0, TYPE_I32},
    {"EXIT_FAILURE", 1, TYPE_I32},
    POINTER(MPI_STATUS_IGNORE),
    POINTER(MPI_STATUSES_IGNORE),
    POINTER(MPI_IN_PLACE),
    POINTER(MPI_BOTTOM),
    POINTER(NULL),
};

static bool is_name(const char *known, const char *name, size_t length)
{
    return strncmp(known, name, length) == 0 && known[length] == '\0';
}

bool compile_constant(const char *name, size_t length, int64_t *value_p, const type_t **type_p)
{
    for (const program_constant_t *c = program_mpi_constants; c->name != NULL; c++)
        if (is_name(c->name, name, length)) {
            *value_p = c->value;
            *type_p = type_basic(c->handle != NULL ? TYPE_I64 : TYPE_I32);
            return true;
        }
    for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
        if (is_name(constants[i].name, name, length)) {
            *value_p = constants[i].value;
            *type_p = constants[i].kind == TYPE_POINTER ? &type_void_pointer
                                                        : type_basic(constants[i].kind);
            return true;
        }
    return false;
}
