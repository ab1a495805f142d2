/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of --help and --help-all: 80 columns, a line or a paragraph per option. */
#include <ctype.h>
#include <string.h>

#include "base/option_table.h"
#include "base/text.h"

enum { WIDTH = 80, INDENT = 28 };

/* Columns of `n` bytes: the continuation bytes of UTF-8 take none. */
static int columns(const char *s, size_t n)
{
    int count = 0;

    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)s[i] & 0xc0) != 0x80;
    return count;
}

/* Words of `text` filled into lines that start at column `indent`; the cursor is at `column`.
 * Empty lines between paragraphs are kept. */
static void fill(FILE *file, const char *text, int indent, int column)
{
    bool first = true;
    size_t blanks, n;

    while (text != NULL && *text != '\0') {
        blanks = strspn(text, " \n");
        if (!first && memmem(text, blanks, "\n\n", 2) != NULL) {
            fputs("\n\n", file);
            column = 0;
        }
        text += blanks;
        n = strcspn(text, " \n");
        if (n == 0)
            break;
        if (column > indent && column + 1 + columns(text, n) > WIDTH) {
            putc('\n', file);
            column = 0;
        }
        if (column <= indent)
            column += fprintf(file, "%*s", indent - column, "");
        else
            column += fprintf(file, " ");
        fwrite(text, 1, n, file);
        column += columns(text, n);
        text += n;
        first = false;
    }
    putc('\n', file);
}

/* Choices, default, environment and stability, which every option states in the same words. */
static void add_facts(const xy_option_t *option, xy_text_t *text)
{
    bool lists = base_option_lists_choices(option);
    const char *between = " (", *choice;

    for (size_t i = 0; lists && (choice = xy_option_choice(option, i)) != NULL; i++) {
        xy_text_addf(text, "%s%s", i == 0 ? " (one of " : ", ", choice);
        between = "; ";
    }
    if (option->preset != NULL && !base_option_states_default(option)) {
        xy_text_addf(text, "%sdefault %s", between, option->preset);
        between = "; ";
    }
    if (option->env != NULL) {
        xy_text_addf(text, "%senvironment %s", between, option->env);
        between = "; ";
    }
    if (option->level == XY_LEVEL_EXPERIMENTAL) {
        xy_text_addf(text, "%sexperimental", between);
        between = "; ";
    }
    if (between[0] == ';')
        xy_text_add(text, ")");
}

/* The first clause of the help, and the default if both fit in one line. */
static void add_brief(const xy_option_t *option, xy_text_t *text)
{
    size_t n = base_option_brief(option);

    xy_text_addf(text, "%.*s", (int)n, option->help);
    if (option->preset != NULL &&
        columns(option->help, n) + (int)strlen(option->preset) + 11 <= WIDTH - INDENT)
        xy_text_addf(text, " (default %s)", option->preset);
}

/* Room for "-x, " in front of all names, where one of them has a letter. */
static int lead_of(const xy_command_t *command)
{
    for (const xy_option_t *o = command->options; o != NULL && o->name != NULL; o++)
        if (o->letter != 0 && o->help != NULL)
            return 6;
    return command->single_dash || command->is_one_dash ? 2 : 6;
}

/* Print the entry of an option, with the short text for --help or the full one with its facts for
 * --help-all. */
static void print_option(const xy_command_t *command, const xy_option_t *option,
                         xy_option_level_t level, FILE *file)
{
    const char *argument = base_option_argument(option);
    xy_text_t text = XY_TEXT_INIT;
    int lead = lead_of(command), column;

    /* The implied -h yields to an option that has this letter. */
    if (option->letter != 0 && base_option_by_letter(command, option->letter) == option)
        column = fprintf(file, "  -%c, ", option->letter);
    else
        column = fprintf(file, "%*s", lead, "");
    column += fprintf(file, "%s%s%s%s", base_option_dashes(command, option->name), option->name,
                      *argument != '\0' && !base_option_is_optional(option) ? " " : "", argument);
    if (column + 2 > INDENT) {
        putc('\n', file);
        column = 0;
    }
    if (level == XY_LEVEL_COMMON) {
        add_brief(option, &text);
    } else {
        xy_text_add(&text, option->help);
        add_facts(option, &text);
    }
    fill(file, text.failed ? option->help : text.s, INDENT, column);
    xy_text_cleanup(&text);
}

static void print_heading(const char *group, FILE *file)
{
    fprintf(file, "\n%c%s:\n", toupper((unsigned char)group[0]), group + 1);
}

/* Lines as they are, two columns to the right. */
static void print_lines(const char *text, FILE *file)
{
    size_t n;

    while (*text != '\0') {
        n = strcspn(text, "\n");
        fprintf(file, "%s%.*s\n", n > 0 ? "  " : "", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

void xy_command_help(const xy_command_t *command, xy_help_t which, FILE *file)
{
    xy_option_level_t level = which == XY_HELP_ALL ? XY_LEVEL_EXPERIMENTAL : XY_LEVEL_COMMON;
    char call[128];

    fprintf(file, "Usage: %s [OPTION]...%s%s\n\n", base_command_call(command, call, sizeof(call)),
            command->synopsis != NULL ? " " : "",
            command->synopsis != NULL ? command->synopsis : "");
    fprintf(file, "%c%s.\n", toupper((unsigned char)command->summary[0]), command->summary + 1);
    if (command->description != NULL) {
        putc('\n', file);
        fill(file, command->description, 0, 0);
    }
    base_option_visit(command, level, print_heading, print_option, file);
    if (!command->is_one_dash) {
        print_heading("help", file);
        print_option(command, &base_option_help, level, file);
        print_option(command, &base_option_help_all, level, file);
    }
    if (command->examples != NULL) {
        print_heading("examples", file);
        print_lines(command->examples, file);
    }
}
