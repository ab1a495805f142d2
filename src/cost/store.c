/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cost/carrier.h"
#include "cost/link.h"

xy_status_t xy_costs_create(const char *machine, const char *hardware, xy_costs_t **costs_p)
{
    xy_costs_t *c = xy_calloc(1, sizeof(*c));

    if (c == NULL)
        return xy_fail_memory("making a store of costs");
    c->kernels = XY_VEC_INIT(xy_kernel_cost_t);
    c->messages = XY_VEC_INIT(xy_message_cost_t);
    c->constants = XY_VEC_INIT(xy_constant_cost_t);
    c->hosts = XY_VEC_INIT(xy_host_cost_t);
    c->speeds = XY_VEC_INIT(xy_speed_cost_t);
    c->figures = XY_VEC_INIT(xy_figure_cost_t);
    c->machine = xy_strdup(machine);
    c->hardware = xy_strdup(hardware);
    c->date = xy_strdup("");
    if (c->machine == NULL || c->hardware == NULL || c->date == NULL) {
        xy_costs_destroy(c);
        return xy_fail_memory("making a store of costs");
    }
    *costs_p = c;
    return XY_OK;
}

void xy_kernel_cost_cleanup(xy_kernel_cost_t *k)
{
    xy_free(k->name);
    xy_free(k->cluster);
    xy_free(k->unit);
    xy_free(k->library);
    xy_free(k->criterion);
    xy_free(k->clock);
    xy_free(k->samples);
    xy_fit_cleanup(&k->fit);
    xy_shape_cleanup(&k->shape);
    *k = (xy_kernel_cost_t){0};
}

void xy_message_cost_cleanup(xy_message_cost_t *m)
{
    xy_free(m->cluster1);
    xy_free(m->cluster2);
    xy_free(m->library);
    xy_message_cleanup(&m->model);
    *m = (xy_message_cost_t){0};
}

void xy_costs_destroy(xy_costs_t *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->kernels.count; i++)
        xy_kernel_cost_cleanup(&XY_VEC_AT(&c->kernels, xy_kernel_cost_t, i));
    for (size_t i = 0; i < c->messages.count; i++)
        xy_message_cost_cleanup(&XY_VEC_AT(&c->messages, xy_message_cost_t, i));
    for (size_t i = 0; i < c->constants.count; i++)
        xy_free(XY_VEC_AT(&c->constants, xy_constant_cost_t, i).name);
    for (size_t i = 0; i < c->hosts.count; i++) {
        xy_free(XY_VEC_AT(&c->hosts, xy_host_cost_t, i).name);
        xy_free(XY_VEC_AT(&c->hosts, xy_host_cost_t, i).cluster);
    }
    for (size_t i = 0; i < c->speeds.count; i++) {
        xy_free(XY_VEC_AT(&c->speeds, xy_speed_cost_t, i).cluster);
        xy_free(XY_VEC_AT(&c->speeds, xy_speed_cost_t, i).like);
    }
    for (size_t i = 0; i < c->figures.count; i++)
        xy_free(XY_VEC_AT(&c->figures, xy_figure_cost_t, i).name);
    xy_vec_cleanup(&c->figures);
    xy_vec_cleanup(&c->kernels);
    xy_vec_cleanup(&c->messages);
    xy_vec_cleanup(&c->constants);
    xy_vec_cleanup(&c->hosts);
    xy_vec_cleanup(&c->speeds);
    xy_machine_destroy(c->platform);
    xy_free(c->machine);
    xy_free(c->hardware);
    xy_free(c->date);
    xy_free(c);
}

/* ---- Putting in ---- */

/* NULL becomes "" in fresh memory. */
static bool complete(char **s)
{
    if (*s == NULL)
        *s = xy_strdup("");
    return *s != NULL;
}

static bool is_same_kernel(const xy_kernel_cost_t *a, const xy_kernel_cost_t *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->cluster, b->cluster) == 0 &&
           a->threads == b->threads && a->distance == b->distance;
}

