/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are cut, damaged, foreign: what is complete is read, the rest is reported in one line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "testing/trace.h"
#include "trace/format.h"

/* A small trace with several chunks per row: the flushes make them. */
static void make(char **data_p, size_t *size_p)
{
    char path[64];
    xy_trace_t *trace;
    xy_trace_row_t *row[2];
    uint32_t kind;

    testing_path(path);
    assert_int_equal(
        xy_trace_create(path, &(xy_trace_options_t){.title = "small", .clock = XY_TRACE_VIRTUAL},
                        &trace),
        XY_OK);
    assert_int_equal(xy_trace_row_create(trace, "a", NULL, &row[0]), XY_OK);
    assert_int_equal(xy_trace_row_create(trace, "b", NULL, &row[1]), XY_OK);
    kind = xy_trace_kind(trace, "compute", XY_TRACE_COMPUTE, 0);
    for (uint64_t i = 0; i < 6; i++) {
        xy_trace_state_at(row[i % 2], 10 * i, 10 * i + 5, kind, (int64_t)i, 0);
        xy_trace_flush(row[i % 2]);
    }
    assert_int_equal(xy_trace_close(trace), XY_OK);
    assert_int_equal(xy_file_read(path, 1 << 20, data_p, size_p), XY_OK);
    unlink(path);
}

static xy_status_t parse(const char *data, size_t size, xy_trace_log_t **log_p)
{
    testing_listen();
    return xy_trace_parse(data, size, "t.xyt", log_p);
}

/* How many states are in complete chunks of the first `size` bytes, by walking the chunks. */
static size_t complete_states(const char *data, size_t size, bool *any)
{
    const uint8_t *p = (const uint8_t *)data;
    size_t at = TRACE_HEADER_SIZE, states = 0;

    *any = false;
    while (size >= TRACE_CHUNK_SIZE && at <= size - TRACE_CHUNK_SIZE) {
        uint32_t length = trace_get_u32(p + at + 8);

        if (length > size - at - TRACE_CHUNK_SIZE)
            break;
        *any = true;
        states += trace_get_u32(p + at + 4) != TRACE_DEFINITIONS;
        at += TRACE_CHUNK_SIZE + length;
    }
    return states;
}

static void test_truncation(void **state)
{
    char *data;
    size_t size;

    (void)state;
    make(&data, &size);
    for (size_t n = 0; n < size; n++) {
        xy_trace_log_t *log = NULL;
        bool any;
        size_t states = complete_states(data, n, &any);
        char *copy = malloc(n + 1); /* of the exact size: reading behind it is seen */
        xy_status_t st;

        copy = realloc(copy, n > 0 ? n : 1);
        memcpy(copy, data, n);
        st = parse(copy, n, &log);
        free(copy);
        assert_int_equal(testing_said_count, 1);
        if (!any) {
            assert_int_equal(st, XY_EPARSE);
            assert_null(log);
            continue;
        }
        assert_int_equal(st, XY_OK);
        assert_null(testing_log_fault(log));
        assert_int_equal(log->state_count, states);
        assert_true(log->damage.is_unfinished);
        assert_non_null(strstr(testing_said, "t.xyt: not closed"));
        xy_trace_log_free(log);
    }
    xy_free(data);
}

/* One damaged byte anywhere behind the header costs one chunk at most. */
static void test_damage(void **state)
{
    char *data;
    size_t size;

    (void)state;
    make(&data, &size);
    for (size_t i = 0; i < size; i++) {
        xy_trace_log_t *log = NULL;
        xy_status_t st;

        data[i] ^= 0x5a;
        st = parse(data, size, &log);
        data[i] ^= 0x5a;
        assert_int_equal(testing_said_count, 1);
        if (i < TRACE_HEADER_SIZE) {
            assert_true(st == XY_EPARSE);
            continue;
        }
        assert_int_equal(st, XY_OK);
        assert_null(testing_log_fault(log));
        assert_true(log->damage.bytes_skipped > 0 || log->damage.is_unfinished);
        assert_in_range(log->state_count, 5, 6);
        xy_trace_log_free(log);
    }
    xy_free(data);
}

