/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Films: what happened to the tasks of a graph, kept to be drawn.
 *
 *   xy_film_t *film;
 *   xy_film_create(&film);
 *   how.observer = xy_film_observer(film);            (of either clock)
 *   ... run ...
 *   xy_film_page(film, graph, &(xy_film_text_t){"Cholesky", "dmdar, 2 GPUs"}, file);
 *   xy_film_destroy(film);
 *
 * A picture needs to know where a task lies: at the position of the first datum with a mark that it
 * writes, or else reads. Its iteration is the one that the operation names, or, where none does,
 * the number of tasks before it in the same place. Tasks without a place are left out.
 *
 * A film is used by one thread at a time.
 */
#ifndef XY_TASKS_PICTURE_PICTURE_H
#define XY_TASKS_PICTURE_PICTURE_H

#include <stdio.h>

#include "graph/graph.h"
#include "tasks/policy/policy.h"

typedef struct xy_film xy_film_t;

xy_status_t xy_film_create(xy_film_t **film_p);
void xy_film_destroy(xy_film_t *film); /* NULL is fine */
/* To be given to an engine; belongs to the film. */
const xy_task_observer_t *xy_film_observer(const xy_film_t *film);

/* The pictures that there is something to draw of, each to PREFIX-NAME.svg with the NAME time,
 * iteration, slices, memory or links. XY_EIO and the like (reported). */
xy_status_t xy_film_files(const xy_film_t *film, const xy_graph_t *graph, const char *prefix);

typedef struct {
    const char *title;
    const char *text; /* the first line is what was found, the others are below it */
} xy_film_text_t;

/* One self-contained page: all pictures and, in 2D and 3D, the slices with a slider over time.
 * XY_ENOMEM (reported). */
xy_status_t xy_film_page(const xy_film_t *film, const xy_graph_t *graph, const xy_film_text_t *text,
                         FILE *file);

#endif