xy_status_t xy_costs_set_kernel(xy_costs_t *costs, xy_kernel_cost_t *kernel)
{
    xy_kernel_cost_t *slot = NULL;

    if (!complete(&kernel->name) || !complete(&kernel->cluster) || !complete(&kernel->unit) ||
        !complete(&kernel->library) || !complete(&kernel->criterion) || !complete(&kernel->clock)) {
        xy_kernel_cost_cleanup(kernel);
        return xy_fail_memory("storing a model");
    }
    for (size_t i = 0; i < costs->kernels.count && slot == NULL; i++)
        if (is_same_kernel(&XY_VEC_AT(&costs->kernels, xy_kernel_cost_t, i), kernel))
            slot = &XY_VEC_AT(&costs->kernels, xy_kernel_cost_t, i);
    if (slot != NULL) {
        if (kernel->shape.sizes == 0) {
            kernel->shape = slot->shape;
            slot->shape = (xy_shape_t){0};
        }
        xy_kernel_cost_cleanup(slot);
    } else if ((slot = xy_vec_push(&costs->kernels)) == NULL) {
        xy_kernel_cost_cleanup(kernel);
        return xy_fail_memory("storing a model");
    }
    *slot = *kernel;
    *kernel = (xy_kernel_cost_t){0};
    return XY_OK;
}

/* Messages between two clusters cost the same in both directions. */
static bool is_between(const xy_message_cost_t *m, const char *a, const char *b)
{
    return (strcmp(m->cluster1, a) == 0 && strcmp(m->cluster2, b) == 0) ||
           (strcmp(m->cluster1, b) == 0 && strcmp(m->cluster2, a) == 0);
}

/* By name, whatever the version: "Open MPI v4.1.4" and "Open MPI v5.0". */
static bool is_same_library(const char *a, const char *b)
{
    size_t n = strcspn(a, "0123456789");

    return n == strcspn(b, "0123456789") && strncasecmp(a, b, n) == 0;
}

xy_status_t xy_costs_set_message(xy_costs_t *costs, xy_message_cost_t *message)
{
    xy_message_cost_t *slot = NULL;

    if (!complete(&message->cluster1) || !complete(&message->cluster2) ||
        !complete(&message->library)) {
        xy_message_cost_cleanup(message);
        return xy_fail_memory("storing a model");
    }
    for (size_t i = 0; i < costs->messages.count && slot == NULL; i++) {
        xy_message_cost_t *m = &XY_VEC_AT(&costs->messages, xy_message_cost_t, i);

        if (is_between(m, message->cluster1, message->cluster2) &&
            is_same_library(m->library, message->library))
            slot = m;
    }
    if (slot != NULL) {
        xy_message_cost_cleanup(slot);
    } else if ((slot = xy_vec_push(&costs->messages)) == NULL) {
        xy_message_cost_cleanup(message);
        return xy_fail_memory("storing a model");
    }
    *slot = *message;
    *message = (xy_message_cost_t){0};
    return XY_OK;
}

xy_status_t xy_costs_set_constant(xy_costs_t *costs, const char *name, long from, long to,
                                  double seconds, double spread, long repetitions)
{
    xy_constant_cost_t *slot = NULL;
    char *copy;

    for (size_t i = 0; i < costs->constants.count && slot == NULL; i++) {
        xy_constant_cost_t *c = &XY_VEC_AT(&costs->constants, xy_constant_cost_t, i);

        if (strcmp(c->name, name) == 0 && c->from == from && c->to == to)
            slot = c;
    }
    if (slot == NULL) {
        copy = xy_strdup(name);
        if (copy == NULL || (slot = xy_vec_push(&costs->constants)) == NULL) {
            xy_free(copy);
            return xy_fail_memory("storing a cost");
        }
        slot->name = copy;
    }
    slot->from = from;
    slot->to = to;
    slot->seconds = seconds;
    slot->spread = spread;
    slot->repetitions = repetitions;
    return XY_OK;
}

