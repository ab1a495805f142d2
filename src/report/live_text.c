/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A snapshot as a table for a terminal. Ranks that do the same share a row:
 *
 *   rank  state    for     calls/s  sent/s  bytes/s  doing
 *   3     compute  2.1 s         0       0        0  its own code, after ring.c:25
 *   0-2   wait     2.0 s         0       0        0  MPI_Barrier on MPI_COMM_WORLD, at ring.c:30,
 *                                                    for rank 3
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/draw.h"
#include "report/live.h"

enum { DOING = 512, LIST_COLUMNS = 24, HEAD_LINES = 4, FIXED_COLUMNS = 55 };

/* Ranks that do the same. */
typedef struct {
    const xy_live_rank_t *one; /* of them: the one that does it longest */
    size_t count;
    int32_t first;
    double calls, messages, bytes; /* per second; below 0: not known */
    uint64_t least;                /* ns: the one that does it shortest */
    xy_bitset_t ranks;
} row_t;

/* ---- What a rank does ---- */

static const char *bare(const char *place)
{
    return strncmp(place, "at ", 3) == 0 ? place + 3 : place;
}

/* "for rank 3", "for ranks 3, 5 and 7 more". */
static void add_partners(xy_text_t *text, const xy_live_rank_t *r)
{
    uint32_t shown = r->partners < XY_LIVE_PARTNERS ? r->partners : XY_LIVE_PARTNERS;

    if (r->partners == 0)
        return;
    if (r->partner[0] == XY_LIVE_ANYBODY) {
        xy_text_add(text, ", for any rank");
        return;
    }
    xy_text_add(text, r->partners == 1 ? ", for rank " : ", for ranks ");
    for (uint32_t i = 0; i < shown; i++)
        xy_text_addf(text, "%s%d", i > 0 ? ", " : "", (int)r->partner[i]);
    if (r->partners > shown)
        xy_text_addf(text, " and %u more", (unsigned)(r->partners - shown));
}

/* Adds the current activity of a rank: its call and place, and the ranks it waits for. */
static void describe(const xy_live_rank_t *r, xy_text_t *text)
{
    if (r->state == XY_LIVE_START)
        xy_text_add(text, "has not called MPI_Init");
    else if (r->state == XY_LIVE_END)
        xy_text_add(text, "has called MPI_Finalize");
    else if (r->state == XY_LIVE_COMPUTE)
        xy_text_addf(text, "its own code%s%s", r->place[0] != '\0' ? ", after " : "",
                     bare(r->place));
    else
        xy_text_addf(text, "%s%s%s%s%s", r->call, r->comm[0] != '\0' ? " on " : "", r->comm,
                     r->place[0] != '\0' ? ", " : "", r->place);
    if (r->state == XY_LIVE_WAIT)
        add_partners(text, r);
}

static bool is_alike(const xy_live_rank_t *a, const xy_live_rank_t *b)
{
    uint32_t shown = a->partners < XY_LIVE_PARTNERS ? a->partners : XY_LIVE_PARTNERS;

    return a->state == b->state && a->partners == b->partners && strcmp(a->call, b->call) == 0 &&
           strcmp(a->comm, b->comm) == 0 && strcmp(a->place, b->place) == 0 &&
           memcmp(a->partner, b->partner, shown * sizeof(a->partner[0])) == 0;
}

/* ---- Rows ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t hash_of(const xy_live_rank_t *r)
{
    uint64_t hash = hash_text(hash_text(hash_text(r->state, r->call), r->comm), r->place);

    return xy_hash_u64(hash ^ (uint64_t)r->partners << 40 ^
                       (uint64_t)(r->partners > 0 ? (uint32_t)r->partner[0] : 0));
}

/* The row of those that do what `r` does, a new one where there is none; NULL: no memory. Rows
 * with one hash, which differ all the same, stay apart. */
static row_t *row_of(xy_vec_t *rows, xy_hash_t *index, const xy_live_t *live,
                     const xy_live_rank_t *r, bool is_unfolded)
{
    uint64_t key = hash_of(r);
    uintptr_t found = (uintptr_t)xy_hash_get(index, key);
    row_t *row = found > 0 ? &XY_VEC_AT(rows, row_t, found - 1) : NULL;

    if (!is_unfolded && row != NULL && is_alike(row->one, r))
        return row;
    row = xy_vec_push(rows);
    if (row == NULL)
        return NULL;
    *row = (row_t){.one = r, .first = r->rank, .least = r->ns};
    if (xy_bitset_init(&row->ranks, live->size > 0 ? live->size : 1) != XY_OK ||
        xy_hash_set(index, key, (void *)(uintptr_t)rows->count) != XY_OK) /* NOLINT */
        return NULL;
    return row;
}

