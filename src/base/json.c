/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

enum { MAX_DEPTH = 64 };

void xy_json_init(xy_json_t *json, FILE *file, bool indent)
{
    *json = (xy_json_t){.file = file, .indent = indent};
}

/* Write an ASCII character as it appears inside a JSON string. */
static void quote_ascii(FILE *file, unsigned char c)
{
    static const char named[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    const char *found = strchr(named, c);

    if (found != NULL)
        fprintf(file, "\\%c", letters[found - named]);
    else if (c < 0x20 || c == 0x7f || c == '<')
        /* '<' too, so that "</script>" in a value cannot end a page that embeds the data. */
        fprintf(file, "\\u%04x", (unsigned)c);
    else
        putc(c, file);
}

void xy_json_quote(FILE *file, const char *value)
{
    size_t n;

    putc('"', file);
    while (*value != '\0') {
        n = xy_utf8_length(value);
        if (n == 1)
            quote_ascii(file, (unsigned char)*value);
        else if (n > 1)
            fwrite(value, 1, n, file);
        else
            fputs("\\ufffd", file);
        value += n > 0 ? n : 1;
    }
    putc('"', file);
}

static void new_line(const xy_json_t *json)
{
    if (json->indent)
        fprintf(json->file, "\n%*s", 2 * json->depth, "");
}

/* The separators before any value: a comma, a line, the key. */
static void begin_value(xy_json_t *json, const char *key)
{
    if (json->depth > 0) {
        if (json->has_member[json->depth - 1])
            putc(',', json->file);
        json->has_member[json->depth - 1] = true;
        new_line(json);
    }
    if (key != NULL) {
        xy_json_quote(json->file, key);
        fputs(json->indent ? ": " : ":", json->file);
    }
}

static void end_value(const xy_json_t *json)
{
    if (json->depth == 0)
        putc('\n', json->file);
}

static void begin(xy_json_t *json, const char *key, char open, char close)
{
    assert(json->depth < MAX_DEPTH);
    begin_value(json, key);
    putc(open, json->file);
    json->has_member[json->depth] = false;
    json->close[json->depth] = close;
    json->depth++;
}

void xy_json_begin_object(xy_json_t *json, const char *key)
{
    begin(json, key, '{', '}');
}

void xy_json_begin_array(xy_json_t *json, const char *key)
{
    begin(json, key, '[', ']');
}

void xy_json_end(xy_json_t *json)
{
    assert(json->depth > 0);
    json->depth--;
    if (json->has_member[json->depth])
        new_line(json);
    putc(json->close[json->depth], json->file);
    end_value(json);
}

void xy_json_string(xy_json_t *json, const char *key, const char *value)
{
    begin_value(json, key);
    if (value == NULL)
        fputs("null", json->file);
    else
        xy_json_quote(json->file, value);
    end_value(json);
}

void xy_json_int(xy_json_t *json, const char *key, int64_t value)
{
    begin_value(json, key);
    fprintf(json->file, "%" PRId64, value);
    end_value(json);
}

void xy_json_double(xy_json_t *json, const char *key, double value)
{
    char buffer[32];

    begin_value(json, key);
    fputs(isfinite(value) ? xy_format_double(value, buffer) : "null", json->file);
    end_value(json);
}

void xy_json_bool(xy_json_t *json, const char *key, bool value)
{
    begin_value(json, key);
    fputs(value ? "true" : "false", json->file);
    end_value(json);
}
