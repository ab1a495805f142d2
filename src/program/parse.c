/* SPDX-License-Identifier: BSD-3-Clause */
/* C expressions by recursive descent; binary operators by precedence. */
#include "program/parse.h"

#include <string.h>

void parse_init(parser_t *p, types_t *types, const char *text, place_t place)
{
    *p = (parser_t){.types = types, .text = text, .place = place, .token = lex(text)};
}

void parse_next(parser_t *p)
{
    const token_t t = p->token;

    if (t.kind != TOKEN_END && t.kind != TOKEN_BAD)
        p->token = lex(t.start + t.length + (t.kind == TOKEN_STRING));
}

void *parse_fail(parser_t *p, const char *what)
{
    if (p->status == XY_OK)
        p->status = xy_fail_at(XY_EPARSE, p->place.file, p->place.line,
                               "%s in the expression '%s'%s%.20s%s", what, p->text,
                               *p->token.start != '\0' ? ", before '" : "", p->token.start,
                               *p->token.start != '\0' ? "'" : "");
    return NULL;
}

bool parse_is(const parser_t *p, uint32_t sign)
{
    return p->token.kind == TOKEN_SIGN && p->token.sign == sign;
}

bool parse_accept(parser_t *p, uint32_t sign)
{
    if (!parse_is(p, sign))
        return false;
    parse_next(p);
    return true;
}

bool parse_expect(parser_t *p, char sign)
{
    char what[] = "a ' ' is missing";

    what[3] = sign;
    if (parse_accept(p, SIGN1(sign)))
        return true;
    parse_fail(p, what);
    return false;
}

/* Allocates an expression in the arena; returns NULL without memory, with the status set. */
static expr_t *parse_new(parser_t *p, expr_kind_t kind, expr_t *a, expr_t *b)
{
    expr_t *e = xy_arena_alloc(p->types->arena, sizeof(*e));

    if (e == NULL) {
        if (p->status == XY_OK)
            p->status = xy_fail_memory("reading an expression");
        return NULL;
    }
    e->kind = kind;
    e->a = a;
    e->b = b;
    return e;
}

xy_status_t parse_end(parser_t *p)
{
    if (p->status == XY_OK && p->token.kind != TOKEN_END)
        parse_fail(p, p->token.kind == TOKEN_BAD ? "a character that C does not have"
                                                 : "unexpected text");
    return p->status;
}

/* Reads adjacent string literals as one expression; `\n` and `\t` are the only escapes with a
 * special value. */
static expr_t *parse_string(parser_t *p)
{
    xy_text_t text = XY_TEXT_INIT;
    expr_t *e = parse_new(p, EXPR_STRING, NULL, NULL);
    char *copy;

    for (; e != NULL && p->token.kind == TOKEN_STRING; parse_next(p))
        for (const char *s = p->token.start, *end = s + p->token.length; s < end;) {
            bool is_escape = *s == '\\' && s + 1 < end;
            signed char c;

            s += is_escape;
            if (!is_escape || !lex_escape(&s, &c))
                c = (signed char)*s++;
            xy_text_add_bytes(&text, (const char *)&c, 1);
        }
    if (e != NULL) {
        e->length = text.length;
        copy = xy_arena_alloc(p->types->arena, text.length + 1);
        if (copy != NULL && text.length > 0) /* there may be NULs in it */
            memcpy(copy, text.s, text.length);
        e->text = copy;
        if (text.failed || copy == NULL)
            e = parse_fail(p, "no memory for a string");
    }
    xy_text_cleanup(&text);
    return e;
}

/* "{ ... }", whose first sign has been seen. */
static expr_t *parse_braces(parser_t *p)
{
    expr_t *e = parse_new(p, EXPR_LIST, NULL, NULL);

    parse_next(p);
    if (e == NULL || ++p->depth > PARSE_DEPTH_MAX)
        return parse_fail(p, "too many brackets");
    if (!parse_is(p, SIGN1('}')) && (e->a = parse_list(p)) == NULL)
        return NULL;
    p->depth--;
    return parse_expect(p, '}') ? e : NULL;
}

