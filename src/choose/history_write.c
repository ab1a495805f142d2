/* SPDX-License-Identifier: BSD-3-Clause */
/* The history: adding to it and removing from it, under a lock, as other jobs may do the same. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "choose/choose_internal.h"
#include "choose/lock.h"

enum { GROWN = 1 << 20 };

xy_status_t xy_history_path(char **path_p)
{
    char *path = xy_cache_path("XYLEM_HISTORY", "history");

    if (path == NULL)
        return xy_fail(XY_ENOENT, "cannot store the history: neither HOME nor XDG_CACHE_HOME is "
                                  "set; name a file in XYLEM_HISTORY");
    *path_p = path;
    return XY_OK;
}

static xy_status_t lock_for_writing(const char *path, int *lock_p)
{
    xy_status_t st = xy_make_directories(path);

    if (st != XY_OK)
        return st;
    *lock_p = choose_lock(path, true);
    return *lock_p >= 0 ? XY_OK : xy_fail_errno(errno, path, "lock");
}

/* ---- Appending ---- */

/* Does the file end with a complete line? A line that a crash has cut off is ended, and ignored by
 * readers. */
static bool has_end(int file)
{
    struct stat s;
    char last;

    return fstat(file, &s) != 0 || s.st_size == 0 || pread(file, &last, 1, s.st_size - 1) != 1 ||
           last == '\n';
}

/* Appends to the file, after an end of line if the last is missing; *size_p is its new size. */
static xy_status_t write_text(const char *path, const char *text, size_t length, off_t *size_p)
{
    int file = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    struct stat s;
    int error;

    if (file < 0)
        return xy_fail_errno(errno, path, "write");
    error = has_end(file) ? 0 : xy_write_all(file, "\n", 1);
    if (error == 0)
        error = xy_write_all(file, text, length);
    if (error == 0 && fstat(file, &s) != 0)
        error = errno;
    if (error != 0) {
        close(file);
        return xy_fail_errno(error, path, "write");
    }
    *size_p = s.st_size;
    close(file);
    return XY_OK;
}

typedef struct {
    const xy_history_t *history;
    const char *problem, *host; /* to be left out; NULL: of all */
    size_t from;
} keep_t;

static bool is_removed(const keep_t *k, const xy_run_t *run)
{
    return (k->problem != NULL || k->host != NULL) &&
           (k->problem == NULL || strcmp(run->instance.problem, k->problem) == 0) &&
           (k->host == NULL || strcmp(run->instance.host, k->host) == 0);
}

/* Writes the remaining runs; the callback of xy_out_write(). */
static xy_status_t print_kept(const void *arg, FILE *file)
{
    const keep_t *k = arg;
    xy_text_t text = XY_TEXT_INIT;
    bool has_failed;

    for (size_t i = k->from; i < k->history->runs.count; i++) {
        const xy_run_t *run = &XY_VEC_AT(&k->history->runs, xy_run_t, i);

        if (!is_removed(k, run))
            choose_line_format(run, &text);
    }
    has_failed = text.failed;
    if (text.s != NULL && !has_failed)
        fwrite(text.s, 1, text.length, file);
    xy_text_cleanup(&text);
    return has_failed ? xy_fail_memory("writing the history") : XY_OK;
}

/* The file as it is, under the lock that the caller has. */
static xy_status_t read_locked(const char *path, xy_history_t **history_p, size_t *lines_p)
{
    char *data = NULL;
    size_t size = 0;
    xy_status_t st = XY_OK;

    if (access(path, F_OK) == 0)
        st = xy_file_read(path, CHOOSE_FILE_MAX, &data, &size);
    if (st != XY_OK)
        return st;
    *lines_p = 0;
    for (size_t i = 0; i < size; i++)
        *lines_p += data[i] == '\n' || i + 1 == size;
    st = choose_history_parse(data != NULL ? data : "", size, path, CHOOSE_DROP, history_p);
    xy_free(data);
    return st;
}

static xy_status_t drop_half(const char *path)
{
    xy_history_t *h;
    size_t lines;
    xy_status_t st = read_locked(path, &h, &lines);

    if (st != XY_OK)
        return st;
    st = xy_out_write(path, print_kept, &(keep_t){.history = h, .from = h->runs.count / 2});
    xy_history_destroy(h);
    return st;
}

