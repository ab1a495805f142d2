/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem explain split: the published model of split-tree: messages of each level, times of each S,
 * and where another S becomes the best one; as text, JSON and a picture. */
#include <math.h>
#include <string.h>

#include "coll/coll.h"
#include "draw/draw.h"
#include "explain.h"
#include "machine/machine.h"

enum { CORES_MAX = 1 << 14, CURVES = 5 };

typedef struct {
    const char *collective, *machine;
    xy_split_t split; /* of the asked number of ranks */
} question_t;

static xy_split_t with_ranks(const question_t *q, int ranks)
{
    xy_split_t s = q->split;

    s.ranks = ranks;
    return s;
}

/* The time of the collective alone: nothing hides it. */
static double alone(xy_split_t s, int levels)
{
    s.has_compute = true;
    s.compute = 0;
    return xy_split_overlapped(&s, levels);
}

static int height(const question_t *q)
{
    return xy_split_height(q->split.ranks, q->split.base);
}

static double blocks_of(const question_t *q, int level)
{
    return q->split.is_doubling ? pow(q->split.base, level - 1) : 1;
}

static int comm_cores(const question_t *q)
{
    return q->split.cores - q->split.ranks;
}

/* ---- Text ---- */

static void print_levels(const question_t *q)
{
    printf("\nlevel   F(N, i)   on communication cores: transfers one after the other\n");
    for (int i = 1; i <= height(q); i++) {
        int messages = xy_split_messages(q->split.ranks, i, q->split.base);

        printf("%5d %9d", i, messages);
        if (comm_cores(q) > 0)
            printf("   %g\n", ceil((double)messages / comm_cores(q)) * blocks_of(q, i));
        else
            printf("   -\n");
    }
}

/* Prints the times of all split levels and marks the best. */
static void print_times(const question_t *q)
{
    int best = xy_split_best(&q->split);

    printf("\n    S   T_nb(S)   T_ovrl(S)\n");
    for (int s = 0; s <= height(q); s++) {
        double time = xy_split_overlapped(&q->split, s);

        if (isinf(time))
            printf("%5d %9s %11s\n", s, "-", "-");
        else
            printf("%c %3d %9.4g %11.5g\n", s == best ? '*' : ' ', s, alone(q->split, s), time);
    }
    printf("* the best S for %d ranks: %d\n", q->split.ranks, best);
}

/* Where another S becomes the best, and the number of ranks with the least time of all. */
static void print_switches(const question_t *q)
{
    int before = -1, fastest = 1;
    double least = INFINITY;

    printf("\n    N      C(N)  best S   T_ovrl\n");
    for (int n = 2; n < q->split.cores; n++) {
        xy_split_t s = with_ranks(q, n);
        int best = xy_split_best(&s);
        double time = xy_split_overlapped(&s, best);

        if (best != before)
            printf("%5d %9.4g %7d %8.5g%s\n", n, xy_split_compute(&s), best, time,
                   before >= 0 ? "  from here on" : "");
        before = best;
        if (time < least) {
            least = time;
            fastest = n;
        }
    }
    printf("least T_ovrl: %.5g with %d ranks\n", least, fastest);
}

/* Prints the model of split-tree for a collective. */
static void print_text(const question_t *q)
{
    printf("%s on %s: %d cores, %d rank%s, %d communication core%s\n", q->collective, q->machine,
           q->split.cores, q->split.ranks, q->split.ranks == 1 ? "" : "s", comm_cores(q),
           comm_cores(q) == 1 ? "" : "s");
    printf("unit: a transfer of %s; C(N) = %.4g, the computation that one rank on every core "
           "would need, shared\n",
           q->split.is_doubling ? "one block, and level i has 2^(i-1) of them" : "the buffer",
           xy_split_compute(&q->split));
    print_levels(q);
    print_times(q);
    if (q->split.cores > 2)
        print_switches(q);
}

/* ---- JSON ---- */

/* Writes the times of all split levels for each number of ranks. */
static void json_curves(const question_t *q, xy_json_t *j)
{
    xy_json_begin_array(j, "ranks");
    for (int n = 2; n < q->split.cores; n++) {
        xy_split_t s = with_ranks(q, n);

        xy_json_begin_object(j, NULL);
        xy_fields(j, "n %d compute %g best %d", n, xy_split_compute(&s), xy_split_best(&s));
        xy_json_begin_array(j, "overlapped");
        for (int k = 0; k <= xy_split_height(n, s.base); k++)
            xy_json_double(j, NULL, xy_split_overlapped(&s, k));
        xy_json_end(j);
        xy_json_end(j);
    }
    xy_json_end(j);
}

