/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptions that are walked: a division by zero is how they say that something is wrong. */
#include "testing/program.h"

#define WORLD          "comm='MPI_COMM_WORLD'"
#define CHECK(c, line) "<do c='1 / (" c ")' line='" line "'/>"

typedef struct {
    const char *machine;
    int32_t procs;
    xy_predict_config_t config;
} setup_t;

static xy_status_t predict(const setup_t *s, const char *declarations, const char *body,
                           xy_prediction_t **prediction_p, xy_program_t **program_p)
{
    static const char *const argv[] = {"prog", "7"};
    char *text = xy_sprintf(
        "<program version='1'>%s<function name='main' type='int' file='a.c' line='1'>"
        "<parameter name='argc' type='int'/><parameter name='argv' type='char **'/>"
        "<variable name='rank' type='int' value='0'/><variable name='size' type='int' value='0'/>"
        "<variable name='st' type='MPI_Status'/><variable name='x' type='int' value='0'/>"
        "<mpi call='MPI_Initialized' flag='&amp;x'/><mpi call='MPI_Finalized' flag='&amp;x'/>"
        "<mpi call='MPI_Init'/><mpi call='MPI_Comm_rank' " WORLD " rank='&amp;rank'/>"
        "<mpi call='MPI_Comm_size' " WORLD " size='&amp;size'/>%s<mpi call='MPI_Finalize' "
        "line='99'/></function></program>",
        declarations, body);
    xy_predict_config_t c = s->config;
    int32_t *core_of = xy_calloc((size_t)s->procs, sizeof(*core_of));
    xy_machine_t *machine;
    xy_status_t st;

    testing_listen();
    assert_int_equal(xy_program_parse(text, strlen(text), "p.xml", program_p), XY_OK);
    assert_int_equal(
        xy_machine_load(s->machine != NULL ? s->machine : "package:1 core:16", &machine), XY_OK);
    for (int32_t r = 0; r < s->procs; r++)
        core_of[r] = r % 16;
    c.job.machine = machine;
    c.job.procs = s->procs;
    c.job.core_of = core_of;
    c.job.has_matrix = c.job.has_path = true;
    xy_vjob_costs_default(&c.job.costs);
    c.argc = 2;
    c.argv = argv;
    c.message_error = -1;
    st = xy_predict(*program_p, &c, prediction_p);
    xy_machine_destroy(machine);
    xy_free(core_of);
    xy_free(text);
    return st;
}

/* It must work, on so many processes. */
static void check(int32_t procs, const char *body)
{
    setup_t s = {.procs = procs, .config = {.limit = 1000}};
    xy_prediction_t *p = NULL;
    xy_program_t *program;
    xy_status_t st = predict(&s, "", body, &p, &program);

    if (st != XY_OK)
        fail_msg("%d processes: %s", procs, testing_said);
    assert_true(p->seconds > 0);
    xy_prediction_destroy(p);
    xy_program_destroy(program);
}

static void check_all(const char *body)
{
    for (int32_t procs = 1; procs <= 9; procs++)
        check(procs, body);
}

#define SEND(count, dest, tag)                                                                     \
    "<mpi call='MPI_Send' buf='&amp;x' count='" count "' datatype='MPI_INT' dest='" dest           \
    "' tag='" tag "' " WORLD " line='50'/>"
#define RECV(count, source, tag)                                                                   \
    "<mpi call='MPI_Recv' buf='&amp;x' count='" count "' datatype='MPI_INT' source='" source       \
    "' tag='" tag "' " WORLD " status='&amp;st' line='60'/>"

/* Data, statuses, wildcards. */
static void test_messages(void **state)
{
    (void)state;
    check_all("<do c='x = rank * 10'/><if c='rank &gt; 0'>" SEND(
        "1", "0",
        "rank + 5") "<else><variable name='sum' type='int' value='0'/>"
                    "<for start='int i = 1' test='i &lt; size' step='i++'>" RECV(
                        "1", "MPI_ANY_SOURCE", "MPI_ANY_TAG")
                        CHECK("st.MPI_TAG == st.MPI_SOURCE + 5 &amp;&amp; x == st.MPI_SOURCE * 10",
                              "3") "<variable name='n' type='int' value='0'/>"
                                   "<mpi call='MPI_Get_count' status='&amp;st' datatype='MPI_INT' "
                                   "count='&amp;n'/>" CHECK(
                                       "n == 1",
                                       "4") "<do c='sum += x'/></for>" CHECK("sum == size * (size "
                                                                             "- 1) / 2 * 10",
                                                                             "5") "</else></if>");
}

