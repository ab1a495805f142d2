/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as what a process has seen of its ranks: it is read, or refused. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/check/picture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RANKS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    picture_t *picture = picture_new(RANKS);
    bool stuck[RANKS];

    if (text == NULL || picture == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    if (picture_read(picture, 0, text)) {
        picture_find(picture, PICTURE_POLLING, stuck);
        for (int r = 0; r < RANKS; r++) {
            int partner = -1;

            if (stuck[r] && picture_wait(picture, stuck, r, &partner) >= 0 && partner >= 0 &&
                !stuck[partner])
                abort();
        }
    }
    picture_destroy(picture);
    free(text);
    return 0;
}
