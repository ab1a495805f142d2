/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "testing/base.h"

static char directory[] = "/tmp/xylem-file-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static int in_directory(void **state)
{
    (void)state;
    memcpy(directory + strlen(directory) - 6, "XXXXXX", 6);
    return mkdtemp(directory) == NULL || chdir(directory) != 0;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info, (void)type, (void)place;
    return remove(path);
}

static int out_of_directory(void **state)
{
    (void)state;
    return chdir("/") != 0 || nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0;
}

static size_t count_files(void)
{
    DIR *dir = opendir(directory);
    size_t count = 0;

    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count - 2;
}

static void write_plain(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void check_content(const char *name, const char *expected)
{
    char *data;
    size_t size;

    assert_int_equal(xy_file_read(name, 1 << 20, &data, &size), XY_OK);
    assert_string_equal(data, expected);
    assert_int_equal(size, strlen(expected));
    xy_free(data);
}

static void write_out(const char *name, const char *text)
{
    xy_out_t *out;

    assert_int_equal(xy_out_open(name, &out), XY_OK);
    fputs(text, xy_out_file(out));
    assert_int_equal(xy_out_commit(out), XY_OK);
}

static mode_t mode_of(const char *name)
{
    struct stat info;

    assert_int_equal(stat(name, &info), 0);
    return info.st_mode & 07777;
}

static void test_read_sizes(void **state)
{
    static const size_t sizes[] = {0, 1, 65534, 65535, 65536, 65537, 300000};
    char *data;
    size_t size;

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        FILE *file = fopen("f", "w");

        for (size_t k = 0; k < sizes[i]; k++)
            putc((int)(k % 251), file);
        fclose(file);
        assert_int_equal(xy_file_read("f", sizes[i], &data, &size), XY_OK);
        assert_int_equal(size, sizes[i]);
        for (size_t k = 0; k < size; k++)
            assert_int_equal((unsigned char)data[k], k % 251);
        assert_int_equal(data[size], 0);
        xy_free(data);
        if (sizes[i] == 0)
            continue;
        testing_listen();
        assert_int_equal(xy_file_read("f", sizes[i] - 1, &data, &size), XY_ELIMIT);
        assert_int_equal(testing_said_count, 1);
    }
}

static void test_read_pipe(void **state)
{
    char name[32], *data;
    size_t size;
    int fds[2];

    (void)state;
    for (size_t limit = 4; limit <= 5; limit++) {
        assert_int_equal(pipe(fds), 0);
        assert_int_equal(write(fds[1], "hello", 5), 5);
        close(fds[1]);
        snprintf(name, sizeof(name), "/dev/fd/%d", fds[0]);
        testing_listen();
        if (limit == 5) {
            assert_int_equal(xy_file_read(name, limit, &data, &size), XY_OK);
            assert_string_equal(data, "hello");
            xy_free(data);
        } else {
            assert_int_equal(xy_file_read(name, limit, &data, &size), XY_ELIMIT);
        }
        close(fds[0]);
    }
    /* A file that claims to be empty. */
    assert_int_equal(xy_file_read("/proc/self/status", 1 << 20, &data, &size), XY_OK);
    assert_true(size > 0);
    xy_free(data);
}

