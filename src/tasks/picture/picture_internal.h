/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of the component.
 *
 *   picture.c   keeping what happens
 *   layout.c    where tasks and data lie
 *   draw.c      pictures of the domain
 *   draw_use.c  pictures of memories and links
 *   task_page.c      the page, the slider, the files
 */
#ifndef XY_TASKS_PICTURE_PICTURE_INTERNAL_H
#define XY_TASKS_PICTURE_PICTURE_INTERNAL_H

#include "draw/draw.h"
#include "tasks/picture/picture.h"

typedef struct {
    double start, end;
    xy_op_id_t op;
    int32_t worker;
} picture_task_t;

typedef struct {
    double start, end;
    int32_t data, from, to;
} picture_transfer_t;

typedef struct {
    double time, used;
    int32_t memory;
} picture_room_t;

struct xy_picture {
    xy_task_observer_t observer;
    xy_vec_t tasks, transfers, rooms; /* of the three kinds above, by their ends */
    bool is_out_of_memory;
    int32_t gpus; /* the first workers are GPUs, so many; the others are cores */
};

typedef struct {
    const xy_picture_t *picture;
    const xy_graph_t *graph;
    double end;         /* of the last event, seconds; > 0 */
    int dims;           /* that the domain extends in; 0: no datum has a position */
    int64_t size[3];    /* of the domain; 1 beyond dims */
    int64_t cells;      /* all of it */
    int64_t *place;     /* [ops] cell; -1: none */
    int32_t *iteration; /* [ops] */
    int32_t iterations; /* highest + 1 */
    int32_t workers;    /* highest seen + 1 */
    size_t step;        /* every step-th mark is drawn */
    FILE *f;
    bool is_embedded; /* in the page */
    xy_svg_t svg;     /* that is drawn */
} picture_layout_t;

/* layout.c. The caller cleans up. XY_ENOMEM (reported). */
xy_status_t picture_layout_init(picture_layout_t *l, const xy_picture_t *picture,
                                const xy_graph_t *graph);
void picture_layout_cleanup(picture_layout_t *l);
int64_t picture_place_of_data(const picture_layout_t *l, int32_t data);

/* All pictures have the same frame. */
enum { PICTURE_WIDTH = 1000, PICTURE_HEIGHT = 440, PICTURE_LEFT = 60, PICTURE_TOP = 34 };
enum {
    PICTURE_WIDE = PICTURE_WIDTH - PICTURE_LEFT - 10,
    PICTURE_HIGH = PICTURE_HEIGHT - PICTURE_TOP - 36
};
enum { PICTURE_MARKS_MAX = 200000 };

static inline double picture_x(double share)
{
    return PICTURE_LEFT + share * PICTURE_WIDE;
}

static inline double picture_y(double share)
{
    return PICTURE_TOP + share * PICTURE_HIGH;
}

/* Transfers by what they do. */
typedef enum { PICTURE_LOAD, PICTURE_STORE, PICTURE_PEER, PICTURE_KINDS } picture_kind_t;

static inline picture_kind_t picture_kind_of(const picture_transfer_t *t)
{
    return t->from == 0 ? PICTURE_LOAD : t->to == 0 ? PICTURE_STORE : PICTURE_PEER;
}

/* Numbers of colours, of which workers have other ones than transfers while they are few. */
int picture_colour(int32_t worker);
int picture_kind_colour(picture_kind_t kind);

/* The pictures, in the order of a page. */
typedef enum {
    PICTURE_VIEW_TIME,      /* the domain against time, with transfers */
    PICTURE_VIEW_ITERATION, /* the domain (in 2D and 3D its middle line) against iterations, with
                          lines that join what was done by the same instant */
    PICTURE_VIEW_SLICES,    /* 2D and 3D: the domain at six instants */
    PICTURE_VIEW_MEMORY,    /* bytes in each memory */
    PICTURE_VIEW_LINKS,     /* transfers under way */
    PICTURE_VIEWS,
} picture_view_t;

/* draw.c */
void picture_begin(picture_layout_t *l, const char *title, const char *x, const char *y);
void picture_scale_time(const picture_layout_t *l);
void picture_scale_y(const picture_layout_t *l, double most, bool is_upward);
/* The legend of the colours of workers and of transfers, above the picture. */
void picture_draw_legend(const picture_layout_t *l, bool has_workers, bool has_transfers);
void picture_draw_time(picture_layout_t *l);
xy_status_t picture_draw_iterations(picture_layout_t *l);
xy_status_t picture_draw_slices(picture_layout_t *l);

/* task_page.c. Drawable: there are the positions, dimensions and events that the picture needs.
 * XY_ENOMEM (reported). */
bool picture_is_drawable(const picture_layout_t *l, picture_view_t view);
xy_status_t picture_draw(picture_layout_t *l, picture_view_t view);

/* draw_use.c */
void picture_draw_memory(picture_layout_t *l);
void picture_draw_links(picture_layout_t *l);

#endif
