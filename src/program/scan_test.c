/* SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "program/scan.h"
#include "testing/program.h"

/* The description of one source, as text; the caller frees it. NULL: it failed. */
static char *scan_with(const xy_scan_options_t *more, const char *source)
{
    xy_scan_options_t options = more != NULL ? *more : (xy_scan_options_t){0};
    char path[] = "/tmp/xylem-scan-XXXXXX.c";
    const char *paths[] = {path};
    int fd = mkstemps(path, 2);
    xy_scan_t *scan = NULL;
    char *text = NULL;
    xy_status_t st;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, source, strlen(source)), (ssize_t)strlen(source));
    close(fd);
    options.include = XYLEM_INCLUDE_DIR;
    testing_listen();
    st = xy_scan_run(&options, 1, paths, &scan);
    unlink(path);
    if (st != XY_OK)
        return NULL;
    text = testing_print(xy_scan_program(scan));
    xy_scan_free(scan);
    return text;
}

static char *scan(const char *source)
{
    char *text = scan_with(NULL, source);

    if (text == NULL)
        print_error("%s\n", testing_said);
    assert_non_null(text);
    return text;
}

#define PROGRAM(body)                                                                              \
    "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n"                                  \
    "int main(int argc, char **argv)\n{\n    int rank, size;\n    MPI_Init(&argc, &argv);\n"       \
    "    MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n    MPI_Comm_size(MPI_COMM_WORLD, &size);\n" body  \
    "    MPI_Finalize();\n    return 0;\n}\n"

static void check_has(const char *source, const char *part)
{
    char *text = scan(source);

    if (strstr(text, part) == NULL)
        print_error("no '%s' in\n%s\n", part, text);
    assert_non_null(strstr(text, part));
    free(text);
}

static void check_lacks(const char *source, const char *part)
{
    char *text = scan(source);

    if (strstr(text, part) != NULL)
        print_error("'%s' in\n%s\n", part, text);
    assert_null(strstr(text, part));
    free(text);
}

static void check_refused(const char *source, const char *message)
{
    char *text = scan_with(NULL, source);

    if (text != NULL || strstr(testing_said, message) == NULL)
        print_error("'%s' instead of '%s'\n", testing_said, message);
    assert_null(text);
    assert_non_null(strstr(testing_said, message));
}

/* Variables that steer messages are kept; those that only fill their buffers are not. */
static void test_slice(void **state)
{
    static const char timed[] = PROGRAM("double t = MPI_Wtime();\nMPI_Barrier(MPI_COMM_WORLD);\n"
                                        "printf(\"%g\", MPI_Wtime() - t);\n");
    static const char send[] =
        PROGRAM("int n = argc > 1 ? atoi(argv[1]) : 10, m = 7;\ndouble *a = malloc(n * 8);\n"
                "m = n / 2;\nprintf(\"%d\\n\", m);\na[0] = n;\n"
                "if (rank == 0) MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);\n");

    (void)state;
    check_has(send, "value=\"argc &gt; 1 ? atoi(argv[1]) : 10\"");
    check_has(send, "<if c=\"rank == 0\"");
    check_has(send, "<mpi call=\"MPI_Send\" count=\"n\" datatype=\"MPI_DOUBLE\" dest=\"1\"");
    check_lacks(send, "name=\"a\"");
    check_lacks(send, "m = n / 2");
    check_lacks(send, "printf");
    /* Looking at the clock takes time, whatever is done with it. */
    check_has(timed, "<do c=\"MPI_Wtime()\" line=\"10\"");
    check_has(timed, "<do c=\"MPI_Wtime()\" line=\"12\"");
}

