/* SPDX-License-Identifier: BSD-3-Clause */
/* The lists of --privatize and --share. */
#include <string.h>

#include "launch/launch.h"

/* Append the names in `lists`, each a text with commas, to `names`. */
static xy_status_t split(const xy_vec_t *lists, xy_vec_t *names)
{
    for (size_t i = 0; i < lists->count; i++) {
        char *rest = xy_strdup(XY_VEC_AT(lists, const char *, i));

        if (rest == NULL)
            return xy_fail_memory("starting the job");
        for (const char *name; (name = strsep(&rest, ",")) != NULL;)
            if (*name != '\0' && xy_vec_append(names, &name) != XY_OK)
                return xy_fail_memory("starting the job");
    }
    return XY_OK;
}

xy_status_t mpi_launch_libraries(const xy_vec_t *parts, mpi_library_lists_t *lists)
{
    xy_status_t st = XY_OK;

    lists->privat = XY_VEC_INIT(const char *);
    lists->shared = XY_VEC_INIT(const char *);
    for (size_t p = 0; p < parts->count && st == XY_OK; p++) {
        const mpi_launch_values_t *values = XY_VEC_AT(parts, mpi_part_t, p).values;

        st = split(&values->privatize, &lists->privat);
        if (st == XY_OK)
            st = split(&values->share, &lists->shared);
        if (st == XY_OK && values->share_globals && lists->privat.count + lists->shared.count > 0)
            st = xy_fail(XY_EUSAGE, "--share-globals: all ranks share one copy of each library; "
                                    "leave --privatize and --share out");
    }
    return st;
}
