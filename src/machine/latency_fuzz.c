/* SPDX-License-Identifier: BSD-3-Clause */
/* Latency matrices from anywhere: an error, or clusters that hold every machine. */
#include <stdlib.h>

#include "machine/eco.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    xy_latency_t *m;
    xy_eco_t *eco;

    xy_error_handler_set(ignore, NULL);
    if (xy_latency_parse((const char *)data, size, "fuzz", &m) != XY_OK)
        return 0;
    if (xy_eco_compute(m, XY_ECO_RHO, XY_ECO_RHO_SITE, &eco) == XY_OK) {
        FILE *sink = fopen("/dev/null", "w");

        for (uint32_t i = 0; i < eco->machines; i++)
            if (eco->cluster_of[i] >= eco->clusters)
                abort();
        if (sink != NULL) {
            xy_eco_print(eco, m, sink);
            xy_eco_print_json(eco, m, sink);
            fclose(sink);
        }
        xy_eco_destroy(eco);
    }
    xy_latency_destroy(m);
    return 0;
}
