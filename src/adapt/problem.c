/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading problems: lines of words, '#' begins a comment, a line that begins with a blank goes on
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

#include "adapt/internal.h"

static const char *const verbs[] = {"predict", "stencil", NULL};

/* ---- Words ---- */

typedef struct {
    xy_adapt_t *problem;
    long line;
} reading_t;

static xy_status_t fail(const reading_t *r, const char *what, const char *word)
{
    return xy_fail_at(XY_EPARSE, r->problem->path, r->line, "%s%s%s%s", what,
                      word != NULL ? ": '" : "", word != NULL ? word : "", word != NULL ? "'" : "");
}

static xy_status_t fail_memory(void)
{
    return xy_fail_memory("reading a problem");
}

static char *keep(reading_t *r, const char *text)
{
    return xy_arena_strndup(r->problem->words, text, strlen(text));
}

/* The next word; *rest_p goes on behind it and the blanks that follow. */
static char *next_word(char **rest_p)
{
    char *word = *rest_p + strspn(*rest_p, " \t"), *end = word + strcspn(word, " \t");

    *rest_p = end + strspn(end, " \t");
    *end = '\0';
    return word;
}

/* A name that a formula can have and a history, too. */
static bool is_name(const char *word)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    size_t n = strlen(word);

    return n > 0 && n <= 60 && strchr(letters, word[0]) != NULL &&
           strspn(word, letters) + strspn(word + strspn(word, letters), "0123456789") > 0 &&
           word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] ==
               '\0';
}

static xy_status_t take_formula(reading_t *r, const char *text, xy_formula_t **formula_p)
{
    return xy_formula_parse(text, r->problem->path, r->line, formula_p);
}

/* ---- Lines ---- */

static xy_status_t read_problem(reading_t *r, char *rest)
{
    if (!xy_choose_is_word(rest))
        return fail(r, "a problem has a name of one word", rest);
    r->problem->name = keep(r, rest);
    return r->problem->name != NULL ? XY_OK : fail_memory();
}

static bool is_taken(const xy_adapt_t *p, const char *name)
{
    for (size_t i = 0; i < p->parameters.count; i++)
        if (strcmp(XY_VEC_AT(&p->parameters, adapt_parameter_t, i).name, name) == 0)
            return true;
    for (size_t i = 0; i < p->lets.count; i++)
        if (strcmp(XY_VEC_AT(&p->lets, adapt_named_t, i).name, name) == 0)
            return true;
    return false;
}

/* "NAME = REST" or "NAME"; the name must be new. *rest_p: NULL without '='. */
static xy_status_t split_name(reading_t *r, char *text, char **name_p, char **rest_p)
{
    char *equal = strchr(text, '=');
    char *name = text;

    *rest_p = NULL;
    if (equal != NULL) {
        *equal = '\0';
        *rest_p = equal + 1 + strspn(equal + 1, " \t");
    }
    name[strcspn(name, " \t")] = '\0';
    if (!is_name(name))
        return fail(r, "a name is letters, digits and '_'", name);
    if (is_taken(r->problem, name))
        return fail(r, "the name is there twice", name);
    *name_p = keep(r, name);
    return *name_p != NULL ? XY_OK : fail_memory();
}

static xy_status_t read_parameter(reading_t *r, char *rest)
{
    adapt_parameter_t p = {0};
    char *name, *value;
    xy_status_t st = split_name(r, rest, &name, &value);

    if (st != XY_OK)
        return st;
    if (r->problem->parameters.count == XY_CHOOSE_PARAMETERS_MAX)
        return fail(r, "there are too many parameters", NULL);
    p.name = name;
    p.has_default = value != NULL;
    if (value != NULL && !xy_parse_double(value, &p.value))
        return fail(r, "not a number", value);
    return xy_vec_append(&r->problem->parameters, &p) == XY_OK ? XY_OK : fail_memory();
}

static xy_status_t add_named(xy_vec_t *list, adapt_named_t *named)
{
    if (xy_vec_append(list, named) == XY_OK)
        return XY_OK;
    xy_formula_destroy(named->formula);
    return fail_memory();
}

static xy_status_t read_let(reading_t *r, char *rest)
{
    adapt_named_t let = {0};
    char *name, *text;
    xy_status_t st = split_name(r, rest, &name, &text);

    if (st == XY_OK && text == NULL)
        return fail(r, "write 'let NAME = FORMULA'", NULL);
    if (st == XY_OK && r->problem->lets.count == ADAPT_ITEMS_MAX)
        return fail(r, "there are too many lines of this kind", NULL);
    if (st != XY_OK)
        return st;
    let.name = name;
    st = take_formula(r, text, &let.formula);
    return st == XY_OK ? add_named(&r->problem->lets, &let) : st;
}

