/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The domain of several ranks in a file. Only rank 0 opens the file: it reads the blocks and sends
 * them to their owners, and in the end gets them back and writes the new content. So the other
 * ranks may be on other machines. What a rank works on is in a file of its own without a name,
 * which is mapped: a domain may be larger than all memory.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xylem.h>

#include "stencil/real.h"

xy_status_t stencil_ranks_pages(stencil_real_t *r)
{
    int fd = -1;
    void *at;
    xy_status_t st = stencil_file_directory(r->run->file, &r->file.directory);

    if (st == XY_OK)
        st = stencil_open_nameless(r->file.directory, r->memory_bytes, "a rank", "", &fd);
    if (st == XY_OK) {
        at = mmap(NULL, r->memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at == MAP_FAILED)
            st = xy_fail_errno(errno, r->file.directory, "map a file in it");
        else
            r->memory = at;
    }
    if (fd >= 0)
        close(fd);
    return st;
}

/* Rank 0 says how it went, and whether there was a file. */
static xy_status_t open_file(stencil_real_t *r)
{
    const xylem_messages *t = r->run->messages;
    int32_t told[2] = {0};
    xy_status_t sent = XY_OK, st = XY_OK;

    if (t->rank > 0) {
        st = xy_task_receive(t, 0, 0, told, sizeof(told));
        r->file.is_new = told[1] != 0;
        return st == XY_OK ? (xy_status_t)told[0] : st;
    }
    st = stencil_file_open_whole(r->run->file, &r->grid, &r->file);
    told[0] = (int32_t)st;
    told[1] = r->file.is_new;
    for (int32_t i = 1; i < t->ranks && sent == XY_OK; i++)
        sent = xy_task_send(t, i, 0, told, sizeof(told));
    return st != XY_OK ? st : sent;
}

/* A block of this rank, into all arrays that tasks see. One that no task uses is kept for the end.
 */
static xy_status_t put_block(stencil_real_t *r, int64_t cell, const void *block)
{
    int64_t cells = stencil_cells(&r->grid);

    for (int64_t d = cell; d < stencil_arrays(&r->grid) * cells; d += cells)
        if (r->share->here[d] >= 0)
            memcpy(r->addresses[r->share->here[d]], block, r->grid.block_bytes);
    if (r->share->here[cell] >= 0)
        return XY_OK;
    r->unused[cell] = xy_malloc(r->grid.block_bytes);
    if (r->unused[cell] == NULL)
        return xy_fail_memory("reading the domain");
    memcpy(r->unused[cell], block, r->grid.block_bytes);
    return XY_OK;
}

static xy_status_t move_block(stencil_real_t *r, int64_t cell, void *block)
{
    const xylem_messages *t = r->run->messages;
    int32_t owner = r->owner[cell];
    uint64_t bytes = r->grid.block_bytes;
    xy_status_t st = t->rank == 0 ? stencil_file_first(&r->file, cell, block) : XY_OK;

    if (st == XY_OK && t->rank == 0 && owner > 0)
        st = xy_task_send(t, owner, 0, block, bytes);
    if (st == XY_OK && t->rank > 0 && owner == t->rank)
        st = xy_task_receive(t, 0, 0, block, bytes);
    return st == XY_OK && owner == t->rank ? put_block(r, cell, block) : st;
}

xy_status_t stencil_ranks_read(stencil_real_t *r)
{
    int64_t cells = stencil_cells(&r->grid);
    xy_status_t st = open_file(r);
    void *block;

    if (st != XY_OK || r->file.is_new)
        return st;
    block = xy_malloc(r->grid.block_bytes);
    r->unused = xy_calloc((size_t)cells, sizeof(*r->unused));
    if (block == NULL || r->unused == NULL)
        st = xy_fail_memory("reading the domain");
    for (int64_t cell = 0; cell < cells && st == XY_OK; cell++)
        st = move_block(r, cell, block);
    xy_free(block);
    return st;
}
