/* SPDX-License-Identifier: BSD-3-Clause */
/* Machine files: written and read back equal; bad ones answered with one line; memory that runs
 * out anywhere; the machines that ship. */
#include <stdio.h>
#include <string.h>

#include "testing/machine.h"

static char *to_xml(const xy_machine_t *m, size_t *size_p)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, size_p);

    assert_non_null(file);
    assert_int_equal(xy_machine_print_xml(m, file), XY_OK);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void test_round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        xy_machine_t *m = random_machine(seed), *back;
        size_t size;
        char *text = to_xml(m, &size);

        assert_int_equal(xy_machine_parse(text, size, "round-trip.xml", &back), XY_OK);
        if (!testing_machine_equal(m, back))
            fail_msg("seed %lu differs:\n%s", (unsigned long)seed, text);
        xy_machine_destroy(back);
        xy_machine_destroy(m);
        free(text);
    }
}

/* Equality itself must see a difference, or the test above sees nothing. */
static void test_equal_sees(void **state)
{
    static const char *const texts[] = {
        "<machine name='m'><node><core/></node></machine>",
        "<machine name='n'><node><core/></node></machine>",
        "<machine name='m'><node><core count='2'/></node></machine>",
        "<machine name='m'><node><core os='1'/></node></machine>",
        "<machine name='m'><node><core name='c'/></node></machine>",
        "<machine name='m'><node><core latency='1us'/></node></machine>",
        "<machine name='m'><node><core excluded='yes'/></node></machine>",
        "<machine name='m'><node memory='1'><core/></node></machine>",
        "<machine name='m'><node><core/><gpus><gpu/></gpus></node></machine>",
        "<machine name='m'><node><core/><gpus><gpu memory='1'/></gpus></node></machine>",
        "<machine name='m'><node><core/><gpus bandwidth='1'><gpu/></gpus></node></machine>",
        "<machine name='m'><node id='a'/><node id='b'/></machine>",
        "<machine name='m'><node id='a'/><node id='b'/><route from='a' to='b'/></machine>",
    };
    enum { N = sizeof(texts) / sizeof(*texts) };
    xy_machine_t *m[N];

    (void)state;
    for (int i = 0; i < N; i++)
        assert_int_equal(xy_machine_parse(texts[i], strlen(texts[i]), "t.xml", &m[i]), XY_OK);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            assert_int_equal(testing_machine_equal(m[i], m[j]), i == j);
    for (int i = 0; i < N; i++)
        xy_machine_destroy(m[i]);
}

static void test_references(void **state)
{
    static const char text[] =
        "<machine><define><node id='thin'><core count='4'/></node></define>"
        "<cluster id='c' count='2'><use ref='thin' count='3'/></cluster><use ref='c'/></machine>";
    xy_machine_t *m;

    (void)state;
    assert_int_equal(xy_machine_parse(text, strlen(text), "t.xml", &m), XY_OK);
    assert_int_equal(xy_machine_count(m, XY_OBJ_CLUSTER), 3);
    assert_int_equal(xy_machine_count(m, XY_OBJ_NODE), 9);
    assert_int_equal(m->leaves, 36);
    assert_int_equal(m->physical[m->leaf[35]], 3);
    xy_machine_destroy(m);
}

static void test_excluded(void **state)
{
    static const char text[] = "<machine><node><package excluded='yes'><core count='2'/></package>"
                               "<package><core count='2' excluded='cgroup affinity'/><core/>"
                               "</package></node></machine>";
    xy_machine_t *m, *usable;

    (void)state;
    assert_int_equal(xy_machine_parse(text, strlen(text), "t.xml", &m), XY_OK);
    assert_int_equal(m->leaves, 5);
    assert_int_equal(xy_machine_usable(m, 0), 1);
    assert_int_equal(m->flags[m->leaf[1]] & XY_EXCLUDED, XY_EXCLUDED_FILE);
    assert_int_equal(m->flags[m->leaf[2]] & XY_EXCLUDED, XY_EXCLUDED_CGROUP | XY_EXCLUDED_AFFINITY);
    assert_int_equal(xy_machine_restrict_usable(m, &usable), XY_OK);
    assert_int_equal(usable->leaves, 1);
    assert_int_equal(usable->physical[usable->leaf[0]], 4);
    xy_machine_destroy(usable);
    xy_machine_destroy(m);
}

