/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of predefined handles, by type and value: clang has expanded the macros. */
#include <mpi.h>
#include <string.h>

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

/* Which arguments of BLAS and LAPACK are sizes, without the letter of the precision. */
typedef struct {
    const char *prefix, *name;
    const char *sizes; /* numbers of arguments, one character each */
} kernel_t;

static const kernel_t kernels[] = {
    {"cblas_", "gemm", "345"},   {"cblas_", "symm", "34"},   {"cblas_", "hemm", "34"},
    {"cblas_", "syrk", "34"},    {"cblas_", "herk", "34"},   {"cblas_", "syr2k", "34"},
    {"cblas_", "trmm", "56"},    {"cblas_", "trsm", "56"},   {"cblas_", "gemv", "23"},
    {"cblas_", "ger", "12"},     {"cblas_", "symv", "2"},    {"cblas_", "trsv", "4"},
    {"cblas_", "trmv", "4"},     {"cblas_", "axpy", "0"},    {"cblas_", "dot", "0"},
    {"cblas_", "scal", "0"},     {"cblas_", "copy", "0"},    {"cblas_", "swap", "0"},
    {"cblas_", "nrm2", "0"},     {"cblas_", "asum", "0"},    {"LAPACKE_", "getrf", "12"},
    {"LAPACKE_", "potrf", "2"},  {"LAPACKE_", "potri", "2"}, {"LAPACKE_", "trtri", "3"},
    {"LAPACKE_", "gesv", "12"},  {"LAPACKE_", "getri", "1"}, {"LAPACKE_", "getrs", "23"},
    {"LAPACKE_", "geqrf", "12"}, {"LAPACKE_", "syev", "3"},  {"LAPACKE_", "gesvd", "34"},
    {"clapack_", "getrf", "12"}, {"clapack_", "potrf", "2"}, {"clapack_", "trtri", "3"},
    {"clapack_", "gesv", "12"},
};

static const char *after_prefix(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);

    return strncmp(name, prefix, length) == 0 ? name + length : NULL;
}

const char *scan_kernel_name(const scan_decl_t *function)
{
    static const char *const prefixes[] = {"cblas_", "LAPACKE_", "clapack_", NULL};

    for (int i = 0; prefixes[i] != NULL; i++)
        if (after_prefix(function->name, prefixes[i]) != NULL)
            return after_prefix(function->name, prefixes[i]);
    return function->name;
}

static const kernel_t *find_kernel(const char *name)
{
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        const char *rest = after_prefix(name, kernels[i].prefix);

        if (rest != NULL && *rest != '\0' && strcmp(rest + 1, kernels[i].name) == 0)
            return &kernels[i];
    }
    return NULL;
}

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
    const kernel_t *k = find_kernel(call->decl->name);
    const scan_decl_t *param = call->decl->params;

    if (k != NULL)
        return number < 10 && strchr(k->sizes, '0' + number) != NULL;
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
