/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two jobs that meet: jobs server FILE, and jobs client FILE, where the server writes the name of
 * its port; "name" instead of a file: they publish and look up a name. What both do with the
 * communicators between them is what ranks of one job do.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sizes.h"

enum { LARGE = 1 << 18, ROUNDS = 3 };

static int remote_size(MPI_Comm inter)
{
    int size;

    MPI_Comm_remote_size(inter, &size);
    return size;
}

/* Everyone sends to everyone: small, large, with gaps, synchronous. */
static void test_messages(MPI_Comm inter)
{
    int rank = rank_of(inter), others = remote_size(inter), *large, *got;
    MPI_Request requests[64];
    MPI_Datatype every_second;
    MPI_Status status;

    for (int r = 0; r < others; r++) {
        int value = 1000 * rank + r;

        MPI_Isend(&value, 1, MPI_INT, r, 7, inter, &requests[r]);
        MPI_Wait(&requests[r], MPI_STATUS_IGNORE);
    }
    for (int r = 0; r < others; r++) {
        int value, count;

        MPI_Probe(MPI_ANY_SOURCE, 7, inter, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK_EQUAL(count, 1);
        MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 7, inter, &status);
        CHECK_EQUAL(value, 1000 * status.MPI_SOURCE + rank);
    }
    large = malloc(LARGE * sizeof *large);
    got = malloc(LARGE * sizeof *got);
    MPI_Type_vector(LARGE / 2, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    for (int r = 0; r < others; r++) {
        for (int i = 0; i < LARGE; i++)
            large[i] = i + rank;
        MPI_Irecv(got, 1, every_second, r, 8, inter, &requests[0]);
        MPI_Issend(large, LARGE / 2, MPI_INT, r, 8, inter, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < LARGE / 2; i++)
            CHECK_EQUAL(got[2 * i], i + r);
        MPI_Sendrecv(large, LARGE, MPI_INT, r, 9, got, LARGE, MPI_INT, r, 9, inter, &status);
        CHECK_EQUAL(got[LARGE - 1], LARGE - 1 + r);
    }
    MPI_Type_free(&every_second);
    free(large);
    free(got);
}

/* Of the intercommunicator, in both directions. */
static void test_inter_collectives(MPI_Comm inter, int is_server)
{
    int rank = rank_of(inter), size = size_of(inter), others = remote_size(inter), sum, value;
    int *all = calloc((size_t)(size + others), sizeof(int)),
        *mine = calloc((size_t)others, sizeof(int));

    for (int server_sends = 0; server_sends < 2; server_sends++) {
        int sends = server_sends == is_server;
        int root = !sends ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;

        value = sends ? 4711 : 0;
        MPI_Bcast(&value, 1, MPI_INT, root, inter);
        CHECK(value == 4711);
        value = rank + 1; /* senders are not rooted: gather goes the other way */
        MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, root, inter);
        for (int r = 0; r < others && root == MPI_ROOT; r++)
            CHECK_EQUAL(all[r], r + 1);
        MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, root, inter);
        if (root == MPI_ROOT)
            CHECK_EQUAL(sum, others * (others + 1) / 2);
    }
    MPI_Barrier(inter);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQUAL(sum, others * (others - 1) / 2);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, inter);
    for (int r = 0; r < others; r++)
        CHECK_EQUAL(all[r], r);
    for (int r = 0; r < others; r++)
        mine[r] = 100 * rank + r;
    MPI_Alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, inter);
    for (int r = 0; r < others; r++)
        CHECK_EQUAL(all[r], 100 * r + rank);
    free(all);
    free(mine);
}

/* Everyone to the next. */
static void test_ring(MPI_Comm comm)
{
    int rank = rank_of(comm), size = size_of(comm), got = -1;

    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 4, &got, 1, MPI_INT,
                 (rank + size - 1) % size, 4, comm, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, (rank + size - 1) % size);
}

