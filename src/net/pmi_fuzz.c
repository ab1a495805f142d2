/* SPDX-License-Identifier: BSD-3-Clause */
/* Parse the answers of a launcher, and entries of other processes in its key-value space. */
#include <stdlib.h>
#include <string.h>

#include "net/pmi_protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *line = malloc(size + 1), value[8], *text, *word;

    if (line == NULL)
        return 0;
    memcpy(line, data, size);
    line[size] = '\0';
    if (pmi_wire_field(line, "value", value, sizeof(value)) && strlen(value) >= sizeof(value))
        abort();
    text = pmi_decode(line);
    word = text != NULL ? pmi_encode(text) : NULL;
    xy_free(text);
    text = word != NULL ? pmi_decode(word) : NULL;
    if (word != NULL && text == NULL)
        abort();
    xy_free(text);
    xy_free(word);
    free(line);
    return 0;
}