/* Appends to the history under its lock, and drops the older half of a file that has grown too
 * large. */
static xy_status_t append_text(const char *path, const xy_text_t *text)
{
    int lock;
    off_t size = 0;
    xy_status_t st = lock_for_writing(path, &lock);

    if (st != XY_OK)
        return st;
    st = write_text(path, text->s, text->length, &size);
    if (st == XY_OK && size > GROWN)
        st = drop_half(path);
    choose_unlock(lock);
    return st;
}

xy_status_t xy_history_append(const char *path, const xy_run_t *runs, size_t count)
{
    xy_text_t text = XY_TEXT_INIT;
    xy_status_t st = XY_OK;

    for (size_t i = 0; st == XY_OK && i < count; i++)
        if (!choose_line_format(&runs[i], &text))
            st = xy_fail(XY_EINVAL,
                         "a run of '%s' by '%s' cannot be stored: names are up to %d printable "
                         "characters without ',' and '=', times are positive",
                         runs[i].instance.problem, runs[i].alternative, XY_CHOOSE_WORD_MAX);
    if (st == XY_OK && text.failed)
        st = xy_fail_memory("writing the history");
    if (st == XY_OK && text.length > 0)
        st = append_text(path, &text);
    xy_text_cleanup(&text);
    return st;
}

/* ---- Import ---- */

static bool has_run(const xy_history_t *h, const xy_run_t *run)
{
    for (size_t i = h->runs.count; i-- > 0;)
        if (choose_line_equal(&XY_VEC_AT(&h->runs, xy_run_t, i), run))
            return true;
    return false;
}

/* Appends the runs of `from` that the history lacks. */
static xy_status_t add_new(const char *path, const xy_history_t *from, size_t *added_p)
{
    xy_history_t *own;
    xy_vec_t added = XY_VEC_INIT(xy_run_t);
    xy_status_t st = xy_history_load(path, NULL, NULL, &own);

    if (st != XY_OK)
        return st;
    for (size_t i = 0; st == XY_OK && i < from->runs.count; i++) {
        const xy_run_t *run = &XY_VEC_AT(&from->runs, xy_run_t, i);

        if (!has_run(own, run) && xy_vec_append(&added, run) != XY_OK)
            st = xy_fail_memory("importing a history");
    }
    if (st == XY_OK)
        st = xy_history_append(path, added.data, added.count);
    if (st == XY_OK)
        *added_p = added.count;
    xy_vec_cleanup(&added);
    xy_history_destroy(own);
    return st;
}

xy_status_t xy_history_import(const char *path, const char *from, size_t *added_p)
{
    char *data;
    size_t size;
    xy_history_t *other;
    xy_status_t st = xy_file_read(from, CHOOSE_FILE_MAX, &data, &size);

    if (st != XY_OK)
        return st;
    st = choose_history_parse(data, size, from, CHOOSE_REFUSE, &other);
    xy_free(data);
    if (st != XY_OK)
        return st;
    st = add_new(path, other, added_p);
    xy_history_destroy(other);
    return st;
}

/* ---- Clearing ---- */

/* Removes the runs of a problem and host, all if both are NULL; the caller holds the lock. */
static xy_status_t clear_locked(const char *path, const char *problem, const char *host,
                                size_t *removed_p)
{
    keep_t keep = {.problem = problem, .host = host};
    xy_history_t *h;
    size_t lines, kept = 0;
    xy_status_t st = read_locked(path, &h, &lines);

    if (st != XY_OK)
        return st;
    keep.history = h;
    keep.from = problem == NULL && host == NULL ? h->runs.count : 0;
    for (size_t i = keep.from; i < h->runs.count; i++)
        kept += !is_removed(&keep, &XY_VEC_AT(&h->runs, xy_run_t, i));
    if (lines > kept)
        st = xy_out_write(path, print_kept, &keep);
    if (st == XY_OK)
        *removed_p = lines - kept;
    xy_history_destroy(h);
    return st;
}

xy_status_t xy_history_clear(const char *path, const char *problem, const char *host,
                             size_t *removed_p)
{
    int lock;
    xy_status_t st = lock_for_writing(path, &lock);

    if (st != XY_OK)
        return st;
    st = clear_locked(path, problem, host, removed_p);
    if (st == XY_OK)
        st = choose_profiles_clear(path, problem, host);
    choose_unlock(lock);
    return st;
}
