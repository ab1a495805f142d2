/* SPDX-License-Identifier: BSD-3-Clause */
/* Expressions to code: values, addresses, arithmetic with the conversions of C. */
#include <string.h>

#include "program/compile.h"

/* Types of choices are found by compiling twice: nested ones cost powers of two. */
enum { NESTING_MAX = 1000, WORK_MAX = 10000000 };

static const variable_t *find(const compiler_t *c, const char *name, size_t length)
{
    const variable_t *v = c->scope;

    while (v != NULL && (v->length != length || strncmp(v->name, name, length) != 0))
        v = v->outer;
    return v;
}

const type_t *compile_promote(const type_t *type)
{
    return type_is_integer(type) && type->kind < TYPE_I32 ? type_basic(TYPE_I32) : type;
}

const type_t *compile_common(const type_t *a, const type_t *b)
{
    a = compile_promote(a->kind == TYPE_POINTER || a->kind == TYPE_ARRAY ? type_basic(TYPE_U64)
                                                                         : a);
    b = compile_promote(b->kind == TYPE_POINTER || b->kind == TYPE_ARRAY ? type_basic(TYPE_U64)
                                                                         : b);
    /* The kinds are in the order of C's conversions: the greater one wins. */
    return a->kind > b->kind ? a : b;
}

bool compile_direct(const compiler_t *c, const expr_t *e, direct_t *direct_p)
{
    const type_field_t *field;
    const variable_t *v;
    int64_t index;

    switch (e->kind) {
    case EXPR_NAME:
        v = find(c, e->text, e->length);
        if (v == NULL)
            return false;
        *direct_p = (direct_t){v->is_global, v->offset, v->type};
        return true;
    case EXPR_MEMBER:
        if (!compile_direct(c, e->a, direct_p) || direct_p->type->kind != TYPE_STRUCT)
            return false;
        field = type_field(direct_p->type, e->text, e->length);
        if (field == NULL)
            return false;
        direct_p->offset += (int32_t)field->offset;
        direct_p->type = field->type;
        return true;
    case EXPR_INDEX:
        if (!expr_constant(e->b, &index) || !compile_direct(c, e->a, direct_p) ||
            direct_p->type->kind != TYPE_ARRAY || index < 0 ||
            (uint64_t)index >= direct_p->type->count)
            return false;
        direct_p->type = direct_p->type->of;
        direct_p->offset += (int32_t)((uint64_t)index * direct_p->type->size);
        return true;
    default:
        return false;
    }
}

/* Emits the address of a struct member and returns its type. */
static const type_t *member(compiler_t *c, const expr_t *e)
{
    const type_t *type = compile_address(c, e->a, false);
    const type_field_t *field;

    if (type == NULL)
        return NULL;
    if (type->kind != TYPE_STRUCT)
        return compile_fail(c, "'.%.*s' of a non-struct", (int)e->length, e->text);
    field = type_field(type, e->text, e->length);
    if (field == NULL)
        return compile_fail(c, "struct %s has no member '%.*s'", type->name, (int)e->length,
                            e->text);
    if (field->offset > 0)
        emit(c, OP_OFFSET, 0, 0, (int64_t)field->offset);
    return field->type;
}

static void emit_index(compiler_t *c, uint64_t size, int64_t count)
{
    code_dim_t dim = {.size = size, .count = count};

    emit(c, OP_INDEX, 0, 0, (int64_t)c->code->dims.count);
    if (xy_vec_append(&c->code->dims, &dim) != XY_OK)
        compile_fail_memory(c);
}

/* Emits the address of an array element with a check of its index; `is_end` also allows the address
 * one past the end. */
