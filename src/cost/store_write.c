/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of costs, written. Numbers are the shortest texts that read back as the same. */
#include "cost/store.h"

static void attribute(FILE *file, const char *name, const char *value)
{
    fprintf(file, " %s=\"", name);
    xy_xml_escape(file, value);
    fputc('"', file);
}

static void number(FILE *file, const char *name, double value)
{
    char text[32];

    fprintf(file, " %s=\"%s\"", name, xy_format_double(value, text));
}

/* 0 is what an absent attribute reads as. */
static void number_if(FILE *file, const char *name, double value)
{
    if (value != 0)
        number(file, name, value);
}

/* Writes an interval of a fit. */
static void write_interval(FILE *file, const xy_interval_t *interval)
{
    char text[32];

    fputs("      <Interval", file);
    number(file, "Start", interval->start);
    number(file, "End", interval->end);
    fprintf(file, " Degree=\"%d\" Samples=\"%ld\"", interval->degree, interval->samples);
    number(file, "ErrorMean", interval->error_mean);
    number(file, "ErrorMax", interval->error_max);
    fputs("><Params>", file);
    for (int k = 0; k <= interval->degree; k++)
        fprintf(file, "%s%s", k > 0 ? " " : "", xy_format_double(interval->params[k], text));
    fputs("</Params></Interval>\n", file);
}

static void write_powers(FILE *file, const char *name, const unsigned char *powers, size_t count)
{
    fprintf(file, " %s=\"", name);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%s%d", i > 0 ? " " : "", powers[i]);
    fputc('"', file);
}

static void write_shape_sample(FILE *file, const xy_shape_sample_t *s, size_t sizes)
{
    char text[32];

    fputs("        <Sample Sizes=\"", file);
    for (size_t i = 0; i < sizes; i++)
        fprintf(file, "%s%s", i > 0 ? " " : "", xy_format_double(s->size[i], text));
    fputc('"', file);
    number(file, "Seconds", s->t);
    number_if(file, "Spread", s->spread);
    number_if(file, "HeldOut", s->is_held);
    fputs("/>\n", file);
}

/* Writes the shape of a kernel, if it has one. */
static void write_shape(FILE *file, const xy_shape_t *shape)
{
    char text[32];

    if (shape->sizes == 0)
        return;
    fputs("      <Shape Sizes=\"", file);
    for (size_t i = 0; i < shape->sizes; i++) {
        fputs(i > 0 ? " " : "", file);
        xy_xml_escape(file, shape->name[i]);
    }
    fputc('"', file);
    write_powers(file, "Work", shape->work, shape->sizes);
    number(file, "ErrorMean", shape->error_mean);
    number(file, "ErrorMax", shape->error_max);
    number_if(file, "HeldOut", shape->held_out);
    number_if(file, "Aspect", shape->aspect);
    fputs(">\n", file);
    for (size_t i = 0; i < shape->count; i++) {
        fputs("        <Term", file);
        write_powers(file, "Powers", shape->term[i].power, shape->sizes);
        fprintf(file, ">%s</Term>\n", xy_format_double(shape->term[i].factor, text));
    }
    for (size_t i = 0; i < shape->sample_count; i++)
        write_shape_sample(file, &shape->samples[i], shape->sizes);
    fputs("      </Shape>\n", file);
}

