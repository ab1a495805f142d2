/* SPDX-License-Identifier: BSD-3-Clause */
/* Where tasks and data lie: cells of the smallest box that holds all positions, row by row. */
#include "tasks/picture/picture_internal.h"

int64_t picture_place_of_data(const picture_layout_t *l, int32_t data)
{
    const int64_t *p = xy_graph_data_at(l->graph, data)->position;

    if (p[0] < 0)
        return -1;
    return (p[0] * l->size[1] + p[1]) * l->size[2] + p[2];
}

/* Sets size and dimensions of the domain from the positions of the data; huge domains count as
 * none. */
static void measure(picture_layout_t *l)
{
    double cells = 1;

    l->size[0] = l->size[1] = l->size[2] = 1;
    for (int32_t d = 0; d < xy_graph_data_count(l->graph); d++) {
        const int64_t *p = xy_graph_data_at(l->graph, d)->position;

        if (p[0] < 0)
            continue;
        l->dims = l->dims > 0 ? l->dims : 1;
        for (int i = 0; i < 3; i++)
            if (p[i] >= l->size[i]) {
                l->size[i] = p[i] + 1;
                l->dims = l->dims > i + 1 ? l->dims : i + 1;
            }
    }
    for (int i = 0; i < 3; i++)
        cells *= (double)l->size[i];
    /* Marks so far apart are no domain: nothing could be seen. */
    if (cells > 1 << 30)
        l->dims = 0;
    l->cells = l->dims > 0 ? (int64_t)cells : 1;
}

/* Returns the place of the first datum that a task writes, else of the first it reads; -1 without
 * positions. */
static int64_t place_of_op(const picture_layout_t *l, xy_op_id_t op)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(l->graph, op, &a);
    int64_t read = -1;

    for (int32_t i = 0; i < n; i++) {
        int64_t place = picture_place_of_data(l, a[i].data);

        if (place >= 0 && (a[i].mode & XY_ACCESS_WRITE))
            return place;
        read = read >= 0 ? read : place;
    }
    return read;
}

/* Iterations as the operations name them, or else counted place by place. */
static xy_status_t number_iterations(picture_layout_t *l)
{
    int32_t ops = xy_graph_ops(l->graph);
    bool is_named = false;
    int32_t *count;

    for (int32_t i = 0; i < ops; i++)
        is_named = is_named || xy_graph_op(l->graph, i)->iteration != 0;
    count = xy_calloc(is_named ? 1 : (size_t)l->cells, sizeof(*count));
    if (count == NULL)
        return XY_ENOMEM;
    for (int32_t i = 0; i < ops; i++) {
        int32_t named = xy_graph_op(l->graph, i)->iteration;

        if (l->place[i] < 0)
            continue;
        l->iteration[i] = is_named ? (named > 0 ? named : 0) : count[l->place[i]]++;
        if (l->iteration[i] >= l->iterations)
            l->iterations = l->iteration[i] + 1;
    }
    xy_free(count);
    return XY_OK;
}

/* Sets the end of the time axis, the number of workers, and the stride at which marks are drawn. */
static void find_end(picture_layout_t *l)
{
    for (size_t i = 0; i < l->picture->tasks.count; i++) {
        const picture_task_t *t = &XY_VEC_AT(&l->picture->tasks, picture_task_t, i);

        l->end = t->end > l->end ? t->end : l->end;
        l->workers = t->worker >= l->workers ? t->worker + 1 : l->workers;
    }
    for (size_t i = 0; i < l->picture->transfers.count; i++) {
        const picture_transfer_t *t = &XY_VEC_AT(&l->picture->transfers, picture_transfer_t, i);

        l->end = t->end > l->end ? t->end : l->end;
    }
    l->end = l->end > 0 ? l->end : 1;
    l->step = 1 + (l->picture->tasks.count + l->picture->transfers.count) / PICTURE_MARKS_MAX;
}

xy_status_t picture_layout_init(picture_layout_t *l, const xy_picture_t *picture,
                                const xy_graph_t *graph)
{
    size_t ops = (size_t)xy_graph_ops(graph);

    *l = (picture_layout_t){.picture = picture, .graph = graph};
    if (picture->is_out_of_memory)
        return xy_fail_memory("keeping what happened");
    measure(l);
    find_end(l);
    l->place = xy_malloc((ops + 1) * sizeof(*l->place));
    l->iteration = xy_calloc(ops + 1, sizeof(*l->iteration));
    for (size_t i = 0; l->place != NULL && i < ops; i++)
        l->place[i] = l->dims > 0 ? place_of_op(l, (xy_op_id_t)i) : -1;
    if (l->place == NULL || l->iteration == NULL || number_iterations(l) != XY_OK) {
        picture_layout_cleanup(l);
        return xy_fail_memory("drawing what happened");
    }
    return XY_OK;
}

void picture_layout_cleanup(picture_layout_t *l)
{
    xy_free(l->place);
    xy_free(l->iteration);
    l->place = NULL;
    l->iteration = NULL;
}
