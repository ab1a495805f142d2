/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pictures of a stencil. Tasks are numbered in the order in which they are built, so the graph is
 * built once more to find where each one lies.
 */
#include <stdlib.h>

#include "stencil/internal.h"

static xy_status_t build(const xy_stencil_run_t *run, const xy_stencil_result_t *result,
                         xy_graph_t **graph_p)
{
    xy_stencil_t grid = run->grid;

    grid.parts = result->parts;
    grid.is_proportional = run->how.params.is_proportional;
    return xy_stencil_build(&grid, graph_p);
}

/* The finding and the printed text of the run, as a string; the caller frees it with free(). NULL:
 * no memory. */
static char *describe(const xy_stencil_run_t *run, const xy_stencil_result_t *result)
{
    char *text = NULL, time[32];
    size_t size;
    FILE *f = open_memstream(&text, &size);

    if (f == NULL)
        return NULL;
    fprintf(f, "%s takes %s, %.3g times the compute bound.\n", result->sim.policy,
            xy_format_seconds(result->sim.makespan, time), stencil_ratio(result));
    xy_stencil_print_text(run, result, f);
    fclose(f);
    return text;
}

xy_status_t xy_stencil_picture_page(const xy_picture_t *picture, const xy_stencil_run_t *run,
                                    const xy_stencil_result_t *result, FILE *file)
{
    char title[80], *text;
    xy_graph_t *graph;
    xy_status_t st = build(run, result, &graph);

    if (st != XY_OK)
        return st;
    snprintf(title, sizeof(title), "Stencil under %s", result->sim.policy);
    text = describe(run, result);
    st = text != NULL ? xy_picture_page(picture, graph, &(xy_picture_text_t){title, text}, file)
                      : xy_fail_memory("drawing the stencil");
    free(text);
    xy_graph_destroy(graph);
    return st;
}

xy_status_t xy_stencil_picture_files(const xy_picture_t *picture, const xy_stencil_run_t *run,
                                     const xy_stencil_result_t *result, const char *prefix)
{
    xy_graph_t *graph;
    xy_status_t st = build(run, result, &graph);

    if (st != XY_OK)
        return st;
    st = xy_picture_files(picture, graph, prefix);
    xy_graph_destroy(graph);
    return st;
}
