/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/table.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { NAMES_MAX = 128 };

const char *xy_table_name(xy_table_t table, size_t i)
{
    return table[i] != NULL ? ((const char *const *)table[i])[0] : NULL;
}

const char *xy_table_describe(xy_table_t table, size_t i)
{
    return table[i] != NULL ? ((const char *const *)table[i])[1] : NULL;
}

const void *xy_table_find(xy_table_t table, const char *name)
{
    for (size_t i = 0; table[i] != NULL; i++)
        if (strcmp(xy_table_name(table, i), name) == 0)
            return table[i];
    return NULL;
}

xy_status_t xy_table_fail(xy_table_t table, const char *what, const char *name)
{
    const char *names[NAMES_MAX + 1] = {NULL}, *nearest;
    char all[1024] = "";
    size_t used = 0;

    for (size_t i = 0; i < NAMES_MAX && table[i] != NULL; i++) {
        names[i] = xy_table_name(table, i);
        if (used < sizeof(all))
            used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i > 0 ? ", " : "",
                                     names[i]);
    }
    nearest = xy_nearest_word(name, names);
    if (nearest != NULL)
        return xy_fail(XY_EUSAGE, "unknown %s '%s'; did you mean '%s'?", what, name, nearest);
    return xy_fail(XY_EUSAGE, "unknown %s '%s'; there are %s", what, name, all);
}
