/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing beside and renaming. A temporary name is registered before the file exists: a signal
 * between the two finds a unique name (it is random), so removing it does no harm,
 * and no window is left in which the file could stay behind.
 *
 * What is not a regular file (a device, a pipe, an inherited descriptor) cannot be replaced by a
 * rename and is written directly.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"

enum { MAX_TEMPORARIES = 256, MAX_LINKS = 40, MAX_TRIES = 100 };

typedef struct xy_scratch {
    pid_t owner; /* a forked child must not remove its parent's files */
    char path[];
} temporary_t;

struct xy_out {
    FILE *file;
    char *name;             /* in messages */
    char *target;           /* the file that the rename replaces; NULL when written directly */
    temporary_t *temporary; /* NULL when written directly */
};

/* The code that exchanges a pointer out of its slot owns it: the signal handler or the file's
 * owner. */
static _Atomic(temporary_t *) temporaries[MAX_TEMPORARIES];

static bool temporary_register(temporary_t *temporary)
{
    temporary_t *expected;

    for (size_t i = 0; i < MAX_TEMPORARIES; i++) {
        expected = NULL;
        /* Release pairs with the handler's acquire: it reads a complete path. */
        if (atomic_compare_exchange_strong_explicit(&temporaries[i], &expected, temporary,
                                                    memory_order_acq_rel, memory_order_relaxed))
            return true;
    }
    return false;
}

/* Frees it unless the handler of a dying process took it. */
static void temporary_release(temporary_t *temporary)
{
    temporary_t *expected;

    for (size_t i = 0; i < MAX_TEMPORARIES; i++) {
        expected = temporary;
        if (atomic_compare_exchange_strong_explicit(&temporaries[i], &expected, NULL,
                                                    memory_order_acq_rel, memory_order_relaxed)) {
            xy_free(temporary);
            return;
        }
    }
}

/* Remove the temporary files and directories of this process, then let the signal take its default
 * effect. */
static void on_signal(int signal_number)
{
    temporary_t *taken[MAX_TEMPORARIES];

    for (size_t i = 0; i < MAX_TEMPORARIES; i++) {
        taken[i] = atomic_exchange_explicit(&temporaries[i], NULL, memory_order_acq_rel);
        if (taken[i] != NULL && (taken[i]->owner != getpid() || unlink(taken[i]->path) == 0))
            taken[i] = NULL;
    }
    /* Directories, now that what was in them is gone. */
    for (size_t i = 0; i < MAX_TEMPORARIES; i++)
        if (taken[i] != NULL)
            rmdir(taken[i]->path);
    /* The signal is blocked until the handler returns, then has its default effect. */
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void xy_out_guard_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGXCPU, SIGXFSZ};
    struct sigaction action = {.sa_handler = on_signal}, old;

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        /* Signals that the parent ignores (nohup) stay ignored. */
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

xy_scratch_t *xy_scratch_guard(const char *path)
{
    size_t size = strlen(path) + 1;
    temporary_t *scratch = xy_malloc(sizeof(*scratch) + size);

    if (scratch == NULL)
        return NULL;
    scratch->owner = getpid();
    memcpy(scratch->path, path, size);
    if (temporary_register(scratch))
        return scratch;
    xy_free(scratch);
    return NULL;
}

void xy_scratch_release(xy_scratch_t *scratch)
{
    if (scratch != NULL)
        temporary_release(scratch);
}

/* Has another user laid this link where others may write, as anyone can in /tmp? The kernel does
 * not follow such links when it is asked to open them (fs.protected_symlinks). */
static bool is_planted(const char *link)
{
    const char *slash = strrchr(link, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - link);
    char directory[4096] = ".";
    struct stat of_link, of_directory;

    if (length >= sizeof(directory)) /* longer than any path */
        return true;
    if (slash != NULL)
        snprintf(directory, sizeof(directory), "%.*s/", (int)length, link);
    if (lstat(link, &of_link) != 0 || stat(directory, &of_directory) != 0)
        return false; /* it is gone: nothing is followed */
    return (of_directory.st_mode & (S_IWGRP | S_IWOTH)) != 0 && of_link.st_uid != geteuid() &&
           of_link.st_uid != of_directory.st_uid;
}

/* Follow links by hand: realpath() refuses a link to a file that does not exist yet. The caller
 * frees the answer; NULL with errno otherwise. */
