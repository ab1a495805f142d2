/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/code.h"
#include "program/tree.h"
#include "testing/program.h"

static const char ring[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                           "<program name=\"ring\" version=\"1\">\n"
                           "  <function name=\"main\" file=\"ring.c\" line=\"5\">\n"
                           "    <for start=\"i = 0\" test=\"i &lt; n\" step=\"i++\" line=\"12\">\n"
                           "      <mpi call=\"MPI_Send\" count=\"n\" datatype=\"MPI_INT\" "
                           "dest=\"1\" tag=\"0\" comm=\"MPI_COMM_WORLD\" line=\"13\"/>\n"
                           "    </for>\n"
                           "  </function>\n"
                           "</program>\n";

static xy_program_t *build_ring(void)
{
    static const char *const send[] = {NULL, "n", "MPI_INT", "1", "0", "MPI_COMM_WORLD"};
    xy_program_t *p;
    xy_node_t *function, *loop;

    if (xy_program_create("ring", &p) != XY_OK)
        return NULL;
    function = xy_program_add(p, NULL, XY_NODE_FUNCTION, "ring.c", 5);
    xy_program_set(p, function, "name", "main");
    loop = xy_program_add(p, function, XY_NODE_FOR, "ring.c", 12);
    xy_program_set(p, loop, "start", "i = 1");
    xy_program_set(p, loop, "start", "i = 0");
    xy_program_set(p, loop, "test", "i < n");
    xy_program_set(p, loop, "step", "i++");
    xy_program_add_mpi(p, loop, NULL, 13, "MPI_Send", 6, send);
    return p;
}

static void test_build(void **state)
{
    xy_program_t *p = build_ring();
    char *text = testing_print(p);

    (void)state;
    assert_false(xy_program_failed(p));
    assert_string_equal(text, ring);
    assert_string_equal(xy_node_attr(xy_program_root(p)->child, "name"), "main");
    assert_null(xy_node_attr(xy_program_root(p)->child, "nam"));
    xy_program_set(p, xy_program_root(p), "name", NULL);
    assert_null(xy_node_attr(xy_program_root(p), "name"));
    free(text);
    xy_program_destroy(p);
    xy_program_destroy(NULL);
}

/* With the k-th allocation failing, nothing is lost but the description. */
static void test_memory(void **state)
{
    (void)state;
    for (long k = 1;; k++) {
        xy_program_t *p;

        testing_listen();
        xy_memory_fail_at(k);
        p = build_ring();
        if (!xy_memory_fail_hit()) {
            xy_memory_fail_at(0);
            assert_false(xy_program_failed(p));
            xy_program_destroy(p);
            break;
        }
        xy_memory_fail_at(0);
        assert_true(p == NULL || xy_program_failed(p));
        xy_program_destroy(p);
    }
}

static xy_status_t parse(const char *text, xy_program_t **program_p)
{
    testing_listen();
    return xy_program_parse(text, strlen(text), "p.xml", program_p);
}

static const char *words[] = {"a < b && c[1] > 0", "\"quoted\"", "x\ty\nz", "", "n", "\xc3\xa9'"};

/* A random tree of what may stand where. */
static void grow(xy_program_t *p, xy_node_t *parent, uint64_t *random, int depth)
{
    for (int n = testing_random_below(random, 4); n > 0; n--) {
        xy_node_kind_t kind = (xy_node_kind_t)testing_random_below(random, XY_NODE_KINDS);
        const program_element_t *e = &program_elements[kind];
        xy_node_t *node;

        if ((e->parents & 1u << parent->kind) == 0)
            continue;
        node = xy_program_add(p, parent, kind, testing_random_below(random, 3) > 0 ? NULL : "b.c",
                              testing_random_below(random, 100));
        for (int i = 0; i < PROGRAM_ATTRS_MAX && e->attrs[i].name != NULL; i++)
            if (e->attrs[i].is_needed || testing_random_below(random, 2) > 0)
                xy_program_set(p, node, e->attrs[i].name, words[testing_random_below(random, 6)]);
        if (kind == XY_NODE_MPI) {
            xy_program_set(p, node, "call", "MPI_Bcast");
            xy_program_set(p, node, "root", words[testing_random_below(random, 6)]);
        }
        if (depth < 8)
            grow(p, node, random, depth + 1);
    }
}

static void check_same(const xy_node_t *a, const xy_node_t *b)
{
    const xy_node_attr_t *x = a->attr, *y = b->attr;

    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->line, b->line);
    assert_string_equal(a->file, b->file);
    for (; x != NULL && y != NULL; x = x->next, y = y->next) {
        assert_string_equal(x->name, y->name);
        assert_string_equal(x->value, y->value);
    }
    assert_true(x == NULL && y == NULL);
    a = a->child, b = b->child;
    for (; a != NULL && b != NULL; a = a->next, b = b->next)
        check_same(a, b);
    assert_true(a == NULL && b == NULL);
}

