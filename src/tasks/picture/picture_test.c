/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of runs told by hand: what is drawn where, and memory that runs out. The pictures
 * themselves are compared with files by tests/stencil/pictures.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tasks/picture/picture_internal.h"
#include "testing/base.h"
#include "testing/draw.h"

/* n tasks that each write the datum before them on a line, twice around. */
static xy_graph_t *line(int n, int dims)
{
    xy_graph_t *g;

    assert_int_equal(xy_graph_create(&g), XY_OK);
    for (int i = 0; i < n; i++)
        xy_graph_add_data(
            g, &(xy_data_t){.bytes = 8, .position = {dims == 0 ? -1 : i, dims > 1 ? i % 2 : 0, 0}});
    for (int i = 0; i < 2 * n; i++)
        xy_graph_add_task(g, &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 1},
                          (xy_access_t[]){{i % n, XY_ACCESS_READ_WRITE}}, 1);
    assert_int_equal(xy_graph_finalize(g), XY_OK);
    return g;
}

static xy_picture_t *tell(int n)
{
    const xy_task_observer_t *o;
    xy_picture_t *picture;

    if (xy_picture_create(&picture) != XY_OK)
        return NULL;
    o = xy_picture_observer(picture);
    for (int i = 0; i < 2 * n; i++) {
        o->transfer(o->arg, i % n, i % 3, (i + 1) % 3, i, i + 0.5);
        o->memory(o->arg, 1 + i % 2, i, (uint64_t)i * 10);
        o->task(o->arg, i % 2, i, i, i + 1);
    }
    return picture;
}

/* Marks of tasks and transfers: "M60 34h12.5". */
static int count_strokes(const char *text)
{
    int n = 0;

    for (const char *at = strstr(text, "stroke-width=\""); at != NULL;
         at = strstr(at + 1, "stroke-width=\"")) {
        const char *end = strstr(at, "/>");

        for (const char *m = strchr(at, 'M'); m != NULL && m < end; m = strchr(m + 1, 'M'))
            n++;
    }
    return n;
}

/* The picture, in memory that the caller frees; NULL: it was not drawn. */
static char *drawn(const xy_picture_t *picture, const xy_graph_t *g, picture_view_t which)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    picture_layout_t l;
    bool is_drawn;

    assert_int_equal(picture_layout_init(&l, picture, g), XY_OK);
    l.f = f;
    is_drawn = picture_is_drawable(&l, which);
    if (is_drawn)
        assert_int_equal(picture_draw(&l, which), XY_OK);
    picture_layout_cleanup(&l);
    fclose(f);
    if (is_drawn)
        return text;
    free(text);
    return NULL;
}

static void test_marks(void **state)
{
    xy_graph_t *g = line(5, 1);
    xy_picture_t *picture = tell(5);
    char *text;

    (void)state;
    text = drawn(picture, g, PICTURE_VIEW_TIME);
    assert_int_equal(testing_count(text, "stroke-width=\""),
                     5); /* three kinds of transfers, two workers */
    assert_int_equal(count_strokes(text), 20);
    free(text);
    text = drawn(picture, g, PICTURE_VIEW_ITERATION);
    assert_int_equal(count_strokes(text), 10); /* cell i: by worker i % 2, then by the other */
    assert_int_equal(testing_count(text, "<path class=\"ink\""), 3);
    free(text);
    assert_null(drawn(picture, g, PICTURE_VIEW_SLICES));
    xy_picture_destroy(picture);
    xy_graph_destroy(g);
}

static void test_dimensions(void **state)
{
    xy_picture_t *picture = tell(4);
    char *text;

    (void)state;
    for (int dims = 0; dims < 3; dims++) {
        xy_graph_t *g = line(4, dims);

        for (int i = 0; i < PICTURE_VIEWS; i++) {
            bool is_wanted = i >= PICTURE_VIEW_MEMORY || dims > (i == PICTURE_VIEW_SLICES ? 1 : 0);

            text = drawn(picture, g, (picture_view_t)i);
            assert_true((text != NULL) == is_wanted);
            free(text);
        }
        xy_graph_destroy(g);
    }
    xy_picture_destroy(picture);
}

/* An instant: at 3.5 s the first three of five cells have done one iteration. */
static void test_layout(void **state)
{
    xy_graph_t *g = line(5, 2);
    xy_picture_t *picture = tell(5);
    picture_layout_t l;

    (void)state;
    assert_int_equal(picture_layout_init(&l, picture, g), XY_OK);
    assert_int_equal(l.dims, 2);
    assert_int_equal(l.size[0], 5);
    assert_int_equal(l.size[1], 2);
    assert_int_equal(l.iterations, 2);
    assert_int_equal(l.workers, 2);
    assert_int_equal(l.place[3], 7);
    assert_int_equal(l.iteration[3], 0);
    assert_int_equal(l.iteration[8], 1);
    picture_layout_cleanup(&l);
    xy_picture_destroy(picture);
    xy_graph_destroy(g);
}

static void test_out_of_memory(void **state)
{
    xy_graph_t *g = line(6, 2);

    (void)state;
    for (long k = 0; testing_fail_next(&k);) {
        FILE *f = fopen("/dev/null", "w");
        xy_status_t st = XY_ENOMEM;
        xy_picture_t *picture;

        picture = tell(6);
        if (picture != NULL)
            st = xy_picture_page(picture, g, &(xy_picture_text_t){"a < b", "x & y"}, f);
        xy_picture_destroy(picture);
        fclose(f);
        assert_null(testing_fail_fault(&k, st));
    }
    xy_error_handler_set(NULL, NULL);
    xy_graph_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_dimensions),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_out_of_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
