/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields are texts, each with its NUL; numbers are decimal, sets of ranks are lists. */
#include "mpi/check/carry.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { BITS_MOST = 1 << 25, LINES_MOST = 1 << 16 };

/* ---- Writing ---- */

static void add(xy_text_t *text, const char *field)
{
    xy_text_add_bytes(text, field, strlen(field) + 1);
}

static void add_number(xy_text_t *text, long number)
{
    char field[32];

    snprintf(field, sizeof(field), "%ld", number);
    add(text, field);
}

static void add_ranks(xy_text_t *text, const xy_bitset_t *ranks)
{
    char *list = xy_bitset_format(ranks);

    add(text, list != NULL ? list : "");
    xy_free(list);
}

void check_carry_begin(xy_text_t *text, size_t bits, bool is_ended)
{
    add_number(text, (long)bits);
    add_number(text, is_ended);
}

void check_carry_add(xy_text_t *text, const check_finding_t *f)
{
    add_number(text, f->kind);
    add_number(text, f->count);
    add_number(text, f->is_printed);
    add_ranks(text, &f->ranks);
    add(text, f->message);
    add(text, f->places[0]);
    add(text, f->places[1]);
    add_number(text, (long)f->lines.count);
    for (size_t i = 0; i < f->lines.count; i++) {
        const check_line_t *line = &XY_VEC_AT(&f->lines, check_line_t, i);

        add_ranks(text, &line->ranks);
        add(text, line->text);
        add(text, line->place);
    }
}

/* ---- Reading ---- */

typedef struct {
    const char *at, *end;
    size_t bits;
    bool failed;
} reader_t;

static const char *next(reader_t *r)
{
    const char *field = r->at;
    const char *end = r->at < r->end ? memchr(r->at, '\0', (size_t)(r->end - r->at)) : NULL;

    if (end == NULL) {
        r->failed = true;
        return "";
    }
    r->at = end + 1;
    return field;
}

static long next_number(reader_t *r, long most)
{
    const char *field = next(r);
    long value = 0;

    if (r->failed || !xy_parse_long(field, &value) || value < 0 || value > most) {
        r->failed = true;
        return 0;
    }
    return value;
}

static char *next_copy(reader_t *r)
{
    char *copy = xy_strdup(next(r));

    r->failed = r->failed || copy == NULL;
    return copy;
}

static void next_place(reader_t *r, char place[CHECK_PLACE_SIZE])
{
    snprintf(place, CHECK_PLACE_SIZE, "%s", next(r));
}

static void next_ranks(reader_t *r, xy_bitset_t *ranks)
{
    const char *list = next(r);

    if (r->failed || xy_bitset_init(ranks, r->bits) != XY_OK ||
        (list[0] != '\0' && xy_bitset_parse(ranks, list, "findings") != XY_OK))
        r->failed = true;
}

static void next_line(reader_t *r, xy_vec_t *lines)
{
    check_line_t *line = xy_vec_push(lines);

    if (line == NULL) {
        r->failed = true;
        return;
    }
    *line = (check_line_t){.text = NULL};
    next_ranks(r, &line->ranks);
    line->text = next_copy(r);
    next_place(r, line->place);
}

/* Read one finding; r->failed is set if a field is missing or out of range. */
static void next_finding(reader_t *r, check_finding_t *f)
{
    long lines;

    f->kind = (mpi_finding_kind_t)next_number(r, XMPI_FINDING_KINDS - 1);
    f->count = next_number(r, LONG_MAX);
    f->is_printed = next_number(r, 1) != 0;
    next_ranks(r, &f->ranks);
    f->message = next_copy(r);
    next_place(r, f->places[0]);
    next_place(r, f->places[1]);
    lines = next_number(r, LINES_MOST);
    for (long i = 0; i < lines && !r->failed; i++)
        next_line(r, &f->lines);
}

void check_finding_cleanup(check_finding_t *f)
{
    for (size_t i = 0; i < f->lines.count; i++) {
        check_line_t *line = &XY_VEC_AT(&f->lines, check_line_t, i);

        xy_bitset_cleanup(&line->ranks);
        xy_free(line->text);
    }
    xy_vec_cleanup(&f->lines);
    xy_bitset_cleanup(&f->ranks);
    xy_free(f->message);
}

bool check_carry_read(const char *bytes, size_t size, bool *is_ended_p, check_carry_fn take)
{
    reader_t r = {.at = bytes, .end = bytes + size};

    r.bits = (size_t)next_number(&r, BITS_MOST);
    *is_ended_p = next_number(&r, 1) != 0;
    while (!r.failed && r.at < r.end) {
        check_finding_t f = {.lines = XY_VEC_INIT(check_line_t)};

        next_finding(&r, &f);
        if (r.failed)
            check_finding_cleanup(&f);
        else
            take(&f);
    }
    return !r.failed;
}
