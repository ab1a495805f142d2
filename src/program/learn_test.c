/* SPDX-License-Identifier: BSD-3-Clause */
/* Values from recorded runs, which are made by hand: what calls tell, and what they do not. */
#include "program/recorded_calls.h"
#include "testing/program.h"

#define WORLD "comm='MPI_COMM_WORLD'"
#define BODY                                                                                       \
    "<variable name='e' type='double' value='1'/><variable name='n' type='int'/>"                  \
    "<while c='e &gt; 0.5' line='10'><unknown name='e' reason='data' target='e' line='11'/>"       \
    "<mpi call='MPI_Allreduce' count='1' datatype='MPI_DOUBLE' op='MPI_SUM' " WORLD                \
    " line='12'/></while>"                                                                         \
    "<unknown name='n' reason='data' target='n' line='20'/>"                                       \
    "<mpi call='MPI_Bcast' count='n' datatype='MPI_INT' root='0' " WORLD " line='21'/>"

typedef struct {
    xy_recorded_t recorded;
    size_t first[9];
    xy_program_t *program;
    xy_machine_t *machine;
    int32_t core_of[8];
    xy_predict_config_t config;
} setup_t;

static void begin(setup_t *s, int32_t procs, const char *body)
{
    static const char *const argv[] = {"prog"};
    static char path[] = "run.xyt";
    char *text = xy_sprintf("<program version='1'><function name='main' type='int' file='d/a.c' "
                            "line='1'><mpi call='MPI_Init' line='2'/>%s<mpi call='MPI_Finalize' "
                            "line='99'/></function></program>",
                            body);

    *s = (setup_t){.recorded = {.path = path, .procs = procs, .first = s->first}};
    s->recorded.places = XY_VEC_INIT(recorded_place_t);
    s->recorded.calls = XY_VEC_INIT(recorded_call_t);
    testing_listen();
    assert_int_equal(xy_program_parse(text, strlen(text), "p.xml", &s->program), XY_OK);
    assert_int_equal(xy_machine_load("package:1 core:16", &s->machine), XY_OK);
    xy_free(text);
    for (int32_t r = 0; r < procs; r++)
        s->core_of[r] = r;
    s->config =
        (xy_predict_config_t){.job = {.machine = s->machine, .procs = procs, .core_of = s->core_of},
                              .argc = 1,
                              .argv = argv,
                              .limit = 100000};
    xy_vjob_costs_default(&s->config.job.costs);
}

static void call(setup_t *s, const char *name, long line, uint64_t bytes)
{
    recorded_place_t place = {name, "a.c", line};
    recorded_call_t c = {.place = (uint32_t)s->recorded.places.count,
                         .has_bytes = bytes > 0,
                         .bytes = bytes,
                         .peer = -1};

    assert_int_equal(xy_vec_append(&s->recorded.places, &place), XY_OK);
    assert_int_equal(xy_vec_append(&s->recorded.calls, &c), XY_OK);
}

/* A rank with so many passes, and a broadcast of so many bytes at its end. */
static void record(setup_t *s, int32_t rank, int passes, uint64_t bytes)
{
    s->first[rank] = s->recorded.calls.count;
    call(s, "MPI_Comm_size", 3, 0); /* absent from the description */
    for (int i = 0; i < passes; i++)
        call(s, "MPI_Allreduce", 12, 8);
    call(s, "MPI_Bcast", 21, bytes);
    call(s, "MPI_Finalize", 99, 0);
    s->first[rank + 1] = s->recorded.calls.count;
}

static void end(setup_t *s)
{
    xy_vec_cleanup(&s->recorded.places);
    xy_vec_cleanup(&s->recorded.calls);
    xy_program_destroy(s->program);
    xy_machine_destroy(s->machine);
}

static void test_learn(void **state)
{
    setup_t s;
    xy_learned_t *learned = NULL;
    xy_prediction_t *p;
    xy_vec_t names = XY_VEC_INIT(xy_learned_name_t);
    const xy_learned_name_t *e, *n;

    (void)state;
    begin(&s, 2, BODY);
    record(&s, 0, 200, 4000); /* more passes than are looked ahead */
    record(&s, 1, 200, 4000);
    if (xy_predict_learn(s.program, &s.config, &s.recorded, &learned) != XY_OK)
        fail_msg("%s", testing_said);
    assert_int_equal(xy_learned_names(learned, &names), XY_OK);
    assert_int_equal(names.count, 2);
    e = &XY_VEC_AT(&names, xy_learned_name_t, 0);
    n = &XY_VEC_AT(&names, xy_learned_name_t, 1);
    assert_string_equal(e->name, "e");
    assert_true(e->values == 400 && e->least == 0 && e->most == 1);
    assert_true(n->values == 2 && n->least == 1000 && n->most == 1000);
    /* Four processes take what two have learned. */
    s.config.job.procs = 4;
    for (int32_t r = 0; r < 4; r++)
        s.core_of[r] = r;
    s.config.learned = learned;
    assert_int_equal(xy_predict(s.program, &s.config, &p), XY_OK);
    assert_int_equal(p->totals.collectives, 202);
    xy_prediction_destroy(p);
    xy_vec_cleanup(&names);
    xy_learned_destroy(learned);
    end(&s);
}

static void fails(setup_t *s, const char *why)
{
    xy_learned_t *learned = NULL;

    testing_listen();
    assert_int_equal(xy_predict_learn(s->program, &s->config, &s->recorded, &learned), XY_EINVAL);
    if (strstr(testing_said, why) == NULL)
        fail_msg("'%s' does not say '%s'", testing_said, why);
    assert_int_equal(testing_said_count, 1);
    assert_null(learned);
    end(s);
}

