/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of xylem choose. */
#include <math.h>
#include <string.h>

#include "choose.h"
#include "draw/draw.h"

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- Text ---- */

/* Prints the expected time of a candidate, with its range and the runs behind it. */
static void print_candidate(const choose_answer_t *a, size_t i, int width, FILE *file)
{
    const xy_candidate_t *c = &a->times->candidates[i];
    const xy_estimate_of_t *of = &a->of[i];
    char s[32], low[32], high[32], ratio[32];

    fprintf(file, "%c %-*s  ", i == a->choice.chosen ? '*' : ' ', width, c->name);
    if (isinf(c->predicted)) {
        fprintf(file, "not for these parameters%s%s\n", *a->times->where[i] != '\0' ? ": " : "",
                a->times->where[i]);
        return;
    }
    fprintf(file, "%-9s  by %s", xy_format_seconds(of->seconds, s), a->times->how[i]);
    if (c->error >= 0 || of->runs > 0)
        fprintf(file, ", %s to %s", xy_format_seconds(of->low, low),
                xy_format_seconds(of->high, high));
    if (of->runs > 0)
        fprintf(file, "; %zu run%s, predicted times are multiplied by %s", of->runs,
                plural(of->runs),
                (snprintf(ratio, sizeof(ratio), "%.3g", of->seconds / c->predicted), ratio));
    fputc('\n', file);
    if (*a->times->where[i] != '\0')
        fprintf(file, "  %*s  %s\n", width, "", a->times->where[i]);
}

static int name_width(const choose_answer_t *a)
{
    int width = 0;

    for (size_t i = 0; i < a->times->count; i++)
        width = (int)fmax(width, (double)strlen(a->times->candidates[i].name));
    return width;
}

/* Each node's own best, where nodes are independent; else what each takes. */
static void print_nodes(const choose_answer_t *a, FILE *file)
{
    const xy_adapt_times_t *t = a->times;
    char s[32];

    for (size_t k = 0; k < t->nodes && t->node[0] != NULL; k++) {
        size_t best = a->choice.chosen;

        for (size_t i = 0; t->is_independent && i < t->count; i++)
            if (t->seconds[i * t->nodes + k] < t->seconds[best * t->nodes + k])
                best = i;
        fprintf(file, "node %s: %s, %s\n", t->node[k], t->candidates[best].name,
                xy_format_seconds(t->seconds[best * t->nodes + k], s));
    }
}

/* Prints the confidence in the choice, and the reason for another candidate. */
static void print_why(const choose_t *c, const choose_answer_t *a, FILE *file)
{
    const xy_choice_t *choice = &a->choice;
    char s[32], total[32];

    fprintf(file, "%.0f %% sure that %s is the best", 100 * choice->sure,
            a->times->candidates[choice->best].name);
    if (choice->is_trial && c->v->reference == NULL)
        fprintf(file, "; %s is a trial, to learn how long it takes",
                a->times->candidates[choice->chosen].name);
    else if (choice->chosen != choice->best)
        fprintf(file, ", but it could lose more than %g %% against %s", c->v->loss,
                c->v->reference);
    fputc('\n', file);
    if (choice->measured > 0)
        fprintf(file, "trials have lost %s of %s measured\n", xy_format_seconds(choice->spent, s),
                xy_format_seconds(choice->measured, total));
}

void choose_print_text(const choose_t *c, const choose_answer_t *a, FILE *file)
{
    const char *chosen = a->times->candidates[a->choice.chosen].name;
    int width = name_width(a);

    if (!c->v->explain) {
        fprintf(file, "%s\n", chosen);
        if (a->times->is_independent)
            print_nodes(a, file);
        return;
    }
    for (size_t i = 0; i < a->times->count; i++)
        print_candidate(a, i, width, file);
    print_nodes(a, file);
    print_why(c, a, file);
}

/* ---- JSON ---- */

/* Writes a candidate as a JSON object. */
static void json_candidate(const choose_answer_t *a, size_t i, xy_json_t *j)
{
    const xy_candidate_t *c = &a->times->candidates[i];

    xy_json_begin_object(j, NULL);
    xy_fields(j, "name %s how %s predicted %g seconds %g low %g high %g runs %lu where %s", c->name,
              a->times->how[i], c->predicted, a->of[i].seconds, a->of[i].low, a->of[i].high,
              a->of[i].runs, a->times->where[i]);
    if (a->times->node[0] != NULL) {
        xy_json_begin_array(j, "nodes");
        for (size_t k = 0; k < a->times->nodes; k++)
            xy_json_double(j, NULL, a->times->seconds[i * a->times->nodes + k]);
        xy_json_end(j);
    }
    xy_json_end(j);
}

void choose_print_json(const choose_t *c, const choose_answer_t *a, FILE *file)
{
    xy_json_t j;

    xy_json_init(&j, file, true);
    xy_json_begin_object(&j, NULL);
    xy_fields(&j, "problem %s host %s", a->instance.problem, c->host);
    xy_json_begin_object(&j, "parameters");
    for (size_t i = 0; i < a->instance.count; i++)
        xy_json_double(&j, a->instance.parameters[i].name, a->instance.parameters[i].value);
    xy_json_end(&j);
    xy_fields(&j, "chosen %s best %s sure %g trial %i cached %lu",
              a->times->candidates[a->choice.chosen].name,
              a->times->candidates[a->choice.best].name, a->choice.sure, a->choice.is_trial,
              a->times->cached);
    xy_json_begin_array(&j, "alternatives");
    for (size_t i = 0; i < a->times->count; i++)
        json_candidate(a, i, &j);
    xy_json_end(&j);
    xy_json_end(&j);
}