static void test_read_failures(void **state)
{
    char *data = NULL;
    size_t size;

    (void)state;
    testing_listen();
    assert_int_equal(xy_file_read("missing", 10, &data, &size), XY_ENOENT);
    assert_string_equal(testing_said,
                        "missing: cannot open: No such file or directory; check the path");
    testing_listen();
    assert_int_equal(xy_file_read(".", 10, &data, &size), XY_EINVAL);
    assert_string_equal(testing_said, ".: this is a directory; name a file");
    if (geteuid() != 0) {
        write_plain("secret", "x");
        chmod("secret", 0);
        testing_listen();
        assert_int_equal(xy_file_read("secret", 10, &data, &size), XY_EACCES);
        assert_int_equal(testing_said_count, 1);
    }
    write_plain("f", "text");
    testing_listen();
    assert_int_equal(xy_file_read_text("f", 3, &data), XY_ELIMIT);
    assert_int_equal(testing_said_count, 1);
    assert_int_equal(truncate("f", 5), 0); /* "text" and a NUL */
    testing_listen();
    assert_int_equal(xy_file_read_text("f", 10, &data), XY_EPARSE);
    assert_string_equal(testing_said, "f: not a text file");
    assert_null(data);
    assert_int_equal(truncate("f", 4), 0);
    assert_int_equal(xy_file_read_text("f", 10, &data), XY_OK);
    assert_string_equal(data, "text");
    xy_free(data);
    data = NULL;
    testing_listen();
    xy_memory_fail_at(1);
    assert_int_equal(xy_file_read("f", 10, &data, &size), XY_ENOMEM);
    assert_int_equal(testing_said_count, 1);
    xy_memory_fail_at(0);
    assert_null(data);
}

static void test_write_appears_at_commit(void **state)
{
    xy_out_t *out;

    (void)state;
    write_plain("old", "before");
    assert_int_equal(xy_out_open("old", &out), XY_OK);
    fputs("after", xy_out_file(out));
    fflush(xy_out_file(out));
    check_content("old", "before");
    assert_int_equal(xy_out_commit(out), XY_OK);
    check_content("old", "after");
    assert_int_equal(count_files(), 1);

    assert_int_equal(xy_out_open("old", &out), XY_OK);
    fputs("never", xy_out_file(out));
    xy_out_cancel(out);
    xy_out_cancel(NULL);
    check_content("old", "after");
    assert_int_equal(count_files(), 1);

    write_out(path_of("absolute"), "x");
    check_content("absolute", "x");
}

static xy_status_t print_word(const void *word, FILE *file)
{
    fputs(word, file);
    return XY_OK;
}

static xy_status_t print_and_fail(const void *word, FILE *file)
{
    fputs(word, file);
    return XY_ENOMEM;
}

static void test_write_by_callback(void **state)
{
    (void)state;
    assert_int_equal(xy_out_write("word", print_word, "first"), XY_OK);
    check_content("word", "first");
    assert_int_equal(xy_out_write("word", print_and_fail, "second"), XY_ENOMEM);
    check_content("word", "first");
    assert_int_equal(xy_out_write(NULL, print_and_fail, "not asked for"), XY_OK);
    testing_listen();
    assert_int_equal(xy_out_write("no/such/word", print_word, "third"), XY_ENOENT);
    assert_int_equal(testing_said_count, 1);
    assert_int_equal(count_files(), 1);
}

static void test_write_keeps_modes(void **state)
{
    mode_t old = umask(027);

    (void)state;
    write_out("fresh", "x");
    assert_int_equal(mode_of("fresh"), 0640);
    chmod("fresh", 0604);
    write_out("fresh", "y");
    assert_int_equal(mode_of("fresh"), 0604);
    umask(old);
    if (geteuid() == 0) {
        struct stat info;

        assert_int_equal(chown("fresh", 12345, 54321), 0);
        write_out("fresh", "z");
        assert_int_equal(stat("fresh", &info), 0);
        assert_int_equal(info.st_uid, 12345);
        assert_int_equal(info.st_gid, 54321);
        assert_int_equal(info.st_mode & 07777, 0604);
    }
}

static xy_status_t check_small(const char *path, const void *head, size_t size)
{
    (void)path;
    assert_true(size == 3 || size >= XY_FILE_HEAD);
    return memcmp(head, "abc", 3) == 0 ? XY_OK : XY_EPARSE;
}

