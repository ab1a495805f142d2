/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options as tables. One table per command gives the parser, --help, the environment variables,
 * the man page, the shell completion and docs/options.md.
 *
 *   typedef struct { bool tree; const char *svg; long depth; } values_t;
 *   static const xy_option_t options[] = {
 *       {"tree", 't', XY_OPT_FLAG, .offset = offsetof(values_t, tree), XY_COMMON("output"),
 *        .help = "print the tree"},
 *       {"svg", 0, XY_OPT_STRING, "FILE", offsetof(values_t, svg), XY_COMMON("output"),
 *        .help = "draw the tree into FILE; '-' is standard output"},
 *       {"depth", 0, XY_OPT_LONG, "N", offsetof(values_t, depth), XY_ADVANCED("tree"), .min = 1,
 *        .max = 99, .env = "XYLEM_DEPTH", .preset = "3", .help = "stop at this depth"},
 *       {0}};
 *   static const xy_command_t machine = {.name = "machine", .options = options,
 *       .values_size = sizeof(values_t), .run = run, ...};
 *
 * Order of precedence: command line, environment, preset. The values structure is zeroed first.
 */
#ifndef XY_BASE_OPTION_H
#define XY_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "base/table.h"
#include "base/vec.h"

typedef enum {
    XY_OPT_FLAG,    /* bool */
    XY_OPT_STRING,  /* const char * (points into argv, the environment or the table); `choices` and
                       `table` are what help and completion offer beside any other text */
    XY_OPT_LONG,    /* long, within [min, max] when min < max */
    XY_OPT_DOUBLE,  /* double, likewise */
    XY_OPT_SIZE,    /* uint64_t: 64K, 1MiB; likewise */
    XY_OPT_SECONDS, /* double: 20us, 1.5s; never negative */
    XY_OPT_CHOICE,  /* const char *, one of `choices` or `table` */
    XY_OPT_LIST,    /* xy_vec_t of const char *: may be repeated */
    XY_OPT_PAIRS,   /* the same with two arguments each: "-env NAME VALUE" pushes both */
    XY_OPT_IGNORED, /* accepted and without effect; takes an argument if `argument` is set */
} xy_option_kind_t;

/* Where an option is listed, and what users may rely on. A stable option keeps its name and meaning
 * until the next major version; an experimental one may change or go in any version. */
typedef enum {
    XY_LEVEL_HIDDEN,       /* an option without help */
    XY_LEVEL_COMMON,       /* stable; in --help, which has at most 35 options */
    XY_LEVEL_ADVANCED,     /* stable; in --help-all */
    XY_LEVEL_EXPERIMENTAL, /* in --help-all */
} xy_option_level_t;

/* Group and level of a row of a table. The groups of a command are listed in the order in which the
 * table first names them. */
#define XY_COMMON(name)       .group = (name), .level = XY_LEVEL_COMMON
#define XY_ADVANCED(name)     .group = (name), .level = XY_LEVEL_ADVANCED
#define XY_EXPERIMENTAL(name) .group = (name), .level = XY_LEVEL_EXPERIMENTAL

typedef struct {
    const char *name; /* without dashes; NULL ends the table */
    char letter;      /* 0: none */
    xy_option_kind_t kind;
    const char *argument; /* how help names the argument; NULL for flags */
    size_t offset;        /* of the value in the values structure */
    /* NULL: hidden. --help prints the first clause (up to ';', " (" or ". "), --help-all, the man
     * page and docs/options.md print all of it. */
    const char *help;
    const char *group; /* the heading under which it is listed */
    xy_option_level_t level;
    const char *env;            /* environment variable, or NULL */
    const char *preset;         /* default, as on the command line, or NULL */
    const char *const *choices; /* NULL-terminated */
    xy_table_t table;           /* the same from a table of strategies, or NULL */
    const char *const *aliases; /* other names, NULL-terminated, or NULL */
    double min, max;
    /* Completion of the value beside its choices: "file", "directory", a word for which the caller
     * of xy_command_complete() has a list ("machine", or "machine file" for both), or NULL. In an
     * argument named with a comma ("NAME[,...]") each item is completed. */
    const char *complete;
    /* Accepted for one more version: what to do instead, which a warning prints. NULL: it stays. An
     * option that is leaving has no help. */
    const char *leaving;
    /* Names of options, separated by spaces: this one has a meaning only if one of them is set, on
     * the command line or in the environment ("virtual", "progress=threads" for a value, "host
     * hostfile PBS_NODEFILE" where a variable does as well). Without it, it is refused on the
     * command line; in the environment it may wait for it. An option is refused from both together
     * with one that it excludes. */
    const char *needs, *excludes;
    bool may_be_empty; /* '' is a value of the text or list; it is refused otherwise */
} xy_option_t;

