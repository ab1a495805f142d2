/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads from anywhere: an error, or one for each of 3 processes. */
#include "place/matrix_fuzz.h"
#include "place/strategy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    double load[3] = {-1, -1, -1};

    if (text != NULL && xy_loads_parse(text, "input", 3, load) == XY_OK)
        for (int i = 0; i < 3; i++)
            if (!(load[i] >= 0 && load[i] <= XY_MATRIX_VALUE_MAX))
                abort();
    free(text);
    return 0;
}
