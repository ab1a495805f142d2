/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of C expressions, between its files. */
#ifndef XY_PROGRAM_PARSE_H
#define XY_PROGRAM_PARSE_H

#include "program/lex.h"

enum { PARSE_DEPTH_MAX = 200 };

typedef struct {
    types_t *types;
    const char *text;
    place_t place;
    token_t token; /* the one to be looked at */
    int depth;
    xy_status_t status; /* the first failure, which has been said */
} parser_t;

void parse_init(parser_t *p, types_t *types, const char *text, place_t place);
void parse_next(parser_t *p);
bool parse_is(const parser_t *p, uint32_t sign);
bool parse_accept(parser_t *p, uint32_t sign);
bool parse_expect(parser_t *p, char sign);
/* Say what is wrong, once; NULL. */
void *parse_fail(parser_t *p, const char *what);
/* The whole text must have been looked at. */
xy_status_t parse_end(parser_t *p);

/* NULL: it failed, which has been said. */
expr_t *parse_expression(parser_t *p); /* with commas */
expr_t *parse_assignment(parser_t *p);
expr_t *parse_list(parser_t *p); /* of assignments, by next, up to a bracket or the end */

bool parse_is_type(const parser_t *p);
const type_t *parse_type(parser_t *p);

#endif
