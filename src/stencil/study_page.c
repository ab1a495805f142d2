/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page of a study: which policy is best, and two pictures of all policies over one parameter
 * for each combination of the others, with the table of their numbers.
 */
#include <math.h>
#include <string.h>

#include "draw/draw.h"
#include "stencil/internal.h"

enum { WIDTH = 720, HEIGHT = 360, LEFT = 56, RIGHT = 16, TOP = 34, BOTTOM = 46 };
enum { POLICIES_MAX = 32, PLACES_MAX = 512, BAR_PLACES = 2 };

typedef double (*value_fn)(const xy_stencil_run_t *run, const xy_stencil_result_t *r);

static double ratio(const xy_stencil_run_t *run, const xy_stencil_result_t *r)
{
    (void)run;
    return stencil_ratio(r);
}

/* The bound of a real run is measured with it, so that times, not ratios, compare policies. */
static double pace(const xy_stencil_run_t *run, const xy_stencil_result_t *r)
{
    double cells = (double)run->grid.block_bytes / (double)stencil_cell_bytes(&run->grid);

    if (run->grid.cells[0] > 0)
        cells = (double)(run->grid.cells[0] * run->grid.cells[1] * run->grid.cells[2]);
    return r->sim.tasks > 0 ? 1e9 * r->sim.makespan / (double)r->sim.tasks / cells : 1;
}

static double passes(const xy_stencil_run_t *run, const xy_stencil_result_t *r)
{
    (void)run;
    return (double)(r->sim.bytes_loaded + r->sim.bytes_stored) / (double)r->graph_bytes;
}

/* ---- Which runs belong together ---- */

static bool is_in(const xy_stencil_study_t *study, size_t first, size_t i)
{
    return study->status[i] == XY_OK &&
           stencil_axis_is_alone(stencil_axis_of(study), &study->runs[first], &study->runs[i]);
}

static bool is_first_of_picture(const xy_stencil_study_t *study, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (study->status[k] == XY_OK && is_in(study, k, i))
            return false;
    return study->status[i] == XY_OK;
}

/* A picture: its runs, their policies in the order of the study, their places on the axis: numbers,
 * growing, or, where the axis has words, the number of the run that has the word first. */
typedef struct {
    const xy_stencil_study_t *study;
    size_t first;
    value_fn value;
    stencil_axis_t axis;
    stencil_tick_fn tick; /* NULL: words */
    const char *policies[POLICIES_MAX];
    int policy_count;
    double places[PLACES_MAX];
    int place_count;
    xy_axis_t across, up;
    xy_svg_t svg;
} picture_t;

static void add_policy(picture_t *p, const char *policy)
{
    for (int i = 0; i < p->policy_count; i++)
        if (strcmp(p->policies[i], policy) == 0)
            return;
    if (p->policy_count < POLICIES_MAX)
        p->policies[p->policy_count++] = policy;
}

/* Returns the place of a run on the horizontal axis: its number, or the index of its word. */
static double place_of(const picture_t *p, size_t run)
{
    const xy_stencil_study_t *s = p->study;
    char a[96], b[96];
    size_t i = p->first;

    if (p->tick != NULL)
        return stencil_axis_number(p->axis, &s->runs[run], &s->results[run]);
    while (i < run && (!is_in(s, p->first, i) ||
                       strcmp(stencil_axis_word(p->axis, &s->runs[i], &s->results[i], a),
                              stencil_axis_word(p->axis, &s->runs[run], &s->results[run], b)) != 0))
        i++;
    return (double)i;
}

static void add_place(picture_t *p, double place)
{
    int at = 0;

    while (at < p->place_count && p->places[at] < place)
        at++;
    if ((at < p->place_count && p->places[at] == place) || p->place_count == PLACES_MAX)
        return;
    memmove(&p->places[at + 1], &p->places[at], (size_t)(p->place_count - at) * sizeof(double));
    p->places[at] = place;
    p->place_count++;
}

/* The value of one policy and place; not a number where it did not run. */
static double value_at(const picture_t *p, const char *policy, double place)
{
    for (size_t i = p->first; i < p->study->count; i++)
        if (strcmp(stencil_policy_of(&p->study->runs[i]), policy) == 0 &&
            is_in(p->study, p->first, i) && place_of(p, i) == place)
            return p->value(&p->study->runs[i], &p->study->results[i]);
    return NAN;
}

static bool has_bars(const picture_t *p)
{
    return p->tick == NULL || p->place_count <= BAR_PLACES;
}

