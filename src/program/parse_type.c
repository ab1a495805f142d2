/* SPDX-License-Identifier: BSD-3-Clause */
/* Types, declarations of loops, and the ways into the parser. */
#include <string.h>

#include "program/parse.h"

static bool is_word(const parser_t *p, const char *word)
{
    return p->token.kind == TOKEN_NAME && strncmp(p->token.start, word, p->token.length) == 0 &&
           word[p->token.length] == '\0';
}

static bool is_one_of(const parser_t *p, const char *const *words)
{
    while (*words != NULL && !is_word(p, *words))
        words++;
    return *words != NULL;
}

static const char *const qualifiers[] = {"const",    "volatile", "static", "register",
                                         "restrict", "extern",   NULL};
static const char *const integers[] = {"char", "short", "int", "long", "signed", "unsigned", NULL};
static const char *const tags[] = {"struct", "enum", NULL};

bool parse_is_type(const parser_t *p)
{
    return p->token.kind == TOKEN_NAME &&
           (is_one_of(p, qualifiers) || is_one_of(p, integers) || is_one_of(p, tags) ||
            type_word(p->token.start, p->token.length) != NULL ||
            type_struct(p->types, p->token.start, p->token.length) != NULL);
}

static void skip_qualifiers(parser_t *p)
{
    while (is_one_of(p, qualifiers))
        parse_next(p);
}

/* "unsigned long int" in any order. */
static const type_t *parse_integer(parser_t *p)
{
    int longs = 0;
    bool is_char = false, is_short = false, is_unsigned = false, is_double = false;

    for (; is_one_of(p, integers) || is_word(p, "double") || is_one_of(p, qualifiers);
         parse_next(p)) {
        longs += is_word(p, "long");
        is_char |= is_word(p, "char");
        is_short |= is_word(p, "short");
        is_unsigned |= is_word(p, "unsigned");
        is_double |= is_word(p, "double");
    }
    if (is_double)
        return type_basic(TYPE_F64);
    if (is_char)
        return type_basic(is_unsigned ? TYPE_U8 : TYPE_I8);
    if (is_short)
        return type_basic(is_unsigned ? TYPE_U16 : TYPE_I16);
    if (longs > 0)
        return type_basic(is_unsigned ? TYPE_U64 : TYPE_I64);
    return type_basic(is_unsigned ? TYPE_U32 : TYPE_I32);
}

/* Reads the name of a basic type or of a struct; `is_struct` excludes basic types. */
static const type_t *parse_named(parser_t *p, bool is_struct)
{
    const type_t *type = NULL;

    if (p->token.kind != TOKEN_NAME)
        return parse_fail(p, "no name of a type");
    if (!is_struct)
        type = type_word(p->token.start, p->token.length);
    if (type == NULL)
        type = type_struct(p->types, p->token.start, p->token.length);
    if (type == NULL)
        return parse_fail(p, "a type that is not known");
    parse_next(p);
    return type;
}

/* Reads a type without its stars and dimensions; enums are ints. */
static const type_t *parse_base(parser_t *p)
{
    skip_qualifiers(p);
    if (is_one_of(p, integers))
        return parse_integer(p);
    if (is_word(p, "struct")) {
        parse_next(p);
        return parse_named(p, true);
    }
    if (is_word(p, "enum")) {
        parse_next(p);
        parse_next(p);
        return type_basic(TYPE_I32);
    }
    return parse_named(p, false);
}

static const type_t *out_of_memory(parser_t *p)
{
    if (p->status == XY_OK)
        p->status = xy_fail_memory("reading a type");
    return NULL;
}

/* "[n][2]": the last dimension is the innermost. */
static const type_t *parse_dimensions(parser_t *p, const type_t *of)
{
    const expr_t *length = NULL;
    int64_t count = 0;

    if (!parse_accept(p, SIGN1('[')))
        return of;
    if (!parse_is(p, SIGN1(']'))) {
        length = parse_assignment(p);
        if (length == NULL)
            return NULL;
        if (expr_constant(length, &count))
            length = NULL;
    }
    if (!parse_expect(p, ']'))
        return NULL;
    if (++p->depth > PARSE_DEPTH_MAX)
        return parse_fail(p, "too many dimensions");
    of = parse_dimensions(p, of);
    p->depth--;
    if (of == NULL)
        return NULL;
    if (count < 0 || (uint64_t)count > TYPE_SIZE_MAX / (of->size > 0 ? of->size : 1))
        return parse_fail(p, "an array of no possible size");
    if (of->kind == TYPE_ARRAY && of->length != NULL)
        return parse_fail(p, "an array whose inner dimensions are not constants");
    of = type_array(p->types, of, (uint64_t)count, length);
    return of != NULL ? of : out_of_memory(p);
}

