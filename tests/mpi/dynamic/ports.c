/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports, names and MPI_Comm_join: groups that meet, in any order, ranks of one world and of spawned
 * ones; connects that give up; what is refused.
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sizes.h"

enum { ROUNDS = XYLEM_SANITIZED ? 3 : 10 };

static const char *program;

/* Both groups tell each other how many they are. */
static void greet(MPI_Comm inter)
{
    int others, one = 1, sum;

    MPI_Comm_remote_size(inter, &others);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQUAL(sum, others);
}

/* The even ranks of world and the odd ones; who waits first changes from round to round. */
static void test_halves(void)
{
    int world = rank_of(MPI_COMM_WORLD), color = world % 2, flag;
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half;

    if (size_of(MPI_COMM_WORLD) < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, color, world, &half);
    if (world == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm inter;

        for (int k = 0; k < 50 && i % 2 == color; k++) /* the others have got there, mostly */
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        if (color == 0)
            MPI_Comm_accept(rank_of(half) == 0 ? port : NULL, MPI_INFO_NULL, 0, half, &inter);
        else
            MPI_Comm_connect(port, MPI_INFO_NULL, size_of(half) - 1, half, &inter);
        greet(inter);
        MPI_Comm_disconnect(&inter);
    }
    if (world == 0)
        MPI_Close_port(port);
    MPI_Comm_free(&half);
}

