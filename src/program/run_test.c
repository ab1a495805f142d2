/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptions that are compiled and run: what they compute must be what C computes. */
#include <limits.h>
#include <math.h>
#include <mpi.h>

#include "program/process.h"
#include "testing/program.h"

static double noted[64];
static int noted_count;

/* <kernel name="note" sizes="..."/> is how a description says what it has computed. */
static bool note(process_t *p, const code_site_t *site, const double *sizes)
{
    (void)p;
    for (int i = 0; i < site->count; i++)
        noted[noted_count++ % 64] = sizes[i];
    return true;
}

static bool note_count(process_t *p, const code_site_t *site, double count)
{
    (void)p, (void)site;
    noted[noted_count++ % 64] = count;
    return true;
}

/* The first time it must wait. */
static bool call(process_t *p, const code_site_t *site, int64_t *args)
{
    (void)site;
    if (p->phase++ == 0)
        return false;
    noted[noted_count++ % 64] = (double)args[1];
    return true;
}

static double now(process_t *p)
{
    (void)p;
    return 1.5;
}

static const process_ops_t ops = {.mpi = call, .kernel = note, .compute = note_count, .now = now};

typedef struct {
    xy_program_t *program;
    code_t *code;
    process_t process;
    process_config_t config;
} fixture_t;

static xy_status_t open_fixture(fixture_t *f, const char *declarations, const char *body)
{
    static const char *const argv[] = {"prog", "-n", "12", "file", "-v", "-x", "3"};
    char *text = xy_sprintf("<program version='1'>%s<function name='main' type='int' file='a.c' "
                            "line='1'><parameter name='argc' type='int'/><parameter name='argv' "
                            "type='char **'/>%s</function></program>",
                            declarations, body);
    xy_status_t st;

    noted_count = 0;
    testing_listen();
    *f = (fixture_t){0};
    assert_int_equal(xy_program_parse(text, strlen(text), "p.xml", &f->program), XY_OK);
    xy_free(text);
    st = code_compile(f->program, NULL, 0, &f->code);
    f->config = (process_config_t){.code = f->code,
                                   .ops = &ops,
                                   .argc = 7,
                                   .argv = argv,
                                   .pass_limit = 100000,
                                   .stack_limit = 1 << 20,
                                   .heap_limit = 1 << 20};
    if (st == XY_OK)
        assert_int_equal(process_init(&f->process, &f->config, 3), XY_OK);
    return st;
}

static void close_fixture(fixture_t *f)
{
    if (f->code != NULL)
        process_cleanup(&f->process);
    code_destroy(f->code);
    xy_program_destroy(f->program);
}

static xy_status_t run_code(const char *declarations, const char *body, bool is_fused)
{
    fixture_t f;
    xy_status_t st = open_fixture(&f, declarations, body);

    if (st == XY_OK && is_fused)
        code_fuse(f.code);
    if (st == XY_OK) {
        while (!process_run(&f.process))
            ;
        st = f.process.status;
    }
    close_fixture(&f);
    return st;
}

/* As it was compiled, and fused: both do and say the same. */
static xy_status_t run(const char *declarations, const char *body)
{
    xy_status_t plain = run_code(declarations, body, false), fused;
    double before[64];
    int count = noted_count;
    char said[sizeof(testing_said)];

    memcpy(before, noted, sizeof(before));
    memcpy(said, testing_said, sizeof(said));
    fused = run_code(declarations, body, true);
    assert_int_equal(fused, plain);
    assert_int_equal(noted_count, count);
    assert_memory_equal(noted, before, sizeof(before));
    assert_string_equal(testing_said, said);
    return fused;
}

/* Evaluate one expression in the scope of a few variables. */
static double evaluate(const char *expression)
{
    char *body = xy_sprintf("<variable name='i' type='int' value='7'/>"
                            "<variable name='u' type='unsigned' value='3'/>"
                            "<variable name='l' type='long' value='1L &lt;&lt; 40'/>"
                            "<variable name='d' type='double' value='2.5'/>"
                            "<variable name='f' type='float' value='0.1f'/>"
                            "<variable name='c' type='char' value='200'/>"
                            "<variable name='a' type='int[2][3]' value='{{1, 2, 3}, {4, 5}}'/>"
                            "<variable name='p' type='int *' value='&amp;a[0][1]'/>"
                            "<kernel name='note' sizes=\"%s\"/>",
                            expression);
    xy_status_t st = run("", body);

    xy_free(body);
    if (st != XY_OK)
        fail_msg("%s: %s", expression, testing_said);
    assert_int_equal(noted_count, 1);
    return noted[0];
}

