/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading problems: lines of words, '#' begins a comment, a line that begins with a blank continues
 * with the one before.
 *
 *   problem NAME
 *   parameter NAME [= NUMBER]
 *   let NAME = FORMULA
 *   node NAME [cluster=WORD] [NAME=FORMULA]...
 *   independent
 *   alternative NAME formula FORMULA | table FILE | predict WORD... | stencil WORD...
 *   when NAME FORMULA
 */
#include <string.h>

#include "adapt/reading.h"

/* ---- Words ---- */

xy_status_t adapt_reading_fail(const adapt_reading_t *r, const char *what, const char *word)
{
    return xy_fail_at(XY_EPARSE, r->problem->path, r->line, "%s%s%s%s", what,
                      word != NULL ? ": '" : "", word != NULL ? word : "", word != NULL ? "'" : "");
}

xy_status_t adapt_reading_memory(void)
{
    return xy_fail_memory("reading a problem");
}

char *adapt_reading_keep(adapt_reading_t *r, const char *text)
{
    return xy_arena_strndup(r->problem->words, text, strlen(text));
}

char *adapt_reading_word(char **rest_p)
{
    char *word = *rest_p + strspn(*rest_p, " \t"), *end = word + strcspn(word, " \t");

    *rest_p = end + strspn(end, " \t");
    *end = '\0';
    return word;
}

xy_status_t adapt_reading_formula(adapt_reading_t *r, const char *text, xy_formula_t **formula_p)
{
    return xy_formula_parse(text, r->problem->path, r->line, formula_p);
}

/* ---- Lines ---- */

static const struct {
    const char *word;
    xy_status_t (*read)(adapt_reading_t *r, char *rest);
} lines[] = {
    {"problem", adapt_read_problem},
    {"parameter", adapt_read_parameter},
    {"let", adapt_read_let},
    {"node", adapt_read_node},
    {"independent", adapt_read_independent},
    {"alternative", adapt_read_alternative},
    {"when", adapt_read_when},
    {"run", adapt_read_run},
};

/* Reads one line of a problem, with a suggestion for a misspelt first word. */
static xy_status_t read_line(adapt_reading_t *r, char *line)
{
    const char *known[sizeof(lines) / sizeof(lines[0]) + 1] = {0}, *nearest;
    char *word = adapt_reading_word(&line);

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (strcmp(lines[i].word, word) == 0)
            return lines[i].read(r, line);
        known[i] = lines[i].word;
    }
    nearest = xy_nearest_word(word, known);
    if (nearest != NULL)
        return xy_fail_at(XY_EPARSE, r->problem->path, r->line, "'%s'; did you mean '%s'?", word,
                          nearest);
    return adapt_reading_fail(
        r,
        "a line begins with problem, parameter, let, node, independent, alternative, when or "
        "run",
        word);
}

