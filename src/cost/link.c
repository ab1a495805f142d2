/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the user's store is, and what of it can be read without XML. */
#include "cost/link.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

char *xy_costs_where(void)
{
    struct utsname name;
    char file[sizeof(name.nodename) + 16];

    if (uname(&name) != 0)
        return NULL;
    /* Homes are shared between hosts: each has a file of its own. */
    snprintf(file, sizeof(file), "costs-%s.xml", name.nodename);
    return xy_cache_path("XYLEM_COSTS", file);
}

xy_status_t xy_costs_path(char **path_p)
{
    char *path = xy_costs_where();

    const char *home = getenv("HOME");

    if (path == NULL && (home == NULL || *home == '\0'))
        return xy_fail(XY_ENOENT, "neither HOME nor XDG_CACHE_HOME is set; name a file of costs in "
                                  "XYLEM_COSTS");
    if (path == NULL)
        return xy_fail_memory("naming the file of costs");
    *path_p = path;
    return XY_OK;
}

static bool is_sensible(const xy_link_cost_t *l)
{
    return isfinite(l->alpha + l->beta + l->gamma + l->copy) && l->alpha > 0 && l->beta > 0 &&
           l->gamma > 0 && l->copy > 0;
}

/* A line "NAME NUMBER". */
static bool read_number(FILE *file, const char *name, double *value_p)
{
    char line[128], *end;
    size_t n = strlen(name);

    if (fgets(line, sizeof(line), file) == NULL || strncmp(line, name, n) != 0 || line[n] != ' ')
        return false;
    *value_p = strtod(line + n + 1, &end);
    return end > line + n + 1 && *end == '\n';
}

bool xy_link_read(xy_link_cost_t *link_p)
{
    char *store = xy_costs_where();
    char *path = store != NULL ? xy_sprintf("%s.link", store) : NULL;
    FILE *file = path != NULL ? fopen(path, "re") : NULL;
    xy_link_cost_t l = {0};
    bool is_good = false;

    if (file != NULL) {
        is_good = read_number(file, "alpha", &l.alpha) && read_number(file, "beta", &l.beta) &&
                  read_number(file, "gamma", &l.gamma) && read_number(file, "copy", &l.copy) &&
                  is_sensible(&l);
        fclose(file);
    }
    if (is_good)
        *link_p = l;
    xy_free(path);
    xy_free(store);
    return is_good;
}