static void test_foreign(void **state)
{
    char *data;
    size_t size;
    xy_trace_log_t *log = NULL;

    (void)state;
    assert_int_equal(parse("", 0, &log), XY_EPARSE);
    assert_string_equal(testing_said,
                        "t.xyt: empty; a trace has at least a header: record it again");
    assert_int_equal(parse("hello world", 11, &log), XY_EPARSE);
    assert_string_equal(testing_said, "t.xyt: not a Xylem trace; give a file recorded by Xylem");
    make(&data, &size);
    data[8] = 9;
    trace_put_u32((uint8_t *)data + 60, trace_checksum((uint8_t *)data, 60));
    assert_int_equal(parse(data, size, &log), XY_EUNSUPPORTED);
    assert_non_null(strstr(testing_said, "trace format 9, this program reads up to 3"));
    assert_int_equal(parse(data, 40, &log), XY_EPARSE);
    assert_null(log);
    xy_free(data);
    testing_listen();
    assert_int_equal(xy_trace_read("/no/such/file", &log), XY_ENOENT);
    assert_int_equal(xy_trace_read("/tmp", &log) != XY_OK, 1);
    assert_null(log);
}

/* The steps of ranks: by rank, in their order, in any row. */
static void test_steps(void **state)
{
    char path[64];
    xy_trace_t *trace;
    xy_trace_row_t *row;
    xy_trace_log_t *log;
    uint32_t send, site;
    xy_trace_collective_t c = {.rank = 1,
                               .collective = 3,
                               .context = 77,
                               .first = 5,
                               .members = 2,
                               .member = 1,
                               .root = 1,
                               .count = UINT64_C(1) << 40,
                               .element = 8};

    (void)state;
    testing_path(path);
    assert_int_equal(
        xy_trace_create(path, &(xy_trace_options_t){.clock = XY_TRACE_VIRTUAL}, &trace), XY_OK);
    assert_int_equal(xy_trace_row_create(trace, "r", NULL, &row), XY_OK);
    send = xy_trace_label(trace, "MPI_Send");
    site = xy_trace_site(trace, "a.out+0x11d4");
    assert_int_equal(xy_trace_site(trace, "a.out+0x11d4"), site);
    xy_trace_put_collective(row, 4, &c);
    xy_trace_call_at(row, 5, 0, send, site);
    xy_trace_put_sent(row, 6,
                      &(xy_trace_message_t){.key = 9, .bytes = 100, .label = send, .peer = 1});
    xy_trace_put_received(row, 6, &(xy_trace_message_t){.key = 9, .rank = 1});
    xy_trace_call_at(row, 6, 0, send, 0);
    assert_int_equal(xy_trace_close(trace), XY_OK);
    assert_int_equal(xy_trace_read(path, &log), XY_OK);
    assert_null(testing_log_fault(log));
    assert_int_equal(log->step_count, 5);
    assert_int_equal(log->steps[0].kind, XY_TRACE_STEP_CALL);
    assert_string_equal(log->labels[log->steps[0].label], "MPI_Send");
    assert_string_equal(log->sites[log->steps[0].site], "a.out+0x11d4");
    assert_true(log->steps[1].kind == XY_TRACE_STEP_SENT && log->steps[1].peer == 1 &&
                log->steps[1].message == 1);
    assert_string_equal(log->sites[log->steps[2].site], "");
    assert_true(log->steps[3].kind == XY_TRACE_STEP_COLLECTIVE && log->steps[3].context == 77 &&
                log->steps[3].first == 5 && log->steps[3].collective == 3 &&
                log->steps[3].peer == 1 && log->steps[3].members == 2 &&
                log->steps[3].member == 1 && log->steps[3].bytes == UINT64_C(1) << 40 &&
                log->steps[3].element == 8);
    assert_true(log->steps[4].kind == XY_TRACE_STEP_RECEIVED && log->steps[4].bytes == 100 &&
                log->steps[4].message == 1);
    xy_trace_log_free(log);
    remove(path);
}