/* Instructions that are fused, and jumps into the middle of what could be: loops up and down by
 * different steps, limits that are constants and variables, elements inside and outside. */
static void test_fused(void **state)
{
    static const char *const steps[] = {"i++", "++i", "i += 3", "i = j + i + 1", "k++, i++"};
    static const char *const tests[] = {"i &lt; 5", "i &lt; n", "(n &gt; 2 ? i : j) &lt; 5",
                                        "i &lt; (n &gt; 2 ? 5 : n)", "i + 1 &lt; 6"};
    static const int least[] = {1, 1, 3, 1, 1};

    (void)state;
    for (size_t s = 0; s < 5; s++)
        for (size_t t = 0; t < 5; t++) {
            char *body = xy_sprintf("<variable name='i' type='int' value='0'/>"
                                    "<variable name='j' type='int' value='0'/>"
                                    "<variable name='k' type='int' value='0'/>"
                                    "<variable name='n' type='int' value='5'/>"
                                    "<variable name='a' type='int[5]' value='{2, 3, 5, 7, 11}'/>"
                                    "<for start='i = 0' test='%s' step='%s'>"
                                    "<kernel name='note' sizes='a[i] + 1, a[k], i'/></for>",
                                    tests[t], steps[s]);

            assert_int_equal(run("", body), XY_OK);
            xy_free(body);
            assert_int_equal(noted_count, 3 * ((4 + least[s]) / least[s]));
            assert_true(noted[0] == 3 && noted[noted_count - 1] == (least[s] == 3 ? 3 : 4));
        }
    assert_int_equal(run("", "<variable name='i' type='int' value='9'/>"
                             "<variable name='a' type='int[5]' value='{0}'/>"
                             "<kernel name='note' sizes='a[i]'/>"),
                     XY_EINVAL);
    assert_non_null(strstr(testing_said, "index 9 of an array of 5"));
}

static int count_fused(const char *body, op_t op)
{
    fixture_t f;
    int count = 0;

    assert_int_equal(open_fixture(&f, "", body), XY_OK);
    code_fuse(f.code);
    for (size_t i = 0; i < f.code->insns.count; i++)
        count += XY_VEC_AT(&f.code->insns, insn_t, i).op == op;
    close_fixture(&f);
    return count;
}

/* The operations that take most of the time of walks are fused, with the same results: steps of
 * loops (nothing is converted, so nothing stands between their instructions), elements of arrays
 * and of targets of pointers. */
static void test_fused_elements(void **state)
{
    static const struct {
        const char *statements;
        op_t op;
        double value;
    } cases[] = {
        {"<for start='i = 0' test='i &lt; 3' step='i++'/>", OP_STEP_AND_DROP, 3},
        {"<for start='i = 0' test='i &lt; 3' step='i += 2'/>", OP_STEP, 4},
        {"<do c='i = a[j]'/>", OP_ELEMENT_VALUE, 5},
        {"<do c='i = q[3]'/>", OP_CONSTANT_VALUE, 11},
        {"<do c='i = a[j ^ 1]'/>", OP_INDEX_VALUE, 7},
        {"<do c='i = j * 3'/>", OP_PUT, 6},
        {"<do c='i = 9'/>", OP_PUT_CONSTANT, 9},
    };

    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        char *body = xy_sprintf("<variable name='i' type='int' value='0'/>"
                                "<variable name='j' type='int' value='2'/>"
                                "<variable name='a' type='int[5]' value='{2, 3, 5, 7, 11}'/>"
                                "<variable name='q' type='int *' value='&amp;a[1]'/>"
                                "%s<kernel name='note' sizes='i'/>",
                                cases[k].statements);

        assert_true(count_fused(body, cases[k].op) > 0);
        assert_int_equal(run("", body), XY_OK);
        assert_true(noted[0] == cases[k].value);
        xy_free(body);
    }
    assert_int_equal(run("", "<variable name='a' type='int[5]' value='{0}'/>"
                             "<variable name='q' type='int *' value='a'/>"
                             "<kernel name='note' sizes='q[7000000]'/>"),
                     XY_EINVAL);
}

