/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snapshots of running jobs as text: lines of fields with tabs between them.
 *
 *   xylem live 1
 *   job PID SIZE PROGRAM
 *   process NUMBER HOST TIME
 *   rank RANK PROCESS STATE TIME AT_LEAST CALLS MESSAGES BYTES CALL COMMUNICATOR PLACE PARTNERS
 *        CONTEXT NUMBER
 *   calls CONTEXT NUMBER RANKS                  (of one process, as many collectives)
 *   end
 *
 * Times are in nanoseconds. PARTNERS is COUNT[:RANK]..., with -2 for any rank. CONTEXT and NUMBER
 * of a rank that does not wait in a collective are '-'.
 */
#include "report/live.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, RANK_FIELDS = 15, FIELDS = 16 };

static const char magic[] = "xylem live ";

const char *const xy_live_state_names[XY_LIVE_STATES] = {
    [XY_LIVE_START] = "start", [XY_LIVE_COMPUTE] = "compute", [XY_LIVE_CALL] = "call",
    [XY_LIVE_WAIT] = "wait",   [XY_LIVE_END] = "end",
};

xy_status_t xy_live_create(xy_live_t **live_p)
{
    xy_live_t *live = xy_calloc(1, sizeof(*live));

    if (live == NULL || xy_arena_create(&live->arena) != XY_OK) {
        xy_free(live);
        return xy_fail_memory("looking at ranks");
    }
    live->program = "";
    live->ranks = XY_VEC_INIT(xy_live_rank_t);
    live->calls = XY_VEC_INIT(xy_live_calls_t);
    live->processes = XY_VEC_INIT(xy_live_process_t);
    *live_p = live;
    return XY_OK;
}

void xy_live_destroy(xy_live_t *live)
{
    if (live == NULL)
        return;
    xy_vec_cleanup(&live->ranks);
    xy_vec_cleanup(&live->calls);
    xy_vec_cleanup(&live->processes);
    xy_arena_destroy(live->arena);
    xy_free(live);
}

/* ---- Writing ---- */

/* Nothing in a field ends it. */
static void put(const char *text, char end, FILE *file)
{
    for (; *text != '\0'; text++)
        fputc((unsigned char)*text < ' ' ? ' ' : *text, file);
    fputc(end, file);
}

