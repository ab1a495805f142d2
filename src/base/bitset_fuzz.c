/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of numbers from anywhere, such as the cores of --cores: an error, or a set that is read
 * back the same from what is printed of it. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

static void check(const xy_bitset_t *set)
{
    char *text = xy_bitset_format(set);
    xy_bitset_t back;

    if (text == NULL || xy_bitset_init(&back, set->bits) != XY_OK ||
        xy_bitset_parse(&back, text, "again") != XY_OK)
        abort();
    for (size_t i = 0; i < set->bits; i++)
        if (xy_bitset_has(&back, i) != xy_bitset_has(set, i))
            abort();
    xy_bitset_cleanup(&back);
    xy_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    xy_bitset_t set;

    if (text == NULL || xy_bitset_init(&set, 1000) != XY_OK)
        abort();
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    xy_error_handler_set(ignore, NULL);
    if (xy_bitset_parse(&set, text, "input") == XY_OK)
        check(&set);
    xy_bitset_cleanup(&set);
    free(text);
    return 0;
}
