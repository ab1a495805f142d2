/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profile of a program, as lines of text:
 *
 *   xylem-profile 1
 *   share 0.4
 *   gain 0.7
 *   net 2e-05 8e-10                  latency and time of a byte between processes; 0: one process
 *   call allreduce 64 4 1048576 100 0.02 1 recursive-doubling 1e-06 1e-10 1e-10 1e-10
 *        |         |  | |       |   |    | |                  alpha beta  gamma copy
 *        |         |  | bytes   |   |    | algorithm
 *        |         |  nodes     |   |    nonblocking
 *        |         ranks        |   seconds of all
 *        collective             calls
 *   ways simulated                   or formula
 *   way recursive-doubling 0.0001    such a call alone, by this algorithm
 *   end
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/adapt/adapt.h"

enum { FILE_MAX = 1 << 20, WORDS = 13 };

/* ---- Writing ---- */

void mpi_profile_format(const mpi_profile_t *p, xy_text_t *text)
{
    char n[8][32];

    xy_text_addf(text, "xylem-profile 1\nshare %s\ngain %s\n", xy_format_double(p->share, n[0]),
                 xy_format_double(p->gain, n[1]));
    if (p->alpha > 0 || p->beta > 0)
        xy_text_addf(text, "net %s %s\n", xy_format_double(p->alpha, n[0]),
                     xy_format_double(p->beta, n[1]));
    for (size_t i = 0; i < p->call_count; i++) {
        const xy_vjob_calls_t *c = &p->calls[i];

        xy_text_addf(text, "call %s %d %d %" PRIu64 " %" PRIu64 " %s %d %s %s %s %s %s\n",
                     xy_coll_name(c->collective), c->procs, c->nodes, c->bytes, c->calls,
                     xy_format_double(c->seconds, n[0]), c->is_nonblocking, c->algorithm->name,
                     xy_format_double(c->link.alpha, n[1]), xy_format_double(c->link.beta, n[2]),
                     xy_format_double(c->link.gamma, n[3]), xy_format_double(c->link.copy, n[4]));
        xy_text_addf(text, "ways %s\n", p->ways[i].is_simulated ? "simulated" : "formula");
        for (int k = 0; k < p->ways[i].count; k++)
            xy_text_addf(text, "way %s %s\n", p->ways[i].algorithm[k]->name,
                         xy_format_double(p->ways[i].seconds[k], n[0]));
    }
    xy_text_add(text, "end\n");
}

static xy_status_t print(const void *arg, FILE *file)
{
    xy_text_t text = XY_TEXT_INIT;
    xy_status_t st = XY_OK;

    mpi_profile_format(arg, &text);
    if (text.failed)
        st = xy_fail_memory("writing what a run did");
    else
        fputs(text.s, file);
    xy_text_cleanup(&text);
    return st;
}

xy_status_t mpi_profile_write(const mpi_profile_t *profile, const char *path)
{
    xy_status_t st = xy_make_directories(path);

    return st == XY_OK ? xy_out_write(path, print, profile) : st;
}

/* ---- Reading ---- */

static bool parse_count(const char *word, long least, long most, long *value_p)
{
    return xy_parse_long(word, value_p) && *value_p >= least && *value_p <= most;
}

static bool parse_time(const char *word, double *value_p)
{
    return xy_parse_double(word, value_p) && *value_p >= 0;
}

/* Parse a line about a call and append it to the profile; false if it is wrong or the profile is
 * full. */
static bool parse_call(char *const *w, mpi_profile_t *p)
{
    xy_vjob_calls_t *c = &p->calls[p->call_count];
    long procs, nodes, bytes, calls, nonblocking;

    if (p->call_count == XMPI_PROFILE_CALLS || !xy_coll_parse(w[1], &c->collective) ||
        !parse_count(w[2], 1, 1 << 24, &procs) || !parse_count(w[3], 1, procs, &nodes) ||
        !parse_count(w[4], 0, INT64_MAX / 2, &bytes) || !parse_count(w[5], 1, INT64_MAX, &calls) ||
        !parse_time(w[6], &c->seconds) || !parse_count(w[7], 0, 1, &nonblocking) ||
        !parse_time(w[9], &c->link.alpha) || !parse_time(w[10], &c->link.beta) ||
        !parse_time(w[11], &c->link.gamma) || !parse_time(w[12], &c->link.copy))
        return false;
    c->procs = (int)procs;
    c->nodes = (int)nodes;
    c->bytes = (uint64_t)bytes;
    c->calls = (uint64_t)calls;
    c->is_nonblocking = nonblocking != 0;
    c->algorithm = xy_coll_find(c->collective, w[8]);
    p->call_count++;
    return c->algorithm != NULL;
}

