/* SPDX-License-Identifier: BSD-3-Clause */
/* The transfers of a good schedule, as a measure. */
#include "stencil/stencil.h"

/*
 * A window of `room` blocks slides over the domain and advances a band of iterations as high as
 * the window allows; then comes the next band, in the other direction, starting with the blocks
 * that are still there: K bands load K*B - (K-1)*room blocks, and store what they wrote.
 */
uint64_t xy_stencil_window_volume(const xy_stencil_t *s, uint64_t room)
{
    uint64_t blocks = (uint64_t)s->blocks[0], steps, bands, loads, stores;

    if (s->dims != 1 || s->graph == XY_STENCIL_JACOBI || room < 3)
        return 0;
    if (room > blocks)
        room = blocks;
    steps = (uint64_t)s->iterations * (s->graph == XY_STENCIL_RED_BLACK ? 2 : 1);
    bands = (steps + room - 3) / (room - 2);
    if (room == blocks)
        bands = 1;
    loads = bands * blocks - (bands - 1) * room;
    /* Each band writes all but the two ends, and the blocks that stay are stored once. */
    stores = bands * (blocks - 2) - (bands - 1) * (room - 1);
    return loads + stores;
}
