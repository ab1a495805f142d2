/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows that monitored ranks left in a directory, put together. Ranks name a communicator by two
 * numbers, the world rank of its first member and how many that one had made before; here it gets
 * one.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "place/matrix_reader.h"
#include "place/traffic.h"

typedef struct {
    xy_traffic_t traffic;
    xy_vec_t names; /* of each record, uint64_t: the communicator by both numbers */
} rows_t;

enum { FIELDS = 8, NUMBER_MAX = 0x7fffffff };

/* "target,bytes,messages,inside,phase,slice,first,number" */
static xy_status_t read_line(matrix_reader_t *r, uint64_t rank, rows_t *rows)
{
    static const char *const what[FIELDS] = {
        "rank",  "number of bytes", "number of messages", "kind",
        "phase", "slice",           "first member",       "number of a communicator"};
    uint64_t n[FIELDS] = {0}, name;
    double amount[2] = {0};
    xy_traffic_record_t record = {.from = (uint32_t)rank};

    for (int i = 0; i < FIELDS; i++) {
        uint64_t most = i == 0 ? r->ranks - 1 : i == 3 ? 1 : NUMBER_MAX;
        xy_status_t st = i == 1 || i == 2 ? matrix_next_value(r, what[i], &amount[i - 1])
                                          : matrix_next_whole(r, what[i], 0, most, &n[i]);

        if (st != XY_OK)
            return st;
    }
    record.to = (uint32_t)n[0];
    record.bytes[n[3]] = amount[0];
    record.messages[n[3]] = amount[1];
    record.phase = (uint32_t)n[4];
    record.slice = (uint32_t)n[5];
    name = n[6] << 32 | n[7];
    if (xy_vec_append(&rows->traffic.records, &record) != XY_OK ||
        xy_vec_append(&rows->names, &name) != XY_OK)
        return xy_fail_memory("reading what was monitored");
    return matrix_end_of_line(r);
}

/* "# ranks N slice SECONDS", then lines. */
static xy_status_t read_row(matrix_reader_t *r, uint64_t rank, rows_t *rows)
{
    uint64_t ranks = 0;
    const char *word;
    size_t length;

    r->separators = " ";
    if (!matrix_next_line(r) || r->stop - r->text < 8 || strncmp(r->text, "# ranks ", 8) != 0)
        return xy_fail_at(XY_EPARSE, r->path, 1, "not the row of a monitored rank");
    r->word = r->text + 8;
    if (matrix_next_whole(r, "number of ranks", rank + 1, XY_MATRIX_RANKS_MAX, &ranks) != XY_OK)
        return XY_EPARSE;
    if (matrix_next_word(r, &word, &length) &&
        matrix_next_value(r, "length of a slice", &rows->traffic.slice_seconds) != XY_OK)
        return XY_EPARSE;
    rows->traffic.ranks = r->ranks = (uint32_t)ranks;
    r->separators = ",";
    while (matrix_next_full_line(r, '#')) {
        xy_status_t st = read_line(r, rank, rows);

        if (st != XY_OK)
            return st;
    }
    return XY_OK;
}

static xy_status_t read_file(const char *directory, const char *name, rows_t *rows)
{
    char *path = xy_sprintf("%s/%s", directory, name), *data;
    unsigned long rank = strtoul(name, NULL, 10);
    size_t size;
    xy_status_t st;

    if (path == NULL)
        return xy_fail_memory("reading what was monitored");
    st = xy_file_read(path, XY_MATRIX_BYTES_MAX, &data, &size);
    if (st == XY_OK) {
        matrix_reader_t r = {.path = path, .at = data, .end = data + size};

        st = read_row(&r, rank, rows);
        xy_free(data);
    }
    xy_free(path);
    return st;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* The world is named 0, 0 and so comes first; when nothing was sent on it its number stays free. */
static xy_status_t number_communicators(rows_t *rows)
{
    size_t n = rows->names.count, count = 1;
    uint64_t *sorted = xy_malloc((n + 1) * sizeof(*sorted));

    if (sorted == NULL)
        return xy_fail_memory("reading what was monitored");
    sorted[0] = 0;
    if (n > 0)
        memcpy(sorted + 1, rows->names.data, n * sizeof(*sorted));
    qsort(sorted, n + 1, sizeof(*sorted), compare);
    for (size_t i = 1; i <= n; i++)
        if (sorted[i] != sorted[count - 1])
            sorted[count++] = sorted[i];
    for (size_t i = 0; i < n; i++) {
        const uint64_t *found =
            bsearch(&XY_VEC_AT(&rows->names, uint64_t, i), sorted, count, sizeof(*sorted), compare);

        XY_VEC_AT(&rows->traffic.records, xy_traffic_record_t, i).communicator =
            (uint32_t)(found - sorted);
    }
    xy_free(sorted);
    return XY_OK;
}

xy_status_t xy_traffic_read(const char *directory, xy_traffic_t *t)
{
    rows_t rows = {.traffic.records = XY_VEC_INIT(xy_traffic_record_t),
                   .names = XY_VEC_INIT(uint64_t)};
    DIR *d = opendir(directory);
    const struct dirent *entry;
    xy_status_t st = XY_OK;

    if (d == NULL)
        return xy_fail_errno(errno, directory, "cannot read");
    while (st == XY_OK && (entry = readdir(d)) != NULL)
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
            st = read_file(directory, entry->d_name, &rows);
    closedir(d);
    if (st == XY_OK && rows.traffic.ranks == 0)
        st = xy_fail(XY_ENOENT, "nothing was monitored: no rank came to MPI_Finalize, or the "
                                "program is linked to another MPI than the launcher's");
    if (st == XY_OK)
        st = number_communicators(&rows);
    xy_vec_cleanup(&rows.names);
    if (st == XY_OK)
        *t = rows.traffic;
    else
        xy_traffic_cleanup(&rows.traffic);
    return st;
}
