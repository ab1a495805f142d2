/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the parser and the printers of option tables. Private to the component. */
#ifndef XY_BASE_OPTION_TABLE_H
#define XY_BASE_OPTION_TABLE_H

#include "base/option.h"

/* The options that every command has besides its table. */
extern const xy_option_t base_option_help, base_option_help_all;

/* Is it one of these two? */
bool base_option_is_help(const xy_option_t *option);

/* The option with this letter or name (aliases count), the implied ones included, or NULL. */
const xy_option_t *base_option_by_letter(const xy_command_t *command, char letter);
const xy_option_t *base_option_by_name(const xy_command_t *command, const char *name, size_t n);

/* A text whose value may be left out, and is "" then: its argument is called "[=TEXT]", and what
 * follows the option on the command line is not taken for it. */
bool base_option_is_optional(const xy_option_t *option);

/* How many arguments it takes besides one that is attached: 0, 1 or 2. */
int base_option_arity(const xy_option_t *option);

/* The name of its argument in the help. */
const char *base_option_argument(const xy_option_t *option);

/* How a name is written: "--name", and "-n" for the one-letter names of single-dash commands. */
const char *base_option_dashes(const xy_command_t *command, const char *name);

/* The length of the first clause of its help. */
size_t base_option_brief(const xy_option_t *option);

/* Calls `heading` for each group that has an option up to `level`, in the order of the table, and
 * `row` for each of these options. */
void base_option_visit(const xy_command_t *command, xy_option_level_t level,
                       void (*heading)(const char *group, FILE *file),
                       void (*row)(const xy_command_t *command, const xy_option_t *option,
                                   xy_option_level_t level, FILE *file),
                       FILE *file);

/* Whether its choices still have to be listed: not where the help explains each of them. */
bool base_option_lists_choices(const xy_option_t *option);

/* Whether its help explains the default, so that the value of the table is not printed. */
bool base_option_states_default(const xy_option_t *option);

/* "xylem machine": how the command is called. `size` bytes of buffer; returned. */
char *base_command_call(const xy_command_t *command, char *buffer, size_t size);

#endif
