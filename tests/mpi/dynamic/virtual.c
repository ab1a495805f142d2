/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawned ranks in virtual time, on two nodes of four cores of which two have a rank: what starting
 * takes, where new ranks are, what messages to them take, and that two runs are the same. Prints
 * times to the last bit. Its arguments are the microseconds that starting takes, and how ranks are
 * placed. The first argument of a child says what it does.
 */
#include <arpa/inet.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sizes.h"

enum { BYTES = 1 << 20, CORES = 8, PER_NODE = 4 };

static const char *program;
static char data[BYTES];

static MPI_Comm spawn(const char *mode, int count, MPI_Comm comm)
{
    char *arguments[] = {(char *)(size_t)mode, NULL};
    MPI_Comm inter;

    MPI_Comm_spawn(program, arguments, count, MPI_INFO_NULL, 0, comm, &inter, MPI_ERRCODES_IGNORE);
    return inter;
}

/* Half of what a message there and back takes. */
static double exchange(MPI_Comm comm, int peer, int leads)
{
    double start = MPI_Wtime();

    if (leads)
        MPI_Send(data, BYTES, MPI_CHAR, peer, 1, comm);
    MPI_Recv(data, BYTES, MPI_CHAR, peer, 1, comm, MPI_STATUS_IGNORE);
    if (!leads)
        MPI_Send(data, BYTES, MPI_CHAR, peer, 1, comm);
    return (MPI_Wtime() - start) / 2;
}

static void be_child(MPI_Comm parent, const char *mode)
{
    double begun = MPI_Wtime();

    if (strcmp(mode, "echo") == 0) {
        MPI_Gather(&begun, 1, MPI_DOUBLE, NULL, 0, MPI_DOUBLE, 0, parent);
        MPI_Barrier(MPI_COMM_WORLD);
        exchange(parent, 0, 0);
    } else if (strcmp(mode, "name") == 0) {
        char port[MPI_MAX_PORT_NAME];
        MPI_Comm inter;

        MPI_Lookup_name("virtual", MPI_INFO_NULL, port);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        MPI_Barrier(inter);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Comm_disconnect(&parent);
}

/* Packed, ranks 0 and 1 are on the first two cores: the first two of three new ranks have the rest
 * of that node, the third is on the other one. */
static void test_costs(double spawn_time, int is_packed)
{
    double begun[3], start, end, took[3];
    MPI_Comm inter;

    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    inter = spawn("echo", 3, MPI_COMM_WORLD);
    end = MPI_Wtime();
    CHECK(end - start >= 3 * spawn_time);
    CHECK(end - start < 3 * spawn_time + 200e-6 || !is_packed);
    MPI_Gather(NULL, 0, MPI_DOUBLE, begun, 1, MPI_DOUBLE,
               rank_of(MPI_COMM_WORLD) == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    if (rank_of(MPI_COMM_WORLD) == 0)
        for (int i = 0; i < 3; i++) {
            CHECK(begun[i] >= start + (i + 1) * spawn_time);
            took[i] = exchange(inter, i, 1);
            printf("child %d: begun at %a, a message takes %a\n", i, begun[i], took[i]);
        }
    MPI_Comm_disconnect(&inter);
    if (rank_of(MPI_COMM_WORLD) > 1)
        return;
    start = exchange(MPI_COMM_WORLD, 1 - rank_of(MPI_COMM_WORLD), rank_of(MPI_COMM_WORLD) == 0);
    if (rank_of(MPI_COMM_WORLD) != 0 || !is_packed)
        return;
    /* 1 MiB at 10 GB/s between nodes; a copy inside one. */
    CHECK(took[2] > BYTES / 10e9);
    for (int i = 0; i < 2; i++)
        CHECK(fabs(took[i] - start) < 1e-9 + 0.02 * start);
    CHECK(fabs(took[2] - start) > 0.02 * start);
}

/* The cores of ranks that are over are free again: all of the machine, twice. */
static void test_room(void)
{
    for (int i = 0; i < 2; i++) {
        MPI_Comm inter = spawn("nothing", CORES - size_of(MPI_COMM_WORLD), MPI_COMM_WORLD);

        MPI_Comm_disconnect(&inter);
        sleep(1);
    }
}

/* A name takes a message to rank 0 and back; a socket, of TCP, the meeting itself. */
static void test_ports(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    double start = MPI_Wtime(), end;
    MPI_Comm inter, children;

    if (rank_of(MPI_COMM_WORLD) == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name("virtual", MPI_INFO_NULL, port);
        printf("the port is %s\n", port);
    }
    children = spawn("name", 2, MPI_COMM_WORLD);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    MPI_Barrier(inter);
    MPI_Comm_disconnect(&inter);
    MPI_Comm_disconnect(&children);
    end = MPI_Wtime();
    CHECK(end > start);
    printf("rank %d: ports took %a\n", rank_of(MPI_COMM_WORLD), end - start);
    if (rank_of(MPI_COMM_WORLD) == 0) {
        MPI_Unpublish_name("virtual", MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
}

static void tcp_pair(int ends[2])
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof here;
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    CHECK_EQUAL(bind(listener, (struct sockaddr *)&here, sizeof here), 0);
    CHECK_EQUAL(listen(listener, 1), 0);
    CHECK_EQUAL(getsockname(listener, (struct sockaddr *)&here, &size), 0);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    CHECK_EQUAL(connect(ends[0], (struct sockaddr *)&here, sizeof here), 0);
    ends[1] = accept(listener, NULL, NULL);
    CHECK(ends[1] >= 0);
    close(listener);
}

static void test_join(void)
{
    int rank = rank_of(MPI_COMM_WORLD), ends[2], got = -1;
    MPI_Comm inter;

    if (rank > 1)
        return;
    if (rank == 0) {
        tcp_pair(ends);
        MPI_Send(&ends[1], 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        sleep(1);
    } else {
        MPI_Recv(&ends[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Comm_join(ends[0], &inter);
    CHECK(inter != MPI_COMM_NULL);
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 1 - rank);
    MPI_Comm_disconnect(&inter);
    printf("rank %d: joined at %a\n", rank, MPI_Wtime());
    close(ends[0]);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    int *universe, flag;

    MPI_Init(&argc, &argv);
    program = argv[0];
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        be_child(parent, argv[1]);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
    CHECK(flag && argc > 2);
    CHECK_EQUAL(*universe, strcmp(argv[2], "few") == 0 ? 2 : CORES);
    test_costs(1e-6 * atof(argv[1]), strcmp(argv[2], "packed") == 0);
    test_room();
    test_ports();
    test_join();
    if (rank_of(MPI_COMM_WORLD) == 0)
        printf("over at %a\n", MPI_Wtime());
    MPI_Finalize();
    return 0;
}