static void test_requests(void **state)
{
    (void)state;
    check_all(
        "<variable name='r' type='MPI_Request[4]'/><variable name='s' type='MPI_Status[4]'/>"
        "<variable name='left' type='int' value='(rank + size - 1) % size'/>"
        "<variable name='right' type='int' value='(rank + 1) % size'/>"
        "<variable name='a' type='int' value='0'/><variable name='b' type='int' value='0'/>"
        "<do c='x = rank'/>"
        "<mpi call='MPI_Irecv' buf='&amp;a' count='1' datatype='MPI_INT' source='left' "
        "tag='1' " WORLD " request='&amp;r[0]'/>"
        "<mpi call='MPI_Irecv' buf='&amp;b' count='1' datatype='MPI_INT' source='right' "
        "tag='2' " WORLD " request='r + 1'/>"
        "<mpi call='MPI_Isend' buf='&amp;x' count='1' datatype='MPI_INT' dest='right' "
        "tag='1' " WORLD " request='&amp;r[2]'/>"
        "<mpi call='MPI_Issend' buf='&amp;x' count='1' datatype='MPI_INT' dest='left' "
        "tag='2' " WORLD " request='&amp;r[3]'/>"
        "<mpi call='MPI_Waitall' count='4' array_of_requests='r' array_of_statuses='s'/>" CHECK(
            "a == left &amp;&amp; b == right &amp;&amp; s[0].MPI_SOURCE == left", "7")
            CHECK("r[3] == MPI_REQUEST_NULL",
                  "8") "<variable name='flag' type='int' value='0'/><variable name='tests' "
                       "type='int' value='0'/>"
                       "<mpi call='MPI_Irecv' buf='&amp;a' count='1' datatype='MPI_INT' "
                       "source='left' tag='3' " WORLD " request='&amp;r[0]'/>" SEND(
                           "1", "right",
                           "3") "<while c='!flag'><mpi call='MPI_Test' request='&amp;r[0]' "
                                "flag='&amp;flag' "
                                "status='MPI_STATUS_IGNORE'/><do c='tests++'/></while>" CHECK(
                                    "tests &gt; 0",
                                    "9") "<variable name='p' type='MPI_Request' value='0'/>"
                                         "<mpi call='MPI_Recv_init' buf='&amp;b' count='1' "
                                         "datatype='MPI_INT' source='left' tag='4' " WORLD
                                         " request='&amp;p'/>"
                                         "<for start='int i = 0' test='i &lt; 3' step='i++'><do "
                                         "c='x = i'/>"
                                         "<mpi call='MPI_Start' request='&amp;p'/>" SEND(
                                             "1", "right",
                                             "4") "<mpi call='MPI_Wait' request='&amp;p' "
                                                  "status='&amp;st'/>" CHECK("b == i",
                                                                             "10") "</for>"
                                                                                   "<mpi "
                                                                                   "call='MPI_"
                                                                                   "Request_free' "
                                                                                   "request='&amp;"
                                                                                   "p'/>");
}

static void test_collectives(void **state)
{
    (void)state;
    check_all(
        "<variable name='n' type='int' value='rank == size - 1 ? atoi(argv[1]) : 0'/>"
        "<mpi call='MPI_Bcast' buffer='&amp;n' count='1' datatype='MPI_INT' root='size - 1' " WORLD
        "/>" CHECK(
            "n == 7",
            "1") "<do c='x = rank + 1'/><variable name='sum' type='int' value='0'/>"
                 "<mpi call='MPI_Allreduce' sendbuf='&amp;x' recvbuf='&amp;sum' count='1' "
                 "datatype='MPI_INT' op='MPI_SUM' " WORLD "/>" CHECK(
                     "sum == size * (size + 1) / 2",
                     "2") "<mpi call='MPI_Scan' sendbuf='&amp;x' recvbuf='&amp;sum' count='1' "
                          "datatype='MPI_INT' "
                          "op='MPI_MAX' " WORLD "/>" CHECK(
                              "sum == rank + 1",
                              "3") "<do c='sum = -1'/>"
                                   "<mpi call='MPI_Exscan' sendbuf='&amp;x' recvbuf='&amp;sum' "
                                   "count='1' datatype='MPI_INT' "
                                   "op='MPI_SUM' " WORLD "/>" CHECK(
                                       "sum == (rank ? rank * (rank + 1) / 2 : -1)",
                                       "4") "<variable name='all' type='int[size]'/>"
                                            "<mpi call='MPI_Allgather' sendbuf='&amp;x' "
                                            "sendcount='1' sendtype='MPI_INT' "
                                            "recvbuf='all' recvcount='1' recvtype='MPI_INT' " WORLD
                                            "/>" CHECK(
                                                "all[size - 1] == size &amp;&amp; all[0] == 1",
                                                "5") "<variable name='out' type='int[size]'/>"
                                                     "<for start='int i = 0' test='i &lt; size' "
                                                     "step='i++'><do c='out[i] = rank * 100 + i'/>"
                                                     "</for><mpi call='MPI_Alltoall' sendbuf='out' "
                                                     "sendcount='1' sendtype='MPI_INT' "
                                                     "recvbuf='all' recvcount='1' "
                                                     "recvtype='MPI_INT' " WORLD "/>" CHECK(
                                                         "all[size - 1] == (size - 1) * 100 + rank",
                                                         "6") "<mpi call='MPI_Scatter' "
                                                              "sendbuf='out' sendcount='1' "
                                                              "sendtype='MPI_INT' recvbuf='&amp;n' "
                                                              "recvcount='1' recvtype='MPI_INT' "
                                                              "root='0' " WORLD "/>" CHECK(
                                                                  "n == rank",
                                                                  "7") "<mpi "
                                                                       "call='MPI_Barrier' " WORLD
                                                                       "/>"
                                                                       "<mpi call='MPI_Alltoallv' "
                                                                       "sendcounts='out' "
                                                                       "sdispls='out' "
                                                                       "sendtype='MPI_BYTE' "
                                                                       "recvcounts='all' "
                                                                       "rdispls='all' "
                                                                       "recvtype='MPI_BYTE' " WORLD
                                                                       "/>"
                                                                       "<variable name='r' "
                                                                       "type='MPI_Request' "
                                                                       "value='0'/>"
                                                                       "<mpi call='MPI_Ireduce' "
                                                                       "sendbuf='&amp;x' "
                                                                       "recvbuf='&amp;sum' "
                                                                       "count='1' "
                                                                       "datatype='MPI_INT' "
                                                                       "op='MPI_PROD' "
                                                                       "root='0' " WORLD
                                                                       " request='&amp;r'/>"
                                                                       "<mpi call='MPI_Wait' "
                                                                       "request='&amp;r' "
                                                                       "status='MPI_STATUS_IGNORE'/"
                                                                       ">"
                                                                       "<variable name='f' "
                                                                       "type='int' value='1'/>"
                                                                       "<for start='int i = 2' "
                                                                       "test='i &lt;= size' "
                                                                       "step='i++'><do c='f *= "
                                                                       "i'/></for>" CHECK(
                                                                           "rank || sum == f",
                                                                           "8") "<mpi "
                                                                                "call='MPI_Bcast' "
                                                                                "count='0' "
                                                                                "datatype='MPI_INT'"
                                                                                " root='0' " WORLD
                                                                                "/>");
}

