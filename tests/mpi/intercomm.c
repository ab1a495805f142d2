/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators between the even and the odd ranks. */
#include <stdlib.h>

#include "check.h"

/* Everybody hears from the remote rank of the same number (modulo the size). */
static void check_traffic(MPI_Comm inter, int expected_remote_world)
{
    int rank, remote, me, heard = -1;
    MPI_Request request;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_remote_size(inter, &remote);
    if (rank < remote) {
        MPI_Isend(&me, 1, MPI_INT, rank, 3, inter, &request);
        MPI_Recv(&heard, 1, MPI_INT, rank, 3, inter, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_EQUAL(heard, expected_remote_world);
    }
}

static void check_merge(MPI_Comm inter, int p, int me)
{
    int size, rank, sum, odd = me % 2, evens = (p + 1) / 2;
    MPI_Comm all;

    MPI_Intercomm_merge(inter, odd, &all); /* evens first */
    MPI_Comm_size(all, &size);
    CHECK_EQUAL(size, p);
    MPI_Comm_rank(all, &rank);
    CHECK_EQUAL(rank, me / 2 + (odd ? evens : 0));
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK_EQUAL(sum, p * (p - 1) / 2);
    MPI_Comm_free(&all);
    MPI_Intercomm_merge(inter, !odd, &all); /* odds first */
    MPI_Comm_rank(all, &rank);
    CHECK_EQUAL(rank, me / 2 + (odd ? 0 : p / 2));
    MPI_Comm_free(&all);
    MPI_Intercomm_merge(inter, 1, &all); /* any order, but one of the two */
    MPI_Comm_rank(all, &rank);
    CHECK(rank == me / 2 + (odd ? evens : 0) || rank == me / 2 + (odd ? 0 : p / 2));
    MPI_Comm_free(&all);
}

static void check_split(MPI_Comm inter, int p, int me)
{
    /* Colors pair 0,1 | 2,3 | ...: one rank of each side; the last of an odd world is alone. */
    MPI_Comm pair;
    int size, remote;

    MPI_Comm_split(inter, me / 2, 0, &pair);
    CHECK_EQUAL(pair == MPI_COMM_NULL, p % 2 == 1 && me == p - 1);
    if (pair == MPI_COMM_NULL)
        return;
    MPI_Comm_size(pair, &size);
    MPI_Comm_remote_size(pair, &remote);
    CHECK(size == 1 && remote == 1);
    check_traffic(pair, me ^ 1);
    MPI_Comm_free(&pair);
}

static void check_create(MPI_Comm inter)
{
    MPI_Group local, remote, first, found;
    MPI_Comm leaders;
    int rank, result, zero = 0;

    MPI_Comm_rank(inter, &rank);
    MPI_Comm_group(inter, &local);
    MPI_Comm_remote_group(inter, &remote);
    MPI_Group_incl(local, 1, &zero, &first);
    MPI_Comm_create(inter, first, &leaders);
    CHECK_EQUAL(leaders == MPI_COMM_NULL, rank != 0);
    if (leaders != MPI_COMM_NULL) {
        MPI_Comm_group(leaders, &found);
        MPI_Group_compare(found, first, &result);
        CHECK_EQUAL(result, MPI_IDENT);
        MPI_Group_free(&found);
        MPI_Comm_free(&leaders);
    }
    MPI_Group_free(&first);
    MPI_Group_free(&local);
    MPI_Group_free(&remote);
}

int main(int argc, char **argv)
{
    MPI_Comm half, inter, copy;
    int p, me, flag, size, result;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (p > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, me % 2 ? 0 : 1, 12, &inter);
        MPI_Comm_test_inter(inter, &flag);
        CHECK(flag);
        MPI_Comm_test_inter(half, &flag);
        CHECK(!flag);
        MPI_Comm_remote_size(inter, &size);
        CHECK_EQUAL(size, me % 2 ? (p + 1) / 2 : p / 2);
        MPI_Comm_compare(inter, half, &result);
        CHECK_EQUAL(result, MPI_UNEQUAL);
        check_traffic(inter, me ^ 1);
        MPI_Comm_dup(inter, &copy);
        MPI_Comm_compare(inter, copy, &result);
        CHECK_EQUAL(result, MPI_CONGRUENT);
        MPI_Comm_free(&inter);
        check_traffic(copy, me ^ 1);
        check_merge(copy, p, me);
        check_split(copy, p, me);
        check_create(copy);
        MPI_Comm_disconnect(&copy);
        MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
        CHECK_EQUAL(MPI_Intercomm_create(half, -1, MPI_COMM_WORLD, 0, 1, &inter), MPI_ERR_RANK);
        MPI_Comm_free(&half);
        /* Groups that overlap are refused on every rank. */
        MPI_Comm_dup(MPI_COMM_WORLD, &half);
        MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
        CHECK_EQUAL(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 0, 1, &inter), MPI_ERR_COMM);
        MPI_Comm_free(&half);
    }
    MPI_Finalize();
    return 0;
}
