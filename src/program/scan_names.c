/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of predefined handles, by type and value: clang has expanded the macros. */
#include <string.h>

#include "cost/cost.h"
#include "program/code.h"
#include "program/scan_emit.h"

const char *scan_handle_name(const char *type, long long value)
{
    for (const program_constant_t *c = program_mpi_constants; c->name != NULL; c++)
        if (c->value == value && c->handle != NULL && strcmp(c->handle, type) == 0)
            return c->name;
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
