/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of functions of the description and of the C library; MPI calls and kernels. */
#include <string.h>

#include "program/c_library.h"
#include "program/compile.h"

static int32_t find_function(const compiler_t *c, const char *name, size_t length)
{
    for (size_t i = 0; i < c->code->functions.count; i++) {
        const function_t *f = &XY_VEC_AT(&c->code->functions, function_t, i);

        if (strncmp(f->name, name, length) == 0 && f->name[length] == '\0')
            return (int32_t)i;
    }
    return -1;
}

static int count_args(const expr_t *e)
{
    int count = 0;

    for (const expr_t *a = e->a; a != NULL; a = a->next)
        count++;
    return count;
}

/* Emits a call of a function of the program; a struct result is copied into the frame of the
 * caller. */
static const type_t *call_function(compiler_t *c, const expr_t *e, int32_t index)
{
    const function_t *f = &XY_VEC_AT(&c->code->functions, function_t, index);
    const expr_t *a = e->a;

    if (count_args(e) != f->count)
        return compile_fail(c, "%s() takes %d arguments, not %d", f->name, f->count, count_args(e));
    for (int i = 0; i < f->count; i++, a = a->next)
        if (!compile_value_as(c, a, f->parameters[i]))
            return NULL;
    emit(c, OP_CALL, 0, 0, index);
    c->depth += 1 - f->count;
    if (f->result->kind == TYPE_STRUCT) { /* out of the frame that is gone, before another comes */
        emit(c, OP_ADDRESS_LOCAL, 0, 0,
             compile_reserve(c, f->result->size, f->result->align, false));
        emit(c, OP_SWAP, 0, 0, 0);
        emit(c, OP_COPY, 0, 0, (int64_t)f->result->size);
    }
    return f->result;
}

/* Returns the type of a letter in the signature of a library function, or NULL without memory. */
static const type_t *library_type(compiler_t *c, char kind)
{
    switch (kind) {
    case 'd':
        return type_basic(TYPE_F64);
    case 'i':
        return type_basic(TYPE_I32);
    case 'l':
        return type_basic(TYPE_I64);
    case 'u':
        return type_basic(TYPE_U64);
    case 'p':
        return type_pointer(&c->code->types, type_basic(TYPE_I8));
    default:
        return type_basic(TYPE_VOID);
    }
}

/* A number as C gives it to printf(), in a cell; or a pointer. */
static bool any_argument(compiler_t *c, const expr_t *e)
{
    const type_t *type = compile_value(c, e);

    if (type == NULL)
        return false;
    if (type->kind == TYPE_POINTER || type->kind == TYPE_ARRAY)
        return true;
    if (type->kind == TYPE_F32 || type->kind == TYPE_F64)
        return emit_convert(c, type, type_basic(TYPE_F64));
    if (!type_is_integer(type)) {
        compile_fail(c, "an argument that is no number and no pointer");
        return false;
    }
    return emit_convert(c, type, type_basic(TYPE_I64));
}

/* Emits a call of a library function; missing arguments of a variadic one are 0. */
static const type_t *call_library(compiler_t *c, const expr_t *e, int index)
{
    const library_t *f = &library[index];
    const expr_t *a = e->a;
    int count = (int)strlen(f->args), given = count_args(e);
    bool is_any = count > 0 && f->args[count - 1] == ',';
    bool is_open = is_any || (count > 0 && f->args[count - 1] == '.');
    const type_t *type;

    if (is_open ? given < count - 1 || given > LIBRARY_SCANNED : given != count)
        return compile_fail(c, "%s() takes %s%d arguments, not %d", f->name,
                            is_open ? "at least " : "", is_open ? count - 1 : count, given);
    for (int i = 0; i < given; i++, a = a->next) {
        if (is_any && i >= count - 1) {
            if (!any_argument(c, a))
                return NULL;
            continue;
        }
        type = library_type(c, is_open && i >= count - 1 ? 'p' : f->args[i]);
        if (type == NULL)
            return compile_fail_memory(c);
        if (!compile_value_as(c, a, type))
            return NULL;
    }
    count = is_open ? LIBRARY_SCANNED : count;
    for (int i = given; i < count; i++)
        emit_integer(c, 0);
    emit(c, OP_LIBRARY, count, 0, index);
    c->depth += 1 - count;
    if (c->depth > c->function->depth)
        c->function->depth = c->depth;
    type = library_type(c, f->result);
    return type != NULL ? type : compile_fail_memory(c);
}

