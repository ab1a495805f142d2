/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects, before, during and after MPI. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int count(MPI_Info info)
{
    int n;

    MPI_Info_get_nkeys(info, &n);
    return n;
}

static int outside(void)
{
    MPI_Info info;
    int flag = 0;
    char value[8] = "";

    return MPI_Info_create(&info) == MPI_SUCCESS &&
           MPI_Info_set(info, "key", "value") == MPI_SUCCESS &&
           MPI_Info_get(info, "key", 7, value, &flag) == MPI_SUCCESS && flag &&
           strcmp(value, "value") == 0 && MPI_Info_free(&info) == MPI_SUCCESS;
}

static void check_values(void)
{
    char value[MPI_MAX_INFO_VAL], key[MPI_MAX_INFO_KEY];
    MPI_Info info, copy;
    int flag, length;

    MPI_Info_create(&info);
    CHECK_EQUAL(count(info), 0);
    MPI_Info_set(info, "one", "first");
    MPI_Info_set(info, "two", "second");
    MPI_Info_set(info, "three", "");
    MPI_Info_set(info, "one", "changed");
    CHECK_EQUAL(count(info), 3);
    MPI_Info_get_nthkey(info, 0, key);
    CHECK(strcmp(key, "one") == 0);
    MPI_Info_get_nthkey(info, 2, key);
    CHECK(strcmp(key, "three") == 0);
    MPI_Info_get(info, "one", 3, value, &flag); /* cut to three characters */
    CHECK(flag && strcmp(value, "cha") == 0);
    MPI_Info_get_valuelen(info, "one", &length, &flag);
    CHECK(flag && length == 7);
    length = 0;
    MPI_Info_get_string(info, "one", &length, NULL, &flag);
    CHECK(flag && length == 8);
    length = 4;
    MPI_Info_get_string(info, "one", &length, value, &flag);
    CHECK(flag && length == 8 && strcmp(value, "cha") == 0);
    MPI_Info_get(info, "none", 3, value, &flag);
    CHECK(!flag);
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "two");
    CHECK_EQUAL(count(info), 2);
    CHECK_EQUAL(count(copy), 3);
    MPI_Info_get_nthkey(info, 1, key);
    CHECK(strcmp(key, "three") == 0);
    MPI_Info_free(&info);
    MPI_Info_get(copy, "two", MPI_MAX_INFO_VAL - 1, value, &flag);
    CHECK(flag && strcmp(value, "second") == 0);
    MPI_Info_free(&copy);
    CHECK(copy == MPI_INFO_NULL);
}

static void check_many(void)
{
    char key[32], value[32];
    MPI_Info info;
    int flag;

    MPI_Info_create(&info);
    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof key, "key %d", i);
        snprintf(value, sizeof value, "%d", i * i);
        MPI_Info_set(info, key, value);
    }
    for (int i = 0; i < 300; i += 2) {
        snprintf(key, sizeof key, "key %d", i);
        MPI_Info_delete(info, key);
    }
    CHECK_EQUAL(count(info), 150);
    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof key, "key %d", i);
        MPI_Info_get(info, key, 31, value, &flag);
        CHECK_EQUAL(flag, i % 2);
        CHECK(!flag || atoi(value) == i * i);
    }
    MPI_Info_free(&info);
}

static void check_errors(void)
{
    char longest[MPI_MAX_INFO_VAL + 1];
    MPI_Info info, none = MPI_INFO_NULL, env = MPI_INFO_ENV;
    int flag;

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    MPI_Info_create(&info);
    CHECK_EQUAL(MPI_Info_set(info, longest, "v"), MPI_ERR_INFO_KEY);
    CHECK_EQUAL(MPI_Info_set(info, "", "v"), MPI_ERR_INFO_KEY);
    CHECK_EQUAL(MPI_Info_set(info, "k", longest), MPI_ERR_INFO_VALUE);
    CHECK_EQUAL(MPI_Info_delete(info, "k"), MPI_ERR_INFO_NOKEY);
    CHECK_EQUAL(MPI_Info_get_nthkey(info, 0, longest), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Info_free(&none), MPI_ERR_INFO);
    CHECK_EQUAL(MPI_Info_free(&env), MPI_ERR_INFO);
    CHECK_EQUAL(MPI_Info_get(MPI_INFO_NULL, "k", 1, longest, &flag), MPI_ERR_INFO);
    CHECK_EQUAL(count(info), 0);
    MPI_Info_free(&info);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void check_environment(int argc, char **argv, int p)
{
    char value[MPI_MAX_INFO_VAL];
    MPI_Info info;
    int flag;

    MPI_Info_get(MPI_INFO_ENV, "maxprocs", MPI_MAX_INFO_VAL - 1, value, &flag);
    CHECK(flag && atoi(value) == p);
    MPI_Info_create_env(argc, argv, &info);
    MPI_Info_get(info, "command", MPI_MAX_INFO_VAL - 1, value, &flag);
    CHECK(flag && strcmp(value, argv[0]) == 0);
    MPI_Info_free(&info);
}

/* Progress threads of a communicator whose members may all be in one of several processes. */
static void check_hints(int rank)
{
    static const char *const places[] = {"odd-even", "bind", "numa"};
    int mine[2] = {rank, rank}, all[2];
    MPI_Request request;
    MPI_Comm pair;
    MPI_Info info;
    int size;

    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
    MPI_Comm_size(pair, &size);
    for (int i = 0; i < 3; i++) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "xylem_progress", "threads");
        MPI_Info_set(info, "xylem_progress_place", places[i]);
        MPI_Info_set(info, "xylem_split", "2");
        MPI_Comm_set_info(pair, info);
        MPI_Info_free(&info);
        MPI_Ialltoall(mine, 1, MPI_INT, all, 1, MPI_INT, pair, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int r = 0; r < size; r++)
            CHECK_EQUAL(all[r], rank / 2 * 2 + r);
    }
    MPI_Comm_free(&pair);
}

int main(int argc, char **argv)
{
    int is_fine = outside(), p, rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(is_fine);
    check_values();
    check_many();
    check_errors();
    check_environment(argc, argv, p);
    check_hints(rank);
    MPI_Finalize();
    return outside() ? 0 : 1;
}
