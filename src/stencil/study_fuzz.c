/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a study: it is read, or refused with one line. */
#include <stdint.h>
#include <string.h>

#include "stencil/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    xy_stencil_run_t base = {.machine = "attila", .gpus = 1, .grid = XY_STENCIL_DEFAULT};
    xy_stencil_study_t study;
    char *text = xy_malloc(size + 1);

    if (text == NULL)
        return 0;
    xy_error_handler_set(ignore, NULL);
    for (int is_real = 0; is_real < 2; is_real++) {
        memcpy(text, data, size);
        text[size] = '\0';
        base.is_real = is_real;
        if (stencil_study_parse(text, "fuzz", &base, &study) == XY_OK)
            xy_stencil_study_cleanup(&study);
    }
    xy_free(text);
    return 0;
}
