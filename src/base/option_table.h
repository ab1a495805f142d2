/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parser and the three printers of option tables share. Private to the component. */
#ifndef XY_BASE_OPTION_TABLE_H
#define XY_BASE_OPTION_TABLE_H

#include "base/option.h"

/* The option every command has besides its table. */
extern const xy_option_t base_option_help;

/* The option with this letter or name (aliases count), the implied --help included, or NULL. */
const xy_option_t *base_option_by_letter(const xy_command_t *command, char letter);
const xy_option_t *base_option_by_name(const xy_command_t *command, const char *name, size_t n);

/* A text whose value may be left out, and is "" then: its argument is called "[=TEXT]", and what
 * follows the option on the command line is not taken for it. */
bool base_option_is_optional(const xy_option_t *option);

/* How many arguments it takes besides one that is attached: 0, 1 or 2. */
int base_option_arity(const xy_option_t *option);

/* What its help calls the argument. */
const char *base_option_argument(const xy_option_t *option);

/* How a name is written: "--name", and "-n" for the one-letter names of single-dash commands. */
const char *base_option_dashes(const xy_command_t *command, const char *name);

/* Whether its choices still have to be listed: not where the help explains each of them. */
bool base_option_lists_choices(const xy_option_t *option);

/* Its i-th choice, from its list or its table; NULL: there are no more. `i` is at most their
 * number.
 */
const char *base_option_choice(const xy_option_t *option, size_t i);

/* "xylem machine": how the command is called. `size` bytes of buffer; returned. */
char *base_command_call(const xy_command_t *command, char *buffer, size_t size);

#endif
