/* SPDX-License-Identifier: BSD-3-Clause */
/* Print a prediction, for people and as JSON. */
#include <math.h>
#include <stddef.h>

#include "draw/draw.h"
#include "predict.h"

/* Prints the predicted time, the error of the models, and the sums of messages. */
static void print_head(const predict_t *p, const xy_prediction_t *r, FILE *file)
{
    char time[32], bytes[32];

    fprintf(file, "%s: %d process%s on %s: %s", p->name, r->procs, r->procs == 1 ? "" : "es",
            p->machine->name, xy_format_seconds(r->seconds, time));
    if (r->error >= 0)
        fprintf(file, " (models off by %.2g %% on average)", 100 * r->error);
    else
        fputs(" (messages by the machine's figures: not calibrated)", file);
    fprintf(file, "\n%llu message%s, %s", (unsigned long long)r->totals.messages,
            xy_s(r->totals.messages), xy_format_size(r->totals.bytes, bytes));
    if (r->totals.collectives > 0)
        fprintf(file, "; %llu collective%s with %llu message%s, %s",
                (unsigned long long)r->totals.collectives, xy_s(r->totals.collectives),
                (unsigned long long)r->totals.coll_messages, xy_s(r->totals.coll_messages),
                xy_format_size(r->totals.coll_bytes, bytes));
    fprintf(file, "; %llu kernel call%s\n", (unsigned long long)r->kernel_calls,
            r->kernel_calls == 1 ? "" : "s");
}

/* Prints the values learned from a trace. */
static void print_learned(const predict_t *p, FILE *file)
{
    xy_vec_t names = XY_VEC_INIT(xy_learned_name_t);

    if (p->learned != NULL)
        xy_learned_names(p->learned, &names);
    for (size_t i = 0; i < names.count; i++) {
        const xy_learned_name_t *n = &XY_VEC_AT(&names, xy_learned_name_t, i);

        fprintf(file, "%s (line %ld) from %s: %zu value%s", n->name, n->line, p->v->from_trace,
                n->values, n->values == 1 ? "" : "s");
        if (n->least == n->most)
            fprintf(file, ", %g\n", n->least);
        else
            fprintf(file, ", %g to %g\n", n->least, n->most);
    }
    xy_vec_cleanup(&names);
}

/* Prints calls and seconds of kernels and loops; those without a model are free. */
static void print_kernels(const xy_prediction_t *r, FILE *file)
{
    char time[32];

    for (size_t i = 0; i < r->kernels.count; i++) {
        const xy_predict_kernel_t *k = &XY_VEC_AT(&r->kernels, xy_predict_kernel_t, i);

        if (k->is_missing)
            fprintf(file, "%s %s is free: %s\n", k->is_kernel ? "kernel" : "loop", k->name,
                    k->is_kernel ? "there is no model" : "give its cost with --cost NAME=TIME");
        else
            fprintf(file, "%s %s: %llu call%s, %s in all%s\n", k->is_kernel ? "kernel" : "loop",
                    k->name, (unsigned long long)k->calls, k->calls == 1 ? "" : "s",
                    xy_format_seconds(k->seconds, time),
                    k->is_extrapolated ? ", partly outside of the measured range" : "");
    }
}

static const char *what_of(const xy_predict_line_t *line)
{
    if (line->what != NULL)
        return line->what;
    return line->kind == XY_VJOB_COMPUTING ? "computation" : "waiting";
}

/* Prints the source lines on the critical path. */
static void print_path(const predict_t *p, const xy_prediction_t *r, FILE *file)
{
    size_t most = (size_t)p->v->lines < r->lines.count ? (size_t)p->v->lines : r->lines.count;
    char time[32];

    if (r->lines.count == 0 || !(r->seconds > 0))
        return;
    fputs("\non the critical path:\n", file);
    for (size_t i = 0; i < most; i++) {
        const xy_predict_line_t *l = &XY_VEC_AT(&r->lines, xy_predict_line_t, i);

        fprintf(file, "  %5.1f %%  %10s  %s:%ld  %s\n", 100 * l->seconds / r->seconds,
                xy_format_seconds(l->seconds, time), l->file, l->line, what_of(l));
    }
}

