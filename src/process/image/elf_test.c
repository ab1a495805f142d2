/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include "process/image/elf.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "testing/base.h"

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg;
    (void)status;
    (void)message;
}

static bool begins(const char *name, void *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static const ElfW(Sym) * find_version(const process_elf_t *elf, const char *version)
{
    process_elf_name_t wanted = process_elf_name("getenv", version);

    return process_elf_lookup_name(elf, &wanted);
}

/* Versioned symbols that dlvsym finds as well. */
static void check_versions(const process_elf_t *elf)
{
#if defined(__x86_64__)
    const char *first = "GLIBC_2.2.5";
#else
    const char *first = "GLIBC_2.17";
#endif

    assert_non_null(find_version(elf, first));
    assert_null(find_version(elf, "GLIBC_1.0"));
}

/* Ask everything of a file that opened. */
static void read_all(const char *path)
{
    process_elf_t *elf;

    if (process_elf_open(path, &elf) != XY_OK)
        return;
    for (size_t i = 0; i < 100; i++) {
        const ElfW(Sym) *symbol = elf->symbols != 0 ? process_elf_symbol(elf, i) : NULL;

        if (symbol != NULL)
            process_elf_lookup(elf, process_elf_string(elf, symbol->st_name));
        process_elf_version(elf, i);
    }
    process_elf_defines_any(elf, begins, (char[]){"no_such_name"});
    if (elf->header != NULL)
        process_elf_has_variables(elf);
    process_elf_close(elf);
}

static bool needs(const process_elf_t *elf, const char *soname)
{
    for (size_t i = 0; i < elf->needed.count; i++)
        if (strcmp(XY_VEC_AT(&elf->needed, const char *, i), soname) == 0)
            return true;
    return false;
}

static void test_this_program(void **state)
{
    process_elf_t *elf;

    (void)state;
    assert_int_equal(process_elf_open("/proc/self/exe", &elf), XY_OK);
    assert_int_equal(elf->kind, PROCESS_ELF_PIE);
    assert_true(needs(elf, "libc.so.6"));
    assert_false(needs(elf, "libnone.so"));
    assert_true(elf->writable > elf->low && elf->writable < elf->high);
    assert_true(elf->init.size > 0 && elf->unwind != 0);
    process_elf_close(elf);
}

static void test_library_exports(void **state)
{
    const ElfW(Sym) * symbol;
    char path[512];
    process_elf_t *elf;
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];

    (void)state;
    path[0] = '\0';
    while (path[0] == '\0' && fgets(line, sizeof(line), maps) != NULL)
        if (strstr(line, "/libc.so.6") != NULL)
            sscanf(strchr(line, '/'), "%511s", path);
    fclose(maps);
    if (path[0] == '\0')
        skip();
    assert_int_equal(process_elf_open(path, &elf), XY_OK);
    assert_string_equal(elf->soname, "libc.so.6");
    symbol = process_elf_lookup(elf, "getenv");
    assert_non_null(symbol);
    assert_string_equal(process_elf_string(elf, symbol->st_name), "getenv");
    assert_null(process_elf_lookup(elf, "no_such_function"));
    assert_true(process_elf_defines_any(elf, begins, (char[]){"geten"}));
    assert_false(process_elf_defines_any(elf, begins, (char[]){"MPI_"}));
    assert_true(process_elf_has_variables(elf));
    check_versions(elf);
    assert_non_null(elf->tls);
    process_elf_close(elf);
}

static void test_other_files(void **state)
{
    process_elf_t *elf;

    (void)state;
    assert_int_equal(process_elf_open("/proc/self/cmdline", &elf), XY_OK);
    assert_int_equal(elf->kind, PROCESS_ELF_NONE);
    process_elf_close(elf);
    assert_int_equal(process_elf_open("/no/such/file", &elf), XY_ENOENT);
}

/* An empty file in memory and its path: thousands of truncations take seconds on a disk. */
static int memory_file(char path[64])
{
    int fd = memfd_create("elf", MFD_CLOEXEC);

    assert_true(fd >= 0);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

/* Files cut short and with bytes changed: refused or read, never followed out of bounds. */
static void test_broken_files(void **state)
{
    char path[64], *bytes;
    int fd = memory_file(path);
    uint64_t random = 7;
    size_t size;

    (void)state;
    assert_int_equal(xy_file_read("/proc/self/exe", 64 << 20, &bytes, &size), XY_OK);
    for (int round = 0; round < (XYLEM_SANITIZED ? 200 : 2000); round++) {
        size_t length = round % 4 == 0 ? (random >> 7) % size : size;
        char *copy = malloc(size);

        memcpy(copy, bytes, size);
        for (int i = 0; i < round % 16; i++) {
            random = xy_hash_u64(random + 1);
            copy[random % (round % 2 ? 1024 : size)] = (char)(random >> 32);
        }
        random = xy_hash_u64(random + 1);
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, copy, length, 0), (ssize_t)length);
        free(copy);
        read_all(path);
    }
    close(fd);
    xy_free(bytes);
}

