/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles from anywhere: what is read writes and reads back as the same, and can be analysed. */
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *text_of(const xy_profile_t *p)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (file == NULL)
        exit(1);
    xy_profile_write(p, file);
    fclose(file);
    return text;
}

static void silence(void *arg, xy_status_t status, const char *message)
{
    (void)arg;
    (void)status;
    (void)message;
}

/* Analyses the profile and prints it in every format, to /dev/null. */
static void analyse(xy_profile_t *p)
{
    xy_analysis_t *a;
    xy_comparison_t *c;
    FILE *file = fopen("/dev/null", "we");

    if (file == NULL || xy_profile_settle(p) != XY_OK || xy_analyse(p, 0, &a) != XY_OK ||
        xy_comparison_create(a, a, &c) != XY_OK)
        exit(1);
    xy_report_text(a, file);
    xy_report_json(a, file);
    xy_report_csv(p, file);
    xy_comparison_text(c, file);
    xy_comparison_json(c, file);
    xy_comparison_html(c, file);
    xy_comparison_destroy(c);
    xy_analysis_destroy(a);
    fclose(file);
}

/* Aborts unless the profile survives writing and parsing unchanged. */
static void check(xy_profile_t *p)
{
    char *first = text_of(p), *again = strdup(first);
    xy_profile_t *back;

    if (again == NULL)
        exit(1);
    if (xy_profile_parse(first, "fuzz", &back) != XY_OK)
        abort();
    free(first);
    first = text_of(back);
    if (strcmp(first, again) != 0)
        abort();
    analyse(back);
    xy_profile_destroy(back);
    free(first);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1);
    xy_profile_t *p;

    if (copy == NULL)
        exit(1);
    xy_error_handler_set(silence, NULL);
    memcpy(copy, data, size);
    copy[size] = '\0';
    if (xy_profile_parse(copy, "fuzz", &p) == XY_OK) {
        if (p->ranks.count <= 4096)
            check(p);
        xy_profile_destroy(p);
    }
    free(copy);
    return 0;
}