/* A variable that serves two loops is followed where it is needed, not where it has that name. */
static void test_reused_variable(void **state)
{
    static const char source[] =
        PROGRAM("static int a[100];\nint i;\nfor (i = 0; i < 100; i++) a[i] = i;\n"
                "for (i = 1; i < size; i++)\n"
                "    if (rank == 0) MPI_Send(a, 100, MPI_INT, i, 0, MPI_COMM_WORLD);\n"
                "    else if (rank == i) MPI_Recv(a, 100, MPI_INT, 0, 0, MPI_COMM_WORLD, "
                "MPI_STATUS_IGNORE);\n");

    (void)state;
    check_has(source, "count=\"100\" line=\"12\"");
    check_has(source, "<for start=\"i = 1\" test=\"i &lt; size\" step=\"i++\"");
    check_lacks(source, "a[i]");
    check_lacks(source, "start=\"i = 0\"");
}

/* Plain char is what the target, or a flag, says. */
static void test_plain_char(void **state)
{
    static const char source[] =
        PROGRAM("char c = 0;\nif (argc > 1) c = argv[1][0];\n"
                "for (int i = 0; i < c; i++) MPI_Barrier(MPI_COMM_WORLD);\n");
    static const char *const flags[][2] = {{"-funsigned-char", NULL}, {"-fsigned-char", NULL}};
    static const char *const types[] = {"name=\"c\" type=\"unsigned char\"",
                                        "name=\"c\" type=\"char\""};

    (void)state;
    for (int i = 0; i < 2; i++) {
        char *text = scan_with(&(xy_scan_options_t){.flags = flags[i]}, source);

        assert_non_null(text);
        assert_non_null(strstr(text, types[i]));
        free(text);
    }
}

static void test_work(void **state)
{
    (void)state;
    check_has(PROGRAM("double s = 0;\nfor (int i = 0; i < size; i++)\n"
                      "for (int j = 2; j < 2 * rank; j += 3)\ns += i * j;\nprintf(\"%g\", s);\n"),
              "count=\"size * (2 * rank / 3)\"");
    /* A triangle: the outer loop stays. */
    check_has(PROGRAM("double s = 0;\nfor (int i = 0; i < size; i++)\n"
                      "for (int j = 0; j < i; j++)\ns += i * j;\nprintf(\"%g\", s);\n"),
              "<for start=\"int i = 0\" test=\"i &lt; size\" step=\"i++\" line=\"11\">\n      "
              "<compute name=");
    check_has(PROGRAM("double s = 1;\nwhile (s < 100)\ns *= 1.5;\nprintf(\"%g\", s);\n"),
              "count=\"1\" line=\"11\"");
}

static void test_functions(void **state)
{
    static const char source[] =
        "#include <mpi.h>\ntypedef struct { int rank, size; double load; } world_t;\n"
        "static void split(int n, int *first, int *count, const world_t *w, double *sum)\n"
        "{\n*first = n * w->rank / w->size;\n*count = n / w->size;\n*sum = n;\n}\n"
        "int main(int argc, char **argv)\n{\nworld_t w;\nint first, count;\ndouble sum[1000];\n"
        "MPI_Init(&argc, &argv);\nMPI_Comm_rank(MPI_COMM_WORLD, &w.rank);\n"
        "MPI_Comm_size(MPI_COMM_WORLD, &w.size);\nw.load = 1;\n"
        "split(100, &first, &count, &w, sum);\n"
        "MPI_Bcast(sum, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);\nMPI_Finalize();\n}\n";

    (void)state;
    check_has(source, "<do c=\"split(100, &amp;count, &amp;w)\"");
    check_has(source, "<do c=\"*count = n / w-&gt;size\"");
    check_has(source, "<field name=\"size\" type=\"int\"/>");
    check_lacks(source, "first");
    check_lacks(source, "load");
}

/* Parameters that are written as arrays are pointers. */
static void test_array_parameters(void **state)
{
    static const char source[] =
        "#include <mpi.h>\nstatic void fill(int m[], int n, int k[][2])\n"
        "{\nfor (int i = 0; i < n; i++) m[i] = k[i][1] = i;\n}\n"
        "int main(int argc, char *argv[])\n{\nint counts[4], pairs[4][2];\n"
        "MPI_Init(&argc, &argv);\nfill(counts, 4, pairs);\n"
        "MPI_Bcast(0, counts[1] + pairs[2][1], MPI_INT, 0, MPI_COMM_WORLD);\nMPI_Finalize();\n}\n";

    (void)state;
    check_has(source, "<parameter name=\"m\" type=\"int *\"");
    check_has(source, "<do c=\"m[i] = k[i][1] = i\"");
    check_has(source, "<do c=\"fill(counts, 4, pairs)\"");
}

