/* SPDX-License-Identifier: BSD-3-Clause */
/* Tokens of C expressions: names, numbers with their types, characters, strings, operators. */
#include "program/lex.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_blanks(const char *s)
{
    for (;;) {
        while (isspace((unsigned char)*s))
            s++;
        if (s[0] != '/' || s[1] != '*')
            return s;
        s = strstr(s + 2, "*/");
        if (s == NULL)
            return "";
        s += 2;
    }
}

/* The type that C gives to an integer: the first that holds it. */
static const type_t *integer_type(uint64_t value, bool is_decimal, bool is_unsigned, bool is_long)
{
    if (!is_long && !is_unsigned && value <= INT32_MAX)
        return type_basic(TYPE_I32);
    if (!is_long && (is_unsigned || !is_decimal) && value <= UINT32_MAX)
        return type_basic(TYPE_U32);
    if (!is_unsigned && value <= INT64_MAX)
        return type_basic(TYPE_I64);
    return type_basic(TYPE_U64);
}

static bool is_real(const char *s)
{
    bool is_hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');

    for (; is_name(*s) || *s == '.'; s++)
        if (*s == '.' || (is_hex ? *s == 'p' || *s == 'P' : *s == 'e' || *s == 'E'))
            return true;
    return false;
}

static token_t bad(const char *s)
{
    return (token_t){.kind = TOKEN_BAD, .start = s, .length = *s != '\0'};
}

/* One finish for both kinds of numbers: nothing of a name may follow. */
static token_t number(token_t token, const char *start, const char *end)
{
    if (is_name(*end))
        return bad(start);
    token.start = start;
    token.length = (size_t)(end - start);
    return token;
}

/* Reads a floating-point constant with its suffix. */
static token_t lex_real(const char *s)
{
    char *end;
    double value = strtod(s, &end);
    const type_t *type = type_basic(TYPE_F64);

    if (end == s)
        return bad(s);
    if (*end == 'f' || *end == 'F') {
        type = type_basic(TYPE_F32);
        value = (float)value;
        end++;
    } else if (*end == 'l' || *end == 'L') {
        end++;
    }
    return number((token_t){.kind = TOKEN_REAL, .type = type, .real = value}, s, end);
}

/* Reads an integer constant; its suffix and value determine the type. */
static token_t lex_integer(const char *s)
{
    char *end;
    uint64_t value;
    bool is_unsigned = false, is_long = false;

    errno = 0;
    value = strtoull(s, &end, 0);
    if (errno != 0 || end == s)
        return bad(s);
    for (;; end++) {
        if (*end == 'u' || *end == 'U')
            is_unsigned = true;
        else if (*end == 'l' || *end == 'L')
            is_long = true;
        else
            break;
    }
    return number((token_t){.kind = TOKEN_INTEGER,
                            .type = integer_type(value, *s != '0', is_unsigned, is_long),
                            .integer = (int64_t)value},
                  s, end);
}

bool lex_escape(const char **s_p, signed char *c_p)
{
    static const char escapes[] = "n\nt\tr\ra\ab\bf\fv\ve\033\\\\'\'\"\"?\?";
    const char *s = *s_p, *e = escapes;
    unsigned value = 0;

    if (*s >= '0' && *s <= '7') {
        for (; *s >= '0' && *s <= '7' && s < *s_p + 3; s++)
            value = value * 8 + (unsigned)(*s - '0');
    } else if (*s == 'x' && isxdigit((unsigned char)s[1])) {
        for (s++; isxdigit((unsigned char)*s) && value <= 255; s++)
            value = value * 16 +
                    (unsigned)(isdigit((unsigned char)*s) ? *s - '0' : (*s | 32) - 'a' + 10);
    } else {
        while (*e != '\0' && *e != *s)
            e += 2;
        if (*e == '\0')
            return false;
        value = (unsigned char)e[1];
        s++;
    }
    if (value > 255)
        return false;
    *s_p = s;
    *c_p = (signed char)value;
    return true;
}

/* Reads a character constant. */
static token_t lex_character(const char *s)
{
    const char *p = s + 1;
    signed char value = (signed char)*p; /* characters are signed */

    if (*p == '\0')
        return bad(s);
    p++;
    if (p[-1] == '\\' && !lex_escape(&p, &value))
        return bad(s);
    if (*p != '\'')
        return bad(s);
    return (token_t){.kind = TOKEN_INTEGER,
                     .start = s,
                     .length = (size_t)(p + 1 - s),
                     .type = type_basic(TYPE_I32),
                     .integer = value};
}

static token_t lex_string(const char *s)
{
    const char *p = s + 1;

    while (*p != '\0' && *p != '"')
        p += *p == '\\' && p[1] != '\0' ? 2 : 1;
    if (*p == '\0')
        return bad(s);
    return (token_t){.kind = TOKEN_STRING, .start = s + 1, .length = (size_t)(p - s - 1)};
}

/* Reads an operator or a bracket, the longest possible. */
static token_t lex_sign(const char *s)
{
    static const char *const signs[] = {"<<=", ">>=", "->", "++", "--", "<<", ">>",
                                        "<=",  ">=",  "==", "!=", "&&", "||", "+=",
                                        "-=",  "*=",  "/=", "%=", "&=", "|=", "^="};
    token_t token = {.kind = TOKEN_SIGN, .start = s, .length = 1};

    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (strncmp(s, signs[i], strlen(signs[i])) == 0) {
            token.length = strlen(signs[i]);
            break;
        }
    if (token.length == 1 && strchr("()[]{}.,?:+-*/%&|^~!<>=", *s) == NULL)
        return bad(s);
    for (size_t i = 0; i < token.length; i++)
        token.sign |= SIGN1(s[i]) << 8 * i;
    return token;
}

token_t lex(const char *s)
{
    const char *end;

    s = skip_blanks(s);
    if (*s == '\0')
        return (token_t){.kind = TOKEN_END, .start = s};
    if (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1])))
        return is_real(s) ? lex_real(s) : lex_integer(s);
    if (*s == '\'')
        return lex_character(s);
    if (*s == '"')
        return lex_string(s);
    if (!is_name(*s))
        return lex_sign(s);
    for (end = s; is_name(*end); end++)
        ;
    return (token_t){.kind = TOKEN_NAME, .start = s, .length = (size_t)(end - s)};
}
