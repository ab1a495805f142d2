/* SPDX-License-Identifier: BSD-3-Clause */
/* Tokens of C expressions. */
#ifndef XY_PROGRAM_LEX_H
#define XY_PROGRAM_LEX_H

#include "program/expr.h"

typedef enum {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_INTEGER,
    TOKEN_REAL,
    TOKEN_STRING,
    TOKEN_SIGN, /* an operator or a bracket: `sign` has its characters, first one lowest */
    TOKEN_BAD,
} token_kind_t;

#define SIGN1(a)       ((uint32_t)(unsigned char)(a))
#define SIGN2(a, b)    (SIGN1(a) | SIGN1(b) << 8)
#define SIGN3(a, b, c) (SIGN2(a, b) | SIGN1(c) << 16)

typedef struct {
    token_kind_t kind;
    const char *start;
    size_t length;
    uint32_t sign;
    const type_t *type; /* of a number */
    union {
        int64_t integer;
        double real;
    };
} token_t;

/* The token at `text`, behind blanks and comments. */
token_t lex(const char *text);

/* The character of the escape behind a backslash; *s_p comes behind the escape. False: there is no
 * such one, and *s_p stays. */
bool lex_escape(const char **s_p, signed char *c_p);

#endif
