/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers, classes and codes. */
#include <string.h>

#include "check.h"

/* A handler has no argument of its own, so it writes its count and the code into the name. */
static void count_error(MPI_Comm *comm, int *code, ...)
{
    char name[MPI_MAX_OBJECT_NAME];
    int count = 0, length;

    MPI_Comm_get_name(*comm, name, &length);
    sscanf(name, "%d", &count);
    snprintf(name, sizeof name, "%d errors, the last %d", count + 1, *code);
    MPI_Comm_set_name(*comm, name);
}

static void check_seen(MPI_Comm comm, int count, int code)
{
    char name[MPI_MAX_OBJECT_NAME], expected[MPI_MAX_OBJECT_NAME];
    int length;

    MPI_Comm_get_name(comm, name, &length);
    snprintf(expected, sizeof expected, "%d errors, the last %d", count, code);
    CHECK(strcmp(name, expected) == 0);
}

static void change_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    *code = *code == MPI_ERR_COMM ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* A function returns what its handler made of the code; an error remains one. */
static void check_changed(void)
{
    MPI_Errhandler handler;
    MPI_Comm comm, made;
    int out;

    MPI_Comm_create_errhandler(change_error, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    CHECK_EQUAL(MPI_Comm_remote_size(comm, &out), MPI_ERR_OTHER);
    CHECK_EQUAL(MPI_Comm_split(comm, -5, 0, &made), MPI_ERR_ARG);
    MPI_Comm_free(&comm);
}

static void check_handlers(void)
{
    MPI_Errhandler handler, found;
    MPI_Comm comm, child;
    int out;

    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
    CHECK(found == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&found);
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_get_errhandler(comm, &found);
    CHECK(found == handler);
    MPI_Errhandler_free(&found);
    MPI_Errhandler_free(&handler); /* the communicator keeps it */
    CHECK(handler == MPI_ERRHANDLER_NULL);
    CHECK_EQUAL(MPI_Comm_remote_size(comm, &out), MPI_ERR_COMM);
    check_seen(comm, 1, MPI_ERR_COMM);
    MPI_Comm_call_errhandler(comm, MPI_ERR_TAG);
    check_seen(comm, 2, MPI_ERR_TAG);
    MPI_Comm_dup(comm, &child); /* inherits */
    MPI_Comm_free(&comm);
    CHECK_EQUAL(MPI_Comm_split(child, -5, 0, &comm), MPI_ERR_ARG);
    check_seen(child, 1, MPI_ERR_ARG);
    MPI_Comm_set_errhandler(child, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Comm_set_errhandler(child, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    MPI_Comm_free(&child);
}

static void check_classes(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int out, length;

    for (int code = MPI_SUCCESS; code <= MPI_ERR_ERRHANDLER; code++) {
        MPI_Error_class(code, &out);
        CHECK_EQUAL(out, code);
        MPI_Error_string(code, text, &length);
        CHECK(length > 0 && length == (int)strlen(text));
    }
    CHECK_EQUAL(MPI_Error_class(MPI_ERR_LASTCODE + 77, &out), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Error_string(-1, text, &length), MPI_ERR_ARG);
}

static void check_added(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int kind, code, out, length;

    MPI_Add_error_class(&kind);
    CHECK(kind > MPI_ERR_LASTCODE);
    MPI_Add_error_code(kind, &code);
    CHECK(code > kind);
    MPI_Error_class(code, &out);
    CHECK_EQUAL(out, kind);
    MPI_Error_string(code, text, &length);
    CHECK(length == 0 && text[0] == '\0');
    MPI_Add_error_string(code, "the sap has frozen");
    MPI_Error_string(code, text, &length);
    CHECK(strcmp(text, "the sap has frozen") == 0);
    CHECK_EQUAL(MPI_Add_error_string(MPI_ERR_TAG, "no"), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Remove_error_class(kind), MPI_ERR_OTHER); /* it still has a code */
    CHECK_EQUAL(MPI_Remove_error_code(code), MPI_ERR_OTHER);  /* it still has a text */
    MPI_Add_error_string(kind, "winter");
    MPI_Remove_error_string(code);
    MPI_Error_string(code, text, &length);
    CHECK_EQUAL(length, 0);
    MPI_Remove_error_code(code);
    CHECK_EQUAL(MPI_Error_class(code, &out), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Remove_error_code(code), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Remove_error_class(kind), MPI_ERR_OTHER);
    MPI_Remove_error_string(kind);
    CHECK_EQUAL(MPI_Remove_error_class(kind), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Error_class(kind, &out), MPI_ERR_ARG);
    MPI_Add_error_code(MPI_ERR_IO, &code); /* codes of predefined classes are fine too */
    MPI_Error_class(code, &out);
    CHECK_EQUAL(out, MPI_ERR_IO);
}

static int file_errors;

static void count_file_error(MPI_File *file, int *code, ...)
{
    file_errors += *file == MPI_FILE_NULL ? *code : 1000;
}

/* The handler of no file: it returns by default. */
static void check_no_file(void)
{
    MPI_Errhandler handler, found;
    MPI_File file = MPI_FILE_NULL;

    CHECK_EQUAL(
        MPI_File_open(MPI_COMM_WORLD, "no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
        MPI_ERR_NO_SUCH_FILE);
    CHECK_EQUAL(MPI_File_delete("no/such/file", MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    MPI_File_get_errhandler(MPI_FILE_NULL, &found);
    CHECK(found == MPI_ERRORS_RETURN);
    MPI_File_create_errhandler(count_file_error, &handler);
    CHECK_EQUAL(MPI_File_set_errhandler(MPI_FILE_NULL, handler), MPI_SUCCESS);
    MPI_Errhandler_free(&handler); /* it is kept */
    MPI_File_open(MPI_COMM_WORLD, "no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    CHECK_EQUAL(file_errors, MPI_ERR_NO_SUCH_FILE);
    CHECK_EQUAL(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO), MPI_SUCCESS);
    CHECK_EQUAL(file_errors, MPI_ERR_NO_SUCH_FILE + MPI_ERR_IO);
    MPI_File_get_errhandler(MPI_FILE_NULL, &found);
    MPI_Errhandler_free(&found);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Comm_create_errhandler(count_error, &handler);
    CHECK_EQUAL(MPI_File_set_errhandler(MPI_FILE_NULL, handler), MPI_ERR_ERRHANDLER);
    MPI_Errhandler_free(&handler);
}

/* An impossible request uses the handler of its object: there is no such program, and in virtual
 * time none at all. */
static void check_impossible(void)
{
    MPI_Errhandler handler;
    MPI_Comm comm, made;
    int code;

    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    code = MPI_Comm_spawn("./no such program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, comm, &made,
                          MPI_ERRCODES_IGNORE);
    CHECK(code == MPI_ERR_SPAWN || code == MPI_ERR_UNSUPPORTED_OPERATION);
    check_seen(comm, 1, code);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int flag, provided, level;
    MPI_Comm parent;

    MPI_Initialized(&flag);
    if (flag)
        return 2;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Query_thread(&level);
    CHECK(provided == level && provided >= MPI_THREAD_FUNNELED);
    MPI_Is_thread_main(&flag);
    CHECK(flag);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
    check_handlers();
    check_no_file();
    check_impossible();
    check_changed();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Init(&argc, &argv), MPI_ERR_OTHER);
    check_classes();
    check_added();
    MPI_Finalize();
    MPI_Finalized(&flag);
    return flag ? 0 : 2;
}
