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
#include "place/traffic_internal.h"

enum { FIELDS = 8, NUMBER_MAX = 0x7fffffff };

/* "target,bytes,messages,inside,phase,slice,first,number" */
static xy_status_t read_line(matrix_reader_t *r, uint64_t rank, traffic_rows_t *rows)
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

/* "# ranks N slice SECONDS", the same in the rows of all ranks. */
static xy_status_t read_heading(matrix_reader_t *r, uint64_t rank, traffic_rows_t *rows)
{
    double seconds = 0;
    uint64_t ranks = 0;
    const char *word;
    size_t length;

    r->separators = " ";
    if (!matrix_next_line(r) || r->stop - r->text < 8 || strncmp(r->text, "# ranks ", 8) != 0)
        return xy_fail_at(XY_EPARSE, r->path, 1, "not the row of a monitored rank");
    r->word = r->text + 8;
    if (matrix_next_whole(r, "number of ranks", rank + 1, XY_MATRIX_RANKS_MAX, &ranks) != XY_OK)
        return XY_EPARSE;
    if (!matrix_next_word(r, &word, &length) || length != 5 || strncmp(word, "slice", 5) != 0)
        return xy_fail_at(XY_EPARSE, r->path, 1, "'slice' is expected after the number of ranks");
    if (matrix_next_value(r, "length of a slice", &seconds) != XY_OK)
        return XY_EPARSE;
    if (rows->traffic.ranks != 0 && rows->traffic.ranks != ranks)
        return xy_fail_at(XY_EPARSE, r->path, 1,
                          "%u ranks, while the row of another one says %u; the rows are of "
                          "different runs",
                          (unsigned)ranks, rows->traffic.ranks);
    rows->traffic.slice_seconds = seconds;
    rows->traffic.ranks = r->ranks = (uint32_t)ranks;
    return matrix_end_of_line(r);
}

void traffic_rows_init(traffic_rows_t *rows)
{
    *rows = (traffic_rows_t){.traffic.records = XY_VEC_INIT(xy_traffic_record_t),
                             .names = XY_VEC_INIT(uint64_t)};
}

xy_status_t traffic_rows_add(traffic_rows_t *rows, const char *data, size_t size, const char *path,
                             uint32_t rank)
{
    matrix_reader_t r = {.path = path, .at = data, .end = data + size};
    xy_status_t st;

    st = xy_text_check(path, data, size);
    if (st == XY_OK)
        st = read_heading(&r, rank, rows);
    r.separators = ",";
    while (st == XY_OK && matrix_next_full_line(&r, '#'))
        st = read_line(&r, rank, rows);
    return st;
}

/* "12.csv" is the row of rank 12; other files are none of ours. */
static bool is_row(const char *name, uint32_t *rank_p)
{
    size_t digits = strspn(name, "0123456789");
    unsigned long rank = strtoul(name, NULL, 10);

    *rank_p = (uint32_t)rank;
    return digits > 0 && strcmp(name + digits, ".csv") == 0 && rank < XY_MATRIX_RANKS_MAX;
}

/* Adds the rows of one file; files with other names are ignored. */
static xy_status_t read_file(const char *directory, const char *name, traffic_rows_t *rows)
{
    char *path, *data;
    uint32_t rank;
    xy_status_t st;
    size_t size;

    if (!is_row(name, &rank))
        return XY_OK;
    path = xy_sprintf("%s/%s", directory, name);
    if (path == NULL)
        return xy_fail_memory("reading what was monitored");
    st = xy_file_read(path, XY_MATRIX_BYTES_MAX, &data, &size);
    if (st == XY_OK) {
        st = traffic_rows_add(rows, data, size, path, rank);
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
static xy_status_t number_communicators(traffic_rows_t *rows)
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

xy_status_t traffic_rows_finish(traffic_rows_t *rows, xy_status_t st, xy_traffic_t *t)
{
    if (st == XY_OK && rows->traffic.ranks == 0)
        st = xy_fail(XY_ENOENT, "nothing was monitored: no rank reached MPI_Finalize, or the "
                                "program is linked with another MPI than the launcher's");
    if (st == XY_OK)
        st = number_communicators(rows);
    xy_vec_cleanup(&rows->names);
    if (st == XY_OK)
        *t = rows->traffic;
    else
        xy_traffic_cleanup(&rows->traffic);
    return st;
}

xy_status_t xy_traffic_read(const char *directory, xy_traffic_t *t)
{
    traffic_rows_t rows;
    DIR *d = opendir(directory);
    const struct dirent *entry;
    xy_status_t st = XY_OK;

    if (d == NULL)
        return xy_fail_errno(errno, directory, "read");
    traffic_rows_init(&rows);
    while (st == XY_OK && (entry = readdir(d)) != NULL)
        st = read_file(directory, entry->d_name, &rows);
    closedir(d);
    return traffic_rows_finish(&rows, st, t);
}
