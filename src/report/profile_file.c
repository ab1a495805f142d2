/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles as files: lines of words. Ranks, sites and cores are numbers, times are nanoseconds.
 *
 *   xylem profile 1
 *   program NAME
 *   clock real                                  (or virtual)
 *   ranks COUNT
 *   site NUMBER FUNCTION PLACE                  (in order, from 1)
 *   rank NUMBER CORE TIME
 *   call RANK SITE MEMBERS CLASS CALLS BYTES COMPUTE PART*7 [RANK:SITE:TIME]...
 *   pair FROM TO BYTES MESSAGES
 *   at RANK ADDRESS SITE                        (only from a process of several)
 *   end
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile.h"

enum { VERSION = 1, WORDS = 24, FILE_MAX = 1 << 30, SITES_MAX = 1 << 22 };

static const char magic[] = "xylem profile ";

/* ---- Writing ---- */

/* Nothing in a line ends it. */
static void put_text(const char *text, FILE *file)
{
    for (; *text != '\0'; text++)
        fputc(*text == '\n' || *text == '\r' ? ' ' : *text, file);
    fputc('\n', file);
}

static void put_record(const xy_profile_record_t *r, FILE *file)
{
    fprintf(file, "call %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32, r->rank, r->site, r->members,
            r->size_class);
    fprintf(file, " %" PRIu64 " %" PRIu64 " %" PRIu64, r->calls, r->bytes, r->compute);
    for (int i = 0; i < XY_PARTS; i++)
        fprintf(file, " %" PRIu64, r->part[i]);
    for (int b = 0; b < XY_PROFILE_BLAMES && r->blame[b].ns > 0; b++)
        fprintf(file, " %" PRId32 ":%" PRIu32 ":%" PRIu64, r->blame[b].rank, r->blame[b].site,
                r->blame[b].ns);
    fputc('\n', file);
}

void xy_profile_write(const xy_profile_t *p, FILE *file)
{
    fprintf(file, "%s%d\nprogram ", magic, VERSION);
    put_text(p->program, file);
    fprintf(file, "clock %s\nranks %zu\n", p->is_virtual ? "virtual" : "real", p->ranks.count);
    for (size_t i = 1; i < p->sites.count; i++) {
        const xy_profile_site_t *s = &XY_VEC_AT(&p->sites, xy_profile_site_t, i);

        fprintf(file, "site %zu %s ", i, s->function);
        put_text(s->place, file);
    }
    for (size_t i = 0; i < p->ranks.count; i++) {
        const xy_profile_rank_t *r = &XY_VEC_AT(&p->ranks, xy_profile_rank_t, i);

        if (r->ns > 0)
            fprintf(file, "rank %zu %" PRIu32 " %" PRIu64 "\n", i, r->core, r->ns);
    }
    for (size_t i = 0; i < p->records.count; i++)
        put_record(&XY_VEC_AT(&p->records, xy_profile_record_t, i), file);
    for (size_t i = 0; i < p->pairs.count; i++) {
        const xy_profile_pair_t *q = &XY_VEC_AT(&p->pairs, xy_profile_pair_t, i);

        fprintf(file, "pair %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 "\n", q->from, q->to,
                q->bytes, q->messages);
    }
    for (size_t i = 0; i < p->places.count; i++) {
        const xy_profile_place_t *q = &XY_VEC_AT(&p->places, xy_profile_place_t, i);

        fprintf(file, "at %" PRIu32 " %" PRIu64 " %" PRIu32 "\n", q->rank, q->address, q->site);
    }
    fputs("end\n", file);
}

/* ---- Reading ---- */

typedef struct {
    const char *path;
    long line;
    xy_profile_t *profile;
    char *program;
    bool is_virtual, is_over;
} reading_t;

static xy_status_t refuse(const reading_t *in, const char *what)
{
    return xy_fail_at(XY_EPARSE, in->path, in->line, "%s", what);
}