/* Writes the model of split-tree as JSON. */
static void print_json(const question_t *q)
{
    xy_json_t j;

    xy_json_init(&j, stdout, true);
    xy_json_begin_object(&j, NULL);
    xy_fields(&j, "collective %s cores %d ranks %d compute %g best %d", q->collective,
              q->split.cores, q->split.ranks, xy_split_compute(&q->split),
              xy_split_best(&q->split));
    xy_json_begin_array(&j, "messages");
    for (int i = 1; i <= height(q); i++)
        xy_json_int(&j, NULL, xy_split_messages(q->split.ranks, i, q->split.base));
    xy_json_end(&j);
    xy_json_begin_array(&j, "alone");
    for (int s = 0; s <= height(q); s++)
        xy_json_double(&j, NULL, alone(q->split, s));
    xy_json_end(&j);
    json_curves(q, &j);
    xy_json_end(&j);
}

/* ---- The picture: C(N), T_ovrl(S, N) and the choice against N; below T_nb(S, N) and F(N, i) ----
 */

enum { WIDTH = 640, LEFT = 56, RIGHT = 20, TOP = 76, PLOT = 200, GAP = 46, HEIGHT = 830 };

typedef double (*curve_fn)(const xy_split_t *s, int levels);

static double time_alone(const xy_split_t *s, int levels)
{
    return alone(*s, levels);
}

static double time_compute(const xy_split_t *s, int levels)
{
    (void)levels;
    return xy_split_compute(s);
}

/* The messages of level 1 for S = 0, and so on: the first level that the communication cores do. */
static double messages(const xy_split_t *s, int levels)
{
    return levels < xy_split_height(s->ranks, s->base)
               ? xy_split_messages(s->ranks, levels + 1, s->base)
               : NAN;
}

static int first_ranks(const question_t *q)
{
    return q->split.cores / 2 > 2 ? q->split.cores / 2 : 2;
}

/* Draws the times of one split level over the number of ranks. */
static void draw_curve(const question_t *q, const xy_svg_t *svg, const xy_axis_t *across,
                       const xy_axis_t *up, const char *class, curve_fn time, int levels)
{
    double x[2] = {NAN, NAN}, y[2] = {NAN, NAN};

    for (int n = first_ranks(q); n < q->split.cores; n++) {
        xy_split_t s = with_ranks(q, n);
        double t = levels <= xy_split_height(n, s.base) ? time(&s, levels) : NAN;

        x[0] = x[1];
        y[0] = y[1];
        x[1] = xy_axis_at(across, n);
        y[1] = isfinite(t) ? xy_axis_at(up, t) : NAN;
        if (!isnan(y[0]) && !isnan(y[1]))
            xy_svg_line(svg, class, x[0], y[0], x[1], y[1]);
    }
}

/* A few times the least time: what is far above is of no interest. */
static xy_axis_t up_axis(const question_t *q, curve_fn time, double top)
{
    xy_axis_t up = {XY_SCALE_LINEAR, 0, 1, top + PLOT, top};
    double least = INFINITY;

    if (time == messages) {
        up.high = q->split.cores / 2.0;
        xy_axis_widen(&up, 5);
        return up;
    }
    for (int n = first_ranks(q); n < q->split.cores; n++) {
        xy_split_t s = with_ranks(q, n);

        least = fmin(least, time(&s, xy_split_best(&s)));
        up.high = fmax(up.high, xy_split_compute(&s));
    }
    up.high = fmax(up.high, 2.5 * least);
    xy_axis_widen(&up, 5);
    return up;
}

static const char *const classes[CURVES] = {"s1 thick", "s2 thick", "s3 thick", "s4 thick",
                                            "s5 thick"};

/* The best S of each number of ranks, as a strip below the curves. */
static void draw_choice(const question_t *q, const xy_svg_t *svg, const xy_axis_t *across, double y)
{
    for (int n = first_ranks(q); n < q->split.cores; n++) {
        xy_split_t s = with_ranks(q, n);
        int best = xy_split_best(&s);
        double half = (xy_axis_at(across, n + 1) - xy_axis_at(across, n)) / 2;
        double from = fmax(LEFT, xy_axis_at(across, n) - half);
        double to = fmin(WIDTH - RIGHT, xy_axis_at(across, n) + half);

        if (best < CURVES)
            xy_svg_line(svg, classes[best], from, y, to, y);
    }
}

