/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of predefined handles, by type and value: clang has expanded the macros. */
#include <mpi.h>
#include <string.h>

#include "cost/cost.h"
#include "program/scan_emit.h"

typedef struct {
    const char *type, *name;
    uintptr_t value;
} handle_t;

#define HANDLE(type, name)                                                                         \
    {                                                                                              \
        "MPI_" #type, "MPI_" #name, (uintptr_t)MPI_##name                                          \
    }
#define DATATYPE(name) HANDLE(Datatype, name)
#define OP(name)       HANDLE(Op, name)

static const handle_t handles[] = {
    HANDLE(Comm, COMM_NULL),
    HANDLE(Comm, COMM_WORLD),
    HANDLE(Comm, COMM_SELF),
    HANDLE(Group, GROUP_NULL),
    HANDLE(Group, GROUP_EMPTY),
    HANDLE(Request, REQUEST_NULL),
    HANDLE(Info, INFO_NULL),
    HANDLE(Errhandler, ERRORS_RETURN),
    HANDLE(Errhandler, ERRORS_ARE_FATAL),
    OP(OP_NULL),
    OP(SUM),
    OP(MIN),
    OP(MAX),
    OP(PROD),
    OP(BAND),
    OP(BOR),
    OP(BXOR),
    OP(LAND),
    OP(LOR),
    OP(LXOR),
    OP(MINLOC),
    OP(MAXLOC),
    DATATYPE(DATATYPE_NULL),
    DATATYPE(AINT),
    DATATYPE(COUNT),
    DATATYPE(OFFSET),
    DATATYPE(PACKED),
    DATATYPE(BYTE),
    DATATYPE(SHORT),
    DATATYPE(INT),
    DATATYPE(LONG),
    DATATYPE(LONG_LONG),
    DATATYPE(UNSIGNED_SHORT),
    DATATYPE(UNSIGNED),
    DATATYPE(UNSIGNED_LONG),
    DATATYPE(UNSIGNED_LONG_LONG),
    DATATYPE(CHAR),
    DATATYPE(SIGNED_CHAR),
    DATATYPE(UNSIGNED_CHAR),
    DATATYPE(WCHAR),
    DATATYPE(C_BOOL),
    DATATYPE(INT8_T),
    DATATYPE(UINT8_T),
    DATATYPE(INT16_T),
    DATATYPE(UINT16_T),
    DATATYPE(INT32_T),
    DATATYPE(UINT32_T),
    DATATYPE(INT64_T),
    DATATYPE(UINT64_T),
    DATATYPE(FLOAT),
    DATATYPE(DOUBLE),
    DATATYPE(LONG_DOUBLE),
    DATATYPE(C_FLOAT_COMPLEX),
    DATATYPE(C_DOUBLE_COMPLEX),
    DATATYPE(C_LONG_DOUBLE_COMPLEX),
    DATATYPE(FLOAT_INT),
    DATATYPE(DOUBLE_INT),
    DATATYPE(LONG_INT),
    DATATYPE(2INT),
    DATATYPE(SHORT_INT),
    DATATYPE(LONG_DOUBLE_INT),
    DATATYPE(INTEGER),
    DATATYPE(REAL),
    DATATYPE(DOUBLE_PRECISION),
    DATATYPE(COMPLEX),
    DATATYPE(DOUBLE_COMPLEX),
    DATATYPE(CHARACTER),
    DATATYPE(LOGICAL),
};

const char *scan_handle_name(const char *type, long long value)
{
    for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++)
        if (handles[i].value == (uintptr_t)value && strcmp(handles[i].type, type) == 0)
            return handles[i].name;
    return NULL;
}

/* ---- Kernels ----------------------------------------------------------------------------- */

/* Leading dimensions, increments and choices are no sizes. */
static bool is_size(const scan_decl_t *param, const scan_expr_t *arg)
{
    if (arg->type->kind != SCAN_INT || arg->type->bytes < 4)
        return false;
    if (param == NULL)
        return true;
    return !param->type->is_enum && strncmp(param->name, "ld", 2) != 0 &&
           strncmp(param->name, "inc", 3) != 0;
}

bool scan_kernel_takes(const scan_expr_t *call, int number, const scan_expr_t *arg)
{
    const char *sizes = xy_blas_sizes(call->decl->name);
    const scan_decl_t *param = call->decl->params;

    if (sizes != NULL)
        return number < 10 && strchr(sizes, '0' + number) != NULL;
    for (int i = 0; i < number && param != NULL; i++)
        param = param->next;
    return is_size(param, arg);
}

const char *scan_kernel_sizes(xy_scan_t *scan, const scan_expr_t *call)
{
    const char *text = "";
    int i = 0;

    for (const scan_expr_t *a = call->args; a != NULL; a = a->next, i++)
        if (scan_kernel_takes(call, i, a)) {
            const char *size = scan_print(scan, a);
            size_t length = strlen(text) + strlen(size) + 3;
            char *longer = scan_alloc(scan, length);

            snprintf(longer, length, "%s%s%s", text, *text != '\0' ? ", " : "", size);
            text = longer;
        }
    return text;
}