/* Only the wanted part is read: a pipe that never ends is left after its head. */
static void test_head_first(void **state)
{
    char zeros[100] = {0}, *data;
    size_t size;
    int ends[2];

    (void)state;
    write_plain("small", "abc");
    assert_int_equal(xy_file_read_known("small", 1000, check_small, &data, &size), XY_OK);
    assert_int_equal(size, 3);
    assert_string_equal(data, "abc");
    xy_free(data);
    write_plain("other", "xbc");
    assert_int_equal(xy_file_read_known("other", 1000, check_small, &data, &size), XY_EPARSE);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], zeros, sizeof(zeros)), sizeof(zeros));
    snprintf(zeros, sizeof(zeros), "/dev/fd/%d", ends[0]);
    assert_int_equal(xy_file_read_known(zeros, 1000, check_small, &data, &size), XY_EPARSE);
    close(ends[0]);
    close(ends[1]);
}

static void test_devices(void **state)
{
    char *data;
    size_t size;

    (void)state;
    testing_listen();
    assert_int_equal(xy_file_read("/dev/zero", (size_t)1 << 32, &data, &size), XY_EINVAL);
    assert_string_equal(testing_said, "/dev/zero: this is a device; name a file");
    assert_int_equal(xy_file_read("/dev/null", 10, &data, &size), XY_OK);
    assert_int_equal(size, 0);
    xy_free(data);
}

static void test_write_through_links(void **state)
{
    char target[64];

    (void)state;
    assert_int_equal(mkdir("sub", 0700), 0);
    write_plain("sub/real", "old");
    assert_int_equal(symlink("sub/hop", "link"), 0);
    assert_int_equal(symlink("real", "sub/hop"), 0);
    write_out("link", "new");
    check_content("sub/real", "new");
    assert_int_equal(readlink("link", target, sizeof(target)), 7);
    assert_int_equal(readlink("sub/hop", target, sizeof(target)), 4);

    assert_int_equal(symlink("sub/unborn", "dangling"), 0);
    write_out("dangling", "born");
    check_content("sub/unborn", "born");

    testing_listen();
    assert_int_equal(symlink("loop", "loop"), 0);
    xy_out_t *out;
    assert_int_equal(xy_out_open("loop", &out), XY_EIO);
    assert_int_equal(testing_said_count, 1);
}

/* A name that the user has not chosen: the link goes, what it points to stays. */
static void test_new_files_follow_no_links(void **state)
{
    struct stat info;
    xy_out_t *out;

    (void)state;
    write_plain("victim", "of another");
    assert_int_equal(symlink("victim", "made-up"), 0);
    assert_int_equal(xy_out_open_new("made-up", &out), XY_OK);
    fputs("ours", xy_out_file(out));
    assert_int_equal(xy_out_commit(out), XY_OK);
    check_content("victim", "of another");
    check_content("made-up", "ours");
    assert_int_equal(lstat("made-up", &info), 0);
    assert_true(S_ISREG(info.st_mode));
}

static void test_planted_links_are_refused(void **state)
{
    xy_out_t *out;

    (void)state;
    if (geteuid() != 0)
        skip(); /* nobody else makes links here */
    assert_int_equal(mkdir("open", 0700), 0);
    write_plain("victim2", "of root");
    assert_int_equal(symlink("../victim2", "open/link"), 0);
    assert_int_equal(lchown("open/link", 12345, 12345), 0);
    write_out("open/link", "allowed"); /* only the owner writes there */
    check_content("victim2", "allowed");
    assert_int_equal(chmod("open", 01777), 0);
    testing_listen();
    assert_int_equal(xy_out_open("open/link", &out), XY_EACCES);
    assert_int_equal(testing_said_count, 1);
    check_content("victim2", "allowed");
    assert_int_equal(lchown("open/link", 0, 0), 0);
    write_out("open/link", "of ourselves");
    check_content("victim2", "of ourselves");
}

