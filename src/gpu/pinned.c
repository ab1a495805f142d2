/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool of pinned memory: pieces that were given back serve the next that are not much smaller.
 */
#include "gpu/gpu_internal.h"

static const uint64_t GRAIN = 64 << 10;

/* The smallest kept piece that is large enough, and not twice as large; NULL: none. */
static gpu_pinned_t *find_kept(const xy_gpu_device_t *gpu, uint64_t bytes)
{
    gpu_pinned_t *best = NULL;

    for (size_t i = 0; i < gpu->pinned.count; i++) {
        gpu_pinned_t *p = &XY_VEC_AT(&gpu->pinned, gpu_pinned_t, i);

        if (!p->is_used && p->bytes >= bytes && p->bytes / 2 < bytes &&
            (best == NULL || p->bytes < best->bytes))
            best = p;
    }
    return best;
}

/* Under the lock. */
static xy_status_t take(xy_gpu_device_t *gpu, uint64_t bytes, void **address_p)
{
    gpu_pinned_t *kept = find_kept(gpu, bytes), new = {.bytes = bytes, .is_used = true};
    xy_status_t st;

    if (kept != NULL) {
        kept->is_used = true;
        *address_p = kept->address;
        return XY_OK;
    }
    st = gpu->driver->pinned_take(gpu, bytes, &new.address, &new.handle);
    if (st != XY_OK)
        return st;
    if (xy_vec_append(&gpu->pinned, &new) != XY_OK) {
        gpu->driver->pinned_give(gpu, new.address, new.handle);
        return xy_fail_memory("keeping pinned memory");
    }
    *address_p = new.address;
    return XY_OK;
}

xy_status_t xy_gpu_pinned_take(xy_gpu_device_t *gpu, uint64_t bytes, void **address_p)
{
    xy_status_t st;

    bytes = (bytes + GRAIN - 1) / GRAIN * GRAIN;
    pthread_mutex_lock(&gpu->lock);
    st = take(gpu, bytes > 0 ? bytes : GRAIN, address_p);
    pthread_mutex_unlock(&gpu->lock);
    return st;
}

void xy_gpu_pinned_give(xy_gpu_device_t *gpu, void *address)
{
    pthread_mutex_lock(&gpu->lock);
    for (size_t i = 0; address != NULL && i < gpu->pinned.count; i++) {
        gpu_pinned_t *p = &XY_VEC_AT(&gpu->pinned, gpu_pinned_t, i);

        if (p->address == address)
            p->is_used = false;
    }
    pthread_mutex_unlock(&gpu->lock);
}

void gpu_pinned_cleanup(xy_gpu_device_t *gpu)
{
    for (size_t i = 0; i < gpu->pinned.count; i++) {
        const gpu_pinned_t *p = &XY_VEC_AT(&gpu->pinned, gpu_pinned_t, i);

        gpu->driver->pinned_give(gpu, p->address, p->handle);
    }
    xy_vec_cleanup(&gpu->pinned);
}
