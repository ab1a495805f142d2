/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options as tables. One table per command gives the parser, --help, the environment variables,
 * the man page and the shell completion.
 *
 *   typedef struct { bool tree; const char *svg; long depth; } values_t;
 *   static const xy_option_t options[] = {
 *       {"tree", 't', XY_OPT_FLAG, .offset = offsetof(values_t, tree), .help = "print the tree"},
 *       {"svg", 0, XY_OPT_STRING, "FILE", offsetof(values_t, svg), .help = "draw it"},
 *       {"depth", 0, XY_OPT_LONG, "N", offsetof(values_t, depth), .min = 1, .max = 99,
 *        .env = "XYLEM_DEPTH", .preset = "3", .help = "how deep"},
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
    XY_OPT_STRING,  /* const char * (points into argv, the environment or the table); with `table`,
                       the names that help and completion offer beside any other text */
    XY_OPT_LONG,    /* long, within [min, max] when min < max */
    XY_OPT_DOUBLE,  /* double, likewise */
    XY_OPT_SIZE,    /* uint64_t: 64K, 1MiB; likewise */
    XY_OPT_SECONDS, /* double: 20us, 1.5s; never negative */
    XY_OPT_CHOICE,  /* const char *, one of `choices` or `table` */
    XY_OPT_LIST,    /* xy_vec_t of const char *: may be repeated */
    XY_OPT_PAIRS,   /* the same with two arguments each: "-env NAME VALUE" pushes both */
    XY_OPT_IGNORED, /* accepted and without effect; takes an argument if `argument` is set */
} xy_option_kind_t;

typedef struct {
    const char *name; /* without dashes; NULL ends the table */
    char letter;      /* 0: none */
    xy_option_kind_t kind;
    const char *argument;       /* how help names the argument; NULL for flags */
    size_t offset;              /* of the value in the values structure */
    const char *help;           /* one line or more; the man page prints it too. NULL: hidden */
    const char *env;            /* environment variable, or NULL */
    const char *preset;         /* default, as on the command line, or NULL */
    const char *const *choices; /* NULL-terminated */
    xy_table_t table;           /* the same from a table of strategies, or NULL */
    const char *const *aliases; /* other names, NULL-terminated, or NULL */
    double min, max;
    const char *complete; /* completion: "file", "directory", or NULL; choices come by themselves */
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
    const char *synopsis;    /* what follows the options: "[SOURCE]" */
    const char *description; /* paragraphs separated by empty lines */
    const char *exit_status; /* of the man page; NULL: that of the verbs */
    const char *examples;    /* lines "command\n    what it shows" */
    const xy_option_t *options;
    const xy_section_t *sections; /* more of the man page, ended by {0}; or NULL */
    size_t values_size;
    long positional_min, positional_max; /* max -1: any number */
    bool stop_at_positional;             /* what follows the first positional is not parsed */
    bool single_dash;     /* "-np 4" means the long option "np" (as mpiexec's users write) */
    bool is_one_dash;     /* names have one dash and nothing else does: compilers */
    bool is_raw;          /* run() gets the arguments as they came (but --help), NULL as values */
    const char *prefix;   /* in usage lines, "xylem" when NULL; "" for a command of its own */
    const char *complete; /* completion of positionals: "file", "directory", "verb", or NULL */
    xy_status_t (*run)(const xy_command_t *command, const void *values, int argc, char **argv);
};

/* Parse `argc` arguments; argv[0] is the first of them, not the command's name. Every command also
 * has --help (and -h unless taken), handled by the caller through *help_p; what follows it is not
 * looked at. Accepted are "--name value", "--name=value", "-x value", "-xvalue", "-xyz" for flags,
 * "--no-name" for flags, and "--" before positional arguments that begin with a dash. On success
 * argv[0 .. *count_p) are the positional arguments, in order (argv is permuted). Errors (XY_EUSAGE)
 * are reported with the nearest option and "see 'xylem VERB --help'"; a wrong environment variable
 * is reported by its name. Lists are freed by xy_options_cleanup, also needed after a failure. */
xy_status_t xy_options_parse(const xy_command_t *command, int argc, char **argv, void *values,
                             int *count_p, bool *help_p);
void xy_options_cleanup(const xy_command_t *command, void *values);

/* Was the option given on the command line (not by environment or preset)? Valid after parse for
 * options of the last parsed command on this thread. */
bool xy_options_given(const char *name);

/* Parse, then print the help on standard output or call the command's run(). */
xy_status_t xy_command_run(const xy_command_t *command, int argc, char **argv);

void xy_command_help(const xy_command_t *command, FILE *file);
/* A man page in man(7) macros. `see_also` is a list like "xylem(1), xylem-view(1)". */
void xy_command_man(const xy_command_t *command, const char *version, const char *see_also,
                    FILE *file);
/* Completion for bash of a set of verbs (NULL-terminated array). */
void xy_commands_completion(const xy_command_t *const *commands, const char *program, FILE *file);

#endif
