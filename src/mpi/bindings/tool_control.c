/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control variables: what mpiexec has set for the job, to be read, and the hints of nonblocking
 * collectives (object/settings.h), to be read and written for a communicator. As for every hint,
 * all members write the same at the same point.
 */
#include <stdint.h>
#include <string.h>

#include "mpi/bindings/calls.h"
#include "mpi/bindings/services.h"
#include "mpi/bindings/tool.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

static uint64_t eager_limit(void)
{
    return mpi_job->eager_limit;
}

static uint64_t workers(void)
{
    return (uint64_t)(mpi_job_cores(mpi_job) - mpi_job->comm_workers);
}

static uint64_t comm_workers(void)
{
    return (uint64_t)mpi_job->comm_workers;
}

typedef bool(read_fn)(mpi_settings_t *s, const char *text, char why[XMPI_SETTINGS_WHY]);

/* A number of the job, or a text of a communicator with the function that checks it. */
static const struct {
    const char *name, *description;
    uint64_t (*number)(void);
    read_fn *check;
} table[] = {
    {"xylem_eager_limit", "bytes up to which a message is copied when it is sent", eager_limit,
     NULL},
    {"xylem_workers", "cores of this process that run ranks", workers, NULL},
    {"xylem_comm_cores", "cores of this process for communication alone", comm_workers, NULL},
    {"xylem_progress", "who moves nonblocking collectives: tasks, threads or none", NULL,
     mpi_settings_progress},
    {"xylem_progress_place", "cores of progress threads", NULL, mpi_settings_place},
    {"xylem_progress_order", "order of progress threads that share a core", NULL,
     mpi_settings_order},
    {"xylem_split", "levels of split-tree collectives: a number, auto, adaptive or off", NULL,
     mpi_settings_split},
    {"xylem_algorithm", "algorithms of collectives: COLLECTIVE=ALGORITHM, with commas", NULL,
     mpi_settings_algorithm},
};
enum { COUNT = sizeof table / sizeof table[0] };

struct MPI_T_cvar_handle_t {
    int index;
    MPI_Comm comm; /* of a text */
};

int tool_control_count(void)
{
    return COUNT;
}

static bool is_text(int index)
{
    return table[index].number == NULL;
}

static int check_index(int index)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    return index >= 0 && index < COUNT ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

int impl_t_cvar_get_num(int *num_cvar)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    tool_set(num_cvar, COUNT);
    return MPI_SUCCESS;
}

int impl_t_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity,
                         MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                         int *bind, int *scope)
{
    int code = check_index(cvar_index);

    if (code != MPI_SUCCESS)
        return code;
    tool_text(table[cvar_index].name, name, name_len);
    tool_text(table[cvar_index].description, desc, desc_len);
    tool_set(verbosity, MPI_T_VERBOSITY_TUNER_BASIC);
    if (datatype)
        *datatype = is_text(cvar_index) ? MPI_CHAR : MPI_UNSIGNED_LONG_LONG;
    if (enumtype)
        *enumtype = MPI_T_ENUM_NULL;
    tool_set(bind, is_text(cvar_index) ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT);
    tool_set(scope, is_text(cvar_index) ? MPI_T_SCOPE_GROUP_EQ : MPI_T_SCOPE_READONLY);
    return MPI_SUCCESS;
}

int impl_t_cvar_get_index(const char *name, int *cvar_index)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    for (int i = 0; name && i < COUNT; i++)
        if (strcmp(name, table[i].name) == 0) {
            tool_set(cvar_index, i);
            return MPI_SUCCESS;
        }
    return MPI_T_ERR_INVALID_NAME;
}

int impl_t_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle,
                             int *count)
{
    int code = check_index(cvar_index);
    MPI_T_cvar_handle made;

    if (code != MPI_SUCCESS)
        return code;
    if (!handle || (is_text(cvar_index) && !obj_handle))
        return MPI_T_ERR_INVALID;
    if (is_text(cvar_index) && (!mpi_self || !mpi_comm_of(*(MPI_Comm *)obj_handle)))
        return MPI_T_ERR_INVALID_HANDLE;
    made = xy_malloc(sizeof *made);
    if (!made)
        return MPI_T_ERR_MEMORY;
    made->index = cvar_index;
    made->comm = is_text(cvar_index) ? *(MPI_Comm *)obj_handle : MPI_COMM_NULL;
    *handle = made;
    tool_set(count, is_text(cvar_index) ? MPI_MAX_INFO_VAL : 1);
    return MPI_SUCCESS;
}

int impl_t_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!handle || *handle == MPI_T_CVAR_HANDLE_NULL)
        return MPI_T_ERR_INVALID_HANDLE;
    xy_free(*handle);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

/* Read a text variable of a communicator; `text` has room for MPI_MAX_INFO_VAL characters. */
static int read_text(const struct MPI_T_cvar_handle_t *handle, char *text)
{
    const mpi_comm_t *comm = mpi_self ? mpi_comm_of(handle->comm) : NULL;
    mpi_info_t *info = comm ? mpi_info_copy(NULL) : NULL;
    const char *value;

    if (!comm)
        return MPI_T_ERR_INVALID_HANDLE;
    if (!info || mpi_settings_tell(comm, info) != XY_OK) {
        mpi_info_destroy(info);
        return MPI_T_ERR_MEMORY;
    }
    value = mpi_info_value(info, table[handle->index].name);
    strcpy(text, value && strlen(value) < MPI_MAX_INFO_VAL ? value : "");
    mpi_info_destroy(info);
    return MPI_SUCCESS;
}

int impl_t_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (handle == MPI_T_CVAR_HANDLE_NULL)
        return MPI_T_ERR_INVALID_HANDLE;
    if (!buf)
        return MPI_T_ERR_INVALID;
    if (is_text(handle->index))
        return read_text(handle, buf);
    if (!mpi_job)
        return MPI_T_ERR_NOT_ACCESSIBLE;
    *(uint64_t *)buf = table[handle->index].number();
    return MPI_SUCCESS;
}

/* The hint is checked first: what MPI_Comm_set_info does with a wrong one is not for tools. */
static int write_text(const struct MPI_T_cvar_handle_t *handle, const char *text)
{
    mpi_comm_t *comm = mpi_self ? mpi_comm_of(handle->comm) : NULL;
    char why[XMPI_SETTINGS_WHY];
    mpi_settings_t settings;
    mpi_info_t *info;
    int code = MPI_T_ERR_MEMORY;

    if (!comm)
        return MPI_T_ERR_INVALID_HANDLE;
    settings = *mpi_settings_of(comm);
    if (!table[handle->index].check(&settings, text, why))
        return MPI_T_ERR_INVALID;
    info = mpi_info_copy(mpi_info_of(comm->info));
    if (info && mpi_info_put(info, table[handle->index].name, text) == XY_OK)
        code = xylem_mpi_table.Comm_set_info(__builtin_return_address(0), handle->comm,
                                             (MPI_Info)(void *)info);
    mpi_info_destroy(info);
    return code;
}

int impl_t_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (handle == MPI_T_CVAR_HANDLE_NULL)
        return MPI_T_ERR_INVALID_HANDLE;
    if (!is_text(handle->index))
        return MPI_T_ERR_CVAR_SET_NEVER;
    return buf ? write_text(handle, buf) : MPI_T_ERR_INVALID;
}
