/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows that monitored ranks left in a directory, put together. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "place/matrix_reader.h"

/* The row of one rank: "target,bytes,messages,inside" after "# ranks N". */
static xy_status_t read_row(matrix_reader_t *r, uint64_t rank, xy_monitored_t what)
{
    uint64_t ranks = 0;

    r->separators = ",";
    if (!matrix_next_line(r) || r->stop - r->text < 8 || strncmp(r->text, "# ranks ", 8) != 0)
        return xy_fail_at(XY_EPARSE, r->path, 1, "not the row of a monitored rank");
    r->word = r->text + 8;
    if (matrix_next_whole(r, "number of ranks", rank + 1, XY_MATRIX_RANKS_MAX, &ranks) != XY_OK)
        return XY_EPARSE;
    r->ranks = (uint32_t)ranks;
    while (matrix_next_full_line(r, '#')) {
        uint64_t to, inside = 0;
        double bytes, messages;
        xy_status_t st = matrix_next_whole(r, "rank", 0, ranks - 1, &to);

        if (st == XY_OK)
            st = matrix_next_value(r, "number of bytes", &bytes);
        if (st == XY_OK)
            st = matrix_next_value(r, "number of messages", &messages);
        if (st == XY_OK)
            st = matrix_next_whole(r, "kind", 0, 1, &inside);
        if (st == XY_OK &&
            (what == XY_MONITORED_ALL || (inside == 1) == (what == XY_MONITORED_COLLECTIVES)))
            st = matrix_add(r, rank, to, bytes, messages);
        if (st != XY_OK)
            return st;
    }
    return XY_OK;
}

static xy_status_t read_file(const char *directory, const char *name, matrix_reader_t *all,
                             xy_monitored_t what)
{
    char *path = xy_sprintf("%s/%s", directory, name), *data, *end;
    unsigned long rank = strtoul(name, &end, 10);
    size_t size;
    xy_status_t st;

    if (path == NULL)
        return xy_fail_memory("reading what was monitored");
    st = xy_file_read(path, XY_MATRIX_BYTES_MAX, &data, &size);
    if (st == XY_OK) {
        all->path = path;
        all->at = data;
        all->end = data + size;
        all->line = 0;
        st = read_row(all, rank, what);
        xy_free(data);
    }
    xy_free(path);
    return st;
}

xy_status_t xy_matrix_monitored(const char *directory, xy_monitored_t what, xy_matrix_t **matrix_p)
{
    matrix_reader_t all = {.entries = XY_VEC_INIT(xy_matrix_entry_t)};
    DIR *d = opendir(directory);
    const struct dirent *entry;
    xy_status_t st = XY_OK;

    if (d == NULL)
        return xy_fail_errno(errno, directory, "cannot read");
    while (st == XY_OK && (entry = readdir(d)) != NULL)
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
            st = read_file(directory, entry->d_name, &all, what);
    closedir(d);
    if (st == XY_OK && all.ranks == 0)
        st = xy_fail(XY_ENOENT, "nothing was monitored: no rank came to MPI_Finalize, or the "
                                "program is linked to another MPI than the launcher's");
    if (st == XY_OK)
        st = xy_matrix_build(all.ranks, all.entries.data, all.entries.count, true, matrix_p);
    xy_vec_cleanup(&all.entries);
    return st;
}
