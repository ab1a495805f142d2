/* SPDX-License-Identifier: BSD-3-Clause */
#include "site_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "mpi/runtime/runtime.h"

bool site_line_find(const char *site, char *text, size_t size)
{
    const char *plus = strrchr(site, '+');
    char *path = plus != NULL ? xy_strndup(site, (size_t)(plus - site)) : NULL;
    mpi_line_t line;
    bool is_found =
        path != NULL &&
        mpi_line_find(path, (size_t)strtoull(plus + 1, NULL, 16), XMPI_WANT_LINE, &line) &&
        line.file[0] != '\0';

    if (is_found)
        snprintf(text, size, "%s:%d", line.file, line.number);
    xy_free(path);
    return is_found;
}
