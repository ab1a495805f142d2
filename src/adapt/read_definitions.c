/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of a problem that define what formulas know: its name, parameters, lets and nodes. */
#include <string.h>

#include "adapt/reading.h"

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

xy_status_t adapt_read_problem(adapt_reading_t *r, char *rest)
{
    if (!xy_choose_is_word(rest))
        return adapt_reading_fail(r, "the name of a problem must be one word", rest);
    r->problem->name = adapt_reading_keep(r, rest);
    return r->problem->name != NULL ? XY_OK : adapt_reading_memory();
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
static xy_status_t split_name(adapt_reading_t *r, char *text, char **name_p, char **rest_p)
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
        return adapt_reading_fail(r, "a name consists of letters, digits and '_'", name);
    if (is_taken(r->problem, name))
        return adapt_reading_fail(r, "the name is defined twice", name);
    *name_p = adapt_reading_keep(r, name);
    return *name_p != NULL ? XY_OK : adapt_reading_memory();
}

xy_status_t adapt_read_parameter(adapt_reading_t *r, char *rest)
{
    adapt_parameter_t p = {0};
    char *name, *value;
    xy_status_t st = split_name(r, rest, &name, &value);

    if (st != XY_OK)
        return st;
    if (r->problem->parameters.count == XY_CHOOSE_PARAMETERS_MAX)
        return adapt_reading_fail(r, "there are too many parameters", NULL);
    p.name = name;
    p.has_default = value != NULL;
    if (value != NULL && !xy_parse_double(value, &p.value))
        return adapt_reading_fail(r, "not a number", value);
    return xy_vec_append(&r->problem->parameters, &p) == XY_OK ? XY_OK : adapt_reading_memory();
}

static xy_status_t add_named(xy_vec_t *list, adapt_named_t *named)
{
    if (xy_vec_append(list, named) == XY_OK)
        return XY_OK;
    xy_formula_destroy(named->formula);
    return adapt_reading_memory();
}

xy_status_t adapt_read_let(adapt_reading_t *r, char *rest)
{
    adapt_named_t let = {0};
    char *name, *text;
    xy_status_t st = split_name(r, rest, &name, &text);

    if (st == XY_OK && text == NULL)
        return adapt_reading_fail(r, "write 'let NAME = FORMULA'", NULL);
    if (st == XY_OK && r->problem->lets.count == ADAPT_ITEMS_MAX)
        return adapt_reading_fail(r, "there are too many lines of this kind", NULL);
    if (st != XY_OK)
        return st;
    let.name = name;
    st = adapt_reading_formula(r, text, &let.formula);
    return st == XY_OK ? add_named(&r->problem->lets, &let) : st;
}

/* Reads "NAME=FORMULA" or "cluster=NAME" of a node. */
static xy_status_t read_node_value(adapt_reading_t *r, adapt_node_t *node, char *word)
{
    char *equal = strchr(word, '=');
    adapt_named_t value = {0};
    xy_status_t st;

    if (equal == NULL)
        return adapt_reading_fail(r, "write NAME=FORMULA, without blanks", word);
    *equal = '\0';
    if (strcmp(word, "cluster") == 0) {
        node->cluster = adapt_reading_keep(r, equal + 1);
        return node->cluster != NULL ? XY_OK : adapt_reading_memory();
    }
    value.name = adapt_reading_keep(r, word);
    if (value.name == NULL)
        return adapt_reading_memory();
    if (!is_name(word))
        return adapt_reading_fail(r, "a name consists of letters, digits and '_'", word);
    st = adapt_reading_formula(r, equal + 1, &value.formula);
    return st == XY_OK ? add_named(&node->values, &value) : st;
}

xy_status_t adapt_read_node(adapt_reading_t *r, char *rest)
{
    adapt_node_t *node;
    char *name = adapt_reading_word(&rest);
    xy_status_t st = XY_OK;

    if (!xy_choose_is_word(name))
        return adapt_reading_fail(r, "write 'node NAME [cluster=WORD] [NAME=FORMULA]...'", NULL);
    if (r->problem->nodes.count == ADAPT_ITEMS_MAX)
        return adapt_reading_fail(r, "there are too many lines of this kind", NULL);
    node = xy_vec_push(&r->problem->nodes);
    if (node == NULL)
        return adapt_reading_memory();
    node->values = XY_VEC_INIT(adapt_named_t);
    node->name = adapt_reading_keep(r, name);
    if (node->name == NULL)
        return adapt_reading_memory();
    while (st == XY_OK && *rest != '\0')
        st = read_node_value(r, node, adapt_reading_word(&rest));
    return st;
}

xy_status_t adapt_read_independent(adapt_reading_t *r, char *rest)
{
    r->problem->is_independent = true;
    return *rest == '\0' ? XY_OK : adapt_reading_fail(r, "'independent' takes no argument", rest);
}
