/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performance variables: sessions and handles. What the variables are is in tool_values.c. Those
 * that count or time begin with their first handle, or when they are started; the others are what
 * they are at the moment.
 */
#include <stdint.h>
#include <string.h>

#include "mpi/bindings/calls.h"
#include "mpi/bindings/tool.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

struct MPI_T_pvar_handle_t {
    struct MPI_T_pvar_handle_t *next; /* of the session */
    MPI_T_pvar_session session;
    const mpi_rank_t *owner;
    int index;
    MPI_Comm comm; /* that it is bound to */
    bool is_running;
    int count;         /* of values */
    uint64_t values[]; /* [3 * count]: at the last start, before that, and room for the present */
};

struct MPI_T_pvar_session_t {
    MPI_T_pvar_handle handles;
};

static bool is_timer(int index)
{
    return tool_variable(index)->class == MPI_T_PVAR_CLASS_TIMER;
}

/* It grows from a start on. */
static bool is_counter(int index)
{
    return tool_variable(index)->class == MPI_T_PVAR_CLASS_COUNTER || is_timer(index);
}

static int check_index(int index)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    return index >= 0 && index < tool_perform_count() ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

int impl_t_pvar_get_num(int *num_pvar)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    tool_set(num_pvar, tool_perform_count());
    return MPI_SUCCESS;
}

int impl_t_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
                         MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                         int *bind, int *readonly, int *continuous, int *atomic)
{
    int code = check_index(pvar_index);

    if (code != MPI_SUCCESS)
        return code;
    tool_text(tool_variable(pvar_index)->name, name, name_len);
    tool_text(tool_variable(pvar_index)->description, desc, desc_len);
    tool_set(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    tool_set(var_class, tool_variable(pvar_index)->class);
    if (datatype)
        *datatype = is_timer(pvar_index) ? MPI_DOUBLE : MPI_UNSIGNED_LONG_LONG;
    if (enumtype)
        *enumtype = MPI_T_ENUM_NULL;
    tool_set(bind,
             tool_variable(pvar_index)->is_of_comm ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT);
    tool_set(readonly, !is_counter(pvar_index));
    tool_set(continuous, !is_counter(pvar_index));
    tool_set(atomic, 0);
    return MPI_SUCCESS;
}

int impl_t_pvar_get_index(const char *name, int var_class, int *pvar_index)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    for (int i = 0; name && i < tool_perform_count(); i++)
        if (strcmp(name, tool_variable(i)->name) == 0 && var_class == tool_variable(i)->class) {
            tool_set(pvar_index, i);
            return MPI_SUCCESS;
        }
    return MPI_T_ERR_INVALID_NAME;
}

/* ---- Values ---- */

static uint64_t *from_of(MPI_T_pvar_handle handle)
{
    return handle->values;
}

static uint64_t *counted_of(MPI_T_pvar_handle handle)
{
    return handle->values + handle->count;
}

static uint64_t *present_of(MPI_T_pvar_handle handle)
{
    return handle->values + 2 * (size_t)handle->count;
}

static size_t bytes_of(MPI_T_pvar_handle handle)
{
    return (size_t)handle->count * sizeof(uint64_t);
}

/* MPI_SUCCESS: `values` are what they are now. The communicator may be gone by now. */
static int values_now(const mpi_rank_t *self, MPI_T_pvar_handle handle, uint64_t *values)
{
    const tool_variable_t *variable = tool_variable(handle->index);
    const mpi_comm_t *comm = variable->is_of_comm ? mpi_comm_of(handle->comm) : NULL;

    if (variable->is_of_comm && !comm)
        return MPI_T_ERR_INVALID_HANDLE;
    for (int i = 0; i < handle->count; i++)
        values[i] =
            variable->of_peer ? variable->of_peer(self, comm, i) : variable->now(self, comm);
    return MPI_SUCCESS;
}

static int read_values(const mpi_rank_t *self, MPI_T_pvar_handle handle, uint64_t *values)
{
    int code;

    if (!handle->is_running) {
        memcpy(values, counted_of(handle), bytes_of(handle));
        return MPI_SUCCESS;
    }
    code = values_now(self, handle, values);
    for (int i = 0; code == MPI_SUCCESS && is_counter(handle->index) && i < handle->count; i++)
        values[i] += counted_of(handle)[i] - from_of(handle)[i];
    return code;
}

/* Values are whole numbers; times are in nanoseconds here, and in seconds for the program. */
static void give(int index, uint64_t value, char *buf)
{
    double seconds = 1e-9 * (double)value;

    memcpy(buf, is_timer(index) ? (const void *)&seconds : (const void *)&value, sizeof value);
}

static uint64_t take(int index, const char *buf)
{
    double seconds;
    uint64_t value;

    memcpy(&value, buf, sizeof value);
    memcpy(&seconds, buf, sizeof seconds);
    return !is_timer(index) ? value : seconds > 0 ? (uint64_t)(1e9 * seconds) : 0;
}

