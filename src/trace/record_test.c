/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded events are read back unchanged: random events against a plain list of them, several
 * threads, and every failure of memory and disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "testing/trace.h"

enum { KINDS = 5, LABELS = 7, ROWS = 4, EVENTS = 3000 };

typedef struct {
    xy_trace_t *trace;
    uint32_t kind[KINDS], label[LABELS], counter[2];
    xy_trace_row_t *row[ROWS];
} recording_t;

static xy_status_t recording_start(recording_t *r, const char *path, xy_trace_clock_t clock)
{
    char name[32];
    xy_status_t st = xy_trace_create(
        path, &(xy_trace_options_t){.title = "t", .clock = clock, .buffer = 4096}, &r->trace);

    if (st != XY_OK)
        return st;
    for (int i = 0; i < KINDS; i++) {
        snprintf(name, sizeof(name), "kind %d", i);
        r->kind[i] = xy_trace_kind(r->trace, name, (xy_trace_role_t)i, 0);
    }
    for (int i = 0; i < LABELS; i++) {
        snprintf(name, sizeof(name), "label %d", i);
        r->label[i] = xy_trace_label(r->trace, name);
    }
    r->counter[0] = xy_trace_counter_name(r->trace, "depth", "states");
    r->counter[1] = xy_trace_counter_name(r->trace, "bytes", "B");
    for (int i = 0; i < ROWS; i++) {
        snprintf(name, sizeof(name), "row %d", i);
        st = xy_trace_row_create(r->trace, name, i % 2 ? "odd" : "even", &r->row[i]);
        if (st != XY_OK) {
            xy_trace_close(r->trace);
            return st;
        }
    }
    return XY_OK;
}

static xy_trace_log_t *read_clean(const char *path)
{
    xy_trace_log_t *log = NULL;

    testing_listen();
    assert_int_equal(xy_trace_read(path, &log), XY_OK);
    assert_string_equal(testing_said, "");
    assert_null(testing_log_fault(log));
    return log;
}

/* Nested states of one row at random times, and the same states in the order of their starts. */
typedef struct {
    xy_trace_state_t list[EVENTS];
    size_t count;
    size_t open[64], depth;
    uint64_t now;
} model_t;

static void step(model_t *m, recording_t *r, int row, uint64_t *seed)
{
    uint64_t dice = testing_random(seed);

    /* Steps from nothing to beyond 32 bits. States get distinct starts, so that their order is
     * known; a state may end when the next one starts. */
    m->now += 1 + (testing_random(seed) >> (24 + dice % 40) >> 8);
    if (m->depth < 60 && (m->depth == 0 || dice % 2)) {
        xy_trace_state_t *s = &m->list[m->count];
        uint64_t k = dice / 2 % KINDS, l = dice / 16 % LABELS;

        *s = (xy_trace_state_t){.start = (int64_t)m->now,
                                .row = (uint32_t)row,
                                .id = (int64_t)testing_random(seed) >> (dice % 64),
                                .kind = (uint32_t)k + 1,
                                .label = (uint32_t)l + 1,
                                .depth = (uint32_t)m->depth};
        xy_trace_enter_at(r->row[row], m->now, r->kind[k], s->id, r->label[l]);
        m->open[m->depth++] = m->count++;
    } else {
        m->list[m->open[--m->depth]].end = (int64_t)m->now;
        xy_trace_leave_at(r->row[row], m->now);
    }
}

