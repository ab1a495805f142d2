/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement files from anywhere: an error, or a core for each of 3 ranks. */
#include "place/matrix_fuzz.h"
#include "place/strategy_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int cpu[] = {0, 2, 5, 7}, numa[] = {0, 0, 1, 1}, first[] = {0, 2, 4};
    xy_cores_t cores = {.count = 4, .cpu = cpu, .numa = numa, .numa_count = 2, .numa_first = first};
    char *text = fuzz_text(data, size);
    int core_of[3];

    if (text != NULL && place_file_parse(text, "input", &cores, 3, core_of) == XY_OK)
        for (int i = 0; i < 3; i++)
            if (core_of[i] < 0 || core_of[i] >= cores.count)
                abort();
    free(text);
    return 0;
}
