/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The models of a store as JSON, for programs: one object with the arrays "hosts", "speeds",
 * "constants", "kernels" and "messages". Times are in seconds; a model names the unit of its sizes.
 */
#include "cost/store.h"
#include "draw/draw.h"

/* Writes an interval of a fit. */
static void put_interval(xy_json_t *j, const xy_interval_t *v)
{
    xy_json_begin_object(j, NULL);
    xy_fields(j, "start %g end %g samples %ld error_mean %g error_max %g", v->start, v->end,
              v->samples, v->error_mean, v->error_max);
    xy_json_begin_array(j, "params");
    for (int i = 0; i <= v->degree; i++)
        xy_json_double(j, NULL, v->params[i]);
    xy_json_end(j);
    xy_json_end(j);
}

static void put_powers(xy_json_t *j, const char *name, const unsigned char *powers, size_t count)
{
    xy_json_begin_array(j, name);
    for (size_t i = 0; i < count; i++)
        xy_json_int(j, NULL, powers[i]);
    xy_json_end(j);
}

/* Writes the shape of a kernel, if it has one. */
static void put_shape(xy_json_t *j, const xy_shape_t *shape)
{
    if (shape->sizes == 0)
        return;
    xy_json_begin_object(j, "shape");
    xy_json_begin_array(j, "sizes");
    for (size_t i = 0; i < shape->sizes; i++)
        xy_json_string(j, NULL, shape->name[i]);
    xy_json_end(j);
    put_powers(j, "work", shape->work, shape->sizes);
    xy_fields(j, "aspect %g samples %lu error_mean %g error_max %g held_out %g", shape->aspect,
              shape->sample_count, shape->error_mean, shape->error_max, shape->held_out);
    xy_json_begin_array(j, "terms");
    for (size_t i = 0; i < shape->count; i++) {
        xy_json_begin_object(j, NULL);
        put_powers(j, "powers", shape->term[i].power, shape->sizes);
        xy_json_double(j, "factor", shape->term[i].factor);
        xy_json_end(j);
    }
    xy_json_end(j);
    xy_json_end(j);
}

/* Writes a kernel with its fit. */
static void put_kernel(xy_json_t *j, const xy_kernel_cost_t *k)
{
    xy_json_begin_object(j, NULL);
    xy_fields(j,
              "name %s cluster %s unit %s library %s clock %s threads %ld distance %ld samples %lu "
              "error_mean %g error_max %g",
              k->name, k->cluster, k->unit, k->library,
              *k->clock != '\0' ? k->clock : XY_CLOCK_WALL, k->threads, k->distance,
              k->sample_count, k->fit.error_mean, k->fit.error_max);
    if (k->held_count > 0)
        xy_json_double(j, "held_out", k->held_out);
    put_shape(j, &k->shape);
    xy_json_begin_array(j, "intervals");
    for (size_t i = 0; i < k->fit.count; i++)
        put_interval(j, &k->fit.intervals[i]);
    xy_json_end(j);
    xy_json_end(j);
}

static void put_lines(xy_json_t *j, const char *name, const xy_lines_t *lines)
{
    xy_json_begin_array(j, name);
    for (size_t i = 0; i < lines->count; i++)
        xy_fields_object(j, NULL, "start %g end %g a %g b %g", lines->line[i].start,
                         lines->line[i].end, lines->line[i].a, lines->line[i].b);
    xy_json_end(j);
}

/* Writes a message model. */
static void put_message(xy_json_t *j, const xy_message_cost_t *m)
{
    static const char *const kinds[XY_MESSAGE_KINDS] = {"blocking", "nonblocking", "gap",
                                                        "exchange"};

    xy_json_begin_object(j, NULL);
    xy_fields(j, "cluster1 %s cluster2 %s library %s samples %lu", m->cluster1, m->cluster2,
              m->library, m->model.count);
    for (int k = 0; k < XY_MESSAGE_KINDS; k++) {
        const xy_message_lines_t *lines = &m->model.kind[k];

        if (!(lines->latency > 0))
            continue;
        xy_json_begin_object(j, kinds[k]);
        xy_fields(j, "latency %g error_mean %g", lines->latency, lines->error_mean);
        if (lines->held_count > 0)
            xy_json_double(j, "held_out", lines->held_out);
        put_lines(j, "time", &lines->time);
        put_lines(j, "bandwidth", &lines->bandwidth);
        xy_json_end(j);
    }
    xy_fields_object(j, "loggp", "L %g o %g g %g G %g", m->model.loggp.latency,
                     m->model.loggp.overhead, m->model.loggp.gap, m->model.loggp.per_byte);
    xy_json_end(j);
}

static void put_constant(xy_json_t *j, const xy_constant_cost_t *c)
{
    xy_json_begin_object(j, NULL);
    xy_json_string(j, "name", c->name);
    if (c->from >= 0)
        xy_fields(j, "from %ld to %ld", c->from, c->to);
    xy_json_double(j, "seconds", c->seconds);
    xy_json_end(j);
}

void xy_costs_print_json(const xy_costs_t *costs, FILE *file)
{
    xy_json_t j;

    xy_json_init(&j, file, true);
    xy_json_begin_object(&j, NULL);
    xy_fields(&j, "machine %s hardware %s date %s", costs->machine, costs->hardware, costs->date);
    xy_json_begin_array(&j, "hosts");
    for (size_t i = 0; i < costs->hosts.count; i++) {
        const xy_host_cost_t *h = &XY_VEC_AT(&costs->hosts, xy_host_cost_t, i);

        xy_fields_object(&j, NULL, "name %s cluster %s", h->name, h->cluster);
    }
    xy_json_end(&j);
    xy_json_begin_array(&j, "speeds");
    for (size_t i = 0; i < costs->speeds.count; i++) {
        const xy_speed_cost_t *v = &XY_VEC_AT(&costs->speeds, xy_speed_cost_t, i);

        xy_fields_object(&j, NULL, "cluster %s like %s factor %g", v->cluster, v->like, v->factor);
    }
    xy_json_end(&j);
    xy_json_begin_array(&j, "constants");
    for (size_t i = 0; i < costs->constants.count; i++)
        put_constant(&j, &XY_VEC_AT(&costs->constants, xy_constant_cost_t, i));
    xy_json_end(&j);
    xy_json_begin_array(&j, "kernels");
    for (size_t i = 0; i < costs->kernels.count; i++)
        put_kernel(&j, &XY_VEC_AT(&costs->kernels, xy_kernel_cost_t, i));
    xy_json_end(&j);
    xy_json_begin_array(&j, "messages");
    for (size_t i = 0; i < costs->messages.count; i++)
        put_message(&j, &XY_VEC_AT(&costs->messages, xy_message_cost_t, i));
    xy_json_end(&j);
    xy_json_end(&j);
}
