/* SPDX-License-Identifier: BSD-3-Clause */
/* Writers against golden files, the summary against counting moment by moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "testing/trace.h"

#define DATA XYLEM_SOURCE_DIR "/tests/data/trace/"

/* Every feature once, with names that need escaping in every format. */
static xy_trace_log_t *sample(void)
{
    char path[64];
    xy_trace_t *t;
    xy_trace_row_t *a, *b, *c;
    uint32_t compute, progress, wait, label, counter;
    xy_trace_log_t *log;

    testing_path(path);
    assert_int_equal(xy_trace_create(path,
                                     &(xy_trace_options_t){.title = "a \"small\" </script> trace",
                                                           .clock = XY_TRACE_VIRTUAL},
                                     &t),
                     XY_OK);
    compute = xy_trace_kind(t, "compute", XY_TRACE_COMPUTE, 0);
    progress = xy_trace_kind(t, "progress", XY_TRACE_PROGRESS, 0);
    wait = xy_trace_kind(t, "wait", XY_TRACE_WAIT, 0x123456);
    label = xy_trace_label(t, "dgemm \"A\\B\" <x>");
    counter = xy_trace_counter_name(t, "queue", "tasks");
    assert_int_equal(xy_trace_row_create(t, "core 0", "node 0", &a), XY_OK);
    assert_int_equal(xy_trace_row_create(t, "core 1", "node 0", &b), XY_OK);
    assert_int_equal(xy_trace_row_create(t, "gpu", NULL, &c), XY_OK);
    xy_trace_state_at(a, 1000, 5000, compute, 3, label);
    xy_trace_state_at(a, 2000, 2500, progress, XY_TRACE_NO_ID, 0);
    xy_trace_state_at(a, 5000, 7000, wait, 3, 0);
    xy_trace_state_at(b, 1500, 4500, progress, 4, 0);
    xy_trace_state_at(b, 4500, 4500, compute, 4, 0);
    xy_trace_link_at(b, 0, 2200, 1, 4100, 65536, label);
    xy_trace_counter_at(a, 1000, counter, 2);
    xy_trace_counter_at(a, 3000, counter, 0.5);
    xy_trace_mark_at(c, 6000, 1, label);
    assert_int_equal(xy_trace_close(t), XY_OK);
    testing_listen();
    assert_int_equal(xy_trace_read(path, &log), XY_OK);
    assert_int_equal(testing_said_count, 0);
    log->path = "sample.xyt";
    unlink(path);
    return log;
}

static xy_status_t write_text(const xy_trace_log_t *log, FILE *file)
{
    xy_trace_summary_t *summary;
    xy_status_t st = xy_trace_summarize(log, &summary);

    if (st == XY_OK) {
        st = xy_trace_write_text(log, summary, 30, 2, file);
        xy_trace_summary_free(summary);
    }
    return st;
}

static xy_status_t write_json(const xy_trace_log_t *log, FILE *file)
{
    xy_trace_summary_t *summary;
    xy_status_t st = xy_trace_summarize(log, &summary);

    if (st == XY_OK) {
        xy_trace_write_json(log, summary, file);
        xy_trace_summary_free(summary);
    }
    return st;
}

typedef xy_status_t (*write_fn)(const xy_trace_log_t *log, FILE *file);

/* XYLEM_UPDATE_GOLDEN=1 writes the file instead; read the difference before committing it. */
static void check_golden(const char *name, write_fn write)
{
    xy_trace_log_t *log = sample();
    char *text, *golden, *path = xy_sprintf(DATA "%s", name);
    size_t size, golden_size;
    FILE *file = open_memstream(&text, &size);

    assert_int_equal(write(log, file), XY_OK);
    fclose(file);
    if (getenv("XYLEM_UPDATE_GOLDEN") != NULL) {
        file = fopen(path, "w");
        assert_non_null(file);
        fwrite(text, 1, size, file);
        fclose(file);
    }
    assert_int_equal(xy_file_read(path, 1 << 20, &golden, &golden_size), XY_OK);
    assert_string_equal(text, golden);
    xy_free(golden);
    xy_free(path);
    free(text);
    xy_trace_log_free(log);
}

static void test_golden(void **state)
{
    (void)state;
    check_golden("sample.paje", xy_trace_write_paje);
    check_golden("sample.chrome.json", xy_trace_write_chrome);
    check_golden("sample.txt", write_text);
    check_golden("sample.json", write_json);
}

