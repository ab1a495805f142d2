/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of ports: any text is refused, or is printed again as it was. */
#include <stdlib.h>
#include <string.h>

#include "mpi/dynamic/place.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[PLACE_TEXT], again[PLACE_TEXT];
    dynamic_place_t place;

    if (size >= sizeof(text))
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (dynamic_place_parse(text, "xylem-port", &place)) {
        dynamic_place_print(&place, "xylem-port", again);
        if (strcmp(text, again) != 0)
            abort();
    }
    return 0;
}