static void test_write_failures(void **state)
{
    xy_out_t *out = NULL;

    (void)state;
    testing_listen();
    assert_int_equal(xy_out_open(".", &out), XY_EINVAL);
    assert_int_equal(xy_out_open("no/such/place", &out), XY_ENOENT);
    assert_int_equal(testing_said_count, 2);
    if (geteuid() != 0) {
        write_plain("protected", "x");
        chmod("protected", 0400);
        assert_int_equal(xy_out_open("protected", &out), XY_EACCES);
        check_content("protected", "x");
        unlink("protected");
    }
    for (long k = 1;; k++) {
        xy_memory_fail_at(k);
        testing_listen();
        if (xy_out_open("f", &out) == XY_OK)
            break;
        assert_true(xy_memory_fail_hit());
        assert_int_equal(testing_said_count, 1);
        assert_null(out);
        assert_int_equal(count_files(), 0);
    }
    xy_memory_fail_at(0);
    xy_out_cancel(out);
    assert_int_equal(count_files(), 0);
}

/* The disk is full: reported once at commit, whether little or much was written. */
/* More than a pipe holds, so that writes are short; and at an offset, with what is around it kept.
 */
static void test_write_all(void **state)
{
    enum { BYTES = 300000 };
    static char sent[BYTES], got[BYTES];
    char text[8] = {0};
    size_t n = 0;
    int ends[2], fd;
    pid_t child;

    (void)state;
    for (int i = 0; i < BYTES; i++)
        sent[i] = (char)(i * 7 + i / 251);
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        close(ends[0]);
        _exit(xy_write_all(ends[1], sent, BYTES));
    }
    close(ends[1]);
    for (ssize_t r; (r = read(ends[0], got + n, BYTES - n)) > 0;)
        n += (size_t)r;
    close(ends[0]);
    assert_int_equal(n, BYTES);
    assert_memory_equal(got, sent, BYTES);
    assert_int_equal(waitpid(child, &fd, 0), child);
    assert_int_equal(fd, 0);
    fd = open("f", O_RDWR | O_CREAT, 0600);
    assert_int_equal(xy_write_all(fd, "abcdef", 6), 0);
    assert_int_equal(xy_write_all_at(fd, "XY", 2, 2), 0);
    assert_int_equal(pread(fd, text, 8, 0), 6);
    assert_string_equal(text, "abXYef");
    close(fd);
    assert_int_equal(xy_write_all(fd, "x", 1), EBADF);
    fd = open("/dev/full", O_WRONLY);
    assert_int_equal(xy_write_all(fd, "x", 1), ENOSPC);
    close(fd);
}

static void test_full_disk(void **state)
{
    static const size_t sizes[] = {1, 100000};
    xy_out_t *out;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        testing_listen();
        assert_int_equal(xy_out_open("/dev/full", &out), XY_OK);
        for (size_t k = 0; k < sizes[i]; k++)
            putc('x', xy_out_file(out));
        assert_int_equal(xy_out_commit(out), XY_EIO);
        assert_int_equal(testing_said_count, 1);
        assert_int_equal(strncmp(testing_said, "/dev/full: ", 11), 0);
    }
    assert_int_equal(access("/dev/full", F_OK), 0);
}

/* A write that failed is not forgotten when later ones succeed. */
static void test_early_failure_is_said(void **state)
{
    static char block[200000];
    char name[32];
    xy_out_t *out;
    int fds[2];

    (void)state;
    assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
    snprintf(name, sizeof(name), "/dev/fd/%d", fds[1]);
    assert_int_equal(xy_out_open(name, &out), XY_OK);
    fwrite(block, 1, sizeof(block), xy_out_file(out));
    while (read(fds[0], block, sizeof(block)) > 0)
        ;
    testing_listen();
    assert_int_equal(xy_out_commit(out), XY_EIO);
    assert_int_equal(testing_said_count, 1);
    close(fds[0]);
    close(fds[1]);
}

static void test_descriptors_are_written_directly(void **state)
{
    char name[32];
    int fd = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);

    (void)state;
    assert_int_equal(write(fd, "one ", 4), 4);
    snprintf(name, sizeof(name), "/dev/fd/%d", fd);
    write_out(name, "two");
    close(fd);
    check_content("log", "one two");
    write_out("/dev/null", "gone");
}

