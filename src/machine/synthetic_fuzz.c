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
        if (m->leaves == 0 || xy_machine_hops(m, m->leaf[0], m->leaf[0]) != 0)
            abort();
        xy_machine_destroy(m);
    }
    free(text);
    return 0;
}
