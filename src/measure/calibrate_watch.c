/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watching a platform: models are measured round after round, and changes are reported.
 *
 *   round      1      2      3       4       5      6       7
 *   holds      yes    no     yes     no      no     yes     yes
 *   report                                   stale          valid again
 *
 * One round that disagrees may be another program's doing; two in a row are a change.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "measure/calibrate_internal.h"

enum { ROUNDS = 2 };

/* Prints the date, the model and how far it is off. */
static void report_change(const xy_calibration_t *c, const xy_watched_t *w)
{
    const xy_check_result_t *r = &w->last;
    time_t now = time(NULL);
    struct tm local;
    char date[32] = "";

    if (c->report == NULL)
        return;
    if (localtime_r(&now, &local) != NULL)
        strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S ", &local);
    if (!w->is_stale)
        fprintf(c->report, "%s%s %s: valid again\n", date, r->name, r->detail);
    else if (r->is_measured)
        fprintf(c->report, "%s%s %s: stale, takes %.2f times what the model says\n", date, r->name,
                r->detail, 1 + r->middle);
    else
        fprintf(c->report, "%s%s %s: stale, cannot be measured any more\n", date, r->name,
                r->detail);
}

static xy_watched_t *find(const xy_vec_t *watched, const xy_check_result_t *r)
{
    for (size_t i = 0; i < watched->count; i++) {
        xy_watched_t *w = &XY_VEC_AT(watched, xy_watched_t, i);

        if (strcmp(w->last.name, r->name) == 0 && strcmp(w->last.detail, r->detail) == 0)
            return w;
    }
    return NULL;
}

xy_status_t xy_calibrate_watch(const xy_calibration_t *c, const xy_vec_t *results,
                               xy_vec_t *watched, size_t *changed_p)
{
    *changed_p = 0;
    for (size_t i = 0; i < results->count; i++) {
        const xy_check_result_t *r = &XY_VEC_AT(results, xy_check_result_t, i);
        xy_watched_t *w = find(watched, r);

        if (w == NULL) {
            w = xy_vec_push(watched);
            if (w == NULL)
                return xy_fail_memory("watching models");
            *w = (xy_watched_t){0};
        }
        w->last = *r;
        w->against = r->holds == w->is_stale ? w->against + 1 : 0;
        if (w->against < ROUNDS)
            continue;
        w->is_stale = !w->is_stale;
        w->against = 0;
        report_change(c, w);
        ++*changed_p;
    }
    return XY_OK;
}
