/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A domain in a file: one array of blocks, block after block, each as the kernels see it.
 *
 * The run works on a file of its own beside it, with room for all arrays, and only a complete
 * result takes the place of the domain. Whatever goes wrong before, the file is as it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stencil/real.h"

/* Reads or writes all bytes at offset `at`; interrupted calls are repeated. */
static xy_status_t move_bytes(int fd, const char *path, char *buffer, uint64_t bytes, uint64_t at,
                              bool is_write)
{
    while (bytes > 0) {
        ssize_t n =
            is_write ? pwrite(fd, buffer, bytes, (off_t)at) : pread(fd, buffer, bytes, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return xy_fail_errno(errno, path, is_write ? "write to" : "read");
        if (n == 0)
            return xy_fail(XY_EIO, "%s ends at byte %llu; it was cut while in use", path,
                           (unsigned long long)at);
        buffer += n;
        at += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    return XY_OK;
}

xy_status_t stencil_file_read(const stencil_file_t *f, int32_t data, void *block)
{
    return move_bytes(f->fd, f->path, block, f->block_bytes, f->offset[data], false);
}

/* ---- The content at the beginning ---- */

/* -1: there is no file yet. *st_p: whether that is all right. */
static int open_domain(const char *path, uint64_t bytes, xy_status_t *st_p)
{
    char need[32], have[32];
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    *st_p = XY_OK;
    if (fd < 0) {
        if (errno != ENOENT)
            *st_p = xy_fail_errno(errno, path, "read");
        return -1;
    }
    if (fstat(fd, &info) != 0)
        *st_p = xy_fail_errno(errno, path, "read");
    else if (!S_ISREG(info.st_mode))
        *st_p =
            xy_fail(XY_EINVAL, "%s is not a plain file; name an existing one or a new one", path);
    else if ((uint64_t)info.st_size != bytes)
        *st_p = xy_fail(XY_EINVAL,
                        "%s has %s (%lld bytes) and the domain %s (%llu bytes); name the blocks, "
                        "cells and precision it was made with, or another file",
                        path, xy_format_size((uint64_t)info.st_size, have), (long long)info.st_size,
                        xy_format_size(bytes, need), (unsigned long long)bytes);
    if (*st_p == XY_OK)
        return fd;
    close(fd);
    return -1;
}

/* Writes the first values of all blocks to the work file, from the file `domain` or generated if it
 * is -1. */
static xy_status_t write_blocks(stencil_file_t *f, const char *path, const xy_stencil_t *s,
                                const stencil_shape_t *shape, int domain)
{
    void *block = xy_malloc(f->block_bytes);
    int64_t cells = stencil_cells(s);
    xy_status_t st = block != NULL ? XY_OK : xy_fail_memory("filling the file");

    for (int64_t cell = 0; cell < cells && st == XY_OK; cell++) {
        if (domain < 0)
            stencil_fill(s, shape, 0, cell, block);
        else
            st = move_bytes(domain, path, block, f->block_bytes, (uint64_t)cell * f->block_bytes,
                            false);
        if (st == XY_OK)
            st = move_bytes(f->fd, f->path, block, f->block_bytes, f->offset[cell], true);
        /* The blocks at the ends are read from both arrays. */
        if (stencil_is_reading_back(s) && domain < 0)
            stencil_fill(s, shape, 1, cell, block);
        if (st == XY_OK && stencil_arrays(s) == 2 &&
            (!stencil_is_written(s, cell) || stencil_is_reading_back(s)))
            st = move_bytes(f->fd, f->path, block, f->block_bytes, f->offset[cells + cell], true);
    }
    xy_free(block);
    return st;
}

/* ---- The work file ---- */

/* Sets the offset of each datum in the work file and the total bytes. */
static xy_status_t place_data(stencil_file_t *f, const xy_graph_t *graph, uint64_t *bytes_p)
{
    int32_t data = xy_graph_data_count(graph);

    f->offset = xy_malloc(((size_t)data + 1) * sizeof(*f->offset));
    if (f->offset == NULL)
        return xy_fail_memory("placing the blocks");
    *bytes_p = 0;
    for (int32_t d = 0; d < data; d++) { /* all are of one type, so all are aligned */
        f->offset[d] = *bytes_p;
        *bytes_p += xy_graph_data_at(graph, d)->bytes;
    }
    return XY_OK;
}

xy_status_t stencil_file_directory(const char *path, char **directory_p)
{
    const char *slash = strrchr(path, '/');

    if (*directory_p == NULL)
        *directory_p =
            slash == NULL ? xy_strdup(".") : xy_strndup(path, (size_t)(slash - path) + 1);
    return *directory_p != NULL ? XY_OK : xy_fail_memory("naming the work file");
}

/* Opens the work file beside `path` and reserves its space. */
static xy_status_t make_work(stencil_file_t *f, const char *path, uint64_t bytes)
{
    char need[32];
    xy_status_t st = stencil_file_directory(path, &f->directory);
    int err;

    f->path = xy_strdup(path);
    if (st == XY_OK && f->path == NULL)
        st = xy_fail_memory("naming the work file");
    if (st == XY_OK)
        st = xy_out_open(path, &f->work);
    if (st != XY_OK)
        return st;
    f->fd = fileno(xy_out_file(f->work));
    err = posix_fallocate(f->fd, 0, (off_t)bytes);
    if (err != 0)
        return xy_fail(XY_EIO,
                       "not enough space for a work file of %s beside %s: %s; free some, or name a "
                       "file elsewhere",
                       xy_format_size(bytes, need), path, strerror(err));
    return XY_OK;
}

xy_status_t stencil_file_open(const char *path, const xy_stencil_t *s, const stencil_shape_t *shape,
                              const xy_graph_t *graph, stencil_file_t *file_p)
{
    stencil_file_t f = {.fd = -1, .domain = -1, .block_bytes = s->block_bytes};
    uint64_t bytes = 0;
    xy_status_t st;
    int domain = open_domain(path, (uint64_t)stencil_cells(s) * s->block_bytes, &st);

    f.is_new = domain < 0;
    if (st == XY_OK)
        st = place_data(&f, graph, &bytes);
    f.bytes = bytes;
    if (st == XY_OK)
        st = make_work(&f, path, bytes);
    if (st == XY_OK)
        st = write_blocks(&f, path, s, shape, domain);
    if (domain >= 0)
        close(domain);
    if (st == XY_OK)
        *file_p = f;
    else
        stencil_file_cancel(&f);
    return st;
}

/* The existing part of the path, its directory, is kept. */
xy_status_t stencil_file_open_whole(const char *path, const xy_stencil_t *s, stencil_file_t *f)
{
    uint64_t bytes = (uint64_t)stencil_cells(s) * s->block_bytes;
    xy_status_t st;

    f->block_bytes = s->block_bytes;
    f->bytes = bytes;
    f->domain = open_domain(path, bytes, &st);
    f->is_new = f->domain < 0;
    return st == XY_OK ? make_work(f, path, bytes) : st;
}

xy_status_t stencil_file_first(const stencil_file_t *f, int64_t cell, void *block)
{
    return move_bytes(f->domain, f->path, block, f->block_bytes, (uint64_t)cell * f->block_bytes,
                      false);
}

xy_status_t stencil_file_write(const stencil_file_t *f, int64_t cell, void *block)
{
    return move_bytes(f->fd, f->path, block, f->block_bytes, (uint64_t)cell * f->block_bytes, true);
}

xy_status_t stencil_file_map(stencil_file_t *f)
{
    void *at = mmap(NULL, f->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);

    if (at == MAP_FAILED)
        return xy_fail_errno(errno, f->path, "map");
    f->mapped = at;
    return XY_OK;
}

/* ---- The end ---- */

/* Bring the blocks of the result to the front, where the first array is. */
static xy_status_t gather_result(stencil_file_t *f, const stencil_real_t *r)
{
    void *block = xy_malloc(f->block_bytes);
    xy_status_t st = block != NULL ? XY_OK : xy_fail_memory("gathering the result");

    for (int64_t cell = 0; cell < stencil_cells(&r->grid) && st == XY_OK; cell++) {
        int32_t data = stencil_real_result(r, cell);

        if (data == cell)
            continue;
        st = stencil_file_read(f, data, block);
        if (st == XY_OK)
            st = move_bytes(f->fd, f->path, block, f->block_bytes, f->offset[cell], true);
    }
    xy_free(block);
    return st;
}

xy_status_t stencil_file_commit(stencil_file_t *f, const stencil_real_t *r)
{
    uint64_t bytes = (uint64_t)stencil_cells(&r->grid) * f->block_bytes;
    xy_status_t st = r->share != NULL ? XY_OK : gather_result(f, r);
    xy_out_t *work = f->work;

    if (f->mapped != NULL)
        munmap(f->mapped, f->bytes);
    f->mapped = NULL;
    if (st == XY_OK && ftruncate(f->fd, (off_t)bytes) != 0)
        st = xy_fail_errno(errno, f->path, "complete");
    if (st != XY_OK)
        return st;
    f->work = NULL;
    f->fd = -1;
    return xy_out_commit(work);
}

void stencil_file_cancel(stencil_file_t *f)
{
    if (f->mapped != NULL)
        munmap(f->mapped, f->bytes);
    if (f->domain >= 0)
        close(f->domain);
    xy_out_cancel(f->work);
    xy_free(f->directory);
    xy_free(f->path);
    xy_free(f->offset);
    *f = (stencil_file_t){.fd = -1, .domain = -1};
}