static char *resolve_links(const char *path)
{
    char buffer[4096], *current = xy_strdup(path), *next;
    const char *slash;
    ssize_t n;

    for (int i = 0; current != NULL && i < MAX_LINKS; i++) {
        n = readlink(current, buffer, sizeof(buffer) - 1);
        if (n < 0)
            return current;
        if (is_planted(current)) {
            xy_free(current);
            errno = EACCES;
            return NULL;
        }
        buffer[n] = '\0';
        slash = buffer[0] == '/' ? NULL : strrchr(current, '/');
        next = slash == NULL ? xy_strdup(buffer)
                             : xy_sprintf("%.*s/%s", (int)(slash - current), current, buffer);
        xy_free(current);
        current = next;
    }
    errno = current == NULL ? ENOMEM : ELOOP;
    xy_free(current);
    return NULL;
}

static uint64_t random_number(void)
{
    uint64_t number;
    struct timespec now;

    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) == (ssize_t)sizeof(number))
        return number;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return xy_hash_u64((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 32 ^ (uint64_t)getpid());
}

/* Return a record with a random file name in the directory of `target`, or NULL without memory; the
 * file is not created. */
static temporary_t *temporary_name(const char *target)
{
    const char *slash = strrchr(target, '/');
    size_t directory = slash == NULL ? 0 : (size_t)(slash - target + 1);
    size_t size = directory + 64;
    temporary_t *temporary = xy_malloc(sizeof(*temporary) + size);

    if (temporary == NULL)
        return NULL;
    temporary->owner = getpid();
    /* A name of its own, not made of the target's: that may be as long as names can be. */
    snprintf(temporary->path, size, "%.*s.xylem-%016" PRIx64 ".tmp", (int)directory, target,
             random_number());
    return temporary;
}

/* Create the temporary file of `target`; the descriptor, or -1 with errno. */
static int temporary_create(const char *target, temporary_t **temporary_p)
{
    temporary_t *temporary;
    int fd, err;

    for (int i = 0; i < MAX_TRIES; i++) {
        temporary = temporary_name(target);
        if (temporary == NULL) {
            errno = ENOMEM;
            return -1;
        }
        if (!temporary_register(temporary)) {
            xy_free(temporary);
            errno = EMFILE;
            return -1;
        }
        fd = open(temporary->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            *temporary_p = temporary;
            return fd;
        }
        err = errno;
        temporary_release(temporary);
        errno = err;
        if (err != EEXIST)
            return -1;
    }
    return -1;
}

static void out_free(xy_out_t *out)
{
    if (out->temporary != NULL)
        temporary_release(out->temporary);
    xy_free(out->target);
    xy_free(out->name);
    xy_free(out);
}

/* The descriptor that a name such as "/dev/fd/3" stands for, or -1. */
static int inherited_descriptor(const char *path)
{
    static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/"};
    long fd;

    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < 2; i++)
        if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0 &&
            xy_parse_long(path + strlen(prefixes[i]), &fd) && fd >= 0 && fd < 1 << 20)
            return (int)fd;
    return -1;
}

/* The new file is to the world what the old one was. Only root can give it to another owner; the
 * owner goes first, since that clears some of the mode. */
static void keep_permissions(int fd, const struct stat *existing, const char *path)
{
    bool same_owner = existing->st_uid == geteuid() && existing->st_gid == getegid();

    if ((!same_owner && fchown(fd, existing->st_uid, existing->st_gid) != 0 && errno != EPERM) ||
        fchmod(fd, existing->st_mode & 07777) != 0)
        xy_warn("%s: its owner and permissions could not be kept: %s", path, strerror(errno));
}

/* Create the temporary file that xy_out_commit() renames to the target, with the permissions of an
 * existing target. */
static xy_status_t open_beside(xy_out_t *out, const char *path, const struct stat *existing,
                               bool follows, int *fd_p)
{
    int fd;

    out->target = follows ? resolve_links(path) : xy_strdup(path);
    if (out->target == NULL && !follows)
        return xy_fail_memory("opening a file");
    if (out->target == NULL)
        return xy_fail_errno(errno, path, "write");
    /* A rename would replace a file that its owner has protected. */
    if (existing != NULL && access(out->target, W_OK) != 0)
        return xy_fail_errno(errno, path, "write");
    fd = temporary_create(out->target, &out->temporary);
    if (fd < 0)
        return xy_fail_errno(errno, path, "create a file in its directory");
    if (existing != NULL)
        keep_permissions(fd, existing, path);
    *fd_p = fd;
    return XY_OK;
}

