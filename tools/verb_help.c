/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem help: what the command can do, for people and for programs. */
#include <stddef.h>
#include <xylem.h>

#include "draw/draw.h"
#include "program.h"
#include "verbs.h"

typedef struct {
    bool all, json;
} values_t;

static const xy_option_t options[] = {
    {"all", 'a', XY_OPT_FLAG, .offset = offsetof(values_t, all), XY_COMMON("options"),
     .excludes = "json", .help = "print all options of a verb in full"},
    {"json", 0, XY_OPT_FLAG, .offset = offsetof(values_t, json), XY_COMMON("options"),
     .help = "print verbs and options as JSON"},
    {0}};

/* The values that help and completion offer, and for a choice all that there are. */
static void json_choices(xy_json_t *json, const xy_option_t *option)
{
    const char *choice;

    xy_json_begin_array(json, "choices");
    for (size_t i = 0; (choice = xy_option_choice(option, i)) != NULL; i++)
        xy_json_string(json, NULL, choice);
    xy_json_end(json);
}

/* Writes an option as a JSON object. */
static void json_option(xy_json_t *json, const xy_option_t *option)
{
    static const char *const levels[] = {[XY_LEVEL_HIDDEN] = "hidden",
                                         [XY_LEVEL_COMMON] = "common",
                                         [XY_LEVEL_ADVANCED] = "advanced",
                                         [XY_LEVEL_EXPERIMENTAL] = "experimental"};
    static const char *const kinds[] = {
        [XY_OPT_FLAG] = "flag",       [XY_OPT_STRING] = "text", [XY_OPT_LONG] = "whole",
        [XY_OPT_DOUBLE] = "number",   [XY_OPT_SIZE] = "size",   [XY_OPT_SECONDS] = "time",
        [XY_OPT_CHOICE] = "choice",   [XY_OPT_LIST] = "list",   [XY_OPT_PAIRS] = "pairs",
        [XY_OPT_IGNORED] = "ignored",
    };
    char letter[2] = {option->letter, '\0'};

    xy_json_begin_object(json, NULL);
    xy_fields(json, "name %s letter %s", option->name, option->letter != 0 ? letter : NULL);
    xy_json_begin_array(json, "aliases");
    for (const char *const *a = option->aliases; a != NULL && *a != NULL; a++)
        xy_json_string(json, NULL, *a);
    xy_json_end(json);
    xy_fields(json, "group %s level %s argument %s kind %s", option->group, levels[option->level],
              option->argument, kinds[option->kind]);
    if (option->min < option->max)
        xy_fields(json, "min %g max %g", option->min, option->max);
    json_choices(json, option);
    xy_fields(json,
              "complete %s needs %s excludes %s may_be_empty %i environment %s default %s help %s",
              option->complete, option->needs, option->excludes, option->may_be_empty, option->env,
              option->preset, option->help);
    xy_json_end(json);
}

/* Writes a verb with its options and subcommands. */
static void json_verb(xy_json_t *json, const xy_command_t *verb)
{
    xy_json_begin_object(json, NULL);
    xy_fields(json, "name %s summary %s synopsis %s", verb->name, verb->summary, verb->synopsis);
    xy_json_begin_array(json, "options");
    for (const xy_option_t *o = verb->options; o != NULL && o->name != NULL; o++)
        if (o->help != NULL)
            json_option(json, o);
    xy_json_end(json);
    if (verb->subcommands != NULL) {
        xy_json_begin_array(json, "verbs");
        for (const xy_command_t *const *c = verb->subcommands; *c != NULL; c++)
            json_verb(json, *c);
        xy_json_end(json);
    }
    xy_json_end(json);
}

/* Writes one verb, or all, as JSON. */
static void print_json(const xy_command_t *only)
{
    xy_json_t json;

    xy_json_init(&json, stdout, true);
    xy_json_begin_object(&json, NULL);
    xy_json_string(&json, "version", xylem_version());
    xy_json_begin_array(&json, "verbs");
    for (size_t i = 0; verbs[i] != NULL; i++)
        if (only == NULL || only == verbs[i])
            json_verb(&json, verbs[i]);
    xy_json_end(&json);
    xy_json_end(&json);
}

/* Entry point of 'xylem help'. */
static xy_status_t run(const xy_command_t *command, const void *values_p, int argc, char **argv)
{
    const values_t *values = values_p;
    xy_help_t which = values->all ? XY_HELP_ALL : XY_HELP_COMMON;
    const xy_command_t *verb = NULL;
    xy_status_t st;

    (void)command;
    if (argc > 0) {
        st = verb_find(argv[0], &verb);
        if (st != XY_OK)
            return st;
    }
    if (values->json)
        print_json(verb);
    else if (verb != NULL)
        xy_command_help(verb, which, stdout);
    else
        program_help(which, stdout);
    return XY_OK;
}

const xy_command_t verb_help = {
    .name = "help",
    .summary = "describe xylem or one of its verbs",
    .synopsis = "[VERB]",
    .description = "Without an argument, lists the verbs. With one, describes it and its options.",
    .examples = "xylem help\n    the table of verbs\n"
                "xylem help --json\n    all verbs and options, for programs",
    .options = options,
    .values_size = sizeof(values_t),
    .positional_max = 1,
    .complete = "verb",
    .run = run,
};
