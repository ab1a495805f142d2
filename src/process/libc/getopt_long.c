/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * getopt, getopt_long and getopt_long_only with one state per process.
 *
 * The C library keeps the position inside a group of short options in a private variable, so
 * the functions are written here, after their manual: operands are moved behind the options as they
 * are met, unless the option string begins with '+' or POSIXLY_CORRECT is set; '-' gives operands
 * out as the argument of option 1; "--" ends the options.
 *
 *   argv:  x -a y -b       first met operands [first, last) wait to be moved:
 *          ^ first=1       x y stay together and go behind each option that is found
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

typedef struct {
    process_t *process;
    int argc;
    char **argv;
    const char *letters; /* without the leading '+' or '-' */
    enum { PERMUTE, REQUIRE_ORDER, RETURN_IN_ORDER } ordering;
    const struct option *options; /* or NULL */
    bool is_long_only;
    char **optarg;
    int *optind, *optopt;
    bool says; /* messages are wanted */
} scan_t;

/* Move the operands [first, last) behind the options [last, optind). */
static void exchange(scan_t *scan)
{
    process_t *p = scan->process;
    int operands = p->getopt_last - p->getopt_first, options = *scan->optind - p->getopt_last;

    for (int i = 0; i < options; i++) {
        char *moved = scan->argv[p->getopt_last + i];

        memmove(&scan->argv[p->getopt_first + i + 1], &scan->argv[p->getopt_first + i],
                (size_t)operands * sizeof(char *));
        scan->argv[p->getopt_first + i] = moved;
    }
    p->getopt_first += options;
    p->getopt_last = *scan->optind;
}

static bool is_operand(const char *s)
{
    return s[0] != '-' || s[1] == '\0';
}

/* Step to the next element that is an option. false: there is none (*result_p is the answer). */
static bool advance(scan_t *scan, int *result_p)
{
    process_t *p = scan->process;

    if (p->getopt_last > *scan->optind)
        p->getopt_last = *scan->optind;
    if (p->getopt_first > *scan->optind)
        p->getopt_first = *scan->optind;
    if (scan->ordering == PERMUTE) {
        if (p->getopt_first != p->getopt_last && p->getopt_last != *scan->optind)
            exchange(scan);
        else if (p->getopt_last != *scan->optind)
            p->getopt_first = *scan->optind;
        while (*scan->optind < scan->argc && is_operand(scan->argv[*scan->optind]))
            ++*scan->optind;
        p->getopt_last = *scan->optind;
    }
    *result_p = -1;
    if (*scan->optind < scan->argc && strcmp(scan->argv[*scan->optind], "--") == 0) {
        ++*scan->optind;
        if (p->getopt_first != p->getopt_last && p->getopt_last != *scan->optind)
            exchange(scan);
        else if (p->getopt_first == p->getopt_last)
            p->getopt_first = *scan->optind;
        p->getopt_last = scan->argc;
        *scan->optind = scan->argc;
    }
    if (*scan->optind == scan->argc) {
        if (p->getopt_first != p->getopt_last)
            *scan->optind = p->getopt_first;
        return false;
    }
    if (is_operand(scan->argv[*scan->optind])) {
        if (scan->ordering == REQUIRE_ORDER)
            return false;
        *scan->optarg = scan->argv[(*scan->optind)++];
        *result_p = 1;
        return false;
    }
    return true;
}

/* Find a long option by its name or an unambiguous abbreviation; NULL if there is none or there are
 * several. */
static const struct option *match_long(const scan_t *scan, const char *name, size_t length,
                                       bool *is_ambiguous)
{
    const struct option *found = NULL;

    *is_ambiguous = false;
    for (const struct option *o = scan->options; o->name != NULL; o++) {
        if (strncmp(o->name, name, length) != 0)
            continue;
        if (strlen(o->name) == length) {
            *is_ambiguous = false;
            return o;
        }
        if (found != NULL && (found->has_arg != o->has_arg || found->flag != o->flag ||
                              found->val != o->val || scan->is_long_only))
            *is_ambiguous = true;
        else if (found == NULL)
            found = o;
    }
    return *is_ambiguous ? NULL : found;
}

