/* SPDX-License-Identifier: BSD-3-Clause */
/* Synthetic strings from anywhere: an error or a machine. */
#include <stdlib.h>
#include <string.h>

#include "machine/machine_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

static void count(void *context, const xy_wire_t *wire)
{
    (void)wire;
    ++*(uint32_t *)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    xy_machine_t *m;

    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    machine_objects_limit = 20000;
    xy_error_handler_set(ignore, NULL);
    if (xy_machine_synthetic(text, &m) == XY_OK) {
        xy_obj_t first = m->leaf[0], last = m->leaf[m->leaves - 1];
        uint32_t there = 0, back = 0;

        xy_machine_route(m, first, last, count, &there);
        xy_machine_route(m, last, first, count, &back);
        if (m->leaves == 0 || xy_machine_hops(m, first, first) != 0 || there != back)
            abort();
        xy_machine_destroy(m);
    }
    free(text);
    return 0;
}
