/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles from anywhere: what is read writes and reads back as the same, and merges with itself.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/adapt/adapt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static xy_text_t text_of(const mpi_profile_t *p)
{
    xy_text_t text = XY_TEXT_INIT;

    mpi_profile_format(p, &text);
    if (text.failed)
        exit(1);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1);
    mpi_profile_t p, back, all = {.gain = 1}, twice;
    xy_text_t first, second;

    if (copy == NULL)
        exit(1);
    memcpy(copy, data, size);
    copy[size] = '\0';
    if (mpi_profile_parse(copy, &p)) {
        first = text_of(&p);
        second = text_of(&p);
        if (!mpi_profile_parse(first.s, &back))
            abort();
        xy_text_cleanup(&first);
        first = text_of(&back);
        if (strcmp(first.s, second.s) != 0)
            abort();
        mpi_profile_merge(&all, &p);
        twice = all;
        mpi_profile_merge(&twice, &p);
        if (twice.call_count > XMPI_PROFILE_CALLS || all.call_count > p.call_count)
            abort();
        xy_text_cleanup(&first);
        xy_text_cleanup(&second);
    }
    free(copy);
    return 0;
}
