/* SPDX-License-Identifier: BSD-3-Clause */
/* Recordings of several processes, cut anywhere, become one trace with one clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "testing/trace.h"
#include "trace/format.h"
#include "trace/reader.h"

enum { SOURCES = 3, MESSAGES = 40 };

static char merged[64];
static const char *const names[] = {"process 0 on a", "process 1 on b", "process 2 on c"};

/* A ring: each sends to the next. Names are registered in another order by each. */
static void record(const char *path, int own)
{
    xy_trace_t *trace;
    xy_trace_row_t *row;
    uint32_t kinds[2], label;

    assert_int_equal(xy_trace_create(path, &(xy_trace_options_t){.title = "ring"}, &trace), XY_OK);
    for (int i = 0; i < 2; i++) {
        int which = (own + i) % 2;

        kinds[which] = xy_trace_kind(trace, which ? "MPI" : "compute",
                                     which ? XY_TRACE_PROGRESS : XY_TRACE_COMPUTE, 0);
    }
    xy_trace_label(trace, names[own]);
    label = xy_trace_label(trace, "send");
    assert_int_equal(xy_trace_row_create(trace, "core 0", names[own], &row), XY_OK);
    for (int i = 0; i < MESSAGES; i++) {
        xy_trace_enter(row, kinds[i % 2], own, label);
        xy_trace_sent(row, &(xy_trace_message_t){.key = (uint64_t)own + 1,
                                                 .bytes = 8,
                                                 .label = label,
                                                 .rank = (uint32_t)own,
                                                 .peer = (uint32_t)(own + 1) % SOURCES});
        xy_trace_received(row, &(xy_trace_message_t){.key = (uint64_t)((own + 2) % SOURCES) + 1,
                                                     .rank = (uint32_t)own,
                                                     .peer = (uint32_t)(own + 2) % SOURCES});
        xy_trace_leave(row);
        if (i % 7 == own)
            xy_trace_flush(row);
    }
    assert_int_equal(xy_trace_close(trace), XY_OK);
}

/* As if recorded on a host whose clock is `ns` ahead; its counter of ticks is the same. */
static void set_clock_ahead(uint8_t *data, size_t size, uint64_t ns)
{
    size_t at = TRACE_HEADER_SIZE;

    trace_put_u64(data + 24, trace_get_u64(data + 24) + ns);
    trace_put_u32(data + TRACE_HEADER_SIZE - 4, trace_checksum(data, TRACE_HEADER_SIZE - 4));
    while (at < size) {
        trace_put_u64(data + at + 32, trace_get_u64(data + at + 32) + ns);
        trace_put_u32(data + at + 44, trace_checksum(data + at, 44));
        at += TRACE_CHUNK_SIZE + trace_get_u32(data + at + 8);
    }
    assert_int_equal(at, size);
}

/* In turns, in pieces of all sizes. The clock of source 1 is `ahead` ns ahead. */
static void merge_all(xy_trace_merge_t *merge, uint64_t ahead)
{
    char *data[SOURCES];
    size_t size[SOURCES], at[SOURCES] = {0}, left = SOURCES;
    unsigned step = 1;

    for (int i = 0; i < SOURCES; i++) {
        char path[64];

        testing_path(path);
        record(path, i);
        assert_int_equal(xy_file_read(path, 1 << 20, &data[i], &size[i]), XY_OK);
        unlink(path);
        if (i == 1)
            set_clock_ahead((uint8_t *)data[i], size[i], ahead);
    }
    while (left > 0) {
        left = 0;
        for (int i = SOURCES - 1; i >= 0; i--) {
            size_t n = (step = step * 7 % 997) % 300;

            n = n < size[i] - at[i] ? n : size[i] - at[i];
            assert_int_equal(xy_trace_merge_add(merge, i, data[i] + at[i], n), XY_OK);
            at[i] += n;
            left += size[i] - at[i];
        }
    }
    for (int i = 0; i < SOURCES; i++)
        xy_free(data[i]);
}

static xy_trace_log_t *read_log(void)
{
    xy_trace_log_t *log;

    testing_listen();
    assert_int_equal(xy_trace_read(merged, &log), XY_OK);
    assert_string_equal(testing_said, "");
    unlink(merged);
    assert_null(testing_log_fault(log));
    return log;
}

static void one_of_all(void **state)
{
    xy_trace_merge_t *merge;
    xy_trace_log_t *log;

    (void)state;
    testing_path(merged);
    assert_int_equal(xy_trace_merge_create(merged, names, SOURCES, &merge), XY_OK);
    merge_all(merge, 0);
    assert_int_equal(xy_trace_merge_close(merge), XY_OK);
    log = read_log();
    assert_false(log->damage.is_unfinished);
    assert_int_equal(log->damage.bytes_skipped + log->damage.chunks_missing, 0);
    assert_string_equal(log->title, "ring");
    assert_int_equal(log->source_count, SOURCES);
    assert_false(log->sources[0].is_aligned);
    /* Rows process by process; names that are alike are one. */
    assert_int_equal(log->row_count, SOURCES);
    for (int i = 0; i < SOURCES; i++) {
        assert_string_equal(log->rows[i].group, names[i]);
        assert_string_equal(log->sources[i].name, names[i]);
        assert_int_equal(log->rows[i].state_count, MESSAGES);
    }
    assert_int_equal(log->kind_count, 1 + 2);
    assert_int_equal(log->label_count, 1 + SOURCES + 1);
    for (size_t i = 0; i < log->state_count; i++) {
        const xy_trace_state_t *s = &log->states[i];
        size_t nth = i - log->rows[s->row].first_state;

        assert_string_equal(log->kinds[s->kind].name, nth % 2 ? "MPI" : "compute");
        assert_int_equal(s->id, s->row);
        assert_string_equal(log->labels[s->label], "send");
    }
    /* Messages from process to process. */
    assert_int_equal(log->link_count, SOURCES * MESSAGES);
    assert_int_equal(log->links_unreceived + log->damage.links_alone, 0);
    for (size_t i = 0; i < log->link_count; i++)
        assert_int_equal(log->links[i].to, (log->links[i].from + 1) % SOURCES);
    xy_trace_log_free(log);
}