static void test_communicators(void **state)
{
    (void)state;
    check_all(
        "<variable name='half' type='MPI_Comm'/><variable name='n' type='int' value='0'/>"
        "<variable name='r' type='int' value='0'/>"
        "<mpi call='MPI_Comm_split' " WORLD " color='rank % 2' key='-rank' newcomm='&amp;half'/>"
        "<mpi call='MPI_Comm_rank' comm='half' rank='&amp;r'/>"
        "<mpi call='MPI_Comm_size' comm='half' size='&amp;n'/>" CHECK(
            "n == (size + (rank % 2 == 0)) / 2 &amp;&amp; r == n - 1 - rank / 2",
            "1") "<do c='x = rank'/><mpi call='MPI_Bcast' buffer='&amp;x' count='1' "
                 "datatype='MPI_INT' "
                 "root='n - 1' comm='half'/>" CHECK(
                     "x == rank % 2",
                     "2") "<variable name='none' type='MPI_Comm'/>"
                          "<mpi call='MPI_Comm_split' comm='half' color='r == 0 ? "
                          "0 : MPI_UNDEFINED' key='0' "
                          "newcomm='&amp;none'/>" CHECK("(none == MPI_COMM_NULL) == (r != 0)",
                                                        "3") "<mpi call='MPI_Comm_free' "
                                                             "comm='&amp;half'/>" CHECK(
                                                                 "half == "
                                                                 "MPI_COMM_NULL",
                                                                 "4") "<variable "
                                                                      "name='g' "
                                                                      "type='MPI_"
                                                                      "Group'/"
                                                                      "><variable "
                                                                      "name='h' "
                                                                      "type='MPI_"
                                                                      "Group'/>"
                                                                      "<variable "
                                                                      "name='list' "
                                                                      "type='int[2]' "
                                                                      "value='{0, "
                                                                      "size - 1}'/>"
                                                                      "<mpi "
                                                                      "call='MPI_"
                                                                      "Comm_group'"
                                                                      " " WORLD " group='&amp;"
                                                                      "g'/>"
                                                                      "<mpi "
                                                                      "call='MPI_"
                                                                      "Group_incl' "
                                                                      "group='g' "
                                                                      "n='size &gt; "
                                                                      "1 ? 2 : 1' "
                                                                      "ranks='list' "
                                                                      "newgroup='&"
                                                                      "amp;h'/>"
                                                                      "<mpi "
                                                                      "call='MPI_"
                                                                      "Comm_create'"
                                                                      " " WORLD " group='h' "
                                                                      "newcomm='&amp;"
                                                                      "none'/>" CHECK("(none != "
                                                                                      "MPI_COMM_"
                                                                                      "NULL) == "
                                                                                      "(rank == "
                                                                                      "0 || rank "
                                                                                      "== size - "
                                                                                      "1)",
                                                                                      "5"));
}

/* Two groups, odd and even ranks, whose leaders are their first: of the first `n` processes. */
#define TWO_GROUPS                                                                                 \
    "<variable name='half' type='MPI_Comm'/><variable name='inter' type='MPI_Comm'/>"              \
    "<variable name='me' type='int' value='0'/><variable name='own' type='int' value='0'/>"        \
    "<variable name='n' type='int' value='0'/><variable name='got' type='int' value='0'/>"         \
    "<variable name='side' type='int' value='rank % 2'/><variable name='all' type='int[9]' "       \
    "value='{0}'/>"                                                                                \
    "<variable name='out' type='int[9]' value='{0}'/>"                                             \
    "<mpi call='MPI_Comm_split' " WORLD " color='side' key='rank' newcomm='&amp;half'/>"           \
    "<mpi call='MPI_Intercomm_create' local_comm='half' local_leader='0' "                         \
    "peer_comm='MPI_COMM_WORLD' remote_leader='1 - side' tag='3' newintercomm='&amp;inter' "       \
    "line='40'/><mpi call='MPI_Comm_rank' comm='inter' rank='&amp;me'/>"                           \
    "<mpi call='MPI_Comm_size' comm='inter' size='&amp;own'/>"                                     \
    "<mpi call='MPI_Comm_remote_size' comm='inter' size='&amp;n'/>"