expr_t *parse_list(parser_t *p)
{
    expr_t *first = NULL, **at = &first;

    do {
        *at = parse_is(p, SIGN1('{')) ? parse_braces(p) : parse_assignment(p);
        if (*at == NULL)
            return NULL;
        at = &(*at)->next;
    } while (parse_accept(p, SIGN1(',')) && !parse_is(p, SIGN1('}')));
    return first;
}

/* Reads a name, or a call with its arguments. */
static expr_t *parse_name(parser_t *p)
{
    expr_t *e = parse_new(p, EXPR_NAME, NULL, NULL);

    if (e == NULL)
        return NULL;
    e->text = p->token.start;
    e->length = p->token.length;
    parse_next(p);
    if (!parse_accept(p, SIGN1('(')))
        return e;
    e->kind = EXPR_CALL;
    if (parse_accept(p, SIGN1(')')))
        return e;
    e->a = parse_list(p);
    return e->a != NULL && parse_expect(p, ')') ? e : NULL;
}

/* Reads a numeric constant. */
static expr_t *parse_number(parser_t *p)
{
    expr_t *e = parse_new(p, p->token.kind == TOKEN_REAL ? EXPR_REAL : EXPR_INTEGER, NULL, NULL);

    if (e == NULL)
        return NULL;
    e->type = p->token.type;
    if (e->kind == EXPR_REAL)
        e->real = p->token.real;
    else
        e->integer = p->token.integer;
    parse_next(p);
    return e;
}

/* Reads a name, a constant, a string or an expression in parentheses. */
static expr_t *parse_primary(parser_t *p)
{
    expr_t *e;

    switch (p->token.kind) {
    case TOKEN_NAME:
        return parse_name(p);
    case TOKEN_INTEGER:
    case TOKEN_REAL:
        return parse_number(p);
    case TOKEN_STRING:
        return parse_string(p);
    case TOKEN_END:
        return parse_fail(p, "unexpected end");
    default:
        if (!parse_accept(p, SIGN1('(')))
            return parse_fail(p, "no value");
        e = parse_expression(p);
        return e != NULL && parse_expect(p, ')') ? e : NULL;
    }
}

/* Reads the member name after `.` or `->`; `->` becomes a dereference and a `.`. */
static expr_t *parse_member(parser_t *p, expr_t *a, bool is_arrow)
{
    expr_t *e;

    parse_next(p);
    if (p->token.kind != TOKEN_NAME)
        return parse_fail(p, "no name of a member");
    if (is_arrow)
        a = parse_new(p, EXPR_FOLLOW, a, NULL);
    e = a != NULL ? parse_new(p, EXPR_MEMBER, a, NULL) : NULL;
    if (e == NULL)
        return NULL;
    e->text = p->token.start;
    e->length = p->token.length;
    parse_next(p);
    return e;
}

static expr_t *parse_increment(parser_t *p, expr_t *a, int by, bool is_prefix)
{
    expr_t *e = parse_new(p, EXPR_INCREMENT, a, NULL);

    if (e != NULL) {
        e->integer = by;
        e->is_prefix = is_prefix;
    }
    return e;
}

/* Reads a primary expression with its members, indices, `++` and `--`. */
static expr_t *parse_postfix(parser_t *p)
{
    expr_t *e = parse_primary(p);

    while (e != NULL) {
        if (parse_is(p, SIGN1('.')) || parse_is(p, SIGN2('-', '>'))) {
            e = parse_member(p, e, parse_is(p, SIGN2('-', '>')));
        } else if (parse_accept(p, SIGN1('['))) {
            expr_t *index = parse_expression(p);

            e = index != NULL && parse_expect(p, ']') ? parse_new(p, EXPR_INDEX, e, index) : NULL;
        } else if (parse_accept(p, SIGN2('+', '+'))) {
            e = parse_increment(p, e, 1, false);
        } else if (parse_accept(p, SIGN2('-', '-'))) {
            e = parse_increment(p, e, -1, false);
        } else {
            break;
        }
    }
    return e;
}