/* All others at one port, each for itself. */
static void test_many(void)
{
    int size = size_of(MPI_COMM_WORLD), sum = 0;
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;

    if (rank_of(MPI_COMM_WORLD) == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name("many", MPI_INFO_NULL, port);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of(MPI_COMM_WORLD) != 0) {
        int rank = rank_of(MPI_COMM_WORLD);

        MPI_Lookup_name("many", MPI_INFO_NULL, port);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        MPI_Send(&rank, 1, MPI_INT, 0, 0, inter);
        MPI_Comm_disconnect(&inter);
        return;
    }
    for (int i = 1; i < size; i++) {
        int rank;

        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        MPI_Recv(&rank, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
        sum += rank;
        MPI_Comm_disconnect(&inter);
    }
    CHECK_EQUAL(sum, size * (size - 1) / 2);
    MPI_Unpublish_name("many", MPI_INFO_NULL, port);
    MPI_Close_port(port);
}

/* Children that know the world's port, and those of another spawn, which know nothing but a name.
 */
static void be_child(MPI_Comm parent, const char *mode, const char *port)
{
    char found[MPI_MAX_PORT_NAME];
    MPI_Comm inter;

    if (strcmp(mode, "accept") == 0) {
        char own[MPI_MAX_PORT_NAME] = "";

        if (rank_of(MPI_COMM_WORLD) == 0) {
            MPI_Open_port(MPI_INFO_NULL, own);
            MPI_Publish_name("between children", MPI_INFO_NULL, own);
        }
        MPI_Barrier(parent);
        MPI_Comm_accept(own, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        if (rank_of(MPI_COMM_WORLD) == 0)
            MPI_Unpublish_name("between children", MPI_INFO_NULL, own);
    } else {
        MPI_Barrier(parent);
        MPI_Lookup_name("between children", MPI_INFO_NULL, found);
        MPI_Comm_connect(found, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    }
    greet(inter);
    MPI_Comm_disconnect(&parent);
    greet(inter); /* the parents are out of it */
    MPI_Comm_disconnect(&inter);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    greet(inter);
    MPI_Comm_disconnect(&inter);
}

static void test_children(void)
{
    char port[MPI_MAX_PORT_NAME] = "", accept[] = "accept", connect[] = "connect";
    char *first_arguments[] = {accept, port, NULL}, *second_arguments[] = {connect, port, NULL};
    MPI_Comm first, second, inter;

    if (rank_of(MPI_COMM_WORLD) == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Comm_spawn(program, first_arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &first,
                   MPI_ERRCODES_IGNORE);
    MPI_Comm_spawn(program, second_arguments, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &second,
                   MPI_ERRCODES_IGNORE);
    MPI_Barrier(first);
    MPI_Barrier(second);
    MPI_Comm_disconnect(&first);
    MPI_Comm_disconnect(&second);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        greet(inter);
        MPI_Comm_disconnect(&inter);
    }
    if (rank_of(MPI_COMM_WORLD) == 0)
        MPI_Close_port(port);
}

/* A socket between ranks 0 and 1, whose descriptors one process knows. */
static void test_join(void)
{
    int ends[2], rank = rank_of(MPI_COMM_WORLD), got = -1;
    MPI_Comm inter;

    if (size_of(MPI_COMM_WORLD) < 2 || rank > 1)
        return;
    if (rank == 0) {
        CHECK_EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        MPI_Send(&ends[1], 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&ends[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Comm_join(ends[0], &inter);
    CHECK(inter != MPI_COMM_NULL);
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 1 - rank);
    MPI_Comm_disconnect(&inter);
    close(ends[0]);
}

/* The other end is no rank: there is no communicator, and no error. */
static void test_join_stranger(void)
{
    char line[1024] = "hello";
    MPI_Comm inter = MPI_COMM_SELF;
    int ends[2];

    CHECK_EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    CHECK_EQUAL(write(ends[1], line, sizeof line), (long long)sizeof line);
    CHECK_EQUAL(MPI_Comm_join(ends[0], &inter), MPI_SUCCESS);
    CHECK(inter == MPI_COMM_NULL);
    close(ends[0]);
    close(ends[1]);
}

/* On MPI_COMM_SELF, whose handler returns. */
static void test_refused(void)
{
    char port[MPI_MAX_PORT_NAME], name[64], found[MPI_MAX_PORT_NAME];
    const char *foreign = "xylem-port:0123456789abcdef:0:77";
    MPI_Comm inter;

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    snprintf(name, sizeof name, "name of %d", rank_of(MPI_COMM_WORLD));
    CHECK_EQUAL(MPI_Comm_connect("somewhere", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter),
                MPI_ERR_PORT);
    CHECK_EQUAL(MPI_Comm_connect(foreign, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
    CHECK_EQUAL(MPI_Comm_accept(foreign, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
    MPI_Open_port(MPI_INFO_NULL, port);
    CHECK_EQUAL(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
    CHECK_EQUAL(MPI_Lookup_name(name, MPI_INFO_NULL, found), MPI_ERR_NAME);
    CHECK_EQUAL(MPI_Unpublish_name(name, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    CHECK_EQUAL(MPI_Publish_name(name, MPI_INFO_NULL, port), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Publish_name(name, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    CHECK_EQUAL(MPI_Lookup_name(name, MPI_INFO_NULL, found), MPI_SUCCESS);
    CHECK(strcmp(found, port) == 0);
    CHECK_EQUAL(MPI_Unpublish_name(name, MPI_INFO_NULL, "another"), MPI_ERR_SERVICE);
    CHECK_EQUAL(MPI_Unpublish_name(name, MPI_INFO_NULL, port), MPI_SUCCESS);
    MPI_Close_port(port);
    CHECK_EQUAL(MPI_Close_port(port), MPI_ERR_PORT);
    CHECK_EQUAL(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
    CHECK_EQUAL(MPI_Comm_join(-1, &inter), MPI_ERR_ARG);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* All ranks know the name that the last one publishes, also those of other processes. */
static void test_names(void)
{
    int rank = rank_of(MPI_COMM_WORLD), last = size_of(MPI_COMM_WORLD) - 1;
    char found[MPI_MAX_PORT_NAME], name[5000];

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == last)
        CHECK_EQUAL(MPI_Publish_name("of the last", MPI_INFO_NULL, "its port"), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(MPI_Lookup_name("of the last", MPI_INFO_NULL, found), MPI_SUCCESS);
    CHECK(strcmp(found, "its port") == 0);
    CHECK_EQUAL(MPI_Publish_name("of the last", MPI_INFO_NULL, "another"), MPI_ERR_SERVICE);
    CHECK_EQUAL(MPI_Unpublish_name("of the last", MPI_INFO_NULL, "another"), MPI_ERR_SERVICE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK_EQUAL(MPI_Unpublish_name("of the last", MPI_INFO_NULL, "its port"), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(MPI_Lookup_name("of the last", MPI_INFO_NULL, found), MPI_ERR_NAME);
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    CHECK_EQUAL(MPI_Publish_name(name, MPI_INFO_NULL, "port"), MPI_ERR_SERVICE);
    CHECK_EQUAL(MPI_Lookup_name(name, MPI_INFO_NULL, found), MPI_ERR_NAME);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* Only the rank that has opened a port accepts there and closes it. */
static void test_owner(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;

    if (rank_of(MPI_COMM_WORLD) == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank_of(MPI_COMM_WORLD) != 0) {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        CHECK_EQUAL(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
        CHECK_EQUAL(MPI_Close_port(port), MPI_ERR_PORT);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of(MPI_COMM_WORLD) == 0)
        MPI_Close_port(port);
}

static MPI_Info limit_of(const char *seconds)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", seconds);
    return info;
}

/* Connect with a limit: at a port where nobody accepts; then where the owner accepts at some time
 * before or after the limit, and so often that one of them is never too late. */
static void connect_briefly(const char *port)
{
    MPI_Info none = limit_of("0"), bad = limit_of("soon"), most = limit_of("1000");
    int go = 1;

    for (int i = 0; i < ROUNDS; i++) {
        char text[32];
        MPI_Info some;
        MPI_Comm inter;
        int code;

        snprintf(text, sizeof text, "%g", 1e-5 * (i * i));
        some = limit_of(text);
        CHECK_EQUAL(MPI_Comm_connect(port, none, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
        CHECK_EQUAL(MPI_Comm_connect(port, bad, 0, MPI_COMM_SELF, &inter), MPI_ERR_INFO_VALUE);
        MPI_Send(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        code = MPI_Comm_connect(port, some, 0, MPI_COMM_SELF, &inter);
        if (code != MPI_SUCCESS) {
            CHECK_EQUAL(code, MPI_ERR_PORT);
            CHECK_EQUAL(
                MPI_Comm_connect(port, i % 2 ? most : MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter),
                MPI_SUCCESS);
        }
        greet(inter);
        MPI_Comm_disconnect(&inter);
        MPI_Info_free(&some);
    }
    MPI_Info_free(&none);
    MPI_Info_free(&bad);
    MPI_Info_free(&most);
}

static void test_limits(void)
{
    int rank = rank_of(MPI_COMM_WORLD), go;
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;

    if (size_of(MPI_COMM_WORLD) < 2)
        return;
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 1)
        connect_briefly(port);
    for (int i = 0; i < ROUNDS && rank == 0; i++) {
        MPI_Recv(&go, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQUAL(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_SUCCESS);
        greet(inter);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    if (rank == 0)
        MPI_Close_port(port);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;

    MPI_Init(&argc, &argv);
    program = argv[0];
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        be_child(parent, argv[1], argv[2]);
    } else {
        test_refused();
        test_names();
        test_owner();
        test_halves();
        test_many();
        test_limits();
        test_join();
        test_join_stranger();
        if (size_of(MPI_COMM_WORLD) > 1)
            test_children();
    }
    MPI_Finalize();
    return 0;
}
