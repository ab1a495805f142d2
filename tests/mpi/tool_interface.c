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
    CHECK(read_of(session, unexpected) >= 1); /* others may be in their next collective */
    CHECK(read_of(session, bytes) >= 1);
    CHECK_EQUAL(read_of(session, pending), 1);
    CHECK_EQUAL(MPI_T_pvar_start(session, posted), MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK_EQUAL(MPI_T_pvar_reset(session, posted), MPI_T_ERR_PVAR_NO_WRITE);
    MPI_Recv(&byte, 1, MPI_CHAR, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Send(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(read_of(session, posted) + read_of(session, pending), 0);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    CHECK(count > 1 || read_of(session, unexpected) + read_of(session, bytes) == 0);
    MPI_T_pvar_session_free(&session);
}

static MPI_T_pvar_handle handle_of(MPI_T_pvar_session session, const char *name, int class,
                                   void *object)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int index = -1, count = 0, code;

    CHECK_EQUAL(MPI_T_pvar_get_index(name, class, &index), MPI_SUCCESS);
    code = MPI_T_pvar_handle_alloc(session, index, object, &handle, &count);
    CHECK(code == MPI_SUCCESS ? count == 1 : code == MPI_T_ERR_NOT_SUPPORTED);
    return code == MPI_SUCCESS ? handle : MPI_T_PVAR_HANDLE_NULL;
}

/* Of one communicator and not of another. */
static void check_bound(int is_virtual)
{
    MPI_Comm comm, other, gone;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle sent, bytes, unexpected, posted, late;
    MPI_Request request;
    unsigned long long value;
    int index, bind, count;
    char byte = 0, out = 0;

    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_dup(MPI_COMM_SELF, &other);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_index("xylem_comm_bytes_sent", MPI_T_PVAR_CLASS_COUNTER, &index);
    MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL, NULL,
                        NULL);
    CHECK_EQUAL(bind, MPI_T_BIND_MPI_COMM);
    count = 1;
    CHECK_EQUAL(MPI_T_pvar_handle_alloc(session, index, NULL, &sent, &count), MPI_T_ERR_INVALID);
    CHECK_EQUAL(count, 0);
    gone = MPI_COMM_NULL;
    CHECK_EQUAL(MPI_T_pvar_handle_alloc(session, index, &gone, &sent, &count),
                MPI_T_ERR_INVALID_HANDLE);
    sent = handle_of(session, "xylem_comm_messages_sent", MPI_T_PVAR_CLASS_COUNTER, &comm);
    bytes = handle_of(session, "xylem_comm_bytes_sent", MPI_T_PVAR_CLASS_COUNTER, &comm);
    late = handle_of(session, "xylem_comm_bytes_sent", MPI_T_PVAR_CLASS_COUNTER, &other);
    MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
    for (int i = 0; i < 3; i++)
        MPI_Sendrecv(&out, 1, MPI_CHAR, 0, 0, &byte, 1, MPI_CHAR, 0, 0, i < 2 ? comm : other,
                     MPI_STATUS_IGNORE);
    CHECK_EQUAL(read_of(session, sent), 2);
    CHECK_EQUAL(read_of(session, bytes), 2);
    CHECK_EQUAL(read_of(session, late), 1);
    if (!is_virtual) {
        unexpected =
            handle_of(session, "xylem_comm_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, &comm);
        posted = handle_of(session, "xylem_comm_posted_receives", MPI_T_PVAR_CLASS_LEVEL, &comm);
        MPI_Send(&byte, 1, MPI_CHAR, 0, 1, comm);
        MPI_Send(&byte, 1, MPI_CHAR, 0, 1, other);
        MPI_Irecv(&byte, 1, MPI_CHAR, 0, 2, comm, &request);
        CHECK(read_of(session, unexpected) == 1 && read_of(session, posted) == 1);
        MPI_Send(&byte, 1, MPI_CHAR, 0, 2, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Recv(&byte, 1, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE);
        MPI_Recv(&byte, 1, MPI_CHAR, 0, 1, other, MPI_STATUS_IGNORE);
        CHECK(read_of(session, unexpected) == 0 && read_of(session, posted) == 0);
    }
    MPI_Comm_free(&other);
    CHECK_EQUAL(MPI_T_pvar_read(session, late, &value), MPI_T_ERR_INVALID_HANDLE);
    MPI_T_pvar_session_free(&session);
    MPI_Comm_free(&comm);
}

/* How many messages a rank sends to another one. */
static int messages_between(int from, int to)
{
    return (from + 2 * to) % 4;
}

/* Each rank sends some messages of 1 + PEER bytes to each. */
static void send_to_all(MPI_Comm comm)
{
    char out[64] = "", in[64];
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int distance = 0; distance < size; distance++) {
        int to = (rank + distance) % size, from = (rank + size - distance) % size;
        MPI_Request requests[4];

        for (int i = 0; i < messages_between(from, rank); i++)
            MPI_Irecv(in + 16 * i, 16, MPI_CHAR, from, 0, comm, &requests[i]);
        for (int i = 0; i < messages_between(rank, to); i++)
            MPI_Send(out, 1 + to % 16, MPI_CHAR, to, 0, comm);
        MPI_Waitall(messages_between(from, rank), requests, MPI_STATUSES_IGNORE);
    }
}

/* Arrays with a value for each peer: on this communicator only, while they run. */
static void check_peers(void)
{
    unsigned long long messages[64], bytes[64];
    MPI_T_pvar_handle sent, size_sent;
    MPI_T_pvar_session session;
    int index, rank, size, count = 0;
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (size > 64) {
        MPI_Comm_free(&comm);
        return;
    }
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_index("xylem_peer_messages_sent", MPI_T_PVAR_CLASS_COUNTER, &index);
    CHECK_EQUAL(MPI_T_pvar_handle_alloc(session, index, &comm, &sent, &count), MPI_SUCCESS);
    CHECK_EQUAL(count, size);
    MPI_T_pvar_get_index("xylem_peer_bytes_sent", MPI_T_PVAR_CLASS_COUNTER, &index);
    CHECK_EQUAL(MPI_T_pvar_handle_alloc(session, index, &comm, &size_sent, &count), MPI_SUCCESS);
    send_to_all(comm); /* before it is started */
    MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
    send_to_all(comm);
    send_to_all(MPI_COMM_WORLD);
    CHECK_EQUAL(MPI_T_pvar_readreset(session, sent, messages), MPI_SUCCESS);
    MPI_T_pvar_stop(session, size_sent);
    send_to_all(comm);
    CHECK_EQUAL(MPI_T_pvar_read(session, size_sent, bytes), MPI_SUCCESS);
    for (int to = 0; to < size; to++) {
        CHECK_EQUAL(messages[to], messages_between(rank, to));
        CHECK_EQUAL(bytes[to], messages_between(rank, to) * (1 + to % 16));
    }
    CHECK_EQUAL(MPI_T_pvar_write(session, sent, bytes), MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_pvar_read(session, sent, messages), MPI_SUCCESS);
    for (int to = 0; to < size; to++)
        CHECK_EQUAL(messages[to], bytes[to]);
    MPI_T_pvar_session_free(&session);
    MPI_Comm_free(&comm);
}

static double seconds_of(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    double value = -1;

    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
    return value;
}

/* Messages that come from another core are progress; what is stopped stands still. */
static void check_progress(void)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle own, cores;
    MPI_Datatype type;
    int index, rank, size, class;
    double before, begin, value = 5;
    char byte = 0, out = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_index("xylem_progress_time", MPI_T_PVAR_CLASS_TIMER, &index);
    MPI_T_pvar_get_info(index, NULL, NULL, NULL, &class, &type, NULL, NULL, NULL, NULL, NULL, NULL,
                        NULL);
    CHECK(class == MPI_T_PVAR_CLASS_TIMER && type == MPI_DOUBLE);
    own = handle_of(session, "xylem_progress_time", MPI_T_PVAR_CLASS_TIMER, NULL);
    cores = handle_of(session, "xylem_comm_core_time", MPI_T_PVAR_CLASS_TIMER, NULL);
    if (own == MPI_T_PVAR_HANDLE_NULL) { /* in virtual time */
        MPI_T_pvar_session_free(&session);
        return;
    }
    CHECK(seconds_of(session, own) == 0);
    begin = MPI_Wtime();
    CHECK_EQUAL(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    for (int i = 0; i < 100; i++)
        MPI_Sendrecv(&out, 1, MPI_CHAR, (rank + 1) % size, 0, &byte, 1, MPI_CHAR,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    before = seconds_of(session, own);
    CHECK(before >= 0 && before <= MPI_Wtime() - begin);
    CHECK(seconds_of(session, cores) >= 0);
    MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES);
    before = seconds_of(session, own);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(seconds_of(session, own) == before);
    CHECK_EQUAL(MPI_T_pvar_write(session, own, &value), MPI_SUCCESS);
    CHECK(seconds_of(session, own) == 5);
    MPI_T_pvar_start(session, own);
    MPI_T_pvar_handle_free(session, &own); /* and nobody looks at the clock any more */
    MPI_T_pvar_session_free(&session);
}

static __attribute__((noinline)) int use_stack(int kib)
{
    volatile char much[1024];

    much[0] = (char)kib;
    return kib > 0 ? use_stack(kib - 1) + much[0] : 0;
}

static void check_memory(void)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle memory, stack;
    MPI_Request requests[100];
    unsigned long long before, deeper;
    MPI_Comm dup;
    char byte = 0;

    MPI_T_pvar_session_create(&session);
    memory = handle_of(session, "xylem_memory", MPI_T_PVAR_CLASS_LEVEL, NULL);
    stack = handle_of(session, "xylem_stack_memory", MPI_T_PVAR_CLASS_LEVEL, NULL);
    if (memory != MPI_T_PVAR_HANDLE_NULL) {
        before = read_of(session, memory);
        for (int i = 0; i < 100; i++)
            MPI_Irecv(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, &requests[i]);
        CHECK(read_of(session, memory) >= before + 100 * 64);
        for (int i = 0; i < 100; i++)
            MPI_Send(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF);
        MPI_Waitall(100, requests, MPI_STATUSES_IGNORE);
        before = read_of(session, memory);
        for (int i = 0; i < 100; i++)
            MPI_Send(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF);
        deeper = read_of(session, memory);
        CHECK(deeper >= before + 100);
        for (int i = 0; i < 100; i++)
            MPI_Recv(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        before = read_of(session, memory);
        CHECK(before + 100 <= deeper);
        MPI_Comm_dup(MPI_COMM_SELF, &dup);
        CHECK(read_of(session, memory) > before);
        MPI_Comm_free(&dup);
    }
    if (stack != MPI_T_PVAR_HANDLE_NULL) {
        before = read_of(session, stack);
        CHECK_EQUAL(use_stack(256) != -1, 1);
        deeper = read_of(session, stack);
        CHECK(deeper >= 256 * 1024 && deeper >= before);
    }
    MPI_T_pvar_session_free(&session);
}

static void check_categories(void)
{
    int n, controls, performs, index, all, indices[64], in_category[64] = {0};
    char name[32];

    CHECK(MPI_T_category_get_num(&n) == MPI_SUCCESS && n == 4);
    for (int i = 0; i < n; i++) {
        int room = 32;

        MPI_T_category_get_info(i, name, &room, NULL, NULL, &controls, &performs, NULL);
        CHECK(MPI_T_category_get_index(name, &index) == MPI_SUCCESS && index == i);
        MPI_T_category_get_cvars(i, 64, indices);
        MPI_T_cvar_get_num(&all);
        CHECK(controls == 0 || (controls == all && indices[all - 1] == all - 1));
        MPI_T_category_get_pvars(i, 64, indices);
        for (int k = 0; k < performs; k++)
            in_category[indices[k]]++;
    }
    MPI_T_pvar_get_num(&all);
    for (int i = 0; i < all; i++)
        CHECK_EQUAL(in_category[i], 1);
    CHECK(MPI_T_event_get_num(&n) == MPI_SUCCESS && n == 4);
    MPI_T_category_get_index("xylem_messages", &index);
    CHECK(MPI_T_category_get_num_events(index, &n) == MPI_SUCCESS && n == 4);
    CHECK(MPI_T_category_get_events(index, 64, indices) == MPI_SUCCESS && indices[3] == 3);
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
        MPI_T_event_get_info(4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
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

/* Count this rank's sends, and not the library's own. */
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

typedef struct {
    int count, number, tag;
    unsigned long long bytes;
    MPI_Count time, dropped;
    const void *where; /* a variable of the rank that has asked */
} told_t;

static int own; /* private to a rank */

static void on_told(MPI_T_event_instance instance, MPI_T_event_registration registration,
                    MPI_T_cb_safety safety, void *data)
{
    told_t *told = data;
    MPI_Count time;

    (void)registration, (void)safety;
    MPI_T_event_get_timestamp(instance, &time);
    CHECK(time >= told->time); /* one source, in order */
    told->time = time;
    told->count++;
    told->where = &own;
    MPI_T_event_read(instance, 0, &told->number);
    MPI_T_event_read(instance, 1, &told->tag);
    MPI_T_event_read(instance, 2, &told->bytes);
}

static void on_lost(MPI_Count count, MPI_T_event_registration registration, int source,
                    MPI_T_cb_safety safety, void *data)
{
    (void)registration, (void)safety, (void)source;
    ((told_t *)data)->dropped += count;
}

static MPI_T_event_registration listen_to(const char *name, told_t *told)
{
    MPI_T_event_registration registration;
    int index;

    *told = (told_t){.number = -9};
    CHECK_EQUAL(MPI_T_event_get_index(name, &index), MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration), MPI_SUCCESS);
    MPI_T_event_set_dropped_handler(registration, on_lost);
    MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, told,
                                  on_told); /* the data of the handler */
    MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL,
                                  told, on_told);
    return registration;
}

