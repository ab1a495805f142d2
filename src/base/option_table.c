/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/option_table.h"

#include <string.h>

const xy_option_t base_option_help = {.name = "help",
                                      .letter = 'h',
                                      .kind = XY_OPT_FLAG,
                                      .help = "print the common options and exit"};
const xy_option_t base_option_help_all = {
    .name = "help-all", .kind = XY_OPT_FLAG, .help = "print all options in full and exit"};

bool base_option_is_help(const xy_option_t *option)
{
    return option == &base_option_help || option == &base_option_help_all;
}

const xy_option_t *base_option_by_letter(const xy_command_t *command, char letter)
{
    for (const xy_option_t *o = command->options; o != NULL && o->name != NULL; o++)
        if (o->letter == letter)
            return o;
    return letter == base_option_help.letter ? &base_option_help : NULL;
}

static bool is_name(const char *candidate, const char *name, size_t n)
{
    return strncmp(candidate, name, n) == 0 && candidate[n] == '\0';
}

const xy_option_t *base_option_by_name(const xy_command_t *command, const char *name, size_t n)
{
    for (const xy_option_t *o = command->options; o != NULL && o->name != NULL; o++) {
        if (is_name(o->name, name, n))
            return o;
        for (const char *const *alias = o->aliases; alias != NULL && *alias != NULL; alias++)
            if (is_name(*alias, name, n))
                return o;
    }
    if (is_name(base_option_help_all.name, name, n))
        return &base_option_help_all;
    return is_name(base_option_help.name, name, n) ? &base_option_help : NULL;
}

bool base_option_is_optional(const xy_option_t *option)
{
    return option->kind == XY_OPT_STRING && option->argument != NULL &&
           strncmp(option->argument, "[=", 2) == 0;
}

int base_option_arity(const xy_option_t *option)
{
    if (base_option_is_optional(option))
        return 0;
    switch (option->kind) {
    case XY_OPT_FLAG:
        return 0;
    case XY_OPT_PAIRS:
        return 2;
    case XY_OPT_IGNORED:
        return option->argument != NULL;
    default:
        return 1;
    }
}

const char *base_option_argument(const xy_option_t *option)
{
    static const char *const names[] = {
        [XY_OPT_FLAG] = "",         [XY_OPT_STRING] = "TEXT", [XY_OPT_LONG] = "N",
        [XY_OPT_DOUBLE] = "X",      [XY_OPT_SIZE] = "SIZE",   [XY_OPT_SECONDS] = "TIME",
        [XY_OPT_CHOICE] = "CHOICE", [XY_OPT_LIST] = "TEXT",   [XY_OPT_PAIRS] = "NAME VALUE",
        [XY_OPT_IGNORED] = "",
    };

    return option->argument != NULL ? option->argument : names[option->kind];
}

const char *xy_option_choice(const xy_option_t *option, size_t i)
{
    if (option->choices != NULL)
        return option->choices[i];
    return option->table != NULL ? xy_table_name(option->table, i) : NULL;
}

const char *base_option_dashes(const xy_command_t *command, const char *name)
{
    bool is_letter = command->single_dash && name[1] == '\0';

    return command->is_one_dash || is_letter ? "-" : "--";
}

size_t base_option_brief(const xy_option_t *option)
{
    static const char *const ends[] = {";", " (", ". "};
    size_t n = strlen(option->help);

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        const char *end = strstr(option->help, ends[i]);

        if (end != NULL && (size_t)(end - option->help) < n)
            n = (size_t)(end - option->help);
    }
    return n;
}

static bool is_listed(const xy_option_t *option, const char *group, xy_option_level_t level)
{
    return option->help != NULL && option->level <= level && option->group != NULL &&
           (group == NULL || strcmp(option->group, group) == 0);
}

void base_option_visit(const xy_command_t *command, xy_option_level_t level,
                       void (*heading)(const char *group, FILE *file),
                       void (*row)(const xy_command_t *command, const xy_option_t *option,
                                   xy_option_level_t level, FILE *file),
                       FILE *file)
{
    const xy_option_t *all = command->options;

    for (const xy_option_t *first = all; first != NULL && first->name != NULL; first++) {
        const xy_option_t *o = all;

        if (!is_listed(first, NULL, level))
            continue;
        while (!is_listed(o, first->group, level))
            o++;
        if (o != first)
            continue;
        heading(first->group, file);
        for (; o->name != NULL; o++)
            if (is_listed(o, first->group, level))
                row(command, o, level, file);
    }
}

bool base_option_lists_choices(const xy_option_t *option)
{
    const char *choice;

    for (size_t i = 0; (choice = xy_option_choice(option, i)) != NULL; i++)
        if (option->help == NULL || strstr(option->help, choice) == NULL)
            return true;
    return false;
}

bool base_option_states_default(const xy_option_t *option)
{
    return option->help != NULL && strstr(option->help, "(default: ") != NULL;
}

char *base_command_call(const xy_command_t *command, char *buffer, size_t size)
{
    const char *prefix = command->prefix != NULL ? command->prefix : "xylem";

    snprintf(buffer, size, "%s%s%s", prefix, *prefix != '\0' ? " " : "", command->name);
    return buffer;
}