/* The root is the last of the odd ones. */
#define ROOT " root='side ? me == own - 1 ? MPI_ROOT : MPI_PROC_NULL : n - 1' comm='inter'"
#define ONE(send, receive)                                                                         \
    "sendbuf='" send "' sendcount='1' sendtype='MPI_INT' recvbuf='" receive                        \
    "' recvcount='1' recvtype='MPI_INT'"
#define REDUCED(count) "sendbuf='out' recvbuf='&amp;got' " count " datatype='MPI_INT' op='MPI_SUM'"

static void check_two_groups(const char *body)
{
    char *text = xy_sprintf("%s%s", TWO_GROUPS, body);

    for (int32_t procs = 2; procs <= 9; procs++)
        check(procs, text);
    xy_free(text);
}

/* Data that one group gives is received by the other. */
static void test_two_groups(void **state)
{
    (void)state;
    check_two_groups("<do c='got = side ? rank : 100'/>"
                     "<mpi call='MPI_Bcast' buffer='&amp;got' count='1' datatype='MPI_INT' " ROOT
                     "/>" CHECK("got == (side ? rank : 2 * n - 1)", "1"));
    check_two_groups("<do c='x = 10 + rank'/><mpi call='MPI_Gather' " ONE("&amp;x", "all") ROOT
                     "/><if c='side &amp;&amp; me == own - 1'>" CHECK(
                         "all[0] == 10 &amp;&amp; all[n - 1] == 10 + 2 * (n - 1)", "2") "</if>");
    check_two_groups("<for start='int i = 0' test='i &lt; 9' step='i++'><do c='out[i] = 5 * i'/>"
                     "</for><mpi call='MPI_Scatter' " ONE("out", "&amp;got") ROOT
                     "/>" CHECK("side || got == 5 * me", "3"));
    check_two_groups("<mpi call='MPI_Allgather' " ONE("&amp;rank", "all") " comm='inter'/>" CHECK(
        "all[n - 1] == 2 * (n - 1) + 1 - side", "4"));
    check_two_groups(
        "<for start='int i = 0' test='i &lt; n' step='i++'><do c='out[i] = rank * 10 "
        "+ i'/></for><mpi call='MPI_Alltoall' " ONE("out", "all") " comm='inter'/>" CHECK(
            "all[n - 1] == (2 * (n - 1) + 1 - side) * 10 + me", "5"));
    check_two_groups("<do c='out[0] = side ? 3 : 4'/><mpi call='MPI_Allreduce' " REDUCED(
        "count='1'") " comm='inter'/>" CHECK("got == n * (side ? 4 : 3)", "6"));
    check_two_groups("<do c='out[0] = 2'/><mpi call='MPI_Reduce' " REDUCED("count='1'") ROOT
                     "/>" CHECK("got == (side &amp;&amp; me == own - 1 ? 2 * n : 0)", "7"));
    check_two_groups("<if c='own == n'><for start='int i = 0' test='i &lt; n' step='i++'>"
                     "<do c='out[i] = i'/></for><mpi call='MPI_Reduce_scatter_block' " REDUCED(
                         "recvcount='1'") " comm='inter'/>" CHECK("got == n * me", "8") "</if>");
    check_two_groups("<variable name='both' type='MPI_Comm'/><mpi call='MPI_Intercomm_merge' "
                     "intercomm='inter' high='!side' newintracomm='&amp;both'/>"
                     "<mpi call='MPI_Comm_rank' comm='both' rank='&amp;got'/>" CHECK(
                         "got == (side ? me : n + me)", "9"));
    check_two_groups(
        "<mpi call='MPI_Send' buf='&amp;rank' count='1' datatype='MPI_INT' "
        "dest='me % n' tag='1' comm='inter'/><for start='int i = me' "
        "test='i &lt; n' step='i += own'><mpi call='MPI_Recv' buf='&amp;x' count='1' "
        "datatype='MPI_INT' source='MPI_ANY_SOURCE' tag='1' comm='inter' "
        "status='&amp;st'/>" CHECK("x == 2 * st.MPI_SOURCE + 1 - side", "10") "</for>");
}

/* Started in other orders than they were made; between two groups, too. */
static void test_persistent(void **state)
{
    static const char again[] =
        "<variable name='r' type='MPI_Request[2]'/><variable name='sum' type='int' value='0'/>"
        "<mpi call='MPI_Bcast_init' buffer='&amp;x' count='1' datatype='MPI_INT' root='0' " WORLD
        " request='&amp;r[0]'/><mpi call='MPI_Allreduce_init' sendbuf='&amp;rank' "
        "recvbuf='&amp;sum' count='1' datatype='MPI_INT' op='MPI_SUM' " WORLD
        " request='&amp;r[1]'/><for start='int i = 1' test='i &lt; 4' step='i++'>"
        "<do c='x = rank == 0 ? i : 0'/><do c='sum = 0'/>"
        "<mpi call='MPI_Start' request='&amp;r[rank % 2]'/>"
        "<mpi call='MPI_Start' request='&amp;r[1 - rank % 2]'/>"
        "<mpi call='MPI_Waitall' count='2' array_of_requests='r' "
        "array_of_statuses='MPI_STATUSES_IGNORE'/>" CHECK(
            "x == i &amp;&amp; sum == size * (size - 1) / 2", "1") "</for>";

    (void)state;
    check_all(again);
    check_two_groups(
        "<variable name='r' type='MPI_Request' value='0'/><mpi call='MPI_Bcast_init' "
        "buffer='&amp;got' "
        "count='1' datatype='MPI_INT' " ROOT " request='&amp;r'/>"
        "<for start='int i = 1' test='i &lt; 4' step='i++'><do c='got = i * side'/>"
        "<mpi call='MPI_Start' request='&amp;r'/><mpi call='MPI_Wait' request='&amp;r' "
        "status='MPI_STATUS_IGNORE'/>" CHECK("got == i", "2") "</for>");
}

