/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles as integers, statuses as Fortran has them, and the fields of statuses. */
#include <string.h>

#include "check.h"

/* There and back gives the same handle, and different handles have different numbers. */
static void check_comms(void)
{
    MPI_Comm comms[20];

    CHECK_EQUAL(MPI_Comm_c2f(MPI_COMM_WORLD), MPI_Comm_toint(MPI_COMM_WORLD));
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_NULL)) == MPI_COMM_NULL);
    for (int round = 0; round < 3; round++) { /* addresses come again */
        for (int i = 0; i < 20; i++) {
            MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
            CHECK(MPI_Comm_f2c(MPI_Comm_c2f(comms[i])) == comms[i]);
            for (int j = 0; j < i; j++)
                CHECK(MPI_Comm_c2f(comms[i]) != MPI_Comm_c2f(comms[j]));
        }
        for (int i = 0; i < 20; i++) {
            MPI_Comm comm = MPI_Comm_fromint(MPI_Comm_toint(comms[i]));
            int size = 0;

            MPI_Comm_size(comm, &size);
            CHECK_EQUAL(size, 1);
            MPI_Comm_free(&comm);
        }
    }
}

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)length, (void)type;
}

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void check_others(void)
{
    MPI_Datatype type;
    MPI_Group group;
    MPI_Info info;
    MPI_Op op;
    MPI_Errhandler handler;
    MPI_Message message;
    MPI_Request request;
    int value = 5, got = 0;

    MPI_Type_contiguous(3, MPI_INT, &type);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(type)) == type);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
    MPI_Type_free(&type);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    CHECK(MPI_Group_f2c(MPI_Group_c2f(group)) == group);
    MPI_Group_free(&group);
    MPI_Info_create(&info);
    CHECK(MPI_Info_f2c(MPI_Info_c2f(info)) == info);
    MPI_Info_free(&info);
    MPI_Op_create(add, 1, &op);
    CHECK(MPI_Op_f2c(MPI_Op_c2f(op)) == op);
    CHECK(MPI_Op_fromint(MPI_Op_toint(MPI_SUM)) == MPI_SUM);
    MPI_Op_free(&op);
    MPI_Comm_create_errhandler(handle, &handler);
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(handler)) == handler);
    MPI_Errhandler_free(&handler);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(MPI_Session_f2c(MPI_Session_c2f(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    MPI_Isend(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    MPI_Mprobe(0, 3, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
    message = MPI_Message_f2c(MPI_Message_c2f(message));
    MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    request = MPI_Request_f2c(MPI_Request_c2f(request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 5);
    /* Numbers that were never given out are no handles. */
    CHECK_EQUAL(MPI_Comm_size(MPI_Comm_fromint(2000000000), &got), MPI_ERR_COMM);
    CHECK_EQUAL(MPI_Comm_size(MPI_Comm_fromint(-3), &got), MPI_ERR_COMM);
}

/* Null handles of what can have a name have one; no pair is made of them. */
static void check_nulls(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Datatype pair;
    int length;

    CHECK_EQUAL(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length), MPI_SUCCESS);
    CHECK(strcmp(name, "MPI_DATATYPE_NULL") == 0 && length == (int)strlen(name));
    CHECK_EQUAL(MPI_Comm_get_name(MPI_COMM_NULL, name, &length), MPI_SUCCESS);
    CHECK(strcmp(name, "MPI_COMM_NULL") == 0 && length == (int)strlen(name));
    CHECK_EQUAL(MPI_Win_get_name(MPI_WIN_NULL, name, &length), MPI_SUCCESS);
    CHECK(strcmp(name, "MPI_WIN_NULL") == 0 && length == (int)strlen(name));
    CHECK_EQUAL(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &pair), MPI_ERR_TYPE);
    CHECK_EQUAL(MPI_Type_get_value_index(MPI_INT, MPI_DATATYPE_NULL, &pair), MPI_ERR_TYPE);
    CHECK_EQUAL(MPI_Type_get_value_index(MPI_INT, MPI_INT, &pair), MPI_SUCCESS);
    CHECK(pair == MPI_2INT);
    CHECK_EQUAL(MPI_Type_get_value_index(MPI_CHAR, MPI_DOUBLE, &pair), MPI_SUCCESS);
    CHECK(pair == MPI_DATATYPE_NULL);
}

static void check_statuses(void)
{
    MPI_Fint fortran[MPI_F_STATUS_SIZE];
    MPI_F08_status modern;
    MPI_Status status, again;
    int out, count, data[3] = {0, 0, 0};

    MPI_Sendrecv(data, 3, MPI_INT, 0, 8, data, 0, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    MPI_Recv(data, 3, MPI_INT, 0, 8, MPI_COMM_SELF, &status);
    MPI_Status_set_error(&status, MPI_ERR_TAG);
    MPI_Status_set_cancelled(&status, 1);
    CHECK_EQUAL(MPI_Status_c2f(&status, fortran), MPI_SUCCESS);
    CHECK_EQUAL(fortran[MPI_F_TAG], 8);
    CHECK_EQUAL(MPI_Status_f2f08(fortran, &modern), MPI_SUCCESS);
    CHECK_EQUAL(modern.MPI_ERROR, MPI_ERR_TAG);
    memset(fortran, 0, sizeof fortran);
    CHECK_EQUAL(MPI_Status_f082f(&modern, fortran), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Status_f2c(fortran, &again), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Status_c2f08(&again, &modern), MPI_SUCCESS);
    memset(&again, 0, sizeof again);
    CHECK_EQUAL(MPI_Status_f082c(&modern, &again), MPI_SUCCESS);
    MPI_Get_count(&again, MPI_INT, &count);
    CHECK_EQUAL(count, 3);
    MPI_Status_get_source(&again, &out);
    CHECK_EQUAL(out, 0);
    MPI_Status_get_tag(&again, &out);
    CHECK_EQUAL(out, 8);
    MPI_Status_get_error(&again, &out);
    CHECK_EQUAL(out, MPI_ERR_TAG);
    MPI_Test_cancelled(&again, &out);
    CHECK(out);
    MPI_Status_set_source(&again, 7);
    MPI_Status_set_tag(&again, 9);
    CHECK_EQUAL(again.MPI_SOURCE, 7);
    CHECK_EQUAL(again.MPI_TAG, 9);
    CHECK_EQUAL(MPI_Status_get_tag(MPI_STATUS_IGNORE, &out), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Status_c2f(MPI_STATUS_IGNORE, fortran), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Status_set_tag(MPI_STATUS_IGNORE, 3), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    check_comms();
    check_others();
    check_nulls();
    check_statuses();
    MPI_Finalize();
    return 0;
}
