/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run as a line of text:
 *
 *   1 1763284231 node7 matmul n=4096,p=16 columns 1.2 1.31 0
 *   | time       host  problem instance  alternative predicted measured instead
 *   version
 *
 * An instance without parameters is "-". A line is whole or no line: all writers append with one
 * call, and what a crash has cut off is not taken for a shorter number, as the last word must be
 * followed by the end of the line.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "choose/choose_internal.h"

enum { WORDS = 9 };

bool xy_choose_is_word(const char *word)
{
    size_t n = strlen(word);

    for (size_t i = 0; i < n; i++)
        if (word[i] <= ' ' || word[i] > '~' || word[i] == ',' || word[i] == '=')
            return false;
    return n > 0 && n <= XY_CHOOSE_WORD_MAX;
}

/* ---- Reading ---- */

/* Blanks between words become their ends; exactly `WORDS` of them. */
static bool split(char *line, char *words[WORDS])
{
    char *rest = line, *word;
    int count = 0;

    while ((word = strsep(&rest, " ")) != NULL) {
        if (count == WORDS || *word == '\0')
            return false;
        words[count++] = word;
    }
    return count == WORDS;
}

/* Reads "NAME=VALUE,..." or "-" in place; returns false if it is malformed. */
static bool parse_parameters(char *text, xy_parameter_t *parameters, size_t *count_p)
{
    char *rest = text, *word;
    size_t count = 0;

    if (strcmp(text, "-") == 0)
        rest = NULL;
    while ((word = strsep(&rest, ",")) != NULL) {
        char *equal = strchr(word, '=');

        if (equal == NULL || count == XY_CHOOSE_PARAMETERS_MAX)
            return false;
        *equal = '\0';
        if (!xy_choose_is_word(word) || !xy_parse_double(equal + 1, &parameters[count].value))
            return false;
        parameters[count++].name = word;
    }
    *count_p = count;
    return true;
}

static bool parse_time(const char *text, int64_t *time_p)
{
    long value;

    if (!xy_parse_long(text, &value) || value < 0)
        return false;
    *time_p = value;
    return true;
}

static bool parse_words(char *words[WORDS], xy_parameter_t *parameters, xy_run_t *r)
{
    r->instance = (xy_instance_t){.host = words[2], .problem = words[3], .parameters = parameters};
    r->alternative = words[5];
    return strcmp(words[0], "1") == 0 && parse_time(words[1], &r->time) &&
           xy_choose_is_word(r->instance.host) && xy_choose_is_word(r->instance.problem) &&
           parse_parameters(words[4], parameters, &r->instance.count) &&
           xy_choose_is_word(r->alternative) && xy_parse_double(words[6], &r->predicted) &&
           xy_parse_double(words[7], &r->measured) && xy_parse_double(words[8], &r->instead) &&
           r->predicted > 0 && r->measured > 0 && r->instead >= 0;
}

bool choose_line_parse(const char *line, size_t length, xy_arena_t *arena, xy_run_t *run_p,
                       xy_status_t *status_p)
{
    char *words[WORDS], *copy = xy_arena_strndup(arena, line, length);
    xy_parameter_t parameters[XY_CHOOSE_PARAMETERS_MAX], *kept;
    xy_run_t r;

    *status_p = copy != NULL ? XY_OK : XY_ENOMEM;
    if (copy == NULL || strlen(copy) != length || !split(copy, words) ||
        !parse_words(words, parameters, &r))
        return false;
    kept = xy_arena_alloc(arena, (r.instance.count + 1) * sizeof(*kept));
    if (kept == NULL) {
        *status_p = XY_ENOMEM;
        return false;
    }
    memcpy(kept, parameters, r.instance.count * sizeof(*kept));
    r.instance.parameters = kept;
    *run_p = r;
    return true;
}

/* ---- Writing ---- */

static bool is_time(double seconds)
{
    return isfinite(seconds) && seconds > 0;
}

static bool is_instance(const xy_instance_t *i)
{
    bool is_good = xy_choose_is_word(i->problem) && xy_choose_is_word(i->host) &&
                   i->count <= XY_CHOOSE_PARAMETERS_MAX;

    for (size_t k = 0; is_good && k < i->count; k++)
        is_good = xy_choose_is_word(i->parameters[k].name) && isfinite(i->parameters[k].value);
    return is_good;
}

static void add_parameters(const xy_instance_t *i, xy_text_t *text)
{
    char number[32];

    for (size_t k = 0; k < i->count; k++)
        xy_text_addf(text, "%s%s=%s", k > 0 ? "," : "", i->parameters[k].name,
                     xy_format_double(i->parameters[k].value, number));
    if (i->count == 0)
        xy_text_add(text, "-");
}

bool choose_line_format(const xy_run_t *r, xy_text_t *text)
{
    char a[32], b[32], c[32];

    if (!is_instance(&r->instance) || !xy_choose_is_word(r->alternative) ||
        !is_time(r->predicted) || !is_time(r->measured) || !(r->instead >= 0) ||
        isinf(r->instead) || r->time < 0)
        return false;
    xy_text_addf(text, "1 %" PRId64 " %s %s ", r->time, r->instance.host, r->instance.problem);
    add_parameters(&r->instance, text);
    xy_text_addf(text, " %s %s %s %s\n", r->alternative, xy_format_double(r->predicted, a),
                 xy_format_double(r->measured, b), xy_format_double(r->instead, c));
    return true;
}

bool choose_line_equal(const xy_run_t *a, const xy_run_t *b)
{
    return a->time == b->time && a->predicted == b->predicted && a->measured == b->measured &&
           a->instead == b->instead && strcmp(a->alternative, b->alternative) == 0 &&
           strcmp(a->instance.problem, b->instance.problem) == 0 &&
           strcmp(a->instance.host, b->instance.host) == 0 &&
           choose_distance(&a->instance, &b->instance) == 0;
}
