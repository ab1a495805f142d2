/* SPDX-License-Identifier: BSD-3-Clause */
/* C expressions as trees. */
#ifndef XY_PROGRAM_EXPR_H
#define XY_PROGRAM_EXPR_H

#include "program/type.h"

typedef enum {
    EXPR_INTEGER, /* integer, type */
    EXPR_REAL,    /* real, type */
    EXPR_STRING,  /* text, length: its bytes without quotes, escapes resolved */
    EXPR_NAME,    /* text, length */
    EXPR_CALL,    /* text, length: of the function; a: first argument, by next */
    EXPR_INDEX,   /* a[b] */
    EXPR_MEMBER,  /* a.text */
    EXPR_CAST,    /* (type)a */
    EXPR_SIZEOF,  /* of type, or of a */
    EXPR_ADDRESS, /* &a */
    EXPR_FOLLOW,  /* *a */
    EXPR_MINUS,
    EXPR_PLUS,
    EXPR_NOT,
    EXPR_INVERT,
    EXPR_INCREMENT, /* a++ or ++a (is_prefix), by integer = +1 or -1 */
    EXPR_BINARY,    /* a op b */
    EXPR_AND,
    EXPR_OR,
    EXPR_CHOOSE, /* a ? b : c */
    EXPR_ASSIGN, /* a = b; with op: a op= b */
    EXPR_COMMA,
    EXPR_LIST,     /* { ... }: a by next; of initial values only */
    EXPR_RECORDED, /* unknown number `integer` (compile.c); no text has it */
} expr_kind_t;

typedef enum {
    OPERATOR_NONE,
    OPERATOR_MULTIPLY,
    OPERATOR_DIVIDE,
    OPERATOR_MODULO,
    OPERATOR_ADD,
    OPERATOR_SUBTRACT,
    OPERATOR_LEFT,
    OPERATOR_RIGHT,
    OPERATOR_LESS,
    OPERATOR_LESS_EQUAL,
    OPERATOR_GREATER,
    OPERATOR_GREATER_EQUAL,
    OPERATOR_EQUAL,
    OPERATOR_NOT_EQUAL,
    OPERATOR_BIT_AND,
    OPERATOR_BIT_XOR,
    OPERATOR_BIT_OR,
} operator_t;

typedef struct expr {
    expr_kind_t kind;
    operator_t op;
    bool is_prefix;
    const type_t *type;
    struct expr *a, *b, *c, *next;
    const char *text;
    size_t length;
    union {
        int64_t integer;
        double real;
    };
} expr_t;

/* Where the text is from, for messages. */
typedef struct {
    const char *file;
    long line;
} place_t;

/* Parse a whole text; EPARSE names the place and the text. What it returns lives in the arena of
 * `types`; it points into `text`, too. */
xy_status_t expr_parse(types_t *types, const char *text, place_t place, expr_t **expr_p);
/* The same, where a list in braces may stand for a value. */
xy_status_t expr_parse_value(types_t *types, const char *text, place_t place, expr_t **expr_p);
/* A list of expressions with commas between them, by next; of the whole text. NULL: none. */
xy_status_t expr_parse_list(types_t *types, const char *text, place_t place, expr_t **first_p);
/* A type: "int *", "double[n][2]". Lengths that are no constants are kept as expressions; the first
 * may be missing (0). */
xy_status_t expr_parse_type(types_t *types, const char *text, place_t place, const type_t **type_p);
/* The start of a for loop: "i = 0", or a declaration "int i = 0, j = 1", whose type goes to *type_p
 * (else NULL): then a list of names and assignments to names. */
xy_status_t expr_parse_start(types_t *types, const char *text, place_t place, const type_t **type_p,
                             expr_t **expr_p);

/* Is it an integer constant? */
bool expr_constant(const expr_t *e, int64_t *value_p);

#endif
