/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a file of choices: what is read names policies and evictions that there are. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stencil/choices.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    stencil_choices_t c = {0};
    const xy_task_policy_t *policy;
    char *text = xy_malloc(size + 1);

    if (text == NULL)
        return 0;
    xy_error_handler_set(ignore, NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    if (stencil_choices_parse(text, "fuzz", &c) == XY_OK)
        for (size_t i = 0; i < c.keys.count; i++) {
            stencil_choice_t found = {.gpus = 8, .cores = 8};
            const char *key = XY_VEC_AT(&c.keys, const char *, i);

            if (stencil_choices_find(&c, key, &found) &&
                (found.gpus > 8 || found.cores > 8 || found.look_ahead > 64 ||
                 (found.policy != NULL && xy_task_policy_find(found.policy, &policy) != XY_OK)))
                abort();
        }
    stencil_choices_cleanup(&c);
    xy_free(text);
    return 0;
}