/* Writes a kernel with its intervals, samples and shape. */
static void write_kernel(FILE *file, const xy_kernel_cost_t *k)
{
    fputs("  <SeqKernel", file);
    attribute(file, "Name", k->name);
    attribute(file, "Unit", k->unit);
    fprintf(file, " Threads=\"%ld\" Distance=\"%ld\"", k->threads, k->distance);
    attribute(file, "Library", k->library);
    attribute(file, "Criterion", k->criterion);
    if (*k->clock != '\0')
        attribute(file, "Clock", k->clock);
    fputs(">\n    <Cluster", file);
    attribute(file, "Name", k->cluster);
    fprintf(file, " Samples=\"%ld\"", k->fit.samples);
    number(file, "ErrorMean", k->fit.error_mean);
    number(file, "ErrorMax", k->fit.error_max);
    if (k->held_count > 0) {
        number(file, "HeldOut", k->held_out);
        fprintf(file, " HeldOutSamples=\"%ld\"", k->held_count);
    }
    fputs(">\n", file);
    for (size_t i = 0; i < k->fit.count; i++)
        write_interval(file, &k->fit.intervals[i]);
    for (size_t i = 0; i < k->sample_count; i++) {
        const xy_sample_t *s = &k->samples[i];

        fputs("      <Sample", file);
        number(file, "Size", s->x);
        number(file, "Seconds", s->t);
        number_if(file, "Spread", s->spread);
        fprintf(file, " Repetitions=\"%ld\"/>\n", s->repetitions);
    }
    write_shape(file, &k->shape);
    fputs("    </Cluster>\n  </SeqKernel>\n", file);
}

/* Writes the intervals of a piecewise linear model. */
static void write_lines(FILE *file, const char *name, const xy_lines_t *lines)
{
    fprintf(file, "      <%s>\n", name);
    for (size_t i = 0; i < lines->count; i++) {
        const xy_line_t *line = &lines->line[i];

        fputs("        <Interval", file);
        number(file, "Start", line->start);
        number(file, "End", line->end);
        number(file, "a", line->a);
        number(file, "b", line->b);
        fprintf(file, " Samples=\"%ld\"", line->samples);
        number(file, "ErrorMax", line->error_max);
        fputs("/>\n", file);
    }
    fprintf(file, "      </%s>\n", name);
}

/* Writes the model of one kind of message, if it was measured. */
static void write_kind(FILE *file, const char *name, const xy_message_lines_t *kind)
{
    char text[32];

    if (!(kind->latency > 0))
        return;
    fprintf(file, "    <%s", name);
    number(file, "ErrorMean", kind->error_mean);
    number(file, "ErrorMax", kind->error_max);
    if (kind->held_count > 0) {
        number(file, "HeldOut", kind->held_out);
        fprintf(file, " HeldOutSamples=\"%ld\"", kind->held_count);
    }
    fprintf(file, ">\n      <Latency>%s</Latency>\n", xy_format_double(kind->latency, text));
    if (kind->bandwidth.count > 0)
        write_lines(file, "Bandwidth", &kind->bandwidth);
    write_lines(file, "Time", &kind->time);
    fprintf(file, "    </%s>\n", name);
}

static bool belongs(const xy_figure_t *f, const xy_message_cost_t *m)
{
    return (f->pairs >> xy_costs_pair(m) & 1) != 0;
}

/* Writes the samples of messages; figures of 0 are left out. */
static void write_message_samples(FILE *file, const xy_message_cost_t *m)
{
    const xy_message_model_t *model = &m->model;

    for (size_t i = 0; i < model->count; i++) {
        const xy_message_sample_t *s = &model->samples[i];

        fputs("    <Sample", file);
        number(file, "Size", s->bytes);
        for (const xy_figure_t *f = xy_message_curves(); f->name != NULL; f++)
            if (belongs(f, m))
                number_if(file, f->name, *xy_figure_place((void *)(uintptr_t)s, f));
        fputs("/>\n", file);
    }
}