static double sum(double a, double b)
{
    return b < 0 ? a : fmax(a, 0) + b;
}

static void join(row_t *row, const xy_live_rank_t *r)
{
    xy_bitset_set(&row->ranks, (size_t)r->rank);
    row->calls = row->count == 0 ? r->call_rate : sum(row->calls, r->call_rate);
    row->messages = row->count == 0 ? r->message_rate : sum(row->messages, r->message_rate);
    row->bytes = row->count == 0 ? r->byte_rate : sum(row->bytes, r->byte_rate);
    row->count++;
    if (r->ns > row->one->ns)
        row->one = r;
    if (r->ns < row->least)
        row->least = r->ns;
}

/* Folds ranks in the same state into rows; unfolded, each has its own. */
static xy_status_t make_rows(const xy_live_t *live, bool is_unfolded, xy_vec_t *rows)
{
    xy_hash_t index;
    xy_status_t st = XY_OK;

    xy_hash_init(&index, XY_HASH_U64);
    for (size_t i = 0; i < live->ranks.count && st == XY_OK; i++) {
        const xy_live_rank_t *r = &XY_VEC_AT(&live->ranks, xy_live_rank_t, i);
        row_t *row = row_of(rows, &index, live, r, is_unfolded);

        if (row == NULL)
            st = xy_fail_memory("printing what ranks do");
        else
            join(row, r);
    }
    xy_hash_cleanup(&index);
    return st;
}

static int by_rank(const void *left, const void *right)
{
    int32_t a = ((const row_t *)left)->first, b = ((const row_t *)right)->first;

    return a < b ? -1 : a > b;
}

/* Order ranks: those that others wait for come first, then by time. */
static int by_time(const void *left, const void *right)
{
    const xy_live_rank_t *a = ((const row_t *)left)->one, *b = ((const row_t *)right)->one;

    if (a->waiters != b->waiters)
        return a->waiters > b->waiters ? -1 : 1;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return by_rank(left, right);
}

static int by_bytes(const void *left, const void *right)
{
    double a = ((const row_t *)left)->bytes, b = ((const row_t *)right)->bytes;

    return a > b ? -1 : a < b ? 1 : by_rank(left, right);
}

/* ---- The table ---- */

static char *format_rate(double rate, char buffer[32])
{
    if (rate < 0)
        return strcpy(buffer, "-");
    if (rate < 99999.5)
        snprintf(buffer, 32, "%.0f", rate);
    else if (rate < 1e8)
        snprintf(buffer, 32, "%.0f k", rate * 1e-3);
    else
        snprintf(buffer, 32, "%.0f M", rate * 1e-6);
    return buffer;
}

/* "2.13 s", "> 2.13 s": it began before anyone looked. */
static char *format_time(const xy_live_rank_t *r, char buffer[40])
{
    char text[32];

    if (r->state == XY_LIVE_START || r->state == XY_LIVE_END)
        return strcpy(buffer, "");
    snprintf(buffer, 40, "%s%s", r->is_least ? "> " : "",
             xy_format_seconds(1e-9 * (double)r->ns, text));
    return buffer;
}

/* A line, cut where the window ends; counted in bytes, as places and calls are ASCII. */
static void put_line(const char *line, const char *colour, const xy_live_style_t *style, FILE *file)
{
    int length = (int)strlen(line);

    if (style->width > 0 && length > style->width)
        length = style->width;
    while (length > 0 && line[length - 1] == ' ')
        length--;
    if (style->is_coloured && colour != NULL)
        fprintf(file, "\033[%sm%.*s\033[0m\n", colour, length, line);
    else
        fprintf(file, "%.*s\n", length, line);
}