static void test_bad(void **state)
{
    static const struct {
        const char *text;
        xy_status_t status;
        const char *says;
    } bad[] = {
        {"<machine><node count='1000000000'/></machine>", XY_ELIMIT, "1000000000"},
        {"<machine><node count='10000'><core count='1000000'/></node></machine>", XY_ELIMIT,
         "10000010000 objects"},
        {"<machine>\n<node count='-1'/></machine>", XY_EPARSE, "t.xml:2:"},
        {"<machine><node count='nan'/></machine>", XY_EPARSE, "nan"},
        {"<machine><node latency='nan'/></machine>", XY_EPARSE, "latency=\"nan\""},
        {"<machine><node latency='-1us'/></machine>", XY_EPARSE, "latency"},
        {"<machine><node bandwidth='0'/></machine>", XY_EPARSE, "bandwidth"},
        {"<machine><node memory='-5'/></machine>", XY_EPARSE, "memory"},
        {"<machine><node os='-1'/></machine>", XY_EPARSE, "os"},
        {"<machine><site id='a'><cluster id='b'><use ref='a'/></cluster></site></machine>",
         XY_EPARSE, "cycle: 'a'"},
        {"<machine><define><node id='a'><use ref='b'/></node><node id='b'><use ref='a'/></node>"
         "</define></machine>",
         XY_EPARSE, "cycle"},
        {"<machine><node id='a'/><node id='a'/></machine>", XY_EPARSE, "id 'a'"},
        {"<machine><use ref='nobody'/></machine>", XY_EPARSE, "no element has the id 'nobody'"},
        {"<machine><nodes/></machine>", XY_EPARSE, "node"},
        {"<machine><node latncy='1'/></machine>", XY_EPARSE, "latency"},
        {"<machine><core><node/></core></machine>", XY_EPARSE, "a node cannot be inside a core"},
        {"<machine><l3 memory='1'/></machine>", XY_EPARSE, "memory"},
        {"<machine><node excluded='maybe'/></machine>", XY_EPARSE, "maybe"},
        {"<machine><node/><numbering type='node' os='0-1'/></machine>", XY_EPARSE, "1 numbers"},
        {"<machine><node/><numbering type='l3' os='0'/></machine>", XY_EPARSE, "l3"},
        {"<machine><node id='a' count='2'/><node id='b'/><route from='a' to='b'/></machine>",
         XY_EPARSE, "stands for 2"},
        {"<machine><node id='a'><core id='b'/></node><route from='a' to='b'/></machine>", XY_EPARSE,
         "none inside the other"},
        {"<machine><node><gpus><gpu/><peer from='0' to='1'/></gpus></node></machine>", XY_EPARSE,
         "to"},
        {"<machine version='2'/>", XY_EPARSE, "version"},
        {"<platform/>", XY_EPARSE, "<platform>"},
        {"<machine><node>", XY_EPARSE, "t.xml"},
        {"", XY_EPARSE, "t.xml"},
        {"\x7f\x45LF\x01\x02", XY_EPARSE, "t.xml"},
        {"<!DOCTYPE m [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;&a;'>]><machine name='&b;'/>",
         XY_EPARSE, "t.xml"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        xy_machine_t *m = NULL;
        xy_status_t st;

        testing_listen();
        st = xy_machine_parse(bad[i].text, strlen(bad[i].text), "t.xml", &m);
        if (st == XY_OK || strstr(testing_said, bad[i].says) == NULL || testing_said_count != 1)
            fail_msg("%s: status %d, %d messages: %s", bad[i].text, st, testing_said_count,
                     testing_said);
        assert_null(m);
        if (bad[i].status == XY_ELIMIT)
            assert_int_equal(st, XY_ELIMIT);
    }
    xy_error_handler_set(NULL, NULL);
}

/* More levels than are accepted, through nesting and through references. */
static void test_deep(void **state)
{
    xy_text_t text = XY_TEXT_INIT;
    xy_machine_t *m;

    (void)state;
    xy_text_add(&text, "<machine>");
    for (int i = 0; i < 40; i++)
        xy_text_add(&text, "<switch>");
    for (int i = 0; i < 40; i++)
        xy_text_add(&text, "</switch>");
    xy_text_add(&text, "</machine>");
    testing_listen();
    assert_int_equal(xy_machine_parse(text.s, text.length, "t.xml", &m), XY_ELIMIT);
    xy_text_cleanup(&text);
    xy_text_add(&text, "<machine><define><switch id='s40'/>");
    for (int i = 40; i > 0; i--)
        xy_text_addf(&text, "<switch id='s%d'><use ref='s%d'/></switch>", i - 1, i);
    xy_text_add(&text, "</define><use ref='s0'/></machine>");
    assert_int_equal(xy_machine_parse(text.s, text.length, "t.xml", &m), XY_ELIMIT);
    xy_text_cleanup(&text);
    xy_error_handler_set(NULL, NULL);
}

static void test_faults(void **state)
{
    static const char text[] =
        "<machine name='m'><define><node id='n'><package count='2' name='p' latency='1us'>"
        "<core count='2'/></package><gpus peer-latency='1us'><gpu count='2' name='g'/>"
        "<peer from='0' to='1' latency='2us'/></gpus><numbering type='core' os='3,2,1,0'/></node>"
        "</define><cluster id='a'><use ref='n' count='2'/></cluster><cluster id='b'/>"
        "<route from='a' to='b' latency='1ms'/></machine>";
    xy_machine_t *m = NULL, *copy;
    long k;
    xy_status_t st;

    (void)state;
    testing_listen();
    for (k = 1; k < 10000; k++) {
        xy_memory_fail_at(k);
        st = xy_machine_parse(text, strlen(text), "t.xml", &m);
        if (!xy_memory_fail_hit())
            break;
        assert_int_equal(st, XY_ENOMEM);
        assert_null(m);
    }
    xy_memory_fail_at(0);
    assert_int_equal(st, XY_OK);
    assert_true(k > 20);
    for (k = 1; k < 10000; k++) {
        copy = NULL;
        xy_memory_fail_at(k);
        st = xy_machine_subtree(m, 0, &copy);
        if (!xy_memory_fail_hit())
            break;
        assert_int_equal(st, XY_ENOMEM);
        assert_null(copy);
    }
    xy_memory_fail_at(0);
    assert_true(testing_machine_equal(m, copy));
    xy_machine_destroy(copy);
    xy_machine_destroy(m);
    xy_error_handler_set(NULL, NULL);
}

/* A group without GPUs is nothing to draw, and stays what it is. */
static void test_empty_group(void **state)
{
    static const char text[] = "<machine><node><gpus/></node></machine>";
    xy_machine_t *m;
    char *svg = NULL;
    size_t size;
    FILE *file = open_memstream(&svg, &size);

    (void)state;
    assert_non_null(file);
    assert_int_equal(xy_machine_parse(text, strlen(text), "t.xml", &m), XY_OK);
    assert_int_equal(m->gpu_group_count, 1);
    assert_int_equal(xy_machine_print_svg(m, file), XY_OK);
    assert_int_equal(fclose(file), 0);
    assert_null(strstr(svg, "class=\"gpu"));
    free(svg);
    xy_machine_destroy(m);
}

/* Each way of showing, with each allocation failing. */
static void test_show_faults(void **state)
{
    xy_machine_t *m;
    FILE *sink = fopen("/dev/null", "w");

    (void)state;
    assert_non_null(sink);
    assert_int_equal(xy_machine_load("attila", &m), XY_OK);
    testing_listen();
    for (int way = 0; way < 3; way++) {
        for (long k = 0; testing_fail_next(&k);) {
            xy_status_t st;

            st = way == 0   ? xy_machine_print_xml(m, sink)
                 : way == 1 ? xy_machine_print_svg(m, sink)
                            : xy_machine_print_tree(m, 3, sink);
            assert_null(testing_fail_fault(&k, st));
        }
    }
    xy_error_handler_set(NULL, NULL);
    xy_machine_destroy(m);
    fclose(sink);
}

static xy_obj_t named(const xy_machine_t *m, const char *name)
{
    for (xy_obj_t o = 0; o < m->count; o++)
        if (strcmp(xy_machine_object_name(m, o), name) == 0)
            return o;
    fail_msg("no object %s", name);
    return XY_OBJ_NONE;
}

static void test_grid5000(void **state)
{
    static const struct {
        const char *a, *b;
        double us;
    } expected[] = {
        {"bordereau-82", "bordereau-63", 47.08},
        {"genepi-9", "genepi-6", 62.04},
        {"azur-4", "azur-7", 47.92},
        {"bordeplage-35", "bordeplage-37", 49.94},
        {"bordereau-82", "genepi-9", 5391.00},
        {"bordereau-63", "azur-4", 7173.53},
        {"bordereau-82", "bordeplage-35", 74.98},
        {"genepi-7", "azur-7", 4517.25},
        {"genepi-6", "bordeplage-37", 5412.28},
        {"azur-4", "bordeplage-35", 7187.96},
    };
    xy_machine_t *m;

    (void)state;
    assert_int_equal(xy_machine_load("grid5000", &m), XY_OK);
    assert_int_equal(xy_machine_count(m, XY_OBJ_NODE), 9);
    assert_int_equal(xy_machine_count(m, XY_OBJ_CLUSTER), 4);
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        xy_link_t path = xy_machine_path(m, named(m, expected[i].a), named(m, expected[i].b));

        assert_float_equal(path.latency * 1e6, expected[i].us, 1e-6);
    }
    xy_machine_destroy(m);
}

