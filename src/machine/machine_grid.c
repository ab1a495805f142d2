/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tori and meshes: cells, their coordinates, and the way from one to another.
 *
 * The link of a cell along a dimension leads to the next cell there:
 *
 *   [0] --0-- [1] --1-- [2] --2-- [3] --3-- (torus: back to 0)
 */
#include <stdlib.h>
#include <string.h>

#include "machine/machine_internal.h"

size_t machine_grid_parse(const char *s, xy_grid_t *grid)
{
    const char *at = s;
    uint64_t cells = 1;

    for (grid->dimensions = 0; grid->dimensions < XY_GRID_DIMENSIONS_MAX;) {
        size_t digits = strspn(at, "0123456789");
        unsigned long n = digits > 0 && digits < 10 ? strtoul(at, NULL, 10) : 0;

        cells *= n;
        if (n == 0 || cells > XY_MACHINE_OBJECTS_MAX)
            return 0;
        grid->size[grid->dimensions++] = (uint32_t)n;
        at += digits;
        if (*at != 'x')
            return (size_t)(at - s);
        at++;
    }
    return 0;
}

const char *machine_grid_format(const xy_grid_t *grid, char buffer[96])
{
    int n = 0;

    for (uint32_t d = 0; d < grid->dimensions; d++)
        n += snprintf(buffer + n, 96 - (size_t)n, d > 0 ? "x%u" : "%u", grid->size[d]);
    return buffer;
}

const xy_grid_t *xy_machine_grid(const xy_machine_t *m, xy_obj_t object)
{
    uint32_t low = 0, high = m->grid_count;

    if (!(m->flags[object] & XY_OBJ_GRID))
        return NULL;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (m->grids[middle].object <= object)
            low = middle;
        else
            high = middle;
    }
    return &m->grids[low];
}

uint32_t xy_grid_cells(const xy_grid_t *g)
{
    uint32_t cells = 1;

    for (uint32_t d = 0; d < g->dimensions; d++)
        cells *= g->size[d];
    return cells;
}

/* How many links from coordinate x to y along a dimension, and whether to the next cell. */
static uint32_t steps_between(const xy_grid_t *g, uint32_t d, uint32_t x, uint32_t y, bool *is_up_p)
{
    uint32_t n = g->size[d], up = (y + n - x) % n;

    *is_up_p = g->is_torus ? up <= n - up : y > x;
    return *is_up_p ? up : (x + n - y) % n;
}

void xy_grid_route(const xy_grid_t *g, uint32_t owner, uint32_t from, uint32_t to, xy_wire_fn fn,
                   void *context)
{
    uint32_t stride = 1;

    for (uint32_t d = 0; d < g->dimensions; d++) {
        uint32_t n = g->size[d], x = from / stride % n;
        bool is_up;
        uint32_t steps = steps_between(g, d, x, to / stride % n, &is_up);

        while (steps-- > 0) {
            uint32_t next = is_up ? (x + 1) % n : (x + n - 1) % n;
            uint32_t before = from, after = from - x * stride + next * stride;

            fn(context, &(xy_wire_t){.kind = XY_WIRE_GRID,
                                     .owner = owner,
                                     .number = (is_up ? before : after) * g->dimensions + d,
                                     .direction = !is_up,
                                     .link = g->link});
            from = after;
            x = next;
        }
        stride *= n;
    }
}

double xy_grid_weighted(const xy_grid_t *g, const double *step, uint32_t a, uint32_t b)
{
    double sum = 0;

    for (uint32_t d = 0; d < g->dimensions; d++) {
        uint32_t n = g->size[d], x = a % n, y = b % n, gap = x > y ? x - y : y - x;

        if (g->is_torus && n - gap < gap)
            gap = n - gap;
        sum += step[d] * gap;
        a /= n;
        b /= n;
    }
    return sum;
}

uint32_t xy_grid_distance(const xy_grid_t *g, uint32_t a, uint32_t b)
{
    static const double one[XY_GRID_DIMENSIONS_MAX] = {1, 1, 1, 1, 1, 1, 1, 1};

    return (uint32_t)xy_grid_weighted(g, one, a, b);
}
