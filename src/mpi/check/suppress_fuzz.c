/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a file of suppressions: it is read, or refused with one line. */
#include <stdint.h>
#include <string.h>

#include "mpi/check/suppress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xy_malloc(size + 1);
    xy_vec_t rules;

    if (text == NULL)
        return 0;
    xy_error_handler_set(ignore, NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    if (check_rules_parse(text, "fuzz", &rules) == XY_OK)
        for (int k = 0; k < XMPI_FINDING_KINDS; k++)
            check_rules_match(&rules, (mpi_finding_kind_t)k, "ring.c:12");
    xy_vec_cleanup(&rules);
    xy_free(text);
    return 0;
}
