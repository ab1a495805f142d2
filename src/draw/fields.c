/* SPDX-License-Identifier: BSD-3-Clause */
#include "draw/fields.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

_Static_assert(sizeof(long) == sizeof(int64_t) && sizeof(size_t) == sizeof(int64_t),
               "whole numbers have one size, but for int");

/* The names and values that have not been read. */
typedef struct {
    const char *names;
    va_list values;
} source_t;

typedef struct {
    char name[XY_FIELDS_NAME];
    char kind; /* s, d, b or g */
    const char *text;
    int64_t whole;
    double real;
} field_t;

/* Read the next field. False: there is none. */
static bool next_field(source_t *from, field_t *field)
{
    char conversion[8];
    int length = 0;

    if (sscanf(from->names, " %63[^ ] %%%7[a-z]%n", field->name, conversion, &length) != 2) {
        assert(*from->names == '\0');
        return false;
    }
    from->names += length;
    field->kind = 'd';
    if (strcmp(conversion, "s") == 0 || strcmp(conversion, "g") == 0)
        field->kind = conversion[0];
    else if (strcmp(conversion, "i") == 0)
        field->kind = 'b';
    if (field->kind == 's')
        field->text = va_arg(from->values, const char *);
    else if (field->kind == 'g')
        field->real = va_arg(from->values, double);
    else if (field->kind == 'b' || strcmp(conversion, "d") == 0)
        field->whole = va_arg(from->values, int);
    else if (strcmp(conversion, "u") == 0)
        field->whole = va_arg(from->values, unsigned);
    else
        field->whole = va_arg(from->values, int64_t);
    return true;
}

/* ---- JSON ---- */

/* Write all fields as members of the open object. */
static void put_members(xy_json_t *json, source_t *from)
{
    field_t field;

    while (next_field(from, &field)) {
        if (field.kind == 's')
            xy_json_string(json, field.name, field.text);
        else if (field.kind == 'g')
            xy_json_double(json, field.name, field.real);
        else if (field.kind == 'b')
            xy_json_bool(json, field.name, field.whole != 0);
        else
            xy_json_int(json, field.name, field.whole);
    }
}

void xy_fields(xy_json_t *json, const char *fields, ...)
{
    source_t from = {.names = fields};

    va_start(from.values, fields);
    put_members(json, &from);
    va_end(from.values);
}

void xy_fields_object(xy_json_t *json, const char *key, const char *fields, ...)
{
    source_t from = {.names = fields};

    va_start(from.values, fields);
    xy_json_begin_object(json, key);
    put_members(json, &from);
    xy_json_end(json);
    va_end(from.values);
}

/* ---- CSV ---- */

/* Text with a comma, a quote or a line break is quoted, and quotes in it are doubled. */
static void put_text(FILE *file, const char *text)
{
    if (strpbrk(text, ",\"\n\r") == NULL) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text != '\0'; text++)
        fprintf(file, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', file);
}

static void put_cell(FILE *file, const field_t *field)
{
    char text[32];

    if (field->kind == 's')
        put_text(file, field->text != NULL ? field->text : "");
    else if (field->kind == 'g')
        fputs(isfinite(field->real) ? xy_format_double(field->real, text) : "", file);
    else if (field->kind == 'b')
        fputs(field->whole != 0 ? "true" : "false", file);
    else
        fprintf(file, "%" PRId64, field->whole);
}

/* Write the names, or the values, as a line. */
static void put_line(FILE *file, source_t *from, bool is_head)
{
    field_t field;

    for (bool is_first = true; next_field(from, &field); is_first = false) {
        fputs(is_first ? "" : ",", file);
        if (is_head)
            put_text(file, field.name);
        else
            put_cell(file, &field);
    }
    fputc('\n', file);
}

void xy_rows_add(xy_rows_t *rows, const char *fields, ...)
{
    source_t from = {.names = fields};

    va_start(from.values, fields);
    if (rows->json != NULL) {
        xy_json_begin_object(rows->json, NULL);
        put_members(rows->json, &from);
        xy_json_end(rows->json);
    } else {
        source_t head = {.names = fields};

        va_copy(head.values, from.values);
        if (!rows->has_head)
            put_line(rows->csv, &head, true);
        va_end(head.values);
        rows->has_head = true;
        put_line(rows->csv, &from, false);
    }
    va_end(from.values);
}
