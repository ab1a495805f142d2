/* SPDX-License-Identifier: BSD-3-Clause */
/* sscanf() of numbers: white space, %d %i %u %o %x, %e %f %g, %c, %n and %%, with width, * and the
 * sizes of C. */
#include <ctype.h>
#include <stdlib.h>

#include "program/c_library.h"

typedef struct {
    bool is_skipped;
    int width; /* 0: as many as there are */
    int bytes; /* of an integer; of a real: 4 or 8 */
    char kind;
} conversion_t;

/* "%*5hhd" */
static const char *read_conversion(const char *f, conversion_t *c)
{
    *c = (conversion_t){.bytes = 4};
    f++;
    if (*f == '*') {
        c->is_skipped = true;
        f++;
    }
    while (isdigit((unsigned char)*f) && c->width < 1000)
        c->width = 10 * c->width + (*f++ - '0');
    for (; *f != '\0' && strchr("hlLqjzt", *f) != NULL; f++)
        c->bytes = *f == 'h' ? c->bytes / 2 : 8;
    c->kind = *f;
    return *f != '\0' ? f + 1 : f;
}

bool library_can_scan(const char *format)
{
    conversion_t c;

    while (*format != '\0') {
        if (*format != '%') {
            format++;
            continue;
        }
        format = read_conversion(format, &c);
        if (c.kind == '\0' || strchr("diuoxXeEfFgGcn%", c.kind) == NULL ||
            (c.kind == 'c' && c.width > 1))
            return false;
    }
    return true;
}

static void store(process_t *p, uint64_t at, const void *value, int bytes)
{
    void *to = process_at(p, at, (uint64_t)bytes);

    if (to != NULL)
        memcpy(to, value, (size_t)bytes); /* little endian, as the description is */
}

/* The number at the beginning of the text; how long it is. */
static size_t read_number(const char *s, const conversion_t *c, int64_t *integer_p, double *real_p)
{
    size_t most = c->width > 0 && c->width < 63 ? (size_t)c->width : 63, length = strnlen(s, most);
    char buffer[64], *end;

    memcpy(buffer, s, length);
    buffer[length] = '\0';
    switch (c->kind) {
    case 'd':
        *integer_p = strtoll(buffer, &end, 10);
        break;
    case 'i':
        *integer_p = strtoll(buffer, &end, 0);
        break;
    case 'u':
        *integer_p = (int64_t)strtoull(buffer, &end, 10);
        break;
    case 'o':
        *integer_p = (int64_t)strtoull(buffer, &end, 8);
        break;
    case 'x':
    case 'X':
        *integer_p = (int64_t)strtoull(buffer, &end, 16);
        break;
    default:
        *real_p = strtod(buffer, &end);
        break;
    }
    return (size_t)(end - buffer);
}

static void store_number(process_t *p, uint64_t at, const conversion_t *c, int64_t integer,
                         double real)
{
    float single = (float)real;

    if (strchr("diuoxX", c->kind) != NULL)
        store(p, at, &integer, c->bytes);
    else if (c->bytes == 8)
        store(p, at, &real, 8);
    else
        store(p, at, &single, 4);
}

/* args: the text, the format, then the addresses that are there; the rest is 0. */
int64_t library_sscanf(process_t *p, const int64_t *args)
{
    const char *begin = process_string(p, (uint64_t)args[0]), *s = begin;
    const char *f = s != NULL ? process_string(p, (uint64_t)args[1]) : NULL;
    int64_t integer = 0, found = 0;
    int next = 2;
    double real = 0;
    conversion_t c;

    if (f != NULL && !library_can_scan(f)) {
        process_fail(p, "sscanf() with the format \"%s\" is not known", f);
        return 0;
    }
    while (f != NULL && *f != '\0' && p->status == XY_OK) {
        size_t length = 1;

        if (isspace((unsigned char)*f)) {
            f++;
            s += strspn(s, " \t\n\v\f\r");
            continue;
        }
        c = (conversion_t){.kind = '%'};
        if (*f == '%')
            f = read_conversion(f, &c);
        else if (*s == *f++) {
            s++;
            continue;
        } else
            return *s != '\0' || found > 0 ? found : -1;
        if (c.kind != 'c' && c.kind != 'n')
            s += strspn(s, " \t\n\v\f\r");
        if (c.kind == 'n') {
            int64_t so_far = s - begin;

            if (!c.is_skipped && next < LIBRARY_SCANNED)
                store(p, (uint64_t)args[next++], &so_far, c.bytes);
            continue;
        }
        if (*s == '\0')
            return found > 0 ? found : -1;
        if (c.kind == '%')
            length = *s == '%';
        else if (c.kind != 'c')
            length = read_number(s, &c, &integer, &real);
        if (length == 0)
            return found;
        if (c.kind != '%' && !c.is_skipped && next < LIBRARY_SCANNED) {
            if (c.kind == 'c')
                store(p, (uint64_t)args[next++], s, 1);
            else
                store_number(p, (uint64_t)args[next++], &c, integer, real);
            found++;
        }
        s += length;
    }
    return found;
}
