/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command line first, noting what was given; then environment and presets fill the rest. So a list
 * on the command line replaces one from the environment instead of adding to it.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitset.h"
#include "base/memory.h"
#include "base/option_table.h"
#include "base/text.h"

enum { MAX_OPTIONS = 256, MAX_NAMES = 3 * MAX_OPTIONS, MAX_CHOICES = 64, CALL_SIZE = 128 };

typedef struct {
    const xy_command_t *command;
    char **argv;
    int argc;
    int next;       /* the argument to look at */
    int positional; /* so many were moved to the front */
    void *values;
    xy_help_t help;
} parser_t;

/* The last command parsed on this thread: the options on the command line, and those with a value
 * from there or from the environment. */
static _Thread_local const xy_command_t *given_command;
static _Thread_local bool given[MAX_OPTIONS], is_set[MAX_OPTIONS];

bool xy_options_given(const char *name)
{
    const xy_option_t *option = NULL;

    if (given_command != NULL)
        option = base_option_by_name(given_command, name, strlen(name));
    return option != NULL && !base_option_is_help(option) && given[option - given_command->options];
}

/* How the option was written, or where else its value comes from; for messages. */
typedef struct {
    const char *intro; /* "option" or "environment variable" */
    char name[96];
    const xy_command_t *command;
} origin_t;

static xy_status_t fail_value(const origin_t *origin, const char *value, const char *what)
{
    char call[CALL_SIZE];

    return xy_fail(XY_EUSAGE, "%s %s: '%s' %s%s '%s --help'", origin->intro, origin->name, value,
                   what, what[strlen(what) - 1] == '?' ? " See" : "; see",
                   base_command_call(origin->command, call, sizeof(call)));
}

/* Report a value outside the range of its option; an option with min >= max has no range. */
static xy_status_t check_range(const xy_option_t *option, double value, const char *text,
                               const origin_t *origin)
{
    char what[96];

    if (option->min >= option->max || (value >= option->min && value <= option->max))
        return XY_OK;
    if (option->kind == XY_OPT_SIZE) {
        char least[32], most[32];

        snprintf(what, sizeof(what), "is not between %s and %s",
                 xy_format_size((uint64_t)option->min, least),
                 xy_format_size((uint64_t)option->max, most));
    } else {
        snprintf(what, sizeof(what), "is not between %.15g and %.15g", option->min, option->max);
    }
    return fail_value(origin, text, what);
}

/* Read a word for yes or no; no text at all, as in --flag, means yes. */
static xy_status_t set_flag(const char *text, bool *value_p, const origin_t *origin)
{
    static const char *const words[] = {"0", "no", "false", "off", "1", "yes", "true", "on"};

    if (text == NULL) {
        *value_p = true;
        return XY_OK;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasecmp(text, words[i]) == 0) {
            *value_p = i >= 4;
            return XY_OK;
        }
    return fail_value(origin, text, "is neither yes nor no");
}

/* Set *value_p to the choice with the name `text`, or report the list of choices and the most
 * similar one. */
static xy_status_t set_choice(const xy_option_t *option, const char *text, const char **value_p,
                              const origin_t *origin)
{
    const char *choices[MAX_CHOICES + 1] = {NULL}, *choice, *nearest;
    char what[512] = "is none of";
    size_t used = strlen(what);

    for (size_t i = 0; i < MAX_CHOICES && (choice = xy_option_choice(option, i)) != NULL; i++) {
        choices[i] = choice;
        if (strcmp(choice, text) == 0) {
            *value_p = choice;
            return XY_OK;
        }
        if (used < sizeof(what))
            used += (size_t)snprintf(what + used, sizeof(what) - used, "%s %s", i == 0 ? "" : ",",
                                     choice);
    }
    nearest = xy_nearest_word(text, choices);
    if (nearest != NULL && used < sizeof(what))
        snprintf(what + used, sizeof(what) - used, "; did you mean '%s'?", nearest);
    return fail_value(origin, text, what);
}

/* Read a whole number, a size, a time or a real number and check its range; *value_p is written
 * only on success. */