/* Bars begin at 0; curves are by doubling. */
static void scale(picture_t *p)
{
    double low = INFINITY, high = 0;

    for (size_t i = p->first; i < p->study->count; i++) {
        double y;

        if (!is_in(p->study, p->first, i))
            continue;
        y = p->value(&p->study->runs[i], &p->study->results[i]);
        add_policy(p, stencil_policy_of(&p->study->runs[i]));
        add_place(p, place_of(p, i));
        low = y > 0 && y < low ? y : low;
        high = fmax(y, high);
    }
    low = isfinite(low) ? low : 1;
    high = fmax(high, low);
    p->up =
        has_bars(p) ? (xy_axis_t){.high = high} : (xy_axis_t){XY_SCALE_DOUBLING, low, high, 0, 0};
    xy_axis_widen(&p->up, 6);
    p->across = (xy_axis_t){.low = p->places[0],
                            .high = p->places[p->place_count - 1],
                            .from = LEFT + 34, /* the first label clears those of the other axis */
                            .to = WIDTH - RIGHT - 30};
}

/* ---- Drawing ---- */

/* Draws the values of a policy as a curve with points. */
static void draw_curve(const picture_t *p, const char *policy)
{
    int colour = xy_colour_of(policy), n = 0;
    double x[PLACES_MAX], y[PLACES_MAX];
    char class[16], tip[96];

    for (int i = 0; i < p->place_count; i++) {
        double value = value_at(p, policy, p->places[i]);

        if (isnan(value))
            continue;
        x[n] = xy_axis_at(&p->across, p->places[i]);
        y[n++] = xy_axis_at(&p->up, value);
        snprintf(tip, sizeof(tip), "%.40s: %.4g", policy, value);
        xy_svg_circle(&p->svg, xy_colour_fill[colour], x[n - 1], y[n - 1], 3, tip);
    }
    snprintf(class, sizeof(class), "%s thick", xy_colour_line[colour]);
    xy_svg_curve(&p->svg, class, x, y, (size_t)n);
}

static const char *word_at(const picture_t *p, int place, char buffer[96])
{
    size_t run = (size_t)p->places[place];

    return stencil_axis_word(p->axis, &p->study->runs[run], &p->study->results[run], buffer);
}

/* Draws the values of all policies as groups of bars. */
static void draw_bars(const picture_t *p)
{
    xy_bars_t bars = {&p->up, LEFT, WIDTH - RIGHT, p->place_count, p->policy_count};
    char tip[96], label[32], word[96];

    for (int s = 0; s < p->place_count; s++) {
        for (int i = 0; i < p->policy_count; i++) {
            double value = value_at(p, p->policies[i], p->places[s]);

            snprintf(tip, sizeof(tip), "%.40s: %.4g", p->policies[i], value);
            snprintf(label, sizeof(label), "%.3g", value);
            xy_bars_draw(&p->svg, &bars, s, i, value, xy_colour_fill[xy_colour_of(p->policies[i])],
                         label, tip);
        }
        if (p->tick != NULL)
            p->tick(p->places[s], label);
        xy_bars_name(&p->svg, &bars, s, p->tick != NULL ? label : word_at(p, s, word));
    }
}

/* Draws one value of a group of runs, as bars or curves. */
static void draw(FILE *f, const xy_stencil_study_t *study, size_t first, value_fn fn,
                 const char *title)
{
    stencil_axis_t axis = stencil_axis_of(study);
    picture_t p = {.study = study,
                   .first = first,
                   .value = fn,
                   .axis = axis,
                   .tick = stencil_axis_tick(axis, study)};
    xy_legend_t legend[POLICIES_MAX];
    double above;

    scale(&p);
    for (int i = 0; i < p.policy_count; i++)
        legend[i] =
            has_bars(&p)
                ? (xy_legend_t){p.policies[i], xy_colour_fill[xy_colour_of(p.policies[i])], false}
                : (xy_legend_t){p.policies[i], xy_colour_line[xy_colour_of(p.policies[i])], true};
    above = TOP + xy_legend_height(WIDTH - LEFT, legend, (size_t)p.policy_count);
    p.up.from = above + HEIGHT - BOTTOM - TOP;
    p.up.to = above + 10;
    p.svg = xy_svg_begin(
        f, &(xy_svg_head_t){
               .width = WIDTH, .height = p.up.from + BOTTOM, .title = title, .is_embedded = true});
    xy_svg_text(&p.svg, "title", 0, 18, "%s", title);
    xy_svg_legend(&p.svg, 0, 28, WIDTH - LEFT, legend, (size_t)p.policy_count);
    xy_axis_draw_up(&p.svg, &p.up, 6, LEFT, WIDTH - RIGHT, xy_tick_number);
    if (has_bars(&p)) {
        draw_bars(&p);
    } else {
        xy_axis_draw_values(&p.svg, &p.across, p.places, (size_t)p.place_count, p.up.to, p.up.from,
                            p.tick);
        for (int i = 0; i < p.policy_count; i++)
            draw_curve(&p, p.policies[i]);
    }
    xy_svg_text(&p.svg, "note mid", (LEFT + WIDTH - RIGHT) / 2.0, p.up.from + 36, "%s",
                stencil_axis_title(axis));
    xy_svg_end(&p.svg);
}