static void test_grids(void **state)
{
    (void)state;
    check_all(
        "<variable name='dims' type='int[2]' value='{0}'/><variable name='periods' type='int[2]' "
        "value='{1, 0}'/><variable name='grid' type='MPI_Comm'/><variable name='at' "
        "type='int[2]'/><variable name='up' type='int' value='0'/><variable name='down' type='int' "
        "value='0'/>"
        "<mpi call='MPI_Dims_create' nnodes='size' ndims='2' dims='dims'/>" CHECK(
            "dims[0] * dims[1] == size &amp;&amp; dims[0] &gt;= dims[1]",
            "1") "<mpi call='MPI_Cart_create' comm_old='MPI_COMM_WORLD' ndims='2' dims='dims' "
                 "periods='periods' reorder='1' comm_cart='&amp;grid'/>"
                 "<mpi call='MPI_Cart_coords' comm='grid' rank='rank' maxdims='2' "
                 "coords='at'/>" CHECK(
                     "at[0] * dims[1] + at[1] == rank",
                     "2") "<mpi call='MPI_Cart_shift' comm='grid' direction='1' disp='1' "
                          "rank_source='&amp;up' "
                          "rank_dest='&amp;down'/>" CHECK(
                              "down == (at[1] + 1 &lt; dims[1] ? rank + 1 : MPI_PROC_NULL)",
                              "3") "<mpi call='MPI_Sendrecv' sendbuf='&amp;rank' sendcount='1' "
                                   "sendtype='MPI_INT' "
                                   "dest='down' sendtag='0' recvbuf='&amp;x' recvcount='1' "
                                   "recvtype='MPI_INT' source='up' "
                                   "recvtag='0' comm='grid' status='&amp;st'/>" CHECK(
                                       "up == MPI_PROC_NULL ? st.MPI_SOURCE == MPI_PROC_NULL : x "
                                       "== up",
                                       "4") "<variable name='row' type='MPI_Comm'/><variable "
                                            "name='keep' type='int[2]' "
                                            "value='{0, 1}'/><variable name='n' type='int' "
                                            "value='0'/>"
                                            "<mpi call='MPI_Cart_sub' comm='grid' "
                                            "remain_dims='keep' newcomm='&amp;row'/>"
                                            "<mpi call='MPI_Comm_size' comm='row' "
                                            "size='&amp;n'/>" CHECK("n == dims[1]", "5"));
}

/* Sizes count as MPI counts them. */
static void test_types(void **state)
{
    setup_t s = {.procs = 2};
    xy_prediction_t *p;
    xy_program_t *program;

    (void)state;
    assert_int_equal(
        predict(
            &s, "",
            "<variable name='v' type='MPI_Datatype'/><variable name='n' type='int' value='0'/>"
            "<mpi call='MPI_Type_vector' count='3' blocklength='2' stride='10' "
            "oldtype='MPI_DOUBLE' newtype='&amp;v'/><mpi call='MPI_Type_commit' "
            "datatype='&amp;v'/><mpi call='MPI_Type_size' datatype='v' size='&amp;n'/>" CHECK(
                "n == 48",
                "1") "<if c='rank == 0'><mpi call='MPI_Send' count='5' datatype='v' dest='1' "
                     "tag='0' " WORLD
                     "/><else><mpi call='MPI_Recv' count='5' datatype='v' source='0' tag='0' " WORLD
                     " status='MPI_STATUS_IGNORE'/></else></if>",
            &p, &program),
        XY_OK);
    assert_int_equal(p->totals.messages, 1);
    assert_int_equal(p->totals.bytes, 240);
    assert_int_equal(XY_VEC_AT(&p->pairs, xy_vjob_pair_t, 0).bytes, 240);
    xy_prediction_destroy(p);
    xy_program_destroy(program);
}

static void check_bad(int32_t procs, const char *body, const char *message)
{
    setup_t s = {.procs = procs, .config = {.limit = 1000}};
    xy_prediction_t *p = NULL;
    xy_program_t *program;

    assert_int_not_equal(predict(&s, "", body, &p, &program), XY_OK);
    assert_null(p);
    if (strcmp(testing_said, message) != 0)
        fail_msg("said '%s', not '%s'", testing_said, message);
    assert_int_equal(testing_said_count, 1);
    xy_program_destroy(program);
}