static xy_status_t set_number(const xy_option_t *option, const char *text, void *value_p,
                              const origin_t *origin)
{
    union {
        long whole;
        double real;
        uint64_t size;
    } value;
    const char *wrong = NULL;
    double compared = 0;
    size_t bytes = 0;
    xy_status_t st;

    if (option->kind == XY_OPT_LONG) {
        wrong = xy_parse_long(text, &value.whole) ? NULL : "is not a whole number";
        bytes = sizeof(value.whole);
        compared = wrong == NULL ? (double)value.whole : 0;
    } else if (option->kind == XY_OPT_SIZE) {
        wrong = xy_parse_size(text, &value.size) ? NULL : "is not a size such as 64K or 1MiB";
        bytes = sizeof(value.size);
        compared = wrong == NULL ? (double)value.size : 0;
    } else {
        bool ok = option->kind == XY_OPT_SECONDS ? xy_parse_seconds(text, &value.real)
                                                 : xy_parse_double(text, &value.real);

        wrong = ok                               ? NULL
                : option->kind == XY_OPT_SECONDS ? "is not a time such as 20us or 1.5s"
                                                 : "is not a number";
        bytes = sizeof(value.real);
        compared = ok ? value.real : 0;
        if (ok && option->kind == XY_OPT_SECONDS && value.real < 0)
            wrong = "is a time below 0";
    }
    if (wrong != NULL)
        return fail_value(origin, text, wrong);
    st = check_range(option, compared, text, origin);
    if (st == XY_OK)
        memcpy(value_p, &value, bytes);
    return st;
}

static void warn_leaving(const xy_option_t *option, const origin_t *origin)
{
    if (option->leaving != NULL)
        xy_warn("%s %s no longer has an effect and will be removed in the next version; %s",
                origin->intro, origin->name, option->leaving);
}

static xy_status_t push_words(xy_vec_t *vec, const char *first, const char *second)
{
    if (xy_vec_append(vec, &first) != XY_OK ||
        (second != NULL && xy_vec_append(vec, &second) != XY_OK))
        return xy_fail_memory("reading the command line");
    return XY_OK;
}

/* `text` is NULL for a flag on the command line and a value that was left out, `second` for all but
 * pairs. */
static xy_status_t set_value(const xy_option_t *option, void *values, const char *text,
                             const char *second, const origin_t *origin)
{
    void *value_p = (char *)values + option->offset;

    if (text != NULL && *text == '\0' && !option->may_be_empty &&
        !base_option_is_optional(option) && option->kind != XY_OPT_FLAG)
        return fail_value(origin, text, "is empty");
    switch (option->kind) {
    case XY_OPT_FLAG:
        return set_flag(text, value_p, origin);
    case XY_OPT_STRING:
        *(const char **)value_p = text != NULL ? text : "";
        return XY_OK;
    case XY_OPT_CHOICE:
        return set_choice(option, text, value_p, origin);
    case XY_OPT_LIST:
    case XY_OPT_PAIRS:
        return push_words(value_p, text, second);
    case XY_OPT_IGNORED:
        return XY_OK;
    default:
        return set_number(option, text, value_p, origin);
    }
}

/* Report an unknown option together with the most similar name of the command's visible options. */
static xy_status_t fail_unknown(const parser_t *p, const char *argument)
{
    const char *names[MAX_NAMES + 3];
    const char *word = argument + strspn(argument, "-"), *nearest;
    char typed[64], call[CALL_SIZE];
    size_t n = 0;

    for (const xy_option_t *o = p->command->options; o != NULL && o->name != NULL; o++) {
        if (o->help == NULL || n >= MAX_NAMES)
            continue;
        names[n++] = o->name;
        for (const char *const *a = o->aliases; a != NULL && *a != NULL && n < MAX_NAMES; a++)
            names[n++] = *a;
    }
    names[n++] = base_option_help.name;
    names[n++] = base_option_help_all.name;
    names[n] = NULL;
    snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(word, "="), word);
    nearest = xy_nearest_word(typed, names);
    base_command_call(p->command, call, sizeof(call));
    if (nearest == NULL)
        return xy_fail(XY_EUSAGE, "unknown option '%s'; see '%s --help'", argument, call);
    return xy_fail(XY_EUSAGE, "unknown option '%s'; did you mean '%s%s'? See '%s --help'", argument,
                   base_option_dashes(p->command, nearest), nearest, call);
}