static const type_t *element(compiler_t *c, const expr_t *e, bool is_end)
{
    const type_t *type = compile_value(c, e->a), *index;
    int64_t count = -1;

    if (type == NULL)
        return NULL;
    if (type->kind != TYPE_POINTER && type->kind != TYPE_ARRAY)
        return compile_fail(c, "an index into a non-array");
    if (type->kind == TYPE_ARRAY && type->count > 0)
        count = (int64_t)type->count + is_end;
    index = compile_value(c, e->b);
    if (index == NULL)
        return NULL;
    if (!type_is_integer(index))
        return compile_fail(c, "an index that is not an integer");
    emit_index(c, type->of->size, count);
    return type->of;
}

const type_t *compile_address(compiler_t *c, const expr_t *e, bool is_end)
{
    const type_t *type;
    direct_t d;

    if (compile_direct(c, e, &d)) {
        emit(c, d.is_global ? OP_ADDRESS_GLOBAL : OP_ADDRESS_LOCAL, 0, 0, d.offset);
        return d.type;
    }
    switch (e->kind) {
    case EXPR_NAME:
        return compile_fail(c, "'%.*s' is not known here", (int)e->length, e->text);
    case EXPR_MEMBER:
        return member(c, e);
    case EXPR_INDEX:
        return element(c, e, is_end);
    case EXPR_FOLLOW:
        type = compile_value(c, e->a);
        if (type == NULL)
            return NULL;
        return type->kind == TYPE_POINTER || type->kind == TYPE_ARRAY
                   ? type->of
                   : compile_fail(c, "'*' applied to a non-pointer");
    case EXPR_CALL: /* of a function whose result is a struct */
        type = compile_value(c, e);
        return type == NULL || type->kind == TYPE_STRUCT
                   ? type
                   : compile_fail(c, "the address of a result");
    default:
        return compile_fail(c, "the address of a value that has none");
    }
}

/* Compile the constant of a name that is no variable. */
static const type_t *named_constant(compiler_t *c, const expr_t *e)
{
    const type_t *type;
    int64_t value;

    if (!compile_constant(e->text, e->length, &value, &type))
        return compile_fail(c, "'%.*s' is not known here", (int)e->length, e->text);
    emit_integer(c, value);
    return type;
}

void emit_direct(compiler_t *c, const direct_t *d)
{
    type_kind_t kind = d->type->kind;

    if (d->is_global)
        emit(c, OP_GLOBAL, kind, 0, d->offset);
    else if (kind == TYPE_I32)
        emit(c, OP_LOCAL_I32, 0, 0, d->offset);
    else if (d->type->size == 8)
        emit(c, OP_LOCAL_64, 0, 0, d->offset);
    else
        emit(c, OP_LOCAL, kind, 0, d->offset);
}

/* The value of what has an address. */
static const type_t *stored(compiler_t *c, const expr_t *e)
{
    const type_t *type;
    direct_t d;

    if (compile_direct(c, e, &d) && type_is_scalar(d.type)) {
        emit_direct(c, &d);
        return d.type;
    }
    if (e->kind == EXPR_NAME && find(c, e->text, e->length) == NULL)
        return named_constant(c, e);
    type = compile_address(c, e, false);
    if (type != NULL)
        emit_load(c, type);
    return type;
}

static const type_t *string(compiler_t *c, const expr_t *e)
{
    const type_t *type = type_array(&c->code->types, type_basic(TYPE_I8), e->length + 1, NULL);

    /* Behind the variables, whose size is known at the end: see code_compile(). */
    emit(c, OP_ADDRESS_GLOBAL, 1, 0, (int64_t)c->code->strings.length);
    xy_text_add_bytes(&c->code->strings, e->text, e->length);
    xy_text_add_bytes(&c->code->strings, "", 1);
    return type != NULL && !c->code->strings.failed ? type : compile_fail_memory(c);
}