static xy_status_t read_node_value(reading_t *r, adapt_node_t *node, char *word)
{
    char *equal = strchr(word, '=');
    adapt_named_t value = {0};
    xy_status_t st;

    if (equal == NULL)
        return fail(r, "write NAME=FORMULA, without blanks", word);
    *equal = '\0';
    if (strcmp(word, "cluster") == 0) {
        node->cluster = keep(r, equal + 1);
        return node->cluster != NULL ? XY_OK : fail_memory();
    }
    value.name = keep(r, word);
    if (value.name == NULL)
        return fail_memory();
    if (!is_name(word))
        return fail(r, "a name is letters, digits and '_'", word);
    st = take_formula(r, equal + 1, &value.formula);
    return st == XY_OK ? add_named(&node->values, &value) : st;
}

static xy_status_t read_node(reading_t *r, char *rest)
{
    adapt_node_t *node;
    char *name = next_word(&rest);
    xy_status_t st = XY_OK;

    if (!xy_choose_is_word(name))
        return fail(r, "write 'node NAME [cluster=WORD] [NAME=FORMULA]...'", NULL);
    if (r->problem->nodes.count == ADAPT_ITEMS_MAX)
        return fail(r, "there are too many lines of this kind", NULL);
    node = xy_vec_push(&r->problem->nodes);
    if (node == NULL)
        return fail_memory();
    node->values = XY_VEC_INIT(adapt_named_t);
    node->name = keep(r, name);
    if (node->name == NULL)
        return fail_memory();
    while (st == XY_OK && *rest != '\0')
        st = read_node_value(r, node, next_word(&rest));
    return st;
}

static xy_status_t read_independent(reading_t *r, char *rest)
{
    r->problem->is_independent = true;
    return *rest == '\0' ? XY_OK : fail(r, "nothing follows 'independent'", rest);
}

/* ---- Alternatives ---- */

/* Where the first of the terms that are added ends: a '+' outside of brackets. One with ?: or a
 * comparison is one term. */
static size_t term_length(const char *text)
{
    int depth = 0;

    if (strpbrk(text, "?<>=!&|") != NULL)
        return strlen(text);
    for (size_t i = 0; text[i] != '\0'; i++) {
        depth += text[i] == '(';
        depth -= text[i] == ')';
        if (depth == 0 && text[i] == '+' && i > 0 && strchr("eEpP", text[i - 1]) == NULL)
            return i;
    }
    return strlen(text);
}

static xy_status_t add_term(reading_t *r, adapt_alternative_t *a, const char *text, size_t n)
{
    char *copy;
    xy_formula_t *formula;
    xy_status_t st;

    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    copy = xy_strndup(text + strspn(text, " \t"), n - strspn(text, " \t"));
    if (copy == NULL)
        return fail_memory();
    st = take_formula(r, copy, &formula);
    xy_free(copy);
    if (st == XY_OK && xy_vec_append(&a->terms, &formula) != XY_OK) {
        xy_formula_destroy(formula);
        st = fail_memory();
    }
    return st;
}