static expr_t *parse_unary(parser_t *p);

static expr_t *parse_operand(parser_t *p, expr_kind_t kind)
{
    expr_t *a;

    parse_next(p);
    a = parse_unary(p);
    return a != NULL ? parse_new(p, kind, a, NULL) : NULL;
}

/* "(type)" has been seen to begin. */
static expr_t *parse_cast(parser_t *p)
{
    const type_t *type = parse_type(p);
    expr_t *a, *e;

    if (type == NULL || !parse_expect(p, ')'))
        return NULL;
    a = parse_unary(p);
    e = a != NULL ? parse_new(p, EXPR_CAST, a, NULL) : NULL;
    if (e != NULL)
        e->type = type;
    return e;
}

/* Reads `sizeof` of a type in parentheses or of an expression. */
static expr_t *parse_sizeof(parser_t *p)
{
    parser_t before;
    expr_t *e = parse_new(p, EXPR_SIZEOF, NULL, NULL);

    parse_next(p);
    before = *p;
    if (e != NULL && parse_accept(p, SIGN1('(')) && parse_is_type(p)) {
        e->type = parse_type(p);
        return e->type != NULL && parse_expect(p, ')') ? e : NULL;
    }
    *p = before;
    if (e != NULL)
        e->a = parse_unary(p);
    return e != NULL && e->a != NULL ? e : NULL;
}

/* Reads a prefix operator and its operand, or a postfix expression. */
static expr_t *parse_signed(parser_t *p)
{
    expr_t *a;

    if (parse_is(p, SIGN2('+', '+')) || parse_is(p, SIGN2('-', '-'))) {
        int by = parse_is(p, SIGN2('+', '+')) ? 1 : -1;

        parse_next(p);
        a = parse_unary(p);
        return a != NULL ? parse_increment(p, a, by, true) : NULL;
    }
    switch (p->token.kind == TOKEN_SIGN ? p->token.sign : 0) {
    case SIGN1('-'):
        return parse_operand(p, EXPR_MINUS);
    case SIGN1('+'):
        return parse_operand(p, EXPR_PLUS);
    case SIGN1('!'):
        return parse_operand(p, EXPR_NOT);
    case SIGN1('~'):
        return parse_operand(p, EXPR_INVERT);
    case SIGN1('&'):
        return parse_operand(p, EXPR_ADDRESS);
    case SIGN1('*'):
        return parse_operand(p, EXPR_FOLLOW);
    default:
        return parse_postfix(p);
    }
}

/* Reads sizeof, a cast or an operand with signs; limits the depth of the recursion. */
static expr_t *parse_unary(parser_t *p)
{
    parser_t before;
    expr_t *e;

    if (++p->depth > PARSE_DEPTH_MAX)
        return parse_fail(p, "too many brackets or signs");
    before = *p;
    if (p->token.kind == TOKEN_NAME && p->token.length == 6 &&
        strncmp(p->token.start, "sizeof", 6) == 0) {
        e = parse_sizeof(p);
    } else if (parse_accept(p, SIGN1('(')) && parse_is_type(p)) {
        e = parse_cast(p);
    } else {
        *p = before;
        e = parse_signed(p);
    }
    p->depth--;
    return e;
}