xy_status_t xy_costs_set_host(xy_costs_t *costs, const char *name, const char *cluster)
{
    xy_host_cost_t host = {.name = xy_strdup(name), .cluster = xy_strdup(cluster)};

    if (host.name == NULL || host.cluster == NULL || xy_vec_append(&costs->hosts, &host) != XY_OK) {
        xy_free(host.name);
        xy_free(host.cluster);
        return xy_fail_memory("storing a host");
    }
    return XY_OK;
}

xy_status_t xy_costs_set_speed(xy_costs_t *costs, const char *cluster, const char *like,
                               double factor)
{
    xy_speed_cost_t speed = {.factor = factor};

    for (size_t i = 0; i < costs->speeds.count; i++) {
        xy_speed_cost_t *s = &XY_VEC_AT(&costs->speeds, xy_speed_cost_t, i);

        if (strcmp(s->cluster, cluster) == 0 && strcmp(s->like, like) == 0) {
            s->factor = factor;
            return XY_OK;
        }
    }
    speed.cluster = xy_strdup(cluster);
    speed.like = xy_strdup(like);
    if (speed.cluster == NULL || speed.like == NULL ||
        xy_vec_append(&costs->speeds, &speed) != XY_OK) {
        xy_free(speed.cluster);
        xy_free(speed.like);
        return xy_fail_memory("storing a speed");
    }
    return XY_OK;
}

xy_message_pair_t xy_costs_pair(const xy_message_cost_t *m)
{
    if (strcmp(m->cluster1, XY_COSTS_PU) == 0)
        return XY_PAIR_CORE;
    if (strcmp(m->cluster1, XY_COSTS_LOCAL) != 0 && strcmp(m->cluster2, XY_COSTS_LOCAL) != 0)
        return XY_PAIR_HOSTS;
    return strncasecmp(m->library, "xylem", 5) == 0 ? XY_PAIR_CORES : XY_PAIR_OTHER;
}

xy_status_t xy_costs_set_figure(xy_costs_t *costs, const char *name, double value)
{
    xy_figure_cost_t figure = {.value = value};

    for (size_t i = 0; i < costs->figures.count; i++) {
        xy_figure_cost_t *f = &XY_VEC_AT(&costs->figures, xy_figure_cost_t, i);

        if (strcmp(f->name, name) == 0) {
            f->value = value;
            return XY_OK;
        }
    }
    figure.name = xy_strdup(name);
    if (figure.name == NULL || xy_vec_append(&costs->figures, &figure) != XY_OK) {
        xy_free(figure.name);
        return xy_fail_memory("storing a figure");
    }
    return XY_OK;
}

/* ---- Asking ---- */

const xy_kernel_cost_t *xy_costs_kernel(const xy_costs_t *costs, const char *name,
                                        const char *cluster, long threads)
{
    for (size_t i = 0; i < costs->kernels.count; i++) {
        const xy_kernel_cost_t *k = &XY_VEC_AT(&costs->kernels, xy_kernel_cost_t, i);

        if (strcmp(k->name, name) == 0 && k->distance == 0 &&
            (cluster == NULL || strcmp(k->cluster, cluster) == 0) &&
            (threads == 0 || k->threads == threads))
            return k;
    }
    return NULL;
}

const xy_message_cost_t *xy_costs_message(const xy_costs_t *costs, const char *cluster1,
                                          const char *cluster2)
{
    return xy_costs_message_by(costs, cluster1, cluster2, NULL);
}

const xy_message_cost_t *xy_costs_message_by(const xy_costs_t *costs, const char *cluster1,
                                             const char *cluster2, const char *library)
{
    for (size_t i = 0; i < costs->messages.count; i++) {
        const xy_message_cost_t *m = &XY_VEC_AT(&costs->messages, xy_message_cost_t, i);

        if (is_between(m, cluster1, cluster2) &&
            (library == NULL || strncasecmp(m->library, library, strlen(library)) == 0))
            return m;
    }
    return NULL;
}