static void test_parted(void **state)
{
    setup_t s;

    (void)state;
    begin(&s, 1, BODY);
    s.first[0] = 0;
    call(&s, "MPI_Allreduce", 12, 8);
    call(&s, "MPI_Finalize", 99, 0);
    s.first[1] = 2;
    fails(&s, "run.xyt continues with MPI_Finalize at a.c:99, and the description with MPI_");
    begin(&s, 1, BODY);
    record(&s, 0, 1, 4);
    call(&s, "MPI_Allreduce", 12, 8);
    s.first[1]++;
    fails(&s, "and the description with its end");
    begin(&s, 1, BODY);
    s.first[0] = 0;
    call(&s, "MPI_Allreduce", 12, 8);
    call(&s, "MPI_Bcast", 21, 4);
    s.first[1] = 2;
    s.recorded.calls.count = 1;
    s.first[1] = 1;
    fails(&s, "has no more calls, and the description makes MPI_");
}

/* With any positive value the calls are the same, but not what the loop does. */
static void test_open(void **state)
{
    setup_t s;

    (void)state;
    begin(&s, 1,
          "<variable name='n' type='int'/><unknown name='n' reason='data' target='n' line='5'/>"
          "<compute name='loop' count='n' line='6'/><mpi call='MPI_Barrier' " WORLD " line='7'/>");
    s.first[0] = 0;
    call(&s, "MPI_Barrier", 7, 0);
    call(&s, "MPI_Finalize", 99, 0);
    s.first[1] = 2;
    fails(&s, "n (line 5: data) cannot be determined from run.xyt");
}

/* How blocks are spread is not told by their sum, nor is a tag by the bytes of its message. */
static void test_open_calls(void **state)
{
    static const char *const bodies[] = {
        "<mpi call='MPI_Alltoallv' sendcounts='&amp;counts[0]' sdispls='&amp;zero[0]' "
        "sendtype='MPI_INT' recvcounts='&amp;counts[0]' rdispls='&amp;zero[0]' "
        "recvtype='MPI_INT' " WORLD " line='7'/>",
        "<mpi call='MPI_Send' count='4' datatype='MPI_INT' dest='0' tag='n' " WORLD " line='7'/>"};
    static const char *const names[] = {"MPI_Alltoallv", "MPI_Send"};
    setup_t s;

    (void)state;
    for (int i = 0; i < 2; i++) {
        char *body =
            xy_sprintf("<variable name='n' type='int'/><variable name='counts' type='int[2]'/>"
                       "<variable name='zero' type='int[2]'/>"
                       "<unknown name='n' reason='data' target='n' line='5'/>"
                       "<do c='counts[n &gt; 0] = 4' line='6'/>%s",
                       bodies[i]);

        begin(&s, 2, body);
        xy_free(body);
        for (int r = 0; r < 2; r++) {
            s.first[r] = s.recorded.calls.count;
            call(&s, names[i], 7, 16);
            call(&s, "MPI_Finalize", 99, 0);
            s.first[r + 1] = s.recorded.calls.count;
        }
        fails(&s, "n (line 5: data) cannot be determined from run.xyt: with 1 and with 0 the calls "
                  "are the "
                  "recorded ones, but not their ranks, tags or blocks");
    }
}

/* A rank that data decides is the one to which the message went. */
static void test_peer(void **state)
{
    setup_t s;
    xy_learned_t *learned = NULL;
    xy_vec_t names = XY_VEC_INIT(xy_learned_name_t);

    (void)state;
    begin(&s, 4,
          "<variable name='to' type='int'/><variable name='rank' type='int'/>"
          "<mpi call='MPI_Comm_rank' " WORLD " rank='&amp;rank' line='3'/>"
          "<if c='rank == 0' line='4'>"
          "<unknown name='to' reason='data' target='to' line='5'/>"
          "<mpi call='MPI_Send' count='4' datatype='MPI_INT' dest='to' tag='0' " WORLD
          " line='7'/></if>"
          "<if c='rank == 3' line='8'><mpi call='MPI_Recv' count='4' datatype='MPI_INT' "
          "source='0' tag='0' " WORLD " line='9'/></if>");
    for (int r = 0; r < 4; r++) {
        s.first[r] = s.recorded.calls.count;
        if (r == 0)
            call(&s, "MPI_Send", 7, 16);
        if (r == 3)
            call(&s, "MPI_Recv", 9, 16);
        call(&s, "MPI_Finalize", 99, 0);
        s.first[r + 1] = s.recorded.calls.count;
    }
    XY_VEC_AT(&s.recorded.calls, recorded_call_t, 0).peer = 3;
    if (xy_predict_learn(s.program, &s.config, &s.recorded, &learned) != XY_OK)
        fail_msg("%s", testing_said);
    assert_int_equal(xy_learned_names(learned, &names), XY_OK);
    assert_int_equal(names.count, 1);
    assert_true(XY_VEC_AT(&names, xy_learned_name_t, 0).least == 3);
    xy_vec_cleanup(&names);
    xy_learned_destroy(learned);
    end(&s);
}

static void test_memory(void **state)
{
    setup_t s;

    (void)state;
    begin(&s, 1, BODY);
    record(&s, 0, 2, 400);
    for (long k = 0; testing_fail_next(&k);) {
        xy_learned_t *learned = NULL;
        xy_status_t st = xy_predict_learn(s.program, &s.config, &s.recorded, &learned);

        assert_true((st == XY_OK) == (learned != NULL));
        xy_learned_destroy(learned);
        if (!xy_memory_fail_hit())
            k = -1;
        else
            assert_true(st == XY_OK || (st == XY_ENOMEM && testing_said_count == 1));
    }
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learn), cmocka_unit_test(test_parted),
        cmocka_unit_test(test_open),  cmocka_unit_test(test_open_calls),
        cmocka_unit_test(test_peer),  cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