/* A random trace of small times, and the same counted nanosecond by nanosecond. */
enum { ROWS = 3, SPAN = 400 };

typedef struct {
    int kind[ROWS][SPAN]; /* 0: none */
    bool flight[ROWS][SPAN];
} grid_t;

static void fill(xy_trace_row_t *row, int *grid, int from, int to, uint64_t *seed)
{
    while (from < to) {
        int gap = (int)(testing_random(seed) % 9), length = (int)(testing_random(seed) % 60);
        int start = from + gap, end = start + length < to ? start + length : to;
        int kind = 1 + (int)(testing_random(seed) % 4);

        if (start >= to)
            return;
        xy_trace_state_at(row, (uint64_t)start, (uint64_t)end, (uint32_t)kind, 0, 0);
        for (int t = start; t < end; t++)
            grid[t] = kind;
        if (testing_random(seed) % 2)
            fill(row, grid, start, end, seed);
        from = end + 1;
    }
}

static xy_trace_log_t *random_log(grid_t *g, uint64_t seed)
{
    char path[64];
    xy_trace_t *t;
    xy_trace_row_t *row[ROWS];
    xy_trace_log_t *log;

    testing_path(path);
    assert_int_equal(xy_trace_create(path, &(xy_trace_options_t){.clock = XY_TRACE_VIRTUAL}, &t),
                     XY_OK);
    xy_trace_kind(t, "compute", XY_TRACE_COMPUTE, 0);
    xy_trace_kind(t, "progress", XY_TRACE_PROGRESS, 0);
    xy_trace_kind(t, "wait", XY_TRACE_WAIT, 0);
    xy_trace_kind(t, "idle", XY_TRACE_IDLE, 0);
    for (int r = 0; r < ROWS; r++) {
        assert_int_equal(xy_trace_row_create(t, "r", NULL, &row[r]), XY_OK);
        fill(row[r], g->kind[r], 0, SPAN, &seed);
    }
    for (int i = 0; i < 12; i++) {
        int from = (int)(testing_random(&seed) % ROWS), to = (int)(testing_random(&seed) % ROWS);
        int start = (int)(testing_random(&seed) % (SPAN - 40));
        int end = start + (int)(testing_random(&seed) % 40);

        xy_trace_link_at(row[0], (uint32_t)from, (uint64_t)start, (uint32_t)to, (uint64_t)end, 10,
                         0);
        for (int x = start; x < end; x++)
            g->flight[from][x] = g->flight[to][x] = true;
    }
    xy_trace_mark_at(row[0], 0, 0, 0);
    xy_trace_mark_at(row[0], SPAN, 0, 0);
    assert_int_equal(xy_trace_close(t), XY_OK);
    testing_listen();
    assert_int_equal(xy_trace_read(path, &log), XY_OK);
    assert_int_equal(testing_said_count, 0);
    unlink(path);
    return log;
}

static void test_summary(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        grid_t g = {0};
        xy_trace_log_t *log = random_log(&g, seed);
        xy_trace_summary_t *s;

        assert_null(testing_log_fault(log));
        assert_int_equal(xy_trace_summarize(log, &s), XY_OK);
        assert_int_equal(s->span, SPAN);
        for (int r = 0; r < ROWS; r++) {
            int64_t time[5] = {0}, flight = 0, hidden = 0;

            for (int t = 0; t < SPAN; t++) {
                time[g.kind[r][t]]++;
                flight += g.flight[r][t];
                hidden += g.flight[r][t] && g.kind[r][t] == 1;
            }
            for (int k = 1; k < 5; k++)
                assert_int_equal(s->time[(size_t)r * s->kind_count + (size_t)k], time[k]);
            assert_int_equal(s->rows[r].idle, time[0] + time[4]);
            assert_int_equal(s->rows[r].compute, time[1]);
            assert_int_equal(s->rows[r].flight, flight);
            assert_int_equal(s->rows[r].hidden, hidden);
        }
        assert_int_equal(s->total.sent, 12);
        assert_int_equal(s->total.bytes_received, 120);
        xy_trace_summary_free(s);
        xy_trace_log_free(log);
    }
}

