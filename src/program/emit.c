/* SPDX-License-Identifier: BSD-3-Clause */
/* Instructions one behind the other, with the depth of the stack that they need. */
#include <stdarg.h>
#include <string.h>

#include "program/compile.h"

const type_t *compile_fail(compiler_t *c, const char *format, ...)
{
    char text[512];
    va_list args;

    if (c->status != XY_OK)
        return NULL;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    c->status = xy_fail_at(XY_EINVAL, c->place.file, c->place.line, "%s", text);
    return NULL;
}

const type_t *compile_fail_memory(compiler_t *c)
{
    if (c->status == XY_OK)
        c->status = xy_fail_memory("compiling a description");
    return NULL;
}

void compile_at(compiler_t *c, const xy_node_t *node, const char *what)
{
    code_place_t place = {.file = node->file, .line = node->line, .what = what};

    c->place = (place_t){node->file, node->line};
    c->place_index = (uint32_t)c->code->places.count;
    if (xy_vec_append(&c->code->places, &place) != XY_OK)
        compile_fail_memory(c);
}

/* The change of the stack's depth by an instruction; calls are corrected by the caller. */
static int effect(op_t op)
{
    switch (op) {
    case OP_CONSTANT:
    case OP_POOL:
    case OP_ADDRESS_LOCAL:
    case OP_ADDRESS_GLOBAL:
    case OP_LOCAL_I32:
    case OP_LOCAL_64:
    case OP_LOCAL:
    case OP_GLOBAL:
    case OP_DUP:
    case OP_RECORDED:
        return 1;
    case OP_STORE:
    case OP_COPY:
    case OP_INDEX:
    case OP_POP:
    case OP_JUMP_ZERO:
    case OP_JUMP_NOT:
    case OP_RETURN:
    case OP_NEW:
    case OP_AND:
    case OP_XOR:
    case OP_OR:
        return -1;
    default:
        if (op >= OP_NEGATE_I32 && op <= OP_NEGATE_F64)
            return 0;
        return op >= OP_ADD_I32 && op <= OP_HIGHER_F64 ? -1 : 0;
    }
}

void emit_undo(compiler_t *c)
{
    if (c->status != XY_OK)
        return;
    xy_vec_pop(&c->code->insns);
    xy_vec_pop(&c->code->at);
}

int32_t emit_here(const compiler_t *c)
{
    return (int32_t)c->code->insns.count;
}

int32_t emit(compiler_t *c, op_t op, int x, int y, int64_t arg)
{
    insn_t insn = {.op = (uint16_t)op, .x = (uint8_t)x, .y = (uint8_t)y, .arg = (int32_t)arg};

    if (c->status != XY_OK)
        return 0;
    if (xy_vec_append(&c->code->insns, &insn) != XY_OK ||
        xy_vec_append(&c->code->at, &c->place_index) != XY_OK)
        compile_fail_memory(c);
    c->depth += effect(op);
    if (c->function != NULL && c->depth > c->function->depth)
        c->function->depth = c->depth;
    return emit_here(c) - 1;
}

void emit_target(compiler_t *c, int32_t jump)
{
    if (c->status == XY_OK)
        XY_VEC_AT(&c->code->insns, insn_t, jump).arg = emit_here(c);
}

static void emit_pool(compiler_t *c, int64_t value)
{
    emit(c, OP_POOL, 0, 0, (int64_t)c->code->pool.count);
    if (xy_vec_append(&c->code->pool, &value) != XY_OK)
        compile_fail_memory(c);
}

void emit_integer(compiler_t *c, int64_t value)
{
    if (value >= INT32_MIN && value <= INT32_MAX)
        emit(c, OP_CONSTANT, 0, 0, value);
    else
        emit_pool(c, value);
}

void emit_real(compiler_t *c, double value)
{
    int64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    emit_pool(c, bits);
}

static bool is_signed(type_kind_t kind)
{
    return kind == TYPE_I8 || kind == TYPE_I16 || kind == TYPE_I32 || kind == TYPE_I64;
}

/* Does a cell of kind `from` hold the same bits as one of kind `to`? Integers are extended to the
 * whole cell, and conversion between 64-bit ones keeps the bits. */
static bool is_same_cell(const type_t *from, const type_t *to)
{
    if (from->kind == to->kind || (from->kind == TYPE_F32 && to->kind == TYPE_F64))
        return true;
    if (type_is_real(from) || type_is_real(to) || to->kind == TYPE_BOOL)
        return false;
    if (to->size == 8)
        return true;
    return from->size < to->size && (!is_signed(from->kind) || is_signed(to->kind));
}

bool emit_convert(compiler_t *c, const type_t *from, const type_t *to)
{
    if (to->kind == TYPE_VOID)
        return true;
    if (from->kind == TYPE_ARRAY)
        from = type_basic(TYPE_U64);
    if (to->kind == TYPE_STRUCT || from->kind == TYPE_STRUCT) {
        if (from == to)
            return true;
        compile_fail(c, "a struct and something else cannot be converted into each other");
        return false;
    }
    if (!type_is_scalar(from) || !type_is_scalar(to)) {
        compile_fail(c, "an expression without a value");
        return false;
    }
    if (!is_same_cell(from, to))
        emit(c, OP_CONVERT, from->kind == TYPE_POINTER ? TYPE_U64 : from->kind,
             to->kind == TYPE_POINTER ? TYPE_U64 : to->kind, 0);
    return true;
}

bool emit_truth(compiler_t *c, const type_t *type)
{
    if (type_is_real(type))
        emit(c, OP_TRUE_F64, 0, 0, 0);
    else if (!type_is_scalar(type) && type->kind != TYPE_ARRAY) {
        compile_fail(c, "a condition that is not a number");
        return false;
    }
    return true;
}

void emit_load(compiler_t *c, const type_t *type)
{
    if (type_is_scalar(type))
        emit(c, OP_LOAD, type->kind, 0, 0);
}