static int missing_argument(const scan_t *scan, const char *what, const char *name, int option)
{
    *scan->optopt = option;
    if (scan->says)
        fprintf(stderr, "%s: option %s'%s' requires an argument\n", scan->argv[0], what, name);
    return scan->letters[0] == ':' ? ':' : '?';
}

/* The element names the long option `o`; `value` is what stands behind '=', or NULL. */
static int take_long(scan_t *scan, const struct option *o, char *value, const char *dashes,
                     int *index_p)
{
    ++*scan->optind;
    scan->process->getopt_next = NULL;
    if (value != NULL && o->has_arg == no_argument) {
        if (scan->says)
            fprintf(stderr, "%s: option '%s%s' doesn't allow an argument\n", scan->argv[0], dashes,
                    o->name);
        *scan->optopt = o->val;
        return '?';
    }
    *scan->optarg = value;
    if (value == NULL && o->has_arg == required_argument) {
        if (*scan->optind >= scan->argc)
            return missing_argument(scan, dashes, o->name, o->val);
        *scan->optarg = scan->argv[(*scan->optind)++];
    }
    if (index_p != NULL)
        *index_p = (int)(o - scan->options);
    if (o->flag == NULL)
        return o->val;
    *o->flag = o->val;
    return 0;
}

/* -2: this is no long option and may be a short one. */
static int scan_long(scan_t *scan, char *name, const char *dashes, int *index_p)
{
    size_t length = strcspn(name, "=");
    char *value = name[length] == '=' ? name + length + 1 : NULL;
    bool is_ambiguous;
    const struct option *o = match_long(scan, name, length, &is_ambiguous);

    if (o != NULL)
        return take_long(scan, o, value, dashes, index_p);
    if (!is_ambiguous && dashes[1] == '\0' && strchr(scan->letters, name[0]) != NULL)
        return -2;
    if (scan->says)
        fprintf(stderr, "%s: %s option '%s%s'%s\n", scan->argv[0],
                is_ambiguous ? "ambiguous" : "unrecognized", dashes, name,
                is_ambiguous ? " (several begin so)" : "");
    scan->process->getopt_next = NULL;
    ++*scan->optind;
    *scan->optopt = 0;
    return '?';
}

/* Take the argument of a short option from the rest of the element or from the next one; returns
 * the letter or an error. */
static int take_argument(scan_t *scan, char letter, bool is_optional)
{
    process_t *p = scan->process;
    char name[2] = {letter, '\0'};
    int result = letter; /* NOLINT(bugprone-signed-char-misuse,cert-str34-c) */

    if (*p->getopt_next != '\0') {
        *scan->optarg = p->getopt_next;
        ++*scan->optind;
    } else if (is_optional) {
        *scan->optarg = NULL;
    } else if (*scan->optind >= scan->argc) {
        result = missing_argument(scan, "-- ", name, letter);
    } else {
        *scan->optarg = scan->argv[(*scan->optind)++];
    }
    p->getopt_next = NULL;
    return result;
}

/* Handle the next letter of a group of short options; returns what getopt() does. */
static int scan_short(scan_t *scan)
{
    process_t *p = scan->process;
    char letter = *p->getopt_next++;
    const char *found = strchr(scan->letters, letter);

    if (*p->getopt_next == '\0')
        ++*scan->optind;
    if (found == NULL || letter == ':' || letter == ';') {
        if (scan->says)
            fprintf(stderr, "%s: invalid option -- '%c'\n", scan->argv[0], letter);
        *scan->optopt = letter; /* NOLINT(bugprone-signed-char-misuse,cert-str34-c) */
        return '?';
    }
    if (found[0] == 'W' && found[1] == ';' && scan->options != NULL) {
        int result = take_argument(scan, letter, false);

        if (result != letter)
            return result;
        --*scan->optind; /* scan_long counts the element */
        return scan_long(scan, *scan->optarg, "-W ", NULL);
    }
    return found[1] == ':' ? take_argument(scan, letter, found[2] == ':') : letter;
}

