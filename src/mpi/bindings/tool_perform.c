/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performance variables of the calling rank: what it has sent, as --monitor counts it, how many
 * messages and receives wait for each other, and how much memory they take. Counting begins with
 * the first handle of a counter.
 */
#include <stdint.h>
#include <string.h>

#include "mpi/bindings/calls.h"
#include "mpi/bindings/tool.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

typedef struct {
    const char *name, *description;
    int class;
    int sent; /* of a counter: which of mpi_sent_t, 2 * (is inside collectives) + (are bytes) */
} variable_t;

static const variable_t table[] = {
    {"xylem_messages_sent", "messages that the program has sent", MPI_T_PVAR_CLASS_COUNTER, 0},
    {"xylem_bytes_sent", "bytes that the program has sent", MPI_T_PVAR_CLASS_COUNTER, 1},
    {"xylem_collective_messages", "messages sent inside collectives", MPI_T_PVAR_CLASS_COUNTER, 2},
    {"xylem_collective_bytes", "bytes sent inside collectives", MPI_T_PVAR_CLASS_COUNTER, 3},
    {"xylem_unexpected_messages", "messages that no receive was posted for yet",
     MPI_T_PVAR_CLASS_LEVEL, 0},
    {"xylem_posted_receives", "receives that wait for their messages", MPI_T_PVAR_CLASS_LEVEL, 0},
    {"xylem_unexpected_bytes", "bytes of messages that are kept until a receive is posted",
     MPI_T_PVAR_CLASS_LEVEL, 0},
    {"xylem_pending_requests", "requests that are active and not complete", MPI_T_PVAR_CLASS_LEVEL,
     0},
};
enum { COUNT = sizeof table / sizeof table[0] };
enum { UNEXPECTED = 4, POSTED, UNEXPECTED_BYTES, PENDING };

struct MPI_T_pvar_handle_t {
    struct MPI_T_pvar_handle_t *next; /* of the session */
    MPI_T_pvar_session session;
    int index;
    bool is_running;
    uint64_t from, counted; /* at the last start, and before that */
};

struct MPI_T_pvar_session_t {
    MPI_T_pvar_handle handles;
};

int tool_perform_count(void)
{
    return COUNT;
}

static bool is_counter(int index)
{
    return table[index].class == MPI_T_PVAR_CLASS_COUNTER;
}

static int check_index(int index)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    return index >= 0 && index < COUNT ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

int impl_t_pvar_get_num(int *num_pvar)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    tool_set(num_pvar, COUNT);
    return MPI_SUCCESS;
}

int impl_t_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
                         MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                         int *bind, int *readonly, int *continuous, int *atomic)
{
    int code = check_index(pvar_index);

    if (code != MPI_SUCCESS)
        return code;
    tool_text(table[pvar_index].name, name, name_len);
    tool_text(table[pvar_index].description, desc, desc_len);
    tool_set(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    tool_set(var_class, table[pvar_index].class);
    if (datatype)
        *datatype = MPI_UNSIGNED_LONG_LONG;
    if (enumtype)
        *enumtype = MPI_T_ENUM_NULL;
    tool_set(bind, MPI_T_BIND_NO_OBJECT);
    tool_set(readonly, !is_counter(pvar_index));
    tool_set(continuous, !is_counter(pvar_index));
    tool_set(atomic, 0);
    return MPI_SUCCESS;
}

int impl_t_pvar_get_index(const char *name, int var_class, int *pvar_index)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    for (int i = 0; name && i < COUNT; i++)
        if (strcmp(name, table[i].name) == 0 && var_class == table[i].class) {
            tool_set(pvar_index, i);
            return MPI_SUCCESS;
        }
    return MPI_T_ERR_INVALID_NAME;
}

/* ---- Values ---- */

/* Of messages that have come whole: the bytes of large ones stay with their senders. */
static uint64_t unexpected_bytes(const mpi_rank_t *self)
{
    uint64_t bytes = 0;

    for (const xy_match_entry_t *e = self->match.first; e; e = e->list_next)
        if (!((const mpi_message_t *)e)->sender)
            bytes += ((const mpi_message_t *)e)->bytes;
    return bytes;
}

static uint64_t pending_requests(const mpi_rank_t *self)
{
    uint64_t count = 0;

    for (const mpi_request_t *r = self->worker->all_requests; r; r = r->next_made)
        count += r->owner == self && r->is_active && !r->is_done;
    return count;
}

static uint64_t level_now(const mpi_rank_t *self, int index)
{
    switch (index) {
    case UNEXPECTED:
        return self->match.unexpected.count;
    case POSTED:
        return self->match.posted.count;
    case UNEXPECTED_BYTES:
        return unexpected_bytes(self);
    default:
        return pending_requests(self);
    }
}

static uint64_t value_now(const mpi_rank_t *self, int index)
{
    mpi_sent_t sent;
    int which = table[index].sent;

    if (!is_counter(index))
        return level_now(self, index);
    mpi_monitor_total(self, &sent);
    return which % 2 ? sent.bytes[which / 2] : sent.messages[which / 2];
}

static uint64_t read_value(const mpi_rank_t *self, const struct MPI_T_pvar_handle_t *handle)
{
    if (!is_counter(handle->index))
        return value_now(self, handle->index);
    return handle->counted +
           (handle->is_running ? value_now(self, handle->index) - handle->from : 0);
}

/* ---- Sessions and handles ---- */

int impl_t_pvar_session_create(MPI_T_pvar_session *session)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!session)
        return MPI_T_ERR_INVALID;
    *session = xy_calloc(1, sizeof **session);
    return *session ? MPI_SUCCESS : MPI_T_ERR_MEMORY;
}

