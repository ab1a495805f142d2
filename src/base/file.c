/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading whole files. Writing is in file_out.c. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"

enum { FIRST_CHUNK = 64 * 1024 };

static xy_status_t fail_too_large(const char *name, size_t limit)
{
    char text[32];

    return xy_fail_at(XY_ELIMIT, name, 0, "the file is larger than the limit of %s",
                      xy_format_size(limit, text));
}

static ssize_t read_retry(int fd, void *data, size_t size)
{
    ssize_t n;

    do
        n = read(fd, data, size);
    while (n < 0 && errno == EINTR);
    return n;
}

typedef struct {
    int fd;
    const char *name;
    size_t limit;
    xy_head_fn check; /* NULL: done, or there is none */
    char *data;
    size_t size, capacity;
} reading_t;

/* Look at the head as soon as it is there; `is_all`: no more will come. */
static xy_status_t check_head(reading_t *r, bool is_all)
{
    xy_head_fn check = r->check;

    if (check == NULL || (r->size < XY_FILE_HEAD && !is_all))
        return XY_OK;
    r->check = NULL;
    return check(r->name, r->data, r->size);
}

/* Fill the memory that there is. *is_all_p: the end was reached. */
static xy_status_t fill(reading_t *r, bool *is_all_p)
{
    xy_status_t st = XY_OK;

    while (r->size + 1 < r->capacity && st == XY_OK && !*is_all_p) {
        ssize_t n = read_retry(r->fd, r->data + r->size, r->capacity - 1 - r->size);

        if (n < 0)
            return xy_fail_errno(errno, r->name, "read");
        r->size += (size_t)n;
        *is_all_p = n == 0;
        st = r->size > r->limit ? fail_too_large(r->name, r->limit) : check_head(r, n == 0);
    }
    return st;
}

/* Read to the end. `expected` is a first guess of the size; pipes and /proc files give none, and
 * any file may grow meanwhile. One byte more than the limit is asked for, to see it exceeded. */
static xy_status_t read_all(reading_t *r, size_t expected, char **data_p, size_t *size_p)
{
    bool is_all = false;
    xy_status_t st = XY_OK;

    r->capacity = expected + 2 > FIRST_CHUNK ? expected + 2 : FIRST_CHUNK;
    while (st == XY_OK && !is_all) {
        char *larger = xy_realloc(r->data, r->capacity);

        if (larger == NULL) {
            st = xy_fail_memory("reading a file");
            break;
        }
        r->data = larger;
        st = fill(r, &is_all);
        r->capacity *= 2;
    }
    if (st != XY_OK) {
        xy_free(r->data);
        return st;
    }
    r->data[r->size] = '\0';
    *data_p = r->data;
    *size_p = r->size;
    return XY_OK;
}

/* Devices without an end, such as /dev/zero; a terminal and /dev/null have one. */
static bool is_endless(int fd, const struct stat *info)
{
    return S_ISBLK(info->st_mode) || (S_ISCHR(info->st_mode) && !isatty(fd) &&
                                      info->st_rdev != makedev(1, 3) /* /dev/null */);
}

/* Read a whole file from an open descriptor; the caller owns *data_p and closes `fd`. */
static xy_status_t read_open(int fd, const char *name, size_t limit, xy_head_fn check,
                             char **data_p, size_t *size_p)
{
    reading_t reading = {.fd = fd, .name = name, .limit = limit, .check = check};
    struct stat info;
    size_t expected = 0;

    if (fstat(fd, &info) != 0)
        return xy_fail_errno(errno, name, "read");
    if (S_ISDIR(info.st_mode))
        return xy_fail_at(XY_EINVAL, name, 0, "this is a directory; name a file");
    if (is_endless(fd, &info))
        return xy_fail_at(XY_EINVAL, name, 0, "this is a device; name a file");
    if (S_ISREG(info.st_mode)) {
        if ((uintmax_t)info.st_size > limit)
            return fail_too_large(name, limit);
        expected = (size_t)info.st_size;
    }
    return read_all(&reading, expected, data_p, size_p);
}

xy_status_t xy_file_read(const char *path, size_t limit, char **data_p, size_t *size_p)
{
    return xy_file_read_known(path, limit, NULL, data_p, size_p);
}

xy_status_t xy_text_check(const char *path, const char *data, size_t size)
{
    if (memchr(data, '\0', size) == NULL)
        return XY_OK;
    return xy_fail_at(XY_EPARSE, strcmp(path, "-") == 0 ? "standard input" : path, 0,
                      "not a text file");
}

xy_status_t xy_file_read_text(const char *path, size_t limit, char **text_p)
{
    char *text;
    size_t size;
    xy_status_t st = xy_file_read(path, limit, &text, &size);

    if (st != XY_OK)
        return st;
    st = xy_text_check(path, text, size);
    if (st == XY_OK)
        *text_p = text;
    else
        xy_free(text);
    return st;
}

xy_status_t xy_file_read_known(const char *path, size_t limit, xy_head_fn check, char **data_p,
                               size_t *size_p)
{
    xy_status_t st;
    int fd;

    /* Room for the terminator and the byte that shows the limit exceeded. */
    if (limit > SIZE_MAX / 4)
        limit = SIZE_MAX / 4;
    if (strcmp(path, "-") == 0)
        return read_open(STDIN_FILENO, "standard input", limit, check, data_p, size_p);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return xy_fail_errno(errno, path, "open");
    st = read_open(fd, path, limit, check, data_p, size_p);
    close(fd);
    return st;
}

/* `at` -1: where the descriptor stands. */
static int write_from(int fd, const char *bytes, size_t size, off_t at)
{
    while (size > 0) {
        ssize_t n = at < 0 ? write(fd, bytes, size) : pwrite(fd, bytes, size, at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        bytes += n;
        size -= (size_t)n;
        at += at < 0 ? 0 : n;
    }
    return 0;
}

int xy_write_all(int fd, const void *bytes, size_t size)
{
    return write_from(fd, bytes, size, -1);
}

int xy_write_all_at(int fd, const void *bytes, size_t size, uint64_t offset)
{
    return write_from(fd, bytes, size, (off_t)offset);
}
