/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as findings of another process: they are read, or refused. */
#include <stdint.h>

#include "mpi/check/carry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

static void take(check_finding_t *f)
{
    check_finding_cleanup(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool has_ended;

    xy_error_handler_set(ignore, NULL);
    check_carry_read((const char *)data, size, &has_ended, take);
    return 0;
}
