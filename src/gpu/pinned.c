/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool of pinned memory: pieces that were given back serve the next that are not much smaller.
 * All who have opened a device share its pieces, where the driver can, until the last has closed
 * it.
 */
#include "gpu/gpu_internal.h"

static const uint64_t GRAIN = 64 << 10;

/* A piece, in use or kept. Its owner is who took it from the system or uses it; NULL: it was that
 * of one who has closed the device since. */
typedef struct {
    const xy_gpu_device_t *owner;
    const gpu_driver_t *driver;
    int number; /* of the device */
    void *address, *handle;
    uint64_t bytes;
    bool is_used;
} piece_t;

static struct {
    pthread_mutex_t lock;
    xy_vec_t pieces;  /* of piece_t */
    xy_vec_t openers; /* of const xy_gpu_device_t * */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .pieces = XY_VEC_INIT(piece_t),
          .openers = XY_VEC_INIT(const xy_gpu_device_t *)};

static piece_t *piece_at(size_t i)
{
    return &XY_VEC_AT(&pool.pieces, piece_t, i);
}

/* May it be used through this handle of a device? */
static bool is_for(const piece_t *p, const xy_gpu_device_t *gpu)
{
    if (!gpu->driver->is_pinned_shared)
        return p->owner == gpu;
    return p->driver == gpu->driver && p->number == gpu->info.number;
}

/* The smallest kept piece that is large enough, and not twice as large; NULL: none. */
static piece_t *find_kept(const xy_gpu_device_t *gpu, uint64_t bytes)
{
    piece_t *best = NULL;

    for (size_t i = 0; i < pool.pieces.count; i++) {
        piece_t *p = piece_at(i);

        if (!p->is_used && is_for(p, gpu) && p->bytes >= bytes && p->bytes / 2 < bytes &&
            (best == NULL || p->bytes < best->bytes))
            best = p;
    }
    return best;
}

/* Under the lock. */
static xy_status_t take(xy_gpu_device_t *gpu, uint64_t bytes, void **address_p)
{
    piece_t *kept = find_kept(gpu, bytes), new = {.owner = gpu,
                                                  .driver = gpu->driver,
                                                  .number = gpu->info.number,
                                                  .bytes = bytes,
                                                  .is_used = true};
    xy_status_t st;

    if (kept != NULL) {
        kept->is_used = true;
        kept->owner = gpu;
        *address_p = kept->address;
        return XY_OK;
    }
    st = gpu->driver->pinned_take(gpu, bytes, &new.address, &new.handle);
    if (st != XY_OK)
        return st;
    if (xy_vec_append(&pool.pieces, &new) != XY_OK) {
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
    pthread_mutex_lock(&pool.lock);
    st = take(gpu, bytes > 0 ? bytes : GRAIN, address_p);
    pthread_mutex_unlock(&pool.lock);
    return st;
}

void xy_gpu_pinned_give(xy_gpu_device_t *gpu, void *address)
{
    pthread_mutex_lock(&pool.lock);
    for (size_t i = 0; address != NULL && i < pool.pieces.count; i++)
        if (piece_at(i)->address == address && is_for(piece_at(i), gpu))
            piece_at(i)->is_used = false;
    pthread_mutex_unlock(&pool.lock);
}

xy_status_t gpu_pinned_open(const xy_gpu_device_t *gpu)
{
    xy_status_t st;

    pthread_mutex_lock(&pool.lock);
    st = xy_vec_append(&pool.openers, &gpu);
    pthread_mutex_unlock(&pool.lock);
    return st == XY_OK ? XY_OK : xy_fail_memory("opening a GPU");
}

/* Remove one from those who have it open. True: another one uses its pieces. */
static bool leave(const xy_gpu_device_t *gpu)
{
    size_t me = 0;
    bool has_others = false;

    for (size_t i = 0; i < pool.openers.count; i++) {
        const xy_gpu_device_t *other = XY_VEC_AT(&pool.openers, const xy_gpu_device_t *, i);

        if (other == gpu)
            me = i;
        else if (gpu->driver->is_pinned_shared && other->driver == gpu->driver &&
                 other->info.number == gpu->info.number)
            has_others = true;
    }
    XY_VEC_AT(&pool.openers, const xy_gpu_device_t *, me) =
        XY_VEC_AT(&pool.openers, const xy_gpu_device_t *, pool.openers.count - 1);
    if (--pool.openers.count == 0)
        xy_vec_cleanup(&pool.openers);
    return has_others;
}

void gpu_pinned_close(xy_gpu_device_t *gpu)
{
    bool has_others;
    size_t left = 0;

    pthread_mutex_lock(&pool.lock);
    has_others = leave(gpu);
    for (size_t i = 0; i < pool.pieces.count; i++) {
        piece_t p = *piece_at(i);

        if (is_for(&p, gpu) && !has_others) {
            gpu->driver->pinned_give(gpu, p.address, p.handle);
            continue;
        }
        if (p.owner == gpu) {
            p.owner = NULL;
            p.is_used = false;
        }
        *piece_at(left++) = p;
    }
    pool.pieces.count = left;
    if (left == 0)
        xy_vec_cleanup(&pool.pieces);
    pthread_mutex_unlock(&pool.lock);
}