/* One group, and what can be made of it. */
static void test_merged(MPI_Comm inter, int is_server)
{
    int size = size_of(inter), others = remote_size(inter), all = size + others, rank, sum, *large;
    MPI_Comm merged, dup, half, side, again;
    MPI_Group group, some;
    MPI_Request request;

    MPI_Intercomm_merge(inter, is_server, &merged);
    rank = rank_of(merged);
    CHECK_EQUAL(size_of(merged), all);
    CHECK_EQUAL(rank, rank_of(inter) + (is_server ? others : 0));
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK_EQUAL(sum, all * (all - 1) / 2);
    large = malloc(LARGE * sizeof *large);
    for (int root = 0; root < all; root++) {
        for (int i = 0; i < LARGE; i++)
            large[i] = rank == root ? i ^ root : 0;
        MPI_Bcast(large, LARGE, MPI_INT, root, merged);
        CHECK(large[0] == root && large[LARGE - 1] == ((LARGE - 1) ^ root));
    }
    MPI_Allreduce(MPI_IN_PLACE, large, LARGE, MPI_INT, MPI_BOR, merged);
    free(large);
    MPI_Comm_dup(merged, &dup);
    MPI_Ibarrier(dup, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&dup);
    MPI_Comm_idup(merged, &dup, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_split(dup, rank % 2, -rank, &half);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
    CHECK_EQUAL(sum, rank % 2 == 0 ? (all - 1) / 2 * ((all + 1) / 2) : all / 2 * (all / 2));
    CHECK_EQUAL(rank_of(half), (all - 1 - rank) / 2);
    MPI_Comm_split(dup, is_server, 0, &side); /* of one job: stays when the others are gone */
    CHECK_EQUAL(size_of(side), size);
    MPI_Comm_group(merged, &group);
    MPI_Group_incl(group, 2, (int[]){all - 1, 0}, &some);
    if (rank == 0 || rank == all - 1) {
        int got = -1;

        MPI_Comm_create_group(merged, some, 3, &again);
        CHECK_EQUAL(rank_of(again), rank == 0);
        MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank_of(again), 0, &got, 1, MPI_INT, 1 - rank_of(again),
                     0, again, MPI_STATUS_IGNORE);
        CHECK_EQUAL(got, all - 1 - rank);
        MPI_Comm_free(&again);
    }
    MPI_Comm_create(merged, group, &again);
    MPI_Barrier(again);
    MPI_Comm_free(&again);
    MPI_Intercomm_create(side, 0, merged, is_server ? 0 : size, 5, &again); /* once more */
    CHECK_EQUAL(remote_size(again), others);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_MAX, again);
    CHECK_EQUAL(sum, is_server ? others - 1 : all - 1);
    MPI_Comm_disconnect(&again);
    MPI_Comm_split_type(merged, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &again); /* not memory */
    CHECK(size_of(again) <= size);
    MPI_Comm_free(&again);
    MPI_Cart_create(merged, 1, &all, (int[]){1}, 1, &again); /* the same order in both jobs */
    test_ring(again);
    MPI_Comm_free(&again);
    MPI_Group_free(&group);
    MPI_Group_free(&some);
    MPI_Comm_free(&half);
    MPI_Comm_free(&dup);
    MPI_Comm_disconnect(&merged);
    MPI_Barrier(side);
    MPI_Comm_free(&side);
}

