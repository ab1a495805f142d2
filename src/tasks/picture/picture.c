/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks/picture/picture_internal.h"

static void append(xy_picture_t *picture, xy_vec_t *vec, const void *item)
{
    if (xy_vec_append(vec, item) != XY_OK)
        picture->is_out_of_memory = true;
}

static void on_task(void *arg, int32_t worker, xy_op_id_t op, double start, double end)
{
    xy_picture_t *picture = arg;

    append(picture, &picture->tasks, &(picture_task_t){start, end, op, worker});
}

static void on_transfer(void *arg, int32_t data, int32_t from, int32_t to, double start, double end)
{
    xy_picture_t *picture = arg;

    append(picture, &picture->transfers, &(picture_transfer_t){start, end, data, from, to});
}

static void on_memory(void *arg, int32_t memory, double time, uint64_t used)
{
    xy_picture_t *picture = arg;

    append(picture, &picture->rooms, &(picture_room_t){time, (double)used, memory});
}

xy_status_t xy_picture_create(xy_picture_t **picture_p)
{
    xy_picture_t *picture = xy_calloc(1, sizeof(*picture));

    if (picture == NULL)
        return xy_fail_memory("keeping what happens");
    picture->observer =
        (xy_task_observer_t){picture, on_task, on_transfer, on_memory, NULL, NULL, NULL, NULL};
    picture->tasks = XY_VEC_INIT(picture_task_t);
    picture->transfers = XY_VEC_INIT(picture_transfer_t);
    picture->rooms = XY_VEC_INIT(picture_room_t);
    *picture_p = picture;
    return XY_OK;
}

void xy_picture_destroy(xy_picture_t *picture)
{
    if (picture == NULL)
        return;
    xy_vec_cleanup(&picture->tasks);
    xy_vec_cleanup(&picture->transfers);
    xy_vec_cleanup(&picture->rooms);
    xy_free(picture);
}

const xy_task_observer_t *xy_picture_observer(const xy_picture_t *picture)
{
    return &picture->observer;
}

void xy_picture_name_gpus(xy_picture_t *picture, int32_t gpus)
{
    picture->gpus = gpus;
}
