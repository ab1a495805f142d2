/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of a problem that say what its alternatives take, and when they are possible. */
#include <string.h>

#include "adapt/reading.h"

static const char *const verbs[] = {"predict", "stencil", "program", "plugin", NULL};

/* ---- Formulas and tables ---- */

/* Where the first of the terms that are added ends: a '+' outside of brackets. One with ?: or a
 * comparison is one term. */
static size_t term_length(const char *text)
{
    int depth = 0;
    char last = '+'; /* that is not blank */

    if (strpbrk(text, "?<>=!&|") != NULL)
        return strlen(text);
    for (size_t i = 0; text[i] != '\0'; i++) {
        depth += text[i] == '(';
        depth -= text[i] == ')';
        if (depth == 0 && text[i] == '+' && strchr("+-*/%^", last) == NULL &&
            strchr("eEpP", text[i - 1]) == NULL)
            return i;
        if (text[i] != ' ' && text[i] != '\t')
            last = text[i];
    }
    return strlen(text);
}

/* Adds the first `n` characters of `text` as a term of a formula. */
static xy_status_t add_term(adapt_reading_t *r, adapt_alternative_t *a, const char *text, size_t n)
{
    char *copy;
    xy_formula_t *formula;
    xy_status_t st;

    for (; n > 0 && (*text == ' ' || *text == '\t'); n--)
        text++;
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    copy = xy_strndup(text, n);
    if (copy == NULL)
        return adapt_reading_memory();
    st = adapt_reading_formula(r, copy, &formula);
    xy_free(copy);
    if (st == XY_OK && xy_vec_append(&a->terms, &formula) != XY_OK) {
        xy_formula_destroy(formula);
        st = adapt_reading_memory();
    }
    return st;
}

/* The whole formula must be one; then each of its terms is. */
static xy_status_t read_formula(adapt_reading_t *r, adapt_alternative_t *a, const char *text)
{
    xy_formula_t *whole;
    xy_status_t st = adapt_reading_formula(r, text, &whole);

    if (st != XY_OK)
        return st;
    xy_formula_destroy(whole);
    for (size_t n; st == XY_OK && *text != '\0'; text += n + (text[n] == '+')) {
        n = term_length(text);
        st = add_term(r, a, text, n);
    }
    return st;
}

/* A path of the file is beside the problem. */
static char *beside(const xy_adapt_t *p, const char *path)
{
    const char *slash = strrchr(p->path, '/');

    return path[0] == '/' || slash == NULL
               ? xy_strdup(path)
               : xy_sprintf("%.*s/%s", (int)(slash - p->path), p->path, path);
}

static xy_status_t read_table(adapt_reading_t *r, adapt_alternative_t *a, const char *path)
{
    char *full = beside(r->problem, path);
    xy_status_t st = full != NULL ? adapt_table_read(r->problem, full, a->name, &a->table)
                                  : adapt_reading_memory();

    xy_free(full);
    return st;
}

/* ---- Lines ---- */

/* Every quote has its second one. */
static bool are_quotes_closed(const char *text)
{
    char quote = '\0';

    for (; *text != '\0'; text++)
        if (quote == '\0' && (*text == '"' || *text == '\''))
            quote = *text;
        else if (*text == quote)
            quote = '\0';
    return quote == '\0';
}

/* Reads how the time of an alternative is found: formula, table or simulation. */
static xy_status_t read_how(adapt_reading_t *r, adapt_alternative_t *a, const char *how, char *rest)
{
    if (*rest == '\0')
        return adapt_reading_fail(
            r,
            "write 'alternative NAME formula FORMULA', 'table FILE', 'predict WORD...', "
            "'stencil WORD...', 'program WORD...' or 'plugin FILE FUNCTION NUMBER...'",
            NULL);
    a->how = strcmp(how, "formula") == 0 ? "formula" : strcmp(how, "table") == 0 ? "table" : NULL;
    for (int i = 0; verbs[i] != NULL; i++)
        a->how = strcmp(how, verbs[i]) == 0 ? verbs[i] : a->how;
    if (a->how == NULL)
        return adapt_reading_fail(
            r, "formula, table, predict, stencil, program or plugin is expected", how);
    if (a->how[0] == 'f')
        return read_formula(r, a, rest);
    if (a->how[0] == 't')
        return read_table(r, a, rest);
    if (!are_quotes_closed(rest))
        return adapt_reading_fail(r, "a quote is not closed", rest);
    a->words = adapt_reading_keep(r, rest);
    return a->words != NULL ? XY_OK : adapt_reading_memory();
}

static adapt_alternative_t *find_alternative(const xy_adapt_t *p, const char *name)
{
    for (size_t i = 0; i < p->alternatives.count; i++)
        if (strcmp(XY_VEC_AT(&p->alternatives, adapt_alternative_t, i).name, name) == 0)
            return &XY_VEC_AT(&p->alternatives, adapt_alternative_t, i);
    return NULL;
}

xy_status_t adapt_read_alternative(adapt_reading_t *r, char *rest)
{
    adapt_alternative_t *a;
    char *name = adapt_reading_word(&rest), *how = adapt_reading_word(&rest);

    if (!xy_choose_is_word(name))
        return adapt_reading_fail(
            r, "the name of an alternative must be one word without ',' and '='", name);
    if (find_alternative(r->problem, name) != NULL)
        return adapt_reading_fail(r, "the alternative is defined twice", name);
    if (r->problem->alternatives.count == ADAPT_ITEMS_MAX)
        return adapt_reading_fail(r, "there are too many lines of this kind", NULL);
    a = xy_vec_push(&r->problem->alternatives);
    if (a == NULL)
        return adapt_reading_memory();
    a->terms = XY_VEC_INIT(xy_formula_t *);
    a->line = r->line;
    a->name = adapt_reading_keep(r, name);
    return a->name != NULL ? read_how(r, a, how, rest) : adapt_reading_memory();
}

xy_status_t adapt_read_when(adapt_reading_t *r, char *rest)
{
    char *name = adapt_reading_word(&rest);
    adapt_alternative_t *a = find_alternative(r->problem, name);

    if (a == NULL)
        return adapt_reading_fail(r, "there is no alternative of this name above", name);
    if (a->when != NULL)
        return adapt_reading_fail(r, "the alternative has a condition already", name);
    return adapt_reading_formula(r, rest, &a->when);
}

xy_status_t adapt_read_run(adapt_reading_t *r, char *rest)
{
    char *name = adapt_reading_word(&rest), *how = adapt_reading_word(&rest);
    adapt_alternative_t *a = find_alternative(r->problem, name);

    if (a == NULL)
        return adapt_reading_fail(r, "there is no alternative of this name above", name);
    if (a->run != NULL)
        return adapt_reading_fail(r, "the alternative has a 'run' line already", name);
    if (*rest == '\0' || (strcmp(how, "program") != 0 && strcmp(how, "plugin") != 0))
        return adapt_reading_fail(
            r, "write 'run NAME program WORD...' or 'run NAME plugin FILE FUNCTION NUMBER...'",
            NULL);
    if (!are_quotes_closed(rest))
        return adapt_reading_fail(r, "a quote is not closed", rest);
    a->is_program = strcmp(how, "program") == 0;
    a->run_line = r->line;
    a->run = adapt_reading_keep(r, rest);
    return a->run != NULL ? XY_OK : adapt_reading_memory();
}