/* Adds the columns of one row to `text`; long rank lists are replaced by their number. */
static void format_row(const row_t *row, xy_text_t *text)
{
    char *list = xy_bitset_format(&row->ranks), time[40], rate[3][32];
    const char *ranks = list != NULL ? list : "?";
    char shown[LIST_COLUMNS + 8];

    if (strlen(ranks) > LIST_COLUMNS)
        snprintf(shown, sizeof(shown), "%zu ranks", row->count);
    else
        snprintf(shown, sizeof(shown), "%s", ranks);
    xy_text_addf(text, "%-12s  %-7s  %9s  %8s  %7s  %10s  ", shown,
                 xy_live_state_names[row->one->state], format_time(row->one, time),
                 format_rate(row->calls, rate[0]), format_rate(row->messages, rate[1]),
                 row->bytes < 0 ? "-" : xy_format_bandwidth(row->bytes, rate[2]));
    describe(row->one, text);
    xy_free(list);
}

static const char *colour_of(const row_t *row)
{
    static const char *const colours[XY_LIVE_STATES] = {[XY_LIVE_START] = "2",
                                                        [XY_LIVE_COMPUTE] = "32",
                                                        [XY_LIVE_CALL] = "35",
                                                        [XY_LIVE_WAIT] = "33",
                                                        [XY_LIVE_END] = "2"};

    return row->one->waiters > 0 && row->one->state != XY_LIVE_WAIT ? "1;31"
                                                                    : colours[row->one->state];
}