/* Open a regular or new file through a temporary file beside it, and anything else directly. */
static xy_status_t open_descriptor(xy_out_t *out, const char *path, bool follows, int *fd_p)
{
    struct stat info;
    int inherited = follows ? inherited_descriptor(path) : -1;
    bool exists = (follows ? stat(path, &info) : lstat(path, &info)) == 0;

    if (exists && S_ISLNK(info.st_mode))
        exists = false; /* the rename replaces it */

    if (exists && S_ISDIR(info.st_mode))
        return xy_fail_at(XY_EINVAL, path, 0, "this is a directory; name a file");
    if (inherited < 0 && (!exists || S_ISREG(info.st_mode)))
        return open_beside(out, path, exists ? &info : NULL, follows, fd_p);
    *fd_p = inherited >= 0 ? fcntl(inherited, F_DUPFD_CLOEXEC, 3)
                           : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return *fd_p >= 0 ? XY_OK : xy_fail_errno(errno, path, "write");
}

/* Open an output file, or standard output for "-" if `follows`; the caller owns *out_p, on failure
 * nothing is left behind. */
static xy_status_t out_open(const char *path, bool follows, xy_out_t **out_p)
{
    xy_out_t *out = xy_calloc(1, sizeof(*out));
    bool is_stdout = follows && strcmp(path, "-") == 0;
    xy_status_t st;
    int fd = -1;

    if (out == NULL)
        return xy_fail_memory("opening a file");
    out->name = xy_strdup(is_stdout ? "standard output" : path);
    if (out->name == NULL) {
        out_free(out);
        return xy_fail_memory("opening a file");
    }
    if (is_stdout) {
        out->file = stdout;
        *out_p = out;
        return XY_OK;
    }
    st = open_descriptor(out, path, follows, &fd);
    if (st != XY_OK) {
        out_free(out);
        return st;
    }
    out->file = fdopen(fd, "w");
    if (out->file == NULL) {
        close(fd);
        xy_out_cancel(out);
        return xy_fail_memory("opening a file");
    }
    *out_p = out;
    return XY_OK;
}

xy_status_t xy_out_open(const char *path, xy_out_t **out_p)
{
    return out_open(path, true, out_p);
}

xy_status_t xy_out_open_new(const char *path, xy_out_t **out_p)
{
    return out_open(path, false, out_p);
}

FILE *xy_out_file(xy_out_t *out)
{
    return out->file;
}

void xy_out_cancel(xy_out_t *out)
{
    if (out == NULL)
        return;
    if (out->file != NULL && out->file != stdout)
        fclose(out->file);
    if (out->temporary != NULL)
        unlink(out->temporary->path);
    out_free(out);
}

/* Say why a stream could not be written. errno is that of the last call; the failed write may lie
 * further back, and a reader that closed its pipe has seen enough: that is not worth a message. */
static xy_status_t fail_write(const char *name, int err)
{
    if (err == EPIPE)
        return XY_EIO;
    if (err != 0)
        return xy_fail_errno(err, name, "write");
    return xy_fail_at(XY_EIO, name, 0,
                      "the file could not be written completely; free some space there");
}

/* Everything to the disk, so that the rename never exposes an empty file after a crash. */
static xy_status_t flush_and_close(xy_out_t *out)
{
    FILE *file = out->file;
    bool failed;
    int err = 0;

    errno = 0;
    failed = fflush(file) != 0 || ferror(file);
    if (failed)
        err = errno;
    else if (out->temporary != NULL && fsync(fileno(file)) != 0 && errno != EINVAL) {
        failed = true;
        err = errno;
    }
    out->file = NULL;
    if (fclose(file) != 0 && !failed) {
        failed = true;
        err = errno;
    }
    return failed ? fail_write(out->name, err) : XY_OK;
}

xy_status_t xy_out_commit(xy_out_t *out)
{
    xy_status_t st;

    if (out->file == stdout) {
        out_free(out);
        return xy_stdout_check();
    }
    st = flush_and_close(out);
    if (st == XY_OK && out->temporary != NULL && rename(out->temporary->path, out->target) != 0)
        st = xy_fail_errno(errno, out->name, "replace");
    if (st != XY_OK) {
        xy_out_cancel(out);
        return st;
    }
    out_free(out);
    return XY_OK;
}

xy_status_t xy_out_write(const char *path, xy_write_fn write, const void *arg)
{
    xy_out_t *out;
    xy_status_t st;

    if (path == NULL)
        return XY_OK;
    st = xy_out_open(path, &out);
    if (st != XY_OK)
        return st;
    st = write(arg, xy_out_file(out));
    if (st == XY_OK)
        return xy_out_commit(out);
    xy_out_cancel(out);
    return st;
}

xy_status_t xy_stdout_check(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return XY_OK;
    return fail_write("standard output", errno);
}
