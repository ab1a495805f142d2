/* SPDX-License-Identifier: BSD-3-Clause */
#include "scan_include.h"

#include <stdlib.h>
#include <string.h>

xy_status_t scan_find_include(char **include_p)
{
    char *path = realpath("/proc/self/exe", NULL), *slash;

    for (int up = 0; up < 2 && path != NULL; up++) {
        slash = strrchr(path, '/');
        if (slash != NULL)
            *slash = '\0';
    }
    *include_p = path != NULL ? xy_sprintf("%s/include", path) : NULL;
    free(path);
    return *include_p != NULL ? XY_OK : xy_fail_memory("scanning a program");
}
