/* SPDX-License-Identifier: BSD-3-Clause */
/* What a film keeps. Private to the room. */
#ifndef XY_STENCIL_FILM_H
#define XY_STENCIL_FILM_H

#include "stencil/stencil.h"

typedef struct {
    float start, end;
    xy_op_id_t op;
    int32_t worker;
} film_task_t;

typedef struct {
    float start, end;
    int32_t data, from, to;
} film_transfer_t;

typedef struct {
    float time;
    int32_t memory;
    double used;
} film_room_t;

struct xy_stencil_film {
    xy_task_observer_t observer;
    xy_vec_t tasks, transfers, rooms; /* of the three kinds above, by their ends */
    bool is_out_of_memory;
};

#endif