const type_t *compile_operator(compiler_t *c, operator_t op, const type_t *type)
{
    static const op_t ops[] = {
        [OPERATOR_MULTIPLY] = OP_MULTIPLY_I32,
        [OPERATOR_DIVIDE] = OP_DIVIDE_I32,
        [OPERATOR_MODULO] = OP_MODULO_I32,
        [OPERATOR_ADD] = OP_ADD_I32,
        [OPERATOR_SUBTRACT] = OP_SUBTRACT_I32,
        [OPERATOR_LEFT] = OP_LEFT_I32,
        [OPERATOR_RIGHT] = OP_RIGHT_I32,
        [OPERATOR_LESS] = OP_LESS_I32,
        [OPERATOR_LESS_EQUAL] = OP_LESS_EQUAL_I32,
        [OPERATOR_GREATER] = OP_LESS_I32,
        [OPERATOR_GREATER_EQUAL] = OP_LESS_EQUAL_I32,
        [OPERATOR_EQUAL] = OP_EQUAL_I32,
        [OPERATOR_NOT_EQUAL] = OP_NOT_EQUAL_I32,
        [OPERATOR_BIT_AND] = OP_AND,
        [OPERATOR_BIT_XOR] = OP_XOR,
        [OPERATOR_BIT_OR] = OP_OR,
    };
    bool is_bitwise = op >= OPERATOR_BIT_AND, is_compared = op >= OPERATOR_LESS && !is_bitwise;

    if ((is_bitwise || op == OPERATOR_MODULO || op == OPERATOR_LEFT || op == OPERATOR_RIGHT) &&
        !type_is_integer(type))
        return compile_fail(c, "an integer operator applied to a non-integer");
    if (op == OPERATOR_GREATER || op == OPERATOR_GREATER_EQUAL)
        emit(c, OP_SWAP, 0, 0, 0);
    emit(c, (op_t)(ops[op] + (is_bitwise ? 0 : (int)type->kind - TYPE_I32)), 0, 0, 0);
    return is_compared ? type_basic(TYPE_I32) : type;
}

static bool is_pointer(const type_t *type)
{
    return type->kind == TYPE_POINTER || type->kind == TYPE_ARRAY;
}

/* pointer + n, pointer - n, pointer - pointer; the second is on top. */
static const type_t *pointer_arithmetic(compiler_t *c, operator_t op, const type_t *a,
                                        const type_t *b)
{
    const type_t *u64 = type_basic(TYPE_U64), *i64 = type_basic(TYPE_I64), *p;

    if (is_pointer(a) && is_pointer(b)) {
        if (op != OPERATOR_SUBTRACT)
            return compile_fail(c, "two pointers cannot be added");
        compile_operator(c, OPERATOR_SUBTRACT, i64);
        emit_integer(c, (int64_t)a->of->size);
        compile_operator(c, OPERATOR_DIVIDE, i64);
        return i64;
    }
    if (is_pointer(b)) {
        emit(c, OP_SWAP, 0, 0, 0);
        p = a, a = b, b = p;
    }
    if (!type_is_integer(b))
        return compile_fail(c, "a pointer combined with a non-integer");
    if (op == OPERATOR_SUBTRACT) {
        emit_integer(c, (int64_t)a->of->size);
        compile_operator(c, OPERATOR_MULTIPLY, u64);
        compile_operator(c, OPERATOR_SUBTRACT, u64);
    } else {
        emit_index(c, a->of->size, -1);
    }
    p = type_pointer(&c->code->types, a->of);
    return p != NULL ? p : compile_fail_memory(c);
}

/* The value that is on the stack below the top has type `a`: convert it, too. */
static bool convert_both(compiler_t *c, const type_t *a, const type_t *b, const type_t *type)
{
    if (!emit_convert(c, b, type))
        return false;
    if (a->kind == type->kind || (a->kind != TYPE_F32 && type_is_integer(type) && type->size == 8))
        return true;
    emit(c, OP_SWAP, 0, 0, 0);
    if (!emit_convert(c, a, type))
        return false;
    emit(c, OP_SWAP, 0, 0, 0);
    return true;
}