/* The page is whole, holds its data, and lets no name out of its place. */
static void check_page(const xy_trace_why_t *why, const char *headline)
{
    xy_trace_log_t *log = sample();
    char *text, *end;
    size_t size, scripts = 0;
    FILE *file = open_memstream(&text, &size);

    assert_int_equal(xy_trace_write_html(log, why, file), XY_OK);
    fclose(file);
    assert_null(strstr(text, "{{"));
    assert_non_null(strstr(text, "<title>a &quot;small&quot; &lt;/script&gt; trace</title>"));
    for (const char *at = text; (at = strstr(at, "</script>")) != NULL; at++)
        scripts++;
    assert_int_equal(scripts, 2);
    assert_non_null(strstr(text, headline));
    assert_null(strstr(text, "http://"));
    assert_null(strstr(text, "https://"));
    end = text + size;
    assert_memory_equal(end - 8, "</html>\n", 8);
    free(text);
    xy_trace_log_free(log);
}

static void test_page(void **state)
{
    xy_trace_kind_info_t kind = {"late </script>", XY_TRACE_WAIT, 0};
    xy_trace_place_t places[] = {{"", ""}, {"MPI_Recv", "</script>"}};
    xy_trace_call_t call = {.enter = 0, .leave = 10, .place = 1};
    xy_trace_wait_t wait = {.start = 2, .end = 8, .root_end = 8, .root_ns = 6};
    xy_trace_why_t why = {"<b>late</b>", &kind, places, &call, &wait, 1, 2, 1, 1};

    (void)state;
    check_page(NULL, "<h1>Rows compute ");
    check_page(&why, "<h1>&lt;b&gt;late&lt;/b&gt;</h1>");
}

static xy_status_t write_svg(const xy_trace_log_t *log, FILE *file)
{
    return xy_trace_write_svg(log, log->begin, log->end, file);
}

/* Two rows of 100 us: the first computes for half of the time, then one core of the other does. */
static void test_picture(void **state)
{
    xy_trace_state_t states[] = {{.start = 0, .end = 50000, .id = 7, .row = 0, .kind = 1},
                                 {.start = 50000, .end = 100000, .id = -1, .row = 1, .kind = 2}};
    xy_trace_row_info_t rows[] = {{"first <&", "", 0, 1}, {"second", "", 1, 1}};
    xy_trace_kind_info_t kinds[] = {{"", XY_TRACE_OTHER, 0},
                                    {"compute", XY_TRACE_COMPUTE, 0x112233},
                                    {"wait", XY_TRACE_WAIT, 0x445566}};
    xy_trace_link_t links[] = {{10000, 20000, 8, 0, 0, 0}, {10000, 20000, 8, 0, 1, 0}};
    xy_trace_log_t log = {.end = 100000,
                          .rows = rows,
                          .row_count = 2,
                          .kinds = kinds,
                          .kind_count = 3,
                          .states = states,
                          .state_count = 2,
                          .links = links,
                          .link_count = 2};
    char *text;
    const char *arrow;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    (void)state;
    assert_int_equal(write_svg(&log, file), XY_OK);
    fclose(file);
    assert_non_null(strstr(text, ".k1{fill:#112233}.k2{fill:#445566}"));
    for (const char *kind = "12"; *kind != '\0'; kind++) {
        char mark[32];

        snprintf(mark, sizeof(mark), "<rect class=\"k%c\"", *kind);
        assert_non_null(strstr(strstr(text, mark), "width=\"480\" height=\"26\""));
    }
    assert_non_null(strstr(text, ">first &lt;&amp;</text>"));
    assert_non_null(strstr(text, ">7</text>"));
    assert_non_null(strstr(text, ">in flight</text>"));
    assert_non_null(strstr(text, ">message</text>"));
    /* A message has a head, which is drawn to its end and back. */
    arrow = strstr(text, "<path class=\"message\" d=\"M");
    assert_non_null(arrow);
    assert_int_equal(strcspn(strchr(arrow, 'L'), "M") < strcspn(strchr(arrow, 'L'), ">"), 1);
    free(text);
    testing_listen();
    assert_int_equal(xy_trace_write_svg(&log, 5, 5, stdout), XY_EINVAL);
    assert_int_equal(testing_said_count, 1);
}

static void test_memory(void **state)
{
    static const write_fn writers[] = {write_text, write_json, xy_trace_write_paje,
                                       xy_trace_write_chrome, write_svg};
    xy_trace_log_t *log = sample();
    FILE *file = fopen("/dev/null", "w");

    (void)state;
    for (size_t w = 0; w < 5; w++)
        for (long k = 0; testing_fail_next(&k);)
            assert_null(testing_fail_fault(&k, writers[w](log, file)));
    fclose(file);
    xy_trace_log_free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),  cmocka_unit_test(test_summary), cmocka_unit_test(test_page),
        cmocka_unit_test(test_picture), cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
