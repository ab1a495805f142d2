/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a load: what is read gives every block of every iteration a time. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stencil/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    xy_stencil_t s = XY_STENCIL_DEFAULT;
    char *text = xy_malloc(size + 1);

    if (text == NULL)
        return 0;
    xy_error_handler_set(ignore, NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    s.blocks[0] = 7;
    s.iterations = 5;
    if (stencil_load_parse(text, "fuzz", &s) == XY_OK) {
        for (int64_t x = 0; x < s.blocks[0]; x++)
            for (int t = 0; t < s.iterations; t++)
                if (!(xy_stencil_seconds(&s, x, t) >= 0))
                    abort();
        xy_free((void *)(uintptr_t)s.factors);
    }
    xy_free(text);
    return 0;
}