/* Emits an operation on two operands after the usual conversions, and returns its type. */
static const type_t *binary(compiler_t *c, const expr_t *e)
{
    const type_t *a = compile_value(c, e->a), *b = a != NULL ? compile_value(c, e->b) : NULL;
    const type_t *type;

    if (b == NULL)
        return NULL;
    if ((is_pointer(a) || is_pointer(b)) && (e->op == OPERATOR_ADD || e->op == OPERATOR_SUBTRACT))
        return pointer_arithmetic(c, e->op, a, b);
    if (!(type_is_scalar(a) || is_pointer(a)) || !(type_is_scalar(b) || is_pointer(b)))
        return compile_fail(c, "an operator applied to a non-number");
    type = e->op == OPERATOR_LEFT || e->op == OPERATOR_RIGHT ? compile_promote(a)
                                                             : compile_common(a, b);
    if (!convert_both(c, a, b, type))
        return NULL;
    return compile_operator(c, e->op, type);
}

/* a && b, a || b */
static const type_t *logical(compiler_t *c, const expr_t *e)
{
    bool is_and = e->kind == EXPR_AND;
    const type_t *type = compile_value(c, e->a);
    int32_t first, second, end;

    if (type == NULL || !emit_truth(c, type))
        return NULL;
    first = emit(c, is_and ? OP_JUMP_ZERO : OP_JUMP_NOT, 0, 0, 0);
    type = compile_value(c, e->b);
    if (type == NULL || !emit_truth(c, type))
        return NULL;
    second = emit(c, is_and ? OP_JUMP_ZERO : OP_JUMP_NOT, 0, 0, 0);
    emit_integer(c, is_and);
    end = emit(c, OP_JUMP, 0, 0, 0);
    c->depth--;
    emit_target(c, first);
    emit_target(c, second);
    emit_integer(c, !is_and);
    emit_target(c, end);
    return type_basic(TYPE_I32);
}

/* The type of an expression, without code. */
const type_t *compile_type_of(compiler_t *c, const expr_t *e)
{
    size_t insns = c->code->insns.count, at = c->code->at.count;
    int32_t depth = c->depth;
    const type_t *type = compile_value(c, e);

    c->code->insns.count = insns;
    c->code->at.count = at;
    c->depth = depth;
    return type;
}

/* Emits a conditional expression and returns its type. */
static const type_t *choose(compiler_t *c, const expr_t *e)
{
    const type_t *type = compile_value(c, e->a), *b, *d;
    int32_t other, end;

    if (type == NULL || !emit_truth(c, type))
        return NULL;
    b = compile_type_of(c, e->b);
    d = b != NULL ? compile_type_of(c, e->c) : NULL;
    if (d == NULL)
        return NULL;
    if (type_is_arithmetic(b) && type_is_arithmetic(d))
        type = compile_common(b, d);
    else /* of a pointer and NULL the pointer; an array is the address of its first element */
        type = type_is_arithmetic(b) && d->kind != TYPE_VOID ? d : b;
    if (type->kind == TYPE_ARRAY)
        type = type_pointer(&c->code->types, type->of);
    if (type == NULL)
        return compile_fail_memory(c);
    other = emit(c, OP_JUMP_ZERO, 0, 0, 0);
    if (!compile_value_as(c, e->b, type))
        return NULL;
    end = emit(c, OP_JUMP, 0, 0, 0);
    c->depth--;
    emit_target(c, other);
    if (!compile_value_as(c, e->c, type))
        return NULL;
    emit_target(c, end);
    return type;
}

