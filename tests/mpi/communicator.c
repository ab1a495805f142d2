/* SPDX-License-Identifier: BSD-3-Clause */
/* Making communicators: ranks and sizes against plain references, and messages that stay inside. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"

/* Each member hears from its left neighbour in `comm`: its rank there. Then all agree on the sum.
 */
static void check_traffic(MPI_Comm comm)
{
    int rank, size, heard = -1, sum;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 5, &heard, 1, MPI_INT,
                 (rank + size - 1) % size, 5, comm, MPI_STATUS_IGNORE);
    CHECK_EQUAL(heard, (rank + size - 1) % size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(sum, size * (size - 1) / 2);
}

typedef struct {
    int color, key;
} wish_t;

/* The wishes of every rank are known to all. */
static void wishes(unsigned seed, int p, wish_t *out)
{
    unsigned state = seed;
    unsigned colors = 1 + next_random(&state) % 5;

    for (int r = 0; r < p; r++) {
        out[r].color = (int)(next_random(&state) % colors);
        if (next_random(&state) % 7 == 0)
            out[r].color = MPI_UNDEFINED;
        out[r].key = (int)(next_random(&state) % 4) - 2;
    }
}

static void check_split(unsigned seed, int p, int me)
{
    wish_t *all = malloc((size_t)p * sizeof *all);
    int rank = 0, size = 0, found;
    MPI_Comm comm;

    wishes(seed, p, all);
    for (int r = 0; r < p; r++) {
        if (all[r].color != all[me].color)
            continue;
        size++;
        rank += all[r].key < all[me].key || (all[r].key == all[me].key && r < me);
    }
    MPI_Comm_split(MPI_COMM_WORLD, all[me].color, all[me].key, &comm);
    CHECK_EQUAL(comm == MPI_COMM_NULL, all[me].color == MPI_UNDEFINED);
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_size(comm, &found);
        CHECK_EQUAL(found, size);
        MPI_Comm_rank(comm, &found);
        CHECK_EQUAL(found, rank);
        check_traffic(comm);
        MPI_Comm_free(&comm);
        CHECK(comm == MPI_COMM_NULL);
    }
    free(all);
}

/* Two messages of one envelope in two communicators are told apart. */
static void check_isolation(MPI_Comm a, MPI_Comm b)
{
    int rank, size, one = 1, two = 2, heard;
    MPI_Request requests[2];

    MPI_Comm_rank(a, &rank);
    MPI_Comm_size(a, &size);
    MPI_Isend(&one, 1, MPI_INT, (rank + 1) % size, 8, a, &requests[0]);
    MPI_Isend(&two, 1, MPI_INT, (rank + 1) % size, 8, b, &requests[1]);
    MPI_Recv(&heard, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, b, MPI_STATUS_IGNORE);
    CHECK_EQUAL(heard, 2);
    MPI_Recv(&heard, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, a, MPI_STATUS_IGNORE);
    CHECK_EQUAL(heard, 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void check_dup(void)
{
    MPI_Comm a, b, again;
    MPI_Info info, used;
    char value[16];
    int result, flag, length = sizeof value;

    MPI_Info_create(&info);
    MPI_Info_set(info, "color", " green ");
    MPI_Info_set(info, "xylem_split", " 3 ");
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_compare(MPI_COMM_WORLD, a, &result);
    CHECK_EQUAL(result, MPI_CONGRUENT);
    MPI_Comm_compare(a, a, &result);
    CHECK_EQUAL(result, MPI_IDENT);
    MPI_Comm_dup_with_info(a, info, &b);
    MPI_Info_free(&info);
    MPI_Comm_dup(b, &again);
    MPI_Comm_get_info(again, &used);
    MPI_Info_get_string(used, "xylem_split", &length, value, &flag);
    CHECK(flag && strcmp(value, "3") == 0);
    MPI_Info_get_string(used, "color", &length, value, &flag); /* ignored, so not in use */
    CHECK(!flag);
    MPI_Info_free(&used);
    check_traffic(a);
    check_traffic(again);
    check_isolation(MPI_COMM_WORLD, a);
    check_isolation(a, b);
    MPI_Comm_free(&a);
    check_traffic(b);
    MPI_Comm_disconnect(&b);
    MPI_Comm_free(&again);
}

/* Started before other collectives, completed after them, two at a time. */
static void check_idup(void)
{
    int keyval, flag, sum, one = 1, p;
    MPI_Comm made[2], first;
    MPI_Request requests[2];
    void *value;

    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_set_attr(first, keyval, &p);
    MPI_Comm_idup(first, &made[0], &requests[0]);
    MPI_Comm_idup(first, &made[1], &requests[1]);
    MPI_Comm_delete_attr(first, keyval); /* the copies were made at the start */
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, first);
    CHECK_EQUAL(sum, p);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    do
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    while (!flag);
    check_isolation(made[0], made[1]);
    MPI_Comm_free(&first);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_get_attr(made[i], keyval, &value, &flag);
        CHECK(flag && value == &p);
        check_traffic(made[i]);
        MPI_Comm_free(&made[i]);
    }
    MPI_Comm_free_keyval(&keyval);
}