/* A value that the root reads reaches the others with the message. */
static void test_carried(void **state)
{
    static const char source[] =
        PROGRAM("int n = 0;\nlong m = 0;\nif (rank == 0) n = atoi(argv[1]);\n"
                "MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);\n"
                "MPI_Bcast(&m, 1, MPI_LONG, 0, MPI_COMM_WORLD);\n"
                "for (int i = 0; i < n; i++) MPI_Barrier(MPI_COMM_WORLD);\n");

    (void)state;
    check_has(source, "<mpi call=\"MPI_Bcast\" buffer=\"&amp;n\" count=\"1\"");
    check_lacks(source, "&amp;m");
    check_has(
        PROGRAM("int n = 5;\nif (rank == 0) MPI_Send(&n, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);\n"
                "if (rank == 1) { int k; MPI_Recv(&k, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, "
                "MPI_STATUS_IGNORE);\nMPI_Send(argv, k, MPI_BYTE, 2, 4, MPI_COMM_WORLD); }\n"),
        "<mpi call=\"MPI_Send\" buf=\"&amp;n\"");
}

/* The data of a collective may come from another call of it; text is followed to its writer. */
static void test_two_places(void **state)
{
    static const char source[] =
        PROGRAM("int n = 3;\nchar text[40];\nif (rank == 0) {\nn = 50;\n"
                "MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);\n} else {\nint k = 0;\n"
                "MPI_Bcast(&k, 1, MPI_INT, 0, MPI_COMM_WORLD);\n"
                "sprintf(text, \"%d\", k);\n"
                "MPI_Send(text, strlen(text), MPI_CHAR, 0, 0, MPI_COMM_WORLD);\n}\n");

    (void)state;
    check_has(source, "<do c=\"n = 50\"");
    check_has(source, "buffer=\"&amp;n\"");
    check_has(source, "<do c=\"sprintf(text, ");
}

static void check_team_refused(const char *source, const char *words)
{
    char *text = scan_with(&(xy_scan_options_t){.threads = 4}, source);

    assert_null(text);
    if (strstr(testing_said, words) == NULL)
        fail_msg("%s, not %s", testing_said, words);
}

/* Teams of threads: their parts, and what they do to values that are needed. */
static void test_openmp(void **state)
{
    static const char loop[] = PROGRAM(
        "double x[100];\nint n = argc * 8;\n#pragma omp parallel for schedule(dynamic, 3) \\\n"
        "  num_threads(n / 2) if (n > 4) // so\n"
        "for (int i = 0; i < 100; i++) x[i] = i;\n");
    static const char *const expected[] = {"<team name=\"parallel\" sizes=\"n &gt; 4 ? n / 2 : 1\"",
                                           "<team name=\"dynamic\" sizes=\"100, 3\"", "<compute",
                                           "<team name=\"end\""};
    char *text;

    (void)state;
    check_has(loop, "<compute");
    text = scan_with(&(xy_scan_options_t){.threads = 4}, loop);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        if (strstr(text, expected[i]) == NULL)
            fail_msg("no %s in %s", expected[i], text);
    xy_free(text);
    assert_null(scan_with(&(xy_scan_options_t){.threads = -1}, loop));
    assert_non_null(strstr(testing_said, "the number of threads of a team is not known"));
    text = scan_with(&(xy_scan_options_t){.threads = -1},
                     PROGRAM("double x[100];\n/*\n#pragma omp parallel\n*/\n#pragma omp simd\n"
                             "for (int i = 0; i < 100; i++) x[i] = i;\n"));
    assert_non_null(text);
    xy_free(text);
    check_team_refused(PROGRAM("#pragma omp parallel\nMPI_Barrier(MPI_COMM_WORLD);\n"),
                       "several threads");
    check_team_refused(PROGRAM("#pragma omp parallel\n{\n#pragma omp task\n;\n}\n"),
                       "task is not predicted");
    check_team_refused(
        PROGRAM("#pragma omp parallel for schedule(guided)\nfor (int i = 0; i < 9; i++);\n"),
        "schedule(guided) is not predicted");
    check_team_refused(PROGRAM("#pragma omp parallel\n#pragma omp parallel\n;\n"),
                       "inside of another team");
}

