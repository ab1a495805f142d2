/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of a trace: the timeline of src/trace, with the waits that the analysis finds. */
#include "report/report_internal.h"
#include "report/timeline.h"

/* The colours of the report's own page. */
static const xy_trace_kind_info_t kinds[XY_PART_WAITS] = {
    [XY_PART_LATE_SENDER] = {"late sender", XY_TRACE_WAIT, 0xc2410c},
    [XY_PART_LATE_RECEIVER] = {"late receiver", XY_TRACE_WAIT, 0xb8860b},
    [XY_PART_COLLECTIVE] = {"collective", XY_TRACE_WAIT, 0xa61e4d},
    [XY_PART_LOCK] = {"lock", XY_TRACE_WAIT, 0x6b2fa0},
    [XY_PART_CORE] = {"core in use", XY_TRACE_WAIT, 0x7a7f8a},
};

static bool has_calls(const xy_trace_log_t *log)
{
    bool is_found = false;

    for (size_t i = 0; i < log->step_count; i++) {
        if (log->steps[i].rank >= XY_PROFILE_RANKS_MAX)
            return false;
        is_found = is_found || log->steps[i].kind == XY_TRACE_STEP_CALL;
    }
    return is_found;
}

/* Places are the sites of the profile, under the names of the trace. */
static xy_status_t write_why(const xy_trace_log_t *log, const xy_analysis_t *a, FILE *file)
{
    const xy_profile_t *p = a->profile;
    xy_trace_place_t *places = xy_calloc(p->sites.count, sizeof(*places));
    xy_trace_why_t why = {.finding = a->finding,
                          .kinds = kinds,
                          .kind_count = XY_PART_WAITS,
                          .places = places,
                          .place_count = p->sites.count,
                          .calls = p->insight->calls.data,
                          .call_count = p->insight->calls.count,
                          .waits = p->insight->waits.data,
                          .wait_count = p->insight->waits.count};
    xy_status_t st;

    if (places == NULL)
        return xy_fail_memory("writing a page");
    for (size_t i = 0; i < p->sites.count; i++) {
        const xy_profile_site_t *site = &XY_VEC_AT(&p->sites, xy_profile_site_t, i);

        places[i] = (xy_trace_place_t){site->function, site->place};
    }
    st = xy_trace_write_html(log, &why, file);
    xy_free(places);
    return st;
}

xy_status_t xy_report_view(const xy_trace_log_t *log, xy_site_fn line, FILE *file)
{
    xy_analysis_t *a = NULL;
    xy_profile_t *p = NULL;
    xy_status_t st;

    if (!has_calls(log))
        return xy_trace_write_html(log, NULL, file);
    st = xy_profile_from_trace(log, line, &p);
    if (st == XY_OK)
        st = xy_analyse(p, 0, &a);
    if (st == XY_OK)
        st = write_why(log, a, file);
    xy_analysis_destroy(a);
    xy_profile_destroy(p);
    return st;
}
