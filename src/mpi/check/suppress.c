/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/check/suppress.h"

#include <fnmatch.h>
#include <string.h>

enum { EVERY = -1, UNKNOWN = -2 };

static int find_class(const char *word)
{
    if (strcmp(word, "*") == 0)
        return EVERY;
    for (int k = 0; k < XMPI_FINDING_KINDS; k++)
        if (strcmp(mpi_finding_classes[k].name, word) == 0)
            return k;
    return UNKNOWN;
}

/* Report an unknown class in a file of suppressions, with the most similar name. */
static xy_status_t refuse_class(const char *word, const char *path, long number)
{
    const char *names[XMPI_FINDING_KINDS + 1] = {NULL};
    const char *nearest;

    for (int k = 0; k < XMPI_FINDING_KINDS; k++)
        names[k] = mpi_finding_classes[k].name;
    nearest = xy_nearest_word(word, names);
    if (nearest != NULL)
        return xy_fail_at(XY_EPARSE, path, number, "no class '%s'; did you mean '%s'?", word,
                          nearest);
    return xy_fail_at(XY_EPARSE, path, number,
                      "no class '%s'; a report has the class at its end, in brackets", word);
}

static xy_status_t refuse_end(const char *word, const char *path, long number)
{
    return xy_fail_at(XY_EPARSE, path, number, "'%s' ends the job: it cannot be suppressed", word);
}

static char *next_word(char **rest)
{
    char *word;

    *rest += strspn(*rest, " \t\r");
    word = *rest;
    *rest += strcspn(*rest, " \t\r");
    if (**rest != '\0')
        *(*rest)++ = '\0';
    return word;
}

/* Parse one line of a file of suppressions; the rule keeps pointers into the line. */
static xy_status_t parse_line(char *line, const char *path, long number, xy_vec_t *rules)
{
    char *name, *place;
    check_rule_t *rule;
    int kind;

    line[strcspn(line, "#")] = '\0';
    name = next_word(&line);
    place = next_word(&line);
    if (*name == '\0')
        return XY_OK;
    if (*place == '\0' || *next_word(&line) != '\0')
        return xy_fail_at(XY_EPARSE, path, number,
                          "a rule is a class and a place, such as 'never-freed ring.c:*'");
    kind = find_class(name);
    if (kind == UNKNOWN)
        return refuse_class(name, path, number);
    if (kind >= 0 && mpi_finding_classes[kind].ends_job && !mpi_finding_classes[kind].may_go_on)
        return refuse_end(name, path, number);
    rule = xy_vec_push(rules);
    if (rule == NULL)
        return xy_fail_memory("reading suppressions");
    *rule = (check_rule_t){.kind = kind, .place = place, .line = number};
    return XY_OK;
}

xy_status_t check_rules_parse(char *text, const char *path, xy_vec_t *rules)
{
    xy_status_t st = XY_OK;
    long number = 1;

    *rules = XY_VEC_INIT(check_rule_t);
    for (char *line; st == XY_OK && (line = strsep(&text, "\n")) != NULL; number++)
        st = parse_line(line, path, number, rules);
    return st;
}

/* A rule may name a file with its directories or without. */
static bool is_place(const char *pattern, const char *place)
{
    const char *slash = strrchr(place, '/');

    return fnmatch(pattern, place, 0) == 0 || (slash && fnmatch(pattern, slash + 1, 0) == 0);
}

bool check_rules_match(const xy_vec_t *rules, mpi_finding_kind_t kind, const char *place)
{
    for (size_t i = 0; i < rules->count; i++) {
        check_rule_t *rule = &XY_VEC_AT(rules, check_rule_t, i);

        if ((rule->kind == EVERY || rule->kind == (int)kind) && is_place(rule->place, place)) {
            rule->is_used = true;
            return true;
        }
    }
    return false;
}