/* A jump is kept where it goes past something that is kept. */
static void test_goto(void **state)
{
    static const char source[] =
        PROGRAM("int n = 0;\nif (size > 3) goto end;\nMPI_Barrier(MPI_COMM_WORLD);\n"
                "end:\nif (size > 4) goto last;\nn = 1;\nlast: n++;\n");

    (void)state;
    check_has(source, "<goto label=\"end\"");
    check_has(source, "<label name=\"end\"");
    check_lacks(source, "last");
}

/* A persistent request sends the contents of its buffer at the start. */
static void test_persistent(void **state)
{
    static const char source[] =
        PROGRAM("int n = 0;\nlong m = 0;\nMPI_Request r[2];\n"
                "MPI_Bcast_init(&n, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);\n"
                "MPI_Bcast_init(&m, 1, MPI_LONG, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);\n"
                "n = atoi(argv[1]);\nMPI_Startall(2, r);\n"
                "MPI_Waitall(2, r, MPI_STATUSES_IGNORE);\n"
                "for (int i = 0; i < n; i++) MPI_Barrier(MPI_COMM_WORLD);\n");

    (void)state;
    check_has(source, "<mpi call=\"MPI_Bcast_init\" buffer=\"&amp;n\" count=\"1\"");
    check_has(source, "<do c=\"n = atoi(argv[1])\"");
    check_lacks(source, "&amp;m");
    check_has(
        PROGRAM("int n = 5;\nMPI_Request r;\nif (rank == 0) {\n"
                "MPI_Send_init(&n, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &r);\nn = argc;\n"
                "MPI_Start(&r);\nMPI_Wait(&r, MPI_STATUS_IGNORE);\n}\n"
                "if (rank == 1) { int k; MPI_Recv(&k, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, "
                "MPI_STATUS_IGNORE);\nMPI_Send(argv, k, MPI_BYTE, 2, 4, MPI_COMM_WORLD); }\n"),
        "<do c=\"n = argc\"");
}

static void test_unknown(void **state)
{
    static const char source[] =
        PROGRAM("double *x = malloc(800), e = 1;\nint n = rand();\nwhile (e > 0.1) {\n"
                "e = 0;\nfor (int i = 0; i < 100; i++) e += x[i];\n"
                "MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);\n}\n");
    static const char *const assumed[] = {"n=100", NULL};
    static const char *const wrong[] = {"k=100", NULL};
    char *text;

    (void)state;
    check_has(source, "<unknown name=\"n\" reason=\"result of rand()\" target=\"n\"");
    check_has(source, "<unknown name=\"e\" reason=\"computed from data (x)\" target=\"e\"");
    check_has(source, "sendbuf=\"MPI_IN_PLACE\"");
    text = scan_with(&(xy_scan_options_t){.assumed = assumed}, source);
    assert_non_null(text);
    assert_non_null(strstr(text, "<do c=\"n = 100\""));
    assert_null(strstr(text, "name=\"n\" reason"));
    free(text);
    assert_null(scan_with(&(xy_scan_options_t){.assumed = wrong}, source));
    assert_non_null(strstr(testing_said, "no unknown value has that name"));
}

