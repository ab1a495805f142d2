/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks/picture/picture_internal.h"

static void append(xy_film_t *film, xy_vec_t *vec, const void *item)
{
    if (xy_vec_append(vec, item) != XY_OK)
        film->is_out_of_memory = true;
}

static void on_task(void *arg, int32_t worker, xy_op_id_t op, double start, double end)
{
    xy_film_t *film = arg;

    append(film, &film->tasks, &(film_task_t){start, end, op, worker});
}

static void on_transfer(void *arg, int32_t data, int32_t from, int32_t to, double start, double end)
{
    xy_film_t *film = arg;

    append(film, &film->transfers, &(film_transfer_t){start, end, data, from, to});
}

static void on_memory(void *arg, int32_t memory, double time, uint64_t used)
{
    xy_film_t *film = arg;

    append(film, &film->rooms, &(film_room_t){time, (double)used, memory});
}

xy_status_t xy_film_create(xy_film_t **film_p)
{
    xy_film_t *film = xy_calloc(1, sizeof(*film));

    if (film == NULL)
        return xy_fail_memory("keeping what happens");
    film->observer = (xy_task_observer_t){film, on_task, on_transfer, on_memory, NULL};
    film->tasks = XY_VEC_INIT(film_task_t);
    film->transfers = XY_VEC_INIT(film_transfer_t);
    film->rooms = XY_VEC_INIT(film_room_t);
    *film_p = film;
    return XY_OK;
}

void xy_film_destroy(xy_film_t *film)
{
    if (film == NULL)
        return;
    xy_vec_cleanup(&film->tasks);
    xy_vec_cleanup(&film->transfers);
    xy_vec_cleanup(&film->rooms);
    xy_free(film);
}

const xy_task_observer_t *xy_film_observer(const xy_film_t *film)
{
    return &film->observer;
}
