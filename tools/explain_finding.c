/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem explain finding: what a class of findings means, and its cure. */
#include <string.h>

#include "draw/draw.h"
#include "explain.h"
#include "mpi/runtime/runtime.h"

enum { WIDTH = 78 };

/* Print sentences in lines of at most WIDTH columns. */
static void print_wrapped(const char *label, const char *text)
{
    int column = printf("%s:", label);

    while (*text != '\0') {
        int length = (int)strcspn(text, " ");

        if (column + 1 + length > WIDTH)
            column = printf("\n ") - 1;
        column += printf(" %.*s", length, text);
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

static const char *severity(const mpi_finding_class_t *c)
{
    if (c->may_go_on)
        return "an error that ends every job, unless --check-suppress has a rule for it";
    if (c->ends_job)
        return "an error that ends every job";
    if (c->is_error)
        return c->is_plain ? "a warning; with --check an error" : "an error of --check";
    return c->is_plain ? "a warning" : "a warning of --check";
}

static void print_class(const mpi_finding_class_t *c)
{
    printf("%s: %s\n%s\n\n", c->name, c->summary, severity(c));
    print_wrapped("Rule", c->rule);
    print_wrapped("Cure", c->cure);
    if (c->limits[0] != '\0')
        print_wrapped("Limits", c->limits);
    if (c->example[0] != '\0')
        printf("Example: the function %s in tests/bugs\n", c->example);
}

static void write_class(xy_json_t *json, const mpi_finding_class_t *c)
{
    xy_fields_object(
        json, NULL, "class %s summary %s severity %s plain %i rule %s cure %s limits %s example %s",
        c->name, c->summary, severity(c), c->is_plain, c->rule, c->cure, c->limits, c->example);
}

static void write_classes(const char *name)
{
    xy_json_t json;

    xy_json_init(&json, stdout, true);
    xy_json_begin_array(&json, NULL);
    for (int k = 0; k < XMPI_FINDING_KINDS; k++)
        if (name == NULL || strcmp(mpi_finding_classes[k].name, name) == 0)
            write_class(&json, &mpi_finding_classes[k]);
    xy_json_end(&json);
}

static const mpi_finding_class_t *find(const char *name)
{
    for (int k = 0; k < XMPI_FINDING_KINDS; k++)
        if (strcmp(mpi_finding_classes[k].name, name) == 0)
            return &mpi_finding_classes[k];
    return NULL;
}

static xy_status_t fail_unknown(const char *name)
{
    const char *names[XMPI_FINDING_KINDS + 1] = {NULL}, *nearest;

    for (int k = 0; k < XMPI_FINDING_KINDS; k++)
        names[k] = mpi_finding_classes[k].name;
    nearest = xy_nearest_word(name, names);
    if (nearest != NULL)
        return xy_fail(XY_EUSAGE, "unknown class '%s'; did you mean '%s'?", name, nearest);
    return xy_fail(XY_EUSAGE, "unknown class '%s'; 'xylem explain finding' lists them", name);
}

/* Explains one class of findings of --check, or lists all. */
static xy_status_t run(const explain_values_t *values, int argc, char **argv)
{
    const mpi_finding_class_t *c = argc > 0 ? find(argv[0]) : NULL;

    if (argc > 0 && c == NULL)
        return fail_unknown(argv[0]);
    if (values->json)
        write_classes(argc > 0 ? argv[0] : NULL);
    else if (c != NULL)
        print_class(c);
    else
        for (int k = 0; k < XMPI_FINDING_KINDS; k++)
            printf("%-16s %s\n", mpi_finding_classes[k].name, mpi_finding_classes[k].summary);
    return xy_stdout_check();
}

const explain_topic_t explain_finding = {
    .name = "finding",
    .synopsis = "[CLASS]",
    .summary = "a mistake that mpiexec reports: the rule, the cure and the limits",
    .arguments_min = 0,
    .arguments_max = 1,
    .run = run,
};