/* Writes the state of a rank as one line of tab-separated fields. */
static void put_rank(const xy_live_rank_t *r, FILE *file)
{
    fprintf(file, "rank\t%" PRId32 "\t%" PRIu32 "\t%s\t%" PRIu64 "\t%d", r->rank, r->process,
            xy_live_state_names[r->state], r->ns, r->is_least);
    fprintf(file, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t", r->calls, r->messages, r->bytes);
    put(r->call, '\t', file);
    put(r->comm, '\t', file);
    put(r->place, '\t', file);
    fprintf(file, "%" PRIu32, r->partners);
    for (uint32_t i = 0; i < r->partners && i < XY_LIVE_PARTNERS; i++)
        fprintf(file, ":%" PRId32, r->partner[i]);
    if (r->is_collective)
        fprintf(file, "\t%" PRIu32 "\t%" PRIu64 "\n", r->context, r->number);
    else
        fputs("\t-\t-\n", file);
}

/* Order calls by context, so that equal numbers follow each other, fewer calls first. */
static int by_context(const void *left, const void *right)
{
    const xy_live_calls_t *a = left, *b = right;

    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static void sort_calls(xy_live_t *live)
{
    if (live->calls.count > 0)
        qsort(live->calls.data, live->calls.count, sizeof(xy_live_calls_t), by_context);
}

/* Print calls; ranks with equal numbers are one line: "0-5,7". */
static void put_calls(const xy_live_t *live, FILE *file)
{
    const xy_live_calls_t *all = live->calls.data;
    size_t n = live->calls.count;

    for (size_t i = 0, end; i < n; i = end) {
        fprintf(file, "calls\t%" PRIu32 "\t%" PRIu64 "\t", all[i].context, all[i].number);
        end = i;
        while (end < n && all[end].context == all[i].context && all[end].number == all[i].number) {
            size_t last = end;

            while (last + 1 < n && all[last + 1].context == all[i].context &&
                   all[last + 1].number == all[i].number &&
                   all[last + 1].rank == all[last].rank + 1)
                last++;
            fprintf(file, "%s%" PRId32, end > i ? "," : "", all[end].rank);
            if (last > end)
                fprintf(file, "-%" PRId32, all[last].rank);
            end = last + 1;
        }
        fputc('\n', file);
    }
}

void xy_live_write_job(const xy_live_t *live, FILE *file)
{
    fprintf(file, "%s%d\njob\t%ld\t%" PRIu32 "\t", magic, VERSION, live->pid, live->size);
    put(live->program, '\n', file);
}

void xy_live_write(xy_live_t *live, FILE *file)
{
    for (size_t i = 0; i < live->processes.count; i++) {
        const xy_live_process_t *p = &XY_VEC_AT(&live->processes, xy_live_process_t, i);

        fprintf(file, "process\t%" PRIu32 "\t", p->number);
        put(p->host, '\t', file);
        fprintf(file, "%" PRIu64 "\n", p->time);
    }
    for (size_t i = 0; i < live->ranks.count; i++)
        put_rank(&XY_VEC_AT(&live->ranks, xy_live_rank_t, i), file);
    sort_calls(live);
    put_calls(live, file);
}

/* ---- Reading ---- */

typedef struct {
    xy_live_t *live;
    long line;
    bool has_job, is_over, is_full;
} reading_t;

/* Reads a decimal number below `end`; returns false for anything else. */
static bool number(const char *word, uint64_t end, uint64_t *value_p)
{
    uint64_t value = 0;

    if (*word == '\0')
        return false;
    for (; *word != '\0'; word++) {
        if (*word < '0' || *word > '9' || value > (UINT64_MAX - 9) / 10)
            return false;
        value = 10 * value + (uint64_t)(*word - '0');
    }
    *value_p = value;
    return value < end;
}

static const char *keep(reading_t *in, const char *text)
{
    const char *kept = *text == '\0' ? "" : xy_arena_strndup(in->live->arena, text, strlen(text));

    in->is_full |= kept == NULL;
    return kept != NULL ? kept : "";
}

static bool parse_rank_number(const reading_t *in, const char *word, int32_t *rank_p)
{
    uint64_t value;

    if (!number(word, in->live->size, &value))
        return false;
    *rank_p = (int32_t)value;
    return true;
}

/* Reads the number of partners and the first XY_LIVE_PARTNERS of them. */
static bool parse_partners(const reading_t *in, char *word, xy_live_rank_t *r)
{
    uint64_t count;
    uint32_t shown;

    if (!number(strsep(&word, ":"), XY_LIVE_RANKS_MAX, &count))
        return false;
    r->partners = (uint32_t)count;
    shown = count < XY_LIVE_PARTNERS ? (uint32_t)count : XY_LIVE_PARTNERS;
    for (uint32_t i = 0; i < shown; i++) {
        const char *one = strsep(&word, ":");

        if (one != NULL && strcmp(one, "-2") == 0)
            r->partner[i] = XY_LIVE_ANYBODY;
        else if (one == NULL || !parse_rank_number(in, one, &r->partner[i]))
            return false;
    }
    return word == NULL;
}

static bool parse_state(const char *word, xy_live_state_t *state_p)
{
    for (int i = 0; i < XY_LIVE_STATES; i++)
        if (strcmp(word, xy_live_state_names[i]) == 0) {
            *state_p = (xy_live_state_t)i;
            return true;
        }
    return false;
}

/* Reads the line of a rank; returns false if a field is wrong. */
static bool parse_rank(reading_t *in, char **f, int n)
{
    xy_live_rank_t r = {
        .root = XY_LIVE_NOBODY, .call_rate = -1, .message_rate = -1, .byte_rate = -1};
    uint64_t process, least, context;

    if (n != RANK_FIELDS || !parse_rank_number(in, f[1], &r.rank) ||
        !number(f[2], UINT32_MAX, &process) || !parse_state(f[3], &r.state) ||
        !number(f[4], UINT64_MAX, &r.ns) || !number(f[5], 2, &least) ||
        !number(f[6], UINT64_MAX, &r.calls) || !number(f[7], UINT64_MAX, &r.messages) ||
        !number(f[8], UINT64_MAX, &r.bytes) || !parse_partners(in, f[12], &r))
        return false;
    r.is_collective = strcmp(f[13], "-") != 0;
    if (r.is_collective && (!number(f[13], (uint64_t)UINT32_MAX + 1, &context) ||
                            !number(f[14], UINT64_MAX, &r.number)))
        return false;
    r.context = r.is_collective ? (uint32_t)context : 0;
    r.process = (uint32_t)process;
    r.is_least = least != 0;
    r.call = keep(in, f[9]);
    r.comm = keep(in, f[10]);
    r.place = keep(in, f[11]);
    in->is_full |= xy_vec_append(&in->live->ranks, &r) != XY_OK;
    return true;
}

/* "0-5,7". */
static bool parse_calls(reading_t *in, char **f, int n)
{
    xy_live_calls_t c;
    uint64_t context;
    char *list = n == 4 ? f[3] : NULL;

    if (list == NULL || !number(f[1], (uint64_t)UINT32_MAX + 1, &context) ||
        !number(f[2], UINT64_MAX, &c.number))
        return false;
    c.context = (uint32_t)context;
    for (char *part; (part = strsep(&list, ",")) != NULL;) {
        int32_t first, last;
        char *low = strsep(&part, "-");

        if (!parse_rank_number(in, low, &first) ||
            !parse_rank_number(in, part != NULL ? part : low, &last) || last < first ||
            in->live->calls.count > (size_t)16 * in->live->size)
            return false;
        for (c.rank = first; c.rank <= last; c.rank++)
            in->is_full |= xy_vec_append(&in->live->calls, &c) != XY_OK;
    }
    return true;
}

static bool parse_process(reading_t *in, char **f, int n)
{
    xy_live_process_t p;
    uint64_t which;

    if (n != 4 || !number(f[1], UINT32_MAX, &which) || !number(f[3], UINT64_MAX, &p.time))
        return false;
    p.number = (uint32_t)which;
    p.host = keep(in, f[2]);
    in->is_full |= xy_vec_append(&in->live->processes, &p) != XY_OK;
    return true;
}

static bool parse_job(reading_t *in, char **f, int n)
{
    uint64_t pid, size;

    if (n != 4 || in->has_job || !number(f[1], INT32_MAX, &pid) ||
        !number(f[2], XY_LIVE_RANKS_MAX + 1, &size))
        return false;
    in->has_job = true;
    in->live->pid = (long)pid;
    in->live->size = (uint32_t)size;
    in->live->program = keep(in, f[3]);
    return true;
}

/* Reads one line: the version first, then the job, then ranks, calls and processes until "end". */
static bool parse_line(reading_t *in, char *line)
{
    char *f[FIELDS];
    int n = 0;

    if (in->line == 1)
        return strncmp(line, magic, sizeof(magic) - 1) == 0 &&
               strcmp(line + sizeof(magic) - 1, "1") == 0;
    for (char *field; n < FIELDS && (field = strsep(&line, "\t")) != NULL;)
        f[n++] = field;
    if (line != NULL)
        return false;
    if (!in->has_job)
        return strcmp(f[0], "job") == 0 && parse_job(in, f, n);
    in->is_over = strcmp(f[0], "end") == 0;
    if (strcmp(f[0], "rank") == 0)
        return parse_rank(in, f, n);
    if (strcmp(f[0], "calls") == 0)
        return parse_calls(in, f, n);
    if (strcmp(f[0], "process") == 0)
        return parse_process(in, f, n);
    return in->is_over;
}

static int by_rank(const void *left, const void *right)
{
    int32_t a = ((const xy_live_rank_t *)left)->rank, b = ((const xy_live_rank_t *)right)->rank;

    return a < b ? -1 : a > b;
}

/* In order, and each rank once. */
static bool sort_ranks(xy_live_t *live)
{
    xy_live_rank_t *all = live->ranks.data;

    if (live->ranks.count > 0)
        qsort(all, live->ranks.count, sizeof(*all), by_rank);
    for (size_t i = 1; i < live->ranks.count; i++)
        if (all[i].rank == all[i - 1].rank)
            return false;
    return true;
}

xy_status_t xy_live_parse(char *text, xy_live_t **live_p)
{
    reading_t in = {.line = 0};
    xy_status_t st = xy_live_create(&in.live);

    for (char *line; st == XY_OK && !in.is_over && (line = strsep(&text, "\n")) != NULL;) {
        in.line++;
        if (!parse_line(&in, line))
            st = xy_fail(XY_EPARSE,
                         "cannot understand line %ld of the answer of mpiexec; is it "
                         "another version of Xylem?",
                         in.line);
    }
    if (st == XY_OK && in.is_full)
        st = xy_fail_memory("looking at ranks");
    if (st == XY_OK && (!in.is_over || !sort_ranks(in.live)))
        st = xy_fail(XY_EPARSE, "the answer of mpiexec is incomplete");
    if (st != XY_OK) {
        xy_live_destroy(in.live);
        return st;
    }
    sort_calls(in.live);
    *live_p = in.live;
    return XY_OK;
}