/* ---- Words and numbers ---- */

static bool is_real(const xy_stencil_study_t *study)
{
    for (size_t i = 0; i < study->count; i++)
        if (study->status[i] == XY_OK)
            return study->runs[i].is_real;
    return false;
}

/* The geometric mean of a policy over the study; not a number where it never ran. */
static double mean_of(const xy_stencil_study_t *study, const char *policy, value_fn value)
{
    double sum = 0;
    int n = 0;

    for (size_t i = 0; i < study->count; i++)
        if (study->status[i] == XY_OK && strcmp(stencil_policy_of(&study->runs[i]), policy) == 0) {
            sum += log(fmax(value(&study->runs[i], &study->results[i]), 1e-12));
            n++;
        }
    return n > 0 ? exp(sum / n) : NAN;
}

/* "closure is the best of 3 policies, 1.04 times the compute bound; dmdar 1.3, eager 4.2". */
static void find(const xy_stencil_study_t *study, char *text, size_t size)
{
    value_fn value = is_real(study) ? pace : ratio;
    picture_t p = {0};
    xy_score_t scores[POLICIES_MAX];
    char best[64];
    size_t n, count;

    for (size_t i = 0; i < study->count; i++)
        if (study->status[i] == XY_OK)
            add_policy(&p, stencil_policy_of(&study->runs[i]));
    for (int i = 0; i < p.policy_count; i++)
        scores[i] = (xy_score_t){p.policies[i], mean_of(study, p.policies[i], value)};
    count = xy_scores_sort(scores, (size_t)p.policy_count, false);
    text[0] = '\0';
    if (count == 0)
        return;
    snprintf(best, sizeof(best), count > 1 ? "the best of %zu policies" : "the only policy", count);
    if (value == pace)
        n = (size_t)snprintf(text, size, "%s is %s, %.3g ns per cell and iteration", scores[0].name,
                             best, scores[0].value);
    else
        n = (size_t)snprintf(text, size, "%s is %s, %.3g times the compute bound", scores[0].name,
                             best, scores[0].value);
    for (size_t i = 1; i < count && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s %s %.3g", i == 1 ? ";" : ",", scores[i].name,
                              scores[i].value);
    if (n < size)
        snprintf(text + n, size - n, "%s.",
                 study->count > (size_t)p.policy_count ? " (geometric means)" : "");
}

/* Where it runs; what the picture is drawn over is left out. */
static void print_place(FILE *f, const xy_stencil_run_t *run, const xy_stencil_result_t *r,
                        stencil_axis_t axis)
{
    int cores = run->is_real ? r->workers : run->cpus;
    char what[256], size[32];
    size_t n;

    n = (size_t)snprintf(what, sizeof(what), "%.180s",
                         run->is_real                   ? "This machine"
                         : axis == STENCIL_OVER_MACHINE ? "Several machines"
                                                        : run->machine);
    if (!run->is_real && axis != STENCIL_OVER_GPUS)
        n += (size_t)snprintf(what + n, sizeof(what) - n, ", %d GPU%s", run->gpus,
                              run->gpus == 1 ? "" : "s");
    if (cores > 0 && axis != STENCIL_OVER_CPUS)
        n += (size_t)snprintf(what + n, sizeof(what) - n, ", %d core%s", cores,
                              cores == 1 ? "" : "s");
    if (run->memory == XY_TASK_NO_LIMIT && axis != STENCIL_OVER_MEMORY)
        snprintf(what + n, sizeof(what) - n, " without a limit of memory");
    else if (run->memory > 0 && axis != STENCIL_OVER_MEMORY)
        snprintf(what + n, sizeof(what) - n, " with %s", xy_format_size(run->memory, size));
    xy_page_heading(f, "%s", what);
}