static void test_round_trip(void **state)
{
    static model_t model[ROWS];
    char path[64];

    (void)state;
    testing_path(path);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        recording_t r;
        xy_trace_log_t *log;
        uint64_t random = seed;
        size_t at = 0;

        memset(model, 0, sizeof(model));
        assert_int_equal(recording_start(&r, path, XY_TRACE_VIRTUAL), XY_OK);
        for (int i = 0; i < EVENTS; i++) {
            int row = (int)(testing_random(&random) % ROWS);

            step(&model[row], &r, row, &random);
        }
        for (int row = 0; row < ROWS; row++)
            while (model[row].depth > 0) {
                model[row].list[model[row].open[--model[row].depth]].end =
                    (int64_t)++model[row].now;
                xy_trace_leave_at(r.row[row], model[row].now);
            }
        assert_int_equal(xy_trace_close(r.trace), XY_OK);
        log = read_clean(path);
        assert_int_equal(log->row_count, ROWS);
        assert_string_equal(log->rows[1].group, "odd");
        assert_string_equal(log->kinds[3].name, "kind 2");
        assert_string_equal(log->labels[7], "label 6");
        for (int row = 0; row < ROWS; row++)
            for (size_t i = 0; i < model[row].count; i++, at++) {
                const xy_trace_state_t *a = &model[row].list[i], *b = &log->states[at];

                assert_true(a->start == b->start && a->end == b->end && a->id == b->id);
                assert_true(a->kind == b->kind && a->label == b->label && a->row == b->row);
                assert_true(a->depth == b->depth && !b->is_open);
            }
        assert_int_equal(log->state_count, at);
        xy_trace_log_free(log);
    }
    unlink(path);
}

static void test_other_events(void **state)
{
    char path[64];
    recording_t r;
    xy_trace_log_t *log;

    (void)state;
    testing_path(path);
    assert_int_equal(recording_start(&r, path, XY_TRACE_VIRTUAL), XY_OK);
    xy_trace_link_at(r.row[2], 0, 100, 3, 250, UINT64_MAX, r.label[1]);
    xy_trace_link_at(r.row[2], 1, 50, 0, 40, 8, 0); /* clocks of two machines */
    /* Halves of a key used twice, the second message received on another row. */
    xy_trace_put_sent(r.row[0], 300,
                      &(xy_trace_message_t){.key = 77, .bytes = 10, .label = r.label[0]});
    xy_trace_put_sent(r.row[0], 310,
                      &(xy_trace_message_t){.key = 77, .bytes = 20, .label = r.label[0]});
    xy_trace_put_received(r.row[1], 330, &(xy_trace_message_t){.key = 77});
    xy_trace_put_received(r.row[2], 340, &(xy_trace_message_t){.key = 77});
    xy_trace_counter_at(r.row[3], 7, r.counter[1], -1.5e300);
    xy_trace_mark_at(r.row[1], 9, 42, r.label[6]);
    xy_trace_state_at(r.row[1], 30, 20, r.kind[0], -5, 0); /* ends before it starts: empty */
    assert_int_equal(xy_trace_close(r.trace), XY_OK);
    log = read_clean(path);
    assert_int_equal(log->link_count, 4);
    assert_true(log->links[0].start == 50 && log->links[0].end == 40);
    assert_true(log->links[1].from == 0 && log->links[1].to == 3 && log->links[1].end == 250 &&
                log->links[1].bytes == UINT64_MAX && log->links[1].label == 2);
    assert_true(log->links[2].bytes == 10 && log->links[2].to == 1 && log->links[2].end == 330);
    assert_true(log->links[3].bytes == 20 && log->links[3].to == 2 && log->links[3].start == 310);
    assert_true(log->samples[0].value == -1.5e300 && log->samples[0].time == 7);
    assert_string_equal(log->counters[log->samples[0].counter].unit, "B");
    assert_true(log->marks[0].id == 42 && log->marks[0].row == 1 && log->marks[0].label == 7);
    assert_true(log->states[0].start == 30 && log->states[0].end == 30 && log->states[0].id == -5);
    assert_true(log->begin == 7 && log->end == 340);
    xy_trace_log_free(log);
    unlink(path);
}

static void *work(void *arg)
{
    recording_t *r = ((void **)arg)[0];
    xy_trace_row_t *row = ((void **)arg)[1];

    for (int i = 0; i < 20000; i++) {
        char name[32];

        snprintf(name, sizeof(name), "label %d", i % 50); /* some are new: registered by all */
        xy_trace_enter(row, r->kind[i % KINDS], i, xy_trace_label(r->trace, name));
        xy_trace_counter(row, r->counter[0], i);
        xy_trace_leave(row);
    }
    return NULL;
}

