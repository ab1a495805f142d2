/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion: the shells ask the command itself, so that all of them offer what the tables have.
 *
 *   $ xylem --complete mpiexec -n 4 --progress=t
 *   none
 *   --progress=tasks
 *   --progress=threads
 */
#include <string.h>

#include "base/option_table.h"
#include "base/text.h"

/* Where the last word stands. */
typedef struct {
    const xy_command_t *command;
    const xy_option_t *option; /* the option that takes the value; NULL: none */
    bool is_positional;        /* options have ended */
} place_t;

/* The candidates for one word: those that begin as it does. */
typedef struct {
    const char *typed; /* the whole word */
    size_t fixed;      /* bytes of it in front of what is completed: "--net=" */
    FILE *file;
} answer_t;

/* Print a candidate behind the fixed part of the word if it begins as the rest does. */
static void offer(void *to, const char *word, const char *describe)
{
    const answer_t *answer = to;
    const char *typed = answer->typed + answer->fixed;

    if (strncmp(word, typed, strlen(typed)) == 0)
        fprintf(answer->file, "%.*s%s\t%s\n", (int)answer->fixed, answer->typed, word,
                describe != NULL ? describe : "");
}

/* The first line: what the shell adds. */
static void put_kind(const answer_t *answer, const char *complete)
{
    const char *kind = "none";

    if (complete != NULL && strstr(complete, "file") != NULL)
        kind = "files";
    else if (complete != NULL && strcmp(complete, "directory") == 0)
        kind = "directories";
    fprintf(answer->file, "%s\t%.*s\n", kind, (int)answer->fixed, answer->typed);
}

/* Words of the kind `complete` that the caller knows. */
static void offer_kind(answer_t *answer, const char *complete, xy_complete_fn words)
{
    if (complete != NULL && words != NULL)
        words(complete, offer, answer);
}

/* The choices of an option, and its default where that is none of them ("auto"). */
static void offer_choices(answer_t *answer, const xy_option_t *option)
{
    bool is_table = option->choices == NULL && option->table != NULL, is_listed = false;
    const char *choice;

    for (size_t i = 0; (choice = xy_option_choice(option, i)) != NULL; i++) {
        offer(answer, choice, is_table ? xy_table_describe(option->table, i) : NULL);
        is_listed |= option->preset != NULL && strcmp(choice, option->preset) == 0;
    }
    if (option->preset != NULL && xy_option_choice(option, 0) != NULL && !is_listed)
        offer(answer, option->preset, "the default");
}

/* The value of an option; `fixed` bytes of the word are in front of it. */
static void complete_value(answer_t *answer, const xy_option_t *option, xy_complete_fn words)
{
    const char *argument = base_option_argument(option), *cut;

    if (strchr(argument, ',') != NULL) {
        cut = strrchr(answer->typed + answer->fixed, ',');
        answer->fixed = cut != NULL ? (size_t)(cut + 1 - answer->typed) : answer->fixed;
    }
    if (strstr(argument, "=]") != NULL) { /* "[COLLECTIVE=]PLACE": the place */
        cut = strrchr(answer->typed + answer->fixed, '=');
        answer->fixed = cut != NULL ? (size_t)(cut + 1 - answer->typed) : answer->fixed;
    }
    put_kind(answer, option->complete);
    offer_choices(answer, option);
    offer_kind(answer, option->complete, words);
}

/* Offer "--name" with the first clause of its help; a name "cc=COMPILER" as "-cc=". */
static void offer_name(answer_t *answer, const xy_command_t *command, const char *name,
                       const xy_option_t *option)
{
    bool is_one = command->single_dash && answer->typed[0] == '-' && answer->typed[1] != '-' &&
                  answer->typed[1] != '\0';
    char word[128], brief[160];
    size_t n = strcspn(name, "=");

    snprintf(word, sizeof(word), "%s%.*s", is_one ? "-" : base_option_dashes(command, name),
             (int)(n + (name[n] == '=')), name);
    snprintf(brief, sizeof(brief), "%.*s", (int)base_option_brief(option), option->help);
    offer(answer, word, brief);
}