/* Initialize the scan, and the state of the process at the first call or after optind = 0. */
static void begin(scan_t *scan, const char *letters)
{
    process_t *p = scan->process;
    bool is_fresh = *scan->optind == 0 || p->getopt_last == 0;

    if (*scan->optind == 0)
        *scan->optind = 1;
    if (is_fresh) {
        p->getopt_first = p->getopt_last = *scan->optind;
        p->getopt_next = NULL;
    }
    scan->ordering = letters[0] == '-'                                        ? RETURN_IN_ORDER
                     : letters[0] == '+' || getenv("POSIXLY_CORRECT") != NULL ? REQUIRE_ORDER
                                                                              : PERMUTE;
    scan->letters = letters + (letters[0] == '-' || letters[0] == '+');
    scan->says = PROCESS_VARIABLE(p, int, PROCESS_VARIABLE_OPTERR) != 0 && scan->letters[0] != ':';
}

/* Return the next option of the command line, or -1 at the end. */
static int scan_next(scan_t *scan, const char *letters, int *index_p)
{
    process_t *p = scan->process;
    char *element;
    int result;

    if (scan->argc < 1)
        return -1;
    *scan->optarg = NULL;
    begin(scan, letters);
    if (p->getopt_next != NULL && *p->getopt_next != '\0')
        return scan_short(scan);
    if (!advance(scan, &result))
        return result;
    element = scan->argv[*scan->optind];
    if (scan->options != NULL && element[1] == '-')
        return scan_long(scan, element + 2, "--", index_p);
    if (scan->options != NULL && scan->is_long_only &&
        (element[2] != '\0' || strchr(scan->letters, element[1]) == NULL)) {
        result = scan_long(scan, element + 1, "-", index_p);
        if (result != -2)
            return result;
    }
    p->getopt_next = element + 1;
    return scan_short(scan);
}

/* getopt() and its relatives with the state and variables of one process. */
static int scan_for(process_t *process, int argc, char *const *argv, const char *letters,
                    const struct option *options, int *index_p, bool is_long_only)
{
    scan_t scan = {
        .process = process,
        .argc = argc,
        .argv = (char **)(uintptr_t)argv, /* getopt moves operands, whatever its prototype says */
        .options = options,
        .is_long_only = is_long_only,
        .optarg = process->variables[PROCESS_VARIABLE_OPTARG],
        .optind = process->variables[PROCESS_VARIABLE_OPTIND],
        .optopt = process->variables[PROCESS_VARIABLE_OPTOPT],
    };

    return scan_next(&scan, letters, index_p);
}

XY_INTERPOSE int getopt(int argc, char *const argv[], const char *letters)
{
    process_t *process = process_self;

    if (process == NULL)
        return XY_NEXT(getopt)(argc, argv, letters);
    return scan_for(process, argc, argv, letters, NULL, NULL, false);
}

XY_INTERPOSE int getopt_long(int argc, char *const argv[], const char *letters,
                             const struct option *options, int *index_p)
{
    process_t *process = process_self;

    if (process == NULL)
        return XY_NEXT(getopt_long)(argc, argv, letters, options, index_p);
    return scan_for(process, argc, argv, letters, options, index_p, false);
}

XY_INTERPOSE int getopt_long_only(int argc, char *const argv[], const char *letters,
                                  const struct option *options, int *index_p)
{
    process_t *process = process_self;

    if (process == NULL)
        return XY_NEXT(getopt_long_only)(argc, argv, letters, options, index_p);
    return scan_for(process, argc, argv, letters, options, index_p, true);
}
