/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the component share.
 *
 *   film.c      keeping what happens
 *   layout.c    where tasks and data lie
 *   draw.c      pictures of the domain
 *   draw_use.c  pictures of memories and links
 *   page.c      the page, the slider, the files
 */
#ifndef XY_TASKS_PICTURE_PICTURE_INTERNAL_H
#define XY_TASKS_PICTURE_PICTURE_INTERNAL_H

#include "draw/draw.h"
#include "tasks/picture/picture.h"

typedef struct {
    double start, end;
    xy_op_id_t op;
    int32_t worker;
} film_task_t;

typedef struct {
    double start, end;
    int32_t data, from, to;
} film_transfer_t;

typedef struct {
    double time, used;
    int32_t memory;
} film_room_t;

struct xy_film {
    xy_task_observer_t observer;
    xy_vec_t tasks, transfers, rooms; /* of the three kinds above, by their ends */
    bool is_out_of_memory;
};

typedef struct {
    const xy_film_t *film;
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
} film_layout_t;

/* layout.c. The caller cleans up. XY_ENOMEM (reported). */
xy_status_t film_layout_init(film_layout_t *l, const xy_film_t *film, const xy_graph_t *graph);
void film_layout_cleanup(film_layout_t *l);
int64_t film_place_of_data(const film_layout_t *l, int32_t data);

/* All pictures have the same frame. */
enum { FILM_WIDTH = 1000, FILM_HEIGHT = 440, FILM_LEFT = 60, FILM_TOP = 34 };
enum { FILM_WIDE = FILM_WIDTH - FILM_LEFT - 10, FILM_HIGH = FILM_HEIGHT - FILM_TOP - 36 };
enum { FILM_MARKS_MAX = 200000 };

static inline double film_x(double share)
{
    return FILM_LEFT + share * FILM_WIDE;
}

static inline double film_y(double share)
{
    return FILM_TOP + share * FILM_HIGH;
}

/* Transfers by what they do. */
typedef enum { FILM_LOAD, FILM_STORE, FILM_PEER, FILM_KINDS } film_kind_t;

static inline film_kind_t film_kind_of(const film_transfer_t *t)
{
    return t->from == 0 ? FILM_LOAD : t->to == 0 ? FILM_STORE : FILM_PEER;
}

/* Numbers of colours, of which workers have other ones than transfers while they are few. */
int film_colour(int32_t worker);
int film_kind_colour(film_kind_t kind);

/* The pictures, in the order of a page. */
typedef enum {
    FILM_PICTURE_TIME,      /* the domain against time, with transfers */
    FILM_PICTURE_ITERATION, /* the domain (in 2D and 3D its middle line) against iterations, with
                          lines that join what was done by the same instant */
    FILM_PICTURE_SLICES,    /* 2D and 3D: the domain at six instants */
    FILM_PICTURE_MEMORY,    /* bytes in each memory */
    FILM_PICTURE_LINKS,     /* transfers under way */
    FILM_PICTURES,
} film_picture_t;

/* draw.c */
void film_begin(film_layout_t *l, const char *title, const char *x, const char *y);
void film_scale_time(const film_layout_t *l);
void film_scale_y(const film_layout_t *l, double most, bool is_upward);
/* What the colours of transfers mean, above the picture. */
void film_draw_kinds(const film_layout_t *l);
void film_draw_time(film_layout_t *l);
xy_status_t film_draw_iterations(film_layout_t *l);
xy_status_t film_draw_slices(film_layout_t *l);

/* page.c. Drawable: there are the positions, dimensions and events that the picture needs.
 * XY_ENOMEM (reported). */
bool film_is_drawable(const film_layout_t *l, film_picture_t picture);
xy_status_t film_draw(film_layout_t *l, film_picture_t picture);

/* draw_use.c */
void film_draw_memory(film_layout_t *l);
void film_draw_links(film_layout_t *l);

#endif