/* Mean, least and most over the processes. */
static void print_share(const xy_prediction_t *r, const char *name, size_t offset, FILE *file)
{
    double sum = 0, low = 0, high = 0, value;
    int32_t first = 0, last = 0;
    char mean[32], least[32], most[32];

    for (int32_t i = 0; i < r->procs; i++) {
        value = *(const double *)(const void *)((const char *)&r->proc[i] + offset);
        sum += value;
        if (i == 0 || value < low)
            low = value, first = i;
        if (i == 0 || value > high)
            high = value, last = i;
    }
    fprintf(file, "  %-14s %10s  (%s on process %d to %s on process %d)\n", name,
            xy_format_seconds(sum / r->procs, mean), xy_format_seconds(low, least), first,
            xy_format_seconds(high, most), last);
}

void predict_print_text(const predict_t *p, const xy_prediction_t *r, FILE *file)
{
    print_head(p, r, file);
    print_learned(p, file);
    print_kernels(r, file);
    print_path(p, r, file);
    fputs("\nper process:\n", file);
    print_share(r, "computation", offsetof(xy_vjob_proc_t, compute), file);
    print_share(r, "communication", offsetof(xy_vjob_proc_t, communication), file);
    print_share(r, "idle", offsetof(xy_vjob_proc_t, idle), file);
    if (p->v->verbose)
        predict_figures_text(p, file);
}

/* Writes the times of each process. */
static void print_processes(xy_json_t *j, const xy_prediction_t *r)
{
    xy_json_begin_array(j, "processes");
    for (int32_t i = 0; i < r->procs; i++) {
        const xy_vjob_proc_t *proc = &r->proc[i];

        xy_fields_object(
            j, NULL, "end %g compute %g communication %g idle %g messages %lu bytes %lu", proc->end,
            proc->compute, proc->communication, proc->idle, proc->messages, proc->bytes);
    }
    xy_json_end(j);
}

/* Writes the critical path. */
static void print_lines(xy_json_t *j, const xy_prediction_t *r)
{
    xy_json_begin_array(j, "critical_path");
    for (size_t i = 0; i < r->lines.count; i++) {
        const xy_predict_line_t *l = &XY_VEC_AT(&r->lines, xy_predict_line_t, i);

        xy_fields_object(j, NULL, "file %s line %ld what %s seconds %g", l->file, l->line,
                         what_of(l), l->seconds);
    }
    xy_json_end(j);
}

/* Writes the kernels and loops. */
static void print_models(xy_json_t *j, const xy_prediction_t *r)
{
    xy_json_begin_array(j, "kernels");
    for (size_t i = 0; i < r->kernels.count; i++) {
        const xy_predict_kernel_t *k = &XY_VEC_AT(&r->kernels, xy_predict_kernel_t, i);

        xy_fields_object(
            j, NULL,
            "name %s is_loop %i is_free %i calls %lu seconds %g error %g is_extrapolated %i",
            k->name, !k->is_kernel, k->is_missing, k->calls, k->seconds, k->error,
            k->is_extrapolated);
    }
    xy_json_end(j);
}

void predict_print_json(const predict_t *p, const xy_prediction_t *r, double before, FILE *file)
{
    xy_json_t j;

    xy_json_init(&j, file, true);
    xy_json_begin_object(&j, NULL);
    xy_fields(&j, "program %s machine %s ranks %d time %g", p->name, p->machine->name, r->procs,
              r->seconds);
    if (before > 0)
        xy_json_double(&j, "time_before_placing", before);
    xy_fields(&j,
              "error %g messages %lu bytes %lu point_to_point_messages %lu point_to_point_bytes "
              "%lu collectives %lu kernel_calls %lu",
              r->error >= 0 ? r->error : (double)NAN, r->totals.messages + r->totals.coll_messages,
              r->totals.bytes + r->totals.coll_bytes, r->totals.messages, r->totals.bytes,
              r->totals.collectives, r->kernel_calls);
    print_models(&j, r);
    print_lines(&j, r);
    print_processes(&j, r);
    predict_figures_json(p, &j);
    xy_json_end(&j);
}
