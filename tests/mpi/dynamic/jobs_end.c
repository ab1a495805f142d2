/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How jobs that are connected end: jobs_end MODE FILE server|client. The server writes the name of
 * its port into FILE.
 *
 *   abort    the client ends with MPI_Abort, and the server waits for a message of it
 *   exit     both call MPI_Finalize without MPI_Comm_disconnect
 *   gone     the client does, and the server waits for a message of it
 *   many     the server accepts COUNT clients, one after the other: single ranks, or whole jobs
 *   late     nobody accepts before the client has connected for a while
 *   third    the last rank of the server accepts a client alone, at FILE.last, and then all accept
 *            another one; it is connected to both
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sizes.h"

static void open_port(const char *file, char *port)
{
    char made[512];
    FILE *out;

    MPI_Open_port(MPI_INFO_NULL, port);
    snprintf(made, sizeof made, "%s.new", file);
    out = fopen(made, "w");
    CHECK(out != NULL);
    fputs(port, out);
    fclose(out);
    CHECK_EQUAL(rename(made, file), 0);
}

static void find_port(const char *file, char *port)
{
    FILE *in;

    while ((in = fopen(file, "r")) == NULL)
        usleep(1000);
    CHECK(fgets(port, MPI_MAX_PORT_NAME, in) != NULL);
    fclose(in);
}

static void serve_many(const char *port, int count)
{
    MPI_Comm inter;

    for (int i = 0; i < count; i++) {
        int value = i, got = -1;

        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        if (rank_of(inter) == 0) {
            MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, inter,
                         MPI_STATUS_IGNORE);
            CHECK_EQUAL(got, 77);
        }
        MPI_Comm_disconnect(&inter);
    }
}

static void be_one_of_many(const char *port)
{
    int value = 77, got = -1;
    MPI_Comm inter;

    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
    CHECK(got >= 0);
    MPI_Comm_disconnect(&inter);
}

static MPI_Comm meet(const char *port, int is_server, int is_late)
{
    MPI_Comm inter;

    if (is_server && is_late)
        usleep(300000);
    if (is_server)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    MPI_Barrier(inter);
    return inter;
}

/* Sums over all of the server and a client, in the order in which the server has met them. */
static void add_up(MPI_Comm inter, int is_server)
{
    int one = 1, sum = 0, size;
    MPI_Comm merged;

    MPI_Comm_remote_size(inter, &size);
    size += size_of(inter);
    MPI_Intercomm_merge(inter, is_server, &merged);
    for (int i = 0; i < 10; i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged);
        CHECK_EQUAL(sum, size);
    }
    MPI_Comm_disconnect(&merged);
}

static void serve_third(const char *port, const char *file)
{
    int is_last = rank_of(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1;
    char other[512], own[MPI_MAX_PORT_NAME];
    MPI_Comm first = MPI_COMM_NULL, second;

    if (is_last) {
        snprintf(other, sizeof other, "%s.last", file);
        open_port(other, own);
        MPI_Comm_accept(own, MPI_INFO_NULL, 0, MPI_COMM_SELF, &first);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &second);
    add_up(second, 1);
    if (is_last)
        add_up(first, 1);
    add_up(second, 1);
    MPI_Comm_disconnect(&second);
    if (is_last)
        MPI_Comm_disconnect(&first);
}

static void be_third(const char *port, int times)
{
    MPI_Comm inter;

    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    for (int i = 0; i < times; i++)
        add_up(inter, 0);
    MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int is_server, value;
    MPI_Comm inter;

    MPI_Init(&argc, &argv);
    if (argc < 4) { /* two jobs are needed */
        MPI_Finalize();
        return 0;
    }
    is_server = strcmp(argv[3], "server") == 0;
    if (is_server && rank_of(MPI_COMM_WORLD) == 0)
        open_port(argv[2], port);
    else if (!is_server)
        find_port(argv[2], port);
    if (strcmp(argv[1], "many") == 0) {
        if (is_server)
            serve_many(port, argc > 4 ? atoi(argv[4]) : 1);
        else
            be_one_of_many(port);
        MPI_Finalize();
        return 0;
    }
    if (strcmp(argv[1], "third") == 0) {
        if (is_server)
            serve_third(port, argv[2]);
        else
            be_third(port, strstr(argv[2], ".last") != NULL ? 1 : 2);
        MPI_Finalize();
        return 0;
    }
    CHECK(size_of(MPI_COMM_WORLD) > 0);
    inter = meet(port, is_server, strcmp(argv[1], "late") == 0);
    if (!is_server && strcmp(argv[1], "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 5);
    if (is_server && (strcmp(argv[1], "abort") == 0 || strcmp(argv[1], "gone") == 0))
        MPI_Recv(&value, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE); /* in vain */
    if (strcmp(argv[1], "late") == 0)
        MPI_Comm_disconnect(&inter);
    MPI_Finalize();
    return 0;
}
