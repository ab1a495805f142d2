/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem view: show what happened. */
#include <stddef.h>

#include "report/report.h"
#include "site_line.h"
#include "trace/trace.h"
#include "verbs.h"

typedef struct {
    const char *output, *paje, *chrome, *otf2, *svg;
    double from, to, last;
    bool summary, json;
} values_t;

static const xy_option_t options[] = {
    {"output", 'o', XY_OPT_STRING, "FILE", offsetof(values_t, output), XY_COMMON("output"),
     .help = "write one self-contained page for a browser", .complete = "file"},
    {"svg", 0, XY_OPT_STRING, "FILE", offsetof(values_t, svg), XY_COMMON("output"),
     .help = "draw a picture for documents", .complete = "file"},
    {"paje", 0, XY_OPT_STRING, "FILE", offsetof(values_t, paje), XY_COMMON("output"),
     .help = "write it for Pajé readers such as ViTE", .complete = "file"},
    {"chrome", 0, XY_OPT_STRING, "FILE", offsetof(values_t, chrome), XY_COMMON("output"),
     .help = "write it for ui.perfetto.dev and chrome://tracing", .complete = "file"},
    {"otf2", 0, XY_OPT_STRING, "DIRECTORY", offsetof(values_t, otf2), XY_COMMON("output"),
     .help = "write it for Vampir, Scalasca and other readers of OTF2, into a new directory",
     .complete = "file"},
    {"summary", 's', XY_OPT_FLAG, .offset = offsetof(values_t, summary), XY_COMMON("output"),
     .help = "print the summary even if a file is written"},
    {"json", 0, XY_OPT_FLAG, .offset = offsetof(values_t, json), XY_COMMON("output"),
     .help = "print the summary as JSON"},
    {"from", 0, XY_OPT_SECONDS, "TIME", offsetof(values_t, from), .needs = "svg",
     XY_COMMON("picture"),
     .help = "with --svg: begin the picture at this time; after the start of the trace"},
    {"to", 0, XY_OPT_SECONDS, "TIME", offsetof(values_t, to), .needs = "svg", XY_COMMON("picture"),
     .help = "with --svg: end the picture at this time; after the start of the trace (default: its "
             "end)"},
    {"last", 0, XY_OPT_SECONDS, "TIME", offsetof(values_t, last), .needs = "svg",
     XY_COMMON("picture"), .help = "with --svg: show only the last TIME of the picture"},
    {0}};

enum { COLUMNS = 64, ROWS = 40 };

static xy_status_t write_page(const void *log, FILE *file)
{
    return xy_report_view(log, site_line_find, file);
}

static xy_status_t write_paje(const void *log, FILE *file)
{
    return xy_trace_write_paje(log, file);
}

static xy_status_t write_chrome(const void *log, FILE *file)
{
    return xy_trace_write_chrome(log, file);
}

typedef struct {
    const xy_trace_log_t *log;
    const values_t *values;
} picture_t;

static xy_status_t write_picture(const void *arg, FILE *file)
{
    const xy_trace_log_t *log = ((const picture_t *)arg)->log;
    const values_t *v = ((const picture_t *)arg)->values;
    int64_t begin = log->begin + (int64_t)(v->from * 1e9);
    int64_t end = v->to > 0 ? log->begin + (int64_t)(v->to * 1e9) : log->end;
    int64_t last = (int64_t)(v->last * 1e9);

    end = end < log->end ? end : log->end;
    begin = last > 0 && end - last > begin ? end - last : begin;
    return xy_trace_write_svg(log, begin, end, file);
}

/* Prints the summary of a trace, as text or JSON. */
static xy_status_t print_summary(const xy_trace_log_t *log, bool json)
{
    xy_trace_summary_t *summary;
    xy_status_t st = xy_trace_summarize(log, &summary);

    if (st != XY_OK)
        return st;
    if (json)
        xy_trace_write_json(log, summary, stdout);
    else
        st = xy_trace_write_text(log, summary, COLUMNS, ROWS, stdout);
    xy_trace_summary_free(summary);
    return st;
}

/* Entry point of 'xylem view': writes the trace in the formats asked for. */
static xy_status_t run(const xy_command_t *command, const void *values_p, int argc, char **argv)
{
    const values_t *v = values_p;
    bool is_silent = v->output != NULL || v->paje != NULL || v->chrome != NULL || v->otf2 != NULL ||
                     v->svg != NULL;
    xy_trace_log_t *log;
    xy_status_t st;

    (void)command;
    (void)argc;
    if (xy_options_given("to") && v->to <= v->from)
        return xy_fail(XY_EUSAGE, "--from %gs --to %gs: the picture has no time; give a later end",
                       v->from, v->to);
    st = xy_trace_read(argv[0], &log);
    if (st != XY_OK)
        return st;
    st = xy_out_write(v->output, write_page, log);
    if (st == XY_OK)
        st = xy_out_write(v->paje, write_paje, log);
    if (st == XY_OK)
        st = xy_out_write(v->chrome, write_chrome, log);
    if (st == XY_OK && v->otf2 != NULL)
        st = xy_trace_write_otf2(log, v->otf2, site_line_find);
    if (st == XY_OK)
        st = xy_out_write(v->svg, write_picture, &(picture_t){log, v});
    if (st == XY_OK && (!is_silent || v->summary || v->json))
        st = print_summary(log, v->json);
    xy_trace_log_free(log);
    return st;
}

const xy_command_t verb_view = {
    .name = "view",
    .summary = "show a trace: summary, page, Pajé, Perfetto, OTF2",
    .synopsis = "TRACE",
    .description =
        "Reads a trace that Xylem recorded or simulated and shows what happened: the time of each "
        "row (a core, a rank) in each kind of state, its idle time, its overlap, and a small "
        "timeline.\n\n"
        "Overlap is the fraction of the time with messages in flight from or to the row in which "
        "the row computed.\n\n"
        "A trace that is truncated or damaged, because its program crashed or still runs, is "
        "shown as far as it is readable, with one warning and exit code 0. The exit code is 1 "
        "if nothing in it is readable or it is not a trace.",
    .examples = "xylem view run.xyt\n    print the summary and a small timeline\n"
                "xylem view run.xyt -o report.html\n    write one page for any browser\n"
                "xylem view run.xyt --paje run.paje && vite run.paje\n    look at it in ViTE\n",
    .options = options,
    .values_size = sizeof(values_t),
    .positional_min = 1,
    .positional_max = 1,
    .run = run,
};
