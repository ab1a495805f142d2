/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that stand for numbers: those of mpi.h with its own values, and of the C library. */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "program/compile.h"

#define HANDLE(name)                                                                               \
    {                                                                                              \
#name, (int64_t)(intptr_t)(name), TYPE_I64                                                 \
    }
#define NUMBER(name)                                                                               \
    {                                                                                              \
#name, (name), TYPE_I32                                                                    \
    }
#define POINTER(name)                                                                              \
    {                                                                                              \
#name, (int64_t)(intptr_t)(name), TYPE_POINTER                                             \
    }

static const struct {
    const char *name;
    int64_t value;
    type_kind_t kind;
} constants[] = {
    HANDLE(MPI_COMM_WORLD),
    HANDLE(MPI_COMM_SELF),
    HANDLE(MPI_COMM_NULL),
    HANDLE(MPI_GROUP_NULL),
    HANDLE(MPI_GROUP_EMPTY),
    HANDLE(MPI_REQUEST_NULL),
    HANDLE(MPI_MESSAGE_NULL),
    HANDLE(MPI_MESSAGE_NO_PROC),
    HANDLE(MPI_INFO_NULL),
    HANDLE(MPI_ERRORS_RETURN),
    HANDLE(MPI_ERRORS_ARE_FATAL),
    /* operations */
    HANDLE(MPI_OP_NULL),
    HANDLE(MPI_SUM),
    HANDLE(MPI_MIN),
    HANDLE(MPI_MAX),
    HANDLE(MPI_PROD),
    HANDLE(MPI_BAND),
    HANDLE(MPI_BOR),
    HANDLE(MPI_BXOR),
    HANDLE(MPI_LAND),
    HANDLE(MPI_LOR),
    HANDLE(MPI_LXOR),
    HANDLE(MPI_MINLOC),
    HANDLE(MPI_MAXLOC),
    /* datatypes */
    HANDLE(MPI_DATATYPE_NULL),
    HANDLE(MPI_AINT),
    HANDLE(MPI_COUNT),
    HANDLE(MPI_OFFSET),
    HANDLE(MPI_PACKED),
    HANDLE(MPI_BYTE),
    HANDLE(MPI_SHORT),
    HANDLE(MPI_INT),
    HANDLE(MPI_LONG),
    HANDLE(MPI_LONG_LONG),
    HANDLE(MPI_LONG_LONG_INT),
    HANDLE(MPI_UNSIGNED_SHORT),
    HANDLE(MPI_UNSIGNED),
    HANDLE(MPI_UNSIGNED_LONG),
    HANDLE(MPI_UNSIGNED_LONG_LONG),
    HANDLE(MPI_CHAR),
    HANDLE(MPI_SIGNED_CHAR),
    HANDLE(MPI_UNSIGNED_CHAR),
    HANDLE(MPI_WCHAR),
    HANDLE(MPI_C_BOOL),
    HANDLE(MPI_INT8_T),
    HANDLE(MPI_UINT8_T),
    HANDLE(MPI_INT16_T),
    HANDLE(MPI_UINT16_T),
    HANDLE(MPI_INT32_T),
    HANDLE(MPI_UINT32_T),
    HANDLE(MPI_INT64_T),
    HANDLE(MPI_UINT64_T),
    HANDLE(MPI_FLOAT),
    HANDLE(MPI_DOUBLE),
    HANDLE(MPI_LONG_DOUBLE),
    HANDLE(MPI_C_FLOAT_COMPLEX),
    HANDLE(MPI_C_COMPLEX),
    HANDLE(MPI_C_DOUBLE_COMPLEX),
    HANDLE(MPI_C_LONG_DOUBLE_COMPLEX),
    HANDLE(MPI_FLOAT_INT),
    HANDLE(MPI_DOUBLE_INT),
    HANDLE(MPI_LONG_INT),
    HANDLE(MPI_2INT),
    HANDLE(MPI_SHORT_INT),
    HANDLE(MPI_LONG_DOUBLE_INT),
    HANDLE(MPI_INTEGER),
    HANDLE(MPI_REAL),
    HANDLE(MPI_DOUBLE_PRECISION),
    HANDLE(MPI_COMPLEX),
    HANDLE(MPI_DOUBLE_COMPLEX),
    HANDLE(MPI_CHARACTER),
    HANDLE(MPI_LOGICAL),
    /* numbers */
    NUMBER(MPI_ANY_SOURCE),
    NUMBER(MPI_ANY_TAG),
    NUMBER(MPI_PROC_NULL),
    NUMBER(MPI_ROOT),
    NUMBER(MPI_UNDEFINED),
    NUMBER(MPI_SUCCESS),
    NUMBER(MPI_COMM_TYPE_SHARED),
    NUMBER(MPI_THREAD_SINGLE),
    NUMBER(MPI_THREAD_FUNNELED),
    NUMBER(MPI_THREAD_SERIALIZED),
    NUMBER(MPI_THREAD_MULTIPLE),
    NUMBER(MPI_ORDER_C),
    NUMBER(MPI_ORDER_FORTRAN),
    NUMBER(MPI_IDENT),
    NUMBER(MPI_CONGRUENT),
    NUMBER(MPI_SIMILAR),
    NUMBER(MPI_UNEQUAL),
    NUMBER(INT_MAX),
    NUMBER(INT_MIN),
    NUMBER(RAND_MAX),
    {"LONG_MAX", LONG_MAX, TYPE_I64},
    {"UINT_MAX", UINT_MAX, TYPE_U32},
    {"true", 1, TYPE_I32},
    {"false", 0, TYPE_I32},
    {"EXIT_SUCCESS", 0, TYPE_I32},
    {"EXIT_FAILURE", 1, TYPE_I32},
    /* pointers */
    POINTER(MPI_STATUS_IGNORE),
    POINTER(MPI_STATUSES_IGNORE),
    POINTER(MPI_IN_PLACE),
    POINTER(MPI_BOTTOM),
    POINTER(NULL),
};

bool compile_constant(const char *name, size_t length, int64_t *value_p, const type_t **type_p)
{
    for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
        if (strncmp(constants[i].name, name, length) == 0 && constants[i].name[length] == '\0') {
            *value_p = constants[i].value;
            *type_p = constants[i].kind == TYPE_POINTER ? &type_void_pointer
                                                        : type_basic(constants[i].kind);
            return true;
        }
    return false;
}