/* A child writes, is hit by `signal_number`, and must leave nothing; its exit status. */
static int die_while_writing(int signal_number, bool fork_inside)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        xy_out_t *out;
        pid_t grandchild;
        const struct rlimit no_core = {0, 0};

        setrlimit(RLIMIT_CORE, &no_core);
        xy_out_guard_signals();
        if (xy_out_open("target", &out) != XY_OK)
            _exit(99);
        fputs("partial", xy_out_file(out));
        fflush(xy_out_file(out));
        grandchild = fork_inside ? fork() : 1;
        if (grandchild == 0)
            raise(signal_number);
        if (fork_inside) {
            waitpid(grandchild, &status, 0);
            _exit(xy_out_commit(out) == XY_OK ? 0 : 98);
        }
        raise(signal_number);
        _exit(97);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_signals_leave_nothing(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGXCPU, SIGXFSZ};

    (void)state;
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        int status = die_while_writing(signals[i], false);

        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signals[i]);
        assert_int_equal(count_files(), 0);
    }
}

/* A directory goes after what is in it, whatever was named first; what was released stays. */
static void test_signals_remove_scratch(void **state)
{
    pid_t child = fork();
    int status;

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        xy_out_guard_signals();
        xy_scratch_guard("scratch");
        xy_scratch_guard("scratch/one");
        xy_scratch_guard("scratch/never");
        xy_scratch_release(xy_scratch_guard("kept"));
        if (mkdir("scratch", 0700) != 0 || close(creat("scratch/one", 0600)) != 0 ||
            close(creat("kept", 0600)) != 0)
            _exit(99);
        raise(SIGINT);
        _exit(97);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(count_files(), 1);
    assert_int_equal(unlink("kept"), 0);
    xy_scratch_release(NULL);
}

static void test_child_does_not_remove_the_parents_file(void **state)
{
    int status = die_while_writing(SIGTERM, true);

    (void)state;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    check_content("target", "partial");
}

/* Signals that nohup ignores stay ignored. */
static void test_ignored_signals_stay_ignored(void **state)
{
    int status;
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        signal(SIGHUP, SIG_IGN);
        xy_out_guard_signals();
        raise(SIGHUP);
        _exit(0);
    }
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_many_files(void **state)
{
    xy_out_t *outs[300];
    size_t opened = 0;
    char name[32];

    (void)state;
    testing_listen();
    while (opened < 300) {
        snprintf(name, sizeof(name), "f%zu", opened);
        if (xy_out_open(name, &outs[opened]) != XY_OK)
            break;
        opened++;
    }
    /* All open files are guarded; one more is refused with a message. */
    assert_true(opened >= 100 && opened < 300);
    assert_int_equal(testing_said_count, 1);
    for (size_t i = 0; i < opened; i++)
        xy_out_cancel(outs[i]);
    assert_int_equal(count_files(), 0);
    write_out("f", "works again");
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, in_directory, out_of_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_read_sizes),
        IN_DIRECTORY(test_read_pipe),
        IN_DIRECTORY(test_read_failures),
        IN_DIRECTORY(test_write_appears_at_commit),
        IN_DIRECTORY(test_write_by_callback),
        IN_DIRECTORY(test_write_keeps_modes),
        IN_DIRECTORY(test_head_first),
        IN_DIRECTORY(test_devices),
        IN_DIRECTORY(test_write_through_links),
        IN_DIRECTORY(test_new_files_follow_no_links),
        IN_DIRECTORY(test_planted_links_are_refused),
        IN_DIRECTORY(test_write_failures),
        IN_DIRECTORY(test_write_all),
        IN_DIRECTORY(test_full_disk),
        IN_DIRECTORY(test_early_failure_is_said),
        IN_DIRECTORY(test_descriptors_are_written_directly),
        IN_DIRECTORY(test_signals_leave_nothing),
        IN_DIRECTORY(test_signals_remove_scratch),
        IN_DIRECTORY(test_child_does_not_remove_the_parents_file),
        IN_DIRECTORY(test_ignored_signals_stay_ignored),
        IN_DIRECTORY(test_many_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