static void test_kernels(void **state)
{
    static const char source[] =
        "#include <mpi.h>\n"
        "void cblas_dgemm(int, int, int, int, int, int, double, const double *, int, "
        "const double *, int, double, double *, int);\n"
        "void relax(double *a, int rows, int columns) { for (int i = 0; i < rows; i++) a[i] = 0; "
        "}\n"
        "int main(int argc, char **argv)\n{\ndouble a[8];\nint n = argc;\nMPI_Init(&argc, &argv);\n"
        "cblas_dgemm(101, 111, 111, n, 2, n / 2, 1.0, a, n, a, 2, 0.0, a, 2);\n"
        "relax(a, n, 3);\nMPI_Finalize();\n}\n";
    static const char *const kernels[] = {"relax", NULL};
    char *text = scan_with(&(xy_scan_options_t){.kernels = kernels}, source);

    (void)state;
    assert_non_null(text);
    assert_non_null(strstr(text, "<kernel name=\"dgemm\" sizes=\"n, 2, n / 2\""));
    assert_non_null(strstr(text, "<kernel name=\"relax\" sizes=\"n, 3\""));
    assert_null(strstr(text, "<function name=\"relax\""));
    free(text);
}

/* Failures are assumed not to happen; what the slice can follow is tested. */
static void test_failures(void **state)
{
    static const char source[] =
        PROGRAM("double *a = malloc(80);\nif (a == NULL) MPI_Abort(MPI_COMM_WORLD, 1);\n"
                "if (size < 2) { printf(\"two\\n\"); MPI_Abort(MPI_COMM_WORLD, 2); }\n"
                "MPI_Barrier(MPI_COMM_WORLD);\n");

    (void)state;
    check_lacks(source, "errorcode=\"1\"");
    check_has(source, "<if c=\"size &lt; 2\"");
    check_has(source, "errorcode=\"2\"");
}

/* Every statement that communicates is read from clang. */
static void test_all_is_read(void **state)
{
    (void)state;
    check_has(PROGRAM("#define ONE(n) do { int e = MPI_Bcast(&size, n, MPI_INT, 0, "
                      "MPI_COMM_WORLD); if (e != 0) MPI_Abort(MPI_COMM_WORLD, 1); } while (0);\n"
                      "#define BOTH ONE(10) ONE(20)\nBOTH\n"),
              "count=\"20\"");
    check_has(PROGRAM("#pragma GCC unroll 2\nfor (int i = 0; i < 3; i++)\n"
                      "MPI_Bcast(&size, i, MPI_INT, 0, MPI_COMM_WORLD);\n"),
              "<for start=\"int i = 0\"");
    check_has(PROGRAM("int (*f)(MPI_Comm) = MPI_Barrier;\nf(MPI_COMM_WORLD);\n"),
              "<mpi call=\"MPI_Barrier\"");
    check_has("#include <mpi.h>\nstatic void f(int n) { MPI_Bcast(&n, n, MPI_INT, 0, "
              "MPI_COMM_WORLD); }\nstatic void g(int n) { MPI_Barrier(MPI_COMM_WORLD); }\n"
              "int main(int argc, char **argv)\n{\nvoid (*p[2])(int) = {f, g};\n"
              "MPI_Init(&argc, &argv);\np[argc % 2](argc);\nMPI_Finalize();\n}\n",
              "<if c=\"p[argc % 2] == 1\"");
}

/* Shared memory, and dependence on data, is listed, not guessed. */
static void test_shared_memory(void **state)
{
    (void)state;
    check_has(PROGRAM("struct { unsigned a : 3; int b : 5; } s = {5, 2};\ns.a += 4;\ns.b++;\n"
                      "MPI_Bcast(&size, s.a + s.b, MPI_INT, 0, MPI_COMM_WORLD);\n"),
              "<do c=\"s.a = s.a + 4 &amp; 7u\"");
    check_has(PROGRAM("struct { int n; union { int u; float f; }; } s = {.n = 1, .u = 4};\n"
                      "MPI_Bcast(&size, s.u, MPI_INT, 0, MPI_COMM_WORLD);\n"),
              "reason=\"in a union (u)\"");
    check_has("#include <mpi.h>\n#include <stdio.h>\n"
              "int main(int argc, char **argv)\n{\nchar line[80]; int n = 0, m = 0;\n"
              "MPI_Init(&argc, &argv);\n"
              "if (!fgets(line, 80, stdin) || sscanf(line, \"%d %d\", &n, &m) != 2)\n"
              "MPI_Abort(MPI_COMM_WORLD, 1);\n"
              "sscanf(argv[1], \"%d\", &m);\n"
              "MPI_Bcast(&argc, n + m, MPI_INT, 0, MPI_COMM_WORLD);\nMPI_Finalize();\n}\n",
              "<do c=\"sscanf(argv[1], &quot;%d&quot;, &amp;m)\"");
}