static void test_expressions(void **state)
{
    int i = 7, a[2][3] = {{1, 2, 3}, {4, 5}}, *p = &a[0][1];
    unsigned u = 3;
    long l = 1L << 40;
    double d = 2.5;
    float f = 0.1f;
    signed char c = (signed char)200; /* in descriptions char is signed, on every machine */

    (void)state;
#define CHECK(text, e) assert_true(evaluate(text) == (double)(e))
    CHECK("1 + 2 * 3", 1 + 2 * 3);
    CHECK("i / 2 * 2.0", 6);
    CHECK("-i / 2", (long)(-i / 2));
    CHECK("-i % 3", -i % 3);
    CHECK("u - 4", u - 4);
    CHECK("-1 &lt; u", 0); /* as unsigned numbers */
    CHECK("l + i", l + i);
    CHECK("2147483647 * 2L", 2147483647 * 2L);
    CHECK("0x10 + 010 + 'a' + '\\n'", 0x10 + 010 + 'a' + '\n');
    CHECK("'\\377' + '\\x41' * 10 + '\\0' + '\\e'", -1 + 0x41 * 10 + 033);
    CHECK("sizeof &quot;a\\0\\x4a\\r&quot; + &quot;a\\0\\x4a\\r&quot;[2] + &quot;\\r&quot;[0]",
          5 + 0x4a + '\r');
    CHECK("1e3 + .5 + 1.f", 1e3 + .5 + 1.f);
    CHECK("f * 3", f * 3);
    CHECK("f == 0.1", 0);
    CHECK("c", c);
    CHECK("(unsigned char)c", (unsigned char)c);
    CHECK("(int)d + (d &gt; 2 ? 10 : 20)", 12);
    CHECK("i &gt; 3 &amp;&amp; !(d &lt; 1) || 1 / (i - 7)", 1);
    CHECK("~i &amp; 0xff | 1 &lt;&lt; 9 ^ 3", (~i & 0xff) | ((1 << 9) ^ 3));
    CHECK("-17 &gt;&gt; 2", -17 >> 2);
    CHECK("a[1][1] * 10 + a[1][2]", a[1][1] * 10 + a[1][2]);
    CHECK("p[2] + *p + *(p + 1) + p[1]", p[2] + *p + *(p + 1) + p[1]);
    CHECK("&amp;a[1][0] - p", &a[1][0] - p);
    CHECK("sizeof(double) + sizeof a + sizeof(int *) + sizeof(MPI_Status)", 8 + 24 + 8 + 32);
    CHECK("(i += 3, i *= 2, i -= 1, i++ + ++i)", 19 + 21);
    CHECK("d /= 2", d / 2);
    CHECK("i = d = 3.9", 3);
    CHECK("*p++ + *p", 2 + 3);
    CHECK("max(i, d) + min(1, 2u)", 8);
    CHECK("sqrt(i + 2.) + pow(2, 10) + abs(-3) + floor(-0.5)", 3 + 1024 + 3 - 1);
    CHECK("atoi(argv[2]) + strlen(&quot;ab\\&quot;c&quot; &quot;d&quot;) + argc", 12 + 5 + 7);
    CHECK("strcmp(argv[1], &quot;-n&quot;) == 0 ? strtol(argv[2], NULL, 16) : -1", 0x12);
    CHECK("MPI_Wtime() * MPI_ANY_SOURCE", -1.5);
#undef CHECK
}