const xy_constant_cost_t *xy_costs_constant(const xy_costs_t *costs, const char *name)
{
    for (size_t i = 0; i < costs->constants.count; i++) {
        const xy_constant_cost_t *c = &XY_VEC_AT(&costs->constants, xy_constant_cost_t, i);

        if (strcmp(c->name, name) == 0)
            return c;
    }
    return NULL;
}

/* ---- Which machine ---- */

/* The processor's name; "" where the kernel has none. */
static void read_processor(char *buffer, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[512];

    buffer[0] = '\0';
    while (file != NULL && buffer[0] == '\0' && fgets(line, sizeof(line), file) != NULL) {
        const char *colon = strchr(line, ':');

        line[strcspn(line, "\n")] = '\0';
        if (colon != NULL && strncmp(line, "model name", 10) == 0)
            snprintf(buffer, size, "%s", colon + 2);
    }
    if (file != NULL)
        fclose(file);
}

xy_status_t xy_costs_describe(const xy_machine_t *live, char **machine_p, char **hardware_p)
{
    struct utsname name;
    char processor[256];
    char *machine, *hardware;

    if (uname(&name) != 0)
        return xy_fail_errno(errno, "the name of this machine", "read");
    read_processor(processor, sizeof(processor));
    machine = xy_strdup(name.nodename);
    hardware =
        xy_sprintf("%s%s%s, %u NUMA nodes, %u cores, %u leaves", name.machine,
                   processor[0] != '\0' ? " " : "", processor, xy_machine_count(live, XY_OBJ_NUMA),
                   xy_machine_count(live, XY_OBJ_CORE), live->leaves);
    if (machine == NULL || hardware == NULL) {
        xy_free(machine);
        xy_free(hardware);
        return xy_fail_memory("naming this machine");
    }
    *machine_p = machine;
    *hardware_p = hardware;
    return XY_OK;
}

bool xy_costs_check(const xy_costs_t *costs, const xy_machine_t *live, const char *path)
{
    char *machine, *hardware;
    bool is_same;

    if (xy_costs_describe(live, &machine, &hardware) != XY_OK)
        return false;
    is_same = strcmp(hardware, costs->hardware) == 0;
    if (!is_same)
        xy_warn("%s was measured on %s (%s), this is %s (%s)", path, costs->machine,
                costs->hardware, machine, hardware);
    xy_free(machine);
    xy_free(hardware);
    return is_same;
}

/* ---- Where it is ---- */

/* Sets the date of the store to now, in UTC. */
static xy_status_t set_date(xy_costs_t *costs)
{
    char text[32];
    time_t now = time(NULL);
    struct tm tm;
    char *date;

    gmtime_r(&now, &tm);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
    date = xy_strdup(text);
    if (date == NULL)
        return xy_fail_memory("writing costs");
    xy_free(costs->date);
    costs->date = date;
    return XY_OK;
}

static xy_status_t print_costs(const void *costs, FILE *file)
{
    return xy_costs_print_xml(costs, file);
}

static xy_status_t save_to(xy_costs_t *costs, const char *path)
{
    xy_status_t st = set_date(costs);

    return st == XY_OK ? xy_out_write(path, print_costs, costs) : st;
}

xy_status_t xy_costs_save(xy_costs_t *costs, const char *path)
{
    char *own;
    xy_status_t st;

    if (path != NULL) {
        st = save_to(costs, path);
        return st == XY_OK ? xy_carriers_write(costs, path) : st;
    }
    st = xy_costs_path(&own);
    if (st != XY_OK)
        return st;
    st = xy_make_directories(own);
    if (st == XY_OK)
        st = save_to(costs, own);
    if (st == XY_OK)
        st = xy_link_write(costs, own);
    if (st == XY_OK)
        st = xy_carriers_write(costs, own);
    xy_free(own);
    return st;
}