/* Two groups at once, each in reverse order; the last rank of an odd world is in neither. */
static void check_create(int p, int me)
{
    int half = p / 2, is_low = me < half, *ranks = malloc(((size_t)p + 1) * sizeof(int));
    int rank, result, heard, out_of_it = me >= 2 * half;
    MPI_Request request;
    MPI_Group world, group, back;
    MPI_Comm comm;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < half; i++)
        ranks[i] = (is_low ? half : 2 * half) - 1 - i;
    MPI_Group_incl(world, out_of_it ? 0 : half, ranks, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    CHECK_EQUAL(comm == MPI_COMM_NULL, out_of_it);
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_rank(comm, &rank);
        CHECK_EQUAL(ranks[rank], me);
        MPI_Comm_group(comm, &back);
        MPI_Group_compare(back, group, &result);
        CHECK_EQUAL(result, MPI_IDENT);
        MPI_Group_free(&back);
        check_traffic(comm);
        MPI_Comm_free(&comm);
        /* Only members call; a message of the program with the same tag does not interfere. */
        MPI_Isend(&me, 1, MPI_INT, ranks[(rank + 1) % half], 9, MPI_COMM_WORLD, &request);
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 9, &comm);
        MPI_Recv(&heard, 1, MPI_INT, ranks[(rank + half - 1) % half], 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        CHECK_EQUAL(heard, ranks[(rank + half - 1) % half]);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_rank(comm, &rank);
        CHECK_EQUAL(ranks[rank], me);
        check_traffic(comm);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    free(ranks);
}

/* In virtual time, which begins in 2000, nodes of the machine have no memory in common. */
#define VIRTUAL_END 1000000000

static void check_types(int p)
{
    MPI_Comm shared, below;
    MPI_Info info;
    char type[16];
    int size, sum, is_named, one = 1;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    MPI_Comm_size(shared, &size);
    CHECK(size == p || (time(NULL) < VIRTUAL_END && size <= p));
    MPI_Comm_free(&shared);
    /* Parts of the hardware are a partition, and finer than the whole or not there. */
    MPI_Info_create(&info);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &below);
    if (below != MPI_COMM_NULL) {
        MPI_Info_get(info, "mpi_hw_resource_type", sizeof type - 1, type, &is_named);
        CHECK(is_named && strcmp(type, "core") == 0);
        MPI_Comm_size(below, &size);
        CHECK(size < p);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, below);
        CHECK_EQUAL(sum, size);
        MPI_Comm_free(&below);
    }
    MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &shared);
    MPI_Comm_size(shared, &size);
    CHECK(size == p || (time(NULL) < VIRTUAL_END && size <= p));
    MPI_Comm_free(&shared);
    MPI_Info_set(info, "mpi_hw_resource_type", "no such thing");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &shared);
    CHECK(shared == MPI_COMM_NULL);
    MPI_Info_free(&info);
}

static void check_names(void)
{
    char name[MPI_MAX_OBJECT_NAME], longer[2 * MPI_MAX_OBJECT_NAME];
    MPI_Comm comm;
    int length;

    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && length == (int)strlen(name));
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_get_name(comm, name, &length);
    CHECK(name[0] == '\0' && length == 0);
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    MPI_Comm_set_name(comm, longer);
    MPI_Comm_get_name(comm, name, &length);
    CHECK_EQUAL(length, MPI_MAX_OBJECT_NAME - 1);
    CHECK(strncmp(name, longer, (size_t)length) == 0);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Comm none = MPI_COMM_NULL, world = MPI_COMM_WORLD;
    int p, me, out;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (unsigned seed = 0; seed < (p > 64 ? 2 : 30); seed++)
        check_split(seed, p, me);
    check_dup();
    check_idup();
    check_create(p, me);
    check_types(p);
    check_names();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Comm_size(MPI_COMM_NULL, &out), MPI_ERR_COMM);
    CHECK_EQUAL(MPI_Comm_free(&none), MPI_ERR_COMM);
    CHECK_EQUAL(MPI_Comm_free(&world), MPI_ERR_COMM);
    CHECK_EQUAL(MPI_Comm_remote_size(MPI_COMM_WORLD, &out), MPI_ERR_COMM);
    CHECK_EQUAL(MPI_Comm_split(MPI_COMM_WORLD, -3, 0, &none), MPI_ERR_ARG);
    MPI_Finalize();
    return 0;
}
