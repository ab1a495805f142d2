/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators that are made of groups alone, and what is known of the hardware. */
#include <string.h>

#include "check.h"

/* The ranks first, first + step ... of world. */
static MPI_Group every(int first, int step)
{
    MPI_Group world, group;
    int p, range[1][3];

    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    range[0][0] = first;
    range[0][1] = p - 1;
    range[0][2] = step;
    MPI_Group_range_incl(world, 1, range, &group);
    MPI_Group_free(&world);
    return group;
}

static int refused;

static void count_refused(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    refused += *code == MPI_ERR_ARG ? 1 : 100;
}

/* Arguments that are NULL: the error handler is the one that the communicator would have. */
static void check_null_arguments(void)
{
    MPI_Errhandler handler;
    MPI_Group group;
    MPI_Comm comm;

    MPI_Comm_create_errhandler(count_refused, &handler);
    MPI_Comm_group(MPI_COMM_SELF, &group);
    CHECK_EQUAL(MPI_Comm_create_from_group(group, "none", MPI_INFO_NULL, handler, NULL),
                MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Comm_create_from_group(group, NULL, MPI_INFO_NULL, handler, &comm),
                MPI_ERR_ARG);
    CHECK_EQUAL(
        MPI_Intercomm_create_from_groups(group, 0, group, 0, "none", MPI_INFO_NULL, handler, NULL),
        MPI_ERR_ARG);
    CHECK_EQUAL(
        MPI_Intercomm_create_from_groups(group, 0, group, 0, NULL, MPI_INFO_NULL, handler, &comm),
        MPI_ERR_ARG);
    CHECK_EQUAL(refused, 4);
    MPI_Group_free(&group);
    MPI_Errhandler_free(&handler);
}

static void check_handler(MPI_Comm comm, MPI_Errhandler expected)
{
    MPI_Errhandler handler;

    MPI_Comm_get_errhandler(comm, &handler);
    CHECK(handler == expected);
    MPI_Errhandler_free(&handler);
}

/* Only the members call, each group its own; twice with the same text. */
static void check_intra(int me, int p)
{
    MPI_Group group = every(me % 3 < p ? me % 3 : 0, 3);
    MPI_Comm comms[2];
    MPI_Info info;
    int sum, size, expected = 0, flag, length = 8;
    char value[8];

    MPI_Info_create(&info);
    MPI_Info_set(info, "xylem_split", "2");
    for (int i = me % 3; i < p; i += 3)
        expected += i;
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(MPI_Comm_create_from_group(group, "thirds", info, MPI_ERRORS_RETURN, &comms[i]),
                    MPI_SUCCESS);
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comms[i]);
        CHECK_EQUAL(sum, expected);
        check_handler(comms[i], MPI_ERRORS_RETURN);
    }
    MPI_Info_free(&info);
    MPI_Comm_get_info(comms[0], &info);
    MPI_Info_get_string(info, "xylem_split", &length, value, &flag);
    CHECK(flag && strcmp(value, "2") == 0);
    MPI_Info_free(&info);
    MPI_Comm_compare(comms[0], comms[1], &flag);
    CHECK_EQUAL(flag, MPI_CONGRUENT);
    MPI_Comm_size(comms[0], &size);
    CHECK_EQUAL(size, (p - me % 3 + 2) / 3);
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
    MPI_Group_free(&group);
    CHECK_EQUAL(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "none", MPI_INFO_NULL,
                                           MPI_ERRORS_RETURN, &comms[0]),
                MPI_SUCCESS);
    CHECK(comms[0] == MPI_COMM_NULL);
    CHECK_EQUAL(MPI_Comm_create_from_group(MPI_GROUP_NULL, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                           &comms[0]),
                MPI_ERR_GROUP);
}

static void check_inter(int me, int p)
{
    MPI_Group evens = every(0, 2), odds = every(p > 1 ? 1 : 0, 2);
    int local_leader = me % 2 ? (p / 2) - 1 : 0, remote_leader = me % 2 ? 0 : (p / 2) - 1;
    int is_inter, remote, heard = -1, rank;
    MPI_Comm comm;

    if (p > 1) {
        CHECK_EQUAL(MPI_Intercomm_create_from_groups(me % 2 ? odds : evens, local_leader,
                                                     me % 2 ? evens : odds, remote_leader, "sides",
                                                     MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
                    MPI_SUCCESS);
        MPI_Comm_test_inter(comm, &is_inter);
        CHECK(is_inter);
        check_handler(comm, MPI_ERRORS_RETURN);
        MPI_Comm_remote_size(comm, &remote);
        CHECK_EQUAL(remote, me % 2 ? (p + 1) / 2 : p / 2);
        MPI_Comm_rank(comm, &rank);
        if (rank < remote)
            MPI_Sendrecv(&me, 1, MPI_INT, rank, 1, &heard, 1, MPI_INT, rank, 1, comm,
                         MPI_STATUS_IGNORE);
        CHECK_EQUAL(heard, rank < remote ? (me ^ 1) : -1);
        MPI_Comm_free(&comm);
        CHECK_EQUAL(MPI_Intercomm_create_from_groups(me % 2 ? odds : evens, p, evens, 0, "bad",
                                                     MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
                    MPI_ERR_RANK);
        CHECK_EQUAL(MPI_Intercomm_create_from_groups(me % 2 ? evens : odds, 0, evens, 0, "bad",
                                                     MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
                    MPI_ERR_GROUP);
        CHECK(comm == MPI_COMM_NULL);
    }
    MPI_Group_free(&evens);
    MPI_Group_free(&odds);
}

/* The resources in the library's hardware information can be split by. */
static void check_hardware(void)
{
    char key[MPI_MAX_INFO_KEY], value[8];
    MPI_Info hardware, hints;
    int keys, flag, length, size;
    MPI_Comm comm;

    MPI_Get_hw_resource_info(&hardware);
    MPI_Info_get_nkeys(hardware, &keys);
    CHECK(keys > 0);
    for (int i = 0; i < keys; i++) {
        MPI_Info_get_nthkey(hardware, i, key);
        length = sizeof value;
        MPI_Info_get_string(hardware, key, &length, value, &flag);
        CHECK(flag && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0));
        CHECK(strstr(key, "://") != NULL);
        MPI_Info_create(&hints);
        MPI_Info_set(hints, "mpi_hw_resource_type", key);
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, hints, &comm);
        MPI_Info_free(&hints);
        CHECK(comm != MPI_COMM_NULL);
        MPI_Comm_size(comm, &size);
        CHECK(size > 0);
        MPI_Comm_free(&comm);
    }
    MPI_Info_free(&hardware);
}

int main(int argc, char **argv)
{
    int me, p;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    check_intra(me, p);
    check_inter(me, p);
    check_hardware();
    check_null_arguments();
    MPI_Finalize();
    return 0;
}