typedef struct {
    const char *name; /* "-x, --name" free-form entry of the man page's extra sections */
    const char *text;
} xy_section_t;

typedef struct xy_command xy_command_t;
struct xy_command {
    const char *name;        /* the verb */
    const char *summary;     /* half a line, no full stop */
    const char *synopsis;    /* the arguments after the options: "[SOURCE]" */
    const char *description; /* paragraphs separated by empty lines */
    const char *exit_status; /* of the man page; NULL: that of the verbs */
    const char *examples;    /* lines "command\n    what it shows" */
    const xy_option_t *options;
    const xy_section_t *sections; /* more of the man page, ended by {0}; or NULL */
    size_t values_size;
    long positional_min, positional_max; /* max -1: any number */
    bool stop_at_positional; /* everything after the first positional is left unparsed */
    bool single_dash;        /* "-np 4" means the long option "np" (as mpiexec's users write) */
    bool is_one_dash;        /* names have one dash and nothing else does: compilers */
    bool is_raw;          /* run() gets the arguments as they came (but --help), NULL as values */
    const char *prefix;   /* in usage lines, "xylem" when NULL; "" for a command of its own */
    const char *complete; /* completion of positionals, as that of values */
    const xy_command_t *const *subcommands; /* the first positional names one of them, or NULL */
    xy_status_t (*run)(const xy_command_t *command, const void *values, int argc, char **argv);
};

/* Its i-th choice, from its list or its table; NULL: there are no more. `i` is at most their
 * number. */
const char *xy_option_choice(const xy_option_t *option, size_t i);

/* The requested part of the help. */
typedef enum { XY_HELP_NONE, XY_HELP_COMMON, XY_HELP_ALL } xy_help_t;

/* Parse `argc` arguments; argv[0] is the first of them, not the command's name. Every command also
 * has --help (and -h unless taken) and --help-all, handled by the caller through *help_p; what
 * follows them is not parsed. Accepted are "--name value", "--name=value", "-x value", "-xvalue",
 * "-xyz" for flags, "--no-name" for flags, and "--" before positional arguments that begin with a
 * dash. On success argv[0 .. *count_p) are the positional arguments, in order (argv is permuted).
 * Errors (XY_EUSAGE) are reported with the nearest option and "see 'xylem VERB --help'"; a wrong
 * environment variable is reported by its name. Lists are freed by xy_options_cleanup, also needed
 * after a failure. */
xy_status_t xy_options_parse(const xy_command_t *command, int argc, char **argv, void *values,
                             int *count_p, xy_help_t *help_p);
void xy_options_cleanup(const xy_command_t *command, void *values);

/* Was the option given on the command line (not by environment or preset)? Valid after parse for
 * options of the last parsed command on this thread. */
bool xy_options_given(const char *name);

/* Parse, then print the help on standard output or call the command's run(). */
xy_status_t xy_command_run(const xy_command_t *command, int argc, char **argv);

/* Usage and options in groups, 80 columns wide: the common ones in a line each, or all of them with
 * all of their text. */
void xy_command_help(const xy_command_t *command, xy_help_t which, FILE *file);
/* A man page in man(7) macros. `see_also` is a list like "xylem(1), xylem-view(1)". */
void xy_command_man(const xy_command_t *command, const char *version, const char *see_also,
                    FILE *file);

/* Offers one word to the shell, with half a line about it or NULL. */
typedef void (*xy_offer_fn)(void *to, const char *word, const char *describe);
/* Offers the words of a `complete`; of "file" and "directory" none. */
typedef void (*xy_complete_fn)(const char *complete, xy_offer_fn offer, void *to);

/* Print what the last of `argc` words can become, for the scripts in tools/completion. The words
 * are those behind the command's name; argc is at least 1, and the last one may be empty. The first
 * line is "files", "directories" or "none": what the shell adds by itself, then a tab and the
 * beginning of the word that is not part of the path. Then follows one line per candidate: the
 * whole word, a tab, half a line about it. */
void xy_command_complete(const xy_command_t *command, int argc, char **argv, xy_complete_fn words,
                         FILE *file);

#endif
