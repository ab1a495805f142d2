/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heap blocks and variables of the program, with --check: is a buffer as long as its count and
 * datatype say, and is it still allocated?
 */
#ifndef XY_MPI_CHECK_ALLOCATIONS_H
#define XY_MPI_CHECK_ALLOCATIONS_H

#include "mpi/check/area.h"
#include "mpi/runtime/runtime.h"

/* Blocks of the heap, from malloc and its relatives. */
typedef struct {
    const char *low, *high; /* high > low, also of an empty block */
    size_t size;            /* as requested */
    size_t usable;          /* as the allocator has rounded it */
    const void *allocated;  /* return addresses */
    const void *freed;      /* NULL: it is in use */
    uint64_t number;        /* of no other one */
} check_block_t;

/* Record a block, forget it, or mark it as freed. False: it is not known. Any thread. */
void check_allocations_add(void *memory, size_t size, const void *site);
bool check_allocations_remove(const void *memory);
bool check_allocations_free(const void *memory, const void *site);
/* The block that has this byte. False: none is known. */
bool check_allocations_find(const void *address, check_block_t *block);

/* How often any of these was called: nothing has changed if it is the same. */
uint64_t check_allocations_changes(void);

/* `self` uses a buffer: report one that is too small or freed. `is_heap_only`: if it is not in the
 * heap, it is right. Is all of it in one block of the heap? */
bool check_allocations_look(const mpi_rank_t *self, const check_area_t *area, bool is_receive,
                            bool is_heap_only);

/* The same at the end of an operation that `call` has begun: true if the buffer was freed, which is
 * reported. */
bool check_allocations_pending(const mpi_rank_t *self, const check_area_t *area, const char *call,
                               const void *site);
/* `self` uses memory of a window of rank `owner`, which begins at `base`; NULL: it has parts. */
void check_allocations_window(const mpi_rank_t *self, const check_area_t *area, const char *base,
                              int owner);

#endif