/* Members that nothing needs are left out, but where the layout of a struct matters. */
static void test_layout(void **state)
{
    (void)state;
    check_lacks(PROGRAM("struct { int a, b; double c; } s;\ns.b = size;\n"
                        "MPI_Bcast(&size, s.b, MPI_INT, 0, MPI_COMM_WORLD);\n"),
                "<field name=\"c\"");
    check_has(PROGRAM("struct { int a, b; double c; } s;\ns.b = size;\n"
                      "MPI_Bcast(&s, sizeof(s), MPI_BYTE, 0, MPI_COMM_WORLD);\n"
                      "MPI_Bcast(&size, s.b, MPI_INT, 0, MPI_COMM_WORLD);\n"),
              "<field name=\"c\"");
}

static void test_refused(void **state)
{
    (void)state;
    check_refused("int main(void) { return x; }\n", ".c:1: use of undeclared identifier 'x'");
    check_refused("#include <mpi.h>\nint f(void) { return 1; }\n", "no function main()");
    check_refused("int main(void) { return 0; }\n", "calls no MPI function");
    check_refused(PROGRAM("void *to = &&again;\nagain: MPI_Barrier(MPI_COMM_WORLD);\n"
                          "if (size > 3) goto *to;\n"),
                  "a goto to a computed label is not understood in main()");
    check_refused("#include <mpi.h>\nstatic void f(void) { MPI_Barrier(MPI_COMM_WORLD); }\n"
                  "int main(void) { void (*p)(int) = 0, (*q)(void) = f;\nMPI_Init(0, 0); p(1);\n"
                  "MPI_Finalize(); return q != 0; }\n",
                  ".c:4: a call through a function pointer");
    check_refused(PROGRAM("int n = ({ MPI_Barrier(MPI_COMM_WORLD); 3; });\n"
                          "MPI_Bcast(&size, n, MPI_INT, 0, MPI_COMM_WORLD);\n"),
                  "inside of an expression that is not evaluated");
    check_refused(PROGRAM("struct { struct { int n; } a; } s = {.a.n = 3};\n"
                          "MPI_Bcast(&size, s.a.n, MPI_INT, 0, MPI_COMM_WORLD);\n"),
                  "an initial value of a part of a part");
    check_refused(PROGRAM("while (size < *(int[]){rank}) MPI_Barrier(MPI_COMM_WORLD);\n"),
                  "a value without a name");
    check_refused(
        PROGRAM("MPI_Win w;\nMPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w);\n"),
        "MPI_Win_create_dynamic cannot be simulated");
}

#define IN_WINDOW(reader)                                                                          \
    PROGRAM("MPI_Win w;\nint *p, got = 0;\n"                                                       \
            "MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w);\np[0] = rank * 3;\n"   \
            "MPI_Win_fence(0, w);\nMPI_Put(&rank, 1, MPI_INT, 0, 1, 1, MPI_INT, w);\n"             \
            "MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, w);\nMPI_Win_fence(0, w);\n"              \
            "MPI_Bcast(&size, " reader ", MPI_BYTE, 0, MPI_COMM_WORLD);\nMPI_Win_free(&w);\n")