static void test_statements(void **state)
{
    (void)state;
    assert_int_equal(
        run("<struct name='grid'><field name='n' type='int'/><field name='h' type='double[2]'/>"
            "</struct>"
            "<variable name='total' type='long'/>"
            "<function name='fib' type='int'><parameter name='n' type='int'/>"
            "<if c='n &lt; 2'><return c='n'/></if><return c='fib(n - 1) + fib(n - 2)'/></function>"
            "<function name='make' type='struct grid'><parameter name='n' type='int'/>"
            "<variable name='g' type='struct grid' value='{n, {0.5}}'/><return c='g'/></function>"
            "<function name='add'><parameter name='g' type='struct grid *'/>"
            "<parameter name='by' type='int'/><do c='g->n += by'/><do c='g->h[1] = by'/>"
            "</function>"
            "<function name='sum' type='double'><parameter name='a' type='struct grid'/>"
            "<parameter name='b' type='struct grid'/><return c='a.n + b.n + a.h[0] + b.h[1]'/>"
            "</function>",
            "<kernel name='note' sizes='fib(12)'/>"
            "<variable name='g' type='struct grid' value='make(4)'/>"
            "<do c='add(&amp;g, 3)'/>"
            "<kernel name='note' sizes='g.n, g.h[0], g.h[1]'/>"
            "<kernel name='note' sizes='sum(make(10), make(20)), make(5).n'/>"
            "<for start='int i = 0, j = 10' test='i &lt; j' step='i++, j--'>"
            "<if c='i == 1'><continue/></if><do c='total += i * 100 + j'/>"
            "<if c='i == 3'><break/></if></for>"
            "<kernel name='note' sizes='total'/>"
            "<variable name='k' type='int' value='0'/>"
            "<repeat c='k &lt; 5'><do c='k += 2'/></repeat>"
            "<while c='1'><if c='--k == 0'><break/><else><block/></else></if></while>"
            "<compute name='loop' count='k + 9'/>"
            "<for start='k = 0' test='k &lt; 4' step='k++'><switch c='k'><case value='0'/>"
            "<case value='1'/><do c='total = k'/><break/><case value='2'/><continue/><default/>"
            "<do c='total = -1'/></switch><kernel name='note' sizes='total'/></for>"),
        XY_OK);
    assert_int_equal(noted_count, 11);
    assert_true(noted[0] == 144);
    assert_true(noted[1] == 7 && noted[2] == 0.5 && noted[3] == 3);
    assert_true(noted[4] == 30.5 && noted[5] == 5);
    assert_true(noted[6] == 10 + 208 + 307);
    assert_true(noted[7] == 9);
    assert_true(noted[8] == 0 && noted[9] == 1 && noted[10] == -1);
}

static void test_memory(void **state)
{
    (void)state;
    assert_int_equal(run("", "<variable name='n' type='int' value='5'/>"
                             "<variable name='a' type='int[n]'/>"
                             "<variable name='q' type='int *' value='malloc(n * sizeof(int))'/>"
                             "<for start='int i = 0' test='i &lt; n' step='i++'>"
                             "<do c='a[i] = i'/><do c='q[n - 1 - i] = a[i] * a[i]'/></for>"
                             "<kernel name='note' sizes='q[0], q[4], a[4]'/><do c='free(q)'/>"
                             "<for start='int i = 0' test='i &lt; 1000' step='i++'>"
                             "<do c='free(malloc(100000))'/></for>"),
                     XY_OK);
    assert_true(noted[0] == 16 && noted[1] == 0 && noted[2] == 4);
}

static void test_getopt(void **state)
{
    (void)state;
    assert_int_equal(run("",
                         "<variable name='c' type='int' value='0'/><while c='(c = getopt(argc, "
                         "argv, \"n:vx:\")) != "
                         "-1'><switch c='c'><case value=\"'n'\"/><case value=\"'x'\"/>"
                         "<kernel name='note' sizes='c, atoi(optarg)'/><break/><default/>"
                         "<kernel name='note' sizes='c, optind'/></switch></while>"
                         "<kernel name='note' sizes='optind, strcmp(argv[optind], \"file\")'/>"),
                     XY_OK);
    assert_int_equal(noted_count, 8);
    assert_true(noted[0] == 'n' && noted[1] == 12);
    assert_true(noted[2] == 'v');
    assert_true(noted[4] == 'x' && noted[5] == 3);
    assert_true(noted[6] == 6 && noted[7] == 0);
}

/* It continues where it stopped, in the middle of functions. */
static void test_waiting(void **state)
{
    (void)state;
    assert_int_equal(run("<function name='f' type='int'><parameter name='n' type='int'/>"
                         "<mpi call='MPI_Send' count='n' datatype='MPI_INT' dest='0' tag='0' "
                         "comm='MPI_COMM_WORLD'/><return c='n + 1'/></function>",
                         "<kernel name='note' sizes='f(1) * 10 + f(f(4))'/><do c='exit(0)'/>"
                         "<kernel name='note' sizes='0'/>"),
                     XY_OK);
    assert_int_equal(noted_count, 4);
    assert_true(noted[0] == 1 && noted[1] == 4 && noted[2] == 5 && noted[3] == 26);
}

static void check_bad(const char *body, const char *message)
{
    assert_int_not_equal(run("", body), XY_OK);
    if (strstr(testing_said, message) == NULL)
        fail_msg("%s: %s", body, testing_said);
    assert_int_equal(testing_said_count, 1);
}

