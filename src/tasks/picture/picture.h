/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pictures: the events of the tasks of a graph, recorded for drawing.
 *
 *   xy_picture_t *picture;
 *   xy_picture_create(&picture);
 *   how.observer = xy_picture_observer(picture);            (of either clock)
 *   ... run ...
 *   xy_picture_page(picture, graph, &(xy_picture_text_t){"Cholesky", "dmdar, 2 GPUs"}, file);
 *   xy_picture_destroy(picture);
 *
 * Drawing needs the position of a task: at the position of the first datum with a mark that it
 * writes, or else reads. Its iteration is the one that the operation names, or, where none does,
 * the number of tasks before it in the same place. Tasks without a place are left out.
 *
 * An xy_picture_t is used by one thread at a time.
 */
#ifndef XY_TASKS_PICTURE_PICTURE_H
#define XY_TASKS_PICTURE_PICTURE_H

#include <stdio.h>

#include "graph/graph.h"
#include "tasks/policy/policy.h"

typedef struct xy_picture xy_picture_t;

xy_status_t xy_picture_create(xy_picture_t **picture_p);
void xy_picture_destroy(xy_picture_t *picture); /* NULL is fine */
/* To be given to an engine; belongs to the xy_picture_t. */
const xy_task_observer_t *xy_picture_observer(const xy_picture_t *picture);

/* The first `gpus` workers are GPUs, for their names; without this all are cores. */
void xy_picture_name_gpus(xy_picture_t *picture, int32_t gpus);

/* The pictures that there is something to draw of, each to PREFIX-NAME.svg with the NAME time,
 * iteration, slices, memory or links. XY_EIO and the like (reported). */
xy_status_t xy_picture_files(const xy_picture_t *picture, const xy_graph_t *graph,
                             const char *prefix);

typedef struct {
    const char *title;
    const char *text; /* the first line is what was found, the others are below it */
} xy_picture_text_t;

/* One self-contained page: all pictures and, in 2D and 3D, the slices with a slider over time.
 * XY_ENOMEM (reported). */
xy_status_t xy_picture_page(const xy_picture_t *picture, const xy_graph_t *graph,
                            const xy_picture_text_t *text, FILE *file);

#endif