static const struct {
    uint32_t sign;
    int level; /* higher binds more */
    operator_t op;
} binary[] = {
    {SIGN1('*'), 10, OPERATOR_MULTIPLY},
    {SIGN1('/'), 10, OPERATOR_DIVIDE},
    {SIGN1('%'), 10, OPERATOR_MODULO},
    {SIGN1('+'), 9, OPERATOR_ADD},
    {SIGN1('-'), 9, OPERATOR_SUBTRACT},
    {SIGN2('<', '<'), 8, OPERATOR_LEFT},
    {SIGN2('>', '>'), 8, OPERATOR_RIGHT},
    {SIGN1('<'), 7, OPERATOR_LESS},
    {SIGN2('<', '='), 7, OPERATOR_LESS_EQUAL},
    {SIGN1('>'), 7, OPERATOR_GREATER},
    {SIGN2('>', '='), 7, OPERATOR_GREATER_EQUAL},
    {SIGN2('=', '='), 6, OPERATOR_EQUAL},
    {SIGN2('!', '='), 6, OPERATOR_NOT_EQUAL},
    {SIGN1('&'), 5, OPERATOR_BIT_AND},
    {SIGN1('^'), 4, OPERATOR_BIT_XOR},
    {SIGN1('|'), 3, OPERATOR_BIT_OR},
    {SIGN2('&', '&'), 2, OPERATOR_NONE},
    {SIGN2('|', '|'), 1, OPERATOR_NONE},
};

static int find_binary(const parser_t *p)
{
    for (int i = 0; i < (int)(sizeof(binary) / sizeof(binary[0])); i++)
        if (parse_is(p, binary[i].sign))
            return i;
    return -1;
}

/* Reads binary operators of priority `level` or higher, left to right. */
static expr_t *parse_binary(parser_t *p, int level)
{
    expr_t *e = parse_unary(p), *b;

    for (int i; e != NULL && (i = find_binary(p)) >= 0 && binary[i].level >= level;) {
        parse_next(p);
        b = parse_binary(p, binary[i].level + 1);
        if (b == NULL)
            return NULL;
        e = parse_new(p,
                      binary[i].op != OPERATOR_NONE ? EXPR_BINARY
                      : binary[i].level == 2        ? EXPR_AND
                                                    : EXPR_OR,
                      e, b);
        if (e != NULL)
            e->op = binary[i].op;
    }
    return e;
}

/* Reads a conditional expression. */
static expr_t *parse_choice(parser_t *p)
{
    expr_t *e = parse_binary(p, 1), *b, *c;

    if (e == NULL || !parse_accept(p, SIGN1('?')))
        return e;
    b = parse_expression(p);
    if (b == NULL || !parse_expect(p, ':'))
        return NULL;
    c = parse_assignment(p);
    e = c != NULL ? parse_new(p, EXPR_CHOOSE, e, b) : NULL;
    if (e != NULL)
        e->c = c;
    return e;
}

/* Is it an assignment, and with which operator? */
static bool is_assignment(const parser_t *p, operator_t *op_p)
{
    uint32_t sign = p->token.sign;

    *op_p = OPERATOR_NONE;
    if (p->token.kind != TOKEN_SIGN)
        return false;
    if (sign == SIGN1('='))
        return true;
    for (int i = 0; i < 16; i++)
        if (sign == (binary[i].sign | SIGN1('=') << (binary[i].sign > 0xff ? 16 : 8)) &&
            binary[i].level != 7 && binary[i].level != 6) {
            *op_p = binary[i].op;
            return true;
        }
    return false;
}

expr_t *parse_assignment(parser_t *p)
{
    operator_t op;
    expr_t *e, *b;

    if (++p->depth > PARSE_DEPTH_MAX)
        return parse_fail(p, "too many brackets or signs");
    e = parse_choice(p);
    if (e != NULL && is_assignment(p, &op)) {
        parse_next(p);
        b = parse_assignment(p);
        e = b != NULL ? parse_new(p, EXPR_ASSIGN, e, b) : NULL;
        if (e != NULL)
            e->op = op;
    }
    p->depth--;
    return e;
}

expr_t *parse_expression(parser_t *p)
{
    expr_t *e = parse_assignment(p), *b;

    while (e != NULL && parse_accept(p, SIGN1(','))) {
        b = parse_assignment(p);
        e = b != NULL ? parse_new(p, EXPR_COMMA, e, b) : NULL;
    }
    return e;
}