static const type_t *parse_stars(parser_t *p, const type_t *type)
{
    for (;;) {
        skip_qualifiers(p);
        if (!parse_accept(p, SIGN1('*')))
            return type;
        type = type_pointer(p->types, type);
        if (type == NULL)
            return out_of_memory(p);
    }
}

/* "int (*)[3]", behind the parenthesis: a pointer to rows of an array. */
static const type_t *parse_row_pointer(parser_t *p, const type_t *of)
{
    if (!parse_accept(p, SIGN1('*')))
        return parse_fail(p, "no '*' in the parentheses of a type");
    if (!parse_expect(p, ')'))
        return NULL;
    of = parse_dimensions(p, of);
    if (of == NULL)
        return NULL;
    if (of->kind == TYPE_ARRAY && (of->length != NULL || of->count == 0))
        return parse_fail(p, "a pointer to an array whose size is not a constant");
    of = type_pointer(p->types, of);
    return of != NULL ? of : out_of_memory(p);
}

const type_t *parse_type(parser_t *p)
{
    const type_t *type = parse_base(p);

    if (type != NULL) {
        skip_qualifiers(p);
        type = parse_stars(p, type);
    }
    if (type != NULL && parse_accept(p, SIGN1('(')))
        return parse_row_pointer(p, type);
    return type != NULL ? parse_dimensions(p, type) : NULL;
}

/* One exit for all ways in: the value only when the whole text was read. */
static xy_status_t finish(parser_t *p, expr_t *e, expr_t **expr_p)
{
    xy_status_t st = parse_end(p);

    if (st == XY_OK)
        *expr_p = e;
    return st;
}

xy_status_t expr_parse(types_t *types, const char *text, place_t place, expr_t **expr_p)
{
    parser_t p;

    parse_init(&p, types, text, place);
    return finish(&p, parse_expression(&p), expr_p);
}

xy_status_t expr_parse_value(types_t *types, const char *text, place_t place, expr_t **expr_p)
{
    parser_t p;

    parse_init(&p, types, text, place);
    return finish(&p, parse_is(&p, SIGN1('{')) ? parse_list(&p) : parse_expression(&p), expr_p);
}

xy_status_t expr_parse_list(types_t *types, const char *text, place_t place, expr_t **first_p)
{
    parser_t p;

    parse_init(&p, types, text, place);
    return finish(&p, p.token.kind == TOKEN_END ? NULL : parse_list(&p), first_p);
}

xy_status_t expr_parse_type(types_t *types, const char *text, place_t place, const type_t **type_p)
{
    parser_t p;
    const type_t *type;

    parse_init(&p, types, text, place);
    type = parse_type(&p);
    if (parse_end(&p) == XY_OK)
        *type_p = type;
    return p.status;
}

xy_status_t expr_parse_start(types_t *types, const char *text, place_t place, const type_t **type_p,
                             expr_t **expr_p)
{
    parser_t p;
    const type_t *type = NULL;
    xy_status_t st;

    parse_init(&p, types, text, place);
    if (parse_is_type(&p)) {
        type = parse_base(&p);
        if (type != NULL)
            type = parse_stars(&p, type);
    }
    st = finish(&p,
                p.status != XY_OK ? NULL
                : type != NULL    ? parse_list(&p)
                                  : parse_expression(&p),
                expr_p);
    if (st == XY_OK)
        *type_p = type;
    return st;
}

/* Evaluates an operator on constants; returns false for other operators and for divisors below
 * 1. */
static bool fold(const expr_t *e, int64_t a, int64_t b, int64_t *value_p)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;

    switch (e->op) {
    case OPERATOR_ADD:
        *value_p = (int64_t)(x + y);
        return true;
    case OPERATOR_SUBTRACT:
        *value_p = (int64_t)(x - y);
        return true;
    case OPERATOR_MULTIPLY:
        *value_p = (int64_t)(x * y);
        return true;
    case OPERATOR_DIVIDE:
        *value_p = b > 0 ? a / b : 0;
        return b > 0;
    case OPERATOR_LEFT:
        *value_p = (int64_t)(x << (y & 63));
        return true;
    default:
        return false;
    }
}

bool expr_constant(const expr_t *e, int64_t *value_p)
{
    int64_t a, b;

    switch (e->kind) {
    case EXPR_INTEGER:
        *value_p = e->integer;
        return true;
    case EXPR_SIZEOF:
        *value_p = e->type != NULL ? (int64_t)e->type->size : 0;
        return e->type != NULL && e->type->kind != TYPE_ARRAY;
    case EXPR_MINUS:
        if (!expr_constant(e->a, &a))
            return false;
        *value_p = (int64_t)(0 - (uint64_t)a);
        return true;
    case EXPR_BINARY:
        return expr_constant(e->a, &a) && expr_constant(e->b, &b) && fold(e, a, b, value_p);
    default:
        return false;
    }
}