/* Writes a message model; figures of 0 and those of other places are left out. */
static void write_message(FILE *file, const xy_message_cost_t *m)
{
    const xy_message_model_t *model = &m->model;

    fputs("  <Message", file);
    attribute(file, "Cluster1", m->cluster1);
    attribute(file, "Cluster2", m->cluster2);
    attribute(file, "Library", m->library);
    for (const xy_figure_t *f = xy_message_figures(); f->name != NULL; f++)
        if (belongs(f, m))
            number_if(file, f->name, *xy_figure_place((void *)(uintptr_t)model, f));
    fputs(">\n", file);
    for (int k = 0; k < XY_MESSAGE_KINDS; k++)
        if (belongs(&xy_message_curves()[k], m))
            write_kind(file, xy_message_curves()[k].name, &model->kind[k]);
    fputs("    <LogGP", file);
    number(file, "L", model->loggp.latency);
    number(file, "g", model->loggp.gap);
    number(file, "G", model->loggp.per_byte);
    fputs("/>\n    <PLogP", file);
    number(file, "L", model->plogp_latency);
    fputs("/>\n", file);
    write_message_samples(file, m);
    fputs("  </Message>\n", file);
}

static void write_constant(FILE *file, const xy_constant_cost_t *c)
{
    fputs("  <Constant", file);
    attribute(file, "Name", c->name);
    fprintf(file, " From=\"%ld\" To=\"%ld\"", c->from, c->to);
    number(file, "Seconds", c->seconds);
    number_if(file, "Spread", c->spread);
    fprintf(file, " Repetitions=\"%ld\"/>\n", c->repetitions);
}

xy_status_t xy_costs_print_xml(const xy_costs_t *costs, FILE *file)
{
    xy_status_t st = XY_OK;

    fputs(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<!-- Made by 'xylem calibrate'. Times are in seconds; sizes in the Unit of the kernel\n"
        "     (n: order of a matrix, B: bytes), of messages in bytes; bandwidths in bytes per\n"
        "     second. A kernel takes the sum of Params[k] * size^k on its interval; a message\n"
        "     a * size + b (Time), or Latency + size / (a * size + b) (Bandwidth). A kernel with\n"
        "     a Shape takes for other sizes than equal ones what equal sizes of the same Work\n"
        "     take, times the ratio of Work + the sum of the Terms. -->\n",
        file);
    fprintf(file, "<XylemCosts version=\"%d\"", XY_COSTS_VERSION);
    attribute(file, "machine", costs->machine);
    attribute(file, "hardware", costs->hardware);
    attribute(file, "date", costs->date);
    fputs(" time=\"s\" size=\"B\">\n", file);
    for (size_t i = 0; i < costs->hosts.count; i++) {
        fputs("  <Machine", file);
        attribute(file, "Name", XY_VEC_AT(&costs->hosts, xy_host_cost_t, i).name);
        attribute(file, "Cluster", XY_VEC_AT(&costs->hosts, xy_host_cost_t, i).cluster);
        fputs("/>\n", file);
    }
    for (size_t i = 0; i < costs->speeds.count; i++) {
        const xy_speed_cost_t *v = &XY_VEC_AT(&costs->speeds, xy_speed_cost_t, i);

        fputs("  <Speed", file);
        attribute(file, "Cluster", v->cluster);
        attribute(file, "Like", v->like);
        number(file, "Factor", v->factor);
        fputs("/>\n", file);
    }
    for (size_t i = 0; i < costs->figures.count; i++) {
        const xy_figure_cost_t *v = &XY_VEC_AT(&costs->figures, xy_figure_cost_t, i);

        fputs("  <Figure", file);
        attribute(file, "Name", v->name);
        number(file, "Value", v->value);
        fputs("/>\n", file);
    }
    for (size_t i = 0; i < costs->constants.count; i++)
        write_constant(file, &XY_VEC_AT(&costs->constants, xy_constant_cost_t, i));
    for (size_t i = 0; i < costs->kernels.count; i++)
        write_kernel(file, &XY_VEC_AT(&costs->kernels, xy_kernel_cost_t, i));
    for (size_t i = 0; i < costs->messages.count; i++)
        write_message(file, &XY_VEC_AT(&costs->messages, xy_message_cost_t, i));
    if (costs->platform != NULL)
        st = xy_machine_print_element(costs->platform, file);
    fputs("</XylemCosts>\n", file);
    return st;
}
