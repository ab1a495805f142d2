/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text is a list, or is refused; what it allows is no more than was asked for. */
#include <stdlib.h>
#include <string.h>

#include "mpi/dynamic/dynamic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[256];
    int most = size > 0 ? data[0] : 1, found;

    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    found = dynamic_soft(size > 0 ? text + 1 : text, most);
    if (found > most || found < -2 || found == 0)
        abort();
    return 0;
}
