/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct collectives: the rules for cutting their work into pieces.
 *
 * The ranks of one node see each other's memory, so their default collective has no messages. The
 * ranks that share a core form a local group; the groups synchronize, and the work is then a
 * list of pieces that read and write the buffers of any rank and depend on this barrier only:
 *
 *   copies        in pieces of XY_DIRECT_PIECE bytes
 *   reductions    each group has a slice of the vector, cut into blocks that stay in cache
 *   small data    each group leaves what the others need in memory of its own before the barrier;
 *                 afterwards no rank has to wait until its buffers were read
 *
 * The runtime does the pieces without making a graph of them; the algorithms called `direct` build
 * the graph of the same pieces. Both ask the functions here, so that explanations, counts and
 * simulations agree with the run. Pure functions; any thread.
 */
#ifndef XY_COLL_DIRECT_H
#define XY_COLL_DIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    XY_DIRECT_SMALL = 2048,       /* bytes that a group leaves for the others */
    XY_DIRECT_GROUPED = 32 << 10, /* the same of a reduction, where a group has many ranks */
    XY_DIRECT_LINE = 64,          /* bytes of a cache line */
    XY_DIRECT_PIECE = 128 << 10,  /* bytes of a copy that make one piece */
    XY_DIRECT_TILE = 8, /* alltoall: sources read side by side, so that each receiver gets a run */
    XY_DIRECT_BLOCK = 32 << 10,      /* bytes of a block of a reduction; */
    XY_DIRECT_SHORT = 128 << 10,     /* vectors below this have smaller ones, */
    XY_DIRECT_SHORT_BLOCK = 8 << 10, /* so that several cores find some */
    XY_DIRECT_SPREAD = 256 << 10,    /* a spread block reads no more bytes of all ranks together, */
    XY_DIRECT_SPREAD_BLOCK = 256,    /* and has no more than two for each rank or so few bytes */
    XY_DIRECT_NOTICES = 8,           /* groups that one core notifies of the end; idle cores share
                                        them when there are more */
};

/* Pieces of a copy; piece i begins at i * XY_DIRECT_PIECE. A copy of nothing is one piece. */
static inline int64_t xy_direct_copy_pieces(uint64_t bytes)
{
    if (bytes <= XY_DIRECT_PIECE)
        return 1;
    return (int64_t)((bytes + XY_DIRECT_PIECE - 1) / XY_DIRECT_PIECE);
}

/* Was the work handed to a communication core (offloaded), and has no group more than one rank?
 * Then nothing is left for the others: that core notifies all ranks of the end, and there are no
 * ranks of one group whose data would travel together. And as no core comes to help with the last
 * pieces before its rank has computed, those of reductions are smaller. */
static inline bool xy_direct_is_spread(int most_members, bool is_offloaded)
{
    return is_offloaded && most_members == 1;
}

/* Elements of `span` bytes that make a block of a reduction over `ranks` vectors of `bytes` (0: not
 * known to all). */
static inline int64_t xy_direct_block_elements(uint64_t bytes, size_t span, int ranks,
                                               bool is_spread)
{
    size_t block = bytes > 0 && bytes < XY_DIRECT_SHORT ? XY_DIRECT_SHORT_BLOCK : XY_DIRECT_BLOCK;

    while (is_spread && block > XY_DIRECT_SHORT_BLOCK && block * (size_t)ranks > XY_DIRECT_SPREAD)
        block /= 2;
    while (is_spread && block > XY_DIRECT_SPREAD_BLOCK && bytes > 0 &&
           bytes / block < 2 * (uint64_t)ranks)
        block /= 2;
    return span > 0 && span < block ? (int64_t)(block / span) : 1;
}

/* The slice [*begin, *end) of group `group` of a vector of `count` elements of `span` bytes. Of a
 * short vector only so many groups have one that each has a cache line of it. */
static inline void xy_direct_slice(int64_t count, size_t span, int group, int groups,
                                   int64_t *begin, int64_t *end)
{
    uint64_t lines = (uint64_t)count * span / XY_DIRECT_LINE;

    if (lines < XY_DIRECT_SMALL / XY_DIRECT_LINE && (uint64_t)groups > lines)
        groups = lines > 0 ? (int)lines : 1;
    *begin = group < groups ? count * group / groups : count;
    *end = group < groups ? count * (group + 1) / groups : count;
}

/* Do `bytes` of each rank (or pair of ranks) fit into what a group leaves for the others, when it
 * leaves `blocks` of them? Where sizes may differ between ranks (0 bytes) they do not. */
static inline bool xy_direct_is_packed(uint64_t bytes, uint64_t blocks)
{
    return bytes > 0 && bytes * blocks <= XY_DIRECT_SMALL;
}

/* Vectors (broadcast, reductions): the same, but an empty one is small. */
static inline bool xy_direct_is_small(uint64_t bytes)
{
    return bytes <= XY_DIRECT_SMALL;
}

/* Reductions of vectors: does each group reduce those of its own ranks and leave the result? One of
 * many ranks does so with longer vectors, too: its ranks' buffers are in the cache of its core,
 * while a slice of all vectors is read from, and written to, the caches of all cores. What is left
 * is read by every group, so a group must have four times as many ranks as there are groups. */
static inline bool xy_direct_is_grouped(uint64_t bytes, int groups, int most_members)
{
    return xy_direct_is_small(bytes) ||
           (bytes <= XY_DIRECT_GROUPED && groups > 1 && 4 * groups <= most_members);
}

/* Allgather: are all blocks together so few bytes that a group puts them together as one piece? */
static inline bool xy_direct_is_compact(uint64_t bytes, uint64_t ranks)
{
    return bytes * ranks <= 2 * XY_DIRECT_PIECE;
}

/* Alltoall: are blocks so short that XY_DIRECT_TILE of them are one piece? */
static inline bool xy_direct_is_tiled(uint64_t bytes)
{
    return bytes > 0 && bytes <= XY_DIRECT_PIECE / XY_DIRECT_TILE;
}

#endif