enum { LISTENERS = 40 };

typedef struct {
    MPI_T_event_registration all[LISTENERS];
    int count;
} crowd_t;

/* The first one frees itself and the others but the last. */
static void on_crowd(MPI_T_event_instance instance, MPI_T_event_registration registration,
                     MPI_T_cb_safety safety, void *data)
{
    crowd_t *crowd = data;

    (void)instance, (void)safety;
    crowd->count++;
    for (int i = 0; registration == crowd->all[0] && i < LISTENERS - 1; i++)
        MPI_T_event_handle_free(crowd->all[i], NULL, NULL);
}

/* All listeners of an event receive it, except those that a callback has freed. */
static void check_crowd(void)
{
    static crowd_t crowd;
    int index, value = 0, got;

    MPI_T_event_get_index("xylem_message_sent", &index);
    for (int i = 0; i < LISTENERS; i++) {
        MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &crowd.all[i]);
        if (i > 0)
            MPI_T_event_register_callback(crowd.all[i], MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                          MPI_INFO_NULL, &crowd, on_crowd);
    }
    MPI_Sendrecv(&value, 1, MPI_INT, 0, 3, &got, 1, MPI_INT, 0, 3, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    CHECK_EQUAL(crowd.count, LISTENERS - 1);
    MPI_T_event_register_callback(crowd.all[0], MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL,
                                  &crowd, on_crowd);
    MPI_Sendrecv(&value, 1, MPI_INT, 0, 3, &got, 1, MPI_INT, 0, 3, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    CHECK_EQUAL(crowd.count, LISTENERS - 1 + 2);
    CHECK_EQUAL(MPI_T_event_handle_free(crowd.all[0], NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQUAL(MPI_T_event_handle_free(crowd.all[LISTENERS - 1], NULL, NULL), MPI_SUCCESS);
}

/* In a ring: each is told of what its neighbour sends, on its own account. */
static void check_received(int is_virtual)
{
    told_t received, unexpected;
    MPI_T_event_registration first = listen_to("xylem_message_received", &received),
                             second = listen_to("xylem_message_unexpected", &unexpected);
    int rank, size, left, right, values[3] = {1, 2, 3}, got[3];
    MPI_Comm dup;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup); /* sends of the library are not reported */
    MPI_Barrier(dup);
    CHECK(received.count == 0 && unexpected.count == 0);
    MPI_Barrier(dup);
    MPI_Comm_free(&dup);
    MPI_Send(values, 3, MPI_INT, right, 21, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Probe(left, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* it has come */
    CHECK_EQUAL(received.count, 0);
    CHECK_EQUAL(unexpected.count, !is_virtual);
    MPI_Recv(got, 3, MPI_INT, MPI_ANY_SOURCE, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(received.count == 1 && received.number == left && received.tag == 21);
    CHECK(received.bytes == sizeof values && received.where == &own);
    CHECK(is_virtual || (unexpected.number == left && unexpected.bytes == sizeof values));
    CHECK_EQUAL(MPI_T_event_handle_free(first, NULL, NULL), MPI_SUCCESS);
    CHECK_EQUAL(MPI_T_event_handle_free(second, NULL, NULL), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(values, 3, MPI_INT, right, 22, got, 3, MPI_INT, left, 22, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK_EQUAL(received.count, 1);
}

/* More than are kept while the rank is in its own code or in one call. */
static void check_lost(int is_virtual)
{
    enum { MANY = 1000 };
    told_t told;
    MPI_T_event_registration registration;
    int rank, value = 0;
    static MPI_Request requests[MANY];

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    registration = listen_to("xylem_message_received", &told);
    for (int i = 0; i < MANY; i++)
        MPI_Irecv(&value, 0, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
    for (int i = 0; i < MANY; i++)
        MPI_Send(&value, 0, MPI_INT, 0, i, MPI_COMM_SELF);
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    CHECK(is_virtual || told.dropped == 0);
    CHECK_EQUAL(told.count + told.dropped, MANY);
    MPI_T_event_handle_free(registration, NULL, NULL);
}

static void check_collective_events(void)
{
    told_t told;
    MPI_T_event_registration registration = listen_to("xylem_collective_begun", &told);
    int index, items, value, room = 64, all[4] = {0}, size;
    char name[64];
    MPI_T_enum names;
    MPI_Request request;
    MPI_Comm dup;

    MPI_T_event_get_index("xylem_collective_begun", &index);
    MPI_T_event_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, &names, NULL, NULL, NULL, NULL);
    CHECK(MPI_T_enum_get_info(names, &items, name, &room) == MPI_SUCCESS && items > 10);
    CHECK_EQUAL(MPI_T_enum_get_item(names, items, &value, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQUAL(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &items, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup); /* no collective of the program's data */
    MPI_Comm_free(&dup);
    CHECK_EQUAL(told.count, 0);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(all, 4, MPI_INT, size - 1, MPI_COMM_WORLD);
    CHECK(told.count == 1 && told.tag == size - 1 && told.bytes == sizeof all);
    room = 64;
    MPI_T_enum_get_item(names, told.number, &value, name, &room);
    CHECK(value == told.number && strcmp(name, "bcast") == 0);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    room = 64;
    MPI_T_enum_get_item(names, told.number, &value, name, &room);
    CHECK(told.count == 2 && told.tag == -1 && strcmp(name, "barrier") == 0);
    MPI_T_event_handle_free(registration, NULL, NULL);
}

/* The properties of Fortran, by the standard ABI. */
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

/* Levels are not known there. */
static int is_in_virtual_time(void)
{
    MPI_T_pvar_session session;
    int is;

    MPI_T_pvar_session_create(&session);
    is = handle_of(session, "xylem_posted_receives", MPI_T_PVAR_CLASS_LEVEL, NULL) ==
         MPI_T_PVAR_HANDLE_NULL;
    MPI_T_pvar_session_free(&session);
    return is;
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
    check_bound(is_in_virtual_time());
    check_peers();
    check_memory();
    check_events();
    check_crowd();
    check_progress(); /* from here on with others */
    check_received(is_in_virtual_time());
    check_lost(is_in_virtual_time());
    check_collective_events();
    check_fortran();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