/* Below 2^62: sums of a few stay in 64 bits. */
static bool number(const char *word, uint64_t end, uint64_t *value_p)
{
    uint64_t value = 0;

    if (*word == '\0')
        return false;
    for (; *word != '\0'; word++) {
        if (*word < '0' || *word > '9' || value > UINT64_C(461168601842738789))
            return false;
        value = 10 * value + (uint64_t)(*word - '0');
    }
    *value_p = value;
    return value < end;
}

static bool small(const char *word, uint64_t end, uint32_t *value_p)
{
    uint64_t value;

    if (!number(word, end < UINT32_MAX ? end : UINT32_MAX, &value))
        return false;
    *value_p = (uint32_t)value;
    return true;
}

static int split(char *line, char *words[WORDS])
{
    int n = 0;

    for (char *word; n < WORDS && (word = strsep(&line, " ")) != NULL;)
        words[n++] = word;
    return line == NULL ? n : WORDS + 1;
}

/* Reads "rank:site:ns"; returns false if a number is out of range. */
static bool parse_blame(const xy_profile_t *p, char *word, xy_blame_t *blame)
{
    char *rank = strsep(&word, ":"), *site = strsep(&word, ":");
    uint32_t of = 0;

    if (site == NULL || word == NULL)
        return false;
    blame->rank = XY_PROFILE_NOBODY;
    if (strcmp(rank, "-1") != 0) {
        if (!small(rank, p->ranks.count, &of))
            return false;
        blame->rank = (int32_t)of;
    }
    return small(site, p->sites.count, &blame->site) && number(word, UINT64_MAX, &blame->ns) &&
           blame->ns > 0;
}

enum { FIXED = 8 + XY_PARTS }; /* words of a call without blames */

/* Reads a line "call" and appends its record. */
static bool parse_call(xy_profile_t *p, char **words, int n)
{
    xy_profile_record_t r = {0};
    bool is_good =
        n >= FIXED && n <= FIXED + XY_PROFILE_BLAMES && small(words[1], p->ranks.count, &r.rank) &&
        small(words[2], p->sites.count, &r.site) && small(words[3], UINT32_MAX, &r.members) &&
        small(words[4], XY_PROFILE_CLASSES, &r.size_class) &&
        number(words[5], UINT64_MAX, &r.calls) && number(words[6], UINT64_MAX, &r.bytes) &&
        number(words[7], UINT64_MAX, &r.compute);

    for (int i = 0; i < XY_PARTS && is_good; i++)
        is_good = number(words[8 + i], UINT64_MAX, &r.part[i]);
    for (int i = FIXED; i < n && is_good; i++)
        is_good = parse_blame(p, words[i], &r.blame[i - FIXED]);
    return is_good && xy_vec_append(&p->records, &r) == XY_OK;
}

static bool parse_site(xy_profile_t *p, char *rest)
{
    char *which = strsep(&rest, " "), *function = strsep(&rest, " ");
    uint64_t expected;
    uint32_t site;

    return rest != NULL && function[0] != '\0' && number(which, SITES_MAX, &expected) &&
           expected == p->sites.count && xy_profile_site(p, function, rest, &site) &&
           site == expected; /* none is there twice */
}

static bool parse_rank(xy_profile_t *p, char **words, int n)
{
    xy_profile_rank_t r;
    uint32_t rank;

    if (n != 4 || !small(words[1], p->ranks.count, &rank) ||
        !small(words[2], UINT32_MAX, &r.core) || !number(words[3], UINT64_MAX, &r.ns))
        return false;
    XY_VEC_AT(&p->ranks, xy_profile_rank_t, rank) = r;
    return true;
}

static bool parse_pair(xy_profile_t *p, char **words, int n)
{
    xy_profile_pair_t q;

    return n == 5 && small(words[1], p->ranks.count, &q.from) &&
           small(words[2], p->ranks.count, &q.to) && number(words[3], UINT64_MAX, &q.bytes) &&
           number(words[4], UINT64_MAX, &q.messages) && xy_vec_append(&p->pairs, &q) == XY_OK;
}

