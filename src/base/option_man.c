/* SPDX-License-Identifier: BSD-3-Clause */
/* Man pages in the macros of man(7), understood by groff and mandoc alike. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/option_table.h"
#include "base/text.h"

/* One character of running text. Dashes are meant as typed; the others have a meaning to roff. */
static void put_char(FILE *file, char c)
{
    switch (c) {
    case '\\':
        fputs("\\e", file);
        break;
    case '-':
        fputs("\\-", file);
        break;
    case '\'':
        fputs("\\(aq", file);
        break;
    case '`':
        fputs("\\(ga", file);
        break;
    case '^':
        fputs("\\(ha", file);
        break;
    case '~':
        fputs("\\(ti", file);
        break;
    default:
        putc(c, file);
    }
}

static void put_text(FILE *file, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_char(file, s[i]);
}

static void put_string(FILE *file, const char *s)
{
    put_text(file, s, strlen(s));
}

/* Text that starts a line: it must not read as a macro. */
static void put_line(FILE *file, const char *text, size_t n)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", file);
    put_text(file, text, n);
    putc('\n', file);
}

/* Paragraphs separated by empty lines. "- term: text" is an entry of a list. */
static void put_paragraphs(FILE *file, const char *text)
{
    bool first = true;
    size_t n, term;

    while (*text != '\0') {
        text += strspn(text, " \n");
        n = strcspn(text, "\n");
        if (n == 0)
            break;
        term = strncmp(text, "- ", 2) == 0 ? strcspn(text, ":\n") : n;
        if (term < n) {
            fputs(".TP\n\\fB", file);
            put_text(file, text + 2, term - 2);
            fputs("\\fR\n", file);
            text += term + 1 + strspn(text + term + 1, " ");
            n = strcspn(text, "\n");
        } else if (!first && text[-1] == '\n' && text[-2] == '\n') {
            fputs(".PP\n", file);
        }
        put_line(file, text, n);
        text += n;
        first = false;
    }
}

/* The help of an option is the beginning of a sentence; here others follow it. */
static void put_sentences(FILE *file, const char *text)
{
    size_t n = strlen(text);
    char *sentence = xy_sprintf("%c%s%s", toupper((unsigned char)text[0]), text + 1,
                                n > 0 && text[n - 1] != '.' ? "." : "");

    put_paragraphs(file, sentence != NULL ? sentence : text);
    xy_free(sentence);
}

static void put_heading(FILE *file, const char *name)
{
    fputs(".SH ", file);
    for (const char *c = name; *c != '\0'; c++)
        put_char(file, (char)toupper((unsigned char)*c));
    putc('\n', file);
}

/* In a sentence; the entries of a table one by one, with what they do. */
static void put_choices(FILE *file, const xy_option_t *option)
{
    const char *choice;

    for (size_t i = 0; (choice = xy_option_choice(option, i)) != NULL; i++) {
        if (option->choices != NULL)
            fputs(i == 0 ? "One of \\fB" : "\\fR, \\fB", file);
        else
            fputs(i == 0 ? "One of\n.br\n\\fB" : ".br\n\\fB", file);
        put_string(file, choice);
        if (option->choices == NULL) {
            fputs("\\fR: ", file);
            put_string(file, xy_table_describe(option->table, i));
            putc('\n', file);
        }
    }
    if (option->choices != NULL)
        fputs("\\fR.\n", file);
    else if (option->table != NULL)
        fputs(".br\n", file);
}

/* Write the entry of an option: its names, argument, help text, choices, default and environment
 * variable. */
static void put_option(const xy_command_t *command, const xy_option_t *option,
                       xy_option_level_t level, FILE *file)
{
    const char *argument = base_option_argument(option);

    (void)level;
    fputs(".TP\n\\fB", file);
    if (option->letter != 0 && base_option_by_letter(command, option->letter) == option) {
        fprintf(file, "\\-%c\\fR, \\fB", option->letter);
    }
    put_string(file, base_option_dashes(command, option->name));
    put_string(file, option->name);
    for (const char *const *alias = option->aliases; alias != NULL && *alias != NULL; alias++) {
        fputs("\\fR, \\fB", file);
        put_string(file, base_option_dashes(command, *alias));
        put_string(file, *alias);
    }
    fputs("\\fR", file);
    if (*argument != '\0') {
        fputs(base_option_is_optional(option) ? "\\fI" : " \\fI", file);
        put_string(file, argument);
        fputs("\\fR", file);
    }
    putc('\n', file);
    put_sentences(file, option->help);
    if (base_option_lists_choices(option))
        put_choices(file, option);
    if (option->preset != NULL && !base_option_states_default(option)) {
        fputs("Default: ", file);
        put_string(file, option->preset);
        fputs(".\n", file);
    }
    if (option->env != NULL) {
        fputs("Environment: ", file);
        put_string(file, option->env);
        fputs(".\n", file);
    }
    if (!base_option_is_help(option))
        fputs(option->level == XY_LEVEL_EXPERIMENTAL ? "Experimental.\n" : "Stable.\n", file);
}

static void put_group(const char *group, FILE *file)
{
    fprintf(file, ".SS %c%s\n", toupper((unsigned char)group[0]), group + 1);
}

