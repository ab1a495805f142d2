/* SPDX-License-Identifier: BSD-3-Clause */
/* Two runs of one program: what got slower, by line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/internal.h"

enum { LINES = 15 };

typedef struct {
    const xy_profile_t *profile;
    uint32_t site;
    double before[2], after[2]; /* computation before the calls, time in them; of one rank */
} line_t;

static double change(const line_t *l)
{
    return l->after[0] + l->after[1] - l->before[0] - l->before[1];
}

static int by_change(const void *left, const void *right)
{
    double a = fabs(change(left)), b = fabs(change(right));

    return a > b ? -1 : a < b;
}

/* Means over ranks, so that runs with different numbers of ranks compare. */
static bool add(xy_vec_t *lines, xy_hash_t *index, const xy_analysis_t *a, bool is_after)
{
    double ranks = fmax(1, (double)a->profile->ranks.count);

    for (size_t i = 0; i < a->site_count; i++) {
        const xy_site_time_t *s = &a->sites[i];
        const xy_profile_site_t *site = &XY_VEC_AT(&a->profile->sites, xy_profile_site_t, s->site);
        /* function and place stand one after the other in one string: see xy_profile_site */
        const char *key = site->place - strlen(site->function) - 1;
        uintptr_t at = (uintptr_t)xy_hash_get(index, XY_HASH_KEY(key));
        line_t *l;

        if (at == 0) {
            line_t fresh = {a->profile, s->site, {0, 0}, {0, 0}};

            if (xy_vec_append(lines, &fresh) != XY_OK ||
                xy_hash_set(index, XY_HASH_KEY(key), (void *)(uintptr_t)lines->count) != XY_OK)
                return false;
            at = lines->count;
        }
        l = &XY_VEC_AT(lines, line_t, at - 1);
        (is_after ? l->after : l->before)[0] += s->compute / ranks;
        (is_after ? l->after : l->before)[1] += s->time / ranks;
    }
    return true;
}

static void put_line(const line_t *l, FILE *file)
{
    char where[256], text[4][32];

    fprintf(file, "%+10.3g s %12s %12s %12s %12s  %s\n", change(l),
            xy_format_seconds(l->before[0], text[0]), xy_format_seconds(l->after[0], text[1]),
            xy_format_seconds(l->before[1], text[2]), xy_format_seconds(l->after[1], text[3]),
            xy_site_describe(l->profile, l->site, where, sizeof(where)));
}

static void put_result(const xy_analysis_t *before, const xy_analysis_t *after, const line_t *most,
                       FILE *file)
{
    double ratio = before->run > 0 ? after->run / before->run : 1;
    char where[256], text[2][32];

    fprintf(file, "the run takes %s instead of %s (%.2f times)",
            xy_format_seconds(after->run, text[0]), xy_format_seconds(before->run, text[1]), ratio);
    if (most != NULL)
        fprintf(file, "; most of the change is in %s",
                xy_site_describe(most->profile, most->site, where, sizeof(where)));
    fputs("\n", file);
    fprintf(file,
            "parallel efficiency %.1f %% -> %.1f %%, load balance %.1f %% -> %.1f %%, "
            "communication %.1f %% -> %.1f %%\n",
            100 * before->efficiency.parallel, 100 * after->efficiency.parallel,
            100 * before->efficiency.load_balance, 100 * after->efficiency.load_balance,
            100 * before->efficiency.communication, 100 * after->efficiency.communication);
}

xy_status_t xy_report_compare(const xy_analysis_t *before, const xy_analysis_t *after, FILE *file)
{
    xy_vec_t lines = XY_VEC_INIT(line_t);
    xy_hash_t index;
    bool is_good;

    xy_hash_init(&index, XY_HASH_STRING);
    is_good = add(&lines, &index, before, false) && add(&lines, &index, after, true);
    if (is_good && lines.count > 0)
        qsort(lines.data, lines.count, sizeof(line_t), by_change);
    if (is_good) {
        put_result(before, after, lines.count > 0 ? lines.data : NULL, file);
        fprintf(file, "%12s %25s %25s\n", "", "computation before", "in the call");
        fprintf(file, "%12s %12s %12s %12s %12s  call (seconds of a rank)\n", "change", "before",
                "after", "before", "after");
    }
    for (size_t i = 0; i < lines.count && i < LINES && is_good; i++)
        put_line(&XY_VEC_AT(&lines, line_t, i), file);
    xy_hash_cleanup(&index);
    xy_vec_cleanup(&lines);
    return is_good ? XY_OK : xy_fail_memory("comparing profiles");
}