static void test_bad(void **state)
{
    (void)state;
    check_bad(4, RECV("1", "(rank + 1) % size", "0"),
              "the processes wait for each other: 0-3 wait at a.c:60 (MPI_Recv)");
    check_bad(3,
              "<if c='rank == 1'>" RECV("1", "0", "0") "<else><if c='rank == 2'>" RECV(
                  "1", "1", "3") "</if></else></if>",
              "the processes wait for each other: 0 waits at a.c:99 (MPI_Finalize); 1 waits at "
              "a.c:60 (MPI_Recv); 2 waits at a.c:60 (MPI_Recv)");
    check_bad(2, SEND("1", "2", "0"),
              "a.c:50: process 0: rank 2 does not exist; the communicator has 2");
    check_bad(2, SEND("-1", "1", "0"), "a.c:50: process 0: the count is -1");
    check_bad(1, "<mpi call='MPI_Barrier' comm='MPI_COMM_NULL' line='3'/>",
              "a.c:3: process 0: the communicator is MPI_COMM_NULL");
    check_bad(
        1, "<mpi call='MPI_Cart_coords' rank='0' maxdims='1' coords='&amp;x' " WORLD " line='3'/>",
        "a.c:3: process 0: the communicator has no Cartesian topology");
    check_bad(2,
              TWO_GROUPS "<mpi call='MPI_Bcast' count='1' datatype='MPI_INT' root='1' comm='inter' "
                         "line='3'/>",
              "a.c:3: process 0: the root is not a rank of the other group");
    check_bad(2,
              TWO_GROUPS "<mpi call='MPI_Scan' count='1' datatype='MPI_INT' op='MPI_SUM' "
                         "comm='inter' line='3'/>",
              "a.c:3: process 0: it is not defined for intercommunicators");
    check_bad(1,
              "<variable name='c' type='MPI_Comm'/><mpi call='MPI_Intercomm_merge' "
              "intercomm='MPI_COMM_WORLD' high='0' newintracomm='&amp;c' line='3'/>",
              "a.c:3: process 0: the communicator is not an intercommunicator");
    check_bad(2,
              "<variable name='c' type='MPI_Comm'/><mpi call='MPI_Intercomm_create' "
              "local_comm='MPI_COMM_WORLD' local_leader='rank' peer_comm='MPI_COMM_WORLD' "
              "remote_leader='1 - rank' tag='0' newintercomm='&amp;c' line='3'/>",
              "a.c:3: process 0: the two groups have a rank in common");
    check_bad(1, "<mpi call='MPI_Wait' request='&amp;x' line='3'/>",
              "a.c:3: process 0: no request");
    check_bad(1, "<kernel name='dgemm' sizes='1, 2, 3'/><kernel name='dtrsm' sizes='1'/>",
              "no model of dgemm, dtrsm; measure with 'xylem calibrate' (--kernels NAME), give "
              "--costs FILE, or let them be free with --free-kernels");
    check_bad(2,
              "<if c='rank == 0'><mpi call='MPI_Send' count='3' datatype='MPI_INT' dest='1' "
              "tag='4' " WORLD "/><else><mpi call='MPI_Recv' count='2' datatype='MPI_INT' "
              "source='0' tag='4' " WORLD " line='5'/></else></if>",
              "a.c:5: process 1: a message of 12 bytes from process 0, tag 4, has arrived for a "
              "receive of 8");
    check_bad(2,
              "<mpi call='MPI_Bcast' count='3' datatype='MPI_INT' root='rank' " WORLD " line='5'/>",
              "a.c:5: process 1: rank 1 of a communicator calls MPI_Bcast (root 1, 12 bytes) where "
              "rank 0 calls MPI_Bcast at a.c:5 (root 0, 12 bytes): all members must make the same "
              "calls in the same order");
    check_bad(2,
              "<if c='rank == 0'><mpi call='MPI_Barrier' " WORLD " line='6'/><else>"
              "<mpi call='MPI_Comm_dup' newcomm='&amp;x' " WORLD " line='7'/></else></if>",
              "a.c:7: process 1: rank 1 of a communicator calls MPI_Comm_dup (root 0, 8 bytes) "
              "where rank 0 calls MPI_Barrier at a.c:6 (root 0, 0 bytes): all members must make "
              "the same calls in the same order");
    check_bad(2,
              "<variable name='c' type='MPI_Comm'/><if c='rank == 1'>"
              "<mpi call='MPI_Comm_dup' newcomm='&amp;c' " WORLD " line='7'/></if>",
              "a.c:7: process 1: other members of the communicator make another call: all must "
              "make the same calls in the same order");
    check_bad(1, "<while c='1' line='4'><mpi call='MPI_Barrier' " WORLD "/></while>",
              "a.c:4: process 0: loops have made 1001 passes; raise --limit if this is not an "
              "endless loop");
}

#define WINDOW                                                                                     \
    "<variable name='w' type='MPI_Win'/><variable name='m' type='int[4]' value='{1, 2, 3, 4}'/>"   \
    "<mpi call='MPI_Win_create' base='m' size='16' disp_unit='4' " WORLD " win='&amp;w'/>"
#define FENCE "<mpi call='MPI_Win_fence' assert='0' win='w'/>"
#define ACCESS(call, target, disp, type)                                                           \
    "<mpi call='" call "' origin_addr='&amp;n' origin_count='1' origin_datatype='" type            \
    "' target_rank='" target "' target_disp='" disp "' target_count='1' target_datatype='" type    \
    "' win='w' line='9'/>"