/* The options in groups, the implied ones first. */
static void put_options(FILE *file, const xy_command_t *command)
{
    if (!command->is_one_dash) {
        put_option(command, &base_option_help, XY_LEVEL_COMMON, file);
        put_option(command, &base_option_help_all, XY_LEVEL_COMMON, file);
    }
    base_option_visit(command, XY_LEVEL_EXPERIMENTAL, put_group, put_option, file);
}

/* Write the section ENVIRONMENT, a line for each variable; commands whose options have none get no
 * section. */
static void put_environment(FILE *file, const xy_command_t *command)
{
    bool first = true;

    for (const xy_option_t *o = command->options; o != NULL && o->name != NULL; o++) {
        if (o->env == NULL || o->help == NULL)
            continue;
        if (first)
            fputs(".SH ENVIRONMENT\nA variable sets its option unless the command line does.\n",
                  file);
        first = false;
        fputs(".TP 28\n\\fB", file);
        put_string(file, o->env);
        fputs("\\fR\n\\fB", file);
        put_string(file, base_option_dashes(command, o->name));
        put_string(file, o->name);
        fputs("\\fR\n", file);
    }
}

/* Examples keep their lines. */
static void put_examples(FILE *file, const char *text)
{
    size_t n;

    fputs(".nf\n", file);
    while (*text != '\0') {
        n = strcspn(text, "\n");
        if (n > 0)
            put_line(file, text, n);
        else
            fputs("\\&\n", file);
        text += n + (text[n] == '\n');
    }
    fputs(".fi\n", file);
}

static void put_sections(FILE *file, const xy_section_t *section)
{
    for (; section != NULL && section->name != NULL; section++) {
        put_heading(file, section->name);
        put_paragraphs(file, section->text);
    }
}

/* "xylem machine" is described in xylem-machine(1). */
static void put_page_name(FILE *file, const xy_command_t *command, bool upper)
{
    const char *prefix = command->prefix != NULL ? command->prefix : "xylem";
    char name[128];

    snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix != '\0' ? "-" : "", command->name);
    for (const char *c = name; *c != '\0'; c++)
        put_char(file, upper ? (char)toupper((unsigned char)*c) : *c);
}

/* The day the page was made; a build that must be reproducible names it by SOURCE_DATE_EPOCH. */
static void put_date(FILE *file)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t when = time(NULL);
    char date[16] = "";
    struct tm day;
    long seconds;

    if (epoch != NULL && xy_parse_long(epoch, &seconds))
        when = (time_t)seconds;
    if (gmtime_r(&when, &day) != NULL)
        strftime(date, sizeof(date), "%Y-%m-%d", &day);
    fprintf(file, " 1 \"%s\"", date);
}

/* Write the title line and the sections NAME and SYNOPSIS. */
static void put_head(FILE *file, const xy_command_t *command, const char *version)
{
    char call[128];

    fputs(".TH ", file);
    put_page_name(file, command, true);
    put_date(file);
    fprintf(file, " \"Xylem %s\" \"Xylem manual\"\n.SH NAME\n", version);
    put_page_name(file, command, false);
    fputs(" \\- ", file);
    put_string(file, command->summary);
    fputs("\n.SH SYNOPSIS\n\\fB", file);
    put_string(file, base_command_call(command, call, sizeof(call)));
    fputs("\\fR [\\fIOPTION\\fR]...", file);
    if (command->synopsis != NULL) {
        putc(' ', file);
        put_string(file, command->synopsis);
    }
    putc('\n', file);
}

/* Each subcommand has a section with its description, options and examples. */
static void put_subcommands(FILE *file, const xy_command_t *const *subcommands)
{
    char call[128];

    for (; subcommands != NULL && *subcommands != NULL; subcommands++) {
        put_heading(file, base_command_call(*subcommands, call, sizeof(call)));
        put_paragraphs(file, (*subcommands)->description);
        put_options(file, *subcommands);
        if ((*subcommands)->examples != NULL) {
            fputs(".SS Examples\n", file);
            put_examples(file, (*subcommands)->examples);
        }
    }
}

void xy_command_man(const xy_command_t *command, const char *version, const char *see_also,
                    FILE *file)
{
    put_head(file, command, version);
    if (command->description != NULL) {
        fputs(".SH DESCRIPTION\n", file);
        put_paragraphs(file, command->description);
    }
    fputs(".SH OPTIONS\n", file);
    if (command->options != NULL || command->subcommands != NULL)
        put_paragraphs(file, "A stable option keeps its name and meaning until the next major "
                             "version; an experimental one may change in any version.");
    put_options(file, command);
    put_subcommands(file, command->subcommands);
    put_sections(file, command->sections);
    put_environment(file, command);
    fputs(".SH EXIT STATUS\n", file);
    put_paragraphs(file, command->exit_status != NULL
                             ? command->exit_status
                             : "0 on success, 2 if the command line is wrong, 1 for any other "
                               "failure.");
    if (command->examples != NULL) {
        fputs(".SH EXAMPLES\n", file);
        put_examples(file, command->examples);
    }
    if (see_also != NULL && *see_also != '\0') {
        fputs(".SH SEE ALSO\n", file);
        put_paragraphs(file, see_also);
    }
}