/* Threads and the real clock: nothing is lost, order and time are right. */
static void test_threads(void **state)
{
    char path[64];
    recording_t r;
    pthread_t thread[ROWS];
    void *arg[ROWS][2];
    xy_trace_log_t *log;
    struct timespec from, to;

    (void)state;
    testing_path(path);
    clock_gettime(CLOCK_MONOTONIC, &from);
    assert_int_equal(recording_start(&r, path, XY_TRACE_REAL), XY_OK);
    for (int i = 0; i < ROWS; i++) {
        arg[i][0] = &r;
        arg[i][1] = r.row[i];
        assert_int_equal(pthread_create(&thread[i], NULL, work, arg[i]), 0);
    }
    for (int i = 0; i < ROWS; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(xy_trace_close(r.trace), XY_OK);
    clock_gettime(CLOCK_MONOTONIC, &to);
    log = read_clean(path);
    assert_int_equal(log->state_count, 20000 * ROWS);
    assert_int_equal(log->sample_count, 20000 * ROWS);
    assert_int_equal(log->label_count, 51);
    for (size_t i = 0; i < log->state_count; i++) {
        char name[32];

        assert_int_equal(log->states[i].id, i % 20000);
        snprintf(name, sizeof(name), "label %d", (int)(i % 20000 % 50));
        assert_string_equal(log->labels[log->states[i].label], name);
    }
    assert_true(log->begin >= 0);
    assert_true(log->end <= (to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec);
    assert_true(log->wall_ns > 0);
    xy_trace_log_free(log);
    unlink(path);
}

/* A row with few events is flushed too, after about a second: a crash then loses no more. */
static void test_flush(void **state)
{
    struct stat before, after;
    char path[64], part[80];
    recording_t r;

    (void)state;
    testing_path(path);
    snprintf(part, sizeof(part), "%s.part", path);
    assert_int_equal(recording_start(&r, path, XY_TRACE_REAL), XY_OK);
    assert_int_equal(stat(part, &before), 0);
    for (int i = 0; i < 300; i++) { /* 15 s at most; fewer bytes than a buffer has */
        xy_trace_mark(r.row[0], i, 0);
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        assert_int_equal(stat(part, &after), 0);
        if (after.st_size > before.st_size)
            break;
    }
    assert_true(after.st_size > before.st_size);
    assert_int_equal(xy_trace_close(r.trace), XY_OK);
    unlink(path);
}

/* Off is a NULL row; names of a NULL trace are 0; nothing happens. */
static void test_off(void **state)
{
    (void)state;
    assert_int_equal(xy_trace_kind(NULL, "k", XY_TRACE_COMPUTE, 0), 0);
    assert_int_equal(xy_trace_label(NULL, "l"), 0);
    assert_int_equal(xy_trace_counter_name(NULL, "c", NULL), 0);
    xy_trace_enter(NULL, 0, 0, 0);
    xy_trace_leave(NULL);
    xy_trace_sent(NULL, NULL);
    xy_trace_received(NULL, NULL);
    xy_trace_call_at(NULL, 0, 0, 0, 0);
    xy_trace_collective(NULL, NULL);
    assert_int_equal(xy_trace_site(NULL, "x"), 0);
    xy_trace_counter(NULL, 0, 0);
    xy_trace_mark(NULL, 0, 0);
    xy_trace_flush(NULL);
    assert_int_equal(xy_trace_row_number(NULL), 0);
    assert_int_equal(xy_trace_close(NULL), XY_OK);
}

static void test_memory(void **state)
{
    char path[64];

    (void)state;
    testing_path(path);
    for (long k = 1;; k++) {
        recording_t r;
        xy_status_t st;

        testing_listen();
        xy_memory_fail_at(k);
        st = recording_start(&r, path, XY_TRACE_VIRTUAL);
        if (st == XY_OK) { /* a name may be missing: recording continues without */
            xy_trace_enter_at(r.row[0], 1, r.kind[0], 0, r.label[0]);
            xy_trace_leave_at(r.row[0], 2);
            assert_int_equal(xy_trace_close(r.trace), XY_OK);
            assert_int_equal(testing_said_count, 0);
        } else {
            assert_int_equal(st, XY_ENOMEM);
            assert_int_equal(testing_said_count, 1);
        }
        if (!xy_memory_fail_hit())
            break;
    }
    xy_memory_fail_at(0);
    unlink(path);
}

static void test_bad_paths(void **state)
{
    xy_trace_t *trace = NULL;

    (void)state;
    testing_listen();
    assert_int_equal(xy_trace_create("/no/such/directory/t", NULL, &trace), XY_ENOENT);
    assert_non_null(strstr(testing_said, "/no/such/directory/t: cannot write the trace"));
    assert_int_equal(xy_trace_create("/tmp/x", &(xy_trace_options_t){.buffer = 5}, &trace),
                     XY_EINVAL);
    assert_null(trace);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void check_text(const char *path, const char *text)
{
    char read[64] = "";
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    assert_non_null(fgets(read, sizeof(read), file));
    fclose(file);
    assert_string_equal(read, text);
}

/* Links under either name are replaced: what they point to stays as it is. */
static void test_links_are_replaced(void **state)
{
    char path[64], part[80], victim[80];
    struct stat info;
    recording_t r;

    (void)state;
    testing_path(path);
    snprintf(part, sizeof(part), "%s.part", path);
    snprintf(victim, sizeof(victim), "%s.victim", path);
    write_text(victim, "of another");
    unlink(path);
    assert_int_equal(symlink(victim, path), 0);
    assert_int_equal(symlink(victim, part), 0);
    assert_int_equal(recording_start(&r, path, XY_TRACE_VIRTUAL), XY_OK);
    assert_int_equal(lstat(part, &info), 0);
    assert_true(S_ISREG(info.st_mode));
    assert_int_equal(xy_trace_close(r.trace), XY_OK);
    check_text(victim, "of another");
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISREG(info.st_mode));
    assert_int_equal(lstat(part, &info), -1);
    xy_trace_log_free(read_clean(path));
    unlink(path);
    unlink(victim);
}

/* A device is written to, and stays one; a directory is refused before anything runs. */
static void test_special_files(void **state)
{
    char path[64];
    struct stat info;
    recording_t r;

    (void)state;
    testing_path(path);
    unlink(path);
    assert_int_equal(recording_start(&r, "/dev/null", XY_TRACE_VIRTUAL), XY_OK);
    assert_int_equal(xy_trace_close(r.trace), XY_OK);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    assert_int_equal(lstat("/dev/null.part", &info), -1);
    assert_int_equal(mkdir(path, 0700), 0);
    testing_listen();
    assert_int_equal(xy_trace_create(path, NULL, &r.trace), XY_EINVAL);
    assert_int_equal(testing_said_count, 1);
    rmdir(path);
}

/* A full disk: reported once, at the end; earlier records are readable. */
static void test_full_disk(void **state)
{
    struct rlimit old, small;
    char path[64];
    recording_t r;
    xy_trace_log_t *log;

    (void)state;
    testing_path(path);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 20000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(recording_start(&r, path, XY_TRACE_VIRTUAL), XY_OK);
    for (uint64_t t = 0; t < 20000; t++)
        xy_trace_state_at(r.row[0], t, t + 1, r.kind[0], 0, 0);
    testing_listen();
    assert_int_equal(xy_trace_close(r.trace), XY_EIO);
    assert_int_equal(testing_said_count, 1);
    assert_non_null(strstr(testing_said, path));
    setrlimit(RLIMIT_FSIZE, &old);
    testing_listen();
    assert_int_equal(xy_trace_read(path, &log), XY_OK);
    assert_int_equal(testing_said_count, 1);
    assert_true(log->damage.is_unfinished && log->damage.bytes_skipped > 0);
    assert_in_range(log->state_count, 1000, 19999);
    xy_trace_log_free(log);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_other_events),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_off),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_bad_paths),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_flush),
        cmocka_unit_test(test_links_are_replaced),
        cmocka_unit_test(test_special_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
