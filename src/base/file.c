/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading whole files. Writing is in file_out.c. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
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

/* Read to the end. `expected` is a first guess of the size; pipes and /proc files give none, and
 * any file may grow meanwhile. One byte more than the limit is asked for, to see it exceeded. */
static xy_status_t read_all(int fd, const char *name, size_t expected, size_t limit, char **data_p,
                            size_t *size_p)
{
    size_t capacity = expected + 2 > FIRST_CHUNK ? expected + 2 : FIRST_CHUNK;
    size_t size = 0;
    char *data = NULL, *larger;
    ssize_t n;

    for (;;) {
        larger = xy_realloc(data, capacity);
        if (larger == NULL) {
            xy_free(data);
            return xy_fail_memory("reading a file");
        }
        data = larger;
        while (size + 1 < capacity && (n = read_retry(fd, data + size, capacity - 1 - size)) != 0) {
            if (n < 0) {
                n = errno;
                xy_free(data);
                return xy_fail_errno((int)n, name, "read");
            }
            size += (size_t)n;
            if (size > limit) {
                xy_free(data);
                return fail_too_large(name, limit);
            }
        }
        if (size + 1 < capacity)
            break;
        capacity *= 2;
    }
    data[size] = '\0';
    *data_p = data;
    *size_p = size;
    return XY_OK;
}

static xy_status_t read_open(int fd, const char *name, size_t limit, char **data_p, size_t *size_p)
{
    struct stat info;
    size_t expected = 0;

    if (fstat(fd, &info) != 0)
        return xy_fail_errno(errno, name, "read");
    if (S_ISDIR(info.st_mode))
        return xy_fail_at(XY_EINVAL, name, 0, "this is a directory; name a file");
    if (S_ISREG(info.st_mode)) {
        if ((uintmax_t)info.st_size > limit)
            return fail_too_large(name, limit);
        expected = (size_t)info.st_size;
    }
    return read_all(fd, name, expected, limit, data_p, size_p);
}

xy_status_t xy_file_read(const char *path, size_t limit, char **data_p, size_t *size_p)
{
    xy_status_t st;
    int fd;

    /* Room for the terminator and the byte that shows the limit exceeded. */
    if (limit > SIZE_MAX / 4)
        limit = SIZE_MAX / 4;
    if (strcmp(path, "-") == 0)
        return read_open(STDIN_FILENO, "standard input", limit, data_p, size_p);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return xy_fail_errno(errno, path, "open");
    st = read_open(fd, path, limit, data_p, size_p);
    close(fd);
    return st;
}
