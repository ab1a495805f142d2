/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: MPI without MPI_Init, twice, beside MPI_Init, and what goes wrong with them. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { LARGE = 100000 }; /* bytes of a message that does not leave at once */

static void check_sets(MPI_Session session)
{
    static const char *const expected[] = {"mpi://WORLD", "mpi://SELF"};
    char name[MPI_MAX_PSET_NAME_LEN], value[16];
    int sets, length, flag;
    MPI_Info info;

    CHECK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets) == MPI_SUCCESS && sets == 2);
    for (int i = 0; i < sets; i++) {
        length = 0; /* then only the length is wanted */
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL);
        CHECK_EQUAL(length, strlen(expected[i]) + 1);
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        CHECK(strcmp(name, expected[i]) == 0);
    }
    length = 4;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
    CHECK(strcmp(name, "mpi") == 0 && length == 12);
    MPI_Session_get_pset_info(session, "mpi://SELF", &info);
    MPI_Info_get(info, "mpi_size", 15, value, &flag);
    CHECK(flag && strcmp(value, "1") == 0);
    MPI_Info_free(&info);
}

/* All members add up their numbers. */
static void check_sum(MPI_Session session, const char *set, const char *tag)
{
    MPI_Group group, none;
    MPI_Comm comm;
    int rank, size, sum;

    MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
    none = MPI_GROUP_EMPTY;
    CHECK_EQUAL(MPI_Group_from_session_pset(session, "mpi://none", &none), MPI_ERR_ARG);
    CHECK(none == MPI_GROUP_NULL);
    MPI_Group_from_session_pset(session, set, &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(sum, size * (size - 1) / 2);
    MPI_Comm_free(&comm);
}

static void check_level(MPI_Session session)
{
    char value[32];
    MPI_Info info;
    int flag;

    MPI_Session_get_info(session, &info);
    MPI_Info_get(info, "thread_level", 31, value, &flag);
    CHECK(flag && strcmp(value, "MPI_THREAD_FUNNELED") == 0);
    MPI_Info_free(&info);
}

static void on_error(MPI_Session *session, int *code, ...)
{
    int class;

    CHECK(*session != MPI_SESSION_NULL);
    MPI_Error_class(*code, &class);
    CHECK_EQUAL(class, MPI_ERR_ARG);
    *code = MPI_ERR_OTHER; /* return value of the function */
}

static void check_errors(MPI_Session session)
{
    MPI_Errhandler handler, found;
    char name[8];
    int length = 8;

    CHECK_EQUAL(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 2, &length, name), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL), MPI_ERR_ARG);
    MPI_Session_create_errhandler(on_error, &handler);
    MPI_Session_set_errhandler(session, handler);
    MPI_Session_get_errhandler(session, &found);
    CHECK(found == handler);
    MPI_Errhandler_free(&found);
    MPI_Errhandler_free(&handler);
    CHECK_EQUAL(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &length, name), MPI_ERR_OTHER);
    CHECK_EQUAL(MPI_Session_call_errhandler(session, MPI_ERR_ARG), MPI_SUCCESS);
}

static int refused;
static MPI_Session refused_on;

static void count_refused(MPI_Session *session, int *code, ...)
{
    CHECK_EQUAL(*code, MPI_ERR_ARG);
    refused_on = *session;
    refused++;
}

/* Arguments that are NULL: the error handler is that of the session, also of one to be made. */
static void check_null_arguments(void)
{
    MPI_Errhandler handler;
    MPI_Session session;
    MPI_Group group;
    MPI_Info info;
    int length = 0;

    MPI_Session_create_errhandler(count_refused, &handler);
    CHECK_EQUAL(MPI_Session_init(MPI_INFO_NULL, handler, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(refused, 1);
    CHECK(refused_on == MPI_SESSION_NULL);
    CHECK_EQUAL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Session_init(MPI_INFO_NULL, handler, &session), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Session_get_info(session, NULL), MPI_ERR_ARG);
    CHECK(refused_on == session);
    CHECK_EQUAL(MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, NULL, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Session_get_pset_info(session, NULL, &info), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Session_get_errhandler(session, NULL), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Group_from_session_pset(session, NULL, &group), MPI_ERR_ARG);
    CHECK_EQUAL(refused, 7);
    CHECK_EQUAL(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL), MPI_SUCCESS);
    MPI_Errhandler_free(&handler);
    MPI_Session_finalize(&session);
}

/* A large message to the rank itself, which stays in a buffer until it is received. */
static int buffered(MPI_Comm comm, char *data, int self)
{
    return MPI_Bsend(data, LARGE, MPI_CHAR, self, 5, comm);
}