/* The words an option takes: the attached one first, then those that follow. */
static xy_status_t take_words(parser_t *p, const xy_option_t *option, const origin_t *origin,
                              const char *attached, const char *words[2])
{
    char call[CALL_SIZE];
    int taken = 0;

    if (attached != NULL)
        words[taken++] = attached;
    while (taken < base_option_arity(option)) {
        if (p->next == p->argc)
            return xy_fail(XY_EUSAGE, "option %s needs %s; see '%s --help'", origin->name,
                           base_option_argument(option),
                           base_command_call(p->command, call, sizeof(call)));
        words[taken++] = p->argv[p->next++];
    }
    return XY_OK;
}

/* An option was recognised. `written` is how, without what is attached to it. */
static xy_status_t apply(parser_t *p, const xy_option_t *option, const char *written, size_t n,
                         const char *attached)
{
    origin_t origin = {.intro = "option", .command = p->command};
    const char *words[2] = {NULL, NULL};
    xy_status_t st;

    snprintf(origin.name, sizeof(origin.name), "%.*s", (int)n, written);
    if (base_option_is_help(option)) {
        p->help = option == &base_option_help ? XY_HELP_COMMON : XY_HELP_ALL;
        return XY_OK;
    }
    if (attached != NULL && base_option_arity(option) == 0 && !base_option_is_optional(option))
        return fail_value(&origin, attached, "was given, but it takes no value");
    st = take_words(p, option, &origin, attached, words);
    if (st != XY_OK)
        return st;
    given[option - p->command->options] = is_set[option - p->command->options] = true;
    warn_leaving(option, &origin);
    return set_value(option, p->values, words[0], words[1], &origin);
}

/* "--name", "--name=value", "--no-name"; also "-name" in single-dash mode. False: no such option,
 * nothing was reported. */
static bool parse_long(parser_t *p, const char *argument, size_t dashes, xy_status_t *st_p)
{
    const char *name = argument + dashes;
    size_t n = strcspn(name, "=");
    const char *attached = name[n] == '=' ? name + n + 1 : NULL;
    const xy_option_t *option = base_option_by_name(p->command, name, n);

    if (option != NULL) {
        *st_p = apply(p, option, argument, dashes + n, attached);
        return true;
    }
    if (n <= 3 || strncmp(name, "no-", 3) != 0 || attached != NULL)
        return false;
    option = base_option_by_name(p->command, name + 3, n - 3);
    if (option == NULL || option->kind != XY_OPT_FLAG || base_option_is_help(option))
        return false;
    *(bool *)((char *)p->values + option->offset) = false;
    given[option - p->command->options] = is_set[option - p->command->options] = true;
    *st_p = XY_OK;
    return true;
}

/* "-x", "-xvalue", "-x value", "-xyz". */
static xy_status_t parse_letters(parser_t *p, const char *argument)
{
    const xy_option_t *option;
    xy_status_t st = XY_OK;
    char written[3] = "-";

    for (const char *c = argument + 1; *c != '\0' && st == XY_OK && !p->help; c++) {
        option = base_option_by_letter(p->command, *c);
        if (option == NULL)
            return fail_unknown(p, argument);
        written[1] = *c;
        if (base_option_arity(option) > 0)
            return apply(p, option, written, 2, c[1] != '\0' ? c + 1 : NULL);
        st = apply(p, option, written, 2, NULL);
    }
    return st;
}

static bool is_option(const parser_t *p, const char *argument)
{
    double number;

    if (argument[0] != '-' || argument[1] == '\0')
        return false;
    /* "-5" is a number unless some option has that letter. */
    return !(xy_parse_double(argument, &number) &&
             base_option_by_letter(p->command, argument[1]) == NULL);
}

static xy_status_t parse_option(parser_t *p, const char *argument)
{
    xy_status_t st;

    if (argument[1] == '-')
        return parse_long(p, argument, 2, &st) ? st : fail_unknown(p, argument);
    if (p->command->single_dash && parse_long(p, argument, 1, &st))
        return st;
    return parse_letters(p, argument);
}

/* Parse options and move positional arguments to the front of argv; stops at an option that asks
 * for help. */