/* Data of windows moves where both sides are kept; an access outside of one is refused. */
static void test_windows(void **state)
{
    static const char *const outside = "a.c:9: process 1: displacement %s is not inside the 16 "
                                       "bytes of rank 1";
    char message[160];

    (void)state;
    check_all("<variable name='n' type='int' value='rank + 5'/>" WINDOW FENCE ACCESS(
        "MPI_Put", "(rank + 1) % size", "2", "MPI_INT")
                  FENCE CHECK("m[2] == (rank + size - 1) % size + 5 &amp;&amp; m[3] == 4", "11")
                      ACCESS("MPI_Get", "(rank + 1) % size", "1", "MPI_INT")
                          FENCE CHECK("n == 2", "12") "<mpi call='MPI_Win_free' win='&amp;w'/>");
    check_bad(2, "<variable name='n' type='int'/>" WINDOW ACCESS("MPI_Put", "2", "0", "MPI_INT"),
              "a.c:9: process 1: rank 2 does not exist; the window has 2");
    for (int i = 0; i < 2; i++) {
        snprintf(message, sizeof(message), outside, i ? "4" : "-1");
        check_bad(
            2,
            i ? "<variable name='n' type='int'/>" WINDOW ACCESS("MPI_Put", "1", "4", "MPI_INT")
              : "<variable name='n' type='int'/>" WINDOW ACCESS("MPI_Get", "1", "-1", "MPI_INT"),
            message);
    }
    check_bad(1,
              "<variable name='w' type='MPI_Win' value='MPI_WIN_NULL'/>"
              "<mpi call='MPI_Win_fence' assert='0' win='w' line='4'/>",
              "a.c:4: process 0: no window");
}

/* Sizes, bounds and comparisons are those of a run: the arithmetic is the same. */
static void test_arithmetic(void **state)
{
    (void)state;
#define TYPE(call, lower, bytes, line)                                                             \
    "<mpi call='" call "'/><mpi call='MPI_Type_get_extent' datatype='t' lb='&amp;lb' "             \
    "extent='&amp;extent'/>" CHECK("lb == (" lower ") &amp;&amp; extent == " bytes, line)
    check(1, "<variable name='t' type='MPI_Datatype'/><variable name='lb' type='MPI_Aint'/>"
             "<variable name='extent' type='MPI_Aint'/>"
             "<variable name='lengths' type='int[2]' value='{0}'/><variable name='at' "
             "type='MPI_Aint[2]'/>"
             "<variable name='types' type='MPI_Datatype[2]'/>"
             "<do c='lengths[0] = lengths[1] = 1'/><do c='at[0] = 8'/><do c='at[1] = 16'/>"
             "<do c='types[0] = MPI_DOUBLE'/><do c='types[1] = MPI_CHAR'/>" /* a pair has padding */
          TYPE("MPI_Type_dup' oldtype='MPI_DOUBLE_INT' newtype='&amp;t", "0", "16", "1") TYPE(
              "MPI_Type_vector' count='3' blocklength='1' stride='-2' oldtype='MPI_INT' "
              "newtype='&amp;t",
              "-16", "20",
              "2") TYPE("MPI_Type_create_struct' count='2' array_of_blocklengths='lengths' "
                        "array_of_displacements='at' array_of_types='types' newtype='&amp;t",
                        "8", "16", "3")
              TYPE("MPI_Type_create_resized' oldtype='MPI_INT' lb='-4' extent='12' newtype='&amp;t",
                   "-4", "12", "4"));
#undef TYPE
    check(3,
          "<variable name='turned' type='MPI_Comm'/><mpi call='MPI_Comm_split' " WORLD
          " color='0' key='-rank' newcomm='&amp;turned'/><mpi call='MPI_Comm_compare' "
          "comm1='MPI_COMM_WORLD' comm2='turned' result='&amp;x'/>" CHECK("x == MPI_SIMILAR", "5"));
    check_bad(
        2,
        "<variable name='g' type='MPI_Group'/><variable name='list' type='int[2]' value='{0}'/>"
        "<do c='list[0] = list[1] = 1'/><mpi call='MPI_Comm_group' " WORLD
        " group='&amp;g'/><mpi call='MPI_Group_incl' group='g' n='2' ranks='list' "
        "newgroup='&amp;g' line='3'/>",
        "a.c:3: process 0: rank 1 is named twice (the group has 2 ranks)");
}

/* Costs of loops: by name, or one for all; the path says where the time went. */
static void test_costs(void **state)
{
    static const xy_predict_given_t costs[] = {{"a", "2ms"}};
    setup_t s = {.procs = 3,
                 .config = {.loop_costs = costs, .loop_cost_count = 1, .cost_all = 1e-3}};
    xy_prediction_t *p;
    xy_program_t *program;
    const xy_predict_line_t *first;

    (void)state;
    assert_int_equal(predict(&s, "",
                             "<compute name='a' count='rank * 10' line='5'/>"
                             "<compute name='b' count='5' line='6'/>",
                             &p, &program),
                     XY_OK);
    assert_true(p->seconds > 0.045 && p->seconds < 0.0451);
    assert_true(p->proc[1].compute > 0.02499 && p->proc[1].compute < 0.02501);
    first = &XY_VEC_AT(&p->lines, xy_predict_line_t, 0);
    assert_int_equal(first->line, 5);
    assert_string_equal(first->what, "a");
    assert_int_equal(p->kernels.count, 2);
    assert_int_equal(p->kernel_calls, 0);
    xy_prediction_destroy(p);
    xy_program_destroy(program);
    assert_int_equal(predict(&(setup_t){.procs = 1,
                                        .config = {.loop_costs = &(xy_predict_given_t){"a", "0s"},
                                                   .loop_cost_count = 1}},
                             "", "<compute name='a' count='10' line='5'/>", &p, &program),
                     XY_OK);
    assert_false(XY_VEC_AT(&p->kernels, xy_predict_kernel_t, 0).is_missing);
    xy_prediction_destroy(p);
    xy_program_destroy(program);
    s.config.loop_cost_count = 0;
    s.config.cost_all = 0;
    s.config.allow_missing = true;
    assert_int_equal(predict(&s, "", "<kernel name='a'/>", &p, &program), XY_OK);
    assert_int_equal(p->kernel_calls, 3);
    assert_true(XY_VEC_AT(&p->kernels, xy_predict_kernel_t, 0).is_missing);
    xy_prediction_destroy(p);
    xy_program_destroy(program);
}

