/* SPDX-License-Identifier: BSD-3-Clause */
/* Histories from anywhere: what is read writes and reads back as the same, and can be asked. */
#include <stdlib.h>
#include <string.h>

#include "choose/choose_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

/* Aborts unless the history survives printing and parsing. */
static void check_round_trip(const xy_history_t *h)
{
    char *text = NULL;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    xy_history_t *back;

    if (file == NULL)
        exit(1);
    xy_history_print(h, file);
    if (fclose(file) != 0)
        exit(1);
    if (choose_history_parse(text, length, "back", CHOOSE_REFUSE, &back) != XY_OK ||
        back->runs.count != h->runs.count)
        abort();
    for (size_t i = 0; i < h->runs.count; i++) {
        const xy_run_t *a = &XY_VEC_AT(&h->runs, xy_run_t, i);

        if (a->instance.count == XY_VEC_AT(&back->runs, xy_run_t, i).instance.count &&
            !choose_line_equal(a, &XY_VEC_AT(&back->runs, xy_run_t, i)))
            abort();
    }
    xy_history_destroy(back);
    free(text);
}

/* The instance of the first run, with its own alternative and another. */
static void ask(const xy_history_t *h)
{
    const xy_run_t *run = h->runs.data;
    xy_candidate_t c[] = {{"other", 1, -1}, {run->alternative, 1, 0.1}};
    xy_choose_t q = {.instance = run->instance,
                     .candidates = c,
                     .count = 2,
                     .history = h,
                     .reference = XY_CHOOSE_NONE,
                     .loss = 0.1};
    xy_estimate_of_t of[2];
    xy_choice_t choice;

    if (xy_choose(&q, of, &choice) != XY_OK || choice.chosen > 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    xy_history_t *h;

    xy_error_handler_set(ignore, NULL);
    if (choose_history_parse((const char *)data, size, "fuzz", CHOOSE_WARN, &h) == XY_OK) {
        check_round_trip(h);
        if (h->runs.count > 0)
            ask(h);
        xy_history_destroy(h);
    }
    return 0;
}