static xy_status_t parse_arguments(parser_t *p)
{
    bool only_positional = false;
    xy_status_t st;
    char *argument;

    while (p->next < p->argc && !p->help) {
        argument = p->argv[p->next++];
        if (!only_positional && strcmp(argument, "--") == 0) {
            only_positional = true;
        } else if (only_positional || !is_option(p, argument)) {
            p->argv[p->positional++] = argument;
            only_positional |= p->command->stop_at_positional;
        } else {
            st = parse_option(p, argument);
            if (st != XY_OK)
                return st;
        }
    }
    return XY_OK;
}

/* Report too few or too many positional arguments. */
static xy_status_t check_positional(const parser_t *p)
{
    const xy_command_t *c = p->command;
    char call[CALL_SIZE];

    base_command_call(c, call, sizeof(call));
    if (p->positional < c->positional_min)
        return xy_fail(XY_EUSAGE, "missing argument %s; see '%s --help'",
                       c->synopsis != NULL ? c->synopsis : "ARGUMENT", call);
    if (c->positional_max >= 0 && p->positional > c->positional_max)
        return xy_fail(XY_EUSAGE, "one argument too many: '%s'; see '%s --help'",
                       p->argv[c->positional_max], call);
    return XY_OK;
}

/* Values that the command line left open. */
static xy_status_t fill_rest(const parser_t *p)
{
    origin_t origin = {.command = p->command};
    const char *text;
    xy_status_t st;

    for (const xy_option_t *o = p->command->options; o != NULL && o->name != NULL; o++) {
        if (given[o - p->command->options])
            continue;
        text = o->env != NULL ? getenv(o->env) : NULL;
        origin.intro = "environment variable";
        snprintf(origin.name, sizeof(origin.name), "%s", o->env != NULL ? o->env : "");
        if (text == NULL || *text == '\0') {
            text = o->preset;
            origin.intro = "default of option";
            snprintf(origin.name, sizeof(origin.name), "--%s", o->name);
        } else {
            warn_leaving(o, &origin);
            is_set[o - p->command->options] = true;
        }
        if (text == NULL || o->kind == XY_OPT_PAIRS)
            continue;
        st = set_value(o, p->values, text, NULL, &origin);
        if (st != XY_OK)
            return st;
    }
    return XY_OK;
}

static xy_status_t start_values(const xy_command_t *command, void *values)
{
    size_t n = 0;

    memset(values, 0, command->values_size);
    for (const xy_option_t *o = command->options; o != NULL && o->name != NULL; o++, n++)
        if (o->kind == XY_OPT_LIST || o->kind == XY_OPT_PAIRS)
            *(xy_vec_t *)(void *)((char *)values + o->offset) = XY_VEC_INIT(const char *);
    memset(given, 0, sizeof(given));
    memset(is_set, 0, sizeof(is_set));
    given_command = command;
    return n <= MAX_OPTIONS ? XY_OK : xy_fail(XY_ELIMIT, "more than %d options", MAX_OPTIONS);
}

/* Is what the first `n` characters of a word of `needs` or `excludes` name set? A capital begins a
 * variable, '=' a value. */
static bool is_word_set(const void *values, const char *word, size_t n)
{
    char name[64];
    const xy_option_t *option;
    char *value;

    snprintf(name, sizeof(name), "%.*s", (int)n, word);
    if (isupper((unsigned char)name[0]))
        return getenv(name) != NULL;
    value = strchr(name, '=');
    if (value != NULL)
        *value++ = '\0';
    option = base_option_by_name(given_command, name, strlen(name));
    if (option == NULL || base_option_is_help(option))
        return false;
    if (value == NULL)
        return is_set[option - given_command->options];
    return strcmp(*(const char *const *)(const void *)((const char *)values + option->offset),
                  value) == 0;
}

/* The first word of a list that is set, or NULL; *n_p is its length. */
static const char *find_set(const void *values, const char *words, size_t *n_p)
{
    while (*(words += strspn(words, " ")) != '\0') {
        *n_p = strcspn(words, " ");
        if (is_word_set(values, words, *n_p))
            return words;
        words += *n_p;
    }
    return NULL;
}

