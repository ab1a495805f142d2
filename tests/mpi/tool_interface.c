/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool interface: variables that control and that count, their categories, and mistakes. */
#include <string.h>

#include "check.h"

static void check_controls(void)
{
    int n, index, count, bind, scope, room = 64;
    char name[64], text[MPI_MAX_INFO_VAL];
    unsigned long long number;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_T_cvar_handle handle;
    MPI_Datatype type;

    CHECK(MPI_T_cvar_get_num(&n) == MPI_SUCCESS && n > 3);
    for (int i = 0; i < n; i++) {
        room = 64;
        CHECK(MPI_T_cvar_get_info(i, name, &room, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
              MPI_SUCCESS);
        CHECK_EQUAL(room, strlen(name) + 1);
        CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS && index == i);
    }
    CHECK_EQUAL(MPI_T_cvar_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
                MPI_T_ERR_INVALID_INDEX);
    CHECK_EQUAL(MPI_T_cvar_get_index("no such", &index), MPI_T_ERR_INVALID_NAME);

    MPI_T_cvar_get_index("xylem_eager_limit", &index);
    MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
    CHECK(MPI_T_cvar_read(handle, &number) == MPI_SUCCESS && count == 1 && number >= 128);
    CHECK_EQUAL(MPI_T_cvar_write(handle, &number), MPI_T_ERR_CVAR_SET_NEVER);
    MPI_T_cvar_handle_free(&handle);
    CHECK(handle == MPI_T_CVAR_HANDLE_NULL);

    MPI_T_cvar_get_index("xylem_progress", &index);
    MPI_T_cvar_get_info(index, NULL, NULL, NULL, &type, NULL, NULL, NULL, &bind, &scope);
    CHECK(type == MPI_CHAR && bind == MPI_T_BIND_MPI_COMM && scope == MPI_T_SCOPE_GROUP_EQ);
    CHECK_EQUAL(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count), MPI_T_ERR_INVALID);
    MPI_T_cvar_handle_alloc(index, &comm, &handle, &count);
    CHECK_EQUAL(MPI_T_cvar_write(handle, "never"), MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_write(handle, "none") == MPI_SUCCESS);
    CHECK(MPI_T_cvar_read(handle, text) == MPI_SUCCESS && strcmp(text, "none") == 0);
    MPI_T_cvar_handle_free(&handle);
}

static unsigned long long read_of(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    unsigned long long value = 0;

    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
    return value;
}

/* Messages of the rank to itself: their numbers are known. */
static void send_some(int count)
{
    char out[10] = "", in[10];

    for (int i = 0; i < count; i++)
        MPI_Sendrecv(out, 10, MPI_CHAR, 0, 0, in, 10, MPI_CHAR, 0, 0, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
}

static void check_counters(void)
{
    MPI_T_pvar_session session, other;
    MPI_T_pvar_handle messages, bytes;
    int index, count;
    unsigned long long value = 100;

    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_session_create(&other);
    MPI_T_pvar_get_index("xylem_messages_sent", MPI_T_PVAR_CLASS_COUNTER, &index);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &messages, &count) == MPI_SUCCESS);
    MPI_T_pvar_get_index("xylem_bytes_sent", MPI_T_PVAR_CLASS_COUNTER, &index);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &bytes, &count) == MPI_SUCCESS);
    send_some(2);
    CHECK_EQUAL(read_of(session, messages), 0); /* not started */
    MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
    send_some(3);
    CHECK_EQUAL(read_of(session, messages), 3);
    CHECK_EQUAL(read_of(session, bytes), 30);
    MPI_T_pvar_stop(session, messages);
    send_some(1);
    CHECK_EQUAL(read_of(session, messages), 3);
    MPI_T_pvar_readreset(session, bytes, &value);
    CHECK_EQUAL(value, 40);
    CHECK_EQUAL(read_of(session, bytes), 0);
    CHECK_EQUAL(MPI_T_pvar_read(other, bytes, &value), MPI_T_ERR_INVALID_HANDLE);
    MPI_T_pvar_handle_free(session, &messages);
    MPI_T_pvar_session_free(&session);
    MPI_T_pvar_session_free(&other);
    CHECK(session == MPI_T_PVAR_SESSION_NULL);
}

static void check_levels(void)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle posted, unexpected, bytes, pending;
    MPI_Request requests[2];
    int index, count, code;
    char byte = 0;

    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_index("xylem_posted_receives", MPI_T_PVAR_CLASS_LEVEL, &index);
    code = MPI_T_pvar_handle_alloc(session, index, NULL, &posted, &count);
    if (code == MPI_T_ERR_NOT_SUPPORTED) { /* in virtual time */
        MPI_T_pvar_session_free(&session);
        return;
    }
    MPI_T_pvar_get_index("xylem_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, &index);
    MPI_T_pvar_handle_alloc(session, index, NULL, &unexpected, &count);
    MPI_T_pvar_get_index("xylem_unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL, &index);
    MPI_T_pvar_handle_alloc(session, index, NULL, &bytes, &count);
    MPI_T_pvar_get_index("xylem_pending_requests", MPI_T_PVAR_CLASS_LEVEL, &index);
    MPI_T_pvar_handle_alloc(session, index, NULL, &pending, &count);
    MPI_Irecv(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(&byte, 1, MPI_CHAR, 0, 2, MPI_COMM_SELF, &requests[1]);
    CHECK_EQUAL(read_of(session, posted), 1);
    CHECK_EQUAL(read_of(session, unexpected), 1);
    CHECK_EQUAL(read_of(session, bytes), 1);
    CHECK_EQUAL(read_of(session, pending), 1);
    CHECK_EQUAL(MPI_T_pvar_start(session, posted), MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK_EQUAL(MPI_T_pvar_reset(session, posted), MPI_T_ERR_PVAR_NO_WRITE);
    MPI_Recv(&byte, 1, MPI_CHAR, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Send(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(read_of(session, posted) + read_of(session, unexpected), 0);
    CHECK_EQUAL(read_of(session, bytes) + read_of(session, pending), 0);
    MPI_T_pvar_session_free(&session);
}

static void check_categories(void)
{
    int n, controls, performs, index, all, indices[64];
    char name[32];

    CHECK(MPI_T_category_get_num(&n) == MPI_SUCCESS && n == 2);
    for (int i = 0; i < n; i++) {
        int room = 32;

        MPI_T_category_get_info(i, name, &room, NULL, NULL, &controls, &performs, NULL);
        CHECK(MPI_T_category_get_index(name, &index) == MPI_SUCCESS && index == i);
        MPI_T_category_get_cvars(i, 64, indices);
        MPI_T_cvar_get_num(&all);
        CHECK(controls == 0 || (controls == all && indices[all - 1] == all - 1));
        MPI_T_pvar_get_num(&all);
        CHECK(performs == 0 || performs == all);
    }
    CHECK(MPI_T_event_get_num(&n) == MPI_SUCCESS && n == 0);
    CHECK_EQUAL(MPI_T_category_get_index("none", &index), MPI_T_ERR_INVALID_NAME);
}

int main(int argc, char **argv)
{
    int provided;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    check_categories(); /* also before MPI_Init */
    MPI_Init(&argc, &argv);
    check_controls();
    check_counters();
    check_levels();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