/* Parse a line about an algorithm for the last call; false if it is wrong. */
static bool parse_way(char *const *w, mpi_profile_t *p)
{
    mpi_ways_t *ways;

    if (p->call_count == 0)
        return false;
    ways = &p->ways[p->call_count - 1];
    if (ways->count == XY_COLL_CANDIDATES_MAX)
        return false;
    ways->algorithm[ways->count] = xy_coll_find(p->calls[p->call_count - 1].collective, w[1]);
    if (ways->algorithm[ways->count] == NULL || !parse_time(w[2], &ways->seconds[ways->count]))
        return false;
    ways->count++;
    return true;
}

/* Parse one line of a profile; *is_over is set at its end, false if the line is wrong. */
static bool parse_line(char *line, mpi_profile_t *p, bool *is_over)
{
    char *words[WORDS], *rest = line;
    int n = 0;

    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        if (n == WORDS)
            return false;
        words[n++] = word;
    }
    if (n == 1 && strcmp(words[0], "end") == 0)
        return *is_over = true;
    if (n == 2 && strcmp(words[0], "xylem-profile") == 0)
        return strcmp(words[1], "1") == 0;
    if (n == 2 && strcmp(words[0], "share") == 0)
        return parse_time(words[1], &p->share) && p->share <= 1;
    if (n == 2 && strcmp(words[0], "gain") == 0)
        return parse_time(words[1], &p->gain) && p->gain <= 1;
    if (n == 3 && strcmp(words[0], "net") == 0)
        return parse_time(words[1], &p->alpha) && parse_time(words[2], &p->beta);
    if (n == 2 && strcmp(words[0], "ways") == 0 && p->call_count > 0)
        return (p->ways[p->call_count - 1].is_simulated = strcmp(words[1], "simulated") == 0) ||
               strcmp(words[1], "formula") == 0;
    if (n == 3 && strcmp(words[0], "way") == 0)
        return parse_way(words, p);
    return n == WORDS && strcmp(words[0], "call") == 0 && parse_call(words, p);
}

bool mpi_profile_parse(char *text, mpi_profile_t *profile)
{
    mpi_profile_t p = {.gain = 1};
    char *rest = text;
    bool is_good = true, is_over = false;

    for (char *line; is_good && !is_over && (line = strsep(&rest, "\n")) != NULL;)
        is_good = parse_line(line, &p, &is_over);
    if (is_good && is_over)
        *profile = p;
    return is_good && is_over;
}

xy_status_t mpi_profile_read(const char *path, mpi_profile_t *profile)
{
    char *data;
    size_t size;
    bool is_good;
    xy_status_t st;

    if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return XY_ENOENT;
    st = xy_file_read(path, FILE_MAX, &data, &size);
    if (st != XY_OK)
        return XY_ENOENT; /* reported */
    is_good = mpi_profile_parse(data, profile);
    xy_free(data);
    if (is_good)
        return XY_OK;
    xy_warn("%s is not a profile of a program; --adapt learn writes it again", path);
    return XY_ENOENT;
}

/* ---- From a run ---- */

/* Ranks lie on their nodes one after the other. False: memory ran out. */
static bool make_request(const xy_vjob_calls_t *c, xy_coll_request_t *q, int **nodes_p)
{
    uint64_t element = c->bytes > 0 && c->bytes % 8 == 0 ? 8 : 1;

    *q = (xy_coll_request_t){.collective = c->collective,
                             .procs = c->procs,
                             .count = c->bytes / element,
                             .element = element,
                             .is_commutative = true,
                             .is_nonblocking = c->is_nonblocking};
    *nodes_p = xy_malloc((size_t)c->procs * sizeof(int));
    for (int r = 0; *nodes_p != NULL && r < c->procs; r++)
        (*nodes_p)[r] = (int)((int64_t)r * c->nodes / c->procs);
    q->nodes = *nodes_p;
    return *nodes_p != NULL;
}