/* The file is written by the clock of one host; a source has another's. */
static void clocks_of_hosts(void **state)
{
    const int64_t days = 5 * 24 * INT64_C(3600000000000), minute = INT64_C(60000000000);
    xy_trace_merge_t *merge;
    xy_trace_log_t *log;

    (void)state;
    testing_path(merged);
    assert_int_equal(xy_trace_merge_create(merged, names, SOURCES, &merge), XY_OK);
    merge_all(merge, (uint64_t)days);
    xy_trace_merge_clock(merge, 1, &(xy_trace_clock_fit_t){.offset = {-days, -days}, .error = 1});
    assert_int_equal(xy_trace_merge_close(merge), XY_OK);
    log = read_log();
    for (size_t i = 0; i < log->state_count; i++) {
        assert_in_range(log->states[i].start, 0, minute);
        assert_in_range(log->states[i].end, log->states[i].start, minute);
    }
    /* All have recorded one after the other. */
    assert_true(log->states[MESSAGES].start >= log->states[MESSAGES - 1].end - 1000000);
    assert_true(log->states[MESSAGES * 2].start >= log->states[MESSAGES * 2 - 1].end - 1000000);
    xy_trace_log_free(log);
}

/* Clocks that are hours apart, one of which is slow. */
static void one_clock(void **state)
{
    const int64_t hour = INT64_C(3600000000000);
    xy_trace_merge_t *merge;
    xy_trace_log_t *log;

    (void)state;
    testing_path(merged);
    assert_int_equal(xy_trace_merge_create(merged, names, SOURCES, &merge), XY_OK);
    merge_all(merge, 0);
    xy_trace_merge_clock(merge, 1, &(xy_trace_clock_fit_t){.error = 1});
    xy_trace_merge_clock(
        merge, 1, &(xy_trace_clock_fit_t){.time = {0, 0}, .offset = {hour, hour}, .error = 12345});
    /* The clock's gain since time 0, doubled. */
    xy_trace_merge_clock(
        merge, 2,
        &(xy_trace_clock_fit_t){.time = {0, (uint64_t)hour}, .offset = {0, hour}, .error = 7});
    assert_int_equal(xy_trace_merge_close(merge), XY_OK);
    log = read_log();
    assert_true(log->sources[1].is_aligned);
    assert_int_equal(log->sources[1].offset, hour);
    assert_int_equal(log->sources[1].error, 12345);
    assert_false(log->sources[0].is_aligned);
    for (size_t i = 0; i < MESSAGES; i++) {
        int64_t own = log->states[i].start, late = log->states[MESSAGES + i].start;

        assert_true(own >= 0 && own < hour / 2);
        assert_true(late - hour >= 0 && late - hour < hour / 2);
    }
    {
        /* Twice as late after the start of the clock, so twice as long between any two times. */
        const xy_trace_state_t *first = &log->states[(size_t)2 * MESSAGES], *last = first + 1;
        struct timespec now;
        int64_t up;

        clock_gettime(CLOCK_MONOTONIC, &now);
        up = (int64_t)now.tv_sec * 1000000000;
        assert_true(first->start > up - hour && first->start <= up + hour);
        assert_true(last->start > first->start);
    }
    xy_trace_log_free(log);
}

static void no_trace(void **state)
{
    xy_trace_merge_t *merge;
    xy_trace_log_t *log;
    char nonsense[200] = "this is no trace";

    (void)state;
    testing_path(merged);
    assert_int_equal(xy_trace_merge_create(merged, names, SOURCES, &merge), XY_OK);
    testing_listen();
    assert_int_equal(xy_trace_merge_add(merge, 0, nonsense, sizeof(nonsense)), XY_EPARSE);
    assert_non_null(strstr(testing_said, "process 0 on a"));
    assert_int_equal(xy_trace_merge_add(merge, 0, nonsense, sizeof(nonsense)), XY_OK);
    /* The clock of a process of which nothing is there. */
    xy_trace_merge_clock(merge, 1, &(xy_trace_clock_fit_t){.error = 1});
    assert_int_equal(xy_trace_merge_close(merge), XY_OK);
    log = read_log();
    assert_int_equal(log->row_count, 0);
    assert_int_equal(log->damage.records_bad, 0);
    xy_trace_log_free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_all),
        cmocka_unit_test(clocks_of_hosts),
        cmocka_unit_test(one_clock),
        cmocka_unit_test(no_trace),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