static void trim(char *line)
{
    size_t n;

    line[strcspn(line, "#\r")] = '\0';
    for (n = strlen(line); n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t'); n--)
        line[n - 1] = '\0';
}

static xy_status_t flush(adapt_reading_t *r, xy_text_t *whole)
{
    xy_status_t st = XY_OK;

    if (whole->failed)
        return adapt_reading_memory();
    if (whole->length > ADAPT_LINE_MAX)
        return adapt_reading_fail(r, "the line is too long", NULL);
    if (whole->length > 0)
        st = read_line(r, whole->s);
    xy_text_cleanup(whole);
    return st;
}

/* Reads all lines of a problem; an indented line continues the one before. */
static xy_status_t read_lines(adapt_reading_t *r, char *data)
{
    xy_text_t whole = XY_TEXT_INIT;
    char *rest = data, *line;
    long number = 0;
    xy_status_t st = XY_OK;

    while (st == XY_OK && (line = strsep(&rest, "\n")) != NULL) {
        bool goes_on = *line == ' ' || *line == '\t';

        number++;
        trim(line);
        if (*line == '\0')
            continue;
        if (!goes_on) {
            st = flush(r, &whole);
            r->line = number;
        }
        xy_text_add(&whole, line);
    }
    if (st == XY_OK)
        st = flush(r, &whole);
    xy_text_cleanup(&whole);
    if (st == XY_OK && r->problem->alternatives.count == 0) {
        r->line = 0;
        st = adapt_reading_fail(r, "not a problem file: it has no line 'alternative NAME ...'",
                                NULL);
    }
    return st;
}

/* The name of the file, where the problem has none of its own. */
static xy_status_t name_it(adapt_reading_t *r, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = adapt_reading_keep(r, slash != NULL ? slash + 1 : path), *dot;

    if (name == NULL)
        return adapt_reading_memory();
    dot = strrchr(name, '.');
    if (dot != NULL && dot > name)
        *dot = '\0';
    r->problem->name = xy_choose_is_word(name) ? name : "problem";
    return XY_OK;
}

/* Creates an empty problem; *problem_p is the caller's to destroy, also on failure once it is
 * set. */
static xy_status_t create(const char *path, xy_adapt_t **problem_p)
{
    xy_adapt_t *p = xy_calloc(1, sizeof(*p));

    if (p == NULL || xy_arena_create(&p->words) != XY_OK) {
        xy_free(p);
        return adapt_reading_memory();
    }
    p->parameters = XY_VEC_INIT(adapt_parameter_t);
    p->lets = XY_VEC_INIT(adapt_named_t);
    p->nodes = XY_VEC_INIT(adapt_node_t);
    p->alternatives = XY_VEC_INIT(adapt_alternative_t);
    p->path = xy_arena_strndup(p->words, path, strlen(path));
    *problem_p = p;
    return p->path != NULL ? XY_OK : adapt_reading_memory();
}

xy_status_t xy_adapt_parse(const char *data, size_t size, const char *path, xy_adapt_t **problem_p)
{
    adapt_reading_t r = {0};
    char *copy = xy_strndup(data, size);
    xy_status_t st = copy != NULL ? create(path, &r.problem) : adapt_reading_memory();

    if (st == XY_OK)
        st = name_it(&r, path);
    if (st == XY_OK)
        st = read_lines(&r, copy);
    xy_free(copy);
    if (st == XY_OK)
        *problem_p = r.problem;
    else
        xy_adapt_destroy(r.problem);
    return st;
}

xy_status_t xy_adapt_read(const char *path, xy_adapt_t **problem_p)
{
    char *data;
    size_t size;
    xy_status_t st = xy_file_read(path, 1 << 20, &data, &size);

    if (st != XY_OK)
        return st;
    st = xy_adapt_parse(data, size, path, problem_p);
    xy_free(data);
    return st;
}

/* ---- The end ---- */

static void free_named(xy_vec_t *list)
{
    for (size_t i = 0; i < list->count; i++)
        xy_formula_destroy(XY_VEC_AT(list, adapt_named_t, i).formula);
    xy_vec_cleanup(list);
}

static void free_alternative(adapt_alternative_t *a)
{
    for (size_t i = 0; i < a->terms.count; i++)
        xy_formula_destroy(XY_VEC_AT(&a->terms, xy_formula_t *, i));
    xy_vec_cleanup(&a->terms);
    xy_formula_destroy(a->when);
    adapt_table_cleanup(&a->table);
}

void xy_adapt_destroy(xy_adapt_t *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->alternatives.count; i++)
        free_alternative(&XY_VEC_AT(&p->alternatives, adapt_alternative_t, i));
    for (size_t i = 0; i < p->nodes.count; i++)
        free_named(&XY_VEC_AT(&p->nodes, adapt_node_t, i).values);
    xy_vec_cleanup(&p->alternatives);
    xy_vec_cleanup(&p->nodes);
    free_named(&p->lets);
    xy_vec_cleanup(&p->parameters);
    xy_arena_destroy(p->words);
    xy_free(p);
}

const char *xy_adapt_name(const xy_adapt_t *p)
{
    return p->name;
}
