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
    CHECK(MPI_T_event_get_num(&n) == MPI_SUCCESS && n == 1);
    MPI_T_category_get_index("xylem_messages", &index);
    CHECK(MPI_T_category_get_num_events(index, &n) == MPI_SUCCESS && n == 1);
    CHECK(MPI_T_category_get_events(index, 64, indices) == MPI_SUCCESS && indices[0] == 0);
    CHECK_EQUAL(MPI_T_category_get_index("none", &index), MPI_T_ERR_INVALID_NAME);
}

/* ---- Events ---- */

typedef struct {
    int count, dropped, freed, to, tag;
    unsigned long long bytes;
    MPI_Count time;
} heard_t;

static void on_event(MPI_T_event_instance instance, MPI_T_event_registration registration,
                     MPI_T_cb_safety safety, void *data)
{
    heard_t *heard = data;
    unsigned char all[16];
    int source;

    (void)registration;
    CHECK_EQUAL(safety, MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    heard->count++;
    MPI_T_event_read(instance, 0, &heard->to);
    MPI_T_event_read(instance, 1, &heard->tag);
    MPI_T_event_read(instance, 2, &heard->bytes);
    CHECK_EQUAL(MPI_T_event_read(instance, 3, all), MPI_T_ERR_INVALID_INDEX);
    MPI_T_event_copy(instance, all);
    CHECK(memcmp(all + 4, &heard->tag, 4) == 0 && memcmp(all + 8, &heard->bytes, 8) == 0);
    MPI_T_event_get_timestamp(instance, &heard->time);
    CHECK(MPI_T_event_get_source(instance, &source) == MPI_SUCCESS && source == 0);
}

static void on_dropped(MPI_Count count, MPI_T_event_registration registration, int source,
                       MPI_T_cb_safety safety, void *data)
{
    (void)registration, (void)safety;
    CHECK_EQUAL(source, 0);
    ((heard_t *)data)->dropped += (int)count;
}

static void on_freed(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    (void)registration, (void)safety;
    ((heard_t *)data)->freed++;
}

static void check_event_info(int index)
{
    MPI_Aint places[3] = {-1, -1, -1};
    MPI_Datatype types[3];
    MPI_T_source_order order;
    MPI_Count ticks, before, after;
    int elements = 3, bind, room = 64, n;
    char name[64];

    CHECK_EQUAL(MPI_T_event_get_info(index, name, &room, NULL, types, places, &elements, NULL, NULL,
                                     NULL, NULL, &bind),
                MPI_SUCCESS);
    CHECK(strcmp(name, "xylem_message_sent") == 0 && room == (int)strlen(name) + 1);
    CHECK(elements == 3 && places[1] == 4 && places[2] == 8 && types[2] == MPI_UNSIGNED_LONG_LONG);
    CHECK_EQUAL(bind, MPI_T_BIND_NO_OBJECT);
    CHECK_EQUAL(
        MPI_T_event_get_info(1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_source_get_num(&n) == MPI_SUCCESS && n == 1);
    CHECK_EQUAL(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, &order, &ticks, NULL, NULL),
                MPI_SUCCESS);
    CHECK(order == MPI_T_SOURCE_ORDERED && ticks == 1000000000);
    MPI_T_source_get_timestamp(0, &before);
    MPI_T_source_get_timestamp(0, &after);
    CHECK(before <= after);
    CHECK_EQUAL(MPI_T_source_get_timestamp(1, &after), MPI_T_ERR_INVALID_INDEX);
}

/* What this rank sends, and not what the library does for it. */
static void check_events(void)
{
    heard_t heard = {.to = -1};
    MPI_T_event_registration registration, none = NULL;
    MPI_Comm dup;
    MPI_Info info;
    int index, bytes[3] = {1, 2, 3}, world, got[3];
    MPI_Count before, after;

    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    CHECK_EQUAL(MPI_T_event_get_index("none", &index), MPI_T_ERR_INVALID_NAME);
    CHECK_EQUAL(MPI_T_event_get_index("xylem_message_sent", &index), MPI_SUCCESS);
    check_event_info(index);
    CHECK_EQUAL(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration), MPI_SUCCESS);
    MPI_T_event_set_dropped_handler(registration, on_dropped);
    MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &heard,
                                  on_event); /* asks for more than can be had inside of a send */
    MPI_Sendrecv(bytes, 3, MPI_INT, 0, 5, got, 3, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(heard.count == 0 && heard.dropped == 1);
    CHECK_EQUAL(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                              MPI_INFO_NULL, &heard, on_event),
                MPI_SUCCESS);
    MPI_T_source_get_timestamp(0, &before);
    MPI_Sendrecv(bytes, 3, MPI_INT, 0, 6, got, 3, MPI_INT, 0, 6, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_T_source_get_timestamp(0, &after);
    CHECK(heard.count == 1 && heard.to == world && heard.tag == 6 && heard.bytes == sizeof bytes);
    CHECK(before <= heard.time && heard.time <= after);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_free(&dup);
    CHECK_EQUAL(heard.count, 1);
    MPI_T_event_handle_get_info(registration, &info);
    MPI_Info_free(&info);
    MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info);
    MPI_Info_free(&info);
    CHECK_EQUAL(MPI_T_event_handle_free(registration, &heard, on_freed), MPI_SUCCESS);
    CHECK_EQUAL(heard.freed, 1);
    CHECK_EQUAL(MPI_T_event_handle_free(registration, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQUAL(MPI_T_event_handle_get_info(none, &info), MPI_T_ERR_INVALID_HANDLE);
    MPI_Sendrecv(bytes, 3, MPI_INT, 0, 7, got, 3, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK_EQUAL(heard.count, 1);
}

/* What Fortran has, as the standard ABI tells it. */
static void check_fortran(void)
{
    int yes = -1, no = -1, other = 7, is_set = 0, flag;
    char value[16];
    int size = sizeof value;
    MPI_Info info;

    MPI_Abi_get_fortran_booleans(4, &yes, &no, &is_set);
    CHECK(yes == 1 && no == 0 && is_set);
    CHECK_EQUAL(MPI_Abi_set_fortran_booleans(4, &yes, &no), MPI_SUCCESS);
    MPI_Abi_get_fortran_info(&info);
    MPI_Info_get_string(info, "mpi_integer_size", &size, value, &flag);
    CHECK(flag && strcmp(value, "4") == 0);
    CHECK_EQUAL(MPI_Abi_set_fortran_info(info), MPI_SUCCESS);
    MPI_Info_set(info, "mpi_integer_size", "8");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
    CHECK_EQUAL(MPI_Abi_set_fortran_booleans(4, &other, &no), MPI_ERR_ABI);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Info_free(&info);
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
    check_events();
    check_fortran();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
