/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of measured times from anywhere: an error, or sizes that increase with times that are
 * positive. */
#include <stdlib.h>
#include <string.h>

#include "cost/tabulate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

static void check(const xy_tabulated_t *t)
{
    if (t->count < 2)
        abort();
    for (size_t i = 0; i < t->count; i++)
        if (!(t->x[i] > 0) || !(t->t[0][i] > 0) || (t->t[1] != NULL && !(t->t[1][i] > 0)) ||
            (i > 0 && !(t->x[i] > t->x[i - 1])))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const columns[] = {NULL, "a", "a,b"};

    xy_error_handler_set(ignore, NULL);
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        char *copy = malloc(size + 1);
        xy_tabulated_t t;

        if (copy == NULL)
            exit(1);
        memcpy(copy, data, size);
        copy[size] = '\0';
        if (xy_tabulated_parse(copy, "table", columns[i], &t) == XY_OK) {
            check(&t);
            xy_tabulated_cleanup(&t);
        }
        free(copy);
    }
    return 0;
}