/* min(a, b) and max(a, b), as macros of programs have it, for any numbers. */
static const type_t *call_extreme(compiler_t *c, const expr_t *e, op_t op)
{
    const type_t *a, *b, *type;

    if (count_args(e) != 2)
        return compile_fail(c, "%.*s() takes 2 arguments", (int)e->length, e->text);
    a = compile_value(c, e->a);
    b = a != NULL ? compile_value(c, e->a->next) : NULL;
    if (b == NULL)
        return NULL;
    if (!type_is_arithmetic(a) || !type_is_arithmetic(b))
        return compile_fail(c, "%.*s() of a non-number", (int)e->length, e->text);
    type = compile_common(a, b);
    emit_convert(c, b, type);
    emit(c, OP_SWAP, 0, 0, 0);
    emit_convert(c, a, type);
    emit(c, (op_t)(op + (int)type->kind - TYPE_I32), 0, 0, 0);
    return type;
}

static bool is_name(const expr_t *e, const char *name)
{
    return strncmp(name, e->text, e->length) == 0 && name[e->length] == '\0';
}

const type_t *compile_call(compiler_t *c, const expr_t *e)
{
    int32_t index = find_function(c, e->text, e->length);

    if (index >= 0)
        return call_function(c, e, index);
    index = library_find(e->text, e->length);
    if (index >= 0)
        return call_library(c, e, index);
    if (is_name(e, "min") || is_name(e, "MIN"))
        return call_extreme(c, e, OP_LOWER_I32);
    if (is_name(e, "max") || is_name(e, "MAX"))
        return call_extreme(c, e, OP_HIGHER_I32);
    return compile_fail(c, "the function %.*s() is not known", (int)e->length, e->text);
}

/* ---- MPI calls and kernels ---- */

static void emit_site(compiler_t *c, op_t op, const code_site_t *site)
{
    emit(c, op, 0, 0, (int64_t)c->code->sites.count);
    c->depth -= site->count;
    if (xy_vec_append(&c->code->sites, site) != XY_OK)
        compile_fail_memory(c);
}

/* One argument of a call; one that is not given is 0. */
static bool mpi_argument(compiler_t *c, code_site_t *site, int i)
{
    const char *text = xy_node_attr(site->node, site->call->args[i]);
    const type_t *type = NULL;
    expr_t *e;

    if (text == NULL || site->call->kinds[i] == XY_ARG_IGNORED) {
        if (site->call->kinds[i] == XY_ARG_VALUE) {
            compile_fail(c, "%s needs %s=\"...\"", site->call->name, site->call->args[i]);
            return false;
        }
        emit_integer(c, 0);
        return true;
    }
    if (c->status == XY_OK)
        c->status = expr_parse(&c->code->types, text, c->place, &e);
    type = c->status == XY_OK ? compile_value(c, e) : NULL;
    if (type == NULL)
        return false;
    site->given |= 1u << i;
    if (site->call->kinds[i] == XY_ARG_VALUE)
        return emit_convert(c, type, type_basic(TYPE_I64));
    if (type->kind == TYPE_POINTER || type->kind == TYPE_ARRAY || type_is_integer(type))
        return true;
    compile_fail(c, "%s of %s is not a pointer", site->call->args[i], site->call->name);
    return false;
}

void compile_mpi(compiler_t *c, const xy_node_t *node)
{
    code_site_t site = {.node = node, .call = xy_mpi_call_find(xy_node_attr(node, "call"))};

    if (site.call == NULL) {
        compile_fail(c, "'%s' is not an MPI call that a description may have",
                     xy_node_attr(node, "call"));
        return;
    }
    compile_at(c, node, site.call->name);
    site.count = (int32_t)strlen(site.call->kinds);
    for (int i = 0; i < site.count; i++)
        if (!mpi_argument(c, &site, i))
            return;
    emit_site(c, OP_MPI, &site);
}

void compile_kernel(compiler_t *c, const xy_node_t *node)
{
    bool is_kernel = node->kind != XY_NODE_COMPUTE;
    const char *text = xy_node_attr(node, is_kernel ? "sizes" : "count");
    code_site_t site = {.node = node, .name = xy_node_attr(node, "name"), .model = -1};
    expr_t *list = NULL;

    compile_at(c, node, node->kind == XY_NODE_TEAM ? "OpenMP" : site.name);
    if (text != NULL && c->status == XY_OK)
        c->status = expr_parse_list(&c->code->types, text, c->place, &list);
    for (const expr_t *e = list; e != NULL && c->status == XY_OK; e = e->next, site.count++)
        if (!compile_value_as(c, e, type_basic(TYPE_F64)))
            return;
    if (site.count > (is_kernel ? XY_MPI_ARGS_MAX : 1)) {
        compile_fail(c, "%s has too many sizes", site.name);
        return;
    }
    emit_site(c, is_kernel ? OP_KERNEL : OP_COMPUTE, &site);
}
