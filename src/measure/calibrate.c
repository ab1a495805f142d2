/* SPDX-License-Identifier: BSD-3-Clause */
/* Choose the kernels to measure: from the table, from plug-ins, each with each number of threads.
 */
#include "measure/calibrate.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cost/cost.h"
#include "measure/calibrate_internal.h"
#include "measure/kernel.h"

void calibrate_step(const xy_calibration_t *c, double seconds)
{
    if (c->bar != NULL)
        xy_progress_step(c->bar, (uint64_t)(seconds * 1000));
}

void calibrate_report(const xy_calibration_t *c, const xy_kernel_cost_t *k)
{
    bool is_bytes = strcmp(k->unit, "B") == 0;
    char from[32], to[32], held[48] = "none held out";

    if (c->report == NULL)
        return;
    if (is_bytes) {
        xy_format_size((uint64_t)k->samples[0].x, from);
        xy_format_size((uint64_t)k->samples[k->sample_count - 1].x, to);
    } else {
        snprintf(from, sizeof(from), "%g", k->samples[0].x);
        snprintf(to, sizeof(to), "%g", k->samples[k->sample_count - 1].x);
    }
    if (k->held_count > 0)
        snprintf(held, sizeof(held), "held out %.2g %%", 100 * k->held_out);
    fprintf(c->report,
            "%-8s %2ld %s%s, %s to %s: %zu samples, %zu interval%s, error %.2g %% (at most %.2g "
            "%%), %s\n",
            k->name, k->threads, is_bytes ? "core" : "thread", k->threads == 1 ? "" : "s", from, to,
            k->sample_count, k->fit.count, k->fit.count == 1 ? "" : "s", 100 * k->fit.error_mean,
            100 * k->fit.error_max, held);
    if (k->shape.sizes > 0)
        fprintf(c->report,
                "%-8s %2ld thread%s, %zu shapes: error %.2g %% (at most %.2g %%), held out "
                "%.2g %%\n",
                k->name, k->threads, k->threads == 1 ? "" : "s", k->shape.sample_count,
                100 * k->shape.error_mean, 100 * k->shape.error_max, 100 * k->shape.held_out);
}

xy_status_t xy_calibrate_constant(const xy_calibration_t *c, const char *name, const char *text,
                                  long from, long to, double *seconds, long n, xy_costs_t *costs)
{
    double spread, middle = measure_median(seconds, n, &spread);
    char took[32];

    if (c->report != NULL)
        fprintf(c->report, "%s: %s\n", text, xy_format_seconds(middle, took));
    return xy_costs_set_constant(costs, name, from, to, middle, spread, n);
}

static const char latency_name[] = "pace-latency", throughput_name[] = "pace-throughput";

/* The pace of this core and of others like it, one after the other: one of them may be alone. The
 * usual latency is the first one's. */
static measure_speed_t learn_everywhere(double seconds)
{
    enum { PLACES_MAX = 8 };
    cpu_set_t allowed, one;
    measure_speed_t best = {0};
    int places = 0;

    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return measure_speed_learn(seconds);
    places = CPU_COUNT(&allowed) < PLACES_MAX ? CPU_COUNT(&allowed) : PLACES_MAX;
    for (int cpu = 0, k = 0; cpu < CPU_SETSIZE && k < places; cpu++) {
        measure_speed_t p;

        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (!CPU_ISSET(cpu, &allowed) || sched_setaffinity(0, sizeof(one), &one) != 0)
            continue;
        p = measure_speed_learn(seconds / places);
        k++;
        if (best.latency == 0)
            best = p;
        /* Another kind of core gives no information about this one. */
        if (fabs(p.latency / best.latency - 1) < 0.2)
            best.throughput =
                best.latency * fmin(best.throughput / best.latency, p.throughput / p.latency);
    }
    sched_setaffinity(0, sizeof(allowed), &allowed);
    return best.latency > 0 ? best : measure_speed_learn(seconds);
}

xy_status_t calibrate_keep_pace(xy_costs_t *costs, const measure_speed_t *pace)
{
    xy_status_t st = xy_costs_set_constant(costs, latency_name, -1, -1, pace->latency, 0, 1);

    if (st == XY_OK)
        st = xy_costs_set_constant(costs, throughput_name, -1, -1, pace->throughput, 0, 1);
    return st;
}

/* The reference of all times of the store: as it was when the first was taken, with the least
 * ratio that was ever seen. */
static xy_status_t learn_pace(const xy_calibration_t *c, xy_costs_t *costs, measure_speed_t *pace_p)
{
    double begin = measure_now();
    measure_speed_t now = learn_everywhere(1), known = calibrate_pace(costs);

    calibrate_step(c, measure_now() - begin);
    if (known.latency > 0) {
        now.throughput = fmin(now.throughput / now.latency, known.throughput / known.latency);
        now.throughput *= known.latency;
        now.latency = known.latency;
    }
    *pace_p = now;
    return calibrate_keep_pace(costs, &now);
}

measure_speed_t calibrate_pace(const xy_costs_t *costs)
{
    const xy_constant_cost_t *latency = xy_costs_constant(costs, latency_name);
    const xy_constant_cost_t *throughput = xy_costs_constant(costs, throughput_name);

    if (latency == NULL || throughput == NULL || !(latency->seconds > 0))
        return (measure_speed_t){0};
    return (measure_speed_t){.latency = latency->seconds, .throughput = throughput->seconds};
}

bool xy_calibrate_kernel_name(size_t i, const char **name_p, const char **text_p)
{
    size_t count = 0;

    while (measure_kernels[count].name != NULL)
        count++;
    if (i >= count)
        return false;
    *name_p = measure_kernels[i].name;
    *text_p = measure_kernels[i].describe;
    return true;
}