/* The memory of windows is kept where something depends on it, here or on another rank. */
static void test_windows(void **state)
{
    static const char *const readers[] = {IN_WINDOW("got"), IN_WINDOW("p[1]")};

    (void)state;
    check_lacks(IN_WINDOW("4"), "baseptr");
    check_lacks(IN_WINDOW("4"), "origin_addr");
    check_lacks(IN_WINDOW("4"), "rank * 3");
    check_has(IN_WINDOW("got"), "<mpi call=\"MPI_Get\" origin_addr=\"&amp;got\"");
    for (int i = 0; i < 2; i++) {
        check_has(readers[i], "<do c=\"p[0] = rank * 3\"");
        check_has(readers[i], "baseptr=\"&amp;p\"");
        check_has(readers[i], "<mpi call=\"MPI_Put\" origin_addr=\"&amp;rank\"");
    }
}

/* Values of files are not known; other data of files is left out. */
static void test_files(void **state)
{
    static const char file[] =
        PROGRAM("MPI_File f;\nint n = 3, data[9];\nMPI_Status st;\n"
                "MPI_File_open(MPI_COMM_WORLD, \"a\", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);\n"
                "MPI_File_read(f, &n, 1, MPI_INT, &st);\n"
                "MPI_File_read_at(f, 4, data, 9, MPI_INT, &st);\n"
                "MPI_Bcast(&size, n, MPI_BYTE, 0, MPI_COMM_WORLD);\nMPI_File_close(&f);\n");

    (void)state;
    check_has(file, "<unknown name=\"n\" reason=\"set by MPI_File_read()\"");
    check_has(file, "<mpi call=\"MPI_File_read\"");
    check_lacks(file, "\"data");
    check_refused(PROGRAM("MPI_File f;\nMPI_File_read_all_end(f, 0, 0);\n"),
                  "MPI_File_read_all_end cannot be simulated");
}

/* What a jump or a case inside of a loop skips is kept, and so is the loop that it leaves. */
static void test_jumps(void **state)
{
    (void)state;
    check_has(PROGRAM("for (int i = 0; i < 9; i++) {\nMPI_Barrier(MPI_COMM_WORLD);\n"
                      "if (i == size)\ngoto out;\n}\nout:;\n"),
              "<goto label=\"out\"");
    check_has(PROGRAM("int n = size;\nswitch (n % 2) {\ncase 0:\ndo {\n"
                      "MPI_Barrier(MPI_COMM_WORLD);\ncase 1:;\n} while (--n > 0);\n}\n"),
              "<case value=\"1\"");
    check_has(PROGRAM("#define LEAVE if (rank == size) goto out; MPI_Barrier(MPI_COMM_WORLD)\n"
                      "LEAVE;\nout:;\n"),
              "<goto label=\"out\"");
}

/* With the k-th allocation failing, it fails in one message and loses nothing. */
static void test_memory(void **state)
{
    static const char source[] = PROGRAM("for (int i = 0; i < size; i++) "
                                         "MPI_Bcast(&rank, i, MPI_INT, 0, MPI_COMM_WORLD);\n");
    char *text = scan(source);

    (void)state;
    free(text);
    for (long k = 1;; k++) {
        bool is_hit;

        xy_memory_fail_at(k);
        text = scan_with(NULL, source);
        is_hit = xy_memory_fail_hit() != 0;
        xy_memory_fail_at(0);
        assert_true(is_hit || text != NULL);
        free(text);
        if (!is_hit)
            break;
        assert_null(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slice),      cmocka_unit_test(test_reused_variable),
        cmocka_unit_test(test_plain_char), cmocka_unit_test(test_work),
        cmocka_unit_test(test_functions),  cmocka_unit_test(test_array_parameters),
        cmocka_unit_test(test_carried),    cmocka_unit_test(test_two_places),
        cmocka_unit_test(test_goto),       cmocka_unit_test(test_openmp),
        cmocka_unit_test(test_persistent), cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_kernels),    cmocka_unit_test(test_failures),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_all_is_read),
        cmocka_unit_test(test_layout),     cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_memory),     cmocka_unit_test(test_windows),
        cmocka_unit_test(test_files),      cmocka_unit_test(test_jumps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