/* What a loop of `passes` takes the thread with the most of them, milliseconds; pass i takes `a + b
 * i`, and each chunk `step`. */
static double team_milliseconds(int threads, bool is_dynamic, int passes, int chunk, double a,
                                double b, double step)
{
    double load[8] = {0}, most = 0;
    int c = chunk > 0 ? chunk : is_dynamic ? 1 : (passes + threads - 1) / threads, t = 0;

    for (int i = 0; i < passes; i++) {
        if (i % c == 0 && is_dynamic) {
            t = 0;
            for (int k = 1; k < threads; k++)
                t = load[k] < load[t] ? k : t;
            load[t] += step;
        } else if (i % c == 0) {
            t = i / c % threads;
        }
        load[t] += a + b * i;
    }
    for (int k = 0; k < threads; k++)
        most = load[k] > most ? load[k] : most;
    return most;
}

static void check_team(const char *body, double milliseconds)
{
    static const xy_predict_given_t costs[] = {
        {"team", "3ms"}, {"team-barrier", "5ms"}, {"team-chunk", "2ms"}};
    setup_t s = {.procs = 1,
                 .config = {.loop_costs = costs, .loop_cost_count = 3, .cost_all = 1e-3}};
    char *text = xy_sprintf("%s<if c='x &lt; 0'><team name='parallel' sizes='1'/>"
                            "<team name='dynamic' sizes='1, 1'/><team name='barrier'/></if>",
                            body);
    xy_prediction_t *p;
    xy_program_t *program;

    if (predict(&s, "", text, &p, &program) != XY_OK)
        fail_msg("%s: %s", text, testing_said);
    if (p->proc[0].compute * 1e3 < milliseconds - 1e-6 ||
        p->proc[0].compute * 1e3 > milliseconds + 1e-6)
        fail_msg("%s: %g ms, not %g", body, p->proc[0].compute * 1e3, milliseconds);
    xy_prediction_destroy(p);
    xy_program_destroy(program);
    xy_free(text);
}

/* Loops that threads share: as a whole, and pass for pass, with equal and with growing passes. */
static void test_teams(void **state)
{
    (void)state;
    for (int k = 0; k < 120; k++) {
        int threads = 1 + k % 5, passes = k * 7 % 41, chunk = k % 4;
        bool is_dynamic = k % 3 == 0;
        const char *kind = is_dynamic ? "dynamic" : "static";
        char begin[200], body[600];

        snprintf(begin, sizeof(begin),
                 "<team name='parallel' sizes='%d'/><compute name='b' count='2'/>"
                 "<team name='%s' sizes='%d, %d'/>",
                 threads, kind, passes, chunk);
        snprintf(body, sizeof(body),
                 "%s<for start='int i = 0' test='i &lt; %d' step='i++'><team name='pass'/>"
                 "<compute name='a' count='i + 1'/></for><team name='end'/><team name='barrier'/>"
                 "<team name='end'/>",
                 begin, passes);
        check_team(body, 10 + team_milliseconds(threads, is_dynamic, passes, chunk, 1, 1, 2));
        snprintf(body, sizeof(body),
                 "%s<compute name='a' count='%d'/><team name='end'/><team name='end'/>", begin,
                 4 * passes);
        if (!is_dynamic)
            check_team(body, 5 + team_milliseconds(threads, false, passes, chunk, 4, 0, 2));
    }
    /* Chunks that are equal, one step for each. */
    check_team("<team name='parallel' sizes='4'/><team name='dynamic' sizes='64, 4'/>"
               "<compute name='a' count='64'/><team name='end'/><team name='end'/>",
               3 + team_milliseconds(4, true, 64, 4, 1, 0, 2));
    /* A team inside of another has one thread, and costs nothing. */
    check_team("<team name='parallel' sizes='4'/><team name='parallel' sizes='4'/>"
               "<compute name='a' count='6'/><team name='end'/><team name='end'/>",
               9);
    check_bad(1, "<team name='pass' line='4'/>",
              "a.c:4: process 0: <team name=\"pass\"> is not in a loop of a team");
    check_bad(1, "<team name='some' line='4'/>",
              "a.c:4: <team name=\"some\"> with 0 sizes is none that a description may have");
    check_bad(1,
              "<team name='static' sizes='2, 0'/><mpi call='MPI_Barrier' " WORLD " line='5'/>"
              "<team name='end'/>",
              "a.c:5: process 0: MPI_Barrier in a loop that the threads of a team share");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),    cmocka_unit_test(test_requests),
        cmocka_unit_test(test_collectives), cmocka_unit_test(test_communicators),
        cmocka_unit_test(test_two_groups),  cmocka_unit_test(test_persistent),
        cmocka_unit_test(test_grids),       cmocka_unit_test(test_types),
        cmocka_unit_test(test_bad),         cmocka_unit_test(test_windows),
        cmocka_unit_test(test_costs),       cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_teams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