static int list_candidates(const xy_vjob_calls_t *c,
                           xy_coll_candidate_t list[XY_COLL_CANDIDATES_MAX])
{
    xy_coll_request_t q;
    int *nodes, n = 0;

    if (make_request(c, &q, &nodes))
        n = xy_coll_candidates(&q, &c->link, list);
    xy_free(nodes);
    return n;
}

/* List the algorithm that ran, then the others that could. Those of other libraries have no
 * formulas, their messages are counted: only where they are few. */
static void list_ways(const xy_vjob_calls_t *c, mpi_ways_t *ways)
{
    xy_coll_candidate_t list[XY_COLL_CANDIDATES_MAX];
    int n = list_candidates(c, list);

    *ways = (mpi_ways_t){.algorithm = {c->algorithm}, .count = 1};
    for (int i = 0; i < n; i++) {
        const xy_coll_algorithm_t *a = list[i].algorithm;

        if (a == c->algorithm) {
            ways->seconds[0] = list[i].seconds;
        } else if (list[i].is_applicable && !a->is_direct && ways->count < XY_COLL_CANDIDATES_MAX) {
            ways->algorithm[ways->count] = a;
            ways->seconds[ways->count++] = list[i].seconds;
        }
    }
}

static double weight(const xy_vjob_calls_t *c)
{
    double each = c->link.alpha + (double)c->bytes * c->link.beta;

    return c->seconds > 0 ? c->seconds : (double)c->calls * each;
}

static int heaviest_first(const void *a, const void *b)
{
    double x = weight(a), y = weight(b);

    return (x < y) - (x > y);
}

void mpi_profile_calls(mpi_profile_t *profile, const xy_vec_t *calls)
{
    size_t n = calls->count;

    if (n > 1)
        qsort(calls->data, n, sizeof(xy_vjob_calls_t), heaviest_first);
    profile->call_count = n < XMPI_PROFILE_CALLS ? n : XMPI_PROFILE_CALLS;
    for (size_t i = 0; i < profile->call_count; i++) {
        profile->calls[i] = XY_VEC_AT(calls, xy_vjob_calls_t, i);
        list_ways(&profile->calls[i], &profile->ways[i]);
    }
}

/* ---- From several processes ---- */

static size_t find_call(const mpi_profile_t *p, const xy_vjob_calls_t *c)
{
    size_t i = 0;

    while (i < p->call_count &&
           (p->calls[i].collective != c->collective || p->calls[i].procs != c->procs ||
            p->calls[i].nodes != c->nodes || p->calls[i].is_nonblocking != c->is_nonblocking ||
            xy_coll_step(p->calls[i].bytes) != xy_coll_step(c->bytes)))
        i++;
    return i;
}

/* At the end of the list, or in the place of the lightest of a full one. */
static size_t room_for(mpi_profile_t *p, const xy_vjob_calls_t *c)
{
    size_t lightest = 0;

    if (p->call_count < XMPI_PROFILE_CALLS)
        return p->call_count++;
    for (size_t i = 1; i < p->call_count; i++)
        if (weight(&p->calls[i]) < weight(&p->calls[lightest]))
            lightest = i;
    return weight(c) > weight(&p->calls[lightest]) ? lightest : XMPI_PROFILE_CALLS;
}

static void sort_calls(mpi_profile_t *p)
{
    for (size_t i = 1; i < p->call_count; i++)
        for (size_t k = i; k > 0 && weight(&p->calls[k]) > weight(&p->calls[k - 1]); k--) {
            xy_vjob_calls_t call = p->calls[k];
            mpi_ways_t ways = p->ways[k];

            p->calls[k] = p->calls[k - 1];
            p->ways[k] = p->ways[k - 1];
            p->calls[k - 1] = call;
            p->ways[k - 1] = ways;
        }
}

void mpi_profile_merge(mpi_profile_t *all, const mpi_profile_t *one)
{
    all->alpha = fmax(all->alpha, one->alpha);
    all->beta = fmax(all->beta, one->beta);
    for (size_t i = 0; i < one->call_count; i++) {
        const xy_vjob_calls_t *c = &one->calls[i];
        size_t at = find_call(all, c);

        if (at < all->call_count) {
            if (all->calls[at].calls < c->calls)
                all->calls[at].calls = c->calls;
            continue;
        }
        at = room_for(all, c);
        if (at < XMPI_PROFILE_CALLS) {
            all->calls[at] = *c;
            all->ways[at] = one->ways[i];
        }
    }
    sort_calls(all);
}