/* ---- Sessions and handles ---- */

/* Start or stop a variable: while it runs, the clock of a core is read. */
static void set_running(MPI_T_pvar_handle handle, bool on)
{
    void (*turn)(const mpi_rank_t *, bool) = tool_variable(handle->index)->turn;

    if (turn && on != handle->is_running)
        turn(handle->owner, on);
    handle->is_running = on;
}

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
        set_running(first, false);
        xy_free(first);
    }
    xy_free(*session);
    *session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}

/* In virtual time, messages wait in the model's tables, not in the rank's, and cores are those of
 * the model. A rank that is a process of its own has its stack from the kernel. */
static int begin_to_count(mpi_rank_t *self, const tool_variable_t *variable)
{
    if (!self)
        return MPI_T_ERR_NOT_ACCESSIBLE;
    if (variable->class == MPI_T_PVAR_CLASS_COUNTER)
        return mpi_monitor_begin(self) == XY_OK ? MPI_SUCCESS : MPI_T_ERR_MEMORY;
    return mpi_job->clock || (variable->needs_stack && mpi_job->adopted) ? MPI_T_ERR_NOT_SUPPORTED
                                                                         : MPI_SUCCESS;
}

/* One, or one for each rank that the communicator can send to. */
static int count_values(const tool_variable_t *variable, const MPI_Comm *handle)
{
    const mpi_comm_t *comm = variable->of_peer ? mpi_comm_of(*handle) : NULL;

    return !comm ? 1 : comm->remote ? comm->remote->size : comm->size;
}

int impl_t_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle,
                             MPI_T_pvar_handle *handle, int *count)
{
    int code = check_index(pvar_index);
    const MPI_Comm *comm = obj_handle;
    MPI_T_pvar_handle made;
    int values;

    tool_set(count, 0); /* programs look at the count alone */
    if (code != MPI_SUCCESS)
        return code;
    if (session == MPI_T_PVAR_SESSION_NULL)
        return MPI_T_ERR_INVALID_SESSION;
    if (!handle || (tool_variable(pvar_index)->is_of_comm && !comm))
        return MPI_T_ERR_INVALID;
    if (tool_variable(pvar_index)->is_of_comm && (!mpi_self || !mpi_comm_of(*comm)))
        return MPI_T_ERR_INVALID_HANDLE;
    code = begin_to_count(mpi_self, tool_variable(pvar_index));
    if (code != MPI_SUCCESS)
        return code;
    values = count_values(tool_variable(pvar_index), comm);
    made = xy_calloc(1, sizeof *made + 3 * (size_t)values * sizeof made->values[0]);
    if (!made)
        return MPI_T_ERR_MEMORY;
    made->count = values;
    made->session = session;
    made->owner = mpi_self;
    made->index = pvar_index;
    if (tool_variable(pvar_index)->is_of_comm)
        made->comm = *comm;
    made->is_running = !is_counter(pvar_index);
    made->next = session->handles;
    session->handles = made;
    *handle = made;
    tool_set(count, values);
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
    set_running(*handle, false);
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
    int code = MPI_SUCCESS;

    if (!is_counter(handle->index))
        return MPI_T_ERR_PVAR_NO_STARTSTOP;
    if (!handle->is_running)
        code = values_now(mpi_self, handle, from_of(handle));
    if (code == MPI_SUCCESS)
        set_running(handle, true);
    return code;
}

static int stop(MPI_T_pvar_handle handle)
{
    int code;

    if (!is_counter(handle->index))
        return MPI_T_ERR_PVAR_NO_STARTSTOP;
    code = read_values(mpi_self, handle, present_of(handle));
    if (code == MPI_SUCCESS)
        memcpy(counted_of(handle), present_of(handle), bytes_of(handle));
    set_running(handle, false);
    return code;
}

/* Continue counting from the values in `buf`; NULL: from 0. */
static int set(MPI_T_pvar_handle handle, const char *buf)
{
    if (!is_counter(handle->index))
        return MPI_T_ERR_PVAR_NO_WRITE;
    for (int i = 0; i < handle->count; i++)
        counted_of(handle)[i] = buf ? take(handle->index, buf + (size_t)i * sizeof(uint64_t)) : 0;
    return values_now(mpi_self, handle, from_of(handle));
}

static int reset(MPI_T_pvar_handle handle)
{
    return set(handle, NULL);
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

    if (code != MPI_SUCCESS)
        return code;
    code = read_values(mpi_self, handle, present_of(handle));
    for (int i = 0; code == MPI_SUCCESS && i < handle->count; i++)
        give(handle->index, present_of(handle)[i], (char *)buf + (size_t)i * sizeof(uint64_t));
    return code;
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
    return set(handle, buf);
}
