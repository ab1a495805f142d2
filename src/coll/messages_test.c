/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI's rules produce Open MPI's messages: for every measured collective, the messages and
 * bytes between each pair of ranks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "coll/coll.h"
#include "testing/coll.h"

enum { PROCS_MAX = 32, LINE_MAX_BYTES = 1 << 14 };

typedef struct {
    uint64_t messages[PROCS_MAX][PROCS_MAX], bytes[PROCS_MAX][PROCS_MAX];
} matrix_t;

/* One measured collective. */
typedef struct {
    xy_coll_request_t q;
    matrix_t measured;
    const char *functions; /* of the library that it called */
} sample_t;

static void count_message(const xy_op_t *op, void *arg)
{
    matrix_t *m = arg;

    if (op->from.rank == op->to.rank)
        return;
    m->messages[op->from.rank][op->to.rank]++;
    m->bytes[op->from.rank][op->to.rank] += op->bytes;
}

static char *next_field(char **line)
{
    char *field = *line, *end;

    if (*field == '"') {
        field++;
        end = strchr(field, '"');
        *line = end[1] == ',' ? end + 2 : end + 1;
    } else {
        end = strpbrk(field, ",\r\n");
        *line = end != NULL ? end + 1 : field + strlen(field);
    }
    if (end != NULL)
        *end = '\0';
    return field;
}

/* A number and the character behind it. */
static uint64_t read_number(const char **text, char end)
{
    char *after;
    uint64_t value = strtoull(*text, &after, 10);

    assert_true(after > *text && *after == end);
    *text = end != '\0' ? after + 1 : after;
    return value;
}

/* "0>1*1/64,1>0*2/128": from, to, messages, bytes. */
static void read_matrix(const char *text, matrix_t *m)
{
    memset(m, 0, sizeof(*m));
    while (*text != '\0') {
        uint64_t from = read_number(&text, '>'), to = read_number(&text, '*');

        assert_true(from < PROCS_MAX && to < PROCS_MAX);
        m->messages[from][to] = read_number(&text, '/');
        m->bytes[from][to] = read_number(&text, strchr(text, ',') != NULL ? ',' : '\0');
    }
}

static uint64_t read_field(char **line)
{
    const char *field = next_field(line);

    return read_number(&field, '\0');
}

static void read_sample(char *line, sample_t *s)
{
    static uint64_t counts[PROCS_MAX], cells[PROCS_MAX * PROCS_MAX];
    static const uint64_t *rows[PROCS_MAX];
    uint64_t bytes;

    memset(s, 0, sizeof(*s));
    assert_true(xy_coll_parse(next_field(&line), &s->q.collective));
    s->q.procs = (int)read_field(&line);
    bytes = read_field(&line);
    s->q.element = read_field(&line);
    s->q.is_commutative = read_field(&line) != 0;
    s->q.root = (int)read_field(&line);
    next_field(&line); /* sums of the matrix */
    next_field(&line);
    s->functions = next_field(&line);
    read_matrix(next_field(&line), &s->measured);
    assert_true(bytes % s->q.element == 0);
    s->q.count = bytes / s->q.element;
    for (int i = 0; i < s->q.procs; i++) {
        counts[i] = s->q.count;
        rows[i] = cells;
        cells[i] = s->q.count;
    }
    s->q.counts = counts;
    s->q.matrix = s->q.send_offsets = s->q.receive_offsets = rows;
    if (s->q.collective != XY_COLL_ALLTOALLV)
        s->q.matrix = s->q.send_offsets = s->q.receive_offsets = NULL;
}

/* Reported, not asserted: a failure lists all lines that differ. */
static bool is_equal(const sample_t *s, const matrix_t *got, int line)
{
    for (int i = 0; i < s->q.procs; i++)
        for (int j = 0; j < s->q.procs; j++)
            if (s->measured.messages[i][j] != got->messages[i][j] ||
                s->measured.bytes[i][j] != got->bytes[i][j]) {
                print_error(
                    "line %d: %s of %d ranks, %llu x %llu bytes, root %d (%s): %d to %d: "
                    "measured %llu messages, %llu bytes; emulated %llu, %llu\n",
                    line, xy_coll_name(s->q.collective), s->q.procs, (unsigned long long)s->q.count,
                    (unsigned long long)s->q.element, s->q.root, s->functions, i, j,
                    (unsigned long long)s->measured.messages[i][j],
                    (unsigned long long)s->measured.bytes[i][j],
                    (unsigned long long)got->messages[i][j], (unsigned long long)got->bytes[i][j]);
                return false;
            }
    return true;
}

static void test_measured(void **state)
{
    const xy_coll_library_t *library = xy_coll_library_find("openmpi");
    FILE *f = fopen(XYLEM_SOURCE_DIR "/tests/data/coll/openmpi-4.1-messages.csv", "r");
    static char text[LINE_MAX_BYTES];
    static sample_t sample;
    int line = 1, wrong = 0;

    (void)state;
    assert_non_null(library);
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof(text), f)); /* the heading */
    while (fgets(text, sizeof(text), f) != NULL) {
        static matrix_t got;
        xy_coll_choice_t choice;

        line++;
        assert_non_null(strchr(text, '\n'));
        read_sample(text, &sample);
        memset(&got, 0, sizeof(got));
        assert_int_equal(xy_coll_library_choose(library, &sample.q, &xy_coll_link_default, &choice),
                         XY_OK);
        assert_non_null(choice.rule);
        assert_int_equal(
            xy_coll_walk(&sample.q, &xy_coll_link_default, choice.algorithm, count_message, &got),
            XY_OK);
        wrong += !is_equal(&sample, &got, line);
    }
    fclose(f);
    assert_int_equal(wrong, 0);
    assert_int_equal(line, 1299);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