/* The names of a list with commas, pointing into `copy`, which is cut; "all" stands for the table.
 */
static xy_status_t list_kernels(const xy_calibration_t *c, char *copy, xy_vec_t *list)
{
    char *save = NULL;

    for (char *name = strtok_r(copy, ",", &save); name != NULL; name = strtok_r(NULL, ",", &save)) {
        const measure_kernel_t *k = measure_kernel_find(name);
        bool is_all = strcmp(name, "all") == 0;

        if (k == NULL && !is_all)
            return xy_fail(XY_EUSAGE, "unknown kernel '%s'; 'xylem calibrate --list' lists them",
                           name);
        for (const measure_kernel_t *all = measure_kernels; all->name != NULL; all++) {
            measure_child_options_t o = {.name = all->name, .library = c->blas};

            if ((is_all || all == k) && xy_vec_append(list, &o) != XY_OK)
                return xy_fail_memory("listing kernels");
        }
    }
    return XY_OK;
}

/* "NAME=FILE[:FUNCTION]" cut in place. */
static xy_status_t list_plugin(char *text, xy_vec_t *list)
{
    char *equal = strchr(text, '='), *colon;
    measure_child_options_t o = {.name = text, .symbol = "kernel"};

    if (equal == NULL || equal == text || equal[1] == '\0')
        return xy_fail(XY_EUSAGE,
                       "plug-in '%s' is not of the form NAME=FILE.so or NAME=FILE.so:FUNCTION",
                       text);
    *equal = '\0';
    o.library = equal + 1;
    colon = strrchr(equal + 1, ':');
    if (colon != NULL) {
        *colon = '\0';
        o.symbol = colon + 1;
    }
    return xy_vec_append(list, &o) == XY_OK ? XY_OK : xy_fail_memory("listing kernels");
}

/* Calibrates all kernels with all thread counts within the given seconds; *failed_p counts kernels
 * that failed. */
static xy_status_t calibrate_list(const xy_calibration_t *c, const xy_vec_t *list,
                                  xy_costs_t *costs, int *failed_p)
{
    static const long one = 1;
    const long *threads = c->threads != NULL ? c->threads : &one;
    size_t counts = c->threads != NULL ? c->threads_count : 1, left = list->count * counts;
    double end = measure_now() + (c->seconds > 0 ? c->seconds : 60);
    measure_speed_t pace = {0};
    xy_status_t st = cost_lapack_load();

    if (st == XY_OK && list->count > 0)
        st = learn_pace(c, costs, &pace);
    for (size_t i = 0; i < list->count && st == XY_OK; i++)
        for (size_t t = 0; t < counts && st == XY_OK; t++, left--) {
            measure_child_options_t o = XY_VEC_AT(list, measure_child_options_t, i);

            o.threads = threads[t];
            o.pace = i + t > 0 ? calibrate_pace(costs) : pace;
            st = calibrate_kernel(c, &o, fmax((end - measure_now()) / (double)left, 0.3), costs);
            /* It was reported; the others continue. */
            if (st == XY_EINVAL || st == XY_ENOENT) {
                ++*failed_p;
                st = XY_OK;
            }
            if (st == XY_OK && c->keep != NULL)
                st = c->keep(c->arg, costs);
        }
    return st;
}

/* The subject of a measurement in words, which are owned. */
typedef struct {
    xy_vec_t kernels; /* of measure_child_options_t */
    xy_vec_t words;   /* of char *, that they point into */
} plan_t;

/* A copy of `text` that lives as long as the plan. */
static char *keep_word(plan_t *plan, const char *text)
{
    char *copy = xy_strdup(text);

    if (copy != NULL && xy_vec_append(&plan->words, &copy) == XY_OK)
        return copy;
    xy_free(copy);
    return NULL;
}

static void plan_cleanup(plan_t *plan)
{
    for (size_t i = 0; i < plan->words.count; i++)
        xy_free(XY_VEC_AT(&plan->words, char *, i));
    xy_vec_cleanup(&plan->words);
    xy_vec_cleanup(&plan->kernels);
}

/* The caller cleans up, also on failure. */
static xy_status_t plan_make(const xy_calibration_t *c, plan_t *plan)
{
    char *names;
    xy_status_t st;

    *plan = (plan_t){XY_VEC_INIT(measure_child_options_t), XY_VEC_INIT(char *)};
    names = keep_word(plan, c->kernels != NULL ? c->kernels : "dgemm,dtrtri");
    st = names != NULL ? list_kernels(c, names, &plan->kernels) : xy_fail_memory("listing kernels");
    for (size_t i = 0; st == XY_OK && c->plugins != NULL && i < c->plugins->count; i++) {
        char *text = keep_word(plan, XY_VEC_AT(c->plugins, const char *, i));

        st = text != NULL ? list_plugin(text, &plan->kernels) : xy_fail_memory("listing kernels");
    }
    return st;
}

xy_status_t xy_calibrate_validate(const xy_calibration_t *c)
{
    plan_t plan;
    xy_status_t st = plan_make(c, &plan);

    plan_cleanup(&plan);
    return st;
}

xy_status_t xy_calibrate_kernels(const xy_calibration_t *c, xy_costs_t *costs, int *failed_p)
{
    plan_t plan;
    int failed = 0;
    xy_status_t st = plan_make(c, &plan);

    if (st == XY_OK)
        st = calibrate_list(c, &plan.kernels, costs, &failed);
    if (st == XY_OK && failed_p != NULL)
        *failed_p = failed;
    plan_cleanup(&plan);
    return st;
}
