/* SPDX-License-Identifier: BSD-3-Clause */
#include "place/traffic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "place/traffic_internal.h"

void xy_traffic_cleanup(xy_traffic_t *t)
{
    xy_vec_cleanup(&t->records);
}

static bool is_chosen(const xy_traffic_record_t *r, const xy_traffic_choice_t *c)
{
    return (c->phase < 0 || r->phase == (uint64_t)c->phase) &&
           (c->slice < 0 || r->slice == (uint64_t)c->slice) &&
           (c->communicator < 0 || r->communicator == (uint64_t)c->communicator);
}

xy_status_t xy_traffic_matrix(const xy_traffic_t *t, const xy_traffic_choice_t *choice,
                              xy_matrix_t **matrix_p)
{
    xy_vec_t entries = XY_VEC_INIT(xy_matrix_entry_t);
    xy_status_t st = XY_OK;

    for (size_t i = 0; i < t->records.count && st == XY_OK; i++) {
        const xy_traffic_record_t *r = &XY_VEC_AT(&t->records, xy_traffic_record_t, i);
        xy_matrix_entry_t e = {.from = r->from, .to = r->to};

        for (int k = 0; k < 2; k++)
            if (is_chosen(r, choice) && (k == 0 ? choice->program : choice->collectives)) {
                e.bytes += r->bytes[k];
                e.messages += r->messages[k];
            }
        if (e.messages > 0)
            st = xy_vec_append(&entries, &e);
    }
    if (st == XY_OK)
        st = xy_matrix_build(t->ranks, entries.data, entries.count, true, matrix_p);
    xy_vec_cleanup(&entries);
    return st == XY_ENOMEM ? xy_fail_memory("making a communication matrix") : st;
}

/* ---- What there is to write ---- */

typedef enum { PHASE, SLICE, COMMUNICATOR, KINDS } kind_t;

static uint32_t number_of(const xy_traffic_record_t *r, kind_t kind)
{
    return kind == PHASE ? r->phase : kind == SLICE ? r->slice : r->communicator;
}

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

/* The different numbers of a kind, in order. */
static xy_status_t list_numbers(const xy_traffic_t *t, kind_t kind, uint32_t **numbers_p,
                                size_t *count_p)
{
    uint32_t *numbers = xy_malloc((t->records.count + 1) * sizeof(*numbers));
    size_t count = 0;

    if (numbers == NULL)
        return xy_fail_memory("writing communication matrices");
    for (size_t i = 0; i < t->records.count; i++)
        numbers[i] = number_of(&XY_VEC_AT(&t->records, xy_traffic_record_t, i), kind);
    qsort(numbers, t->records.count, sizeof(*numbers), compare);
    for (size_t i = 0; i < t->records.count; i++)
        if (count == 0 || numbers[i] != numbers[count - 1])
            numbers[count++] = numbers[i];
    *numbers_p = numbers;
    *count_p = count;
    return XY_OK;
}

static xy_status_t add_part(xy_vec_t *parts, const char *name, const char *title,
                            xy_traffic_choice_t choice)
{
    traffic_part_t part = {.choice = choice};

    snprintf(part.name, sizeof(part.name), "%s", name);
    snprintf(part.title, sizeof(part.title), "%s", title);
    return xy_vec_append(parts, &part) == XY_OK ? XY_OK
                                                : xy_fail_memory("writing communication matrices");
}

/* Adds one part per phase, slice or communicator, if there are several. */
static xy_status_t add_kind(const xy_traffic_t *t, kind_t kind, xy_vec_t *parts)
{
    static const char *const words[KINDS] = {"phase", "slice", "communicator"};
    xy_traffic_choice_t choice = {.program = true, .collectives = true};
    uint32_t *numbers = NULL;
    size_t count = 0;
    xy_status_t st = list_numbers(t, kind, &numbers, &count);

    if (st != XY_OK)
        return st;
    for (size_t i = 0; i < count && (count > 1 || (kind == SLICE && t->slice_seconds > 0)); i++) {
        uint32_t n = numbers[i];
        char name[48], title[80];

        snprintf(name, sizeof(name), "%s-%u", words[kind], n);
        if (kind == SLICE)
            snprintf(title, sizeof(title), "slice %u: %g s to %g s", n, n * t->slice_seconds,
                     (n + 1) * t->slice_seconds);
        else
            snprintf(title, sizeof(title), "%s %u", words[kind], n);
        choice.phase = kind == PHASE ? (int64_t)n : XY_TRAFFIC_ANY;
        choice.slice = kind == SLICE ? (int64_t)n : XY_TRAFFIC_ANY;
        choice.communicator = kind == COMMUNICATOR ? (int64_t)n : XY_TRAFFIC_ANY;
        st = add_part(parts, name, title, choice);
        if (st != XY_OK)
            break;
    }
    xy_free(numbers);
    return st;
}

/* Lists the matrices to write: all, by origin, and by phase, slice and communicator. */
static xy_status_t list_parts(const xy_traffic_t *t, xy_vec_t *parts)
{
    static const xy_traffic_choice_t whole = {true, true, -1, -1, -1};
    xy_traffic_choice_t program = whole, collectives = whole;
    xy_status_t st;

    program.collectives = collectives.program = false;
    st = add_part(parts, "all", "all messages", whole);
    if (st == XY_OK)
        st = add_part(parts, "program", "without collectives", program);
    if (st == XY_OK)
        st = add_part(parts, "collectives", "inside collectives", collectives);
    for (int kind = 0; kind < KINDS && st == XY_OK; kind++)
        st = add_kind(t, (kind_t)kind, parts);
    return st;
}

/* ---- Writing ---- */

static xy_status_t open_in(const char *directory, const char *name, const char *ending,
                           xy_out_t **out_p)
{
    char *path = xy_sprintf("%s/%s.%s", directory, name, ending);
    xy_status_t st = path == NULL ? xy_fail_memory("writing communication matrices")
                                  : xy_out_open_new(path, out_p);

    xy_free(path);
    return st;
}

static xy_status_t close_out(xy_out_t *out, xy_status_t st)
{
    if (st == XY_OK)
        return xy_out_commit(out);
    xy_out_cancel(out);
    return st;
}

/* Writes the matrix of one part as CSV into a directory. */
static xy_status_t write_part(const xy_traffic_t *t, const traffic_part_t *part,
                              const char *directory)
{
    xy_matrix_t *m;
    xy_out_t *out;
    xy_status_t st = xy_traffic_matrix(t, &part->choice, &m);

    if (st != XY_OK)
        return st;
    st = open_in(directory, part->name, "csv", &out);
    if (st == XY_OK)
        st = close_out(out, xy_matrix_write(m, XY_MATRIX_CSV, xy_out_file(out)));
    xy_matrix_destroy(m);
    return st;
}

xy_status_t xy_traffic_write(const xy_traffic_t *t, const char *directory)
{
    xy_vec_t parts = XY_VEC_INIT(traffic_part_t);
    xy_out_t *out;
    xy_status_t st;

    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return xy_fail_errno(errno, directory, "make the directory");
    st = list_parts(t, &parts);
    for (size_t i = 0; i < parts.count && st == XY_OK; i++)
        st = write_part(t, &XY_VEC_AT(&parts, traffic_part_t, i), directory);
    if (st == XY_OK)
        st = open_in(directory, "index", "html", &out);
    if (st == XY_OK)
        st = close_out(out, traffic_print_page(t, &parts, directory, xy_out_file(out)));
    xy_vec_cleanup(&parts);
    return st;
}
