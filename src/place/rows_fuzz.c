/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of monitored ranks, from anywhere: an error, or matrices that can be written. A form
 * feed begins the row of the next rank. */
#include "place/matrix_fuzz.h"
#include "place/traffic_internal.h"

/* Builds matrices of several choices from the traffic and checks them. */
static void check(const xy_traffic_t *t)
{
    static const xy_traffic_choice_t choices[] = {
        {true, true, XY_TRAFFIC_ANY, XY_TRAFFIC_ANY, XY_TRAFFIC_ANY},
        {true, false, 0, XY_TRAFFIC_ANY, 0},
        {false, true, XY_TRAFFIC_ANY, 1, 1}};

    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        xy_matrix_t *m;

        if (xy_traffic_matrix(t, &choices[i], &m) != XY_OK)
            abort();
        fuzz_check(m);
        xy_matrix_destroy(m);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *at = text, *end;
    traffic_rows_t rows;
    xy_traffic_t t;
    xy_status_t st = XY_OK;

    if (text == NULL)
        return 0;
    end = text + size;
    traffic_rows_init(&rows);
    for (uint32_t rank = 0; st == XY_OK && at <= end; rank++) {
        char *next = memchr(at, '\f', (size_t)(end - at));
        char *stop = next != NULL ? next : end;

        *stop = '\0';
        st = traffic_rows_add(&rows, at, (size_t)(stop - at), "input", rank);
        at = stop + 1;
    }
    if (traffic_rows_finish(&rows, st, &t) == XY_OK) {
        check(&t);
        xy_traffic_cleanup(&t);
    }
    free(text);
    return 0;
}
