/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of more than 2^31 cells. Their memory is mapped and hardly any of it touched: only a few
 * rows at the end of a block are computed, and compared with the same rows of a small block. The
 * text for GPUs is compiled as C and called for the threads of these rows.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "stencil/real_gpu.h"
#include "testing/base.h"

/* Rows at the end that hold something. */
enum { COLUMNS = 40001, FULL = 12, ROWS = (1 << 16) - 20 };

static const int64_t cells = (int64_t)ROWS * COLUMNS;

typedef struct {
    float *block, *out;    /* ROWS of them */
    float *small, *expect; /* FULL */
    float *after;
} domain_t;

static float *map(int64_t count)
{
    void *at = mmap(NULL, (size_t)count * sizeof(float), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    assert_true(at != MAP_FAILED);
    return at;
}

/* Layers of one row each for three dimensions: they are next to each other as rows are. */
static stencil_shape_t shape_of(int points, int64_t rows)
{
    return points == 7 ? (stencil_shape_t){7, rows, 1, COLUMNS}
                       : (stencil_shape_t){points, 1, rows, COLUMNS};
}

/* All blocks around are the same one that holds zeros, but for what comes after. */
static stencil_around_t around_of(int points, const float *block, const float *none,
                                  const float *after)
{
    stencil_around_t a = {{block}};

    for (int i = 1; i < points; i++)
        a.at[i] = none;
    a.at[2] = after;
    return a;
}

static domain_t domain;

static int make(void **state)
{
    (void)state;
    domain.block = map(cells);
    domain.out = map(cells);
    domain.after = map(cells);
    domain.small = xy_calloc(FULL * COLUMNS, sizeof(float));
    domain.expect = xy_calloc(FULL * COLUMNS, sizeof(float));
    for (int64_t i = 0; i < (int64_t)(FULL - 1) * COLUMNS; i++) {
        float value = (float)testing_below(1 << 20) / 7;

        domain.small[COLUMNS + i] = value; /* its first row is zero, as those before are */
        domain.block[cells - (int64_t)(FULL - 1) * COLUMNS + i] = value;
    }
    for (int64_t i = 0; i < COLUMNS; i++)
        domain.after[i] = (float)testing_below(1 << 20) / 7;
    return 0;
}

static int unmake(void **state)
{
    (void)state;
    munmap(domain.block, (size_t)cells * sizeof(float));
    munmap(domain.out, (size_t)cells * sizeof(float));
    munmap(domain.after, (size_t)cells * sizeof(float));
    xy_free(domain.small);
    xy_free(domain.expect);
    return 0;
}

/* The rows of the small block but the first, whose neighbours are others. */
static void expect(int points)
{
    stencil_shape_t small = shape_of(points, FULL);
    float *none = xy_calloc(FULL * COLUMNS, sizeof(float));
    stencil_around_t around = around_of(points, domain.small, none, domain.after);

    stencil_kernels_plain_single.update(&small, &around, 1, FULL, domain.expect);
    xy_free(none);
}

static void check(int points)
{
    const float *end = domain.out + cells - (int64_t)(FULL - 1) * COLUMNS;

    if (memcmp(end, domain.expect + COLUMNS, (FULL - 1) * COLUMNS * sizeof(float)) != 0)
        fail_msg("rows beyond 2^31 cells differ with %d points", points);
    memset(domain.out + cells - (int64_t)(FULL - 1) * COLUMNS, 0,
           (FULL - 1) * COLUMNS * sizeof(float));
}

static const int kinds[] = {5, 9, 7};

static void test_cores(void **state)
{
    float *none = map(cells);

    (void)state;
    assert_true(cells > INT64_C(1) << 31);
    for (int i = 0; i < 3; i++) {
        stencil_shape_t shape = shape_of(kinds[i], ROWS);
        stencil_around_t around = around_of(kinds[i], domain.block, none, domain.after);
        const stencil_kernels_t *k;

        expect(kinds[i]);
        for (int set = 0; (k = stencil_kernels_number(true, set)) != NULL; set++) {
            k->update(&shape, &around, ROWS - FULL + 1, ROWS, domain.out);
            check(kinds[i]);
        }
    }
    munmap(none, (size_t)cells * sizeof(float));
}

/* ---- The text for GPUs ---- */

static const char words[] =
    "#define SINGLE 1\n#define INDEX long\n"
    "#define XY_KERNEL void\n#define XY_GLOBAL\n#define XY_INLINE static inline\n"
    "#define XY_RESTRICT restrict\n#define XY_SHARED static\n#define XY_BARRIER\n"
    "#define XY_BEGIN\n#define XY_ID(d) thread_id[d]\n#define XY_LOCAL_ID(d) 0L\n"
    "long thread_id[3];\n";

/* NULL: there is no compiler here. */
static void *compile(void)
{
    char directory[] = "/tmp/xylem-wide-XXXXXX", path[64], command[1024];
    FILE *file;
    void *library = NULL;

    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/k.c", directory);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s%s", words, stencil_gpu_text);
    fclose(file);
    snprintf(command, sizeof(command),
             STENCIL_CC " -w -O1 -ffp-contract=off -shared -fPIC -o %s/k.so %s 2>/dev/null",
             directory, path);
    if (system(STENCIL_CC " --version >/dev/null 2>&1") == 0) {
        assert_int_equal(system(command), 0);
        snprintf(path, sizeof(path), "%s/k.so", directory);
        library = dlopen(path, RTLD_NOW);
        assert_non_null(library);
    }
    snprintf(command, sizeof(command), "rm -r %s", directory);
    assert_int_equal(system(command), 0);
    return library;
}