/* Emits a sign, `!` or `~` and returns the promoted type. */
static const type_t *unary(compiler_t *c, const expr_t *e)
{
    const type_t *type = compile_value(c, e->a), *promoted;

    if (type == NULL)
        return NULL;
    if (e->kind == EXPR_NOT) {
        if (!emit_truth(c, type))
            return NULL;
        emit(c, OP_NOT, 0, 0, 0);
        return type_basic(TYPE_I32);
    }
    if (!type_is_arithmetic(type) || (e->kind == EXPR_INVERT && !type_is_integer(type)))
        return compile_fail(c, "a sign before a non-number");
    promoted = compile_promote(type);
    if (e->kind == EXPR_MINUS)
        emit(c, (op_t)(OP_NEGATE_I32 + (int)promoted->kind - TYPE_I32), 0, 0, 0);
    else if (e->kind == EXPR_INVERT)
        emit(c,
             promoted->kind == TYPE_I32   ? OP_INVERT_I32
             : promoted->kind == TYPE_U32 ? OP_INVERT_U32
                                          : OP_INVERT_64,
             0, 0, 0);
    return promoted;
}

static const type_t *address_of(compiler_t *c, const expr_t *e)
{
    const type_t *type = compile_address(c, e->a, true);

    if (type == NULL)
        return NULL;
    type = type_pointer(&c->code->types, type);
    return type != NULL ? type : compile_fail_memory(c);
}

static const type_t *size_of(compiler_t *c, const expr_t *e)
{
    const type_t *type = e->type != NULL ? e->type : compile_type_of(c, e->a);

    if (type == NULL)
        return NULL;
    if (type->kind == TYPE_ARRAY && type->length != NULL)
        return compile_fail(c, "the size of an array that is not known before it is made");
    emit_integer(c, (int64_t)type->size);
    return type_basic(TYPE_U64);
}

static const type_t *cast(compiler_t *c, const expr_t *e)
{
    const type_t *from = compile_value(c, e->a);

    return from != NULL && emit_convert(c, from, e->type) ? e->type : NULL;
}

static const type_t *comma(compiler_t *c, const expr_t *e)
{
    if (compile_value(c, e->a) == NULL)
        return NULL;
    emit(c, OP_POP, 0, 0, 0);
    return compile_value(c, e->b);
}

/* Emits the value of an expression; returns its type, or NULL on failure. */
static const type_t *value(compiler_t *c, const expr_t *e)
{
    switch (e->kind) {
    case EXPR_INTEGER:
        emit_integer(c, e->integer);
        return e->type;
    case EXPR_RECORDED:
        emit(c, OP_RECORDED, 0, 0, e->integer);
        return type_basic(TYPE_F64);
    case EXPR_REAL:
        emit_real(c, e->real);
        return e->type;
    case EXPR_STRING:
        return string(c, e);
    case EXPR_NAME:
    case EXPR_INDEX:
    case EXPR_MEMBER:
    case EXPR_FOLLOW:
        return stored(c, e);
    case EXPR_CALL:
        return compile_call(c, e);
    case EXPR_CAST:
        return cast(c, e);
    case EXPR_SIZEOF:
        return size_of(c, e);
    case EXPR_ADDRESS:
        return address_of(c, e);
    case EXPR_MINUS:
    case EXPR_PLUS:
    case EXPR_NOT:
    case EXPR_INVERT:
        return unary(c, e);
    case EXPR_INCREMENT:
        return compile_increment(c, e);
    case EXPR_BINARY:
        return binary(c, e);
    case EXPR_AND:
    case EXPR_OR:
        return logical(c, e);
    case EXPR_CHOOSE:
        return choose(c, e);
    case EXPR_ASSIGN:
        return compile_assign(c, e);
    case EXPR_COMMA:
        return comma(c, e);
    default:
        return compile_fail(c, "a list in braces where a value is needed");
    }
}

const type_t *compile_value(compiler_t *c, const expr_t *e)
{
    const type_t *type;

    if (c->status != XY_OK)
        return NULL;
    if (++c->nesting > NESTING_MAX || ++c->work > WORK_MAX)
        return compile_fail(c, "an expression that is too long");
    type = value(c, e);
    c->nesting--;
    return c->status == XY_OK ? type : NULL;
}

bool compile_value_as(compiler_t *c, const expr_t *e, const type_t *type)
{
    const type_t *from = compile_value(c, e);

    return from != NULL && emit_convert(c, from, type);
}