/* The whole formula must be one; then each of its terms is. */
static xy_status_t read_formula(reading_t *r, adapt_alternative_t *a, const char *text)
{
    xy_formula_t *whole;
    xy_status_t st = take_formula(r, text, &whole);

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

static xy_status_t read_table(reading_t *r, adapt_alternative_t *a, const char *path)
{
    char *full = beside(r->problem, path);
    xy_status_t st =
        full != NULL ? adapt_table_read(r->problem, full, a->name, &a->table) : fail_memory();

    xy_free(full);
    return st;
}

static xy_status_t read_how(reading_t *r, adapt_alternative_t *a, const char *how, char *rest)
{
    if (*rest == '\0')
        return fail(r,
                    "write 'alternative NAME formula FORMULA', 'table FILE', 'predict WORD...' "
                    "or 'stencil WORD...'",
                    NULL);
    a->how = strcmp(how, "formula") == 0 ? "formula" : strcmp(how, "table") == 0 ? "table" : NULL;
    for (int i = 0; verbs[i] != NULL; i++)
        a->how = strcmp(how, verbs[i]) == 0 ? verbs[i] : a->how;
    if (a->how == NULL)
        return fail(r, "formula, table, predict or stencil is expected", how);
    if (a->how[0] == 'f')
        return read_formula(r, a, rest);
    if (a->how[0] == 't')
        return read_table(r, a, rest);
    a->words = keep(r, rest);
    return a->words != NULL ? XY_OK : fail_memory();
}

static adapt_alternative_t *find_alternative(const xy_adapt_t *p, const char *name)
{
    for (size_t i = 0; i < p->alternatives.count; i++)
        if (strcmp(XY_VEC_AT(&p->alternatives, adapt_alternative_t, i).name, name) == 0)
            return &XY_VEC_AT(&p->alternatives, adapt_alternative_t, i);
    return NULL;
}

static xy_status_t read_alternative(reading_t *r, char *rest)
{
    adapt_alternative_t *a;
    char *name = next_word(&rest), *how = next_word(&rest);

    if (!xy_choose_is_word(name))
        return fail(r, "an alternative has a name of one word, without ',' and '='", name);
    if (find_alternative(r->problem, name) != NULL)
        return fail(r, "the alternative is there twice", name);
    if (r->problem->alternatives.count == ADAPT_ITEMS_MAX)
        return fail(r, "there are too many lines of this kind", NULL);
    a = xy_vec_push(&r->problem->alternatives);
    if (a == NULL)
        return fail_memory();
    a->terms = XY_VEC_INIT(xy_formula_t *);
    a->line = r->line;
    a->name = keep(r, name);
    return a->name != NULL ? read_how(r, a, how, rest) : fail_memory();
}

static xy_status_t read_when(reading_t *r, char *rest)
{
    char *name = next_word(&rest);
    adapt_alternative_t *a = find_alternative(r->problem, name);

    if (a == NULL)
        return fail(r, "there is no alternative of this name above", name);
    if (a->when != NULL)
        return fail(r, "the alternative has a condition already", name);
    return take_formula(r, rest, &a->when);
}

/* ---- All of them ---- */

static const struct {
    const char *word;
    xy_status_t (*read)(reading_t *r, char *rest);
} lines[] = {
    {"problem", read_problem}, {"parameter", read_parameter},     {"let", read_let},
    {"node", read_node},       {"independent", read_independent}, {"alternative", read_alternative},
    {"when", read_when},
};

static xy_status_t read_line(reading_t *r, char *line)
{
    const char *known[sizeof(lines) / sizeof(lines[0]) + 1] = {0}, *nearest;
    char *word = next_word(&line);

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (strcmp(lines[i].word, word) == 0)
            return lines[i].read(r, line);
        known[i] = lines[i].word;
    }
    nearest = xy_nearest_word(word, known);
    if (nearest != NULL)
        return xy_fail_at(XY_EPARSE, r->problem->path, r->line, "'%s'; did you mean '%s'?", word,
                          nearest);
    return fail(r,
                "a line begins with problem, parameter, let, node, independent, alternative or "
                "when",
                word);
}

static void trim(char *line)
{
    size_t n;

    line[strcspn(line, "#\r")] = '\0';
    for (n = strlen(line); n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t'); n--)
        line[n - 1] = '\0';
}

static xy_status_t flush(reading_t *r, xy_text_t *whole)
{
    xy_status_t st = XY_OK;

    if (whole->failed)
        return fail_memory();
    if (whole->length > ADAPT_LINE_MAX)
        return fail(r, "the line is too long", NULL);
    if (whole->length > 0)
        st = read_line(r, whole->s);
    xy_text_cleanup(whole);
    return st;
}

static xy_status_t read_lines(reading_t *r, char *data)
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
        st = fail(r, "no problem: it has no line 'alternative NAME ...'", NULL);
    }
    return st;
}

/* The name of the file, where the problem has none of its own. */
static xy_status_t name_it(reading_t *r, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = keep(r, slash != NULL ? slash + 1 : path), *dot;

    if (name == NULL)
        return fail_memory();
    dot = strrchr(name, '.');
    if (dot != NULL && dot > name)
        *dot = '\0';
    r->problem->name = xy_choose_is_word(name) ? name : "problem";
    return XY_OK;
}

static xy_status_t create(const char *path, xy_adapt_t **problem_p)
{
    xy_adapt_t *p = xy_calloc(1, sizeof(*p));

    if (p == NULL || xy_arena_create(&p->words) != XY_OK) {
        xy_free(p);
        return fail_memory();
    }
    p->parameters = XY_VEC_INIT(adapt_parameter_t);
    p->lets = XY_VEC_INIT(adapt_named_t);
    p->nodes = XY_VEC_INIT(adapt_node_t);
    p->alternatives = XY_VEC_INIT(adapt_alternative_t);
    p->path = xy_arena_strndup(p->words, path, strlen(path));
    *problem_p = p;
    return p->path != NULL ? XY_OK : fail_memory();
}

xy_status_t xy_adapt_parse(const char *data, size_t size, const char *path, xy_adapt_t **problem_p)
{
    reading_t r = {0};
    char *copy = xy_strndup(data, size);
    xy_status_t st = copy != NULL ? create(path, &r.problem) : fail_memory();

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