static void test_attila(void **state)
{
    xy_machine_t *m;
    const xy_gpu_group_t *g;
    xy_link_t peer;

    (void)state;
    assert_int_equal(xy_machine_load("attila", &m), XY_OK);
    assert_int_equal(m->gpu_count, 2);
    g = &m->gpu_groups[m->gpus[0].group];
    peer = xy_machine_gpu_peer(m, 1, 0);
    assert_true(g->shared.bandwidth == 6527e6);
    assert_true(peer.bandwidth == 5297e6 && peer.latency == 14.9e-6);
    assert_true(m->gpus[1].in.bandwidth == 6009e6 && m->gpus[1].in.latency == 9.5e-6);
    assert_true(m->gpus[1].out.bandwidth == 6527e6);
    assert_int_equal(m->gpus[0].memory, 200 << 20);
    xy_machine_destroy(m);
}

static void test_shipped(void **state)
{
    static const struct {
        const char *name;
        uint32_t leaves, cores, numa;
    } shipped[] = {{"knl64", 64, 64, 1},
                   {"skylake48", 48, 48, 2},
                   {"haswell32", 64, 32, 4},
                   {"fattree1024", 32768, 32768, 2048}};
    xy_machine_t *m;

    (void)state;
    for (size_t i = 0; i < sizeof(shipped) / sizeof(*shipped); i++) {
        assert_int_equal(xy_machine_load(shipped[i].name, &m), XY_OK);
        assert_string_equal(m->name, shipped[i].name);
        assert_int_equal(m->leaves, shipped[i].leaves);
        assert_int_equal(xy_machine_count(m, XY_OBJ_CORE), shipped[i].cores);
        assert_int_equal(xy_machine_count(m, XY_OBJ_NUMA), shipped[i].numa);
        xy_machine_destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_equal_sees),
        cmocka_unit_test(test_references),  cmocka_unit_test(test_excluded),
        cmocka_unit_test(test_bad),         cmocka_unit_test(test_deep),
        cmocka_unit_test(test_faults),      cmocka_unit_test(test_empty_group),
        cmocka_unit_test(test_show_faults), cmocka_unit_test(test_grid5000),
        cmocka_unit_test(test_attila),      cmocka_unit_test(test_shipped),
    };

    setenv("XYLEM_MACHINES", XYLEM_SOURCE_DIR "/machines", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
