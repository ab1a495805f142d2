/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments that are NULL, and what a call that fails leaves in its results. */
#include <string.h>

#include "check.h"

/* Each of them is called with one argument that must not be NULL, and others that are wrong. */
static void check_null(void)
{
    MPI_Comm comm;
    MPI_Group group;
    MPI_Info info;
    int out;

    MPI_Comm_group(MPI_COMM_WORLD, &group);
    CHECK_EQUAL(MPI_Comm_size(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Comm_size(MPI_COMM_NULL, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Comm_split(MPI_COMM_WORLD, -7, 0, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Comm_get_name(MPI_COMM_WORLD, NULL, &out), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Group_rank(group, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Group_union(group, MPI_GROUP_NULL, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Type_vector(-3, 2, 3, MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Type_size(MPI_DATATYPE_NULL, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Type_get_extent(MPI_INT, NULL, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Type_set_name(MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Isend(NULL, -1, MPI_INT, -5, -5, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Ibarrier(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Wait(NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Test(NULL, &out, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Request_free(NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Cart_shift(MPI_COMM_WORLD, 5, 1, &out, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Op_create(NULL, 1, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Initialized(NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Test_cancelled(MPI_STATUS_IGNORE, &out), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Info_create(NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Error_string(MPI_ERR_ARG, NULL, &out), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Comm_dup(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Buffer_detach(NULL, NULL), MPI_ERR_ARG);
    MPI_Info_create(&info); /* keys have an error class of their own */
    CHECK_EQUAL(MPI_Info_set(info, NULL, "value"), MPI_ERR_INFO_KEY);
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    /* The handler of the communicator is fatal: it is an error of no object. */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    CHECK_EQUAL(MPI_Comm_rank(comm, NULL), MPI_ERR_ARG);
    MPI_Comm_free(&comm);
}

static int fail_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
    *flag = 1;
    return MPI_ERR_OTHER;
}

static int fail_copy_type(MPI_Datatype type, int keyval, void *extra, void *in, void *out,
                          int *flag)
{
    (void)type, (void)keyval, (void)extra, (void)in, (void)out;
    *flag = 1;
    return MPI_ERR_OTHER;
}

static int fail_delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    int *may_go = extra;

    (void)type, (void)keyval, (void)value;
    return *may_go ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/* An object that could not be made is the null handle. */
static void check_made(void)
{
    int dims[2], periods[2] = {0, 0}, p, keyval, bad = -1;
    MPI_Comm comm = MPI_COMM_SELF;
    MPI_Request request;
    MPI_Datatype type = MPI_INT;
    MPI_Group world, group = MPI_GROUP_EMPTY;

    MPI_Comm_size(MPI_COMM_WORLD, &p);
    dims[0] = dims[1] = p + 1;
    CHECK_EQUAL(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm), MPI_ERR_DIMS);
    CHECK(comm == MPI_COMM_NULL);
    comm = MPI_COMM_SELF;
    CHECK_EQUAL(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &comm), MPI_ERR_ARG);
    CHECK(comm == MPI_COMM_NULL);
    MPI_Comm_create_keyval(fail_copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, NULL);
    comm = MPI_COMM_SELF;
    CHECK_EQUAL(MPI_Comm_dup(MPI_COMM_WORLD, &comm), MPI_ERR_OTHER);
    CHECK(comm == MPI_COMM_NULL);
    comm = MPI_COMM_SELF;
    CHECK_EQUAL(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request), MPI_ERR_OTHER);
    CHECK(comm == MPI_COMM_NULL);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
    MPI_Comm_free_keyval(&keyval);
    CHECK_EQUAL(MPI_Type_vector(-1, 1, 1, MPI_INT, &type), MPI_ERR_COUNT);
    CHECK(type == MPI_DATATYPE_NULL);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    CHECK_EQUAL(MPI_Group_incl(world, 1, &bad, &group), MPI_ERR_RANK);
    CHECK(group == MPI_GROUP_NULL);
    MPI_Group_free(&world);
}

/* The value stays where the delete function fails, and keys may be freed while they are in use. */
static void check_type_attributes(void)
{
    int keyval, copy, again, may_go = 0, flag, value[2];
    MPI_Datatype type, made;
    void *found;

    MPI_Type_dup(MPI_DOUBLE, &type);
    MPI_Type_create_keyval(fail_copy_type, fail_delete_type, &keyval, &may_go);
    MPI_Type_set_attr(type, keyval, &value[0]);
    CHECK_EQUAL(MPI_Type_set_attr(type, keyval, &value[1]), MPI_ERR_OTHER);
    CHECK_EQUAL(MPI_Type_delete_attr(type, keyval), MPI_ERR_OTHER);
    CHECK_EQUAL(MPI_Type_dup(type, &made), MPI_ERR_OTHER);
    CHECK(made == MPI_DATATYPE_NULL);
    MPI_Type_get_attr(type, keyval, &found, &flag);
    CHECK(flag && found == &value[0]);
    copy = again = keyval;
    CHECK_EQUAL(MPI_Type_free_keyval(&keyval), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Type_free_keyval(&copy), MPI_SUCCESS);
    may_go = 1;
    MPI_Type_free(&type);
    CHECK_EQUAL(MPI_Type_free_keyval(&again), MPI_ERR_KEYVAL);
}

/* A group that is not in the communicator. */
static void check_members(void)
{
    MPI_Comm half, comm;
    MPI_Group world;
    int rank, p;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Comm_create(half, world, &comm), p > 1 ? MPI_ERR_GROUP : MPI_SUCCESS);
    CHECK(p == 1 || comm == MPI_COMM_NULL);
    if (p == 1)
        MPI_Comm_free(&comm);
    CHECK_EQUAL(MPI_Comm_create_group(half, world, 3, &comm), p > 1 ? MPI_ERR_GROUP : MPI_SUCCESS);
    if (p == 1)
        MPI_Comm_free(&comm);
    MPI_Comm_free(&half);
    MPI_Group_free(&world);
}

static void check_name(MPI_Datatype type, const char *expected)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;

    MPI_Type_get_name(type, name, &length);
    CHECK(strcmp(name, expected) == 0);
    CHECK_EQUAL(length, strlen(expected));
}

/* Predefined types have names that each rank can change for itself. */
static void check_names(void)
{
    char name[16];
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_name(MPI_LONG_LONG, "MPI_LONG_LONG_INT");
    check_name(MPI_C_FLOAT_COMPLEX, "MPI_C_COMPLEX");
    check_name(MPI_INT, "MPI_INT");
    snprintf(name, sizeof name, "int of %d", rank);
    CHECK_EQUAL(MPI_Type_set_name(MPI_INT, name), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    check_name(MPI_INT, name);
    CHECK_EQUAL(MPI_Type_set_name(MPI_INT, "short"), MPI_SUCCESS);
    check_name(MPI_INT, "short");
    check_name(MPI_UNSIGNED, "MPI_UNSIGNED");
}

/* Sizes that an int cannot say. */
static void check_large(void)
{
    MPI_Datatype type;
    MPI_Count large;
    int size, value = 1;

    MPI_Type_contiguous(1 << 30, MPI_INT, &type);
    MPI_Type_commit(&type);
    CHECK_EQUAL(MPI_Pack_size(1, type, MPI_COMM_WORLD, &size), MPI_SUCCESS);
    CHECK_EQUAL(size, MPI_UNDEFINED);
    CHECK_EQUAL(MPI_Pack_size_c(1, type, MPI_COMM_WORLD, &large), MPI_SUCCESS);
    CHECK_EQUAL(large, 1LL << 32);
    MPI_Type_free(&type);
    CHECK_EQUAL(MPI_Reduce_local(NULL, &value, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    CHECK_EQUAL(MPI_Reduce_local(&value, NULL, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    CHECK_EQUAL(MPI_Reduce_local(NULL, NULL, 0, MPI_INT, MPI_SUM), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Reduce_local(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    CHECK_EQUAL(MPI_Reduce_local(&value, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    CHECK_EQUAL(MPI_Reduce_local(&value, &value, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    /* Errors of no object go to self, and to world where self has the fatal handler. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_null();
    check_type_attributes();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    check_null();
    check_made();
    check_members();
    check_names();
    check_large();
    MPI_Finalize();
    return 0;
}