/* Draws one panel: the curves of all split levels. */
static void draw_panel(const question_t *q, const xy_svg_t *svg, double top, const char *title,
                       curve_fn time)
{
    xy_axis_t across = {XY_SCALE_LINEAR, first_ranks(q), q->split.cores - 1, LEFT, WIDTH - RIGHT};
    xy_axis_t up = up_axis(q, time, top);
    double at = xy_axis_at(&across, q->split.ranks);

    xy_svg_text(svg, "title", LEFT, top - 8, "%s", title);
    xy_axis_draw_across(svg, &across, 8, top, top + PLOT, xy_tick_number);
    xy_axis_draw_up(svg, &up, 5, LEFT, WIDTH - RIGHT, xy_tick_number);
    xy_svg_rect(svg, "frame", LEFT, top, WIDTH - LEFT - RIGHT, PLOT, NULL);
    if (q->split.ranks >= first_ranks(q) && comm_cores(q) > 0)
        xy_svg_line(svg, "soft dash", at, top, at, top + PLOT);
    for (int s = CURVES - 1; s >= 0; s--)
        draw_curve(q, svg, &across, &up, classes[s], time, s);
    if (time != xy_split_overlapped)
        return;
    draw_curve(q, svg, &across, &up, "s0 thick dash", time_compute, 0);
    draw_choice(q, svg, &across, top + PLOT - 4);
}

/* Draws the panels; the callback of xy_out_write(). */
static xy_status_t draw(const void *arg, FILE *file)
{
    static const xy_legend_t legend[] = {
        {"C(N)", "s0 thick dash", true}, {"S = 0", "s1 thick", true}, {"S = 1", "s2 thick", true},
        {"S = 2", "s3 thick", true},     {"S = 3", "s4 thick", true}, {"S = 4", "s5 thick", true}};
    const question_t *q = arg;
    xy_svg_t svg = xy_svg_begin(
        file, &(xy_svg_head_t){.width = WIDTH, .height = HEIGHT, .title = "split-tree by ranks"});

    xy_svg_text(&svg, "title", LEFT, 18, "%s on %s, %d cores", q->collective, q->machine,
                q->split.cores);
    xy_svg_legend(&svg, LEFT, 24, WIDTH - LEFT - RIGHT, legend, 1 + CURVES);
    draw_panel(q, &svg, TOP, "T_ovrl(S, N), in transfers; the strip is the best S",
               xy_split_overlapped);
    draw_panel(q, &svg, TOP + PLOT + GAP, "T_nb(S, N): the collective alone", time_alone);
    draw_panel(q, &svg, TOP + 2 * (PLOT + GAP), "F(N, i): messages of level i = S + 1", messages);
    xy_svg_text(&svg, "note mid", (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 22,
                "N: ranks; the other cores communicate");
    xy_svg_end(&svg);
    return XY_OK;
}

/* ---- The question ---- */

/* Sets the collective; fails for one that split-tree does not have. */
static xy_status_t read_collective(const char *name, question_t *q)
{
    static const char *const names[] = {"bcast", "reduce", "allreduce", "gather", "scatter", NULL};
    const char *nearest = xy_nearest_word(name, names);

    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0) {
            q->collective = names[i];
            q->split.is_doubling = i >= 3;
            return XY_OK;
        }
    return xy_fail(XY_EUSAGE,
                   "split-tree is for bcast, reduce, allreduce, gather and scatter, not "
                   "for '%s'%s%s%s",
                   name, nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                   nearest != NULL ? "'?" : "");
}

/* Sets the cores and ranks of one node of the machine. */
static xy_status_t ask(const explain_values_t *v, const xy_machine_t *m, question_t *q)
{
    uint32_t cores = xy_machine_count(m, XY_OBJ_CORE), nodes = xy_machine_count(m, XY_OBJ_NODE);

    cores = cores > 0 ? cores : m->leaves;
    cores = nodes > 1 ? cores / nodes : cores; /* the model is of one node */
    if (cores > CORES_MAX)
        return xy_fail(XY_ELIMIT, "a node of %u cores; at most %d", cores, CORES_MAX);
    q->machine = m->name;
    q->split.cores = (int)cores;
    q->split.base = 2;
    q->split.ranks = xy_options_given("ranks") ? (int)v->ranks
                     : cores > 1               ? (int)cores - (int)(cores + 7) / 8
                                               : 1;
    if (q->split.ranks > q->split.cores)
        return xy_fail(XY_EUSAGE, "--ranks %d: a node of %s has %d core%s, one for each rank",
                       q->split.ranks, m->name, q->split.cores, q->split.cores == 1 ? "" : "s");
    return XY_OK;
}

/* Explains the best split of a collective's tree. */
static xy_status_t run(const explain_values_t *v, int argc, char **argv)
{
    question_t q = {0};
    xy_machine_t *m = NULL;
    xy_status_t st = read_collective(argv[0], &q);

    (void)argc;
    if (st == XY_OK)
        st = xy_machine_load(v->machine, &m);
    if (st == XY_OK)
        st = ask(v, m, &q);
    if (st == XY_OK)
        st = xy_out_write(v->svg, draw, &q);
    if (st == XY_OK)
        (v->json ? print_json : print_text)(&q);
    xy_machine_destroy(m);
    return st == XY_OK ? xy_stdout_check() : st;
}

const explain_topic_t explain_split = {
    .name = "split",
    .synopsis = "COLLECTIVE",
    .summary = "split-tree: messages of each level, times of each S, the choice",
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run,
};