static void read_copy(int fd, const char *path, const char *bytes, size_t size)
{
    assert_int_equal(pwrite(fd, bytes, size, 0), (ssize_t)size);
    read_all(path);
}

/* Hash tables with wrong counts, and with buckets that name symbols behind the end. */
static void test_broken_hash(void **state)
{
    static const uint32_t values[] = {0, 1, 0x7fffffff, UINT32_MAX};
    char path[64], *copy, *head;
    int fd = memory_file(path);
    size_t filter_size;
    process_elf_t *elf;

    (void)state;
    assert_int_equal(process_elf_open("/proc/self/exe", &elf), XY_OK);
    assert_non_null(elf->gnu_hash.filter);
    copy = malloc(elf->size);
    head = copy + ((const char *)elf->gnu_hash.filter - elf->bytes) - 16;
    for (size_t i = 0; i < 4 * sizeof(values) / sizeof(values[0]); i++) {
        memcpy(copy, elf->bytes, elf->size);
        memcpy(head + 4 * (i % 4), &values[i / 4], 4);
        read_copy(fd, path, copy, elf->size);
    }
    memcpy(copy, elf->bytes, elf->size);
    filter_size = elf->gnu_hash.filter_count * sizeof(*elf->gnu_hash.filter);
    memset(head + 16, 0xff, filter_size);
    memset(head + 16 + filter_size, 0x7f, 4 * (size_t)elf->gnu_hash.bucket_count);
    read_copy(fd, path, copy, elf->size);
    free(copy);
    process_elf_close(elf);
    close(fd);
}

/* With the index, every address has the symbol that it has without. */
static void test_index(void **state)
{
    process_elf_t *plain, *indexed;
    uint64_t random = testing_seed();
    uintptr_t last = 0;
    int found = 0;
    Dl_info library;

    (void)state;
    assert_int_not_equal(dladdr((void *)(uintptr_t)fork, &library), 0);
    assert_int_equal(process_elf_open(library.dli_fname, &plain), XY_OK);
    assert_int_equal(process_elf_open(library.dli_fname, &indexed), XY_OK);
    xy_memory_fail_at(1);
    process_elf_index(indexed);
    xy_memory_fail_at(0);
    assert_null(indexed->index);
    process_elf_index(indexed);
    process_elf_index(indexed);
    assert_non_null(indexed->index);
    for (int i = 0; i < (XYLEM_SANITIZED ? 2000 : 20000); i++) {
        /* Beside the edges of a symbol, or anywhere. */
        uintptr_t at = i % 2 == 0
                           ? last + (uintptr_t)testing_random_below(&random, 64) - 32
                           : plain->low + testing_random(&random) % (plain->high - plain->low);
        const ElfW(Sym) *a = process_elf_nearest(plain, at), *b = process_elf_nearest(indexed, at);

        assert_int_equal(a == NULL, b == NULL);
        found += a != NULL;
        if (a != NULL) {
            assert_string_equal(process_elf_string(plain, a->st_name),
                                process_elf_string(indexed, b->st_name));
            last = i % 3 == 0 ? a->st_value : a->st_value + a->st_size;
        }
    }
    assert_in_range(found, XYLEM_SANITIZED ? 100 : 1000, 19999);
    process_elf_close(plain);
    process_elf_close(indexed);
}

static void test_memory(void **state)
{
    (void)state;
    for (long k = 1;; k++) {
        process_elf_t *elf;
        xy_status_t st;

        xy_memory_fail_at(k);
        st = process_elf_open("/proc/self/exe", &elf);
        if (!xy_memory_fail_hit()) {
            process_elf_close(elf);
            break;
        }
        assert_int_equal(st, XY_ENOMEM);
    }
    xy_memory_fail_at(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_this_program), cmocka_unit_test(test_library_exports),
        cmocka_unit_test(test_other_files),  cmocka_unit_test(test_broken_files),
        cmocka_unit_test(test_broken_hash),  cmocka_unit_test(test_index),
        cmocka_unit_test(test_memory),
    };

    xy_error_handler_set(ignore, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