typedef const float *in_t;
typedef void (*five_t)(in_t, in_t, in_t, in_t, in_t, float *, long, long, long, long, long);
typedef void (*nine_t)(in_t, in_t, in_t, in_t, in_t, in_t, in_t, in_t, in_t, float *, long, long,
                       long, long, long);
typedef void (*seven_t)(in_t, in_t, in_t, in_t, in_t, in_t, in_t, float *, long, long, long, long,
                        long);

static void call(void *f, int points, in_t z)
{
    in_t x = domain.block, a = domain.after;
    float *out = domain.out;
    long from = ROWS - FULL;

    if (points == 5)
        ((five_t)f)(x, z, a, z, z, out, 1, ROWS, COLUMNS, from, ROWS);
    else if (points == 9)
        ((nine_t)f)(x, z, a, z, z, z, z, z, z, out, 1, ROWS, COLUMNS, from, ROWS);
    else
        ((seven_t)f)(x, z, a, z, z, z, z, out, ROWS, 1, COLUMNS, from, ROWS);
}

static void test_text(void **state)
{
    void *library = compile();
    float *none = map(cells);
    long *id;

    (void)state;
    if (library == NULL)
        skip();
    id = dlsym(library, "thread_id");
    for (int i = 0; i < 3; i++) {
        char name[16];
        void *f;

        snprintf(name, sizeof(name), "update%d", kinds[i]);
        f = dlsym(library, name);
        assert_non_null(f);
        expect(kinds[i]);
        /* Threads beyond the last column and row are there, too. */
        for (id[1] = 0; id[1] < FULL + 2; id[1]++)
            for (id[0] = 0; id[0] < COLUMNS + 100; id[0]++)
                call(f, kinds[i], none);
        check(kinds[i]);
    }
    dlclose(library);
    munmap(none, (size_t)cells * sizeof(float));
}

/* ---- Sizes ---- */

/* Numbers of cells fit into the type that is chosen for them, also for threads beyond the end. */
static void test_types(void **state)
{
    int narrow = 0;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        int shift = testing_below(31);
        stencil_shape_t s = {5, 1, 1 + testing_below(1 << 30 >> shift),
                             1 + testing_below(1 << (shift < 30 ? shift : 30))};
        int64_t last = (s.rows + 2 * STENCIL_GPU_ROWS - 1) * s.columns + s.columns + 127;

        if (stencil_gpu_is_wide(&s))
            continue;
        assert_true(last <= INT32_MAX);
        narrow++;
    }
    assert_true(narrow > 100);
    assert_true(stencil_gpu_is_wide(&(stencil_shape_t){7, 2048, 1024, 1024}));
    assert_false(stencil_gpu_is_wide(&(stencil_shape_t){7, 1024, 1024, 1024}));
}

/* CUDA has 65535 groups in the second direction. */
static void test_launches(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        int64_t rows = stencil_gpu_launch_rows(kinds[i]);
        int64_t threads = kinds[i] == 5 ? rows / STENCIL_GPU_ROWS : rows;

        assert_true((threads + 1) / 2 <= 65535);
        assert_true(kinds[i] != 5 || rows % STENCIL_GPU_ROWS == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cores), cmocka_unit_test(test_text),
                                       cmocka_unit_test(test_types),
                                       cmocka_unit_test(test_launches)};

    return cmocka_run_group_tests(tests, make, unmake);
}