static bool parse_place(xy_profile_t *p, char **words, int n)
{
    xy_profile_place_t q;

    return n == 4 && small(words[1], p->ranks.count, &q.rank) &&
           number(words[2], UINT64_MAX, &q.address) && small(words[3], p->sites.count, &q.site) &&
           xy_vec_append(&p->places, &q) == XY_OK;
}

/* Reads the lines before the first site: version, program, clock and ranks, which creates the
 * profile. */
static xy_status_t parse_head(reading_t *in, char *line)
{
    uint32_t ranks;

    if (in->line == 1) {
        uint64_t version;

        if (strncmp(line, magic, sizeof(magic) - 1) != 0 ||
            !number(line + sizeof(magic) - 1, UINT64_MAX, &version) || version == 0)
            return refuse(in, "not a profile of 'mpiexec --report'");
        if (version > VERSION)
            return xy_fail_at(XY_EUNSUPPORTED, in->path, 0,
                              "a profile of format %" PRIu64 "; this version reads up to %d",
                              version, VERSION);
        return XY_OK;
    }
    if (strncmp(line, "program ", 8) == 0) {
        in->program = line + 8;
        return XY_OK;
    }
    if (strcmp(line, "clock real") == 0 || strcmp(line, "clock virtual") == 0) {
        in->is_virtual = strcmp(line, "clock virtual") == 0;
        return XY_OK;
    }
    if (strncmp(line, "ranks ", 6) != 0 || !small(line + 6, XY_PROFILE_RANKS_MAX, &ranks))
        return refuse(in, "a line 'program', 'clock' or 'ranks' is expected here");
    return xy_profile_create(in->program != NULL ? in->program : "", ranks, &in->profile);
}

/* Reads one line; reports the error of a bad one. */
static xy_status_t parse_line(reading_t *in, char *line)
{
    xy_profile_t *p = in->profile;
    char *words[WORDS];
    bool is_good = false;
    int n;

    if (p == NULL)
        return parse_head(in, line);
    in->is_over = strcmp(line, "end") == 0;
    if (in->is_over)
        return XY_OK;
    if (strncmp(line, "site ", 5) == 0)
        return parse_site(p, line + 5) ? XY_OK : refuse(in, "not a site of a profile");
    n = split(line, words);
    if (n <= WORDS && strcmp(words[0], "call") == 0)
        is_good = parse_call(p, words, n);
    else if (n <= WORDS && strcmp(words[0], "rank") == 0)
        is_good = parse_rank(p, words, n);
    else if (n <= WORDS && strcmp(words[0], "pair") == 0)
        is_good = parse_pair(p, words, n);
    else if (n <= WORDS && strcmp(words[0], "at") == 0)
        is_good = parse_place(p, words, n);
    return is_good ? XY_OK : refuse(in, "not a line of a profile, or with a number out of range");
}

xy_status_t xy_profile_parse(char *text, const char *path, xy_profile_t **profile_p)
{
    reading_t in = {.path = path};
    xy_status_t st = XY_OK;

    for (char *line; st == XY_OK && !in.is_over && (line = strsep(&text, "\n")) != NULL;) {
        in.line++;
        st = parse_line(&in, line);
    }
    if (st == XY_OK && !in.is_over)
        st = refuse(&in, "the profile has no line 'end': it is truncated");
    if (st != XY_OK) {
        xy_profile_destroy(in.profile);
        return st;
    }
    in.profile->is_virtual = in.is_virtual;
    *profile_p = in.profile;
    return XY_OK;
}

xy_status_t xy_profile_read(const char *path, xy_profile_t **profile_p)
{
    char *text;
    xy_status_t st = xy_file_read_text(path, FILE_MAX, &text);

    if (st != XY_OK)
        return st;
    st = xy_profile_parse(text, path, profile_p);
    xy_free(text);
    return st;
}