/* All options; other names of one only where more than a dash of them is typed. */
static void complete_names(answer_t *answer, const xy_command_t *command)
{
    bool is_begun = answer->typed[strspn(answer->typed, "-")] != '\0';

    put_kind(answer, command->is_one_dash ? "file" : NULL);
    for (const xy_option_t *o = command->options; o != NULL && o->name != NULL; o++) {
        if (o->help == NULL)
            continue;
        offer_name(answer, command, o->name, o);
        for (const char *const *a = o->aliases; is_begun && a != NULL && *a != NULL; a++)
            offer_name(answer, command, *a, o);
    }
    if (command->is_one_dash)
        return;
    offer_name(answer, command, base_option_help.name, &base_option_help);
    offer_name(answer, command, base_option_help_all.name, &base_option_help_all);
}

static void complete_positional(answer_t *answer, const xy_command_t *command, xy_complete_fn words)
{
    put_kind(answer, command->complete);
    for (const xy_command_t *const *c = command->subcommands; c != NULL && *c != NULL; c++)
        offer(answer, (*c)->name, (*c)->summary);
    offer_kind(answer, command->complete, words);
}

/* The option of a word that begins with a dash, or NULL; *has_value_p: its value is attached. */
static const xy_option_t *find_option(const xy_command_t *command, const char *word,
                                      bool *has_value_p)
{
    size_t dashes = word[1] == '-' ? 2 : 1, n = strcspn(word + dashes, "=");
    const xy_option_t *option = NULL;

    *has_value_p = word[dashes + n] == '=';
    if (dashes == 2 || command->single_dash || command->is_one_dash)
        option = base_option_by_name(command, word + dashes, n);
    if (option == NULL && dashes == 1) {
        option = base_option_by_letter(command, word[1]);
        *has_value_p = word[2] != '\0';
    }
    return option;
}

static const xy_command_t *find_subcommand(const xy_command_t *command, const char *name)
{
    for (const xy_command_t *const *c = command->subcommands; c != NULL && *c != NULL; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

/* Step over one word in front of the last; returns how many more belong to it. */
static int step(place_t *place, const char *word)
{
    const xy_command_t *command = place->command, *sub;
    bool has_value;

    if (place->is_positional) {
        /* ':' begins another program of a job, with its own options. */
        if (command->single_dash && strcmp(word, ":") == 0)
            place->is_positional = false;
        return 0;
    }
    if (word[0] != '-' || word[1] == '\0') {
        sub = find_subcommand(command, word);
        place->command = sub != NULL ? sub : command;
        place->is_positional = sub == NULL && command->stop_at_positional;
        return 0;
    }
    if (strcmp(word, "--") == 0) {
        place->is_positional = true;
        return 0;
    }
    place->option = find_option(command, word, &has_value);
    return place->option != NULL && !has_value ? base_option_arity(place->option) : 0;
}

void xy_command_complete(const xy_command_t *command, int argc, char **argv, xy_complete_fn words,
                         FILE *file)
{
    place_t place = {.command = command};
    answer_t answer = {.typed = argv[argc - 1], .file = file};
    bool has_value = false;
    int more = 0;

    for (int i = 0; i < argc - 1; i++)
        more = more > 0 ? more - 1 : step(&place, argv[i]);
    if (more > 0) {
        complete_value(&answer, place.option, words);
        return;
    }
    if (place.is_positional || answer.typed[0] != '-') {
        complete_positional(&answer, place.command, words);
        return;
    }
    place.option = find_option(place.command, answer.typed, &has_value);
    if (place.option != NULL && has_value && strchr(answer.typed, '=') != NULL) {
        answer.fixed = (size_t)(strchr(answer.typed, '=') + 1 - answer.typed);
        complete_value(&answer, place.option, words);
        return;
    }
    complete_names(&answer, place.command);
}
