/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a problem, and as a table: read and evaluated, or refused with one line. */
#include <stdlib.h>
#include <string.h>

#include "adapt/adapt_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

static xy_status_t simulate(void *arg, const char *verb, int argc, char **argv, xy_simulated_t *s)
{
    (void)arg, (void)verb;
    *s = (xy_simulated_t){.seconds = argc + (argv[0] != NULL), .error = -1};
    return XY_OK;
}

static void evaluate(const xy_adapt_t *p)
{
    xy_adapt_given_t g = {.simulate = simulate};
    xy_adapt_times_t *t;

    if (xy_adapt_evaluate(p, &g, &t) != XY_OK)
        return;
    for (size_t i = 0; i < t->count; i++)
        if (!(t->candidates[i].predicted > 0))
            abort();
    xy_adapt_times_destroy(t);
}

/* Reads the input as a table and evaluates it; aborts on a negative time. */
static void read_table(const xy_adapt_t *p, const uint8_t *data, size_t size)
{
    static const double at[][2] = {{1, 1}, {5, 3}, {1e9, -4}, {0, 0}};
    char *text = xy_strndup((const char *)data, size);
    adapt_table_t t;
    bool is_outside;

    if (text != NULL && adapt_table_parse(p, text, "fuzz", "a", &t) == XY_OK) {
        for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
            if (adapt_table_value(&t, at[i], &is_outside) < 0)
                abort();
        adapt_table_cleanup(&t);
    }
    xy_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char two[] = "parameter n\nparameter p\nalternative a formula n\n";
    xy_adapt_t *p;

    /* A table of the problem would be read from any file. */
    xy_error_handler_set(ignore, NULL);
    if (memmem(data, size, "table", 5) == NULL &&
        xy_adapt_parse((const char *)data, size, "fuzz", &p) == XY_OK) {
        evaluate(p);
        xy_adapt_destroy(p);
    }
    if (xy_adapt_parse(two, sizeof(two) - 1, "two", &p) == XY_OK) {
        read_table(p, data, size);
        xy_adapt_destroy(p);
    }
    return 0;
}