/* Prints the properties that all runs of a group share. */
static void print_heading(FILE *f, const xy_stencil_run_t *run, const xy_stencil_result_t *r,
                          stencil_axis_t axis)
{
    char what[256], blocks[96];
    size_t n = 0;

    print_place(f, run, r, axis);
    stencil_format_blocks(&run->grid, blocks);
    if (axis != STENCIL_OVER_BLOCKS)
        n += (size_t)snprintf(what + n, sizeof(what) - n, ", %s blocks", blocks);
    if (axis != STENCIL_OVER_GRAPH)
        n += (size_t)snprintf(what + n, sizeof(what) - n, ", %s order",
                              xy_stencil_graph_name(run->grid.graph));
    n += (size_t)snprintf(what + n, sizeof(what) - n, ", %dD, %d points", run->grid.dims,
                          run->grid.points);
    if (axis != STENCIL_OVER_ITERATIONS)
        n += (size_t)snprintf(what + n, sizeof(what) - n, ", %d iterations", run->grid.iterations);
    if (axis != STENCIL_OVER_LOAD)
        n += (size_t)snprintf(what + n, sizeof(what) - n, ", %s load",
                              stencil_load_name(run->grid.load));
    if (axis != STENCIL_OVER_EVICTION && run->how.eviction != NULL)
        snprintf(what + n, sizeof(what) - n, ", eviction %s", run->how.eviction);
    xy_page_paragraph(f, "%s time; %s.", run->is_real ? "Real" : "Virtual", what + 2);
}

/* Prints a run as a line of the table. */
static void print_row(FILE *f, const xy_stencil_run_t *run, const xy_stencil_result_t *r,
                      stencil_axis_t axis)
{
    const xy_task_result_t *s = &r->sim;
    const char *policy = stencil_policy_of(run);
    char text[96];

    xy_page_line(f);
    if (strcmp(policy, s->policy) != 0)
        xy_page_cell(f, "%s (%s)", policy, s->policy);
    else
        xy_page_cell(f, "%s", policy);
    if (axis != STENCIL_OVER_BLOCKS)
        xy_page_cell(f, "%s", stencil_axis_word(axis, run, r, text));
    stencil_format_blocks(&run->grid, text);
    xy_page_cell(f, "%s", text);
    xy_page_cell(f, "%s", xy_format_size(r->graph_bytes, text));
    xy_page_cell(f, "%s", xy_format_seconds(s->makespan, text));
    xy_page_cell(f, "%.3f", ratio(run, r));
    xy_page_cell(f, "%llu", (unsigned long long)s->loads);
    xy_page_cell(f, "%llu", (unsigned long long)s->stores);
    xy_page_cell(f, "%llu", (unsigned long long)s->peers);
    xy_page_cell(f, "%.2f us", s->tasks > 0 ? 1e6 * s->scheduling_seconds / (double)s->tasks : 0);
}

/* Prints the table of a group of runs. */
static void print_table(FILE *f, const xy_stencil_study_t *study, size_t first)
{
    stencil_axis_t axis = stencil_axis_of(study);
    bool is_more = axis != STENCIL_OVER_BLOCKS; /* blocks have a column anyway */
    const char *columns[] = {"policy",   stencil_axis_title(axis),
                             "blocks",   "domain",
                             "makespan", "/ bound",
                             "loads",    "stores",
                             "between",  "decision per task",
                             NULL};

    if (!is_more)
        memmove(&columns[1], &columns[2], sizeof(columns) - 2 * sizeof(columns[0]));
    xy_page_table_begin(f, "Numbers", columns);
    for (size_t i = first; i < study->count; i++)
        if (is_in(study, first, i))
            print_row(f, &study->runs[i], &study->results[i], axis);
    xy_page_table_end(f, "Numbers");
}

static void print_failures(FILE *f, const xy_stencil_study_t *study)
{
    size_t failed = 0;

    for (size_t i = 0; i < study->count; i++)
        failed += study->status[i] != XY_OK;
    if (failed > 0)
        xy_page_paragraph(f, "%zu of %zu combinations could not run and are not shown.", failed,
                          study->count);
}

void xy_stencil_study_page(const xy_stencil_study_t *whole, FILE *f)
{
    stencil_axis_t axis = stencil_axis_of(whole);
    xy_stencil_study_t drawn = *whole, *study = &drawn;
    char finding[512];

    drawn.over = (int)axis + 1; /* chosen once */
    find(study, finding, sizeof(finding));
    xy_page_begin(f, &(xy_page_t){.title = "Stencil study", .finding = finding});
    print_failures(f, study);
    for (size_t i = 0; i < study->count; i++) {
        const xy_stencil_run_t *run = &study->runs[i];

        if (!is_first_of_picture(study, i))
            continue;
        print_heading(f, run, &study->results[i], axis);
        if (run->is_real)
            draw(f, study, i, pace, "nanoseconds per cell and iteration");
        else
            draw(f, study, i, ratio, "makespan / compute bound");
        draw(f, study, i, passes, "bytes moved / bytes of the domain");
        print_table(f, study, i);
    }
    xy_page_end(f);
}
