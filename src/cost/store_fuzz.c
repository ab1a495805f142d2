/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of costs from anywhere: an error, or costs that write and read back as the same text, and
 * models that answer. */
#include <stdlib.h>
#include <string.h>

#include "cost/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

static char *print(const xy_costs_t *costs)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (file == NULL)
        exit(1);
    xy_costs_print_xml(costs, file);
    if (fclose(file) != 0)
        exit(1);
    return text;
}

/* Aborts unless the store survives writing and reading unchanged. */
static void check_round_trip(const xy_costs_t *costs)
{
    char *first = print(costs), *second;
    xy_costs_t *back;

    if (xy_costs_parse(first, strlen(first), "back", &back) != XY_OK)
        abort();
    second = print(back);
    if (strcmp(first, second) != 0)
        abort();
    free(first);
    free(second);
    xy_costs_destroy(back);
}

/* One size and several, of equal and of thin shapes. */
static void ask_sizes(const xy_costs_t *costs, const xy_kernel_cost_t *k)
{
    static const double sizes[][XY_SIZES_MAX] = {{7, 7, 7}, {1, 1000, 30}, {0, 5, 5}, {1e6, 1, 1}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (size_t count = 1; count <= XY_SIZES_MAX; count++) {
            xy_estimate_t e;

            if (xy_cost_kernel_value(costs, k->name, k->cluster, sizes[i], count, &e) == XY_OK &&
                !(e.seconds >= 0))
                abort();
        }
}

/* Evaluates all models of the store; aborts on a negative time. */
static void ask(const xy_costs_t *costs)
{
    for (size_t i = 0; i < costs->kernels.count; i++) {
        const xy_kernel_cost_t *k = &XY_VEC_AT(&costs->kernels, xy_kernel_cost_t, i);

        ask_sizes(costs, k);
        for (double x = 0; k->fit.count > 0 && x < 1e6; x = x * 3 + 1)
            if (!(xy_fit_value(&k->fit, x).seconds >= 0))
                abort();
    }
    for (size_t i = 0; i < costs->messages.count; i++) {
        const xy_message_model_t *m = &XY_VEC_AT(&costs->messages, xy_message_cost_t, i).model;

        for (const char *const *name = xy_message_models(); *name != NULL; name++)
            for (int kind = 0; kind < XY_MESSAGE_KINDS; kind++)
                if (xy_message_has(m, *name, (xy_message_kind_t)kind) &&
                    !(xy_message_value(m, *name, (xy_message_kind_t)kind, 1000).seconds >= 0))
                    abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    xy_costs_t *costs;

    xy_error_handler_set(ignore, NULL);
    if (xy_costs_parse((const char *)data, size, "fuzz", &costs) == XY_OK) {
        ask(costs);
        check_round_trip(costs);
        xy_costs_destroy(costs);
    }
    return 0;
}