static void test_round_trip(void **state)
{
    uint64_t random = testing_seed();

    (void)state;
    for (int i = 0; i < 500; i++) {
        xy_program_t *p, *back;
        char *text;

        assert_int_equal(xy_program_create("p", &p), XY_OK);
        for (int j = 0; j < 8; j++)
            grow(p, xy_program_root(p), &random, 0);
        text = testing_print(p);
        assert_int_equal(parse(text, &back), XY_OK);
        check_same(xy_program_root(p), xy_program_root(back));
        free(text);
        xy_program_destroy(p);
        xy_program_destroy(back);
    }
}

static void check_bad(const char *text, const char *message)
{
    xy_program_t *p = NULL;

    assert_int_equal(parse(text, &p), XY_EPARSE);
    assert_null(p);
    assert_non_null(strstr(testing_said, message));
}

static void test_bad(void **state)
{
    (void)state;
    check_bad("<machine/>", "p.xml:1: <machine> is no program description");
    check_bad("<program/>", "<program> needs version");
    check_bad("<program version='2'/>", "scan the program again");
    check_bad("<program version='1'>\n<do c='1'/></program>",
              "p.xml:2: <do> cannot stand in <program>");
    check_bad("<program version='1'><function name='f'><doo c='1'/></function></program>",
              "unknown element <doo> in a program description; did you mean <do>?");
    check_bad("<program version='1'><function name='f'><do/></function></program>",
              "<do> needs c=");
    check_bad("<program version='1'><function name='f'><do c='1' x='2'/></function></program>",
              "unknown attribute 'x'");
    check_bad("<program version='1'><function name='f'><mpi call='MPI_Sent'/></function></program>",
              "'MPI_Sent' is not an MPI call");
    check_bad("<program version='1'><function name='f'><mpi call='MPI_Send' root='0'/>"
              "</function></program>",
              "unknown attribute 'root'");
    check_bad("<program version='1'><function name='f' line='x'/></program>", "line=\"x\"");
}

static const xy_mpi_call_t *find_fact(const char *name)
{
    for (size_t i = 0; i < program_mpi_calls_count; i++)
        if (strcmp(program_mpi_calls[i].name, name) == 0)
            return &program_mpi_calls[i];
    return NULL;
}

static void test_calls(void **state)
{
    const xy_mpi_call_t *send = xy_mpi_call_find("MPI_Send");

    (void)state;
    assert_string_equal(send->kinds, "bvvvvv");
    assert_string_equal(send->args[3], "dest");
    assert_null(xy_mpi_call_find("MPI_Sent"));
    assert_string_equal(xy_mpi_call_find("MPI_Init")->kinds, "xx");
    assert_string_equal(xy_mpi_call_find("MPI_Alltoallw")->kinds, "bpppbpppv");
    assert_string_equal(xy_mpi_call_find("MPI_Dist_graph_create_adjacent")->kinds, "vvpxvpxxvp");
    assert_string_equal(xy_mpi_call_find("MPI_Op_create")->kinds, "xvp");
    assert_non_null(find_fact("MPI_Win_attach")); /* known, but no walk has a handler for it */
    assert_null(xy_mpi_call_find("MPI_Win_attach"));
}

/* A call with large counts has the entry of the other where both read and set the same arrays. */
static void test_large(void **state)
{
    (void)state;
    assert_ptr_equal(xy_mpi_call_find("MPI_Send_c"), xy_mpi_call_find("MPI_Send"));
    assert_ptr_equal(xy_mpi_call_find("MPI_Type_vector_c"), xy_mpi_call_find("MPI_Type_vector"));
    assert_ptr_equal(xy_mpi_call_find("MPI_Put_c"), xy_mpi_call_find("MPI_Put"));
    assert_null(xy_mpi_call_find("MPI_Alltoallv_c")); /* counts */
    assert_null(xy_mpi_call_find("MPI_Get_count_c")); /* a result */
    assert_null(xy_mpi_call_find("MPI_Op_create_c")); /* a function */
    assert_null(xy_mpi_call_find("MPI_Barrier_c"));
    assert_null(xy_mpi_call_find("_c"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build),      cmocka_unit_test(test_memory),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_bad),
        cmocka_unit_test(test_calls),      cmocka_unit_test(test_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
