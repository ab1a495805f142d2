/* SPDX-License-Identifier: BSD-3-Clause */
/* sprintf() and snprintf(): flags, width, precision and the sizes of C with %d %i %u %o %x %X, %c
 * %s, %e %f %g %a and %%. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "program/c_library.h"

typedef struct {
    char spec[32]; /* "%-5.3": what stands in front of the size */
    int stars;     /* arguments for width and precision */
    int bytes;     /* of an integer */
    char kind;
} conversion_t;

/* The conversion at `f`, which is a '%'; false: it is not known. */
static bool read_conversion(const char **f_p, conversion_t *c)
{
    const char *f = *f_p + 1;
    size_t length = 1;

    *c = (conversion_t){.spec = "%", .bytes = 4};
    for (; *f != '\0' && strchr("-+ #0123456789.*", *f) != NULL; f++) {
        if (length >= sizeof(c->spec) - 4)
            return false;
        c->stars += *f == '*';
        c->spec[length++] = *f;
    }
    c->spec[length] = '\0';
    for (; *f != '\0' && strchr("hlLqjzt", *f) != NULL; f++)
        c->bytes = *f == 'h' ? c->bytes / 2 : *f == 'L' ? 16 : 8;
    c->kind = *f;
    *f_p = *f != '\0' ? f + 1 : f;
    return *f != '\0' && c->stars <= 2 && c->bytes > 0 && c->bytes < 16 &&
           strchr("diuoxXcsfFeEgGaA%", *f) != NULL;
}

bool library_can_print(const char *format)
{
    conversion_t c;

    while ((format = strchr(format, '%')) != NULL)
        if (!read_conversion(&format, &c))
            return false;
    return true;
}

static int64_t narrow(int64_t value, int bytes, bool is_signed)
{
    int shift = 64 - 8 * bytes;
    uint64_t up = (uint64_t)value << shift;

    return is_signed ? (int64_t)up >> shift : (int64_t)(up >> shift);
}

/* "%*d" becomes "%12d". */
static void fill_stars(conversion_t *c, const int64_t *args, int *next)
{
    char filled[96];
    size_t length = 0;

    for (const char *s = c->spec; *s != '\0' && length < sizeof(filled) - 12; s++)
        if (*s == '*')
            length += (size_t)snprintf(filled + length, 12, "%d", (int32_t)args[(*next)++]);
        else
            filled[length++] = *s;
    filled[length] = '\0';
    snprintf(c->spec, sizeof(c->spec), "%s", filled);
}

/* Appends one value as its conversion says. */
static void print_one(process_t *p, xy_text_t *to, const conversion_t *c, int64_t cell)
{
    bool is_signed = c->kind == 'd' || c->kind == 'i';
    char format[40];
    const char *s;

    snprintf(format, sizeof(format), "%s%s%c", c->spec,
             strchr("diuoxX", c->kind) != NULL ? "ll" : "", c->kind);
    /* The formats are those of the program, which read_conversion() has looked at. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (strchr("diuoxX", c->kind) != NULL) {
        xy_text_addf(to, format, (long long)narrow(cell, c->bytes, is_signed));
    } else if (c->kind == 'c') {
        xy_text_addf(to, format, (int)cell);
    } else if (c->kind == 's') {
        s = process_string(p, (uint64_t)cell);
        if (s != NULL)
            xy_text_addf(to, format, s);
    } else {
        xy_text_addf(to, format, cell_real(cell));
    }
#pragma GCC diagnostic pop
}

/* The text of a format and the arguments from `next` on; false: it failed (reported). */
static bool print(process_t *p, const char *f, const int64_t *args, int next, xy_text_t *to)
{
    conversion_t c;

    while (*f != '\0' && p->status == XY_OK) {
        if (*f != '%') {
            xy_text_add_bytes(to, f, 1);
            f++;
            continue;
        }
        if (!read_conversion(&f, &c) || next + c.stars >= LIBRARY_SCANNED + (c.kind == '%'))
            return process_fail(p, "a format of printf() that is not known");
        fill_stars(&c, args, &next);
        if (c.kind == '%')
            xy_text_add_bytes(to, "%", 1);
        else
            print_one(p, to, &c, args[next++]);
    }
    return p->status == XY_OK && (!to->failed || process_fail_memory(p));
}

/* Put as much of the text as there is room for, with its end; how long it is. */
static int64_t put(process_t *p, uint64_t address, uint64_t room, const xy_text_t *text)
{
    uint64_t count = text->length < room ? text->length : room > 0 ? room - 1 : 0;
    char *to = room > 0 ? process_at(p, address, count + 1) : NULL;

    if (to != NULL) {
        memcpy(to, text->s != NULL ? text->s : "", count);
        to[count] = '\0';
    }
    return (int64_t)text->length;
}

/* Prints to the buffer of the first argument; returns the length of the whole text. */
static int64_t print_to(process_t *p, const int64_t *args, int format, uint64_t room)
{
    const char *f = process_string(p, (uint64_t)args[format]);
    char *copy = f != NULL ? xy_strndup(f, strlen(f)) : NULL;
    xy_text_t text = XY_TEXT_INIT;
    int64_t length = 0;

    if (f != NULL && copy == NULL)
        process_fail_memory(p);
    if (copy != NULL && print(p, copy, args, format + 1, &text))
        length = put(p, (uint64_t)args[0], room, &text);
    xy_text_cleanup(&text);
    xy_free(copy);
    return length;
}

int64_t library_sprintf(process_t *p, const int64_t *args)
{
    return print_to(p, args, 1, UINT64_MAX);
}

int64_t library_snprintf(process_t *p, const int64_t *args)
{
    return print_to(p, args, 2, (uint64_t)args[1]);
}