/* Calls that are impossible with ranks of two jobs. */
static void test_refused(MPI_Comm inter)
{
    MPI_Comm merged, made;
    char port[MPI_MAX_PORT_NAME];
    MPI_Win win;
    MPI_File file;

    MPI_Intercomm_merge(inter, 0, &merged);
    MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, merged, &win),
                MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_EQUAL(MPI_File_open(merged, "none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                MPI_ERR_UNSUPPORTED_OPERATION);
    MPI_Open_port(MPI_INFO_NULL, port);
    CHECK_EQUAL(MPI_Comm_accept(port, MPI_INFO_NULL, 0, merged, &made), MPI_ERR_COMM);
    MPI_Close_port(port);
    MPI_Comm_disconnect(&merged);
}

static void test_all(MPI_Comm inter, int is_server)
{
    test_messages(inter);
    test_inter_collectives(inter, is_server);
    test_merged(inter, is_server);
    test_refused(inter);
}

/* ---- How they find each other ---- */

static void tell_port(const char *file, const char *port)
{
    char made[512];
    FILE *out;

    if (strcmp(file, "name") == 0) {
        MPI_Publish_name("jobs/test", MPI_INFO_NULL, port);
        return;
    }
    snprintf(made, sizeof made, "%s.new", file);
    out = fopen(made, "w");
    CHECK(out != NULL);
    fputs(port, out);
    fclose(out);
    CHECK_EQUAL(rename(made, file), 0);
}

static void find_port(const char *file, char *port)
{
    FILE *in = NULL;

    if (strcmp(file, "name") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        while (MPI_Lookup_name("jobs/test", MPI_INFO_NULL, port) != MPI_SUCCESS)
            usleep(1000);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
        return;
    }
    while ((in = fopen(file, "r")) == NULL)
        usleep(1000);
    CHECK(fgets(port, MPI_MAX_PORT_NAME, in) != NULL);
    fclose(in);
}

/* ---- MPI_Comm_join ---- */

/* The last ranks of both worlds over a socket of their own; the port of it goes over `inter`. */
static void test_join(MPI_Comm inter, int is_server)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int last = size_of(inter) - 1, other = remote_size(inter) - 1, rank = rank_of(inter), got, fd;
    socklen_t size = sizeof here;
    MPI_Comm joined = MPI_COMM_NULL;

    if (rank != last)
        return;
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (is_server) {
        int listener = fd;

        CHECK_EQUAL(bind(listener, (struct sockaddr *)&here, sizeof here), 0);
        CHECK_EQUAL(listen(listener, 1), 0);
        CHECK_EQUAL(getsockname(listener, (struct sockaddr *)&here, &size), 0);
        MPI_Send(&here.sin_port, 2, MPI_BYTE, other, 11, inter);
        fd = accept(listener, NULL, NULL);
        close(listener);
    } else {
        MPI_Recv(&here.sin_port, 2, MPI_BYTE, other, 11, inter, MPI_STATUS_IGNORE);
        CHECK_EQUAL(connect(fd, (struct sockaddr *)&here, sizeof here), 0);
    }
    MPI_Comm_join(fd, &joined);
    CHECK(joined != MPI_COMM_NULL);
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, joined, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, other);
    MPI_Comm_disconnect(&joined);
    close(fd);
}

/* ---- Halves of the jobs at once, in opposite directions ---- */

static void test_halves(MPI_Comm inter, int is_server)
{
    int rank = rank_of(inter), half = rank % 2, first = rank < 2;
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm own, made;

    if (size_of(inter) < 2 || remote_size(inter) < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, half, 0, &own);
    if (first && is_server != half) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, sizeof port, MPI_CHAR, half, 12, inter);
    } else if (first) {
        MPI_Recv(port, sizeof port, MPI_CHAR, half, 12, inter, MPI_STATUS_IGNORE);
    }
    if (is_server != half)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, own, &made);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, own, &made);
    test_messages(made);
    MPI_Comm_disconnect(&made);
    MPI_Comm_free(&own);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", other[MPI_MAX_PORT_NAME] = "";
    int is_server, rank;
    MPI_Comm inter;

    MPI_Init(&argc, &argv);
    if (argc < 3) { /* two jobs are needed */
        MPI_Finalize();
        return 0;
    }
    is_server = strcmp(argv[1], "server") == 0;
    rank = rank_of(MPI_COMM_WORLD);
    if (is_server && rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        tell_port(argv[2], port);
    } else if (rank == 0) {
        find_port(argv[2], port);
    }
    for (int round = 0; round < ROUNDS; round++) {
        if (is_server)
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        else
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        CHECK(remote_size(inter) > 0);
        if (round == 0)
            test_all(inter, is_server);
        if (round == 1)
            test_join(inter, is_server);
        if (round == 2)
            test_halves(inter, is_server);
        MPI_Comm_disconnect(&inter);
    }
    /* The other way round, and a port that is closed. */
    if (is_server)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    if (is_server && rank == 0) {
        MPI_Recv(other, sizeof other, MPI_CHAR, 0, 1, inter, MPI_STATUS_IGNORE);
        if (strcmp(argv[2], "name") == 0)
            MPI_Unpublish_name("jobs/test", MPI_INFO_NULL, port);
        MPI_Close_port(port);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 2, inter);
    } else if (rank == 0) {
        MPI_Comm none;

        MPI_Open_port(MPI_INFO_NULL, other);
        MPI_Send(other, sizeof other, MPI_CHAR, 0, 1, inter);
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 2, inter, MPI_STATUS_IGNORE);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        CHECK_EQUAL(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &none), MPI_ERR_PORT);
    }
    MPI_Comm_disconnect(&inter);
    if (is_server)
        MPI_Comm_connect(other, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    else
        MPI_Comm_accept(other, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    test_messages(inter);
    MPI_Comm_disconnect(&inter);
    MPI_Finalize();
    return 0;
}
