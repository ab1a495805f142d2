/* SPDX-License-Identifier: BSD-3-Clause */
/* Rankfiles from anywhere: an error, or a core of the job for each rank. */
#include <stdlib.h>
#include <string.h>

#include "launch/rankfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CORES = 6, RANKS = 3 };

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int cpu[CORES] = {0, 2, 4, 6, 8, 10}, core_of[RANKS];
    const long socket_of[CORES] = {0, 0, 0, 1, 1, 1};
    xy_cores_t cores = {.count = CORES, .cpu = cpu};
    char *text = malloc(size + 1);
    xy_status_t st;

    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    xy_error_handler_set(ignore, NULL);
    if (size > 0 && data[0] == 'u')
        st = mpi_rankfile_user(text + 1, &cores, RANKS, core_of);
    else
        st = mpi_rankfile_parse(text, "rankfile", &cores, socket_of, RANKS, core_of);
    for (int r = 0; st == XY_OK && r < RANKS; r++)
        if (core_of[r] < 0 || core_of[r] >= CORES)
            abort();
    free(text);
    return 0;
}