/* The rank that most wait for in the end; NULL: none. */
static const xy_live_rank_t *find_culprit(const xy_live_t *live)
{
    const xy_live_rank_t *most = NULL;

    for (size_t i = 0; i < live->ranks.count; i++) {
        const xy_live_rank_t *r = &XY_VEC_AT(&live->ranks, xy_live_rank_t, i);

        if (r->waiters > 0 && (most == NULL || r->waiters > most->waiters))
            most = r;
    }
    return most;
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* Prints the number of ranks in each state and the rank that most others wait for. */
static void put_finding(const xy_live_t *live, const xy_live_style_t *style, FILE *file)
{
    const xy_live_rank_t *culprit = find_culprit(live);
    size_t counts[XY_LIVE_STATES] = {0}, missing = 0;
    xy_text_t text = XY_TEXT_INIT;
    char time[40];

    for (size_t i = 0; i < live->ranks.count; i++)
        counts[XY_VEC_AT(&live->ranks, xy_live_rank_t, i).state]++;
    for (size_t i = 0; i < live->processes.count; i++)
        missing += XY_VEC_AT(&live->processes, xy_live_process_t, i).time == 0;
    xy_text_addf(&text, "%zu rank%s: %zu compute, %zu in calls, %zu wait", live->ranks.count,
                 plural(live->ranks.count), counts[XY_LIVE_COMPUTE], counts[XY_LIVE_CALL],
                 counts[XY_LIVE_WAIT]);
    if (culprit != NULL) {
        xy_text_addf(&text, "; %u ultimately for rank %d: ", (unsigned)culprit->waiters,
                     (int)culprit->rank);
        describe(culprit, &text);
        format_time(culprit, time);
        xy_text_addf(&text, "%s%s", time[0] != '\0' ? ", " : "", time);
    }
    if (missing > 0)
        xy_text_addf(&text, "; %zu process%s not answered", missing,
                     missing == 1 ? " has" : "es have");
    put_line(text.s != NULL ? text.s : "", "1", style, file);
    xy_text_cleanup(&text);
}

/* Prints program, finding and column titles. */
static void put_head(const xy_live_t *live, const xy_live_style_t *style, FILE *file)
{
    xy_text_t text = XY_TEXT_INIT;

    xy_text_addf(&text, "%s, %u rank%s", live->program, (unsigned)live->size, plural(live->size));
    if (live->processes.count > 1)
        xy_text_addf(&text, ", %zu processes", live->processes.count);
    xy_text_addf(&text, ", mpiexec %ld", live->pid);
    put_line(text.s != NULL ? text.s : "", NULL, style, file);
    xy_text_cleanup(&text);
    put_finding(live, style, file);
    fputc('\n', file);
    put_line("rank          state          for   calls/s   sent/s     bytes/s  doing", "2", style,
             file);
}

/* Prints the rows from `style->first` on that fit, then the number of those left out. */
static void put_rows(const xy_vec_t *rows, const xy_live_style_t *style, FILE *file)
{
    size_t begin = style->first > 0 ? (size_t)style->first : 0, end = rows->count;
    size_t room = style->rows > HEAD_LINES + 1 ? (size_t)style->rows - HEAD_LINES - 1 : 1;

    if (begin >= rows->count)
        begin = rows->count > 0 ? rows->count - 1 : 0;
    if (style->rows > 0 && rows->count - begin > room)
        end = begin + room;
    for (size_t i = begin; i < end; i++) {
        const row_t *row = &XY_VEC_AT(rows, row_t, i);
        xy_text_t text = XY_TEXT_INIT;

        format_row(row, &text);
        put_line(text.s != NULL ? text.s : "", colour_of(row), style, file);
        xy_text_cleanup(&text);
    }
    if (end < rows->count)
        fprintf(file, "... and %zu rows more\n", rows->count - end);
}

xy_status_t xy_live_text(const xy_live_t *live, const xy_live_style_t *style, FILE *file,
                         int *rows_p)
{
    static int (*const orders[XY_LIVE_ORDERS])(const void *, const void *) = {
        [XY_LIVE_BY_TIME] = by_time, [XY_LIVE_BY_RANK] = by_rank, [XY_LIVE_BY_BYTES] = by_bytes};
    xy_vec_t rows = XY_VEC_INIT(row_t);
    xy_status_t st = make_rows(live, style->is_unfolded, &rows);

    if (st == XY_OK) {
        if (rows.count > 0)
            qsort(rows.data, rows.count, sizeof(row_t), orders[style->order]);
        put_head(live, style, file);
        put_rows(&rows, style, file);
        *rows_p = (int)rows.count;
    }
    for (size_t i = 0; i < rows.count; i++)
        xy_bitset_cleanup(&XY_VEC_AT(&rows, row_t, i).ranks);
    xy_vec_cleanup(&rows);
    return st;
}

/* ---- JSON ---- */

static void put_rate(xy_json_t *j, const char *key, double rate)
{
    if (rate >= 0)
        xy_json_double(j, key, rate);
}

/* Writes a rank as a JSON object. */
static void put_rank(xy_json_t *j, const xy_live_rank_t *r)
{
    uint32_t shown = r->partners < XY_LIVE_PARTNERS ? r->partners : XY_LIVE_PARTNERS;

    xy_json_begin_object(j, NULL);
    xy_fields(j,
              "rank %d process %u state %s seconds %g at_least %i call %s communicator %s place "
              "%s waits_for_count %u",
              r->rank, r->process, xy_live_state_names[r->state], 1e-9 * (double)r->ns, r->is_least,
              r->call[0] != '\0' ? r->call : NULL, r->comm[0] != '\0' ? r->comm : NULL,
              r->place[0] != '\0' ? bare(r->place) : NULL, r->partners);
    xy_json_begin_array(j, "waits_for");
    for (uint32_t i = 0; i < shown && r->partner[i] >= 0; i++)
        xy_json_int(j, NULL, r->partner[i]);
    xy_json_end(j);
    if (r->root >= 0)
        xy_json_int(j, "root", r->root);
    xy_json_int(j, "waiters", r->waiters);
    put_rate(j, "calls_per_second", r->call_rate);
    put_rate(j, "messages_per_second", r->message_rate);
    put_rate(j, "bytes_per_second", r->byte_rate);
    xy_json_end(j);
}

void xy_live_json(const xy_live_t *live, FILE *file)
{
    xy_json_t j;

    xy_json_init(&j, file, true);
    xy_json_begin_object(&j, NULL);
    xy_fields(&j, "program %s mpiexec %ld size %u", live->program, live->pid, live->size);
    xy_json_begin_array(&j, "processes");
    for (size_t i = 0; i < live->processes.count; i++) {
        const xy_live_process_t *p = &XY_VEC_AT(&live->processes, xy_live_process_t, i);

        xy_fields_object(&j, NULL, "process %u host %s answered %i", p->number, p->host,
                         p->time != 0);
    }
    xy_json_end(&j);
    xy_json_begin_array(&j, "ranks");
    for (size_t i = 0; i < live->ranks.count; i++)
        put_rank(&j, &XY_VEC_AT(&live->ranks, xy_live_rank_t, i));
    xy_json_end(&j);
    xy_json_end(&j);
}