/* Events that do not fit together: never entered, never left, overlapping, one half. */
static void test_odd_events(void **state)
{
    char path[64];
    xy_trace_t *trace;
    xy_trace_row_t *row;
    xy_trace_log_t *log;

    (void)state;
    testing_path(path);
    assert_int_equal(
        xy_trace_create(path, &(xy_trace_options_t){.clock = XY_TRACE_VIRTUAL}, &trace), XY_OK);
    assert_int_equal(xy_trace_row_create(trace, "r", NULL, &row), XY_OK);
    xy_trace_leave_at(row, 5);
    xy_trace_state_at(row, 10, 20, 1, 0, 0);  /* kind 1 is never defined */
    xy_trace_state_at(row, 15, 30, 99, 0, 7); /* ends behind the one around it */
    xy_trace_enter_at(row, 40, 0, 0, 0);
    xy_trace_put_received(row, 45, &(xy_trace_message_t){.key = 1});
    /* The first of two is the one received. */
    xy_trace_put_sent(row, 41, &(xy_trace_message_t){.key = 9, .bytes = 100, .peer = 2});
    xy_trace_put_sent(row, 42, &(xy_trace_message_t){.key = 9, .bytes = 200, .peer = 2});
    xy_trace_put_received(row, 44, &(xy_trace_message_t){.key = 9, .rank = 2});
    xy_trace_put_link(row, 3, 46, 0, 47, 8, 0); /* row 3 is never defined */
    assert_int_equal(xy_trace_close(trace), XY_OK);
    testing_listen();
    assert_int_equal(xy_trace_read(path, &log), XY_OK);
    assert_int_equal(testing_said_count, 1);
    assert_non_null(strstr(testing_said, ": 1 states never left, 1 states left but never entered, "
                                         "1 states that end after the state around them, "
                                         "1 messages that were received, but not sent; showing"));
    assert_null(testing_log_fault(log));
    assert_int_equal(log->state_count, 3);
    assert_int_equal(log->states[1].end, 20);
    assert_true(log->states[2].is_open && log->states[2].end == log->end && log->end == 47);
    assert_int_equal(log->link_count, 2);
    assert_int_equal(log->links[0].bytes, 100);
    assert_int_equal(log->step_count, 4);
    assert_int_equal(log->steps[0].message, 0); /* received, and not sent */
    assert_true(log->steps[1].message == 1 && log->steps[3].message == 1);
    assert_int_equal(log->steps[2].message, 0);
    assert_int_equal(log->steps[3].bytes, 100);
    assert_int_equal(log->row_count, 2);
    assert_string_equal(log->rows[1].name, "row 1");
    assert_string_equal(log->kinds[log->states[0].kind].name, "kind 1");
    xy_trace_log_free(log);
    unlink(path);
}

/* The last chunk of a row, written again, is one. */
static void test_repeated(void **state)
{
    char *data, twice[1 << 12];
    size_t size, at = TRACE_HEADER_SIZE, last = 0, length;
    xy_trace_log_t *log = NULL;

    (void)state;
    make(&data, &size);
    while (at < size) {
        if (trace_get_u32((uint8_t *)data + at + 4) != TRACE_DEFINITIONS)
            last = at;
        at += TRACE_CHUNK_SIZE + trace_get_u32((uint8_t *)data + at + 8);
    }
    length = TRACE_CHUNK_SIZE + trace_get_u32((uint8_t *)data + last + 8);
    assert_true(last > 0 && size + length <= sizeof(twice));
    memcpy(twice, data, last + length);
    memcpy(twice + last + length, data + last, size - last);
    assert_int_equal(parse(twice, size + length, &log), XY_OK);
    assert_int_equal(testing_said_count, 0);
    assert_int_equal(log->state_count, 6);
    xy_trace_log_free(log);
    xy_free(data);
}

static void test_memory(void **state)
{
    xy_trace_log_t *log = NULL;
    char *data;
    size_t size;

    (void)state;
    make(&data, &size);
    for (long k = 0; testing_fail_next(&k);) {
        assert_null(log);
        assert_null(testing_fail_fault(&k, xy_trace_parse(data, size, "t.xyt", &log)));
    }
    xy_trace_log_free(log);
    xy_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncation), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_foreign),    cmocka_unit_test(test_odd_events),
        cmocka_unit_test(test_steps),      cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
