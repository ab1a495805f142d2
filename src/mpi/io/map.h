/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of a file as memory.
 *
 *   io_map_t map;
 *
 *   if (io_map(shared, first, end, &map)) {
 *       memcpy(map.memory + (first - map.from), data, end - first);
 *       is_written = io_unmap(shared, &map);    false: write it otherwise
 *   }
 *
 * Pages are there before they are stored into: a store that finds no room would end the process.
 * Another process may cut the file meanwhile; then the stored data is lost, which io_unmap returns.
 * On tmpfs stores do not change the time of the file; syncing or closing the file updates it.
 */
#ifndef XY_MPI_IO_MAP_H
#define XY_MPI_IO_MAP_H

#include "fiber/fiber.h"
#include "mpi/io/access.h"

typedef struct {
    char *memory;
    int64_t from, end; /* bytes of the file that are there */
    bool is_stored;    /* ... to be written */
    xy_shield_t shield;
} io_map_t;

/* At least the bytes [first, end) of the file, to be written. False: not here. The thread has no
 * other mapping until it calls io_unmap, and is not switched. */
bool io_map(io_shared_t *shared, int64_t first, int64_t end, io_map_t *map);
/* The same to be read, of a file that is in memory and solid. */
bool io_map_read(const io_shared_t *shared, int64_t first, int64_t end, io_map_t *map);
/* False: the file was cut meanwhile. */
bool io_unmap(io_shared_t *shared, io_map_t *map);

/* Has the file at least `end` bytes, and is no page of it missing? */
bool io_is_solid(const io_shared_t *shared, int64_t end);
/* Set the time of the file if stores into mappings have changed it. */
void io_map_touch(io_shared_t *shared);

#endif
