/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots from anywhere: what is read writes and reads back as the same, and can be printed. */
#include <stdlib.h>
#include <string.h>

#include "report/live.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void silence(void *arg, xy_status_t status, const char *message)
{
    (void)arg;
    (void)status;
    (void)message;
}

/* Returns the state written as text; the caller frees it. */
static char *text_of(xy_live_t *live)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (file == NULL)
        exit(1);
    xy_live_write_job(live, file);
    xy_live_write(live, file);
    fputs("end\n", file);
    fclose(file);
    return text;
}

/* Prints the state in every order and as JSON, to /dev/null. */
static void print(xy_live_t *live)
{
    FILE *file = fopen("/dev/null", "we");
    int rows;

    if (file == NULL)
        exit(1);
    xy_live_settle(live);
    xy_live_rates(live, live);
    for (int order = 0; order < XY_LIVE_ORDERS; order++)
        if (xy_live_text(live,
                         &(xy_live_style_t){.order = (xy_live_order_t)order,
                                            .width = 60,
                                            .rows = 7,
                                            .is_coloured = order == 1,
                                            .is_unfolded = order == 2},
                         file, &rows) != XY_OK)
            exit(1);
    xy_live_json(live, file);
    fclose(file);
}

/* Aborts unless the state survives writing and parsing unchanged. */
static void check(xy_live_t *live)
{
    char *first = text_of(live), *kept = strdup(first), *again;
    xy_live_t *back;

    if (kept == NULL)
        exit(1);
    if (xy_live_parse(first, &back) != XY_OK)
        abort();
    again = text_of(back);
    if (strcmp(again, kept) != 0)
        abort();
    print(back);
    xy_live_destroy(back);
    free(again);
    free(kept);
    free(first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1);
    xy_live_t *live;

    if (copy == NULL)
        exit(1);
    xy_error_handler_set(silence, NULL);
    memcpy(copy, data, size);
    copy[size] = '\0';
    if (xy_live_parse(copy, &live) == XY_OK) {
        if (live->size <= 4096)
            check(live);
        xy_live_destroy(live);
    }
    free(copy);
    return 0;
}