/* "--host, --hostfile or --processes": a list of `needs` for messages, without its variables. */
static char *name_words(const char *words, char *text, size_t size)
{
    size_t used = 0, n;

    text[0] = '\0';
    for (words += strspn(words, " "); *words != '\0' && used < size; words += strspn(words, " ")) {
        const char *next;

        n = strcspn(words, " ");
        next = words + n + strspn(words + n, " ");
        if (!isupper((unsigned char)*words))
            used += (size_t)snprintf(text + used, size - used, "%s--%.*s",
                                     used == 0                                        ? ""
                                     : *next == '\0' || isupper((unsigned char)*next) ? " or "
                                                                                      : ", ",
                                     (int)n, words);
        words += n;
    }
    for (char *c = text; *c != '\0'; c++)
        *c = (char)(*c == '=' ? ' ' : *c);
    return text;
}

/* Refuse options that were given without one that they need, or with one that they exclude. */
static xy_status_t check_company(const void *values)
{
    char call[CALL_SIZE], words[256];
    size_t n = 0;

    base_command_call(given_command, call, sizeof(call));
    for (const xy_option_t *o = given_command->options; o != NULL && o->name != NULL; o++) {
        const char *dashes = base_option_dashes(given_command, o->name), *other;
        bool is_given = given[o - given_command->options];

        if (!is_set[o - given_command->options])
            continue;
        if (is_given && o->needs != NULL && find_set(values, o->needs, &n) == NULL)
            return xy_fail(XY_EUSAGE,
                           "option %s%s has no effect without %s; give both or none; see '%s "
                           "--help'",
                           dashes, o->name, name_words(o->needs, words, sizeof(words)), call);
        other = o->excludes != NULL ? find_set(values, o->excludes, &n) : NULL;
        if (other != NULL)
            return xy_fail(XY_EUSAGE,
                           "option %s%s%s%s%s has no effect with --%.*s; give one of them; see '%s "
                           "--help'",
                           dashes, o->name, is_given ? "" : ", from the variable ",
                           is_given ? "" : o->env, is_given ? "" : ",", (int)n, other, call);
    }
    return XY_OK;
}

xy_status_t xy_options_parse(const xy_command_t *command, int argc, char **argv, void *values,
                             int *count_p, xy_help_t *help_p)
{
    parser_t p = {.command = command, .argc = argc, .argv = argv, .values = values};
    xy_status_t st = start_values(command, values);

    if (st == XY_OK)
        st = parse_arguments(&p);
    if (st == XY_OK && !p.help)
        st = check_positional(&p);
    if (st == XY_OK && !p.help)
        st = fill_rest(&p);
    if (st == XY_OK && !p.help)
        st = check_company(values);
    if (st != XY_OK)
        return st;
    *count_p = p.positional;
    *help_p = p.help;
    return XY_OK;
}

void xy_options_cleanup(const xy_command_t *command, void *values)
{
    for (const xy_option_t *o = command->options; o != NULL && o->name != NULL; o++)
        if (o->kind == XY_OPT_LIST || o->kind == XY_OPT_PAIRS)
            xy_vec_cleanup((xy_vec_t *)(void *)((char *)values + o->offset));
}

xy_status_t xy_command_run(const xy_command_t *command, int argc, char **argv)
{
    xy_help_t help = XY_HELP_NONE;
    void *values;
    xy_status_t st;
    int count = 0;

    if (command->is_raw && argc > 0 && strcmp(argv[0], "--help") == 0)
        help = XY_HELP_COMMON;
    else if (command->is_raw && argc > 0 && strcmp(argv[0], "--help-all") == 0)
        help = XY_HELP_ALL;
    if (help != XY_HELP_NONE)
        xy_command_help(command, help, stdout);
    if (command->is_raw)
        return help != XY_HELP_NONE ? XY_OK : command->run(command, NULL, argc, argv);
    values = xy_calloc(1, command->values_size);
    if (values == NULL)
        return xy_fail_memory("reading the command line");
    st = xy_options_parse(command, argc, argv, values, &count, &help);
    if (st == XY_OK && help != XY_HELP_NONE)
        xy_command_help(command, help, stdout);
    else if (st == XY_OK)
        st = command->run(command, values, count, argv);
    xy_options_cleanup(command, values);
    xy_free(values);
    return st;
}