static void test_bad(void **state)
{
    (void)state;
    check_bad("<do c='1 +' line='9'/>", "a.c:9: unexpected end");
    check_bad("<do c='(1' line='9'/>", "a ')' is missing in the expression '(1'");
    check_bad("<do c='x = 1' line='9'/>", "a.c:9: 'x' is not known here");
    check_bad("<do c='f(1)'/>", "the function f() is not known");
    check_bad("<do c='1 = 2'/>", "the address of a value that has none");
    check_bad("<do c='1 $ 2'/>", "a character that C does not have");
    check_bad("<break line='4'/>", "a.c:4: <break> outside of a loop");
    check_bad("<variable name='x' type='foo'/>", "a type that is not known");
    check_bad("<variable name='x' type='int' value='0'/><do c='x.y'/>", "of a non-struct");
    check_bad("<mpi call='MPI_Send' line='3'/>", "a.c:3: MPI_Send needs count=");
    check_bad("<do c='argc / (argc - 7)' line='5'/>", "a.c:5: process 3: a division by zero");
    check_bad("<variable name='a' type='int[3]' value='{0}'/><do c='a[argc]' line='5'/>",
              "a.c:5: process 3: index 7 of an array of 3");
    check_bad("<variable name='p' type='int *' value='0'/><do c='*p' line='5'/>",
              "a pointer that is NULL");
    check_bad("<variable name='p' type='int *' value='malloc(8)'/><do c='p[2] = 1'/>",
              "byte 12 of an array of 8 bytes");
    check_bad("<while c='1' line='6'/>", "a.c:6: process 3: loops have made 100001 passes");
    check_bad("<unknown name='eps' reason='received' target='argc' line='8'/>",
              "not known: eps (line 8: received); give it with --assume NAME=VALUE");
    check_bad("<do c='malloc(1L &lt;&lt; 50)'/>", "MiB of memory");
    assert_int_not_equal(
        run("<function name='f'><do c='f()' line='2'/></function>", "<do c='f()'/>"), XY_OK);
    assert_non_null(strstr(testing_said, "a recursion without end?"));
}

static void test_assume(void **state)
{
    static const code_assume_t assumed[] = {{"eps", "argc * 2"}, {"other", "1"}};
    const char *text =
        "<program version='1'><function name='main'><parameter name='argc' type='int'/>"
        "<unknown name='eps' reason='received' target='argc'/>"
        "<kernel name='note' sizes='argc'/></function></program>";
    process_config_t config = {.ops = &ops, .argc = 4, .pass_limit = 1, .stack_limit = 4096};
    static const char *const argv[] = {"a", "b", "c", "d"};
    xy_program_t *program;
    process_t process;
    code_t *code;

    (void)state;
    testing_listen();
    assert_int_equal(xy_program_parse(text, strlen(text), "p.xml", &program), XY_OK);
    assert_int_equal(code_compile(program, assumed, 2, &code), XY_EUSAGE);
    assert_string_equal(testing_said,
                        "the description has no unknown value 'other'; there are: eps");
    assert_int_equal(code_compile(program, assumed, 1, &code), XY_OK);
    config.code = code;
    config.argv = argv;
    noted_count = 0;
    assert_int_equal(process_init(&process, &config, 0), XY_OK);
    assert_true(process_run(&process));
    assert_true(noted_count == 1 && noted[0] == 8);
    process_cleanup(&process);
    code_destroy(code);
    xy_program_destroy(program);
}

/* All numbers and handles of mpi.h, and constants of the C library. */
static void test_constants(void **state)
{
    (void)state;
    assert_true(evaluate("MPI_ERR_TRUNCATE") == MPI_ERR_TRUNCATE);
    assert_true(evaluate("MPI_MAX_PROCESSOR_NAME") == MPI_MAX_PROCESSOR_NAME);
    assert_true(evaluate("(long)MPI_INTEGER8") == (double)(uintptr_t)MPI_INTEGER8);
    assert_true(evaluate("MPI_C_COMPLEX == MPI_C_FLOAT_COMPLEX") == 1);
    assert_true(evaluate("sizeof(MPI_UNDEFINED)") == sizeof(int));
    assert_true(evaluate("sizeof(MPI_SUM)") == sizeof(MPI_Op));
    assert_true(evaluate("(long)MPI_IN_PLACE") == 1);
    assert_true(evaluate("INT_MAX") == INT_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fused),       cmocka_unit_test(test_fused_elements),
        cmocka_unit_test(test_expressions), cmocka_unit_test(test_statements),
        cmocka_unit_test(test_memory),      cmocka_unit_test(test_getopt),
        cmocka_unit_test(test_waiting),     cmocka_unit_test(test_bad),
        cmocka_unit_test(test_assume),      cmocka_unit_test(test_constants),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
