/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collisions in a fat tree and a torus, message by message and link by link, beside SimGrid's on
 * the same topologies with its own routes (tests/machine/simgrid.py).
 */
#include <math.h>
#include <string.h>

#include "sim/net.h"
#include "testing/sim.h"

enum { MESSAGES_MAX = 400, LOADS_MAX = 40 };

typedef struct {
    xy_flow_t flow; /* first */
    int from, to;
    double expected, end;
} message_t;

/* The results for one pattern in the file. */
typedef struct {
    char topology[32], name[32];
    message_t messages[MESSAGES_MAX];
    double load[LOADS_MAX]; /* bytes, that so many */
    int links[LOADS_MAX];   /* ... links carry */
    int count, loads;
} pattern_t;

typedef struct {
    xy_vclock_t clock;
    sim_net_t net;
} model_t;

static void arrived(void *model, xy_flow_t *flow)
{
    ((message_t *)flow)->end = ((model_t *)model)->clock.now;
}

static const double bytes = 262144;

/* Starts all messages; each must end when it should. Adds their bytes to the load of their links.
 */
static void send_all(model_t *model, pattern_t *p, double *load)
{
    for (int i = 0; i < p->count; i++) {
        message_t *m = &p->messages[i];
        sim_path_t *path;

        assert_int_equal(sim_net_path(&model->net, m->from, m->to, &path), XY_OK);
        for (int32_t k = 0; k < path->path.link_count; k++)
            load[path->links[k]] += bytes;
        xy_flow_init(&m->flow, &path->path);
        xy_flow_start(&m->flow, path->latency, bytes);
    }
    assert_int_equal(xy_vclock_run(&model->clock), XY_OK);
    for (int i = 0; i < p->count; i++)
        assert_true(fabs(p->messages[i].end / p->messages[i].expected - 1) < 1e-3);
}

static void check_pattern(pattern_t *p)
{
    const char *machine = p->topology[0] == 'f'
                              ? "switch:3(links=8 latency=0.1us bandwidth=10MB/s) switch:4(links=4 "
                                "latency=0.1us bandwidth=10MB/s) node:4(latency=0.1us "
                                "bandwidth=10MB/s)"
                              : "torus:5x3x3(latency=0.1us bandwidth=10MB/s)";
    model_t model = {0};
    xy_machine_t *m;
    double *load;

    assert_int_equal(xy_machine_load(machine, &m), XY_OK);
    assert_int_equal(
        sim_net_make(&model.net, m, m->leaf, (int)m->leaves, &model.clock, &model, arrived), XY_OK);
    load = xy_calloc((size_t)model.net.flows.link_count, sizeof(*load));
    send_all(&model, p, load);
    for (int i = 0; i < p->loads; i++) {
        int links = 0;

        for (int32_t l = 0; l < model.net.flows.link_count; l++)
            links += load[l] == p->load[i];
        assert_int_equal(links, p->links[i]);
    }
    xy_free(load);
    sim_net_cleanup(&model.net);
    xy_vclock_cleanup(&model.clock);
    xy_machine_destroy(m);
}

static void test_simgrid(void **state)
{
    FILE *file = fopen(XYLEM_SOURCE_DIR "/tests/data/sim/simgrid-routes.csv", "r");
    pattern_t *p = xy_calloc(1, sizeof(*p));
    char line[200], topology[32], name[32], kind[32];
    double a, b, value;
    int patterns = 0;

    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        value = 0;
        if (sscanf(line, "%31[^,],%31[^,],%31[^,],%lf,%lf,%lf", topology, name, kind, &a, &b,
                   &value) < 5)
            continue;
        if (strcmp(topology, p->topology) != 0 || strcmp(name, p->name) != 0) {
            check_pattern(p);
            memset(p, 0, sizeof(*p));
            memcpy(p->topology, topology, sizeof(topology));
            memcpy(p->name, name, sizeof(name));
            patterns++;
        }
        if (strcmp(kind, "load") == 0) {
            p->load[p->loads] = a;
            p->links[p->loads++] = (int)b;
            assert_true(p->loads < LOADS_MAX);
        } else {
            p->messages[p->count++] = (message_t){.from = (int)a, .to = (int)b, .expected = value};
            assert_true(p->count < MESSAGES_MAX);
        }
    }
    check_pattern(p);
    assert_int_equal(patterns, 16);
    fclose(file);
    xy_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_simgrid)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