static void receive(MPI_Comm comm, char *data, int self)
{
    MPI_Recv(data, LARGE, MPI_CHAR, self, 5, comm, MPI_STATUS_IGNORE);
}

/* A communicator of the first `size` members of a set; what is made of groups and of communicators
 * belongs to the session that they come from. */
static MPI_Comm make_of(MPI_Session session, const char *set, const char *tag)
{
    MPI_Group group, part, both;
    MPI_Comm comm, copy;
    int size;

    MPI_Group_from_session_pset(session, set, &group);
    MPI_Group_size(group, &size);
    MPI_Group_range_incl(group, 1, (int[][3]){{0, size - 1, 1}}, &part);
    MPI_Group_union(MPI_GROUP_EMPTY, part, &both);
    MPI_Comm_create_from_group(both, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    MPI_Group_free(&part);
    MPI_Group_free(&both);
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_free(&comm);
    return copy;
}

/* The buffer of a session is used by its communicators, and by no other. */
static void check_buffers(MPI_Session session, MPI_Session other)
{
    static char room[LARGE + MPI_BSEND_OVERHEAD], data[LARGE];
    MPI_Comm of_it = make_of(session, "mpi://WORLD", "of it");
    MPI_Comm of_other = make_of(other, "mpi://WORLD", "of other");
    MPI_Request flush;
    MPI_Count large;
    int rank, size, flag;
    char *found;

    MPI_Comm_rank(of_it, &rank);
    CHECK_EQUAL(buffered(of_it, data, rank), MPI_ERR_BUFFER);
    CHECK_EQUAL(MPI_Session_attach_buffer(session, room, -1), MPI_ERR_ARG);
    CHECK_EQUAL(MPI_Session_attach_buffer(session, room, sizeof room), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Session_attach_buffer_c(session, room, sizeof room), MPI_ERR_BUFFER);
    CHECK_EQUAL(buffered(of_other, data, rank), MPI_ERR_BUFFER);
    CHECK_EQUAL(buffered(of_it, data, rank), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Session_iflush_buffer(session, &flush), MPI_SUCCESS);
    receive(of_it, data, rank);
    MPI_Wait(&flush, MPI_STATUS_IGNORE);
    CHECK_EQUAL(buffered(of_it, data, rank), MPI_SUCCESS); /* there is room again */
    receive(of_it, data, rank);
    CHECK_EQUAL(MPI_Session_flush_buffer(session), MPI_SUCCESS);
    CHECK_EQUAL(MPI_Session_detach_buffer(session, &found, &size), MPI_SUCCESS);
    CHECK(found == room && size == (int)sizeof room);
    CHECK_EQUAL(MPI_Session_detach_buffer_c(session, &found, &large), MPI_ERR_BUFFER);
    CHECK_EQUAL(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0), MPI_SUCCESS);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(buffered(of_it, data, rank), MPI_SUCCESS);
    for (int i = 0; i < 2; i++)
        receive(of_it, data, rank);
    CHECK_EQUAL(MPI_Session_iflush_buffer(other, &flush), MPI_SUCCESS); /* it has none */
    MPI_Test(&flush, &flag, MPI_STATUS_IGNORE);
    CHECK(flag);
    MPI_Comm_free(&of_it);
    MPI_Comm_free(&of_other);
} /* the automatic one ends with the session */

static MPI_Session open_one(void)
{
    MPI_Session session;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_FUNNELED");
    CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    MPI_Info_free(&info);
    return session;
}

static void close_one(MPI_Session session)
{
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS && session == MPI_SESSION_NULL);
}

int main(int argc, char **argv)
{
    MPI_Session first, second;
    int flag;

    check_null_arguments();
    first = open_one();
    MPI_Initialized(&flag);
    CHECK(!flag);
    check_sets(first);
    check_level(first);
    check_sum(first, "mpi://WORLD", "first");
    check_sum(first, "mpi://SELF", "self");
    check_errors(first);
    second = open_one();
    check_buffers(second, first);
    close_one(first);
    check_sum(second, "mpi://WORLD", "second");
    close_one(second);

    first = open_one(); /* again, and beside the world */
    MPI_Init(&argc, &argv);
    MPI_Initialized(&flag);
    CHECK(flag);
    check_sum(first, "mpi://world", "beside");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    MPI_Finalized(&flag);
    CHECK(flag);
    check_sum(first, "mpi://WORLD", "after");
    close_one(first);
    return 0;
}
