/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading what carrier_make.c has written; without XML. */
#include "cost/carrier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A line "LATENCY BANDWIDTH EAGER here|between NAME". */
static bool read_carrier(char *line, xy_carrier_cost_t *c)
{
    char *at = line, *end;
    double *const numbers[] = {&c->latency, &c->bandwidth, &c->eager};

    for (int i = 0; i < 3; i++, at = end + 1) {
        *numbers[i] = strtod(at, &end);
        if (end == at || *end != ' ' || !isfinite(*numbers[i]) || *numbers[i] < 0)
            return false;
    }
    end = strchr(at, ' ');
    if (end == NULL || c->latency <= 0 || c->bandwidth <= 0)
        return false;
    *end = '\0';
    c->is_between = strcmp(at, "between") == 0;
    if (!c->is_between && strcmp(at, "here") != 0)
        return false;
    end[1 + strcspn(end + 1, "\n")] = '\0';
    snprintf(c->name, sizeof(c->name), "%s", end + 1);
    return c->name[0] != '\0';
}

int xy_carriers_read(bool is_between, xy_carrier_cost_t list[XY_CARRIERS_MAX])
{
    char *store = NULL, *path, line[256];
    FILE *file;
    int count = 0;

    store = xy_costs_where();
    path = store != NULL ? xy_sprintf("%s.carriers", store) : NULL;
    file = path != NULL ? fopen(path, "re") : NULL;
    while (file != NULL && count < XY_CARRIERS_MAX && fgets(line, sizeof(line), file) != NULL)
        if (read_carrier(line, &list[count]) && list[count].is_between == is_between)
            count++;
    if (file != NULL)
        fclose(file);
    xy_free(path);
    xy_free(store);
    return count;
}
