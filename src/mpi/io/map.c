/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/io/map.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ALIGN = 64 << 10, /* of mappings: a multiple of the pages of all machines */
    PAGES = 1024      /* that are asked for at a time */
};

bool io_is_solid(const io_shared_t *shared, int64_t end)
{
    struct stat about;

    return fstat(shared->fd, &about) == 0 && end <= about.st_size &&
           about.st_blocks >= about.st_size / 512;
}

static bool has_room(const io_shared_t *shared, int64_t first, int64_t end)
{
    return fallocate(shared->fd, 0, (off_t)first, (off_t)(end - first)) == 0;
}

/* Is each page of it in memory? */
static bool is_there(const io_map_t *map)
{
    size_t page = map->shield.page, bytes = (size_t)(map->end - map->from);
    unsigned char pages[PAGES];

    for (size_t at = 0; at < bytes; at += PAGES * page) {
        size_t part = bytes - at < PAGES * page ? bytes - at : PAGES * page;
        size_t count = (part + page - 1) / page;

        if (mincore(map->memory + at, part, pages) != 0)
            return false;
        for (size_t i = 0; i < count; i++)
            if ((pages[i] & 1) == 0)
                return false;
    }
    return true;
}

/* Map a range of the file, shielded against its truncation; false if that fails. */
static bool map_part(const io_shared_t *shared, int64_t first, int64_t end, int protection,
                     io_map_t *map)
{
    size_t bytes;

    map->from = first & -(int64_t)ALIGN;
    map->end = end;
    bytes = (size_t)(end - map->from);
    map->memory =
        mmap(NULL, bytes, protection, MAP_SHARED | MAP_POPULATE, shared->fd, (off_t)map->from);
    if (map->memory == MAP_FAILED)
        return false;
    map->shield = (xy_shield_t){
        .low = map->memory, .high = map->memory + bytes, .page = (size_t)sysconf(_SC_PAGESIZE)};
    return true;
}

/* Room is taken beforehand. Files in memory need not be asked for it where the pages came with the
 * mapping; fallocate would wait for those who write, and goes over the pages one by one. */
bool io_map(io_shared_t *shared, int64_t first, int64_t end, io_map_t *map)
{
    bool is_sure = !shared->is_memory || !io_is_solid(shared, end);

    if (!shared->may_map || (is_sure && !has_room(shared, first, end)) ||
        !map_part(shared, first, end, PROT_READ | PROT_WRITE, map))
        return false;
    if (!is_sure && !is_there(map) && !has_room(shared, first, end)) {
        munmap(map->memory, (size_t)(map->end - map->from));
        return false;
    }
    map->is_stored = true;
    xy_shield_set(&map->shield);
    return true;
}

/* A page that is missing would be made. */
bool io_map_read(const io_shared_t *shared, int64_t first, int64_t end, io_map_t *map)
{
    if (!shared->is_memory || !io_is_solid(shared, end) ||
        !map_part(shared, first, end, PROT_READ, map))
        return false;
    map->is_stored = false;
    xy_shield_set(&map->shield);
    return true;
}

bool io_unmap(io_shared_t *shared, io_map_t *map)
{
    xy_shield_set(NULL);
    munmap(map->memory, (size_t)(map->end - map->from));
    if (map->is_stored && !atomic_load_explicit(&shared->is_stale, memory_order_relaxed))
        atomic_store_explicit(&shared->is_stale, true, memory_order_relaxed);
    return map->shield.is_cut == 0;
}

void io_map_touch(io_shared_t *shared)
{
    static const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};

    if (atomic_exchange_explicit(&shared->is_stale, false, memory_order_relaxed))
        (void)futimens(shared->fd, times); /* of another owner: the time stays */
}