int impl_t_pvar_session_free(MPI_T_pvar_session *session)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!session || *session == MPI_T_PVAR_SESSION_NULL)
        return MPI_T_ERR_INVALID_SESSION;
    while ((*session)->handles) {
        MPI_T_pvar_handle first = (*session)->handles;

        (*session)->handles = first->next;
        xy_free(first);
    }
    xy_free(*session);
    *session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}

/* In virtual time, messages wait in the model's tables, not in the rank's. */
static int begin_to_count(mpi_rank_t *self, int index)
{
    if (!self)
        return MPI_T_ERR_NOT_ACCESSIBLE;
    if (!is_counter(index))
        return mpi_job->clock ? MPI_T_ERR_NOT_SUPPORTED : MPI_SUCCESS;
    return mpi_monitor_begin(self) == XY_OK ? MPI_SUCCESS : MPI_T_ERR_MEMORY;
}

int impl_t_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle,
                             MPI_T_pvar_handle *handle, int *count)
{
    int code = check_index(pvar_index);
    MPI_T_pvar_handle made;

    (void)obj_handle; /* none is bound to an object */
    if (code != MPI_SUCCESS)
        return code;
    if (session == MPI_T_PVAR_SESSION_NULL)
        return MPI_T_ERR_INVALID_SESSION;
    if (!handle)
        return MPI_T_ERR_INVALID;
    code = begin_to_count(mpi_self, pvar_index);
    if (code != MPI_SUCCESS)
        return code;
    made = xy_calloc(1, sizeof *made);
    if (!made)
        return MPI_T_ERR_MEMORY;
    made->session = session;
    made->index = pvar_index;
    made->is_running = !is_counter(pvar_index);
    made->next = session->handles;
    session->handles = made;
    *handle = made;
    tool_set(count, 1);
    return MPI_SUCCESS;
}

/* MPI_SUCCESS: a handle of this session, or all of them. */
static int check_handle(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (session == MPI_T_PVAR_SESSION_NULL)
        return MPI_T_ERR_INVALID_SESSION;
    if (handle == MPI_T_PVAR_ALL_HANDLES)
        return MPI_SUCCESS;
    if (handle == MPI_T_PVAR_HANDLE_NULL || handle->session != session)
        return MPI_T_ERR_INVALID_HANDLE;
    return mpi_self ? MPI_SUCCESS : MPI_T_ERR_NOT_ACCESSIBLE;
}

int impl_t_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    int code = check_handle(session, handle ? *handle : MPI_T_PVAR_HANDLE_NULL);
    MPI_T_pvar_handle *place;

    if (code != MPI_SUCCESS || *handle == MPI_T_PVAR_ALL_HANDLES)
        return code != MPI_SUCCESS ? code : MPI_T_ERR_INVALID_HANDLE;
    for (place = &session->handles; *place != *handle; place = &(*place)->next)
        continue;
    *place = (*handle)->next;
    xy_free(*handle);
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

/* ---- What is done with one handle, or with all that it can be done with ---- */

typedef int(act_fn)(MPI_T_pvar_handle handle);

static int act(MPI_T_pvar_session session, MPI_T_pvar_handle handle, act_fn *fn)
{
    int code = check_handle(session, handle);

    if (code != MPI_SUCCESS)
        return code;
    if (handle != MPI_T_PVAR_ALL_HANDLES)
        return fn(handle);
    for (MPI_T_pvar_handle one = session->handles; one; one = one->next)
        if (is_counter(one->index))
            fn(one);
    return MPI_SUCCESS;
}

static int start(MPI_T_pvar_handle handle)
{
    if (!is_counter(handle->index))
        return MPI_T_ERR_PVAR_NO_STARTSTOP;
    if (!handle->is_running)
        handle->from = value_now(mpi_self, handle->index);
    handle->is_running = true;
    return MPI_SUCCESS;
}

static int stop(MPI_T_pvar_handle handle)
{
    if (!is_counter(handle->index))
        return MPI_T_ERR_PVAR_NO_STARTSTOP;
    handle->counted = read_value(mpi_self, handle);
    handle->is_running = false;
    return MPI_SUCCESS;
}

static int reset(MPI_T_pvar_handle handle)
{
    if (!is_counter(handle->index))
        return MPI_T_ERR_PVAR_NO_WRITE;
    handle->counted = 0;
    handle->from = value_now(mpi_self, handle->index);
    return MPI_SUCCESS;
}

int impl_t_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return act(session, handle, start);
}

int impl_t_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return act(session, handle, stop);
}

int impl_t_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return act(session, handle, reset);
}

/* All handles at once have no value. */
static int check_one(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)
{
    int code = check_handle(session, handle);

    if (code == MPI_SUCCESS && handle == MPI_T_PVAR_ALL_HANDLES)
        return MPI_T_ERR_INVALID_HANDLE;
    return code == MPI_SUCCESS && !buf ? MPI_T_ERR_INVALID : code;
}

int impl_t_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    int code = check_one(session, handle, buf);
    uint64_t value;

    if (code != MPI_SUCCESS)
        return code;
    value = read_value(mpi_self, handle);
    memcpy(buf, &value, sizeof value);
    return MPI_SUCCESS;
}

int impl_t_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    int code = impl_t_pvar_read(session, handle, buf);

    return code == MPI_SUCCESS ? reset(handle) : code;
}

int impl_t_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)
{
    int code = check_one(session, handle, buf);

    if (code != MPI_SUCCESS)
        return code;
    if (!is_counter(handle->index))
        return MPI_T_ERR_PVAR_NO_WRITE;
    memcpy(&handle->counted, buf, sizeof handle->counted);
    handle->from = value_now(mpi_self, handle->index);
    return MPI_SUCCESS;
}
